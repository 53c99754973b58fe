"""The queue of items for human judgment: adding, answering and withdrawing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update

from judgekit.errors import InputError, StoreError
from judgekit.records import HumanItem, judgment_slot, read_record, read_time, time_text
from judgekit.store.observations import find_answer_row, judge_row
from judgekit.store.rows import insert_new, paged_rows, record_row, supersede
from judgekit.store.schema import ANSWER_COLUMNS, failures, judgments, queue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy.engine import Connection, Row

    from judgekit.records import Judgment
    from judgekit.store.rows import Reading, RowValues as NewRow

_PAGE = 500
_SLOT_COLUMNS = (*ANSWER_COLUMNS, "slot")


def enqueue_items(connection: Connection, run_no: int, items: Sequence[HumanItem]) -> None:
    """Add items to the queue; items in the queue are not changed."""
    rows = []
    for item in items:
        key, at = find_answer_row(connection, run_no, item.key), time_text(item.asked_at)
        own: NewRow = {**key, "slot": _item_slot(item), "asked_at": at, "answered_at": None}
        rows.append(record_row(queue, item, **own))
    insert_new(connection, queue, rows)


def read_queue(reading: Reading, run_no: int | None, *, open_only: bool) -> Iterator[HumanItem]:
    """The items that wait for a human judgment."""
    # In the order of the results, so that all criteria of one output are judged together.
    order = (queue.c.run_no, queue.c.place, queue.c.variant_no, queue.c.repeat, queue.c.no)
    query = select(queue).order_by(*order)
    if run_no is not None:
        query = query.where(queue.c.run_no == run_no)
    if open_only:
        query = query.where(queue.c.answered_at.is_(None))
    for row in paged_rows(reading, query, order, size=_PAGE):
        item = read_record(HumanItem, row.json)
        yield item.model_copy(update={"answered_at": read_time(row.answered_at)})


def record_human_judgment(
    connection: Connection, run_no: int, item: HumanItem, judgment: Judgment, at: str
) -> None:
    """Store a human judgment and close the item it answers."""
    if judgment.source != "human" or judgment.criterion != item.criterion:
        raise InputError(
            f"the item is about {item.criterion!r}; this is a judgment of "
            f"{judgment.criterion!r} by {judgment.source}"
        )
    row = _queue_row(connection, run_no, item)
    if row.answered_at is not None:
        raise StoreError(
            f"{item.criterion!r} of case {item.key.case_id!r} was answered already",
            hint="withdraw that answer first",
        )
    key: NewRow = {name: getattr(row, name) for name in ANSWER_COLUMNS}
    new = judge_row(key, judgment, at)
    # A human judgment replaces an identical one too, so that the item is closed by it.
    for table in (judgments, failures):
        supersede(connection, table, _SLOT_COLUMNS, [new], at=at)
    insert_new(connection, judgments, [new])
    _update_item(connection, row.no, answered_at=at, slot=str(new["slot"]))


def withdraw_human_judgment(connection: Connection, run_no: int, item: HumanItem, at: str) -> None:
    """Withdraw a human judgment: it stays as history, and the item is open again."""
    row = _queue_row(connection, run_no, item)
    if row.answered_at is None:
        raise StoreError(f"{item.criterion!r} of case {item.key.case_id!r} was not answered yet")
    key: NewRow = {name: getattr(row, name) for name in ANSWER_COLUMNS}
    slot: NewRow = {**key, "slot": row.answer_slot}
    supersede(connection, judgments, _SLOT_COLUMNS, [slot], at=at)
    _update_item(connection, row.no, answered_at=None, slot=None)


def _item_slot(item: HumanItem) -> str:
    return judgment_slot(item.criterion, item.judge, item.repeat)


def _queue_row(connection: Connection, run_no: int, item: HumanItem) -> Row[tuple[object, ...]]:
    key = find_answer_row(connection, run_no, item.key)
    query = select(queue).where(queue.c.slot == _item_slot(item))
    # On a server two annotators may answer at the same moment: the second waits for the first.
    query = query.where(*(queue.c[name] == value for name, value in key.items())).with_for_update()
    row = connection.execute(query).first()
    if row is None:
        raise StoreError(
            f"{item.criterion!r} of case {item.key.case_id!r} is not in the queue",
            hint="only queued items can be answered",
        )
    return row


def _update_item(
    connection: Connection, no: int, *, answered_at: str | None, slot: str | None
) -> None:
    values = {"answered_at": answered_at, "answer_slot": slot}
    connection.execute(update(queue).where(queue.c.no == no).values(values))
