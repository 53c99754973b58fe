"""Assertions and scorers about latency, cost and tokens.

How these are measured from a trace or from the output itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from sys import float_info
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from judgekit.assertions.registry import UndecidedError, assertion, scorer
from judgekit.records import AssertionResult, Score

if TYPE_CHECKING:
    from judgekit.records import Output, TraceEvent

UpperLimit = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""The most that is allowed."""

_SAME = 1e-9
"""Costs are sums of floats: 0.1 + 0.2 stays within 0.3."""


@assertion("metric.latency_ms.max")
def latency_ms(output: Output, *, value: UpperLimit) -> AssertionResult:
    """Pass when making the output took at most so many milliseconds.

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
    """Pass when making the output cost at most so many US dollars.

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
    """Pass when at most so many tokens were sent.

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
    """Pass when at most so many tokens were received.

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
    """Pass when at most so many tokens were sent and received together.

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
    passed = found.value <= limit * (1 + _SAME)
    if passed and found.gap is not None:
        raise UndecidedError(f"at least {found.value:.15g} {found.unit}, but {found.gap}")
    verb = "is within" if passed else "is over"
    return AssertionResult(
        passed=passed,
        actual=int(found.value) if found.value.is_integer() else found.value,
        message=f"{found.value:.15g} {found.unit} {verb} the limit of {limit:.15g}",
    )


@scorer("latency")
def latency(output: Output, *, max_ms: BudgetLimit = 60_000.0) -> Score:
    """Score how long making the output took.

    Args:
        output: The output.
        max_ms: The limit in milliseconds; from there on the score is 0.

    Returns:
        `1 - raw / max_ms`, never below 0; `raw` is in milliseconds.

    Raises:
        UndecidedError: It was not measured, or not for every event.
    """
    return budget_score("latency", output, "latency_ms", max_ms)


@scorer("cost")
def cost(output: Output, *, max_usd: BudgetLimit = 1.0) -> Score:
    """Score what making the output cost.

    Args:
        output: The output.
        max_usd: The limit in US dollars; from there on the score is 0.

    Returns:
        `1 - raw / max_usd`, never below 0; `raw` is in US dollars.

    Raises:
        UndecidedError: It was not measured, or not for every event.
    """
    return budget_score("cost", output, "cost_usd", max_usd)


_QUANTITIES: dict[str, Quantity] = {
    "input": "input_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
}


@scorer("tokens")
def tokens(
    output: Output,
    *,
    max_tokens: BudgetLimit = 100_000.0,
    count: Literal["input", "output", "total"] = "total",
) -> Score:
    """Score the tokens that making the output took.

    Args:
        output: The output.
        max_tokens: The limit in tokens; from there on the score is 0.
        count: Which tokens count: those sent, those received, or both.

    Returns:
        `1 - raw / max_tokens`, never below 0; `raw` is in tokens.

    Raises:
        UndecidedError: They were not measured, or not for every event.
    """
    return budget_score("tokens", output, _QUANTITIES[count], max_tokens)


BudgetLimit = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""The most that is still worth something."""


def budget_score(name: str, output: Output, quantity: Quantity, limit: float) -> Score:
    """The share of a budget that making an output left."""
    found = measure_consumption(output, quantity)
    if found.gap is not None:
        raise UndecidedError(f"at least {found.value:.15g} {found.unit}, but {found.gap}")
    return Score(
        name=name,
        value=min(max(1 - found.value / limit, 0.0), 1.0),
        raw=found.value,
        unit=found.unit,
        message=f"{found.value:.15g} of at most {limit:.15g} {found.unit}",
    )


Quantity = Literal["latency_ms", "cost_usd", "input_tokens", "output_tokens", "total_tokens"]
"""What can be measured."""

COMPLETE = "agent:complete"
"""The event in which a node says what its work took."""

_SPELLINGS: dict[str, tuple[str, ...]] = {
    "latency_ms": ("durationMs", "duration_ms"),
    "cost_usd": ("totalCostUsd", "total_cost_usd", "costUsd", "cost_usd"),
    "input_tokens": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens"),
    "output_tokens": ("outputTokens", "output_tokens", "completionTokens", "completion_tokens"),
}

_UNITS = {"latency_ms": "ms", "cost_usd": "usd"}


@dataclass(frozen=True, slots=True)
class Consumption:
    """A sum over the events that say it, or what the output itself says."""

    value: float
    """How much, in the quantity's unit: milliseconds, US dollars or tokens."""

    unit: str
    """`ms`, `usd` or `tokens`."""

    n_silent: int = 0
    """Events that should say it and do not; where there are any, the value is a lower bound."""

    n_events: int = 0
    """Events that should say it; 0 where the output's own fields did."""

    @property
    def gap(self) -> str | None:
        """What is missing, in words; None where nothing is."""
        if not self.n_silent:
            return None
        return f"{self.n_silent} of {self.n_events} {COMPLETE} events do not say it"


def measure_consumption(output: Output, quantity: Quantity) -> Consumption:
    """How much of something making an output took."""
    # The `agent:complete` events are added up: nodes that ran at the same time count both. Where
    # there are none, the output's own `duration_ms` and `usage` are taken.
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
    said = [_event_amount(event, quantity) for event in events]
    known = [value for value in said if value is not None]
    if known:
        return Consumption(fsum(known), unit, len(said) - len(known), len(said))
    own = _output_amount(output, quantity)
    if own is None:
        raise UndecidedError(
            f"{quantity} was not measured: {_missing_amount(quantity, len(events))}, "
            "and the output itself "
            "does not say it"
        )
    return Consumption(own, unit)


def _event_amount(event: TraceEvent, quantity: Quantity) -> float | None:
    """What one event says, in any of the spellings that are in use."""
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
        return None  # a count that nobody set is unknown, though the record shows it as 0
    return _amount(getattr(usage, quantity))


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= float_info.max else None


def _missing_amount(quantity: Quantity, n_events: int) -> str:
    if not n_events:
        return f"there is no {COMPLETE} event"
    return f"no {COMPLETE} event says {_SPELLINGS[quantity][0]}"
