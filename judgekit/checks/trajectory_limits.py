"""Assertions on how an agent went about it: loops, budgets, nodes, and tools that failed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from judgekit.checks import behavior
from judgekit.checks.calls import ToolCall, tool_calls, trace_of
from judgekit.checks.seam import assertion
from judgekit.checks.subjects import shown
from judgekit.records.check import AssertionResult
from judgekit.records.record import Count, Name  # noqa: TC001 - the seam reads the hints

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.records.output import Output, TraceEvent

AtLeastOne = Annotated[int, Field(ge=1)]
"""1 or more."""

_LONGEST_CYCLE = 50
_NOT_THE_AGENT = frozenset({"system", "user", "human", "tool", "developer"})
_BOOKKEEPING = frozenset({
    "tool_result", "tool:result", "tool:complete", "tool:end", "tool_response", "tool:error",
    "tool_error", "function_call_output", "error", "recording:linked", "agent:complete",
    "node:complete", "node:end", "reasoning",
})  # fmt: skip


@assertion("trajectory.no_loop")
def no_loop(
    output: Output,
    *,
    max_repeats: AtLeastOne = 2,
    max_cycles: AtLeastOne = 2,
    ignoring: list[Name] | None = None,
) -> AssertionResult:
    """Pass when the agent did not go round in circles."""
    calls = [call for call in tool_calls(output) if call.tool not in (ignoring or ())]
    keys = [call.key for call in calls]
    counted = Counter(keys).most_common(1)
    most = counted[0][1] if counted else 0
    message = f"no call was made more than {max_repeats} times, and none in a circle"
    if most > max_repeats:
        call = calls[keys.index(counted[0][0])]
        message = f"{_shown(call)} was called {most} times, at most {max_repeats} allowed"
    elif (cycle := _cycle(keys, max_cycles)) is not None:
        start, length, times = cycle
        tools = " → ".join(call.tool for call in calls[start : start + length])
        message = f"{tools} was gone through {times} times in a row from step {calls[start].place}"
        return AssertionResult(passed=False, actual=most, message=message)
    return AssertionResult(passed=most <= max_repeats, actual=most, message=message)


@assertion("trajectory.steps.max")
def max_steps(output: Output, *, value: Count, types: list[Name] | None = None) -> AssertionResult:
    """Pass when the agent took at most so many steps."""
    trace = trace_of(output)
    n = sum(_is_step(event) if types is None else event.type in types for event in trace)
    return AssertionResult(passed=n <= value, actual=n, message=f"{n} steps, at most {value}")


@assertion("trajectory.tool_calls.max")
def max_tool_calls(output: Output, *, value: Count, tool: Name | None = None) -> AssertionResult:
    """Pass when tools were called at most so often."""
    n = sum(tool is None or call.tool == tool for call in tool_calls(output))
    what = "tool calls" if tool is None else f"calls of {tool}"
    return AssertionResult(passed=n <= value, actual=n, message=f"{n} {what}, at most {value}")


@assertion("trajectory.node_executed")
def node_executed(output: Output, *, node: Name) -> AssertionResult:
    """Pass when a node of the workflow was entered, as its events show."""
    trace_of(output)
    return behavior.node_executed(output, node_id=node)


@assertion("trajectory.node_invocations.max")
def max_node_invocations(output: Output, *, node: Name, value: Count) -> AssertionResult:
    """Pass when a node was entered at most so often."""
    trace_of(output)
    return behavior.node_invocations(output, node_id=node, value=value)


@assertion("trajectory.no_tool_errors")
def no_tool_errors(output: Output, *, tool: Name | None = None) -> AssertionResult:
    """Pass when no call of a tool ended in an error."""
    failed = _failed(call for call in tool_calls(output) if tool in (None, call.tool))
    message = "no call of a tool failed" if tool is None else f"no call of {tool} failed"
    if failed:
        message = f"{len(failed)} failed, first {_shown(failed[0])}: {failed[0].error}"
    actual = [f"{call.tool}: {call.error}" for call in failed]
    return AssertionResult(passed=not failed, actual=list(actual), message=message)


@assertion("trajectory.recovers")
def recovers(output: Output, *, same_tool: bool = True) -> AssertionResult:
    """Pass when every call that failed was followed by one that did not."""
    calls = tool_calls(output)
    failed = _failed(calls)
    open_ = [call for call in failed if not _made_good(call, calls, same_tool=same_tool)]
    message = "no call failed" if not failed else f"made good after {len(failed)} errors"
    if open_:
        message = f"after {_shown(open_[0])} failed ({open_[0].error}) no call succeeded"
        message += f" of {open_[0].tool}" if same_tool else ""
    actual = [f"{call.tool}: {call.error}" for call in open_]
    return AssertionResult(passed=not open_, actual=list(actual), message=message)


def _cycle(keys: Sequence[str], most: int) -> tuple[int, int, int] | None:
    """Start, length and number of rounds of a circle gone through more than `most` times."""
    for length in range(2, min(len(keys) // 2, _LONGEST_CYCLE) + 1):
        same = 0
        for place in range(len(keys) - length):
            same = same + 1 if keys[place] == keys[place + length] else 0
            start = place - same + 1
            is_over = same >= length * most
            if is_over and len(set(keys[start : start + length])) > 1:
                return start, length, same // length + 1
    return None


def _is_step(event: TraceEvent) -> bool:
    if event.type == "message":
        return (event.model_extra or {}).get("role") not in _NOT_THE_AGENT
    return event.type not in _BOOKKEEPING


def _failed(calls: Iterable[ToolCall]) -> list[ToolCall]:
    return [call for call in calls if call.error is not None]


def _made_good(failed: ToolCall, calls: Sequence[ToolCall], *, same_tool: bool) -> bool:
    ended = failed.place if failed.ended is None else failed.ended
    return any(
        call.place > ended and call.error is None and (call.tool == failed.tool or not same_tool)
        for call in calls
    )


def _shown(call: ToolCall) -> str:
    return call.tool if call.arguments is None else f"{call.tool}({shown(call.arguments)})"
