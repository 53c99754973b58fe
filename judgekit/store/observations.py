"""Adds what a run observed of its answers.

A new observation supersedes the earlier one, which stays as history; reading is in `results`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Self

from sqlalchemy import Table, bindparam, exists, or_, select, update

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
    read_record,
    record_text,
    time_text,
    words_text,
)
from judgekit.store.catalog import insert_cases, insert_variants
from judgekit.store.rows import insert_new, mark_superseded, supersede
from judgekit.store.schema import (
    ANSWER_COLUMNS,
    OBSERVATION_TABLES,
    answers,
    checks,
    failures,
    judgments,
    outputs,
    scores,
    variants,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.engine import Connection

    from judgekit.records import Case, ItemKey, Observation, Record
    from judgekit.store.rows import RowValues


def add_observations(
    connection: Connection,
    run_no: int,
    known_variants: dict[str, int],
    observed: Sequence[Observation],
) -> None:
    """Add what was observed of answers of a run."""
    # What is there already, to the letter, is left alone. Of two different judgments by one judge
    # of one criterion in one repeat the last is current, and so with outputs, checks and scores;
    # what an output that was replaced had been judged is no longer current either.
    _number_variants(connection, run_no, known_variants, observed)
    batch = ObservationBatch.of(run_no, known_variants, observed)
    insert_cases(connection, batch.cases)
    # Where every answer is new, nothing can be there whose place something takes.
    is_new = insert_new(connection, answers, batch.begun) == len(batch.answers)
    if not is_new:
        _update_answers(connection, batch)
        _supersede_changed(connection, batch)
    insert_new(connection, outputs, batch.outputs)
    insert_new(connection, failures, batch.failures)
    insert_new(connection, judgments, batch.judgments)
    if batch.failures or not is_new:
        _prefer_judgments(connection, batch)
    for table, lists in ((checks, batch.checks), (scores, batch.scores)):
        insert_new(connection, table, [row for found in lists for row in found])


def _supersede_all(
    connection: Connection, tables: Sequence[Table], rows: Sequence[RowValues], at: str
) -> None:
    """Mark every current observation of some answers as no longer current."""
    for table in tables:
        supersede(connection, table, ANSWER_COLUMNS, rows, at=at)


def _number_variants(
    connection: Connection, run_no: int, known: dict[str, int], observed: Sequence[Observation]
) -> None:
    names = dict.fromkeys(each.key.variant for each in observed)
    new = [name for name in names if name not in known]
    if new:
        found = {name: len(known) + place for place, name in enumerate(new)}
        insert_variants(connection, run_no, [(no, Variant(id=name)) for name, no in found.items()])
        known.update(found)


def _update_answers(connection: Connection, batch: ObservationBatch) -> None:
    """Note which answers are whole; find those that were never begun, or stand elsewhere."""
    rows = [
        {**_bound_parameters(row), "b_case_id": row["case_id"], "b_done": row["is_done"]}
        for row in batch.answers
    ]
    if connection.execute(_UPDATE_ANSWERS, rows).rowcount == len(rows):
        return
    for row in batch.answers:
        query = select(answers.c.case_id).where(*(answers.c[n] == row[n] for n in ANSWER_COLUMNS))
        found = connection.scalar(query)
        if found != row["case_id"]:
            raise StoreError(_misplaced(row, found))


def _misplaced(row: RowValues, found: str | None) -> str:
    if found is not None:
        return (
            f"case {row['case_id']!r} is now case {row['place']} of the dataset, where the run "
            f"had {found!r} before: begin a new run for a dataset that has changed"
        )
    return (
        f"case {row['case_id']!r} was not begun at place {row['place']}: its first observation "
        "brings the case, and it keeps its place in the dataset for the whole run"
    )


def _supersede_changed(connection: Connection, batch: ObservationBatch) -> None:
    """Mark what is current and says something else than what comes in its place."""
    _supersede_changed_outputs(connection, batch.outputs)
    for table, rows in ((failures, batch.failures), (judgments, batch.judgments)):
        supersede(connection, table, (*ANSWER_COLUMNS, "slot"), rows, only_changed=True)
    for table, lists in ((checks, batch.checks), (scores, batch.scores)):
        items = [row for found in lists for row in found]
        supersede(connection, table, (*ANSWER_COLUMNS, "ordinal"), items, only_changed=True)
        ends = [
            {**_bound_parameters(rows[0]), "b_at": rows[0]["at"], "b_n": len(rows)}
            for rows in lists
        ]
        if ends:  # a shorter list takes the place of the whole longer one
            connection.execute(_SHORTEN[table], ends)


def _supersede_changed_outputs(connection: Connection, rows: Sequence[RowValues]) -> None:
    if not supersede(connection, outputs, ANSWER_COLUMNS, rows, only_changed=True):
        return
    for row in rows:
        same = [outputs.c[name] == row[name] for name in ANSWER_COLUMNS]
        query = select(outputs.c.no).where(*same, outputs.c.superseded_at.is_(None))
        if connection.scalar(query) is None:  # what it had been judged is of another output
            _supersede_all(connection, OBSERVATION_TABLES, [row], str(row["at"]))


def _prefer_judgments(connection: Connection, batch: ObservationBatch) -> None:
    """A judgment takes the place of a failure, and never the other way round."""
    said = [*batch.failures, *batch.judgments]
    if said:
        bound = [
            {**_bound_parameters(row), "b_at": row["at"], "b_slot": row["slot"]} for row in said
        ]
        connection.execute(_SUPERSEDE_JUDGED_FAILURES, bound)


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

_RECORD_TYPES: tuple[tuple[Table, type[Record]], ...] = (
    (outputs, Output),
    (judgments, Judgment),
    (failures, JudgeFailure),
)


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
        tables: Sequence[Table] = ()
        if target_errors and _has_current(connection, outputs, row, outputs.c.is_error):
            tables = OBSERVATION_TABLES
        elif judge_failures and _has_current(connection, failures, row):
            tables = (failures,)
        if tables:
            _supersede_all(connection, tables, [row], at)
            same = [answers.c[name] == row[name] for name in ANSWER_COLUMNS]
            connection.execute(update(answers).where(*same).values(is_done=False))
            n += 1
    return n


def read_superseded(
    connection: Connection, run_no: int, key: ItemKey
) -> list[SupersededObservation]:
    """What was observed of an answer and is no longer current."""
    row = find_answer_row(connection, run_no, key)
    found: list[SupersededObservation] = []
    for table, kind in _RECORD_TYPES:
        query = select(table.c.at, table.c.superseded_at, table.c.json)
        query = query.where(*_same_answer_columns(table, row), table.c.superseded_at.is_not(None))
        for at, until, text in connection.execute(query.order_by(table.c.no)):
            what = read_record(kind, text)
            found.append(
                SupersededObservation(
                    datetime.fromisoformat(at), datetime.fromisoformat(until), what
                )
            )
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
"""The values of these columns."""


@dataclass(frozen=True, slots=True)
class ObservationBatch:
    """The rows of one call; of two with the same key the last is here."""

    cases: dict[str, tuple[Case, str, str]] = field(default_factory=dict)
    """Cases with their texts and when they are first seen, by key."""

    _begun: dict[_AnswerNumbers, RowValues] = field(default_factory=dict)
    _answers: dict[_AnswerNumbers, RowValues] = field(default_factory=dict)
    _outputs: dict[_AnswerNumbers, RowValues] = field(default_factory=dict)
    _judgments: dict[tuple[_AnswerNumbers, str], RowValues] = field(default_factory=dict)
    _failures: dict[tuple[_AnswerNumbers, str], RowValues] = field(default_factory=dict)
    _checks: dict[_AnswerNumbers, list[RowValues]] = field(default_factory=dict)
    _scores: dict[_AnswerNumbers, list[RowValues]] = field(default_factory=dict)

    @classmethod
    def of(cls, run_no: int, variants: Mapping[str, int], observed: Sequence[Observation]) -> Self:
        """The rows of what was observed."""
        batch = cls()
        for each in observed:
            batch._take(run_no, variants[each.key.variant], each)
        return batch

    @property
    def begun(self) -> list[RowValues]:
        """Answers whose case was given."""
        whole = {answer: row["is_done"] for answer, row in self._answers.items()}
        return [{**row, "is_done": whole[answer]} for answer, row in self._begun.items()]

    @property
    def answers(self) -> list[RowValues]:
        """Every answer, and whether it is whole now."""
        return list(self._answers.values())

    @property
    def outputs(self) -> list[RowValues]:
        """What was produced."""
        return list(self._outputs.values())

    @property
    def judgments(self) -> list[RowValues]:
        """What judges said."""
        return list(self._judgments.values())

    @property
    def failures(self) -> list[RowValues]:
        """What judges failed to say."""
        return list(self._failures.values())

    @property
    def checks(self) -> list[list[RowValues]]:
        """What assertions found, for each answer."""
        return list(self._checks.values())

    @property
    def scores(self) -> list[list[RowValues]]:
        """What scorers measured, for each answer."""
        return list(self._scores.values())

    def _take(self, run_no: int, variant_no: int, each: Observation) -> None:
        answer = (run_no, each.place, variant_no, each.key.repeat)
        key: RowValues = dict(zip(ANSWER_COLUMNS, answer, strict=True))
        at = time_text(each.at)
        self._take_answer(answer, key, each, at)
        if each.output is not None:
            self._outputs[answer] = output_row(key, each.output, at)
        for said in each.said:
            row = judge_row(key, said, at)
            rows = self._judgments if isinstance(said, Judgment) else self._failures
            rows[answer, str(row["slot"])] = row
        if each.checks:
            self._checks[answer] = [
                {
                    **key,
                    "ordinal": ordinal,
                    "at": at,
                    "type": lookup_text(check.type),
                    "passed": check.passed,
                    "value": check.value,
                    "json": record_text(check),
                }
                for ordinal, check in enumerate(each.checks)
            ]
        if each.scores:
            self._scores[answer] = [
                {
                    **key,
                    "ordinal": ordinal,
                    "at": at,
                    "name": lookup_text(score.name),
                    "value": score.value,
                    "raw": score.raw,
                    "unit": None if score.unit is None else lookup_text(score.unit),
                    "json": record_text(score),
                }
                for ordinal, score in enumerate(each.scores)
            ]

    def _take_answer(
        self, answer: _AnswerNumbers, key: RowValues, each: Observation, at: str
    ) -> None:
        before = self._answers.get(answer)
        is_done = each.is_done or (before is not None and bool(before["is_done"]))
        case_id = name_text("case id", each.key.case_id)
        self._answers[answer] = {**key, "case_id": case_id, "is_done": is_done}
        if each.case is not None:
            if each.case.id != case_id:
                raise StoreError(f"case {each.case.id!r} was given for an answer to {case_id!r}")
            text = record_text(each.case)
            case_key = content_key(text)
            self.cases[case_key] = (each.case, text, at)
            begun = {"case_id": case_id, "case_key": case_key, "begun_at": at}
            self._begun.setdefault(answer, {**key, **begun})


def output_row(key: RowValues, output: Output, at: str) -> RowValues:
    """An output as a row."""
    text = record_text(output)
    return {
        **key,
        "at": at,
        "size": len(text),
        "is_error": output.error is not None,
        "error_kind": output.error_kind,
        "agent_run": None if output.run_id is None else lookup_text(output.run_id),
        "json": text,
    }


def judge_row(key: RowValues, said: Judgment | JudgeFailure, at: str) -> RowValues:
    """A judgment or a judge's failure as a row."""
    row = {
        **key,
        "slot": judgment_slot(said.criterion, said.judge, said.repeat),
        "at": at,
        "criterion": lookup_text(said.criterion),
        "judge": lookup_text(said.judge),
        "judge_repeat": said.repeat,
        "cost_usd": said.cost_usd,
        "json": record_text(said),
    }
    if isinstance(said, Judgment):
        return row | {
            "raw": said.raw,
            "value": said.value,
            "confidence": said.confidence,
            "source": said.source,
        }
    return row | {"kind": said.kind}


def find_answer_row(connection: Connection, run_no: int, key: ItemKey) -> RowValues:
    """The columns that tell an answer from every other."""
    query = (
        select(*(answers.c[name] for name in ANSWER_COLUMNS))
        .join(
            variants,
            (variants.c.run_no == answers.c.run_no) & (variants.c.no == answers.c.variant_no),
        )
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
