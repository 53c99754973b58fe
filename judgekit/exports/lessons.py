"""Lessons of resolved and recurring findings, as memory items that an agent can be given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from judgekit import formats
from judgekit.errors import DatasetError, SettingsError
from judgekit.exports.tabular import write_json_list
from judgekit.records import Record

if TYPE_CHECKING:
    from judgekit.records import Finding, JsonObject


class Lesson(Record):
    """What a resolved or recurring finding teaches."""

    id: str
    suite: str
    variant: str
    case_id: str | None = None
    finding_type: str
    severity: str
    status: str
    what_failed: str
    why: str | None = None
    """The root cause that was added, else the first failing step of the trace."""

    what_changed: str | None = None
    """The resolution, or the run that passed."""

    evidence: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    """The first and the last run in which it occurred."""


def lesson_of(finding: Finding) -> Lesson | None:
    """The lesson of a finding; None while it is open for the first time."""
    if finding.status == "open":
        return None
    changed = finding.resolution
    if changed is None and finding.resolved_by is not None:
        changed = f"passed in {finding.resolved_by}"
    return Lesson(
        **finding.model_dump(include={"id", "suite", "variant", "case_id", "severity", "status"}),
        finding_type=finding.type,
        what_failed=finding.description,
        why=finding.root_cause or finding.step,
        what_changed=changed,
        evidence=finding.quotes,
        runs=tuple(dict.fromkeys((finding.first_run, finding.last_run))),
    )


def write_lessons(path: Path, findings: Iterable[Finding]) -> int:
    """Write the lessons of findings as JSONL; replaced as a whole or not at all."""
    if path.suffix.lower() != ".jsonl":
        raise SettingsError(f"{path.name} is no .jsonl file", hint="name it lessons.jsonl")
    lessons = (one.to_json() for one in map(lesson_of, findings) if one is not None)
    items = (formats.quality_object("memory-item", str(one.pop("id")), one) for one in lessons)
    return write_json_list(path, items)


def read_lessons(path: Path) -> list[Lesson]:
    """Lessons written by `write_lessons`, for the prompt of an agent or a report."""
    lessons = []
    for row in formats.iter_rows(path):
        try:
            fields = {"id": row.fields["id"], **cast("JsonObject", row.fields["fields"])}
            lessons.append(Lesson.model_validate(fields))
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(f"no lesson: {error}", path=path, line=row.line) from error
    return lessons
