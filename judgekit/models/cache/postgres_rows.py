"""The rows and locks of a reply cache in two tables of a PostgreSQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from judgekit.errors import StoreError
from judgekit.models.cache.entries import COUNTS_ROW, is_row_name
from judgekit.models.cache.location import is_misread, unreadable_address
from judgekit.models.cache.server_cache import CONNECT_TIMEOUT_S, LOCK_S, ServerRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy.engine import Engine

_PAGE = 5000  # names, which are short
# A process that makes the tables at the moment another does would fail.
_LOCKED = "SELECT pg_advisory_xact_lock(7310320463178329444)"
# Byte order, as in every other cache, whatever the order of the database is.
_TABLES = """
CREATE TABLE IF NOT EXISTS judgekit_cache (
    name TEXT COLLATE "C" PRIMARY KEY, value TEXT NOT NULL,
    written_at TIMESTAMPTZ NOT NULL DEFAULT now());
CREATE TABLE IF NOT EXISTS judgekit_cache_locks (
    key TEXT PRIMARY KEY, holder TEXT NOT NULL, expires_at TIMESTAMPTZ NOT NULL)
"""
_STATE = (
    "SELECT to_regclass('judgekit_cache') IS NOT NULL"
    " AND to_regclass('judgekit_cache_locks') IS NOT NULL,"
    " current_setting('transaction_read_only') = 'on'"
)
_MAY_WRITE = (
    "SELECT has_table_privilege('judgekit_cache', 'INSERT')"
    " AND has_table_privilege('judgekit_cache', 'UPDATE')"
    " AND has_table_privilege('judgekit_cache_locks', 'INSERT')"
)
# One statement, so that all rows are written or none, in the order of names: two processes that
# write the same rows in different orders would wait for each other for ever.
_WRITE = (
    "INSERT INTO judgekit_cache (name, value)"
    " SELECT * FROM unnest(CAST(:names AS TEXT[]), CAST(:values AS TEXT[]))"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value, written_at = now()"
)
# By the server's clock: those of the machines may differ. And without a wait for its disk, which
# `set_config` sets for this statement: a lock that a crash of the server loses costs one call.
_LOCK = """
INSERT INTO judgekit_cache_locks AS held (key, holder, expires_at)
SELECT name, :holder, clock_timestamp() + make_interval(secs => :lasts)
FROM unnest(CAST(:keys AS TEXT[])) AS name, set_config('synchronous_commit', 'off', true)
ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE held.expires_at < clock_timestamp() OR held.holder = excluded.holder RETURNING 1
"""
_UNLOCK = """
DELETE FROM judgekit_cache_locks USING set_config('synchronous_commit', 'off', true)
WHERE key = :key AND holder = :holder
"""


class PostgresRows(ServerRows):
    """Two tables in the first schema of the search path; they are made at the first use.

    Connections of the pool are used for one statement each, so that a pooler between them and the
    server may share them.
    """

    foreign_errors = (SQLAlchemyError,)

    def __init__(self, url: str, name: str, *, read_only: bool) -> None:
        super().__init__(name)
        self._engine = _make_engine(url, name)
        is_there, is_read_only = self._ask(_STATE)[0]
        if read_only:
            self.read_only_because = "it was opened read-only"
        elif is_read_only:
            self.read_only_because = "the server takes no writes"
        if not is_there and self.read_only_because is not None:
            raise StoreError(f"there is no cache in {name}", hint="grade something first")
        if not is_there:
            self._create()
        elif self.read_only_because is None and not self._ask(_MAY_WRITE)[0][0]:
            self.read_only_because = "this user may not write to its tables"

    def text(self, name: str) -> str | None:
        found = self._ask("SELECT value FROM judgekit_cache WHERE name = :name", name=name)
        return str(found[0][0]) if found else None

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        query = "SELECT name, value FROM judgekit_cache WHERE name = ANY(:names)"
        return {row[0]: row[1] for row in self._ask(query, names=[*names])}

    def names(self) -> Iterator[str]:
        after = ""
        query = f"SELECT name FROM judgekit_cache WHERE name > :after ORDER BY name LIMIT {_PAGE}"  # noqa: S608 - a constant
        while page := [row[0] for row in self._ask(query, after=after)]:
            after = page[-1]
            yield from filter(is_row_name, page)

    def count_replies(self) -> int:
        return int(self._ask("SELECT count(*) FROM judgekit_cache WHERE length(name) = 64")[0][0])

    def n_bytes(self) -> int:
        return int(self._ask("SELECT pg_total_relation_size('judgekit_cache')")[0][0])

    def write(self, rows: Mapping[str, str]) -> None:
        ordered = sorted(rows)
        self._ask(_WRITE, is_write=True, names=ordered, values=[rows[name] for name in ordered])

    def remove(self, names: Sequence[str]) -> None:
        query = "DELETE FROM judgekit_cache WHERE name = ANY(:names)"
        self._ask(query, is_write=True, names=[*names])

    def clear(self) -> None:
        self._ask("DELETE FROM judgekit_cache", is_write=True)

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        def action() -> None:
            with self._engine.execution_options(isolation_level="READ COMMITTED").begin() as open_:
                open_.execute(text(_LOCKED))
                query = text("SELECT value FROM judgekit_cache WHERE name = :name")
                present = open_.scalar(query, {"name": COUNTS_ROW})
                counts = {"names": [COUNTS_ROW], "values": [text_of(present)]}
                open_.execute(text(_WRITE), counts)

        # Once only: done twice it would count twice.
        self.run(action, is_write=True, retries=False)

    def lock(self, holder: str, *keys: str) -> bool:
        return bool(self._ask(_LOCK, keys=sorted(keys), holder=holder, lasts=LOCK_S))

    def unlock(self, key: str, holder: str) -> None:
        self._ask(_UNLOCK, is_write=True, key=key, holder=holder)

    def close(self) -> None:
        self._engine.dispose()

    def is_lost(self, error: Exception) -> bool:
        if not isinstance(error, DBAPIError):
            return False
        # 57P: the server is stopping or starting; without a state no server answered.
        state = getattr(error.orig, "sqlstate", None)
        is_unanswered = type(error.orig).__name__ == "OperationalError" and state is None
        return error.connection_invalidated or is_unanswered or str(state)[:3] in {"57P", "080"}

    def forget_connections(self) -> None:
        self._engine.dispose(close=False)

    def _create(self) -> None:
        def action() -> None:
            with self._engine.execution_options(isolation_level="READ COMMITTED").begin() as open_:
                for statement in (_LOCKED, *_TABLES.split(";")):
                    open_.execute(text(statement))

        self.run(action, is_write=True)

    def _ask(
        self, query: str, *, is_write: bool = False, **values: object
    ) -> list[tuple[Any, ...]]:
        def action() -> list[tuple[Any, ...]]:
            with self._engine.connect() as connection:
                found = connection.execute(text(query), values)
                return list(map(tuple, found)) if found.returns_rows else []

        return self.run(action, is_write=is_write)


def _make_engine(url: str, name: str) -> Engine:
    try:
        address = make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        raise unreadable_address(name) from None
    if is_misread(url, address.host, address.database):
        raise unreadable_address(name)
    # What the address says goes first. A dead network is noticed within the time of a lock. Texts
    # of a database without an encoding (SQL_ASCII) would come as bytes.
    seconds = str(CONNECT_TIMEOUT_S)
    own = {"connect_timeout": seconds, "keepalives_idle": seconds, "application_name": "judgekit"}
    query = {**own, "tcp_user_timeout": f"{seconds}000", **address.query}
    return create_engine(
        address.set(query=query),
        hide_parameters=True,
        isolation_level="AUTOCOMMIT",
        # One, which threads take in turn: the server may have no other when locks are renewed.
        pool_size=1,
        max_overflow=0,
        connect_args={"prepare_threshold": None, "client_encoding": "utf8"},
    )
