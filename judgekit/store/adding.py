"""How observations are added: nothing twice, nothing lost, the last of each kind current."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import Update, bindparam, exists, or_, select, update

from judgekit.errors import StoreError
from judgekit.records.output import Variant
from judgekit.store.observed_rows import ANSWER, Batch
from judgekit.store.run_rows import keep_variants
from judgekit.store.snapshots import insert_new, keep_cases
from judgekit.store.tables import PARTS, answers, checks, failures, judgments, outputs, scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.engine import Connection

    from judgekit.records.run import Observed
    from judgekit.store.snapshots import Row


def add_observations(
    connection: Connection,
    run_no: int,
    known_variants: dict[str, int],
    observed: Sequence[Observed],
) -> None:
    """Add what was observed of answers of a run."""
    # What is there already, to the letter, is left alone. Of two different judgments by one judge
    # of one criterion in one repeat the last is current, and so with outputs, checks and scores;
    # what an output that was replaced had been judged is no longer current either.
    _number_variants(connection, run_no, known_variants, observed)
    batch = Batch.of(run_no, known_variants, observed)
    keep_cases(connection, batch.cases)
    # Where every answer is new, nothing can be there whose place something takes.
    is_new = insert_new(connection, answers, batch.begun) == len(batch.answers)
    if not is_new:
        _touch(connection, batch)
        _make_room(connection, batch)
    insert_new(connection, outputs, batch.outputs)
    insert_new(connection, failures, batch.failures)
    insert_new(connection, judgments, batch.judgments)
    if batch.failures or not is_new:
        _count_judgments_first(connection, batch)
    for table, lists in ((checks, batch.checks), (scores, batch.scores)):
        insert_new(connection, table, [row for found in lists for row in found])


def supersede(
    connection: Connection, tables: Sequence[Table], rows: Sequence[Row], at: str
) -> None:
    """Mark every current observation of some answers as no longer current."""
    for table in tables:
        keys = [{**_bound(row), "b_at": at} for row in rows]
        connection.execute(_superseding(table), keys)


def _number_variants(
    connection: Connection, run_no: int, known: dict[str, int], observed: Sequence[Observed]
) -> None:
    names = dict.fromkeys(each.key.variant for each in observed)
    new = [name for name in names if name not in known]
    if new:
        found = {name: len(known) + place for place, name in enumerate(new)}
        keep_variants(connection, run_no, [(no, Variant(id=name)) for name, no in found.items()])
        known.update(found)


def _touch(connection: Connection, batch: Batch) -> None:
    """Note which answers are whole; find those that were never begun, or stand elsewhere."""
    rows = [
        {**_bound(row), "b_case_id": row["case_id"], "b_done": row["is_done"]}
        for row in batch.answers
    ]
    if connection.execute(_touching(), rows).rowcount == len(rows):
        return
    for row in batch.answers:
        query = select(answers.c.case_id).where(*(answers.c[n] == row[n] for n in ANSWER))
        found = connection.scalar(query)
        if found != row["case_id"]:
            raise StoreError(_misplaced(row, found))


def _misplaced(row: Row, found: str | None) -> str:
    if found is not None:
        return (
            f"case {row['case_id']!r} is now case {row['place']} of the dataset, where the run "
            f"had {found!r} before: begin a new run for a dataset that has changed"
        )
    return (
        f"case {row['case_id']!r} was not begun at place {row['place']}: its first observation "
        "brings the case, and it keeps its place in the dataset for the whole run"
    )


def _make_room(connection: Connection, batch: Batch) -> None:
    """Mark what is current and says something else than what comes in its place."""
    _make_room_for_outputs(connection, batch.outputs)
    for table, rows in ((failures, batch.failures), (judgments, batch.judgments)):
        _replace(connection, table, "slot", rows)
    for table, lists in ((checks, batch.checks), (scores, batch.scores)):
        _replace(connection, table, "ordinal", [row for found in lists for row in found])
        ends = [{**_bound(rows[0]), "b_at": rows[0]["at"], "b_n": len(rows)} for rows in lists]
        if ends:  # a shorter list takes the place of the whole longer one
            connection.execute(_shortening(table), ends)


def _make_room_for_outputs(connection: Connection, rows: Sequence[Row]) -> None:
    if not rows:
        return
    bound = [{**_bound(row), "b_at": row["at"], "b_json": row["json"]} for row in rows]
    if not connection.execute(_replacing(outputs), bound).rowcount:
        return
    for row in rows:
        same = [outputs.c[name] == row[name] for name in ANSWER]
        query = select(outputs.c.no).where(*same, outputs.c.superseded_at.is_(None))
        if connection.scalar(query) is None:  # what it had been judged is of another output
            supersede(connection, PARTS, [row], str(row["at"]))


def _replace(connection: Connection, table: Table, part: str, rows: Sequence[Row]) -> None:
    if rows:
        bound = [
            {**_bound(row), "b_at": row["at"], "b_json": row["json"], f"b_{part}": row[part]}
            for row in rows
        ]
        connection.execute(_replacing(table, part), bound)


def _count_judgments_first(connection: Connection, batch: Batch) -> None:
    """A judgment takes the place of a failure, and never the other way round."""
    said = [*batch.failures, *batch.judgments]
    if said:
        bound = [{**_bound(row), "b_at": row["at"], "b_slot": row["slot"]} for row in said]
        connection.execute(_outdoing(), bound)


def _bound(row: Row) -> Row:
    return {f"b_{name}": row[name] for name in ANSWER}


def _same_answer(table: Table) -> list[ColumnElement[bool]]:
    return [table.c[name] == bindparam(f"b_{name}") for name in ANSWER]


def _marking(table: Table, *conditions: ColumnElement[bool]) -> Update:
    current = (*_same_answer(table), table.c.superseded_at.is_(None), *conditions)
    return update(table).where(*current).values(superseded_at=bindparam("b_at"))


@cache
def _touching() -> Update:
    done = or_(answers.c.is_done, bindparam("b_done"))
    same_case = answers.c.case_id == bindparam("b_case_id")
    return update(answers).where(*_same_answer(answers), same_case).values(is_done=done)


@cache
def _superseding(table: Table) -> Update:
    return _marking(table)


@cache
def _replacing(table: Table, part: str | None = None) -> Update:
    """Mark what is current under the same key and says something else."""
    same_part = () if part is None else (table.c[part] == bindparam(f"b_{part}"),)
    return _marking(table, *same_part, table.c.json != bindparam("b_json"))


@cache
def _shortening(table: Table) -> Update:
    return _marking(table, table.c.ordinal >= bindparam("b_n"))


@cache
def _outdoing() -> Update:
    judged = exists().where(
        *(judgments.c[name] == failures.c[name] for name in (*ANSWER, "slot")),
        judgments.c.superseded_at.is_(None),
    )
    return _marking(failures, failures.c.slot == bindparam("b_slot"), judged)
