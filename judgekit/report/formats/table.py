"""The forms a run can be written in beside judgekit's own, by the names users give them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from judgekit.report.formats import (
    junit,
    quality_export,
    skill_grading,
    skill_history_out,
    strategy_results,
    validation_report,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.run import RunInfo


_BY_NAME = {"history.json": "history", "grading.json": "grading"}
_BY_SUFFIX = {".xml": "junit", ".yaml": "validation", ".yml": "validation"}


@dataclass(frozen=True, slots=True)
class RunFormat:
    """A form in which a run can be written."""

    summary: str
    """What stands in it, for the help."""

    suffixes: tuple[str, ...]
    """The endings of files it can be written to."""

    check: Callable[[Path], None]
    """Refuses a path it cannot be written to, before anything is read; raises `SettingsError`."""

    write: Callable[[Path, RunInfo, Iterable[Concluded]], int]
    """Writes the answers, replacing the file as a whole or not at all, and says how many."""


FORMATS: Mapping[str, RunFormat] = MappingProxyType(
    {
        "junit": RunFormat(
            "JUnit XML for CI servers, a suite for each variant (.xml)",
            junit.SUFFIXES,
            junit.check_junit_place,
            junit.write_junit,
        ),
        "grading": RunFormat(
            "grading.json, scores 1 to 5 (.json, .jsonl, or a folder with a file for each)",
            skill_grading.SUFFIXES,
            skill_grading.check_grading_place,
            skill_grading.write_gradings,
        ),
        "history": RunFormat(
            "history.json, to which each variant is added as a version (.json)",
            skill_history_out.SUFFIXES,
            skill_history_out.check_history_place,
            skill_history_out.write_history,
        ),
        "validation": RunFormat(
            "validation report: dimensions, evidence, tier, recommendations (.yaml)",
            validation_report.SUFFIXES,
            validation_report.check_validation_place,
            validation_report.write_validation_report,
        ),
        "strategies": RunFormat(
            "result rows with strategy, score and feedback (.json, .jsonl, .csv)",
            strategy_results.SUFFIXES,
            strategy_results.check_results_place,
            strategy_results.write_strategy_results,
        ),
        "quality": RunFormat(
            "quality records: test-case, rubric, test-run, eval-judgment, … (.jsonl, .json)",
            quality_export.SUFFIXES,
            quality_export.check_quality_place,
            quality_export.write_quality_records,
        ),
    }
)
"""The forms by their names."""


def format_for(path: Path) -> str | None:
    """The form that is meant by a file's name alone."""
    return _BY_NAME.get(path.name) or _BY_SUFFIX.get(path.suffix.lower())
