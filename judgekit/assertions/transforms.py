"""Applies a case's or a variant's transform to an output, step by step.

A step is an object with one key, such as `{"trim": true}` or `{"path": ["answer"]}`. They are what
expressions like `JSON.parse(output).answer` of other tools become; see
`formats.promptfoo_syntax`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import JsonValue

from judgekit.assertions.registry import UndecidedError
from judgekit.assertions.sandbox import run_bounded
from judgekit.assertions.scripts import CodeCall, code_context, run_code
from judgekit.assertions.selection import to_json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.assertions.scripts import ScriptSettings
    from judgekit.records import Case, JsonObject, Output

# How long one regular expression may take.
_REGEX_S = 1.0
CODE_STEP = "call"
"""The step that calls code, where scripts are allowed."""

IS_TRANSFORMED = "transformed"
"""In the metadata of outputs that another tool has transformed already."""


class TransformError(ValueError):
    """A step does not fit the value it got."""


def transform_output(
    output: Output,
    steps: Sequence[JsonObject],
    *,
    case: Case | None = None,
    scripts: ScriptSettings | None = None,
) -> Output:
    """The output after every step; one that a step does not fit becomes an error."""
    if output.error is not None or not steps:
        return output
    value: JsonValue = output.text if output.data is None else output.data
    try:
        for step in steps:
            value = _apply(step, value, case, scripts)
    except (TransformError, UndecidedError) as error:
        message = f"the transform failed: {error}"
        update = {"error": message, "error_kind": "exception", "text": None, "data": None}
        return output.model_copy(update=update)
    text, data = (value, None) if isinstance(value, str) else (None, value)
    return output.model_copy(update={"text": text, "data": data})


def _apply(
    step: JsonObject, value: JsonValue, case: Case | None, scripts: ScriptSettings | None
) -> JsonValue:
    if fault := step_fault(step):
        raise TransformError(fault)
    (name, setting), *_ = step.items()
    if name == CODE_STEP:
        # Without the permission the case has a mark instead, without which no answer passes.
        if scripts is None or not scripts.is_allowed:
            return value
        found = run_code(
            CodeCall.model_validate(setting),
            {"output": value, "context": code_context(case)},
            scripts,
        )
    else:
        found = _STEPS[name].apply(value, setting)
    if found is None:
        raise TransformError(f"the step `{name}` gives no value for {_shown(value)}")
    return found


def step_fault(step: JsonObject) -> str | None:
    """Why a step cannot be applied to any output."""
    name, setting = next(iter(step.items()), ("", None))
    if len(step) != 1 or name not in (CODE_STEP, *_STEPS):
        return f"{json.dumps(step)[:_LONGEST]} is no step: {', '.join(_STEPS)}"
    kind = _STEPS.get(name)
    if kind is not None and not kind.is_setting(setting):
        return f"the step `{name}` takes {kind.takes}, not {_shown(setting)}"
    return None


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST = 80


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TransformError(f"{_shown(value)} is no text")
    return value


def _parse(value: JsonValue, _setting: JsonValue) -> JsonValue:
    try:
        found: JsonValue = json.loads(_text(value))
    except (ValueError, RecursionError) as error:
        raise TransformError(f"{_shown(value)} is not JSON") from error
    return found


def _path(value: JsonValue, keys: list[str | int]) -> JsonValue:
    for part in keys:
        if isinstance(value, dict):
            value = value.get(str(part))
        elif isinstance(value, list | str) and isinstance(part, int):
            value = value[part] if -len(value) <= part < len(value) else None
        elif isinstance(value, list | str) and part == "length":
            value = len(value)
        else:
            raise TransformError(f"{_shown(value)} has no {part!r}")
    return value


def _split(value: JsonValue, by: str) -> JsonValue:
    text = _text(value)
    return [*text.split(by)] if by else [*text]


def _match(value: JsonValue, pattern: str) -> JsonValue:
    """The match and its groups, as JavaScript gives them."""
    found = _bounded("match_groups", pattern, _text(value))
    return [str(one) for one in found] if isinstance(found, list) else None


def _replace(value: JsonValue, fields: dict[str, Any]) -> JsonValue:
    text, new = _text(value), fields.get("with", "")
    n_most = 0 if fields.get("all") is True else 1
    if "text" in fields:
        return text.replace(fields["text"], new, n_most or -1)
    return str(_bounded("replace_pattern", fields["pattern"], text, new, n_most))


def _bounded(function: str, *arguments: JsonValue) -> object:
    """A regular expression of a file may take for ever, so it runs in a worker."""
    return run_bounded(f"{__name__}:{function}", *arguments, timeout_s=_REGEX_S)


def match_groups(pattern: str, text: str) -> list[str] | None:
    """The part of a text that a pattern matches, and the groups in it."""
    found = re.search(pattern, text)
    return None if found is None else [found.group(), *found.groups(default="")]


def replace_pattern(pattern: str, text: str, new: str, n_most: int) -> str:
    """The text with other text in the place of what a pattern matches; 0 for all of it."""
    return re.sub(pattern, lambda _: new, text, count=n_most)


def _slice(value: JsonValue, bounds: list[int]) -> JsonValue:
    if not isinstance(value, str | list):
        raise TransformError(f"{_shown(value)} has no parts")
    return value[bounds[0] : bounds[1] if bounds[1:] else None]


def _join(value: JsonValue, between: str) -> JsonValue:
    if not isinstance(value, list):
        raise TransformError(f"{_shown(value)} is no list")
    # As in JavaScript, null has no text.
    texts = ("" if one is None else one for one in value)
    return between.join(one if isinstance(one, str) else to_json_text(one) for one in texts)


def _are(setting: JsonValue, *types: type) -> bool:
    # By `type`, since true and false are no positions.
    return isinstance(setting, list) and all(type(one) in types for one in setting)


def _is_replacement(setting: JsonValue) -> bool:
    if not isinstance(setting, dict) or len(setting.keys() & {"text", "pattern"}) != 1:
        return False
    types = {"text": str, "pattern": str, "with": str, "all": bool}
    return all(type(one) is types.get(name) for name, one in setting.items())


class _Step(NamedTuple):
    # The setting is one that `is_setting` accepts.
    apply: Callable[[JsonValue, Any], JsonValue]
    takes: str = "true"
    is_setting: Callable[[JsonValue], bool] = lambda setting: setting is True


_TEXT = "a text", lambda setting: isinstance(setting, str)
_KEYS = "a list of keys", lambda setting: _are(setting, str, int)
_BOUNDS = "a list of one or two positions", lambda one: _are(one, int) and len(one) in {1, 2}
_NEW_TEXT = "`text` or `pattern`, and perhaps `with` and `all: true`", _is_replacement
_STEPS: Mapping[str, _Step] = MappingProxyType(
    {
        "parse_json": _Step(_parse),
        "to_json": _Step(
            lambda value, _: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        ),
        "path": _Step(_path, *_KEYS),
        "trim": _Step(lambda value, _: _text(value).strip()),
        "lower": _Step(lambda value, _: _text(value).lower()),
        "upper": _Step(lambda value, _: _text(value).upper()),
        "split": _Step(_split, *_TEXT),
        "match": _Step(_match, *_TEXT),
        "replace": _Step(_replace, *_NEW_TEXT),
        "slice": _Step(_slice, *_BOUNDS),
        "join": _Step(_join, *_TEXT),
    }
)
