"""Assertions and scorers about latency, cost and tokens; and the scorer of a judge's verdict."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from sys import float_info
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, cast

from pydantic import Field

from judgekit.assertions.registry import UndecidedError, assertion, make_result, scorer
from judgekit.records import VALUE_TOLERANCE, AssertionResult, Finite, Fraction, Score, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.records import Output, TraceEvent

Quantity = Literal["latency_ms", "cost_usd", "input_tokens", "output_tokens", "total_tokens"]

UpperLimit = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _maximum(
    name: str, quantity: Quantity, unit: str, sentence: str
) -> Callable[..., AssertionResult]:
    @assertion(name)
    def within_limit(output: Output, *, value: UpperLimit) -> AssertionResult:
        found = measure_consumption(output, quantity)
        # Costs are sums of floats: 0.1 + 0.2 must stay within 0.3.
        passed = found.value <= value * (1 + VALUE_TOLERANCE)
        if passed:
            found.require_all_events()
        where = "within" if passed else "more than"
        actual = int(found.value) if found.value.is_integer() else found.value
        message = f"{found.value:,.15g} {found.unit}, {where} the limit of {value:,.15g}"
        return make_result(passed, actual, message)

    within_limit.__doc__ = f"""Pass when {sentence.format(f"at most a number of {unit}")}.

    Args:
        value: The limit, in {unit}.
    """
    return within_limit


latency_ms = _maximum(
    "metric.latency_ms.max", "latency_ms", "milliseconds", "making the output took {}"
)
total_cost_usd = _maximum(
    "metric.total_cost_usd.max", "cost_usd", "US dollars", "making the output cost {}"
)
input_tokens = _maximum(
    "metric.tokens.input.max", "input_tokens", "tokens", "the model was sent {}"
)
output_tokens = _maximum(
    "metric.tokens.output.max", "output_tokens", "tokens", "the model returned {}"
)
total_tokens = _maximum(
    "metric.tokens.total.max", "total_tokens", "tokens", "{} were sent and received together"
)

# A scorer's value is the share of the budget that is left: 0 where all of it was used.
BudgetLimit = Annotated[float, Field(gt=0, allow_inf_nan=False)]


@scorer("latency")
def latency(output: Output, *, max_ms: BudgetLimit = 60_000.0) -> Score:
    """Score how long making the output took.

    Args:
        max_ms: The limit in milliseconds; at the limit and above the score is 0.
    """
    return _budget_score("latency", output, "latency_ms", max_ms)


@scorer("cost")
def cost(output: Output, *, max_usd: BudgetLimit = 1.0) -> Score:
    """Score what making the output cost.

    Args:
        max_usd: The limit in US dollars; at the limit and above the score is 0.
    """
    return _budget_score("cost", output, "cost_usd", max_usd)


@scorer("tokens")
def tokens(
    output: Output,
    *,
    max_tokens: BudgetLimit = 100_000.0,
    count: Literal["input", "output", "total"] = "total",
) -> Score:
    """Score the tokens that making the output took.

    Args:
        max_tokens: The limit in tokens; at the limit and above the score is 0.
        count: Which tokens count: those sent, those received, or both.
    """
    return _budget_score("tokens", output, cast("Quantity", f"{count}_tokens"), max_tokens)


@scorer("judge")
def judge_score(
    output: Output,  # noqa: ARG001 - every scorer is handed the output
    *,
    verdict: Verdict | None = None,
    value: Fraction | None = None,
    raw: Finite | None = None,
    method: str | None = None,
) -> Score:
    """Score an output by a judge's verdict; no judge is called here.

    Args:
        verdict: The verdict of the rubric.
        value: The judge's value on [0, 1], where there is no verdict.
        raw: The score on the judge's own scale.
        method: Which judge; None takes the judges and the rubric of the verdict.
    """
    # A suite with its own judge passes a value without a verdict.
    if verdict is None:
        if value is None:
            raise UndecidedError("no judge was called")
        return Score(name="judge", value=value, raw=raw, method=method)
    # A missing judgment is not a bad one, so there is no score rather than 0.
    if verdict.value is None:
        why = verdict.error or f"{len(verdict.failures)} judgments are missing"
        raise UndecidedError(f"the verdict is open: {why}")
    judges = ", ".join(dict.fromkeys(j.judge for j in verdict.judgments if j.judge))
    return Score(
        name="judge",
        value=verdict.value,
        raw=verdict.value if raw is None else raw,
        method=method or f"{judges or 'judge'}, rubric {verdict.rubric}",
        message=f"rubric {verdict.rubric}: {verdict.value:.3f}",
    )


def _budget_score(name: str, output: Output, quantity: Quantity, limit: float) -> Score:
    found = measure_consumption(output, quantity)
    # A sum over some of the events is a lower bound, and would make the score too good.
    found.require_all_events()
    return Score(
        name=name,
        value=min(max(1 - found.value / limit, 0.0), 1.0),
        raw=found.value,
        unit=found.unit,
        message=f"{found.value:.15g} of at most {limit:.15g} {found.unit}",
    )


# The event in which a node reports what its work took.
COMPLETE = "agent:complete"
_SPELLINGS: dict[str, tuple[str, ...]] = {
    "latency_ms": ("durationMs", "duration_ms"),
    "cost_usd": ("totalCostUsd", "total_cost_usd", "costUsd", "cost_usd"),
    "input_tokens": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens"),
    "output_tokens": ("outputTokens", "output_tokens", "completionTokens", "completion_tokens"),
}
_UNITS = {"latency_ms": "ms", "cost_usd": "usd"}


class Consumption(NamedTuple):
    """A sum over the events that report it, or the value of the output itself.

    Where some of the events do not report it (`n_silent`), the value is a lower bound.
    """

    value: float
    unit: str
    n_silent: int = 0
    n_events: int = 0

    def require_all_events(self) -> None:
        """Refuse a lower bound."""
        if self.n_silent:
            raise UndecidedError(
                f"at least {self.value:.15g} {self.unit}, but {self.n_silent} of {self.n_events} "
                f"{COMPLETE} events do not report it"
            )


def measure_consumption(output: Output, quantity: Quantity) -> Consumption:
    """How much of a quantity the making of an output took."""
    # The `agent:complete` events are added up, also those of nodes that ran at the same time. Where
    # there are none, the output's own `duration_ms` and `usage` count.
    if quantity == "total_tokens":
        sent = measure_consumption(output, "input_tokens")
        received = measure_consumption(output, "output_tokens")
        n_silent = max(sent.n_silent, received.n_silent)
        n_events = max(sent.n_events, received.n_events)
        return Consumption(sent.value + received.value, "tokens", n_silent, n_events)
    unit = _UNITS.get(quantity, "tokens")
    events = [event for event in output.trace if event.type == COMPLETE]
    amounts = [_event_amount(event, quantity) for event in events]
    known = [value for value in amounts if value is not None]
    if known:
        return Consumption(fsum(known), unit, len(amounts) - len(known), len(amounts))
    usage = output.usage
    own = None
    if quantity == "latency_ms":
        own = _amount(output.duration_ms)
    # A count that was not set is unknown, though the record shows it as 0.
    elif usage is not None and quantity in usage.model_fields_set:
        own = _amount(getattr(usage, quantity))
    if own is None:
        missing = f"there is no {COMPLETE} event"
        if events:
            missing = f"no {COMPLETE} event reports {_SPELLINGS[quantity][0]}"
        own_fields = "and the output itself does not report it"
        raise UndecidedError(f"{quantity} was not measured: {missing}, {own_fields}")
    return Consumption(own, unit)


def _event_amount(event: TraceEvent, quantity: Quantity) -> float | None:
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


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Larger whole numbers raise when they become a float.
    return float(value) if 0 <= value <= float_info.max else None
