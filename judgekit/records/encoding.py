"""Encodes records, names and times as text that every database can hold, and decodes them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from judgekit.errors import StoreError
from judgekit.fingerprint import fingerprint, text_fingerprint
from judgekit.records.case import Case
from judgekit.records.images import STORED
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.output import Output
from judgekit.records.record import Record

_RecordT = TypeVar("_RecordT", bound=Record)
LONGEST_NAME = 500
"""The longest id of a run, case or variant, in characters: PostgreSQL indexes no longer ones."""

_LONGEST_LOOKUP = 200
_MOST_BITS = 14_000  # about 4,200 digits; Python reads no integer of more than 4,300
_PLAIN = frozenset({str, bool, type(None), datetime})


def record_text(record: Record) -> str:
    """A record as JSON text from which `read_record` makes the same record."""
    # A NUL or a lone surrogate is written as an escape, which both databases store.
    if not _is_storable(record):
        raise StoreError(_describe_unstorable(record, type(record).__name__))
    exclude_none = _leaves_out_none(record)
    # A lone surrogate, which UTF-8 refuses, is an error to pydantic, but a replacement character in
    # the name of a field: the standard library writes it as an escape. Or a value bypassed
    # validation: if it is JSON nevertheless, it is stored unchanged.
    with suppress(PydanticSerializationError):
        text = record.model_dump_json(exclude_none=exclude_none, warnings="error")
        if "\ufffd" not in text:
            return text
    whole = record.model_dump(mode="python", exclude_none=exclude_none, warnings=False)
    try:
        return json.dumps(whole, allow_nan=False, default=datetime.isoformat)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{type(record).__name__} cannot be stored as JSON: {error}") from error


def read_record(kind: type[_RecordT], text: str) -> _RecordT:
    """The record that `record_text` wrote."""
    try:
        return kind.model_validate_json(text, context=STORED)
    except ValidationError:
        # pydantic's reader refuses lone surrogates and deep nesting, which Python's takes.
        try:
            return kind.model_validate(json.loads(text), context=STORED)
        except (ValueError, RecursionError) as error:
            raise StoreError(
                f"the database holds a {kind.__name__} that cannot be read: {text[:80]}…",
                hint="it may have been written by a newer judgekit or by another program",
            ) from error


def content_key(text: str) -> str:
    """The name of a content-addressed text."""
    return text_fingerprint(text)[:32]


@lru_cache(maxsize=4096)
def judgment_slot(criterion: str, judge: str, repeat: int, turn: int | None = None) -> str:
    """The key of one question to a judge about an answer."""
    return fingerprint([criterion, judge, repeat, *([] if turn is None else [turn])])[:32]


def name_text(what: str, name: str) -> str:
    """The name unchanged, if a database can hold it and index it."""
    if "\x00" in name or not _is_encodable(name):
        raise StoreError(
            f"the {what} {name[:80]!r} holds a character that no database stores",
            hint="remove NUL characters and lone surrogates from it",
        )
    if len(name) > LONGEST_NAME:
        raise StoreError(
            f"the {what} {name[:80]!r}… has {len(name):,} characters",
            hint=f"use at most {LONGEST_NAME}",
        )
    return name


def lookup_text(text: str) -> str:
    """A text for a searchable column, shortened if needed; the record holds it in full."""
    if len(text) <= _LONGEST_LOOKUP and "\x00" not in text and _is_encodable(text):
        return text
    return f"{words_text(text[:160])}…{text_fingerprint(text)[:32]}"


def words_text(text: str) -> str:
    """A text for readers, without the characters that no database column holds."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\x00", "\ufffd")


def time_text(at: datetime) -> str:
    """A time as text that sorts chronologically."""
    if at.tzinfo is None:
        raise StoreError(f"the time {at.isoformat()} has no time zone", hint="give it in UTC")
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def read_time(text: str | None) -> datetime | None:
    """The time that `time_text` wrote."""
    return None if text is None else datetime.fromisoformat(text)


def _leaves_out_none(record: Record) -> bool:
    """Whether fields that are None may be left out, because None is their default."""
    if isinstance(record, Case):
        return record.input is not None
    if isinstance(record, Output):
        return not record.trace  # an event may have further fields that are null
    return isinstance(record, Judgment | JudgeFailure)


def _is_encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_storable(value: object) -> bool:
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
    if isinstance(value, BaseModel):
        extra = value.__pydantic_extra__
        return {**vars(value), **extra} if extra else vars(value)
    if isinstance(value, dict):
        return value
    if isinstance(value, list | tuple):
        return {str(place): item for place, item in enumerate(value)}
    return {}


def _describe_unstorable(value: object, where: str) -> str:
    for name, member in _member_values(value).items():
        if not _is_storable(member):
            return _describe_unstorable(member, f"{where}.{name}")
    if isinstance(value, float):
        return f"{where} is {value}; leave a missing value out, or use null"
    return f"{where} is an integer too large to be read again"
