from __future__ import annotations

from typing import Any

import pytest

from judgekit.assertions import UndecidedError, evaluate_assertions
from judgekit.assertions.builtin import behavior, trajectory
from judgekit.assertions.registry import declaration_of
from judgekit.records import Output
from judgekit.registry import Registry, RegistryEntry


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "name": tool, "content": arguments}


def result(tool: str | None, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "name": tool} | fields


def ran(*events: dict[str, Any]) -> Output:
    return Output.model_validate({"trace": events})


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "trajectory.no_loop", "maxRepeats": 1, "max_cycles": 1, "ignoring": ["wait"]},
        {"type": "trajectory.steps.max", "value": 3, "types": ["tool_call"]},
        {"type": "trajectory.tool_calls.max", "value": 3, "tool": "a"},
        {"type": "trajectory.node_executed", "node": "main"},
        {"type": "trajectory.node_invocations.max", "node": "main", "value": 1},
        {"type": "trajectory.no_tool_errors", "tool": "a"},
        {"type": "trajectory.recovers", "sameTool": False},
    ],
)
def test_each_can_be_written_as_a_spec(spec: dict[str, Any]) -> None:
    functions = (
        trajectory.no_loop, trajectory.max_steps, trajectory.max_tool_calls, behavior.trajectory_node_executed,  # noqa: E501
        behavior.trajectory_node_invocations, trajectory.no_tool_errors, trajectory.recovers,
    )  # fmt: skip
    registry = Registry("assertion", [RegistryEntry(declaration_of(f).name, f) for f in functions])
    output = ran({"type": "node:start", "nodeId": "main"}, call("a"), result("a", content="ok"))
    (found,) = evaluate_assertions(output, [spec], registry=registry)
    assert found.passed, found.message


def test_the_same_call_too_often_is_a_loop() -> None:
    found = trajectory.no_loop(ran(*[call("get", id=1)] * 3, call("get", id=2)))
    assert (found.passed, found.actual) == (False, 3)
    assert found.message == 'get({"id": 1}) was called 3 times, at most 2 allowed'
    assert trajectory.no_loop(ran(*[call("get", id=1)] * 3), max_repeats=3).passed
    assert trajectory.no_loop(ran(*[call("wait")] * 9), ignoring=["wait"]).passed
    assert trajectory.no_loop(ran({"type": "message"})).actual == 0


def test_going_round_in_a_circle_is_a_loop() -> None:
    circle = [call("a"), call("b"), call("c")] * 3
    found = trajectory.no_loop(ran(call("start"), *circle), max_repeats=5)
    assert not found.passed
    assert found.message == "a → b → c was repeated 3 times in a row from step 2"
    assert trajectory.no_loop(ran(*circle), max_repeats=5, max_cycles=3).passed


def test_repeating_one_call_is_no_circle() -> None:
    assert trajectory.no_loop(ran(*[call("poll")] * 8), max_repeats=8).passed


def test_steps_are_what_the_agent_did() -> None:
    said = [{"type": "message", "role": role} for role in ("system", "user", "assistant")]
    output = ran(*said, call("a"), result("a"), {"type": "agent:complete"}, {"type": "node:start"})
    assert trajectory.max_steps(output, value=3).actual == 3
    assert not trajectory.max_steps(output, value=2).passed
    assert trajectory.max_steps(output, value=0, types=["tool_result"]).actual == 1


def test_calls_are_counted_by_tool_or_in_all() -> None:
    output = ran(call("a"), call("b"), call("a"))
    assert trajectory.max_tool_calls(output, value=3).passed
    found = trajectory.max_tool_calls(output, value=1, tool="a")
    assert (found.passed, found.message) == (False, "2 calls of a, at most 1")


def test_nodes_are_looked_for_in_the_events() -> None:
    output = ran({"type": "node:start", "nodeId": "main"}, {"type": "node:start", "nodeId": "main"})
    assert behavior.trajectory_node_executed(output, node="main").passed
    assert not behavior.trajectory_node_executed(output, node="review").passed
    assert not behavior.trajectory_node_invocations(output, node="main", value=1).passed
    with pytest.raises(UndecidedError, match="no trace"):
        behavior.trajectory_node_executed(
            Output(text="t", data={"outputs": {"main": 1}}), node="main"
        )
    with pytest.raises(UndecidedError, match="no trace"):
        behavior.trajectory_node_invocations(Output(text="t"), node="main", value=1)


@pytest.mark.parametrize(
    "ended",
    [
        result("a", is_error=True, content="boom"),
        result("a", error="boom"),
        result(None, isError=True, content="boom"),
        result("a", status="failed", content="boom"),
        result("a", status="crashed", content="boom"),
        result("a", success=False, content="boom"),
        {"type": "tool:error", "name": "a", "content": "boom"},
        {"type": "error", "toolName": "a", "content": "boom"},
    ],
)
def test_an_error_of_a_tool_is_seen_however_it_is_written(ended: dict[str, Any]) -> None:
    found = trajectory.no_tool_errors(ran(call("a", x=1), ended))
    assert (found.passed, found.actual) == (False, ["a: boom"])
    assert found.message == '1 failed, first a({"x": 1}): boom'


@pytest.mark.parametrize(
    "ended",
    [
        result("a", content="fine", error=None),
        result("b", is_error=True),
        {"type": "error", "content": "the agent's own"},
        {"type": "error", "name": "planner"},
    ],
)
def test_what_is_no_error_of_the_tool_is_not_taken_for_one(ended: dict[str, Any]) -> None:
    assert trajectory.no_tool_errors(ran(call("a"), ended)).passed


def test_a_result_belongs_to_the_call_with_its_id() -> None:
    first, second = call("a") | {"id": "1"}, call("a") | {"id": "2"}
    output = ran(first, second, result("a", tool_call_id="2", is_error=True))
    assert trajectory.no_tool_errors(output).actual == ["a: null"]
    assert trajectory.recovers(output).passed is False


def test_errors_of_other_tools_do_not_count_where_one_is_named() -> None:
    output = ran(call("a"), result("a", is_error=True, content={"code": 3}), call("b"))
    assert trajectory.no_tool_errors(output, tool="b").passed
    assert trajectory.no_tool_errors(output, tool="a").actual == ['a: {"code": 3}']


def test_an_agent_recovers_by_calling_the_tool_again() -> None:
    broken = (call("a"), result("a", error="busy"))
    assert trajectory.recovers(ran(*broken, call("a"), result("a", content="ok"))).passed
    alone = trajectory.recovers(ran(*broken))
    assert (alone.passed, alone.actual) == (False, ["a: busy"])
    assert alone.message == "after a({}) failed (busy) no call succeeded of a"
    other = ran(*broken, call("b"), result("b", content="ok"))
    assert not trajectory.recovers(other).passed
    assert trajectory.recovers(other, same_tool=False).passed


def test_where_nothing_failed_nothing_has_to_be_made_good() -> None:
    found = trajectory.recovers(ran(call("a"), result("a", content="ok")))
    assert (found.passed, found.message) == (True, "no call failed")


def test_a_call_without_arguments_is_shown_by_its_name() -> None:
    silent = {"type": "tool_call", "name": "a"}
    found = trajectory.recovers(ran(silent, result("a", error=True, content="x")))
    assert found.message == "after a failed (x) no call succeeded of a"


def test_results_in_the_messages_of_an_api_are_those_of_their_calls() -> None:
    made = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    came = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "boom"}
    said = {"type": "message", "role": "user"}
    output = ran({**said, "content": [made]}, {**said, "content": [came]})
    found = trajectory.no_tool_errors(output)
    assert (found.passed, found.actual) == (False, ["f: boom"])
    assert behavior.no_errors(output).actual == ["tool_result: boom"]


def test_a_message_that_calls_one_function_makes_a_call() -> None:
    named = {"name": "f", "arguments": "{}"}
    output = ran({"type": "message", "role": "assistant", "function_call": named})
    assert trajectory.tool_used(output, tool="f").passed


def test_the_id_of_a_call_goes_before_the_ids_of_its_events() -> None:
    output = ran(
        {"type": "function_call", "id": "e1", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "tool", "id": "e2", "tool_call_id": "c1", "status": "error", "content": "boom"},
    )
    assert trajectory.no_tool_errors(output).actual == ["f: boom"]
