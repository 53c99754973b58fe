"""How comparisons become rows and come back: what was set out to do, pairs, preferences."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from judgekit.errors import InputError, StoreError, UnknownNameError
from judgekit.fingerprint import fingerprint
from judgekit.records.case import Case
from judgekit.records.compared import Analysis, ComparedPair, ComparisonInfo
from judgekit.records.comparison import Preference, PreferenceFailure
from judgekit.records.output import Output
from judgekit.store.comparison_tables import (
    analyses,
    compared_outputs,
    compared_pairs,
    comparison_sides,
    comparisons,
    preferences,
)
from judgekit.store.snapshots import insert_new, keep_cases, keep_rubric
from judgekit.store.tables import cases
from judgekit.store.texts import (
    content_key,
    lookup_text,
    name_text,
    read_record,
    record_text,
    time_text,
    words_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.engine import Connection

    from judgekit.records.compared import ComparedSide, ComparisonStatus
    from judgekit.store.snapshots import Row

    Said = Preference | PreferenceFailure

LATEST = "latest"
"""Stands for the comparison that was begun last."""

_PAGE = 200
_ENDING = {"finished_at", "status", "reason"}
_MOST_NAMED = 10


def begin_comparison(connection: Connection, info: ComparisonInfo) -> int:
    """Keep what a comparison sets out to do."""
    at = time_text(info.started_at)
    name = name_text("comparison id", info.id)
    if connection.scalar(select(comparisons.c.no).where(comparisons.c.id == name)):
        raise StoreError(f"the comparison {info.id} was begun already", hint="give another id")
    row: Row = {
        "id": name,
        "suite": None if info.suite is None else lookup_text(info.suite),
        "rubric_key": keep_rubric(connection, info.rubric, at),
        "judge": lookup_text(info.judge),
        "started_at": at,
        "finished_at": None if info.finished_at is None else time_text(info.finished_at),
        "status": info.status,
        "reason": None if info.reason is None else words_text(info.reason),
        "json": record_text(info),
    }
    key = connection.execute(insert(comparisons), row).inserted_primary_key
    number = 0 if key is None else int(key[0])
    sides = (("a", info.a), ("b", info.b))
    connection.execute(insert(comparison_sides), [_side_row(number, *side) for side in sides])
    return number


def end_comparison(
    connection: Connection,
    number: int,
    status: ComparisonStatus,
    reason: str | None,
    at: datetime | None,
) -> None:
    """Keep how a comparison ended, or that it goes on."""
    row: Row = {
        "status": status,
        "reason": None if reason is None else words_text(reason),
        "finished_at": None if at is None else time_text(at),
    }
    connection.execute(update(comparisons).where(comparisons.c.no == number).values(row))


def add_pair(connection: Connection, number: int, pair: ComparedPair, at: datetime) -> None:
    """Keep a pair and what was said of it; a later answer takes the place of an earlier one."""
    moment = time_text(at)
    case, a, b = (record_text(record) for record in (pair.case, pair.a, pair.b))
    keep_cases(connection, {content_key(case): (pair.case, case, moment)})
    texts = {content_key(text): text for text in (a, b)}
    insert_new(
        connection, compared_outputs, [{"key": key, "json": t} for key, t in sorted(texts.items())]
    )
    row: Row = {
        "comparison_no": number,
        "place": pair.place,
        "case_id": lookup_text(pair.case.id),
        "case_key": content_key(case),
        "repeat": pair.repeat,
        "a_key": content_key(a),
        "b_key": content_key(b),
        "is_done": pair.is_done,
    }
    said: list[Said] = [*pair.preferences, *pair.failures]
    rows = [_said_row(number, pair.place, each, moment) for each in said]
    if insert_new(connection, compared_pairs, [row]):
        insert_new(connection, preferences, rows)
        return
    there = [compared_pairs.c[name] == row[name] for name in ("comparison_no", "place")]
    connection.execute(update(compared_pairs).where(*there).values(is_done=pair.is_done))
    for each in rows:
        _put(connection, preferences, each, "slot")


def add_analysis(
    connection: Connection, number: int, place: int, analysis: Analysis, at: datetime
) -> None:
    """Keep why a pair came out as it did."""
    row: Row = {
        "comparison_no": number,
        "place": place,
        "at": time_text(at),
        "json": record_text(analysis),
        "superseded_at": None,
    }
    _put(connection, analyses, row)


def comparison_numbers(
    connection: Connection,
    *,
    variant: str | None = None,
    run_id: str | None = None,
    limit: int | None = None,
) -> list[int]:
    """Comparisons, newest first."""
    query = select(comparisons.c.no).order_by(*_newest_first()).limit(limit)
    sides = select(comparison_sides.c.comparison_no)
    if variant is not None:
        name = lookup_text(variant)
        own = (comparison_sides.c.variant == name) | (comparison_sides.c.label == name)
        query = query.where(comparisons.c.no.in_(sides.where(own)))
    if run_id is not None:
        of_run = comparison_sides.c.run_id == lookup_text(run_id)
        query = query.where(comparisons.c.no.in_(sides.where(of_run)))
    return list(connection.scalars(query))


def find_comparison(connection: Connection, name: str) -> int:
    """The number of a comparison."""
    exact = connection.scalar(select(comparisons.c.no).where(comparisons.c.id == words_text(name)))
    if exact is not None:
        return int(exact)
    found = connection.execute(
        select(comparisons.c.no, comparisons.c.id).order_by(*_newest_first())
    ).all()
    if name == LATEST and found:
        return int(found[0].no)
    same = [row for row in found if row.id.startswith(name)]
    if not same or not name:
        raise UnknownNameError("comparison", name, [row.id for row in found])
    if len(same) > 1:
        some = ", ".join(row.id for row in same[:_MOST_NAMED])
        raise InputError(f"{len(same)} comparisons begin with {name}: {some}")
    return int(same[0].no)


def read_comparison(connection: Connection, number: int) -> ComparisonInfo:
    """What a comparison set out to do, and how it ended."""
    row = connection.execute(select(comparisons).where(comparisons.c.no == number)).one()
    info = read_record(ComparisonInfo, row.json)
    ending = {name: getattr(row, name) for name in _ENDING}
    return ComparisonInfo.model_validate({**info.model_dump(mode="json"), **ending})


def read_pairs(
    reading: Callable[[], AbstractContextManager[Connection]], number: int
) -> Iterator[ComparedPair]:
    """The pairs of a comparison with what was said of them."""
    a, b = compared_outputs.alias("a"), compared_outputs.alias("b")
    query = (
        select(compared_pairs, cases.c.json.label("case"), a.c.json.label("a"), b.c.json.label("b"))
        .join(cases, cases.c.key == compared_pairs.c.case_key)
        .join(a, a.c.key == compared_pairs.c.a_key)
        .join(b, b.c.key == compared_pairs.c.b_key)
        .where(compared_pairs.c.comparison_no == number)
        .order_by(compared_pairs.c.place)
    )
    last = -1
    while True:
        with reading() as connection:
            rows = connection.execute(query.where(compared_pairs.c.place > last).limit(_PAGE)).all()
            said = _said_by_place(connection, number, [row.place for row in rows])
        for row in rows:
            own = said[row.place]
            yield ComparedPair(
                place=row.place,
                case=read_record(Case, row.case),
                repeat=row.repeat,
                a=read_record(Output, row.a),
                b=read_record(Output, row.b),
                preferences=tuple(each for each in own if isinstance(each, Preference)),
                failures=tuple(each for each in own if isinstance(each, PreferenceFailure)),
                is_done=row.is_done,
            )
        if len(rows) < _PAGE:
            return
        last = rows[-1].place


def read_analyses(connection: Connection, number: int) -> dict[int, Analysis]:
    """The analyses of a comparison."""
    query = select(analyses.c.place, analyses.c.json).where(
        analyses.c.comparison_no == number, analyses.c.superseded_at.is_(None)
    )
    return {
        row.place: read_record(Analysis, row.json)
        for row in connection.execute(query.order_by(analyses.c.place))
    }


def _newest_first() -> tuple[ColumnElement[object], ...]:
    return comparisons.c.started_at.desc(), comparisons.c.no.desc()


def _side_row(number: int, side: str, about: ComparedSide) -> Row:
    return {
        "comparison_no": number,
        "side": side,
        "label": lookup_text(about.label),
        "variant": None if about.variant is None else lookup_text(about.variant),
        "run_id": None if about.run_id is None else lookup_text(about.run_id),
        "version": None if about.version is None else about.version.fingerprint,
    }


def _said_row(number: int, place: int, said: Said, at: str) -> Row:
    return {
        "comparison_no": number,
        "place": place,
        "slot": fingerprint([said.order, said.criterion, said.judge, said.repeat])[:32],
        "at": at,
        "shown": said.order,
        "criterion": None if said.criterion is None else lookup_text(said.criterion),
        "judge": lookup_text(said.judge),
        "judge_repeat": said.repeat,
        "choice": said.choice if isinstance(said, Preference) else None,
        "failure_kind": said.kind if isinstance(said, PreferenceFailure) else None,
        "cost_usd": said.cost_usd,
        "json": record_text(said),
        "superseded_at": None,
    }


def _put(connection: Connection, table: Table, row: Row, *keys: str) -> None:
    """Add what is not there to the letter; what stood in its place stays as history."""
    same = [table.c[name] == row[name] for name in ("comparison_no", "place", *keys)]
    current = (*same, table.c.superseded_at.is_(None))
    connection.execute(
        update(table).where(*current, table.c.json != row["json"]).values(superseded_at=row["at"])
    )
    insert_new(connection, table, [row])


def _said_by_place(
    connection: Connection, number: int, places: Sequence[int]
) -> dict[int, list[Said]]:
    found: dict[int, list[Said]] = defaultdict(list)
    if not places:
        return found
    query = select(preferences.c.place, preferences.c.choice, preferences.c.json).where(
        preferences.c.comparison_no == number,
        preferences.c.place.between(places[0], places[-1]),
        preferences.c.superseded_at.is_(None),
    )
    for row in connection.execute(query.order_by(preferences.c.no)):
        found[row.place].append(
            read_record(Preference, row.json)
            if row.choice is not None
            else read_record(PreferenceFailure, row.json)
        )
    return found
