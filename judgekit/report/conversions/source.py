"""What is converted: the cases of a file, and what else the file says that a form may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.datasets.foreign.marks import RECORD_LISTS, is_quality_record
from judgekit.datasets.foreign.skill_tests_v1 import is_version_1, upgrade
from judgekit.datasets.opening import whole_document
from judgekit.datasets.recognition import SKILL_TESTS, document_kind, foreign_shape
from judgekit.datasets.streaming import CaseSource, open_cases
from judgekit.datasets.suite_opening import suite_from

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.records.record import JsonObject


@dataclass(frozen=True, slots=True)
class Source:
    """A file whose cases are converted."""

    path: Path
    """The file, or a skill's folder or zip."""

    cases: CaseSource
    """Its cases, which can be gone through several times."""

    skill_tests: JsonObject | None = None
    """The whole file where it is an `eval/tests.json`, of version 1 converted to 2."""

    is_upgraded: bool = False
    """Whether that was of version 1, which says nothing beside its tests."""

    quality_records: tuple[JsonObject, ...] = ()
    """All objects of the file, with those that are no cases, where they are of a quality memory."""

    is_suite: bool = False
    """Whether it is one of judgekit's suites already."""


def open_source(path: Path, columns: Mapping[str, str] | None = None) -> Source:
    """What a path holds, to be converted."""
    document = whole_document(path)
    if document is None or columns:
        return Source(path, open_cases(path, columns=columns))
    shape = foreign_shape(document.value)
    if shape is None:
        if document_kind(document.value) == "suite":
            return Source(path, open_cases(suite_from(path)), is_suite=True)
        return Source(path, open_cases(path))
    dataset = shape.read_or_refuse(document)
    cases = CaseSource(dataset.name, dataset.version, lambda: iter(dataset.cases))
    value = document.value
    if shape.reader != SKILL_TESTS:
        return Source(path, cases, quality_records=tuple(_quality_records(value)))
    is_old = is_version_1(value) or not isinstance(value, dict)
    whole = upgrade(value) if is_old or not isinstance(value, dict) else value
    return Source(path, cases, skill_tests=whole, is_upgraded=is_old)


def _quality_records(value: JsonValue) -> list[JsonObject]:
    listed: JsonValue = [value]
    if isinstance(value, dict):
        listed = next((value[name] for name in RECORD_LISTS if name in value), listed)
    elif isinstance(value, list):
        listed = value
    items = listed if isinstance(listed, list) else []
    return [item for item in items if isinstance(item, dict) and is_quality_record(item)]
