"""Encodes records, names and times as text that every database can hold, and decodes them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from judgekit.errors import StoreError
from judgekit.fingerprint import fingerprint, text_fingerprint
from judgekit.records.case import Case
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.output import Output
from judgekit.records.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

_RecordT = TypeVar("_RecordT", bound=Record)
LONGEST_NAME = 500
"""The longest id of a run, case or variant, in characters: PostgreSQL indexes no longer ones."""

_LONGEST_LOOKUP = 200
_MOST_BITS = 14_000  # about 4,200 digits; Python reads no integer of more than 4,300
_PLAIN = frozenset({str, bool, type(None), datetime})


def record_text(record: Record) -> str:
    """A record as JSON text from which `read_record` makes the same record."""
    # A NUL stands in it as an escape, which both databases keep. So does a lone surrogate.
    if not _is_storable(record):
        raise StoreError(_describe_unstorable(record, type(record).__name__))
    exclude_none = _leaves_out_none(record)
    try:
        return record.model_dump_json(exclude_none=exclude_none, warnings="error")
    except PydanticSerializationError:
        # A lone surrogate, which UTF-8 refuses: the standard library writes it as an escape.
        # Or a value that went round validation: what is JSON nevertheless is kept as it is.
        return _ascii_text(record, exclude_none=exclude_none)


def read_record(kind: type[_RecordT], text: str) -> _RecordT:
    """The record whose text this is."""
    try:
        return kind.model_validate_json(text)
    except ValidationError:
        # pydantic's reader refuses lone surrogates and deep nesting, which Python's takes.
        return _read_slowly(kind, text)


def content_key(text: str) -> str:
    """The name of a content-addressed text."""
    return text_fingerprint(text)[:32]


@lru_cache(maxsize=4096)
def judgment_slot(criterion: str, judge: str, repeat: int) -> str:
    """What tells one question to a judge about an answer from every other."""
    return fingerprint([criterion, judge, repeat])[:32]


def name_text(what: str, name: str) -> str:
    """A name that tells things apart, as it stands."""
    if "\x00" in name or not _is_encodable(name):
        raise StoreError(
            f"the {what} {name[:80]!r} holds a character that no database keeps",
            hint="take NUL characters and halves of surrogate pairs out of it",
        )
    if len(name) > LONGEST_NAME:
        raise StoreError(
            f"the {what} {name[:80]!r}… has {len(name):,} characters",
            hint=f"{LONGEST_NAME} are the most that can be told apart",
        )
    return name


def lookup_text(text: str) -> str:
    """A text as it stands in a column one searches; the record itself keeps it as it was."""
    if len(text) <= _LONGEST_LOOKUP and "\x00" not in text and _is_encodable(text):
        return text
    return f"{words_text(text[:160])}…{text_fingerprint(text)[:32]}"


def words_text(text: str) -> str:
    """Words for people, without the characters that no database column holds."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\x00", "\ufffd")


def time_text(at: datetime) -> str:
    """A moment as text that sorts by time."""
    if at.tzinfo is None:
        raise StoreError(f"the time {at.isoformat()} has no zone", hint="give it in UTC")
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def read_time(text: str | None) -> datetime | None:
    """The moment whose text this is."""
    return None if text is None else datetime.fromisoformat(text)


def _leaves_out_none(record: Record) -> bool:
    """Whether fields that are None may be left out: where each of them is None when missing."""
    if isinstance(record, Case):
        return record.input is not None
    if isinstance(record, Output):
        return not record.trace  # an event keeps its own fields, those that are null too
    return isinstance(record, Judgment | JudgeFailure)


def _ascii_text(record: Record, *, exclude_none: bool) -> str:
    whole = record.model_dump(mode="python", exclude_none=exclude_none, warnings=False)
    try:
        return json.dumps(whole, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{type(record).__name__} cannot be kept as JSON: {error}") from error


def _read_slowly(kind: type[_RecordT], text: str) -> _RecordT:
    try:
        return kind.model_validate(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"the database holds a {kind.__name__} that cannot be read: {text[:80]}…",
            hint="was it written by a newer judgekit, or by something else?",
        ) from error


def _is_encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_storable(value: object) -> bool:
    """Whether every number in a value can be kept."""
    if type(value) in _PLAIN:
        return True
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, int):
        return value.bit_length() < _MOST_BITS
    members: Iterable[object]
    members = value if isinstance(value, list | tuple) else _member_values(value).values()
    # Most members are plain or empty, and a run looks at hundreds of thousands: a loop takes half
    # the time of a generator, and no call for those.
    for member in members:
        if member and type(member) not in _PLAIN and not _is_storable(member):
            return False
    return True


def _member_values(value: object) -> dict[str, object]:
    """The values inside a value, by how one writes the way to them."""
    if isinstance(value, BaseModel):
        extra = value.__pydantic_extra__
        return {**vars(value), **extra} if extra else vars(value)
    if isinstance(value, dict):
        return value
    if isinstance(value, list | tuple):
        return {str(place): item for place, item in enumerate(value)}
    return {}


def _describe_unstorable(value: object, where: str) -> str:
    """What the first number is that cannot be kept."""
    for name, member in _member_values(value).items():
        if not _is_storable(member):
            return _describe_unstorable(member, f"{where}.{name}")
    if isinstance(value, float):
        return f"{where} is {value}; what is missing is left out, or null"
    return f"{where} is an integer too large to be read again"
