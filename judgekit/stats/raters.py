"""How far several raters agree: Krippendorff's alpha, Gwet's AC, Fleiss' kappa, ICC."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from judgekit.stats.alpha import Alpha, AlphaLevel, krippendorff_alpha
from judgekit.stats.coefficient import (
    CoefficientInterval,
    Ends,
    Weights,
    above_chance,
    category_weights,
    check_interval,
    jackknife_ends,
)
from judgekit.stats.estimate import Estimate
from judgekit.stats.intraclass import ICCKind, IntraclassCorrelation, icc
from judgekit.stats.quantiles import check_level, t_quantile
from judgekit.stats.rating_table import RatingCounts, count_ratings

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

__all__ = [
    "Alpha",
    "AlphaLevel",
    "ChanceCorrected",
    "ICCKind",
    "IntraclassCorrelation",
    "fleiss_kappa",
    "gwet_ac",
    "icc",
    "krippendorff_alpha",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceCorrected(Estimate):
    """Agreement of any number of raters beyond chance."""

    pa: float
    """Observed agreement, weighted."""

    pe: float
    """Agreement by chance."""

    weights: str
    """How disagreement was weighed: none, linear, quadratic or ordinal."""

    n_single: int
    """Items with one rating: they count for the margins, not for agreement."""


def gwet_ac(
    ratings: Sequence[Sequence[Hashable]],
    *,
    labels: Sequence[Hashable],
    weights: Weights | None = None,
    ci: CoefficientInterval = "jackknife",
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> ChanceCorrected:
    """Gwet's AC1 (no weights) or AC2: agreement less bound to prevalence than kappa or alpha.

    `pa` is the mean over items with two ratings of the weighted share of agreeing pairs,
    `pi_k` the mean share of label k, `pe = T_w / (q (q-1)) sum pi_k (1 - pi_k)` with T_w the sum
    of the weights (Gwet 2008, 2014). `se` is Gwet's linearised one. It depends on the size of
    the scale, so that has to be given whole.

    Args:
        ratings: One row an item, one rating a rater; None and nan are missing.
        labels: The whole scale in order.
        weights: None (AC1), `linear`, `quadratic` or `ordinal` (AC2).
        ci: `jackknife`, `analytic` (t with the linearised standard error, clipped to 1) or
            `none`.
        clusters: The case of each item; the jackknife leaves out whole cases.
        level: Confidence level in (0, 1).

    Returns:
        The coefficient; 1 where all ratings are one label. `n` counts items, or cases.

    Raises:
        ValueError: When a rating is not on the scale or an argument is unknown.
        NotEnoughDataError: When no item has two ratings.
    """
    check_level(level)
    check_interval(ci)
    w, q = category_weights(labels, weights), len(labels)
    table = _table(ratings, labels, clusters)
    factor = float(w.sum()) / (q * (q - 1))
    found = _Agreement.of(table, w, lambda share: factor * (share * (1 - share)).sum(axis=-1))
    se = _linearised_se(table, found, factor)
    ends = _ac_ends(found, se, ci, level, table.n)
    return _result(f"gwet, {ci}", found, table, ends, se=se, weights=weights, level=level)


def fleiss_kappa(
    ratings: Sequence[Sequence[Hashable]],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> ChanceCorrected:
    """Kappa of many raters; with two it is Scott's pi.

    `pe = sum pi_k^2` (Fleiss 1971; for unequal numbers of ratings Gwet 2014).

    Args:
        ratings: One row an item, one rating a rater; None and nan are missing.
        clusters: The case of each item; the jackknife leaves out whole cases.
        level: Confidence level in (0, 1).

    Returns:
        The coefficient with a jackknife interval; nan where all ratings are one label.

    Raises:
        ValueError: When `clusters` has another length.
        NotEnoughDataError: When no item has two ratings.
    """
    check_level(level)
    table = _table(ratings, None, clusters)
    found = _Agreement.of(table, np.eye(len(table.labels)), lambda share: (share**2).sum(axis=-1))
    ends = jackknife_ends(found.value, found.left_out, level=level)
    return _result("fleiss, jackknife", found, table, ends, se=nan, weights=None, level=level)


def _table(
    ratings: Sequence[Sequence[Hashable]],
    labels: Sequence[Hashable] | None,
    clusters: Sequence[Hashable] | None,
) -> RatingCounts:
    count_ratings(ratings, labels=labels)  # refuses where no item has two
    return count_ratings(ratings, labels=labels, at_least=1, clusters=clusters)


@dataclass(frozen=True, slots=True)
class _Agreement:
    """Observed and expected agreement, with and without each unit."""

    value: float
    pa: float
    pe: float
    item: np.ndarray
    share: np.ndarray
    left_out: np.ndarray

    @classmethod
    def of(
        cls, table: RatingCounts, w: np.ndarray, expected: Callable[[np.ndarray], np.ndarray]
    ) -> _Agreement:
        raters = table.counts.sum(axis=1)
        paired = raters > 1
        pairs = np.where(paired, raters * (raters - 1), 1)
        item = (table.counts * (table.counts @ w - 1)).sum(axis=1) / pairs * paired
        share = table.counts / raters[:, None]
        units = np.arange(len(raters)) if table.clusters is None else table.clusters
        sums = [_per_unit(units, column) for column in (item, paired, np.ones_like(item), share)]
        whole = [part.sum(axis=0) for part in sums]
        pa, pe = whole[0] / whole[1], expected(whole[3] / whole[2])
        rest = [total - part for total, part in zip(whole, sums, strict=True)]
        with np.errstate(invalid="ignore"):
            pa_left = rest[0] / np.where(rest[1] > 0, rest[1], nan)
            pe_left = expected(rest[3] / rest[2][:, None])
        left_out = above_chance(pa_left, pe_left)
        return cls(float(above_chance(pa, pe)), float(pa), float(pe), item, share, left_out)


def _per_unit(units: np.ndarray, column: np.ndarray) -> np.ndarray:
    total = np.zeros((int(units.max()) + 1, *column.shape[1:]))
    np.add.at(total, units, column)
    return total


def _linearised_se(table: RatingCounts, found: _Agreement, factor: float) -> float:
    """Gwet 2014, section 5.4; clusters take the place of items."""
    if isnan(found.value) or table.n < 2:  # noqa: PLR2004 - a variance needs two
        return nan
    n, room = len(table.counts), 1 - found.pe
    paired = table.counts.sum(axis=1) > 1
    margin = found.share.sum(axis=0) / n
    agreement = n / paired.sum() * (found.item - found.pe * paired) / room
    chance = factor * (found.share * (1 - margin)).sum(axis=1)
    pull = agreement - 2 * (1 - found.value) * (chance - found.pe) / room - found.value
    units = np.arange(n) if table.clusters is None else table.clusters
    totals = _per_unit(units, pull)
    return sqrt(float((totals**2).sum()) / n**2 * table.n / (table.n - 1))


def _ac_ends(found: _Agreement, se: float, ci: CoefficientInterval, level: float, n: int) -> Ends:
    if ci == "none":
        return Ends(nan, nan, "no interval was asked for")
    if ci == "jackknife":
        return jackknife_ends(found.value, found.left_out, level=level)
    if not se > 0:
        return Ends(nan, nan, "one item only" if n == 1 else "the standard error is 0")
    half = t_quantile(level, n - 1) * se
    return Ends(max(-1.0, found.value - half), min(1.0, found.value + half), None)


def _result(
    method: str,
    found: _Agreement,
    table: RatingCounts,
    ends: Ends,
    *,
    se: float,
    weights: Weights | None,
    level: float,
) -> ChanceCorrected:
    constant = "all ratings are one label: agreement beyond chance is 0/0"
    return ChanceCorrected(
        value=found.value,
        low=ends.low,
        high=ends.high,
        level=level,
        n=table.n,
        n_missing=table.n_missing,
        method=method + ("" if table.clusters is None else ", clustered"),
        se=se,
        n_clusters=None if table.clusters is None else table.n,
        n_observations=int(table.counts.sum()),
        reason=constant if isnan(found.value) else ends.reason,
        pa=found.pa,
        pe=found.pe,
        weights=weights or "none",
        n_single=int((table.counts.sum(axis=1) == 1).sum()),
    )
