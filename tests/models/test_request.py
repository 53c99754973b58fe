from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from judgekit.fingerprint import Frozen, fingerprint
from judgekit.models.request import ModelRequest, Subject

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
