from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from errno import EACCES, EIO, ENOSPC, EROFS
from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.testing import FlawedFiles
from tests.models.cache.buying import make_reply, make_request

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.testing.flawed_files import FileFault


@pytest.mark.parametrize(
    ("fault", "number"),
    [("disk_full", ENOSPC), ("io_error", EIO), ("read_only", EROFS), ("forbidden", EACCES)],
)
def test_each_fault_is_what_the_system_would_raise(
    tmp_path: Path, fault: FileFault, number: int
) -> None:
    with FlawedFiles(tmp_path, fault) as files, pytest.raises(OSError, match=r"a\.txt") as caught:
        (tmp_path / "a.txt").write_text("text", "utf-8")
    assert caught.value.errno == number
    assert files.operations == [("open", "a.txt")]


def test_the_operations_fail_from_the_first_that_is_to_fail(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with FlawedFiles(tmp_path, after=1) as files:
        file = path.open("wb", buffering=0)
        for _ in range(2):
            with pytest.raises(OSError, match="No space"):
                file.write(b"text")
        with pytest.raises(OSError, match="No space"):
            os.fsync(file.fileno())
        file.close()
        with pytest.raises(OSError, match="No space"):
            path.rename(tmp_path / "b.txt")
        with pytest.raises(OSError, match="No space"):
            (tmp_path / "c").mkdir()
        path.unlink()  # a full disk lets go of files
    kinds = [kind for kind, _ in files.operations]
    assert kinds == ["open", "write", "write", "fsync", "rename", "mkdir"]
    assert files.n_failed == 5


def test_a_fault_that_is_over_is_over(tmp_path: Path) -> None:
    with FlawedFiles(tmp_path, times=1):
        with pytest.raises(OSError, match="No space"):
            (tmp_path / "a.txt").write_text("text", "utf-8")
        (tmp_path / "a.txt").write_text("text", "utf-8")
    assert (tmp_path / "a.txt").read_text("utf-8") == "text"


def test_a_short_write_is_followed_by_a_full_disk(tmp_path: Path) -> None:
    with (
        FlawedFiles(tmp_path, "short_write", after=1),
        (tmp_path / "a.txt").open("wb", buffering=0) as file,
    ):
        assert file.write(b"12345678") == 4
        with pytest.raises(OSError, match="No space"):
            file.write(b"5678")
    assert (tmp_path / "a.txt").read_bytes() == b"1234"


def test_a_buffered_file_fails_when_it_is_closed(tmp_path: Path) -> None:
    with FlawedFiles(tmp_path, after=1):
        file = (tmp_path / "a.txt").open("w", encoding="utf-8")
        file.write("text")
        with pytest.raises(OSError, match="No space"):
            file.close()


def test_a_folder_that_vanishes_has_another_name(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    with FlawedFiles(folder, "vanished", after=1):
        (folder / "a.txt").touch()
        with pytest.raises(FileNotFoundError):
            (folder / "b.txt").write_text("text", "utf-8")
    assert (tmp_path / "work.vanished" / "a.txt").exists()


def test_files_elsewhere_and_reading_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("text", "utf-8")
    with FlawedFiles(folder) as files:
        (tmp_path / "b.txt").write_text((folder / "a.txt").read_text("utf-8"), "utf-8")
    assert files.operations == []


@pytest.mark.parametrize(
    ("fault", "words"), [("disk_full", "disk is full"), ("read_only", "readonly database")]
)
def test_statements_that_change_a_database_fail_in_the_words_of_sqlite(
    tmp_path: Path, fault: FileFault, words: str
) -> None:
    path = tmp_path / "a.db"
    with FlawedFiles(tmp_path, fault, after=2), closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (n)")
        database.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(sqlite3.OperationalError, match=words):
            database.executemany("INSERT INTO t VALUES (?)", [(2,)])
        assert database.execute("SELECT n FROM t").fetchall() == [(1,)]


def test_a_cache_on_a_full_disk_stores_no_reply_and_says_so(tmp_path: Path) -> None:
    jk.DiskCache(tmp_path / "cache").close()
    with FlawedFiles(tmp_path, after=10_000) as files, jk.DiskCache(tmp_path / "cache"):
        n_to_open = len(files.operations)
    with FlawedFiles(tmp_path, after=n_to_open) as files:
        cache = jk.DiskCache(tmp_path / "cache")
        with pytest.raises(jk.StoreError, match="disk is full") as caught:
            cache.put(make_request("1"), make_reply("x"))
    assert caught.value.is_incomplete
    cache.close()


def test_a_fault_that_is_not_known_is_named(tmp_path: Path) -> None:
    with pytest.raises(jk.UnknownNameError, match="disk_ful"):
        FlawedFiles(tmp_path, "disk_ful")  # type: ignore[arg-type]  # what is tested
