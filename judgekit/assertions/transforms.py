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
from typing import TYPE_CHECKING, Any, TypeGuard

from pydantic import JsonValue

from judgekit.assertions.registry import UndecidedError
from judgekit.assertions.sandbox import run_bounded
from judgekit.assertions.scripts import CodeCall, code_context, run_code
from judgekit.assertions.selection import to_json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.assertions.scripts import ScriptSettings
    from judgekit.records import Case, JsonObject, Output

# How long one regular expression may take; it runs in a worker, as it may take for ever.
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
        found = _STEPS[name][1](value, setting)
    if found is None:
        raise TransformError(f"the step `{name}` gives no value for {_shown(value)}")
    return found


def step_fault(step: JsonObject) -> str | None:
    """Why a step cannot be applied to any output."""
    name, setting = next(iter(step.items()), ("", None))
    if len(step) != 1 or (name != CODE_STEP and name not in _STEPS):
        return f"{json.dumps(step)[:_LONGEST]} is no step: {', '.join(_STEPS)}"
    takes = _STEPS[name][0] if name in _STEPS else None  # code says itself what is wrong with it
    if takes is None or _SETTINGS[takes](setting):
        return None
    return f"the step `{name}` takes {takes}, not {_shown(setting)}"


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
    function, text = f"{__name__}:match_groups", _text(value)
    found = run_bounded(function, pattern, text, timeout_s=_REGEX_S)
    return [str(one) for one in found] if isinstance(found, list) else None


def _replace(value: JsonValue, fields: dict[str, Any]) -> JsonValue:
    text, new = _text(value), fields.get("with", "")
    n_most = 0 if fields.get("all") is True else 1
    if "text" in fields:
        return text.replace(fields["text"], new, n_most or -1)
    function, pattern = f"{__name__}:replace_pattern", fields["pattern"]
    return str(run_bounded(function, pattern, text, new, n_most, timeout_s=_REGEX_S))


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


def _are(setting: JsonValue, *types: type) -> TypeGuard[list[JsonValue]]:
    # By `type`, since true and false are no positions.
    return isinstance(setting, list) and all(type(one) in types for one in setting)


def _is_replacement(setting: JsonValue) -> bool:
    if not isinstance(setting, dict) or len(setting.keys() & {"text", "pattern"}) != 1:
        return False
    types = {"text": str, "pattern": str, "with": str, "all": bool}
    return all(type(one) is types.get(name) for name, one in setting.items())


_SETTINGS: Mapping[str, Callable[[JsonValue], bool]] = MappingProxyType(
    {
        "true": lambda one: one is True,
        "a text": lambda one: isinstance(one, str),
        "a list of keys": lambda one: _are(one, str, int),
        "a list of one or two positions": lambda one: _are(one, int) and len(one) in {1, 2},
        "`text` or `pattern`, and perhaps `with` and `all: true`": _is_replacement,
    }
)
_TRUE, _TEXT, _KEYS, _BOUNDS, _REPLACEMENT = _SETTINGS

# What the setting of a step is, and what the step makes of a value with such a setting.
_STEPS: Mapping[str, tuple[str, Callable[[JsonValue, Any], JsonValue]]] = MappingProxyType(
    {
        "parse_json": (_TRUE, _parse),
        "to_json": (_TRUE, lambda v, _: json.dumps(v, ensure_ascii=False, separators=(",", ":"))),
        "path": (_KEYS, _path),
        "trim": (_TRUE, lambda value, _: _text(value).strip()),
        "lower": (_TRUE, lambda value, _: _text(value).lower()),
        "upper": (_TRUE, lambda value, _: _text(value).upper()),
        "split": (_TEXT, _split),
        "match": (_TEXT, _match),
        "replace": (_REPLACEMENT, _replace),
        "slice": (_BOUNDS, _slice),
        "join": (_TEXT, _join),
    }
)
