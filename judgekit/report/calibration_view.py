"""A calibration in words: its tables and lines, rounded and ready to be placed anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.report import calibration_lines as lines
from judgekit.report import calibration_tables as tables
from judgekit.report import view
from judgekit.report.calibration_blocks import ALL, ANSWERS, CHOICES, Lines, Table

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.report import CalibrationReport, CriterionCalibration


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """Everything a person reads of a calibration, in order."""

    title: str
    """What was calibrated."""

    blocks: tuple[Table | Lines, ...]
    """Tables and lines."""

    conclusion: str
    """Whether the judge may stand in for a person, in one line."""


def calibration_view(report: CalibrationReport, *, full: bool = False) -> CalibrationView:
    """A calibration in words."""
    parts = shown_parts(report)
    blocks: list[Table | Lines] = [
        lines.about(report),
        tables.agreement(parts),
        tables.people(parts),
    ]
    if report.kind == "pairwise":
        blocks += [tables.orders(parts)]
    else:
        blocks += [tables.passing(parts)]
    blocks += [tables.ranking(parts)]
    own = [part for part in parts if part.name != ALL or full]
    blocks += [tables.corrected(parts), lines.trust(own), lines.stand_in(own)]
    blocks += tables.segments(parts, tables.right_words(report), full=full)
    if full:
        blocks += [tables.annotators(report.pooled), *tables.confusions(report)]
    choices = CHOICES if report.kind == "pairwise" else None
    blocks += [lines.worst(parts, full=full, choices=choices), lines.labels_next(report)]
    kept = tuple(block for block in blocks if block.rows)
    return CalibrationView(_title(report), kept, conclusion(report))


def conclusion(report: CalibrationReport) -> str:
    """Whether the judge may stand in for a person, in one line."""
    found = report.stand_in
    asked = "May this judge stand in for a person?"
    if len(report.criteria) > 1:  # the reason names the answer of each
        return f"{asked} {found.reason[:1].upper()}{found.reason[1:]}"
    return f"{asked} {ANSWERS[found.answer].capitalize()}: {found.reason}"


def shown_parts(report: CalibrationReport) -> list[CriterionCalibration]:
    """The criteria, and after several of them what they come to together."""
    parts = list(report.criteria.values())
    for extra in (report.pooled, report.overall):
        if extra not in parts:
            parts.append(extra)
    return parts


def _title(report: CalibrationReport) -> str:
    joined = report.joined
    what = report.rubric or ("comparisons" if report.kind == "pairwise" else "scores")
    annotators = view.count(len(joined.annotators), "annotator")
    return f"{view.printable(what)}: {view.count(joined.n_joined, 'label')} of {annotators}"
