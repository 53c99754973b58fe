from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from judgekit.datasets import load_dataset, valid_output, validate_path
from judgekit.errors import SettingsError
from judgekit.evaluation import conclude_result
from judgekit.exports.quality_memory import QUALITY, QualityExport
from judgekit.formats import FileRow, ParsedDocument, quality_run_rows, read_whole_document
from judgekit.formats.quality_memory import read_quality_records
from judgekit.records import CaseResult, Level, Rubric, Variant
from tests.exports.making import JSON, JUDGE, NAMES, TEXTS, check, make_answer, make_run, said
from tests.factories import make_case, make_criterion, make_failure, make_output, make_rubric
from tests.formats import FOREIGN

if TYPE_CHECKING:
    from judgekit.evaluation import Outcome
    from judgekit.records import Case, RunInfo


def exported(*answers: Outcome, run: RunInfo | None = None) -> dict[str, list[Any]]:
    """The fields of the objects by their type."""
    found: dict[str, list[Any]] = {}
    for item in QualityExport(run or make_run()).objects(answers):
        found.setdefault(str(item["type"]), []).append({"id": item["id"], **dict(item["fields"])})  # type: ignore[arg-type]  # an object
    return found


def cases_in(objects: Any) -> tuple[Case, ...]:
    return read_quality_records(ParsedDocument(Path("x.json"), objects)).dataset().cases


def read_back(*answers: Outcome, run: RunInfo | None = None) -> tuple[Any, list[Any]]:
    """The cases and outputs that the readers make of the objects."""
    objects: Any = list(QualityExport(run or make_run()).objects(answers))
    rows = quality_run_rows(ParsedDocument(Path("x.json"), objects))
    return cases_in(objects), [valid_output(FileRow(*row), Path("x.json")).output for row in rows]


def test_a_run_is_linked_objects_from_case_to_benchmark_run() -> None:
    run = make_run(triggered_by="ci", notes="nightly")
    found = exported(make_answer(4, 5), make_answer(2, 5, repeat=1), run=run)
    assert {kind: len(items) for kind, items in found.items()} == {
        "rubric": 1, "rubric-criterion": 2, "test-case": 1, "test-run": 2, "eval-judgment": 4,
        "eval-failure": 1, "benchmark": 1, "benchmark-run": 1,
    }  # fmt: skip
    rubric, case, (first, second) = found["rubric"][0], found["test-case"][0], found["test-run"]
    assert rubric["criteriaIds"] == [criterion["id"] for criterion in found["rubric-criterion"]]
    assert (case["rubricId"], case["id"]) == (rubric["id"], first["testCaseId"])
    assert {j["testRunId"] for j in found["eval-judgment"]} == {first["id"], second["id"]}
    assert found["benchmark"][0]["testCaseIds"] == ["refund"]
    (whole,) = found["benchmark-run"]
    assert whole["testRunIds"] == [first["id"], second["id"]]
    assert whole["benchmarkId"] == found["benchmark"][0]["id"]
    assert (whole["triggeredBy"], whole["notes"]) == ("ci", "nightly")
    assert (whole["overallScore"], whole["passRate"]) == (0.75, 0.5)


def test_a_run_and_a_judgment_have_the_fields_of_the_format() -> None:
    found = exported(make_answer(4, 5, output=make_output(run_id="ar-9", duration_ms=12.5)))
    run, judgment = found["test-run"][0], found["eval-judgment"][0]
    assert (run["actualOutput"], run["passed"], run["totalScore"]) == (
        "Yes, within 30 days.", True, 0.875,
    )  # fmt: skip
    assert (run["maxPossibleScore"], run["judgeType"], run["agentRunId"]) == (1.0, "llm", "ar-9")
    assert (run["ranAt"], run["durationMs"]) == ("2026-11-22T09:30:00.000000+00:00", 12.5)
    assert {k: judgment[k] for k in ("score", "maxScore", "rationale", "judgedBy")} == {
        "score": 4.0, "maxScore": 5.0, "rationale": "It says so.", "judgedBy": JUDGE,
    }  # fmt: skip
    assert judgment["judgedByType"] == "llm"
    assert "judgedAt" not in judgment, "a judgment that was stored in no run has no time"


def test_a_stored_judgment_has_its_time() -> None:
    stored = said("accuracy", 5).model_copy(update={"judged_at": datetime(2026, 1, 3, tzinfo=UTC)})
    found = exported(make_answer(judgments=(stored, said("clarity", 4))))
    times = [judgment.get("judgedAt") for judgment in found["eval-judgment"]]
    assert times == ["2026-01-03T00:00:00.000000+00:00", None]


def test_a_pass_can_be_found_again_from_the_total_and_the_threshold() -> None:
    dataset = load_dataset(FOREIGN / "quality.json")
    rubric = dataset.cases[0].rubric
    assert isinstance(rubric, Rubric)
    summed = rubric.model_copy(
        update={"metadata": {"passingThreshold": 3.5, "weights": [0.8, 0.2]}}
    )
    run = make_run(rubric=summed)
    judgments = [said("Right", 5), said("Kind", 1, value=1.0)]
    found = exported(make_answer(judgments=judgments, run=run), run=run)
    assert found["rubric"][0]["passingThreshold"] == 3.5
    assert [c["weight"] for c in found["rubric-criterion"]] == [0.8, 0.2]
    one = found["test-run"][0]
    assert one["totalScore"] == pytest.approx(0.8 * 5 + 0.2)
    assert one["maxPossibleScore"] == pytest.approx(0.8 * 5 + 0.2)
    half = make_answer(judgments=judgments[:1], run=run)
    assert exported(half, run=run)["test-run"][0]["totalScore"] is None


def test_each_answer_that_fails_has_a_failure_that_says_why() -> None:
    found = exported(make_answer(1, 5), make_answer(5, 1, repeat=1), make_answer(repeat=2))
    first, second = found["eval-failure"]
    accuracy, clarity = (criterion["id"] for criterion in found["rubric-criterion"])
    assert [one["testRunId"] for one in (first, second)] == [
        one["id"] for one in found["test-run"][:2]
    ]
    assert (first["failureType"], first["severity"]) == ("wrong-output", "critical")
    assert (first["affectedCriterionIds"], second["affectedCriterionIds"]) == (
        [accuracy],
        [clarity],
    )
    assert first["description"] == "accuracy: It says so."
    assert (second["severity"], "clarity" in second["description"]) == ("major", True)


def test_where_only_the_mean_falls_short_all_that_draw_it_down_are_affected() -> None:
    lenient = [make_criterion(name, pass_value=0.25) for name in ("accuracy", "clarity")]
    run = make_run(rubric=make_rubric(*lenient, pass_threshold=0.7))
    [failure] = exported(make_answer(3, 3, run=run), run=run)["eval-failure"]
    assert len(failure["affectedCriterionIds"]) == 2
    assert failure["severity"] == "major"
    assert failure["description"] == "accuracy: It says so.\nclarity: It says so."


@pytest.mark.parametrize(
    ("output", "name", "kind"),
    [
        (make_output("30"), "is-json", "format-error"),
        (make_output("30"), "text.contains_xml", "format-error"),
        (make_output("30"), "contains", "wrong-output"),
        (make_output(""), "contains", "wrong-output"),
        (make_output("I cannot help with that."), "is-json", "refusal"),
        (make_output(None, data={"a": 1}), "acme.json", "wrong-output"),
        (make_output(None, error="60 s", error_kind="timeout"), "is-json", "timeout"),
        (make_output(None, error="no", error_kind="refused"), "is-json", "refusal"),
    ],
)
def test_the_type_of_a_failure_is_what_can_be_seen(output: Any, name: str, kind: str) -> None:
    run = make_run(rubric=None, panel={})
    checks = [] if output.error else [check(name, passed=False)]
    answer = make_answer(None, None, run=run, output=output, checks=checks)
    [failure] = exported(answer, run=run)["eval-failure"]
    severity = "critical" if output.error else "major"
    assert (failure["failureType"], failure["severity"]) == (kind, severity)
    assert failure["description"] == (output.error or f"{name} failed: {name} says so")
    assert failure["affectedCriterionIds"] == []


def test_a_crash_is_a_failure_and_what_is_undecided_is_none() -> None:
    crashed = make_output(None, error="it crashed", error_kind="exit")
    undecided = make_answer(None, 5, failures=[make_failure("accuracy", kind="timeout")])
    found = exported(undecided, make_answer(None, None, output=crashed, repeat=1))
    [failure] = found["eval-failure"]
    # The memory has no name for it.
    assert (failure["failureType"], failure["findingType"]) == ("wrong-output", "crash")
    assert (failure["severity"], failure["description"]) == ("critical", "it crashed")


def test_a_benchmark_that_cases_came_with_has_its_id_again() -> None:
    fields = {"inputs": {}, "expectedOutputs": 1}
    objects: list[Any] = [
        {"type": "test-case", "id": k, "fields": {"name": k, **fields}} for k in ("a", "b")
    ]
    objects += [
        {"type": "benchmark", "id": "b-all", "fields": {
            "name": "Quotes", "dimension": "truth", "testCaseIds": ["a", "b"], "lastScore": 0.1}},
        {"type": "benchmark", "id": "b-some", "fields": {"name": "Few", "testCaseIds": ["a"]}},
    ]  # fmt: skip
    read = cases_in(objects)
    answers = [make_answer(case=case) for case in read]
    found = exported(*answers)
    [benchmark] = found["benchmark"]
    assert (benchmark["id"], benchmark["name"], benchmark["dimension"]) == (
        "b-all", "Quotes", "truth",
    )  # fmt: skip
    assert (benchmark["testCaseIds"], benchmark["lastScore"]) == (["a", "b"], 0.875)
    assert found["benchmark-run"][0]["benchmarkId"] == "b-all"
    again, _ = read_back(*answers)
    assert [case.metadata for case in again] == [
        {**case.metadata, "rubricId": again[0].metadata["rubricId"],
         "benchmarks": again[n].metadata["benchmarks"]} for n, case in enumerate(read)
    ]  # fmt: skip
    own = exported(make_answer(), make_answer(case=read[0], repeat=1))
    assert own["benchmark"][0]["id"] == "support"


def test_what_is_not_known_is_null_and_never_zero() -> None:
    failure = make_failure("accuracy", kind="timeout", message="60 s")
    found = exported(make_answer(None, 5, failures=[failure]))
    one = found["test-run"][0]
    assert (one["passed"], one["totalScore"]) == (None, None)
    assert one["failures"][0]["kind"] == "timeout"
    whole = found["benchmark-run"][0]
    assert (whole["overallScore"], whole["passRate"]) == (None, None)
    assert "lastScore" not in found["benchmark"][0]


def test_an_error_has_no_output_and_says_why() -> None:
    found = exported(make_answer(None, None, output=make_output(None, error="it crashed")))
    one = found["test-run"][0]
    assert (one["actualOutput"], one["error"]) == (None, "it crashed")
    assert "judgeType" not in one


def test_assertions_stand_beside_and_are_rules() -> None:
    run = make_run(rubric=None, panel={})
    found = exported(make_answer(None, None, run=run, checks=[check()]), run=run)
    one = found["test-run"][0]
    assert (one["judgeType"], one["checks"][0]["type"]) == ("heuristic", "contains")
    assert (one["totalScore"], one["maxPossibleScore"]) == (1.0, 1.0)
    assert "rubric" not in found
    assert "rubricId" not in found["test-case"][0]


def test_two_variants_with_one_prompt_version_stay_two() -> None:
    same = [Variant(id=name, prompt_version="p@1") for name in ("a", "b")]
    own = Variant(id="c", prompt_version="p@2")
    run = make_run(variants=[*same, own])
    answers = [make_answer(variant=name, run=run) for name in ("a", "b", "c")]
    found = exported(*answers, run=run)
    assert [one["promptVersionRef"] for one in found["test-run"]] == ["a", "b", "p@2"]
    assert [one["variant"] for one in found["benchmark-run"]] == ["a", "b", "c"]


def test_variants_of_one_prompt_version_and_errors_come_back_as_they_were(tmp_path: Path) -> None:
    run = make_run(variants=[Variant(id="a", prompt_version="p@1")])
    answers = [
        make_answer(variant="a", run=run, output=make_output("x", data={"n": 1})),
        make_answer(None, None, case=make_case(id="b"), variant="a", run=run,
                    output=make_output(None, error="it crashed")),
    ]  # fmt: skip
    _, (first, second) = read_back(*answers, run=run)
    assert (first.variant, first.text, first.data) == ("a", "x", {"n": 1})
    assert first.metadata["promptVersionRef"] == "p@1"
    assert (second.variant, second.error) == ("a", "it crashed")
    path = tmp_path / "q.jsonl"
    QUALITY.write(path, run, answers)
    assert [p for p in validate_path(path) if "is not known" in p.message] == []


def test_what_a_criterion_says_beyond_the_format_stands_beside_it() -> None:
    scale = {"min": 0, "max": 1, "levels": [Level(value=0), Level(value=1, name="yes")]}
    criterion = make_criterion(
        "tone", scale=scale, required=True, pass_value=0.5, scoring_guide="Be strict."
    )
    run = make_run(rubric=make_rubric(criterion, description="d", metadata={"source": "s"}))
    found = exported(make_answer(judgments=[], run=run), run=run)
    fields = found["rubric-criterion"][0]
    assert (fields["required"], fields["passValue"], fields["scoringGuide"]) == (
        True, 0.5, "Be strict.",
    )  # fmt: skip
    assert [level["value"] for level in fields["levels"]] == [0, 1]
    assert (found["rubric"][0]["description"], found["rubric"][0]["source"]) == ("d", "s")


def test_the_objects_of_an_export_come_back_as_they_were() -> None:
    objects = json.loads((FOREIGN / "quality.json").read_text())
    given = {(o["type"], o["id"]): o["fields"] for o in objects}
    cases = {case.id: case for case in cases_in(objects)}
    run = make_run(rubric=None, variants=[Variant(id="quote@3")])
    judgments = [[said("Right", 5, judge="gpt", confidence=0.9, rationale="The list says 30.")], []]
    answers = []
    for at, row in enumerate(quality_run_rows(ParsedDocument(Path("x.json"), objects))):
        output: Any = valid_output(FileRow(*row), Path("x.json")).output
        result = CaseResult(run_id="r", place=0, case=cases[output.case_id], repeat=at,
                            variant=output.variant, output=output,
                            judgments=tuple(judgments[at]))  # fmt: skip
        answers.append(conclude_result(result, run))
    found = exported(*answers, run=run)
    case, rubric = found["test-case"][0], found["rubric"][0]
    assert case.items() >= given["test-case", "tc-quote"].items()
    wanted = given["rubric", "r-quote"]
    assert {k: rubric[k] for k in wanted if k != "criteriaIds"} == {
        k: v for k, v in wanted.items() if k != "criteriaIds"
    }
    right = found["rubric-criterion"][0]
    assert right.items() >= (given["rubric-criterion", "c-right"]).items()
    for key, one in zip(("run-1", "run-2"), found["test-run"], strict=True):
        for name in ("testCaseId", "agentRunId", "promptVersionRef", "actualOutput", "durationMs"):
            assert one.get(name) == given["test-run", key].get(name)
    for key, judgment in zip(("j-1",), found["eval-judgment"], strict=True):
        for name in ("score", "maxScore", "rationale", "judgedBy", "judgedByType", "confidence"):
            assert judgment.get(name) == given["eval-judgment", key].get(name)


@given(
    st.builds(
        make_case,
        id=NAMES,
        name=NAMES,
        description=st.none() | NAMES,
        input=JSON,
        reference=JSON,
        tags=st.lists(TEXTS, max_size=3).map(tuple),
        status=st.sampled_from(["active", "draft", "deprecated"]),
        agent=st.none() | NAMES,
        skill=st.none() | NAMES,
        prompt_version=st.none() | NAMES,
    ),
    st.floats(1, 5),
    NAMES,
    st.none() | st.floats(0, 1),
    JSON.filter(lambda value: value is not None),
)
def test_what_is_written_is_read_again(
    case: Any, raw: float, rationale: str, confidence: float | None, data: Any
) -> None:
    free = make_criterion("accuracy", scale={"min": 1, "max": 5})
    run = make_run(rubric=make_rubric(free))
    judgment = said("accuracy", raw, rationale=rationale, confidence=confidence)
    output = make_output(None, data=data) if not isinstance(data, str) else make_output(data)
    answer = make_answer(case=case, judgments=[judgment], output=output, run=run)
    (again,), (one,) = read_back(answer, run=run)
    for name in ("id", "name", "description", "input", "reference", "tags", "status", "agent",
                 "skill", "prompt_version"):  # fmt: skip
        assert getattr(again, name) == getattr(case, name)
    assert again.rubric.criteria == run.rubric.criteria if run.rubric else False
    assert (one.text, one.data, one.variant) == (output.text, output.data, "v1")
    (back,) = exported(answer, run=run)["eval-judgment"]
    assert (back["score"], back["rationale"], back["judgedBy"]) == (raw, rationale, JUDGE)
    assert back.get("confidence") == confidence


def test_ids_of_rubrics_come_from_their_cases_where_they_are_free() -> None:
    cases = [
        make_case(id=f"c{n}", rubric=make_rubric(name), metadata={"rubricId": "r-1"})
        for n, name in enumerate(("accuracy", "clarity", "accuracy"))
    ]
    found = exported(*(make_answer(case=case, judgments=[]) for case in cases))
    first, second = (rubric["id"] for rubric in found["rubric"])
    assert first == "r-1"
    assert second.startswith("support@")
    assert [c["rubricId"] for c in found["test-case"]] == [first, second, first]


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_files_are_read_again(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    assert QUALITY.write(path, make_run(), iter([make_answer()])) == 1
    document = read_whole_document(path)
    assert document is not None
    assert [case.id for case in read_quality_records(document).cases] == ["refund"]
    assert [row["case_id"] for _, row in quality_run_rows(document)] == ["refund"]


def test_a_run_without_answers_is_a_benchmark_alone(tmp_path: Path) -> None:
    assert list(exported()) == ["benchmark"]
    with pytest.raises(SettingsError, match="quality records to"):
        QUALITY.write(tmp_path / "a.xml", make_run(), [])


KINDS = ("test-case", "rubric", "rubric-criterion", "benchmark", "benchmark-run", "eval-trend")
CARRIED = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS), "id": NAMES, "fields": st.dictionaries(NAMES, JSON)}
)


@pytest.mark.no_cover
@given(st.lists(CARRIED, max_size=4))
def test_whatever_a_memory_holds_comes_out_unless_the_run_has_it_anew(objects: list[Any]) -> None:
    run = make_run(config={"quality_memory": objects})
    written = list(QualityExport(run).objects([make_answer(run=run)]))
    own = {(one["type"], one["id"]) for one in QualityExport(make_run()).objects([make_answer()])}
    for one in objects:
        assert one in written or (one["type"], one["id"]) in own
    assert own <= {(one["type"], one["id"]) for one in written}
