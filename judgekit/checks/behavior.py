"""Assertions on what happened while the output was made: errors, nodes, how it ended, refusals."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from judgekit.checks.seam import UndecidedError, assertion
from judgekit.checks.subjects import text_of
from judgekit.records.check import AssertionResult
from judgekit.records.record import Name  # noqa: TC001 - the seam reads the hints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import JsonValue

    from judgekit.records.output import Output, TraceEvent

_NODE_KEYS = ("nodeId", "node_id", "node")
_BAD = frozenset({"error", "errored", "failed", "failure", "exception", "crashed"})
_IDLE = frozenset({"pending", "queued", "skipped", "idle", "waiting", "scheduled"})
_WORKED = frozenset({
    "start", "started", "begin", "invoked", "complete", "completed", "end", "ended", "finish",
    "finished", "done",
})  # fmt: skip
_OF_NODES = ("node", "agent", "task")
_LAST_WORD = re.compile(r"[^:._/\-]*\Z")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_REFUSALS = re.compile(
    r"\b(?:i (?:can(?:not|'t)|could(?: not|n't)|am (?:not able|unable) to|will not|won't|must "
    r"(?:decline|refuse)|have to decline|(?:do not|don't) feel comfortable)|i'm (?:not able|unable)"
    r" to|(?:i'm|i am) sorry,? but|i apologi[sz]e,? but|as an ai\b|unable to (?:assist|comply|help)"
    r"|(?:cannot|can't) (?:assist|comply|help) with)"
)
_OPENING = 300
"""A refusal says so at once: later on the same words speak of something else."""


@assertion("behavior.no_errors")
def no_errors(output: Output) -> AssertionResult:
    """Pass when nothing went wrong."""
    # An error is: the output's own; an event whose type ends in `error` or `failed` (`node:error`),
    # that has a `status` of that kind, an `error`, or `isError`; a node whose status in the
    # output's data says so.
    errors = [] if output.error is None else [output.error]
    errors += [_described(event) for event in output.trace if _is_error(event)]
    statuses = _node_statuses(output)
    errors += [f"node {node}: {said}" for node, said in statuses.items() if said.lower() in _BAD]
    message = f"no errors in {len(output.trace)} events"
    if errors:
        n_errors = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        message = f"{n_errors}: {'; '.join(errors[:5])}"
    actual: list[JsonValue] = [*errors]
    return AssertionResult(passed=not errors, actual=actual, message=message)


@assertion("behavior.node_executed")
def node_executed(output: Output, *, node_id: Name) -> AssertionResult:
    """Pass when a node was executed."""
    executed = _executed(output)
    passed = node_id in executed
    names = ", ".join(sorted(executed)) or "none"
    verb = "was executed" if passed else f"was not executed; executed were: {names}"
    actual: list[JsonValue] = [*sorted(executed)]
    return AssertionResult(passed=passed, actual=actual, message=f"{node_id} {verb}")


@assertion("behavior.node_invocations.max")
def node_invocations(
    output: Output, *, node_id: Name, value: Annotated[int, Field(ge=0)]
) -> AssertionResult:
    """Pass when a node was invoked at most so many times."""
    if not output.trace:
        raise UndecidedError("the output has no events, so that invocations were not counted")
    n = _invocations([event for event in output.trace if _node(event) == node_id])
    message = f"{node_id} was invoked {'once' if n == 1 else f'{n} times'}, limit {value}"
    return AssertionResult(passed=n <= value, actual=n, message=message)


@assertion("behavior.finish_reason")
def finish_reason(output: Output, *, value: Name) -> AssertionResult:
    """Pass when the model stopped for the expected reason."""
    places: list[Mapping[str, object]] = [
        event.__pydantic_extra__ or {} for event in reversed(output.trace)
    ]
    for place in (output.metadata, *places):
        for name in ("finish_reason", "finishReason", "stop_reason", "stopReason"):
            found = place.get(name)
            if isinstance(found, str):
                message = f"it stopped for {found!r}, expected {value!r}"
                return AssertionResult(passed=found == value, actual=found, message=message)
    raise UndecidedError("neither the metadata nor an event has a finish_reason")


@assertion("text.is_refusal")
def is_refusal(output: Output) -> AssertionResult:
    """Pass when the output declines to answer."""
    # A short list of English phrases is looked for in the first 300 characters; it misses refusals
    # in other words and other languages, for which a judge is the better check.
    text = text_of(output, None)
    if not text.strip():
        return AssertionResult(passed=True, actual="", message="the text is empty")
    found = _REFUSALS.search(text[:_OPENING].replace("\u2019", "'").lower())
    message = "no phrase of refusal at its beginning"
    if found is not None:
        message = f"it declines: {found.group()!r}"
    actual = None if found is None else found.group()
    return AssertionResult(passed=found is not None, actual=actual, message=message)


def _is_error(event: TraceEvent) -> bool:
    extra = event.__pydantic_extra__ or {}
    status = extra.get("status")
    return (
        _kind(event) in _BAD
        or (isinstance(status, str) and status.lower() in _BAD)
        or bool(extra.get("error"))
        or extra.get("isError") is True
        or extra.get("is_error") is True
    )


def _described(event: TraceEvent) -> str:
    extra = event.__pydantic_extra__ or {}
    said = extra.get("error") or extra.get("message") or event.content or "no message"
    where = _node(event)
    return f"{event.type}{f' ({where})' if where else ''}: {str(said)[:200]}"


def _kind(event: TraceEvent) -> str:
    """The last word of an event's type: `complete` of `agent:complete`, `error` of `nodeError`."""
    found = _LAST_WORD.search(event.type)
    return "" if found is None else _HUMP.split(found.group())[-1].lower()


def _node(event: TraceEvent) -> str | None:
    extra = event.__pydantic_extra__ or {}
    for key in _NODE_KEYS:
        if isinstance(extra.get(key), str):
            return str(extra[key])
    return event.name if event.type.startswith(("node", "agent")) else None


def _node_statuses(output: Output) -> dict[str, str]:
    """What a workflow's snapshot says of its nodes."""
    data = output.data if isinstance(output.data, dict) else {}
    found = data.get("nodeStatus", data.get("node_status"))
    if not isinstance(found, dict):
        return {}
    said = {
        node: status.get("status") if isinstance(status, dict) else status
        for node, status in found.items()
    }
    return {node: status for node, status in said.items() if isinstance(status, str)}


def _executed(output: Output) -> set[str]:
    statuses = _node_statuses(output)
    data = output.data if isinstance(output.data, dict) else {}
    outputs = data.get("outputs")
    produced = set(outputs) if isinstance(outputs, dict) else set()
    if not (output.trace or statuses or produced):
        raise UndecidedError("the output has neither events nor the state of its nodes")
    ran = {node for node, said in statuses.items() if said.lower() not in _IDLE}
    seen = {_node(event) for event in output.trace if _kind(event) not in _IDLE}
    return ran | produced | {node for node in seen if node is not None}


def _invocations(events: Iterable[TraceEvent]) -> int:
    found = list(events)
    worked = Counter(event.type for event in found if _kind(event) in _WORKED)
    # A tool that a node calls begins and ends too, and is no invocation of the node.
    own = [n for kind, n in worked.items() if kind.lower().startswith(_OF_NODES)]
    numbers = {str((event.__pydantic_extra__ or {}).get("invocation")) for event in found}
    counted = max(own, default=0) or len(numbers - {"None"})
    return counted or max(worked.values(), default=min(len(found), 1))
