from __future__ import annotations

import pytest

from judgekit.public_data.converters import (
    opens_with_yes,
    parse_letter,
    parse_rating,
    parse_sentence_score,
    parse_stars,
)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("It jumps about. Score: 2.", 2),
        ("Score: two.", 2),
        ("It earns a score of 4.5 in all.", 4.5),
        ("so the score is one.", 1),
        ("It is a 4 out of 5.", 5),
        ("It is incoherent. 2.5", 2.5),
        ("It is incoherent.", None),
    ],
)
def test_a_sentence_is_read_as_its_authors_read_it(text: str, score: float | None) -> None:
    assert parse_sentence_score(text) == score


@pytest.mark.parametrize(
    ("text", "score"), [("4 stars", 4), ("Three stars.", 3), ("many stars", None), ("4", None)]
)
def test_stars_are_counted(text: str, score: float | None) -> None:
    assert parse_stars(text) == score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("2", 2),
        ("Rating: 1\nOn second thought, Rating: 3", 3),
        ("On a scale of 1-3 it is 2.5", 2.5),
        ("Rating:", None),
    ],
)
def test_the_last_rating_counts_and_its_scale_does_not(text: str, score: float | None) -> None:
    assert parse_rating(text) == score


def test_only_an_answer_that_opens_with_yes_is_one() -> None:
    assert [opens_with_yes(text) for text in (" Yes, it is", "No", "Content Blocked")] == [1, 0, 0]


@pytest.mark.parametrize(
    ("text", "option"),
    [("A", "A"), (" b ", "B"), ("A: Summary #1 is better", "A"), ("Summary B", "B"),
     ("C", "C"), ("Neither", "C")],
)  # fmt: skip
def test_an_option_may_stand_before_its_text(text: str, option: str) -> None:
    assert parse_letter(text) == option
