from __future__ import annotations

import pytest

from judgekit.evaluation import parse_confidence, parse_score
from judgekit.records import Scale
from judgekit.resources import shipped_scale


def scale(name: str) -> Scale:
    """A shipped scale."""
    return Scale.model_validate(shipped_scale(name))


@pytest.mark.parametrize(
    ("text", "name", "raw"),
    [
        ("4", "one_to_five", 4),
        (" 4.0 ", "one_to_five", 4),
        ("0.3", "five_level", 0.3),
        ("Excellent", "five_level", 1),
        ("y", "binary", 1),
        ("NO", "binary", 0),
        ("1", "binary", 1),
        ("0.25", "unit", 0.25),
    ],
)
def test_a_score_is_read_as_a_number_a_level_or_yes_and_no(
    text: str, name: str, raw: float
) -> None:
    assert parse_score(text, scale(name)) == raw


@pytest.mark.parametrize("text", ["", "6", "3.5", "nan", "inf", "y", "four"])
def test_a_score_that_is_none_of_the_scale_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="one of 1, 2, 3, 4, 5"):
        parse_score(text, scale("one_to_five"))


def test_a_scale_of_yes_and_no_says_that_both_may_be_typed() -> None:
    with pytest.raises(ValueError, match="or y or n"):
        parse_score("perhaps", scale("binary"))


@pytest.mark.parametrize(
    ("text", "confidence"), [("", None), ("  ", None), ("0.8", 0.8), ("80%", 0.8), ("1", 1)]
)
def test_a_confidence_is_a_fraction_a_per_cent_or_not_given(
    text: str, confidence: float | None
) -> None:
    assert parse_confidence(text) == confidence


@pytest.mark.parametrize("text", ["80", "-0.1", "nan", "sure"])
def test_a_confidence_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        parse_confidence(text)
