"""Reads a workflow dataset (S1): `id`, `workflowName`, `version` and cases with assertions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import JsonValue  # noqa: TC002 - pydantic reads it

from judgekit.datasets.foreign.reading import Reading
from judgekit.datasets.foreign.shape import CamelRecord
from judgekit.records.record import JsonObject, Name  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from judgekit.datasets.documents import Document
    from judgekit.datasets.json_text import KeyPath

_NEEDS: dict[str, tuple[str, ...]] = {
    "output.contains": ("path", "value"),
    "output.equals": ("path", "value"),
    "metric.latency_ms.max": ("value",),
    "metric.total_cost_usd.max": ("value",),
    "metric.tokens.input.max": ("value",),
    "metric.tokens.output.max": ("value",),
    "behavior.no_errors": (),
    "behavior.node_executed": ("nodeId",),
    "behavior.node_invocations.max": ("nodeId", "value"),
}
"""The assertions of the format, with the fields each needs."""


class WorkflowCase(CamelRecord):
    """One case of a workflow dataset."""

    id: Name
    """Stable, and fit for a file's name."""

    name: str | None = None
    """A title."""

    input: JsonValue
    """What the workflow is fed."""

    assertions: tuple[JsonObject, ...] = ()
    """Its checks."""

    tags: tuple[str, ...] = ()
    """Its groups."""


class WorkflowDataset(CamelRecord):
    """A workflow dataset without its cases."""

    id: Name
    """Name of the dataset."""

    workflow_name: Name
    """The workflow it is for."""

    version: str
    """The version of the dataset."""

    cases: JsonValue = None
    """Its cases, as they stand."""


def read_workflow_dataset(document: Document) -> Reading:
    """The cases of a workflow dataset; the workflow's name is each case's `agent`."""
    reading = Reading(document)
    header = reading.record(WorkflowDataset, document.value)
    fields = document.value if isinstance(document.value, dict) else {}
    if header is not None:
        reading.header = {"name": header.id, "version": header.version}
    workflow = fields.get("workflowName")
    for at, item in reading.objects(fields.get("cases"), ("cases",)):
        reading.claim(item, at)
        case = reading.record(WorkflowCase, item, at)
        if case is not None:
            _check(case, at, reading)
            _take(case, at, reading, workflow)
    return reading


def _take(case: WorkflowCase, at: KeyPath, reading: Reading, workflow: JsonValue) -> None:
    fields: JsonObject = {
        "id": case.id,
        "name": case.name,
        "input": case.input,
        "assertions": list(case.assertions),
        "tags": list(case.tags),
        "agent": workflow if isinstance(workflow, str) else None,
        "metadata": case.extra,
    }
    reading.add_case(fields, at)


def _check(case: WorkflowCase, at: KeyPath, reading: Reading) -> None:
    if not case.assertions:
        message = "the case has no assertions, so it cannot fail"
        remedy = "add one, for example {type: behavior.no_errors}, or grade it with a rubric"
        reading.warn(at, message, remedy, case_id=case.id)
    for index, assertion in enumerate(case.assertions):
        where = (*at, "assertions", index)
        named = assertion.get("type")
        if not isinstance(named, str):
            remedy = "for example `output.contains`"
            reading.add(where, "an assertion needs a `type`", remedy, case_id=case.id)
            continue
        for name in _NEEDS.get(named, ()):
            if name not in assertion:
                message = f"`{named}` needs the field `{name}`"
                reading.add(where, message, case_id=case.id)
