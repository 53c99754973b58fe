"""Two judges against the same labels."""

from __future__ import annotations

from typing import Any

import pytest

import judgekit as jk
from judgekit.errors import InputError

RUBRIC = jk.Rubric.model_validate(
    {"name": "y", "criteria": [{"name": "done", "question": "Done?", "scale": "binary"}]}
)
TRUTH = {f"c{n:02}": n % 2 for n in range(20)}


def report(*wrong: str, blank: tuple[str, ...] = (), **options: Any) -> jk.CalibrationReport:
    """A judge that is wrong of some cases, and says nothing of others."""
    said: list[dict[str, Any]] = [
        {"case_id": case, "raw": None if case in blank else abs(truth - (case in wrong))}
        for case, truth in TRUTH.items()
    ]
    people: list[dict[str, Any]] = [
        {"case_id": case, "annotator": "x", "raw": truth} for case, truth in TRUTH.items()
    ]
    wanted = jk.CalibrationOptions(**options)
    return jk.calibrate(said, people, rubric=RUBRIC, options=wanted)


def test_the_judge_that_is_right_more_often_is_told_with_its_test() -> None:
    better, worse = (
        report("c00"),
        report("c00", *(f"c{n:02}" for n in range(3, 10)), blank=("c11",)),
    )
    found = better.against(worse)["done"]
    assert (found.n, found.n_both, found.n_only_this) == (20, 11, 8)
    assert (found.n_only_other, found.n_neither) == (0, 1)
    assert found.difference.value == pytest.approx(0.4)
    assert found.difference.low > 0
    assert found.p_exact == pytest.approx(2 / 2**8), "a coin eight times the same"


def test_from_the_other_side_it_is_the_other_way_round() -> None:
    one, other = report("c00", "c05"), report("c07")
    mine, theirs = one.against(other)["done"], other.against(one)["done"]
    assert (mine.n_only_this, mine.n_only_other) == (theirs.n_only_other, theirs.n_only_this)
    assert mine.difference.value == pytest.approx(-theirs.difference.value)
    assert mine.p_exact == theirs.p_exact


def test_judges_of_different_items_cannot_be_held_against_each_other() -> None:
    said: list[dict[str, Any]] = [{"case_id": f"d{n}", "raw": n % 2} for n in range(4)]
    people = [{**row, "annotator": "x"} for row in said]
    other = jk.calibrate(said, people, rubric=RUBRIC)
    with pytest.raises(InputError, match="no labelled item was judged by both"):
        report().against(other)


def test_judges_that_are_right_alike_differ_in_nothing() -> None:
    found = report().against(report())["done"]
    assert (found.n_both, found.difference.value, found.p_exact) == (20, 0, 1)


def test_criteria_are_told_in_the_rubrics_order() -> None:
    names = [f"k{n}" for n in range(5)]
    criteria = [{"name": name, "question": "Done?", "scale": "binary"} for name in names]
    rubric = jk.Rubric.model_validate({"name": "y", "criteria": criteria})
    said: list[dict[str, Any]] = [
        {"case_id": f"c{n}", "criterion": name, "raw": n % 2} for n in range(4) for name in names
    ]
    people = [{**row, "annotator": "x"} for row in said]
    found = jk.calibrate(said, people, rubric=rubric)
    assert list(found.against(found)) == names
