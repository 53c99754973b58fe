"""p-values and confidence levels adjusted for multiple comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Literal, get_args

from judgekit.stats.estimate import Result
from judgekit.stats.quantiles import check_choice, check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

AdjustMethod = Literal["holm", "bh", "by"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedPValues(Result):
    """Adjusted p-values, in the order the raw ones were given."""

    value: tuple[float, ...]
    """Adjusted p-values, each at least its raw one; nan where that was missing."""

    method: AdjustMethod
    """How they were adjusted."""

    n: int
    """How many p-values were adjusted."""

    n_missing: int
    """How many were undefined; they do not count as tests."""

    @property
    def known(self) -> tuple[float | None, ...]:
        """The adjusted p-values with None in place of nan, as results report a missing one."""
        return tuple(None if isnan(p) else p for p in self.value)


def adjust(p_values: Sequence[float | None], method: AdjustMethod = "holm") -> AdjustedPValues:
    """Adjust p-values for the number of tests.

    With p sorted upwards and m of them: Holm 1979 `max_{j<=i} (m-j+1) p_j`, for a few decisions;
    `bh` (Benjamini & Hochberg 1995) `min_{j>=i} m p_j / j`, for screens; `by` (Benjamini &
    Yekutieli 2001) the same times `sum 1/j`, whatever the dependence.

    Args:
        p_values: Raw p-values in [0, 1]; nan and None are undefined and left out.
        method: `holm`, `bh` or `by`.

    Returns:
        The adjusted p-values, at most 1.

    Raises:
        ValueError: When a p-value lies outside [0, 1], or the method is unknown.

    Example:
        >>> adjust([0.01, 0.04, 0.03]).value
        (0.03, 0.06, 0.06)
    """
    check_choice("adjustment", method, get_args(AdjustMethod))
    known = [(p, i) for i, p in enumerate(p_values) if p is not None and not isnan(p)]
    if any(not 0 <= p <= 1 for p, _ in known):
        raise ValueError("a p-value lies outside 0..1")
    order = sorted(known)
    ordered = [p for p, _ in order]
    adjusted = _step_down(ordered) if method == "holm" else _step_up(ordered, method)
    value = [nan] * len(p_values)
    for new, (_, place) in zip(adjusted, order, strict=True):
        value[place] = new
    return AdjustedPValues(
        value=tuple(value), method=method, n=len(known), n_missing=len(p_values) - len(known)
    )


def simultaneous_level(n_intervals: int, *, level: float = 0.95) -> float:
    """The level each of several intervals needs so that all cover together (Bonferroni)."""
    check_level(level)
    if n_intervals < 1:
        raise ValueError(f"{n_intervals} intervals; there is at least one")
    return 1 - (1 - level) / n_intervals


# scipy.stats.false_discovery_control knows neither Holm nor missing p-values, and importing
# scipy.stats would double the start of every command that prints an adjusted p.
def _step_down(ordered: Sequence[float]) -> list[float]:
    m, highest, adjusted = len(ordered), 0.0, []
    for place, p in enumerate(ordered):
        highest = max(highest, min(1.0, (m - place) * p))
        adjusted.append(highest)
    return adjusted


def _step_up(ordered: Sequence[float], method: AdjustMethod) -> list[float]:
    m, lowest, adjusted = len(ordered), 1.0, []
    factor = sum(1 / j for j in range(1, m + 1)) if method == "by" else 1.0
    for place in range(m, 0, -1):
        lowest = min(lowest, factor * m / place * ordered[place - 1])
        adjusted.append(lowest)
    return adjusted[::-1]
