from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import iter_case_outputs, load_dataset, read_output
from judgekit.errors import DatasetError
from judgekit.formats import (
    FileRow,
    ParsedDocument,
    human_judgments,
    quality_run_rows,
    read_document,
)
from judgekit.formats.text import MAX_DOCUMENT_BYTES
from judgekit.records import Rubric
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, warnings_of, write

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Output


def case(key: str = "t", **fields: Any) -> dict[str, Any]:
    known = {"name": "n", "inputs": "Q", "expectedOutputs": "R"}
    return {"type": "test-case", "id": key, "fields": known | fields}


def rubric(**fields: Any) -> dict[str, Any]:
    known = {"name": "r", "criteriaIds": ["c"], "passingThreshold": 0.5}
    return {"type": "rubric", "id": "r", "fields": known | fields}


def criterion(key: str = "c", **fields: Any) -> dict[str, Any]:
    known = {"name": key, "description": "Is right", "weight": 1, "minScore": 1, "maxScore": 5}
    return {"type": "rubric-criterion", "id": key, "fields": known | fields}


def run(**fields: Any) -> dict[str, Any]:
    known = {"testCaseId": "t", "actualOutput": "A"}
    return {"type": "test-run", "id": "run", "fields": known | fields}


def outputs_of(path: Path) -> list[Output]:
    return [output for _, output in iter_case_outputs(path, needs_input=False)]


def test_cases_are_linked_to_their_rubric_and_criteria() -> None:
    first, second = load_dataset(FOREIGN / "quality.json").cases
    assert (first.id, first.agent, first.skill) == ("tc-quote", "seller", "quoting")
    assert (first.prompt_version, first.reference) == ("quote@3", {"price": 30})
    assert isinstance(first.rubric, Rubric)
    assert [c.name for c in first.rubric.criteria] == ["Right", "Kind"]
    assert first.rubric.criteria[0].scoring_guide == "5 if equal, 1 if not"
    assert (first.rubric.version, first.rubric.pass_threshold) == (2, 0.7)
    assert first.metadata["createdBy"] == "ada"
    assert (second.status, second.rubric) == ("deprecated", None)


def test_outputs_and_labels_of_runs_have_the_repeats_that_the_runs_name(tmp_path: Path) -> None:
    runs = [run(actualOutput=f"A{n}", repeat=n) | {"id": f"r{n}"} for n in (1, 0)]
    known = {"criterionId": "c", "score": 1, "maxScore": 5, "rationale": "x"}
    judgments = [
        {"type": "eval-judgment", "id": f"j{n}",
         "fields": {"testRunId": f"r{n}", "judgedByType": "human", **known}}
        for n in (0, 1)
    ]  # fmt: skip
    path = write(tmp_path, [criterion(), *runs, *judgments])
    assert [(one.text, one.metadata["repeat"]) for one in outputs_of(path)] == [
        ("A1", 1),
        ("A0", 0),
    ]
    labels, _ = human_judgments(read_document(path))
    assert [row["repeat"] for _, row in labels] == [0, 1]


@pytest.mark.parametrize("form", ["lines", "records", "one"])
def test_an_export_may_be_lines_a_list_under_a_name_or_one_object(
    tmp_path: Path, form: str
) -> None:
    items = [case(), rubric(), criterion()]
    if form == "lines":
        path = tmp_path / "a.jsonl"
        path.write_text("".join(f"{json.dumps(item)}\n" for item in items))
    else:
        path = write(tmp_path, {"records": items} if form == "records" else items[0])
    assert [found.id for found in load_dataset(path).cases] == ["t"]


def test_runs_are_outputs() -> None:
    document = read_document(FOREIGN / "quality.json")
    read = [read_output(FileRow(*row)) for row in quality_run_rows(document)]
    first, second = (found.output for found in read if not isinstance(found, list))
    assert (first.data, first.variant, first.run_id) == ({"price": 30}, "quote@3", "ar-9")
    assert (first.duration_ms, first.metadata["passed"]) == (1200, True)
    assert (second.text, second.metadata["test_run_id"]) == ("30 euros", "run-2")
    assert (first.metadata["repeat"], second.metadata["repeat"]) == (0, 1)


def test_runs_without_their_cases_are_read(tmp_path: Path) -> None:
    [output] = outputs_of(write(tmp_path, [run(actualOutput=None)]))
    assert output.error == "the run has no output"


def test_runs_of_an_unknown_case_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no test-case has the id 'u'"):
        outputs_of(write(tmp_path, [case(), run(testCaseId="u")]))


@pytest.mark.parametrize(
    ("items", "what"),
    [
        ([case(rubricId="s"), rubric(), criterion()], "`rubricId`: no rubric has the id 's'"),
        ([case(), rubric(criteriaIds=["d"]), criterion()], "no rubric-criterion has the id 'd'"),
        ([case(), {"type": "benchmark", "fields": {"name": "b", "testCaseIds": ["x"]}}],
         "no test-case has the id 'x'"),
        ([case(), case()], "a second test-case with the id 't'"),
        ([case(), rubric(passingThreshold=70), criterion()], "70 % is 0.7"),
        ([case(), rubric(passingThreshold=1e12), criterion()], "which no output can reach"),
        ([case(), rubric(passingThreshold=-1), criterion()], "is -1, below 0"),
        ([case(), rubric(passingThreshold=3), criterion(maxScore=1)], "which no output can reach"),
        ([case(), rubric(), criterion(weight=0)], "no criterion has a weight above 0"),
        ([case(rubricId="r"), rubric(), criterion(maxScore=1)], "must lie below its max"),
        ([case(), {"type": "rubric"}], "`fields` is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_an_error(tmp_path: Path, items: list[Any], what: str) -> None:
    found = errors_of(write(tmp_path, items))
    assert any(what in str(problem) for problem in found), found
    assert all(problem.line is not None and problem.line > 1 for problem in found)


@pytest.mark.parametrize(
    ("items", "what"),
    [
        ([case(rubricId="s")], "no rubric has the id 's'"),
        ([case(expectedOutputs=None)], "neither a rubric nor expected outputs"),
        ([case(), rubric(criteriaIds=[])], "the rubric has no criteria in this file"),
        ([case(), {"type": "test-cas", "fields": {}}], "the type 'test-cas' is not known"),
        ([case(), rubric(passingThreshold=3), criterion()], "as a sum of weighted scores"),
    ],
)
def test_what_should_be_mended_is_a_warning(tmp_path: Path, items: list[Any], what: str) -> None:
    path = write(tmp_path, items)
    assert any(what in warning for warning in warnings_of(path))
    assert errors_of(path) == []


def test_criteria_may_name_their_rubric_instead(tmp_path: Path) -> None:
    items = [case(rubricId="r"), rubric(criteriaIds=[]), criterion(rubricId="r"), criterion("d")]
    [found] = load_dataset(write(tmp_path, items)).cases
    assert isinstance(found.rubric, Rubric)
    assert [c.name for c in found.rubric.criteria] == ["c"]


def test_objects_without_an_id_are_called_by_name_or_number(tmp_path: Path) -> None:
    named = {"type": "test-case", "fields": {"name": "n", "inputs": "Q", "expectedOutputs": 1}}
    inner = {"type": "test-case", "fields": {"id": 7, **named["fields"]}}  # type: ignore[dict-item]  # JSON
    runs = [{"type": "test-run", "fields": {"testCaseId": "n", "actualOutput": 1}}]
    path = write(tmp_path, [named, inner, *runs])
    assert [each.id for each in load_dataset(path).cases] == ["n", "7"]
    assert outputs_of(path)[0].metadata["test_run_id"] == "1"


def test_a_threshold_on_the_sum_passes_the_same_outputs(tmp_path: Path) -> None:
    """0.5 * raw_c + 2 * raw_d >= 4 with c from 1 to 5 and d from 0 to 1."""
    items = [
        case(rubricId="r"),
        rubric(passingThreshold=4, criteriaIds=["c", "d"]),
        criterion(weight=0.5),
        criterion("d", weight=2, minScore=0, maxScore=1),
    ]
    [found] = load_dataset(write(tmp_path, items)).cases
    assert isinstance(found.rubric, Rubric)
    one, other = found.rubric.criteria
    for raw_one in (1, 3, 4, 5):
        for raw_other in (0, 0.75, 1):
            value = one.weight * one.scale.value_of(raw_one)
            value += other.weight * other.scale.value_of(raw_other)
            value /= one.weight + other.weight
            passes = 0.5 * raw_one + 2 * raw_other >= 4
            assert (value >= found.rubric.pass_threshold - 1e-9) == passes
    assert found.rubric.metadata["weights"] == [0.5, 2.0]


def test_records_that_are_no_list_are_refused(tmp_path: Path) -> None:
    document = ParsedDocument(tmp_path / "a.json", {"records": 3})
    with pytest.raises(DatasetError, match="`records` must be a list"):
        list(quality_run_rows(document))


def test_lines_that_are_too_many_to_keep_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(case())}\n")
    with path.open("ab") as stream:
        stream.truncate(MAX_DOCUMENT_BYTES + 1)
    with pytest.raises(DatasetError, match="larger than 256 MiB"):
        load_dataset(path)
