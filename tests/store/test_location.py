from __future__ import annotations

import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from judgekit.errors import SettingsError, StoreError
from judgekit.store import RunStore, locate_database
from tests.store.observing import START, begun


@pytest.mark.parametrize(
    ("given", "file"),
    [
        ("runs.db", "runs.db"),
        (Path("a/runs.db"), "a/runs.db"),
        ("sqlite:///b/runs.db", "b/runs.db"),
        ("sqlite+pysqlite:////c/runs.db", "/c/runs.db"),
    ],
)
def test_a_path_or_its_url_means_a_file(given: str | Path, file: str) -> None:
    found = locate_database(given)
    assert (found.file, found.name) == (Path(file), file)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_a_server_is_reached_through_psycopg_and_named_without_its_password(scheme: str) -> None:
    found = locate_database(f"{scheme}://me:s3cret@db.example/runs")
    assert (found.file, found.url.drivername) == (None, "postgresql+psycopg")
    assert found.name == "postgresql+psycopg://me:***@db.example/runs"


@pytest.mark.parametrize("url", ["mysql://me:s3cret@host/db", "sqlite://", "sqlite:///:memory:"])
def test_what_cannot_keep_runs_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(SettingsError, match="runs cannot be stored in") as caught:
        locate_database(url)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["postgresql://me:s3cret@host:port/db", "postgresql://me:1@s3cret@h/db"]
)
def test_an_address_that_cannot_be_read_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(SettingsError, match=r"cannot be read[\s\S]*%40") as caught:
        locate_database(url)
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__}"


def test_a_database_that_is_missing_is_made_only_where_that_was_asked(tmp_path: Path) -> None:
    file = tmp_path / "judgekit.db"
    with pytest.raises(StoreError, match="there is no database"):
        RunStore(file, create=False)
    assert not file.exists()
    file.touch()
    with pytest.raises(StoreError, match="nothing is stored in"):
        RunStore(file, create=False)
    RunStore(file).close()
    RunStore(file, create=False).close()


def test_a_database_is_made_by_its_path_beside_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    RunStore().close()
    assert (tmp_path / ".judgekit" / "judgekit.db").is_file()


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be created[\s\S]*folder that you may write to"):
        RunStore(tmp_path / "file" / "judgekit.db")


def test_a_folder_is_not_a_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is a folder, and no database\n.*name a file in it"):
        RunStore(tmp_path)


def test_postgresql_without_its_driver_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingsError, match=r"judgekit-llm\[postgres\]"):
        RunStore("postgresql://nobody@127.0.0.1:1/db")


def test_a_file_keeps_what_was_committed_whatever_stops_the_process(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "judgekit.db")
    with store.reading() as connection:
        settings = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert settings == ["wal", 2, 1]
    store.close()


def test_an_ended_run_is_in_the_file_itself(tmp_path: Path) -> None:
    file = tmp_path / "judgekit.db"
    store = RunStore(file)
    begun(store)
    store.end("run-1", status="complete", at=START)
    alone = tmp_path / "alone.db"
    alone.write_bytes(file.read_bytes())
    found = sqlite3.connect(alone)
    assert found.execute("SELECT status FROM runs").fetchall() == [("complete",)]
    found.close()
    store.close()


def test_connections_opened_after_a_change_of_folder_reach_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = locate_database("runs.db")
    assert (found.name, found.url.database) == ("runs.db", str(tmp_path / "runs.db"))


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_store_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        RunStore(tmp_path / "deep" / "runs.db").close()
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes["deep"] == 0o700
    assert modes["runs.db"] == modes["runs.db.lock"] == 0o600
