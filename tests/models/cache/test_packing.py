"""Rows are packed on disk: nothing is lost by it, whatever wrote the cache and whatever breaks."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

import judgekit as jk
from judgekit.fingerprint import canonical_json
from judgekit.models.cache import DiskCache, sql_rows
from judgekit.models.cache.disk_cache import DiskcacheRows
from judgekit.models.cache.entries import (
    CacheEntry,
    DamagedEntryError,
    WriteFailedError,
    encode_entry,
    request_row,
)
from judgekit.models.cache.sql_rows import MemoryRows, recover_rows
from tests.factories import make_case, make_output, reply
from tests.models.cache.buying import make_reply, make_request, random_text

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.models.request import ModelRequest

KEY = "ab" * 32
TEMPLATE = "Judge the answer by the rules that follow, and say why in a sentence or two. " * 12
# Words of which a hundred make a text.
WORDS = ("the", "answer", "names", "a", "city", "that", "was", "chosen", "between", "two", "others")


def ordinary(number: int) -> str:
    """A text of a hundred words that no other case has."""
    words = [WORDS[(number * place) % len(WORDS)] + str(number % 7) for place in range(100)]
    return f"{number} {' '.join(words)}"


def request_of(number: int) -> ModelRequest:
    return make_request(f"{TEMPLATE}\n{ordinary(number)}")


def rows_of(folder: Path) -> dict[str, object]:
    with closing(sqlite3.connect(folder / "cache.db")) as database:
        return dict(database.execute("SELECT key, value FROM Cache WHERE key != 'counts'"))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A cache of 1,200 replies as a release before packing wrote it: plain text in every row."""
    folder = tmp_path / "old"
    DiskCache(folder).close()
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        database.execute("PRAGMA user_version = 0")
        for number in range(1200):
            request = request_of(number)
            entry = CacheEntry(
                request.key, request.key_parts, make_reply(f"{number}"), "2026-01-02T03:04:05+00:00"
            )
            texts = {
                entry.key: encode_entry(entry),
                request_row(entry.key): canonical_json(entry.request),
            }
            for name, text in texts.items():
                database.execute(
                    "INSERT INTO Cache (key, raw, store_time, access_time, mode, value, size)"
                    " VALUES (?, 1, 1, 1, 1, ?, 0)",
                    (name, text),
                )
    return folder


def check_all(folder: Path) -> None:
    """Every key of the old cache still gives its reply and its request."""
    with DiskCache(folder) as cache:
        found = cache.get_many([request_of(number).key for number in range(1200)])
        assert [each.text for each in found.values()] == [str(number) for number in range(1200)]
        for number in (0, 600, 1199):
            request = request_of(number)
            assert cache.request_parts(request.key) == request.key_parts
            assert (one := cache.get(request.key)) is not None
            assert one.text == str(number)


@given(st.text(), st.lists(st.text(max_size=30), max_size=4))
def test_every_text_comes_back(text: str, more: list[str]) -> None:
    rows = MemoryRows()
    texts = {f"{number:064x}:request": one * 40 for number, one in enumerate(more)}
    texts[KEY] = text
    rows.write(texts)
    assert rows.texts(list(texts)) == texts
    assert {name: rows.text(name) for name in texts} == texts


def test_a_reply_of_ordinary_size_takes_a_kilobyte_and_a_half(tmp_path: Path) -> None:
    criteria = [
        jk.Criterion(name=name, question=f"Is the answer {name}?", scale="one_to_five")
        for name in ("accurate", "complete", "polite")
    ]
    rubric = jk.Rubric(name="support", criteria=criteria)
    grader = jk.Judge("openai/any", cache=None)._grader
    n_replies = n_plain = 0
    with DiskCache(tmp_path) as cache:
        for number in range(200):
            case = make_case(id=f"c{number}", input=ordinary(number))
            for question in grader.questions(case, make_output(ordinary(number + 1)), rubric):
                why = f"It says {ordinary(number)[:200]}."
                text = reply(1 + number % 5, rationale=why, evidence=[ordinary(number)[:60]])
                cache.put(question.request, make_reply(text))
                n_replies += 1
                n_plain += len(canonical_json(question.request.key_parts)) + len(text)
    n_bytes = (tmp_path / "cache.db").stat().st_size
    assert n_plain / n_replies > 2600
    assert n_bytes / n_replies <= 1500


def test_a_cache_of_an_older_release_is_packed_when_it_is_opened(old: Path) -> None:
    n_before = (old / "cache.db").stat().st_size
    check_all(old)
    assert {type(value) for value in rows_of(old).values()} == {bytes}
    assert (old / "cache.db").stat().st_size < n_before / 2
    check_all(old)


@pytest.mark.parametrize("n_pages", [0, 1, 2])
@pytest.mark.parametrize("fault", [KeyboardInterrupt(), WriteFailedError("disk is full")])
def test_a_kill_or_a_full_disk_while_a_cache_is_packed_loses_nothing(
    old: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException, n_pages: int
) -> None:
    change, left = DiskcacheRows.change, [n_pages]

    def failing(self: DiskcacheRows, action: sql_rows.Action) -> None:
        if left[0] == 0:
            raise fault
        left[0] -= 1
        change(self, action)

    with monkeypatch.context() as patch:
        patch.setattr(DiskcacheRows, "change", failing)
        if isinstance(fault, WriteFailedError):
            check_all(old)  # a cache that could not be packed is served as it is
        else:
            with pytest.raises(KeyboardInterrupt):
                DiskCache(old)
    n_packed = sum(isinstance(value, bytes) for value in rows_of(old).values())
    assert (n_packed > 0) is (n_pages > 0)
    check_all(old)
    assert {type(value) for value in rows_of(old).values()} == {bytes}


def test_rows_that_another_process_writes_meanwhile_stay(old: Path) -> None:
    name = request_of(3).key
    with closing(DiskcacheRows(old)) as rows:
        page = rows._ask(sql_rows._SELECT_PLAIN, ("",))
        assert page
        rows.write({name: "newer"})
        rows.pack_plain()
        assert rows.text(name) == "newer"


def test_without_the_text_they_share_requests_are_lost_and_replies_are_not(tmp_path: Path) -> None:
    with DiskCache(tmp_path) as cache:
        for number in range(3):
            cache.put(request_of(number), make_reply(str(number)))
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database, database:
        assert database.execute("DELETE FROM Cache WHERE key LIKE 'shared:%'").rowcount == 1
    with DiskCache(tmp_path) as cache:
        assert [cache.get(request_of(number).key).text for number in range(3)] == ["0", "1", "2"]  # type: ignore[union-attr]
        assert cache.request_parts(request_of(1).key) is None


def test_what_is_stored_after_a_clearing_can_be_read(tmp_path: Path) -> None:
    with DiskCache(tmp_path) as cache, DiskCache(tmp_path) as other:
        cache.put(request_of(0), make_reply())
        other.clear()
        cache.put(request_of(1), make_reply())
    with DiskCache(tmp_path) as cache:
        assert cache.request_parts(request_of(1).key) == request_of(1).key_parts


def test_a_later_process_packs_with_what_an_earlier_one_stored(tmp_path: Path) -> None:
    for number in range(6):
        with DiskCache(tmp_path) as cache:
            cache.put(request_of(number), make_reply())
    assert sum(name.startswith("shared:") for name in rows_of(tmp_path)) == 1


def test_long_texts_that_share_nothing_are_rarely_stored_for_others(tmp_path: Path) -> None:
    with DiskCache(tmp_path) as cache:
        for number in range(64):
            cache.put(make_request(f"{number}{random_text(4000)}"[:: 1 + number % 3]), make_reply())
    assert sum(name.startswith("shared:") for name in rows_of(tmp_path)) <= 4 + 64 // 16


def test_packed_rows_of_a_damaged_file_are_recovered(tmp_path: Path) -> None:
    with DiskCache(tmp_path) as cache:
        for number in range(3):
            cache.put(request_of(number), make_reply(str(number)))
    found = dict(recover_rows(tmp_path / "cache.db"))
    assert json.loads(found[request_row(request_of(2).key)]) == request_of(2).key_parts
    assert len(found) == 6


@pytest.mark.timeout(30)
@pytest.mark.parametrize("number", [10**12, 2**63 - 1])
def test_the_number_of_a_damaged_row_does_not_make_recovery_endless(
    tmp_path: Path, number: int
) -> None:
    with DiskCache(tmp_path) as cache:
        cache.put(request_of(1), make_reply())
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database, database:
        database.execute("UPDATE Cache SET rowid = ? WHERE length(key) = 64", (number,))
    assert request_of(1).key in dict(recover_rows(tmp_path / "cache.db"))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (b"r", "does not end"), (b"rnonsense", "damaged"), (b"", "pickle"),
        (b"\x80\x04N.", "pickle"),
        (b"q" + b"\x01" * 16 + b"x", "shares with others is lost"), (b"q", "does not end"),
    ],
)  # fmt: skip
def test_a_row_that_was_altered_is_an_error_of_its_own(value: bytes, problem: str) -> None:
    rows = MemoryRows()
    rows.write({KEY: "text"})
    rows._connection.execute("UPDATE Cache SET value = ?", (value,))
    with pytest.raises(DamagedEntryError, match=problem):
        rows.text(KEY)


def test_a_row_that_claims_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = MemoryRows()
    rows.write({KEY: "x" * 10_000})
    monkeypatch.setattr(sql_rows, "MOST_TEXT", 9_999)
    with pytest.raises(DamagedEntryError, match="does not end where it should"):
        rows.text(KEY)
