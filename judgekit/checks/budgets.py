"""Assertions on what making the output took: time, money and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from judgekit.checks.measures import Quantity, measured
from judgekit.checks.seam import UndecidedError, assertion
from judgekit.records.check import AssertionResult

if TYPE_CHECKING:
    from judgekit.records.output import Output

Ceiling = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""The most that is allowed."""

_SAME = 1e-9
"""Costs are sums of floats: 0.1 + 0.2 stays within 0.3."""


@assertion("metric.latency_ms.max")
def latency_ms(output: Output, *, value: Ceiling) -> AssertionResult:
    """Pass when making the output took at most so many milliseconds."""
    return _within(output, "latency_ms", value)


@assertion("metric.total_cost_usd.max")
def total_cost_usd(output: Output, *, value: Ceiling) -> AssertionResult:
    """Pass when making the output cost at most so many US dollars."""
    return _within(output, "cost_usd", value)


@assertion("metric.tokens.input.max")
def input_tokens(output: Output, *, value: Ceiling) -> AssertionResult:
    """Pass when at most so many tokens were sent."""
    return _within(output, "input_tokens", value)


@assertion("metric.tokens.output.max")
def output_tokens(output: Output, *, value: Ceiling) -> AssertionResult:
    """Pass when at most so many tokens were received."""
    return _within(output, "output_tokens", value)


@assertion("metric.tokens.total.max")
def total_tokens(output: Output, *, value: Ceiling) -> AssertionResult:
    """Pass when at most so many tokens were sent and received together."""
    return _within(output, "total_tokens", value)


def _within(output: Output, quantity: Quantity, limit: float) -> AssertionResult:
    found = measured(output, quantity)
    passed = found.value <= limit * (1 + _SAME)
    if passed and found.gap is not None:
        raise UndecidedError(f"at least {found.value:.15g} {found.unit}, but {found.gap}")
    verb = "is within" if passed else "is over"
    return AssertionResult(
        passed=passed,
        actual=int(found.value) if found.value.is_integer() else found.value,
        message=f"{found.value:.15g} {found.unit} {verb} the limit of {limit:.15g}",
    )
