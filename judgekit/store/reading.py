"""What a store can be asked: runs, their results, and the relations between what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from judgekit.store.database import Database
from judgekit.store.forgetting import read_history
from judgekit.store.people import read_queue
from judgekit.store.progress import read_progress
from judgekit.store.relations import (
    find_config,
    find_rubric,
    read_cases,
    read_judgments,
    rubrics_with_criterion,
    runs_with_agent_run,
    runs_with_case,
    runs_with_rubric,
    runs_with_variant,
)
from judgekit.store.results import Wanted, one, read_results
from judgekit.store.run_rows import LATEST, find_run, newest_first, read_runs, run_number
from judgekit.store.spending import spent_usd
from judgekit.store.tables import runs
from judgekit.store.texts import lookup_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgekit.records.case import Case
    from judgekit.records.label import HumanItem
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import CaseResult, ItemKey, RunInfo
    from judgekit.store.forgetting import Earlier
    from judgekit.store.progress import Progress
    from judgekit.store.relations import JudgmentOf


class StoredRuns(Database):
    """Runs that are kept, to be read; see `Database` for how it is opened."""

    def run(self, name: str = LATEST) -> RunInfo:
        """What a run set out to do and how it ended."""
        with self.reading() as connection:
            return read_runs(connection, [find_run(connection, name)])[0]

    def runs(
        self,
        *,
        suite: str | None = None,
        config_fingerprint: str | None = None,
        limit: int | None = None,
    ) -> list[RunInfo]:
        """The runs, newest first."""
        query = select(runs.c.no).order_by(*newest_first()).limit(limit)
        if suite is not None:
            query = query.where(runs.c.suite == lookup_text(suite))
        if config_fingerprint is not None:
            query = query.where(runs.c.config_fingerprint == lookup_text(config_fingerprint))
        with self.reading() as connection:
            return read_runs(connection, list(connection.scalars(query)))

    def progress(self, run_id: str) -> Iterator[Progress]:
        """How far each answer of a run has come that was begun."""
        yield from read_progress(self.reading, self._number(run_id))

    def results(
        self,
        run_id: str,
        *,
        variant: str | None = None,
        case_id: str | None = None,
        tag: str | None = None,
        failed_only: bool = False,
    ) -> Iterator[CaseResult]:
        """Answers of a run with everything observed of them; memory does not grow with the run."""
        wanted = Wanted(variant=variant, case_id=case_id, tag=tag, failed_only=failed_only)
        yield from self._results(run_id, wanted)

    def result(self, run_id: str, key: ItemKey) -> CaseResult | None:
        """One answer of a run with everything observed of it."""
        return next(self._results(run_id, one(key)), None)

    def spent_usd(
        self,
        run_id: str,
        *,
        is_owned: Callable[[str, Output], bool],
        only_replaced: bool = False,
    ) -> float:
        """What everything observed of a run was paid, also what was replaced since."""
        number = self._number(run_id)
        return spent_usd(self.reading, number, is_owned, only_replaced=only_replaced)

    def history(self, run_id: str, key: ItemKey) -> list[Earlier]:
        """What was observed of an answer and is no longer current."""
        with self.reading() as connection:
            return read_history(connection, run_number(connection, run_id), key)

    def runs_of_case(self, case_id: str) -> list[RunInfo]:
        """The runs that have a case of this id, newest first."""
        with self.reading() as connection:
            return read_runs(connection, runs_with_case(connection, case_id))

    def results_of_case(self, case_id: str) -> Iterator[CaseResult]:
        """The answers to a case in every run, newest run first."""
        for run in self.runs_of_case(case_id):
            yield from self._results(run.id, Wanted(case_id=case_id))

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
        """Cases as they were, each content once; several wishes must all be met."""
        wanted = {
            "case_id": case_id,
            "agent": agent,
            "skill": skill,
            "prompt_version": prompt_version,
            "tag": tag,
            "rubric": rubric,
        }
        yield from read_cases(self.reading, wanted)

    def runs_of_variant(self, variant: str) -> list[RunInfo]:
        """The runs that have a variant of this id, newest first."""
        with self.reading() as connection:
            return read_runs(connection, runs_with_variant(connection, variant))

    def runs_of_rubric(self, rubric: str) -> list[RunInfo]:
        """The runs judged by a rubric, by name or fingerprint, newest first."""
        with self.reading() as connection:
            return read_runs(connection, runs_with_rubric(connection, rubric))

    def results_of_agent_run(self, agent_run: str) -> Iterator[CaseResult]:
        """The answers whose output is of this run of an agent (`Output.run_id`)."""
        with self.reading() as connection:
            found = read_runs(connection, runs_with_agent_run(connection, agent_run))
        for run in found:
            yield from self._results(run.id, Wanted(agent_run=agent_run))

    def judgments_of_criterion(
        self, criterion: str, *, rubric: str | None = None
    ) -> Iterator[JudgmentOf]:
        """What judges said of a criterion in every run, oldest first."""
        yield from read_judgments(self.reading, criterion, rubric)

    def rubric(self, name: str) -> Rubric:
        """A rubric as it was, by its fingerprint or name; by name, the last one."""
        with self.reading() as connection:
            return find_rubric(connection, name)

    def rubrics_of_criterion(self, criterion: str) -> list[Rubric]:
        """The rubrics that have a criterion of this name, oldest first."""
        with self.reading() as connection:
            return rubrics_with_criterion(connection, criterion)

    def config(self, fingerprint: str) -> JsonObject:
        """A suite as it was run; the runs of it are `runs(config_fingerprint=…)`."""
        with self.reading() as connection:
            return find_config(connection, fingerprint)

    def queue(self, run_id: str | None = None, *, open_only: bool = True) -> Iterator[HumanItem]:
        """What waits for a person's judgment."""
        run_no = None if run_id is None else self._number(run_id)
        yield from read_queue(self.reading, run_no, open_only=open_only)

    def _number(self, run_id: str) -> int:
        with self.reading() as connection:
            return run_number(connection, run_id)

    def _results(self, run_id: str, wanted: Wanted) -> Iterator[CaseResult]:
        with self.reading() as connection:
            run_no = run_number(connection, run_id)
            (run,) = read_runs(connection, [run_no])
        yield from read_results(self.reading, run_no, run, wanted)
