from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import check_specs, evaluate_assertions
from judgekit.datasets import load_dataset, validate_path
from judgekit.formats.promptfoo_vocabulary import UnsupportedAssertionError, trajectory_spec
from judgekit.records import Output, Rubric
from tests.formats.writing import line_with, write

if TYPE_CHECKING:
    from pathlib import Path

SEARCHED = Output(
    text="done",
    trace=[
        {"type": "tool_call", "name": "search", "content": {"q": "cats", "page": 2}},
        {
            "type": "tool_call",
            "name": "fetch",
            "content": {"url": "u", "by": {'a."b\\': {"n": 1, "o": 2}, "m": None}},
        },
    ],
)


@pytest.mark.parametrize(
    ("name", "value", "passed"),
    [
        ("tool-used", "search", True),
        ("tool-used", "delete", False),
        ("tool-used", ["search", "fetch"], True),
        ("tool-used", ["search", "delete"], False),
        ("tool-used", {"name": "search", "min": 1, "max": 1}, True),
        ("tool-used", {"name": "search", "min": 2}, False),
        ("tool-args-match", {"name": "search", "args": {"q": "cats"}}, True),
        ("tool-args-match", {"name": "search", "arguments": {"q": "dogs"}}, False),
        ("tool-args-match", {"name": "search", "args": {"q": "cats"}, "mode": "exact"}, False),
        ("tool-args-match", {"name": "delete", "args": {"q": "cats"}}, False),
        ("tool-args-match", {"name": "fetch", "args": {"by": {'a."b\\': {"n": 1}}}}, True),
        ("tool-args-match", {"name": "fetch", "args": {"by": {"m": None}, "url": "u"}}, True),
        ("tool-args-match", {"name": "fetch", "args": {"by": {"m": 1}}}, False),
        ("tool-args-match", {"name": "fetch", "args": {"by": {"x": {"y": {}}}}}, False),
        ("tool-sequence", ["search", "fetch"], True),
        ("tool-sequence", ["fetch", "search"], False),
        ("tool-sequence", {"steps": [{"name": "fetch"}]}, True),
        ("tool-sequence", {"steps": ["fetch"], "mode": "exact"}, False),
        ("step-count", {"type": "tool", "max": 2}, True),
        ("step-count", {"type": "tool", "max": 1}, False),
        ("step-count", {"type": "tool", "max": 1, "pattern": "search"}, True),
    ],
)
def test_an_assertion_on_a_trajectory_holds_as_in_promptfoo(
    *, name: str, value: Any, passed: bool
) -> None:
    spec = trajectory_spec(f"trajectory:{name}", value)

    [found] = evaluate_assertions(SEARCHED, [spec])

    assert found.passed is passed, found.message
    if not isinstance(value, list) or name != "tool-used":
        turned = trajectory_spec(f"not-trajectory:{name}", value)
        assert evaluate_assertions(SEARCHED, [turned])[0].passed is not passed


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("tool-used", [], "name the tools"),
        ("tool-used", None, "name the tools"),
        ("tool-used", {"pattern": "a*"}, "`pattern` is not read here; name the tools"),
        ("tool-used", {"min": 1}, "name the tools"),
        ("tool-used", "delete_*", r"the pattern 'delete_\*' is not read here; name the tools"),
        ("tool-used", ["a", "b?"], r"the pattern 'b\?' is not read here"),
        ("tool-sequence", ["a", {"name": "*"}], r"the pattern '\*' is not read here"),
        ("tool-args-match", {"name": "a", "args": {"l": [{"x": 1}]}}, "`l` has objects in a list"),
        ("tool-args-match", "search", "give `.name: "),
        ("tool-args-match", {"name": "a", "mode": "fuzzy"}, "`mode` must be `partial` or `exact`"),
        ("tool-sequence", [], "name the tools"),
        ("tool-sequence", {"steps": ["a"], "mode": "any"}, "`mode` must be `in_order` or `exact`"),
        ("tool-sequence", [3], "name the tools"),
        ("step-count", {"type": "span", "max": 3}, "count the calls of tools"),
        ("step-count", {"type": "tool", "min": 3}, "count the calls of tools"),
        ("step-count", {"type": "tool", "max": 3, "pattern": "a*"}, "count the calls of tools"),
    ],
)
def test_what_a_trajectory_cannot_be_asked_says_what_can(name: str, value: Any, what: str) -> None:
    with pytest.raises(UnsupportedAssertionError, match=what):
        trajectory_spec(f"trajectory:{name}", value)


def test_several_tools_are_denied_one_by_one() -> None:
    with pytest.raises(
        UnsupportedAssertionError, match="write one `not-trajectory:tool-used` for each"
    ):
        trajectory_spec("not-trajectory:tool-used", ["a", "b"])


def test_a_configuration_keeps_weight_and_metric_and_tells_faults_with_their_line(
    tmp_path: Path,
) -> None:
    asserted: list[dict[str, Any]] = [
        {"type": "trajectory:tool-used", "value": "{{tool}}", "weight": 2, "metric": "found"},
        {"type": "trajectory:goal-success", "value": "the cat is found"},
    ]
    test = {"vars": {"tool": "search"}, "assert": asserted}
    [case] = load_dataset(write(tmp_path, {"prompts": [], "tests": [test]})).cases
    assert case.assertions == (
        {"type": "trajectory.tool_used", "tool": "search", "weight": 2, "description": "found"},
    )
    check_specs(case.assertions)
    assert isinstance(case.rubric, Rubric)
    assert case.rubric.criteria[0].question == "Was this goal reached: the cat is found"

    asserted[0]["value"] = {"pattern": "s*"}
    path = write(tmp_path, {"prompts": [], "tests": [test]})
    [problem] = validate_path(path)
    assert problem.message.endswith("is not imported: it has no counterpart here")
    assert problem.severity == "left_out"
    assert problem.line == line_with(path, '"value": {')


def test_tool_call_f1_counts_a_tool_once_as_in_promptfoo() -> None:
    twice = Output(trace=[{"type": "tool_call", "name": n} for n in ("search", "search", "buy")])
    spec = {"type": "tool-call-f1", "value": ["buy", "search", "search"]}
    plain = {"type": "trajectory.f1", "calls": ["buy", "search"]}
    found = evaluate_assertions(twice, [spec, plain])
    assert [(one.passed, one.value) for one in found] == [(True, 1), (False, 0.8)]
