"""The store of runs, for reading; runs are found from their cases, variants and rubrics too.

Results are read in `results`; writing is in `runs`.
"""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from sqlalchemy import ColumnElement, Row, Select, func, or_, select, tuple_

from judgekit import records  # loaded when used: few commands read packets or notes
from judgekit.errors import UnknownNameError
from judgekit.records import (
    Case,
    GateDecision,
    HumanItem,
    ItemKey,
    Judgment,
    Rubric,
    RunInfo,
    Variant,
    lookup_text,
    read_record,
    read_time,
    time_text,
    words_text,
)
from judgekit.store.database import Database
from judgekit.store.observations import SupersededObservation, read_superseded
from judgekit.store.results import (
    ResultFilter,
    dated_record,
    has_tag,
    is_current_for_answer,
    read_progress,
    read_results,
    read_run_state,
    read_variant_progress,
    spent_usd,
)
from judgekit.store.rows import MOST_NAMED, newest_first, number_of, number_with_prefix, paged_rows
from judgekit.store.schema import (
    HAS_VARIANT,
    answers,
    cases,
    configs,
    criteria,
    finding_notes,
    gate_decisions,
    judgments,
    label_packets,
    notifications,
    outputs,
    queue,
    rubrics,
    run_figures,
    runs,
    variants,
)

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.engine import Connection

    from judgekit.records import CaseResult, FindingNote, JsonObject, LabelPacket, Output
    from judgekit.store.results import AnswerProgress, VariantProgress

LATEST_RUN = "latest"
"""The name of the run that was begun last; `latest:SUITE` is the last one of a suite."""

COMPARISON_OUTPUTS_SUFFIX = ": outputs to compare"
"""Ends the suite's name of a run that only made outputs for a comparison; such a run is `latest`
only where there is no other."""

_PAGE = 500
_MOST_SUGGESTED = 200  # names looked through for a near one


class StoredJudgment(NamedTuple):
    """A judgment and its answer."""

    run_id: str
    key: ItemKey
    judgment: Judgment


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFilter:
    """Which stored cases are wanted; all conditions that are set must hold.

    Attributes:
        suite: A suite with a run that has the case.
        rubric: The name or fingerprint of the rubric that judges the case.
    """

    case_id: str | None = None
    agent: str | None = None
    skill: str | None = None
    prompt_version: str | None = None
    tag: str | None = None
    rubric: str | None = None
    suite: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The same of the table of cases."""
        columns = (
            (cases.c.case_id, self.case_id),
            (cases.c.agent, self.agent),
            (cases.c.skill, self.skill),
            (cases.c.prompt_version, self.prompt_version),
        )
        found = [column == lookup_text(text) for column, text in columns if text is not None]
        if self.tag is not None:
            found.append(has_tag(cases.c.key, self.tag))
        of_runs = select(answers.c.case_key).join(runs, runs.c.no == answers.c.run_no)
        if self.rubric is not None:
            judged = of_runs.where(runs.c.rubric_key.in_(_rubric_keys(self.rubric)))
            found.append(_judged_by(self.rubric, cases.c.key.in_(judged)))
        if self.suite is not None:
            found.append(
                cases.c.key.in_(of_runs.where(runs.c.suite == lookup_text(self.suite)).distinct())
            )
        return found


CaseAttribute = Literal["agent", "skill", "prompt_version"]


class StoredRuns(Database):
    """Reads stored runs; see `Database` for how it is opened."""

    def run(self, name: str = LATEST_RUN) -> RunInfo:
        """The settings of a run and how it ended."""
        with self.reading() as connection:
            return _read_run(connection, _find_run(connection, name))

    def runs(
        self,
        *,
        suite: str | None = None,
        config_fingerprint: str | None = None,
        before: RunInfo | None = None,
        limit: int | None = None,
    ) -> list[RunInfo]:
        """The runs, newest first."""
        wanted: list[ColumnElement[bool]] = []
        if suite is not None:
            wanted.append(runs.c.suite == lookup_text(suite))
        if config_fingerprint is not None:
            wanted.append(runs.c.config_fingerprint == lookup_text(config_fingerprint))
        if before is not None:
            moment = time_text(before.started_at), before.id
            wanted.append(tuple_(runs.c.started_at, runs.c.id) < tuple_(*moment))
        return self._runs(*wanted, limit=limit)

    def latest_start(self) -> datetime | None:
        """When the newest run was started; None where no run is stored."""
        with self.reading() as connection:
            latest = connection.scalar(select(func.max(runs.c.started_at)))
        return None if latest is None else read_time(latest)

    def progress(self, run_id: str) -> Iterator[AnswerProgress]:
        yield from read_progress(self.reading, self._number(run_id))

    def variant_progress(self, run_id: str) -> list[VariantProgress]:
        """The progress of a run by variant."""
        with self.reading() as connection:
            return read_variant_progress(connection, run_number(connection, run_id))

    def run_state(self, run_id: str) -> str:
        """A text that differs after each change of a run's answers."""
        with self.reading() as connection:
            return read_run_state(connection, run_number(connection, run_id))

    def results(
        self,
        run_id: str,
        *,
        variant: str | None = None,
        case_id: str | None = None,
        tag: str | None = None,
        failed_only: bool = False,
    ) -> Iterator[CaseResult]:
        """Results of a run, read in pages: memory does not grow with the run."""
        wanted = ResultFilter(variant=variant, case_id=case_id, tag=tag, failed_only=failed_only)
        yield from self._results(run_id, wanted)

    def result(self, run_id: str, key: ItemKey) -> CaseResult | None:
        wanted = ResultFilter(variant=key.variant, case_id=key.case_id, repeat=key.repeat)
        return next(self._results(run_id, wanted), None)

    def spent_usd(
        self, run_id: str, *, is_owned: Callable[[str, Output], bool], only_replaced: bool = False
    ) -> float:
        """Total cost of a run in US dollars, superseded results included."""
        number = self._number(run_id)
        return spent_usd(self.reading, number, is_owned, only_replaced=only_replaced)

    def history(self, run_id: str, key: ItemKey) -> list[SupersededObservation]:
        with self.reading() as connection:
            return read_superseded(connection, run_number(connection, run_id), key)

    def runs_of_case(self, case_id: str) -> list[RunInfo]:
        """The runs that have a case of this id, newest first."""
        found = select(answers.c.run_no).join(cases).where(cases.c.case_id == lookup_text(case_id))
        return self._runs(runs.c.no.in_(found.distinct()))

    def results_of_case(self, case_id: str) -> Iterator[CaseResult]:
        """The answers to a case in every run, newest run first."""
        for run in self.runs_of_case(case_id):
            yield from self._results(run.id, ResultFilter(case_id=case_id))

    def cases_of(
        self,
        *,
        case_id: str | None = None,
        agent: str | None = None,
        skill: str | None = None,
        prompt_version: str | None = None,
        tag: str | None = None,
        rubric: str | None = None,
    ) -> Iterator[Case]:
        """Stored cases by their ids, each content once; all conditions must hold."""
        wanted = CaseFilter(
            case_id=case_id,
            agent=agent,
            skill=skill,
            prompt_version=prompt_version,
            tag=tag,
            rubric=rubric,
        )
        yield from self._cases(*wanted.conditions())

    def cases_with_runs(self, wanted: CaseFilter) -> list[tuple[Case, list[RunInfo]]]:
        """Stored cases by their ids, each content with the runs that had it, newest first."""
        same = wanted.conditions()
        query = select(answers.c.case_key, runs.c.no, runs.c.id).select_from(answers)
        query = query.join(cases, cases.c.key == answers.c.case_key)
        query = query.join(runs, runs.c.no == answers.c.run_no)
        if wanted.suite is not None:
            query = query.where(runs.c.suite == lookup_text(wanted.suite))
        own: dict[str, set[str]] = defaultdict(set)
        # One query for all: one for each case would read every run as often as it has cases.
        with self.reading() as connection:
            for row in connection.execute(query.where(*same).distinct()):
                own[row.case_key].add(row.id)
        ids = set().union(*own.values())
        newest = [run for run in self.runs(suite=wanted.suite) if run.id in ids] if ids else []
        return [
            (read_record(Case, row.json), [run for run in newest if run.id in own[row.key]])
            for row in self._case_rows(*same)
        ]

    def names_of_cases(self, attribute: CaseAttribute) -> list[str]:
        """All agents, skills or prompt versions that a stored case names."""
        column = cases.c[attribute]
        query = select(column).where(column.is_not(None)).distinct().order_by(column)
        return list(self._texts(query))

    def runs_of_variant(self, variant: str) -> list[RunInfo]:
        """The runs that have a variant of this id, newest first."""
        found = select(variants.c.run_no).where(variants.c.variant == words_text(variant))
        return self._runs(runs.c.no.in_(found))

    def runs_of_rubric(self, rubric: str) -> list[RunInfo]:
        """The runs of which a rubric, by name or fingerprint, judged cases, newest first."""
        keys = _rubric_keys(rubric)
        own = or_(cases.c.rubric_key.in_(keys), cases.c.rubric_name == lookup_text(rubric))
        of_cases = select(answers.c.run_no).join(cases).where(own).distinct()
        return self._runs(or_(runs.c.rubric_key.in_(keys), runs.c.no.in_(of_cases)))

    def results_of_agent_run(self, agent_run: str) -> Iterator[CaseResult]:
        """The answers whose output belongs to this run of an agent (`Output.run_id`)."""
        found = select(outputs.c.run_no).where(
            outputs.c.agent_run == lookup_text(agent_run), outputs.c.superseded_at.is_(None)
        )
        for run in self._runs(runs.c.no.in_(found)):
            yield from self._results(run.id, ResultFilter(agent_run=agent_run))

    def judgments_of_criterion(
        self, criterion: str, *, rubric: str | None = None
    ) -> Iterator[StoredJudgment]:
        """The judgments of a criterion in every run: newest run first, each in its own order."""
        own = judgments.c
        order = [own.place, own.variant_no, own.repeat, own.judge, own.judge_repeat, own.slot]
        query = (
            select(*order, own.json, own.at, runs.c.id, answers.c.case_id, variants.c.variant)
            .select_from(judgments)
            .join(answers, is_current_for_answer(judgments))
            .join(runs, runs.c.no == answers.c.run_no)
            .join(variants, HAS_VARIANT)
            .join(cases, cases.c.key == answers.c.case_key)
            .where(own.criterion == lookup_text(criterion))
            .order_by(*order)
        )
        in_runs = select(own.run_no).where(own.criterion == lookup_text(criterion)).distinct()
        if rubric is not None:
            of_run = runs.c.rubric_key.in_(_rubric_keys(rubric))
            query = query.where(_judged_by(rubric, of_run))
        numbers = select(runs.c.no).where(runs.c.no.in_(in_runs)).order_by(*newest_first(runs))
        with self.reading() as connection:
            newest = connection.scalars(numbers).all()
        # Run by run: sorting the judgments of all runs for each page would read all of them.
        for number in newest:
            of_one = query.where(own.run_no == number)
            for row in paged_rows(self.reading, of_one, order, size=_PAGE):
                key = ItemKey(row.case_id, row.variant, row.repeat)
                yield StoredJudgment(row.id, key, dated_record(Judgment, row.json, row.at))

    def rubric(self, name: str) -> Rubric:
        """A stored rubric, by its fingerprint or name; by name, the newest one."""
        query = select(rubrics.c.json).where(rubrics.c.key.in_(_rubric_keys(name)))
        newest = query.order_by(rubrics.c.first_seen_at.desc(), rubrics.c.key)
        text = self._known_text(newest, "rubric", name, select(rubrics.c.name).distinct())
        return read_record(Rubric, text)

    def rubrics_of_criterion(self, criterion: str) -> list[Rubric]:
        """The rubrics that have a criterion of this name, oldest first."""
        found = select(criteria.c.rubric_key).where(criteria.c.name == lookup_text(criterion))
        query = select(rubrics.c.json).where(rubrics.c.key.in_(found))
        texts = self._texts(query.order_by(rubrics.c.first_seen_at, rubrics.c.key))
        return [read_record(Rubric, text) for text in texts]

    def config(self, fingerprint: str) -> JsonObject:
        """The suite of a run; `runs(config_fingerprint=…)` has its runs."""
        same = runs.c.config_fingerprint == lookup_text(fingerprint)
        query = select(configs.c.json).join(runs).where(same).order_by(*newest_first(runs))
        known = select(runs.c.config_fingerprint).distinct()
        config: JsonObject = json.loads(self._known_text(query, "config", fingerprint, known))
        return config

    def queue(
        self, run_id: str | None = None, *, open_only: bool = True, place: int | None = None
    ) -> Iterator[HumanItem]:
        # In the order of the results, so that all criteria of one output are judged together.
        order = (queue.c.run_no, queue.c.place, queue.c.variant_no, queue.c.repeat, queue.c.no)
        query = select(queue).order_by(*order)
        if run_id is not None:
            query = query.where(queue.c.run_no == self._number(run_id))
        if open_only:
            query = query.where(queue.c.answered_at.is_(None))
        if place is not None:
            query = query.where(queue.c.place == place)
        for row in paged_rows(self.reading, query, order, size=_PAGE):
            item = read_record(HumanItem, row.json)
            yield item.model_copy(update={"answered_at": read_time(row.answered_at)})

    def packet(self, packet_id: str) -> LabelPacket:
        """A labelling packet: the key to the items that annotators were given."""
        query = select(label_packets.c.json).where(label_packets.c.id == packet_id)
        known = select(label_packets.c.id).order_by(label_packets.c.made_at.desc())
        text = self._known_text(query, "labelling packet", packet_id, known)
        return read_record(records.LabelPacket, text)

    def packets(self, source: str) -> list[LabelPacket]:
        """The labelling packets of a run or a comparison, oldest first."""
        query = select(label_packets.c.json).where(label_packets.c.source == lookup_text(source))
        texts = self._texts(query.order_by(label_packets.c.no))
        return [read_record(records.LabelPacket, text) for text in texts]

    def gate_decisions(self, suite: str) -> dict[str, GateDecision]:
        """The last decision of a gate or a reviewer about each run of a suite, by run id."""
        query = select(gate_decisions.c.json).join(runs).where(runs.c.suite == lookup_text(suite))
        decisions = query.order_by(gate_decisions.c.at, gate_decisions.c.no)
        found = (read_record(GateDecision, text) for text in self._texts(decisions))
        return {one.run_id: one for one in found}

    def figures(self, run_id: str, key: str) -> JsonObject | None:
        """Cached figures of a run; None where they were never computed, or the run has changed."""
        text = self.figures_of_run(run_id, key)
        return None if text is None else cast("JsonObject", json.loads(text))

    def finding_notes(self, suite: str) -> list[FindingNote]:
        """The notes on the findings of a suite, oldest first."""
        query = select(finding_notes.c.json).where(finding_notes.c.suite == lookup_text(suite))
        texts = self._texts(query.order_by(finding_notes.c.at, finding_notes.c.no))
        return [read_record(records.FindingNote, text) for text in texts]

    def notified(self, suite: str) -> set[str]:
        """The episodes of a suite of which a notification was sent."""
        query = select(notifications.c.episode).where(notifications.c.suite == lookup_text(suite))
        return set(self._texts(query))

    def figures_of_suite(self, suite: str, kind: str) -> dict[tuple[str, str], str]:
        """The JSON of all cached figures of one kind of a suite's runs, by run id and key."""
        query = select(runs.c.id, run_figures.c.key, run_figures.c.json).join(runs)
        query = query.where(runs.c.suite == lookup_text(suite))
        with self.reading() as connection:
            # The key begins with the kind.
            found = connection.execute(query.where(run_figures.c.key.startswith(f"{kind} ")))
            return {(row.id, row.key): row.json for row in found}

    def figures_of_run(self, run_id: str, key: str) -> str | None:
        """The JSON of cached figures of a run; None where there are none by this key."""
        query = select(run_figures.c.json).join(runs)
        with self.reading() as connection:
            found = query.where(runs.c.id == lookup_text(run_id), run_figures.c.key == key)
            return connection.scalar(found)

    def suites(self) -> list[str]:
        """The names of all suites that have a run."""
        query = select(runs.c.suite).distinct().order_by(runs.c.suite)
        return list(self._texts(query))

    def case_keys(self, run_id: str) -> list[str]:
        """The keys of a run's cases, which differ where their content does, sorted."""
        with self.reading() as connection:
            found = select(answers.c.case_key).where(
                answers.c.run_no == run_number(connection, run_id)
            )
            return sorted(connection.scalars(found.distinct()))

    def cases_of_run(self, run_id: str) -> Iterator[Case]:
        """The cases of a run by their ids, each content once."""
        found = select(answers.c.case_key).where(answers.c.run_no == self._number(run_id))
        yield from self._cases(cases.c.key.in_(found.distinct()))

    def _known_text(self, query: Select[str], kind: str, name: str, known: Select[str]) -> str:
        """The first JSON that a query selects; the error names others where there is none."""
        with self.reading() as connection:
            text = connection.scalar(query.limit(1))
            if text is None:
                raise UnknownNameError(kind, name, connection.scalars(known.limit(_MOST_SUGGESTED)))
        return text

    def _cases(self, *conditions: ColumnElement[bool]) -> Iterator[Case]:
        for row in self._case_rows(*conditions):
            yield read_record(Case, row.json)

    def _case_rows(self, *conditions: ColumnElement[bool]) -> Iterator[Row[Any]]:
        # The key only separates contents of one id: it is a hash.
        order = [cases.c.case_id, cases.c.key]
        query = select(*order, cases.c.json).where(*conditions).order_by(*order)
        yield from paged_rows(self.reading, query, order, size=_PAGE)

    def _number(self, run_id: str) -> int:
        with self.reading() as connection:
            return run_number(connection, run_id)

    def _runs(self, *conditions: ColumnElement[bool], limit: int | None = None) -> list[RunInfo]:
        numbers = select(runs.c.no).where(*conditions).order_by(*newest_first(runs)).limit(limit)
        with self.reading() as connection:
            return _read_runs(connection, runs.c.no.in_(numbers))

    def _results(self, run_id: str, wanted: ResultFilter) -> Iterator[CaseResult]:
        with self.reading() as connection:
            run_no = run_number(connection, run_id)
            run = _read_run(connection, run_no)
        yield from read_results(self.reading, run_no, run, wanted)


def run_number(connection: Connection, run_id: str) -> int:
    # By the exact id only: what is written to must never be found by a prefix.
    number = number_of(connection, runs, run_id)
    if number is None:
        raise _unknown_run_error(connection, run_id)
    return number


def _find_run(connection: Connection, name: str) -> int:
    number = number_of(connection, runs, name)
    word, _, suite = name.partition(":")
    if number is None and word == LATEST_RUN:
        number = _last_run(connection, suite)
    elif number is None:
        number = number_with_prefix(connection, runs, name, nouns="runs")
    if number is None:
        raise _unknown_run_error(connection, name)
    return number


def _unknown_run_error(connection: Connection, name: str) -> UnknownNameError:
    # Near names first: a store may hold thousands of runs, and a typing error is near its target.
    known = list(connection.scalars(select(runs.c.id).order_by(*newest_first(runs))))
    near = difflib.get_close_matches(name, known, n=3)
    error = UnknownNameError("run", name, near or known[:MOST_NAMED])
    if not known:
        error.hint = "no run is stored here yet: judgekit run"
    return error


def _read_run(connection: Connection, run_no: int) -> RunInfo:
    return _read_runs(connection, runs.c.no == run_no)[0]


def _read_runs(connection: Connection, wanted: ColumnElement[bool]) -> list[RunInfo]:
    """Runs, newest first, by three queries however many they are."""
    query = select(runs, configs.c.json.label("config")).join(configs).where(wanted)
    rows = connection.execute(query.order_by(*newest_first(runs))).all()
    numbers = select(runs.c.no).where(wanted)
    of_runs = select(variants.c.run_no, variants.c.json).where(variants.c.run_no.in_(numbers))
    own: dict[int, list[Variant]] = {row.no: [] for row in rows}
    for row in connection.execute(of_runs.order_by(variants.c.run_no, variants.c.no)):
        own[row.run_no].append(read_record(Variant, row.json))
    keys = select(runs.c.rubric_key).where(wanted)
    judging = connection.execute(
        select(rubrics.c.key, rubrics.c.json).where(rubrics.c.key.in_(keys))
    )
    by_key = {row.key: read_record(Rubric, row.json) for row in judging}
    return [
        read_record(RunInfo, row.json).model_copy(
            update={
                "config": json.loads(row.config),
                "rubric": by_key.get(row.rubric_key),
                "variants": tuple(own[row.no]),
                "status": row.status,
                "reason": row.reason,
                "finished_at": read_time(row.finished_at),
            }
        )
        for row in rows
    ]


def _last_run(connection: Connection, suite: str) -> int | None:
    query = select(runs.c.no).order_by(*newest_first(runs)).limit(1)
    # Runs that only made outputs for a comparison are skipped: no user means them by `latest`.
    if suite:
        return connection.scalar(query.where(runs.c.suite == lookup_text(suite)))
    own = connection.scalar(query.where(runs.c.suite.not_like(f"%{COMPARISON_OUTPUTS_SUFFIX}")))
    return connection.scalar(query) if own is None else own


def _rubric_keys(rubric: str) -> Select[tuple[str]]:
    name = lookup_text(rubric)
    return select(rubrics.c.key).where(or_(rubrics.c.name == name, rubrics.c.fingerprint == name))


def _judged_by(rubric: str, of_run: ColumnElement[bool]) -> ColumnElement[bool]:
    """The condition that a rubric judges a case; `of_run` is that of the cases which name none."""
    # A rubric of the case comes first; only a case without one is judged by that of its runs.
    named = or_(
        cases.c.rubric_key.in_(_rubric_keys(rubric)), cases.c.rubric_name == lookup_text(rubric)
    )
    return or_(named, cases.c.rubric_key.is_(None) & cases.c.rubric_name.is_(None) & of_run)
