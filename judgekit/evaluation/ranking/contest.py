"""Everybody against everybody: which outputs of several sides answer the same case."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from judgekit.errors import SettingsError
from judgekit.evaluation.comparing.pairing import LeftOut, Pairing, Side
from judgekit.fingerprint import text_fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from judgekit.evaluation.comparing.pairing import Answered, Paired

_FEWEST = 2


class Match(NamedTuple):
    """Two sides that are to be compared on a case."""

    a: str
    """A side; in the order of the alphabet the first of both."""

    b: str
    """The other."""

    pair: Paired
    """The case and both outputs."""


class Contest:
    """All the matches that several sides can have, in an order drawn by the seed.

    Outputs are held in memory: which of them meet next may hang on what came out. The order of
    the cases is drawn, so that a part of the matches is a fair part of the cases; it hangs on
    neither the order of the sides nor that of their files.
    """

    def __init__(
        self,
        sides: Sequence[Side],
        *,
        tags: Collection[str] = (),
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
    ) -> None:
        labels = sorted({side.label for side in sides})
        if len(labels) < max(_FEWEST, len(sides)):
            raise SettingsError(
                f"{len(sides)} sides have {len(labels)} names: {', '.join(labels)}",
                hint="name two different ones or more",
            )
        self._seed = seed
        ordered = sorted(sides, key=lambda side: side.label)
        answers = {side.label: list(side.read()) for side in ordered}
        cases = self._chosen(answers, frozenset(tags), limit, sample)
        held = [
            Side(
                side.label,
                partial(iter, [one for one in answers[side.label] if one.case.id in cases]),
                side.names,
            )
            for side in ordered
        ]
        self.labels = tuple(labels)
        """The sides, in the order of the alphabet."""
        self.names = tuple(dict.fromkeys(name for side in ordered for name in side.names))
        """What would give a side away in an output."""
        self.left_out = LeftOut()
        """What could not be paired, of the two sides that miss most."""
        self.matches: dict[tuple[str, str], list[Match]] = {
            (a.label, b.label): self._matches(a, b) for a, b in combinations(held, 2)
        }
        """The matches of every two sides, in the order they are asked."""

    @property
    def n_matches(self) -> int:
        """How many matches there are."""
        return sum(map(len, self.matches.values()))

    def in_rounds(self) -> list[Match]:
        """All matches, case by case, so that wherever one stops the sides met equally often."""
        every = [match for matches in self.matches.values() for match in matches]
        return sorted(every, key=lambda match: self._place(match.pair.case.id))

    def _chosen(
        self,
        answers: dict[str, list[Answered]],
        tags: frozenset[str],
        limit: int | None,
        sample: int | None,
    ) -> set[str]:
        known = {
            one.case.id: None
            for every in answers.values()
            for one in every
            if not tags or tags & set(one.case.tags)
        }
        found = list(known)
        if sample is not None:
            drawn = set(sorted(found, key=self._place)[:sample])
            found = [case for case in found if case in drawn]
        return set(found[:limit])

    def _matches(self, a: Side, b: Side) -> list[Match]:
        pairing = Pairing(a, b)
        _, left_out = pairing.count()
        if _n_left(left_out) > _n_left(self.left_out):
            self.left_out = left_out
        found = [Match(a.label, b.label, pair) for pair in pairing.pairs()]
        return sorted(found, key=lambda match: self._place(match.pair.case.id))

    def _place(self, case_id: str) -> tuple[str, str]:
        return text_fingerprint(f"{self._seed}\n{case_id}"), case_id


def _n_left(left_out: LeftOut) -> int:
    return left_out.n_only_a + left_out.n_only_b + left_out.n_other_input
