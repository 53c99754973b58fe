from __future__ import annotations

import io
import pickletools
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import diskcache
import pytest

from judgekit.errors import StoreError
from judgekit.models.cache import CacheWarning, DamagedFileError, DiskCache
from judgekit.models.cache.disk_cache import DISKCACHE_SETTINGS, DiskcacheRows
from judgekit.models.cache.entries import COUNTS_ROW, DamagedEntryError, WriteFailedError
from judgekit.models.cache.sql_rows import ReadOnlyRows
from tests.models.cache.buying import make_reply, make_request, random_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = make_request().key


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[DiskcacheRows]:
    opened = DiskcacheRows(tmp_path)
    yield opened
    opened.close()


def plant(folder: Path, **columns: object) -> None:
    """Write a row past the cache, as another program would."""
    row = {"key": KEY, "raw": 1, "mode": 1, "filename": None, "value": "text"} | columns
    marks = ", ".join("?" * len(row))
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        database.execute("DELETE FROM Cache")
        statement = f"INSERT INTO Cache ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - own names
        database.execute(statement, tuple(row.values()))


def bomb(marker: Path) -> bytes:
    """A pickle that makes a file when it is loaded, written by hand."""
    code = f"open({str(marker)!r}, 'w').close()".encode()
    text = b"cbuiltins\nexec\n(X" + len(code).to_bytes(4, "little") + code + b"tR."
    pickletools.dis(text, out=io.StringIO())
    return text


@pytest.mark.parametrize(
    "columns",
    [
        {"mode": 4},
        {"mode": 4, "raw": 0},
        {"raw": 0, "key": b"bomb"},
        {"mode": 4, "value": None, "filename": "bomb.val"},
        {"mode": 1, "filename": "../secret"},
        {"mode": 3, "value": None, "filename": "../secret"},
        {"mode": 2, "value": None, "filename": "../secret"},
        {"mode": 1, "value": b"bytes"},
        {"mode": 1, "value": 4},
        {"mode": 1, "value": None},
        {"mode": "x", "value": "text"},
    ],
    ids=str,
)
def test_a_planted_row_is_a_miss_and_runs_nothing(
    tmp_path: Path, columns: dict[str, object]
) -> None:
    folder = tmp_path / "cache"
    marker, secret = tmp_path / "marker", tmp_path / "secret"
    secret.write_text("kept")
    with DiskCache(folder):
        pass
    (folder / "bomb.val").write_bytes(bomb(marker))
    plant(folder, **({"value": bomb(marker)} | columns))
    with DiskCache(folder) as cache:
        if columns.get("raw", 1):
            with pytest.warns(CacheWarning, match="not plain text"):
                assert cache.get(KEY) is None
        else:
            assert cache.get(KEY) is None
        cache.put(make_request(), make_reply())
        assert cache.get(KEY) is not None
        cache.delete(KEY)
        cache.clear()
    assert not marker.exists()
    assert secret.read_text() == "kept"


def test_the_bomb_of_these_tests_is_live(tmp_path: Path) -> None:
    with diskcache.Cache(str(tmp_path)):
        pass
    plant(tmp_path, mode=4, value=bomb(tmp_path / "marker"))
    with diskcache.Cache(str(tmp_path)) as unsafe:
        unsafe.get(KEY)
    assert (tmp_path / "marker").exists()


def test_more_rows_are_read_at_once_than_one_statement_may_name(rows: DiskcacheRows) -> None:
    texts = {f"{n:064x}": f"text {n}" for n in range(501)}
    rows.write(texts)
    assert rows.texts([*texts, "0" * 63 + "g"]) == texts


def test_a_planted_row_among_several_is_refused_and_the_others_served(tmp_path: Path) -> None:
    marker, other = tmp_path / "ran", make_request("other")
    with DiskCache(tmp_path / "cache") as cache:
        plant(tmp_path / "cache", mode=4, value=bomb(marker))
        cache.put(other, make_reply())
        with pytest.warns(CacheWarning, match="is damaged and counts as a miss"):
            assert list(cache.get_many([KEY, other.key])) == [other.key]
    assert not marker.exists()


def test_rows_that_are_only_read_are_read_several_at_once(tmp_path: Path) -> None:
    with DiskCache(tmp_path / "cache") as cache:
        cache.put(make_request(), make_reply())
    with DiskCache(tmp_path / "cache", read_only=True) as cache:
        assert list(cache.get_many([KEY, make_request("other").key])) == [KEY]


def test_invalid_utf8_is_a_damaged_entry(rows: DiskcacheRows, tmp_path: Path) -> None:
    rows.write({KEY: "text"})
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database, database:
        database.execute("UPDATE Cache SET value = CAST(x'ff80' AS TEXT)")
    with pytest.raises(DamagedEntryError, match="UTF-8"):
        rows.text(KEY)


def test_strangers_rows_are_counted_and_never_listed(rows: DiskcacheRows, tmp_path: Path) -> None:
    plant(tmp_path, key="something else")
    assert list(rows.names()) == []
    assert rows.problems() == ("1 row is not this cache's, and never read",)


def test_nothing_is_evicted_even_when_another_program_asks_for_it(tmp_path: Path) -> None:
    with diskcache.Cache(str(tmp_path), size_limit=1, cull_limit=10):
        pass
    with closing(DiskcacheRows(tmp_path)) as rows:
        rows.write({f"{n:064x}": "x" * 500 for n in range(300)})
        rows.cull()
        assert rows.count_replies() == 300
        assert {name: getattr(rows, name) for name in DISKCACHE_SETTINGS} == DISKCACHE_SETTINGS


MEDDLING = (
    "CREATE TRIGGER meddle_EVENT AFTER EVENT ON Settings"
    " WHEN NEW.key = 'cull_limit' AND NEW.value <> 10"
    " BEGIN UPDATE Settings SET value = 10 WHERE key = 'cull_limit'; END"
)


@pytest.mark.usefixtures("rows")
def test_settings_that_do_not_hold_are_an_error(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database, database:
        for event in ("INSERT", "UPDATE"):
            database.execute(MEDDLING.replace("EVENT", event))
    with pytest.raises(StoreError, match="did not keep its settings: cull_limit"):
        DiskcacheRows(tmp_path)


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO Settings VALUES ('disk_surprise', 1)",
        "UPDATE Settings SET key = CAST(x'6d6973ff6573' AS TEXT) WHERE key = 'misses'",
        "UPDATE Settings SET key = CAST(x'6869c574' AS TEXT) WHERE key = 'hits'",
    ],
)
def test_settings_that_diskcache_chokes_on_are_damage(tmp_path: Path, change: str) -> None:
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database, database:
        database.execute(change)
    with pytest.raises(DamagedFileError, match=r"settings were altered|database is damaged"):
        DiskcacheRows(tmp_path)


def test_a_name_that_is_not_utf8_hides_no_other_name(rows: DiskcacheRows, tmp_path: Path) -> None:
    rows.write({f"{number:064x}": "{}" for number in range(3)})
    with closing(sqlite3.connect(tmp_path / "cache.db")) as database, database:
        for byte in ("80", "c5", "ff"):
            insert = "INSERT INTO Cache (key, raw) VALUES (CAST(? AS TEXT), 1)"
            database.execute(insert, (bytes.fromhex(f"30{byte}"),))
    assert list(rows.names()) == [f"{number:064x}" for number in range(3)]


def test_a_write_is_all_or_none(rows: DiskcacheRows) -> None:
    rows.write({KEY: "old"})
    rows._sql("PRAGMA max_page_count = 20")
    with pytest.raises(WriteFailedError, match="database or disk is full"):
        rows.write({KEY: "new", f"{KEY}:request": random_text(100_000)})
    assert rows.text(KEY) == "old"
    rows.write({KEY: "short"})
    assert rows.text(KEY) == "short"


def test_an_error_that_is_not_the_databases_undoes_the_write(rows: DiskcacheRows) -> None:
    def failing(present: str | None) -> str:
        raise KeyError(present)

    with pytest.raises(KeyError):
        rows.add_counts(failing)
    rows.write({KEY: "text"})
    assert rows.text(KEY) == "text"


def test_damaged_counts_begin_again(rows: DiskcacheRows, tmp_path: Path) -> None:
    plant(tmp_path, key=COUNTS_ROW, mode=4)
    rows.add_counts(lambda present: f"after {present}")
    assert rows.text(COUNTS_ROW) == "after None"


def test_read_only_rows_read_and_refuse_to_write(rows: DiskcacheRows, tmp_path: Path) -> None:
    rows.write({KEY: "text"})
    found = ReadOnlyRows(tmp_path / "cache.db", immutable=False, reason="it is a test")
    with closing(found):
        assert found.text(KEY) == "text"
        assert list(found.names()) == [KEY]
        assert found.problems() == ()
        found.add_counts(lambda _: "x")
        with pytest.raises(WriteFailedError, match="it is a test"):
            found.write({KEY: "new"})
        with pytest.raises(WriteFailedError, match="it is a test"):
            found.remove([KEY])
        with pytest.raises(WriteFailedError, match="it is a test"):
            found.clear()


def test_rows_of_no_file_are_empty() -> None:
    with closing(ReadOnlyRows(None, immutable=False, reason="none")) as found:
        assert found.count_replies() == 0
        assert found.text(KEY) is None


@pytest.mark.usefixtures("rows")
def test_a_closed_database_cannot_be_read(tmp_path: Path) -> None:
    found = ReadOnlyRows(tmp_path / "cache.db", immutable=False, reason="none")
    found.close()
    with pytest.raises(StoreError, match="cannot be read"):
        found.text(KEY)
    with pytest.raises(StoreError, match="cannot be read"):
        ReadOnlyRows(tmp_path / "nowhere" / "cache.db", immutable=False, reason="none")


def test_a_planted_row_can_be_deleted_and_a_planted_note_is_not_believed(tmp_path: Path) -> None:
    with DiskCache(tmp_path / "cache") as cache:
        plant(tmp_path / "cache", mode=4)
        assert cache.delete(KEY)
        assert not cache.delete(KEY)
        plant(tmp_path / "cache", key=COUNTS_ROW, mode=4)
        with pytest.warns(CacheWarning, match="the counts of the cache are damaged"):
            assert cache.counts().n_hits == 0


def test_a_commit_that_fails_leaves_no_open_transaction(rows: DiskcacheRows) -> None:
    rows._sql("PRAGMA foreign_keys = ON")
    rows._sql("CREATE TABLE parent (id PRIMARY KEY)")
    rows._sql("CREATE TABLE child (id REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)")
    rows._sql(
        "CREATE TRIGGER orphan AFTER INSERT ON Cache WHEN NEW.key != 'counts'"
        " BEGIN INSERT INTO child VALUES (1); END"
    )
    with pytest.raises(WriteFailedError, match="FOREIGN KEY"):
        rows.write({KEY: "orphan"})
    rows.add_counts(lambda _: "text")
    assert (rows.text(KEY), rows.text(COUNTS_ROW)) == (None, "text")


@pytest.mark.parametrize(
    ("reason", "is_full"),
    [("database or disk is full", True), ("No space left on device", True), ("read only", False)],
)
def test_a_full_disk_leaves_an_import_incomplete(reason: str, *, is_full: bool) -> None:
    with (
        closing(ReadOnlyRows(None, immutable=False, reason=reason)) as found,
        pytest.raises(StoreError, match="the cache was not changed") as raised,
    ):
        found.change(lambda _: None)
    assert raised.value.is_incomplete is is_full


def test_a_thread_that_ends_closes_its_connection(tmp_path: Path) -> None:
    kept: list[Any] = []

    def use() -> None:
        rows = DiskcacheRows(tmp_path)
        # Python 3.13 warns where only the garbage collection closes a connection.
        kept.extend((rows, rows._con))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    # SQLite removes its log when the last connection is closed.
    assert not (tmp_path / "cache.db-wal").exists()
    assert kept[0].text("nothing") is None
    kept[0].close()
