"""Assertions on which tools an agent called, with what, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from judgekit.checks.call_matching import (
    ArgumentsMode,
    ExpectedCall,
    ExpectedCalls,
    OneCall,
    OrderMode,
    described,
    fits,
    in_order,
    pairs,
)
from judgekit.checks.calls import ToolCall, tool_calls
from judgekit.checks.seam import UnmetError, assertion
from judgekit.checks.subjects import kept
from judgekit.records.check import AssertionResult
from judgekit.records.record import Count, Fraction, JsonObject, Name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from judgekit.records.output import Output

Tools = Annotated[list[Name], Field(min_length=1)]
"""One tool or more."""

_SAME = 1e-9
_SHOWN = 8


@assertion("trajectory.tool_used")
def tool_used(
    output: Output, *, tool: Name, at_least: Count = 1, at_most: Count | None = None
) -> AssertionResult:
    """Pass when a tool was called, as often as it should be."""
    calls = tool_calls(output)
    n = sum(call.tool == tool for call in calls)
    passed = n >= at_least and (at_most is None or n <= at_most)
    wanted = f"at least {at_least}" if at_most is None else f"{at_least} to {at_most}"
    others = "" if passed or n else f"; called were: {_tools_in(calls)}"
    message = f"{tool} was {_times(n)}, wanted {wanted}{others}"
    return AssertionResult(passed=passed, actual=n, message=message)


@assertion("trajectory.tool_never_used")
def tool_never_used(output: Output, *, tool: Name | Tools) -> AssertionResult:
    """Pass when none of the tools was called."""
    barred = {tool} if isinstance(tool, str) else set(tool)
    found = [call for call in tool_calls(output) if call.tool in barred]
    message = f"{_named(sorted(barred))} was never called"
    if found:
        message = f"{described(found[0])} was called in step {found[0].place}"
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
    """Pass when a tool was called with the right arguments."""
    calls = tool_calls(output)
    made = [each for each in calls if each.tool == call.tool]
    if not made:
        raise UnmetError(f"{call.tool} was not called; called were: {_tools_in(calls)}")
    looked_at = {"first": made[:1], "last": made[-1:]}.get(which, made)
    right = [each for each in looked_at if fits(each, call, mode)]
    passed = len(right) == len(looked_at) if which == "all" else bool(right)
    shown = described(next((c for c in looked_at if c not in right), looked_at[0]))
    message = f"{described(right[0])} has the right arguments" if passed else f"got {shown}"
    if not passed:
        message += f", wanted {described(call)} ({call.match or mode})"
    return AssertionResult(
        passed=passed, actual=kept([each.arguments for each in made]), message=message
    )


@assertion("trajectory.matches")
def matches(
    output: Output,
    *,
    calls: ExpectedCalls,
    mode: OrderMode = "strict",
    arguments: ArgumentsMode = "exact",
) -> AssertionResult:
    """Pass when the tool calls stand to the expected ones as they should."""
    made = tool_calls(output)
    if mode in {"strict", "in_order"}:
        why = _why_out_of_order(made, calls, mode, arguments)
    else:
        why = _why_other_calls(made, calls, mode, arguments)
    message = f"{len(made)} calls match the {len(calls)} expected ({mode})" if why is None else why
    return AssertionResult(passed=why is None, actual=_actual(made), message=message)


@assertion("trajectory.f1")
def f1(
    output: Output,
    *,
    calls: ExpectedCalls,
    threshold: Fraction = 1.0,
    arguments: ArgumentsMode = "exact",
) -> AssertionResult:
    """Pass when the calls and the expected ones coincide well enough in both directions."""
    made = tool_calls(output)
    n_right = len(pairs(made, calls, arguments))
    n_both = len(made) + len(calls)
    value = 2 * n_right / n_both if n_both else 1.0
    return _share(value, threshold, "F1", made, calls, n_right)


@assertion("trajectory.precision")
def precision(
    output: Output,
    *,
    calls: ExpectedCalls,
    threshold: Fraction = 1.0,
    arguments: ArgumentsMode = "exact",
) -> AssertionResult:
    """Pass when enough of the calls that were made are expected ones."""
    made = tool_calls(output)
    n_right = len(pairs(made, calls, arguments))
    return _share(_of(n_right, made), threshold, "precision", made, calls, n_right)


@assertion("trajectory.recall")
def recall(
    output: Output,
    *,
    calls: ExpectedCalls,
    threshold: Fraction = 1.0,
    arguments: ArgumentsMode = "exact",
) -> AssertionResult:
    """Pass when enough of the expected calls were made."""
    made = tool_calls(output)
    n_right = len(pairs(made, calls, arguments))
    return _share(_of(n_right, calls), threshold, "recall", made, calls, n_right)


def _why_out_of_order(
    made: Sequence[ToolCall],
    calls: Sequence[ExpectedCall],
    mode: OrderMode,
    arguments: ArgumentsMode,
) -> str | None:
    if mode == "in_order":
        n = in_order(made, calls, arguments)
        after = f" after {described(calls[n - 1])}" if n else ""
        return None if n == len(calls) else f"{described(calls[n])} was not called{after}"
    for number, (call, wanted) in enumerate(zip(made, calls, strict=False), start=1):
        if not fits(call, wanted, arguments):
            return f"call {number} is {described(call)}, wanted {described(wanted)}"
    if len(made) > len(calls):
        return f"call {len(calls) + 1} is one too many: {described(made[len(calls)])}"
    if len(made) < len(calls):
        return f"call {len(made) + 1} is missing: {described(calls[len(made)])}"
    return None


def _why_other_calls(
    made: Sequence[ToolCall],
    calls: Sequence[ExpectedCall],
    mode: OrderMode,
    arguments: ArgumentsMode,
) -> str | None:
    right = pairs(made, calls, arguments)
    missing = [described(c) for i, c in enumerate(calls) if i not in right]
    extra = [described(c) for i, c in enumerate(made) if i not in set(right.values())]
    why = []
    if missing and mode != "subset":
        why.append(f"not called: {_named(missing)}")
    if extra and mode != "superset":
        why.append(f"not expected: {_named(extra)}")
    return "; ".join(why) or None


def _share(
    value: float,
    threshold: float,
    what: str,
    made: Sequence[ToolCall],
    calls: Sequence[ExpectedCall],
    n_right: int,
) -> AssertionResult:
    message = (
        f"{what} {value:.3g}, wanted {threshold:g}: {n_right} of {len(made)} calls are "
        f"among the {len(calls)} expected"
    )
    actual: JsonObject = {
        "precision": _of(n_right, made),
        "recall": _of(n_right, calls),
        "calls": _actual(made),
    }
    passed = value >= threshold - _SAME
    return AssertionResult(passed=passed, actual=actual, message=message, value=value)


def _of(n_right: int, whole: Sequence[object]) -> float:
    return n_right / len(whole) if whole else 1.0


def _actual(made: Sequence[ToolCall]) -> list[JsonValue]:
    return [described(call) for call in made]


def _tools_in(calls: Sequence[ToolCall]) -> str:
    return _named(list(dict.fromkeys(call.tool for call in calls))) or "none"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _times(n: int) -> str:
    return {0: "never called", 1: "called once"}.get(n, f"called {n} times")
