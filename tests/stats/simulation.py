"""Whether simulated intervals cover as often as they say."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.stats.estimate import Estimate


def share_covering(estimates: Sequence[Estimate], truth: float) -> float:
    return sum(e.low <= truth <= e.high for e in estimates) / len(estimates)


def band(reps: int, level: float = 0.95) -> float:
    """Three standard errors of the share of `reps` intervals that cover at their level."""
    return 3 * sqrt(level * (1 - level) / reps)


def covers_at_its_level(estimates: Sequence[Estimate], truth: float) -> bool:
    """Neither too seldom nor too often."""
    level = estimates[0].level
    return abs(share_covering(estimates, truth) - level) <= band(len(estimates), level)


def covers_at_least(estimates: Sequence[Estimate], truth: float) -> bool:
    """Not too seldom: for intervals that are wide on purpose."""
    level = estimates[0].level
    return share_covering(estimates, truth) >= level - band(len(estimates), level)
