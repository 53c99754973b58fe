"""Pearson's, Spearman's and Kendall's correlations with intervals, overall or within groups."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, isnan, nan, sqrt, tanh
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import coefficient_interval
from judgekit.stats.concordant_pairs import count_pairs
from judgekit.stats.estimate import Estimate
from judgekit.stats.missing import DIGITS, known_pairs
from judgekit.stats.quantiles import check_choice, check_level, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

CorrelationMethod = Literal["pearson", "spearman", "kendall", "kendall-c"]
_SMALL = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Estimate):
    """A correlation, and how many groups it leaves out where it is taken within groups."""

    n_skipped: int = 0
    """Groups in which it is undefined: fewer than two items, or one side constant."""


def correlation(
    a: Sequence[float | None],
    b: Sequence[float | None],
    method: CorrelationMethod = "spearman",
    *,
    level: float = 0.95,
) -> Correlation:
    """Pearson's, Spearman's or Kendall's correlation with an interval on Fisher's z.

    Standard errors of z: Pearson `1 / sqrt(n-3)`; Spearman `sqrt((1 + r^2/2) / (n-3))` (Bonett &
    Wright 2000); Kendall `sqrt(.437 / (n-4))` (Fieller, Hartley & Pearson 1957). `kendall` is
    tau-b; on few levels it cannot reach 1 for unlike margins, tau-c (Stuart 1953) nearly can.
    A correlation does not see leniency; pooled over prompts it rises with their difficulty.

    Args:
        a: Scores; None and nan are missing.
        b: Scores, in the order of `a`.
        method: `pearson`, `spearman`, `kendall` or `kendall-c`.
        level: Confidence level in (0, 1).

    Returns:
        The correlation; nan with a reason where a side is constant. No interval at +-1 or below
        4 items (5 for Kendall).

    Raises:
        NotEnoughDataError: When fewer than two items have both scores.
    """
    check_level(level)
    check_choice("correlation", method, get_args(CorrelationMethod))
    x, y, n_missing = known_pairs(a, b)
    n = len(x)
    if n < 2:  # noqa: PLR2004 - one point has no direction
        raise NotEnoughDataError("a correlation needs two items with both scores")
    value = _coefficient(x, y, method)
    # The variance of z is `spread / (n - least + 1)`, whichever the coefficient.
    spread = {"pearson": 1.0, "spearman": 1 + value * value / 2}.get(method, 0.437)
    least = 4 if method in ("pearson", "spearman") else 5
    reason = f"{n} items only; an interval needs {least}" if n < least else None
    if isnan(value):
        reason = "one side is constant"
    elif abs(value) >= 1 - 1e-12:
        reason = f"the correlation is {value:g}: its spread cannot be seen in these data"
    half = nan if reason else normal_quantile(level) * sqrt(spread / (n - least + 1))
    return Correlation(
        value=value,
        low=tanh(atanh(value) - half) if reason is None else nan,
        high=tanh(atanh(value) + half) if reason is None else nan,
        level=level,
        n=n,
        n_missing=n_missing,
        method=f"{method}, fisher z",
        reason=reason,
        note=f"{n} items only: the interval is rough" if n < _SMALL else None,
    )


def grouped_correlation(
    a: Sequence[float | None],
    b: Sequence[float | None],
    groups: Sequence[Hashable],
    method: CorrelationMethod = "spearman",
    *,
    level: float = 0.95,
) -> Correlation:
    """The mean of the correlations within each group (prompt, document).

    Groups in which a side is constant have none and are left out, as is usual for system outputs
    per document; the interval is a jackknife over groups.

    Args:
        a: Scores; None and nan are missing.
        b: Scores, in the order of `a`.
        groups: The group of each item.
        method: As in `correlation`.
        level: Confidence level in (0, 1).

    Returns:
        The mean; `n` counts the groups used, `n_skipped` the others.
    """
    check_level(level)
    check_choice("correlation", method, get_args(CorrelationMethod))
    if not len(a) == len(b) == len(groups):
        raise ValueError(f"{len(a)} and {len(b)} scores, but {len(groups)} group names")
    places: dict[Hashable, list[int]] = {}
    for place, name in enumerate(groups):
        places.setdefault(name, []).append(place)
    if not places:
        raise NotEnoughDataError("no group of items to correlate in")
    values, n_missing = [], 0
    for members in places.values():
        x, y, missing = known_pairs([a[i] for i in members], [b[i] for i in members])
        n_missing += missing
        values.append(_coefficient(x, y, method) if len(x) > 1 else nan)
    used = np.array([v for v in values if not isnan(v)])
    n, total = len(used), float(used.sum())
    value = total / n if n else nan
    left_out = (total - used) / (n - 1) if n > 1 else used
    ends = coefficient_interval(value, left_out, level=level, unit="group")
    return Correlation(
        value=value,
        low=ends.low,
        high=ends.high,
        level=level,
        n=n,
        n_missing=n_missing,
        method=f"{method} within groups, jackknife",
        n_clusters=n,
        n_observations=len(a) - n_missing,
        reason="in every group one side is constant" if n == 0 else ends.reason,
        n_skipped=len(values) - n,
    )


def _coefficient(x: np.ndarray, y: np.ndarray, method: CorrelationMethod) -> float:
    # Without the noise of floats, so that equal scores are tied.
    x, y = np.round(x, DIGITS), np.round(y, DIGITS)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return nan
    if method in ("pearson", "spearman"):
        return _pearson(x, y) if method == "pearson" else _pearson(_ranks(x), _ranks(y))
    # scipy.stats.kendalltau is the reference in the tests: it costs the import of scipy.stats, and
    # computes a p-value that no resample needs.
    x_levels, x_at = np.unique(x, return_inverse=True)
    y_levels, y_at = np.unique(y, return_inverse=True)
    n = len(x)
    counts = count_pairs(x_at.astype(float), y_at.astype(float), np.zeros(n, dtype=int))
    concordant, discordant, ties_x, ties_y, _ = (int(count[0]) for count in counts)
    score, untied = concordant - discordant, concordant + discordant
    if method == "kendall":
        return score / sqrt((untied + ties_x) * (untied + ties_y))
    m = min(len(x_levels), len(y_levels))
    return 2 * score / (n * n * (m - 1) / m)


def _pearson(x: np.ndarray, y: np.ndarray) -> float:
    dx, dy = x - x.mean(), y - y.mean()
    # Scaled to 1: squares of scores near 1e-200 or 1e200 would leave the range of floats.
    dx, dy = dx / np.abs(dx).max(), dy / np.abs(dy).max()
    r = float((dx * dy).sum()) / sqrt(float((dx * dx).sum()) * float((dy * dy).sum()))
    return max(-1.0, min(1.0, r))


def _ranks(x: np.ndarray) -> np.ndarray:
    """Ranks from 1; tied values share the mean of theirs."""
    # As scipy.stats.rankdata gives them, without importing scipy.stats.
    _, group, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[group])
