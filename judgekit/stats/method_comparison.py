"""How close two numeric scores of the same items are.

Lin's concordance correlation, and Bland & Altman's bias with limits of agreement.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, isnan, nan, sqrt, tanh
from typing import TYPE_CHECKING, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import (
    NO_INTERVAL,
    Interval,
    IntervalMethod,
    coefficient_interval,
)
from judgekit.stats.estimate import Estimate, carried, jackknife_se
from judgekit.stats.intervals import Rate, mean, rate
from judgekit.stats.missing import known_clusters, known_pairs
from judgekit.stats.quantiles import SLACK, check_choice, check_level, normal_quantile, t_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

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
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    ci: IntervalMethod = "analytic",
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
        ci: `analytic`, `jackknife` (better for few, coarse ratings) or `none`.
        level: Confidence level in (0, 1).

    Returns:
        The coefficient; nan where both give one and the same score throughout, 0 where one does.

    Raises:
        NotEnoughDataError: When fewer than two items have both scores.
    """
    check_level(level)
    check_choice("interval", ci, get_args(IntervalMethod))
    x, y, n_missing = known_pairs(a, b)
    if len(x) < 2:  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError("concordance needs two items with both scores")
    moments = _Moments.of(x, y)
    value, r = moments.concordance, moments.correlation
    ends = _concordance_ends(x, y, moments, ci, level)
    constant = "both raters give one score only: concordance is 0/0"
    return Concordance(
        value=value,
        low=ends.low,
        high=ends.high,
        level=level,
        n=len(x),
        n_missing=n_missing,
        method=f"lin, {ci}",
        reason=constant if isnan(value) else ends.reason,
        precision=r,
        accuracy=moments.accuracy,
    )


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
    check_level(level)
    x, y, n_missing = known_pairs(human, judge)
    if len(x) == 0:
        raise NotEnoughDataError("no item has a score of both judge and human")
    d, n = y - x, len(x)
    bias, sd = float(d.mean()), float(d.std(ddof=1)) if n > 1 else nan
    varies = sd > _FLAT * max(1.0, float(np.abs(d).max()))
    z, t = normal_quantile(level), t_quantile(level, n - 1)
    codes = known_clusters(clusters, human, judge)
    of_bias = mean(d.tolist(), clusters=None if codes is None else codes.tolist(), level=level)
    # Bland & Altman (1999): the standard error of a limit, of its mean and of its spread.
    halves = [t * sd * sqrt(1 / n + z * z / (2 * (n - 1))) if varies else nan] * 2
    if codes is not None and varies:
        halves = [_limit_half(d, codes, sign * z, level) for sign in (-1, 1)]
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
        trend=_slope((x + y) / 2, d),
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


@dataclass(frozen=True, slots=True)
class _Moments:
    """Means, variances and covariance over n."""

    shift: float
    sd_x: float
    sd_y: float
    covariance: float

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray) -> _Moments:
        mean_x, mean_y = float(x.mean()), float(y.mean())
        sd_x, sd_y = (
            0.0 if np.ptp(v) <= _FLAT * float(np.abs(v).max()) else float(v.std()) for v in (x, y)
        )
        flat = sd_x == 0 or sd_y == 0
        # A side without spread has no covariance: rounding would give it a sign.
        shared = 0.0 if flat else float(((x - mean_x) * (y - mean_y)).mean())
        return cls(mean_x - mean_y, sd_x, sd_y, shared)

    @property
    def concordance(self) -> float:
        below = self.sd_x**2 + self.sd_y**2 + self.shift**2
        return 2 * self.covariance / below if below > _FLAT**2 else nan

    @property
    def correlation(self) -> float:
        both = self.sd_x * self.sd_y
        return max(-1.0, min(1.0, self.covariance / both)) if both else nan

    @property
    def accuracy(self) -> float:
        below = self.sd_x**2 + self.sd_y**2 + self.shift**2
        return 2 * self.sd_x * self.sd_y / below if self.sd_x and self.sd_y else nan


def _concordance_ends(
    x: np.ndarray, y: np.ndarray, moments: _Moments, ci: IntervalMethod, level: float
) -> Interval:
    value, r, n = moments.concordance, moments.correlation, len(x)
    if ci == "none":
        return NO_INTERVAL
    if isnan(r):
        return Interval(nan, nan, "one rater gives one score only")
    if ci == "jackknife":
        return coefficient_interval(value, _concordance_without(x, y), level=level)
    if n < 3:  # noqa: PLR2004 - the variance divides by n - 2
        return Interval(nan, nan, "two items only")
    # Lin (1989), his variance as corrected in 2000, with c = r C put in, so that r may be 0.
    accuracy, u2 = moments.accuracy, moments.shift**2 / (moments.sd_x * moments.sd_y)
    scatter = (1 - r * r) * accuracy**2 * (1 - value * value)
    shifted = 2 * value**2 * (1 - value) * accuracy * u2 - (value * accuracy * u2) ** 2 / 2
    variance = (scatter + shifted) / (n - 2)
    if not variance > _FLAT**2 or abs(value) >= 1:
        return Interval(
            nan, nan, "all items lie on a line: the spread cannot be seen in these data"
        )
    half = normal_quantile(level) * sqrt(variance) / (1 - value * value)
    return Interval(tanh(atanh(value) - half), tanh(atanh(value) + half), None)


def _concordance_without(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Concordance without each item, from sums about the means."""
    n = len(x) - 1
    dx, dy = x - x.mean(), y - y.mean()
    own = np.stack([dx, dy, dx * dx, dy * dy, dx * dy])
    mean_x, mean_y, xx, yy, xy = (own.sum(axis=1)[:, None] - own) / n
    # What is left of a variance when an item is taken away is 0 or rounding where it was all.
    sx2, sy2 = (
        np.where(v > _FLAT * float((d * d).mean()), v, 0.0)
        for v, d in ((xx - mean_x**2, dx), (yy - mean_y**2, dy))
    )
    shared = np.where((sx2 > 0) & (sy2 > 0), xy - mean_x * mean_y, 0.0)
    below = sx2 + sy2 + (mean_x - mean_y + x.mean() - y.mean()) ** 2
    return np.where(below > _FLAT**2, 2 * shared / np.where(below > 0, below, 1.0), nan)


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    """Least-squares slope; nan where x does not vary."""
    centred = x - x.mean()
    below = float((centred**2).sum())
    return float((centred * y).sum()) / below if below > _FLAT else nan
