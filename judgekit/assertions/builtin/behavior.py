"""Assertions about what happened: errors, the nodes of a workflow, and why a model stopped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from judgekit.assertions.builtin.calls import BAD_STATES, reports_error, trace_of, unfolded
from judgekit.assertions.registry import UndecidedError, assertion
from judgekit.records import AssertionResult, Count, JsonObject, Name, Output, TraceEvent

# Workflow engines spell the node of an event in these ways.
_NODE_KEYS = ("nodeId", "node_id", "node")

# A node with one of these has not run.
_IDLE = frozenset({"pending", "queued", "skipped", "idle", "waiting", "scheduled"})
_WORKED = frozenset({
    "start", "started", "begin", "invoked", "complete", "completed", "end", "ended", "finish",
    "finished", "done",
})  # fmt: skip
_OF_NODES = ("node", "agent", "task")
_WORD_END = re.compile(r"[:._/\-]|(?<=[a-z0-9])(?=[A-Z])")


@assertion("behavior.no_errors")
def no_errors(output: Output) -> AssertionResult:
    """Pass when there are no errors.

    An error is: the output's own; an event whose type ends in `error` or `failed` (`node:error`),
    that has a `status` of that kind, an `error`, `isError`, or `success: false`; a node with such
    a status in the output's data.
    """
    errors = [] if output.error is None else [output.error]
    for _, event in unfolded(output.trace):
        if _kind(event) in BAD_STATES or reports_error(event):
            extra = event.__pydantic_extra__ or {}
            why = extra.get("error") or extra.get("message") or event.content or "no message"
            where = f" ({node})" if (node := _node(event)) else ""
            errors.append(f"{event.type}{where}: {str(why)[:200]}")
    statuses = _node_statuses(output).items()
    errors += [
        f"node {node}: {status}" for node, status in statuses if status.lower() in BAD_STATES
    ]
    message = f"no errors in {len(output.trace)} events"
    if errors:
        n_errors = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        message = f"{n_errors}: {'; '.join(errors[:5])}"
    return AssertionResult(passed=not errors, actual=[*errors], message=message)


@assertion("behavior.node_executed")
def node_executed(output: Output, *, node_id: Name) -> AssertionResult:
    """Pass when a node was executed.

    Args:
        node_id: The node; `nodeId` in S1 files.
    """
    statuses = _node_statuses(output)
    outputs = output.data.get("outputs") if isinstance(output.data, dict) else None
    executed = set(outputs) if isinstance(outputs, dict) else set[str]()
    if not (output.trace or statuses or executed):
        raise UndecidedError("the output has neither events nor the state of its nodes")
    executed |= {node for node, status in statuses.items() if status.lower() not in _IDLE}
    active = (_node(event) for event in output.trace if _kind(event) not in _IDLE)
    executed |= {node for node in active if node is not None}
    passed = node_id in executed
    names = ", ".join(sorted(executed)) or "none"
    verb = "was executed" if passed else f"was not executed; executed were: {names}"
    return AssertionResult(passed=passed, actual=[*sorted(executed)], message=f"{node_id} {verb}")


@assertion("behavior.node_invocations.max")
def node_invocations(
    output: Output, *, node_id: Name, value: Annotated[int, Field(ge=0)]
) -> AssertionResult:
    """Pass when a node was invoked at most a number of times.

    That is how often the most frequent of its `node` and `agent` events occurs, else the number of
    different `invocation` values, else how often the most frequent of its other events occurs.

    Args:
        node_id: The node; `nodeId` in S1 files.
        value: The limit.
    """
    if not output.trace:
        raise UndecidedError("the output has no events, so invocations cannot be counted")
    events = [event for event in output.trace if _node(event) == node_id]
    # Engines report the start and the end of an invocation, so each type is counted separately.
    worked = Counter(event.type for event in events if _kind(event) in _WORKED)
    # A tool that a node calls begins and ends too, and is no invocation of the node.
    own = [n for kind, n in worked.items() if kind.lower().startswith(_OF_NODES)]
    numbers = {str((event.__pydantic_extra__ or {}).get("invocation")) for event in events}
    n = max(own, default=0) or len(numbers - {"None"})
    n = n or max(worked.values(), default=min(len(events), 1))
    message = f"{node_id} was invoked {'once' if n == 1 else f'{n} times'}, limit {value}"
    return AssertionResult(passed=n <= value, actual=n, message=message)


@assertion("behavior.finish_reason")
def finish_reason(output: Output, *, value: Name) -> AssertionResult:
    """Pass when the model stopped for the expected reason.

    Args:
        value: `stop`, `length`, `content_filter`, `tool_calls`, …, in the provider's words.
    """
    places: list[Mapping[str, object]] = [
        event.__pydantic_extra__ or {} for event in reversed(output.trace)
    ]
    # The last event counts: a run may stop and resume several times.
    for place in (output.metadata, *places):
        for name in ("finish_reason", "finishReason", "stop_reason", "stopReason"):
            found = place.get(name)
            if isinstance(found, str):
                message = f"it stopped for {found!r}, expected {value!r}"
                return AssertionResult(passed=found == value, actual=found, message=message)
    raise UndecidedError("neither the metadata nor an event has a finish_reason")


@assertion("trajectory.node_executed")
def trajectory_node_executed(output: Output, *, node: Name) -> AssertionResult:
    """Pass when a node of the workflow was entered, as its events show.

    Args:
        node: The node's id.
    """
    trace_of(output)
    return node_executed(output, node_id=node)


@assertion("trajectory.node_invocations.max")
def trajectory_node_invocations(output: Output, *, node: Name, value: Count) -> AssertionResult:
    """Pass when a node was entered at most a number of times.

    Args:
        node: The node's id.
        value: The limit.
    """
    trace_of(output)
    return node_invocations(output, node_id=node, value=value)


def _kind(event: TraceEvent) -> str:
    """The last word of an event's type: `complete` of `agent:complete`, `error` of `nodeError`."""
    return _WORD_END.split(event.type)[-1].lower()


def _node(event: TraceEvent) -> str | None:
    extra = event.__pydantic_extra__ or {}
    for key in _NODE_KEYS:
        if isinstance(extra.get(key), str):
            return str(extra[key])
    return event.name if event.type.startswith(("node", "agent")) else None


def _node_statuses(output: Output) -> dict[str, str]:
    """The status of each node in a workflow's snapshot."""
    data = output.data if isinstance(output.data, dict) else {}
    found = data.get("nodeStatus", data.get("node_status"))
    if not isinstance(found, dict):
        return {}
    statuses = {
        node: status.get("status") if isinstance(status, dict) else status
        for node, status in found.items()
    }
    return {node: status for node, status in statuses.items() if isinstance(status, str)}


@assertion("not_imported")
def not_imported(
    output: Output,  # noqa: ARG001 - nothing of it is checked
    *,
    what: Name,
    reason: str,
    line: int | None = None,
    script: JsonObject | None = None,  # noqa: ARG001 - what is carried out where scripts may run
) -> AssertionResult:
    """Mark a case that lost a check when it was imported; the result is always an error.

    Args:
        what: The check of the other tool.
        reason: Why it was not imported.
        line: Its line in the file.
        script: The assertion that takes its place where scripts are allowed; one without a `type`
            only removes the mark.
    """
    place = "" if line is None else f" (line {line})"
    raise UndecidedError(f"`{what}` is not imported{place}: {reason}")
