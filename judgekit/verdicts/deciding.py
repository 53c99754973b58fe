"""Decides whether a value reaches its threshold, and whether an answer passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.records.rubric import SAME
from judgekit.verdicts.combining import weighted_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records.check import AssertionResult
    from judgekit.records.verdict import Verdict


def reaches(value: float, threshold: float) -> bool:
    """Whether a value reaches a threshold; a sum of floats that should be 0.7 does reach 0.7."""
    return value >= threshold - SAME


def decide(verdict: Verdict | None, checks: Sequence[AssertionResult]) -> bool | None:
    """Whether an answer passes: the rubric passes it, and every assertion holds."""
    said = [check.passed for check in checks]
    if verdict is not None:
        said.append(verdict.passed)
    if False in said:
        return False
    return True if said and None not in said else None


def decide_strategy(checks: Sequence[AssertionResult], *, passed: bool | None) -> bool | None:
    """Whether an answer passes whose case has a strategy of its own."""
    said = [passed, *(check.passed for check in checks)]
    if False in said:
        return False
    return None if None in said else True


def checked_value(checks: Sequence[AssertionResult]) -> float | None:
    """The weighted share of assertions that hold."""
    counting = [check for check in checks if check.weight > 0] or checks
    if not counting or any(check.passed is None for check in counting):
        return None
    return weighted_mean(
        [(c.weight, float(bool(c.passed)) if c.value is None else c.value) for c in counting]
    )
