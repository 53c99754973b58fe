from __future__ import annotations

import pytest
from pydantic import ValidationError

from judgekit.records.output import Output, TraceEvent, Usage


def test_an_output_that_says_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="needs a text, data, a trace or an error"):
        Output(case_id="c")


@pytest.mark.parametrize(
    "said",
    [{"text": ""}, {"data": 0}, {"data": False}, {"error": "timeout"}, {"trace": [{"type": "x"}]}],
)
def test_an_output_may_be_a_text_data_a_trace_or_an_error(said: dict[str, object]) -> None:
    assert Output.model_validate(said).to_json().items() >= said.items()


def test_tokens_are_never_negative() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Usage(input_tokens=-1)


def test_an_unknown_cost_is_not_zero() -> None:
    assert Usage().cost_usd is None


def test_an_event_needs_a_type() -> None:
    with pytest.raises(ValidationError, match="type"):
        TraceEvent(type=" ")
