"""What is related to what (S0.10), from either end: cases, variants, rubrics, criteria, runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, or_, select

from judgekit.errors import UnknownNameError
from judgekit.records.case import Case
from judgekit.records.judgment import Judgment
from judgekit.records.rubric import Rubric
from judgekit.records.run import ItemKey
from judgekit.store.run_rows import newest_first
from judgekit.store.tables import (
    answers,
    case_tags,
    cases,
    configs,
    criteria,
    judgments,
    outputs,
    rubrics,
    runs,
    variants,
)
from judgekit.store.texts import lookup_text, read_record, words_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.engine import Connection

    from judgekit.records.record import JsonObject

_PAGE = 500
_NEAR = 200  # names looked through for a near one


class JudgmentOf(NamedTuple):
    """A judgment and the answer it is of."""

    run_id: str
    """The run."""

    key: ItemKey
    """The answer."""

    judgment: Judgment
    """What was said."""


def runs_with_case(connection: Connection, case_id: str) -> list[int]:
    """The runs that have a case of this id, newest first."""
    found = (
        select(answers.c.run_no)
        .join(cases)
        .where(cases.c.case_id == lookup_text(case_id))
        .distinct()
    )
    return _numbers(connection, runs.c.no.in_(found))


def runs_with_variant(connection: Connection, variant: str) -> list[int]:
    """The runs that have a variant of this id, newest first."""
    found = select(variants.c.run_no).where(variants.c.variant == words_text(variant))
    return _numbers(connection, runs.c.no.in_(found))


def runs_with_rubric(connection: Connection, rubric: str) -> list[int]:
    """The runs judged by a rubric, as a whole or in some of their cases, newest first."""
    keys = _rubric_keys(rubric)
    own = or_(cases.c.rubric_key.in_(keys), cases.c.rubric_name == lookup_text(rubric))
    of_cases = select(answers.c.run_no).join(cases).where(own).distinct()
    return _numbers(connection, or_(runs.c.rubric_key.in_(keys), runs.c.no.in_(of_cases)))


def runs_with_agent_run(connection: Connection, agent_run: str) -> list[int]:
    """The runs that have an output of this run of an agent, newest first."""
    found = select(outputs.c.run_no).where(outputs.c.agent_run == lookup_text(agent_run))
    return _numbers(connection, runs.c.no.in_(found.where(outputs.c.superseded_at.is_(None))))


def read_cases(
    reading: Callable[[], AbstractContextManager[Connection]], wanted: Mapping[str, str | None]
) -> Iterator[Case]:
    """Cases as they were, each content once."""
    conditions = [_case_has(what, text) for what, text in wanted.items() if text is not None]
    query = select(cases.c.key, cases.c.json).where(*conditions).order_by(cases.c.key)
    last = ""
    while True:
        with reading() as connection:
            rows = connection.execute(query.where(cases.c.key > last).limit(_PAGE)).all()
        for row in rows:
            yield read_record(Case, row.json)
        if len(rows) < _PAGE:
            return
        last = rows[-1].key


def read_judgments(
    reading: Callable[[], AbstractContextManager[Connection]], criterion: str, rubric: str | None
) -> Iterator[JudgmentOf]:
    """What judges said of a criterion, in every run."""
    query = _of_criterion(criterion, rubric)
    last = 0
    while True:
        with reading() as connection:
            rows = connection.execute(query.where(judgments.c.no > last).limit(_PAGE)).all()
        for row in rows:
            key = ItemKey(row.case_id, row.variant, row.repeat)
            yield JudgmentOf(row.id, key, read_record(Judgment, row.json))
        if len(rows) < _PAGE:
            return
        last = rows[-1].no


def find_rubric(connection: Connection, name: str) -> Rubric:
    """A rubric as it was."""
    query = select(rubrics.c.json).where(rubrics.c.key.in_(_rubric_keys(name)))
    text = connection.scalar(query.order_by(rubrics.c.first_seen_at.desc()).limit(1))
    if text is None:
        known = select(rubrics.c.name).distinct().limit(_NEAR)
        raise UnknownNameError("rubric", name, connection.scalars(known))
    return read_record(Rubric, text)


def rubrics_with_criterion(connection: Connection, criterion: str) -> list[Rubric]:
    """The rubrics that have a criterion of this name, oldest first."""
    found = select(criteria.c.rubric_key).where(criteria.c.name == lookup_text(criterion))
    query = select(rubrics.c.json).where(rubrics.c.key.in_(found))
    order = query.order_by(rubrics.c.first_seen_at, rubrics.c.key)
    return [read_record(Rubric, text) for text in connection.scalars(order)]


def find_config(connection: Connection, fingerprint: str) -> JsonObject:
    """A suite as it was run."""
    query = (
        select(configs.c.json)
        .join(runs)
        .where(runs.c.config_fingerprint == lookup_text(fingerprint))
    )
    text = connection.scalar(query.order_by(*newest_first()).limit(1))
    if text is None:
        known = select(runs.c.config_fingerprint).distinct().limit(_NEAR)
        raise UnknownNameError("config", fingerprint, connection.scalars(known))
    config: JsonObject = json.loads(text)
    return config


def _numbers(connection: Connection, condition: ColumnElement[bool]) -> list[int]:
    query = select(runs.c.no).where(condition).order_by(*newest_first())
    return list(connection.scalars(query))


def _rubric_keys(rubric: str) -> Select[tuple[str]]:
    name = lookup_text(rubric)
    return select(rubrics.c.key).where(or_(rubrics.c.name == name, rubrics.c.fingerprint == name))


def _case_has(what: str, text: str) -> ColumnElement[bool]:
    if what == "tag":
        tagged = select(case_tags.c.case_key).where(case_tags.c.tag == lookup_text(text))
        return cases.c.key.in_(tagged)
    if what != "rubric":
        return cases.c[what] == lookup_text(text)
    keys = _rubric_keys(text)
    # A case without a rubric of its own is judged by that of its runs.
    of_runs = select(answers.c.case_key).join(runs, runs.c.no == answers.c.run_no)
    by_run = cases.c.rubric_key.is_(None) & cases.c.rubric_name.is_(None)
    return or_(
        cases.c.rubric_key.in_(keys),
        cases.c.rubric_name == lookup_text(text),
        by_run & cases.c.key.in_(of_runs.where(runs.c.rubric_key.in_(keys))),
    )


def _of_criterion(criterion: str, rubric: str | None) -> Select[tuple[object, ...]]:
    columns = ("run_no", "place", "variant_no", "repeat")
    same_answer = [judgments.c[name] == answers.c[name] for name in columns]
    same_variant = (variants.c.run_no == answers.c.run_no, variants.c.no == answers.c.variant_no)
    query = (
        select(
            judgments.c.no,
            judgments.c.json,
            runs.c.id,
            answers.c.case_id,
            variants.c.variant,
            answers.c.repeat,
        )
        .select_from(judgments)
        .join(answers, and_(*same_answer))
        .join(runs, runs.c.no == answers.c.run_no)
        .join(variants, and_(*same_variant))
        .join(cases, cases.c.key == answers.c.case_key)
        .where(judgments.c.criterion == lookup_text(criterion))
        .where(judgments.c.superseded_at.is_(None))
        .order_by(judgments.c.no)
    )
    if rubric is None:
        return query
    keys = _rubric_keys(rubric)
    by_run = cases.c.rubric_key.is_(None) & cases.c.rubric_name.is_(None)
    named = cases.c.rubric_name == lookup_text(rubric)
    own = or_(cases.c.rubric_key.in_(keys), named)
    return query.where(or_(own, by_run & runs.c.rubric_key.in_(keys)))
