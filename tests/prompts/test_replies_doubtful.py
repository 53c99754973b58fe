"""Replies whose prose states another scale, denies a verdict or corrects it, and those that only
sound so."""

from __future__ import annotations

import pytest

from judgekit.errors import ReplyFormatError
from judgekit.prompts.parsing import (
    PairReplyFormat,
    ReplyFormat,
    locate_evidence,
    parse_criterion_replies,
    parse_formatted_preference,
    parse_formatted_reply,
)
from judgekit.records import PreferenceSlot, Scale
from tests.factories import make_criterion

YES_NO = ReplyFormat("choice", {"yes": 1.0, "no": 0.0})
LETTERS: dict[str, PreferenceSlot] = {"A": "first", "B": "second", "C": "tie"}
PAIRS = {
    "pair_brackets": PairReplyFormat("brackets", LETTERS),
    "pair_choice": PairReplyFormat("choice", LETTERS),
    "pair_stated": PairReplyFormat("stated", {"a": "first", "b": "second"}),
    "arena": PairReplyFormat("brackets", {"A>B": "first", "A=B": "tie", "B>A": "second"}),
}


def read(kind: str, text: str) -> object:
    if kind in PAIRS:
        return parse_formatted_preference(text, PAIRS[kind]).choice
    if kind == "yes_no":
        binary = make_criterion(scale=Scale(min=0, max=1, integer=True))
        return parse_formatted_reply(text, binary, reply_format=YES_NO).raw
    if kind == "json":
        return parse_criterion_replies(text, [make_criterion()])["accuracy"].raw
    return parse_formatted_reply(text, make_criterion(), reply_format=ReplyFormat(kind)).raw


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("score_line", "Score (1-10): 4"),
        ("score_line", "**Score (out of 10):** 4"),
        ("score_line", "On a scale of 1 to 10:\nScore: 4"),
        ("score_line", "Score: 4 [1-10]"),
        ("score_line", "Score: 4 - scale: 1-10"),
        ("score_line", "Score: 4 points out of a possible 10"),
        ("score_line", "Score: 4 out of a maximum of 10"),
        ("json", "On a scale of 1 to 10:\nScore: 4"),
        ("result", "[RESULT] 4 (1-10)"),
        ("stated", "On a scale of 1 to 10, I rate it 4."),
        ("stated", "On a scale from 1 to 10 this is a score of 4."),
        ("stated", "Out of 10, I give it a score of 4."),
        ("brackets", "Rating: on a scale of 1-10: [[4]]"),
    ],
)  # fmt: skip
def test_a_score_on_another_scale_is_refused_wherever_the_scale_stands(
    kind: str, text: str
) -> None:
    with pytest.raises(ReplyFormatError) as caught:
        read(kind, text)
    assert caught.value.reason == "scale_mismatch"
    assert read(kind, text.replace("10", "5")) == 4


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("pair_brackets", "[[A]]\n\nActually, B is better."),
        ("pair_brackets", "[[A]]\n\nNo, B."),
        ("pair_choice", "Answer: A. Actually, Output B is better."),
        ("pair_choice", "Answer: A, but B is better"),
        ("pair_stated", "Output (a) is better.\n\nActually, Output (b) is."),
        ("pair_stated", "Others say Output (a) is better."),
        ("pair_stated", "Output (a) is better? No."),
        ("yes_no", "Yes.\n\nActually, no."),
        ("yes_no", "The user asks me to answer yes"),
        ("yes_no", "I am told to say yes"),
        ("yes_no", "The output says: Yes"),
        ("yes_no", "Answer: yes is wrong"),
        ("score_line", "Score: 4\n\nMaybe a 3."),
        ("score_line", "Score: 4\n\nNo, 3 is fairer."),
    ],
)
def test_a_verdict_that_is_corrected_or_reported_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ReplyFormatError):
        read(kind, text)


@pytest.mark.parametrize(
    "text",
    [
        "I don't think it deserves 4 stars.",
        "It is hardly worth 4 stars.",
        "It falls short of 4 stars.",
        "Almost 4 stars.",
        "4 stars would be too much.",
        "A score of 4 would be too high.",
        "The user rated it 4 stars.",
        "Others give it a score of 4.",
        "A perfect answer would get a score of 4.",
        "I was tempted to give a score of 4.",
    ],
)
def test_a_score_that_a_sentence_denies_is_no_verdict(text: str) -> None:
    with pytest.raises(ReplyFormatError):
        read("stated", text)
    assert read("stated", f"{text} Score: 2") == 2


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("score_line", "Score: 4\n\nNo 404 errors are in the text."),
        ("score_line", "Score: 4. Never mind the small typo."),
        ("score_line", "The rating (1-5) is fair. Score: 4"),
        ("score_line", "The user asked for a scale of 1 to 10. It has one. Score: 4"),
        ("score_line", "Score: 4, of the kind expected"),
        ("stated", "It is not perfect, so I rate it 4."),
        ("stated", "I could not find an error and give it a score of 4."),
        ("stated", "It says all there is to say. I give it 4 stars."),
    ],
)
def test_an_honest_score_in_such_words_is_read(kind: str, text: str) -> None:
    assert read(kind, text) == 4


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("pair_brackets", "[[A]]\n\nNo 2 claims of B hold."),
        ("pair_brackets", "[[A]]\n\nActually 3 of the facts in B are wrong."),
        ("pair_brackets", "[[A]]\n\nMaybe 2 sentences could be shorter."),
        ("arena", "My final verdict is: [[A > B]]"),
        ("pair_choice", "B does not answer.\n\nAnswer: A, but B is close."),
        ("pair_stated", "Output (b) says little, so it is Output (a) is better."),
    ],
)
def test_an_honest_choice_in_such_words_is_read(kind: str, text: str) -> None:
    assert read(kind, text) == "first"


@pytest.mark.parametrize(
    "reply",
    [
        "<think>A draft: Score: 2</thinking>\nScore: 4",
        '<thinking>{"score": 2}</think>{"score": 4}',
        '<think>{"score": 2}</thinking> so {"score": 3}</think>{"score": 4}',
    ],
)
def test_reasoning_may_be_closed_by_the_other_name_of_its_tag(reply: str) -> None:
    assert read("json", reply) == 4


@pytest.mark.parametrize("key", ["final_score", "overall_score", "finalRating"])
def test_a_total_beside_the_named_score_must_agree_with_it(key: str) -> None:
    assert read("json", f'{{"accuracy": 4, "{key}": 4}}') == 4
    for answer in (f'{{"accuracy": 4, "{key}": 5}}', f'{{"accuracy": {{"score": 4}}, "{key}": 5}}'):
        with pytest.raises(ReplyFormatError) as caught:
            read("json", answer)
        assert caught.value.reason == "ambiguous"


@pytest.mark.parametrize(
    "quote", ["\u2026within 30 days", "...within 30  days...", "[...] 30 days"]
)
def test_an_ellipsis_before_a_quote_is_the_judges_own(quote: str) -> None:
    (found,) = locate_evidence([quote], "Yes, within 30 days.")
    assert found.match is not None
