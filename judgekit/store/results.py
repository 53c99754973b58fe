"""Reads answers of a run back as results, a few at a time, whatever the size of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeVar

from sqlalchemy import exists, or_, select

from judgekit.records.case import Case
from judgekit.records.check import AssertionResult, Score
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.output import Output
from judgekit.records.record import Record
from judgekit.records.rubric import Rubric
from judgekit.records.run import CaseResult
from judgekit.store.progress import after, in_order, of_answer
from judgekit.store.tables import (
    answers,
    case_tags,
    cases,
    checks,
    failures,
    judgments,
    outputs,
    scores,
    variants,
)
from judgekit.store.texts import lookup_text, read_record, read_time, words_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from sqlalchemy import ColumnElement, Row, Select, Table
    from sqlalchemy.engine import Connection

    from judgekit.records.run import ItemKey, RunInfo

_RecordT = TypeVar("_RecordT", bound=Record)

_PAGE = 64
_MOST_CHARACTERS = 4_000_000  # of outputs read at a time, unless one alone is longer

_Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which answers are wanted; all of them without anything said."""

    variant: str | None = None
    """Only of this variant."""

    case_id: str | None = None
    """Only of this case."""

    repeat: int | None = None
    """Only this time the variant answered."""

    tag: str | None = None
    """Only of cases with this tag."""

    failed_only: bool = False
    """Only where the variant or a judge failed."""

    agent_run: str | None = None
    """Only where the output is of this run of the agent."""


def one(key: ItemKey) -> Wanted:
    """The wish for one answer."""
    return Wanted(variant=key.variant, case_id=key.case_id, repeat=key.repeat)


def read_results(
    reading: Callable[[], AbstractContextManager[Connection]],
    run_no: int,
    run: RunInfo,
    wanted: Wanted,
) -> Iterator[CaseResult]:
    """Answers of a run with everything observed of them."""
    query = _query(run_no, wanted)
    order = _Order(run)
    last = (-1, -1, -1)
    while True:
        with reading() as connection:
            page = connection.execute(query.where(after(last)).limit(_PAGE)).all()
            rows = _within_memory(page)
            parts = _Parts.of(connection, run_no, rows)
        for row in rows:
            yield _result(run, row, parts, order)
        if len(rows) == len(page) < _PAGE:
            return
        last = _place(rows[-1])


def _query(run_no: int, wanted: Wanted) -> Select[tuple[object, ...]]:
    same_variant = variants.c.no == answers.c.variant_no
    return (
        select(
            answers.c.place,
            answers.c.variant_no,
            answers.c.repeat,
            answers.c.case_key,
            answers.c.is_done,
            variants.c.variant,
            outputs.c.no.label("output_no"),
            outputs.c.at,
            outputs.c.size,
        )
        .join(variants, (variants.c.run_no == answers.c.run_no) & same_variant)
        .join(outputs, of_answer(outputs))
        .where(answers.c.run_no == run_no, *_conditions(wanted))
        .order_by(*in_order())
    )


def _conditions(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    if wanted.variant is not None:
        yield variants.c.variant == words_text(wanted.variant)
    if wanted.case_id is not None:
        yield answers.c.case_id == words_text(wanted.case_id)
    if wanted.repeat is not None:
        yield answers.c.repeat == wanted.repeat
    if wanted.agent_run is not None:
        yield outputs.c.agent_run == lookup_text(wanted.agent_run)
    if wanted.tag is not None:
        tagged = select(case_tags.c.case_key).where(case_tags.c.tag == lookup_text(wanted.tag))
        yield answers.c.case_key.in_(tagged)
    if wanted.failed_only:
        yield or_(outputs.c.is_error, exists().where(of_answer(failures)))


def _within_memory(page: Sequence[Row[tuple[object, ...]]]) -> Sequence[Row[tuple[object, ...]]]:
    """The first rows whose outputs may be held at a time; at least one."""
    size = 0
    for n, row in enumerate(page):
        size += row.size
        if n and size > _MOST_CHARACTERS:
            return page[:n]
    return page


@dataclass(frozen=True, slots=True)
class _Parts:
    """What belongs to the answers of one page; lists in the order they are kept."""

    cases: dict[str, Case]
    outputs: dict[int, Output]
    judgments: dict[_Place, list[Judgment]]
    failures: dict[_Place, list[JudgeFailure]]
    checks: dict[_Place, list[AssertionResult]]
    scores: dict[_Place, list[Score]]

    @classmethod
    def of(
        cls, connection: Connection, run_no: int, rows: Sequence[Row[tuple[object, ...]]]
    ) -> Self:
        places = sorted({row.place for row in rows})
        keys = sorted({row.case_key for row in rows})
        of_page = select(cases.c.key, cases.c.json).where(cases.c.key.in_(keys))
        produced = select(outputs.c.no, outputs.c.json).where(
            outputs.c.no.in_([row.output_no for row in rows])
        )
        return cls(
            cases={key: read_record(Case, text) for key, text in connection.execute(of_page)},
            outputs={no: read_record(Output, text) for no, text in connection.execute(produced)},
            judgments=_read(connection, _in_places(judgments, run_no, places), Judgment),
            failures=_read(connection, _in_places(failures, run_no, places), JudgeFailure),
            checks=_read(connection, _in_places(checks, run_no, places), AssertionResult),
            scores=_read(connection, _in_places(scores, run_no, places), Score),
        )


def _in_places(table: Table, run_no: int, places: Sequence[int]) -> Select[tuple[object, ...]]:
    order = table.c.ordinal if "ordinal" in table.c else table.c.no
    return (
        select(table.c.place, table.c.variant_no, table.c.repeat, table.c.json)
        .where(table.c.run_no == run_no, table.c.place.in_(places))
        .where(table.c.superseded_at.is_(None))
        .order_by(order)
    )


def _read(
    connection: Connection, query: Select[tuple[object, ...]], kind: type[_RecordT]
) -> dict[_Place, list[_RecordT]]:
    found: dict[_Place, list[_RecordT]] = {}
    for row in connection.execute(query):
        found.setdefault(_place(row), []).append(read_record(kind, row.json))
    return found


def _result(run: RunInfo, row: Row[tuple[object, ...]], parts: _Parts, order: _Order) -> CaseResult:
    place = _place(row)
    case = parts.cases[row.case_key]
    rank = order.of(case)
    return CaseResult(
        run_id=run.id,
        place=row.place,
        case=case,
        variant=row.variant,
        repeat=row.repeat,
        output=parts.outputs[row.output_no],
        judgments=tuple(sorted(parts.judgments.get(place, ()), key=rank)),
        failures=tuple(sorted(parts.failures.get(place, ()), key=rank)),
        checks=tuple(parts.checks.get(place, ())),
        scores=tuple(parts.scores.get(place, ())),
        is_done=row.is_done,
        ran_at=read_time(row.at),
    )


def _place(row: Row[tuple[object, ...]]) -> _Place:
    return row.place, row.variant_no, row.repeat


class _Order:
    """The order of judgments within an answer: the same however they came in."""

    def __init__(self, run: RunInfo) -> None:
        self._criteria = _places(run.rubric)
        self._judges = {name: place for place, name in enumerate(run.panel.judges)}

    def of(self, case: Case) -> Callable[[Judgment | JudgeFailure], tuple[object, ...]]:
        """What judgments of a case are sorted by: criterion, judge and repeat."""
        own = _places(case.rubric) if isinstance(case.rubric, Rubric) else self._criteria

        def rank(said: Judgment | JudgeFailure) -> tuple[object, ...]:
            criterion = own.get(said.criterion, len(own))
            judge = self._judges.get(said.judge, len(self._judges))
            return criterion, said.criterion, judge, said.judge, said.repeat

        return rank


def _places(rubric: Rubric | None) -> dict[str, int]:
    named = () if rubric is None else rubric.criteria
    return {criterion.name: place for place, criterion in enumerate(named)}
