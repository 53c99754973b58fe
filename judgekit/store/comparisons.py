"""The store of comparisons, their analyses and approvals.

Preferences are stored as they arrive and are never lost.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from math import fsum
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from judgekit import records  # loaded when used: few commands read comparisons
from judgekit.errors import InputError, StoreError, UnknownNameError
from judgekit.fingerprint import fingerprint
from judgekit.records import (
    content_key,
    lookup_text,
    name_text,
    read_record,
    record_text,
    time_text,
)
from judgekit.store.database import Database
from judgekit.store.rows import (
    ending_columns,
    insert_cases,
    insert_new,
    insert_numbered,
    insert_rubric,
    newest_first,
    number_of,
    number_with_prefix,
    pages,
    record_row,
    supersede,
)
from judgekit.store.schema import (
    PAIR_COLUMNS,
    analyses,
    approvals,
    blind_comparisons,
    cases,
    compared_outputs,
    compared_pairs,
    comparison_sides,
    preferences,
    score_comparisons,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from judgekit.records import (
        Approval,
        ComparedPair,
        ComparisonAnalysis,
        ComparisonInfo,
        ComparisonStatus,
        Preference,
        PreferenceFailure,
        ScoreComparisonInfo,
    )
    from judgekit.store.rows import Rows, RowValues

    PreferenceRecord = Preference | PreferenceFailure

_FIRST_COMPARISON_LOCK = 1 << 40
"""Comparisons are locked by numbers above those of runs."""

LATEST_COMPARISON = "latest"
"""Names the comparison that was started last."""


class StoredComparisons(Database):
    """Comparisons, analyses and approvals in a database; see `Database`."""

    def comparison(self, name: str = LATEST_COMPARISON) -> ComparisonInfo:
        """The settings of a blind comparison and how it ended."""
        with self.reading() as connection:
            return _read_comparison(connection, _find_comparison(connection, name))

    def comparisons(
        self, *, variant: str | None = None, run_id: str | None = None, limit: int | None = None
    ) -> list[ComparisonInfo]:
        """The blind comparisons, newest first."""
        table = blind_comparisons
        query = select(table.c.no).order_by(*newest_first(table)).limit(limit)
        sides = select(comparison_sides.c.comparison_no)
        if variant is not None:
            name = lookup_text(variant)
            own = (comparison_sides.c.variant == name) | (comparison_sides.c.label == name)
            query = query.where(table.c.no.in_(sides.where(own)))
        if run_id is not None:
            of_run = comparison_sides.c.run_id == lookup_text(run_id)
            query = query.where(table.c.no.in_(sides.where(of_run)))
        with self.reading() as connection:
            numbers = connection.scalars(query).all()
            return [_read_comparison(connection, number) for number in numbers]

    def comparisons_of_cases(self, case_ids: Collection[str]) -> list[ComparisonInfo]:
        """The blind comparisons with a pair of one of these cases, newest first."""
        wanted, table = {lookup_text(case) for case in case_ids}, blind_comparisons
        pairs = select(compared_pairs.c.comparison_no, compared_pairs.c.case_id).distinct()
        with self.reading() as connection:
            # Compared here: databases limit the values of a statement.
            of_cases = {row[0] for row in connection.execute(pairs) if row.case_id in wanted}
            numbers = connection.scalars(select(table.c.no).order_by(*newest_first(table))).all()
            return [_read_comparison(connection, no) for no in numbers if no in of_cases]

    def any_comparison(self, name: str) -> ComparisonInfo | ScoreComparisonInfo:
        """The blind comparison, or that of scores, of this id or of an id that begins like it."""
        table = score_comparisons
        with self.reading() as connection:
            number = number_of(connection, table, name)
            if number is None and number_of(connection, blind_comparisons, name) is None:
                number, blind = (
                    number_with_prefix(connection, each, name, nouns="comparisons")
                    for each in (table, blind_comparisons)
                )
                if number is not None and blind is not None:
                    hint = "give more of the id"
                    raise InputError(f"several comparisons begin with {name!r}", hint=hint)
            if number is None:
                return _read_comparison(connection, _find_comparison(connection, name))
            text = connection.scalar(select(table.c.json).where(table.c.no == number))
        return read_record(records.ScoreComparisonInfo, text or "")

    def score_comparisons(
        self, *, run_id: str | None = None, limit: int | None = None
    ) -> list[ScoreComparisonInfo]:
        """The comparisons of scores, newest first."""
        table = score_comparisons
        query = select(table.c.json).order_by(*newest_first(table)).limit(limit)
        if run_id is not None:
            run = lookup_text(run_id)
            query = query.where((table.c.a_run == run) | (table.c.b_run == run))
        return [read_record(records.ScoreComparisonInfo, text) for text in self._texts(query)]

    def add_score_comparison(self, info: ScoreComparisonInfo) -> None:
        """Store which runs were compared by their scores."""
        own: RowValues = {
            "id": name_text("comparison id", info.id),
            "started_at": time_text(info.started_at),
        }
        for side, about in (("a", info.a), ("b", info.b)):
            own[f"{side}_run"] = lookup_text(about.run_id or "")
            own[f"{side}_variant"] = lookup_text(about.variant or "")
        with self.writing() as connection:
            connection.execute(
                insert(score_comparisons), record_row(score_comparisons, info, **own)
            )

    def compared(self, comparison_id: str) -> Iterator[ComparedPair]:
        """The pairs of a comparison, with the preferences of both orders."""
        number = self._comparison_number(comparison_id)
        a, b = compared_outputs.alias("a"), compared_outputs.alias("b")
        texts = (cases.c.json.label("case"), a.c.json.label("a"), b.c.json.label("b"))
        query = (
            select(compared_pairs, *texts)
            .join(cases, cases.c.key == compared_pairs.c.case_key)
            .join(a, a.c.key == compared_pairs.c.a_key)
            .join(b, b.c.key == compared_pairs.c.b_key)
            .where(compared_pairs.c.comparison_no == number)
            .order_by(compared_pairs.c.place)
        )

        def load(connection: Connection, rows: Rows) -> tuple[Rows, list[ComparedPair]]:
            return rows, _load_pairs(connection, number, rows)

        order = [compared_pairs.c.place]
        for _, pairs in pages(self.reading, query, order, size=_PAGE, load=load):
            yield from pairs

    def replaced_usd(self, comparison_id: str) -> float:
        """What was paid for answers about pairs that others took the place of, in US dollars."""
        replaced = select(preferences.c.json).where(
            preferences.c.comparison_no == self._comparison_number(comparison_id),
            preferences.c.superseded_at.is_not(None),
        )
        return fsum(json.loads(text).get("cost_usd") or 0.0 for text in self._texts(replaced))

    def analyses(self, comparison_id: str) -> dict[int, ComparisonAnalysis]:
        """The analyses of pairs, by the index of the pair."""
        number = self._comparison_number(comparison_id)
        query = select(analyses.c.place, analyses.c.json).where(
            analyses.c.comparison_no == number, analyses.c.superseded_at.is_(None)
        )
        with self.reading() as connection:
            rows = connection.execute(query.order_by(analyses.c.place))
            return {row.place: read_record(records.ComparisonAnalysis, row.json) for row in rows}

    def approvals(self, variant: str | None = None) -> list[Approval]:
        """The approvals, newest first."""
        query = select(approvals.c.json).order_by(approvals.c.at.desc(), approvals.c.id.desc())
        if variant is not None:
            query = query.where(approvals.c.variant == lookup_text(variant))
        return [read_record(records.Approval, text) for text in self._texts(query)]

    def begin_comparison(self, info: ComparisonInfo) -> None:
        """Store the settings of a comparison and lock it for this store."""
        with self.writing() as connection:
            try:
                number = _insert_comparison(connection, info)
            except IntegrityError as error:  # another process stored it in between
                raise StoreError(f"the comparison {info.id} exists already") from error
        self._hold(info.id, number)

    def resume_comparison(self, comparison_id: str) -> None:
        """Resume a comparison and lock it for this store."""
        number = self._comparison_number(comparison_id)
        # Locked before anything is written: two processes must not add to one comparison.
        self._hold(comparison_id, number)
        self._set_ending(number, "running", None, None)

    def add_pairs(self, comparison_id: str, pairs: Sequence[ComparedPair]) -> None:
        """Store pairs and their preferences; when it returns they are on disk."""
        number = self._comparison_number(comparison_id)
        now = datetime.now(UTC)
        with self.writing() as connection:
            for pair in pairs:
                _add_pair(connection, number, pair, now)

    def add_analysis(self, comparison_id: str, place: int, analysis: ComparisonAnalysis) -> None:
        number = self._comparison_number(comparison_id)
        at = time_text(datetime.now(UTC))
        row = record_row(analyses, analysis, comparison_no=number, place=place, at=at)
        with self.writing() as connection:
            supersede(connection, analyses, PAIR_COLUMNS, [row], only_changed=True)
            insert_new(connection, analyses, [row])

    def end_comparison(
        self, comparison_id: str, *, status: ComparisonStatus, reason: str | None = None
    ) -> None:
        """Store how a comparison ended, and unlock it."""
        number = self._comparison_number(comparison_id)
        self._set_ending(number, status, reason, datetime.now(UTC))
        self._unlock(_FIRST_COMPARISON_LOCK + number)
        self.checkpoint()  # results are then in the file itself, which users copy

    def approve(self, approval: Approval) -> None:
        name, at = name_text("approval id", approval.id), time_text(approval.at)
        version = approval.version.fingerprint
        row = record_row(approvals, approval, id=name, at=at, version=version)
        with self.writing() as connection:
            connection.execute(insert(approvals), row)

    def _comparison_number(self, comparison_id: str) -> int:
        with self.reading() as connection:
            return _find_comparison(connection, comparison_id)

    def _set_ending(
        self, number: int, status: ComparisonStatus, reason: str | None, at: datetime | None
    ) -> None:
        table = blind_comparisons
        row = ending_columns(status, reason, at)
        with self.writing() as connection:
            connection.execute(update(table).where(table.c.no == number).values(row))

    def _hold(self, comparison_id: str, number: int) -> None:
        if not self._try_lock(_FIRST_COMPARISON_LOCK + number):
            raise StoreError(
                f"the comparison {comparison_id} is still running",
                hint="wait for it or stop it, then continue with --resume",
            )


_PAGE = 200


def _insert_comparison(connection: Connection, info: ComparisonInfo) -> int:
    at = time_text(info.started_at)
    name = name_text("comparison id", info.id)
    if number_of(connection, blind_comparisons, name) is not None:
        raise StoreError(f"the comparison {info.id} exists already", hint="give another id")
    rubric_key = insert_rubric(connection, info.rubric, at)
    ending = ending_columns(info.status, info.reason, info.finished_at)
    row = record_row(
        blind_comparisons, info, id=name, rubric_key=rubric_key, started_at=at, **ending
    )
    number = insert_numbered(connection, blind_comparisons, row)
    sides = []
    for side, about in (("a", info.a), ("b", info.b)):
        version = None if about.version is None else about.version.fingerprint
        own: RowValues = {"comparison_no": number, "side": side, "version": version}
        sides.append(record_row(comparison_sides, about, **own))
    connection.execute(insert(comparison_sides), sides)
    return number


def _find_comparison(connection: Connection, name: str) -> int:
    table = blind_comparisons
    number = number_of(connection, table, name)
    if number is None and name == LATEST_COMPARISON:
        number = connection.scalar(select(table.c.no).order_by(*newest_first(table)).limit(1))
    if number is None:
        number = number_with_prefix(connection, table, name, nouns="comparisons")
    if number is None:
        known = [
            id_
            for each in (table, score_comparisons)
            for id_ in connection.scalars(select(each.c.id).order_by(*newest_first(each)))
        ]
        if name in known:
            raise InputError(
                f"{name} compares stored scores: it has no pairs",
                hint=f"show it: judgekit show {name}",
            )
        raise UnknownNameError("comparison", name, known)
    return number


def _add_pair(connection: Connection, number: int, pair: ComparedPair, at: datetime) -> None:
    # Outputs and cases are stored by content: a comparison of two runs repeats neither.
    moment = time_text(at)
    case, a, b = (record_text(record) for record in (pair.case, pair.a, pair.b))
    insert_cases(connection, {content_key(case): (pair.case, case, moment)})
    texts = {content_key(text): text for text in (a, b)}
    insert_new(
        connection, compared_outputs, [{"key": key, "json": t} for key, t in sorted(texts.items())]
    )
    row: RowValues = {
        "comparison_no": number,
        "place": pair.place,
        "case_id": lookup_text(pair.case.id),
        "case_key": content_key(case),
        "repeat": pair.repeat,
        "a_key": content_key(a),
        "b_key": content_key(b),
        "is_done": pair.is_done,
    }
    answers: list[PreferenceRecord] = [*pair.preferences, *pair.failures]
    rows = [_preference_row(number, pair.place, each, moment) for each in answers]
    # Most pairs are new: then there is nothing to supersede.
    if insert_new(connection, compared_pairs, [row]):
        insert_new(connection, preferences, rows)
        return
    there = [compared_pairs.c[name] == row[name] for name in PAIR_COLUMNS]
    connection.execute(update(compared_pairs).where(*there).values(is_done=pair.is_done))
    supersede(connection, preferences, (*PAIR_COLUMNS, "slot"), rows, only_changed=True)
    insert_new(connection, preferences, rows)


def _read_comparison(connection: Connection, number: int) -> ComparisonInfo:
    row = connection.execute(
        select(blind_comparisons).where(blind_comparisons.c.no == number)
    ).one()
    info = read_record(records.ComparisonInfo, row.json)
    # The JSON text is that of the beginning; how it ended is in columns that can be updated.
    ending = {name: getattr(row, name) for name in ("finished_at", "status", "reason")}
    return records.ComparisonInfo.model_validate({**info.model_dump(mode="json"), **ending})


def _preference_row(number: int, place: int, answer: PreferenceRecord, at: str) -> RowValues:
    own: RowValues = {
        "comparison_no": number,
        "place": place,
        "slot": fingerprint([answer.order, answer.criterion, answer.judge, answer.repeat])[:32],
        "at": at,
        "shown": answer.order,
        "judge_repeat": answer.repeat,
        "choice": answer.choice if isinstance(answer, records.Preference) else None,
        "failure_kind": answer.kind if isinstance(answer, records.PreferenceFailure) else None,
    }
    return record_row(preferences, answer, **own)


def _load_pairs(connection: Connection, number: int, rows: Rows) -> list[ComparedPair]:
    if not rows:
        return []
    query = select(preferences.c.place, preferences.c.choice, preferences.c.json).where(
        preferences.c.comparison_no == number,
        # A range, not a list of places: a page is contiguous, and PostgreSQL limits parameters.
        preferences.c.place.between(rows[0].place, rows[-1].place),
        preferences.c.superseded_at.is_(None),
    )
    chosen: dict[int, list[Preference]] = defaultdict(list)
    failed: dict[int, list[PreferenceFailure]] = defaultdict(list)
    for place, choice, text in connection.execute(query.order_by(preferences.c.no)):
        if choice is None:
            failed[place].append(read_record(records.PreferenceFailure, text))
        else:
            chosen[place].append(read_record(records.Preference, text))
    return [
        records.ComparedPair(
            place=row.place,
            case=read_record(records.Case, row.case),
            repeat=row.repeat,
            a=read_record(records.Output, row.a),
            b=read_record(records.Output, row.b),
            preferences=tuple(chosen[row.place]),
            failures=tuple(failed[row.place]),
            is_done=row.is_done,
        )
        for row in rows
    ]
