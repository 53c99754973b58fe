"""Outputs that were judged twice, for tests that say only what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.rejudgment import PairedVerdict, Rejudged, compare_verdicts
from judgekit.rejudgment.comparison import CriterionAnswer, JudgedSide
from tests.factories import make_rubric

if TYPE_CHECKING:
    from collections.abc import Sequence


def side(value: float | None, **fields: Any) -> JudgedSide:
    """What an output came to; it passes from 0.7, and `accuracy` is its one criterion."""
    raw = None if value is None else 1 + 4 * value
    said = CriterionAnswer(value=value, raw=raw, rationale=f"Because of {value}.", own=value)
    known: dict[str, Any] = {
        "passed": None if value is None else value >= 0.7,
        "value": value,
        "criteria": {"accuracy": said},
        "failures": () if value is not None else ("unreadable",),
    }
    return JudgedSide(**known | fields)


def twice(old: float | None, new: float | None, case_id: str = "c", **fields: Any) -> PairedVerdict:
    """One output with the value of either judge."""
    known: dict[str, Any] = {"variant": "v1", "repeat": 0, "old": side(old), "new": side(new)}
    return PairedVerdict(**{"case_id": case_id} | known | fields)


def contrasted(pairs: Sequence[tuple[float | None, float | None]], **fields: Any) -> Rejudged:
    """What two judges of `accuracy` come to, a case for each pair of values."""
    known: dict[str, Any] = {
        "rubric": make_rubric(),
        "judges": (("old",), ("new",)),
        "measured": "apart from the judge the same",
        "calibration": "uncalibrated",
    }
    found = [twice(old, new, f"c{number}") for number, (old, new) in enumerate(pairs)]
    return compare_verdicts(found, **known | fields)
