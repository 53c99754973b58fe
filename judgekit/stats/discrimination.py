"""Whether confidence parts right from wrong answers."""

from __future__ import annotations

from math import nan, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np

from judgekit.stats.estimate import Estimate
from judgekit.stats.known import known_pairs, outcomes
from judgekit.stats.quantiles import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence


def auroc(
    confidence: Sequence[float | None], correct: Sequence[float | None], *, level: float = 0.95
) -> Estimate:
    """The chance that a right item has more confidence than a wrong one, ties as half.

    The variance is that of DeLong, DeLong & Clarke-Pearson 1988, taken on Fisher's z of 2A - 1.

    Args:
        confidence: Any scores that rise with confidence; None and nan are missing.
        correct: 1 or 0, in the order of `confidence`.
        level: Confidence level in (0, 1).

    Returns:
        The chance; nan where all items are right, or all wrong; no interval at 0 and 1.

    Raises:
        ValueError: When lengths differ or an outcome is neither 0 nor 1.
    """
    z = normal_quantile(level)
    p, y, n_missing = known_pairs(confidence, correct)
    y = outcomes(y)
    right, wrong = p[y == 1], p[y == 0]
    value, se = nan, nan
    if len(right) and len(wrong):
        beaten, beaten_by = _share_below(right, wrong), 1 - _share_below(wrong, right)
        value = float(beaten.mean())
        parts = [(beaten, len(right)), (beaten_by, len(wrong))]
        se = sqrt(sum(float(v.var(ddof=1)) / n if n > 1 else nan for v, n in parts))
    reason = _no_auroc(value, se, len(right), len(wrong))
    ends = (nan, nan)
    if reason is None:
        centre, half = float(np.arctanh(2 * value - 1)), z * 2 * se / (1 - (2 * value - 1) ** 2)
        ends = (tanh(centre - half) + 1) / 2, (tanh(centre + half) + 1) / 2
    return Estimate(
        value=value,
        low=ends[0],
        high=ends[1],
        level=level,
        n=len(p),
        n_missing=n_missing,
        method="delong, fisher z",
        se=se,
        reason=reason,
    )


def _share_below(x: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each x the share of others below it, ties as half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, x, "left") + np.searchsorted(ordered, x, "right")
    return np.asarray(below / (2 * len(others)))


def _no_auroc(value: float, se: float, n_right: int, n_wrong: int) -> str | None:
    if not (n_right and n_wrong):
        return f"{n_right} right and {n_wrong} wrong items: there is nothing to part"
    if not 0 < value < 1:
        return f"the chance is {value:g}: its spread cannot be seen in these data"
    return None if se > 0 else "too few items for a variance"
