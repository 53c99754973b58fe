"""Reads a workflow's artifact (S1: a snapshot and its runtime events) as the output it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from pydantic import ValidationError

from judgekit.errors import InputError
from judgekit.records.output import Output, TraceEvent

if TYPE_CHECKING:
    from pydantic import JsonValue

_FIELDS = {"snapshot": "data", "events": "trace", "runId": "run_id", "caseId": "case_id"}
_MARKS = frozenset({"snapshot", "outputs", "nodeStatus", "node_status", "runId"})
"""Beside `events` one of these says that they are runtime events, and not somebody's calendar."""


def as_output(given: Output | Mapping[str, object]) -> Output:
    """What checks look at: an output whose artifact, if it has one, is taken apart."""
    # An artifact is `{runId, snapshot, events}`. Handed over whole, or as the `data` of an output,
    # its snapshot becomes the data, and its events the trace where the output has no other.
    if not isinstance(given, Output):
        return _taken_apart(_from_mapping(given))
    return _taken_apart(given) if type(given.data) is dict else given


def _taken_apart(output: Output) -> Output:
    data = output.data
    if not isinstance(data, dict):
        return output
    changes: dict[str, object] = {}
    if isinstance(data.get("snapshot"), dict):
        changes["data"] = {**_rest(data), **cast("dict[str, JsonValue]", data["snapshot"])}
    if not output.trace and _has_events(data):
        changes["trace"] = _events(data["events"])
    if not changes:
        return output
    run_id = data.get("runId")
    if output.run_id is None and isinstance(run_id, str):
        changes["run_id"] = run_id
    return output.model_copy(update=changes)


def _rest(artifact: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """What else an artifact says, which paths find beside the snapshot's own."""
    return {name: value for name, value in artifact.items() if name not in _FIELDS}


def _has_events(data: Mapping[str, JsonValue]) -> bool:
    events = data.get("events")
    if not isinstance(events, list) or not events or not _MARKS & data.keys():
        return False
    return all(isinstance(event, dict) and isinstance(event.get("type"), str) for event in events)


def _events(events: JsonValue) -> tuple[TraceEvent, ...]:
    try:
        return tuple(TraceEvent.model_validate(event) for event in cast("list[JsonValue]", events))
    except ValidationError as error:
        raise _unsound(error, "the artifact's events") from error


def _from_mapping(given: object) -> Output:
    if not isinstance(given, Mapping):
        raise InputError(
            f"what is checked must be an Output, not {type(given).__name__}",
            hint="for example judgekit.Output(text=…)",
        )
    fields = {str(name): value for name, value in given.items()}
    if "snapshot" in fields and not fields.keys() & {"data", "text", "trace"}:
        fields = {_FIELDS.get(name, name): value for name, value in fields.items()}
        unknown = fields.keys() - Output.model_fields.keys()
        fields["metadata"] = {name: fields.pop(name) for name in sorted(unknown)}
    try:
        return Output.model_validate(fields)
    except ValidationError as error:
        raise _unsound(error, "what is checked is no output") from error


def _unsound(error: ValidationError, what: str) -> InputError:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    at = f" (at {where})" if where else ""
    return InputError(
        f"{what}: {first['msg'].removeprefix('Value error, ')}{at}",
        hint="an artifact is {runId, snapshot, events}, an output has text, data or a trace",
    )
