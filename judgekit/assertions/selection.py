"""Selects what an assertion checks: the text of an output, or the value at a dotted path in it.

A workflow's artifact (S1) is unpacked first.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, cast

from pydantic import AfterValidator, JsonValue, ValidationError

from judgekit.assertions.registry import NotApplicableError, UndecidedError
from judgekit.errors import InputError
from judgekit.records import Output, Record, TraceEvent

# How many characters of a text a message shows.
_DISPLAYED = 60

# How many characters of a text a result stores.
_TRUNCATED_AT = 2000

# `json.dumps` creates an encoder for each call that sets an option.
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def text_of(output: Output, path: str | None) -> str:
    if path is None and output.text is not None:
        return output.text
    found = value_of(output, path)
    if found is None:  # the word `null` would pass checks that a missing text does not
        raise NotApplicableError(f"{path} is null, which is no text")
    return found if isinstance(found, str) else to_json_text(found)


def value_of(output: Output, path: str | None) -> JsonValue:
    if path is not None:
        try:
            return look_up(output, path)
        except NotApplicableError:
            _refuse_error(output)
            raise
    if output.text is not None:
        return output.text
    if output.data is None:
        _refuse_error(output)
        raise NotApplicableError("the output has neither a text nor data")
    return output.data


def truncate_value(value: JsonValue) -> JsonValue:
    """A value as a result stores it: a long text or a large structure is truncated."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, dict | list):
        text = to_json_text(value)
    else:
        return value
    if len(text) <= _TRUNCATED_AT:
        return value
    return f"{text[:_TRUNCATED_AT]}… ({len(text)} characters)"


def display_value(value: JsonValue) -> str:
    if isinstance(value, str):
        return _quoted(value[: _DISPLAYED + 1])
    text = to_json_text(value)
    return text if len(text) <= _DISPLAYED + 2 else f"{text[:_DISPLAYED]}…"


def to_json_text(value: JsonValue) -> str:
    """A value as one JSON text, characters as they are."""
    return _ENCODER.encode(value)


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    # Cached, because the same values are searched for in thousands of outputs.
    whole = to_json_text(text)
    return whole if len(text) <= _DISPLAYED else f"{whole[:_DISPLAYED]}…"


def _refuse_error(output: Output) -> None:
    # Without an output because of an error, a check has no result: it did not fail.
    if output.error is not None:
        raise UndecidedError(f"there is no output: {output.error}")


# The keys of a path; a position in a list is written in digits.
PathKeys = tuple[str, ...]
_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*"' + "|" + r"'[^'\\]*+(?:\\.[^'\\]*+)*'"
_STEP = re.compile(
    rf"(?P<dot>\.)?(?:(?P<bare>[^.\[\]\"']++)|(?P<quoted>{_QUOTED})"
    rf"|\[\s*+(?:(?P<place>-?\d++)|(?P<key>{_QUOTED}))\s*+\])",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PLACE = re.compile(r"-?[0-9]{1,9}")
_OUTPUT_ROOTS = ("outputs", "output")

# The paths that mean the output's own text.
_WITHIN_ROOT = ((), ("text",), ("main",), ("main", "text"))
_TEXT_PATHS = {("text",), *((root, *keys) for root in _OUTPUT_ROOTS for keys in _WITHIN_ROOT)}
_OUTPUT_FIELDS = frozenset(Output.model_fields) - {"data", "text"}

# The names in a workflow's artifact of fields of an output.
_ARTIFACT_NAMES = {"events": "trace", "runId": "run_id"}

# The names of an output's data where the output was an artifact.
_SNAPSHOT = (("snapshot",), ("data", "snapshot"))
_MISSING = object()

# How many names are compared for suggestions, and how long they may be.
_OFFERED = 100


@lru_cache(maxsize=4096)
def parse_path(path: str) -> PathKeys:
    steps = []
    at = 0
    while at < len(path):
        found = _STEP.match(path, at)
        # A bracket follows a key directly; everything else but the first key needs a dot.
        is_bracket = found is not None and (found["place"] or found["key"]) is not None
        has_dot = found is not None and found["dot"] is not None
        if found is None or has_dot is (is_bracket or at == 0):
            raise InputError(
                f"the path {_list_names(path)} cannot be read from character {at + 1} on",
                hint="keys have single dots between them; quote a key that holds a dot: "
                "outputs.'a.b'",
            )
        quoted = found["quoted"] or found["key"]
        plain = found["bare"] or found["place"]
        steps.append(plain if quoted is None else _ESCAPED.sub(r"\1", quoted[1:-1]))
        at = found.end()
    if not steps:
        raise InputError("a path is empty", hint="such as outputs.main.text")
    return tuple(steps)


def _checked_path(path: str) -> str:
    parse_path(path)
    return path


PathText = Annotated[str, AfterValidator(_checked_path)]


def look_up(output: Output, path: str) -> JsonValue:
    # `outputs.…` is looked up in the output's data with that prefix and without it; where the data
    # has no such key, `outputs.main.text` and `text` mean the output's own text. The fields of the
    # output (`usage`, `metadata`, `trace`, `duration_ms`, …) have their names, `events` and `runId`
    # are other names of `trace` and `run_id`, `snapshot` is one of the data, and any other first
    # key is looked up in the data.
    steps = parse_path(path)
    if output.data is None and output.text is not None and steps in _TEXT_PATHS:
        return output.text
    best: tuple[int, object] = (0, None)
    for root, passed, rest in _candidates(output, steps):
        depth, found = _walk(root, rest)
        if depth == len(rest):
            return _plain(found)
        if passed + depth > best[0]:
            best = (passed + depth, found)
    raise NotApplicableError(_not_there(output, steps, *best))


def find_in(value: JsonValue, path: str) -> tuple[bool, JsonValue]:
    steps = parse_path(path)
    depth, found = _walk(value, steps)
    is_there = depth == len(steps)
    return is_there, cast("JsonValue", found) if is_there else None


def _candidates(output: Output, steps: PathKeys) -> Iterator[tuple[object, int, Sequence[str]]]:
    """Where a path may lead: a root, how many keys led there, and the keys that are left."""
    first, rest = _ARTIFACT_NAMES.get(steps[0], steps[0]), steps[1:]
    if first in _OUTPUT_FIELDS and getattr(output, first) is not None:
        yield getattr(output, first), 1, rest
    elif first == "data" or first in _OUTPUT_ROOTS:
        if first != "data":
            yield output.data, 0, steps
        if output.data is not None:
            yield output.data, 1, rest
    yield output.data, 0, steps
    for lead in _SNAPSHOT:
        if steps[: len(lead)] == lead:
            yield output.data, len(lead), steps[len(lead) :]
    if steps in _TEXT_PATHS and output.text is not None:
        yield output.text, len(steps), ()


def _walk(here: object, steps: Sequence[str]) -> tuple[int, object]:
    """How many of the steps exist, and the value at the last of them."""
    for depth, step in enumerate(steps):
        found = _MISSING
        if isinstance(here, dict):
            found = here.get(step, _MISSING)
        elif isinstance(here, list | tuple):
            place = int(step) if _PLACE.fullmatch(step) else len(here)
            found = here[place] if -len(here) <= place < len(here) else _MISSING
        elif isinstance(here, Record):
            found = _fields(here).get(step, _MISSING)
        if found is _MISSING:
            return depth, here
        here = found
    return len(steps), here


def _fields(record: Record) -> Mapping[str, object]:
    extra = record.__pydantic_extra__
    return {**record.__dict__, **extra} if extra else record.__dict__


def _plain(found: object) -> JsonValue:
    if isinstance(found, Record):
        return found.to_json()
    if isinstance(found, tuple):
        return [_plain(item) for item in found]
    return cast("JsonValue", found)


def _not_there(output: Output, steps: PathKeys, depth: int, nearest: object) -> str:
    whole = _join_path(steps)
    if not depth:
        own = [name for name in Output.model_fields if getattr(output, name) not in (None, (), {})]
        roots = [*(output.data if isinstance(output.data, dict) else ()), *own]
        return f"the output has no {whole}; {_offer(steps[0], roots)}"
    if isinstance(nearest, dict | Record):
        names = nearest if isinstance(nearest, dict) else _fields(nearest)
        inside = _offer(steps[depth], list(names))
    elif isinstance(nearest, list | tuple):
        inside = f"is a list of {len(nearest)}"
    else:
        inside = "is null" if nearest is None else f"is {_list_names(str(nearest))}"
    return f"the output has no {whole}; {_join_path(steps[:depth])} {inside}"


def _offer(step: str, names: Sequence[str]) -> str:
    short = [name for name in names[:_OFFERED] if len(name) < _OFFERED]
    near = difflib.get_close_matches(step[:_OFFERED], short, n=3)
    if near:
        return f"has {', '.join(near)}"
    return f"has {', '.join(_list_names(name, 40) for name in names[:8])}" if names else "is empty"


def _join_path(steps: Sequence[str]) -> str:
    return _list_names(".".join(f"'{step}'" if "." in step else step for step in steps))


def _list_names(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


_ARTIFACT_FIELDS = {"snapshot": "data", "events": "trace", "runId": "run_id", "caseId": "case_id"}

# Beside one of these keys, `events` are runtime events and not, for example, those of a calendar.
_MARKS = frozenset({"snapshot", "outputs", "nodeStatus", "node_status", "runId"})


def unpack_artifact(output: Output | Mapping[str, object]) -> Output:
    """The output to check, with its artifact unpacked if it has one."""
    # An artifact is `{runId, snapshot, events}`. Passed alone, or as the `data` of an output, its
    # snapshot becomes the data, and its events the trace where the output has no other.
    if not isinstance(output, Output):
        output = _from_mapping(output)
    data = output.data
    if not isinstance(data, dict):
        return output
    changes: dict[str, object] = {}
    snapshot = data.get("snapshot")
    if isinstance(snapshot, dict):
        # Paths find the other fields of the artifact beside the snapshot's own.
        rest = {name: value for name, value in data.items() if name not in _ARTIFACT_FIELDS}
        changes["data"] = {**rest, **snapshot}
    events = data.get("events")
    is_trace = isinstance(events, list) and all(
        isinstance(event, dict) and isinstance(event.get("type"), str) for event in events
    )
    if not output.trace and events and is_trace and _MARKS & data.keys():
        try:
            changes["trace"] = tuple(
                TraceEvent.model_validate(event) for event in cast("list[JsonValue]", events)
            )
        except ValidationError as error:
            raise _invalid_artifact(error, "the artifact's events") from error
    run_id = data.get("runId")
    if changes and output.run_id is None and isinstance(run_id, str):
        changes["run_id"] = run_id
    return output.model_copy(update=changes) if changes else output


def _from_mapping(value: object) -> Output:
    if not isinstance(value, Mapping):
        raise InputError(
            f"what is checked must be an Output, not {type(value).__name__}",
            hint="for example judgekit.Output(text=…)",
        )
    fields = {str(name): item for name, item in value.items()}
    if "snapshot" in fields and not fields.keys() & {"data", "text", "trace"}:
        fields = {_ARTIFACT_FIELDS.get(name, name): item for name, item in fields.items()}
        unknown = fields.keys() - Output.model_fields.keys()
        fields["metadata"] = {name: fields.pop(name) for name in sorted(unknown)}
    try:
        return Output.model_validate(fields)
    except ValidationError as error:
        raise _invalid_artifact(error, "what is checked is no output") from error


def _invalid_artifact(error: ValidationError, what: str) -> InputError:
    return InputError(
        f"{what}: {first_fault(error)}",
        hint="an artifact is {runId, snapshot, events}, an output has text, data or a trace",
    )


def first_fault(error: ValidationError) -> str:
    """The first fault of a record, with its place."""
    detail = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in detail["loc"])
    what = detail["msg"].removeprefix("Value error, ")
    return f"{place}: {what}" if place else what
