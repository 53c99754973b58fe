"""A share of the automated verdicts is reviewed by a human: labels, while the verdicts stand."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.store import RunStore
from tests.evaluation.suites import lay_suite, rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Ran, Run

N = 60


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A suite of 60 recorded outputs with a judge of two criteria."""
    text = json.dumps({"score": 4, "rationale": "It is so."})
    replies = [{"case_id": f"c{k}", "text": text} for k in range(N)]
    (tmp_path / "judge.jsonl").write_text(rows(*replies), encoding="utf-8")
    judge = {"model": "recorded:judge.jsonl"}
    lay_suite(tmp_path, N, judge=judge, rubric="rubric.yaml", assertions=None)
    return tmp_path


def reviewed(folder: Path) -> set[tuple[str, str]]:
    """The answers of the last run that wait for a review, by case and criterion."""
    store = RunStore(folder / ".judgekit" / "judgekit.db")
    try:
        items = list(store.queue(store.run("latest").id))
    finally:
        store.close()
    assert {item.judge for item in items} <= {"review"}
    return {(item.key.case_id, item.criterion) for item in items}


def labels(folder: Path) -> list[str]:
    """The exported labels, one a line."""
    return (folder / "human.jsonl").read_text(encoding="utf-8").splitlines()


def label(run: Run, folder: Path, raw: float) -> Ran:
    """Give every question that waits the same score."""
    labels = [
        {"case_id": case, "criterion": criterion, "annotator": "ann", "raw": raw}
        for case, criterion in reviewed(folder)
    ]
    (folder / "labels.jsonl").write_text(rows(*labels), encoding="utf-8")
    return run("label", "latest", "--import", "labels.jsonl", "--json")


def test_the_same_share_is_reviewed_in_every_run(run: Run, judged: Path) -> None:
    ran = run("run", "-q", "--review", "0.3")
    assert ran.code == 0
    first = reviewed(judged)
    cases = {case for case, _ in first}
    assert 8 <= len(cases) <= 30
    # All criteria of an answer are reviewed together.
    assert first == {(case, name) for case in cases for name in ("good", "short")}
    assert f"{len(cases)} answers wait for a review: judgekit label " in " ".join(ran.err.split())
    run("run", "-q", "--review", "0.3")
    assert reviewed(judged) == first
    run("run", "-q", "--review", "0.6")
    assert reviewed(judged) > first  # a higher share keeps what a lower one took
    run("run", "-q")
    assert reviewed(judged) == set()


def test_grading_takes_the_same_share(run: Run, judged: Path) -> None:
    run("run", "-q", "--review", "0.3")
    of_run = reviewed(judged)
    assert run("grade", "-q", "--review", "0.3").code == 0
    assert reviewed(judged) == of_run
    # The cached replies are reviewed alike.
    assert run("grade", "-q", "--review", "0.3", "--frozen").code == 0
    assert reviewed(judged) == of_run


def test_a_kill_between_an_answer_and_its_review_loses_no_question(run: Run, judged: Path) -> None:
    run("run", "-q", "--review", "0.3")
    whole = reviewed(judged)
    run("run", "-q")
    with closing(sqlite3.connect(judged / ".judgekit" / "judgekit.db")) as database:
        database.execute(
            "CREATE TRIGGER killed BEFORE INSERT ON queue BEGIN SELECT RAISE(ABORT, 'killed'); END"
        )
        assert run("run", "-q", "--review", "0.3").code != 0
        assert reviewed(judged) == set()
        database.execute("DROP TRIGGER killed")
    assert run("run", "-q", "--review", "0.3", "--resume").code == 0
    assert reviewed(judged) == whole


def test_a_verdict_stands_before_and_after_its_review(run: Run, judged: Path) -> None:
    before = run("run", "--json", "--review", "0.3")
    assert (before.code, before.json["run"]["status"]) == (0, "complete")
    n = len(reviewed(judged))
    imported = label(run, judged, 1).json
    assert (imported["n_answered"], imported["n_waiting"]) == (n, 0)
    assert imported["status"] == "complete"
    after = run("show", "latest", "--json").json
    figures: list[dict[str, Any]] = [before.json["variants"][0], after["variants"][0]]
    assert figures[0]["value"] == figures[1]["value"]
    assert figures[0]["pass_rate"] == figures[1]["pass_rate"]


def test_reviews_are_labels_for_a_calibration(run: Run, judged: Path) -> None:
    run("run", "-q", "--review", "0.5")
    label(run, judged, 3)
    assert run("label", "latest", "--export", "human.jsonl").code == 0
    found = run("calibrate", "human.jsonl", "--run", "latest", "--json")
    assert found.code in {0, 4}
    # The judge says 4 where the reviewer says 3.
    good = found.json["criteria"]["good"]
    assert good["n"] == len({json.loads(line)["case_id"] for line in labels(judged)})
    assert (good["agreement"]["exact"]["value"], good["agreement"]["within_one"]["value"]) == (0, 1)


def test_a_review_of_what_a_human_judges_is_refused(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, judge="human", rubric="rubric.yaml", assertions=None)
    refused = run("run", "--review", "0.5")
    assert (refused.code, "has a human judge already" in refused.err) == (2, True)
    unstored = run("grade", "v1.jsonl", "--review", "0.5", "--no-store")
    assert (unstored.code, "nothing to review" in unstored.err) == (2, True)


def test_a_watched_file_is_reviewed_too(run: Run, judged: Path) -> None:
    log = [{"id": f"c{k}", "input": "?", "output": f"answer {k}"} for k in range(N)]
    (judged / "log.jsonl").write_text(rows(*log), encoding="utf-8")
    (judged / "judgekit.yaml").unlink()
    options = ("--rubric", "rubric.yaml", "--judge", "recorded:judge.jsonl", "--once")
    found = run("watch", "log.jsonl", *options, "--rate", "0.5", "--review", "0.4", "--json")
    (window,) = map(json.loads, found.out.splitlines())
    cases = {case for case, _ in reviewed(judged)}
    assert window["reviews"] == len(cases)
    # Independent of the draw of rows: neither none nor all of the sample.
    assert 0 < len(cases) < window["graded"]
