"""The one place where errors of the database become errors of judgekit."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError

from judgekit.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUSY = "another process is writing; wait for it, or give this run a database of its own"
_FULL = "free some space and run again with --resume; what was committed is safe"
DAMAGED = (
    "keep a copy; `sqlite3 FILE .recover | sqlite3 NEW` saves what can be read, and the cache "
    "still owns every reply"
)
"""What to do about a database that is damaged."""

_FORBIDDEN = "you may not write there; name another database"
_SQLITE_HINTS = {
    "database is locked": _BUSY,
    "database table is locked": _BUSY,
    "database or disk is full": _FULL,
    "disk i/o error": _FULL,
    "file is not a database": "name a database of judgekit, or a path where there is nothing",
    "malformed": DAMAGED,
    "readonly database": _FORBIDDEN,
    "unable to open database file": _FORBIDDEN,
}
_NO_SERVER = "is the server running, and are host, port, user, password and database right?"
_POSTGRES_HINTS = {
    "08": _NO_SERVER,
    "28": _NO_SERVER,
    "3D": "make the database first: createdb NAME",
    "42501": _FORBIDDEN,
    "53100": _FULL,
    "53": "the server has no room for another connection",
    "55P03": _BUSY,
    "57P": "the server is stopping; start it and run again with --resume",
}


@contextmanager
def mapped(name: str) -> Iterator[None]:
    """Turn what goes wrong in a database into a `StoreError` that says what to do."""
    try:
        yield
    except StatementError as error:  # DBAPIError is one
        raise _store_error(name, error.orig or error, is_lost=_is_lost(error)) from error
    except SQLAlchemyError as error:
        raise StoreError(f"{name}: {error}") from error
    except sqlite3.Error as error:
        raise _store_error(name, error, is_lost=False) from error


def _is_lost(error: StatementError) -> bool:
    return isinstance(error, DBAPIError) and error.connection_invalidated


def _store_error(name: str, error: BaseException, *, is_lost: bool) -> StoreError:
    words = " ".join(str(error).split()) or type(error).__name__
    hint = _hint(words, getattr(error, "sqlstate", None))
    if hint is None and (is_lost or "connection" in words.lower()):
        hint = _NO_SERVER
    return StoreError(f"{name}: {words}", hint=hint)


def _hint(words: str, state: str | None) -> str | None:
    if state:
        near = [code for code in _POSTGRES_HINTS if state.startswith(code)]
        return _POSTGRES_HINTS[max(near, key=len)] if near else None
    return next((hint for part, hint in _SQLITE_HINTS.items() if part in words.lower()), None)
