"""What holds for every text: two errors only, scores on the scale, time in proportion."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.replies import ReplyFormat, parse_reply, read_formatted
from judgekit.records.rubric import Criterion

ONE = [Criterion(name="quality", question="Good?", scale={"min": 1, "max": 5})]
TWO: list[dict[str, object]] = [
    {"name": "accuracy", "min": 1, "max": 5},
    {"name": "clarity", "scale": {"min": 0, "max": 1}},
]
PIECES = (
    "{", "}", "[", "]", "[[", "]]", ":", ",", '"', "'", "\n", " ", "\\", "|", "<", ">", "```",
    "accuracy", "clarity", "score", '"score": 4', '"accuracy": 4', '"clarity": 1', "Score: 4",
    "4", "0.5", "1e9", "4/5", "NaN", "null", "true", "<think>", "</think>", "[RESULT] 4", "- ",
    "<|channel|>final", "I cannot grade this.", "\x00", "\ud800", "//", "/*", "“", "”", "max",
)  # fmt: skip
REPLIES = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
BIG = 200_000
TRAPS = {
    "braces": "{" * BIG,
    "brackets": "[" * BIG,
    "lists of objects": "[{" * (BIG // 2),
    "open objects": '{"a":' * 40_000,
    "open strings": '{"x": "' * 25_000,
    "quotes": '"' * BIG,
    "backslashes": '{"a": "' + "\\" * BIG,
    "comments": '{"a":1,/*' * 20_000,
    "bare objects": "{a: b " * 30_000,
    "thoughts": "<think>" * 30_000,
    "ends of thoughts": "</think>" * 25_000,
    "fences": "```" * 60_000,
    "quoting": "> " * (BIG // 2),
    "spaces": "a: " + " " * BIG + "x",
    "lines": "Score:\n" * 28_000,
    "table": "| a |\n" * 30_000,
    "tags": "<a>" * 60_000,
    "one long string": '{"score": 4, "reason": "' + "x" * BIG + '"}',
    "many verdicts": '{"accuracy": 4, "clarity": 1}\n' * 6_000,
    "digits": "Score: " + "1" * BIG,
    "inability": "I cannot " * 22_000,
    "keys": '"a": ' * 40_000,
    "entities": "&lt;" * 50_000,
    "bullets": "- " * (BIG // 2),
}


@given(text=REPLIES, judged=st.none() | REPLIES, finish=st.sampled_from(["stop", "length", None]))
def test_any_text_gives_scores_on_the_scale_or_one_of_two_errors(
    text: str, judged: str | None, finish: str | None
) -> None:
    with contextlib.suppress(ReplyFormatError, RefusalError):
        scores = parse_reply(text, TWO, finish, judged)
        assert 1 <= scores["accuracy"] <= 5
        assert 0 <= scores["clarity"] <= 1


@given(text=REPLIES, judged=st.none() | REPLIES)
def test_the_only_criterion_gets_a_score_on_its_scale(text: str, judged: str | None) -> None:
    with contextlib.suppress(ReplyFormatError, RefusalError):
        assert ONE[0].scale.holds(parse_reply(text, ONE, "stop", judged)["quality"])


@given(
    text=REPLIES,
    judged=st.none() | REPLIES,
    kind=st.sampled_from(["choice", "score_line", "result", "brackets", "stated", "json"]),
)
def test_published_forms_give_scores_on_the_scale_or_one_of_two_errors(
    text: str, judged: str | None, kind: str
) -> None:
    choices = {"score": 4.0, "4": 5.0} if kind == "choice" else {}
    reply_format = ReplyFormat(kind, choices)  # type: ignore[arg-type]  # one of the six
    with contextlib.suppress(ReplyFormatError, RefusalError):
        reply = read_formatted(text, ONE[0], reply_format=reply_format, judged_text=judged)
        assert reply.cannot_assess or ONE[0].scale.holds(reply.raw or 0)


@given(number=st.floats(1, 5), spaces=st.text(" \n\t", max_size=3))
def test_a_plain_number_is_read_to_the_last_digit(number: float, spaces: str) -> None:
    text = f'{spaces}{{"score":{spaces}{number!r}}}{spaces}'
    assert parse_reply(text, ONE) == {"quality": number}


@given(outside=st.floats(allow_nan=True).filter(lambda n: not 1 <= n <= 5))
def test_a_number_off_the_scale_is_never_a_score(outside: float) -> None:
    with pytest.raises(ReplyFormatError, match="between 1 and 5"):
        parse_reply(f'{{"score": {outside!r}}}', ONE)


@pytest.mark.parametrize("trap", TRAPS)
def test_a_huge_reply_ends_in_time(trap: str) -> None:
    for judged in (None, TRAPS[trap][:50_000]):
        started = time.process_time()
        with contextlib.suppress(ReplyFormatError, RefusalError):
            parse_reply(TRAPS[trap], ONE, "stop", judged)
        assert time.process_time() - started < 2


@pytest.mark.parametrize("kind", ["choice", "score_line", "result", "brackets", "stated"])
def test_a_huge_reply_in_a_published_form_ends_in_time(kind: str) -> None:
    reply_format = ReplyFormat(kind, {"A": 1, "yes": 5} if kind == "choice" else {})  # type: ignore[arg-type]  # one of the five
    for text in TRAPS.values():
        started = time.process_time()
        with contextlib.suppress(ReplyFormatError, RefusalError):
            read_formatted(text, ONE[0], reply_format=reply_format, judged_text=text[:20_000])
        assert time.process_time() - started < 2
