"""Items of a judge and people who say what a test wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.calibration import AlignedItems, CalibrationOptions, JudgedItem, OutputKey
from judgekit.records import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

FIVE = Scale(min=1, max=5, integer=True)
YES_NO = Scale(min=0, max=1, integer=True)
UNIT = Scale(min=0, max=1)
OPTIONS = CalibrationOptions()


def item(judge: float | None, *ratings: float, case: str = "a", **fields: Any) -> JudgedItem:
    """An item of one criterion."""
    known: dict[str, Any] = {
        "place": OutputKey(case),
        "criterion": "accuracy",
        "cluster": case,
        "judge": judge,
        "ratings": {f"p{k}": rating for k, rating in enumerate(ratings)},
        "reasons": {},
        "groups": {},
    }
    return JudgedItem(**known | fields)


def aligned(*items: JudgedItem, **fields: Any) -> AlignedItems:
    """Items on a scale from 1 to 5 that pass from a 4."""
    known: dict[str, Any] = {"name": "accuracy", "scale": FIVE, "threshold": 0.7, "items": items}
    return AlignedItems(**known | fields)


def several(pairs: Sequence[tuple[float | None, float]], **fields: object) -> AlignedItems:
    """Items of a judge's score and one label each."""
    items = (item(judge, human, case=f"c{k}") for k, (judge, human) in enumerate(pairs))
    return aligned(*items, **fields)
