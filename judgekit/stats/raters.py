"""Agreement of several raters: Gwet's AC, Fleiss' kappa and the intraclass correlation.

Krippendorff's alpha is in `alpha`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import (
    Interval,
    IntervalMethod,
    RatingList,
    Ratings,
    Weights,
    above_chance,
    category_weights,
    coefficient_interval,
    interval_by,
    list_ratings,
)
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.estimate import Estimate, by_place, in_units
from judgekit.stats.missing import floats, group_sums
from judgekit.stats.quantiles import check_choice, check_level, f_quantile, f_tail, t_quantile

__all__ = ["fleiss_kappa", "gwet_ac", "icc", "krippendorff_alpha"]

_CONSTANT = "all ratings are one label: agreement beyond chance is 0/0"


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
    ratings: Ratings,
    *,
    labels: Sequence[Hashable],
    weights: Weights | None = None,
    ci: IntervalMethod = "jackknife",
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> ChanceCorrected:
    """Gwet's AC1 (no weights) or AC2, which depends less on prevalence than kappa or alpha.

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
        NotEnoughDataError: When no item has two ratings.
    """
    check_choice("interval", ci, get_args(IntervalMethod))
    w, q = category_weights(labels, weights), len(labels)
    factor = float(w.sum()) / (q * (q - 1))
    found = _Agreement.of(
        ratings, clusters, lambda share: factor * (share * (1 - share)).sum(axis=-1), w, labels
    )
    se, n = found.linearised_se(factor), found.table.n
    half = t_quantile(level, n - 1) * se
    flat = "one item only" if n == 1 else "the standard error is 0"
    ends = interval_by(
        ci, found.value, found.left_out, half, level=level, undefined=_CONSTANT, flat=flat
    )
    return found.result(ends, f"gwet, {ci}", level=level, se=se, weights=weights or "none")


def fleiss_kappa(
    ratings: Ratings, *, clusters: Sequence[Hashable] | None = None, level: float = 0.95
) -> ChanceCorrected:
    """Fleiss' kappa of many raters; with two it is Scott's pi.

    `pe = sum pi_k^2` (Fleiss 1971; for unequal numbers of ratings Gwet 2014).

    Args:
        ratings: One row an item, one rating a rater; None and nan are missing.
        clusters: The case of each item; the jackknife leaves out whole cases.
        level: Confidence level in (0, 1).

    Returns:
        The coefficient with a jackknife interval; nan where all ratings are one label.

    Raises:
        NotEnoughDataError: When no item has two ratings.
    """
    found = _Agreement.of(ratings, clusters, lambda share: (share**2).sum(axis=-1))
    ends = coefficient_interval(found.value, found.left_out, level=level, undefined=_CONSTANT)
    return found.result(ends, "fleiss, jackknife", level=level)


@dataclass(frozen=True, slots=True)
class _Agreement:
    """Observed and expected agreement, with and without each unit."""

    table: RatingList
    is_clustered: bool
    n_ratings: np.ndarray
    value: float
    pa: float
    pe: float
    item: np.ndarray
    share: np.ndarray
    left_out: np.ndarray

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        clusters: Sequence[Hashable] | None,
        expected: Callable[[np.ndarray], np.ndarray],
        weights: np.ndarray | None = None,
        labels: Sequence[Hashable] | None = None,
    ) -> _Agreement:
        list_ratings(ratings)  # refuses where no item has two
        # Gwet: an item with one rating still counts for the distribution of labels, though not for
        # agreement.
        table = list_ratings(ratings, at_least=1, clusters=clusters)
        counts = table.count(labels)[1]
        raters = counts.sum(axis=1)
        paired = raters > 1
        # A placeholder of 1 keeps single ratings from dividing by 0; `paired` removes them.
        pairs = np.where(paired, raters * (raters - 1), 1)
        weighted = counts if weights is None else counts @ weights
        item = (counts * (weighted - 1)).sum(axis=1) / pairs * paired
        share = counts / raters[:, None]
        columns = (item, paired, np.ones_like(item), share)
        sums = [group_sums(table.units, column) for column in columns]
        whole = [part.sum(axis=0) for part in sums]
        pa, pe = whole[0] / whole[1], expected(whole[3] / whole[2])
        # Every sum is additive over units: leaving one out is a subtraction.
        rest = [total - part for total, part in zip(whole, sums, strict=True)]
        with np.errstate(invalid="ignore"):
            pa_left = rest[0] / np.where(rest[1] > 0, rest[1], nan)
            pe_left = expected(rest[3] / rest[2][:, None])
        return cls(
            table, clusters is not None, raters, float(above_chance(pa, pe)), float(pa), float(pe),
            item, share, above_chance(pa_left, pe_left),
        )  # fmt: skip

    def linearised_se(self, factor: float) -> float:
        """Gwet's linearised standard error; clusters take the place of items."""
        units = self.table.n
        if isnan(self.value) or units < 2:  # noqa: PLR2004 - a variance needs two
            return nan
        n, room, paired = len(self.item), 1 - self.pe, self.n_ratings > 1
        margin = self.share.sum(axis=0) / n
        # Gwet (2008; 2014 for weights and missing ratings): what each item adds to agreement, less
        # twice what it adds to chance agreement, in which the margins are squared.
        agreement = n / paired.sum() * (self.item - self.pe * paired) / room
        chance = factor * (self.share * (1 - margin)).sum(axis=1)
        pull = agreement - 2 * (1 - self.value) * (chance - self.pe) / room - self.value
        totals = group_sums(self.table.units, pull)
        return sqrt(float((totals**2).sum()) / n**2 * units / (units - 1))

    def result(
        self, ends: Interval, method: str, *, level: float, se: float = nan, weights: str = "none"
    ) -> ChanceCorrected:
        return ChanceCorrected(
            value=self.value,
            **ends._asdict(),
            level=level,
            **in_units(method, self.table.n, clustered=self.is_clustered),
            n_missing=self.table.n_missing,
            se=se,
            n_observations=len(self.table.ratings),
            pa=self.pa,
            pe=self.pe,
            weights=weights,
            n_single=int((self.n_ratings == 1).sum()),
        )


ICCKind = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
_FLAT = 1e-12
_NARROW = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraclassCorrelation(Estimate):
    """Reliability of ratings on a numeric scale."""

    kind: str
    """Which of Shrout & Fleiss 1979: model 1, 2 or 3, of one rater or of the mean of k."""

    f: float
    """Items' mean square over that of the error."""

    p_value: float
    """p of that F against items that do not differ."""

    n_raters: int

    n_dropped: int
    """Items left out because a rating is missing."""


def icc(
    ratings: Sequence[Sequence[float | None]], kind: ICCKind = "2,1", *, level: float = 0.95
) -> IntraclassCorrelation:
    """Intraclass correlation of a complete table, with F limits.

    Model 1 takes raters as nested in items; 2 as a sample of raters, absolute agreement: use
    `2,1` for a judge against a human; 3 as fixed, consistency: `3,k` says how reliable the mean
    of this panel is (Shrout & Fleiss 1979; McGraw & Wong 1996). The limits of model 2 rest on
    Satterthwaite's degrees of freedom.

    Args:
        ratings: One row an item, one rating a rater; items with a missing rating are left out
            (for many, use `krippendorff_alpha`).
        kind: `1,1`, `2,1`, `3,1`, or with `k` for the mean of all raters.
        level: Confidence level in (0, 1).

    Returns:
        The correlation; nan where items (or all ratings) do not vary. No interval at 1.

    Raises:
        NotEnoughDataError: When fewer than two complete items or two raters are left.
    """
    check_level(level)
    check_choice("ICC", kind, get_args(ICCKind))
    ratings = by_place(ratings)
    if len(set(map(len, ratings))) > 1:
        raise ValueError("items have unlike numbers of ratings; give None where one is missing")
    if not ratings:
        raise NotEnoughDataError("no items; an ICC needs two, of two raters")
    table = floats(ratings).reshape(len(ratings), -1)
    # Mean squares need a full table: an item with a missing rating is left out whole, and counted.
    complete = table[~np.isnan(table).any(axis=1)]
    n, k = complete.shape
    if n < 2 or k < 2:  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError(f"{n} complete items of {k} raters; an ICC needs two of each")
    squares = _MeanSquares.of(complete)
    # Shrout & Fleiss (1979): one-way models put the spread of raters into the error.
    error = squares.within if kind.startswith("1") else squares.error
    value = _value(squares, kind)
    f = squares.items / error if error > _FLAT * squares.size else nan
    if value < 1 - _FLAT:
        ends = _ends(squares, kind, f, level)
    elif isnan(value):
        ends = Interval(nan, nan, "items do not vary: the correlation is undefined")
    else:
        reason = "raters differ nowhere: the spread cannot be seen in these data"
        ends = Interval(nan, nan, reason)
    return IntraclassCorrelation(
        value=value,
        **ends._asdict(),
        level=level,
        n=n,
        n_missing=int(np.isnan(table).sum()),
        method=f"icc {kind}, F limits",
        n_observations=n * k,
        kind=kind,
        f=f,
        p_value=f_tail(f, n - 1, squares.error_df(kind)),
        n_raters=k,
        n_dropped=len(table) - n,
    )


class _MeanSquares(NamedTuple):
    """Two-way analysis of variance of n items by k raters."""

    items: float
    raters: float
    error: float
    within: float
    n: int
    k: int
    size: float

    @classmethod
    def of(cls, table: np.ndarray) -> _MeanSquares:
        n, k = table.shape
        whole, item, rater = table.mean(), table.mean(axis=1), table.mean(axis=0)
        rest = table - item[:, None] - rater + whole
        return cls(
            items=float(k * ((item - whole) ** 2).sum() / (n - 1)),
            raters=float(n * ((rater - whole) ** 2).sum() / (k - 1)),
            error=float((rest**2).sum() / ((n - 1) * (k - 1))),
            within=float(((table - item[:, None]) ** 2).sum() / (n * (k - 1))),
            n=n,
            k=k,
            size=max(1.0, float(np.abs(table).max()) ** 2),
        )

    def error_df(self, kind: ICCKind) -> int:
        return self.n * (self.k - 1) if kind.startswith("1") else (self.n - 1) * (self.k - 1)


def _value(s: _MeanSquares, kind: ICCKind) -> float:
    model, of_mean = kind[0], kind.endswith("k")
    error = s.within if model == "1" else s.error
    # Absolute agreement (2,·) also pays for raters that differ in level.
    shift = 0.0 if model != "2" else (s.raters - s.error) / s.n
    below = s.items + shift if of_mean else s.items + (s.k - 1) * error + s.k * shift
    return (s.items - error) / below if below > _FLAT * s.size else nan


def _ends(s: _MeanSquares, kind: ICCKind, f: float, level: float) -> Interval:
    of_mean = kind.endswith("k")
    if kind.startswith("2"):
        ends = _absolute_ends(s, level)
        # Spearman & Brown, from one rater to the mean of k: it rises, so limits stay limits.
        stepped = (
            s.k * x / (1 + (s.k - 1) * x) if 1 + (s.k - 1) * x > _FLAT else nan for x in ends
        )
        low, high = stepped if of_mean else ends
    else:
        df = s.error_df(kind)
        f_low = f / f_quantile((1 + level) / 2, s.n - 1, df)
        f_high = f * f_quantile((1 + level) / 2, df, s.n - 1)
        low, high = (1 - 1 / x if of_mean else (x - 1) / (x + s.k - 1) for x in (f_low, f_high))
    # The F limits can miss the value or collapse in tiny tables: then there are none.
    if not low - _FLAT <= _value(s, kind) <= high + _FLAT or not high - low > _NARROW:
        return Interval(nan, nan, "the limits are undefined in these data")
    return Interval(low, high, None)


def _absolute_ends(s: _MeanSquares, level: float) -> tuple[float, float]:
    """The limits of ICC(2,1)."""
    n, k, v = s.n, s.k, _value(s, "2,1")
    own = k * v * s.raters
    rest = (n * (1 + (k - 1) * v) - k * v) * s.error
    below = (n - 1) * own**2 + rest**2
    # Opposite parts leave no degrees of freedom.
    if not below > 0 or abs(own + rest) <= _FLAT * abs(own):
        return nan, nan
    # Satterthwaite's degrees of freedom for the sum of two mean squares (Shrout & Fleiss 1979; as
    # ICC(A,1) in McGraw & Wong 1996).
    df = (k - 1) * (n - 1) * (own + rest) ** 2 / below
    f_low, f_high = f_quantile((1 + level) / 2, n - 1, df), f_quantile((1 + level) / 2, df, n - 1)
    scale = k * s.raters + (k * n - k - n) * s.error
    low = n * (s.items - f_low * s.error) / (f_low * scale + n * s.items)
    high = n * (f_high * s.items - s.error) / (scale + n * f_high * s.items)
    return low, high
