"""The entries of a reply cache, their canonical JSON, and the rows of SQLite they are stored in.

Each row has a checksum, which is verified on every read. Files have diskcache's layout.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import threading
import time
import weakref
from abc import ABC, abstractmethod
from contextlib import closing, suppress
from dataclasses import astuple, dataclass
from datetime import datetime
from functools import partial
from operator import add
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, ValidationError

from judgekit.errors import StoreError
from judgekit.fingerprint import canonical_json, fingerprint
from judgekit.models.request import ModelReply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from judgekit.records import JsonObject

    Execute = Callable[[str, tuple[object, ...]], Any]


class CacheWarning(UserWarning):
    """The cache is damaged or cannot be written, and the run continues; the message says how."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One reply that was paid for, with its request."""

    key: str
    request: JsonObject | None
    """The request's `key_parts`; None when they were lost and only the reply is left."""

    reply: ModelReply
    created_at: str
    """When it was fetched, UTC, ISO 8601."""

    imported: str | None = None
    """Name of the file or folder it was imported from; None when this cache fetched it."""

    rejected: bool = False
    """Whether it is stored for the record only and never served: cut short, filtered or empty."""


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """What a cache has saved so far; a sum over all runs when the cache is on disk."""

    n_hits: int = 0
    n_misses: int = 0
    saved_usd: float = 0.0
    """What the hits had cost when they were fetched, in US dollars, as far as it is known."""

    n_unpriced_hits: int = 0
    """Hits whose price is not known; `saved_usd` leaves them out."""

    saved_ms: float = 0.0
    """How long the hits had taken when they were fetched, in milliseconds."""

    def __add__(self, other: CacheCounts) -> CacheCounts:
        return CacheCounts(*map(add, astuple(self), astuple(other)))


# An error of its own: damage to one row must not end a run that needs other rows.
class DamagedEntryError(StoreError):
    """A row is there but cannot be trusted; the rest of the cache is unharmed."""


class WriteFailedError(StoreError):
    """Rows could not be written; none of them was."""

    def __init__(self, message: str) -> None:
        # In the words of SQLite and of the system.
        is_full = "disk is full" in message or "No space left" in message
        super().__init__(message, is_incomplete=is_full)


SERVED_FINISH_REASONS = frozenset({"stop", "tool_calls", None})
"""A reply that ended in another way was cut short or filtered, and is not served."""

COUNTS_ROW = "counts"

_ROW_NAME = re.compile(r"[0-9a-f]{64}(:request|:rejected:[0-9]+)?|counts")

_KEY = re.compile(r"[0-9a-f]{64}")

# "checksum" sorts before every other name of an entry, so that in canonical JSON it stands first
# and has a fixed length: the rest can be hashed without being encoded again.
_SEAL = '{"checksum":"'
_BODY_AT = len(_SEAL) + 64 + len('",')


def is_row_name(name: object) -> bool:
    """Whether a name is one that this package writes."""
    return isinstance(name, str) and _ROW_NAME.fullmatch(name) is not None


def request_row(key: str) -> str:
    """Name of the row that holds the request of a key."""
    return f"{key}:request"


def rejected_row(key: str, number: int) -> str:
    """Name of the row that holds a key's rejected reply of that number, from 0."""
    return f"{key}:rejected:{number}"


def is_servable(reply: ModelReply) -> bool:
    """Whether a reply may be served again: it ended by itself and has a text."""
    return (
        reply.finish_reason in SERVED_FINISH_REASONS
        and reply.text is not None
        and bool(reply.text.strip())
    )


def is_cache_key(text: str) -> bool:
    """Whether a text has the form of a cache key, 64 lower-case hex digits."""
    return _KEY.fullmatch(text) is not None


def encode_entry(entry: CacheEntry, **more: JsonValue) -> str:
    """The text of an entry's row; the request has a row of its own, unless `more` holds it."""
    reply = entry.reply.model_dump(exclude={"cached", "key"})
    body = {"created_at": entry.created_at, "key": entry.key, "reply": reply, **more}
    if entry.imported is not None and not more:
        body["imported"] = entry.imported
    if entry.rejected:
        body["rejected"] = True
    rest = canonical_json(body)
    return f'{_SEAL}{hashlib.sha256(rest.encode("ascii")).hexdigest()}",{rest[1:]}'


def decode_reply(text: str, key: str, *, may_be_rejected: bool = False) -> ModelReply:
    """The reply of a reply row, if it may be served under that key."""
    # Every cache hit comes through here: the checksum, the JSON and the reply in one function.
    rest = "{" + text[_BODY_AT:]
    checksum = hashlib.sha256(rest.encode("utf-8", "surrogatepass")).hexdigest()
    if not text.startswith(f'{_SEAL}{checksum}",'):
        raise DamagedEntryError("the checksum does not match: the entry was altered")
    try:
        body = json.loads(rest)
        # The checksum holds for a row that was copied under another name, too.
        if body["key"] != key or ("rejected" in body and not may_be_rejected):
            raise DamagedEntryError(f"the row under {key[:12]} holds another entry")
        return ModelReply.model_validate({**body["reply"], "cached": True, "key": key})
    except ValidationError as error:
        raise DamagedEntryError(f"the reply has another form: {error.errors()[0]}") from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise DamagedEntryError(f"not an entry of a reply cache: {error}") from error


def decode_entry(text: str, key: str, request: JsonObject | None) -> CacheEntry:
    """The entry of a reply row, served or rejected."""
    reply = decode_reply(text, key, may_be_rejected=True)
    return _entry(json.loads(text), reply, request)


def decode_request(text: str, key: str) -> JsonObject:
    """The request in a request row; its fingerprint must be the key."""
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != key:
        raise DamagedEntryError(f"the request under {key[:12]} does not match its key")
    parts: JsonObject = json.loads(text)
    return parts


def encode_line(entry: CacheEntry) -> str:
    """The entry as one line of an export, request included and provenance left out."""
    if entry.request is None:
        raise ValueError(f"entry {entry.key[:12]} cannot be exported: its request is lost")
    return encode_entry(entry, request=entry.request)


def decode_line(line: str) -> CacheEntry:
    try:
        body = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DamagedEntryError(f"not JSON: {error}") from error
    if not isinstance(body, dict) or not {"checksum", "request", "key"} <= body.keys():
        raise DamagedEntryError("not an entry of a reply cache")
    checksum, fields = body.pop("checksum"), body.get("reply")
    try:
        sealed = fingerprint(body) == checksum
    except ValueError as error:
        raise DamagedEntryError(f"not an entry of a reply cache: {error}") from error
    if not sealed:
        raise DamagedEntryError("the checksum does not match: the line was altered")
    request = body.pop("request")
    if not isinstance(request, dict) or fingerprint(request) != body["key"]:
        raise DamagedEntryError("the key is not the fingerprint of the request")
    try:
        reply = ModelReply.model_validate(fields)
    except ValidationError as error:
        raise DamagedEntryError(f"the reply has another form: {error.errors()[0]}") from error
    reply = reply.model_copy(update={"cached": True, "key": body["key"]})
    entry = _entry(body, reply, request)
    # Checked at the import: a truncated reply in an export would be served for ever.
    if not entry.rejected and not is_servable(entry.reply):
        raise DamagedEntryError("the reply was cut short, filtered or empty and may not be served")
    return entry


def is_intact_row(name: str, text: str) -> bool:
    """Whether a row found in a damaged file can be trusted."""
    if name == COUNTS_ROW:
        return False
    key, _, kind = name.partition(":")
    try:
        if kind == "request":
            decode_request(text, key)
        else:
            entry = decode_entry(text, key, None)
            return entry.rejected is bool(kind)
    except DamagedEntryError:
        return False
    return True


def _entry(body: dict[str, Any], reply: ModelReply, request: JsonObject | None) -> CacheEntry:
    created_at, imported = str(body.get("created_at")), body.get("imported")
    try:
        datetime.fromisoformat(created_at)
    except ValueError as error:
        raise DamagedEntryError(f"the time it was fetched is no time: {created_at!r}") from error
    return CacheEntry(
        key=body["key"],
        request=request,
        reply=reply,
        created_at=created_at,
        imported=imported if isinstance(imported, str) else None,
        rejected="rejected" in body,
    )


MODE_RAW = 1
"""The mode of a row whose value stands in the row itself, as text."""

SELECT_TEXT = "SELECT mode, filename, value FROM Cache WHERE key = ? AND raw = 1"
"""The columns from which `stored_text` makes the text of a row."""

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


class Rows(ABC):
    """Text under names: what a reply cache is stored in.

    Writes are all or none, and safe when they return.
    """

    @abstractmethod
    def text(self, name: str) -> str | None: ...

    @abstractmethod
    def texts(self, names: Sequence[str]) -> Mapping[str, str]: ...

    @abstractmethod
    def names(self) -> Iterator[str]:
        """The names of this package, in ascending order."""

    @abstractmethod
    def count_replies(self) -> int: ...

    @abstractmethod
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the storage itself, in words."""

    @abstractmethod
    def write(self, rows: Mapping[str, str]) -> None: ...

    @abstractmethod
    def remove(self, names: Sequence[str]) -> None: ...

    @abstractmethod
    def clear(self) -> None: ...

    @abstractmethod
    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        """Replace the row of counts by what `text_of` makes of it, as one step."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections."""

    def n_bytes(self) -> int | None:
        """What a server needs for them; None where no server has them."""
        return None


class SqlRows(Rows):
    """The rows of a database of diskcache's layout."""

    @abstractmethod
    def _ask(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """Every row of the answer to one statement."""

    @abstractmethod
    def change(self, action: Callable[[Execute], None]) -> None:
        """Run the statements of an action as one transaction."""

    def text(self, name: str) -> str | None:
        return _text(self._ask, name)

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        # One statement for many rows is half the work.
        found: dict[str, str] = {}
        for start in range(0, len(names), _PAGE):
            page = tuple(names[start : start + _PAGE])
            marks = ",".join("?" * len(page))
            of_page = (
                f"SELECT key, mode, filename, value FROM Cache WHERE key IN ({marks}) AND raw = 1"  # noqa: S608 - question marks only
            )
            found.update((name, stored_text(*row)) for name, *row in self._ask(of_page, page))
        return found

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
        def action(execute: Execute) -> None:
            now = time.time()
            for name, text in rows.items():
                execute(_UPSERT, (name, now, now, MODE_RAW, text))

        self.change(action)

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
            try:
                present = _text(partial(fetch_all, execute), COUNTS_ROW)
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


def stored_text(mode: object, filename: object, value: object) -> str:
    """The value of a row, if it is text that stands in the row itself."""
    if mode != MODE_RAW or filename is not None or not isinstance(value, str):
        raise DamagedEntryError("the row is not plain text (a pickle or a file is refused)")
    return value


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


def _text(ask: Callable[[str, tuple[object, ...]], list[tuple[Any, ...]]], name: str) -> str | None:
    rows = ask(SELECT_TEXT, (name,))
    return stored_text(*rows[0]) if rows else None


def _read_error(error: sqlite3.Error) -> StoreError:
    if is_corruption(error):
        return DamagedFileError(f"the cache's database is damaged: {error}")
    if "Could not decode" in str(error):
        return DamagedEntryError("the row is not UTF-8 text")
    return StoreError(f"the cache cannot be read: {error}")


_SELECT_NUMBERED = "SELECT key, mode, filename, value FROM Cache WHERE rowid = ? AND raw = 1"
_SMALLEST_ROW_BYTES = 512  # an entry's text alone is longer


def recover_rows(database: Path) -> Iterator[tuple[str, str]]:
    """The rows of a damaged database that can be read and whose checksum holds."""
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as found:
            # Without this SQLite reads nothing of a file that was cut short.
            found.execute("PRAGMA writable_schema = ON")
            found.execute("SELECT rowid FROM Cache WHERE rowid = 0").fetchall()
            try:
                last = int(found.execute("SELECT max(rowid) FROM Cache").fetchone()[0] or 0)
            except sqlite3.Error:
                last = database.stat().st_size // _SMALLEST_ROW_BYTES
            # One damaged page ends a scan, but not a look-up of a row on another page.
            for number in range(1, last + 1):
                with suppress(sqlite3.Error, DamagedEntryError):
                    for name, *row in found.execute(_SELECT_NUMBERED, (number,)).fetchall():
                        text = stored_text(*row)
                        if is_row_name(name) and is_intact_row(name, text):
                            yield name, text
    except sqlite3.Error:
        # Not a database any more: nothing to be had.
        return
