"""The forms cases can be converted to, by the names users give them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from judgekit.datasets.foreign.skill_tests_out import skill_tests_of
from judgekit.datasets.foreign.skill_tests_v1 import downgrade
from judgekit.records.rubric import Rubric
from judgekit.report.conversions import case_files
from judgekit.report.conversions.skill_evals_out import skill_evals_of
from judgekit.report.conversions.workflow_out import workflow_dataset_of
from judgekit.report.formats.listing import json_text, write_list
from judgekit.report.formats.quality_objects import RubricIds, case_object, rubric_objects
from judgekit.report.replacing import replace_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from judgekit.records.record import JsonObject
    from judgekit.report.conversions.source import Source

_JSON = (".json",)


@dataclass(frozen=True, slots=True)
class CaseFormat:
    """A form cases can be converted to."""

    summary: str
    """What it is, for the help."""

    suffixes: tuple[str, ...]
    """The endings of its files."""

    write: Callable[[Path, Source], tuple[str, ...]]
    """Writes the file, and says what it already knows to be lost."""

    keeps_ids: bool = True
    """Whether its cases have ids of their own, so that they can be compared when read again."""


def _write_own(path: Path, source: Source) -> tuple[str, ...]:
    case_files.write_cases(path, source.cases)
    return ()


def _write_json(path: Path, value: JsonObject) -> tuple[str, ...]:
    replace_text(path, json_text(value, indent=2) + "\n")
    return ()


def _write_skill_tests(path: Path, source: Source) -> tuple[str, ...]:
    whole = source.skill_tests
    # What is lost is found by reading the file again, so the writer's own list is not needed.
    return _write_json(path, skill_tests_of(source.cases)[0] if whole is None else whole)


def _write_skill_tests_v1(path: Path, source: Source) -> tuple[str, ...]:
    whole, lost = source.skill_tests, tuple[str, ...]()
    if whole is None:
        whole, lost = skill_tests_of(source.cases)
    tests, lost_here = downgrade(whole)
    write_list(path, (test for test in tests if isinstance(test, dict)))
    return (*lost, *lost_here)


def _write_skill_evals(path: Path, source: Source) -> tuple[str, ...]:
    return _write_json(path, skill_evals_of(source.cases))


def _write_workflow(path: Path, source: Source) -> tuple[str, ...]:
    return _write_json(path, workflow_dataset_of(source.cases))


def _write_quality(path: Path, source: Source) -> tuple[str, ...]:
    write_list(path, _quality(source))
    return ()


def _quality(source: Source) -> Iterator[JsonObject]:
    """The cases as objects; objects that are some already stay as they are, with their runs."""
    if source.quality_records:
        yield from source.quality_records
        return
    rubrics = RubricIds()
    for case in source.cases:
        rubric_id = None
        if isinstance(case.rubric, Rubric):
            rubric_id, is_new = rubrics.of(case.rubric, case)
            yield from rubric_objects(case.rubric, rubric_id) if is_new else ()
        yield case_object(case, rubric_id)


FORMATS: Mapping[str, CaseFormat] = MappingProxyType(
    {
        "cases": CaseFormat(
            "judgekit's own cases (.jsonl, .json, .yaml, .csv, .parquet)",
            case_files.SUFFIXES,
            _write_own,
        ),
        "skill-tests": CaseFormat("eval/tests.json, version 2", _JSON, _write_skill_tests),
        "skill-tests-v1": CaseFormat(
            "tests.json, version 1", _JSON, _write_skill_tests_v1, keeps_ids=False
        ),
        "skill-evals": CaseFormat("a skill's evals.json", _JSON, _write_skill_evals),
        "workflow": CaseFormat("a workflow dataset with assertions", _JSON, _write_workflow),
        "quality": CaseFormat(
            "test-case, rubric and rubric-criterion records (.jsonl, .json)",
            (".jsonl", ".json"),
            _write_quality,
        ),
    }
)
"""The forms by their names; `suite` is written by `own_suite`."""
