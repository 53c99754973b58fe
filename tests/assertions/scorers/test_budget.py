from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.assertions import score_output
from judgekit.records import Output, Usage

if TYPE_CHECKING:
    from judgekit.records import Score

EVENT = {
    "type": "agent:complete",
    "durationMs": 1500,
    "totalCostUsd": 0.01,
    "usage": {"inputTokens": 100, "outputTokens": 25},
}
TRACED = Output.model_validate({"text": "Hello world", "trace": [EVENT]})


def score(output: Output = TRACED, **spec: Any) -> Score:
    """One score."""
    return score_output(output, [spec]).scores[0]


@pytest.mark.parametrize(
    ("spec", "raw", "unit", "value"),
    [
        ({"type": "latency", "maxMs": 6000}, 1500, "ms", 0.75),
        ({"type": "cost", "max_usd": 0.02}, 0.01, "usd", 0.5),
        ({"type": "tokens", "max_tokens": 500}, 125, "tokens", 0.75),
        ({"type": "tokens", "max_tokens": 200, "count": "input"}, 100, "tokens", 0.5),
        ({"type": "tokens", "max_tokens": 50, "count": "output"}, 25, "tokens", 0.5),
        ({"type": "latency", "max_ms": 100}, 1500, "ms", 0),
    ],
)
def test_a_budget_scores_what_is_left_of_it(
    spec: dict[str, Any], raw: float, unit: str, value: float
) -> None:
    found = score(**spec)
    assert (found.raw, found.unit) == (raw, unit)
    assert found.value == pytest.approx(value)
    assert found.name == spec["type"]


def test_a_cost_that_is_not_known_is_no_0() -> None:
    found = score(Output(text="a", usage=Usage(input_tokens=3, output_tokens=4)), type="cost")
    assert (found.value, found.raw) == (None, None)


def test_a_silent_event_leaves_the_score_open() -> None:
    output = Output.model_validate({"trace": [EVENT, {"type": "agent:complete"}]})
    assert "1 of 2 agent:complete events" in str(score(output, type="latency").error)


@settings(max_examples=40)
@given(st.floats(min_value=0, max_value=1e12), st.floats(min_value=0, max_value=1e12))
def test_taking_longer_never_scores_more(one: float, other: float) -> None:
    values = [score(Output(text="a", duration_ms=ms), type="latency").value for ms in (one, other)]
    assert None not in values
    assert (one <= other) or (values[0] or 0) <= (values[1] or 0)
    assert all(0 <= (value or 0) <= 1 for value in values)
