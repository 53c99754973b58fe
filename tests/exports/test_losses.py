from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from judgekit.errors import DatasetError
from judgekit.exports.conversion import case_losses
from tests.exports.making import JSON
from tests.factories import make_case, make_rubric

if TYPE_CHECKING:
    from judgekit.records import Case


def lost(before: Case, **changes: Any) -> list[str]:
    """What is lost where some fields of a case come back altered."""
    after = before.model_copy(update=changes)
    return list(case_losses([before], lambda: [after]))


def test_the_same_cases_lose_nothing() -> None:
    assert lost(make_case(tags=("a",), metadata={"x": None}, rubric=make_rubric())) == []


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("input", {"a": 1}, '{"a": 1}'),
        ("reference", True, 1),
        ("reference", 1, 1.0),
        ("tags", ("a",), ()),
        ("context", {"a": None}, {}),
        ("description", "", None),
    ],
)
def test_a_field_that_is_gone_or_altered_is_lost(name: str, before: Any, after: Any) -> None:
    assert lost(make_case(**{name: before}), **{name: after}) == [f"refund: {name}"]


def test_what_is_there_only_afterwards_is_no_loss() -> None:
    case = make_case(metadata={"a": 1})
    assert lost(case, name="n", assertions=({"type": "x"},), metadata={"a": 1, "b": 2}) == []


def test_metadata_are_told_by_their_entry() -> None:
    case = make_case(metadata={"a": 1, "b": {"c": [1]}, "d": 1})
    assert lost(case, metadata={"a": 1, "b": {"c": [2]}}) == [
        "refund: metadata.b",
        "refund: metadata.d",
    ]


def test_a_rubric_is_told_by_the_place_that_differs() -> None:
    before = make_rubric("accuracy", "clarity")
    other = make_rubric("accuracy", "tone", name="other")
    found = lost(make_case(rubric=before), rubric=other)
    assert found == [
        "refund: rubric.name",
        "refund: rubric.criteria[1].name",
        "refund: rubric.criteria[1].question",
    ]
    assert lost(make_case(rubric=before), rubric=make_rubric()) == ["refund: rubric.criteria"]
    assert lost(make_case(rubric=before), rubric=None) == ["refund: rubric"]


def test_cases_that_are_missing_or_too_many_are_told() -> None:
    first, second = make_case(id="a"), make_case(id="b")
    assert list(case_losses([first, second], lambda: [first])) == ["b: the case is not in the file"]
    assert list(case_losses([first], lambda: [first, second])) == [
        "b: the case is only in the file"
    ]


def test_a_file_that_cannot_be_read_again_is_told() -> None:
    def unsound() -> list[Case]:
        raise DatasetError("no `id`", path="a.json", line=3)

    (found,) = case_losses([make_case()], unsound)
    assert found == "the file could not be read again: a.json:3: no `id`"


@given(JSON, JSON)
def test_any_other_value_is_a_loss(before: Any, after: Any) -> None:
    found = lost(make_case(reference=before), reference=after)
    same = before == after and repr(before) == repr(after)
    assert found == [] or not same
