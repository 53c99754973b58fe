from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import load_dataset
from judgekit.errors import DatasetError
from judgekit.formats import ParsedDocument
from judgekit.formats.attachments import MAX_CASE_FILES
from judgekit.formats.skill_tests import read_skill_tests
from judgekit.records import CaseEvaluation, Rubric
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, line_with, skill_test, skill_tests, warnings_of, write

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Case


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.id: case for case in load_dataset(FOREIGN / "skill").cases}


def criterion(**fields: Any) -> dict[str, Any]:
    known = {"name": "c", "description": "Has a date", "weight": 1, "scale": {"min": 1, "max": 5}}
    return known | fields


def judged(*criteria: dict[str, Any], threshold: float = 0.7, **fields: Any) -> dict[str, Any]:
    rubric = {"criteria": [*criteria], "passingThreshold": threshold} | fields
    return skill_test(expected={"rubric": rubric}, evaluation={"strategy": "llm_judge"})


def test_an_exact_output_is_the_reference_and_an_assertion(cases: dict[str, Case]) -> None:
    case = cases["sum-001"]
    assert (case.input, case.reference) == ("What is 17 + 25?", "42")
    assert case.assertions == ({"type": "equals", "value": "42"},)
    assert case.evaluation == CaseEvaluation(strategy="exact_match", retries=2)
    assert (case.stratum, case.metadata["priority"]) == ("simple", "critical")


def test_each_pattern_is_an_assertion_and_variables_stay_with_the_prompt(
    cases: dict[str, Case],
) -> None:
    case = cases["phone-001"]
    assert [item["value"] for item in case.assertions] == ["^\\+49", "1234$"]
    assert case.input == {
        "prompt": "Write {{number}} with its country code",
        "variables": {"number": "030 1234"},
    }
    assert (case.tags, case.stratum) == (("format",), "medium")


def test_fixtures_stand_in_the_place_of_their_names(cases: dict[str, Case]) -> None:
    case = cases["invoice-001"]
    context = case.context
    assert isinstance(context, dict)
    text = "Paper 12 EUR\nInk 18 EUR\n"
    assert context["document"] == {"file": "fixtures/invoice.txt", "text": text}
    assert isinstance(context["scan"], dict)
    assert (context["scan"]["n_bytes"], context["note"]) == (4, "two pages")
    assert case.assertions[0]["type"] == "is-json"
    assert (case.tags, case.stratum) == (("money",), "complex")
    assert case.metadata["reviewed"] is True


def test_similarity_judge_and_script_are_evaluations(cases: dict[str, Case]) -> None:
    similar, letter, script = (cases[name] for name in ("summary-001", "letter-001", "script-001"))
    assert similar.assertions[0]["threshold"] == 0.8
    assert similar.evaluation == CaseEvaluation(strategy="semantic_sim", threshold=0.8)
    assert letter.evaluation == CaseEvaluation(strategy="llm_judge", threshold=0.7, timeout_s=90)
    assert script.evaluation is not None
    assert script.evaluation.script == "scripts/sorted.py"
    assert cases["mixed-001"].evaluation == CaseEvaluation(
        strategy="hybrid", weights={"exact_match": 0.7, "regex_match": 0.3}
    )


def test_a_rubric_becomes_criteria_with_levels(cases: dict[str, Case]) -> None:
    rubric = cases["letter-001"].rubric
    assert isinstance(rubric, Rubric)
    complete, polite = rubric.criteria
    assert (rubric.pass_threshold, rubric.metadata) == (0.7, {"overallFeedback": True})
    assert [(level.value, level.description) for level in complete.scale.levels] == [
        (5, "Both"), (1, "Neither")
    ]  # fmt: skip
    assert (complete.weight, complete.scale.integer) == (0.6, True)
    assert (polite.scale.holds(0.5), complete.scale.holds(2)) == (True, True)


def test_every_problem_of_a_file_is_found_at_once(tmp_path: Path) -> None:
    tests = [
        skill_test(id="nothing", expected={}),
        skill_test(id="nothing"),
        skill_test(id="strategy", evaluation={"strategy": "fuzzy"}),
        skill_test(id="schema", evaluation={"strategy": "json_schema"}),
        judged(criterion(weight=0.4), threshold=70) | {"id": "judged"},
        skill_test(id="pattern", expected={"patterns": ["(", ""]},
                   evaluation={"strategy": "regex_match"}),
    ]  # fmt: skip
    path = write(tmp_path, skill_tests(*tests, profile="strict"))
    found = [(problem.line, problem.case_id, problem.message) for problem in errors_of(path)]
    messages = " | ".join(message for _, _, message in found)
    assert (line_with(path, '"profile"'), None) in [(line, case) for line, case, _ in found]
    assert "`profile` must be 'deterministic', 'structured'" in messages
    assert "exact_match has no `expected.output`, so the case cannot fail" in messages
    assert "`evaluation.strategy` must be 'exact_match'" in messages
    assert "json_schema has no `expected.jsonSchema`" in messages
    assert "`passingThreshold` is 70, but thresholds are on [0, 1]" in messages
    assert "'(' is no regular expression" in messages
    assert "an empty pattern is found in every output" in messages


def test_an_id_given_twice_is_told_with_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path, skill_tests(skill_test(), skill_test()))
    [problem] = errors_of(path)
    assert problem.line is not None
    assert (problem.case_id, "first in line" in problem.message) == ("t1", True)
    assert problem.line > line_with(path, '"t1"')


@pytest.mark.parametrize(
    ("test", "what"),
    [
        (skill_test(expected={"output": "R", "patterns": ["R"]}), "ignores `patterns`"),
        (judged(criterion(weight=0.4)), "the weights add up to 0.4, not 1"),
        (judged(criterion(description="Is proper")), "says 'proper'"),
        (skill_test(expected={}, evaluation={"strategy": "llm_judge"}), "the case has no rubric"),
        (skill_test(expectd={}), "the field `expectd` is not known"),
    ],
)
def test_what_should_be_mended_is_a_warning(
    tmp_path: Path, test: dict[str, Any], what: str
) -> None:
    path = write(tmp_path, skill_tests(test))
    assert any(what in warning for warning in warnings_of(path))
    assert errors_of(path) == []


@pytest.mark.parametrize(
    ("test", "what"),
    [
        (judged(criterion(weight=0)), "no criterion has a weight above 0"),
        (judged(criterion(), criterion()), "two criteria are called c"),
        (judged(criterion(scale={"min": 5, "max": 1})), "must lie below its max"),
        (judged(criterion(scale={"min": 1, "max": 5, "descriptions": {"x": "y"}})), "'x' is no"),
        (judged(criterion(scale=7), threshold=80), "scale` must be a mapping"),
        (judged(criterion(), threshold=80), "passingThreshold` is 80"),
        (skill_test(expected={"output": "R", "semanticThreshold": 80},
                    evaluation={"strategy": "semantic_sim"}), "80 % is 0.8"),
        (skill_test(expected={}, evaluation={"strategy": "hybrid"}), "nothing to combine"),
        (skill_test(evaluation={"strategy": "hybrid", "weights": {"exact": 1}}), "called 'exact'"),
        (skill_test(expected={"customScript": "return 1"}, evaluation={"strategy": "custom"}),
         "must be the path of a .py or .js file"),
        (skill_test(expected={"customScript": "../x.py"}, evaluation={"strategy": "custom"}),
         "must be the path of a .py or .js file"),
        (skill_test(expected=3), "`expected` must be a mapping"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_an_error(tmp_path: Path, test: dict[str, Any], what: str) -> None:
    path = write(tmp_path, skill_tests(test))
    assert any(what in str(problem) for problem in errors_of(path))
    with pytest.raises(DatasetError):
        load_dataset(path)


@pytest.mark.parametrize(
    ("expected", "kinds"),
    [
        ({"output": "R"}, ["equals"]),
        ({"output": "R", "semanticThreshold": 0.5}, ["equals", "similar"]),
        ({"patterns": ["R"], "jsonSchema": {}}, ["regex", "is-json"]),
        ({"rubric": {"criteria": [criterion()], "passingThreshold": 0.5}}, []),
    ],
)
def test_a_hybrid_test_without_weights_combines_what_it_has(
    tmp_path: Path, expected: dict[str, Any], kinds: list[str]
) -> None:
    test = skill_test(expected=expected, evaluation={"strategy": "hybrid"})
    [case] = load_dataset(write(tmp_path, skill_tests(test))).cases
    assert [item["type"] for item in case.assertions] == kinds


def test_similarity_without_a_threshold_leaves_it_to_the_profile(tmp_path: Path) -> None:
    test = skill_test(evaluation={"strategy": "semantic_sim"})
    [case] = load_dataset(write(tmp_path, skill_tests(test))).cases
    assert case.assertions == ({"type": "similar", "value": "R"},)


def test_a_suite_that_names_no_test_is_an_error_with_near_ones(tmp_path: Path) -> None:
    suites = [{"name": "s", "testIds": ["sums-1", "sums1"]}]
    path = write(tmp_path, skill_tests(skill_test(id="sums-1"), suites=suites))
    [problem] = errors_of(path)
    assert "names the test 'sums1', which is not there" in problem.message
    assert problem.line == line_with(path, '"sums1"')
    assert problem.remedy == "did you mean `sums-1`?"


def test_an_unsound_suite_is_told_once(tmp_path: Path) -> None:
    suites = [{"name": "s", "testIds": ["t1"]}]
    path = write(tmp_path, skill_tests(skill_test(input=3), suites=suites))
    assert [problem.message for problem in errors_of(path)] == [
        "`input` must be a mapping of fields, not 3"
    ]


def test_the_fixtures_of_a_test_file_that_stands_alone_stay_names(tmp_path: Path) -> None:
    context = {"a": "fixtures/a.txt", "b": ["eval/fixtures/b.txt", 3], "c": "fixtures/"}
    path = write(tmp_path, skill_tests(skill_test(input={"prompt": "Q", "context": context})))
    assert load_dataset(path).cases[0].context == context
    assert len([text for text in warnings_of(path) if "is not here" in text]) == 2


def test_a_fixture_that_is_missing_or_leads_out_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    context = {"a": "fixtures/a.txt", "b": "fixtures/../../b.txt"}
    path = write(tmp_path, skill_tests(skill_test(input={"prompt": "Q", "context": context})))
    messages = [problem.message for problem in errors_of(path)]
    assert any("there is no file 'fixtures/a.txt'" in message for message in messages)
    assert any("leads out of its folder" in message for message in messages)


def test_a_fixture_may_lie_in_the_skills_root(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "a.txt").write_text("A")
    context = {"a": "./fixtures/a.txt"}
    test = skill_test(input={"prompt": "Q", "context": context})
    write(tmp_path, skill_tests(test), "eval/tests.json")
    found = load_dataset(tmp_path).cases[0].context
    assert found == {"a": {"file": "./fixtures/a.txt", "text": "A"}}


def test_too_many_fixtures_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "a").write_text("A")
    context = {"files": ["fixtures/a"] * (MAX_CASE_FILES + 5)}
    path = write(tmp_path, skill_tests(skill_test(input={"prompt": "Q", "context": context})))
    [problem] = errors_of(path)
    assert "may name 100 files" in problem.message


def test_version_1_is_read_as_version_2() -> None:
    first, second, third = load_dataset(FOREIGN / "tests_v1.json").cases
    assert (first.id, first.reference, first.assertions[0]["type"]) == ("tc-001", "42", "equals")
    assert second.evaluation == CaseEvaluation(strategy="regex_match", timeout_s=5)
    assert [item["type"] for item in third.assertions] == ["equals", "regex"]


def test_version_1_names_its_own_lines(tmp_path: Path) -> None:
    tests = [{"name": "n", "input": "i", "expectedOutput": "o"}, {"name": "m", "input": "i"}, 3]
    path = write(tmp_path, {"tests": tests}, "tests.json")
    found = [(problem.line, problem.message) for problem in errors_of(path)]
    assert found[0] == (line_with(path, '"m"') - 1, found[0][1])
    assert "so the case cannot fail" in found[0][1]
    assert found[1][1] == "must be a mapping of fields, not a number"


def test_tests_that_are_no_list_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, {"testCases": json.dumps([])})
    assert "`testCases` must be a list, not a text" in [p.message for p in errors_of(path)]


def test_tests_of_version_1_that_are_no_list_are_an_error(tmp_path: Path) -> None:
    reading = read_skill_tests(ParsedDocument(tmp_path / "tests.json", {"tests": "none"}))
    assert [problem.message for problem in reading.problems] == [
        "`tests` must be a list, not a text"
    ]


def test_groups_are_looked_at_though_head_and_tests_are_unsound(tmp_path: Path) -> None:
    tests = [skill_test(id="a"), skill_test(id="a", evaluation={"strategy": "exact"})]
    groups = [{"name": "g", "testIds": ["a", "b"]}, {"name": "g", "testIds": ["c"]}, "smoke"]
    path = write(tmp_path, skill_tests(*tests, profile="determined", suites=groups))
    told = [problem.message for problem in errors_of(path)]
    assert "the suite 'g' names the test 'b', which is not there" in told
    assert "the suite 'g' names the test 'c', which is not there" in told
    assert "two suites are called 'g'" in told
    assert sum(message.startswith("a duplicate id") for message in told) == 1


def test_a_rubric_with_a_wrong_threshold_is_looked_at_further(tmp_path: Path) -> None:
    path = write(tmp_path, skill_tests(judged(criterion(description="is nice"), threshold=7)))
    assert "thresholds are on [0, 1]" in errors_of(path)[0].message
    rubric = judged(criterion(description="is appropriate", weight=3), threshold=7)
    told = warnings_of(write(tmp_path, skill_tests(rubric)))
    assert any("'appropriate'" in message for message in told)
