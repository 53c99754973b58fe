"""p-values and confidence levels adjusted for multiple comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal, get_args

from judgekit.stats.estimate import Counted, finite_floats
from judgekit.stats.quantiles import check_choice

AdjustMethod = Literal["holm", "bh", "by"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedPValues(Counted):
    """Adjusted p-values, in the order the raw ones were given."""

    value: tuple[float, ...]
    """Adjusted p-values, each at least its raw one; nan where that was missing."""

    method: AdjustMethod
    """How they were adjusted."""

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

    Example:
        >>> adjust([0.01, 0.04, 0.03]).value
        (0.03, 0.06, 0.06)
    """
    check_choice("adjustment", method, get_args(AdjustMethod))
    known = [(p, i) for i, p in enumerate(finite_floats(p_values)) if not isnan(p)]
    if any(not 0 <= p <= 1 for p, _ in known):
        raise ValueError("a p-value lies outside 0..1")
    order = sorted(known)
    # scipy.stats.false_discovery_control knows neither Holm nor missing p-values, and importing
    # scipy.stats would double the start of every command that prints an adjusted p.
    value, m = [nan] * len(p_values), len(order)
    if method == "holm":
        # From the smallest p: an adjusted p is never below that of a smaller one.
        bound = 0.0
        for rank, (p, place) in enumerate(order):
            bound = value[place] = max(bound, min(1.0, (m - rank) * p))
    else:
        # From the largest p: an adjusted p is never above that of a larger one.
        bound = 1.0
        factor = sum(1 / j for j in range(1, m + 1)) if method == "by" else 1.0
        for rank in range(m, 0, -1):
            p, place = order[rank - 1]
            bound = value[place] = min(bound, factor * m / rank * p)
    return AdjustedPValues(
        value=tuple(value), method=method, n=len(known), n_missing=len(p_values) - len(known)
    )
