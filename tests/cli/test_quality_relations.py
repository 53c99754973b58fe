"""What a quality memory gets and gives beside answers: trends, comparisons, labels, rubrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.quality_memory import (
    MEMORY,
    ON_OUTPUTS,
    OUTPUTS,
    REPLIES,
    Object,
    an_object,
    memory,
    write_lab,
    write_memory,
)

if TYPE_CHECKING:
    from tests.cli.commanding import Ran, Run

RUBRIC = ("--rubric", f"{MEMORY}#rub-7")


@pytest.fixture
def lab(run: Run) -> Run:
    """The command line in a folder with the memory, and outputs of two variants."""
    write_lab("v1", "v2")
    return run


def exported(lab: Run, kind: str, run: str = "latest") -> list[dict[str, Any]]:
    """The fields of the objects of a type, with their ids."""
    assert lab("export", run, "--format", "quality", "-o", "out.json").code == 0
    objects: list[Object] = json.loads(Path("out.json").read_text())
    return [{"id": one["id"], **one["fields"]} for one in objects if one["type"] == kind]


def words(ran: Ran) -> str:
    return " ".join(f"{ran.out} {ran.err}".split())


def test_the_two_variants_of_a_run_are_a_prompt_comparison(lab: Run) -> None:
    lab("run", MEMORY, "--benchmark", "bm2", *ON_OUTPUTS)
    (found,) = exported(lab, "prompt-comparison")
    runs = [one["id"] for one in exported(lab, "benchmark-run") if not one["id"].startswith("br")]
    assert found["benchmarkRunIds"] == runs
    assert (found["benchmarkId"], found["testCaseIds"]) == ("bm2", ["tc-2", "tc-3", "tc-4"])
    assert (found["promptVersionA"], found["promptVersionB"]) == ("v1", "v2")
    assert (found["scoreA"], found["scoreB"]) == (1, pytest.approx(2 / 3))
    assert (found["winner"], found["sampleSize"]) == (None, 3), "three cases show nothing"
    assert "may be chance" in found["notes"]


def test_an_approval_by_scores_is_a_prompt_comparison_of_two_runs(lab: Run) -> None:
    write_lab("v1", "v2", wrong=frozenset(("v1", n) for n in range(1, 6)))
    ids = []
    for variant in ("v1", "v2"):
        lab("run", MEMORY, "--variant", variant, *RUBRIC, *ON_OUTPUTS)
        ids.append(lab("show", "latest", "--json").json["run"]["id"])
    approved = lab("approve", "v2", "--baseline", "v1", "--scores", "--alpha", "0.1",
                   "--because", "it is right", "--by", "Ada")  # fmt: skip
    assert approved.code == 0
    for run in ids:
        (found,) = exported(lab, "prompt-comparison", run)
        assert found["benchmarkRunIds"] == [f"{ids[0]}/v1", f"{ids[1]}/v2"]
        assert (found["scoreA"], found["scoreB"], found["winner"]) == (0, 1, "v2")
        assert "approved by Ada" in found["notes"]


def test_a_trend_has_a_point_for_each_run_and_its_direction(lab: Run) -> None:
    for n_wrong in (3, 2, 1):
        write_lab("v1", wrong=frozenset(("v1", n) for n in range(2, 2 + n_wrong)))
        lab("run", MEMORY, "--benchmark", "bm2", "--variant", "v1", *ON_OUTPUTS)
    (found,) = exported(lab, "eval-trend")
    points = json.loads(found["dataPoints"])
    assert [one["score"] for one in points] == [0, pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert points[-1]["benchmarkRunId"] in {one["id"] for one in exported(lab, "benchmark-run")}
    assert (found["direction"], found["benchmarkId"], found["dimension"]) == (
        "improving", "bm2", "arithmetic",
    )  # fmt: skip
    assert found["lastComputedAt"] == points[-1]["date"]


def test_a_run_of_some_cases_is_in_no_trend_and_says_so(lab: Run) -> None:
    lab("run", MEMORY, "-n", "2", *ON_OUTPUTS)
    assert exported(lab, "eval-trend") == []
    assert lab("trend", "memory").code == 0


def with_judgments(*judgments: dict[str, object]) -> list[Object]:
    """The memory with two runs of v1, and judgments of them."""
    runs = [
        an_object("test-run", f"tr-{n}", testCaseId=f"tc-{n}", promptVersionRef="v1",
                  actualOutput="ok", passed=True)
        for n in (1, 2)
    ]  # fmt: skip
    fields = {"criterionId": "c-right", "maxScore": 1, "rationale": "It is so."}
    found = [
        an_object("eval-judgment", f"ej-{n}", **{**fields, **one})
        for n, one in enumerate(judgments)
    ]
    return [*memory(), *runs, *found]


HUMAN = {"judgedBy": "ada", "judgedByType": "human", "judgedAt": "2026-01-05T00:00:02Z"}
JUDGMENTS = (
    {"testRunId": "tr-1", "score": 1, **HUMAN, "confidence": 0.9},
    {"testRunId": "tr-2", "score": 0, **HUMAN},
    {"testRunId": "tr-1", "score": 1, "judgedBy": "gpt", "judgedByType": "llm"},
    {"testRunId": "tr-2", "score": 1, "judgedBy": "gpt", "judgedByType": "llm"},
    {"testRunId": "tr-2", "score": 1, "judgedBy": "rule", "judgedByType": "heuristic"},
)


def test_human_judgments_of_a_memory_calibrate_a_judge(lab: Run) -> None:
    lab("run", MEMORY, "--benchmark", "bm1", *RUBRIC, *ON_OUTPUTS)
    write_memory(with_judgments(*JUDGMENTS), "judged.json")
    ran = lab("calibrate", "judged.json", *RUBRIC, "--outputs", OUTPUTS, "--cases", MEMORY,
              "--judge", f"recorded:{REPLIES}", "--json")  # fmt: skip
    assert "left out: 1 heuristic judgment and 2 llm judgments" in words(ran)
    joined = ran.json["joined"]
    assert (joined["n_labels"], joined["n_joined"], joined["annotators"]) == (2, 2, ["ada"])


def test_human_judgments_of_a_memory_answer_the_questions_of_a_run(lab: Run) -> None:
    suite = (
        f"name: asked\ndataset: {MEMORY}\nbenchmark: bm1\njudge: human\n"
        f"variants: [{{id: v1, outputs: {OUTPUTS}}}]\n"
    )
    Path("suite.yaml").write_text(suite)
    lab("run", "suite.yaml", "-q")
    write_memory(with_judgments(*JUDGMENTS), "judged.jsonl")
    ran = lab("label", "latest", "--import", "judged.jsonl")
    assert "2 labels read, 2 questions answered" in words(ran)
    # Human answers carry their time: for readers, in JSON, and in every export.
    (case,) = lab("show", "latest", "tc-1", "--json").json["answers"]
    assert case["judgments"][0]["judged_at"]
    assert "ada, human, 20" in words(lab("show", "latest", "tc-1"))
    assert all(one["judgedAt"] for one in exported(lab, "eval-judgment"))
    lab("label", "latest", "--export", "labels.jsonl")
    rows = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    assert all(one["metadata"]["judged_at"] for one in rows)


@pytest.mark.parametrize(
    ("judgments", "problem"),
    [
        (JUDGMENTS[2:], "no human judgments, only 1 heuristic judgment and 2 llm judgments"),
        ([{**JUDGMENTS[0], "testRunId": "tr-9"}], "no test-run has the id 'tr-9'"),
        ([{**JUDGMENTS[0], "criterionId": "c-wrong"}], "no rubric-criterion has the id 'c-wrong'"),
        ([{**JUDGMENTS[0], "maxScore": 5}], "on a scale up to 5, and its criterion on one up to 1"),
    ],
)
def test_judgments_that_are_no_labels_are_an_error(
    lab: Run, judgments: list[dict[str, object]], problem: str
) -> None:
    write_memory(with_judgments(*judgments), "judged.json")
    ran = lab("calibrate", "judged.json")
    assert (ran.code, problem in words(ran)) == (2, True)


@pytest.mark.parametrize(
    ("name", "code", "result"),
    [
        (f"{MEMORY}#rub-7", 0, "Right"),
        (MEMORY, 2, "holds 2 rubrics name one: memory.json#rub-7, memory.json#rub-8"),
        (f"{MEMORY}#rub-1", 2, "no rubric of memory.json has the id 'rub-1' known: rub-7, rub-8"),
        (f"{OUTPUTS}#rub-7", 2, "outputs.jsonl is no quality memory"),
        ("missing.json#rub-7", 2, "missing.json#rub-7: there is no such file"),
    ],
)
def test_a_rubric_is_found_by_its_id_in_the_memory(
    lab: Run, name: str, code: int, result: str
) -> None:
    ran = lab("grade", OUTPUTS, "--cases", MEMORY, "--variant", "v1", "--rubric", name,
              "--judge", f"recorded:{REPLIES}", "-q")  # fmt: skip
    assert (ran.code, result in words(ran)) == (code, True)


def test_a_suite_names_a_rubric_of_a_memory_and_can_be_checked(lab: Run) -> None:
    suite = (
        f"name: s\ndataset: {MEMORY}\nrubric: {MEMORY}#rub-8\njudge: recorded:{REPLIES}\n"
        f"variants: [{{id: v1, outputs: {OUTPUTS}}}]\n"
    )
    Path("suite.yaml").write_text(suite)
    assert lab("run", "suite.yaml", "-q").code == 0
    assert lab("show", "latest", "--json").json["run"]["rubric"]["name"] == "Is it Kind"
    assert lab("validate", "suite.yaml").code == 0
    assert "no-scoring-guide" in words(lab("lint", f"{MEMORY}#rub-8"))
    Path("suite.yaml").write_text(suite.replace("#rub-8", "#rub-9"))
    assert "no rubric of" in words(lab("validate", "suite.yaml"))


def test_a_memory_with_one_rubric_is_that_rubric(lab: Run) -> None:
    write_memory(memory()[:2], "one.json")
    ran = lab("grade", OUTPUTS, "--cases", MEMORY, "--variant", "v1", "--rubric", "one.json",
              "--judge", f"recorded:{REPLIES}", "-q")  # fmt: skip
    assert ran.code == 0
