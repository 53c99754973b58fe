from __future__ import annotations

from typing import get_args

import pytest

from judgekit import errors
from judgekit.errors import (
    BudgetExceededError,
    DatasetError,
    FrozenCacheError,
    JudgeError,
    JudgekitError,
    ModelError,
    RefusalError,
    ReplyFormatError,
    UnknownNameError,
)
from judgekit.records import FailureKind

CLASSES = [found for found in vars(errors).values() if isinstance(found, type)]
JUDGE_ERRORS = [
    JudgeError("x"),
    ModelError("x", kind="auth"),
    ReplyFormatError("x", reason="empty"),
    RefusalError("x"),
    BudgetExceededError("x"),
    FrozenCacheError("x", key="k"),
]


@pytest.mark.parametrize("found", CLASSES)
def test_every_error_is_a_judgekit_error_and_stands_in_the_tree_of_the_docstring(
    found: type[Exception],
) -> None:
    assert issubclass(found, JudgekitError)
    assert found.__name__ in (errors.__doc__ or "")


def test_an_error_shows_its_hint_after_its_message() -> None:
    assert str(JudgekitError("it is broken", hint="mend it")) == "it is broken\n  mend it"
    assert str(JudgekitError("it is broken")) == "it is broken"


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ({}, "bad"),
        ({"path": "a.jsonl"}, "a.jsonl: bad"),
        ({"path": "a.jsonl", "line": 3}, "a.jsonl:3: bad"),
        ({"path": "a.jsonl", "line": 3, "case_id": "c1"}, "a.jsonl:3: case 'c1': bad"),
        ({"case_id": "c1"}, "case 'c1': bad"),
    ],
)
def test_a_dataset_error_says_where(place: dict[str, str], shown: str) -> None:
    error = DatasetError("bad", **place)  # type: ignore[arg-type]  # one table for several types
    assert str(error) == shown
    assert (error.path, error.case_id) == (place.get("path"), place.get("case_id"))


def test_an_unknown_name_lists_the_near_ones() -> None:
    error = UnknownNameError("scale", "binry", ["unit", "binary"])
    assert str(error) == "no scale is called 'binry'\n  did you mean binary?"
    assert error.known == ("binary", "unit")


def test_an_unknown_name_without_near_ones_lists_all() -> None:
    assert "known: binary, unit" in str(UnknownNameError("scale", "zzz", ["unit", "binary"]))


@pytest.mark.parametrize("error", JUDGE_ERRORS, ids=lambda error: type(error).__name__)
def test_the_kind_of_a_judge_error_is_in_the_closed_list(error: JudgeError) -> None:
    assert error.kind in get_args(FailureKind)


@pytest.mark.parametrize(
    ("kind", "fatal"),
    [("auth", True), ("not_found", True), ("quota", True), ("timeout", False), ("empty", False)],
)
def test_an_error_that_every_call_would_meet_is_fatal(kind: str, fatal: bool) -> None:  # noqa: FBT001 - a column of the table
    assert ModelError("x", kind=kind).fatal is fatal
