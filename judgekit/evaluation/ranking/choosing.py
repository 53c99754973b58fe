"""Decides which two sides meet next: all in turn, or those whose order is most uncertain."""

from __future__ import annotations

from collections import Counter
from math import isnan
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from judgekit.evaluation.ranking.meetings import Meeting, in_order
from judgekit.evaluation.ranking.shown import what_is_shown
from judgekit.evaluation.ranking.strengths import fit_strengths
from judgekit.stats.logistic import expit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.ranking.contest import Contest, Match
    from judgekit.evaluation.ranking.figures import Ended, RankRules

PairChoice = Literal["round-robin", "adaptive"]
"""How pairs are chosen."""

_ROUND = 8
"""Matches an adaptive round has at least; the choice is made anew after each round."""

_FLOOR = 0.25
"""What is known of each strength beforehand, in units of one even match."""


class Chooser(Protocol):
    """Chooses who meets next."""

    @property
    def ended(self) -> Ended:
        """Why there is no further round."""
        ...

    def next_round(self, met: Sequence[Meeting]) -> list[Match]:
        """The matches to ask next; none at the end."""
        ...


class RoundRobin:
    """Everybody meets everybody, case by case."""

    def __init__(self, contest: Contest, most: int | None = None) -> None:
        every = contest.in_rounds()
        self._left = every[:most]
        self._is_cut = len(self._left) < len(every)

    @property
    def ended(self) -> Ended:
        """Why there is no further round."""
        return "comparisons" if self._is_cut else "all"

    def next_round(self, met: Sequence[Meeting]) -> list[Match]:
        """All at once."""
        del met
        found, self._left = self._left, []
        return found


class Adaptive:
    """Asks where the order that matters is most uncertain, until the first places are decided.

    First every two sides meet once. Then, of the pairs of a side in one of the first places and
    one below it that is not shown to be weaker, those meet whose difference the next match tells
    most about: the largest p (1 - p) times the variance of the difference (the gain in the
    determinant of the information), counting in the matches of the same round. A round does not
    hang on how many calls are in flight, so the matches are the same on any machine.
    """

    def __init__(self, contest: Contest, rules: RankRules, most: int | None = None) -> None:
        self._contest, self._rules = contest, rules
        self._most = contest.n_matches if most is None else most
        self._asked: Counter[tuple[str, str]] = Counter()
        self._n_asked = 0
        self.ended: Ended = "all"
        """Why there is no further round."""

    def next_round(self, met: Sequence[Meeting]) -> list[Match]:
        """The next matches, given all that came out."""
        size = min(max(_ROUND, len(self._contest.matches)), self._most - self._n_asked)
        if not self._n_asked:
            pairs = list(self._open())[:size]
        else:
            pairs = self._informative(in_order(met), size)
        found = []
        for pair in pairs:
            found.append(self._contest.matches[pair][self._asked[pair]])
            self._asked[pair] += 1
        self._n_asked += len(found)
        return found

    def _open(self) -> list[tuple[str, str]]:
        """Pairs that have matches left."""
        return [
            pair
            for pair, matches in self._contest.matches.items()
            if self._asked[pair] < len(matches)
        ]

    def _informative(self, met: Sequence[Meeting], size: int) -> list[tuple[str, str]]:
        labels = self._contest.labels
        known = [m for m in met if m.winner is not None]
        shown = what_is_shown(known, (), labels, self._rules, is_adaptive=True)
        ratings = _ratings(known, labels)
        order = sorted(labels, key=lambda name: (-ratings[name], name))
        wanted = {
            (min(up, down), max(up, down))
            for place, up in enumerate(order[: self._rules.top])
            for down in order[place + 1 :]
            if not shown.better(up, down)
        }
        if not wanted:
            self.ended = "decided"
            return []
        if size <= 0:
            self.ended = "comparisons" if self._n_asked < self._contest.n_matches else "all"
            return []
        left = {pair: len(self._contest.matches[pair]) - self._asked[pair] for pair in wanted}
        if not any(left.values()):
            self.ended = "cases"
            return []
        return _greedy(ratings, self._asked, left, size)


def _ratings(known: Sequence[Meeting], labels: Sequence[str]) -> dict[str, float]:
    """Log-strengths of all sides; half a win and half a loss against the mean hold them finite."""
    if not known:
        return dict.fromkeys(labels, 0.0)
    winners = [m._replace(choices=(), is_identical=False) for m in known]
    found = fit_strengths(winners, labels, ties="half", level=0.95)
    ratings = zip(labels, found.fitted.ratings, strict=True)
    return {name: 0.0 if isnan(rating) else rating for name, rating in ratings}


def _greedy(
    ratings: dict[str, float],
    asked: Counter[tuple[str, str]],
    left: dict[tuple[str, str], int],
    size: int,
) -> list[tuple[str, str]]:
    """The pairs of a round, each chosen as if the ones before it had been asked."""
    place = {name: k for k, name in enumerate(ratings)}
    information = np.eye(len(place)) * _FLOOR
    for (a, b), n in asked.items():
        x = _contrast(place, a, b)
        information += n * _weight(ratings, a, b) * np.outer(x, x)
    covariance = np.linalg.inv(information)
    chosen: list[tuple[str, str]] = []
    room = dict(left)
    while len(chosen) < size and any(room.values()):
        gains = {
            pair: _weight(ratings, *pair) * _variance(covariance, _contrast(place, *pair))
            for pair in sorted(room)
            if room[pair]
        }
        best = max(gains, key=lambda pair: round(gains[pair], 9))
        x = covariance @ _contrast(place, *best)
        covariance -= _weight(ratings, *best) * np.outer(x, x) / (1 + gains[best])
        room[best] -= 1
        chosen.append(best)
    return chosen


def _contrast(place: dict[str, int], a: str, b: str) -> np.ndarray:
    x = np.zeros(len(place))
    x[place[a]], x[place[b]] = 1.0, -1.0
    return x


def _variance(covariance: np.ndarray, x: np.ndarray) -> float:
    return float(x @ covariance @ x)


def _weight(ratings: dict[str, float], a: str, b: str) -> float:
    p = float(expit(np.array(ratings[a] - ratings[b])))
    return p * (1 - p)
