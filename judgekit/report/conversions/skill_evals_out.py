"""Makes a skill's `evals.json` (S3.1) of cases: each criterion of a case becomes an expectation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.records.rubric import Rubric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from judgekit.datasets.streaming import CaseSource
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject

_OWN = ("id", "prompt", "files", "expectations")


def skill_evals_of(source: CaseSource) -> JsonObject:
    """Cases as an `evals.json`."""
    cases = list(source)
    listed: list[JsonValue] = [_case(case) for case in cases]
    return {"version": source.version, "skill": _skill(cases, source.name), "cases": listed}


def _skill(cases: Sequence[Case], name: str) -> str:
    skills = {case.skill for case in cases}
    only = next(iter(skills)) if len(skills) == 1 else None
    return only or name


def _case(case: Case) -> JsonObject:
    files = case.metadata.get("files")
    rest: JsonObject = {name: item for name, item in case.metadata.items() if name not in _OWN}
    return {
        "id": case.id,
        "prompt": case.input if isinstance(case.input, str) else str(case.input),
        "files": files if isinstance(files, list) else [],
        "expectations": _expectations(case),
        **rest,
    }


def _expectations(case: Case) -> list[JsonValue]:
    if not isinstance(case.rubric, Rubric):
        return []
    return [
        {"criterion": c.name, "description": c.question, "required": c.required}
        for c in case.rubric.criteria
    ]
