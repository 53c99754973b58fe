"""Tells other tools' files apart by the names of their fields, without reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

RECORD_LISTS = ("records", "objects", "minions", "items")
"""Names under which an export of a quality memory lists its objects."""

_GRADERS = frozenset(
    {"string_check", "text_similarity", "score_model", "label_model", "multi", "python"}
)
_GRADED = frozenset({"input", "graders", "source"})
_TESTED = frozenset({"tests", "scenarios"})
_ROUND = frozenset({"prompts", "providers", "targets", "defaultTest"})


def is_quality_record(fields: dict[str, JsonValue]) -> bool:
    """Whether an object is of a quality memory, or an export that lists such objects."""
    lists = (fields.get(name) for name in RECORD_LISTS)
    firsts = (item[0] for item in lists if isinstance(item, list) and item)
    return any(is_object(each) for each in (fields, *firsts))


def is_object(value: JsonValue) -> bool:
    """Whether a value is one object of a quality memory."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and isinstance(value.get("fields"), dict)
    )


def is_promptfoo_config(fields: dict[str, JsonValue]) -> bool:
    """Whether an object is a configuration, or one of a list of tests."""
    names = fields.keys()
    is_whole = "providers" in names and "prompts" in names
    return is_whole or bool(_TESTED & names and _ROUND & names) or {"vars", "assert"} <= names


def is_promptfoo_results(fields: dict[str, JsonValue]) -> bool:
    """Whether an object holds results."""
    inner = fields.get("results")
    listed = inner.get("results") if isinstance(inner, dict) else inner
    items = listed if isinstance(listed, list) else []
    first = items[0] if items else None
    return isinstance(first, dict) and {"vars", "success"} <= first.keys()


def is_message_sample(fields: dict[str, JsonValue]) -> bool:
    """Whether an object is a sample of OpenAI's evals: it has `input` and `ideal`."""
    return "input" in fields and "ideal" in fields and "reference" not in fields


def is_graders(fields: dict[str, JsonValue]) -> bool:
    """Whether an object is a grader, or an evaluation with `testing_criteria`."""
    if isinstance(fields.get("testing_criteria"), list):
        return True
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _GRADERS and bool(_GRADED & fields.keys())
