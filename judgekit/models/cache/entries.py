"""The entries of a reply cache, their canonical JSON, and the rows of SQLite they are stored in.

Each row has a checksum, which is verified on every read. Files have diskcache's layout.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from dataclasses import astuple, dataclass, field
from datetime import datetime
from operator import add
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from judgekit.errors import StoreError
from judgekit.fingerprint import canonical_json, text_fingerprint
from judgekit.models.request import ModelReply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
    created_at: str  # when it was fetched, UTC, ISO 8601
    imported: str | None = None
    """Name of the file or folder it was imported from; None when this cache fetched it."""

    rejected: bool = False
    """Whether it is stored for the record only and never served: cut short, filtered or empty."""

    request_text: str | None = field(default=None, compare=False, repr=False)
    """The request as canonical JSON, where it was read as that."""

    @property
    def canonical_request(self) -> str:
        """The request as canonical JSON, whose hash is the key."""
        return self.request_text or canonical_json(self.request)


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """What a cache has saved so far; a sum over all runs when the cache is on disk."""

    n_hits: int = 0
    n_misses: int = 0
    saved_usd: float = 0.0
    """What the hits had cost when they were fetched, in US dollars, as far as it is known."""

    n_unpriced_hits: int = 0  # hits whose price is not known; `saved_usd` leaves them out
    saved_ms: float = 0.0  # how long the hits had taken when they were fetched, in milliseconds

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

_ROW_NAME = re.compile(r"[0-9a-f]{64}(:request|:rejected:[0-9]+)?|counts|shared:[0-9a-f]{32}")

_KEY = re.compile(r"[0-9a-f]{64}")

# "checksum" sorts before every other name of an entry, so that in canonical JSON it stands first
# and has a fixed length: the rest can be hashed without being encoded again.
_SEAL = '{"checksum":"'
_BODY_AT = len(_SEAL) + 64 + len('",')
_REQUEST = ',"request":'


def is_row_name(name: object) -> bool:
    """Whether a name is one that this package writes."""
    return isinstance(name, str) and _ROW_NAME.fullmatch(name) is not None


def request_row(key: str) -> str:
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


def encode_entry(entry: CacheEntry, request: str | None = None) -> str:
    """The text of an entry's row; with the request's text, of its line in an export."""
    reply = entry.reply.model_dump(exclude={"cached", "key"})
    # Older lines do not have this count; where it is unknown they stay the same, byte for byte.
    if reply["usage"] and reply["usage"]["cache_write_tokens"] is None:
        del reply["usage"]["cache_write_tokens"]
    body: JsonObject = {"created_at": entry.created_at, "key": entry.key, "reply": reply}
    if entry.imported is not None and request is None:
        body["imported"] = entry.imported
    if entry.rejected:
        body["rejected"] = True
    rest = canonical_json(body)
    if request is not None:
        rest = f"{rest[:-1]}{_REQUEST}{request}}}"  # no other name sorts behind it
    return f'{_SEAL}{hashlib.sha256(rest.encode("ascii")).hexdigest()}",{rest[1:]}'


def decode_row(
    text: str, key: str, *, may_be_rejected: bool = False
) -> tuple[ModelReply, dict[str, Any]]:
    """The reply of a reply row, if it may be served under that key, and the whole entry as JSON."""
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
        reply = ModelReply.model_validate({**body["reply"], "cached": True, "key": key})
    except ValidationError as error:
        raise DamagedEntryError(f"the reply has another form: {error.errors()[0]}") from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise DamagedEntryError(f"not an entry of a reply cache: {error}") from error
    return reply, body


def decode_entry(
    text: str, key: str, request: JsonObject | None, request_text: str | None = None
) -> CacheEntry:
    """The entry of a reply row, served or rejected."""
    reply, body = decode_row(text, key, may_be_rejected=True)
    return _entry(body, reply, request, request_text)


def decode_request(text: str, key: str) -> JsonObject:
    """The request in a request row; its fingerprint must be the key."""
    if hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != key:
        raise DamagedEntryError(f"the request under {key[:12]} does not match its key")
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedEntryError(f"the request under {key[:12]} is not JSON: {error}") from error
    if not isinstance(parts, dict):
        raise DamagedEntryError(f"the request under {key[:12]} is not an object")
    return parts


def encode_line(entry: CacheEntry) -> str:
    """The entry as one line of an export, request included and provenance left out."""
    if entry.request is None:
        raise ValueError(f"entry {entry.key[:12]} cannot be exported: its request is lost")
    return encode_entry(entry, entry.canonical_request)


def decode_line(line: str) -> CacheEntry:
    try:
        body = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DamagedEntryError(f"not JSON: {error}") from error
    if not isinstance(body, dict) or not {"checksum", "request", "key"} <= body.keys():
        raise DamagedEntryError("not an entry of a reply cache")
    text = _sealed_text(line.strip(), body)
    request, request_text = body.pop("request"), text.partition(_REQUEST)[2][:-1]
    if not isinstance(request, dict) or text_fingerprint(request_text) != body["key"]:
        raise DamagedEntryError("the key is not the fingerprint of the request")
    entry = _entry(body, _cached_reply(body.get("reply"), body["key"]), request, request_text)
    # Checked at the import: a truncated reply in an export would be served for ever.
    if not entry.rejected and not is_servable(entry.reply):
        raise DamagedEntryError("the reply was cut short, filtered or empty and may not be served")
    return entry


def _cached_reply(fields: object, key: str) -> ModelReply:
    if isinstance(fields, dict):
        fields = {**fields, "cached": True, "key": key}
    try:
        return ModelReply.model_validate(fields)
    except ValidationError as error:
        raise DamagedEntryError(f"the reply has another form: {error.errors()[0]}") from error


def _sealed_text(line: str, body: dict[str, Any]) -> str:
    """The canonical JSON of a line without its checksum, which must hold."""
    checksum = body.pop("checksum")
    # As it was exported, a line is canonical JSON, and need not be written again to be hashed.
    text = "{" + line[_BODY_AT:]
    if line.startswith(f'{_SEAL}{checksum}",') and text_fingerprint(text) == checksum:
        return text
    try:
        text = canonical_json(body)
    except ValueError as error:
        raise DamagedEntryError(f"not an entry of a reply cache: {error}") from error
    if text_fingerprint(text) != checksum:
        raise DamagedEntryError("the checksum does not match: the line was altered")
    return text


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


def _entry(
    body: dict[str, Any], reply: ModelReply, request: JsonObject | None, request_text: str | None
) -> CacheEntry:
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
        request_text=request_text,
    )


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
