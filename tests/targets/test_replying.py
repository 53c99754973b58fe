from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from judgekit.formats import TEXT_REPAIRED
from judgekit.records import Output
from judgekit.targets.target import TargetCall, encode_call
from tests.factories import make_case

if TYPE_CHECKING:
    from judgekit.records import JsonObject


@pytest.mark.parametrize(
    ("raw", "charset", "why"),
    [
        (b"\xff", "ascii", "codec can't decode"),
        (b"x", "no-such-charset", "unknown encoding"),
        (b"7a", "hex", "is not a text encoding"),
        (b"x", "undefined", "undefined encoding"),
        (b"x", "utf-8\0", "null character"),
    ],
)
def test_a_charset_that_does_not_read_the_reply_is_an_error_of_it(
    raw: bytes, charset: str, why: str
) -> None:
    output = TargetCall(make_case(), "v1").read_text(raw, charset=charset)
    assert (output.error_kind, output.text) == ("unreadable", None)
    assert why in str(output.error)


def test_a_case_is_sent_as_it_is_also_with_half_a_surrogate_pair() -> None:
    case = make_case(input={"naïve": "a\ud800b"})
    about: JsonObject = {"id": "v1", "model_by_node": {"main": "m"}}
    sent = encode_call(case, 2, about)
    assert json.loads(sent) == {**case.to_json(), "repeat": 2, "variant": about}
    assert "naïve".encode() in sent


def test_half_a_character_in_an_answer_becomes_a_replacement() -> None:
    call = TargetCall(make_case(), "v1")
    output = call.with_details(Output(text="a\ud800b", metadata={"x": ["\udfff"]}))
    assert output.text == "a\ufffdb"
    assert output.metadata == {"x": ["\ufffd"], TEXT_REPAIRED: True}
    assert (output.case_id, output.variant) == ("refund", "v1")
    assert TEXT_REPAIRED not in call.with_details(Output(text="a\ufffdb")).metadata
