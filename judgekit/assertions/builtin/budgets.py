"""Assertions about latency, cost and tokens, and how these are measured.

The scorers of the same quantities are in `scorers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from sys import float_info
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from judgekit.assertions.registry import UndecidedError, assertion
from judgekit.records import VALUE_TOLERANCE, AssertionResult

if TYPE_CHECKING:
    from judgekit.records import Output, TraceEvent

UpperLimit = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""The most that is allowed."""


@assertion("metric.latency_ms.max")
def latency_ms(output: Output, *, value: UpperLimit) -> AssertionResult:
    """Pass when making the output took at most a number of milliseconds.

    Args:
        output: The output.
        value: The limit, in milliseconds.

    Returns:
        The result; `actual` is the sum over the `agent:complete` events, else `duration_ms`.

    Raises:
        UndecidedError: It was not measured, or not for every event and the limit may be crossed.
    """
    return _within_budget(output, "latency_ms", value)


@assertion("metric.total_cost_usd.max")
def total_cost_usd(output: Output, *, value: UpperLimit) -> AssertionResult:
    """Pass when making the output cost at most a number of US dollars.

    Args:
        output: The output.
        value: The limit, in US dollars.

    Returns:
        The result; `actual` is the sum over the `agent:complete` events, else that of `usage`.

    Raises:
        UndecidedError: It was not measured, or not for every event and the limit may be crossed.
    """
    return _within_budget(output, "cost_usd", value)


@assertion("metric.tokens.input.max")
def input_tokens(output: Output, *, value: UpperLimit) -> AssertionResult:
    """Pass when the model was sent at most a number of tokens.

    Args:
        output: The output.
        value: The limit, in tokens.

    Returns:
        The result; `actual` is the sum over the `agent:complete` events, else that of `usage`.

    Raises:
        UndecidedError: It was not measured, or not for every event and the limit may be crossed.
    """
    return _within_budget(output, "input_tokens", value)


@assertion("metric.tokens.output.max")
def output_tokens(output: Output, *, value: UpperLimit) -> AssertionResult:
    """Pass when the model returned at most a number of tokens.

    Args:
        output: The output.
        value: The limit, in tokens.

    Returns:
        The result; `actual` is the sum over the `agent:complete` events, else that of `usage`.

    Raises:
        UndecidedError: It was not measured, or not for every event and the limit may be crossed.
    """
    return _within_budget(output, "output_tokens", value)


@assertion("metric.tokens.total.max")
def total_tokens(output: Output, *, value: UpperLimit) -> AssertionResult:
    """Pass when at most a number of tokens were sent and received together.

    Args:
        output: The output.
        value: The limit, in tokens.

    Returns:
        The result; `actual` is the sum over the `agent:complete` events, else that of `usage`.

    Raises:
        UndecidedError: It was not measured, or not for every event and the limit may be crossed.
    """
    return _within_budget(output, "total_tokens", value)


def _within_budget(output: Output, quantity: Quantity, limit: float) -> AssertionResult:
    found = measure_consumption(output, quantity)
    # Costs are sums of floats: 0.1 + 0.2 must stay within 0.3.
    passed = found.value <= limit * (1 + VALUE_TOLERANCE)
    if passed and found.gap is not None:
        raise UndecidedError(f"at least {found.value:.15g} {found.unit}, but {found.gap}")
    verb = "is within" if passed else "is over"
    return AssertionResult(
        passed=passed,
        actual=int(found.value) if found.value.is_integer() else found.value,
        message=f"{found.value:.15g} {found.unit} {verb} the limit of {limit:.15g}",
    )


Quantity = Literal["latency_ms", "cost_usd", "input_tokens", "output_tokens", "total_tokens"]
"""What can be measured."""

COMPLETE = "agent:complete"
"""The event in which a node reports what its work took."""

_SPELLINGS: dict[str, tuple[str, ...]] = {
    "latency_ms": ("durationMs", "duration_ms"),
    "cost_usd": ("totalCostUsd", "total_cost_usd", "costUsd", "cost_usd"),
    "input_tokens": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens"),
    "output_tokens": ("outputTokens", "output_tokens", "completionTokens", "completion_tokens"),
}

_UNITS = {"latency_ms": "ms", "cost_usd": "usd"}


@dataclass(frozen=True, slots=True)
class Consumption:
    """A sum over the events that report it, or the value of the output itself."""

    value: float
    unit: str
    n_silent: int = 0
    """Events that do not report it; where there are any, the value is a lower bound."""

    n_events: int = 0
    """All events that should; 0 where the value is that of the output."""

    @property
    def gap(self) -> str | None:
        """What is missing, in words; None where nothing is."""
        if not self.n_silent:
            return None
        return f"{self.n_silent} of {self.n_events} {COMPLETE} events do not report it"


def measure_consumption(output: Output, quantity: Quantity) -> Consumption:
    """How much of a quantity the making of an output took."""
    # The `agent:complete` events are added up, also those of nodes that ran at the same time. Where
    # there are none, the output's own `duration_ms` and `usage` count.
    if quantity == "total_tokens":
        parts = (
            measure_consumption(output, "input_tokens"),
            measure_consumption(output, "output_tokens"),
        )
        n_silent = max(part.n_silent for part in parts)
        return Consumption(
            fsum(part.value for part in parts), "tokens", n_silent, max(p.n_events for p in parts)
        )
    unit = _UNITS.get(quantity, "tokens")
    events = [event for event in output.trace if event.type == COMPLETE]
    amounts = [_event_amount(event, quantity) for event in events]
    known = [value for value in amounts if value is not None]
    if known:
        return Consumption(fsum(known), unit, len(amounts) - len(known), len(amounts))
    own = _output_amount(output, quantity)
    if own is None:
        missing = f"there is no {COMPLETE} event"
        if events:
            missing = f"no {COMPLETE} event reports {_SPELLINGS[quantity][0]}"
        own_fields = "and the output itself does not report it"
        raise UndecidedError(f"{quantity} was not measured: {missing}, {own_fields}")
    return Consumption(own, unit)


def _event_amount(event: TraceEvent, quantity: Quantity) -> float | None:
    """The amount of one event, in any of the known spellings."""
    fields: Mapping[str, object] = event.__pydantic_extra__ or {}
    places = [fields, fields.get("usage"), event.content]
    if isinstance(event.content, Mapping):
        places.append(event.content.get("usage"))
    for place in places:
        if isinstance(place, Mapping):
            for name in _SPELLINGS[quantity]:
                value = _amount(place.get(name))
                if value is not None:
                    return value
    return None


def _output_amount(output: Output, quantity: Quantity) -> float | None:
    if quantity == "latency_ms":
        return _amount(output.duration_ms)
    usage = output.usage
    if usage is None or quantity not in usage.model_fields_set:
        return None  # a count that was not set is unknown, though the record shows it as 0
    return _amount(getattr(usage, quantity))


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Larger whole numbers raise when they become a float.
    return float(value) if 0 <= value <= float_info.max else None
