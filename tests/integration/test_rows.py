"""A cache on a server keeps what a cache keeps, and its locks exclude others."""

from __future__ import annotations

import inspect
import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import StoreError
from judgekit.models.cache import CacheWarning, ReplyCache, admin, open_reply_cache, server_cache
from judgekit.models.cache.location import cache_location
from judgekit.models.cache.server_cache import SharedCache
from tests.integration.servers import PASSWORD
from tests.models.cache import test_kept
from tests.models.cache.buying import make_reply, make_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.integration.servers import PostgresServer, RedisServer

KEY = make_request().key
OTHER = make_request("other").key


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What cannot be written to a server is saved below the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cache(url: str) -> Iterator[ReplyCache]:
    with open_reply_cache(url) as opened:
        opened._now = lambda: test_kept.NOON
        yield opened


# The laws of a cache, here on servers: those that take a cache of any kind.
globals().update({
    name: law
    for name, law in vars(test_kept).items()
    if name.startswith("test_") and [*inspect.signature(law).parameters] == ["cache"]
})  # fmt: skip


def test_the_laws_of_a_cache_are_found() -> None:
    assert sum(name.startswith("test_") for name in globals()) > 15


def test_a_row_that_was_altered_counts_as_a_miss(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply())
    text = cache._rows.text(KEY)
    assert text is not None
    cache._rows.write({KEY: text.replace("score", "SCORE")})
    with pytest.warns(CacheWarning, match="damaged and counts as a miss"):
        assert cache.get(KEY) is None
    assert not admin.verify_cache(cache).is_sound


def test_a_lock_excludes_others_until_it_is_given_back(cache: ReplyCache, url: str) -> None:
    with open_reply_cache(url) as other:
        assert cache.try_lease(KEY)
        assert not cache.try_lease(KEY)
        assert not other.try_lease(KEY)
        cache.release(KEY)
        assert other.try_lease(KEY)
    assert cache.try_lease(KEY), "closing gives everything back"


def test_a_lock_that_is_renewed_lasts_and_one_of_a_dead_holder_ends(
    cache: ReplyCache, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead_holder = open_reply_cache(url)
    assert isinstance(dead_holder, SharedCache)
    rows = dead_holder._rows
    assert isinstance(rows, server_cache.ServerRows)
    for module in (server_cache, *map(inspect.getmodule, map(type, [rows]))):
        monkeypatch.setattr(module, "LOCK_S", 0.4)
    assert cache.try_lease(KEY)
    assert rows.lock("a process that was killed", OTHER)
    assert not cache.try_lease(OTHER)
    assert wait_until(lambda: cache.try_lease(OTHER))
    assert not dead_holder.try_lease(KEY), "its holder renewed it meanwhile"
    dead_holder.close()


def test_threads_of_a_process_share_one_connection(postgres: PostgresServer) -> None:
    url = postgres.new_url()
    database = url.rpartition("/")[2]
    postgres.execute(
        f"DROP ROLE IF EXISTS single; CREATE ROLE single LOGIN PASSWORD '{PASSWORD}'"
        " CONNECTION LIMIT 1",
        "GRANT ALL ON SCHEMA public TO single",
        database=database,
    )
    requests = [make_request(str(number)) for number in range(40)]
    with (
        open_reply_cache(postgres.url(database, user="single")) as cache,
        ThreadPoolExecutor(8) as threads,
    ):
        assert all(threads.map(cache.try_lease, [one.key for one in requests]))
        list(threads.map(cache.put, requests, repeat(make_reply())))
        assert len(cache) == len(requests)


def wait_until(is_true: Callable[[], bool]) -> bool:
    """Whether something becomes true within five seconds."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if is_true():
            return True
        time.sleep(0.05)
    return False


def test_a_forked_child_has_connections_and_leases_of_its_own(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply())
    assert cache.try_lease(OTHER)
    child = os.fork()
    if child == 0:
        read = cache.get(KEY) is not None and not cache.try_lease(OTHER)
        cache.put(make_request("of the child"), make_reply())
        os._exit(0 if read else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert cache.get(make_request("of the child").key) is not None


def test_a_cache_that_is_read_only_is_not_changed(cache: ReplyCache, url: str) -> None:
    cache.put(make_request(), make_reply())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with open_reply_cache(url, read_only=True) as other:
            assert other.get(KEY) is not None
            other.count_miss()
    assert cache.counts().n_misses == 0


@contextmanager
def stopped(server: PostgresServer | RedisServer) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


def test_what_a_server_does_not_take_is_saved_and_written_later(
    server: PostgresServer | RedisServer, url: str, folder: Path
) -> None:
    cache = open_reply_cache(url)
    cache.put(make_request(), make_reply())
    assert cache.try_lease(OTHER)
    with stopped(server):
        with (
            pytest.warns(CacheWarning, match="are saved in"),
            pytest.raises(StoreError, match=r"cannot be reached[\s\S]*saved in .*unwritten"),
        ):
            cache.put(make_request("other"), make_reply("paid for"))
        with pytest.raises(StoreError, match="cannot be reached"):
            cache.get(KEY)
        cache.count_miss()
        with pytest.warns(CacheWarning, match="counts of the cache could not be written"):
            cache.close()
    (file,) = (folder / ".judgekit" / "unwritten").rglob("*.jsonl")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    with pytest.warns(CacheWarning, match=r"^replies written to .* not take earlier: 1$"):
        again = open_reply_cache(url)
    found = again.get_many([KEY, OTHER])
    assert [found[one].text for one in (KEY, OTHER)] == [make_reply().text, "paid for"]
    assert not file.exists()
    again.close()


def test_another_answer_that_came_meanwhile_stays_and_the_file_too(url: str, folder: Path) -> None:
    cache = open_reply_cache(url)
    assert isinstance(cache, SharedCache)
    cache.put(make_request(), make_reply("of another process"))
    with open_reply_cache(folder / "local") as local:
        local.put(make_request(), make_reply("of this one"))
        local.put(make_request("other"), make_reply())
        cache.unwritten._folder.mkdir(parents=True)
        admin.export_entries(local, cache.unwritten._folder / "emergency-1.jsonl")
    cache.close()
    with pytest.warns(CacheWarning, match=r"1 had another answer by then: see unmerged-"):
        again = open_reply_cache(url)
    reply = again.get(KEY)
    assert reply is not None
    assert reply.text == "of another process"
    assert [one.name for one in cache.unwritten._folder.iterdir()] == ["unmerged-emergency-1.jsonl"]
    again.close()


def test_an_address_is_opened_without_its_password_in_any_text(url: str) -> None:
    place = cache_location(url)
    assert "h%40rse" not in f"{place} {place!r}"
