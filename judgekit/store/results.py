"""Reads the answers of a run back, page by page.

Gives whole results, the progress of each answer, and what everything cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import fsum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from sqlalchemy import and_, bindparam, exists, func, or_, select

from judgekit.records import (
    AssertionResult,
    Case,
    CaseResult,
    ItemKey,
    JudgeFailure,
    Judgment,
    Output,
    Record,
    Rubric,
    Score,
    lookup_text,
    read_record,
    read_time,
    words_text,
)
from judgekit.store.rows import paged_rows, pages
from judgekit.store.schema import (
    ANSWER_COLUMNS,
    HAS_VARIANT,
    OBSERVATION_KEYS,
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

if TYPE_CHECKING:
    from sqlalchemy import Column, ColumnElement, Row, ScalarSelect, Select, Table
    from sqlalchemy.engine import Connection

    from judgekit.records import RunInfo
    from judgekit.store.rows import Reading, Rows

_RecordT = TypeVar("_RecordT", bound=Record)
_RESULTS_PAGE = 64
_MOST_CHARACTERS = 4_000_000  # of outputs read at a time, unless one alone is longer
_AnswerPlace = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFilter:
    """Selects answers; without conditions, all of them.

    `failed_only` selects those where the variant or a judge failed, `agent_run` those whose output
    is of that run of the agent.
    """

    variant: str | None = None
    case_id: str | None = None
    repeat: int | None = None
    tag: str | None = None
    failed_only: bool = False
    agent_run: str | None = None


def read_results(
    reading: Reading, run_no: int, run: RunInfo, wanted: ResultFilter
) -> Iterator[CaseResult]:
    query = (
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
        .join(variants, HAS_VARIANT)
        .join(outputs, is_current_for_answer(outputs))
        .where(answers.c.run_no == run_no, *_conditions(wanted))
        .order_by(*answer_order())
    )
    # Observations arrive in the order of the replies, which differs from run to run.
    order = _JudgmentOrder(run)

    def load(connection: Connection, page: Rows) -> tuple[Rows, list[CaseResult]]:
        rows = _within_memory(page)
        return rows, _load_results(connection, run_no, run.id, rows, order)

    for _, results in pages(reading, query, answer_order(), size=_RESULTS_PAGE, load=load):
        yield from results


def _conditions(wanted: ResultFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.variant is not None:
        yield variants.c.variant == words_text(wanted.variant)
    if wanted.case_id is not None:
        yield answers.c.case_id == words_text(wanted.case_id)
    if wanted.repeat is not None:
        yield answers.c.repeat == wanted.repeat
    if wanted.agent_run is not None:
        yield outputs.c.agent_run == lookup_text(wanted.agent_run)
    if wanted.tag is not None:
        yield has_tag(answers.c.case_key, wanted.tag)
    if wanted.failed_only:
        yield or_(outputs.c.is_error, exists().where(is_current_for_answer(failures)))


def has_tag(case_key: Column[str], tag: str) -> ColumnElement[bool]:
    return case_key.in_(select(case_tags.c.case_key).where(case_tags.c.tag == lookup_text(tag)))


def _within_memory(page: Rows) -> Rows:
    """The first rows whose outputs may be held at a time; at least one."""
    # Outputs differ in size by a factor of a million; a fixed page would need unbounded memory.
    size = 0
    for n, row in enumerate(page):
        size += row.size
        if n and size > _MOST_CHARACTERS:
            return page[:n]
    return page


def _load_results(
    connection: Connection, run_no: int, run_id: str, rows: Rows, order: _JudgmentOrder
) -> list[CaseResult]:
    # A range of places, then all observations of it in one query each: six queries a page.
    places = sorted({row.place for row in rows})
    of_page = select(cases.c.key, cases.c.json).where(
        cases.c.key.in_(sorted({row.case_key for row in rows}))
    )
    produced = select(outputs.c.no, outputs.c.json).where(
        outputs.c.no.in_([row.output_no for row in rows])
    )
    known = {key: read_record(Case, text) for key, text in connection.execute(of_page)}
    texts = {no: read_record(Output, text) for no, text in connection.execute(produced)}
    judged = _read_observations(connection, judgments, Judgment, run_no, places)
    failed = _read_observations(connection, failures, JudgeFailure, run_no, places)
    checked = _read_observations(connection, checks, AssertionResult, run_no, places)
    scored = _read_observations(connection, scores, Score, run_no, places)
    results = []
    for row in rows:
        place, case = _answer_place(row), known[row.case_key]
        rank = order.of(case)
        result = CaseResult(
            run_id=run_id,
            place=row.place,
            case=case,
            variant=row.variant,
            repeat=row.repeat,
            output=texts[row.output_no],
            judgments=tuple(sorted(judged.get(place, ()), key=rank)),
            failures=tuple(sorted(failed.get(place, ()), key=rank)),
            checks=tuple(checked.get(place, ())),
            scores=tuple(scored.get(place, ())),
            is_done=row.is_done,
            ran_at=read_time(row.at),
        )
        results.append(result)
    return results


def _read_observations(
    connection: Connection, table: Table, kind: type[_RecordT], run_no: int, places: Sequence[int]
) -> dict[_AnswerPlace, list[_RecordT]]:
    query: Select[tuple[object, ...]] = (
        select(table.c.place, table.c.variant_no, table.c.repeat, table.c.at, table.c.json)
        .where(table.c.run_no == run_no, table.c.place.in_(places))
        .where(table.c.superseded_at.is_(None))
        .order_by(table.c.ordinal if "ordinal" in table.c else table.c.no)
    )
    found: dict[_AnswerPlace, list[_RecordT]] = {}
    for row in connection.execute(query):
        found.setdefault(_answer_place(row), []).append(dated_record(kind, row.json, row.at))
    return found


def dated_record(kind: type[_RecordT], text: str, at: str) -> _RecordT:
    """A stored record; a judgment with the time from its column."""
    record = read_record(kind, text)
    if isinstance(record, Judgment):
        return record.model_copy(update={"judged_at": read_time(at)})
    return record


def _answer_place(row: Row[tuple[object, ...]]) -> _AnswerPlace:
    return row.place, row.variant_no, row.repeat


class _JudgmentOrder:
    """The order of judgments within an answer, independent of their arrival."""

    def __init__(self, run: RunInfo) -> None:
        self._criteria = _criterion_places(run.rubric)
        self._judges = {name: place for place, name in enumerate(run.panel.judges)}

    def of(self, case: Case) -> Callable[[Judgment | JudgeFailure], tuple[object, ...]]:
        """What judgments of a case are sorted by: criterion, judge, repeat and turn."""
        # A case may have a rubric of its own, with other criteria.
        own = _criterion_places(case.rubric) if isinstance(case.rubric, Rubric) else self._criteria

        def rank(each: Judgment | JudgeFailure) -> tuple[object, ...]:
            criterion = own.get(each.criterion, len(own))
            judge = self._judges.get(each.judge, len(self._judges))
            return criterion, each.criterion, judge, each.judge, each.repeat, each.turn or 0

        return rank


def _criterion_places(rubric: Rubric | None) -> dict[str, int]:
    named = () if rubric is None else rubric.criteria
    return {criterion.name: place for place, criterion in enumerate(named)}


_PROGRESS_PAGE = 2000


@dataclass(frozen=True, slots=True)
class AnswerProgress:
    """The progress of one answer, in current observations.

    `place` is that of its case in the dataset, from 0. It is done when every judge has been asked;
    `n_failures` counts failures that no judgment superseded.
    """

    key: ItemKey
    place: int
    is_done: bool
    has_output: bool
    has_error: bool
    error_kind: str | None
    n_judgments: int
    n_failures: int


def read_progress(reading: Reading, run_no: int) -> Iterator[AnswerProgress]:
    query = (
        select(
            answers.c.case_id,
            answers.c.place,
            answers.c.variant_no,
            answers.c.repeat,
            answers.c.is_done,
            variants.c.variant,
            outputs.c.is_error,
            outputs.c.error_kind,
            _count_current(judgments).label("n_judgments"),
            _count_current(failures).label("n_failures"),
        )
        .join(variants, HAS_VARIANT)
        .outerjoin(outputs, is_current_for_answer(outputs))
        .where(answers.c.run_no == run_no)
        .order_by(*answer_order())
    )
    for row in paged_rows(reading, query, answer_order(), size=_PROGRESS_PAGE):
        yield AnswerProgress(
            key=ItemKey(row.case_id, row.variant, row.repeat),
            place=row.place,
            is_done=row.is_done,
            has_output=row.is_error is not None,
            has_error=bool(row.is_error),
            error_kind=row.error_kind,
            n_judgments=row.n_judgments,
            n_failures=row.n_failures,
        )


class VariantProgress(NamedTuple):
    """The progress of a variant in a run; failures that a judgment superseded do not count."""

    variant: str
    n_done: int
    n_errors: int
    n_failures: int


def read_variant_progress(connection: Connection, run_no: int) -> list[VariantProgress]:
    """The progress of each variant, counted by the database: many ask, and often."""
    of_variant = (failures.c.run_no == run_no) & (failures.c.variant_no == variants.c.no)
    failed = select(func.count()).where(of_variant, failures.c.superseded_at.is_(None))
    query = (
        select(
            variants.c.variant,
            func.count().filter(answers.c.is_done),
            func.count().filter(outputs.c.is_error),
            failed.scalar_subquery(),
        )
        .outerjoin(answers, HAS_VARIANT)
        .outerjoin(outputs, is_current_for_answer(outputs))
        .where(variants.c.run_no == run_no)
        .group_by(variants.c.no, variants.c.variant)
        .order_by(variants.c.no)
    )
    return [VariantProgress(*row) for row in connection.execute(query)]


def read_run_state(connection: Connection, run_no: int) -> str:
    """A text that differs after each change of a run's answers."""
    # Observations are numbered, and one that is replaced or withdrawn is current no longer.
    counts: list[object] = []
    for table in OBSERVATION_KEYS:
        current = (table.c.run_no == run_no, table.c.superseded_at.is_(None))
        found = connection.execute(select(func.count(), func.max(table.c.no)).where(*current))
        counts += found.one()
    done = select(func.count()).where(answers.c.run_no == run_no, answers.c.is_done)
    return "-".join(map(str, [*counts, connection.scalar(done)]))


def answer_order() -> tuple[Column[object], ...]:
    return answers.c.place, answers.c.variant_no, answers.c.repeat


def is_current_for_answer(table: Table) -> ColumnElement[bool]:
    """The condition that a row is a current observation of an answer."""
    same = [table.c[name] == answers.c[name] for name in ANSWER_COLUMNS]
    return and_(table.c.superseded_at.is_(None), *same)


def _count_current(table: Table) -> ScalarSelect[int]:
    return select(func.count()).where(is_current_for_answer(table)).scalar_subquery()


_SPENDING_PAGE = 256


def spent_usd(
    reading: Reading,
    run_no: int,
    is_owned: Callable[[str, Output], bool],
    *,
    only_replaced: bool = False,
) -> float:
    with reading() as connection:
        if only_replaced and not connection.scalar(_has_replaced(), {"run_no": run_no}):
            return 0.0
        query = select(variants.c.no, variants.c.variant).where(variants.c.run_no == run_no)
        names = {row.no: row.variant for row in connection.execute(query)}
        judged = [
            connection.scalar(
                select(func.sum(table.c.cost_usd)).where(
                    *_in_run(table, run_no, only_replaced=only_replaced)
                )
            )
            or 0.0
            for table in (judgments, failures)
        ]

    def records(table: Table, kind: type[_RecordT], field: str) -> Iterator[tuple[int, _RecordT]]:
        # A coarse filter in SQL; the record itself decides.
        holds = table.c.json.like(f'%"{field}"%')
        meant = _in_run(table, run_no, only_replaced=only_replaced)
        query = select(table.c.no, table.c.variant_no, table.c.json).where(*meant, holds)
        for row in paged_rows(
            reading, query.order_by(table.c.no), [table.c.no], size=_SPENDING_PAGE
        ):
            yield row.variant_no, read_record(kind, row.json)

    # Money is counted where it was paid: a cached reply cost nothing this time.
    answered = (
        output.usage.cost_usd or 0.0
        for variant_no, output in records(outputs, Output, "cost_usd")
        if output.usage is not None and not is_owned(names[variant_no], output)
    )
    asked = (
        *(check.asked for _, check in records(checks, AssertionResult, "asked")),
        *(score.asked for _, score in records(scores, Score, "asked")),
    )
    compared = (usage.cost_usd or 0.0 for usage in asked if usage is not None)
    # fsum: a sum of many small amounts must not depend on their order.
    return fsum([*judged, fsum(answered), fsum(compared)])


@cache
def _has_replaced() -> Select[tuple[bool]]:
    """Whether anything of a run was replaced; most runs are spared the other queries."""
    replaced = (
        exists().where(table.c.run_no == bindparam("run_no"), table.c.superseded_at.is_not(None))
        for table in OBSERVATION_KEYS
    )
    return select(or_(*replaced))


def _in_run(table: Table, run_no: int, *, only_replaced: bool) -> tuple[ColumnElement[bool], ...]:
    of_run = table.c.run_no == run_no
    return (of_run, table.c.superseded_at.is_not(None)) if only_replaced else (of_run,)
