"""Calibrations as a test wants them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judgekit.records import (
    CalibratedJudge,
    CalibratedPanel,
    Calibration,
    CalibrationFigure,
    CalibrationMap,
)
from tests.factories import make_rubric

if TYPE_CHECKING:
    from judgekit.records import Criterion, Rubric

AT = datetime(2026, 11, 22, 7, 0, tzinfo=UTC)
KAPPA = CalibrationFigure(value=0.71, low=0.6, high=0.81, level=0.95)
ERROR = CalibrationFigure(value=0.05, low=0.04, high=0.06, level=0.95)
PARAMETERS = {"temperature": 0.0}
JUDGE = CalibratedJudge(
    judge="openai/m pointwise/criterion@1f3c", parameters=PARAMETERS, repeats=1, asks_all=False
)
ASKED = CalibratedPanel(judges=(JUDGE,))


def make_map(criterion: Criterion, *points: tuple[float, float], **fields: Any) -> CalibrationMap:
    """A map through points; without any it halves every value."""
    known: dict[str, Any] = {
        "method": "isotonic", "error_before": ERROR, "error_after": ERROR, "improvement": ERROR,
        "kappa": KAPPA, "accuracy_before": 0.8, "accuracy_after": 0.9, "passed_before": 0.4,
        "passed_after": 0.3,
        "passed_by_people": 0.3, "n_labels": 60, "n_items": 30, "n_cases": 30, "n_annotators": 2,
    }  # fmt: skip
    through = points or ((0, 0), (1, 0.5))
    return CalibrationMap(criterion=criterion, points=through, **known | fields)


def make_calibration(rubric: Rubric | None = None, **fields: Any) -> Calibration:
    """Maps that halve every value of every criterion, from 120 labels."""
    made = rubric or make_rubric("accuracy", "tone")
    known: dict[str, Any] = {
        "maps": tuple(make_map(criterion) for criterion in made.criteria), "asked": ASKED,
        "n_labels": 120, "annotators": ("Ada", "Ben"), "kappa": KAPPA, "label_set": "f",
        "fitted_at": AT, "judgekit": "0",
    }  # fmt: skip
    return Calibration(rubric=made, **known | fields)
