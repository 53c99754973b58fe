from __future__ import annotations

from typing import Any

import pytest

from judgekit.datasets import load_rubric, shipped_rubrics
from judgekit.prompts import Flaw, lint_rubric
from judgekit.records import Criterion, Rubric

SOUND = {
    "name": "accuracy",
    "question": "Are all figures in the output those of the input?",
    "scoring_guide": "Compare each figure with the input.",
    "scale": "one_to_five",
}


def rubric(*criteria: dict[str, Any], **fields: Any) -> Rubric:
    made = [Criterion.model_validate(SOUND | each) for each in criteria]
    return Rubric(name="r", criteria=tuple(made), **fields)


def rules(flaws: list[Flaw]) -> list[str]:
    return [flaw.rule for flaw in flaws]


def of_criterion(**fields: Any) -> list[str]:
    return rules(lint_rubric(rubric(fields)))


def test_a_sound_rubric_has_no_flaws() -> None:
    assert lint_rubric(rubric(SOUND)) == []


@pytest.mark.parametrize("name", shipped_rubrics())
def test_shipped_rubrics_have_no_errors(name: str) -> None:
    assert [f for f in lint_rubric(load_rubric(name)) if f.severity == "error"] == []


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("question", "Is every tool call needed for the result?"),
        ("question", "Does the trajectory stay with the request?"),
        ("scoring_guide", "Read the output. Go through the tool calls in the trace."),
    ],
)
def test_a_criterion_about_the_trace_says_that_it_needs_it(field: str, text: str) -> None:
    (flaw,) = lint_rubric(rubric({field: text}))
    assert (flaw.rule, flaw.severity) == ("trace-not-shown", "warning")
    assert flaw.where == ("criteria", 0, field)
    assert "needs: trace" in flaw.remedy
    assert of_criterion(**{field: text, "needs": "trace"}) == []
    assert of_criterion(**{field: text, "template": "pointwise/trajectory"}) == []


@pytest.mark.parametrize(
    "text",
    [
        "Is each claim supported by the output or by its trace?",
        "Is there no trace of sarcasm where the request is formal?",
        "Are all files read that are used, where a trace is shown?",
    ],
)
def test_a_trace_that_is_optional_is_no_need(text: str) -> None:
    assert "trace-not-shown" not in of_criterion(question=text)


@pytest.mark.parametrize("word", ["appropriate", "properly", "of high quality", "Good", "adequate"])
def test_a_vague_word_is_found_with_its_place(word: str) -> None:
    (flaw,) = lint_rubric(rubric({"question": f"Is the tone {word}?"}))
    assert (flaw.rule, flaw.severity) == ("vague-word", "warning")
    assert flaw.place == "criterion 'accuracy'"
    assert flaw.where == ("criteria", 0, "question")


@pytest.mark.parametrize(
    "question",
    ["Is the property named?", "Is the goodwill stated?", 'Is the word "good" left out of it?'],
)
def test_a_vague_word_inside_another_or_quoted_is_none(question: str) -> None:
    assert of_criterion(question=question) == []


def test_a_vague_word_that_the_scale_defines_is_none() -> None:
    levels = [
        {"value": 1, "name": "good", "description": "No slip."},
        {"value": 0, "name": "bad", "description": "A slip."},
    ]
    assert of_criterion(scale=levels, scoring_guide="Take good when no slip is there.") == []


@pytest.mark.parametrize(
    "question",
    [
        "Is the answer accurate and concise?",
        "Does it answer the question, and does it name a source?",
        "Does the reply explain the cause and mention the deadline?",
        "Is it clear as well as complete?",
        "Is it true? Is it short?",
    ],
)
def test_two_things_asked_at_once_are_found(question: str) -> None:
    assert of_criterion(question=question) == ["two-questions"]


@pytest.mark.parametrize(
    "question",
    [
        "Do language, tone and layout fit the audience and occasion?",
        "Is it measured against the reference and the given material?",
    ],
)
def test_an_and_between_nouns_asks_one_thing(question: str) -> None:
    assert of_criterion(question=question) == []


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("Isn't the answer short?", "leading-question"),
        ("Does the answer not mention prices?", "negated-question"),
        ("Does the answer contain errors?", "inverted-question"),
    ],
)
def test_a_turned_question_is_found(question: str, rule: str) -> None:
    assert of_criterion(question=question, scale={"min": 0, "max": 1, "integer": True}) == [rule]


def test_short_words_and_short_questions_are_never_duplicates() -> None:
    one, other = {"question": "Is it red?"}, {"name": "b", "question": "Is it red?"}
    assert rules(lint_rubric(rubric(one, other))) == []


def test_a_bad_thing_that_is_asked_to_be_absent_is_no_turned_question() -> None:
    assert of_criterion(question="Is the answer free of errors?") == []


def test_an_inverted_question_is_sound_where_every_level_says_what_it_is() -> None:
    assert of_criterion(question="How many errors are there?", scale="one_to_five") == []
    assert of_criterion(question="Does it contain errors?", scale="one_to_five") == []


@pytest.mark.parametrize("scale", ["unit", {"min": 0, "max": 10, "integer": True}])
def test_a_scale_with_more_than_ten_points_is_too_fine(scale: Any) -> None:
    assert of_criterion(scale=scale) == ["scale-too-fine"]
    assert of_criterion(scale="one_to_ten") == []


def test_without_guide_and_levels_nothing_says_what_a_score_means() -> None:
    assert of_criterion(scale="one_to_ten", scoring_guide=None) == ["no-scoring-guide"]


def test_levels_without_description_need_a_scoring_guide() -> None:
    assert of_criterion(scale="five_level", scoring_guide=None) == ["levels-undescribed"]
    assert of_criterion(scale="five_level") == []
    assert of_criterion(scale="binary", scoring_guide=None) == []


def test_described_ends_leave_the_scores_between_undescribed() -> None:
    levels = [{"value": 5, "description": "All."}, {"value": 1, "description": "None."}]
    scale = {"min": 1, "max": 5, "integer": True, "levels": levels}
    (flaw,) = lint_rubric(rubric({"scale": scale, "scoring_guide": None}))
    assert "the scores between" in flaw.message


def test_a_weight_of_zero_is_found_unless_the_criterion_is_required() -> None:
    other = SOUND | {"name": "tone", "question": "Does the reader keep their dignity?"}
    assert rules(lint_rubric(rubric({"weight": 0}, other))) == ["zero-weight"]
    guarded = {"weight": 0, "required": True, "pass_value": 0.5}
    assert rules(lint_rubric(rubric(guarded, other))) == []


def test_a_required_criterion_on_a_fine_scale_needs_a_pass_mark() -> None:
    (flaw,) = lint_rubric(rubric({"required": True}))
    assert flaw.rule == "required-without-pass-value"
    assert "below 3.8" in flaw.message
    assert of_criterion(required=True, scale="binary") == []


def test_a_pass_mark_of_zero_is_always_reached() -> None:
    (flaw,) = lint_rubric(rubric({"required": True, "pass_value": 0}))
    assert (flaw.rule, flaw.severity) == ("pass-always-reached", "error")
    assert lint_rubric(rubric({"pass_value": 0}))[0].severity == "warning"


def test_a_threshold_of_zero_or_one_decides_nothing() -> None:
    (always,) = lint_rubric(rubric({}, pass_threshold=0))
    assert (always.rule, always.severity) == ("threshold-always-reached", "error")
    (hardly,) = lint_rubric(rubric({}, pass_threshold=1))
    assert (hardly.rule, hardly.severity) == ("threshold-hardly-reached", "warning")
    assert lint_rubric(rubric({"scale": "binary"}, pass_threshold=1)) == []


@pytest.mark.parametrize("name", ["score", "Criteria", "confidence", "rationale"])
def test_a_name_of_a_reply_field_is_an_error(name: str) -> None:
    (flaw,) = lint_rubric(rubric({"name": name}))
    assert (flaw.rule, flaw.severity) == ("name-collides", "error")


def test_a_name_that_judges_use_for_a_field_is_a_warning() -> None:
    (flaw,) = lint_rubric(rubric({"name": "Reasoning"}))
    assert (flaw.rule, flaw.severity) == ("name-collides", "warning")


@pytest.mark.parametrize("name", [" tone", "x" * 41, 'the "tone"', "two\nlines"])
def test_a_name_that_is_hard_to_echo_is_found(name: str) -> None:
    assert of_criterion(name=name) == ["name-hard-to-echo"]


def test_criteria_that_say_the_same_are_found() -> None:
    again = {"name": "figures", "question": "Are the figures of the input all in the output?"}
    (flaw,) = lint_rubric(rubric({}, again))
    assert (flaw.rule, flaw.where) == ("duplicate-criteria", ("criteria", 1, "question"))


def test_names_that_differ_only_in_case_collide() -> None:
    other = {"name": "Accuracy", "question": "Is the tone calm?"}
    assert rules(lint_rubric(rubric({}, other))) == ["name-collides"]
