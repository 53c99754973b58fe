from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from judgekit.models.cache import CacheWarning, DiskCache, MemoryCache, ReplyCache
from judgekit.models.cache.entries import (
    COUNTS_ROW,
    CacheCounts,
    WriteFailedError,
    rejected_row,
    request_row,
)
from judgekit.models.cache.reply_cache import FLUSH_EVERY, LocalKeyLocks
from judgekit.models.cache.sql_rows import MemoryRows
from tests.models.cache.buying import make_reply, make_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY = make_request().key


class FailingRows(MemoryRows):
    """Rows on a disk that is full."""

    def write(self, rows: object) -> None:
        raise WriteFailedError(f"no room for {rows!r:.20}")

    def add_counts(self, text_of: object) -> None:
        raise WriteFailedError(f"no room for {text_of!r:.20}")


@pytest.fixture(params=["memory", "disk"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ReplyCache]:
    opened: ReplyCache
    if request.param == "memory":
        opened = MemoryCache(now=lambda: NOON)
    else:
        opened = DiskCache(tmp_path / "cache", now=lambda: NOON)
    with opened:
        yield opened


def kept_over(rows: MemoryRows) -> ReplyCache:
    return ReplyCache(rows, LocalKeyLocks())


def test_a_reply_comes_back_marked_as_cached(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply())
    found = cache.get(KEY)
    assert found == make_reply().model_copy(update={"cached": True, "key": KEY})


def test_several_replies_come_back_at_once(cache: ReplyCache) -> None:
    requests = [make_request(str(n)) for n in range(3)]
    for request in requests[:2]:
        cache.put(request, make_reply(f"about {request.key[:4]}"))
    found = cache.get_many([request.key for request in [*requests, requests[0]]])
    assert found == {request.key: cache.get(request.key) for request in requests[:2]}
    assert cache.get_many([]) == {}
    assert cache.counts().n_hits == 0


def test_an_unknown_key_is_none(cache: ReplyCache) -> None:
    assert cache.get(KEY) is None
    assert cache.entry(KEY) is None
    assert cache.request_parts(KEY) is None
    assert KEY not in cache
    assert len(cache) == 0


def test_an_entry_holds_what_was_asked_and_when(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply())
    entry = cache.entry(KEY)
    assert entry is not None
    assert entry.request == make_request().key_parts
    assert entry.created_at == "2026-11-21T12:00:00.000+00:00"
    assert entry.imported is None


def test_a_later_reply_replaces_an_earlier_one(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply("old"))
    cache.put(make_request(), make_reply("new"))
    found = cache.get(KEY)
    assert found is not None
    assert found.text == "new"
    assert len(cache) == 1


def test_keys_are_sorted_and_only_those_that_are_served(cache: ReplyCache) -> None:
    requests = [make_request(str(n)) for n in range(1200)]
    for request in requests[:20]:
        cache.put(request, make_reply())
    cache.put_rejected(requests[20], make_reply("", finish_reason="length"))
    assert list(cache.keys()) == sorted(request.key for request in requests[:20])
    assert len(cache) == 20


def test_what_may_not_be_served_is_refused_by_put(cache: ReplyCache) -> None:
    with pytest.raises(ValueError, match="'length' may not be served"):
        cache.put(make_request(), make_reply(finish_reason="length"))


def test_every_rejected_reply_is_kept_and_none_is_served(cache: ReplyCache) -> None:
    for text in ("cut", "cut again", None):
        cache.put_rejected(make_request(), make_reply(text, finish_reason="length"))
    assert cache.get(KEY) is None
    assert [each.reply.text for each in cache.rejected(KEY)] == ["cut", "cut again", None]
    assert list(cache.rejected_keys()) == [KEY]
    assert cache.request_parts(KEY) == make_request().key_parts


def test_deleting_leaves_rejected_replies_and_the_other_way_round(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply())
    cache.put_rejected(make_request(), make_reply(finish_reason="length"))
    assert cache.delete(KEY)
    assert not cache.delete(KEY)
    assert cache.request_parts(KEY) is not None
    assert cache.forget_rejected(KEY) == 1
    assert cache.forget_rejected(KEY) == 0
    assert cache.request_parts(KEY) is None


def test_forgetting_rejected_replies_leaves_the_served_one(cache: ReplyCache) -> None:
    cache.put_rejected(make_request(), make_reply(finish_reason="length"))
    cache.put(make_request(), make_reply())
    assert cache.forget_rejected(KEY) == 1
    entry = cache.entry(KEY)
    assert entry is not None
    assert entry.request is not None


def test_deleting_a_reply_deletes_its_request(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply())
    assert cache.delete(KEY)
    assert cache.request_parts(KEY) is None


def test_restored_entries_keep_their_time_and_origin(cache: ReplyCache) -> None:
    source = MemoryCache()
    source.put(make_request(), make_reply())
    source.put_rejected(make_request("b"), make_reply(finish_reason="length"))
    source.put_rejected(make_request("b"), make_reply("x", finish_reason="length"))
    entry = source.entry(KEY)
    assert entry is not None
    cache.restore([entry, *source.rejected(make_request("b").key)])
    assert cache.entry(KEY) == entry
    assert len(cache.rejected(make_request("b").key)) == 2


def test_counts_are_summed(cache: ReplyCache) -> None:
    cache.count_miss()
    cache.count_hit(make_reply())
    cache.count_hit(make_reply(cost_usd=None, duration_ms=None))
    assert cache.counts() == CacheCounts(
        n_hits=2, n_misses=1, saved_usd=0.25, n_unpriced_hits=1, saved_ms=800.0
    )


def test_counts_are_written_every_so_often() -> None:
    rows = MemoryRows()
    cache = kept_over(rows)
    for _ in range(FLUSH_EVERY - 1):
        cache.count_hit(make_reply())
    assert rows.text(COUNTS_ROW) is None
    cache.count_hit(make_reply())
    assert rows.text(COUNTS_ROW) is not None
    assert cache.counts().n_hits == FLUSH_EVERY


def test_clearing_forgets_entries_and_counts(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply())
    cache.put_rejected(make_request(), make_reply(finish_reason="length"))
    cache.count_hit(make_reply())
    cache.clear()
    assert len(cache) == 0
    assert list(cache.rejected_keys()) == []
    assert cache.counts() == CacheCounts()


def test_a_lease_is_held_by_one_at_a_time(cache: ReplyCache) -> None:
    assert cache.try_lease(KEY)
    assert not cache.try_lease(KEY)
    cache.release(KEY)
    assert cache.try_lease(KEY)
    cache.release(KEY)


def test_a_sound_cache_has_no_problems(cache: ReplyCache) -> None:
    cache.put(make_request(), make_reply())
    assert cache.problems() == ()


def test_a_damaged_entry_is_a_miss_until_the_next_reply() -> None:
    rows = MemoryRows()
    cache = kept_over(rows)
    cache.put(make_request(), make_reply())
    rows.write({KEY: (rows.text(KEY) or "").replace("score", "scare")})
    with pytest.warns(CacheWarning, match="damaged and counts as a miss"):
        assert cache.get(KEY) is None
    cache.put(make_request(), make_reply())
    assert cache.get(KEY) is not None


def test_swapped_rows_are_misses() -> None:
    rows = MemoryRows()
    cache = kept_over(rows)
    one, other = make_request("one"), make_request("other")
    cache.put(one, make_reply("1"))
    cache.put(other, make_reply("2"))
    rows.write({one.key: rows.text(other.key) or "", other.key: rows.text(one.key) or ""})
    for request in (one, other):
        with pytest.warns(CacheWarning, match="another entry"):
            assert cache.get(request.key) is None


def test_a_reply_outlives_its_lost_request() -> None:
    rows = MemoryRows()
    cache = kept_over(rows)
    cache.put(make_request(), make_reply())
    rows.write({request_row(KEY): "{}"})
    assert cache.get(KEY) is not None
    entry = cache.entry(KEY)
    assert entry is not None
    assert entry.request is None


def test_among_several_a_damaged_entry_is_a_miss_of_its_own() -> None:
    rows = MemoryRows()
    cache = kept_over(rows)
    requests = [make_request(str(n)) for n in range(3)]
    for request in requests:
        cache.put(request, make_reply())
    rows.write({requests[1].key: "altered"})
    with pytest.warns(CacheWarning, match=f"{requests[1].key[:12]} is damaged and counts as a"):
        found = cache.get_many([request.key for request in requests])
    assert list(found) == [requests[0].key, requests[2].key]


def test_a_damaged_rejected_reply_is_left_out_with_a_warning() -> None:
    rows = MemoryRows()
    cache = kept_over(rows)
    rows.write({rejected_row(KEY, 0): "garbage"})
    with pytest.warns(CacheWarning, match="rejected reply"):
        assert cache.rejected(KEY) == ()


@pytest.mark.parametrize(
    "note", ["garbage", "{}", "[1]", '{"n_hits": "x"}', '{"n_hits": Infinity}', "null"]
)
def test_a_damaged_note_of_savings_begins_again(note: str) -> None:
    rows = MemoryRows()
    rows.write({COUNTS_ROW: note})
    with pytest.warns(CacheWarning, match="begin again from zero"):
        assert kept_over(rows).counts() == CacheCounts()


def test_an_infinite_saving_is_not_believed() -> None:
    rows = MemoryRows()
    note = '{"n_hits":1,"n_misses":1,"saved_usd":NaN,"n_unpriced_hits":0,"saved_ms":0}'
    rows.write({COUNTS_ROW: note})
    with pytest.warns(CacheWarning, match="begin again from zero"):
        assert kept_over(rows).counts() == CacheCounts()


def test_without_a_rescue_a_failed_write_is_an_error() -> None:
    with pytest.raises(WriteFailedError, match="no room"):
        kept_over(FailingRows()).put(make_request(), make_reply())


def test_counts_that_cannot_be_written_are_a_warning() -> None:
    cache = kept_over(FailingRows())
    cache.count_miss()
    with pytest.warns(CacheWarning, match="counts of the cache could not be written"):
        cache.close()


def test_an_entry_can_be_restored_without_its_request(cache: ReplyCache) -> None:
    source = MemoryCache()
    source.put(make_request(), make_reply())
    entry = source.entry(KEY)
    assert entry is not None
    cache.restore([replace(entry, request=None)])
    assert KEY in cache
    assert cache.request_parts(KEY) is None
