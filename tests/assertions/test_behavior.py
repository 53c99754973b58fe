from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import evaluate_assertions
from judgekit.errors import InputError
from judgekit.records import Output

if TYPE_CHECKING:
    from judgekit.records import AssertionResult


def traced(*events: dict[str, Any], **fields: Any) -> Output:
    """An output with runtime events."""
    return Output.model_validate({"text": "Hello world", "trace": events, **fields})


def one(spec_type: str, output: Output, **fields: Any) -> AssertionResult:
    """The result of one assertion."""
    return evaluate_assertions(output, [{"type": spec_type, **fields}])[0]


def test_a_clean_run_has_no_errors() -> None:
    output = traced({"type": "agent:complete", "status": "ok", "error": None})
    assert one("behavior.no_errors", output).passed is True
    assert one("behavior.no_errors", Output(text="a")).message == "no errors in 0 events"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "content": "boom"},
        {"type": "node:error", "nodeId": "n", "message": "boom"},
        {"type": "agent:failed", "error": "boom"},
        {"type": "tool_result", "isError": True, "content": "boom"},
        {"type": "tool_result", "is_error": True, "content": "boom"},
        {"type": "tool_result", "success": False, "content": "boom"},
        {"type": "node:complete", "status": "Failed", "message": "boom"},
        {"type": "tool_result", "error": {"what": "boom"}},
    ],
)
def test_every_kind_of_error_is_listed(event: dict[str, Any]) -> None:
    result = one("behavior.no_errors", traced({"type": "step"}, event))
    assert result.passed is False
    assert isinstance(result.actual, list)
    assert len(result.actual) == 1
    assert "boom" in result.message


def test_the_output_s_error_and_a_failed_node_are_errors() -> None:
    assert one("behavior.no_errors", Output(error="timed out")).actual == ["timed out"]
    output = Output(data={"nodeStatus": {"a": "failed", "b": {"status": "completed"}}})
    assert one("behavior.no_errors", output).actual == ["node a: failed"]


def test_a_node_that_has_events_was_executed() -> None:
    output = traced({"type": "node:start", "nodeId": "a"}, {"type": "node:skipped", "nodeId": "b"})
    assert one("behavior.node_executed", output, nodeId="a").passed is True
    result = one("behavior.node_executed", output, nodeId="b")
    assert result.passed is False
    assert result.message == "b was not executed; executed were: a"


def test_a_misspelt_node_is_an_error() -> None:
    with pytest.raises(InputError, match="takes no `nodeID`; did you mean `node_id`"):
        one("behavior.node_executed", Output(text="x"), nodeID="b")


def test_the_snapshot_says_what_was_executed_too() -> None:
    data = {"nodeStatus": {"a": "completed", "b": "pending"}, "outputs": {"c": {"text": "x"}}}
    result = one("behavior.node_executed", Output(data=data), nodeId="b")
    assert result.actual == ["a", "c"]


def test_without_events_and_snapshot_nothing_can_be_said_of_nodes() -> None:
    for spec_type in ("behavior.node_executed", "not-behavior.node_executed"):
        assert one(spec_type, Output(text="a"), nodeId="a").passed is None
    spec = {"nodeId": "a", "value": 1}
    assert one("behavior.node_invocations.max", Output(text="a"), **spec).passed is None


@pytest.mark.parametrize(
    ("events", "n"),
    [
        ([{"type": "node:start"}, {"type": "node:complete"}] * 2, 2),
        ([{"type": "agent:start"}, {"type": "node:start"}, {"type": "agent:complete"}], 1),
        ([{"type": "recording:linked", "invocation": i} for i in (0, 0, 1)], 2),
        ([{"type": "node:start"}, *[{"type": "tool:start"}] * 3], 1),
        ([{"type": "tool:end", "invocation": i} for i in (0, 0, 1)], 2),
        ([{"type": "step:start"}, {"type": "step:start"}], 2),
        ([{"type": "log"}, {"type": "log"}], 1),
    ],
)
def test_invocations_are_counted_once(events: list[dict[str, Any]], n: int) -> None:
    output = traced(*(event | {"nodeId": "a"} for event in events), {"type": "node:start"})
    spec = {"nodeId": "a", "value": n}
    result = one("behavior.node_invocations.max", output, **spec)
    assert (result.passed, result.actual) == (True, n)
    assert one("behavior.node_invocations.max", output, nodeId="a", value=n - 1).passed is False


def test_a_node_without_events_was_invoked_0_times() -> None:
    output = traced({"type": "agent:start", "name": "other"})
    spec = {"nodeId": "a", "value": 0}
    assert one("behavior.node_invocations.max", output, **spec).actual == 0
    assert one("behavior.node_executed", output, nodeId="other").passed is True


def test_the_finish_reason_is_looked_for_in_metadata_and_events() -> None:
    told = Output(text="a", metadata={"finish_reason": "length"})
    assert one("finish-reason", told, value="stop").actual == "length"
    output = traced({"type": "agent:complete", "stopReason": "stop"}, {"type": "log"})
    assert one("finish-reason", output, value="stop").passed is True
    assert one("finish-reason", Output(text="a"), value="stop").passed is None


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I\u2019m unable to assist.", True),
        ("As an AI, I have no opinions.", True),
        ("I must decline.", True),
        ("  ", True),
        ("You can return it within 30 days.", False),
        ("Fine. " * 80 + "I cannot say more.", False),
        ("The sorry state of affairs", False),
    ],
)
def test_a_refusal_says_so_at_once(text: str, *, passed: bool) -> None:
    assert one("is-refusal", Output(text=text)).passed is passed
    assert one("not-is-refusal", Output(text=text)).passed is not passed


def test_an_error_is_also_known_by_the_last_hump_of_its_type() -> None:
    found = one("behavior.no_errors", traced({"type": "nodeError"}, {"type": "terror"}))
    assert found.message == "1 error: nodeError: no message"
