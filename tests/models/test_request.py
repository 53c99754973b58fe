from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from judgekit.errors import SettingsError
from judgekit.fingerprint import Frozen, fingerprint
from judgekit.models import PriceTable, connect
from judgekit.models.request import IMAGE_TOKENS, ModelReply, ModelRequest, Subject
from judgekit.records import Image
from tests.factories import make_request
from tests.pictures import data_url, png

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.text(st.characters(categories=None))  # lone halves of characters too
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user"]), "content": TEXTS})
    | st.dictionaries(TEXTS, TEXTS, max_size=3),
    max_size=3,
)
OBJECTS = st.dictionaries(
    st.text(), st.none() | st.integers() | st.text() | st.lists(st.text()), max_size=3
)


@given(MESSAGES, OBJECTS, st.none() | OBJECTS, st.none() | TEXTS, st.booleans())
def test_the_key_is_the_fingerprint_of_its_parts(
    messages: list[dict[str, str]],
    parameters: dict[str, Any],
    schema: dict[str, Any] | None,
    api_base: str | None,
    is_frozen: bool,  # noqa: FBT001 - drawn
) -> None:
    given_schema: Any = Frozen(schema) if is_frozen and schema is not None else schema
    request = ModelRequest(
        model="openai/m",
        messages=tuple(messages),
        parameters=Frozen(parameters) if is_frozen else parameters,
        reply_schema=given_schema,
        api_base=api_base,
        subject=Subject(repeat=2),
    )
    assert request.key == fingerprint(request.key_parts)


def test_the_key_of_a_known_request_stays_what_it_is() -> None:
    messages = (
        {"role": "system", "content": "You judge."},
        {"role": "user", "content": "Is “4” right? é"},
    )
    request = ModelRequest(
        model="openai/m", messages=messages, parameters={"temperature": 0.0, "seed": None}
    )
    assert request.key == "2792b2141fe93984eb4fb56106166fbf77b957b6fff5b96e8411721309b53ae4"


@pytest.mark.parametrize(
    ("change", "is_new"),
    [
        ({"subject": Subject(case_id="c", criterion="x", attempt=1)}, False),
        ({"shared_prefix": 3}, False),
        ({"subject": Subject(repeat=1)}, True),
        ({"api_base": "http://127.0.0.1:1"}, True),
        ({"reply_schema": {"type": "object"}}, True),
        ({"parameters": {"temperature": 0}}, True),
    ],
)
def test_a_copy_has_the_key_of_what_it_asks(change: dict[str, Any], *, is_new: bool) -> None:
    request = ModelRequest(
        model="m", messages=({"role": "user", "content": "a"},), parameters={"temperature": 0.0}
    )
    before = request.key
    assert (request.model_copy(update=change).key != before) is is_new


def with_image(content: bytes, name: str) -> ModelRequest:
    image = Image(data_url(content), name)
    return make_request(f"What is {image.marker}?", images=(image,))


def test_an_image_is_part_of_the_key_by_its_bytes_and_not_by_its_name() -> None:
    one = with_image(png(1), "a.png")
    assert one.key == fingerprint(one.key_parts)
    assert one.key == with_image(png(1), "b.png").key
    assert one.key != with_image(png(2), "a.png").key
    # The marker in the text is of the bytes as well, but short.
    assert one.key != make_request(one.messages[0]["content"]).key
    assert one.key_parts["images"] == [hashlib.sha256(png(1)).hexdigest()]
    assert one.n_characters == 4 * IMAGE_TOKENS + len(one.messages[0]["content"])


def test_a_reply_does_not_cost_less_than_nothing() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        ModelReply(text="4", cost_usd=-0.01)


async def test_an_image_is_not_sent_to_a_model_that_is_known_to_take_none(tmp_path: Path) -> None:
    request = with_image(png(), "a.png").model_copy(update={"subject": Subject(case_id="shoe")})
    blind = connect("openai/gpt-3.5-turbo", api_base="https://api.openai.com/v1")
    assert not blind.prices.takes_images(blind.name, blind.api_base)
    named = {"model": blind.name, "api_base": blind.api_base}
    with pytest.raises(SettingsError, match=r"case 'shoe' has an image, and .*turbo takes none"):
        await blind.model.complete(request.model_copy(update=named))
    prices = PriceTable()
    assert not prices.takes_images("local/model.gguf")
    assert prices.takes_images("openai/gpt-4.1-mini")
    # What stands behind an endpoint of one's own is not known, and recorded replies see nothing.
    assert prices.takes_images("openai/gpt-3.5-turbo", "http://127.0.0.1:1/v1")
    recorded = tmp_path / "replies.jsonl"
    recorded.write_text('{"case_id": "shoe", "text": "A shoe."}', encoding="utf-8")
    reply = await connect(f"recorded:{recorded}").model.complete(request)
    assert reply.text == "A shoe."
