"""Reads back what judgekit writes into objects of a quality memory (S0) beyond their format."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from pydantic import ValidationError

from judgekit.records.case import CaseEvaluation, Stratum
from judgekit.records.rubric import Criterion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import JsonValue

    from judgekit.datasets.foreign.quality_format import CriterionFields
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject

OF_CASES = ("context", "stratum", "assertions", "evaluation")
"""Fields of a case that a `test-case` has no place for; they stand among its fields."""

BENCHMARKS = "benchmarks"
"""The entry of a case's metadata that names the benchmarks it came with."""

TAKEN = frozenset(
    {
        "name", "description", "agentId", "skillId", "promptVersionRef", "expectedOutputs",
        "rubricId", "inputs", "tags", "status", "metadata", *OF_CASES,
    }
)  # fmt: skip
"""Names that metadata cannot have beside the fields; such metadata stands under `metadata`."""


def added_to_case(extra: JsonObject) -> tuple[JsonObject, JsonObject]:
    """What the further fields of a `test-case` say of the case."""
    fields = {
        name: extra[name]
        for name in OF_CASES
        if extra.get(name) is not None and _FITS[name](extra[name])
    }
    rest = {name: item for name, item in extra.items() if name not in fields}
    inner = rest.get("metadata")
    if isinstance(inner, dict) and inner and inner.keys() <= TAKEN:
        rest = {**{name: item for name, item in rest.items() if name != "metadata"}, **inner}
    return fields, rest


def split_metadata(metadata: Mapping[str, JsonValue]) -> JsonObject:
    """Metadata of a case as it stands among the fields of a `test-case`; the way back."""
    plain = {name: item for name, item in metadata.items() if name not in TAKEN}
    inner: JsonObject = {
        name: item for name, item in metadata.items() if name in TAKEN - {"rubricId"}
    }
    return {**plain, "metadata": inner} if inner else plain


def benchmarks_of(case: Case) -> dict[str, JsonObject]:
    """The benchmarks of a quality memory that a case came with."""
    given = case.metadata.get(BENCHMARKS)
    items = [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []
    found = ((item.get("id"), item) for item in items)
    return {
        name: {key: value for key, value in item.items() if key != "id"}
        for name, item in found
        if isinstance(name, str) and name and isinstance(item.get("name"), str)
    }


def added_to_criterion(criterion: CriterionFields, fields: JsonObject) -> JsonObject:
    """A criterion with what the further fields of a `rubric-criterion` say of it."""
    extra = criterion.extra
    scale: JsonObject = {"min": criterion.min_score, "max": criterion.max_score}
    named = {"integer": "integer", "levels": "levels", "betweenLevels": "between_levels"}
    scale |= {own: extra[name] for name, own in named.items() if name in extra}
    more = {"required": "required", "passValue": "pass_value", "examples": "examples"}
    more["note"] = "description"
    whole: JsonObject = {
        **fields,
        **{own: extra[name] for name, own in more.items() if name in extra},
        "scale": scale,
    }
    try:
        Criterion.model_validate(whole)
    except ValidationError:
        return fields
    return whole


def _is_evaluation(value: JsonValue) -> bool:
    try:
        CaseEvaluation.model_validate(value)
    except ValidationError:
        return False
    return True


def _are_assertions(value: JsonValue) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(item.get("type"), str) for item in value
    )


_FITS: Mapping[str, Callable[[JsonValue], bool]] = {
    "context": lambda _: True,
    "stratum": lambda value: value in get_args(Stratum),
    "assertions": _are_assertions,
    "evaluation": _is_evaluation,
}
"""Whether a value has the form of the field."""
