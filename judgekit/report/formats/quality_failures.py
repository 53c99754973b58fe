"""Makes an `eval-failure` of each answer that fails, as a quality memory (S0) wants it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from judgekit.checks.behavior import is_refusal
from judgekit.checks.builtin import SYNONYMS
from judgekit.report.formats.quality_objects import criterion_ids, run_object_id
from judgekit.report.formats.reasons import reasons

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

_OF_ERRORS: Mapping[str, str] = MappingProxyType(
    {
        "timeout": "timeout",
        "refused": "refusal",
        "unreadable": "format-error",
        "too_large": "format-error",
    }
)
"""Errors of a system under test that the memory has a name for."""

_FORMS = frozenset({"html", "json", "sql", "xml"})


def failure_object(
    answer: Concluded, rubric: Rubric | None, rubric_id: str | None
) -> JsonObject | None:
    """An answer that fails as an `eval-failure`."""
    # Its type is what can be seen: an error of the system under test, a refusal at the beginning of
    # the text, a failed check of its form, else `wrong-output`; never `hallucination`, which takes
    # somebody who knows. It is `critical` where a required criterion fails, else `major`. Root
    # cause and resolution are a person's to say and are left out.
    output = answer.result.output
    if output.error is None and answer.passed is not False:
        return None
    kind = _OF_ERRORS.get(output.error_kind or "") if output.error else _kind(answer)
    if kind is None:
        return None
    run_id = run_object_id(answer.result)
    fields: JsonObject = {
        "testRunId": run_id,
        "failureType": kind,
        "description": output.error or "\n".join(reasons(answer)) or _value(answer),
        "affectedCriterionIds": [*_affected(answer, rubric, rubric_id)],
        "severity": "critical" if _fails_required(answer) else "major",
    }
    return {"type": "eval-failure", "id": f"{run_id}/failure", "fields": fields}


def _kind(answer: Concluded) -> str:
    output, checks = answer.result.output, answer.result.checks
    if output.text and is_refusal(output).actual:
        return "refusal"
    failed = [check.type for check in checks if check.passed is False]
    return "format-error" if any(map(_is_of_form, failed)) else "wrong-output"


def _is_of_form(name: str) -> bool:
    own = SYNONYMS[name].name if name in SYNONYMS else name
    return own.startswith("text.") and own.rpartition("_")[2] in _FORMS


def _affected(answer: Concluded, rubric: Rubric | None, rubric_id: str | None) -> list[str]:
    """The criteria that fail; where none does by itself, those below the rubric's threshold."""
    if rubric is None or rubric_id is None or answer.verdict is None:
        return []
    ids, found = criterion_ids(rubric, rubric_id), answer.verdict.criteria
    failed = [one.name for one in found if one.passed is False]
    least = rubric.pass_threshold
    below = [one.name for one in found if one.value is not None and one.value < least]
    return [ids[name] for name in failed or below]


def _fails_required(answer: Concluded) -> bool:
    criteria = () if answer.verdict is None else answer.verdict.criteria
    return any(one.required and one.passed is False for one in criteria)


def _value(answer: Concluded) -> str:
    return "it does not pass" if answer.value is None else f"the value is {answer.value:.3f}"
