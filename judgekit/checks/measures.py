"""What making an output took, read from its runtime events or from its own fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from sys import float_info
from typing import TYPE_CHECKING, Literal

from judgekit.checks.seam import UndecidedError

if TYPE_CHECKING:
    from judgekit.records.output import Output, TraceEvent

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
class Measured:
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


def measured(output: Output, quantity: Quantity) -> Measured:
    """How much of something making an output took."""
    # The `agent:complete` events are added up: nodes that ran at the same time count both. Where
    # there are none, the output's own `duration_ms` and `usage` are taken.
    if quantity == "total_tokens":
        parts = (measured(output, "input_tokens"), measured(output, "output_tokens"))
        n_silent = max(part.n_silent for part in parts)
        return Measured(
            fsum(part.value for part in parts), "tokens", n_silent, max(p.n_events for p in parts)
        )
    unit = _UNITS.get(quantity, "tokens")
    events = [event for event in output.trace if event.type == COMPLETE]
    said = [_said(event, quantity) for event in events]
    known = [value for value in said if value is not None]
    if known:
        return Measured(fsum(known), unit, len(said) - len(known), len(said))
    own = _own(output, quantity)
    if own is None:
        raise UndecidedError(
            f"{quantity} was not measured: {_lack(quantity, len(events))}, and the output itself "
            "does not say it"
        )
    return Measured(own, unit)


def _said(event: TraceEvent, quantity: Quantity) -> float | None:
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


def _own(output: Output, quantity: Quantity) -> float | None:
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


def _lack(quantity: Quantity, n_events: int) -> str:
    if not n_events:
        return f"there is no {COMPLETE} event"
    return f"no {COMPLETE} event says {_SPELLINGS[quantity][0]}"
