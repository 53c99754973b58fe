"""What the members of a group come to: all, any or none of them, or a share of their weight."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from judgekit.checks.shares import shares
from judgekit.records.check import AssertionResult

if TYPE_CHECKING:
    from collections.abc import Sequence

_SAME = 1e-9
"""A sum of weights that should be 0.7 reaches 0.7."""

_SHOWN = 3


def conclude_group(
    parts: Sequence[AssertionResult], *, rule: str, threshold: float | None = None
) -> AssertionResult:
    """What the results of a group's members come to."""
    # A member that could not be checked counts as open: the group passes or fails only where it
    # would do so whichever way the open ones went, and is an error otherwise. A member of weight 0
    # is shown and does not count.
    counted = [part for part in parts if part.weight > 0]
    weighed = list(zip(counted, shares([part.weight for part in counted]), strict=True))
    passed = fsum(share for part, share in weighed if part.passed)
    is_open = fsum(share for part, share in weighed if part.passed is None)
    if threshold is None:
        verdict = _by_rule(rule, {part.passed for part in counted})
    else:
        verdict = _by_share(passed, passed + is_open, threshold)
    message = _message(counted, rule, threshold, passed)
    value = 1.0 - passed if rule == "none" else passed
    return AssertionResult(
        passed=verdict,
        actual=None,
        message=message,
        value=None if any(part.passed is None for part in counted) else min(max(value, 0.0), 1.0),
        error=message if verdict is None else None,
        parts=tuple(parts),
    )


def _by_rule(rule: str, found: set[bool | None]) -> bool | None:
    """The verdict where every member counts alike; None where open ones could turn it."""
    decisive = rule != "all"
    if decisive in found:
        return rule == "any"
    return None if None in found else rule != "any"


def _by_share(low: float, high: float, threshold: float) -> bool | None:
    """The verdict, where the least and the most that may have passed agree."""
    worst, best = low >= threshold - _SAME, high >= threshold - _SAME
    return worst if worst == best else None


def _message(
    counted: Sequence[AssertionResult], rule: str, threshold: float | None, passed: float
) -> str:
    failed = [part for part in counted if part.passed is False]
    undecided = [part for part in counted if part.passed is None]
    n_passed = len(counted) - len(failed) - len(undecided)
    said = f"{n_passed} of {len(counted)} passed"
    if threshold is not None:
        said += f" ({passed:.2f} of the weight, {threshold:g} wanted)"
    named = [part for part in counted if part.passed] if rule == "none" else failed
    if named:
        verb = "passed" if rule == "none" else "failed"
        said += f"; {verb}: {_listed(named)}"
    if undecided:
        said += f"; could not be checked: {_listed(undecided)}"
    return said


def _listed(parts: Sequence[AssertionResult]) -> str:
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return "; ".join(f"{part.type} ({part.message})" for part in parts[:_SHOWN]) + more
