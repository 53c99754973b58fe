from __future__ import annotations

import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.models.cache import DiskCache
from tests.models.cache.buying import make_reply, make_request

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and locks are POSIX")

ASKING = """
import asyncio, os, random, sys
from judgekit.models.cache.disk_cache import DiskCache
from judgekit.models.cached_model import CachedModel
from tests.models.cache.buying import make_reply, make_request

folder, calls, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])

class LoggingModel:
    name = "logging"

    async def complete(self, request):
        log = os.open(calls, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(log, request.key.encode() + b"\\n")
        os.close(log)
        await asyncio.sleep(0.002)
        return make_reply("x" * 2000)

async def main():
    with DiskCache(folder) as cache:
        model = CachedModel(LoggingModel(), cache)
        requests = [make_request(str(n)) for n in range(int(sys.argv[4]))]
        random.Random(seed).shuffle(requests)
        gate = asyncio.Semaphore(8)

        async def ask(request):
            async with gate:
                await model.complete(request)
            print(request.key, flush=True)

        await asyncio.gather(*map(ask, requests))

asyncio.run(main())
"""


def asking(folder: Path, seed: int, n_keys: int) -> subprocess.Popen[str]:
    """A process that asks for keys, eight at a time, and prints each when it has the reply."""
    return subprocess.Popen(
        [sys.executable, "-c", ASKING, str(folder), str(folder / "calls"), str(seed), str(n_keys)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_four_processes_and_fifty_keys_are_fifty_calls(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    processes = [asking(tmp_path, seed, 50) for seed in range(4)]
    outputs = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert [len(output) for output in outputs] == [50] * 4
    calls = (tmp_path / "calls").read_text().split()
    assert len(calls) == len(set(calls)) == 50
    with DiskCache(tmp_path) as cache:
        assert cache.counts().n_misses == 50
        assert cache.counts().n_hits == 150


def test_killed_writers_lose_no_acknowledged_reply_and_leave_no_lease(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    rng = random.Random(11)
    n_keys, n_kills, acknowledged = 400, 6, set()
    for seed in range(n_kills):
        with asking(tmp_path, seed, n_keys) as process:
            assert process.stdout is not None
            for _ in range(rng.randrange(1, 60)):
                acknowledged.add(process.stdout.readline().strip())
            process.kill()
            acknowledged.update(process.stdout.read().split("\n")[:-1])
    with asking(tmp_path, 99, n_keys) as last:
        last.communicate()
    calls = (tmp_path / "calls").read_text().split()
    keys = {make_request(str(number)).key for number in range(n_keys)}
    with DiskCache(tmp_path) as cache:
        assert acknowledged <= keys
        assert all(key in cache for key in keys)
        assert all(cache.try_lease(key) for key in keys)
        assert cache.problems() == ()
    assert len(calls) - n_keys <= 8 * n_kills


def test_what_one_of_two_caches_of_a_process_writes_is_there_for_others(tmp_path: Path) -> None:
    # The second open once dropped the locks of the first, and the next process that closed the
    # database deleted the log that this one went on writing to.
    tmp_path.chmod(0o700)
    requests = [make_request(str(number)) for number in range(3)]
    with DiskCache(tmp_path) as first:
        first.put(requests[0], make_reply("first"))
        with DiskCache(tmp_path) as second:
            for request in requests:
                first.put(request, make_reply("again"))
                assert keys_elsewhere(tmp_path) >= {request.key}
            second.put(make_request("last"), make_reply("last"))
            assert keys_elsewhere(tmp_path) == {r.key for r in (*requests, make_request("last"))}


def keys_elsewhere(folder: Path) -> set[str]:
    """The keys that a process of its own finds, which closes the cache before it ends."""
    code = (
        "import sys; from judgekit.models.cache import DiskCache\n"
        "with DiskCache(sys.argv[1]) as cache: print(*cache.keys())"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    return set(found.stdout.split())
