from __future__ import annotations

from typing import Any

import pytest

from judgekit.assertions import assertion_registry, evaluate_assertions
from judgekit.assertions.registry import assertion
from judgekit.errors import InputError
from judgekit.records import AssertionResult, Case, Output
from judgekit.registry import Registry, RegistryEntry
from tests.factories import make_case

HELLO = Output(text="say hello")


@assertion("acme.breaks")
def breaks(output: Output) -> AssertionResult:
    raise ZeroDivisionError(output.text)


@assertion("acme.odd")
def odd(output: Output) -> AssertionResult:
    return output.text  # type: ignore[return-value]


@assertion("acme.deep")
def deep(output: Output) -> AssertionResult:
    return deep(output)


@assertion("acme.same_input")
def same_input(output: Output, *, case: Case | None = None) -> AssertionResult:
    passed = case is not None and case.input == output.text
    return AssertionResult(passed=passed, message="compared with the input", value=0.25)


OWN = assertion_registry().plus(
    *(RegistryEntry(f.__name__, f, "tests") for f in (breaks, odd, deep, same_input))
)


def one(spec: dict[str, Any], output: Output = HELLO, **kwargs: Any) -> AssertionResult:
    """The result of one assertion."""
    return evaluate_assertions(output, [spec], **kwargs)[0]


def test_the_example_of_the_contract_holds() -> None:
    spec = {"type": "output.contains", "path": "outputs.main.text", "value": "hello"}
    result = one(spec)
    assert result.passed is True
    assert result.actual == "say hello"
    assert result.message == 'outputs.main.text contains "hello"'
    assert result.type == "output.contains"


def test_a_result_round_trips() -> None:
    result = one({"type": "not-contains", "value": "hello", "weight": 2.5})
    assert AssertionResult.model_validate(result.to_json()) == result
    assert result.weight == 2.5


def test_a_negated_assertion_passes_when_it_does_not_hold() -> None:
    assert one({"type": "not-contains", "value": "bye"}).passed is True
    assert one({"type": "not-output.contains", "path": "text", "value": "hello"}).passed is False


def test_a_missing_path_fails_and_leaves_the_negation_open() -> None:
    spec = {"type": "output.contains", "path": "outputs.a.b", "value": "x"}
    assert one(spec).passed is False
    negated = one(spec | {"type": "not-output.contains"})
    assert negated.passed is None
    assert negated.error is not None


@pytest.mark.parametrize("prefix", ["", "not-"])
def test_what_raises_is_an_error_also_when_negated(prefix: str) -> None:
    result = one({"type": f"{prefix}breaks"}, registry=OWN)
    assert result.passed is None
    assert result.error == "it raised ZeroDivisionError: say hello"


@pytest.mark.parametrize("prefix", ["", "not-"])
def test_half_a_character_in_a_path_does_no_harm(prefix: str) -> None:
    spec = {"type": f"{prefix}output.equals", "path": "\ud800", "value": True}
    found = one(spec)
    assert found.passed is (None if prefix else False)
    assert "\\ud800" in found.message


def test_what_returns_something_else_is_an_error() -> None:
    assert one({"type": "odd"}, registry=OWN).error == "it returned str, not an AssertionResult"


def test_endless_recursion_is_an_error() -> None:
    result = one({"type": "deep"}, registry=OWN)
    assert result.error == "the value it checks is nested too deeply"


def test_an_assertion_that_asks_for_it_gets_the_case() -> None:
    case = make_case(input="say hello")
    assert one({"type": "same_input"}, registry=OWN, case=case).passed is True
    assert one({"type": "same_input"}, registry=OWN).passed is False


def test_the_value_of_a_negated_assertion_is_turned_round() -> None:
    assert one({"type": "not-same_input"}, registry=OWN).value == 0.75


def test_an_unsound_spec_stops_before_anything_is_carried_out() -> None:
    with pytest.raises(InputError, match=r"assertions\[1\]"):
        evaluate_assertions(HELLO, [{"type": "breaks"}, {"type": "zzz"}], registry=OWN)
    with pytest.raises(InputError, match="must be a list"):
        evaluate_assertions(HELLO, {"type": "is-html"})  # type: ignore[arg-type]


def test_a_spec_that_was_changed_is_read_anew() -> None:
    spec = {"type": "contains", "value": "hello"}
    assert one(spec).passed is True
    spec["value"] = "bye"
    assert one(spec).passed is False


def test_a_spec_that_is_asked_again_gives_the_same_result() -> None:
    spec = {"type": "contains", "value": "hello"}
    assert one(spec) == one(spec)


def test_a_spec_is_read_anew_for_another_registry() -> None:
    spec = {"type": "breaks"}
    assert one(spec, registry=OWN).passed is None
    with pytest.raises(InputError, match="no assertion is called so"):
        one(spec, registry=Registry("assertion", []))


def test_what_is_no_mapping_is_refused_however_it_is_held() -> None:
    with pytest.raises(InputError, match="must be a list of assertions"):
        evaluate_assertions(HELLO, "is-html")  # type: ignore[arg-type]


def test_thousands_of_specs_can_be_asked() -> None:
    specs = [{"type": "contains", "value": str(n)} for n in range(4200)]
    assert len(evaluate_assertions(HELLO, specs)) == 4200


def test_the_results_come_in_the_order_of_the_specs() -> None:
    specs = [{"type": "contains", "value": value} for value in ("hello", "bye", "say")]
    results = evaluate_assertions(HELLO, specs)
    assert [result.passed for result in results] == [True, False, True]


def test_a_failed_output_says_nothing_of_its_text() -> None:
    output = Output(error="the target timed out")
    for spec_type in ("contains", "not-contains"):
        result = one({"type": spec_type, "value": "a"}, output)
        assert result.error == "there is no output: the target timed out"
    with_path = {"type": "output.contains", "path": "outputs.a", "value": "a"}
    assert one(with_path, output).passed is None


def test_a_group_carries_its_members_out() -> None:
    members = [{"type": "contains", "value": "hello"}, {"type": "contains", "value": "bye"}]
    result = one({"type": "any", "assertions": members, "weight": 3})
    assert result.passed is True
    assert [part.passed for part in result.parts] == [True, False]
    assert (result.type, result.weight, result.value) == ("any", 3, 0.5)
    negated = one({"type": "not-any", "assertions": members})
    assert (negated.passed, negated.value) == (False, 0.5)


def test_groups_nest() -> None:
    inner = {"type": "none", "assertions": [{"type": "contains", "value": "bye"}]}
    result = one({"type": "all", "assertions": [inner, {"type": "contains", "value": "say"}]})
    assert result.passed is True
    assert result.parts[0].parts[0].type == "contains"
