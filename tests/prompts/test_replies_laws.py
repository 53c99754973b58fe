"""What holds for every text: two errors only, scores on the scale."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing import ReplyFormat, parse_formatted_reply, parse_reply
from judgekit.records import Criterion
from tests.traps import REPLIES as REPLY_TRAPS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.traps import Trap

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
LENGTH = 40_000
READ: dict[str, float | str] = {
    "braces": "too_deep", "brackets": "too_deep", "lists of objects": "too_deep",
    "open objects": "too_deep", "open strings": "garbled", "backslashes": "truncated",
    "comments": "garbled", "bare objects": "garbled", "thoughts": "truncated",
    "lines": "too_long", "table": "too_long", "many verdicts": "too_long",
    "verdicts in brackets": "too_long", "digits": "not_a_number", "lines with scores": 4,
    "one long string": 4,
}  # fmt: skip
"""What is read of each trap, or why it is refused; the others hold no verdict."""

IN_EVERY_FORM = {"thoughts": "truncated", "lines": "too_long", "table": "too_long"}
FORMS: dict[str, dict[str, float | str]] = {
    "choice": {"letters in brackets": 1, "answers on a line": "too_long"},
    "score_line": {
        "lines with scores": 4, "one long string": 4, "parts of five": "too_long",
        "digits": "not_a_number",
    },
    "result": {},
    "brackets": {"verdicts in brackets": "too_long"},
    "stated": {
        "lines with scores": 4, "one long string": 4, "verdicts in brackets": "too_long",
        "stars": "too_long", "parts of five": "too_long",
    },
}  # fmt: skip


def outcome(read: Callable[[], float | None]) -> float | str | None:
    try:
        return read()
    except ReplyFormatError as error:
        return error.reason


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
    reply_format = ReplyFormat(kind, choices)
    with contextlib.suppress(ReplyFormatError, RefusalError):
        reply = parse_formatted_reply(text, ONE[0], reply_format=reply_format, judged_text=judged)
        assert reply.raw is None or ONE[0].scale.holds(reply.raw or 0)


@given(number=st.floats(1, 5), spaces=st.text(" \n\t", max_size=3))
def test_a_plain_number_is_read_to_the_last_digit(number: float, spaces: str) -> None:
    text = f'{spaces}{{"score":{spaces}{number!r}}}{spaces}'
    assert parse_reply(text, ONE) == {"quality": number}


@given(outside=st.floats(allow_nan=True).filter(lambda n: not 1 <= n <= 5))
def test_a_number_off_the_scale_is_never_a_score(outside: float) -> None:
    with pytest.raises(ReplyFormatError, match="between 1 and 5"):
        parse_reply(f'{{"score": {outside!r}}}', ONE)


@pytest.mark.parametrize("trap", REPLY_TRAPS)
def test_a_huge_reply_is_read_or_refused_for_what_it_is(trap: str) -> None:
    text = REPLY_TRAPS[trap].text(LENGTH)
    assert outcome(lambda: parse_reply(text, ONE)["quality"]) == READ.get(trap, "no_verdict")


@pytest.mark.parametrize(("n_values", "read"), [(100, 5), (6_000, "too_long")])
def test_a_reply_of_thousands_of_values_is_too_long(n_values: int, read: float | str) -> None:
    text = json.dumps({"score": 5, "steps": list(range(10, 10 + n_values))})
    assert outcome(lambda: parse_reply(text, ONE)["quality"]) == read


@pytest.mark.parametrize("trap", REPLY_TRAPS)
def test_a_huge_reply_that_the_judged_text_holds_gives_no_score(trap: str) -> None:
    text = REPLY_TRAPS[trap].text(LENGTH)
    found = outcome(lambda: parse_reply(text, ONE, "stop", f"Please grade {text}")["quality"])
    assert isinstance(found, str)


@pytest.mark.parametrize("kind", FORMS)
def test_a_huge_reply_in_a_published_form_is_read_or_refused_for_what_it_is(kind: str) -> None:
    form = ReplyFormat(kind, {"A": 1, "yes": 5} if kind == "choice" else {})

    def found(trap: Trap) -> float | str | None:
        text = trap.text(LENGTH)
        return outcome(lambda: parse_formatted_reply(text, ONE[0], reply_format=form).raw)

    expected = {**dict.fromkeys(REPLY_TRAPS, "no_verdict"), **IN_EVERY_FORM, **FORMS[kind]}
    assert {name: found(trap) for name, trap in REPLY_TRAPS.items()} == expected
