"""Decides what passes: assertions beside a verdict, the tiers of a gate, the greatest drop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Literal

from judgekit.records import AssertionResult, meets_threshold
from judgekit.scoring.panel import weighted_mean

if TYPE_CHECKING:
    from judgekit.records import GateRule
    from judgekit.stats.estimate import Estimate

TIERS: Mapping[str, float] = {"production": 0.8, "development": 0.7, "experimental": 0.6}
"""The least overall value of each tier (S2.2), best first."""

GateOutcome = Literal["passed", "failed", "inconclusive"]
"""Whether a condition of a gate is met; `inconclusive` where the numbers allow both."""


def check_value(low: float, high: float, least: float) -> GateOutcome:
    """Whether a value is `least` or more, wherever it lies within its bounds."""
    if isnan(low) or isnan(high):
        return "inconclusive"
    if meets_threshold(low, least):
        return "passed"
    return "inconclusive" if meets_threshold(high, least) else "failed"


def check_drop(
    change: Estimate, worst: float, max_drop: float, rule: GateRule = "interval"
) -> GateOutcome:
    """Whether a pass rate has fallen no further than allowed."""
    # What is measured decides, so that the same answers twice pass however few they are. A greater
    # drop fails where chance does not explain it: where the interval of the change excludes 0.
    if meets_threshold(worst, -max_drop):
        return "passed"
    is_greater = not meets_threshold(change.value, -max_drop)
    is_certain = rule == "point" or change.high < 0
    return "failed" if is_greater and is_certain else "inconclusive"


def all_passed(results: Sequence[bool | None]) -> bool | None:
    """Whether an answer passes all that was examined of it; None where that is not known."""
    # One failure decides, whatever is still unknown.
    if False in results:
        return False
    # Without a rubric and without assertions nothing was checked: that is undecided, not a pass.
    return True if results and None not in results else None


def assertion_share(checks: Sequence[AssertionResult]) -> float | None:
    # Weights of 0 throughout would leave no share: all count alike then.
    counting = [check for check in checks if check.weight > 0] or checks
    if not counting or any(check.passed is None for check in counting):
        return None
    return weighted_mean(
        [(c.weight, float(bool(c.passed)) if c.value is None else c.value) for c in counting]
    )
