"""Reads rows page by page; writes rows so that superseded rows stay as history.

Configs, rubrics and cases, which runs and comparisons share, are stored once by content.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import ColumnElement, bindparam, func, insert, select, tuple_, update
from sqlalchemy.dialects import sqlite

from judgekit.errors import InputError, StoreError
from judgekit.fingerprint import canonical_json, text_fingerprint
from judgekit.records import (
    Rubric,
    content_key,
    lookup_text,
    name_text,
    record_text,
    time_text,
    words_text,
)
from judgekit.store.schema import case_tags, cases, configs, criteria, rubrics, variants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from sqlalchemy import Column, Insert, Row, Select, Table, Update
    from sqlalchemy.engine import Connection

    from judgekit.records import Case, JsonObject, Record, Variant

    Reading = Callable[[], AbstractContextManager[Connection]]
    """Opens a transaction that only reads."""

    Rows = Sequence[Row[tuple[object, ...]]]

_T = TypeVar("_T")
RowValues = dict[str, object]
"""A row to be stored, by column."""

MOST_NAMED = 10
"""How many names an error message lists."""


def paged_rows(
    reading: Reading,
    query: Select[tuple[object, ...]],
    order: Sequence[Column[object]],
    *,
    size: int,
) -> Iterator[Row[tuple[object, ...]]]:
    """The rows of a query that is sorted by unique columns, `size` of them at a time."""
    for rows, _ in pages(reading, query, order, size=size, load=lambda _, rows: (rows, None)):
        yield from rows


def pages(
    reading: Reading,
    query: Select[tuple[object, ...]],
    order: Sequence[Column[object]],
    *,
    size: int,
    load: Callable[[Connection, Rows], tuple[Rows, _T]],
) -> Iterator[tuple[Rows, _T]]:
    """Pages of a query, each with what `load` reads for it in the same transaction.

    `load` may return fewer rows than it was given; the next page then begins after them.
    """
    # Each page begins after the last key instead of at an offset: rows added meanwhile move none,
    # and no transaction stays open while the caller works on a page.
    columns = tuple_(*order)
    page_query = query.limit(size)
    while True:
        with reading() as connection:
            page = connection.execute(page_query).all()
            rows, loaded = load(connection, page)
        yield rows, loaded
        if len(rows) == len(page) < size:
            return
        last = tuple(getattr(rows[-1], column.name) for column in order)
        page_query = query.where(columns > tuple_(*last)).limit(size)


def insert_new(connection: Connection, table: Table, rows: Iterable[RowValues]) -> int:
    """Store the rows that are new by any unique key of the table."""
    rows = list(rows)
    if not rows:
        return 0
    if connection.dialect.name == "postgresql":
        return connection.execute(_postgresql_insert(table), rows).rowcount
    # SQLite's module takes the values as they are. SQLAlchemy would go through each of them, which
    # takes as long as the insert itself.
    columns = tuple(column.name for column in table.columns if column.name in rows[0])
    values = [tuple(map(row.__getitem__, columns)) for row in rows]
    return connection.exec_driver_sql(_sqlite_insert(table, columns), values).rowcount


@cache
def _sqlite_insert(table: Table, columns: tuple[str, ...]) -> str:
    # `columns` are in the order of the table, as SQLAlchemy writes them.
    statement = sqlite.insert(table).values({name: bindparam(name) for name in columns})
    return str(statement.on_conflict_do_nothing().compile(dialect=sqlite.dialect()))


@cache
def _postgresql_insert(table: Table) -> Insert:
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - only with such a database

    statement: Insert = postgresql.insert(table).on_conflict_do_nothing()
    return statement.execution_options(preserve_rowcount=True)


def record_row(table: Table, record: Record, **own: object) -> RowValues:
    """A record as a row: its fields that have a column, its JSON, and `own` in the others."""
    for name in _record_columns(table, type(record)):
        if name in own:
            continue
        if name == "json":
            own[name] = record_text(record)
        else:
            value = getattr(record, name)
            # The JSON has a text in full; its column only has to be searchable.
            own[name] = lookup_text(value) if isinstance(value, str) else value
    return own


@cache
def _record_columns(table: Table, kind: type[Record]) -> tuple[str, ...]:
    return tuple(name for name in (*kind.model_fields, "json") if name in table.c)


def insert_numbered(connection: Connection, table: Table, row: RowValues) -> int:
    """Store a row and return the number the database gave it."""
    key = connection.execute(insert(table), row).inserted_primary_key
    return 0 if key is None else int(key[0])


def supersede(
    connection: Connection,
    table: Table,
    keys: tuple[str, ...],
    rows: Sequence[RowValues],
    *,
    at: str | None = None,
    only_changed: bool = False,
) -> int:
    """Mark the current rows with the same keys as no longer current; returns how many."""
    # With `only_changed`, rows whose JSON text is that of the new row stay current.
    if not rows:
        return 0
    bound = [
        {f"b_{name}": row[name] for name in (*keys, "json")[: None if only_changed else -1]}
        | {"b_at": at or row["at"]}
        for row in rows
    ]
    statement = _superseding(table, keys, only_changed=only_changed)
    return connection.execute(statement, bound).rowcount


def mark_superseded(table: Table, keys: tuple[str, ...], *also: ColumnElement[bool]) -> Update:
    """The statement that marks current rows; it binds `b_at` and `b_` with each key."""
    same = [table.c[name] == bindparam(f"b_{name}") for name in keys]
    current = (*same, table.c.superseded_at.is_(None), *also)
    return update(table).where(*current).values(superseded_at=bindparam("b_at"))


@cache
def _superseding(table: Table, keys: tuple[str, ...], *, only_changed: bool) -> Update:
    # Built once for each table: a run executes these for every batch of observations.
    changed = (table.c.json != bindparam("b_json"),) if only_changed else ()
    return mark_superseded(table, keys, *changed)


def newest_first(table: Table) -> tuple[ColumnElement[object], ...]:
    """The order in which runs and comparisons are listed; of one time, by their ids."""
    # Not by their numbers: those say in which order an import stored them.
    return table.c.started_at.desc(), table.c.id.desc()


def number_of(connection: Connection, table: Table, name: str) -> int | None:
    """The number of the run or comparison with exactly this id."""
    return connection.scalar(select(table.c.no).where(table.c.id == words_text(name)))


def number_with_prefix(
    connection: Connection, table: Table, start: str, *, nouns: str
) -> int | None:
    """The number of the only run or comparison whose id has this prefix, or None."""
    start = words_text(start)
    if not start:
        return None
    # Not LIKE: it ignores case in SQLite, and takes `_` and `%` in an id for wildcards.
    query = select(table.c.no, table.c.id).where(func.substr(table.c.id, 1, len(start)) == start)
    rows = connection.execute(query.order_by(*newest_first(table)).limit(MOST_NAMED)).all()
    if len(rows) > 1:
        raise InputError(
            f"several {nouns} begin with {start!r}: {', '.join(row.id for row in rows)}",
            hint="give more of the id",
        )
    return rows[0].no if rows else None


def ending_columns(status: str, reason: str | None, at: datetime | None) -> RowValues:
    """How a run or a comparison ended, or that it is running."""
    return {
        "status": status,
        "reason": None if reason is None else words_text(reason),
        "finished_at": None if at is None else time_text(at),
    }


def insert_config(connection: Connection, config: JsonObject) -> str:
    try:
        text = canonical_json(config)
    except (TypeError, ValueError) as error:
        raise StoreError(f"the run's config cannot be stored as JSON: {error}") from error
    # Stored once by its content: a suite that runs every night does not change every night.
    key = text_fingerprint(text)
    insert_new(connection, configs, [{"key": key, "json": text}])
    return key


def insert_rubric(connection: Connection, rubric: Rubric, at: str) -> str:
    text = record_text(rubric)
    key, mark = content_key(text), rubric.fingerprint
    version = lookup_text(str(rubric.version))
    row = record_row(
        rubrics, rubric, json=text, key=key, fingerprint=mark, version=version, first_seen_at=at
    )
    insert_new(connection, rubrics, [row])
    parts: list[RowValues] = [
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


def insert_cases(connection: Connection, found: Mapping[str, tuple[Case, str, str]]) -> None:
    # In one order everywhere: two runs that store the same cases never wait for each other
    # in a circle.
    ordered = sorted(found.items())
    rows = [_case_row(connection, key, *case) for key, case in ordered]
    insert_new(connection, cases, rows)
    # Tags have rows of their own, so that "all cases with this tag" is an index lookup.
    tags: list[RowValues] = [
        {"case_key": key, "tag": tag}
        for key, (case, _, _) in ordered
        for tag in sorted({lookup_text(tag) for tag in case.tags})
    ]
    insert_new(connection, case_tags, tags)


def _case_row(connection: Connection, key: str, case: Case, text: str, at: str) -> RowValues:
    own = case.rubric
    rubric_key = insert_rubric(connection, own, at) if isinstance(own, Rubric) else None
    name = None if own is None or isinstance(own, Rubric) else lookup_text(str(own))
    about: RowValues = {"key": key, "case_id": lookup_text(case.id), "first_seen_at": at}
    return record_row(cases, case, json=text, **about, rubric_key=rubric_key, rubric_name=name)


def insert_variants(
    connection: Connection, run_no: int, found: Iterable[tuple[int, Variant]]
) -> None:
    rows = [
        record_row(variants, one, run_no=run_no, no=no, variant=name_text("variant id", one.id))
        for no, one in found
    ]
    insert_new(connection, variants, rows)
