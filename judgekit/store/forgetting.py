"""Decides what of a failed answer is asked again; what was observed stays as history."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Table, select, update

from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.output import Output
from judgekit.store.adding import supersede
from judgekit.store.observed_rows import ANSWER
from judgekit.store.people import find_answer
from judgekit.store.tables import PARTS, answers, failures, judgments, outputs
from judgekit.store.texts import read_record, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.engine import Connection

    from judgekit.records.record import Record
    from judgekit.records.run import ItemKey
    from judgekit.store.snapshots import Row


_KINDS: tuple[tuple[Table, type[Record]], ...] = (
    (outputs, Output),
    (judgments, Judgment),
    (failures, JudgeFailure),
)


class Earlier(NamedTuple):
    """An observation that is no longer current."""

    at: datetime
    """When it was made (UTC)."""

    superseded_at: datetime
    """Since when it is no longer current (UTC)."""

    what: Record
    """An output, a judgment or a judge's failure."""


def forget_failures(
    connection: Connection,
    run_no: int,
    keys: Sequence[ItemKey],
    *,
    judge_failures: bool,
    target_errors: bool,
) -> int:
    """Make answers that failed incomplete again."""
    at = time_text(datetime.now(UTC))
    n = 0
    for key in keys:
        row = find_answer(connection, run_no, key)
        tables: Sequence[Table] = ()
        if target_errors and _has(connection, outputs, row, outputs.c.is_error):
            tables = PARTS
        elif judge_failures and _has(connection, failures, row):
            tables = (failures,)
        if tables:
            supersede(connection, tables, [row], at)
            same = [answers.c[name] == row[name] for name in ANSWER]
            connection.execute(update(answers).where(*same).values(is_done=False))
            n += 1
    return n


def read_history(connection: Connection, run_no: int, key: ItemKey) -> list[Earlier]:
    """What was observed of an answer and is no longer current."""
    row = find_answer(connection, run_no, key)
    found: list[Earlier] = []
    for table, kind in _KINDS:
        query = select(table.c.at, table.c.superseded_at, table.c.json)
        query = query.where(*_same(table, row), table.c.superseded_at.is_not(None))
        for at, until, text in connection.execute(query.order_by(table.c.no)):
            what = read_record(kind, text)
            found.append(Earlier(datetime.fromisoformat(at), datetime.fromisoformat(until), what))
    return sorted(found, key=lambda each: each[:2])


def _has(connection: Connection, table: Table, row: Row, *also: ColumnElement[bool]) -> bool:
    query = select(table.c.no).where(*_same(table, row), table.c.superseded_at.is_(None), *also)
    return connection.execute(query.limit(1)).first() is not None


def _same(table: Table, row: Row) -> list[ColumnElement[bool]]:
    return [table.c[name] == row[name] for name in ANSWER]
