"""Addresses of shared caches and what needs no server; real ones are in `tests/integration`."""

from __future__ import annotations

import asyncio
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import JudgekitError, SettingsError, StoreError
from judgekit.models import cached_model
from judgekit.models.cache import (
    CacheEntry,
    CacheUrl,
    CacheWarning,
    MemoryCache,
    import_entries,
    open_reply_cache,
    server_cache,
)
from judgekit.models.cache.admin import copy_entries
from judgekit.models.cache.location import cache_location, expand_address, mask_address
from judgekit.models.cache.redis_rows import refuse_eviction, warn_of_loss
from judgekit.models.cache.server_cache import ServerKeyLocks, ServerRows, SharedCache
from judgekit.models.cache.sql_rows import MemoryRows
from judgekit.models.cached_model import CachedModel
from tests.models.cache.buying import CountingModel, make_reply, make_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KEY = make_request().key


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server_cache, "_RETRY_AFTER_S", (0.0,))
    return tmp_path


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ("postgresql://me:s3cret@db.example/c", "postgresql://me:***@db.example/c"),
        ("postgresql://me:p@ss/w?rd@db/c", "postgresql://me:***@db/c"),
        ("postgresql://db/c?user=me&password=s3cret", "postgresql://db/c?user=me&password=***"),
        ("redis://:s3cret@h:6379/0", "redis://:***@h:6379/0"),
        ("rediss://me:s3cret@h/0?ssl_cert_reqs=none", "rediss://me:***@h/0?ssl_cert_reqs=none"),
        ("redis://h:6379/0", "redis://h:6379/0"),
        ("postgres:///c?host=/tmp&sslpassword=s3cret", "postgres:///c?host=/tmp&sslpassword=***"),
        ("postgresql://me@srv:s3cret@srv.example/c", "postgresql://me@srv:***@srv.example/c"),
        ("postgresql://me:p ss@db/c", "postgresql://me:***@db/c"),
        ("redis://:[\u2100@h:6379/0", "redis://:***@h:6379/0"),
    ],
)
def test_an_address_is_shown_without_its_password(named: str, shown: str) -> None:
    place = cache_location(named)
    assert isinstance(place, CacheUrl)
    assert (place.url, place.name, str(place), f"{place!r}") == (
        named, shown, shown, f"CacheUrl(name={shown!r})",
    )  # fmt: skip
    assert mask_address(shown) == shown


@pytest.mark.parametrize("named", ["here", "/a/b", Path("x")])
def test_what_is_no_address_is_a_folder(named: str | Path) -> None:
    assert cache_location(named) == Path(named)


@pytest.mark.parametrize("named", ["", "  "])
def test_a_cache_without_a_name_is_refused_and_not_made_here(folder: Path, named: str) -> None:
    with pytest.raises(SettingsError, match=r"the cache has no name[\s\S]*name a folder"):
        open_reply_cache(named)
    assert [*folder.iterdir()] == []


@pytest.mark.parametrize("named", ["mysql://me:s3cret@h/c", "http://me:s3cret@h"])
def test_other_addresses_are_refused_without_their_password(named: str) -> None:
    with pytest.raises(
        SettingsError, match=r"cannot be cached in .*\*\*\*[\s\S]*name a folder"
    ) as found:
        cache_location(named)
    assert "s3cret" not in str(found.value)


def test_an_address_names_variables_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_PASSWORD", "a@b/c")
    monkeypatch.setenv("TEAM_CACHE", "redis://h:1/0")
    assert expand_address("redis://:${TEAM_PASSWORD}@h") == "redis://:a%40b%2Fc@h"
    assert cache_location("${TEAM_CACHE}") == CacheUrl("redis://h:1/0", "redis://h:1/0")
    assert expand_address("redis://:pa$word@h") == "redis://:pa$word@h"
    with pytest.raises(SettingsError, match="NOWHERE, which is not set"):
        cache_location("redis://:${NOWHERE}@h")


@pytest.mark.parametrize(
    ("url", "package", "extra"),
    [("redis://h/0", "redis", "redis"), ("postgresql://h/c", "psycopg", "postgres")],
)
def test_a_server_without_its_driver_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, url: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SettingsError, match=rf"needs {package}[\s\S]*judgekit-llm\[{extra}\]"):
        open_reply_cache(url)


@pytest.mark.parametrize("scheme", ["redis", "rediss", "postgresql"])
def test_a_server_that_is_not_there_is_named_without_the_password(scheme: str) -> None:
    with pytest.raises(StoreError, match=r"\*\*\*@127.0.0.1:1/0 cannot be reached") as found:
        open_reply_cache(f"{scheme}://me:s3cret@127.0.0.1:1/0")
    assert "check that the server runs" in str(found.value)
    assert "s3cret" not in str(found.value)
    assert not found.value.is_incomplete


@pytest.mark.parametrize(
    "url",
    [
        "redis://:s3cret@h:port/0",
        "redis://:[s3cret@h:port/0",
        "redis://:\u2100s3cret@h:port/0",
        "postgresql://me:s3cret@h:port/c",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(JudgekitError, match=r"cannot be cached in .*\*\*\*@h:port") as found:
        open_reply_cache(url)
    assert "s3cret" not in f"{found.value} {found.value.__cause__}"


@pytest.mark.parametrize(
    "url",
    [
        "redis://:p@127.0.0.1:1/team",
        "redis://:p@127.0.0.1:1/0?unknown=1",
        "postgresql://me:pass@s3cret@127.0.0.1:1/c",
        "postgresql://127.0.0.1:1/c?user=me&password=pass@s3cret",
    ],
)
def test_an_address_that_means_something_else_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match=r"cannot be cached in .*127\.0\.0\.1:1") as found:
        open_reply_cache(url)
    assert "s3cret" not in str(found.value)
    assert found.value.__cause__ is None


@pytest.mark.parametrize(
    ("policy", "what"),
    [("allkeys-lru", "replies"), ("allkeys-random", "replies"), ("volatile-lru", "locks")],
)
def test_a_redis_that_may_evict_is_refused(policy: str, what: str) -> None:
    with pytest.raises(SettingsError, match=rf"may delete {what}[\s\S]*is {policy}"):
        refuse_eviction({"maxmemory_policy": policy}, "redis://h")
    refuse_eviction({"maxmemory_policy": "noeviction"}, "redis://h")


def test_a_redis_of_a_cluster_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"belongs to a cluster[\s\S]*cluster mode disabled"):
        refuse_eviction({"cluster_enabled": 1}, "redis://h")
    refuse_eviction({"cluster_enabled": 0}, "redis://h")


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"aof_enabled": 0, "save": ""}, "neither an append-only file nor a snapshot"),
        ({"aof_enabled": 0}, "may not ask for snapshots"),
        ({"aof_enabled": 0, "save": "3600 1"}, None),
        ({"aof_enabled": 1, "save": ""}, None),
    ],
)
def test_a_redis_that_forgets_is_warned_about(
    about: Mapping[str, object], words: str | None
) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_loss(about, "redis://h")
    assert len(found) == (words is not None)
    assert all(str(words) in str(one.message) for one in found)


class LostError(Exception):
    """What a driver raises when its server is gone."""


class FakeServer(ServerRows):
    """A server in this process that can be taken away."""

    foreign_errors = (LostError,)

    def __init__(self) -> None:
        super().__init__("fake://here")
        self.rows = MemoryRows()
        self.held: dict[str, str] = {}
        self.n_written: list[int] = []
        self.renewed: list[set[str]] = []
        self.has_renewed = threading.Event()
        self.is_up = True
        self.n_tried = 0

    def _do(self, action: Callable[[], object], *, is_write: bool = False) -> object:
        def attempt() -> object:
            self.n_tried += 1
            if not self.is_up:
                raise LostError("refused")
            return action()

        return self.run(attempt, is_write=is_write)

    def text(self, name: str) -> str | None:
        return self._do(lambda: self.rows.text(name))  # type: ignore[return-value]  # as it is

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        return self._do(lambda: self.rows.texts(names))  # type: ignore[return-value]  # as it is

    def names(self):  # type: ignore[no-untyped-def]  # as `MemoryRows` has it
        return self.rows.names()

    def count_replies(self) -> int:
        return self.rows.count_replies()

    def write(self, rows: Mapping[str, str]) -> None:
        self.n_written.append(len(rows))
        self._do(lambda: self.rows.write(rows), is_write=True)

    def remove(self, names: Sequence[str]) -> None:
        self.rows.remove(names)

    def clear(self) -> None:
        self.rows.clear()

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        self._do(lambda: self.rows.add_counts(text_of), is_write=True)

    def close(self) -> None:
        """Nothing to close."""

    def lock(self, holder: str, *keys: str) -> bool:
        if len(keys) > 1:
            self.renewed.append(set(keys))
            self.has_renewed.set()
        return bool(
            self._do(lambda: [k for k in keys if self.held.setdefault(k, holder) == holder])
        )

    def unlock(self, key: str, holder: str) -> None:
        self._do(lambda: self.held.pop(key, None) if self.held.get(key) == holder else None)

    def is_lost(self, error: Exception) -> bool:
        return isinstance(error, LostError)


def cache_on(server: FakeServer) -> SharedCache:
    return SharedCache(server, CacheUrl("fake://here", "fake://here"), read_only=False)


def test_locks_of_one_server_exclude_each_other_and_end_when_they_are_closed() -> None:
    server = FakeServer()
    one, other = ServerKeyLocks(server), ServerKeyLocks(server)
    assert one.try_acquire(KEY)
    assert not one.try_acquire(KEY)
    assert not other.try_acquire(KEY)
    one.close()
    assert other.try_acquire(KEY)
    other.release(KEY)
    assert server.held == {}
    other.close()


def test_what_is_merged_goes_to_a_server_in_parts_that_it_takes() -> None:
    server, local = FakeServer(), MemoryCache()
    local.restore([
        CacheEntry(one.key, one.key_parts, make_reply(), "2026-01-02T00:00:00+00:00")
        for one in map(make_request, map(str, range(600)))
    ])  # fmt: skip
    with cache_on(server) as cache:
        assert copy_entries(cache, local, "local").n_added == 600
    assert sum(server.n_written) == 1200
    # A server takes a gigabyte at once; a long trace and its judgment are a megabyte or two.
    assert max(server.n_written) <= 500


def test_all_locks_are_renewed_with_one_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_cache, "LOCK_S", 0.04)
    server = FakeServer()
    locks, keys = ServerKeyLocks(server), {make_request(str(n)).key for n in range(5)}
    assert all(map(locks.try_acquire, keys))
    server.has_renewed.clear()
    assert server.has_renewed.wait(5)
    assert server.renewed[-1] == keys
    locks.close()
    assert server.held == {}


def test_a_lost_server_is_tried_again_and_then_not_for_a_while() -> None:
    server = FakeServer()
    server.is_up = False
    with pytest.raises(StoreError, match="fake://here cannot be reached: refused") as found:
        server.text(KEY)
    assert found.value.is_incomplete
    assert server.n_tried == 2
    with pytest.raises(StoreError):
        server.text(KEY)
    assert server.n_tried == 3


def test_a_reply_that_a_lost_server_does_not_take_is_saved_and_served(folder: Path) -> None:
    server = FakeServer()
    cache = cache_on(server)
    server.is_up = False
    with (
        pytest.warns(CacheWarning, match=r"are saved in [\s\S]*the next command that uses"),
        pytest.raises(StoreError, match=r"cannot be reached[\s\S]*was saved in") as found,
    ):
        cache.put(make_request(), make_reply())
    assert found.value.is_incomplete
    (file,) = (folder / ".judgekit" / "unwritten").rglob("emergency-*.jsonl")
    assert [mode.stat().st_mode & 0o777 for mode in (file, file.parent)] == [0o600, 0o700]
    with MemoryCache() as memory:
        import_entries(memory, file)
        assert KEY in memory
    server.is_up = True
    assert cache.get(KEY) is not None
    cache.close()


async def test_a_process_that_outlived_its_lock_leaves_the_reply_of_the_next_holder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cached_model, "_LOCK_MAY_END_S", 0.0)
    server, late = FakeServer(), CountingModel(make_reply("late", cost_usd=0.75))
    late.may_answer.clear()
    suspended = asyncio.ensure_future(CachedModel(late, cache_on(server)).complete(make_request()))
    await late.was_asked.wait()
    server.held.clear()  # the lock of a process that is suspended ends by itself
    other = CachedModel(CountingModel(make_reply("first")), cache_on(server))
    await other.complete(make_request())
    late.may_answer.set()
    reply = await suspended
    assert (reply.text, reply.cost_usd, reply.cached) == ("first", 0.75, False)
    assert (await other.complete(make_request())).text == "first"


async def test_calls_in_flight_are_stored_before_a_lost_server_ends_the_run() -> None:
    server = FakeServer()
    cache = cache_on(server)
    model = CountingModel()
    model.may_answer.clear()
    cached = CachedModel(model, cache)
    paid = asyncio.ensure_future(cached.complete(make_request()))
    await model.was_asked.wait()
    server.is_up = False
    refused = asyncio.ensure_future(cached.complete(make_request("other")))
    await asyncio.sleep(0)
    assert not refused.done(), "it waits for the call that is paid for"
    model.may_answer.set()
    with pytest.warns(CacheWarning, match="are saved in"):
        done = await asyncio.gather(paid, refused, return_exceptions=True)
    assert [type(one) for one in done] == [StoreError, StoreError]
    assert model.asked == [KEY]
    assert cached.cached_replies([make_request("third")]) == [None]
    assert [path.name[:9] for path in cache.unwritten.files()] == ["emergency"]


def test_who_may_only_read_holds_no_leases_and_counts_nothing() -> None:
    server = FakeServer()
    server.read_only_because = "this user may not write to it"
    with pytest.warns(CacheWarning, match=r"cannot be written \(this user may not write to it\)"):
        cache = cache_on(server)
    assert cache.try_lease(KEY)
    assert server.held == {}
    cache.count_miss()
    with pytest.warns(CacheWarning, match="replies of|are saved in"):
        cache.put(make_request(), make_reply())
    cache.close()
    assert server.rows.count_replies() == 0


def test_a_waiting_file_that_another_process_took_away_meanwhile_is_passed_over() -> None:
    unwritten = cache_on(FakeServer()).unwritten
    waiting = unwritten._folder
    waiting.mkdir(parents=True)
    (waiting / "emergency-1.jsonl").touch()
    (waiting / "emergency-2.jsonl").symlink_to("gone")  # listed, and not there when it is read
    assert unwritten.files() == [waiting / "emergency-1.jsonl"]
