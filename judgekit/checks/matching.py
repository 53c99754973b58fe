"""Assertions on what a text or a value is, contains, begins with or matches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, JsonValue

from judgekit.checks.bounded import TimeoutSeconds  # noqa: TC001 - the seam reads the hints
from judgekit.checks.findings import finding
from judgekit.checks.paths import PathText  # noqa: TC001 - the seam reads the hints
from judgekit.checks.patterns import PatternText, search
from judgekit.checks.seam import UnmetError, assertion
from judgekit.checks.subjects import kept, shown, text_of, value_of
from judgekit.records.check import AssertionResult

if TYPE_CHECKING:
    from judgekit.records.output import Output

Texts = Annotated[list[str], Field(min_length=1)]
"""One text or more."""


@assertion("output.contains")
def output_contains(output: Output, *, path: PathText, value: JsonValue) -> AssertionResult:
    """Pass when what stands at the path contains the value."""
    # A text contains a part of itself, a list an equal element; nothing else contains anything.
    found = value_of(output, path)
    if isinstance(found, str) and isinstance(value, str):
        passed = value in found
    elif isinstance(found, list):
        passed = any(same_json(item, value) for item in found)
    else:
        raise UnmetError(f"{path} is {shown(found)}, which cannot contain {shown(value)}")
    verb = "contains" if passed else "does not contain"
    return finding(passed, kept(found), f"{path} {verb} {shown(value)}")


@assertion("output.equals")
def output_equals(output: Output, *, path: PathText, value: JsonValue) -> AssertionResult:
    """Pass when what stands at the path is the value."""
    found = value_of(output, path)
    passed = same_json(found, value)
    message = f"{path} is {shown(value)}"
    if not passed:
        message = f"{path} is {shown(found)}, not {shown(value)}"
    return finding(passed, kept(found), message)


@assertion("text.equals")
def equals(
    output: Output, *, value: JsonValue, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text is the value; a value that is no text is compared as JSON."""
    found = value_of(output, path)
    if isinstance(found, str) and not isinstance(value, str):
        found = _as_json(found)
    elif isinstance(value, str):
        found = text_of(output, path)
    if ignore_case and isinstance(value, str) and isinstance(found, str):
        passed = found.casefold() == value.casefold()
    else:
        passed = same_json(found, value)
    message = f"it is {shown(value)}" if passed else f"it is {shown(found)}, not {shown(value)}"
    return finding(passed, kept(found), message)


@assertion("text.contains")
def contains(
    output: Output, *, value: str, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text contains the value."""
    text = text_of(output, path)
    passed = value.casefold() in text.casefold() if ignore_case else value in text
    verb = "contains" if passed else "does not contain"
    return finding(passed, kept(text), f"the text {verb} {shown(value)}")


@assertion("text.contains_all")
def contains_all(
    output: Output, *, value: Texts, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text contains every one of the values."""
    text = text_of(output, path)
    missing = [part for part, there in _present(text, value, ignore_case) if not there]
    message = f"the text contains all {len(value)}"
    if missing:
        message = f"the text does not contain {_listed(missing)}"
    return AssertionResult(
        passed=not missing,
        actual=kept(text),
        message=message,
        value=1 - len(missing) / len(value),
    )


@assertion("text.contains_any")
def contains_any(
    output: Output, *, value: Texts, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text contains one of the values."""
    text = text_of(output, path)
    there = [part for part, is_there in _present(text, value, ignore_case) if is_there]
    message = f"the text contains {_listed(there)}"
    if not there:
        message = f"the text contains none of {_listed(value)}"
    return finding(bool(there), kept(text), message)


@assertion("text.starts_with")
def starts_with(
    output: Output, *, value: str, path: PathText | None = None, ignore_case: bool = False
) -> AssertionResult:
    """Pass when the text begins with the value."""
    text = text_of(output, path)
    passed = text.startswith(value)
    if ignore_case:
        passed = text.casefold().startswith(value.casefold())
    message = f"the text begins with {shown(value)}"
    if not passed:
        message = f"the text begins with {shown(text)}, not with {shown(value)}"
    return finding(passed, kept(text), message)


@assertion("text.regex")
def regex(
    output: Output,
    *,
    value: PatternText,
    path: PathText | None = None,
    ignore_case: bool = False,
    timeout_s: TimeoutSeconds = 1.0,
) -> AssertionResult:
    """Pass when the pattern matches somewhere in the text."""
    text = text_of(output, path)
    found = search(value, text, ignore_case=ignore_case, timeout_s=timeout_s)
    message = f"no part of the text matches {shown(value)}"
    if found is not None:
        message = f"{shown(found)} matches {shown(value)}"
    return finding(found is not None, kept(found), message)


def same_json(one: object, other: object) -> bool:
    """Whether two JSON values are the same value."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_json, one, other))
    return one == other


def _as_json(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _present(text: str, parts: list[str], ignore_case: bool) -> list[tuple[str, bool]]:  # noqa: FBT001
    if ignore_case:
        text = text.casefold()
        return [(part, part.casefold() in text) for part in parts]
    return [(part, part in text) for part in parts]


def _listed(parts: list[str]) -> str:
    most = 5
    more = f" and {len(parts) - most} more" if len(parts) > most else ""
    return ", ".join(shown(part) for part in parts[:most]) + more
