"""Dotted paths into an output: `outputs.main.text`, `data.items.0.name`, `trace.-1.content`.

A path is a row of keys with dots between them. A number is a place in a list, counted from the
end when it is negative. A key with dots in it is quoted: `outputs."a.b"` or `outputs['a.b']`.
"""

from __future__ import annotations

import difflib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import AfterValidator

from judgekit.checks.seam import UnmetError
from judgekit.errors import InputError
from judgekit.records.output import Output
from judgekit.records.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import JsonValue

Steps = tuple[str, ...]
"""The keys of a path, the first one first; a place in a list is written in digits."""

_QUOTED = r'"(?:[^"\\]|\\.)*+"' + "|" + r"'(?:[^'\\]|\\.)*+'"
_STEP = re.compile(
    rf"(?P<dot>\.)?(?:(?P<bare>[^.\[\]\"']++)|(?P<quoted>{_QUOTED})"
    rf"|\[\s*+(?:(?P<place>-?\d++)|(?P<key>{_QUOTED}))\s*+\])",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PLACE = re.compile(r"-?[0-9]{1,9}")
_OUTPUT_ROOTS = ("outputs", "output")
_TEXT_PATHS = frozenset(
    {("text",)}
    | {
        (root, *steps)
        for root in _OUTPUT_ROOTS
        for steps in ((), ("main", "text"), ("text",), ("main",))
    }
)
"""The paths an output's own text answers."""

_FIELDS = frozenset(Output.model_fields) - {"data", "text"}
_ARTIFACT_NAMES = {"events": "trace", "runId": "run_id"}
"""What a workflow's artifact calls fields of an output."""

_SNAPSHOT = (("snapshot",), ("data", "snapshot"))
"""What the data of an output is called that was an artifact."""

_MISSING = object()
_OFFERED = 100
"""How many names are looked at for near ones, and how long they may be."""


@lru_cache(maxsize=4096)
def parse_path(path: str) -> Steps:
    """The keys of a path."""
    steps = []
    at = 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None or not _is_joined(found, at):
            raise InputError(
                f"the path {_shown(path)} cannot be read from character {at + 1} on",
                hint="keys have single dots between them; quote a key that holds a dot: "
                "outputs.'a.b'",
            )
        steps.append(_key(found))
        at = found.end()
    if not steps:
        raise InputError("a path is empty", hint="such as outputs.main.text")
    return tuple(steps)


def _checked(path: str) -> str:
    parse_path(path)
    return path


PathText = Annotated[str, AfterValidator(_checked)]
"""A path that can be read."""


def look_up(output: Output, path: str) -> JsonValue:
    """What stands at a path in an output."""
    # `outputs.…` is looked for in the output's data with that prefix and without it; the output's
    # own text answers `outputs.main.text` and `text` where the data has no such place. The fields
    # of the output (`usage`, `metadata`, `trace`, `duration_ms`, …) answer by their names, `events`
    # and `runId` are other names of `trace` and `run_id`, `snapshot` is one of the data, and any
    # other first key is looked for in the data.
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
    raise UnmetError(_not_there(output, steps, *best))


def find_in(value: JsonValue, path: str) -> tuple[bool, JsonValue]:
    """What stands at a path in a JSON value."""
    steps = parse_path(path)
    depth, found = _walk(value, steps)
    is_there = depth == len(steps)
    return is_there, cast("JsonValue", found) if is_there else None


def _is_joined(found: re.Match[str], at: int) -> bool:
    """A bracket follows a key directly; everything else but the first key needs a dot."""
    is_bracket = found["place"] is not None or found["key"] is not None
    return (found["dot"] is None) if is_bracket or at == 0 else (found["dot"] is not None)


def _key(found: re.Match[str]) -> str:
    quoted = found["quoted"] or found["key"]
    if quoted is not None:
        return _ESCAPED.sub(r"\1", quoted[1:-1])
    return cast("str", found["bare"] or found["place"])


def _candidates(output: Output, steps: Steps) -> Iterator[tuple[object, int, Sequence[str]]]:
    """Where a path may lead: a root, how many keys that took, and the keys that are left."""
    first, rest = _ARTIFACT_NAMES.get(steps[0], steps[0]), steps[1:]
    if first in _FIELDS and getattr(output, first) is not None:
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
    """How many of the steps can be taken, and where that leads."""
    for depth, step in enumerate(steps):
        found = _MISSING
        if isinstance(here, dict):
            found = here.get(step, _MISSING)
        elif isinstance(here, list | tuple):
            found = _item(here, step)
        elif isinstance(here, Record):
            found = _fields(here).get(step, _MISSING)
        if found is _MISSING:
            return depth, here
        here = found
    return len(steps), here


def _item(items: Sequence[object], step: str) -> object:
    if _PLACE.fullmatch(step) is None:
        return _MISSING
    place = int(step)
    return items[place] if -len(items) <= place < len(items) else _MISSING


def _fields(record: Record) -> Mapping[str, object]:
    extra = record.__pydantic_extra__
    return {**record.__dict__, **extra} if extra else record.__dict__


def _plain(found: object) -> JsonValue:
    if isinstance(found, Record):
        return found.to_json()
    if isinstance(found, tuple):
        return [_plain(item) for item in found]
    return cast("JsonValue", found)


def _not_there(output: Output, steps: Steps, depth: int, nearest: object) -> str:
    whole = _written(steps)
    if not depth:
        roots = [*(output.data if isinstance(output.data, dict) else ()), *_present(output)]
        return f"the output has no {whole}; {_offer(steps[0], roots)}"
    part = _written(steps[:depth])
    return f"the output has no {whole}; {part} {_inside(steps[depth], nearest)}"


def _present(output: Output) -> list[str]:
    return [name for name in Output.model_fields if getattr(output, name) not in (None, (), {})]


def _inside(step: str, nearest: object) -> str:
    if isinstance(nearest, dict | Record):
        names = nearest if isinstance(nearest, dict) else _fields(nearest)
        return _offer(step, list(names))
    if isinstance(nearest, list | tuple):
        return f"is a list of {len(nearest)}"
    return f"is {_shown(str(nearest))}" if nearest is not None else "is null"


def _offer(step: str, names: Sequence[str]) -> str:
    short = [name for name in names[:_OFFERED] if len(name) < _OFFERED]
    near = difflib.get_close_matches(step[:_OFFERED], short, n=3)
    if near:
        return f"has {', '.join(near)}"
    return f"has {', '.join(_shown(name, 40) for name in names[:8])}" if names else "is empty"


def _written(steps: Sequence[str]) -> str:
    return _shown(".".join(f"'{step}'" if "." in step else step for step in steps))


def _shown(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
