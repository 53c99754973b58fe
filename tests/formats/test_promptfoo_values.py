from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import check_specs, evaluate_assertions
from judgekit.datasets import load_dataset, validate_path
from judgekit.errors import NotImportedWarning
from judgekit.formats.promptfoo_assertions import converted_value
from judgekit.formats.promptfoo_files import assertion_of_text
from judgekit.records import Rubric
from tests.factories import make_output
from tests.formats.writing import warnings_of, write

if TYPE_CHECKING:
    from pathlib import Path


def config(*assertions: dict[str, Any]) -> dict[str, Any]:
    tests = [{"vars": {"q": "Q"}, "assert": [*assertions]}]
    return {"prompts": [], "tests": tests}


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("contains", 4, "4"),
        ("equals", 4.0, "4"),
        ("equals", True, "true"),
        ("equals", 0.5, "0.5"),
        ("equals", {"a": 1}, {"a": 1}),
        ("equals", [1], [1]),
        ("meteor", 4, "4"),
        ("meteor", ["a", 4], ["a", "4"]),
        ("contains-all", 'a, "b, c",', ["a", "b, c"]),
        ("contains-all", "a,,\nb\nc,", ["a", "b\nc"]),
        ("contains-all", r'"say ""a""", "\"b\"", c "d, e"', ['say "a"', '"b"', 'c "d', 'e"']),
        ("contains-all", "x" * 200_000, ["x" * 200_000]),
        ("contains-any", [1, "two"], ["1", "two"]),
        ("contains-any", 3, ["3"]),
        ("contains-any", {"a": 1}, {"a": 1}),
        ("is-xml", {"requiredElements": ["a.b"]}, ["a.b"]),
        ("contains-xml", "a.b,a.c", ["a.b", "a.c"]),
        ("is-json", '{"type": "object"}', {"type": "object"}),
        ("is-json", "type: object\nrequired: [a]", {"type": "object", "required": ["a"]}),
        ("is-json", {"type": "object"}, {"type": "object"}),
        ("is-json", "a: b: c", "a: b: c"),
        ("is-json", "3", "3"),
        ("is-json", "", None),
        ("word-count", {"max": 3}, {"max": 3}),
    ],
)
def test_a_value_is_what_promptfoo_takes_it_for(name: str, value: Any, meant: Any) -> None:
    assert converted_value(name, value) == meant


def test_assertions_as_people_write_them_can_be_carried_out(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"type": "object"}', encoding="utf-8")
    path = write(
        tmp_path,
        config(
            {"type": "contains", "value": 4},
            {"type": "not-contains-any", "value": "a, b"},
            {"type": "is-json", "value": "file://schema.json"},
            {"type": "tool-call-f1", "value": "search, buy"},
        ),
    )
    (case,) = load_dataset(path).cases
    check_specs(list(case.assertions))
    assert [spec.get("value") for spec in case.assertions] == [
        "4", ["a", "b"], {"type": "object"}, ["search", "buy"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "text", "passed"),
    [
        ({"dependencies": {"a": ["b"]}}, '{"a": 1}', False),
        ({"items": [{"type": "string"}], "additionalItems": False}, '["a"]', True),
        ("items: [{type: string}]\nadditionalItems: false", '["a", 1]', False),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [
            {"type": "string"}], "properties": {"items": True}}, "[1]", False),
    ],
)  # fmt: skip
def test_a_schema_is_one_of_draft_7_as_in_promptfoo(
    tmp_path: Path, schema: Any, text: str, passed: Any
) -> None:
    (case,) = load_dataset(write(tmp_path, config({"type": "is-json", "value": schema}))).cases
    (found,) = evaluate_assertions(make_output(text), list(case.assertions))
    assert found.passed is passed, found.message


def test_a_distance_is_a_whole_number(tmp_path: Path) -> None:
    near = {"type": "levenshtein", "value": "yes", "threshold": 2.7}
    near_in_a_table = assertion_of_text("levenshtein(2.7): yes")
    (case,) = load_dataset(write(tmp_path, config(near, near_in_a_table))).cases
    found = evaluate_assertions(make_output("yes si"), list(case.assertions))
    assert [(one.passed, one.actual) for one in found] == [(False, 3)] * 2


def test_several_references_are_a_group_of_which_one_must_be_reached(tmp_path: Path) -> None:
    several = {"value": ["x y", 7], "threshold": 0.3, "weight": 2}
    path = write(
        tmp_path, config({"type": "rouge-n", **several}, {"type": "not-rouge-n", **several})
    )
    (case,) = load_dataset(path).cases
    first, second = case.assertions
    own = {"threshold": 0.3, "signs": True}
    members = [{"type": "rouge-n", "value": text, **own} for text in ("x y", "7")]
    assert first == {"type": "any", "assertions": members, "weight": 2}
    assert second["type"] == "not-any"
    check_specs(list(case.assertions))
    assert any("with each reference separately" in warning for warning in warnings_of(path))


def test_meteor_is_read_with_its_parameters_and_told_to_know_no_synonyms(tmp_path: Path) -> None:
    given = {"value": ["a b", 7], "threshold": 0.3, "alpha": 0.8, "beta": 2, "gamma": 0.4}
    path = write(tmp_path, config({"type": "not-meteor", **given}))
    (case,) = load_dataset(path).cases
    assert case.assertions == ({"type": "not-meteor", **given, "value": ["a b", "7"]},)
    [warning] = warnings_of(path)
    assert "`meteor` matches words and stems here, no synonyms" in warning
    bleu = write(tmp_path, config({"type": "bleu", "value": "a", "alpha": 0.8}), "bleu.json")
    [left_out] = validate_path(bleu)
    assert "`alpha` of the assertion is not imported" in left_out.message


@pytest.mark.parametrize("group", ["any", "all", "not-all"])
def test_a_group_that_lost_a_check_never_passes(group: str) -> None:
    lost = {"type": "not_imported", "what": "javascript", "reason": "code", "line": 3}
    decided = {"type": "contains", "value": "day" if group == "any" else "week"}
    members = {"all": [{"type": "contains", "value": "day"}]}.get(group, [decided])
    spec: dict[str, Any] = {
        "type": group,
        "assertions": [*members, {"type": "all", "assertions": [lost]}],
    }
    if group == "all":
        spec["threshold"] = 0.5
    (found,) = evaluate_assertions(make_output("a day"), [spec])
    assert found.passed is None
    assert "could not be checked" in (found.error or "")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^yes$|^no$", "yes\n", None),
        ("(yes$)", "yes\n", None),
        ("(yes$)", "yes", "yes"),
        (r"costs \$5|[$]$", "costs $5", "costs $5"),
        (r"x\\$", "x\\", "x\\"),
        (r"^[\w-\.]+@[\d-\w]+$", "a-b.c@d-1", "a-b.c@d-1"),
        ("a[^]b", "a\nb", "a\nb"),
        ("a[]|b", "a", None),
    ],
)
def test_a_pattern_of_javascript_matches_the_same_texts(
    tmp_path: Path, pattern: str, text: str, found: str | None
) -> None:
    path = write(tmp_path, config({"type": "regex", "value": pattern}))
    (case,) = load_dataset(path).cases
    (result,) = evaluate_assertions(make_output(text), list(case.assertions))
    assert (result.passed, result.actual) == (found is not None, found)


@pytest.mark.parametrize("pattern", [r"\p{L}", "(?<=a+)b", "("])
def test_a_pattern_that_python_does_not_read_marks_its_case_alone(
    tmp_path: Path, pattern: str
) -> None:
    path = write(tmp_path, config({"type": "not-regex", "value": pattern}))
    with pytest.warns(NotImportedWarning, match="1 part of the file is not imported"):
        (case,) = load_dataset(path).cases
    check_specs(list(case.assertions))
    (found,) = evaluate_assertions(make_output("b"), list(case.assertions))
    assert found.passed is None
    assert "Python's `re` does not read its pattern" in (found.error or "")
    assert any("`not-regex` is not imported" in one.message for one in validate_path(path))


def test_under_the_threshold_of_its_test_a_set_is_one_check_of_its_own_weight(
    tmp_path: Path,
) -> None:
    members = [{"type": "contains", "value": text} for text in ("yes", "x", "z")]
    held = {"type": "starts-with", "value": "y"}
    sets: list[dict[str, Any]] = [{"type": "assert-set", "assert": members}, held]
    tests = [{"assert": sets, "threshold": limit} for limit in (0.6, 0.7)]
    tests += [{"assert": [{**sets[0], "weight": 4}, held], "threshold": 0.5}]
    path = write(tmp_path, {"prompts": [], "tests": tests})
    scores = [
        (found.passed, round(found.value or 0, 3))
        for case in load_dataset(path).cases
        for found in evaluate_assertions(make_output("yes"), list(case.assertions))
    ]
    assert scores == [(True, 0.667), (False, 0.667), (False, 0.467)]


def test_the_criteria_of_a_set_weigh_together_what_the_set_does(tmp_path: Path) -> None:
    asked = [{"type": "llm-rubric", "value": text} for text in ("a", "b", "c")]
    grouped = {"type": "assert-set", "weight": 2, "assert": [asked[0], {**asked[1], "weight": 3}]}
    test = {"assert": [grouped, asked[2]], "threshold": 0.5}
    (case,) = load_dataset(write(tmp_path, {"prompts": [], "tests": [test]})).cases
    assert isinstance(case.rubric, Rubric)
    assert [one.weight for one in case.rubric.criteria] == [0.5, 1.5, 1]


def test_a_set_whose_members_weigh_nothing_decides_nothing(tmp_path: Path) -> None:
    idle = {"type": "assert-set", "assert": [{"type": "contains", "value": "x", "weight": 0}]}
    test = {"assert": [idle, {"type": "contains", "value": "yes"}], "threshold": 0.5}
    (case,) = load_dataset(write(tmp_path, {"prompts": [], "tests": [test]})).cases
    (found,) = evaluate_assertions(make_output("yes"), list(case.assertions))
    assert found.passed
