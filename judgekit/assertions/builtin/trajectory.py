"""Assertions about how an agent worked: its tool calls and their order, loops and steps.

Tool calls are read in `calls`; nodes and errors are checked in `behavior`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from judgekit.assertions.builtin.calls import (
    RESULT_EVENTS,
    ArgumentsMode,
    ExpectedCall,
    ExpectedCalls,
    OneCall,
    OrderMode,
    ToolCall,
    call_matches,
    count_in_order,
    describe_call,
    match_calls,
    tool_calls,
    trace_of,
)
from judgekit.assertions.registry import NotApplicableError, assertion, make_result
from judgekit.assertions.selection import truncate_value
from judgekit.records import AssertionResult, Count, Fraction, Name, Output, meets_threshold

ToolNames = Annotated[list[Name], Field(min_length=1)]

# Longer lists make a message that nobody reads.
_SHOWN = 8


@assertion("trajectory.tool_used")
def tool_used(
    output: Output, *, tool: Name, at_least: Count = 1, at_most: Count | None = None
) -> AssertionResult:
    """Pass when a tool was called, by default at least once.

    Args:
        tool: The tool.
        at_least: How often at least.
        at_most: How often at most; None sets no limit.
    """
    calls = tool_calls(output)
    n = sum(call.tool == tool for call in calls)
    passed = n >= at_least and (at_most is None or n <= at_most)
    wanted = f"at least {at_least}" if at_most is None else f"{at_least} to {at_most}"
    others = "" if passed or n else f"; called were: {_tools_in(calls)}"
    times = {0: "never called", 1: "called once"}.get(n, f"called {n} times")
    message = f"{tool} was {times}, wanted {wanted}{others}"
    return AssertionResult(passed=passed, actual=n, message=message)


@assertion("trajectory.tool_never_used")
def tool_never_used(output: Output, *, tool: Name | ToolNames) -> AssertionResult:
    """Pass when none of the tools was called.

    Args:
        tool: The tool, or several.
    """
    barred = {tool} if isinstance(tool, str) else set(tool)
    found = [call for call in tool_calls(output) if call.tool in barred]
    message = f"{_join_names(sorted(barred))} was never called"
    if found:
        message = f"{describe_call(found[0])} was called in step {found[0].place}"
        message += f", and {len(found) - 1} more" if len(found) > 1 else ""
    return AssertionResult(passed=not found, actual=[call.place for call in found], message=message)


@assertion("trajectory.arguments_match")
def arguments_match(
    output: Output,
    *,
    call: OneCall,
    mode: ArgumentsMode = "superset",
    which: Literal["any", "all", "first", "last"] = "any",
) -> AssertionResult:
    """Pass when a tool was called with the right arguments.

    Args:
        call: The expected call.
        mode: How arguments are compared where the call does not set it.
        which: Which calls of the tool must match.
    """
    calls = tool_calls(output)
    made = [each for each in calls if each.tool == call.tool]
    if not made:
        raise NotApplicableError(f"{call.tool} was not called; called were: {_tools_in(calls)}")
    # `any` and `all` check every call of the tool.
    checked = {"first": made[:1], "last": made[-1:]}.get(which, made)
    right = [each for each in checked if call_matches(each, call, mode)]
    passed = len(right) == len(checked) if which == "all" else bool(right)
    shown = describe_call(next((c for c in checked if c not in right), checked[0]))
    message = f"{describe_call(right[0])} has the right arguments" if passed else f"got {shown}"
    if not passed:
        message += f", wanted {describe_call(call)} ({call.match or mode})"
    return make_result(passed, truncate_value([each.arguments for each in made]), message)


@assertion("trajectory.matches")
def matches(
    output: Output,
    *,
    calls: ExpectedCalls,
    mode: OrderMode = "strict",
    arguments: ArgumentsMode = "exact",
) -> AssertionResult:
    """Pass when the tool calls match the expected ones.

    Args:
        calls: The expected calls, in their order.
        mode: `strict`, `in_order`, `unordered`, `subset` or `superset`.
        arguments: How arguments are compared where an expected call does not set it.
    """
    made = tool_calls(output)
    explain = _why_out_of_order if mode in {"strict", "in_order"} else _why_other_calls
    why = explain(made, calls, mode, arguments)
    message = f"{len(made)} calls match the {len(calls)} expected ({mode})" if why is None else why
    return make_result(why is None, [describe_call(call) for call in made], message)


def _share(name: str, what: str, summary: str) -> Callable[..., AssertionResult]:
    """The assertion that the F1, precision or recall of the calls reaches a threshold."""

    @assertion(f"trajectory.{name}")
    def reaches(
        output: Output,
        *,
        calls: ExpectedCalls,
        threshold: Fraction = 1.0,
        arguments: ArgumentsMode = "exact",
        distinct: bool = False,
    ) -> AssertionResult:
        made = tool_calls(output)
        if distinct:
            made = [*{call.tool: call for call in made}.values()]
            calls = (*{call.tool: call for call in calls}.values(),)
        n_right = len(match_calls(made, calls, arguments))
        # Without any calls, none was wrong.
        shares = {
            "precision": n_right / len(made) if made else 1.0,
            "recall": n_right / len(calls) if calls else 1.0,
        }
        n_both = len(made) + len(calls)
        value = {"F1": 2 * n_right / n_both if n_both else 1.0, **shares}[what]
        message = (
            f"{what} {value:.3g}, wanted {threshold:g}: {n_right} of {len(made)} calls are "
            f"among the {len(calls)} expected"
        )
        actual: dict[str, JsonValue] = {**shares, "calls": [describe_call(call) for call in made]}
        return make_result(meets_threshold(value, threshold), actual, message, value)

    reaches.__doc__ = f"""Pass when {summary}.

    Args:
        calls: The expected calls, in any order.
        threshold: The least {what if what == "F1" else "share"}, on [0, 1].
        arguments: How arguments are compared where an expected call does not set it.
        distinct: Whether a tool counts once, by its last call, however often it was called.
    """
    return reaches


f1 = _share("f1", "F1", "the F1 of the calls against the expected ones reaches the threshold")
precision = _share("precision", "precision", "enough of the calls that were made were expected")
recall = _share("recall", "recall", "enough of the expected calls were made")


def _why_out_of_order(
    made: Sequence[ToolCall],
    calls: Sequence[ExpectedCall],
    mode: OrderMode,
    arguments: ArgumentsMode,
) -> str | None:
    if mode == "in_order":
        n = count_in_order(made, calls, arguments)
        after = f" after {describe_call(calls[n - 1])}" if n else ""
        if n == len(calls):
            return None
        others = _other_calls_of(calls[n : n + 1], made)
        return f"{describe_call(calls[n])} was not called{after}{others}"
    for number, (call, wanted) in enumerate(zip(made, calls, strict=False), start=1):
        if not call_matches(call, wanted, arguments):
            return f"call {number} is {describe_call(call)}, wanted {describe_call(wanted)}"
    if len(made) > len(calls):
        return f"call {len(calls) + 1} is one too many: {describe_call(made[len(calls)])}"
    if len(made) < len(calls):
        return f"call {len(made) + 1} is missing: {describe_call(calls[len(made)])}"
    return None


def _why_other_calls(
    made: Sequence[ToolCall],
    calls: Sequence[ExpectedCall],
    mode: OrderMode,
    arguments: ArgumentsMode,
) -> str | None:
    right = match_calls(made, calls, arguments)
    missing = [c for i, c in enumerate(calls) if i not in right]
    extra = [describe_call(c) for i, c in enumerate(made) if i not in set(right.values())]
    why = []
    if missing and mode != "subset":
        others = _other_calls_of(missing, made) if mode == "superset" else ""
        why.append(f"not called: {_join_names([describe_call(c) for c in missing])}{others}")
    if extra and mode != "superset":
        why.append(f"not expected: {_join_names(extra)}")
    return "; ".join(why) or None


def _other_calls_of(missing: Sequence[ExpectedCall], made: Sequence[ToolCall]) -> str:
    """The calls of the same tools: without them nobody sees which argument is wrong."""
    tools = {call.tool for call in missing if call.arguments is not None or call.where}
    found = list(dict.fromkeys(describe_call(call) for call in made if call.tool in tools))
    return f"; found {_join_names(found)}" if found else ""


def _tools_in(calls: Sequence[ToolCall]) -> str:
    return _join_names(list(dict.fromkeys(call.tool for call in calls))) or "none"


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


AtLeastOne = Annotated[int, Field(ge=1)]

# Longer cycles are not searched for: the time is proportional to their length.
_LONGEST_CYCLE = 50

# Messages of these roles are not steps that the agent took.
_NOT_THE_AGENT = frozenset({"system", "user", "human", "tool", "developer"})

# Events that report on another step, or on nothing the agent did.
_BOOKKEEPING = RESULT_EVENTS | {
    "error", "recording:linked", "agent:complete", "node:complete", "node:end", "reasoning",
}  # fmt: skip


@assertion("trajectory.no_loop")
def no_loop(
    output: Output,
    *,
    max_repeats: AtLeastOne = 2,
    max_cycles: AtLeastOne = 2,
    ignoring: list[Name] | None = None,
) -> AssertionResult:
    """Pass when the agent did not repeat itself in a loop.

    Args:
        max_repeats: How often one call with the same arguments may be made in total.
        max_cycles: How often in a row one sequence of two or more different calls may be made.
        ignoring: Tools that may be called repeatedly, such as one that waits.
    """
    calls = [call for call in tool_calls(output) if call.tool not in (ignoring or ())]
    keys = [call.key for call in calls]
    # A repeated call is reported before a cycle, because it is the simpler explanation.
    counted = Counter(keys).most_common(1)
    most = counted[0][1] if counted else 0
    message = f"no call was made more than {max_repeats} times, and none in a cycle"
    if most > max_repeats:
        call = calls[keys.index(counted[0][0])]
        message = f"{describe_call(call)} was called {most} times, at most {max_repeats} allowed"
    elif (cycle := _cycle(keys, max_cycles)) is not None:
        start, length, times = cycle
        tools = " → ".join(call.tool for call in calls[start : start + length])
        message = f"{tools} was repeated {times} times in a row from step {calls[start].place}"
        return AssertionResult(passed=False, actual=most, message=message)
    return AssertionResult(passed=most <= max_repeats, actual=most, message=message)


@assertion("trajectory.steps.max")
def max_steps(output: Output, *, value: Count, types: list[Name] | None = None) -> AssertionResult:
    """Pass when the agent took at most a number of steps.

    Args:
        value: The limit.
        types: The types of events that are steps; None takes what the agent did: its tool calls,
            its messages and the nodes it entered, not results and not other records.
    """
    n = 0
    for event in trace_of(output):
        is_step = event.type not in _BOOKKEEPING
        if types is not None:
            is_step = event.type in types
        elif event.type == "message":
            is_step = (event.model_extra or {}).get("role") not in _NOT_THE_AGENT
        n += is_step
    return AssertionResult(passed=n <= value, actual=n, message=f"{n} steps, at most {value}")


@assertion("trajectory.tool_calls.max")
def max_tool_calls(output: Output, *, value: Count, tool: Name | None = None) -> AssertionResult:
    """Pass when tools were called at most a number of times.

    Args:
        value: The limit.
        tool: The tool whose calls count; None counts the calls of all.
    """
    n = sum(tool is None or call.tool == tool for call in tool_calls(output))
    what = "tool calls" if tool is None else f"calls of {tool}"
    return AssertionResult(passed=n <= value, actual=n, message=f"{n} {what}, at most {value}")


@assertion("trajectory.no_tool_errors")
def no_tool_errors(output: Output, *, tool: Name | None = None) -> AssertionResult:
    """Pass when no call of a tool ended in an error.

    Args:
        tool: The tool to check; None checks all.
    """
    calls = [call for call in tool_calls(output) if tool in (None, call.tool)]
    failed = [call for call in calls if call.error is not None]
    message = "no call of a tool failed" if tool is None else f"no call of {tool} failed"
    if failed:
        message = f"{len(failed)} failed, first {describe_call(failed[0])}: {failed[0].error}"
    return AssertionResult(passed=not failed, actual=_list_errors(failed), message=message)


@assertion("trajectory.recovers")
def recovers(output: Output, *, same_tool: bool = True) -> AssertionResult:
    """Pass when every call that failed was followed by one that did not.

    Args:
        same_tool: Whether it must be a call of the same tool.
    """
    calls = tool_calls(output)
    failed = [call for call in calls if call.error is not None]
    open_ = []
    for call in failed:
        # A call that overlaps the failed one does not make up for it.
        ended = call.place if call.ended is None else call.ended
        later = (c for c in calls if c.place > ended and (c.tool == call.tool or not same_tool))
        if all(c.error is not None for c in later):
            open_.append(call)
    message = "no call failed" if not failed else f"recovered after {len(failed)} errors"
    if open_:
        message = f"after {describe_call(open_[0])} failed ({open_[0].error}) no call succeeded"
        message += f" of {open_[0].tool}" if same_tool else ""
    return AssertionResult(passed=not open_, actual=_list_errors(open_), message=message)


def _list_errors(calls: Sequence[ToolCall]) -> list[JsonValue]:
    return [f"{call.tool}: {call.error}" for call in calls]


def _cycle(keys: Sequence[str], most: int) -> tuple[int, int, int] | None:
    """Start, length and repeats of a cycle that was made more than `most` times."""
    for length in range(2, min(len(keys) // 2, _LONGEST_CYCLE) + 1):
        same = 0
        for place in range(len(keys) - length):
            same = same + 1 if keys[place] == keys[place + length] else 0
            start = place - same + 1
            # One call repeated is no cycle; it is counted above.
            is_over = same >= length * most
            if is_over and len(set(keys[start : start + length])) > 1:
                return start, length, same // length + 1
    return None
