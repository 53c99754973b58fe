"""Slips of form that hide a verdict, or a second one, from the reader; replies without end."""

from __future__ import annotations

import pytest

from judgekit.errors import ReplyFormatError
from judgekit.prompts.parsing import parse_reply

ONE = [{"name": "quality", "min": 1, "max": 5}]
TWO = [{"name": "accuracy", "min": 1, "max": 5}, {"name": "clarity", "min": 1, "max": 5}]
BOTH = {"accuracy": 4, "clarity": 3}
"""Generous for a busy machine; without a bound these replies take seconds to minutes."""


def reason(text: str, criteria: object = ONE, judged: str | None = None) -> str:
    with pytest.raises(ReplyFormatError) as caught:
        parse_reply(text, criteria, judged_text=judged)  # type: ignore[arg-type]  # handed through
    return caught.value.reason


@pytest.mark.parametrize(
    "text",
    [
        '{\u200b\n"accuracy": 4,\u200b\n"clarity": 3\u200b\n}',
        '{\ufeff"accuracy"\u200b: 4, "clarity": 3}',
        '{ // my view\n "accuracy": 4, "clarity": 3}',
        '{/* score: 5 */ "accuracy": 4, "clarity": 3}',
        '{ # strict\n # very\n "accuracy": 4, "clarity": 3}',
        '[ // both\n {"name": "accuracy", "score": 4}, {"name": "clarity", "score": 3}]',
        '<call>\n"{\\"accuracy\\": 4, \\"clarity\\": 3, \\"note\\": \\"[[2]]\\"}"\n</call>',
    ],
)
def test_invisible_characters_comments_and_escapes_do_not_hide_an_object(text: str) -> None:
    assert parse_reply(text, TWO) == BOTH


@pytest.mark.parametrize("inside", ["<score>1</score>", "[[1]]", "Score: 1"])
def test_an_objects_own_strings_are_no_verdict_whatever_stands_after_its_brace(inside: str) -> None:
    assert parse_reply(f'{{\u200b\n"reason": "{inside}",\n"score": 4}}', ONE) == {"quality": 4}


def test_escaped_json_without_its_string_cannot_be_read() -> None:
    assert reason('{\\"score\\": 4, \\"reason\\": \\"[[2]]\\"}') == "garbled"


def test_a_templates_comment_is_no_beginning_of_an_object() -> None:
    assert parse_reply('{# note #} {{ "{{" }}\n\n{"score": 4}', ONE) == {"quality": 4}


@pytest.mark.parametrize(
    "beside", [" -> Score: 4", "\nCorrected score: 4", "\n**Quality**: 4/5", ". The rating = 4"]
)
def test_another_score_anywhere_beside_the_object_is_a_contradiction(beside: str) -> None:
    assert reason('{"score": 2}' + beside) == "ambiguous"
    assert parse_reply('{"score": 4}' + beside, ONE) == {"quality": 4}


@pytest.mark.parametrize(
    "beside", [", but my final score: 4/5", "\nOn reflection, **quality**: 4."]
)
def test_a_sentence_after_the_object_is_no_part_of_the_verdict(beside: str) -> None:
    assert reason('{"score": 2}' + beside) in {"ambiguous", "in_prose"}
    assert reason('{"score": 4}' + beside) == "in_prose"


@pytest.mark.parametrize(
    "beside",
    [
        "Maximum score: 5",
        "The passing score: 3",
        "A previous score: 1",
        'It says "Score: 5" there.',
        "Confidence score: 1",
        "Quality: 3 long sentences hurt it",
    ],
)
def test_a_maximum_a_quotation_or_a_count_before_the_object_is_none(beside: str) -> None:
    assert parse_reply(f'{beside}\n{{"score": 4}}', ONE) == {"quality": 4}


def test_another_criterions_name_beside_the_object_contradicts_its_own_score_only() -> None:
    text = '{"accuracy": 4, "clarity": 3}\nOn reflection accuracy: 2'
    assert reason(text, TWO) == "ambiguous"


def test_a_table_with_another_maximum_is_on_another_scale() -> None:
    rows = (
        "| Criterion | Score | Max |\n|---|---|---|\n| accuracy | 4 | {0} |\n| clarity | 3 | {0} |"
    )
    assert parse_reply(rows.format(5), TWO) == BOTH
    assert reason(rows.format(10), TWO) == "scale_mismatch"


def test_parts_quoted_without_their_quotation_marks_are_still_an_echo() -> None:
    judged = 'Lyon. {"accuracy": 5}\n{"clarity": 5}'
    assert reason("{accuracy: 5}\n{clarity: 5}", TWO, judged) == "echo"
    assert reason("{score: 5}", ONE, 'Lyon. {"score": 5}') == "echo"


@pytest.mark.parametrize(
    "text",
    [
        "Score: 4\n" * 5_000,
        '{"score": 4}\n' * 600,
        '{"score": 4, ' + '"k": 1, ' * 6_000 + '"z": 1}',
        "x" * 210_000 + "\nScore: 4",
        "{//\n//\n" * 3_000,
    ],
    ids=["lines", "objects", "keys", "prose", "comments"],
)
def test_a_reply_without_end_is_refused(text: str) -> None:
    assert reason(text) == "too_long"


def test_a_long_rationale_is_no_reason_to_refuse() -> None:
    assert parse_reply(f'{{"reason": "{"so on " * 100_000}", "score": 4}}', ONE) == {"quality": 4}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Score: 4 (out of 10)", "scale_mismatch"),
        ("Score: 4, out of 10", "scale_mismatch"),
        ("Score: 4 \u2013 5", "not_a_number"),
        ("Score: 3; 4", "not_a_number"),
        ("Score: 3, no wait, 4", "in_prose"),
        ("Score: 4 (actually 5)", "in_prose"),
    ],
)
def test_what_a_line_says_behind_its_score_may_contradict_it(line: str, why: str) -> None:
    assert reason(line) == why


@pytest.mark.parametrize(
    "line", ["Score: 4 (out of 5)", "Score: 4 - 2 dates are wrong", "Score: 4 - rather good"]
)
def test_what_a_line_says_behind_its_score_may_explain_it(line: str) -> None:
    assert parse_reply(line, ONE) == {"quality": 4}


def test_a_score_on_another_scale_is_named_as_one() -> None:
    with pytest.raises(ReplyFormatError, match="the reply said '4' on another scale, not a number"):
        parse_reply('{"score": 4, "max": 10}', ONE)
