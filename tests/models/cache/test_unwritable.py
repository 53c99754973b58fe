from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import warnings
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import StoreError
from judgekit.models.cache import CacheWarning, DiskCache, import_entries
from judgekit.models.cache.entries import WriteFailedError
from tests.models.cache.buying import make_reply, make_request, random_text

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = make_request().key
REQUESTS = [make_request(str(number)) for number in range(300)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "cache"


def filled(folder: Path) -> None:
    """A cache with 300 entries, closed."""
    with DiskCache(folder) as cache:
        for request in REQUESTS:
            cache.put(request, make_reply("x" * 600))


def n_served(cache: DiskCache) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        return sum(cache.get(request.key) is not None for request in REQUESTS)


def test_a_reply_that_finds_no_room_is_saved_beside(folder: Path, tmp_path: Path) -> None:
    with DiskCache(folder) as cache:
        cache._rows._rows._sql("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]  # SQLite's own disk full
        with pytest.raises(StoreError, match=r"full; the reply .* was saved in .*emergency-"):
            cache.put(make_request(), make_reply(random_text(50_000)))
        assert KEY in cache
    saved = next(folder.glob("emergency-*.jsonl"))
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    with DiskCache(tmp_path / "other") as other:
        assert import_entries(other, saved).n_added == 1
        assert KEY in other


def test_a_database_locked_for_too_long_loses_no_reply(folder: Path) -> None:
    with DiskCache(folder) as cache, closing(sqlite3.connect(folder / "cache.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        cache._rows._rows._sql("PRAGMA busy_timeout = 1")  # type: ignore[attr-defined]  # instead of 30 s
        with pytest.raises(StoreError, match=r"locked; the reply .* was saved in"):
            cache.put(make_request(), make_reply())
        other.rollback()
    assert list(folder.glob("emergency-*.jsonl"))


def test_a_cache_opened_to_be_read_only_changes_nothing(folder: Path, tmp_path: Path) -> None:
    filled(folder)
    before = (folder / "cache.db").read_bytes()
    with DiskCache(folder, read_only=True, temporary=tmp_path) as cache:
        assert n_served(cache) == 300
        cache.count_hit(make_reply())
        with pytest.raises(WriteFailedError, match="read-only"):
            cache.delete(REQUESTS[0].key)
    assert (folder / "cache.db").read_bytes() == before


def test_there_must_be_something_to_read(folder: Path) -> None:
    with pytest.raises(StoreError, match="there is no cache in"):
        DiskCache(folder, read_only=True)


def test_a_damaged_file_is_not_read_only(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    (folder / "cache.db").write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreError, match="damaged"):
        DiskCache(folder, read_only=True)


def test_what_a_read_only_cache_cannot_keep_goes_to_one_file(folder: Path) -> None:
    filled(folder)
    with DiskCache(folder, read_only=True) as cache:
        with pytest.warns(CacheWarning, match="saved in"):
            cache.put(make_request("a"), make_reply())
        cache.put(make_request("b"), make_reply())
        cache.put_rejected(make_request("c"), make_reply(finish_reason="length"))
        assert make_request("b").key in cache
        assert make_request("c").key not in cache
        assert cache.delete(make_request("b").key)
    saved = next(folder.glob("emergency-*.jsonl"))
    assert len(saved.read_text().splitlines()) == 3


def test_a_path_that_cannot_be_a_folder_is_an_error_before_anything_is_paid(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be a cache folder: Not a directory"):
        DiskCache(tmp_path / "file" / "cache")


def test_a_reply_that_can_be_saved_nowhere_is_an_error_that_says_so(
    folder: Path, tmp_path: Path
) -> None:
    cache = DiskCache(folder, temporary=tmp_path / "nowhere")
    with cache:
        shutil.rmtree(folder)
        folder.touch()
        with pytest.raises(StoreError, match="could not be saved anywhere else"):
            cache.put(make_request(), make_reply())
        assert KEY in cache


def test_a_folder_that_cannot_be_mended_loses_no_reply(folder: Path, tmp_path: Path) -> None:
    with DiskCache(folder, temporary=tmp_path) as cache:
        shutil.rmtree(folder)
        folder.touch()
        with pytest.raises(StoreError, match="could not be repaired"):
            cache.put(make_request(), make_reply())
    assert len(list(tmp_path.glob("judgekit-emergency-*.jsonl"))) == 1


READING = """
import os, pathlib, sys, warnings
import judgekit.models.cache.disk_cache
from judgekit.models.cache.disk_cache import DiskCache
from tests.models.cache.buying import make_reply, make_request, random_text
# Builds what is built late, while Python's own files can be read.
make_reply(), make_request(), pathlib.Path("/").as_uri()
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    with DiskCache(".") as cache:
        print(make_request().key in cache, len(cache))
        cache.put(make_request("new"), make_reply())
        print(make_request("new").key in cache)
print(*[str(each.message).splitlines()[0] for each in seen], sep="\\n")
"""


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("with_log", [False, True])
def test_a_folder_without_write_permission_is_read(*, with_log: bool) -> None:
    # pytest's folders let only their owner pass, and root must become somebody else here.
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "cache"
        fill_and_lock(folder, with_log=with_log)
        command = [sys.executable, "-c", READING, str(folder)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        folder.chmod(0o700)
    lines = ran.stdout.splitlines()
    assert lines[:2] == ["True 1", "True"]
    assert "cannot be written" in lines[2]
    assert "judgekit-emergency-" in lines[3]
    Path(lines[3].rsplit("saved in ", 1)[1].removesuffix(" instead")).unlink()


def fill_and_lock(folder: Path, *, with_log: bool) -> None:
    """A cache with one entry that nobody may change, closed or as a killed process leaves it."""
    with DiskCache(folder) as cache:
        cache.put(make_request(), make_reply())
        if with_log:
            for file in list(folder.glob("cache.db*")):
                shutil.copy(file, folder / f"copy-{file.name}")
    if with_log:
        for file in list(folder.glob("copy-*")):
            file.rename(folder / file.name.removeprefix("copy-"))
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, 65534, 65534)
        os.chown(folder.parent, 65534, 65534)
    for file in folder.iterdir():
        file.chmod(0o400)
    folder.chmod(0o500)


FULL = """
import resource, sys
from judgekit.errors import StoreError
from judgekit.models.cache.disk_cache import DiskCache
from tests.models.cache.buying import make_reply, make_request, random_text
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with DiskCache(sys.argv[1]) as cache:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        for n in range(1000):
            cache.put(make_request(str(n)), make_reply("x" * 900))
            print(n, flush=True)
    except StoreError as error:
        print(error)
    print(all(make_request(str(k)).key in cache for k in range(n + 1)))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
def test_a_disk_that_fills_up_loses_no_acknowledged_reply(folder: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FULL, str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    n_kept = sum(line.isdigit() for line in lines)
    assert "was saved in" in ran.stdout
    assert lines[-1] == "True"
    with DiskCache(folder) as cache:
        assert all(make_request(str(n)).key in cache for n in range(n_kept))
        report = import_entries(cache, next(folder.glob("emergency-*.jsonl")))
        assert report.n_added == 1


@contextmanager
def files_limited_to(n_bytes: int) -> Iterator[None]:
    """No file may grow beyond so many bytes, as on a disk that has no more room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_disk_that_is_full_from_the_start_what_is_owned_is_served(folder: Path) -> None:
    filled(folder)
    with files_limited_to(0), pytest.warns(CacheWarning, match="cannot be written"):
        cache = DiskCache(folder)
    with cache:
        assert n_served(cache) == 300
        with pytest.raises(StoreError, match="was saved in"):
            cache.put(make_request(), make_reply())


def test_what_cannot_be_read_either_is_taken_for_empty_with_a_warning(folder: Path) -> None:
    with DiskCache(folder) as cache:
        cache.put(make_request(), make_reply())
        shutil.copytree(folder, folder.parent / "copy")
    copy = folder.parent / "copy"
    (copy / "cache.db-shm").unlink()
    with (
        files_limited_to(0),
        pytest.warns(CacheWarning, match="cannot be written"),
        pytest.warns(CacheWarning, match="treated as empty"),
    ):
        cache = DiskCache(copy)
    with cache:
        assert len(cache) == 0


@pytest.mark.skipif(os.name != "posix", reason="links and folders differ on Windows")
@pytest.mark.parametrize("is_folder", [True, False])
def test_a_database_that_is_no_file_is_an_error_before_anything_is_paid(
    folder: Path, *, is_folder: bool
) -> None:
    folder.mkdir(parents=True, mode=0o700)
    database = folder / "cache.db"
    database.mkdir() if is_folder else database.symlink_to(folder / "gone" / "cache.db")
    with pytest.raises(StoreError, match=r"cannot be the database of a cache: .*unable to open"):
        DiskCache(folder)


def test_an_emergency_file_without_room_is_followed_by_another(folder: Path) -> None:
    filled(folder)
    with DiskCache(folder, read_only=True) as cache, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with files_limited_to(2_000):
            for number in range(1000, 1006):
                cache.put(make_request(str(number)), make_reply())
    files = list(folder.glob("emergency-*.jsonl"))
    assert len(files) == len(seen) > 1
    with DiskCache(folder) as cache:
        assert sum(import_entries(cache, file).n_added for file in files) == 6
