from __future__ import annotations

import io
import json
import stat
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import DatasetError, SettingsError, StoreError
from judgekit.judge import Judge
from judgekit.models.cache import (
    DiskCache,
    MemoryCache,
    export_entries,
    import_entries,
    merge_caches,
)
from judgekit.models.cache.admin import copy_entries
from judgekit.models.cache.entries import request_row
from judgekit.models.request import ModelReply
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_output, make_rubric, reply
from tests.models.cache.buying import make_reply, make_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.models.cache import ReplyCache

KEY = make_request("0").key


def cache_of(n_entries: int, text: str = "same") -> MemoryCache:
    """A cache of so many entries, bought at one known moment."""
    cache = MemoryCache(now=lambda: datetime(2026, 1, 2, tzinfo=UTC))
    for number in reversed(range(n_entries)):
        cache.put(make_request(str(number)), make_reply(text))
    return cache


def texts(cache: ReplyCache) -> list[str | None]:
    return [entry.reply.text for entry in map(cache.entry, cache.keys()) if entry is not None]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    path = tmp_path / "replies.jsonl"
    export_entries(cache_of(3), path)
    return path


def test_an_export_is_sorted_ascii_and_private(exported: Path) -> None:
    lines = exported.read_bytes().decode("ascii").splitlines()
    keys = [json.loads(line)["key"] for line in lines]
    assert keys == sorted(keys)
    assert len(keys) == 3
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_an_export_may_be_packed(exported: Path, tmp_path: Path, suffix: str) -> None:
    packed, again = tmp_path / f"a.jsonl{suffix}", tmp_path / f"b.jsonl{suffix}"
    export_entries(cache_of(3), packed)
    with DiskCache(tmp_path / "cache") as other:
        assert import_entries(other, packed).n_added == 3
        export_entries(other, again)
        assert export_entries(other, tmp_path / "plain.jsonl").n_entries == 3
    assert packed.read_bytes() == again.read_bytes()
    assert (tmp_path / "plain.jsonl").read_bytes() == exported.read_bytes()
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(DatasetError, match="damaged"):
        import_entries(cache_of(0), packed)


def test_a_packed_export_names_the_extra_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    with pytest.raises(SettingsError, match=r"a \.zst file needs backports\.zstd") as caught:
        export_entries(cache_of(1), tmp_path / "a.jsonl.zst")
    assert "[zstd]" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_same_replies_are_the_same_bytes(exported: Path, tmp_path: Path) -> None:
    with DiskCache(tmp_path / "cache") as other:
        import_entries(other, exported)
        export_entries(other, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == exported.read_bytes()


def test_an_export_can_go_to_a_stream(exported: Path) -> None:
    stream = io.StringIO()
    assert export_entries(cache_of(3), stream).n_entries == 3
    assert stream.getvalue() == exported.read_text()


def test_a_failed_export_leaves_the_old_file(exported: Path) -> None:
    class BreakingCache(MemoryCache):
        def keys(self) -> Iterator[str]:
            raise StoreError("cannot read the keys")

    cache = BreakingCache()
    cache.put(make_request(), make_reply())
    before = exported.read_bytes()
    with pytest.raises(StoreError, match="cannot read"):
        export_entries(cache, exported)
    assert exported.read_bytes() == before
    assert list(exported.parent.iterdir()) == [exported]


def test_what_cannot_be_exported_is_named() -> None:
    cache = cache_of(3)
    cache._rows.write({KEY: "garbage", request_row(make_request("1").key): "{}"})
    report = export_entries(cache, io.StringIO())
    assert report.n_entries == 1
    assert sorted(each[:64] for each in report.skipped) == sorted([KEY, make_request("1").key])
    assert any("request is lost" in each for each in report.skipped)


def test_rejected_replies_are_exported_and_merged_and_replaced_ones_on_request(
    tmp_path: Path,
) -> None:
    cache, other, merged = cache_of(1), MemoryCache(), MemoryCache()
    for text in ("cut", "cut again"):
        cache.put_rejected(make_request("r"), make_reply(text, finish_reason="length"))
    cache.put_rejected(make_request("0"), make_reply("replaced", finish_reason="length"))
    path = tmp_path / "all.jsonl"
    assert export_entries(cache, io.StringIO(), rejected=True).n_entries == 4
    assert export_entries(cache, path).n_entries == 3
    assert copy_entries(merged, cache, "elsewhere").n_added == 4
    assert copy_entries(merged, cache, "elsewhere").n_same == 4
    assert import_entries(other, path).n_added == 3
    assert import_entries(other, path).n_same == 3
    assert [each.reply.text for each in other.rejected(make_request("r").key)] == [
        "cut",
        "cut again",
    ]
    assert make_request("r").key not in other


def test_imported_entries_say_where_they_come_from(exported: Path) -> None:
    cache = MemoryCache()
    report = import_entries(cache, exported)
    entry = cache.entry(KEY)
    assert (report.n_added, report.n_same, report.conflicts) == (3, 0, ())
    assert entry is not None
    assert (entry.imported, entry.created_at) == ("replies.jsonl", "2026-01-02T00:00:00.000+00:00")
    assert KEY in cache


def test_importing_twice_changes_nothing(exported: Path) -> None:
    cache = cache_of(3)
    report = import_entries(cache, exported)
    entry = cache.entry(KEY)
    assert (report.n_added, report.n_same) == (0, 3)
    assert entry is not None
    assert entry.imported is None


def test_another_answer_is_kept_unless_told_otherwise(exported: Path) -> None:
    cache = cache_of(3, text="mine")
    report = import_entries(cache, exported)
    assert sorted(report.conflicts) == list(cache.keys())
    assert texts(cache) == ["mine"] * 3
    report = import_entries(cache, exported, overwrite=True)
    assert report.n_overwritten == 3
    assert texts(cache) == ["same"] * 3


def test_a_damaged_entry_is_replaced_by_an_import(exported: Path) -> None:
    cache = cache_of(3)
    cache._rows.write({KEY: "garbage"})
    assert import_entries(cache, exported).n_added == 1
    assert KEY in cache


def test_an_unsound_line_stops_the_import_before_it_begins(exported: Path) -> None:
    lines = exported.read_text().splitlines()
    exported.write_text("\n".join([*lines[:2], "", lines[2].replace("same", "fake")]))
    cache = MemoryCache()
    with pytest.raises(DatasetError, match=r"replies.jsonl:4: the checksum") as caught:
        import_entries(cache, exported)
    assert caught.value.line == 4
    assert len(cache) == 0


def test_sound_lines_are_imported_when_told_to_skip(exported: Path) -> None:
    foreign = b'{"case_id": "a", "text": "b"}\n\xff\xfe\n'
    exported.write_bytes(foreign + exported.read_bytes())
    cache = MemoryCache()
    report = import_entries(cache, exported, on_error="skip")
    assert report.n_added == 3
    assert [f"replies.jsonl:{n}:" in report.problems[n - 1] for n in (1, 2)] == [True, True]
    assert "not UTF-8" in report.problems[1]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"none\.jsonl: there is no such file"):
        import_entries(MemoryCache(), tmp_path / "none.jsonl")


def test_one_key_with_two_answers_in_one_file_is_a_conflict(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    with path.open("w") as file:
        export_entries(cache_of(1, "first"), file)
        export_entries(cache_of(1, "second"), file)
    cache = MemoryCache()
    assert import_entries(cache, path).conflicts == (KEY,)
    assert texts(cache) == ["first"]


def test_many_entries_pass_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    export_entries(cache_of(1100), path)
    cache = MemoryCache()
    assert import_entries(cache, path).n_added == 1100
    assert len(cache) == 1100


def test_merging_takes_files_and_folders_in_order(exported: Path, tmp_path: Path) -> None:
    with DiskCache(tmp_path / "theirs") as theirs:
        theirs.put(make_request("0"), make_reply("other"))
        theirs.put(make_request("9"), make_reply("new"))
        theirs.put(make_request("8"), make_reply("damaged"))
        theirs.put(make_request("7"), make_reply("without a request"))
        theirs._rows.write({make_request("8").key: "x", request_row(make_request("7").key): "{}"})
    cache = MemoryCache()
    report = merge_caches(cache, [exported, tmp_path / "theirs"])
    assert (report.n_added, report.conflicts) == (4, (KEY,))
    assert len(report.problems) == 2
    entry = cache.entry(make_request("9").key)
    assert entry is not None
    assert entry.imported == "theirs"


def test_what_a_retry_obtained_is_found_in_the_cache_it_was_merged_into(tmp_path: Path) -> None:
    cut = ModelReply(text='{"rationale": "It was', finish_reason="length")
    model, team = ScriptedModel([cut, reply(4)]), MemoryCache()
    outputs = make_case(), make_output(), make_rubric("accuracy")
    with DiskCache(tmp_path / "mine") as mine:
        assert Judge(model, cache=mine).grade_sync(*outputs).failures == ()
    for n_added, n_same in ((2, 0), (0, 2)):
        merged = merge_caches(team, [tmp_path / "mine"])
        assert (merged.n_added, merged.n_same) == (n_added, n_same)
    frozen = Judge(model, cache=team, frozen=True).grade_sync(*outputs)
    assert [one.raw for one in frozen.judgments] == [4]


def test_a_folder_without_a_cache_cannot_be_merged(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no cache"):
        merge_caches(MemoryCache(), [tmp_path])


def test_an_entry_forgotten_meanwhile_is_left_out() -> None:
    class ForgettingCache(MemoryCache):
        def keys(self) -> Iterator[str]:
            for key in [*super().keys()]:
                self.delete(key)
                yield key

    cache = ForgettingCache()
    cache.put(make_request(), make_reply())
    assert export_entries(cache, io.StringIO()).n_entries == 0
