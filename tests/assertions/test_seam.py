from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.assertions import assertion, scorer
from judgekit.assertions.registry import declaration_of
from judgekit.errors import InputError
from judgekit.records import AssertionResult, Score

if TYPE_CHECKING:
    from decimal import Decimal

    from judgekit.records import Case, Output


@assertion("acme.max_words")
def max_words(output: Output, *, limit: int = 5, case: Case | None = None) -> AssertionResult:
    n = len((output.text or "").split())
    return AssertionResult(passed=n <= limit, message=f"{n} words, {case}")


def test_a_declared_function_is_the_function_itself() -> None:
    said = declaration_of(max_words)
    assert said.function is max_words
    assert said.name == "acme.max_words"


def test_the_parameters_are_read_from_the_signature() -> None:
    said = declaration_of(max_words)
    assert list(said.parameters) == ["limit"]
    assert not said.parameters["limit"].is_required
    assert said.parameters["limit"].adapter.json_schema() == {"type": "integer"}
    assert said.wants_case


def test_a_scorer_is_declared_alike() -> None:
    @scorer("acme.brevity")
    def brevity(output: Output, *, most: float) -> Score:
        return Score(name="acme.brevity", value=min(1.0, most), message=str(output))

    assert declaration_of(brevity).parameters["most"].is_required


def test_an_undeclared_function_says_what_is_missing() -> None:
    with pytest.raises(InputError, match=r"len is neither an assertion nor a scorer"):
        declaration_of(len)


def test_a_parameter_by_position_is_refused() -> None:
    with pytest.raises(InputError, match="must take the output, then keyword-only parameters"):

        @assertion("acme.x")
        def wrong(output: Output, limit: int) -> AssertionResult:
            raise NotImplementedError


def test_a_function_that_takes_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="must take the output, then keyword-only parameters"):

        @assertion("acme.x")
        def wrong() -> AssertionResult:
            raise NotImplementedError


def test_a_blank_name_is_refused() -> None:
    with pytest.raises(InputError, match="needs a name"):
        assertion(" ")(max_words)


def test_a_parameter_without_a_hint_is_refused() -> None:
    @assertion("acme.unhinted")
    def unhinted(output: Output, *, limit=3) -> AssertionResult:  # type: ignore[no-untyped-def]
        raise NotImplementedError

    with pytest.raises(InputError, match="the parameter 'limit' needs a type hint"):
        declaration_of(unhinted)


def test_a_hint_that_is_there_for_type_checkers_only_is_an_error() -> None:
    @assertion("acme.decimal")
    def decimal(output: Output, *, limit: Decimal) -> AssertionResult:
        raise NotImplementedError

    with pytest.raises(InputError, match="the type hint of 'limit' cannot be resolved"):
        declaration_of(decimal)
