from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.models.cache import CacheWarning, DiskCache
from judgekit.models.cache.disk_cache import FileKeyLocks
from judgekit.models.cache.reply_cache import LocalKeyLocks
from tests.models.cache.buying import make_reply, make_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = make_request().key
OTHER = make_request("other").key

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks are POSIX")


@pytest.fixture
def leases(tmp_path: Path) -> Iterator[FileKeyLocks]:
    opened = FileKeyLocks(tmp_path / "leases.lock")
    yield opened
    opened.close()


HOLDING = """
import sys, time
from pathlib import Path
from judgekit.models.cache.disk_cache import FileKeyLocks
leases = FileKeyLocks(Path(sys.argv[1]))
print(leases.try_acquire(sys.argv[2]), flush=True)
sys.stdin.read()
"""


def holder(folder: Path, key: str) -> subprocess.Popen[str]:
    """A process that tries to take a lease and says whether it has it, until it is ended."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(folder / "leases.lock"), key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_keys_are_leased_apart(leases: FileKeyLocks) -> None:
    assert leases.try_acquire(KEY)
    assert leases.try_acquire(OTHER)
    assert not leases.try_acquire(KEY)


def test_two_caches_in_one_process_exclude_each_other(leases: FileKeyLocks, tmp_path: Path) -> None:
    other = FileKeyLocks(tmp_path / "leases.lock")
    assert leases.try_acquire(KEY)
    assert not other.try_acquire(KEY)
    leases.release(KEY)
    assert other.try_acquire(KEY)
    other.close()


def test_a_killed_holder_leaves_no_lease(leases: FileKeyLocks, tmp_path: Path) -> None:
    with holder(tmp_path, KEY) as process:
        assert first_line(process) == "True"
        assert not leases.try_acquire(KEY)
        process.kill()
        process.wait()
    assert leases.try_acquire(KEY)


def test_another_process_sees_the_lease(leases: FileKeyLocks, tmp_path: Path) -> None:
    assert leases.try_acquire(KEY)
    with holder(tmp_path, KEY) as process:
        assert first_line(process) == "False"
        process.kill()


def test_a_forked_child_counts_none_of_its_parents_hits(tmp_path: Path) -> None:
    with DiskCache(tmp_path) as cache:
        cache.count_hit(make_reply(cost_usd=0.25))
        child = os.fork()
        if child == 0:
            cache.count_miss()
            cache.count_hit(make_reply(cost_usd=0.5))
            cache.close()
            os._exit(0)
        os.waitpid(child, 0)
    with DiskCache(tmp_path) as cache:
        counts = cache.counts()
        assert (counts.n_hits, counts.n_misses, counts.saved_usd) == (2, 1, 0.75)


def test_a_forked_child_holds_none_of_its_parents_leases(leases: FileKeyLocks) -> None:
    assert leases.try_acquire(KEY)
    child = os.fork()
    if child == 0:
        had = leases.try_acquire(KEY)
        fresh = leases.try_acquire(OTHER)
        os._exit(0 if fresh and not had else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not leases.try_acquire(KEY)


def test_where_locks_are_refused_leases_are_granted_with_one_warning(tmp_path: Path) -> None:
    leases = FileKeyLocks(tmp_path / "nowhere" / "leases.lock")
    with pytest.warns(CacheWarning, match="grants no locks"):
        assert leases.try_acquire(KEY)
    assert not leases.try_acquire(KEY)
    leases.release(KEY)
    assert leases.try_acquire(OTHER)


def test_closing_gives_everything_back(leases: FileKeyLocks, tmp_path: Path) -> None:
    leases.try_acquire(KEY)
    leases.close()
    assert FileKeyLocks(tmp_path / "leases.lock").try_acquire(KEY)
    local = LocalKeyLocks()
    local.try_acquire(KEY)
    local.close()
    assert local.try_acquire(KEY)


def test_a_change_of_process_begins_anew(leases: FileKeyLocks) -> None:
    assert leases.try_acquire(KEY)
    leases._pid = 0
    assert leases.try_acquire(OTHER)
    assert leases._pid == os.getpid()
