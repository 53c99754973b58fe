from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import UnknownNameError
from judgekit.models.cache import CacheEntry, DiskCache, MemoryCache, find_cache_key
from judgekit.models.cache.admin import cache_stats, list_entries, prune_cache, verify_cache
from judgekit.models.cache.entries import encode_entry, request_row
from tests.models.cache.buying import make_reply, make_request, random_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def cache() -> MemoryCache:
    """Four entries bought a day apart, the last two of another model, and a rejected one."""
    days = iter(range(10))
    kept = MemoryCache(now=lambda: START + timedelta(days=next(days)))
    for text in ("refund", "Delivery"):
        kept.put(make_request(text), make_reply())
    for text in ("refund", "tone"):
        kept.put(make_request(text, model="openai/large"), make_reply("Fine, I say"))
    kept.put_rejected(make_request("cut"), make_reply(finish_reason="length"))
    return kept


def days(entries: object) -> list[str]:
    assert hasattr(entries, "__iter__")
    return sorted(entry.created_at[8:10] for entry in entries)


def test_stats_count_what_is_there(cache: MemoryCache) -> None:
    cache.count_hit(make_reply())
    found = cache_stats(cache)
    assert (found.n_entries, found.n_rejected, found.n_bytes) == (4, 1, None)
    assert found.saved.saved_usd == 0.25


def test_stats_on_disk_have_a_size(tmp_path: Path) -> None:
    with DiskCache(tmp_path / "cache") as cache:
        cache.put(make_request(), make_reply(random_text(100_000)))
        assert (cache_stats(cache).n_bytes or 0) > 100_000


def test_everything_is_listed_in_order_of_keys(cache: MemoryCache) -> None:
    assert [entry.key for entry in list_entries(cache)] == list(cache.keys())


def test_filters_narrow_the_list(cache: MemoryCache) -> None:
    assert days(list_entries(cache, model="openai/large")) == ["03", "04"]
    assert days(list_entries(cache, since=START + timedelta(days=2))) == ["03", "04"]
    assert days(list_entries(cache, since=datetime(2026, 1, 4))) == ["04"]  # noqa: DTZ001 - no zone
    assert days(list_entries(cache, contains="DELIVERY")) == ["02"]
    assert days(list_entries(cache, contains="fine, i")) == ["03", "04"]
    assert days(list_entries(cache, contains="refund", model="openai/large")) == ["03"]


def test_an_entry_without_its_request_is_listed_and_fits_no_model(cache: MemoryCache) -> None:
    cache._rows.write({request_row(make_request("refund").key): "{}"})
    assert days(list_entries(cache)) == ["01", "02", "03", "04"]
    assert days(list_entries(cache, contains="refund")) == ["03"]
    assert days(list_entries(cache, model="openai/small")) == ["02"]


def test_a_sound_cache_verifies(cache: MemoryCache) -> None:
    report = verify_cache(cache)
    assert report.is_sound
    assert report.n_sound == 4


def test_each_kind_of_damage_is_found(cache: MemoryCache) -> None:
    altered, lost = make_request("refund").key, make_request("Delivery").key
    planted = make_request("tone", model="openai/large").key
    entry = CacheEntry(
        key=planted,
        request=None,
        reply=make_reply(finish_reason="length"),
        created_at="2026-01-01",
        rejected=True,
    )
    cache._rows.write({altered: "x", request_row(lost): "{}", planted: encode_entry(entry)})
    report = verify_cache(cache)
    assert not report.is_sound
    assert report.n_sound == 1
    assert {key: reason.split()[1] for key, reason in report.damaged} == {
        altered: "checksum",
        lost: "reply",
        planted: "reply",
    }
    assert planted not in [each.key for each in list_entries(cache)]


def test_an_entry_forgotten_meanwhile_is_no_damage() -> None:
    class ForgettingCache(MemoryCache):
        def keys(self) -> Iterator[str]:
            for key in [*super().keys()]:
                self.delete(key)
                yield key

    cache = ForgettingCache()
    cache.put(make_request(), make_reply())
    assert verify_cache(cache).is_sound
    assert list(list_entries(cache)) == []


def test_pruning_forgets_rejected_replies_alone_by_default(cache: MemoryCache) -> None:
    assert prune_cache(cache) == 1
    assert (cache_stats(cache).n_entries, cache_stats(cache).n_rejected) == (4, 0)


def test_pruning_by_time_and_model_needs_both(cache: MemoryCache) -> None:
    before = START + timedelta(days=3)
    assert prune_cache(cache, before=before, model="openai/large", rejected=False) == 1
    assert days(list_entries(cache)) == ["01", "02", "04"]
    assert cache_stats(cache).n_rejected == 1


def test_pruning_by_time(cache: MemoryCache) -> None:
    assert prune_cache(cache, before=START + timedelta(days=1)) == 2
    assert days(list_entries(cache)) == ["02", "03", "04"]


def test_pruning_passes_over_damaged_entries(cache: MemoryCache) -> None:
    cache._rows.write({make_request("refund").key: "x"})
    assert prune_cache(cache, model="openai/small", rejected=False) == 1


def test_a_key_is_found_by_its_first_digits(cache: MemoryCache) -> None:
    key = make_request("refund").key
    assert find_cache_key(cache, key[:16]) == key
    assert find_cache_key(cache, key) == key
    assert find_cache_key(cache, make_request("cut").key[:16]) == make_request("cut").key


@pytest.mark.parametrize("prefix", ["", "zz", "0" * 64])
def test_digits_of_no_key_or_of_many_are_an_error(cache: MemoryCache, prefix: str) -> None:
    with pytest.raises(UnknownNameError, match="one cached reply"):
        find_cache_key(cache, prefix)
