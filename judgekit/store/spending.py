"""Adds up what a run has paid so far, for what is current and for what was replaced since."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from judgekit.records.check import AssertionResult, Score
from judgekit.records.output import Output
from judgekit.store.tables import checks, failures, judgments, outputs, scores, variants
from judgekit.store.texts import read_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.engine import Connection

_PAGE = 256


def spent_usd(
    reading: Callable[[], AbstractContextManager[Connection]],
    run_no: int,
    is_owned: Callable[[str, Output], bool],
    *,
    only_replaced: bool = False,
) -> float:
    """What everything observed of a run was paid."""
    with reading() as connection:
        judged = [
            _sum(connection, table, _of_run(table, run_no, only_replaced=only_replaced))
            for table in (judgments, failures)
        ]
    answered = (
        output.usage.cost_usd or 0.0
        for variant, output in _outputs(reading, run_no, only_replaced=only_replaced)
        if output.usage is not None and not is_owned(variant, output)
    )
    compared = (
        0.0 if found.asked is None else found.asked.cost_usd or 0.0
        for found in _asking(reading, run_no, only_replaced=only_replaced)
    )
    return fsum([*judged, fsum(answered), fsum(compared)])


def _of_run(table: Table, run_no: int, *, only_replaced: bool) -> tuple[ColumnElement[bool], ...]:
    of_run = table.c.run_no == run_no
    return (of_run, table.c.superseded_at.is_not(None)) if only_replaced else (of_run,)


def _sum(connection: Connection, table: Table, meant: tuple[ColumnElement[bool], ...]) -> float:
    return float(connection.scalar(select(func.sum(table.c.cost_usd)).where(*meant)) or 0.0)


def _outputs(
    reading: Callable[[], AbstractContextManager[Connection]], run_no: int, *, only_replaced: bool
) -> Iterator[tuple[str, Output]]:
    """Every output that says what it cost, with its variant."""
    with reading() as connection:
        query = select(variants.c.no, variants.c.variant).where(variants.c.run_no == run_no)
        names = {row.no: row.variant for row in connection.execute(query)}
    meant = _of_run(outputs, run_no, only_replaced=only_replaced)
    for variant_no, text in _texts(reading, outputs, meant, "cost_usd"):
        yield names[variant_no], read_record(Output, text)


def _asking(
    reading: Callable[[], AbstractContextManager[Connection]], run_no: int, *, only_replaced: bool
) -> Iterator[AssertionResult | Score]:
    """Every check and score that asked a model."""
    meant = _of_run(checks, run_no, only_replaced=only_replaced)
    for _, text in _texts(reading, checks, meant, "asked"):
        yield read_record(AssertionResult, text)
    meant = _of_run(scores, run_no, only_replaced=only_replaced)
    for _, text in _texts(reading, scores, meant, "asked"):
        yield read_record(Score, text)


def _texts(
    reading: Callable[[], AbstractContextManager[Connection]],
    table: Table,
    meant: tuple[ColumnElement[bool], ...],
    field: str,
) -> Iterator[tuple[int, str]]:
    """The rows in whose text a field may stand, with the place of their variant."""
    holds = table.c.json.like(f'%"{field}"%')
    query = select(table.c.no, table.c.variant_no, table.c.json)
    query = query.where(*meant, holds).order_by(table.c.no).limit(_PAGE)
    last = 0
    while True:
        with reading() as connection:
            page = connection.execute(query.where(table.c.no > last)).all()
        for row in page:
            yield row.variant_no, row.json
        if len(page) < _PAGE:
            return
        last = page[-1].no
