"""Makes results quickly where their parts are sound by construction.

Checking a record takes longer than most assertions; what is made here was checked before (the
output) or is right by its type (a truth value, a text that is not empty).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from judgekit.records.check import AssertionResult

if TYPE_CHECKING:
    from pydantic import JsonValue

_new = object.__new__
_DEFAULTS: dict[str, object] = dict(AssertionResult(passed=True, message="-").__dict__)
_slots = BaseModel.__dict__
_set_fields_set = _slots["__pydantic_fields_set__"].__set__
_set_extra = _slots["__pydantic_extra__"].__set__
_set_private = _slots["__pydantic_private__"].__set__

# Both say that every field is set; the first also that nobody has seen the record yet.
_FRESH = set(AssertionResult.model_fields)
_SEEN = set(AssertionResult.model_fields)


def finding(passed: bool, actual: JsonValue, message: str) -> AssertionResult:  # noqa: FBT001
    """What a built-in assertion found; to be returned at once."""
    result = _new(AssertionResult)
    fields = result.__dict__
    fields.update(_DEFAULTS)
    fields["passed"] = passed
    fields["actual"] = actual
    fields["message"] = message
    _set_fields_set(result, _FRESH)
    _set_extra(result, None)
    _set_private(result, None)
    return result


def stamped(found: AssertionResult, kind: str, weight: float) -> AssertionResult:
    """A result that says which assertion it is of."""
    if found.__pydantic_fields_set__ is not _FRESH:
        return changed(found, type=kind, weight=weight)
    fields = found.__dict__
    fields["type"] = kind
    fields["weight"] = weight
    _set_fields_set(found, _SEEN)
    return found


def changed(found: AssertionResult, **fields: object) -> AssertionResult:
    """A result with some fields changed to values that are sound."""
    if found.__pydantic_fields_set__ is _FRESH:
        found.__dict__.update(fields)
        _set_fields_set(found, _SEEN)
        return found
    result = _new(AssertionResult)
    result.__dict__.update(found.__dict__)
    result.__dict__.update(fields)
    _set_fields_set(result, _SEEN)
    _set_extra(result, None)
    _set_private(result, None)
    return result
