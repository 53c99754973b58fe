from __future__ import annotations

import pytest
from pydantic import ValidationError

from judgekit.records import Output, TraceEvent, Usage


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


def test_usage_as_chat_apis_report_it_is_taken_too() -> None:
    reported = {
        "prompt_tokens": 9,
        "completion_tokens": 4,
        "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": None},
    }
    assert Usage.model_validate(reported) == Usage(
        input_tokens=9, output_tokens=4, cached_input_tokens=2
    )
    ours = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
    assert Usage.model_validate(ours) == Usage(input_tokens=9, output_tokens=4)
    with pytest.raises(ValidationError):
        Usage.model_validate({"prompt_tokens": 9, "input_tokens": 8})
