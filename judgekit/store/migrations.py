"""Brings a database to the schema this judgekit knows: makes it, migrates it, or refuses it."""

from __future__ import annotations

import json
import os
import sqlite3
from datetime import UTC, datetime
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING

from sqlalchemy import inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from judgekit.errors import StoreError
from judgekit.store.comparison_step import from_2_to_3
from judgekit.store.comparison_tables import every_table as metadata
from judgekit.store.tables import VERSION, schema
from judgekit.store.texts import lookup_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from sqlalchemy.engine import Connection

    from judgekit.store.location import Location

OLDEST = 1
"""The oldest schema version that can still be migrated."""


def schema_version(connection: Connection, name: str) -> int | None:
    """The schema version a database has."""
    tables = set(inspect(connection).get_table_names())
    if schema.name not in tables:
        # A server's database may be shared with others, as long as no name is taken.
        foreign = tables if connection.dialect.name == "sqlite" else tables & set(metadata.tables)
        if foreign:
            held = ", ".join(sorted(foreign)[:5])
            raise StoreError(
                f"{name} is a database of something else: it holds {held}",
                hint="name another database, or a path where there is nothing yet",
            )
        return None
    newest = connection.execute(
        select(schema.c.version, schema.c.judgekit).order_by(schema.c.version.desc()).limit(1)
    ).first()
    if newest is None:
        raise StoreError(f"{name} does not say which schema it has", hint="restore a copy of it")
    if newest.version > VERSION:
        raise StoreError(
            f"{name} was written by judgekit {newest.judgekit} and has schema {newest.version}; "
            f"this judgekit ({installed_version('judgekit-llm')}) knows {VERSION} and older",
            hint=f'pip install -U "judgekit-llm>={newest.judgekit}"',
        )
    return int(newest.version)


def bring_up_to_date(connection: Connection, location: Location) -> None:
    """Make or migrate the schema; to be called in a transaction, and to have none beside it."""
    if connection.dialect.name == "postgresql":
        # Two processes that make the same tables at once would both fail.
        connection.execute(text("SELECT pg_advisory_xact_lock(7310320463178329443)"))
    found = schema_version(connection, location.name)
    if found is None:
        metadata.create_all(connection, checkfirst=False)
        _note(connection, VERSION)
        return
    if found < VERSION and location.file is not None:
        copy_file(location.file, found)
    for step in range(found, VERSION):
        try:
            STEPS[step](connection)
        except (ValueError, SQLAlchemyError) as error:
            raise StoreError(
                f"{location.name} cannot be migrated from schema {step} to {step + 1}: {error}",
                hint="nothing was changed; the judgekit that wrote it can still read it",
            ) from error
        _note(connection, step + 1)


def copy_file(file: Path, found: int) -> Path:
    """Copy a database beside itself before it is migrated."""
    when = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    copy = file.with_name(f"{file.name}.v{found}-{when}")
    try:
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT, 0o600))
        # SQLite's own copying sees what is still in the write-ahead log.
        source, target = sqlite3.connect(file), sqlite3.connect(copy)
        try:
            source.backup(target)
        finally:
            source.close()
            target.close()
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{file} has schema {found} and must be migrated, but cannot be copied first: {error}",
            hint="free some space, or allow writing in its folder",
        ) from error
    return copy


def _note(connection: Connection, version: int) -> None:
    connection.execute(
        schema.insert(),
        {
            "version": version,
            "judgekit": installed_version("judgekit-llm"),
            "applied_at": time_text(datetime.now(UTC)),
        },
    )


def _from_1_to_2(connection: Connection) -> None:
    """A queue for people, and outputs found by the agent's own run."""
    # A step is written in SQL of its time: the tables of `tables.py` go on changing.
    connection.execute(text("ALTER TABLE outputs ADD COLUMN agent_run TEXT"))
    rows = connection.execute(text("SELECT no, json FROM outputs WHERE json LIKE '%\"run_id\"%'"))
    known = [
        {"no": row.no, "agent_run": lookup_text(run_id)}
        for row in rows
        if (run_id := json.loads(row.json).get("run_id")) is not None
    ]
    if known:
        change = "UPDATE outputs SET agent_run = :agent_run WHERE no = :no"
        connection.execute(text(change), known)
    connection.execute(text("CREATE INDEX outputs_by_agent_run ON outputs (agent_run)"))
    is_sqlite = connection.dialect.name == "sqlite"
    number = "INTEGER NOT NULL" if is_sqlite else "BIGINT GENERATED BY DEFAULT AS IDENTITY"
    connection.execute(
        text(
            f"CREATE TABLE queue (no {number}, run_no BIGINT NOT NULL, place BIGINT NOT NULL, "
            "variant_no BIGINT NOT NULL, repeat BIGINT NOT NULL, slot TEXT NOT NULL, "
            "json TEXT NOT NULL, asked_at TEXT NOT NULL, answered_at TEXT, answer_slot TEXT, "
            "PRIMARY KEY (no), FOREIGN KEY (run_no, place, variant_no, repeat) "
            "REFERENCES answers (run_no, place, variant_no, repeat), "
            "UNIQUE (run_no, place, variant_no, repeat, slot))"
        )
    )


STEPS: Mapping[int, Callable[[Connection], None]] = {1: _from_1_to_2, 2: from_2_to_3}
"""How to come from each version to the next."""
