"""Decides which outputs of two sides answer the same case, and counts what is left out."""

from __future__ import annotations

import random
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from judgekit.errors import DatasetError
from judgekit.store.texts import record_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from judgekit.records.case import Case
    from judgekit.records.compared import ComparedSide
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject

_MOST_NAMED = 3


class Answered(NamedTuple):
    """One output of a side."""

    case: Case
    """What was to be answered."""

    output: Output
    """What was produced."""

    repeat: int = 0
    """Which time the side answered the case, from 0."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared."""

    label: str
    """What it is called in results; no judge sees it."""

    read: Callable[[], Iterator[Answered]]
    """Reads its outputs from the beginning, one in memory at a time."""

    names: tuple[str, ...] = ()
    """What would give it away in an output: its models and files."""

    about: ComparedSide | None = None
    """Where its outputs come from and which version they are of, as far as known."""


class Paired(NamedTuple):
    """Two outputs for one case."""

    case: Case
    """The case."""

    a: Output
    """The first side's output."""

    b: Output
    """The second side's."""

    repeat: int = 0
    """Which time the sides answered the case, from 0."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of two sides once both were read."""

    n_pairs: int
    """How many pairs there are to compare."""

    left_out: LeftOut
    """What could not be paired."""

    digests: tuple[str, str]
    """Fingerprints of what each side answers, cases included."""


@dataclass(slots=True)
class LeftOut:
    """What could not be paired."""

    n_only_a: int = 0
    """Outputs of the first side that the second has no counterpart for."""

    n_only_b: int = 0
    """Outputs of the second side without a counterpart."""

    n_other_input: int = 0
    """Pairs of one case id whose inputs differ: they answer different questions."""

    only_a: tuple[str, ...] = ()
    """The first few cases of `n_only_a`."""

    only_b: tuple[str, ...] = ()
    """The first few cases of `n_only_b`."""

    other_input: tuple[str, ...] = ()
    """The first few cases of `n_other_input`."""


class Pairing:
    """Pairs of outputs, in an order that does not depend on which side is called the first.

    Both sides are read abreast, and an output waits in memory only until its counterpart comes:
    of files in the same order hardly any does.
    """

    def __init__(
        self,
        a: Side,
        b: Side,
        *,
        tags: Iterable[str] = (),
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
    ) -> None:
        self.a, self.b = a, b
        self._tags = frozenset(tags)
        self._limit, self._sample, self._seed = limit, sample, seed

    @property
    def names(self) -> tuple[str, ...]:
        """What would give either side away in an output."""
        return tuple(dict.fromkeys((*self.a.names, *self.b.names)))

    def count(self) -> tuple[int, LeftOut]:
        """Read both sides once, so that all of them are known to be sound."""
        found = self.survey()
        return found.n_pairs, found.left_out

    @property
    def chosen(self) -> JsonObject:
        """What is chosen of the pairs, without what is left at its default."""
        chosen: JsonObject = {"tags": [*sorted(self._tags)], "limit": self._limit}
        if self._sample is not None:
            chosen |= {"sample": self._sample, "seed": self._seed}
        return {name: value for name, value in chosen.items() if value not in (None, [])}

    def survey(self) -> Survey:
        """Read both sides once, so that all of them are known to be sound."""
        left_out = LeftOut()
        n, seen = 0, (sha256(), sha256())
        for pair in self._filtered(left_out):
            n += 1
            case = f"{pair.repeat} {record_text(pair.case)}"
            for output, digest in zip((pair.a, pair.b), seen, strict=True):
                digest.update(f"{case}\n{record_text(output)}\n".encode())
        wanted = [n, *(most for most in (self._sample, self._limit) if most is not None)]
        return Survey(min(wanted), left_out, (seen[0].hexdigest(), seen[1].hexdigest()))

    def pairs(self) -> Iterator[Paired]:
        """The pairs, filtered, drawn and limited."""
        found = self._filtered(LeftOut())
        if self._sample is not None:
            found = _drawn(found, self._sample, random.Random(self._seed))
        return islice(found, self._limit)

    def _filtered(self, left_out: LeftOut) -> Iterator[Paired]:
        tags = self._tags
        waiting = _Waiting(self.a.label), _Waiting(self.b.label)
        sides = [
            (one for one in side.read() if not tags or tags & set(one.case.tags))
            for side in (self.a, self.b)
        ]
        for abreast in zip_longest(*sides):
            for answered, own in zip(abreast, waiting, strict=True):
                if answered is not None:
                    own.add(answered)
            yield from _met(waiting, abreast, left_out)
        left_out.n_only_a, left_out.only_a = waiting[0].rest()
        left_out.n_only_b, left_out.only_b = waiting[1].rest()


class _Waiting:
    """Outputs of one side whose counterparts have not come yet."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._seen: set[tuple[str, int]] = set()
        self._waiting: dict[tuple[str, int], Answered] = {}

    def add(self, answered: Answered) -> None:
        key = answered.case.id, answered.repeat
        if key in self._seen:
            raise DatasetError(
                f"{self._label} has a second output",
                case_id=answered.case.id,
                hint="of a file with several variants name the one that is meant: FILE::VARIANT",
            )
        self._seen.add(key)
        self._waiting[key] = answered

    def __contains__(self, key: tuple[str, int]) -> bool:
        return key in self._waiting

    def take(self, key: tuple[str, int]) -> Answered:
        return self._waiting.pop(key)

    def rest(self) -> tuple[int, tuple[str, ...]]:
        return len(self._waiting), tuple(case for case, _ in islice(self._waiting, _MOST_NAMED))


def _met(
    waiting: tuple[_Waiting, _Waiting], abreast: Iterable[Answered | None], left_out: LeftOut
) -> Iterator[Paired]:
    """The pairs that are complete with what came now, in an order that is the same mirrored."""
    keys = {(one.case.id, one.repeat) for one in abreast if one is not None}
    for key in sorted(key for key in keys if all(key in own for own in waiting)):
        a, b = (own.take(key) for own in waiting)
        if a.case.input == b.case.input:
            yield Paired(a.case, a.output, b.output, a.repeat)
            continue
        left_out.n_other_input += 1
        if len(left_out.other_input) < _MOST_NAMED:
            left_out.other_input += (a.case.id,)


def _drawn(pairs: Iterable[Paired], size: int, rng: random.Random) -> Iterator[Paired]:
    """A sample without replacement, in order (Vitter 1985, algorithm R)."""
    kept: list[tuple[int, Paired]] = []
    for place, pair in enumerate(pairs):
        if place < size:
            kept.append((place, pair))
        elif (slot := rng.randrange(place + 1)) < size:
            kept[slot] = (place, pair)
    return iter([pair for _, pair in sorted(kept, key=lambda found: found[0])])
