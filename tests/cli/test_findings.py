"""Findings: failures that runs open, continue and resolve, and what people add to them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.exports import read_lessons
from tests.cli.test_gate import LENIENT, STRICT, judged
from tests.evaluation.suites import lay_suite, rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


def failing(folder: Path, *cases: str, n: int = 4, **suite: Any) -> Path:
    """A suite of which these cases fail."""
    return lay_suite(folder, n=n, texts=dict.fromkeys(cases, "wrong"), **suite)


def listed(run: Run, *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run("findings", *options, "--json").json["findings"]
    return [one for one in found if one["case_id"] is not None]


def test_a_finding_is_opened_continued_resolved_and_recurs(run: Run, tmp_path: Path) -> None:
    failing(tmp_path, "c1", "c2")
    assert "2 new; see `judgekit findings`" in run("run").out
    failing(tmp_path, "c1")
    assert "1 continued, 1 resolved" in run("run").out
    (open_one,) = listed(run)
    assert (open_one["case_id"], open_one["status"], open_one["n_runs"]) == ("c1", "open", 2)
    (resolved,) = listed(run, "--resolved")
    assert (resolved["case_id"], resolved["status"]) == ("c2", "resolved")
    assert resolved["resolved_by"] == open_one["last_run"] != resolved["last_run"]
    failing(tmp_path, "c1", "c2")
    assert "1 new, 1 continued" in run("run").out
    statuses = {one["case_id"]: one["status"] for one in listed(run, "--all")}
    assert statuses == {"c1": "open", "c2": "recurring"}


def test_a_suite_that_is_misspelt_is_not_one_in_which_nothing_failed(
    run: Run, tmp_path: Path
) -> None:
    failing(tmp_path, "c1")
    run("run")
    for command in ((), ("export", "lessons.jsonl")):
        ran = run("findings", *command, "--suite", "smal")
        assert (ran.code, ran.out) == (2, "")
        assert "no suite is called 'smal'" in ran.err


def test_a_partial_run_resolves_only_what_it_ran(run: Run, tmp_path: Path) -> None:
    failing(tmp_path, "c0", "c3")
    run("run")
    failing(tmp_path)
    assert "1 resolved" in run("run", "-n", "2").out
    assert [one["case_id"] for one in listed(run)] == ["c3"]


def test_a_pass_by_another_judge_resolves_nothing(run: Run, tmp_path: Path) -> None:
    judged(tmp_path, STRICT, 1, n=2, gate=None)
    run("run")
    judged(tmp_path, LENIENT, 5, n=2, gate=None)
    assert "resolved" not in run("run").out
    found = listed(run)
    assert {one["case_id"] for one in found} == {"c0", "c1"}
    assert "which is not comparable: the model was" in found[0]["passes_since"]


def test_people_add_causes_and_resolve(run: Run, tmp_path: Path) -> None:
    failing(tmp_path, "c1", "c2")
    run("run")
    first, second = (one["id"] for one in listed(run))
    refused = run("findings", "resolve", first)
    assert (refused.code, "needs what was changed" in refused.err) == (2, True)
    cause = run("findings", "annotate", first, "--root-cause", "a typo", "--severity", "minor")
    assert cause.code == 0
    ended = run("findings", "resolve", first, second, "--because", "the typo", "--by", "Ada")
    assert ended.code == 0
    assert listed(run) == []
    shown = run("findings", "show", first[:6], "--json").json
    assert (shown["root_cause"], shown["resolution"]) == ("a typo", "the typo")
    assert (shown["severity"], shown["resolved_by"]) == ("minor", "Ada")
    run("run", "-q")  # it fails again
    assert {one["status"] for one in listed(run)} == {"recurring"}
    unknown = run("findings", "show", "f-none")
    assert (unknown.code, "no finding is called" in unknown.err) == (2, True)


ERRORS = [
    ("timeout", "timeout", "critical"),
    ("refused", "refusal", "critical"),
    ("unreadable", "format-error", "critical"),
    ("exit", "crash", "critical"),
    (None, "crash", "critical"),
]


@pytest.mark.parametrize(("kind", "type_", "severity"), ERRORS)
def test_every_error_of_a_system_under_test_is_a_finding(
    run: Run, tmp_path: Path, kind: str | None, type_: str, severity: str
) -> None:
    lay_suite(tmp_path, n=1)
    error = {"case_id": "c0", "error": "it broke", **({"error_kind": kind} if kind else {})}
    (tmp_path / "v1.jsonl").write_text(rows(error), encoding="utf-8")
    run("run")
    (found,) = listed(run)
    assert (found["type"], found["severity"]) == (type_, severity)
    assert found["description"] == "it broke"


@pytest.mark.parametrize(
    ("text", "assertion", "type_"),
    [
        ("I cannot help with that.", {"type": "contains", "value": "right"}, "refusal"),
        ("no json", {"type": "is-json"}, "format-error"),
        ("something else", {"type": "contains", "value": "right"}, "wrong-output"),
    ],
)
def test_the_type_of_a_failure_follows_from_rules(
    run: Run, tmp_path: Path, text: str, assertion: dict[str, str], type_: str
) -> None:
    lay_suite(tmp_path, n=1, texts={"c0": text}, assertions=[assertion])
    run("run")
    (found,) = listed(run)
    assert (found["type"], found["severity"]) == (type_, "major")


def test_a_criterion_says_what_its_failure_is(run: Run, tmp_path: Path) -> None:
    judged(tmp_path, STRICT, 1, n=1, gate=None, assertions=[])
    rubric = tmp_path / "rubric.yaml"
    text = rubric.read_text(encoding="utf-8")
    changed = text.replace("scale: one_to_five}", "scale: one_to_five, finding: hallucination}", 1)
    rubric.write_text(changed, encoding="utf-8")
    run("run")
    (found,) = listed(run)
    assert (found["type"], found["criteria"]) == ("hallucination", ["good", "short"])
    assert found["description"].startswith("good: It is so.")


def test_a_critical_drop_is_a_finding_about_the_run_until_the_rate_is_back(
    run: Run, tmp_path: Path
) -> None:
    for cases in ((), ("c0", "c1"), ("c0",), ("c0",), ()):
        failing(tmp_path, *cases, n=10)
        run("run", "-q")
    (found,) = [
        one for one in run("findings", "--all", "--json").json["findings"] if one["case_id"] is None
    ]
    # From 100 % to 80 %; then 90 %, which is within a tenth of what it was.
    assert (found["type"], found["severity"], found["status"]) == (
        "regression", "critical", "resolved",
    )  # fmt: skip
    assert (found["n_runs"], found["n_resolved"]) == (1, 1)
    assert "from 100 % to 80 %" in found["description"]


def test_lessons_are_written_and_read_back(run: Run, tmp_path: Path) -> None:
    names = [f"c{k}" for k in range(10)]
    failing(tmp_path, *names, n=12)
    run("run")
    ids = [one["id"] for one in listed(run)]
    path = tmp_path / "lessons.jsonl"
    assert "wrote 0 lessons" in run("findings", "export", path).err
    reason = "the prompt names\u2028the answer"  # only a line feed ends a line of the file
    why = ("--because", reason)
    resolved = run("findings", "resolve", *ids, *why, "--json").json
    assert [one["id"] for one in resolved] == ids
    assert run("findings", "resolve", ids[0], *why, "--json").json["id"] == ids[0]
    assert "wrote 10 lessons" in run("findings", "export", path).err
    written = run("findings", "export", path, "--json").json
    assert (written["n_lessons"], written["file"]) == (10, str(path))
    lessons = read_lessons(path)
    assert {lesson.case_id for lesson in lessons} == set(names)
    assert {lesson.what_changed for lesson in lessons} == {reason}
    assert all("right" in lesson.what_failed for lesson in lessons)
    lines = path.read_text(encoding="utf-8").rstrip().split("\n")
    assert {json.loads(line)["type"] for line in lines} == {"memory-item"}
    assert run("findings", "export", tmp_path / "lessons.csv").code == 2


def test_somebody_is_notified_once_an_episode(run: Run, tmp_path: Path) -> None:
    alarms = tmp_path / "alarms.jsonl"
    settings = {"file": "alarms.jsonl"}
    for n_failing in range(8):
        failing(tmp_path, *(f"c{k}" for k in range(n_failing)), n=10, notify=settings)
        run("run", "-q")
    sent = [json.loads(line) for line in alarms.read_text(encoding="utf-8").splitlines()]
    assert [one["kind"] for one in sent] == ["critical-finding", "escalation"]
    assert sent[0]["finding"]["type"] == "regression"
    assert "degrading for 3 runs in a row" in sent[1]["text"]


def test_a_notification_that_fails_is_reported_and_tried_again(run: Run, tmp_path: Path) -> None:
    failing(tmp_path, n=10, notify={"file": "folder/alarms.jsonl"})
    run("run", "-q")
    failing(tmp_path, "c0", "c1", n=10, notify={"file": "folder/alarms.jsonl"})
    ran = run("run", "-q")
    assert ran.code == 0  # never blocking
    assert "not notified" in ran.err
    (tmp_path / "folder").mkdir()
    assert "not notified" not in run("run", "-q").err
    assert (tmp_path / "folder" / "alarms.jsonl").read_text(encoding="utf-8").count("\n") == 1
