"""Adds observations and items for human judgment to a run; superseded ones stay as history.

Reading is in `results`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Self

from sqlalchemy import ColumnElement, Table, bindparam, exists, or_, select, update

from judgekit.errors import InputError, StoreError
from judgekit.records import (
    JudgeFailure,
    Judgment,
    Output,
    Variant,
    content_key,
    judgment_slot,
    lookup_text,
    name_text,
    record_text,
    time_text,
    words_text,
)
from judgekit.store.results import dated_record
from judgekit.store.rows import (
    insert_cases,
    insert_new,
    insert_variants,
    mark_superseded,
    record_row,
    supersede,
)
from judgekit.store.schema import (
    ANSWER_COLUMNS,
    HAS_VARIANT,
    OBSERVATION_KEYS,
    answers,
    checks,
    failures,
    judgments,
    outputs,
    scores,
    variants,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from judgekit.records import Case, ItemKey, Observation, Record
    from judgekit.store.rows import RowValues


def add_observations(
    connection: Connection,
    run_no: int,
    known_variants: dict[str, int],
    observed: Sequence[Observation],
) -> None:
    # Identical rows are left alone. Of two different judgments by one judge of one criterion in
    # one repeat the last is current, and likewise for outputs, checks and scores. Judgments of an
    # output that was replaced are no longer current either.
    # In the order of first appearance, which is the order of the suite.
    names = dict.fromkeys(each.key.variant for each in observed)
    new = [name for name in names if name not in known_variants]
    if new:
        found = {name: len(known_variants) + place for place, name in enumerate(new)}
        insert_variants(connection, run_no, [(no, Variant(id=name)) for name, no in found.items()])
        known_variants.update(found)
    batch = ObservationBatch.of(run_no, known_variants, observed)
    insert_cases(connection, batch.cases)
    # Where every answer is new, there is nothing to supersede.
    may_be_new = [row for row in batch.answers.values() if "case_key" in row]
    is_new = insert_new(connection, answers, may_be_new) == len(batch.answers)
    if not is_new:
        _update_answers(connection, batch)
        _supersede_changed(connection, batch)
    for table in OBSERVATION_KEYS:
        insert_new(connection, table, batch.rows(table))
    judged = [*batch.rows(failures), *batch.rows(judgments)]
    # A judgment supersedes a failure, but a failure never a judgment.
    if judged and (batch.lists[failures] or not is_new):
        bound = [
            {**_bound_parameters(row), "b_at": row["at"], "b_slot": row["slot"]} for row in judged
        ]
        connection.execute(_SUPERSEDE_JUDGED_FAILURES, bound)


def _update_answers(connection: Connection, batch: ObservationBatch) -> None:
    """Mark complete answers; refuse answers that are unknown or at another index."""
    rows = [
        {**_bound_parameters(row), "b_case_id": row["case_id"], "b_done": row["is_done"]}
        for row in batch.answers.values()
    ]
    if connection.execute(_UPDATE_ANSWERS, rows).rowcount == len(rows):
        return
    for row in batch.answers.values():
        query = select(answers.c.case_id).where(*_same_answer_columns(answers, row))
        found = connection.scalar(query)
        if found != row["case_id"]:
            raise StoreError(_misplaced(row, found))


def _misplaced(row: RowValues, found: str | None) -> str:
    if found is not None:
        return (
            f"case {row['case_id']!r} is now case {row['place']} of the dataset, where the run "
            f"had {found!r} before: start a new run for a dataset that has changed"
        )
    return (
        f"case {row['case_id']!r} is not stored at index {row['place']}: its first observation "
        "must have the case, and its index in the dataset must not change during the run"
    )


def _supersede_changed(connection: Connection, batch: ObservationBatch) -> None:
    produced = batch.rows(outputs)
    is_changed = supersede(connection, outputs, ANSWER_COLUMNS, produced, only_changed=True)
    for row in produced if is_changed else ():
        if not _has_current(connection, outputs, row):  # its judgments belong to another output
            for table in OBSERVATION_KEYS:
                supersede(connection, table, ANSWER_COLUMNS, [row])
    for table in (failures, judgments, checks, scores):
        keys = OBSERVATION_KEYS[table]
        supersede(connection, table, keys, batch.rows(table), only_changed=True)
    for table, statement in _SHORTEN.items():
        ends = [
            {**_bound_parameters(rows[0]), "b_at": rows[0]["at"], "b_n": len(rows)}
            for rows in batch.lists[table].values()
        ]
        if ends:  # a shorter list replaces the longer one entirely
            connection.execute(statement, ends)


def _bound_parameters(row: RowValues) -> RowValues:
    return {f"b_{name}": row[name] for name in ANSWER_COLUMNS}


_UPDATE_ANSWERS = (
    update(answers)
    .where(*(answers.c[name] == bindparam(f"b_{name}") for name in ANSWER_COLUMNS))
    .where(answers.c.case_id == bindparam("b_case_id"))
    .values(is_done=or_(answers.c.is_done, bindparam("b_done")))
)

_SHORTEN = {
    table: mark_superseded(table, ANSWER_COLUMNS, table.c.ordinal >= bindparam("b_n"))
    for table in (checks, scores)
}
"""A list that has become shorter: what stands beyond its end is no longer current."""

_SUPERSEDE_JUDGED_FAILURES = mark_superseded(
    failures,
    (*ANSWER_COLUMNS, "slot"),
    exists().where(
        *(judgments.c[name] == failures.c[name] for name in (*ANSWER_COLUMNS, "slot")),
        judgments.c.superseded_at.is_(None),
    ),
)
"""A failure whose question was answered meanwhile."""


class SupersededObservation(NamedTuple):
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
        row = find_answer_row(connection, run_no, key)
        # With a failed output everything that was observed of it is superseded.
        tables: Iterable[Table] = ()
        if target_errors and _has_current(connection, outputs, row, outputs.c.is_error):
            tables = OBSERVATION_KEYS
        elif judge_failures and _has_current(connection, failures, row):
            tables = (failures,)
        if tables:
            for table in tables:
                supersede(connection, table, ANSWER_COLUMNS, [row], at=at)
            same = _same_answer_columns(answers, row)
            connection.execute(update(answers).where(*same).values(is_done=False))
            n += 1
    return n


def read_superseded(
    connection: Connection, run_no: int, key: ItemKey
) -> list[SupersededObservation]:
    row = find_answer_row(connection, run_no, key)
    found: list[SupersededObservation] = []
    kinds: tuple[tuple[Table, type[Record]], ...] = (
        (outputs, Output), (judgments, Judgment), (failures, JudgeFailure),
    )  # fmt: skip
    for table, kind in kinds:
        query = select(table.c.at, table.c.superseded_at, table.c.json)
        query = query.where(*_same_answer_columns(table, row), table.c.superseded_at.is_not(None))
        for at, until, text in connection.execute(query.order_by(table.c.no)):
            times = datetime.fromisoformat(at), datetime.fromisoformat(until)
            found.append(SupersededObservation(*times, dated_record(kind, text, at)))
    # By time over all kinds, so that the history reads as it happened.
    return sorted(found, key=lambda each: each[:2])


def _has_current(
    connection: Connection, table: Table, row: RowValues, *also: ColumnElement[bool]
) -> bool:
    query = select(table.c.no).where(
        *_same_answer_columns(table, row), table.c.superseded_at.is_(None), *also
    )
    return connection.execute(query.limit(1)).first() is not None


def _same_answer_columns(table: Table, row: RowValues) -> list[ColumnElement[bool]]:
    return [table.c[name] == row[name] for name in ANSWER_COLUMNS]


_AnswerNumbers = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class ObservationBatch:
    """The rows of one call; of two with the same key the last is here.

    Cases come with their texts and when they are first seen. An answer that may be new has the
    columns of its case as well.
    """

    cases: dict[str, tuple[Case, str, str]] = field(default_factory=dict)
    answers: dict[_AnswerNumbers, RowValues] = field(default_factory=dict)
    lists: dict[Table, dict[object, list[RowValues]]] = field(
        default_factory=lambda: {table: {} for table in OBSERVATION_KEYS}
    )
    """Rows of each table that only another list of the same key replaces."""

    @classmethod
    def of(cls, run_no: int, variants: Mapping[str, int], observed: Sequence[Observation]) -> Self:
        batch = cls()
        for each in observed:
            batch._take(run_no, variants[each.key.variant], each)
        return batch

    def rows(self, table: Table) -> list[RowValues]:
        return [row for rows in self.lists[table].values() for row in rows]

    def _take(self, run_no: int, variant_no: int, each: Observation) -> None:
        answer = (run_no, each.place, variant_no, each.key.repeat)
        # Rows share these columns; the places are those of `ANSWER_COLUMNS`.
        key: RowValues = dict(zip(ANSWER_COLUMNS, answer, strict=True))
        at = time_text(each.at)
        self._take_answer(answer, key, each, at)
        if each.output is not None:
            self.lists[outputs][answer] = [_output_row(key, each.output, at)]
        for judged in each.said:
            row = judge_row(key, judged, at)
            table = judgments if isinstance(judged, Judgment) else failures
            self.lists[table][answer, row["slot"]] = [row]
        for table, records in ((checks, each.checks), (scores, each.scores)):
            if records:
                self.lists[table][answer] = [
                    record_row(table, record, **key, ordinal=ordinal, at=at)
                    for ordinal, record in enumerate(records)
                ]

    def _take_answer(
        self, answer: _AnswerNumbers, key: RowValues, each: Observation, at: str
    ) -> None:
        case_id = name_text("case id", each.key.case_id)
        row = self.answers.setdefault(answer, {**key, "case_id": case_id, "is_done": False})
        if row["case_id"] != case_id:
            raise StoreError(_misplaced({**row, "case_id": case_id}, str(row["case_id"])))
        row["is_done"] = row["is_done"] or each.is_done
        if each.case is not None:
            if each.case.id != case_id:
                raise StoreError(f"case {each.case.id!r} does not match the answer to {case_id!r}")
            text = record_text(each.case)
            case_key = content_key(text)
            self.cases[case_key] = (each.case, text, at)
            if "case_key" not in row:
                row |= {"case_key": case_key, "begun_at": at}


def _output_row(key: RowValues, output: Output, at: str) -> RowValues:
    text = record_text(output)
    agent_run = None if output.run_id is None else lookup_text(output.run_id)
    about: RowValues = {"size": len(text), "is_error": output.error is not None}
    return record_row(outputs, output, json=text, **key, at=at, **about, agent_run=agent_run)


def judge_row(key: RowValues, answer: Judgment | JudgeFailure, at: str) -> RowValues:
    table = judgments if isinstance(answer, Judgment) else failures
    if isinstance(answer, Judgment) and answer.judged_at is not None:
        # The time has a column of its own: the same judgment at another time is no other one.
        answer = answer.model_copy(update={"judged_at": None})
    slot = judgment_slot(answer.criterion, answer.judge, answer.repeat, answer.turn)
    return record_row(table, answer, **key, slot=slot, at=at, judge_repeat=answer.repeat)


def find_answer_row(connection: Connection, run_no: int, key: ItemKey) -> RowValues:
    query = (
        select(*(answers.c[name] for name in ANSWER_COLUMNS))
        .join(variants, HAS_VARIANT)
        .where(answers.c.run_no == run_no, answers.c.repeat == key.repeat)
        .where(answers.c.case_id == words_text(key.case_id))
        .where(variants.c.variant == words_text(key.variant))
    )
    found = connection.execute(query).first()
    if found is None:
        raise InputError(
            f"the run has no answer of variant {key.variant!r} to case {key.case_id!r}, "
            f"repeat {key.repeat}"
        )
    return dict(zip(ANSWER_COLUMNS, found, strict=True))
