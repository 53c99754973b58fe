"""What a run has to do: cases by variants by repeats, in an order, without what is done."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError, UnknownNameError
from judgekit.records.run import ItemKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from judgekit.datasets.suite_settings import SuiteGroup
    from judgekit.records.case import Case

_BEGUN, _DONE = 1, 2
_SETTLED = -1
"""The repeat under which it is noted that there will be no further one."""


@dataclass(frozen=True, slots=True)
class Item:
    """One answer to be had and judged."""

    key: ItemKey
    """Case, variant and repeat."""

    place: int
    """Place of the case among those chosen, from 0."""

    case: Case
    """The case."""

    def again(self) -> Item:
        """The same case and variant, once more."""
        return Item(self.key._replace(repeat=self.key.repeat + 1), self.place, self.case)


Chain = tuple[Item, ...]
"""Items that are done one after the other; most chains have one."""


class Ledger:
    """How far earlier sessions of a run have come, in one byte for each answer.

    Answers are told apart by the places of their cases, which never change within a run.
    """

    def __init__(self) -> None:
        self._marks: defaultdict[tuple[str, int], bytearray] = defaultdict(bytearray)

    def note(self, variant: str, repeat: int, place: int, *, is_done: bool) -> None:
        """Note that an answer was begun."""
        marks = self._marks[variant, repeat]
        if place >= len(marks):
            marks.extend(bytes(place + 1 - len(marks)))
        marks[place] = _DONE if is_done else _BEGUN

    def settle(self, variant: str, place: int) -> None:
        """Note that no answer of a variant to a case will be tried again."""
        self.note(variant, _SETTLED, place, is_done=True)

    def is_settled(self, variant: str, place: int) -> bool:
        """Whether no answer of a variant to a case will be tried again, as far as is known."""
        return self._mark(variant, _SETTLED, place) == _DONE

    def is_begun(self, item: Item) -> bool:
        """Whether something of an answer is kept."""
        return self._mark(item.key.variant, item.key.repeat, item.place) > 0

    def is_done(self, variant: str, repeat: int, place: int) -> bool:
        """Whether nothing of an answer is left to be asked."""
        return self._mark(variant, repeat, place) == _DONE

    def _mark(self, variant: str, repeat: int, place: int) -> int:
        marks = self._marks.get((variant, repeat), b"")
        return marks[place] if place < len(marks) else 0


@dataclass(frozen=True, slots=True)
class Work:
    """Which answers a run is made of."""

    variants: Sequence[str]
    """The versions under test."""

    repeats: int = 1
    """How often each answers each case."""

    groups: Sequence[SuiteGroup] = ()
    """Cases that belong together; those `in_sequence` are one chain for each variant."""

    done: Ledger = field(default_factory=Ledger)
    """What need not be done again."""

    retries: Callable[[Case], int] = lambda _: 0
    """How often an answer to a case is tried again when it fails."""

    def chains(self, cases: Iterable[Case]) -> Iterator[Chain]:
        """Everything to be done, read as slowly as it is done."""
        group_of = {
            case_id: group
            for group in self.groups
            if group.in_sequence
            for case_id in group.case_ids
        }
        gathered: defaultdict[str, dict[str, tuple[int, Case]]] = defaultdict(dict)
        for place, case in enumerate(cases):
            group = group_of.get(case.id)
            if group is None:
                yield from ((item,) for item in self._items(place, case))
                continue
            gathered[group.name][case.id] = (place, case)
            if len(gathered[group.name]) == len(group.case_ids):
                yield from self._chained(group, gathered.pop(group.name))
        for group in self.groups:  # filters and limits may have left some of its cases out
            if group.name in gathered:
                yield from self._chained(group, gathered[group.name])

    def _chained(self, group: SuiteGroup, cases: dict[str, tuple[int, Case]]) -> Iterator[Chain]:
        ordered = [cases[case_id] for case_id in group.case_ids if case_id in cases]
        items = [item for place, case in ordered for item in self._items(place, case)]
        for variant in self.variants:
            chain = tuple(item for item in items if item.key.variant == variant)
            if chain:
                yield chain

    def _items(self, place: int, case: Case) -> Iterator[Item]:
        for variant in self.variants:
            for repeat in range(self.repeats):
                if not self._is_over(variant, repeat, place, case):
                    yield Item(ItemKey(case.id, variant, repeat), place, case)

    def _is_over(self, variant: str, repeat: int, place: int, case: Case) -> bool:
        if not self.done.is_done(variant, repeat, place):
            return False
        return self.retries(case) == 0 or self.done.is_settled(variant, place)


def check_groups(groups: Sequence[SuiteGroup], case_ids: Iterable[str]) -> None:
    """Refuse a group that names a case the dataset does not have, and a case in two sequences."""
    known = set(case_ids)
    chained: dict[str, str] = {}
    for group in groups:
        for case_id in group.case_ids:
            if case_id not in known:
                raise UnknownNameError(f"case of the group {group.name!r}", case_id, known)
            if group.in_sequence and chained.setdefault(case_id, group.name) != group.name:
                raise SettingsError(
                    f"the case {case_id!r} is in two groups that are run in sequence: "
                    f"{chained[case_id]} and {group.name}",
                    hint="leave it in one of them",
                )
