"""Eight runs whose scores drift down, and what is remembered of them, from run to lesson."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import judgekit as jk
from judgekit.exports import read_lessons
from tests.evaluation.suites import lay_suite

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Ran, Run

N = 40
RUBRIC = {
    "name": "support",
    "pass_threshold": 0.7,
    "criteria": [
        {
            "name": "correct", "question": "Is the period right?", "scale": {"min": 1, "max": 5},
            "finding": "hallucination",
        }
    ],
}  # fmt: skip
IDS = [f"q{n:02}" for n in range(N)]


def lay(folder: Path, n_failing: int, judge: str = "judge.jsonl") -> None:
    """A suite whose judge gives so many of the outputs a bad score."""
    suite = {
        "name": "support", "dataset": "cases.jsonl", "rubric": "rubric.yaml",
        "judge": {"model": f"recorded:{judge}"},
        "variants": [{"id": "agent", "outputs": "outputs.jsonl"}],
        "gate": {"tier": "experimental", "max_drop": 0.1},
        "notify": {"file": "alarms.jsonl"},
    }  # fmt: skip
    (folder / "judgekit.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")
    (folder / "rubric.yaml").write_text(yaml.safe_dump(RUBRIC), encoding="utf-8")
    tables = {
        "cases.jsonl": [{"id": i, "input": f"May I return {i}?"} for i in IDS],
        "outputs.jsonl": [{"case_id": i, "text": f"{i}: within 30 days."} for i in IDS],
        judge: [reply(i, 2 if n < n_failing else 5) for n, i in enumerate(IDS)],
    }
    for name, table in tables.items():
        text = "".join(json.dumps(row) + "\n" for row in table)
        (folder / name).write_text(text, encoding="utf-8")


def reply(case_id: str, score: int) -> dict[str, Any]:
    reason = "It invents a period." if score == 2 else "The period is right."
    text = {"evidence": ["within 30 days"], "reasoning": reason, "score": score}
    return {"case_id": case_id, "text": json.dumps(text)}


@pytest.fixture
def drifted(run: Run, tmp_path: Path) -> list[Ran]:
    """The eight runs."""
    ended = []
    for n_failing in (0, 0, 2, 4, 8, 12, 16, 20):
        lay(tmp_path, n_failing)
        ended.append(run("run"))
    return ended


def sent(folder: Path) -> list[str]:
    lines = (folder / "alarms.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["kind"] for line in lines]


def test_gates_trend_findings_and_notifications_of_a_drift_agree(
    run: Run, tmp_path: Path, drifted: list[Ran]
) -> None:
    assert [ran.code for ran in drifted] == [0, 0, 0, 0, 1, 1, 1, 1]
    trend = run("trend", "--json").json
    assert (trend["direction"], trend["escalated"]) == ("degrading", True)
    assert [point["break"] for point in trend["series"]] == [None] * 8
    values = [point["value"] for point in trend["series"]]
    assert values == sorted(values, reverse=True)
    assert all(one["low"] <= one["value"] <= one["high"] for one in trend["series"])

    assert "4 new, 4 continued" in drifted[4].out
    found = run("findings", "--open", "--json").json["findings"]
    assert len(found) == 21
    (whole,) = [one for one in found if one["case_id"] is None]
    assert (whole["type"], whole["severity"]) == ("regression", "critical")
    assert run("findings", "show", whole["id"], "--json").json["case_id"] is None
    first = next(one for one in found if one["case_id"] == "q00")
    assert (first["type"], first["criteria"]) == ("hallucination", ["correct"])
    assert first["quotes"] == ["within 30 days"]
    assert sent(tmp_path) == ["critical-finding", "escalation"]

    page = tmp_path / "trend.html"
    run("trend", "-o", page)
    assert "degrading for" in page.read_text(encoding="utf-8")


def test_a_better_run_resolves_and_a_relapse_is_a_new_episode(
    run: Run, tmp_path: Path, drifted: list[Ran]
) -> None:
    lay(tmp_path, 0)
    ended = run("run")
    assert (drifted[-1].code, ended.code) == (1, 0)
    assert "20 resolved" in ended.out
    assert run("findings", "--json").json["findings"] == []
    lay(tmp_path, 20)
    assert "20 new" in run("run").out
    found = run("findings", "--json").json["findings"]
    assert {one["status"] for one in found} == {"recurring"}
    assert sent(tmp_path).count("critical-finding") == 2


def test_another_judge_breaks_the_series_and_resolves_nothing(
    run: Run, tmp_path: Path, drifted: list[Ran]
) -> None:
    lay(tmp_path, 0, judge="other.jsonl")
    ended = run("run")
    assert drifted[-1].code == 1
    # The drop cannot be judged against runs of another judge.
    assert ended.code == 4
    trend = run("trend", "--json").json
    assert trend["series"][-1]["break"] == "judge: recorded:judge.jsonl → recorded:other.jsonl"
    assert (trend["escalated"], trend["direction"]) == (False, "stable")
    assert len(run("findings", "--open", "--json").json["findings"]) == 21


def test_ten_lessons_are_exported_and_read_back(run: Run, tmp_path: Path) -> None:
    for n_failing in (10, 0):
        lay(tmp_path, n_failing)
        run("run", "-q")
    path = tmp_path / "lessons.jsonl"
    assert "wrote 10 lessons" in run("findings", "export", path).err
    lessons = read_lessons(path)
    assert [lesson.case_id for lesson in sorted(lessons, key=lambda one: str(one.case_id))] == [
        *IDS[:10]
    ]
    assert {lesson.finding_type for lesson in lessons} == {"hallucination"}
    assert {lesson.evidence for lesson in lessons} == {("within 30 days",)}
    assert all("It invents a period." in lesson.what_failed for lesson in lessons)


def test_outputs_with_cases_of_their_own_leave_the_suites_series_alone(
    run: Run, tmp_path: Path
) -> None:
    lay_suite(tmp_path, n=10, gate={"max_drop": 0.1}, notify={"file": "alarms.jsonl"})
    first = run("run")
    wrong = [(jk.Case(id=f"own-{n}", input="Why?"), jk.Output(text="wrong")) for n in range(4)]
    jk.evaluate_sync("judgekit.yaml", outputs=wrong).close()
    jk.evaluate_sync("judgekit.yaml", outputs=[wrong[0]]).close()
    log = [{"case_id": f"r{n}", "input": "Why?", "text": "wrong"} for n in range(4)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    assert run("watch", "log.jsonl", "--rate", "1", "--once").code == 0
    again = run("run")

    assert (first.code, again.code) == (0, 0)
    assert "within the allowed drop: 0.00" in again.out
    trend = run("trend", "--json").json
    assert (trend["variant"], len(trend["series"])) == ("v1", 2)
    assert [point["break"] for point in trend["series"]] == [None, None]
    types = {one["type"] for one in run("findings", "--json").json["findings"]}
    assert types == {"wrong-output"}  # no regression
    assert not (tmp_path / "alarms.jsonl").exists()
    windows = run("trend", "--variant", "log", "--json").json
    assert [point["value"] for point in windows["series"]] == [0.0]


def test_a_plan_of_recorded_outputs_says_what_the_gate_needs(run: Run, tmp_path: Path) -> None:
    lay(tmp_path, 4)
    whole = run("plan", "--json").json["needs"][0]
    assert (whole["n_cases"], whole["tier"], whole["is_observed"]) == (N, "experimental", False)
    run("run", "-q")
    assert run("plan", "--json").json["needs"][0]["is_observed"] is True


def exported_failures(run: Run, folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """The `eval-failure`s of a run, by what they are of."""
    path = folder / f"{name}.json"
    assert run("export", name, "--format", "quality", "-o", path).code == 0
    items = json.loads(path.read_text(encoding="utf-8"))
    return {
        one["fields"]["testRunId"].removeprefix(f"{name}/"): one["fields"]
        for one in items
        if one["type"] == "eval-failure"
    }


def test_exported_failures_have_what_became_of_them(run: Run, tmp_path: Path) -> None:
    ids = []
    for n_failing in (0, 10, 0):
        lay(tmp_path, n_failing)
        run("run", "-q")
        ids.append(run("show", "latest", "--json").json["run"]["id"])
    found = run("findings", "--all", "--case", "q00", "--json").json["findings"]
    run("findings", "annotate", found[0]["id"], "--root-cause", "an old prompt")
    failures = exported_failures(run, tmp_path, ids[1])
    assert len(failures) == 11
    one = failures["q00/agent/0"]
    assert (one["failureType"], one["rootCause"]) == ("hallucination", "an old prompt")
    assert one["resolutionNotes"] == f"passed in {ids[2]}"
    assert one["resolvedAt"]
    fall = failures["agent"]
    assert (fall["failureType"], fall["findingType"]) == ("wrong-output", "regression")
    assert (fall["severity"], fall["resolutionNotes"]) == ("critical", f"passed in {ids[2]}")
