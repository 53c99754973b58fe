"""Makes a workflow dataset (S1.1) of cases: input and assertions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.datasets.streaming import CaseSource
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject

_OWN = ("id", "name", "input", "assertions", "tags")


def workflow_dataset_of(source: CaseSource) -> JsonObject:
    """Cases as a workflow dataset."""
    cases = list(source)
    agents = {case.agent for case in cases}
    only = next(iter(agents)) if len(agents) == 1 else None
    listed: list[JsonValue] = [_case(case) for case in cases]
    return {
        "id": source.name,
        "workflowName": only or source.name,
        "version": source.version,
        "cases": listed,
    }


def _case(case: Case) -> JsonObject:
    found: JsonObject = {"id": case.id, "input": case.input, "assertions": [*case.assertions]}
    if case.name is not None:
        found["name"] = case.name
    if case.tags:
        found["tags"] = [*case.tags]
    return {**{k: v for k, v in case.metadata.items() if k not in _OWN}, **found}
