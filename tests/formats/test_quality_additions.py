from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets import iter_output_rows
from judgekit.errors import DatasetError
from judgekit.formats import (
    ParsedDocument,
    RubricIds,
    case_object,
    is_read_whole,
    quality_run_rows,
    rubric_objects,
)
from judgekit.formats.quality_memory import CASE_FIELD_NAMES, read_quality_records
from judgekit.records import Rubric
from judgekit.targets import RecordedTarget
from tests.datasets.reading import iter_outputs
from tests.exports.making import JSON, NAMES, TEXTS
from tests.factories import make_case, make_criterion, make_rubric

if TYPE_CHECKING:
    from judgekit.records import Case

ASSERTION = {"type": "contains", "value": "30"}
FREE = st.dictionaries(
    NAMES.filter(lambda name: name not in {"id", "createdAt", "createdBy"}), JSON
)


def objects_of(*cases: Case) -> list[Any]:
    """Cases as the objects that `convert` and `export` write."""
    ids, found = RubricIds(), list[Any]()
    for case in cases:
        rubric_id = None
        if isinstance(case.rubric, Rubric):
            rubric_id, is_new = ids.of(case.rubric, case)
            found += rubric_objects(case.rubric, rubric_id) if is_new else ()
        found.append(case_object(case, rubric_id))
    return found


def read(objects: list[Any]) -> tuple[Case, ...]:
    return read_quality_records(ParsedDocument(Path("m.json"), objects)).dataset().cases


def test_how_a_case_is_evaluated_comes_back() -> None:
    case = make_case(
        name="A case",
        assertions=(ASSERTION,),
        context={"policy": "30 days"},
        stratum="complex",
        evaluation={"strategy": "hybrid", "weights": {"exact_match": 1.0}, "retries": 2},
        metadata={"priority": "high"},
    )
    assert read(objects_of(case)) == (case,)


@settings(max_examples=40)
@given(
    case=st.builds(
        make_case,
        name=NAMES,
        input=JSON,
        reference=JSON,
        context=JSON,
        stratum=st.sampled_from([None, "simple", "very_complex"]),
        assertions=st.lists(st.fixed_dictionaries({"type": NAMES, "value": JSON})).map(tuple),
        metadata=FREE
        | st.dictionaries(st.sampled_from(sorted(CASE_FIELD_NAMES - {"rubricId"})), JSON),
    )
)
def test_whatever_a_case_says_is_read_again(case: Case) -> None:
    assert read(objects_of(case)) == (case,)


@settings(max_examples=40)
@given(
    low=st.integers(-3, 3),
    guide=st.none() | TEXTS,
    note=st.none() | NAMES,
    required=st.booleans(),
    integer=st.booleans(),
    between=st.booleans(),
    value=st.none() | st.floats(0, 1),
)
def test_whatever_a_criterion_says_is_read_again(
    low: int, guide: str | None, note: str | None, value: float | None, **flags: bool
) -> None:
    levels = [{"value": low + 4, "name": "good"}, {"value": low, "description": "poor"}]
    scale: dict[str, Any] = {"min": low, "max": low + 4, "integer": flags["integer"]}
    scale |= {"levels": levels, "between_levels": flags["between"]}
    criterion = make_criterion(
        "one", scale=scale, required=flags["required"], pass_value=value,
        scoring_guide=guide, description=note,
        examples=[{"output": "x", "raw": low, "rationale": "r"}],
    )  # fmt: skip
    case = make_case(rubric=make_rubric(criterion, "two", pass_threshold=0.6))
    (again,) = read(objects_of(case))
    assert isinstance(again.rubric, Rubric)
    assert isinstance(case.rubric, Rubric)
    assert again.rubric.criteria == case.rubric.criteria
    assert objects_of(again) == objects_of(case)


def test_criteria_keep_the_ids_they_came_with() -> None:
    fields = {"description": "d", "minScore": 0, "maxScore": 1, "weight": 1.0}
    given = [
        {"type": "rubric", "id": "r", "fields": {
            "name": "R", "criteriaIds": ["x", "y"], "passingThreshold": 0.5, "version": 1,
            "isActive": True}},
        *({"type": "rubric-criterion", "id": key,
           "fields": {"rubricId": "r", "name": name, **fields}}
          for key, name in (("x", "One"), ("y", "Two"))),
        {"type": "test-case", "id": "t", "fields": {
            "name": "n", "inputs": "Q", "rubricId": "r", "tags": [], "status": "active"}},
    ]  # fmt: skip
    (case,) = read(given)
    assert objects_of(case) == given
    changed = make_rubric("One", "Two", name="R", metadata={"criteriaIds": ["x", "y"]})
    both = objects_of(case, case.model_copy(update={"id": "u", "rubric": changed}))
    ids = [one["id"] for one in both if one["type"] == "rubric-criterion"]
    assert ids[:2] == ["x", "y"]
    assert len(set(ids)) == 4, "a rubric with another content has criteria of its own"


@pytest.mark.parametrize(
    "extra",
    [
        {"stratum": "hard"},
        {"evaluation": "weekly"},
        {"assertions": "none"},
        {"assertions": [{"value": 1}]},
        {"metadata": {"owner": "ada"}},
        {"metadata": {}},
    ],
)
def test_what_only_has_the_name_of_a_field_is_metadata(extra: dict[str, Any]) -> None:
    fields = {"name": "n", "inputs": "Q", "expectedOutputs": "R", **extra}
    (case,) = read([{"type": "test-case", "id": "t", "fields": fields}])
    assert case.metadata == extra


def test_a_level_that_is_none_leaves_the_scale_as_it_is() -> None:
    found = objects_of(make_case(rubric=make_rubric("one")))
    (criterion,) = (one for one in found if one["type"] == "rubric-criterion")
    criterion["fields"]["levels"] = "from 1 to 5"
    (case,) = read(found)
    assert isinstance(case.rubric, Rubric)
    assert case.rubric.criteria[0].scale.levels == ()


def test_a_case_with_assertions_can_fail() -> None:
    found = objects_of(make_case(reference=None, assertions=(ASSERTION,)))
    assert read_quality_records(ParsedDocument(Path("m.json"), found)).problems == []


MEMORY: list[dict[str, Any]] = [
    {"type": "test-case", "id": "t", "fields": {
        "name": "n", "inputs": "Q", "expectedOutputs": "R"}},
    {"type": "test-run", "id": "one", "fields": {
        "testCaseId": "t", "promptVersionRef": "p@1", "actualOutput": "A", "passed": True}},
    {"type": "test-run", "id": "two", "fields": {
        "testCaseId": "t", "promptVersionRef": "p@2", "actualOutput": {"b": 1}}},
]  # fmt: skip


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_the_runs_of_a_memory_are_outputs(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"memory{suffix}"
    lines = "".join(json.dumps(one) + "\n" for one in MEMORY)
    path.write_text(json.dumps(MEMORY) if suffix == ".json" else lines, encoding="utf-8")
    assert is_read_whole(path)
    found = {output.variant: output for output in iter_outputs(path)}
    assert (found["p@1"].text, found["p@2"].data) == ("A", {"b": 1})
    assert [row.fields["input"] for row in iter_output_rows(path)] == ["Q", "Q"]
    target = RecordedTarget("p@2", path)
    assert target.case_ids == ["t"]


def test_runs_alone_are_outputs_without_a_question() -> None:
    ((line, fields), _) = quality_run_rows(ParsedDocument(Path("m.json"), [*MEMORY[1:]]))
    assert (line, fields["case_id"], "input" in fields) == (1, "t", False)


def test_a_run_of_a_case_that_is_not_there_is_refused() -> None:
    strange = {**MEMORY[1], "fields": {"testCaseId": "u", "actualOutput": "A"}}
    with pytest.raises(DatasetError, match="no test-case has the id 'u'"):
        list(quality_run_rows(ParsedDocument(Path("m.json"), [MEMORY[0], strange])))
