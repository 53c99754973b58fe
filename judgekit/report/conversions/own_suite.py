"""Writes judgekit's own suite of another tool's file: `judgekit.yaml`, cases and rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.checks.profiles import PROFILES
from judgekit.datasets.documents import dump_yaml
from judgekit.datasets.foreign.skill_tests_format import SkillTests
from judgekit.datasets.streaming import CaseSource
from judgekit.datasets.suite_opening import suite_from
from judgekit.errors import SettingsError, StoreError
from judgekit.records.rubric import Rubric
from judgekit.report.conversions.case_files import write_cases
from judgekit.report.conversions.rubric_out import write_rubric
from judgekit.report.replacing import replace_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from judgekit.datasets.suite import Suite
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject
    from judgekit.report.conversions.source import Source

SUITE_NAME, CASES_NAME, RUBRIC_NAME = "judgekit.yaml", "cases.jsonl", "rubric.yaml"
"""The files of a suite."""


def write_own_suite(folder: Path, source: Source) -> None:
    """Write the suite a file stands for into a folder, to be edited and run."""
    # The rubric that all cases share stands in a file of its own; cases with several keep theirs.
    if source.is_suite:
        raise SettingsError(f"{source.path} is a suite already")
    if (folder / SUITE_NAME).exists():
        raise SettingsError(
            f"{folder / SUITE_NAME} is there already", hint="name another folder, or remove it"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror}") from error
    suite = None if source.skill_tests is None else suite_from(source.path)
    rubric, cases = _shared_rubric(list(source.cases))
    fields = _fields(source, suite)
    if rubric is not None:
        fields["rubric"] = RUBRIC_NAME
        write_rubric(folder / RUBRIC_NAME, rubric)
    kept = CaseSource(source.cases.name, source.cases.version, lambda: iter(cases))
    write_cases(folder / CASES_NAME, kept)
    replace_text(folder / SUITE_NAME, dump_yaml(fields))


def losses_of_suite(folder: Path, source: Source) -> tuple[str, ...]:
    """What a file says that the suite made of it would have no place for."""
    if source.skill_tests is None:
        return ()
    return tuple(_lost(SkillTests.model_validate(source.skill_tests), source, folder))


def _fields(source: Source, suite: Suite | None) -> JsonObject:
    fields: JsonObject = {
        "name": source.cases.name,
        "version": source.cases.version,
        "dataset": CASES_NAME,
    }
    if suite is None:
        return fields
    profile = _profile(source)
    shipped = None if profile is None else PROFILES[profile].rubric
    if shipped is not None:
        fields["rubric"] = shipped  # for cases that are judged and have no rubric of their own
    dumped: JsonObject = suite.model_dump(
        mode="json", exclude_defaults=True, exclude={"cases", "name", "version", "dataset"}
    )
    return {**fields, **dumped}


def _profile(source: Source) -> str | None:
    if source.skill_tests is None:
        return None
    return SkillTests.model_validate(source.skill_tests).profile


def _shared_rubric(cases: Sequence[Case]) -> tuple[Rubric | None, Sequence[Case]]:
    """The rubric that every case has, and the cases without it."""
    rubrics = [case.rubric for case in cases]
    first = rubrics[0] if rubrics else None
    if not isinstance(first, Rubric) or any(other != first for other in rubrics):
        return None, cases
    return first, [case.model_copy(update={"rubric": None}) for case in cases]


def _lost(head: SkillTests, source: Source, folder: Path) -> Iterator[str]:
    if head.setup is not None and head.setup.dependencies:
        yield f"setup.dependencies ({', '.join(head.setup.dependencies)})"
    suite = suite_from(source.path)
    named = [case.evaluation.script for case in source.cases if case.evaluation is not None]
    scripts = sorted({script for script in named if script is not None})
    scripts += [c[-1] for c in (suite.settings.setup, suite.settings.teardown) if c is not None]
    if scripts and folder.resolve() != suite.folder.resolve():
        yield f"the place of {', '.join(scripts)}: they are looked for in the suite's own folder"
