"""Whether a judge orders pairs of outputs as humans do, ties included."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate
from judgekit.stats.intervals import share_interval
from judgekit.stats.known import DIGITS
from judgekit.stats.quantiles import SLACK, check_level

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAccuracy(Estimate):
    """Share of pairs of outputs a judge orders, or ties, as humans do."""

    concordant: int
    """Pairs both order alike."""

    discordant: int
    """Pairs they order against each other."""

    ties_human: int
    """Pairs only the human ties."""

    ties_judge: int
    """Pairs only the judge ties."""

    ties_both: int
    """Pairs both tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TieCalibration:
    """The width of a judge's ties that suits humans best."""

    epsilon: float
    """Scores that differ by no more are a tie; the smallest of equally good widths."""

    value: float
    """Accuracy at it on these data; optimistic."""

    crossfit: Estimate
    """Accuracy on groups the width was not chosen on."""


def pairwise_accuracy(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    groups: Sequence[Hashable] | None = None,
    *,
    tie_epsilon: float = 0.0,
    level: float = 0.95,
) -> PairAccuracy:
    """Share of pairs of outputs ordered (or tied) as humans did, averaged over groups.

    `(C + T_both) / (C + D + T_human + T_judge + T_both)` over the pairs of a group (Deutsch,
    Foster & Freitag 2023); the interval is Wilson's for the mean of the groups' shares.

    Args:
        human: Human scores; None and nan are missing.
        judge: Judge scores, in the order of `human`.
        groups: The prompt of each output; pairs are made within it. Without, all are one group.
        tie_epsilon: Judge scores that differ by no more are tied, 0 or more.
        level: Confidence level in (0, 1).

    Returns:
        The mean over groups that have a pair; `n` counts groups. One group has no interval.

    Raises:
        ValueError: When lengths differ or the width is negative.
        NotEnoughDataError: When no group has two outputs with both scores.
    """
    check_level(level)
    if not tie_epsilon >= 0:
        raise ValueError(f"tie_epsilon is {tie_epsilon}; a width is 0 or more")
    pairs = _pairs(human, judge, groups)
    tied = np.abs(pairs.judge) <= tie_epsilon + SLACK
    both = tied & (pairs.human == 0)
    alike = ~tied & (pairs.human * pairs.judge > 0)
    shares = _group_means(alike | both, pairs)
    low, high = _share_ends(shares, pairs, level)
    return PairAccuracy(
        value=float(shares.mean()),
        low=low,
        high=high,
        level=level,
        n=pairs.n_groups,
        n_missing=pairs.n_missing,
        method="wilson over groups",
        n_clusters=pairs.n_groups,
        n_observations=len(pairs.human),
        reason="one group only" if pairs.n_groups == 1 else None,
        concordant=int(alike.sum()),
        discordant=int((~tied & (pairs.human * pairs.judge < 0)).sum()),
        ties_human=int((~tied & (pairs.human == 0)).sum()),
        ties_judge=int((tied & (pairs.human != 0)).sum()),
        ties_both=int(both.sum()),
    )


def calibrate_ties(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    groups: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
) -> TieCalibration:
    """The width of a tie that makes the judge's pairs agree best with humans'.

    Every distance between two judge scores, and 0, is tried (Deutsch, Foster & Freitag 2023,
    "tie calibration"). The accuracy at the chosen width flatters; `crossfit` chooses it on four
    fifths of the groups and scores the rest.

    Args:
        human: Human scores; None and nan are missing.
        judge: Judge scores, in the order of `human`.
        groups: The prompt of each output.
        level: Confidence level in (0, 1) of the cross-fitted accuracy.

    Returns:
        The width, its accuracy, and the accuracy out of fold.

    Raises:
        ValueError: When lengths differ.
        NotEnoughDataError: When no group has two outputs with both scores.
    """
    check_level(level)
    pairs = _pairs(human, judge, groups)
    epsilon, value = _best_width(pairs)
    return TieCalibration(epsilon=epsilon, value=value, crossfit=_crossfit(pairs, level))


class _Pairs(NamedTuple):
    """Differences over all pairs of a group; groups are numbered from 0."""

    human: np.ndarray
    judge: np.ndarray
    group: np.ndarray
    n_missing: int

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1

    def within(self, kept: np.ndarray) -> _Pairs:
        """The pairs of some groups, numbered anew."""
        _, group = np.unique(self.group[kept], return_inverse=True)
        return _Pairs(self.human[kept], self.judge[kept], group, self.n_missing)


def _pairs(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    groups: Sequence[Hashable] | None,
) -> _Pairs:
    names = [0] * len(human) if groups is None else groups
    if not len(human) == len(judge) == len(names):
        raise ValueError(
            f"{len(human)} human scores, {len(judge)} judge scores, {len(names)} group names"
        )
    scores = np.array([human, judge], dtype=float).reshape(2, -1)
    known = ~np.isnan(scores).any(axis=0)
    places: dict[Hashable, list[int]] = {}
    for place in np.flatnonzero(known):
        places.setdefault(names[int(place)], []).append(int(place))
    differences: list[np.ndarray] = []
    group: list[np.ndarray] = []
    for members in places.values():
        first, second = np.triu_indices(len(members), 1)
        if len(first):
            of_group = scores[:, members]
            differences.append(of_group[:, first] - of_group[:, second])
            group.append(np.full(len(first), len(group)))
    if not differences:
        raise NotEnoughDataError("no group has two outputs with a score of both")
    rounded = np.round(np.concatenate(differences, axis=1), DIGITS)
    n_missing = int(len(known) - known.sum())
    return _Pairs(rounded[0], rounded[1], np.concatenate(group), n_missing)


def _group_means(right: np.ndarray, pairs: _Pairs) -> np.ndarray:
    return np.asarray(np.bincount(pairs.group, right) / np.bincount(pairs.group))


def _share_ends(shares: np.ndarray, pairs: _Pairs, level: float) -> tuple[float, float]:
    if len(shares) == 1:
        return nan, nan
    return share_interval(shares.tolist(), most=len(pairs.human), level=level)


def _best_width(pairs: _Pairs) -> tuple[float, float]:
    """Each pair turns from ordered to tied as the width grows past its distance."""
    weight = 1 / (np.bincount(pairs.group)[pairs.group] * pairs.n_groups)
    apart = np.abs(pairs.judge)
    ordered = (pairs.human * pairs.judge > 0).astype(float)
    change = weight * ((pairs.human == 0) - ordered)
    widths, place = np.unique(np.append(apart, 0.0), return_inverse=True)
    gain = np.bincount(place[:-1], change, minlength=len(widths))
    accuracy = float((weight * ordered).sum()) + np.cumsum(gain)
    best = int(np.argmax(accuracy >= accuracy.max() - 1e-12))
    return float(widths[best]), float(min(1.0, accuracy[best]))


def _crossfit(pairs: _Pairs, level: float) -> Estimate:
    n, method = pairs.n_groups, "cross-fitted width, wilson over groups"
    if n < 2:  # noqa: PLR2004 - one group cannot be held out
        return Estimate(
            value=nan, low=nan, high=nan, level=level, n=n, method=method, reason="one group only"
        )
    fold = pairs.group % min(_FOLDS, n)
    right = np.zeros(len(pairs.human), dtype=bool)
    for held_out in range(min(_FOLDS, n)):
        width, _ = _best_width(pairs.within(fold != held_out))
        tied = np.abs(pairs.judge) <= width + SLACK
        agrees = np.where(tied, pairs.human == 0, pairs.human * pairs.judge > 0)
        right = np.where(fold == held_out, agrees, right)
    shares = _group_means(right, pairs)
    low, high = _share_ends(shares, pairs, level)
    return Estimate(
        value=float(shares.mean()),
        low=low,
        high=high,
        level=level,
        n=n,
        n_missing=pairs.n_missing,
        method=method,
    )
