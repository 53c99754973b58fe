from __future__ import annotations

import pytest
from pydantic import ValidationError

from judgekit.records import Comparison, CriterionComparison, CriterionComparisons, Preference


def compared(name: str) -> CriterionComparison:
    return CriterionComparison(
        name=name, winner="a", consistent=True, probability=1, probability_low=1, probability_high=1
    )


BOTH = CriterionComparisons((compared("accuracy"), compared("style")))


def test_a_criterion_is_found_by_name_by_place_and_by_slice() -> None:
    assert BOTH["style"] is BOTH[1] is BOTH[-1]
    assert [found.name for found in BOTH] == ["accuracy", "style"]
    assert BOTH[:1] == (BOTH["accuracy"],)


@pytest.mark.parametrize(("key", "error"), [("speed", KeyError), (2, IndexError)])
def test_a_criterion_that_was_not_compared_is_an_error(
    key: str | int, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"speed|index out of range"):
        BOTH[key]


def test_criteria_are_found_by_name_after_reading_back() -> None:
    comparison = Comparison(
        rubric="r", rubric_fingerprint="f", winner="a", consistent=True, probability=1,
        probability_low=1, probability_high=1, criteria=BOTH,
    )  # fmt: skip
    back = Comparison.model_validate(comparison.to_json())
    assert back.criteria["style"].winner == "a"
    assert back == comparison


def test_what_a_comparison_leaves_open_is_there_as_null() -> None:
    said = CriterionComparison(
        name="accuracy", winner=None, consistent=None, probability=None, probability_low=0,
        probability_high=1,
    ).to_json()  # fmt: skip
    assert (said["winner"], said["consistent"], said["probability"]) == (None, None, None)


def test_no_preference_is_without_a_rationale() -> None:
    with pytest.raises(ValidationError, match="rationale"):
        Preference(order="ab", choice="first", rationale=" ")
