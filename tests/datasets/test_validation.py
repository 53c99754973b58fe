from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets import dataset_problems, iter_case_outputs, validate_path
from judgekit.errors import DatasetError, RubricError
from judgekit.formats import Problem, problem_from_error
from judgekit.records import Case, Dataset
from tests.formats import FOREIGN

if TYPE_CHECKING:
    from pathlib import Path

GOOD_CASES = (
    '{"id": "a", "input": "Q", "reference": "R"}\n{"id": "b", "input": 1, "reference": 2}\n'
)


def put(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def seen(problems: list[Problem]) -> list[tuple[str, int | None, str]]:
    return [(p.severity, p.line, p.message) for p in problems]


def make_dataset(*cases: Case) -> Dataset:
    return Dataset(name="d", cases=cases)


def test_a_sound_dataset_has_no_problems() -> None:
    assert dataset_problems(make_dataset(Case(id="a", input="Q", reference="R"))) == []


def test_an_empty_dataset_is_an_error() -> None:
    [problem] = dataset_problems(make_dataset())
    assert (problem.severity, problem.message) == ("error", "the dataset has no cases")


def test_ids_given_twice_and_near_ones_are_warnings() -> None:
    ids = ("a-1", "A_1", "b", "b", "a-1")
    cases = [Case(id=name, input="Q", reference="R") for name in ids]
    found = dataset_problems(make_dataset(*cases))
    assert [(p.severity, p.case_id) for p in found] == [
        ("warning", "A_1"), ("warning", "b"), ("warning", "a-1")
    ]  # fmt: skip


@pytest.mark.parametrize("blank", ["", " \n", None])
def test_a_blank_input_is_a_warning(blank: str | None) -> None:
    [problem] = dataset_problems(make_dataset(Case(id="a", input=blank, reference="R")))
    assert problem.message == "the input is blank"


@pytest.mark.parametrize("word", ["appropriate", "Reasonably", "inadequate", "unsuitable"])
def test_a_vague_description_is_a_warning(word: str) -> None:
    case = Case(id="a", input="Q", reference="R", description=f"Answers {word}.")
    [problem] = dataset_problems(make_dataset(case))
    assert word in problem.message
    exact = case.model_copy(update={"description": "Names the property and the total."})
    assert dataset_problems(make_dataset(exact)) == []


def test_missing_references_are_one_warning() -> None:
    cases = (Case(id="a", input="Q"), Case(id="b", input="Q", reference="R"))
    [problem] = dataset_problems(make_dataset(*cases))
    assert problem.message == "cases without a reference: 1 of 2"


def test_a_case_that_says_how_it_is_evaluated_needs_no_reference() -> None:
    checked = Case(id="a", input="Q", assertions=({"type": "behavior.no_errors"},))
    assert dataset_problems(make_dataset(checked)) == []


def test_every_problem_of_a_file_of_cases_is_found_at_once(tmp_path: Path) -> None:
    text = (
        GOOD_CASES + '{"id": "c"}\nnope\n{"id": "a", "input": 3}\n[]\n'
        '{"id": "d", "input": "\\ud800", "reference": 1}\n{"id": "e", "input": "", "reference": 1}'
    )
    found = seen(validate_path(put(tmp_path, text, "c.jsonl")))
    assert [(severity, line) for severity, line, _ in found] == [
        ("error", 3), ("error", 4), ("error", 5), ("error", 6), ("warning", 7), ("warning", 8)
    ]  # fmt: skip
    assert "first in line 1" in found[2][2]


def test_a_problem_reads_like_a_compilers() -> None:
    problem = Problem(severity="error", message="m", path="f", line=3, case_id="a", remedy="r")
    assert str(problem) == "f:3: error: case 'a': m; r"
    assert str(Problem(severity="warning", message="m")) == "warning: m"
    assert str(Problem(severity="warning", message="m", path="f")) == "f: warning: m"
    assert problem_from_error(RubricError("m", hint="h")).remedy == "h"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.jsonl", GOOD_CASES),
        ("c.csv", "id,input,reference\na,Q,R\n"),
        ("c.yaml", "cases: [{id: a, input: Q, reference: R}]"),
        ("c.json", '[{"id": "a", "question": "Q", "answer": "R"}]'),
        ("o.jsonl", '{"case_id": "a", "text": "t"}\n{"case_id": "a", "variant": "v", "data": 1}'),
        ("o.json", '{"made": 1, "outputs": [{"id": "a", "answer": "t", "text": "u"}]}'),
        ("o2.jsonl", '{"case_id": "a", "answer": "t"}'),
        ("r.jsonl", ('{"case_id": "a", "criterion": "c", "text": "5"}\n'
                    '{"case_id": "a", "criterion": "c", "repeat": 1, "text": null}')),
        ("r.csv", 'case_id,order,text,usage\na,ab,x,"{""input_tokens"": 1}"\na,ba,x,\n'),
        ("l.jsonl", ('{"case_id": "a", "annotator": "me", "raw": 3}\n'
                    '{"case_id": "a", "annotator": "you", "winner": "b"}')),
        ("rubric.yaml", "name: r\ncriteria: [{name: a, question: q?, scale: binary}]"),
    ],
)  # fmt: skip
def test_each_kind_of_sound_file_is_recognised(tmp_path: Path, name: str, text: str) -> None:
    assert validate_path(put(tmp_path, text, name)) == []


@pytest.mark.parametrize(
    ("name", "text", "what", "line"),
    [
        (
            "c.jsonl",
            '{"colour": 1}',
            "cannot tell what these rows are from their fields: colour",
            1,
        ),
        ("c.json", '{"colour": 1}', "cannot tell what this file is from its fields: colour", 1),
        ("c.json", "{}", "cannot tell what this file is from its fields: none", 1),
        ("c.json", "3", "holds no list of objects", 1),
        ("c.json", "[]", "the file holds no rows", None),
        ("c.jsonl", "", "the file holds no rows", None),
        ("c.yaml", "nme: x\ncases: [{id: a, input: 1, reference: 1}]", "`nme` is not known", 1),
        ("c.json", "{", "not JSON", 1),
        ("c.csv", 'id,input,reference\na,1,2\nb,"', "never closed", 3),
        ("c.json", '{"skill": "s", "cases": []}', "the file holds no cases", 1),
        ("missing.txt", "", "the format of a .txt file is not known", None),
        ("o.jsonl", '{"case_id": "a", "output": 1}\n{"case_id": "a", "text": ""}', "twice", 2),
        ("o.jsonl", '{"case_id": "a", "text": ""}\n{"text": ""}', "`case_id` is missing", 2),
        ("r.jsonl", '{"case_id": "a", "criterion": "c", "text": 3}', "`text` must be a text", 1),
        ("r.jsonl", '{"case_id": "a", "order": "aa", "text": ""}', "must be 'ab' or 'ba'", 1),
        ("r.csv", "case_id,order,text,usage\na,ab,x,3 tokens", "`usage` holds JSON", 2),
        (
            "l.jsonl",
            '{"case_id": "a", "annotator": "me", "raw": 1, "winner": "a"}',
            "`raw` or `winner`, not both",
            1,
        ),
        ("r.yaml", "name: r\ncriteria: [{name: a, question: q?}]", "scale` is missing", 2),
        (
            "r.yaml",
            (
                "name: r\ncriteria:\n- {name: a, question: q?, scale: unit, weight: 0.4}\n"
                "- {name: b, question: q?, scale: unit, weight: 0.5}"
            ),
            "the weights add up to 0.9, not 1",
            2,
        ),
    ],
)
def test_each_fault_has_its_line(
    tmp_path: Path, name: str, text: str, what: str, line: int | None
) -> None:
    [problem] = validate_path(put(tmp_path, text, name))
    assert what in problem.message
    assert (problem.path, problem.line) == (str(tmp_path / name), line)


def test_a_sound_suite_is_sound_with_all_it_names(tmp_path: Path) -> None:
    put(tmp_path, GOOD_CASES, "c.jsonl")
    put(tmp_path, '{"case_id": "a", "text": "t"}', "o.jsonl")
    text = (
        "name: s\ndataset: c.jsonl\nrubric: skill\njudge: m\nvariants: [{id: v, outputs: o.jsonl},"
    )
    text += " {id: w, python: 'a:b'}]"
    assert validate_path(put(tmp_path, text, "s.yaml")) == []


def test_the_files_a_suite_names_are_checked_and_joined(tmp_path: Path) -> None:
    put(tmp_path, GOOD_CASES, "c.jsonl")
    put(tmp_path, '{"case_id": "a", "text": "t"}\n{"case_id": "bb", "text": "t"}', "o.jsonl")
    put(tmp_path, "name: r\ncriteria: 3", "r.yaml")
    text = "name: s\ndataset: c.jsonl\nrubric: {}\nvariants: [{{id: v, outputs: o.jsonl}}]"
    found = validate_path(put(tmp_path, text.format("./r.yaml"), "s.yaml"))
    assert [problem.message for problem in found] == [
        "`criteria` must be a list, not 3", "no case has the id 'bb'"
    ]  # fmt: skip
    found = validate_path(put(tmp_path, text.format("skil"), "s.yaml"))
    assert (found[0].message, found[0].line) == ("no rubric is called 'skil'", 3)
    found = validate_path(put(tmp_path, text.format("no.yaml"), "s.yaml"))
    assert found[0].message == "there is no such file"


def test_a_suite_that_names_nothing_to_grade_is_warned_of(tmp_path: Path) -> None:
    found = seen(
        validate_path(
            put(tmp_path, "name: s\nrubric: skill\ncases:\n- {id: a, input: ''}", "s.yaml")
        )
    )
    assert [(severity, line) for severity, line, _ in found] == [
        ("warning", 3), ("warning", 3), ("warning", 1)
    ]  # fmt: skip
    found = seen(validate_path(put(tmp_path, "name: s\ndataset: no.jsonl", "s.yaml")))
    assert found[0] == ("error", None, "there is no such file")
    assert len(validate_path(put(tmp_path, "dataset: 3", "s.yaml"))) == 2


def test_text_repaired_in_a_document_is_a_warning(tmp_path: Path) -> None:
    text = '[{"id": "a", "input": "\\ud800", "reference": 1}]'
    [problem] = validate_path(put(tmp_path, text, "c.json"))
    assert (problem.severity, "surrogate" in problem.message) == ("warning", True)


NAMES = st.sampled_from(
    ["id", "case_id", "input", "text", "criterion", "annotator", "raw", "cases", "dataset",
     "criteria", "name", "variants", "rubric", "judge", "outputs", "usage", "order"]
)  # fmt: skip
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.just("skill"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=60)
@given(value=TREES, name=st.sampled_from(["fuzz.json", "fuzz.jsonl", "fuzz.yaml"]))
def test_any_structure_is_validated_without_an_error(
    tmp_path_factory: pytest.TempPathFactory, value: object, name: str
) -> None:
    path = put(tmp_path_factory.getbasetemp(), json.dumps(value), name)
    assert all(isinstance(problem, Problem) for problem in validate_path(path))


@settings(max_examples=60)
@given(raw=st.binary(max_size=60), suffix=st.sampled_from(["csv", "jsonl", "yaml", "parquet"]))
def test_any_bytes_are_validated_without_an_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"bytes.{suffix}"
    path.write_bytes(raw)
    assert all(problem.path for problem in validate_path(path))


def test_the_rows_of_a_suites_dataset_are_known_to_be_cases(tmp_path: Path) -> None:
    put(tmp_path, '{"id": "a"}\n', "cases.jsonl")
    put(tmp_path, '{"case_id": "a", "text": "t"}\n', "v1.jsonl")
    text = "name: s\ndataset: cases.jsonl\nvariants: [{id: v1, outputs: v1.jsonl}]\n"
    suite = put(tmp_path, text, "judgekit.yaml")
    problems = [p for p in validate_path(suite) if p.severity == "error"]
    assert "input" in problems[0].message
    assert problems[0].line == 1


@pytest.mark.parametrize(
    ("text", "name", "what"),
    [('{"checksum": "a", "key": "b", "request": {}}\n', "x.jsonl", "export of the judge cache")],
)
def test_a_file_that_is_only_recognised_is_told_for_what_it_is(
    tmp_path: Path, text: str, name: str, what: str
) -> None:
    [problem] = validate_path(put(tmp_path, text, name))
    assert (problem.severity, what in problem.message) == ("warning", True)


def test_cases_of_another_tool_are_looked_at_as_a_dataset(tmp_path: Path) -> None:
    case = {"id": "a", "input": " ", "assertions": [{"type": "behavior.no_errors"}]}
    cases = [case, case | {"id": "A", "input": "Q"}]
    value = {"id": "d", "workflowName": "w", "version": "1", "cases": cases}
    path = put(tmp_path, json.dumps(value, indent=1), "d.json")
    assert seen(validate_path(path)) == [
        ("warning", 6, "the input is blank"),
        ("warning", 15, "the id is nearly the same as 'a'"),
    ]


def test_an_id_that_is_no_name_of_a_file_is_an_error_of_a_workflow(tmp_path: Path) -> None:
    cases = [
        {"id": name, "input": "Q", "assertions": [{"type": "behavior.no_errors"}]}
        for name in ("a/../b", "..", "a.v-1_b")
    ]
    value = {"id": "d", "workflowName": "w", "version": "1", "cases": cases}
    told = [
        message for _, _, message in seen(validate_path(put(tmp_path, json.dumps(value), "d.json")))
    ]
    assert told == [f"the id {name!r} cannot be the name of a file" for name in ("a/../b", "..")]


def test_a_damaged_line_of_another_tools_rows_is_told_with_the_others(tmp_path: Path) -> None:
    path = put(tmp_path, '{"type": "test-case", "fields": {}}\nnope\n', "a.jsonl")
    assert any("not JSON" in problem.message for problem in validate_path(path))


def test_a_folder_is_checked_as_the_skill_it_is(tmp_path: Path) -> None:
    [problem] = validate_path(tmp_path)
    assert "holds no `eval/tests.json`" in problem.message


def test_a_rubric_in_a_case_names_its_own_field(tmp_path: Path) -> None:
    rubric = {
        "name": "r",
        "criteria": [{"name": "c", "question": "q", "scale": "unit", "wight": 1}],
    }
    text = json.dumps({"id": "a", "input": 1, "rubric": rubric})
    [problem] = validate_path(put(tmp_path, text, "c.jsonl"))
    assert problem.message == "the field `rubric.criteria[0].wight` is not known"


@pytest.mark.parametrize(
    ("dataset", "case_id", "n_problems"),
    [
        ("skill", "sum-001", 0),
        ("skill", "sum-002", 1),
        ("samples.jsonl", "sample-1", 0),
        ("samples.jsonl", "sample-9", 1),
    ],
)
def test_a_suite_may_name_another_tools_dataset(
    tmp_path: Path, dataset: str, case_id: str, n_problems: int
) -> None:
    put(tmp_path, json.dumps({"case_id": case_id, "text": "t"}), "o.jsonl")
    variants = [{"id": "v", "outputs": "o.jsonl"}]
    suite = {"name": "s", "dataset": str(FOREIGN / dataset), "variants": variants}
    problems = validate_path(put(tmp_path, json.dumps(suite), "s.json"))
    assert [f"no case has the id {case_id!r}"] * n_problems == [p.message for p in problems]


def test_every_problem_of_mapped_columns_is_found_at_once(tmp_path: Path) -> None:
    rows = ['{"q": "x", "key": "a"}', '{"q": ', '{"q": "y", "key": "a"}', '{"q": "z", "tags": 7}']
    put(tmp_path, "\n".join(rows), "c.jsonl")
    put(tmp_path, '{"case_id": "b", "text": "t"}', "o.jsonl")
    suite = {
        "name": "s",
        "dataset": "c.jsonl",
        "columns": {"q": "input", "key": "id"},
        "variants": [{"id": "v", "outputs": "o.jsonl"}],
    }
    problems = validate_path(put(tmp_path, json.dumps(suite), "s.json"))
    errors = [(p.line, p.message) for p in problems if p.severity == "error"]
    assert {line for line, _ in errors} == {1, 2, 3, 4}
    assert (3, "a duplicate: it appears twice (a); first in line 1") in errors
    assert (1, "no case has the id 'b'") in errors


def test_a_column_that_is_not_there_is_told(tmp_path: Path) -> None:
    put(tmp_path, '{"q": "x"}', "c.jsonl")
    suite = {"name": "s", "dataset": "c.jsonl", "columns": {"question": "input"}}
    problems = validate_path(put(tmp_path, json.dumps(suite), "s.json"))
    assert "there is no column 'question'" in [p.message for p in problems]


def test_an_id_given_twice_is_told_of_unsound_cases_too(tmp_path: Path) -> None:
    cases = [{"id": "a", "input": 1, "tags": 3}, {"id": "a", "inpt": 2}, {"id": "a", "input": 3}]
    problems = validate_path(put(tmp_path, "\n".join(map(json.dumps, cases)), "a.jsonl"))
    told = [(p.line, p.message) for p in problems if p.message.startswith("a duplicate")]
    assert told == [(line, "a duplicate: it appears twice (a); first in line 1") for line in (2, 3)]


def test_damaged_rows_of_another_tool_are_told_with_the_faults_of_the_others(
    tmp_path: Path,
) -> None:
    rows = [
        {"type": "test-case", "id": "t", "fields": {"name": "n", "inputs": 1, "status": "activ"}},
        {"type": "test-run", "id": "r", "fields": {"testCaseId": "t", "actualOutput": "x"}},
    ]
    text = "\n".join([*map(json.dumps, rows), "{broken"])
    problems = validate_path(put(tmp_path, text, "q.jsonl"))
    errors = [(p.line, p.message) for p in problems if p.severity == "error"]
    assert [line for line, _ in errors] == [1, 3]
    assert errors[1][1].startswith("not JSON")


def test_replies_are_valid_with_all_that_is_recorded_of_them(tmp_path: Path) -> None:
    row = {"case_id": "a", "criterion": "c", "text": "7", "finish_reason": "stop"}
    logprobs = [{"token": "7", "logprob": -0.1, "top": []}]
    path = tmp_path / "recorded.jsonl"
    lines = [row | {"attempt": attempt, "logprobs": logprobs} for attempt in (0, 1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert validate_path(path) == []


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ("complaint,__expected", "name it in a promptfooconfig.yaml, as `tests: FILE`"),
        ("context.span_id,name,context.trace_id", 'df.reset_index().to_json("spans.jsonl"'),
        ("id,run_type,inputs,outputs", "they are read as JSON, as `client.list_runs` gives them"),
        ("inputs.question,outputs.answer", "judgekit convert FILE -o cases.jsonl --column"),
    ],
)
def test_a_table_of_another_tool_is_told_what_to_do(tmp_path: Path, header: str, what: str) -> None:
    n = header.count(",")
    path = put(tmp_path, f"{header}\n{'x,' * n}x\n", "t.csv")
    assert what in str(validate_path(path)[0].remedy)
    if "convert" not in what:
        with pytest.raises(DatasetError, match="these rows are not read as they are"):
            next(iter_case_outputs(path))
