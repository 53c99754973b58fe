from __future__ import annotations

import copy
import json
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st

from judgekit.fingerprint import (
    Frozen,
    canonical_json,
    canonical_part,
    fingerprint,
    random_token,
    text_fingerprint,
    thawed,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def typed(value: object) -> object:
    """The value with the types that JSON tells apart but Python's `==` does not."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [typed(inner) for inner in value]
    return (type(value).__name__, repr(value))


@given(VALUES, VALUES)
def test_two_values_have_the_same_text_exactly_when_they_are_the_same(
    one: object, other: object
) -> None:
    assert (canonical_json(one) == canonical_json(other)) is (typed(one) == typed(other))


@given(VALUES)
def test_the_text_reads_back_as_the_value_and_is_ascii(value: object) -> None:
    text = canonical_json(value)
    assert text.isascii()
    assert typed(json.loads(text)) == typed(value)


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    turned = dict(reversed(value.items()))
    assert fingerprint(turned) == fingerprint(value)


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), ("1", 1), (["ab"], ["a", "b"])])
def test_what_differs_in_json_differs_in_the_fingerprint(one: object, other: object) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_no_json_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        fingerprint({"score": number})


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        fingerprint({"names": {1, 2}})


def test_a_known_value_keeps_its_fingerprint() -> None:
    expected = "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"
    assert fingerprint({"b": 2, "a": 1}) == expected


@pytest.mark.parametrize("text", ["", "a", "ä", "\ud800", "a\ud800", "\x00"])
def test_every_text_has_a_fingerprint_of_its_own(text: str) -> None:
    others = {text_fingerprint(other) for other in ("b", "\udfff", text + " ")}
    assert len(text_fingerprint(text)) == 64
    assert text_fingerprint(text) not in others


@given(st.dictionaries(st.text(), VALUES))
def test_a_frozen_object_knows_its_canonical_text(value: dict[str, object]) -> None:
    assert canonical_part(Frozen(value)) == canonical_part(value) == canonical_json(value)


@given(VALUES)
def test_a_part_has_the_canonical_text_whatever_it_is(value: object) -> None:
    assert canonical_part(value) == canonical_json(value)


def test_a_frozen_object_is_a_dict_that_cannot_be_changed() -> None:
    frozen = Frozen({"a": [1, {"b": 2}], "c": {"d": 3}})
    assert frozen == {"a": [1, {"b": 2}], "c": {"d": 3}}
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    listed: Any = frozen["a"]
    for change in (
        lambda: frozen.update(a=1),
        lambda: frozen.__setitem__("a", 1),
        lambda: listed.append(4),
        lambda: listed[1].pop("b"),
        lambda: cast("dict[str, object]", frozen["c"]).clear(),
    ):
        with pytest.raises(TypeError, match="cannot be changed; copy it"):
            change()


def test_a_thawed_object_is_plain_and_its_own() -> None:
    frozen = Frozen({"a": [1, {"b": 2}]})
    plain: Any = thawed(frozen)
    plain["a"][1]["b"] = 3
    assert type(plain) is dict
    assert type(plain["a"]) is list
    assert frozen == {"a": [1, {"b": 2}]}


def test_ids_that_are_drawn_in_one_second_hardly_ever_coincide() -> None:
    tokens = [random_token() for _ in range(5000)]
    assert {len(token) for token in tokens} == {4}
    assert all(token.isascii() and token.isalnum() and token == token.lower() for token in tokens)
    # About 7 of 5,000 coincide with an earlier one; of four hexadecimal digits 190 would.
    assert len(set(tokens)) > 4950
