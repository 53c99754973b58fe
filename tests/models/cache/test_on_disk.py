from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import threading
import warnings
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import StoreError
from judgekit.models.cache import CacheFolder, CacheWarning, DamagedFileError, DiskCache
from tests.models.cache.buying import make_reply, make_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

KEY = make_request().key
DAMAGE = DamagedFileError("seen by several threads at once")
REQUESTS = [make_request(str(number)) for number in range(300)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "cache"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    former = os.umask(mask)
    try:
        yield
    finally:
        os.umask(former)


def filled(folder: Path) -> None:
    """A cache with 300 entries, closed."""
    with DiskCache(folder) as cache:
        for request in REQUESTS:
            cache.put(request, make_reply("x" * 600))


def n_served(cache: DiskCache) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        return sum(cache.get(request.key) is not None for request in REQUESTS)


def overwrite(file: Path, start: int, length: int) -> None:
    content = bytearray(file.read_bytes())
    content[start : start + length] = random.Random(7).randbytes(length)
    file.write_bytes(content)


def aside(folder: Path) -> list[Path]:
    return [file for file in folder.glob("cache.db.corrupt-*") if file.suffix.endswith("Z")]


def test_replies_outlive_the_process(folder: Path) -> None:
    filled(folder)
    with DiskCache(folder) as cache:
        assert n_served(cache) == 300
        assert cache.location == folder


def test_savings_are_summed_over_runs(folder: Path) -> None:
    for _ in range(2):
        with DiskCache(folder) as cache:
            cache.count_hit(make_reply())
    with DiskCache(folder) as cache:
        assert cache.counts().n_hits == 2
        assert cache.counts().saved_usd == 0.5


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_everything_is_private_whatever_the_umask(folder: Path) -> None:
    with umask(0), DiskCache(folder) as cache:
        cache.put(make_request(), make_reply())
        assert cache.try_lease(KEY)
        files = [file for file in folder.iterdir() if file.is_file()]
        assert {file.name for file in files} >= {"cache.db", "cache.db-wal", "cache.db-shm"}
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
        cache.release(KEY)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_files_that_were_open_to_others_are_closed_to_them(folder: Path) -> None:
    filled(folder)
    (folder / "cache.db").chmod(0o644)
    with DiskCache(folder):
        assert stat.S_IMODE((folder / "cache.db").stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o702])
def test_a_folder_others_may_write_to_is_refused(folder: Path, mode: int) -> None:
    folder.mkdir(parents=True)
    folder.chmod(mode)
    with pytest.raises(StoreError, match="others may write") as caught:
        DiskCache(folder)
    assert caught.value.hint == f"chmod 700 {folder}"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs chown")
def test_a_folder_of_another_user_is_refused(folder: Path) -> None:
    folder.mkdir(parents=True)
    os.chown(folder, 65534, 65534)
    with pytest.raises(StoreError, match="belongs to another user"):
        DiskCache(folder)


def test_a_file_that_is_no_database_is_set_aside(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    (folder / "cache.db").write_bytes(b"this is not a database" * 100)
    with pytest.warns(CacheWarning, match="0 replies that could still be read"):
        cache = DiskCache(folder)
    with cache:
        cache.put(make_request(), make_reply())
        assert KEY in cache
    assert aside(folder)[0].read_bytes().startswith(b"this is not")


def test_a_damaged_header_is_set_aside(folder: Path) -> None:
    filled(folder)
    overwrite(folder / "cache.db", 0, 100)
    with pytest.warns(CacheWarning, match="was damaged; it is kept as"):
        cache = DiskCache(folder)
    with cache:
        assert n_served(cache) == 0
    assert len(aside(folder)) == 1


def test_an_emptied_database_is_set_aside(folder: Path) -> None:
    filled(folder)
    (folder / "cache.db").write_bytes(b"")
    with pytest.warns(CacheWarning, match="was damaged"):
        DiskCache(folder).close()
    assert len(aside(folder)) == 1


def test_a_log_without_its_database_is_set_aside(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    (folder / "cache.db-wal").write_bytes(b"what was committed last")
    with pytest.warns(CacheWarning, match="was damaged"):
        DiskCache(folder).close()
    assert next(folder.glob("*corrupt*-wal")).read_bytes() == b"what was committed last"


def test_an_empty_file_that_was_never_opened_is_no_damage(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    (folder / "cache.db").touch()
    DiskCache(folder).close()
    assert aside(folder) == []


def test_a_database_that_was_deleted_is_no_damage(folder: Path) -> None:
    filled(folder)
    (folder / "cache.db").unlink()
    with DiskCache(folder) as cache:
        assert len(cache) == 0


@pytest.mark.parametrize("start", [60_000, 120_000, 200_000])
def test_what_damaged_pages_leave_is_taken_over(folder: Path, start: int) -> None:
    filled(folder)
    overwrite(folder / "cache.db", start, 20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        cache = DiskCache(folder)
    with cache:
        assert n_served(cache) >= 200
        for request in REQUESTS:
            cache.put(request, make_reply())
        assert n_served(cache) == 300
        assert cache.problems() == ()
    assert len(aside(folder)) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SET value = value + 1", "SET valua = value + 1"),
        ("UPDATE Settings SET value", "UPDATE Sattings SET value"),
        ('WHERE key = "count"', 'WHERE kay = "count"'),
        (" store_time REAL", " store_timf REAL"),
    ],
)
def test_a_statement_in_the_file_that_was_altered_is_damage(
    folder: Path, old: str, new: str
) -> None:
    filled(folder)
    with closing(sqlite3.connect(folder / "cache.db")) as database:
        # One bit in the text of a trigger or a table: all rows can still be read.
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (old, new))
        database.commit()

    def put_one() -> None:
        with DiskCache(folder) as cache:
            cache.put(make_request("new"), make_reply())

    with pytest.warns(CacheWarning, match="with the 300 replies that could still be read"):
        put_one()
    with DiskCache(folder) as cache:
        assert n_served(cache) == 300
        assert make_request("new").key in cache


def test_an_index_that_leads_back_is_damage_and_ends(folder: Path) -> None:
    filled(folder)
    last = max(request.key for request in REQUESTS).encode()
    content = bytearray((folder / "cache.db").read_bytes())
    start = content.find(last)
    while content[start // 4096 * 4096] not in {0x02, 0x0A}:  # SQLite's pages of an index
        start = content.find(last, start + 1)
    content[start : start + 64] = b"0" * 64
    (folder / "cache.db").write_bytes(content)
    with DiskCache(folder) as cache:
        with pytest.warns(CacheWarning, match="with the 300 replies that could still be read"):
            assert {request.key for request in REQUESTS} <= set(cache.keys())
        assert n_served(cache) == 300


def test_a_file_cut_in_half_is_mended(folder: Path) -> None:
    filled(folder)
    with (folder / "cache.db").open("r+b") as file:
        file.truncate((folder / "cache.db").stat().st_size // 2)
    with pytest.warns(CacheWarning, match="was damaged"):
        cache = DiskCache(folder)
    with cache:
        assert n_served(cache) >= 50


@pytest.mark.parametrize("action", ["get", "get_many", "keys", "len", "put", "entry"])
def test_damage_found_while_open_is_mended_by_whoever_meets_it(folder: Path, action: str) -> None:
    filled(folder)
    cache = DiskCache(folder)
    overwrite(folder / "cache.db", 4096, 300_000)
    actions: dict[str, Callable[[], object]] = {
        "get": lambda: [cache.get(request.key) for request in REQUESTS],
        "get_many": lambda: cache.get_many([request.key for request in REQUESTS]),
        "keys": lambda: list(cache.keys()),
        "len": lambda: len(cache),
        "put": lambda: cache.put(make_request(), make_reply()),
        "entry": lambda: [cache.entry(request.key) for request in REQUESTS],
    }
    with cache:
        with pytest.warns(CacheWarning, match="was damaged; it is kept as"):
            actions[action]()
        cache.put(make_request("new"), make_reply())
        assert make_request("new").key in cache
        assert list(cache.keys()) == sorted(cache.keys())
    assert len(aside(folder)) == 1


def test_verifying_looks_and_mends_nothing(folder: Path) -> None:
    filled(folder)
    with DiskCache(folder) as cache:
        overwrite(folder / "cache.db", 4096, 300_000)
        assert cache.problems() != ()
        assert aside(folder) == []


def test_threads_that_meet_damage_mend_it_once(folder: Path) -> None:
    filled(folder)
    cache = DiskCache(folder)
    overwrite(folder / "cache.db", 4096, 300_000)
    rows = cache._rows
    damaged = rows._rows  # type: ignore[attr-defined]  # the rows of a cache on disk
    with cache, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        threads = [
            threading.Thread(target=rows._reopen, args=(damaged, DAMAGE))  # type: ignore[attr-defined]  # as above
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(seen) == 1
    assert len(aside(folder)) == 1


def test_a_write_follows_a_database_that_another_process_set_aside(folder: Path) -> None:
    with DiskCache(folder) as one, DiskCache(folder) as other:
        one.put(make_request("before"), make_reply())
        place = CacheFolder(folder)
        moved = place.set_aside()
        with DiskCache(folder):
            pass
        other.put(make_request(), make_reply())
        one.put(make_request("after"), make_reply())
        assert KEY in one
    assert moved.exists()
    with DiskCache(folder) as later:
        assert KEY in later
        assert make_request("after").key in later


def test_a_write_follows_a_folder_that_was_removed(folder: Path) -> None:
    with DiskCache(folder) as cache:
        cache.put(make_request("before"), make_reply())
        shutil.rmtree(folder)
        with pytest.warns(CacheWarning, match=r"cache\.db was removed while it was in use; a new"):
            cache.put(make_request(), make_reply())
        cache.put(make_request("after"), make_reply())  # reported once
    with DiskCache(folder) as later:
        assert KEY in later
        assert make_request("after").key in later


@pytest.mark.filterwarnings("error")
def test_a_cache_stays_where_it_was_opened_when_the_program_changes_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with DiskCache("cache") as cache:
        monkeypatch.chdir(tmp_path / "elsewhere")
        cache.put(make_request(), make_reply("kept"))
    with DiskCache(tmp_path / "cache") as cache:
        found = cache.get(make_request().key)
    assert found is not None
    assert not list((tmp_path / "elsewhere").iterdir())
