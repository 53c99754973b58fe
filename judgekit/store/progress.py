"""How far each answer of a run has come: what resuming needs to know, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, func, select, tuple_

from judgekit.records.run import ItemKey
from judgekit.store.observed_rows import ANSWER
from judgekit.store.tables import answers, failures, judgments, outputs, variants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import ColumnElement, ScalarSelect, Select, Table
    from sqlalchemy.engine import Connection

_PAGE = 2000


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one answer has come."""

    key: ItemKey
    """The answer."""

    place: int
    """Place of its case in the dataset, from 0."""

    is_done: bool
    """Whether everything that was to be asked has been."""

    has_output: bool
    """Whether the variant has answered, with an error or without."""

    has_error: bool
    """Whether its answer is an error."""

    error_kind: str | None
    """What kind of error, where judgekit ran the variant."""

    n_judgments: int
    """Judgments that count."""

    n_failures: int
    """Judge failures whose place no judgment took."""


def read_progress(
    reading: Callable[[], AbstractContextManager[Connection]], run_no: int
) -> Iterator[Progress]:
    """How far each answer of a run has come that was begun."""
    query = _query(run_no)
    last = (-1, -1, -1)
    while True:
        with reading() as connection:
            rows = connection.execute(query.where(after(last)).limit(_PAGE)).all()
        for row in rows:
            yield Progress(
                key=ItemKey(row.case_id, row.variant, row.repeat),
                place=row.place,
                is_done=row.is_done,
                has_output=row.is_error is not None,
                has_error=bool(row.is_error),
                error_kind=row.error_kind,
                n_judgments=row.n_judgments,
                n_failures=row.n_failures,
            )
        if len(rows) < _PAGE:
            return
        last = (rows[-1].place, rows[-1].variant_no, rows[-1].repeat)


def after(last: tuple[int, int, int]) -> ColumnElement[bool]:
    """The condition that an answer comes after another of its run."""
    return tuple_(answers.c.place, answers.c.variant_no, answers.c.repeat) > tuple_(*last)


def in_order() -> tuple[ColumnElement[int], ...]:
    """The order in which answers of a run are read."""
    return answers.c.place, answers.c.variant_no, answers.c.repeat


def of_answer(table: Table) -> ColumnElement[bool]:
    """The condition that a row is a current observation of an answer."""
    same = [table.c[name] == answers.c[name] for name in ANSWER]
    return and_(table.c.superseded_at.is_(None), *same)


def _query(run_no: int) -> Select[tuple[object, ...]]:
    return (
        select(
            answers.c.case_id,
            answers.c.place,
            answers.c.variant_no,
            answers.c.repeat,
            answers.c.is_done,
            variants.c.variant,
            outputs.c.is_error,
            outputs.c.error_kind,
            _count(judgments).label("n_judgments"),
            _count(failures).label("n_failures"),
        )
        .join(
            variants,
            (variants.c.run_no == answers.c.run_no) & (variants.c.no == answers.c.variant_no),
        )
        .outerjoin(outputs, of_answer(outputs))
        .where(answers.c.run_no == run_no)
        .order_by(*in_order())
    )


def _count(table: Table) -> ScalarSelect[int]:
    return select(func.count()).where(of_answer(table)).scalar_subquery()
