from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgekit.cli.doctor import store_checks
from judgekit.records import RunInfo
from judgekit.store import RunStore

if TYPE_CHECKING:
    from pathlib import Path

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
