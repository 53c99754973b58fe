from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.models import choice_distribution
from judgekit.models.request import ModelReply, TokenLogprob

if TYPE_CHECKING:
    from judgekit.records import PreferenceSlot

SLOTS: dict[str, PreferenceSlot] = {"first": "first", "second": "second", "tie": "tie"}
LETTERS: dict[str, PreferenceSlot] = {"A": "first", "B": "second", "C": "tie"}
JSON = r'"preference"\s*:\s*"'


def token(text: str, chance: float = 1.0, **others: float) -> TokenLogprob:
    top = tuple((word, math.log(share)) for word, share in others.items())
    return TokenLogprob(token=text, logprob=math.log(chance), top=top)


def reply(*tokens: TokenLogprob, text: str | None = None) -> ModelReply:
    whole = "".join(one.token for one in tokens)
    return ModelReply(text=whole if text is None else text, logprobs=tokens)


def test_the_choices_share_what_their_tokens_hold() -> None:
    said = reply(token('{"preference": "'), token("first", 0.5, second=0.2, tie=0.1), token('"}'))
    found = choice_distribution(said, SLOTS, lead=JSON, made="first")
    assert found is not None
    assert found.first == pytest.approx((0.5 + 0.05) / 0.8)
    assert found.confidence == pytest.approx(0.5 / 0.8)
    assert found.mass == pytest.approx(0.8)


@pytest.mark.parametrize("made", [' "sec', '"second', "second", " s", 'second"'])
def test_a_token_may_hold_a_part_of_the_choice_and_what_stands_around_it(made: str) -> None:
    rest = 'second"}'[len(made.strip(' "')) :] if not made.endswith('d"') else "}"
    lead = '{"preference":' if made.startswith(' "') else '{"preference": "'
    lead = '{"preference": ' if made.startswith('"') else lead
    said = reply(token(lead), token(made, 0.9, fir=0.1), token(rest))
    found = choice_distribution(said, SLOTS, lead=r'"preference"\s*:', made="second")
    assert found is not None
    assert found.first == pytest.approx(0.1)


def test_a_server_may_strip_the_fence_around_the_reply() -> None:
    # llama.cpp lists the tokens of a code fence that it leaves out of the text.
    inner = [token('{"preference": "'), token("first", 0.8, second=0.2), token('"}')]
    said = reply(token("```json\n"), *inner, token("\n```"), text='{"preference": "first"}')
    found = choice_distribution(said, SLOTS, lead=JSON, made="first")
    assert found is not None
    assert found.first == pytest.approx(0.8)


def test_letters_count_as_they_are_written() -> None:
    said = reply(token("So [["), token("B", 0.6, A=0.2, a=0.1, C=0.1), token("]]"))
    found = choice_distribution(said, LETTERS, lead=r"\[\[", made="second")
    assert found is not None
    assert found.first == pytest.approx(0.25 / 0.9)
    assert found.mass == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("said", "made"),
    [
        (ModelReply(text='{"preference": "first"}'), "first"),
        (reply(token('{"preference": "'), token("first"), text="other"), "first"),
        (reply(token('{"choice": "'), token("first")), "first"),
        (reply(token('{"preference": "'), token("first")), "tie"),
        (reply(token('{"preference": "'), token("x")), "first"),
        (reply(token('{"preference": "')), "first"),
        (reply(token('{"preference": "'), token("first", 0.2, x=0.8)), "first"),
        (reply(token('{"preference": "'), token("second", 0.2, x=0.8)), "first"),
    ],
)
def test_where_it_cannot_be_told_there_is_no_distribution(said: Any, made: PreferenceSlot) -> None:
    assert choice_distribution(said, SLOTS, lead=JSON, made=made) is None
