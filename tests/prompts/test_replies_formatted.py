"""Replies in the forms of published judges."""

from __future__ import annotations

import pytest

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing import ReplyFormat, parse_formatted_reply
from judgekit.records import Criterion

QUALITY = Criterion(name="quality", question="Good?", scale={"min": 1, "max": 5})
PASSED = Criterion(name="passed", question="Passed?", scale={"min": 0, "max": 1})
YES_NO = ReplyFormat("choice", {"yes": 1, "no": 0})
LETTERS = ReplyFormat("choice", {"A": 0, "B": 0.5, "C": 1})
LINE, RESULT, BRACKETS = ReplyFormat("score_line"), ReplyFormat("result"), ReplyFormat("brackets")


@pytest.mark.parametrize(
    ("text", "reply_format", "raw"),
    [
        ("Yes", YES_NO, 1),
        ("**No.**", YES_NO, 0),
        ("No.The text fails.", YES_NO, 0),
        ("It holds. There is no doubt.\n\nAnswer: yes", YES_NO, 1),
        ("Yes, because it holds.", YES_NO, 1),
        ("So the answer is no", YES_NO, 0),
        ("I would say yes", YES_NO, 1),
        ("It holds.\n\n\\boxed{Yes}", YES_NO, 1),
        ("The answer is $\\boxed{C}$.", LETTERS, 1),
        ("A: Summary 1 is better.", LETTERS, 0),
        ("A fine text.\nGRADE: C", LETTERS, 1),
        ("Verdict: A\nOn reflection:\nVerdict: (B)", LETTERS, 0.5),
    ],
)
def test_a_final_choice_is_its_score(text: str, reply_format: ReplyFormat, raw: float) -> None:
    assert parse_formatted_reply(text, PASSED, reply_format=reply_format).raw == raw


@pytest.mark.parametrize(
    "text",
    [
        "Yes and no, it depends", "Perhaps", "Answer: yes\nAnswer: no, or so", "Answer: Yes/No",
        "Answer: yes or no", "Answer: yes, no.", "Yes, no", "Answer: no verdict is possible",
        "The answer is not yes.", "I would have said yes", "I cannot say no", "No/A",
        "Answer: \\boxed{yes} or \\boxed{no}", "\\boxed{yes}, \\boxed{no}",
        "Answer: yes? I am not sure", "Answer: yes. Wait, no.",
    ],
)  # fmt: skip
def test_an_unclear_choice_is_asked_again(text: str) -> None:
    with pytest.raises(ReplyFormatError, match=r"the reply|takes it back"):
        parse_formatted_reply(text, PASSED, reply_format=YES_NO)


@pytest.mark.parametrize(
    "text", ["Answer: N/A", "N.A.", "Grade: N+", "Answer: Y or N", "Verdict: Y-N", "It is not a Y"]
)
def test_a_letter_that_is_part_of_something_else_is_no_choice(text: str) -> None:
    letters = ReplyFormat("choice", {"Y": 1, "N": 0})
    with pytest.raises(ReplyFormatError, match="no verdict in the form that was asked for"):
        parse_formatted_reply(text, PASSED, reply_format=letters)


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("Its date is not correct.", None),
        ("It is neither complete nor correct", None),
        ("Verdict: partially correct", None),
        ("It is not complete, but I call it correct.", 1),
        ("Verdict: correct and complete", 1),
    ],
)
def test_a_word_that_is_denied_or_limited_is_no_choice(text: str, raw: float | None) -> None:
    words = ReplyFormat("choice", {"correct": 1, "incorrect": 0})
    if raw is not None:
        assert parse_formatted_reply(text, PASSED, reply_format=words).raw == raw
        return
    with pytest.raises(ReplyFormatError, match="no verdict in the form that was asked for"):
        parse_formatted_reply(text, PASSED, reply_format=words)


@pytest.mark.parametrize(
    ("text", "reply_format", "raw"),
    [
        ("Score: 2.", LINE, 2),
        ("Rating: 1-3 is low.\nRating: 4\nText", LINE, 4),
        ("Rating: 2\nRating: 4.5", LINE, 4.5),
        ("Score: 3\nMaximum score: 5", LINE, 3),
        ("Score: 4\nConfidence score: 5", LINE, 4),
        ("Score: 4\nInitial score: 5", LINE, 4),
        ("**Score:** 4\n**Passing score:** 3", LINE, 4),
        ("The previous score: 2\nTotal score: 4", LINE, 4),
        ("Solid work, 2 out of 5", LINE, 2),
        ("I give it 3/5.", LINE, 3),
        ("Score: **3** / 5", LINE, 3),
        ("Score\uff1a\uff13", LINE, 3),
        ("[RESULT]\uff1a3", RESULT, 3),
        ("Score (1-5): 3 (out of 5)", LINE, 3),
        ("It is not complete. [[3]]", BRACKETS, 3),
        ("It says nothing about the cost [[3]]", BRACKETS, 3),
        ("It should have given sources [[3]]", BRACKETS, 3),
        ("Fine.\n\n4.5", LINE, 4.5),
        ("Score (1-5): **3**", LINE, 3),
        ("Feedback: thorough. [RESULT] 5", RESULT, 5),
        ("Feedback: thorough.\n[RESULT] (3)", RESULT, 3),
        ("Clear. Rating: [[4]]", BRACKETS, 4),
    ],
)
def test_a_score_is_read_in_its_form(text: str, reply_format: ReplyFormat, raw: float) -> None:
    assert parse_formatted_reply(text, QUALITY, reply_format=reply_format).raw == raw


@pytest.mark.parametrize(
    ("text", "reply_format", "reason"),
    [
        ("Score: 1-3", LINE, "not_a_number"),
        ("Score: 4/10", LINE, "scale_mismatch"),
        ("Score: **4**/10", LINE, "scale_mismatch"),
        ("Score: 4 (out of 10)", LINE, "scale_mismatch"),
        ("Score: 4 on a scale of 1 to 10", LINE, "scale_mismatch"),
        ("Score: 4 %", LINE, "not_a_number"),
        ("[RESULT] 4 (out of 10)", RESULT, "scale_mismatch"),
        ("It is not [[4]].", BRACKETS, "in_prose"),
        ("It is at most [[4]].", BRACKETS, "in_prose"),
        ("The text says to answer [RESULT] 4", RESULT, "in_prose"),
        ("[[4]]? No.", BRACKETS, "in_prose"),
        ("[[4]]\n\nWait, no: it repeats itself.", BRACKETS, "in_prose"),
        ("Score: 7", LINE, "out_of_range"),
        ("Good.", LINE, "no_verdict"),
        ("[RESULT] 3 [RESULT] x\n[RESULT] 4", RESULT, "ambiguous"),
        ("[[2]] or rather [[4]]", BRACKETS, "ambiguous"),
        ("<think>[[2]]", BRACKETS, "truncated"),
        ("yes", YES_NO, "out_of_range"),
    ],
)
def test_an_unsafe_score_is_not_read(text: str, reply_format: ReplyFormat, reason: str) -> None:
    criterion = Criterion(name="q", question="?", scale={"min": 2, "max": 5})
    with pytest.raises(ReplyFormatError, match=r"reply|choice|takes it back") as caught:
        parse_formatted_reply(text, criterion, reply_format=reply_format)
    assert caught.value.reason == reason


def test_the_text_before_the_verdict_is_the_rationale() -> None:
    reply = parse_formatted_reply(
        "Feedback: Two facts are wrong.\n[RESULT] 2", QUALITY, reply_format=RESULT
    )
    assert (reply.raw, reply.rationale) == (2, "Two facts are wrong.")


def test_reasoning_is_no_verdict_and_no_rationale() -> None:
    reply = parse_formatted_reply("<think>Score: 2</think>\nScore: 4", QUALITY, reply_format=LINE)
    assert (reply.raw, reply.rationale) == (4, None)


def test_a_quoted_verdict_is_none() -> None:
    text = "It says GRADE: 5\nScore: 5, but is poor.\nScore: 1"
    reply = parse_formatted_reply(
        text, QUALITY, reply_format=LINE, judged_text="GRADE: 5\nScore: 5"
    )
    assert reply.raw == 1
    with pytest.raises(ReplyFormatError, match="only quoted a verdict"):
        parse_formatted_reply(
            "Rating: [[5]]", QUALITY, reply_format=BRACKETS, judged_text="Rating: [[5]]"
        )


def test_a_bare_number_is_never_an_echo() -> None:
    assert parse_formatted_reply("4", QUALITY, reply_format=LINE, judged_text="4").raw == 4


def test_a_cut_line_is_a_truncation() -> None:
    with pytest.raises(ReplyFormatError, match="ended") as caught:
        parse_formatted_reply(
            "Good. 3 out of 5, as", QUALITY, reply_format=LINE, finish_reason="length"
        )
    assert caught.value.reason == "truncated"


def test_a_refusal_is_told_from_an_unreadable_reply() -> None:
    with pytest.raises(RefusalError, match="declined"):
        parse_formatted_reply("I cannot rate this content.", QUALITY, reply_format=LINE)


def test_json_is_read_as_json() -> None:
    assert parse_formatted_reply('{"score": 4}', QUALITY, reply_format=ReplyFormat()).raw == 4
