from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgekit.cli.doctor import store_checks
from judgekit.records import RunInfo
from judgekit.store import RunStore
from tests.evaluation.suites import RUBRIC

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

AT = datetime(2026, 11, 22, tzinfo=UTC)


def test_a_store_that_is_not_there_is_fine_and_not_made(tmp_path: Path) -> None:
    (check,) = store_checks(str(tmp_path / "runs.db"))
    assert (check.topic, check.grade) == ("store", "note")
    assert "no runs yet" in check.text
    assert list(tmp_path.iterdir()) == []


def test_runs_are_counted_and_those_that_wait_are_named(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    for name in ("r1", "r2"):
        store.begin(RunInfo(id=name, suite="s", started_at=AT))
    store.end("r1", status="complete", at=AT)
    store.close()
    (check,) = store_checks(str(tmp_path / "runs.db"))
    assert check.text == f"2 runs in {tmp_path / 'runs.db'}, 1 of them not complete"


def test_a_file_that_is_no_store_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text("hello, this is no database at all" * 40, encoding="utf-8")
    (check,) = store_checks(str(tmp_path / "runs.db"))
    assert check.grade == "error"
    assert check.remedy


def test_an_address_nobody_can_use_is_a_warning() -> None:
    (check,) = store_checks("nosuchdatabase://somewhere/x")
    assert check.grade == "warning"
    assert check.remedy


def test_a_store_whose_first_command_was_stopped_is_begun_by_the_next(
    run: Run, tmp_path: Path
) -> None:
    """A full disk or a kill leaves the file before its tables are there."""
    (tmp_path / "runs.db").touch()
    (check,) = store_checks(str(tmp_path / "runs.db"))
    assert (check.grade, check.text[:11]) == ("note", "no runs yet")
    (tmp_path / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    for name in ("a", "b"):
        row = {"case_id": "c", "input": "?", "output": name}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "replies.jsonl").write_text("", encoding="utf-8")
    options = ("--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl")
    ran = run("compare", "a.jsonl", "b.jsonl", *options, "--store", "runs.db")
    assert (ran.code, "nothing is stored" in ran.err) == (3, False)
    assert run("show", "--comparisons", "--store", "runs.db", "--json").json
