from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import evaluate_assertions
from judgekit.records import Output, Usage

if TYPE_CHECKING:
    from judgekit.records import AssertionResult

COMPLETE = {
    "type": "agent:complete",
    "durationMs": 1500,
    "totalCostUsd": 0.01,
    "usage": {"inputTokens": 100, "outputTokens": 20},
}


def traced(*events: dict[str, Any], **fields: Any) -> Output:
    """An output with runtime events."""
    return Output.model_validate({"text": "Hello world", "trace": events, **fields})


def one(spec_type: str, output: Output, value: float, key: str = "value") -> AssertionResult:
    """The result of one assertion."""
    return evaluate_assertions(output, [{"type": spec_type, key: value}])[0]


@pytest.mark.parametrize(
    ("spec_type", "amount"),
    [
        ("metric.latency_ms.max", 1500),
        ("metric.total_cost_usd.max", 0.01),
        ("metric.tokens.input.max", 100),
        ("metric.tokens.output.max", 20),
        ("metric.tokens.total.max", 120),
    ],
)
def test_a_budget_holds_up_to_its_limit(spec_type: str, amount: float) -> None:
    output = traced(COMPLETE)
    within = one(spec_type, output, amount)
    assert (within.passed, within.actual) == (True, amount)
    over = one(spec_type, output, amount * 0.99)
    assert (over.passed, over.actual) == (False, amount)
    assert ", more than the limit of" in over.message


def test_the_nodes_are_added_up() -> None:
    output = traced(COMPLETE, {"type": "node:start"}, COMPLETE)
    assert one("metric.latency_ms.max", output, 5000).actual == 3000
    assert one("metric.total_cost_usd.max", output, 5).actual == 0.02


def test_a_sum_of_floats_stays_within_its_limit() -> None:
    output = traced(*({"type": "agent:complete", "totalCostUsd": c} for c in (0.1, 0.2)))
    assert one("cost", output, 0.3, "threshold").passed is True


def test_without_events_the_output_s_own_fields_answer() -> None:
    output = Output(text="a", duration_ms=80, usage=Usage(input_tokens=9, cost_usd=0.5))
    assert one("latency", output, 100, "threshold").passed is True
    assert one("metric.total_cost_usd.max", output, 0.4).passed is False
    assert one("metric.tokens.input.max", output, 9).passed is True


@pytest.mark.parametrize(
    "spec_type",
    ["metric.latency_ms.max", "not-metric.total_cost_usd.max", "metric.tokens.total.max"],
)
def test_what_was_not_measured_is_an_error_and_no_pass(spec_type: str) -> None:
    result = one(spec_type, traced({"type": "agent:complete", "durationMs": "fast"}), 10)
    assert result.passed is None
    assert result.error is not None
    assert "was not measured" in result.error


def test_a_count_that_nobody_set_is_not_zero() -> None:
    result = one("metric.tokens.output.max", Output(text="a", usage=Usage(input_tokens=9)), 10)
    assert result.passed is None


def test_a_silent_event_leaves_a_pass_open_but_not_a_failure() -> None:
    output = traced(COMPLETE, {"type": "agent:complete"})
    assert one("metric.latency_ms.max", output, 1000).passed is False
    result = one("metric.latency_ms.max", output, 2000)
    assert result.error == "at least 1500 ms, but 1 of 2 agent:complete events do not report it"


@pytest.mark.parametrize("value", [True, -1, float("nan"), float("inf"), 10**400, None, "12"])
def test_only_amounts_are_read(value: object) -> None:
    output = traced({"type": "agent:complete", "durationMs": value}, duration_ms=7)
    assert one("metric.latency_ms.max", output, 10).actual == 7


def test_an_event_may_say_it_in_its_content() -> None:
    content = {"duration_ms": 5, "usage": {"prompt_tokens": 3}}
    output = traced({"type": "agent:complete", "content": content})
    assert one("metric.latency_ms.max", output, 10).actual == 5
    assert one("metric.tokens.input.max", output, 10).actual == 3
