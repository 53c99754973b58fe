"""Makes results quickly where their parts are sound by construction.

Checking a record takes longer than most assertions; what is made here was checked before (the
output) or is right by its type (a truth value, a text that is not empty).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.records.check import AssertionResult

if TYPE_CHECKING:
    from pydantic import JsonValue

_set = object.__setattr__
_DEFAULTS: dict[str, object] = dict(AssertionResult(passed=True, message="-").__dict__)

# Both say that every field is set; the first also that nobody has seen the record yet.
_FRESH = set(AssertionResult.model_fields)
_SEEN = set(AssertionResult.model_fields)


def finding(passed: bool, actual: JsonValue, message: str) -> AssertionResult:  # noqa: FBT001
    """What a built-in assertion found; to be returned at once.

    Args:
        passed: Whether it holds.
        actual: What was found in the output.
        message: Why, not empty.

    Returns:
        The result.
    """
    fields = {**_DEFAULTS, "passed": passed, "actual": actual, "message": message}
    return _made(fields, _FRESH)


def changed(found: AssertionResult, **fields: object) -> AssertionResult:
    """A result with some fields changed to values that are sound.

    Args:
        found: A result; it is altered only where it was just made by `finding`.
        fields: The fields to change.

    Returns:
        The changed result.
    """
    if found.__pydantic_fields_set__ is _FRESH:
        found.__dict__.update(fields)
        _set(found, "__pydantic_fields_set__", _SEEN)
        return found
    return _made({**found.__dict__, **fields}, _SEEN)


def _made(fields: dict[str, object], fields_set: set[str]) -> AssertionResult:
    result = AssertionResult.__new__(AssertionResult)
    _set(result, "__dict__", fields)
    _set(result, "__pydantic_fields_set__", fields_set)
    _set(result, "__pydantic_extra__", None)
    _set(result, "__pydantic_private__", None)
    return result
