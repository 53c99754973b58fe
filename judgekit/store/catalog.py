"""The rows of runs, and of the configs, rubrics and cases that runs share.

Each is stored once and found from either end.
"""

from __future__ import annotations

import difflib
import json
import os
import socket
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import ColumnElement, and_, or_, select, update

from judgekit.errors import StoreError, UnknownNameError
from judgekit.fingerprint import canonical_json, fingerprint, text_fingerprint
from judgekit.records import (
    Case,
    ItemKey,
    Judgment,
    Rubric,
    RunInfo,
    Variant,
    content_key,
    lookup_text,
    name_text,
    read_record,
    read_time,
    record_text,
    time_text,
    words_text,
)
from judgekit.store.rows import (
    MOST_NAMED,
    RowValues,
    ending_columns,
    insert_new,
    insert_numbered,
    newest_first,
    number_of,
    number_with_prefix,
    paged_rows,
)
from judgekit.store.schema import (
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from sqlalchemy import Select
    from sqlalchemy.engine import Connection

    from judgekit.records import JsonObject, RunStatus
    from judgekit.store.rows import Reading

LATEST_RUN = "latest"
"""The name of the run that was begun last; `latest:SUITE` is the last one of a suite."""

COMPARISON_OUTPUTS_SUFFIX = ": outputs to compare"
"""Ends the suite's name of a run that only made outputs for a comparison; such a run is `latest`
only where there is no other."""


def begin_run(connection: Connection, run: RunInfo) -> int:
    """Store the settings of a run."""
    at = time_text(run.started_at)
    if number_of(connection, runs, name_text("run id", run.id)) is not None:
        raise StoreError(
            f"the run {run.id} exists already",
            hint="continue it with --resume, or give the new run another id",
        )
    row: RowValues = {
        "id": run.id,
        "suite": lookup_text(run.suite),
        "suite_version": lookup_text(run.suite_version),
        "started_at": at,
        "config_key": insert_config(connection, run.config),
        "config_fingerprint": lookup_text(run.config_fingerprint or fingerprint(run.config)),
        "dataset": None if run.dataset is None else lookup_text(run.dataset),
        "rubric_key": None if run.rubric is None else insert_rubric(connection, run.rubric, at),
        "json": _run_text(run),
        **ending_columns(run.status, run.reason, run.finished_at),
        **_this_process(),
    }
    number = insert_numbered(connection, runs, row)
    insert_variants(connection, number, enumerate(run.variants))
    return number


def end_run(
    connection: Connection, run_no: int, status: RunStatus, reason: str | None, at: datetime | None
) -> None:
    """Store how a run ended, or that it is running again."""
    row = ending_columns(status, reason, at) | (_this_process() if status == "running" else {})
    connection.execute(update(runs).where(runs.c.no == run_no).values(row))


def insert_variants(
    connection: Connection, run_no: int, found: Iterable[tuple[int, Variant]]
) -> None:
    """Store variants of a run with their positions."""
    rows: list[RowValues] = [
        {
            "run_no": run_no,
            "no": no,
            "variant": name_text("variant id", variant.id),
            "json": record_text(variant),
        }
        for no, variant in found
    ]
    insert_new(connection, variants, rows)


def variant_numbers(connection: Connection, run_no: int) -> dict[str, int]:
    """The variants of a run."""
    query = select(variants.c.variant, variants.c.no).where(variants.c.run_no == run_no)
    return {row.variant: row.no for row in connection.execute(query.order_by(variants.c.no))}


def run_number(connection: Connection, run_id: str) -> int:
    """The number of a run."""
    # By the exact id only: what is written to must never be found by a prefix.
    number = number_of(connection, runs, run_id)
    if number is None:
        raise unknown_run_error(connection, run_id)
    return number


def find_run(connection: Connection, name: str) -> int:
    """The number of a run named by its id, the beginning of its id, or `latest`."""
    number = number_of(connection, runs, name)
    if number is None:
        word, _, suite = name.partition(":")
        number = (
            _last_run(connection, suite)
            if word == LATEST_RUN
            else number_with_prefix(connection, runs, name, nouns="runs")
        )
    if number is None:
        raise unknown_run_error(connection, name)
    return number


def unknown_run_error(connection: Connection, name: str) -> UnknownNameError:
    """The error for a run that is not there."""
    # Near names first: a store may hold thousands of runs, and a typing error is near its target.
    known = list(connection.scalars(select(runs.c.id).order_by(*newest_first(runs))))
    near = difflib.get_close_matches(name, known, n=3)
    error = UnknownNameError("run", name, near or known[:MOST_NAMED])
    if not known:
        error.hint = "no run is stored here yet: judgekit run"
    return error


def read_runs(connection: Connection, numbers: Iterable[int]) -> list[RunInfo]:
    """The settings of runs and how they ended."""
    return [_read_run(connection, number) for number in numbers]


def _read_run(connection: Connection, run_no: int) -> RunInfo:
    query = select(runs, configs.c.json.label("config")).join(configs)
    row = connection.execute(query.where(runs.c.no == run_no)).one()
    of_run = select(variants.c.json).where(variants.c.run_no == run_no).order_by(variants.c.no)
    found = [read_record(Variant, text) for text in connection.scalars(of_run)]
    return read_record(RunInfo, row.json).model_copy(
        update={
            "config": json.loads(row.config),
            "rubric": read_rubric(connection, row.rubric_key),
            "variants": tuple(found),
            "status": row.status,
            "reason": row.reason,
            "finished_at": read_time(row.finished_at),
        }
    )


def run_holder(connection: Connection, run_no: int) -> str:
    """The process that ran a run last, for messages."""
    row = connection.execute(select(runs.c.pid, runs.c.host).where(runs.c.no == run_no)).one()
    here = "" if row.host == socket.gethostname() else f" on {row.host}"
    return f"process {row.pid}{here}"


def _last_run(connection: Connection, suite: str) -> int | None:
    query = select(runs.c.no).order_by(*newest_first(runs)).limit(1)
    # Runs that only made outputs for a comparison are skipped: no user means them by `latest`.
    if suite:
        return connection.scalar(query.where(runs.c.suite == lookup_text(suite)))
    own = connection.scalar(query.where(runs.c.suite.not_like(f"%{COMPARISON_OUTPUTS_SUFFIX}")))
    return connection.scalar(query) if own is None else own


def _this_process() -> RowValues:
    return {"pid": os.getpid(), "host": words_text(socket.gethostname())}


def _run_text(run: RunInfo) -> str:
    """The run without what has a column or a table of its own."""
    # A second copy of a column could contradict it after an update.
    apart: dict[str, object] = {"config": {}, "rubric": None, "variants": ()}
    ended: dict[str, object] = {"status": "running", "finished_at": None, "reason": None}
    return record_text(run.model_copy(update=apart | ended))


_PAGE = 500
_MOST_SUGGESTED = 200  # names looked through for a near one


class StoredJudgment(NamedTuple):
    """A judgment and its answer."""

    run_id: str
    """The run."""

    key: ItemKey
    """The answer."""

    judgment: Judgment
    """The judgment."""


def runs_with_case(connection: Connection, case_id: str) -> list[int]:
    """The runs that have a case of this id, newest first."""
    found = (
        select(answers.c.run_no)
        .join(cases)
        .where(cases.c.case_id == lookup_text(case_id))
        .distinct()
    )
    return _run_numbers(connection, runs.c.no.in_(found))


def runs_with_variant(connection: Connection, variant: str) -> list[int]:
    """The runs that have a variant of this id, newest first."""
    found = select(variants.c.run_no).where(variants.c.variant == words_text(variant))
    return _run_numbers(connection, runs.c.no.in_(found))


def runs_with_rubric(connection: Connection, rubric: str) -> list[int]:
    """The runs judged by a rubric, in all or some of their cases, newest first."""
    keys = _rubric_keys(rubric)
    own = or_(cases.c.rubric_key.in_(keys), cases.c.rubric_name == lookup_text(rubric))
    of_cases = select(answers.c.run_no).join(cases).where(own).distinct()
    return _run_numbers(connection, or_(runs.c.rubric_key.in_(keys), runs.c.no.in_(of_cases)))


def runs_with_agent_run(connection: Connection, agent_run: str) -> list[int]:
    """The runs that have an output of this run of an agent, newest first."""
    found = select(outputs.c.run_no).where(outputs.c.agent_run == lookup_text(agent_run))
    return _run_numbers(connection, runs.c.no.in_(found.where(outputs.c.superseded_at.is_(None))))


def read_case_versions(reading: Reading, wanted: Mapping[str, str | None]) -> Iterator[Case]:
    """Stored cases, each content once."""
    conditions = [_case_condition(what, text) for what, text in wanted.items() if text is not None]
    query = select(cases.c.key, cases.c.json).where(*conditions).order_by(cases.c.key)
    for row in paged_rows(reading, query, [cases.c.key], size=_PAGE):
        yield read_record(Case, row.json)


def read_criterion_judgments(
    reading: Reading, criterion: str, rubric: str | None
) -> Iterator[StoredJudgment]:
    """The judgments of a criterion in every run."""
    query = _criterion_query(criterion, rubric)
    for row in paged_rows(reading, query, [judgments.c.no], size=_PAGE):
        key = ItemKey(row.case_id, row.variant, row.repeat)
        yield StoredJudgment(row.id, key, read_record(Judgment, row.json))


def find_rubric(connection: Connection, name: str) -> Rubric:
    """A stored rubric."""
    query = select(rubrics.c.json).where(rubrics.c.key.in_(_rubric_keys(name)))
    text = connection.scalar(query.order_by(rubrics.c.first_seen_at.desc()).limit(1))
    if text is None:
        known = select(rubrics.c.name).distinct().limit(_MOST_SUGGESTED)
        raise UnknownNameError("rubric", name, connection.scalars(known))
    return read_record(Rubric, text)


def rubrics_with_criterion(connection: Connection, criterion: str) -> list[Rubric]:
    """The rubrics that have a criterion of this name, oldest first."""
    found = select(criteria.c.rubric_key).where(criteria.c.name == lookup_text(criterion))
    query = select(rubrics.c.json).where(rubrics.c.key.in_(found))
    order = query.order_by(rubrics.c.first_seen_at, rubrics.c.key)
    return [read_record(Rubric, text) for text in connection.scalars(order)]


def find_config(connection: Connection, fingerprint: str) -> JsonObject:
    """The suite of a run."""
    query = (
        select(configs.c.json)
        .join(runs)
        .where(runs.c.config_fingerprint == lookup_text(fingerprint))
    )
    text = connection.scalar(query.order_by(*newest_first(runs)).limit(1))
    if text is None:
        known = select(runs.c.config_fingerprint).distinct().limit(_MOST_SUGGESTED)
        raise UnknownNameError("config", fingerprint, connection.scalars(known))
    config: JsonObject = json.loads(text)
    return config


def _run_numbers(connection: Connection, condition: ColumnElement[bool]) -> list[int]:
    query = select(runs.c.no).where(condition).order_by(*newest_first(runs))
    return list(connection.scalars(query))


def _rubric_keys(rubric: str) -> Select[tuple[str]]:
    name = lookup_text(rubric)
    return select(rubrics.c.key).where(or_(rubrics.c.name == name, rubrics.c.fingerprint == name))


def _case_condition(what: str, text: str) -> ColumnElement[bool]:
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


def _criterion_query(criterion: str, rubric: str | None) -> Select[tuple[object, ...]]:
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
    # A rubric of the case comes first; only a case without one is judged by the run's.
    by_run = cases.c.rubric_key.is_(None) & cases.c.rubric_name.is_(None)
    named = cases.c.rubric_name == lookup_text(rubric)
    own = or_(cases.c.rubric_key.in_(keys), named)
    return query.where(or_(own, by_run & runs.c.rubric_key.in_(keys)))


def insert_config(connection: Connection, config: JsonObject) -> str:
    """Store a suite as it is run."""
    try:
        text = canonical_json(config)
    except (TypeError, ValueError) as error:
        raise StoreError(f"the run's config cannot be stored as JSON: {error}") from error
    # Stored once by its content: a suite that runs every night does not change every night.
    key = text_fingerprint(text)
    insert_new(connection, configs, [{"key": key, "json": text}])
    return key


def insert_rubric(connection: Connection, rubric: Rubric, at: str) -> str:
    """Store a rubric and its criteria."""
    text = record_text(rubric)
    key = content_key(text)
    row: RowValues = {
        "key": key,
        "fingerprint": rubric.fingerprint,
        "name": lookup_text(rubric.name),
        "version": lookup_text(str(rubric.version)),
        "first_seen_at": at,
        "json": text,
    }
    insert_new(connection, rubrics, [row])
    parts: list[RowValues] = [
        {
            "rubric_key": key,
            "place": place,
            "name": lookup_text(criterion.name),
            "fingerprint": criterion.fingerprint,
            "weight": criterion.weight,
            "is_required": criterion.required,
        }
        for place, criterion in enumerate(rubric.criteria)
    ]
    insert_new(connection, criteria, parts)
    return key


def insert_cases(connection: Connection, found: Mapping[str, tuple[Case, str, str]]) -> None:
    """Store cases."""
    # In one order everywhere: two runs that store the same cases never wait for each other
    # in a circle.
    ordered = sorted(found.items())
    rows = [_case_row(connection, key, *case) for key, case in ordered]
    insert_new(connection, cases, rows)
    # Tags have rows of their own, so that "all cases with this tag" is an index lookup.
    tags: list[RowValues] = [
        {"case_key": key, "tag": tag}
        for key, (case, _, _) in ordered
        for tag in sorted({lookup_text(tag) for tag in case.tags})
    ]
    insert_new(connection, case_tags, tags)


def _case_row(connection: Connection, key: str, case: Case, text: str, at: str) -> RowValues:
    own = case.rubric
    is_whole = isinstance(own, Rubric)
    return {
        "key": key,
        "case_id": lookup_text(case.id),
        "agent": _optional_lookup(case.agent),
        "skill": _optional_lookup(case.skill),
        "prompt_version": _optional_lookup(case.prompt_version),
        "rubric_key": insert_rubric(connection, own, at) if isinstance(own, Rubric) else None,
        "rubric_name": None if own is None or is_whole else lookup_text(str(own)),
        "first_seen_at": at,
        "json": text,
    }


def read_rubric(connection: Connection, key: str | None) -> Rubric | None:
    """The rubric of a key."""
    if key is None:
        return None
    text = connection.scalar(select(rubrics.c.json).where(rubrics.c.key == key))
    return None if text is None else read_record(Rubric, text)


def _optional_lookup(text: str | None) -> str | None:
    return None if text is None else lookup_text(text)
