"""Decides whether a run reaches its gate: the least value of a tier, the greatest drop allowed."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Literal

from judgekit.verdicts.deciding import reaches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.stats.estimate import Estimate

Tier = Literal["production", "development", "experimental"]
"""How much is asked of a system (S2.2)."""

TIERS: Mapping[str, float] = {"production": 0.8, "development": 0.7, "experimental": 0.6}
"""The least overall value of each tier (S2.2), best first."""

Held = Literal["passed", "failed", "inconclusive"]
"""Whether a wish of a gate is met; `inconclusive` where the numbers allow both."""


def hold_to_tier(low: float, high: float, tier: Tier) -> Held:
    """Whether a value reaches a tier, whatever is true within its bounds."""
    if isnan(low) or isnan(high):
        return "inconclusive"
    if reaches(low, TIERS[tier]):
        return "passed"
    return "inconclusive" if reaches(high, TIERS[tier]) else "failed"


def hold_drop(change: Estimate, worst: float, max_drop: float) -> Held:
    """Whether a pass rate has fallen no further than allowed."""
    # What is measured decides, so that the same answers twice pass however few they are. A greater
    # drop fails where chance does not explain it: where the interval of the change excludes 0.
    if reaches(worst, -max_drop):
        return "passed"
    is_greater = not reaches(change.value, -max_drop)
    return "failed" if is_greater and change.high < 0 else "inconclusive"
