"""Agreement of two raters: Cohen's kappa, Scott's pi, near agreement, the order of pairs.

More than two raters are in `raters`; numeric scores in `method_comparison`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import isnan, nan, sqrt
from typing import NamedTuple, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import (
    PairInterval,
    Weights,
    above_chance,
    category_weights,
    coefficient_interval,
    interval_by,
    kappa_influence,
    smoothed_interval,
)
from judgekit.stats.concordant_pairs import count_pairs
from judgekit.stats.estimate import Estimate, Result, by_place, in_units, undefined_estimate
from judgekit.stats.intervals import proportion, rate, share_interval
from judgekit.stats.method_comparison import bland_altman, correlation, lin_ccc
from judgekit.stats.missing import (
    DIGITS,
    Values,
    cluster_codes,
    clustered_pairs,
    count_units,
    known_labels,
    members,
)
from judgekit.stats.quantiles import SLACK, check_choice, check_level, normal_quantile, require

__all__ = [
    "bland_altman",
    "calibrate_ties",
    "cohen_kappa",
    "correlation",
    "lin_ccc",
    "pairwise_accuracy",
    "scott_pi",
]

# A variance below this is what is left of cancelling terms, not spread.
_ROUNDING = 1e-14
_CONSTANT = "both raters gave one label only: agreement beyond chance is 0/0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa(Estimate):
    """Cohen's kappa: agreement of two raters beyond chance, with separate margins."""

    po: float
    """Observed agreement, weighted."""

    pe: float
    """Agreement by chance, weighted."""

    weights: str
    """How disagreement was weighed: none, linear, quadratic or ordinal."""

    agreement_low: float
    """Exact lower bound of the rate of equal labels (Clopper & Pearson 1934); with clusters that
    of `intervals.pooled_proportion`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScottPi(Estimate):
    """Scott's pi: agreement of two raters beyond chance, with pooled margins."""

    po: float
    """Observed agreement."""

    pe: float
    """Agreement by chance."""


def cohen_kappa(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    *,
    labels: Sequence[Hashable],
    weights: Weights | None = None,
    ci: PairInterval = "jackknife",
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Kappa:
    """Cohen's kappa: agreement of two raters beyond chance, on a given scale.

    `kappa = (po - pe) / (1 - pe)` with `po = sum w_ij p_ij` and `pe = sum w_ij r_i c_j` (Cohen
    1960, 1968). `se` is that of Fleiss, Cohen & Everitt 1969. With quadratic weights on a numeric
    scale kappa equals `lin_ccc`. Skewed margins make it low though nearly all labels agree: show
    `raters.gwet_ac` beside it.

    Args:
        a: Labels of one rater; None and nan are missing.
        b: Labels of the other, in the order of `a`.
        labels: The whole scale in order, unused labels included: they set the distances.
        weights: None, `linear`, `quadratic` or `ordinal`.
        ci: `jackknife` (on Fisher's z, keeps its level from 20 items on if no label is rare),
            `smoothed` (with pseudo-items; keeps it from 12 items on, rare labels and perfect
            agreement included), `analytic` (normal) or `none`.
        clusters: The case of each pair; `jackknife` and `smoothed` treat cases as the items.
        level: Confidence level in (0, 1).

    Returns:
        Kappa; nan where both raters gave one and the same label throughout, 0 where one did. At
        1 only the smoothed method has an interval; `agreement_low` is always there. `n` counts
        items, or cases.

    Example:
        >>> cohen_kappa([1, 1, 2, 2], [1, 1, 2, 1], labels=[1, 2]).value
        0.5
    """
    check_choice("interval", ci, get_args(PairInterval))
    if ci == "analytic" and clusters is not None:
        raise ValueError("ci='analytic' treats items as independent: with clusters give another")
    pairs, w = _label_pairs(a, b, labels, clusters), category_weights(labels, weights)
    table = pairs.table
    value, po, pe = (float(x) for x in _beyond_chance(table, w))
    n, alike = len(pairs.cells), pairs.cells % (pairs.q + 1) == 0
    same_label = (
        proportion(int(alike.sum()), n, method="clopper-pearson", level=level)
        if pairs.codes is None
        else rate(alike.astype(float), pairs.codes, level=level)
    )
    se = _large_sample_se(table / n, w, value, pe) / sqrt(n)
    if ci == "smoothed":
        places = (side.astype(float) for side in np.divmod(pairs.cells, pairs.q))
        kappa = partial(kappa_influence, weights=w)
        ends = smoothed_interval(
            value, kappa, *places, levels=np.arange(pairs.q), codes=pairs.codes, level=level,
            undefined=_CONSTANT,
        )  # fmt: skip
    else:
        half = normal_quantile(level) * se
        left_out = _beyond_chance(pairs.without_each(), w)[0]
        flat = "the large-sample standard error is 0"
        ends = interval_by(ci, value, left_out, half, level=level, undefined=_CONSTANT, flat=flat)
    return Kappa(
        value=value,
        **ends._asdict(),
        level=level,
        **in_units(f"kappa, {ci}", pairs.n, clustered=clusters is not None),
        n_missing=pairs.n_missing,
        se=se,
        n_observations=n,
        po=po,
        pe=pe,
        weights=weights or "none",
        agreement_low=same_label.low,
    )


def scott_pi(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> ScottPi:
    """Scott's pi (1955): agreement of two raters beyond chance, with pooled margins.

    `pe = sum ((r_k + c_k) / 2)^2`: a rater's leniency counts as disagreement, which kappa excuses.

    Args:
        a: Labels of one rater; None and nan are missing.
        b: Labels of the other, in the order of `a`.
        clusters: The case of each pair; the jackknife leaves out whole cases.
        level: Confidence level in (0, 1).

    Returns:
        Pi with a jackknife interval; nan where one label was given throughout.
    """
    pairs, _ = known_labels(a, b)
    # Pi has no weights, so unused labels change nothing: the scale is not needed.
    labels = list(dict.fromkeys(chain.from_iterable(pairs)))
    counted = _label_pairs(a, b, labels, clusters)
    equal = np.eye(len(labels))
    value, po, pe = (float(x) for x in _beyond_chance(counted.table, equal, pooled=True))
    left_out = _beyond_chance(counted.without_each(), equal, pooled=True)[0]
    ends = coefficient_interval(value, left_out, level=level, undefined=_CONSTANT)
    return ScottPi(
        value=value,
        **ends._asdict(),
        level=level,
        **in_units("pi, jackknife", counted.n, clustered=clusters is not None),
        n_missing=counted.n_missing,
        n_observations=len(counted.cells),
        po=po,
        pe=pe,
    )


class _LabelPairs(NamedTuple):
    """The pairs that have both labels, as cells of a table."""

    # Pairs are coded as cells, so that millions of items become one bincount.
    cells: np.ndarray
    codes: np.ndarray | None
    q: int
    n_missing: int

    @property
    def n(self) -> int:
        """Independent units: items, or cases."""
        return count_units(self.codes, len(self.cells))

    @property
    def table(self) -> np.ndarray:
        """Counts of the pairs of labels."""
        return np.bincount(self.cells, minlength=self.q**2).reshape(self.q, self.q)

    def without_each(self) -> np.ndarray:
        """The table without each item or case."""
        whole, q = self.table.ravel(), self.q
        if self.codes is None:
            # Items in one cell leave out the same table: computed once per cell, not per item.
            used, item = np.unique(self.cells, return_inverse=True)
            parts = np.eye(q * q, dtype=int)[used]
            return np.asarray((whole - parts)[item].reshape(-1, q, q))
        parts = np.zeros((self.n, q * q), dtype=int)
        np.add.at(parts, (self.codes, self.cells), 1)
        return np.asarray((whole - parts).reshape(-1, q, q))


def _label_pairs(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    labels: Sequence[Hashable],
    clusters: Sequence[Hashable] | None,
) -> _LabelPairs:
    a, b = by_place(a), by_place(b)
    rank = {label: place for place, label in enumerate(labels)}
    sides: Sequence[Sequence[Hashable]] = (a, b)
    places: Sequence[int] = range(len(a))
    # Nearly always no label is missing.
    if len(a) != len(b) or not rank.keys() >= {*a, *b}:
        pairs, places = known_labels(a, b)
        strange = sorted({repr(x) for x in set(chain.from_iterable(pairs)) if x not in rank})
        if strange:
            raise ValueError(f"{', '.join(strange)} is not on the scale {list(labels)}")
        sides = ([x for x, _ in pairs], [y for _, y in pairs])
    if not places:
        raise NotEnoughDataError("no item has a label of both raters")
    if clusters is not None and len(clusters) != len(a):
        raise ValueError(f"{len(a)} pairs, but {len(clusters)} cluster names")
    left, right = (np.array(list(map(rank.__getitem__, side))) for side in sides)
    codes = None if clusters is None else cluster_codes(clusters, places)
    return _LabelPairs(left * len(labels) + right, codes, len(labels), len(a) - len(places))


def _beyond_chance(
    table: np.ndarray, w: np.ndarray, *, pooled: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kappa or pi, observed and expected agreement of one table or of a stack of tables."""
    n = table.sum(axis=(-2, -1))
    # A table without its only cluster is empty: 0/0 is nan, which the interval reports.
    with np.errstate(invalid="ignore"):
        po = (w * table).sum(axis=(-2, -1)) / n
        rows, columns = (table.sum(axis=axis) / n[..., None] for axis in (-1, -2))
    if pooled:
        # Unlike kappa, pi takes one distribution for both raters: the mean of their margins.
        rows = columns = (rows + columns) / 2
    pe = np.einsum("...i,ij,...j->...", rows, w, columns)
    return above_chance(po, pe), po, pe


def _large_sample_se(p: np.ndarray, w: np.ndarray, kappa: float, pe: float) -> float:
    """The standard error of weighted kappa, times sqrt(n)."""
    if isnan(kappa):
        return nan
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    # Fleiss, Cohen & Everitt (1969), the non-null error for any weights. The formulas of Cohen 1960
    # and 1968 assume fixed margins and binomial cells at once, and are wrong.
    lean = (w @ columns)[:, None] + rows @ w
    spread = float((p * (w - lean * (1 - kappa)) ** 2).sum() - (kappa - pe * (1 - kappa)) ** 2)
    return sqrt(spread) / (1 - pe) if spread > _ROUNDING else 0.0


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
        return count_units(self.group, 0)

    def within(self, chosen: np.ndarray) -> _Grouped:
        """The pairs of some groups, which are numbered from 0 again."""
        _, group = np.unique(self.group[chosen], return_inverse=True)
        return _Grouped(self.human[chosen], self.judge[chosen], group, self.n_missing)


def _items(human: Values, judge: Values, groups: Sequence[Hashable] | None) -> _Grouped:
    x, y, codes, n_missing = clustered_pairs(human, judge, groups)
    return _Grouped(x, y, np.zeros(len(x), dtype=int) if codes is None else codes, n_missing)


def _pairs(human: Values, judge: Values, groups: Sequence[Hashable] | None) -> _Grouped:
    items = _items(human, judge, groups)
    scores = np.stack([items.human, items.judge])
    differences: list[np.ndarray] = []
    group: list[np.ndarray] = []
    for places in members(items.group):
        first, second = np.triu_indices(len(places), 1)
        if len(first):
            of_group = scores[:, places]
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
