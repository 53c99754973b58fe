"""How close two numeric scores of the same items are.

Correlations, Lin's concordance correlation, and Bland & Altman's bias with limits of agreement.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import Literal, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import (
    NO_INTERVAL,
    Influence,
    Interval,
    PairInterval,
    coefficient_interval,
    concordance_influence,
    fisher_ends,
    kendall_influence,
    pearson_influence,
    smoothed_interval,
    spearman_influence,
    to_unit,
)
from judgekit.stats.concordant_pairs import count_pairs, dense_ranks
from judgekit.stats.estimate import Estimate, carried, few_clusters, in_units, jackknife_se
from judgekit.stats.intervals import Rate, mean, rate
from judgekit.stats.missing import (
    DIGITS,
    Values,
    cluster_codes,
    clustered_pairs,
    count_units,
    known_columns,
    mean_ranks,
)
from judgekit.stats.quantiles import SLACK, check_choice, check_level, normal_quantile, t_quantile

_FLAT = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Concordance(Estimate):
    """Lin's concordance correlation: agreement with the identity line."""

    precision: float
    """Pearson's r: how close to any line."""

    accuracy: float
    """How close that line is to the identity, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlandAltman(Estimate):
    """Judge minus human: bias, spread, limits of agreement; `low` and `high` are of the bias."""

    sd: float
    """Standard deviation of the differences."""

    loa_low: float
    """Lower limit of agreement."""

    loa_high: float
    """Upper limit of agreement."""

    loa_low_interval: tuple[float, float]
    """Interval of the lower limit; nan where undefined."""

    loa_high_interval: tuple[float, float]
    """Interval of the upper limit; nan where undefined."""

    mae: float
    """Mean absolute difference."""

    rmse: float
    """Root of the mean squared difference."""

    within_one: Rate
    """Share of items that differ by 1 at most."""

    trend: float
    """Slope of the difference on the mean of both: above 0 where the judge stretches the scale."""

    @property
    def bias(self) -> float:
        """Mean of judge - human; positive where the judge is lenient."""
        return self.value


def lin_ccc(
    a: Values,
    b: Values,
    *,
    ci: PairInterval = "analytic",
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Concordance:
    """Lin's concordance correlation: agreement of two scores with the identity line.

    `2 s_xy / (s_x^2 + s_y^2 + (mean_x - mean_y)^2)` with moments over n: precision r times
    accuracy C. With `u^2 = (mean_x - mean_y)^2 / (s_x s_y)` the variance is
    `((1-r^2) C^2 (1-c^2) + 2 c^2 (1-c) C u^2 - c^2 C^2 u^4 / 2) / (n-2)`, and the interval is
    taken on Fisher's z (Lin 1989, with the correction of 2000).

    Args:
        a: Scores of one rater; None and nan are missing.
        b: Scores of the other, in the order of `a`.
        ci: `analytic`, `jackknife` (better for few, coarse ratings), `smoothed` (better still, with
            pseudo-items on the range of the scores) or `none`.
        clusters: The case of each pair; only `smoothed` respects it.
        level: Confidence level in (0, 1).

    Returns:
        The coefficient; nan where both give one and the same score throughout, 0 where one does.

    Raises:
        NotEnoughDataError: When fewer than two items have both scores.
    """
    check_level(level)
    check_choice("interval", ci, get_args(PairInterval))
    _check_clusters(ci, clusters)
    x, y, codes, n_missing = clustered_pairs(a, b, clusters)
    if len(x) < 2:  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError("concordance needs two items with both scores")
    n, moments = len(x), _moments(x, y)
    value = float(_concordance(*moments))
    shift, var_x, var_y, shared = (float(moment) for moment in moments)
    both = sqrt(var_x) * sqrt(var_y)
    r = max(-1.0, min(1.0, shared / both)) if both else nan
    accuracy = 2 * both / (var_x + var_y + shift**2) if both else nan
    flat = "both raters give one score only: concordance is 0/0"
    if ci == "smoothed":
        sides = to_unit(x, y)
        ends = smoothed_interval(
            value, concordance_influence, *sides, codes=codes, level=level, undefined=flat
        )
    elif isnan(value):
        ends = Interval(nan, nan, flat)
    elif ci == "none":
        ends = NO_INTERVAL
    elif isnan(r):
        ends = Interval(nan, nan, "one rater gives one score only")
    elif ci == "jackknife":
        left_out = _concordance(*_moments(x, y, without_each=True))
        ends = coefficient_interval(value, left_out, level=level)
    else:
        ends = _lin_interval(value, r, accuracy, shift**2 / both, n, level)
    return Concordance(
        value=value,
        **ends._asdict(),
        level=level,
        **in_units(f"lin, {ci}", count_units(codes, n), clustered=codes is not None),
        n_missing=n_missing,
        n_observations=None if codes is None else n,
        precision=r,
        accuracy=accuracy,
    )


def _lin_interval(
    value: float, r: float, accuracy: float, u2: float, n: int, level: float
) -> Interval:
    if n < 3:  # noqa: PLR2004 - the variance divides by n - 2
        return Interval(nan, nan, "two items only")
    # Lin (1989), his variance as corrected in 2000, with c = r C put in, so that r may be 0.
    scatter = (1 - r * r) * accuracy**2 * (1 - value * value)
    shifted = 2 * value**2 * (1 - value) * accuracy * u2 - (value * accuracy * u2) ** 2 / 2
    variance = (scatter + shifted) / (n - 2)
    if not (variance > _FLAT**2 and abs(value) < 1):
        return Interval(
            nan, nan, "all items lie on a line: the spread cannot be seen in these data"
        )
    half = normal_quantile(level) * sqrt(variance) / (1 - value * value)
    return Interval(*fisher_ends(value, half), None)


def bland_altman(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> BlandAltman:
    """Bias, spread and limits of agreement of judge - human (Bland & Altman 1986, 1999).

    Bias `m +- t s / sqrt(n)`; limits `m +- z s`, each with standard error
    `s sqrt(1/n + z^2 / (2(n-1)))` and t(n-1). With few levels the limits only describe. With
    clusters the bias has the interval of `intervals.mean`, the limits one of a jackknife that
    leaves out whole cases, both with t(G - 1).

    Args:
        human: Human scores; None and nan are missing.
        judge: Judge scores, in the order of `human`.
        clusters: The case of each item.
        level: Confidence level in (0, 1), also the share the limits are to hold.

    Returns:
        The figures; without variation of the difference there is no interval. `n` counts items,
        or cases.
    """
    x, y, codes, n_missing = clustered_pairs(human, judge, clusters)
    if len(x) == 0:
        raise NotEnoughDataError("no item has a score of both judge and human")
    d, n = y - x, len(x)
    bias, sd = float(d.mean()), float(d.std(ddof=1)) if n > 1 else nan
    varies = sd > _FLAT * max(1.0, float(np.abs(d).max()))
    z, t = normal_quantile(level), t_quantile(level, n - 1)
    of_bias = mean(d.tolist(), clusters=None if codes is None else codes.tolist(), level=level)
    # Bland & Altman (1999): the standard error of a limit, of its mean and of its spread.
    halves = [t * sd * sqrt(1 / n + z * z / (2 * (n - 1))) if varies else nan] * 2
    if codes is not None and varies:
        halves = [_limit_half(d, codes, sign * z, level) for sign in (-1, 1)]
    middle = (x + y - (x + y).mean()) / 2
    spread = float((middle**2).sum())
    flat = "one item only" if n == 1 else "the difference does not vary"
    limits = [bias + sign * z * sd if varies else nan for sign in (-1, 1)]
    return BlandAltman(
        **carried(
            of_bias,
            low=of_bias.low if varies else nan,
            high=of_bias.high if varies else nan,
            n_missing=n_missing,
            design_effect=nan,
            reason=of_bias.reason if varies else flat,
        ),
        sd=sd,
        loa_low=limits[0],
        loa_high=limits[1],
        loa_low_interval=(limits[0] - halves[0], limits[0] + halves[0]),
        loa_high_interval=(limits[1] - halves[1], limits[1] + halves[1]),
        mae=float(np.abs(d).mean()),
        rmse=sqrt(float((d * d).mean())),
        within_one=rate((np.abs(d) <= 1 + SLACK).astype(float), codes, level=level),
        trend=float((middle * d).sum()) / spread if spread > _FLAT else nan,
    )


def _limit_half(d: np.ndarray, codes: np.ndarray, z: float, level: float) -> float:
    """Half the width of the interval of mean + z sd, by leaving out cases; nan where undefined."""
    centred = d - d.mean()
    n, first, second = (
        p.sum() - np.bincount(codes, p) for p in (np.ones_like(d), centred, centred**2)
    )
    groups = len(n)
    if groups < 2 or n.min() < 2:  # noqa: PLR2004 - a variance needs two
        return nan
    # The closed form in `bland_altman` holds for independent items only: here the limit itself is
    # computed without each case.
    without = first / n + z * np.sqrt(np.maximum(second - first**2 / n, 0) / (n - 1))
    se = jackknife_se(without)
    return t_quantile(level, groups - 1) * se if se > _FLAT else nan


def _moments(x: np.ndarray, y: np.ndarray, *, without_each: bool = False) -> list[np.ndarray]:
    """Difference of the means, variances and covariance over n; or all these without each item."""
    n, dx, dy = len(x), x - x.mean(), y - y.mean()
    own = np.stack([dx, dy, dx * dx, dy * dy, dx * dy])
    sums = own.sum(axis=1)
    if without_each:
        n, sums = n - 1, sums[:, None] - own
    mean_x, mean_y, xx, yy, xy = sums / n
    variances = []
    for variance, d, scores in ((xx - mean_x**2, dx, x), (yy - mean_y**2, dy, y)):
        # What is left of a variance where an item was all of it, or where scores are equal, is 0
        # or rounding.
        least = max(_FLAT * float((d * d).mean()), (_FLAT * float(np.abs(scores).max())) ** 2)
        variances.append(np.where(variance > least, variance, 0.0))
    # A side without spread has no covariance: rounding would give it a sign.
    shared = np.where((variances[0] > 0) & (variances[1] > 0), xy - mean_x * mean_y, 0.0)
    return [mean_x - mean_y + x.mean() - y.mean(), *variances, shared]


def _concordance(
    shift: np.ndarray, var_x: np.ndarray, var_y: np.ndarray, shared: np.ndarray
) -> np.ndarray:
    below = var_x + var_y + shift**2
    return np.asarray(2 * shared / np.where(below > _FLAT**2, below, nan))


CorrelationMethod = Literal["pearson", "spearman", "kendall", "kendall-c"]
CorrelationInterval = Literal["fisher", "smoothed"]
_SMALL = 10

_INFLUENCES: dict[str, Influence] = {
    "pearson": pearson_influence,
    "spearman": spearman_influence,
    "kendall": kendall_influence,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Estimate):
    """A correlation, and how many groups it leaves out where it is taken within groups."""

    n_skipped: int = 0
    """Groups in which it is undefined: fewer than two items, or one side constant."""


def correlation(
    a: Values,
    b: Values,
    method: CorrelationMethod = "spearman",
    *,
    ci: CorrelationInterval = "fisher",
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Correlation:
    """Pearson's, Spearman's or Kendall's correlation with an interval on Fisher's z.

    Standard errors of z by `fisher`: Pearson `1 / sqrt(n-3)`; Spearman `sqrt((1 + r^2/2) / (n-3))`
    (Bonett & Wright 2000); Kendall `sqrt(.437 / (n-4))` (Fieller, Hartley & Pearson 1957). They
    hold for continuous scores close to a bivariate normal; for scores with ties, a ceiling, gross
    errors or heavy tails they cover 60 to 92 %. `smoothed` covers as stated (Pearson's with rare
    outliers on an unbounded scale at 87 % only: take a rank correlation there). `kendall` is
    tau-b; on few levels it cannot reach 1 for unlike margins, tau-c (Stuart 1953) nearly can.
    A correlation does not see leniency; pooled over prompts it rises with their difficulty.

    Args:
        a: Scores; None and nan are missing.
        b: Scores, in the order of `a`.
        method: `pearson`, `spearman`, `kendall` or `kendall-c`.
        ci: `fisher`, or `smoothed`: from the influence of each item, with two pseudo-items on the
            range of the scores (not for `kendall-c`).
        clusters: The case of each pair; only `smoothed` respects it.
        level: Confidence level in (0, 1).

    Returns:
        The correlation; nan with a reason where a side is constant. By `fisher` there is no
        interval at +-1 or below 4 items (5 for Kendall). `n` counts items, or cases.

    Raises:
        NotEnoughDataError: When fewer than two items have both scores.
    """
    check_level(level)
    check_choice("correlation", method, get_args(CorrelationMethod))
    check_choice("interval", ci, get_args(CorrelationInterval))
    _check_clusters(ci, clusters)
    x, y, codes, n_missing = clustered_pairs(a, b, clusters)
    n = len(x)
    if n < 2:  # noqa: PLR2004 - one point has no direction
        raise NotEnoughDataError("a correlation needs two items with both scores")
    value = float(_coefficients(x, y, np.zeros(n, dtype=int), 1, method)[0])
    if ci == "fisher":
        ends = _fisher_interval(value, n, method, level)
    elif method in _INFLUENCES:
        # Each side has its own unit: a correlation is that of the scores brought to 0..1.
        sides = (*to_unit(x), *to_unit(y))
        ends = smoothed_interval(
            value, _INFLUENCES[method], *sides, codes=codes, level=level, undefined=_CONSTANT_SIDE
        )
    else:
        raise ValueError(f"{method} has no smoothed interval; take `kendall`, or ci='fisher'")
    units = count_units(codes, n)
    few = f"{units} items only: the interval is rough" if units < _SMALL else None
    named = f"{method}, {'fisher z' if ci == 'fisher' else ci}"
    return Correlation(
        value=value,
        **ends._asdict(),
        level=level,
        **in_units(named, units, clustered=codes is not None),
        n_missing=n_missing,
        n_observations=None if codes is None else n,
        note=few if codes is None else few_clusters(units),
    )


_CONSTANT_SIDE = "one side is constant"


def _fisher_interval(value: float, n: int, method: CorrelationMethod, level: float) -> Interval:
    # The variance of z is `spread / (n - least + 1)`, whichever the coefficient.
    spread = {"pearson": 1.0, "spearman": 1 + value * value / 2}.get(method, 0.437)
    least = 4 if method in ("pearson", "spearman") else 5
    reason = f"{n} items only; an interval needs {least}" if n < least else None
    if isnan(value):
        reason = _CONSTANT_SIDE
    elif abs(value) >= 1 - 1e-12:
        reason = f"the correlation is {value:g}: its spread cannot be seen in these data"
    if reason is not None:
        return Interval(nan, nan, reason)
    half = normal_quantile(level) * sqrt(spread / (n - least + 1))
    return Interval(*fisher_ends(value, half), None)


def _check_clusters(ci: str, clusters: Sequence[Hashable] | None) -> None:
    if clusters is not None and ci != "smoothed":
        # An interval that ignores the cases it was given would claim too much without a word.
        raise ValueError(f"ci={ci!r} treats items as independent: with clusters give ci='smoothed'")


def grouped_correlation(
    a: Sequence[float | None],
    b: Sequence[float | None],
    groups: Sequence[Hashable],
    method: CorrelationMethod = "spearman",
    *,
    level: float = 0.95,
) -> Correlation:
    """The mean of the correlations within each group (prompt, document); `n` counts groups.

    Groups in which a side is constant have none and are left out, as is usual for system outputs
    per document; the interval is a jackknife over groups.
    """
    check_choice("correlation", method, get_args(CorrelationMethod))
    if not len(a) == len(b) == len(groups):
        raise ValueError(f"{len(a)} and {len(b)} scores, but {len(groups)} group names")
    if not len(groups):
        raise NotEnoughDataError("no group of items to correlate in")
    codes = cluster_codes(groups, range(len(groups)))
    (x, y), places = known_columns(a, b)
    n_missing = len(a) - len(places)
    values = _coefficients(x, y, codes[places], count_units(codes, 0), method)
    used = values[~np.isnan(values)]
    n, total = len(used), float(used.sum())
    value = total / n if n else nan
    left_out = (total - used) / (n - 1) if n > 1 else used
    undefined = "in every group one side is constant"
    ends = coefficient_interval(value, left_out, level=level, unit="group", undefined=undefined)
    return Correlation(
        value=value,
        **ends._asdict(),
        level=level,
        n=n,
        n_missing=n_missing,
        method=f"{method} within groups, jackknife",
        n_clusters=n,
        n_observations=len(a) - n_missing,
        n_skipped=len(values) - n,
    )


def _coefficients(
    x: np.ndarray, y: np.ndarray, groups: np.ndarray, n_groups: int, method: CorrelationMethod
) -> np.ndarray:
    """The coefficient within each group; nan where a side is constant."""
    found = np.full(n_groups, nan)
    sizes = np.bincount(groups, minlength=n_groups)
    order, starts = np.argsort(groups, kind="stable"), np.cumsum(sizes) - sizes
    # Without the noise of floats, so that equal scores are tied.
    x, y, groups = np.round(x[order], DIGITS), np.round(y[order], DIGITS), groups[order]
    if method.startswith("kendall"):
        for place, counts in enumerate(_pair_counts(x, y, groups)):
            own = slice(starts[place], starts[place] + sizes[place])
            found[place] = _kendall(counts, x[own], y[own], method)
        return found
    if method == "spearman":
        x, y = (mean_ranks(dense_ranks(groups, side)) - starts[groups] for side in (x, y))
    # Groups of one size are the rows of one table, whose sums are those of each row alone.
    for size in np.unique(sizes[sizes > 1]).tolist():
        alike = np.flatnonzero(sizes == size)
        rows = starts[alike][:, None] + np.arange(size)
        a, b = x[rows], y[rows]
        varies = (np.ptp(a, axis=1) != 0) & (np.ptp(b, axis=1) != 0)
        if varies.any():
            found[alike[varies]] = _pearson(a[varies], b[varies])
    return found


def _pair_counts(x: np.ndarray, y: np.ndarray, groups: np.ndarray) -> Iterator[list[int]]:
    # scipy.stats.kendalltau is the reference in the tests: it costs the import of scipy.stats, and
    # computes a p-value that no resample needs.
    a, b = (np.unique(side, return_inverse=True)[1].astype(float) for side in (x, y))
    counts = count_pairs(a, b, groups)
    # Python's integers: the product of two numbers of pairs may be more than 64 bits hold.
    return map(list, zip(*(each.tolist() for each in counts[:4]), strict=True))


def _kendall(
    counts: Sequence[int], x: np.ndarray, y: np.ndarray, method: CorrelationMethod
) -> float:
    concordant, discordant, ties_x, ties_y = counts
    score, untied = concordant - discordant, concordant + discordant
    spread = (untied + ties_x) * (untied + ties_y)
    if not spread:
        return nan
    if method == "kendall":
        return score / sqrt(spread)
    n, m = len(x), min(len(np.unique(x)), len(np.unique(y)))
    return 2 * score / (n * n * (m - 1) / m)


def _pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's correlation of two rows, or of each row of two tables."""
    dx, dy = (side - side.mean(axis=-1, keepdims=True) for side in (x, y))
    # Scaled to 1: squares of scores near 1e-200 or 1e200 would leave the range of floats.
    dx, dy = (side / np.abs(side).max(axis=-1, keepdims=True) for side in (dx, dy))
    spread = np.sqrt((dx * dx).sum(axis=-1) * (dy * dy).sum(axis=-1))
    return np.asarray(np.clip((dx * dy).sum(axis=-1) / spread, -1.0, 1.0))
