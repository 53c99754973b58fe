"""Pairwise accuracy: whether a judge orders, or ties, pairs of outputs as humans do."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.concordant_pairs import count_pairs
from judgekit.stats.estimate import Estimate, Result, undefined_estimate
from judgekit.stats.intervals import share_interval
from judgekit.stats.missing import DIGITS, known_clusters, known_pairs
from judgekit.stats.quantiles import SLACK, check_level, require

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_FOLDS = 5
_NO_PAIR = "no group has two outputs with a score of both"


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
class TieCalibration(Result):
    """The width of a judge's ties that agrees best with humans."""

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
    Foster & Freitag 2023); the interval is Wilson's for the mean of the groups' shares. The pairs
    are counted, not listed: ten thousand outputs in one group take little time and memory.

    Args:
        human: Human scores; None and nan are missing.
        judge: Judge scores, in the order of `human`.
        groups: The prompt of each output; pairs are made within it. Without, all are one group.
        tie_epsilon: Judge scores that differ by no more are tied, 0 or more.
        level: Confidence level in (0, 1).

    Returns:
        The mean over groups that have a pair; `n` counts groups. One group has no interval.

    Raises:
        NotEnoughDataError: When no group has two outputs with both scores.
    """
    check_level(level)
    (tie_epsilon,) = require(tie_epsilon=tie_epsilon)
    if not tie_epsilon >= 0:
        raise ValueError(f"tie_epsilon is {tie_epsilon}; a width is 0 or more")
    items = _items(human, judge, groups)
    counts = count_pairs(items.human, items.judge, items.group, width=tie_epsilon)
    if not counts.pairs.any():
        raise NotEnoughDataError(_NO_PAIR)
    in_use = counts.pairs > 0
    right = counts.concordant + counts.ties_both
    shares = right[in_use] / counts.pairs[in_use]
    n, n_pairs = len(shares), int(counts.pairs.sum())
    # Groups are the units: pairs within one share their outputs.
    low, high = _share_ends(shares, n_pairs, level)
    return PairAccuracy(
        value=float(shares.mean()),
        low=low,
        high=high,
        level=level,
        n=n,
        n_missing=items.n_missing,
        method="wilson over groups",
        n_clusters=n,
        n_observations=n_pairs,
        reason="one group only" if n == 1 else None,
        concordant=int(counts.concordant.sum()),
        discordant=int(counts.discordant.sum()),
        ties_human=int(counts.ties_x.sum()),
        ties_judge=int(counts.ties_y.sum()),
        ties_both=int(counts.ties_both.sum()),
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
    fifths of the groups and scores the rest. Time and memory grow with the pairs: groups of some
    thousand outputs take gigabytes.

    Args:
        human: Human scores; None and nan are missing.
        judge: Judge scores, in the order of `human`.
        groups: The prompt of each output.
        level: Confidence level in (0, 1) of the cross-fitted accuracy.

    Returns:
        The width, its accuracy, and the accuracy out of fold.

    Raises:
        NotEnoughDataError: When no group has two outputs with both scores.
    """
    check_level(level)
    pairs = _pairs(human, judge, groups)
    epsilon, value = _best_width(pairs)
    return TieCalibration(epsilon=epsilon, value=value, crossfit=_crossfit(pairs, level))


class _Grouped(NamedTuple):
    """Scores of items, or their differences over pairs; groups are numbered from 0."""

    human: np.ndarray
    judge: np.ndarray
    group: np.ndarray
    n_missing: int

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1

    def within(self, chosen: np.ndarray) -> _Grouped:
        """The pairs of some groups, which are numbered from 0 again."""
        _, group = np.unique(self.group[chosen], return_inverse=True)
        return _Grouped(self.human[chosen], self.judge[chosen], group, self.n_missing)


def _items(
    human: Sequence[float | None], judge: Sequence[float | None], groups: Sequence[Hashable] | None
) -> _Grouped:
    x, y, n_missing = known_pairs(human, judge)
    codes = known_clusters(groups, human, judge)
    return _Grouped(x, y, np.zeros(len(x), dtype=int) if codes is None else codes, n_missing)


def _pairs(
    human: Sequence[float | None], judge: Sequence[float | None], groups: Sequence[Hashable] | None
) -> _Grouped:
    items = _items(human, judge, groups)
    scores = np.stack([items.human, items.judge])
    differences: list[np.ndarray] = []
    group: list[np.ndarray] = []
    by_group = np.argsort(items.group, kind="stable")
    for members in np.split(by_group, np.cumsum(np.bincount(items.group))[:-1]):
        first, second = np.triu_indices(len(members), 1)
        if len(first):
            of_group = scores[:, members]
            differences.append(of_group[:, first] - of_group[:, second])
            group.append(np.full(len(first), len(group)))
    if not differences:
        raise NotEnoughDataError(_NO_PAIR)
    # Equal differences of floats have to be equal, or each would be a tie width of its own.
    rounded = np.round(np.concatenate(differences, axis=1), DIGITS)
    return _Grouped(rounded[0], rounded[1], np.concatenate(group), items.n_missing)


def _share_ends(shares: np.ndarray, n_pairs: int, level: float) -> tuple[float, float]:
    if len(shares) == 1:
        return nan, nan
    return share_interval(shares.tolist(), most=n_pairs, level=level)


def _best_width(pairs: _Grouped) -> tuple[float, float]:
    """The width with the best accuracy, and that accuracy."""
    weight = 1 / (np.bincount(pairs.group)[pairs.group] * pairs.n_groups)
    apart = np.abs(pairs.judge)
    ordered = (pairs.human * pairs.judge > 0).astype(float)
    # One pass over the widths: a pair turns from ordered to tied as the width grows past its
    # distance. That is a gain where humans tie and a loss where the order was right.
    change = weight * ((pairs.human == 0) - ordered)
    widths, place = np.unique(np.append(apart, 0.0), return_inverse=True)
    gain = np.bincount(place[:-1], change, minlength=len(widths))
    accuracy = float((weight * ordered).sum()) + np.cumsum(gain)
    # The smallest of the best widths: a larger one is not better, only wider.
    best = int(np.argmax(accuracy >= accuracy.max() - 1e-12))
    return float(widths[best]), float(min(1.0, accuracy[best]))


def _crossfit(pairs: _Grouped, level: float) -> Estimate:
    n, method = pairs.n_groups, "cross-fitted width, wilson over groups"
    if n < 2:  # noqa: PLR2004 - one group cannot be held out
        return undefined_estimate("one group only", n=n, method=method, level=level)
    # Chosen and measured on the same pairs, a width would look better than it is.
    fold = pairs.group % min(_FOLDS, n)
    right = np.zeros(len(pairs.human), dtype=bool)
    for held_out in range(min(_FOLDS, n)):
        width, _ = _best_width(pairs.within(fold != held_out))
        tied = np.abs(pairs.judge) <= width + SLACK
        agrees = np.where(tied, pairs.human == 0, pairs.human * pairs.judge > 0)
        right = np.where(fold == held_out, agrees, right)
    shares = np.bincount(pairs.group, right) / np.bincount(pairs.group)
    low, high = _share_ends(shares, len(pairs.human), level)
    return Estimate(
        value=float(shares.mean()),
        low=low,
        high=high,
        level=level,
        n=n,
        n_missing=pairs.n_missing,
        method=method,
    )
