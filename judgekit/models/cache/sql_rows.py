"""The rows of a reply cache in SQLite, packed, in a file of diskcache's layout."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import threading
import time
import weakref
import zlib
from abc import abstractmethod
from contextlib import closing, suppress
from functools import partial
from operator import methodcaller
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from judgekit.errors import StoreError
from judgekit.models.cache.entries import (
    COUNTS_ROW,
    DamagedEntryError,
    Rows,
    WriteFailedError,
    is_intact_row,
    is_row_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Execute = Callable[[str, tuple[object, ...]], Any]
    DictionaryOf = Callable[[bytes], bytes | None]
    Action = Callable[[Execute], None]

MODE_RAW = 1
"""The mode of a row whose value stands in the row itself."""

SELECT_VALUE = "SELECT mode, filename, value FROM Cache WHERE key = ? AND raw = 1"
"""The columns that the text of a row is made of."""

# What `Cache.set` of diskcache does in two statements; there is no old file to clean up.
_UPSERT = (
    "INSERT INTO Cache (key, raw, store_time, access_time, mode, value)"
    " VALUES (?, 1, ?, ?, ?, ?) ON CONFLICT (key, raw) DO UPDATE SET"
    " store_time = excluded.store_time, access_time = excluded.access_time, mode = excluded.mode,"
    " value = excluded.value, filename = NULL, expire_time = NULL, tag = NULL, size = 0"
)

_TABLE = (
    "CREATE TABLE Cache (key, raw, store_time, access_time, expire_time, tag, size, mode, filename,"
    " value, UNIQUE (key, raw))"
)

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_ALTERED = re.compile(
    r"no such (?:table|column|index)|has no column named|syntax error|unrecognized token"
)
_PAGE = 500
_OWN_ROWS = "raw = 1 AND typeof(key) = 'text'"


class DamagedFileError(StoreError):
    """The database file itself is damaged."""


# Rows are packed by DEFLATE without a header: a byte that says how, for a request the hash of its
# dictionary, then the text. Rows that older releases wrote are plain text.
PACKED_REPLY = b"r"
_REQUEST, _SHARED = b"q", b"s"
_KINDS = (PACKED_REPLY, _REQUEST, _SHARED)
_ID_BYTES = 16
RAW_DEFLATE = -15
_LEVEL = 3
MOST_TEXT = 256 * 2**20
"""Bytes of a row's text at most; a row that was planted may claim any number."""

REPLY_DICTIONARY = (
    b'"cached_input_tokens":0,"cost_usd":null,"input_tokens":"output_tokens":"reasoning_tokens":0}'
    b'"finish_reason":"length","logprobs":null,"model":null,"usage":null,"dropped_parameters":[],'
    b'"duration_ms":null,{\\"criteria\\":{\\"preference\\":\\"first\\"\\"second\\"\\"tie\\"'
    b'\\"evidence\\":[\\"\\"],\\"rationale\\":\\"The output does not \\",'
    b'\\"assessable\\":true,\\"score\\":4,\\"confidence\\":0.9}'
    b'{"checksum":"","created_at":"2026-01-01T00:00:00.000+00:00","key":"","reply":'
    b'{"cost_usd":0.00,"dropped_parameters":[],"duration_ms":1.0,"finish_reason":"stop",'
    b'"logprobs":null,"model":"","text":"{\\"evidence\\":[\\"","usage":{'
)
"""What replies have in common. It can never change, since cached replies are unpacked with it."""

# A request shares most of its text with others: template, rubric, schema. The first of its kind is
# stored whole under the hash of its text, and is the dictionary of the others.
_SHORTEST_SHARED = 512
_MOST_RECENT = 3
_WELL_PACKED = 0.4
_REQUESTS_EACH = 16
_FIRST_SHARED = 4

_SELECT_SHARED = (
    "SELECT mode, filename, value FROM Cache WHERE key >= 'shared:' AND key < 'shared;' AND raw = 1"  # noqa: S608 - constants
    f" ORDER BY rowid DESC LIMIT {_MOST_RECENT}"
)
# Rows that older releases wrote; the count of hits stays text.
_SELECT_PLAIN = (
    f"SELECT key, value FROM Cache WHERE {_OWN_ROWS} AND typeof(value) = 'text' AND key > ?"  # noqa: S608 - constants
    f" AND mode = {MODE_RAW} AND filename IS NULL AND key != '{COUNTS_ROW}'"
    f" ORDER BY key LIMIT {_PAGE}"
)
_PACKED_VERSION = 1
_shared_row = "shared:{}".format
_encoded = methodcaller("encode", "utf-8", "surrogatepass")
_INSERT = f"{_UPSERT.partition(' DO UPDATE')[0]} DO NOTHING"


class SqlRows(Rows):
    """The rows of a database of diskcache's layout."""

    # Dictionaries by their hash, each as text and as the value of its row; the hashes of those
    # that were of use last; how many requests were packed. Replaced and never changed, so that
    # threads need no lock.
    _dictionaries: Mapping[bytes, tuple[bytes, bytes]] = MappingProxyType({})
    _recent: tuple[bytes, ...] = ()
    _n_packed = 0

    @abstractmethod
    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """Every row of the answer to one statement."""

    @abstractmethod
    def change(self, action: Callable[[Execute], None]) -> None:
        """Run the statements of an action as one transaction."""

    def text(self, name: str) -> str | None:
        for mode, filename, value in self._ask(SELECT_VALUE, (name,)):
            return stored_text(mode, filename, value, self._dictionary)
        return None

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        # One statement for many rows is half the work.
        found: dict[str, str] = {}
        for start in range(0, len(names), _PAGE):
            page = tuple(names[start : start + _PAGE])
            marks = ",".join("?" * len(page))
            of_page = (
                f"SELECT key, mode, filename, value FROM Cache WHERE key IN ({marks}) AND raw = 1"  # noqa: S608 - question marks only
            )
            for name, mode, filename, value in self._ask(of_page, page):
                found[name] = stored_text(mode, filename, value, self._dictionary)
        return found

    def _dictionary(self, digest: bytes) -> bytes | None:
        if digest not in self._dictionaries:
            for mode, filename, value in self._ask(SELECT_VALUE, (_shared_row(digest.hex()),)):
                self._learn(_encoded(stored_text(mode, filename, value)), value)
        return self._dictionaries.get(digest, (None,))[0]

    def _learn(self, plain: bytes, value: bytes) -> None:
        digest = hashlib.sha256(plain).digest()[:_ID_BYTES]
        self._dictionaries = {**self._dictionaries, digest: (plain, value)}
        self._recent = (digest, *self._recent)[:_MOST_RECENT]

    def learn_recent(self, of: SqlRows) -> None:
        """Pack requests with what those of earlier processes were packed with."""
        for mode, filename, value in reversed(of._ask(_SELECT_SHARED, ())):
            with suppress(DamagedEntryError):
                self._learn(_encoded(stored_text(mode, filename, value)), value)

    def _write_packed(self, rows: Mapping[str, str], execute: Execute) -> None:
        now, present = time.time(), set[bytes]()
        for name, text in rows.items():
            plain = _encoded(text)
            if not name.endswith(":request"):
                value = PACKED_REPLY + _deflated(plain, REPLY_DICTIONARY)
                execute(_UPSERT, (name, now, now, MODE_RAW, value))
                continue
            self._n_packed += 1
            body, digest = plain, bytes(_ID_BYTES)
            for one in self._recent:
                shorter = _deflated(plain, self._dictionaries[one][0])
                if len(shorter) < len(body):
                    body, digest = shorter, one
            # A text of which little is shared, such as a long document, is worth a dictionary for
            # others once in a while.
            n_allowed = _FIRST_SHARED + self._n_packed // _REQUESTS_EACH
            is_poor = len(body) > _WELL_PACKED * len(plain) and len(plain) >= _SHORTEST_SHARED
            if is_poor and len(self._dictionaries) < n_allowed:
                self._learn(plain, _SHARED + _deflated(plain, b""))
                body, digest = _deflated(plain, plain), self._recent[0]
            elif body is plain:
                body = _deflated(plain, b"")
            if any(digest) and digest not in present:
                # In every transaction, since the cache may have been cleared.
                shared = self._dictionaries[digest][1]
                execute(_INSERT, (_shared_row(digest.hex()), now, now, MODE_RAW, shared))
                present.add(digest)
            execute(_UPSERT, (name, now, now, MODE_RAW, _REQUEST + digest + body))

    def names(self) -> Iterator[str]:
        # In pages, so that writers are not held up.
        after = b""
        # As bytes: one name that is not UTF-8, in a damaged file, would hide all others.
        page_of = (
            f"SELECT CAST(key AS BLOB) FROM Cache WHERE {_OWN_ROWS} AND key > CAST(? AS TEXT)"  # noqa: S608 - constants
            f" ORDER BY key LIMIT {_PAGE}"
        )
        while page := [row[0] for row in self._ask(page_of, (after,))]:
            if page[-1] <= after:  # where an index that is damaged leads back, it has no end
                self.replace_damaged(DamagedFileError("the cache's index is damaged"))
                continue
            after = page[-1]
            yield from filter(is_row_name, (name.decode(errors="replace") for name in page))

    def replace_damaged(self, damage: DamagedFileError) -> None:
        """Replace a damaged database; rows that cannot be replaced are an error."""
        raise damage

    def count_replies(self) -> int:
        count = f"SELECT COUNT(*) FROM Cache WHERE {_OWN_ROWS} AND length(key) = 64"  # noqa: S608 - constants
        return int(self._ask(count, ())[0][0])

    def problems(self) -> tuple[str, ...]:
        """What SQLite finds wrong with the file, and rows that are not this cache's."""
        try:
            found = [str(row[0]) for row in self._ask("PRAGMA quick_check(20)", ())]
            n_rows = int(self._ask("SELECT COUNT(*) FROM Cache", ())[0][0])
            n_foreign = n_rows - sum(1 for _ in self.names())
        except StoreError as error:
            return (error.message,)
        if n_foreign:
            rows = "1 row is" if n_foreign == 1 else f"{n_foreign} rows are"
            found.append(f"{rows} not this cache's, and never read")
        return tuple(each for each in found if each != "ok")

    def write(self, rows: Mapping[str, str]) -> None:
        self.change(partial(self._write_packed, rows))

    def pack_plain(self) -> None:
        """Pack the rows that an older release wrote as plain text, a page at a time."""
        if self._ask("PRAGMA user_version", ())[0][0] >= _PACKED_VERSION:
            return
        last = [""]

        def pack_page(execute: Execute) -> None:
            # Read in the transaction, so that no other process can have written meanwhile.
            page = fetch_all(execute, _SELECT_PLAIN, (last.pop(),))
            self._write_packed({n: text for n, text in page if is_row_name(n)}, execute)
            last.extend(name for name, _ in page[-1:])
            if not page:
                execute(f"PRAGMA user_version = {_PACKED_VERSION}", ())

        n_pages = 0
        while last:
            self.change(pack_page)
            n_pages += 1
        if n_pages > 1:
            self._ask("VACUUM", ())  # the file keeps its size otherwise

    def remove(self, names: Sequence[str]) -> None:
        def action(execute: Execute) -> None:
            for name in names:
                execute("DELETE FROM Cache WHERE key = ? AND raw = 1", (name,))

        self.change(action)

    def clear(self) -> None:
        """Remove every row; files named in other programs' rows are left alone."""
        self.change(lambda execute: execute("DELETE FROM Cache", ()))

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        def action(execute: Execute) -> None:
            rows = fetch_all(execute, SELECT_VALUE, (COUNTS_ROW,))
            try:
                present = stored_text(*rows[0]) if rows else None
            except DamagedEntryError:
                present = None
            now = time.time()
            execute(_UPSERT, (COUNTS_ROW, now, now, MODE_RAW, text_of(present)))

        self.change(action)


class MemoryRows(SqlRows):
    """Rows in memory; gone with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            ":memory:", check_same_thread=False, isolation_level=None
        )
        self._connection.execute(_TABLE)
        weakref.finalize(self, self._connection.close)

    def change(self, action: Callable[[Execute], None]) -> None:
        with self._lock, self._connection:
            self._connection.execute("BEGIN")
            action(self._connection.execute)

    def close(self) -> None:
        """Nothing: what is only in memory would be lost."""

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            return fetch_all(self._connection.execute, statement, values)


class ReadOnlyRows(SqlRows):
    """The rows of a database that is only read; without a database there are none."""

    def __init__(self, database: Path | None, *, immutable: bool, reason: str) -> None:
        self._reason = reason
        self._lock = threading.Lock()
        place = ":memory:"
        if database is not None:
            place = f"{database.resolve().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
        try:
            self._connection = sqlite3.connect(
                place, uri=True, check_same_thread=False, isolation_level=None
            )
        except sqlite3.Error as error:
            raise _read_error(error) from error
        if database is None:
            self._connection.execute(_TABLE)
        try:
            self.count_replies()
        except StoreError:
            self.close()
            raise

    def change(self, action: Callable[[Execute], None]) -> None:  # noqa: ARG002 - the interface
        raise WriteFailedError(f"the cache was not changed: {self._reason}")

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        """Nothing: a cache that is only read stores no counts; opening it warned of that."""

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            return fetch_all(self._connection.execute, statement, values)


def stored_text(
    mode: object, filename: object, value: object, dictionary_of: DictionaryOf | None = None
) -> str:
    """The text of a row; a value of another program, a file or damage is an error."""
    if mode == MODE_RAW and filename is None:
        if isinstance(value, str):
            return value
        if isinstance(value, bytes) and value[:1] in _KINDS:
            return _unpacked(value, dictionary_of)
    raise DamagedEntryError("the row is not plain text (a pickle or a file is refused)")


def _unpacked(value: bytes, dictionary_of: DictionaryOf | None) -> str:
    kind, digest, body = value[:1], b"", value[1:]
    words: bytes | None = REPLY_DICTIONARY if kind == PACKED_REPLY else b""
    if kind == _REQUEST:
        digest, body = body[:_ID_BYTES], body[_ID_BYTES:]
        if any(digest):
            words = dictionary_of(digest) if dictionary_of else None
    if words is None:
        raise DamagedEntryError("the text that the row shares with others is lost")
    unpacker = zlib.decompressobj(RAW_DEFLATE, words)
    try:
        text = unpacker.decompress(body, MOST_TEXT).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError) as error:
        raise DamagedEntryError(f"the row is damaged: {error}") from error
    if not unpacker.eof or unpacker.unused_data:
        raise DamagedEntryError("the row is damaged: it does not end where it should")
    return text


def _deflated(plain: bytes, words: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, RAW_DEFLATE, zdict=words)
    return packer.compress(plain) + packer.flush()


def is_corruption(error: BaseException | None) -> bool:
    """Whether an error of SQLite means a damaged file, not a busy, full or read-only one."""
    if not isinstance(error, sqlite3.Error):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    # The statements are fixed: what one of them does not find, or cannot parse, was altered.
    is_altered = _ALTERED.search(str(error)) is not None
    return is_altered or (code is not None and code & 0xFF in _DAMAGED)


def fetch_all(
    execute: Execute, statement: str, values: tuple[object, ...]
) -> list[tuple[Any, ...]]:
    """Every row of the answer to one statement; an error says what is wrong."""
    try:
        found: list[tuple[Any, ...]] = execute(statement, values).fetchall()
    except sqlite3.Error as error:
        raise _read_error(error) from error
    return found


def _read_error(error: sqlite3.Error) -> StoreError:
    if is_corruption(error):
        return DamagedFileError(f"the cache's database is damaged: {error}")
    if "Could not decode" in str(error):
        return DamagedEntryError("the row is not UTF-8 text")
    return StoreError(f"the cache cannot be read: {error}")


_SELECT_NUMBERED = "SELECT key, mode, filename, value FROM Cache WHERE rowid = ? AND raw = 1"
_SELECT_BEYOND = "SELECT rowid FROM Cache WHERE rowid > ?"
_SMALLEST_ROW_BYTES = 64  # its name alone is longer


def recover_rows(database: Path) -> Iterator[tuple[str, str]]:
    """The rows of a damaged database that can be read and whose checksum holds."""
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as found:
            # Without this SQLite reads nothing of a file that was cut short.
            found.execute("PRAGMA writable_schema = ON")
            found.execute("SELECT rowid FROM Cache WHERE rowid = 0").fetchall()

            def dictionary_of(digest: bytes) -> bytes | None:
                row = found.execute(SELECT_VALUE, (_shared_row(digest.hex()),)).fetchone()
                text = b"" if row is None else _encoded(stored_text(*row))
                return text if hashlib.sha256(text).digest()[:_ID_BYTES] == digest else None

            for number in _row_numbers(found, database):
                with suppress(sqlite3.Error, DamagedEntryError):
                    rows = found.execute(_SELECT_NUMBERED, (number,)).fetchall()
                    for name, mode, filename, value in rows:
                        text = stored_text(mode, filename, value, dictionary_of)
                        if is_row_name(name) and is_intact_row(name, text):
                            yield name, text
    except sqlite3.Error:
        # Not a database any more: nothing to be had.
        return


def _row_numbers(found: sqlite3.Connection, database: Path) -> Iterator[int]:
    """The numbers that rows may have."""
    files = [one for one in (database, Path(f"{database}-wal")) if one.exists()]
    most = sum(one.stat().st_size for one in files) // _SMALLEST_ROW_BYTES
    last = most
    with suppress(sqlite3.Error):
        last = int(found.execute("SELECT max(rowid) FROM Cache").fetchone()[0] or 0)
    # One damaged page ends a scan, but not a look-up of a row on another page.
    yield from range(1, min(last, most) + 1)
    # More rows have no room there: they were deleted, or the last number is that of a damaged row.
    with suppress(sqlite3.Error):
        yield from (row[0] for row in found.execute(_SELECT_BEYOND, (most,)))
