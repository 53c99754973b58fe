from __future__ import annotations

from typing import Any

import pytest

from judgekit.assertions import assertion, check_specs, read_specs
from judgekit.errors import InputError
from judgekit.records import AssertionResult, Output
from judgekit.registry import Registry, RegistryEntry

# Deep enough for every version: Python 3.13 writes out a list of 5,000 levels.
NESTED: list[object] = []
for _ in range(100_000):
    NESTED = [NESTED]


def fault_of(spec: object) -> str:
    """What is wrong with one spec."""
    with pytest.raises(InputError, match=r".") as caught:
        check_specs([spec])
    return str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "output.contain"}, r"assertions[0] (output.contain): no assertion is called so"),
        ({"type": "output.contain"}, "did you mean output.contains"),
        ({"type": "zzz"}, "docs/assertions.md lists them"),
        ({"type": "contains", "value": "a", "vlaue": 1}, "takes no `vlaue`"),
        ({"type": "contains", "valeu": "a"}, "did you mean `value`?"),
        ({"type": "behavior.no_errors", "value": 1}, "it takes nothing"),
        ({"type": "contains"}, "(contains): needs `value`"),
        ({"type": "equals", "value": "{{ item.answer }}"}, "only a grader of OpenAI is given"),
        ({"type": "contains", "value": 3}, "`value` must be a valid string, not 3"),
        ({"type": "latency", "threshold": True}, "`threshold` must be a valid number, not True"),
        ({"type": "latency", "threshold": -1}, "`threshold` must be greater than or equal to 0"),
        ({"type": "latency", "threshold": 1, "value": 2}, "sets `value` twice"),
        ({"type": "latency"}, "needs `threshold`"),
        ({"type": "icontains", "value": "a", "ignore_case": False}, "takes no `ignore_case`"),
        ({"type": "behavior.node_executed"}, "needs `node_id` (or `nodeId`)"),
        ({"type": "regex", "value": "(a"}, "'(a' is no regular expression"),
        ({"type": "contains", "value": "a", "path": "a..b"}, "the path a..b cannot be read"),
        ({"type": "contains", "value": "a", "weight": -1}, "`weight` must be greater than"),
        ({"type": "contains-all", "value": ["a", 1]}, "`value` [1] must be a valid string"),
        ({"type": "word-count", "value": {"min": 3, "max": 1}}, "`min` is more than `max`"),
        ({"type": "contains", "value": 10**5000}, "not a number of too many digits"),
        ({"type": "contains", "value": NESTED}, "not what is nested too deeply"),
        ({"type": "all"}, "needs `assertions`"),
        ({"type": "assert-set", "assert": []}, "needs `assert`"),
        ({"type": "any", "assertions": [{"type": "is-html"}], "threshold": 1}, "takes no `thresh"),
        ({"type": "all", "assertions": [{"type": "is-html", "weight": 0}]}, "weight 0"),
        ({"type": "all", "assertions": "is-html"}, "must be a list"),
        ({"type": "all", "threshold": 2, "assertions": [{"type": "is-html"}]}, "`threshold`"),
        ({}, "assertions[0]: needs a `type`"),
        ({"type": " "}, "needs a `type`"),
        ({"type": "is-html", "criterion": 3}, "`criterion` must be a valid string, not 3"),
        ({"type": "trajectory:tool-used", "value": "x"}, "use `trajectory.tool_used`"),
        ({"type": "trajectory:goal-success"}, "put it into the rubric as a criterion"),
        ({"type": "moderation"}, "put it into the rubric as a criterion"),
        ("contains", "must be a mapping with a `type`"),
    ],
)
def test_an_unsound_spec_names_its_place_type_and_parameter(spec: object, message: str) -> None:
    assert message in fault_of(spec)


@assertion("acme.of")
def of(output: Output, *, criterion: int) -> AssertionResult:
    return AssertionResult(passed=output.text is not None, message=str(criterion))


def test_every_fault_is_listed_at_once_with_its_place() -> None:
    inner = {"type": "all", "assertions": [{"type": "contains"}]}
    _, faults = read_specs([inner, {"type": "zzz"}])
    assert [fault.where for fault in faults] == [
        ("assertions", 0, "assertions", 0),
        ("assertions", 1, "type"),
    ]
    assert str(faults[0]).startswith("assertions[0].assertions[0] (contains)")
    with pytest.raises(InputError, match="2 faults in assertions"):
        check_specs([inner, {"type": "zzz"}])


def test_what_is_no_list_is_refused() -> None:
    with pytest.raises(InputError, match="assertions: must be a list of assertions"):
        check_specs({"type": "contains"})


def test_groups_may_not_be_nested_without_end() -> None:
    spec: dict[str, Any] = {"type": "behavior.no_errors"}
    for _ in range(30):
        spec = {"type": "all", "assertions": [spec]}
    assert "groups are nested deeper than 20" in fault_of(spec)


def test_a_stranger_s_broken_module_is_a_fault() -> None:
    registry = Registry("assertion", [RegistryEntry("acme.x", "no_such:x", "acme")])
    with pytest.raises(InputError, match=r"assertions\[0\] \(acme.x\): 'acme.x' of acme cannot"):
        check_specs([{"type": "acme.x"}], registry=registry)


def test_a_name_may_itself_begin_with_not() -> None:
    _, faults = read_specs(
        [{"type": "not-empty"}], registry=Registry("assertion", [RegistryEntry("not-empty", len)])
    )
    assert "len is neither an assertion nor a scorer" in faults[0].message


def test_both_spellings_of_a_parameter_are_read() -> None:
    for key in ("nodeId", "node_id"):
        check_specs([{"type": "behavior.node_executed", key: "n"}])


def test_a_description_is_for_people() -> None:
    check_specs([{"type": "behavior.no_errors", "description": "nothing breaks", "weight": 2}])


@pytest.mark.parametrize("key", ["node", "nodeId", "node_id"])
def test_a_node_is_named_in_any_spelling(key: str) -> None:
    check_specs([{"type": "trajectory.node_executed", key: "main", "metric": "Reached"}])
    check_specs([{"type": "behavior.node_executed", "nodeId": "main"}])


def test_an_assertion_may_name_the_criterion_it_stands_for() -> None:
    inner = {"type": "contains", "value": "a", "criterion": "tone"}
    check_specs([inner, {"type": "any", "criterion": "tone", "assertions": [inner]}])


def test_an_assertion_of_criteria_keeps_its_own_parameter() -> None:
    registry = Registry("assertion", [RegistryEntry("acme.of", of)])
    [check], _ = read_specs([{"type": "acme.of", "criterion": 3}], registry=registry)
    assert check.function is not None
    found = check.function(Output(text="x"))
    assert isinstance(found, AssertionResult)
    assert found.message == "3"
