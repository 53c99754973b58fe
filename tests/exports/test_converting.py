from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets import load_dataset
from judgekit.errors import SettingsError, StoreError
from judgekit.exports import convert_cases, open_conversion_source
from judgekit.exports.tabular import write_json_list
from judgekit.formats import upgrade_skill_tests
from judgekit.records import CaseSource
from tests.exports.making import JSON, NAMES, TEXTS
from tests.factories import make_case, make_criterion, make_rubric
from tests.formats import FOREIGN

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Case, Dataset

OWN = (".jsonl", ".json", ".yaml", ".csv", ".parquet")
NO_FORMS = st.text("abc =+-@'\"\n\r,;ä", min_size=1, max_size=9).filter(str.strip)
SIMPLE = st.builds(
    make_case,
    name=st.none() | NAMES,
    input=NO_FORMS,
    reference=st.none() | NO_FORMS,
    tags=st.lists(NAMES, max_size=3).map(tuple),
    metadata=st.dictionaries(NAMES, JSON, max_size=2),
)
SKILL_RUBRIC = make_rubric(
    make_criterion("dated", question="It begins with a date", scale="one_to_five",
                   required=True, pass_value=0.5),
    make_criterion("short", question="It has 12 lines", scale="one_to_five", pass_value=0.5),
    name="refund",
    pass_threshold=0.0,
)  # fmt: skip


def own(folder: Path, *cases: Case, name: str = "own.jsonl") -> Path:
    """A file of cases in judgekit's own form."""
    path = folder / name
    write_json_list(path, (case.to_json() for case in cases))
    return path


def converted(path: Path, to: Path, form: str = "cases", **options: Any) -> tuple[str, ...]:
    return convert_cases(open_conversion_source(path), to, form, **options)


def as_read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def cases_of(path: Path) -> tuple[Case, ...]:
    dataset: Dataset = load_dataset(path)
    return dataset.cases


@pytest.mark.parametrize("name", [
    "evals.json", "workflow.json", "quality.json", "promptfooconfig.yaml", "samples.jsonl",
    "tests_v1.json", "skill", "skill/eval/tests.json",
])  # fmt: skip
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".yaml"])
def test_every_foreign_file_becomes_cases_and_loses_nothing(
    tmp_path: Path, name: str, suffix: str
) -> None:
    to = tmp_path / f"cases{suffix}"
    assert converted(FOREIGN / name, to) == ()
    assert cases_of(to) == cases_of(FOREIGN / name)
    assert [path.name for path in tmp_path.iterdir()] == [to.name]


@pytest.mark.no_cover
@pytest.mark.parametrize("suffix", OWN)
@settings(max_examples=40)
@given(cases=st.lists(SIMPLE, min_size=1, max_size=3))
def test_own_cases_go_through_every_form(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, cases: list[Case]
) -> None:
    folder = tmp_path_factory.mktemp("own")
    numbered = [case.model_copy(update={"id": f"c{n}"}) for n, case in enumerate(cases)]
    to = folder / f"to{suffix}"
    assert converted(own(folder, *numbered), to) == ()
    assert cases_of(to) == tuple(numbered)


VALUES = st.none() | st.sampled_from(["", "null", '"', "=1+1", " x "]) | JSON


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@settings(max_examples=40)
@given(values=st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=3))
def test_a_table_holds_any_value_apart_from_any_other(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, values: list[tuple[Any, Any, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    cases = [
        make_case(id=f"c{n}", input=one, reference=two, context=three)
        for n, (one, two, three) in enumerate(values)
    ]
    to = folder / f"to{suffix}"
    assert converted(own(folder, *cases), to) == ()
    assert cases_of(to) == tuple(cases)


@pytest.mark.parametrize("suffix", OWN)
def test_transforms_and_variants_stand_in_every_form(tmp_path: Path, suffix: str) -> None:
    case = make_case(transform=({"trim": True},), variants=("v[a=1,b=2]", "v2"))
    to = tmp_path / f"to{suffix}"
    assert converted(own(tmp_path, case), to) == ()
    assert cases_of(to) == (case,)


@settings(max_examples=100)
@given(case=st.builds(make_case, input=JSON, reference=JSON, context=JSON, name=st.none() | TEXTS,
                      metadata=st.dictionaries(TEXTS, JSON, max_size=2)),
       suffix=st.sampled_from(OWN))  # fmt: skip
def test_what_is_written_is_the_same_or_told_to_be_lost(
    tmp_path_factory: pytest.TempPathFactory, case: Case, suffix: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    source = own(folder, case)
    lost = converted(source, folder / f"to{suffix}", lossy=True)
    if not lost:
        assert cases_of(folder / f"to{suffix}") == cases_of(source)


def test_a_workflow_dataset_comes_back_as_it_was(tmp_path: Path) -> None:
    path = FOREIGN / "workflow.json"
    assert converted(path, tmp_path / "w.json", "workflow") == ()
    assert as_read(tmp_path / "w.json") == as_read(path)


def test_an_evals_file_comes_back_as_it_was(tmp_path: Path) -> None:
    shutil.copy(FOREIGN / "notes.txt", tmp_path)
    assert converted(FOREIGN / "evals.json", tmp_path / "e.json", "skill-evals") == ()
    assert as_read(tmp_path / "e.json") == as_read(FOREIGN / "evals.json")


def test_fields_of_an_expectation_that_have_no_place_come_back(tmp_path: Path) -> None:
    own = {"criterion": "dated", "description": "Begins with a date", "required": True, "note": "n"}
    whole = {"version": "1", "skill": "s", "cases": [
        {"id": "c", "prompt": "Q", "files": [], "expectations": [own]}]}  # fmt: skip
    path = tmp_path / "evals.json"
    path.write_text(json.dumps(whole))
    assert converted(path, tmp_path / "e.json", "skill-evals") == ()
    assert as_read(tmp_path / "e.json") == whole


def test_a_test_file_comes_back_as_it_was_beside_its_fixtures(tmp_path: Path) -> None:
    shutil.copytree(FOREIGN / "skill", tmp_path / "skill")
    to = tmp_path / "skill" / "eval" / "tests.json"
    assert converted(tmp_path / "skill", to, "skill-tests") == ()
    assert as_read(to) == as_read(FOREIGN / "skill" / "eval" / "tests.json")


def test_fixtures_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="invoice-001: context"):
        converted(FOREIGN / "skill", tmp_path / "tests.json", "skill-tests")
    assert list(tmp_path.iterdir()) == []


def test_version_1_becomes_2_and_1_again(tmp_path: Path) -> None:
    old = FOREIGN / "tests_v1.json"
    assert converted(old, tmp_path / "v2.json", "skill-tests") == ()
    assert as_read(tmp_path / "v2.json") == upgrade_skill_tests(as_read(old))
    assert converted(tmp_path / "v2.json", tmp_path / "v1.json", "skill-tests-v1") == ()
    assert as_read(tmp_path / "v1.json") == as_read(old)


def test_version_1_has_no_place_for_what_only_2_has(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        converted(FOREIGN / "skill", tmp_path / "v1.json", "skill-tests-v1")
    assert "profile" in str(refused.value)
    assert "… and" in str(refused.value)


@settings(max_examples=50)
@given(st.lists(
    st.builds(make_case, name=NAMES, input=TEXTS, tags=st.lists(TEXTS, max_size=2).map(tuple)),
    min_size=1, max_size=3,
))  # fmt: skip
def test_own_cases_become_a_workflow_dataset(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case]
) -> None:
    folder = tmp_path_factory.mktemp("w")
    checks = ({"type": "behavior.no_errors"},)
    listed = [
        case.model_copy(update={"id": f"c{n}", "assertions": checks, "agent": "flow"})
        for n, case in enumerate(cases)
    ]
    assert converted(own(folder, *listed), folder / "w.json", "workflow") == ()
    assert cases_of(folder / "w.json") == tuple(listed)


@settings(max_examples=50)
@given(NAMES, TEXTS, st.dictionaries(NAMES.filter(lambda n: n != "files"), JSON, max_size=2))
def test_own_cases_with_such_rubrics_become_an_evals_file(
    tmp_path_factory: pytest.TempPathFactory, skill: str, prompt: str, metadata: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("e")
    case = make_case(input=prompt, rubric=SKILL_RUBRIC, skill=skill,
                     metadata={f"x-{k}": v for k, v in metadata.items()})  # fmt: skip
    assert converted(own(folder, case), folder / "e.json", "skill-evals") == ()
    assert cases_of(folder / "e.json") == (case,)


def test_a_rubric_with_other_scales_is_lost_in_an_evals_file(tmp_path: Path) -> None:
    case = make_case(rubric=make_rubric(make_criterion("a", required=True), name="refund"))
    with pytest.raises(SettingsError, match=r"refund: rubric\.pass_threshold"):
        converted(own(tmp_path, case), tmp_path / "e.json", "skill-evals")


def test_a_case_that_could_not_fail_there_is_told(tmp_path: Path) -> None:
    path = own(tmp_path, make_case())
    lost = converted(path, tmp_path / "e.json", "skill-evals", lossy=True)
    assert lost[0].startswith("the file could not be read again: ")
    assert ".part" not in lost[0]
    assert "can never fail" in lost[0]
    assert as_read(tmp_path / "e.json")["cases"][0]["expectations"] == []


def test_cases_of_several_skills_and_agents_lose_them(tmp_path: Path) -> None:
    cases = [make_case(id=n, skill=n, agent=n, input={"q": 1}, rubric=SKILL_RUBRIC) for n in "ab"]
    path = own(tmp_path, *cases)
    for form, name in (("skill-evals", "skill"), ("workflow", "agent")):
        lost = converted(path, tmp_path / "x.json", form, lossy=True)
        assert f"a: {name}" in lost


def test_own_cases_become_a_test_file(tmp_path: Path) -> None:
    case = make_case(
        name="A sum", reference="4", assertions=({"type": "equals", "value": "4"},),
        evaluation={"strategy": "exact_match"}, metadata={"author": "ada"},
    )  # fmt: skip
    assert converted(own(tmp_path, case), tmp_path / "t.json", "skill-tests") == ()
    assert cases_of(tmp_path / "t.json") == (case,)
    lost = converted(own(tmp_path, case), tmp_path / "v1.json", "skill-tests-v1", lossy=True)
    assert "refund: id" in lost


def test_quality_records_come_back_with_their_ids(tmp_path: Path) -> None:
    to = tmp_path / "q.jsonl"
    assert converted(FOREIGN / "quality.json", to, "quality") == ()
    assert cases_of(to) == cases_of(FOREIGN / "quality.json")


def test_a_refused_conversion_leaves_the_older_file(tmp_path: Path) -> None:
    to = tmp_path / "to.csv"
    to.write_text("older")
    path = own(tmp_path, make_case(name=""))
    with pytest.raises(SettingsError, match=r"to\.csv is not written.*\n  refund: name\n.*--lossy"):
        converted(path, to)
    assert to.read_text() == "older"
    assert converted(path, to, lossy=True) == ("refund: name",)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["own.jsonl", "to.csv"]


def test_a_table_has_the_columns_that_are_used(tmp_path: Path) -> None:
    path = own(tmp_path, make_case(), make_case(id="b", tags=("x", "y"), reference="=1+1"))
    converted(path, tmp_path / "to.csv")
    lines = (tmp_path / "to.csv").read_text().splitlines()
    assert lines[0] == "id,input,reference,tags"
    assert lines[2] == 'b,Can I return it?,\'=1+1,"[""x"", ""y""]"'


def test_a_document_of_judgekits_own_is_a_source(tmp_path: Path) -> None:
    path = own(tmp_path, make_case(), name="own.json")
    assert converted(path, tmp_path / "to.yaml") == ()
    assert cases_of(tmp_path / "to.yaml") == (make_case(),)


def test_half_a_character_is_lost_and_told(tmp_path: Path) -> None:
    lost = converted(own(tmp_path, make_case()), tmp_path / "a.jsonl", lossy=True)
    assert lost == ()
    source = open_conversion_source(tmp_path / "a.jsonl")
    broken = make_case().model_copy(update={"description": "\ud800"})
    cases = CaseSource("s", "1", lambda: iter([broken]))
    told = convert_cases(replace(source, cases=cases), tmp_path / "b.jsonl", "cases", lossy=True)
    assert told == ("refund: description",)


def test_a_file_may_be_converted_onto_itself(tmp_path: Path) -> None:
    path = own(tmp_path, make_case(), make_case(id="b"))
    before = cases_of(path)
    assert converted(path, path) == ()
    assert cases_of(path) == before


def test_a_place_that_is_a_folder_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "to.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*to\.jsonl"):
        converted(own(tmp_path, make_case()), tmp_path / "to.jsonl")


def test_a_suite_and_mapped_columns_are_sources(tmp_path: Path) -> None:
    own(tmp_path, make_case())
    suite = tmp_path / "judgekit.yaml"
    suite.write_text("name: s\ndataset: own.jsonl\n")
    assert open_conversion_source(suite).is_suite
    assert converted(suite, tmp_path / "a.yaml") == ()
    table = tmp_path / "t.csv"
    table.write_text("key,question\na,Q\n")
    source = open_conversion_source(table, {"key": "id", "question": "input"})
    assert convert_cases(source, tmp_path / "t.jsonl", "cases") == ()
    assert cases_of(tmp_path / "t.jsonl") == (make_case(id="a", input="Q"),)


@pytest.mark.parametrize("wrapped", [False, True])
def test_objects_of_a_quality_memory_stay_as_they_are(tmp_path: Path, *, wrapped: bool) -> None:
    of_case = {"name": "n", "inputs": {"q": 1}, "expectedOutputs": {"a": 2}, "rubricId": "r"}
    criterion = {"rubricId": "r", "name": "Tone", "description": "Is it kind?", "weight": 1}
    records: list[object] = [
        {"type": "test-case", "id": "t", "fields": of_case},
        {
            "type": "rubric",
            "id": "r",
            "fields": {"name": "R", "criteriaIds": ["c9"], "passingThreshold": 0.7},
        },
        {
            "type": "rubric-criterion",
            "id": "c9",
            "fields": {**criterion, "minScore": 0, "maxScore": 10},
        },
        {"type": "benchmark", "id": "b", "fields": {"name": "B", "testCaseIds": ["t"]}},
    ]
    source = tmp_path / "memory.json"
    source.write_text(json.dumps({"records": records} if wrapped else records), encoding="utf-8")
    out = tmp_path / "again.json"
    assert convert_cases(open_conversion_source(source), out, "quality") == ()
    assert json.loads(out.read_text(encoding="utf-8")) == records
