from __future__ import annotations

import errno
import sqlite3
import sys
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy.exc import InvalidRequestError, OperationalError

from judgekit.batches import BatchFolder
from judgekit.errors import StoreError
from judgekit.store import RunStore
from judgekit.store.database import map_database_errors
from tests.factories import make_output
from tests.store.observing import START, answer, begun, key, make_run, only

if TYPE_CHECKING:
    from pathlib import Path

    from tests.store.postgres import Server


class FromServer(Exception):  # noqa: N818 - stands for a driver's own
    """What a driver of PostgreSQL raises."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__("the server said\nthis")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("sqlstate", "hint"),
    [
        ("22P05", "createdb -T template0 -E UTF8"),
        ("08006", "check that the server runs"),
        ("28P01", "check that the server runs"),
        ("3D000", "createdb"),
        ("42501", "no write permission"),
        ("53100", "free some space"),
        ("53300", "no room for another connection"),
        ("55P03", "another process is writing"),
        ("57P01", "the server is stopping"),
    ],
)
def test_every_error_of_a_server_says_what_to_do(sqlstate: str, hint: str) -> None:
    with (
        pytest.raises(StoreError, match=rf"db: the server said this[\s\S]*{hint}") as caught,
        map_database_errors("db"),
    ):
        raise OperationalError("INSERT ...", {"json": "private"}, FromServer(sqlstate))
    is_resumable = hint in {
        "check that the server runs",
        "free some space",
        "the server is stopping",
    }
    assert caught.value.is_incomplete == is_resumable


def test_a_server_that_is_not_there_from_the_start_leaves_nothing_to_resume() -> None:
    with pytest.raises(StoreError, match="check that the server runs") as caught:
        RunStore("postgresql://me@127.0.0.1:1/db")
    assert not caught.value.is_incomplete


def test_a_pooler_that_gives_sessions_to_others_is_named() -> None:
    words = "connection failed: FATAL: unsupported startup parameter: options"
    with (
        pytest.raises(StoreError, match=r"name the server itself[\s\S]*PgBouncer"),
        map_database_errors("db"),
    ):
        raise OperationalError("", {}, psycopg.OperationalError(words))


def test_an_error_that_is_not_known_is_shown_as_it_is() -> None:
    with pytest.raises(StoreError, match=r"^db: the server said this$"), map_database_errors("db"):
        raise OperationalError("INSERT ...", {}, FromServer("XX000"))
    with pytest.raises(StoreError, match=r"^db: closed$"), map_database_errors("db"):
        raise InvalidRequestError("closed")
    with pytest.raises(StoreError, match="db: disk I/O error\n"), map_database_errors("db"):
        raise sqlite3.OperationalError("disk I/O error")


def test_a_database_that_another_writes_is_waited_for_and_then_named(
    sqlite_store: RunStore, tmp_path: Path
) -> None:
    begun(sqlite_store)
    other = sqlite3.connect(tmp_path / "judgekit.db")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"database is locked[\s\S]*another process is writing"):
        sqlite_store.add("run-1", [answer()])
    other.rollback()
    other.close()
    sqlite_store.add("run-1", [answer()])
    assert only(sqlite_store).is_done


def test_a_full_disk_loses_nothing_that_was_committed(sqlite_store: RunStore) -> None:
    begun(sqlite_store, answer())
    with sqlite_store.writing() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
    long = make_output("x" * 100_000)
    with pytest.raises(StoreError, match=r"disk is full[\s\S]*was committed is safe") as caught:
        sqlite_store.add("run-1", [answer(key("b"), place=1, output=long)])
    assert caught.value.is_incomplete  # the command ends with code 3, not with that of bad input
    assert only(sqlite_store).case.id == "refund"
    with sqlite_store.writing() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    sqlite_store.add("run-1", [answer(key("b"), place=1, output=long)])


@pytest.mark.skipif(sys.platform == "win32", reason="it has locks of another kind")
def test_a_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.fcntl", refuse)
    monkeypatch.setattr("fcntl.lockf", refuse)
    words = r"cannot lock .*runs\.db\.lock: No locks available\n  .*file system has locks"
    with pytest.raises(StoreError, match=words):
        RunStore(tmp_path / "runs.db")
    words = r"cannot lock .*batches.lock: No locks available\n  .*file system has locks"
    with pytest.raises(StoreError, match=words), BatchFolder(tmp_path).lock():
        pass


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("this is no database\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match=r"file is not a database[\s\S]*name a judgekit database"):
        RunStore(file)
    assert file.read_text(encoding="utf-8") == "this is no database\n" * 100


def test_a_damaged_file_says_how_to_save_what_is_left(tmp_path: Path) -> None:
    file = tmp_path / "judgekit.db"
    store = RunStore(file)
    begun(store, *(answer(key(f"c{n}"), place=n) for n in range(200)))
    store.close()
    whole = file.read_bytes()
    file.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises(StoreError, match=r"malformed[\s\S]*\.recover"):
        list(RunStore(file).results("run-1"))


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StoreError, match=r"check that the server runs") as caught:
        RunStore("postgresql://me:s3cret@127.0.0.1:1/db?connect_timeout=2")
    assert "s3cret" not in str(caught.value)


def test_a_database_that_a_server_does_not_have_is_to_be_made(postgres: Server) -> None:
    missing = postgres.new_url().replace("@/postgres?", "@/nowhere?")
    with pytest.raises(StoreError, match=r"nowhere[\s\S]*"):
        RunStore(missing)


def test_a_lost_connection_is_an_error_and_the_next_call_goes_on(postgres: Server) -> None:
    url = postgres.new_url()
    store = RunStore(url)
    begun(store, answer())
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    with pytest.raises(StoreError, match="terminating connection"):
        store.add("run-1", [answer(key("b"), place=1)])
    store.add("run-1", [answer(key("b"), place=1)])
    assert [result.case.id for result in store.results("run-1")] == ["refund", "b"]
    other = RunStore(url)
    with pytest.raises(StoreError, match="still running"):
        other.add("run-1", [answer()])
    other.close()
    store.close()


def test_a_damaged_file_is_refused_before_a_run_is_begun(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "judgekit.db")
    begun(store, *(answer(key(f"c{n}"), place=n) for n in range(50)))
    store.end("run-1", status="interrupted", at=START)
    store.check()
    store.close()
    file = tmp_path / "judgekit.db"
    raw = bytearray(file.read_bytes())
    raw[-8192:] = b"\x07" * 8192
    file.write_bytes(raw)
    damaged = RunStore(file)
    with pytest.raises(StoreError, match=r"judgekit.db is damaged[\s\S]*\.recover"):
        damaged.begin(make_run("run-2"))
    with pytest.raises(StoreError, match="is damaged"):
        damaged.end("run-1", status="running", at=START)
    damaged.close()


def test_a_server_looks_after_its_files_itself(postgres: Server) -> None:
    store = RunStore(postgres.new_url())
    store.check()
    store.close()
