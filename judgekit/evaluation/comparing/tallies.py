"""Counts who won pairs of outputs, and what the order they were shown in did."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from math import fsum, isnan
from typing import TYPE_CHECKING, Protocol

from judgekit.evaluation.comparing.decision import MOSTLY_INCONSISTENT, POSITION_BIAS
from judgekit.evaluation.comparing.figures import WinFigures
from judgekit.records.comparison import Preference
from judgekit.stats.bias import position_bias
from judgekit.stats.estimate import Estimate, cluster_means, observed, undefined
from judgekit.stats.intervals import clustered_proportion
from judgekit.stats.paired import clustered_win_rate
from judgekit.stats.quantiles import SLACK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.records.comparison import PreferenceFailure, Slot, Winner
    from judgekit.stats.bias import PositionBias

_NONE = float("nan")
_POINTS = {"a": 1.0, "tie": 0.5, "b": 0.0, None: _NONE}
_EVEN = _MOSTLY = 0.5


class Concluded(Protocol):
    """What two orders come to: of a pair, on a criterion, or by one judge of a panel."""

    @property
    def winner(self) -> Winner | None:
        """Which output is better."""
        ...

    @property
    def consistent(self) -> bool | None:
        """Whether both orders say the same."""
        ...


@dataclass(slots=True)
class Wins:
    """The winners of a group of pairs."""

    cases: array[int] = field(default_factory=lambda: array("I"))
    points: array[float] = field(default_factory=lambda: array("d"))
    n_inconsistent: int = 0

    def add(self, case: int, found: Concluded) -> None:
        """Count one pair."""
        self.cases.append(case)
        self.points.append(_POINTS[found.winner])
        self.n_inconsistent += found.winner == "tie" and found.consistent is False

    def figures(self, level: float) -> WinFigures:
        """What they come to."""
        counts = Counter(self.points)
        wins, ties, losses = (counts[points] for points in (1.0, 0.5, 0.0))
        n, known = len(self.points), wins + ties + losses
        rate = clustered_win_rate(self.points, self.cases, level=level) if known else None
        return WinFigures(
            n_cases=len(set(self.cases)),
            n_pairs=n,
            wins=wins,
            ties=ties - self.n_inconsistent,
            inconsistent=self.n_inconsistent,
            losses=losses,
            n_undecided=n - known,
            rate=rate or undefined("no pair is decided", n=0, method="wilson", level=level),
            bounds=(self._mean(0.0), self._mean(1.0)),
            p=None if rate is None else rate.p_sign,
        )

    def leaning(self) -> tuple[int, int]:
        """Cases that lean to A, and to B, by the mean of their decided pairs; each counts once."""
        means = cluster_means(*observed(self.points, self.cases)).values()
        return sum(m > _EVEN + SLACK for m in means), sum(m < _EVEN - SLACK for m in means)

    def _mean(self, undecided: float) -> float:
        """A's share of wins if the undecided pairs had come out like that."""
        if not self.points:
            return undecided
        points = [undecided if isnan(each) else each for each in self.points]
        means = cluster_means(points, self.cases)
        return fsum(means.values()) / len(means)


class Flips:
    """What the order of showing did: contradictions, and the places that were chosen."""

    def __init__(self) -> None:
        self._cases, self._flips = array("I"), array("d")
        self._asked: list[int] = []
        self._chosen: tuple[list[Slot | None], list[Slot | None]] = ([], [])

    def take(
        self, case: int, found: Concluded, said: Iterable[Preference | PreferenceFailure]
    ) -> None:
        """Count one pair that was asked about."""
        self._cases.append(case)
        self._flips.append(_NONE if found.consistent is None else float(not found.consistent))
        every = list(said)
        chosen = {
            (each.judge, each.criterion, each.repeat, each.order): each.choice
            for each in every
            if isinstance(each, Preference)
        }
        for judge, criterion, repeat in {(e.judge, e.criterion, e.repeat): None for e in every}:
            self._asked.append(case)
            self._chosen[0].append(chosen.get((judge, criterion, repeat, "ab")))
            self._chosen[1].append(chosen.get((judge, criterion, repeat, "ba")))

    def figures(self, level: float) -> tuple[Estimate, PositionBias | None]:
        """What they come to."""
        rate: Estimate = undefined("no pair was judged", n=0, method="wilson", level=level)
        position = None
        if any(not isnan(flip) for flip in self._flips):
            rate = clustered_proportion(self._flips, self._cases, level=level)
        if any(x and y for x, y in zip(*self._chosen, strict=True)):
            position = position_bias(*self._chosen, clusters=self._asked, level=level)
        return rate, position


def doubts(flip_rate: Estimate, position: PositionBias | None) -> tuple[str, ...]:
    """What makes a judge doubtful."""
    found = []
    if position is not None and (position.low > 0 or position.high < 0):
        found.append(POSITION_BIAS)
    if flip_rate.value > _MOSTLY:
        found.append(MOSTLY_INCONSISTENT)
    return tuple(found)
