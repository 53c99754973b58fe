from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets import (
    dataset_problems,
    discover_datasets,
    load_dataset,
    load_rubric,
    load_suite,
    suite_from_path,
    validate_path,
)
from judgekit.errors import (
    DatasetError,
    InputError,
    JudgekitError,
    RubricError,
    SettingsError,
    UnknownNameError,
)
from judgekit.formats import dump_yaml
from judgekit.records import Case, Criterion, Dataset, Rubric

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORKFLOW = """\
{"id": "d", "workflowName": "w", "version": "1",
 "cases": [{"id": "a", "input": 1}, {"id": "b", "input": 2}, {"id": "a", "input": 3}]}
"""
RUBRIC = """\
name: support
pass_threshold: 0.8
criteria:
  - name: accuracy
    question: Is it right?
    scale: {min: 1, max: 5}
  - name: tone
    question: Is it friendly?
    scale: [{value: 0, name: rude}, {value: 1, name: kind}]
    weight: 0.5
"""


def put(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_cases_are_read_from_lines_under_common_names(tmp_path: Path) -> None:
    text = '{"id": 1, "prompt": "Q", "expected": "R", "tags": ["t"]}\n{"case_id": "b", "input": {}}'
    dataset = load_dataset(put(tmp_path, text, "support.jsonl"))
    assert (dataset.name, dataset.version) == ("support", "1")
    assert dataset.cases == (
        Case(id="1", input="Q", reference="R", tags=("t",)),
        Case(id="b", input={}),
    )


def test_cases_are_read_from_a_table(tmp_path: Path) -> None:
    text = (
        "id,question,answer,tags,assertions,metadata.author\n"
        'a,Q,R,x; y,"[{""type"": ""behavior.no_errors""}]",me\nb,Q,,"[""p,q""]",,\n'
    )
    first, second = load_dataset(put(tmp_path, text, "a.csv")).cases
    assert (first.tags, first.metadata) == (("x", "y"), {"author": "me"})
    assert first.assertions == ({"type": "behavior.no_errors"},)
    assert (second.reference, second.tags) == (None, ("p,q",))


@pytest.mark.parametrize("version", ["2", "2.5", '"2026"'])
def test_a_document_names_and_versions_its_cases(tmp_path: Path, version: str) -> None:
    text = f"name: n\nversion: {version}\ndescription: d\ncases: [{{id: a, input: Q}}]"
    dataset = load_dataset(put(tmp_path, text, "a.yaml"))
    assert (dataset.name, dataset.version) == ("n", version.strip('"'))
    assert load_dataset(put(tmp_path, '[{"id": "a", "input": 1}]', "b.json")).name == "b"


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ('{"id": "a", "input": 1, "expectd": 2}', "`expectd` is not known", "`expected`"),
        ('{"id": "a", "input": 1, "colour": 2}', "`colour` is not known", "under `metadata`"),
        ('{"input": 1}', "`id` is missing", "an id of its own"),
        ('{"id": "a"}', "`input` is missing", "the input of the system"),
        ('{"id": " ", "input": 1}', "`id` must not be blank", None),
        ('{"id": true, "input": 1}', "`id` must be a text, not a truth value", None),
        ('{"id": 1.5, "input": 1}', "`id` must be a text, not 1.5", "in quotes"),
        ('{"id": "a", "input": 1, "tags": "x"}', "`tags` must be a list", "as a list"),
        ('{"id": "a", "prompt": 1, "question": 2}', "both mean `input`", "keep one"),
        ('{"id": "a", "input": 1, "prompt": 2}', "`prompt` is not known", "`input`"),
        ('{"id": "a", "input": 1, "status": "new"}', "must be 'active', 'draft'", None),
        ('{"id": "a", "input": 1, "stratum": 1, "x": 2}', "and 1 more; `judgekit validate`", None),
    ],
)
def test_an_unsound_case_names_line_and_remedy(
    tmp_path: Path, text: str, what: str, hint: str | None
) -> None:
    with pytest.raises(DatasetError, match=rf"a\.jsonl:2: .*{what}") as caught:
        load_dataset(put(tmp_path, f'{{"id": "fine", "input": 1}}\n{text}', "a.jsonl"))
    assert (hint or "") in (caught.value.hint or "")


def test_an_id_given_twice_names_both_lines(tmp_path: Path) -> None:
    text = '{"id": "a", "input": 1}\n\n{"id": "a", "input": 2}'
    with pytest.raises(DatasetError, match=r":3: case 'a': .*first in line 1"):
        load_dataset(put(tmp_path, text, "a.jsonl"), unique=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": "a", "input": 1}\n{"id": "b", "input": 2}\n{"id": "a", "input": 3}'),
        ("a.csv", "id,input\na,1\nb,2\na,3"),
        ("a.yaml", "cases: [{id: a, input: 1}, {id: b, input: 2}, {id: a, input: 3}]"),
        ("a.json", WORKFLOW),
    ],
)
def test_cases_with_one_id_are_all_loaded_and_told_and_not_run(
    tmp_path: Path, name: str, text: str
) -> None:
    path = put(tmp_path, text, name)

    dataset = load_dataset(path)

    assert [(case.id, str(case.input)) for case in dataset.cases] == [
        ("a", "1"), ("b", "2"), ("a", "3")
    ]  # fmt: skip
    told = [p for p in dataset_problems(dataset) if p.message.startswith("a duplicate id")]
    assert [(p.severity, p.case_id) for p in told] == [("warning", "a")]
    for refuse in (partial(load_dataset, unique=True), suite_from_path):
        with pytest.raises(DatasetError, match="case 'a': a duplicate id"):
            refuse(path)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("3", "a dataset is a mapping of fields, not a number"),
        ("", "not an empty file"),
        ("cases: 3", "needs a list of `cases`"),
        ("nam: x\ncases: [{id: a, input: 1}]", r"`nam` is not known"),
        ("cases:\n- id: a\n  input: 1\n- 7", r"a\.yaml:4: a row must be an object"),
        ("cases:\n- id: a\n- id: b\n", r"a\.yaml:2: the field `input`"),
        ("cases: []", "holds no cases"),
    ],
)
def test_an_unsound_document_is_an_error(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(DatasetError, match=what):
        load_dataset(put(tmp_path, text, "a.yaml"))


def test_an_empty_dataset_is_accepted_on_demand(tmp_path: Path) -> None:
    path = put(tmp_path, "", "a.jsonl")
    assert load_dataset(path, allow_empty=True).cases == ()
    with pytest.raises(DatasetError, match="holds no cases"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ({"versions": [], "current_version": 0}, "history.json"),
        ({"case_id": "a", "results": [], "overall_score": 4.0}, "grading.json"),
        ({"winner": "A", "reasoning": "r", "scores": {}}, "comparison.json"),
        ({"winner_version": "v1", "loser_version": "v0"}, "analysis.json"),
    ],
)
def test_another_tools_results_are_recognised(tmp_path: Path, value: object, what: str) -> None:
    with pytest.raises(DatasetError, match=what):
        load_dataset(put(tmp_path, json.dumps(value), "a.json"))


def test_a_rubric_is_read_from_yaml_and_json(tmp_path: Path) -> None:
    rubric = load_rubric(put(tmp_path, RUBRIC, "r.yaml"))
    assert [criterion.name for criterion in rubric.criteria] == ["accuracy", "tone"]
    assert load_rubric(put(tmp_path, json.dumps(rubric.to_json()), "r.json")) == rubric
    assert load_rubric(str(put(tmp_path, dump_yaml(rubric.to_json()), "r.yml"))) == rubric


def test_a_shipped_rubric_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_rubric("agent-quality") == load_rubric("agent_quality")
    with pytest.raises(UnknownNameError, match="did you mean helpfulness"):
        load_rubric("helpfulnes")
    monkeypatch.chdir(tmp_path)
    put(tmp_path, json.dumps(load_rubric("skill").to_json()), "mine")
    assert load_rubric("mine").name == "skill"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("pass_threshold: 0.8", "pass_threshold: 3", r":2: .* 3 on the scale 1..5 is 0.5"),
        ("pass_threshold: 0.8", "pass_threshold: 80", r":2: .* 80 % is 0.8"),
        ("pass_threshold: 0.8", "pass_threshold: 800", r":2: .* write 0.7"),
        ("pass_threshold: 0.8", f"pass_threshold: {10**400}", r":2: .* not a huge number"),
        ("pass_threshold: 0.8", "pass_threshold: -1", r":2: .* 0 or more, not -1"),
        ("pass_threshold", "passingThreshold", r":2: .* did you mean `pass_threshold`"),
        ("weight: 0.5", "weight: -1", r":10: `criteria\[1\].weight` must be 0 or more"),
        ("weight: 0.5", "weight: heavy", r":10: .* must be a number, not 'heavy'"),
        ("weight: 0.5", "pass_value: 2", r":10: `pass_value` is 2, but"),
        ("    question: Is it right?\n", "", r":4: .*`criteria\[0\].question` is missing"),
        ("{min: 1, max: 5}", "one_to_fiv", r":6: .*no scale .*did you mean one_to_five"),
        ("{min: 1, max: 5}", "{min: 5, max: 1}", r":6: .*min \(5\) must lie below its max"),
        ("{min: 1, max: 5}", "[bad, good]", r"^[^\n]*:6: .*scale\[0\]` must be .*- {value: 1"),
        ("{min: 1, max: 5}", "1-5", r":6: .*called '1-5'.*known: .*as {min: 1, max: 5, int"),
        ("{min: 1, max: 5}", "{min: 1, mx: 5}", r":6: .*`criteria\[0\].scale.mx` is not known"),
        ("name: rude", "nme: rude", r":9: .*`criteria\[1\].scale\[0\].nme` is not known"),
        ("name: tone", "name: accuracy", "two criteria are called accuracy"),
        ("weight: 0.5", "weight: 0.5\n    weight: 1", r":11: the key 'weight' appears twice"),
        ("name: support", "name: ' '", r":1: `name` must not be blank"),
        (RUBRIC, "[]", "a rubric is a mapping of fields, not a list"),
        (RUBRIC, "name: x\ncriteria: 3", r":2: `criteria` must be a list, not 3"),
        (RUBRIC, "name: x\ncriteria: []", r":2: `criteria` must not be empty"),
        (RUBRIC, "pass_threshold: 7\ncriteria: [1]", r":2: `criteria\[0\]` must be a mapping"),
    ],
)  # fmt: skip
def test_an_unsound_rubric_names_line_field_and_remedy(
    tmp_path: Path, old: str, new: str, what: str
) -> None:
    with pytest.raises(RubricError, match=what):
        load_rubric(put(tmp_path, RUBRIC.replace(old, new), "r.yaml"))


def test_weights_that_are_all_zero_are_an_error(tmp_path: Path) -> None:
    text = RUBRIC.replace("{min: 1, max: 5}", "{min: 1, max: 5}\n    weight: 0")
    with pytest.raises(RubricError, match="at least one criterion needs a weight above 0"):
        load_rubric(put(tmp_path, text.replace("weight: 0.5", "weight: 0"), "r.yaml"))


def test_every_fault_of_a_rubric_is_named_in_file_order(tmp_path: Path) -> None:
    text = RUBRIC.replace("0.8", "4").replace("{min: 1, max: 5}", "nope").replace("0.5", "-2")
    with pytest.raises(RubricError, match="thresholds") as caught:
        load_rubric(put(tmp_path, text, "r.yaml"))
    found = [line.split(":")[1] for line in str(caught.value).splitlines()]
    assert found == ["2", "6", "10"]


def test_a_missing_rubric_file_is_a_rubric_error(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match="there is no such file"):
        load_rubric(tmp_path / "r.yaml")


def test_a_mapping_with_too_many_unknown_fields_is_refused_at_once(tmp_path: Path) -> None:
    text = json.dumps({f"field{n}": n for n in range(2_000)})
    with pytest.raises(RubricError, match=r"and 1,502 more are wrong with it"):
        load_rubric(put(tmp_path, text, "r.json"))


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000, "x" * 300 + ".zip", "~nobody/a"])
@pytest.mark.parametrize(
    "door", [load_dataset, load_suite, suite_from_path, load_rubric, discover_datasets]
)
def test_what_no_system_takes_for_a_path_is_an_error(
    tmp_path: Path, door: Callable[[Path | str], object], name: str
) -> None:
    with pytest.raises(InputError):
        door(name)
    with pytest.raises(InputError):
        door(tmp_path / name)


def test_a_suite_may_name_a_dataset_that_can_be_no_path(tmp_path: Path) -> None:
    suite = {"name": "s", "dataset": "x" * 5000, "variants": [{"id": "v", "outputs": "o.jsonl"}]}
    path = put(tmp_path, json.dumps(suite), "judgekit.json")
    assert [problem.severity for problem in validate_path(path)] == ["error", "error"]


WORDS = st.text(min_size=1, max_size=8).filter(str.strip)
VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text(), max_size=2)
CASES = st.builds(
    Case,
    id=WORDS,
    input=VALUES,
    reference=VALUES,
    tags=st.lists(st.text(), max_size=3),
    metadata=st.dictionaries(st.text(), VALUES, max_size=2),
)


@settings(max_examples=60)
@given(cases=st.lists(CASES, min_size=1, max_size=4, unique_by=lambda case: case.id), name=WORDS)
def test_a_dataset_dumped_is_loaded_again(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case], name: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    dataset = Dataset(name=name, version="7", cases=tuple(cases))
    written = dataset.model_dump(mode="json")
    assert load_dataset(put(folder, json.dumps(written), "d.json")) == dataset
    assert load_dataset(put(folder, dump_yaml(written), "d.yaml")) == dataset
    lines = "".join(json.dumps(case) + "\n" for case in written["cases"])
    assert load_dataset(put(folder, lines, "d.jsonl")).cases == dataset.cases


NAMES = st.sampled_from(
    ["name", "criteria", "scale", "weight", "question", "pass_threshold", "pass_value", "levels",
     "value", "min", "max", "cases", "id", "input", "version", "type", "fields", "tests"]
)  # fmt: skip
LEAVES = VALUES | st.sampled_from(["one_to_five", "binary", 3, 0.5, -1, 10**400])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=60)
@given(value=TREES)
def test_any_structure_is_loaded_or_a_clean_error(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    path = put(tmp_path_factory.getbasetemp(), json.dumps(value), "fuzz.json")
    for load in (load_dataset, load_rubric):
        try:
            found = load(path)
        except JudgekitError as error:
            assert "fuzz.json" in str(error)  # noqa: PT017 - both ends are right
        else:
            assert isinstance(found, Dataset | Rubric)


def test_a_rubric_of_records_round_trips(tmp_path: Path) -> None:
    rubric = Rubric(name="r", criteria=(Criterion(name="a", question="q", scale="five_level"),))
    assert load_rubric(put(tmp_path, dump_yaml(rubric.to_json()), "r.yaml")) == rubric


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("id,input.json\na,{", "the column `input.json` holds JSON"),
        ("id,input,input.json\na,x,1", "`input` and `input.json` both hold `input`"),
        ("id,input.json\na,", "the field `input` is missing"),
    ],
)
def test_a_typed_column_that_says_nothing_sound_is_told(
    tmp_path: Path, text: str, what: str
) -> None:
    with pytest.raises(DatasetError, match=what):
        load_dataset(put(tmp_path, text, "a.csv"))


@pytest.mark.parametrize("inline", [False, True])
def test_a_suite_is_loaded_as_its_dataset(tmp_path: Path, *, inline: bool) -> None:
    put(tmp_path, "id,question\na,1\n", "cases.csv")
    cases = {"cases": [{"id": "a", "input": "1"}]}
    named = {"dataset": "cases.csv", "columns": {"question": "input"}}
    suite = {"name": "s", "variants": [], **(cases if inline else named)}
    dataset = load_dataset(put(tmp_path, json.dumps(suite), "judgekit.json"))
    assert [(case.id, case.input) for case in dataset.cases] == [("a", "1")]
    assert dataset.name == ("s" if inline else "cases")


def test_a_suite_that_names_itself_or_an_unknown_field_holds_no_dataset(tmp_path: Path) -> None:
    suite = {"name": "s", "dataset": "judgekit.json"}
    path = put(tmp_path, json.dumps(suite), "judgekit.json")
    with pytest.raises(DatasetError, match="needs a list of `cases`"):
        load_dataset(path)
    with pytest.raises(DatasetError, match="the field `judg` is not known"):
        load_dataset(put(tmp_path, json.dumps({**suite, "judg": "m"}), "judgekit.json"))


def test_a_suite_has_the_cases_of_its_outputs_where_they_are_its_dataset(tmp_path: Path) -> None:
    rows = [{"case_id": f"c{n}", "input": f"q{n}", "text": "a"} for n in range(2)]
    put(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "out.jsonl")
    suite = {"name": "s", "dataset": "out.jsonl", "variants": [{"id": "v", "outputs": "out.jsonl"}]}
    dataset = load_dataset(put(tmp_path, json.dumps(suite), "suite.json"))
    assert [(case.id, case.input) for case in dataset.cases] == [("c0", "q0"), ("c1", "q1")]
    assert dataset.name == "out"


def test_a_benchmark_of_cases_that_stand_in_a_suite_is_refused(tmp_path: Path) -> None:
    suite = {"name": "s", "cases": [{"id": "a", "input": "q"}]}
    with pytest.raises(SettingsError, match="holds no benchmarks"):
        load_dataset(put(tmp_path, json.dumps(suite), "suite.json"), benchmark="b")
