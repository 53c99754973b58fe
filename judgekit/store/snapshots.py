"""Rows of what is kept once, however many runs have it: configs, rubrics and cases."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.dialects import sqlite

from judgekit.errors import StoreError
from judgekit.fingerprint import canonical_json, text_fingerprint
from judgekit.records.rubric import Rubric
from judgekit.store.tables import case_tags, cases, configs, criteria, rubrics
from judgekit.store.texts import content_key, lookup_text, read_record, record_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Insert, Table
    from sqlalchemy.engine import Connection

    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject

Row = dict[str, object]
"""A row to be stored, by column."""


def insert_new(connection: Connection, table: Table, rows: Iterable[Row]) -> int:
    """Store the rows that are not there yet, told by any unique key of the table."""
    rows = list(rows)
    if not rows:
        return 0
    return connection.execute(_insert(table, connection.dialect.name), rows).rowcount


@cache
def _insert(table: Table, dialect: str) -> Insert:
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - only with such a database

        statement: Insert = postgresql.insert(table).on_conflict_do_nothing()
    else:
        statement = sqlite.insert(table).on_conflict_do_nothing()
    return statement.execution_options(preserve_rowcount=True)


def keep_config(connection: Connection, config: JsonObject) -> str:
    """Keep a suite as it is run."""
    try:
        text = canonical_json(config)
    except (TypeError, ValueError) as error:
        raise StoreError(f"the run's config cannot be kept as JSON: {error}") from error
    key = text_fingerprint(text)
    insert_new(connection, configs, [{"key": key, "json": text}])
    return key


def keep_rubric(connection: Connection, rubric: Rubric, at: str) -> str:
    """Keep a rubric and its criteria as they are."""
    text = record_text(rubric)
    key = content_key(text)
    row: Row = {
        "key": key,
        "fingerprint": rubric.fingerprint,
        "name": lookup_text(rubric.name),
        "version": lookup_text(str(rubric.version)),
        "first_seen_at": at,
        "json": text,
    }
    insert_new(connection, rubrics, [row])
    parts: list[Row] = [
        {
            "rubric_key": key,
            "place": place,
            "name": lookup_text(criterion.name),
            "fingerprint": criterion.fingerprint,
            "weight": criterion.weight,
            "is_required": criterion.required,
        }
        for place, criterion in enumerate(rubric.criteria)
    ]
    insert_new(connection, criteria, parts)
    return key


def keep_cases(connection: Connection, found: Mapping[str, tuple[Case, str, str]]) -> None:
    """Keep cases as they are."""
    # In one order everywhere: two runs that store the same cases never wait for each other
    # in a circle.
    ordered = sorted(found.items())
    rows = [_case_row(connection, key, *case) for key, case in ordered]
    insert_new(connection, cases, rows)
    tags: list[Row] = [
        {"case_key": key, "tag": tag}
        for key, (case, _, _) in ordered
        for tag in sorted({lookup_text(tag) for tag in case.tags})
    ]
    insert_new(connection, case_tags, tags)


def _case_row(connection: Connection, key: str, case: Case, text: str, at: str) -> Row:
    own = case.rubric
    is_whole = isinstance(own, Rubric)
    return {
        "key": key,
        "case_id": lookup_text(case.id),
        "agent": _maybe(case.agent),
        "skill": _maybe(case.skill),
        "prompt_version": _maybe(case.prompt_version),
        "rubric_key": keep_rubric(connection, own, at) if isinstance(own, Rubric) else None,
        "rubric_name": None if own is None or is_whole else lookup_text(str(own)),
        "first_seen_at": at,
        "json": text,
    }


def read_rubric(connection: Connection, key: str | None) -> Rubric | None:
    """The rubric of a key."""
    if key is None:
        return None
    text = connection.scalar(select(rubrics.c.json).where(rubrics.c.key == key))
    return None if text is None else read_record(Rubric, text)


def _maybe(text: str | None) -> str | None:
    return None if text is None else lookup_text(text)
