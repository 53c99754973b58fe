from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.assertions import evaluate_assertions
from judgekit.datasets import load_dataset, validate_path
from judgekit.errors import DatasetError, NotImportedWarning
from judgekit.formats import promptfoo_files
from judgekit.formats.promptfoo_files import assertion_of_text, row_as_test
from judgekit.records import CaseEvaluation, Output, Rubric
from tests.factories import make_output
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, line_with, warnings_of, write

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Case


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.id: case for case in load_dataset(FOREIGN / "promptfooconfig.yaml").cases}


def config(*tests: object, **fields: Any) -> dict[str, Any]:
    return {"prompts": [], "tests": [*tests]} | fields


def asserting(*assertions: object, **fields: Any) -> dict[str, Any]:
    return {"vars": {"q": "Q"}, "assert": [*assertions]} | fields


def test_a_test_is_a_case_with_defaults_templates_and_variables(cases: dict[str, Case]) -> None:
    case = cases["test-1"]
    assert (case.name, case.input) == ("One name", {"language": "English", "name": "Ada"})
    assert case.assertions == (
        {"type": "latency", "threshold": 3000},
        {"type": "icontains", "value": "Ada", "weight": 2, "description": "named"},
        {"type": "word-count", "value": {"max": 9}},
    )
    assert (case.evaluation, case.tags) == (None, ("polite",))
    assert case.metadata["owner"] == "bob"


def test_a_similarity_decides_with_the_other_assertions_as_guards(cases: dict[str, Case]) -> None:
    case = cases["test-6"]
    assert case.assertions[1] == {"type": "similar", "value": "Hello Ira", "threshold": 0.8}
    assert case.evaluation == CaseEvaluation(strategy="semantic_sim", threshold=0.8)
    assert case.reference == "Hello Ira"


@pytest.mark.parametrize("kind", ["similar", "llm-rubric"])
def test_a_similarity_beside_another_or_a_judge_is_an_assertion_like_others(
    tmp_path: Path, kind: str
) -> None:
    both = [{"type": "similar", "value": "x"}, {"type": kind, "value": "y"}]
    members = {"type": "assert-set", "assert": both}
    [case] = load_dataset(write(tmp_path, config(asserting(members)))).cases
    assert case.evaluation is None
    assert case.assertions[0] == {"type": "similar", "value": "x", "threshold": 0.75}


def test_a_similarity_of_a_part_of_the_output_is_an_assertion(tmp_path: Path) -> None:
    part = {"type": "similar", "value": "x", "transform": "output.trim()"}
    [case] = load_dataset(write(tmp_path, config(asserting(part)))).cases
    [spec] = case.assertions
    assert (case.evaluation, spec["transform"]) == (None, [{"trim": True}])


def test_likeness_to_one_of_several_texts_and_unlikeness_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, config(asserting(
        {"type": "similar:cosine", "value": ["x", "y"], "weight": 2},
        {"type": "not-similar", "value": "z", "threshold": 0.5, "metric": "new"},
    )))  # fmt: skip
    [case] = load_dataset(path).cases
    near = [{"type": "similar", "value": text, "threshold": 0.75} for text in "xy"]
    assert case.assertions == (
        {"type": "any", "assertions": near, "weight": 2},
        {"type": "not-similar", "value": "z", "threshold": 0.5, "description": "new"},
    )
    assert case.evaluation is None


def test_a_question_to_a_model_is_a_criterion(cases: dict[str, Case]) -> None:
    rubric = cases["test-1"].rubric
    assert isinstance(rubric, Rubric)
    [criterion] = rubric.criteria
    assert (criterion.name, criterion.question) == ("llm-rubric", "Greets the person by name")
    assert (criterion.required, criterion.pass_value, criterion.scale.max) == (True, 1, 1)


def test_a_test_with_a_threshold_passes_by_its_mean(cases: dict[str, Case]) -> None:
    case = cases["scenario-1.2"]
    rubric = case.rubric
    assert isinstance(rubric, Rubric)
    assert (case.input, case.reference) == (
        {"language": "English", "name": "Ed"}, "The person is alive"
    )  # fmt: skip
    alive, manner = rubric.criteria
    assert (rubric.pass_threshold, alive.required, alive.pass_value) == (0.6, False, 0.5)
    assert (manner.name, manner.question) == ("manner", "- is polite\n- is short")


def test_a_test_with_a_threshold_passes_by_the_mean_of_its_checks(tmp_path: Path) -> None:
    members = [{"type": "contains", "value": "yes"}, {"type": "contains", "value": "no"}]
    path = write(tmp_path, config(asserting(*members, threshold=0.5)))
    [case] = load_dataset(path).cases
    group = {"type": "all", "assertions": members, "threshold": 0.5, "scored": True}
    assert case.assertions == (group,)
    [found] = evaluate_assertions(make_output("yes"), case.assertions)
    assert found.passed is True
    assert warnings_of(path) == []


@pytest.mark.parametrize(("threshold", "passed"), [(0.6, True), (0.7, False)])
def test_the_mean_of_a_test_counts_the_score_of_each_check(
    tmp_path: Path, threshold: float, *, passed: bool
) -> None:
    gleu = {"type": "gleu", "value": "a b", "threshold": 0.9}  # 1 of 3 sequences is shared
    contains = {"type": "contains", "value": "a"}
    path = write(tmp_path, config(asserting(contains, gleu, threshold=threshold)))
    [found] = evaluate_assertions(make_output("a"), load_dataset(path).cases[0].assertions)
    assert found.passed is passed
    assert found.value == pytest.approx(2 / 3)


def test_a_mean_beside_criteria_is_theirs(tmp_path: Path) -> None:
    graded = {"type": "llm-rubric", "value": "y"}
    path = write(tmp_path, config(asserting({"type": "is-json"}, graded, threshold=0.5)))
    [warning] = warnings_of(path)
    assert "must pass" in warning


def test_a_check_of_weight_0_decides_nothing(tmp_path: Path) -> None:
    members = [{"type": "contains", "value": "x", "weight": 0}, {"type": "contains", "value": "a"}]
    path = write(tmp_path, config(asserting(*members)))
    [found] = evaluate_assertions(make_output("a"), load_dataset(path).cases[0].assertions)
    assert found.passed is True


def test_a_mean_of_checks_that_do_not_count_is_none(tmp_path: Path) -> None:
    unweighted = {"type": "is-json", "weight": 0}
    path = write(tmp_path, config(asserting(unweighted, threshold=0.5)))
    assert load_dataset(path).cases[0].assertions == (unweighted,)


def test_a_set_keeps_a_threshold_and_a_weight_of_0(tmp_path: Path) -> None:
    members = [{"type": "contains", "value": "x"}]
    given = {"type": "assert-set", "threshold": 0, "weight": 0, "assert": members}
    path = write(tmp_path, config(asserting(given, {"type": "is-json"})))
    [group] = load_dataset(path).cases[0].assertions
    own = {"threshold": 0, "weight": 0, "scored": True}
    first = {"type": "all", "assertions": members, **own}
    assert group == {"type": "all", "assertions": [first, {"type": "is-json"}]}


def test_variables_with_several_values_make_a_case_for_each_combination(
    cases: dict[str, Case],
) -> None:
    inputs = [case.input for name, case in cases.items() if name.startswith("test-2.")]
    assert inputs == [
        {"language": language, "name": name} for language in ("English", "French")
        for name in ("Bo", "Cy")
    ]  # fmt: skip
    group = cases["test-2.1"].assertions[1]
    assert (group["type"], group["threshold"]) == ("all", 0.5)


def test_a_table_of_tests_is_read(cases: dict[str, Case]) -> None:
    first, second, third = (cases[f"test-{number}"] for number in (3, 4, 5))
    assert (first.name, first.metadata) == ("from a table", {"source": "sheet", "threshold": 0.5})
    [mean] = first.assertions
    assert (mean["type"], mean["threshold"], first.evaluation) == ("all", 0.5, None)
    assert mean["assertions"] == [
        {"type": "latency", "threshold": 3000},
        {"type": "contains", "value": "Flo"},
        {"type": "similar", "value": "Hello Flo", "threshold": 0.7},
    ]
    assert second.assertions[1] == {"type": "equals", "value": "Hallo Gus"}
    assert third.assertions[1:] == (
        {"type": "contains-any", "value": ["Hal", "Hallo"]},
        {"type": "latency", "threshold": 900},
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", {"type": "equals", "value": "yes"}),
        ("note: yes", {"type": "equals", "value": "note: yes"}),
        ("is-json", {"type": "is-json"}),
        ("not-contains: no", {"type": "not-contains", "value": "no"}),
        ("grade: is kind", {"type": "llm-rubric", "value": "is kind"}),
        ("fn: output.length", {"type": "javascript", "value": "output.length"}),
        ("levenshtein(5): abc", {"type": "levenshtein", "threshold": 5, "value": "abc"}),
        ("cost: cheap", {"type": "cost", "threshold": "cheap"}),
        ("cost: 1e999", {"type": "cost", "threshold": "1e999"}),
    ],
)
def test_a_cell_is_an_assertion(text: str, expected: dict[str, Any]) -> None:
    found = assertion_of_text(text)
    assert found == expected
    # The text of a number shows whether it is whole, as a distance must be.
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("assertion", "what"),
    [
        ({"value": "x"}, "an assertion needs a `type`"),
        ("contains: x", "an assertion is a mapping of fields, not a text"),
        ({"$ref": "#/assertionTemplates/x"}, "no assertion template is called 'x'"),
        ({"type": "assert-set", "assert": 3}, "`assert` must be a list"),
        ({"type": "similar", "value": "x", "threshold": 80}, "80 % is 0.8"),
        ({"type": "similar", "value": "x", "threshold": "high"}, "must be a number from 0 to 1"),
        ({"type": "llm-rubric", "value": "x", "threshold": 70}, "70 % is 0.7"),
        ({"type": "llm-rubric", "value": "x", "weight": -1}, "`rubric.criteria[0].weight` must be"),
    ],
)  # fmt: skip
def test_what_cannot_be_checked_here_is_an_error_with_its_line(
    tmp_path: Path, assertion: object, what: str
) -> None:
    path = write(tmp_path, config(asserting(assertion)))
    [problem, *_] = errors_of(path)
    assert what in str(problem)
    assert (problem.line or 0) >= line_with(path, '"tests"')
    with pytest.raises(DatasetError):
        load_dataset(path)


@pytest.mark.parametrize(
    ("test", "what"),
    [
        (asserting(), "the test asserts nothing, so it cannot fail"),
        (
            asserting({"type": "contains", "value": "x", "weight": 0}),
            "every assertion has the weig",
        ),
    ],
)
def test_what_should_be_mended_is_a_warning(
    tmp_path: Path, test: dict[str, Any], what: str
) -> None:
    path = write(tmp_path, config(test))
    assert any(what in warning for warning in warnings_of(path))
    assert errors_of(path) == []


@pytest.mark.parametrize(
    ("assertion", "what"),
    [
        ({"type": "equals", "value": "{{q | upper}}"}, "a template expression"),
        ({"type": "equals", "value": {"a": ["{{nothing}}"]}}, "shows `nothing`, for which there"),
        ({"type": "llm-rubric", "value": "{% if q %}x{% endif %}"}, "a template expression"),
        ({"type": "contains", "value": ""}, "its `value` is empty"),
        ({"type": "not-regex", "value": ""}, "its `value` is empty"),
        ({"type": "icontains-any", "value": ["a", ""]}, "its `value` is empty"),
        ({"type": "contains-all", "value": ","}, "its `value` is empty"),
        ({"type": "contian"}, "did you mean `contains`"),
        ({"type": "equals", "value": "file://no.txt"}, "there is no file"),
        ({"type": "equals", "value": "file://bin"}, "is no text"),
        ({"type": "assert-set", "threshold": 0.5, "assert": [
            {"type": "contains", "value": "x"}, {"type": "llm-rubric", "value": "y"}]},
         "may hold only checks that need no model"),
        ({"type": "not-similar"}, "needs a `value`: a text that the output should be like"),
        ({"type": "similar", "value": ["x", 3]}, "needs a `value`: a text that the output should"),
        ({"type": "is-sql", "value": {"databaseType": "MySQLL"}}, "did you mean `mysql`"),
        ({"type": "relevance", "value": "x"}, "did you mean `answer-relevance`"),
        ({"type": "trajectory:tool-used", "value": []}, "name the tools"),
    ],
)  # fmt: skip
def test_an_assertion_that_cannot_be_read_marks_its_case_alone(
    tmp_path: Path, assertion: dict[str, Any], what: str
) -> None:
    (tmp_path / "bin").write_bytes(b"\0")
    path = write(tmp_path, config(asserting(assertion), asserting({"type": "is-json"})))
    [problem] = validate_path(path)
    assert (problem.severity, what in str(problem)) == ("left_out", True)
    assert (problem.line or 0) >= line_with(path, '"tests"')
    with pytest.warns(NotImportedWarning):
        marked, other = load_dataset(path).cases
    assert (marked.assertions[0]["type"], marked.rubric) == ("not_imported", None)
    assert [spec["type"] for spec in other.assertions] == ["is-json"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (2.0, "2"), ([1, "a"], "1,a"), ("x", "x"), ("{% no %}", "{% no %}")],
)
def test_a_variable_is_filled_in_as_javascript_prints_it(
    tmp_path: Path, value: object, text: str
) -> None:
    test = asserting({"type": "equals", "value": "<{{ v }}>"}) | {"vars": {"v": value}}
    cases = load_dataset(write(tmp_path, config(test))).cases
    assert [case.assertions[0]["value"] for case in cases] == [f"<{text}>"]


def test_assertions_that_all_weigh_nothing_pass_with_their_score(tmp_path: Path) -> None:
    free = [{"type": "contains", "value": text, "weight": 0} for text in "xa"]
    [case] = load_dataset(write(tmp_path, config(asserting(*free)))).cases
    [result] = evaluate_assertions(Output(text="abc"), case.assertions)
    assert (result.passed, result.value) == (True, 0.5)


def test_files_of_tests_name_variables_from_their_own_folder(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "vars").mkdir()
    write(tmp_path / "vars", {"q": "x"}, "v1.json")
    write(tmp_path / "tests", [{"vars": "../vars/v*.json"}, {"vars": {"q": "y"}}], "t.json")
    path = write(tmp_path, {"prompts": [], "tests": {"path": "file://tests/t.json"}})
    assert [case.input for case in load_dataset(path).cases] == [{"q": "x"}, {"q": "y"}]


def test_a_column_of_a_list_is_one_and_an_empty_cell_says_nothing() -> None:
    row = {"q": "", "__metadata:tags[]": r"a, b\, c", "__metadata:owner": " ", "__threshold": ""}
    test = row_as_test({**row, "__description": None})
    assert test == {"vars": {"q": ""}, "assert": [], "metadata": {"tags": ["a", "b, c"]}}


def test_columns_of_settings_are_settings(tmp_path: Path) -> None:
    row = {"q": "Q", "__expected1": "", "__expected2": "equals: a", "__expected3": "similar: b"}
    more = {"__config:__expected2:threshold": "0.9", "__metric": "M", "__owner": "o"}
    test = row_as_test({**row, **more})
    assert test["assert"] == [
        {"type": "equals", "value": "a", "metric": "M"},
        {"type": "similar", "value": "b", "threshold": 0.9, "metric": "M"},
    ]
    assert test["metadata"] == {"__owner": "o"}
    (tmp_path / "t.csv").write_text("q,__prefix,__providerOutput,__expected\nQ,P,R,a\n")
    path = write(tmp_path, {"prompts": [], "tests": "file://t.csv"})
    lost = [one.message.partition(" is")[0] for one in validate_path(path)]
    assert lost == ["`providerOutput`", "`prefix`"]


def test_lists_stay_lists_where_the_default_test_says_so(tmp_path: Path) -> None:
    default = {"options": {"disableVarExpansion": True}}
    path = write(tmp_path, config({"vars": {"q": ["a", "b"]}}, defaultTest=default))
    assert [case.input for case in load_dataset(path).cases] == [{"q": ["a", "b"]}]


def test_a_set_without_a_threshold_is_its_members(tmp_path: Path) -> None:
    members = [{"type": "contains", "value": "x"}, {"type": "llm-rubric", "value": "y"}] * 2
    path = write(tmp_path, config(asserting({"type": "assert-set", "assert": members})))
    [case] = load_dataset(path).cases
    assert [item["type"] for item in case.assertions] == ["contains", "contains"]
    assert isinstance(case.rubric, Rubric)
    assert [c.name for c in case.rubric.criteria] == ["llm-rubric", "llm-rubric-2"]


def test_an_empty_set_with_a_threshold_is_nothing(tmp_path: Path) -> None:
    empty = {"type": "assert-set", "threshold": 1, "assert": []}
    path = write(tmp_path, config(asserting(empty, {"type": "is-json"})))
    assert load_dataset(path).cases[0].assertions == ({"type": "is-json"},)


def test_files_are_read_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("From a file")
    (tmp_path / "rubric.txt").write_text("Is short")
    test = {"vars": {"q": "file://q.txt"}, "assert": [
        {"type": "llm-rubric", "value": "file://rubric.txt", "weight": 2}]}  # fmt: skip
    write(tmp_path, [test], "more.json")
    (tmp_path / "rows.jsonl").write_text('{"vars": {"q": 1}, "assert": [{"type": "is-json"}]}\n')
    path = write(tmp_path, config(tests="file://more.json"))
    [case] = load_dataset(path).cases
    assert case.input == {"q": "From a file"}
    assert isinstance(case.rubric, Rubric)
    assert (case.rubric.criteria[0].question, case.rubric.criteria[0].weight) == ("Is short", 2)
    path = write(tmp_path, config("rows.jsonl", "more.json"))
    assert [each.input for each in load_dataset(path).cases] == [{"q": 1}, {"q": "From a file"}]


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"tests": [7]}, "a test is a mapping or a file, not a number"),
        ({"tests": 7}, "`tests` is a list or a file, not a number"),
        ({"tests": {"vars": {}}}, "`tests` is a list or a file, not a mapping"),
        ({"tests": [{"vars": 7}]}, "`vars` must be a mapping or a file here"),
        ({"tests": [{"vars": ["two.json", 7]}]}, "`vars` must be a mapping or a file here"),
        ({"tests": [{"vars": {"q": "file://no.txt"}}]}, "there is no file 'no.txt'"),
        ({"tests": [{"threshold": "high"}]}, "must be a number from 0 to 1, not a text"),
        ({"tests": [{"threshold": True}]}, "must be a number from 0 to 1"),
        ({"tests": [{"threshold": -1}]}, "must be a number from 0 to 1"),
        ({"tests": [{"threshold": 80}]}, "`threshold` is 80, but thresholds are on [0, 1]"),
        ({"tests": [{"assert": 7}]}, "`assert` must be a list, not a number"),
        ({"defaultTest": "file://d.yaml"}, "the tests cannot be read: "),
        ({"defaultTest": "file://d.js"}, "is code, which is never run"),
        ({"defaultTest": "two.json"}, "`defaultTest` is one test, not a list"),
        ({"defaultTest": 7}, "`defaultTest` is one test, not a number"),
        ({"scenarios": 7}, "`scenarios` must be a list"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_an_error(
    tmp_path: Path, fields: dict[str, Any], what: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.yaml").symlink_to(tmp_path / "out.yaml")
    write(tmp_path / "in", [asserting(), asserting()], "two.json")
    found = errors_of(write(tmp_path / "in", config(**fields)))
    assert any(what in problem.message for problem in found), found


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("file://tests.py:make", "is code, which is run only with --allow-scripts"),
        ("file://tests.rb", "is code in a language that is not run here"),
        ("file://tests.ts", "is code, which is run only with --allow-scripts"),
        ({"path": "tests.js", "config": {"a": "file://b"}}, "its `config` names a file"),
        ("https://x/y.csv", "is not a file here"),
        ("tests/*.yaml", "no file matches 'tests/*.yaml'"),
        ("text **with** stars", "no file matches 'text **with** stars'"),
        ("none.json", "none.json holds no tests"),
        ("none.csv", "none.csv holds no tests"),
        ("../*.yaml", "leads out of"),
        ("../tests.yaml", "leads out of"),
        ("link.yaml", "leads out of"),
        ("no.yaml", "the tests cannot be read: "),
    ],
)
def test_a_file_of_tests_that_cannot_be_read_leaves_the_others(
    tmp_path: Path, name: object, what: str
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(tmp_path / "out.yaml")
    write(folder, [], "none.json")
    (folder / "none.csv").write_text("q,__expected\n", encoding="utf-8")
    path = write(folder, config(name, asserting({"type": "is-json"})))
    [problem] = validate_path(path)
    assert problem.severity == "left_out"
    assert what in problem.message
    assert ("--root DIR" in str(problem.remedy)) == ("../" in str(name))
    with pytest.warns(NotImportedWarning, match="1 part of the file is (not imported|code)"):
        assert [case.id for case in load_dataset(path).cases] == ["test-1"]


def test_a_pattern_names_files_of_tests_and_the_default_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for number in (2, 1):
        write(tmp_path / "tests", [{"vars": {"q": number}}], f"{number}.json")
    write(tmp_path, {"assert": [{"type": "is-json"}]}, "default.json")
    path = write(tmp_path, config("file://tests/*.json", defaultTest="file://default.json"))
    first, second = load_dataset(path).cases
    assert (first.input, second.input) == ({"q": 1}, {"q": 2})
    assert first.assertions == second.assertions == ({"type": "is-json"},)


def test_variables_of_the_default_test_and_of_a_test_may_be_files(tmp_path: Path) -> None:
    write(tmp_path, {"a": 1}, "a.json")
    write(tmp_path, {"b": 2}, "b.json")
    checks = [{"type": "is-json"}]
    for default, own in (("a.json", {"b": 2}), ({"a": 1}, "b.json"), ("a.json", ["b.json"])):
        test = {"vars": own, "assert": checks}
        path = write(tmp_path, config(test, defaultTest={"vars": default}), "config.json")
        assert load_dataset(path).cases[0].input == {"a": 1, "b": 2}


def test_the_metric_of_a_set_names_it_or_its_members(tmp_path: Path) -> None:
    members = [{"type": "contains", "value": "x"}, {"type": "is-json", "metric": "form"}]
    fields = {"type": "assert-set", "metric": "all of it", "assert": members, "provider": "p"}
    path = write(tmp_path, config(asserting(fields), asserting({**fields, "threshold": 1})))
    assert ["`provider` of the assertion" in str(one) for one in validate_path(path)] == [True] * 2
    with pytest.warns(NotImportedWarning):
        alone, whole = load_dataset(path).cases
    assert [spec["description"] for spec in alone.assertions] == ["all of it", "form"]
    assert [spec["description"] for spec in whole.assertions] == ["all of it"]


def test_what_makes_the_outputs_and_unread_settings_are_listed(tmp_path: Path) -> None:
    test = asserting({"type": "is-json"}, options={"storeOutputAs": "x"})
    fields = {"prompts": ["{{q}}"], "providers": ["openai:m"], "nunjucksFilters": {"f": "f.js"}}
    found = validate_path(write(tmp_path, config(test, **fields, sharing=False)))
    assert {problem.severity for problem in found} == {"left_out"}
    listed = [problem.message.split("`")[1] for problem in found]
    assert sorted(listed) == ["nunjucksFilters", "storeOutputAs"]


@pytest.mark.parametrize("name", ["assertScoringFunction", "transformVars"])
def test_a_lost_transform_marks_its_cases_and_is_listed_once(tmp_path: Path, name: str) -> None:
    tests = [asserting({"type": "is-json"}), asserting({"type": "is-html"})]
    path = write(tmp_path, config(*tests, defaultTest={"options": {name: "output.trim()"}}))
    [problem] = validate_path(path)
    assert (problem.severity, problem.line) == ("left_out", line_with(path, f'"{name}"'))
    with pytest.warns(NotImportedWarning, match="1 part of the file"):
        cases = load_dataset(path).cases
    for case in cases:
        assert [spec["type"] for spec in case.assertions][1:] == ["not_imported"]
        assert case.assertions[1]["what"] == name


def test_a_variable_that_code_makes_is_left_out_and_marks_its_case(tmp_path: Path) -> None:
    test = asserting({"type": "is-json"}) | {"vars": {"q": "file://make.py", "n": 1}}
    path = write(tmp_path, config(test))
    [problem] = validate_path(path)
    assert "`vars.q` is not imported: code is never run" in problem.message
    with pytest.warns(NotImportedWarning):
        [case] = load_dataset(path).cases
    assert case.input == {"n": 1}
    assert [spec.get("what") for spec in case.assertions] == [None, "vars.q"]


def test_a_lost_assertion_of_the_default_is_listed_once(tmp_path: Path) -> None:
    default = {"assert": [{"type": "javascript", "value": "true"}]}
    path = write(tmp_path, config(asserting(), asserting(), defaultTest=default))
    assert [problem.severity for problem in validate_path(path)] == ["left_out"]
    with pytest.warns(NotImportedWarning):
        assert {case.assertions[0]["what"] for case in load_dataset(path).cases} == {"javascript"}


def test_defaults_may_be_left_out_and_variables_kept_as_lists(tmp_path: Path) -> None:
    options = {"disableDefaultAsserts": True, "disableVarExpansion": True}
    test = asserting({"type": "is-json"}, vars={"q": [1, 2]}, options=options)
    default = {"assert": [{"type": "is-html"}], "options": {"x": 1}}
    path = write(tmp_path, config(test, defaultTest=default))
    with pytest.warns(NotImportedWarning):
        [case] = load_dataset(path).cases
    assert (case.assertions, case.input) == (({"type": "is-json"},), {"q": [1, 2]})
    assert case.metadata["options"] == {"x": 1, **options}


def test_variables_that_come_to_too_many_cases_are_refused(tmp_path: Path) -> None:
    many = {f"v{n}": [*"0123456789"] for n in range(6)}
    path = write(tmp_path, config(asserting({"type": "is-json"}, vars=many)))
    assert 10 ** len(many) > promptfoo_files.MAX_CASES
    with pytest.raises(DatasetError, match="make more than 100000 cases"):
        load_dataset(path)


def test_of_many_settings_that_are_not_used_the_first_are_named(tmp_path: Path) -> None:
    many = {f"setting{n}": n for n in range(1_020)}
    path = write(tmp_path, config(asserting({"type": "is-json", **many})))
    told = [problem.message for problem in validate_path(path) if problem.severity == "left_out"]
    assert len(told) == 21
    assert told[0] == "`setting0` of the assertion is not imported: it has no counterpart here"
    assert told[-1] == "and 1,000 more are not imported"


def test_a_list_of_tests_alone_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, [asserting({"type": "is-json"})])
    assert [case.id for case in load_dataset(path).cases] == ["test-1"]


def test_without_tests_every_prompt_is_sent_once(tmp_path: Path) -> None:
    [case] = load_dataset(write(tmp_path, {"prompts": [], "providers": []})).cases
    assert (case.id, case.input) == ("test-1", {})


def test_a_configuration_with_no_test_has_no_cases(tmp_path: Path) -> None:
    path = write(tmp_path, {"prompts": [], "providers": [], "tests": []})
    with pytest.raises(DatasetError, match="holds no cases"):
        load_dataset(path)


def test_the_dialect_of_an_assertion_on_sql_is_kept(tmp_path: Path) -> None:
    spec = {"type": "not-contains-sql", "value": {"databaseType": "PostgreSQL"}}
    [case] = load_dataset(write(tmp_path, config(asserting(spec)))).cases
    assert case.assertions == ({"type": "not-contains-sql", "dialect": "postgres"},)
