"""The store of runs, for reading (`StoredRuns`) and for writing (`RunStore`).

Its queries are in `catalog`, `results`, `observations` and `human_queue`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from judgekit.errors import StoreError
from judgekit.records import lookup_text, time_text
from judgekit.store import human_queue
from judgekit.store.catalog import (
    LATEST_RUN,
    begin_run,
    end_run,
    find_config,
    find_rubric,
    find_run,
    read_case_versions,
    read_criterion_judgments,
    read_runs,
    rubrics_with_criterion,
    run_holder,
    run_number,
    runs_with_agent_run,
    runs_with_case,
    runs_with_rubric,
    runs_with_variant,
    variant_numbers,
)
from judgekit.store.comparisons import StoredComparisons
from judgekit.store.database import Database
from judgekit.store.human_queue import read_queue
from judgekit.store.observations import add_observations, forget_failures, read_superseded
from judgekit.store.results import (
    ResultFilter,
    answer_filter,
    read_progress,
    read_results,
    spent_usd,
)
from judgekit.store.rows import newest_first
from judgekit.store.schema import runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from judgekit.records import (
        Case,
        CaseResult,
        HumanItem,
        ItemKey,
        JsonObject,
        Judgment,
        Observation,
        Output,
        Rubric,
        RunInfo,
        RunStatus,
    )
    from judgekit.store.catalog import StoredJudgment
    from judgekit.store.observations import SupersededObservation
    from judgekit.store.results import AnswerProgress


class StoredRuns(Database):
    """Reads stored runs; see `Database` for how it is opened."""

    def run(self, name: str = LATEST_RUN) -> RunInfo:
        """The settings of a run and how it ended."""
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
        query = select(runs.c.no).order_by(*newest_first(runs)).limit(limit)
        if suite is not None:
            query = query.where(runs.c.suite == lookup_text(suite))
        if config_fingerprint is not None:
            query = query.where(runs.c.config_fingerprint == lookup_text(config_fingerprint))
        with self.reading() as connection:
            return read_runs(connection, list(connection.scalars(query)))

    def progress(self, run_id: str) -> Iterator[AnswerProgress]:
        """The progress of each answer that was started."""
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
        """Results of a run, read in pages: memory does not grow with the run."""
        wanted = ResultFilter(variant=variant, case_id=case_id, tag=tag, failed_only=failed_only)
        yield from self._results(run_id, wanted)

    def result(self, run_id: str, key: ItemKey) -> CaseResult | None:
        """One result of a run."""
        return next(self._results(run_id, answer_filter(key)), None)

    def spent_usd(
        self,
        run_id: str,
        *,
        is_owned: Callable[[str, Output], bool],
        only_replaced: bool = False,
    ) -> float:
        """Total cost of a run in US dollars, superseded results included."""
        number = self._number(run_id)
        return spent_usd(self.reading, number, is_owned, only_replaced=only_replaced)

    def history(self, run_id: str, key: ItemKey) -> list[SupersededObservation]:
        """The superseded results of an answer."""
        with self.reading() as connection:
            return read_superseded(connection, run_number(connection, run_id), key)

    def runs_of_case(self, case_id: str) -> list[RunInfo]:
        """The runs that have a case of this id, newest first."""
        with self.reading() as connection:
            return read_runs(connection, runs_with_case(connection, case_id))

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
        """Stored cases, each content once; all conditions must hold."""
        wanted = {
            "case_id": case_id,
            "agent": agent,
            "skill": skill,
            "prompt_version": prompt_version,
            "tag": tag,
            "rubric": rubric,
        }
        yield from read_case_versions(self.reading, wanted)

    def runs_of_variant(self, variant: str) -> list[RunInfo]:
        """The runs that have a variant of this id, newest first."""
        with self.reading() as connection:
            return read_runs(connection, runs_with_variant(connection, variant))

    def runs_of_rubric(self, rubric: str) -> list[RunInfo]:
        """The runs judged by a rubric, by name or fingerprint, newest first."""
        with self.reading() as connection:
            return read_runs(connection, runs_with_rubric(connection, rubric))

    def results_of_agent_run(self, agent_run: str) -> Iterator[CaseResult]:
        """The answers whose output belongs to this run of an agent (`Output.run_id`)."""
        with self.reading() as connection:
            agent_runs = read_runs(connection, runs_with_agent_run(connection, agent_run))
        for run in agent_runs:
            yield from self._results(run.id, ResultFilter(agent_run=agent_run))

    def judgments_of_criterion(
        self, criterion: str, *, rubric: str | None = None
    ) -> Iterator[StoredJudgment]:
        """The judgments of a criterion in every run, oldest first."""
        yield from read_criterion_judgments(self.reading, criterion, rubric)

    def rubric(self, name: str) -> Rubric:
        """A stored rubric, by its fingerprint or name; by name, the newest one."""
        with self.reading() as connection:
            return find_rubric(connection, name)

    def rubrics_of_criterion(self, criterion: str) -> list[Rubric]:
        """The rubrics that have a criterion of this name, oldest first."""
        with self.reading() as connection:
            return rubrics_with_criterion(connection, criterion)

    def config(self, fingerprint: str) -> JsonObject:
        """The suite of a run; `runs(config_fingerprint=…)` has its runs."""
        with self.reading() as connection:
            return find_config(connection, fingerprint)

    def queue(self, run_id: str | None = None, *, open_only: bool = True) -> Iterator[HumanItem]:
        """The queue of items for human judgment."""
        run_no = None if run_id is None else self._number(run_id)
        yield from read_queue(self.reading, run_no, open_only=open_only)

    def _number(self, run_id: str) -> int:
        with self.reading() as connection:
            return run_number(connection, run_id)

    def _results(self, run_id: str, wanted: ResultFilter) -> Iterator[CaseResult]:
        with self.reading() as connection:
            run_no = run_number(connection, run_id)
            (run,) = read_runs(connection, [run_no])
        yield from read_results(self.reading, run_no, run, wanted)


class RunStore(StoredRuns, StoredComparisons):
    """Keeps runs and comparisons in an SQLite file or a PostgreSQL database.

    See `Database` for its arguments.

    When a method that adds returns, its data are on disk: a killed process loses nothing of
    them. A run that is started or resumed is locked by this store until it ends, the store is
    closed or the process dies; other processes can read it meanwhile, but not add to it.
    """

    def __init__(
        self,
        location: str | Path = ".judgekit/judgekit.db",
        *,
        create: bool = True,
        patience_s: float = 30.0,
    ) -> None:
        self._locked_runs: dict[str, int] = {}
        self._variants: dict[int, dict[str, int]] = {}
        super().__init__(location, create=create, patience_s=patience_s)

    def begin(self, run: RunInfo) -> None:
        """Store the settings of a run and lock it for this store.

        Args:
            run: The run.

        Raises:
            StoreError: When a run of that id exists, it cannot be stored, or the store is
                damaged.
        """
        self.check()  # before anything is paid for
        with self.writing() as connection:
            try:
                number = begin_run(connection, run)
            except IntegrityError as error:  # another process stored it in between
                raise StoreError(f"the run {run.id} exists already") from error
        # An imported run is complete already; nothing will be added to it.
        if run.status == "running":
            self._lock_run(run.id, number)

    def end(
        self, run_id: str, *, status: RunStatus, reason: str | None = None, at: datetime
    ) -> None:
        """Store how a run ended; or, with `running`, resume it.

        Args:
            run_id: The full id of the run.
            status: How it ended.
            reason: Why it is not complete.
            at: The time; ignored for `running`.

        Raises:
            UnknownNameError: When there is no such run.
            StoreError: When it is running in another process, or is to be resumed and the store
                is damaged.
        """
        is_running = status == "running"
        if is_running:
            self.check()
        number = self._locked_number(run_id)
        with self.writing() as connection:
            end_run(connection, number, status, reason, None if is_running else at)
        if not is_running:
            self._unlock_run(run_id)
            self.checkpoint()

    def add(self, run_id: str, observed: Sequence[Observation]) -> None:
        """Add observations in one transaction; when it returns they are on disk.

        Identical observations are not added again. A different one supersedes the earlier,
        which stays as history: judgments by criterion, judge and repeat; an output together
        with all its judgments; checks and scores as whole lists.

        Args:
            run_id: The full id of the run.
            observed: In the order they were made.

        Raises:
            UnknownNameError: When there is no such run.
            StoreError: When something cannot be stored, or the run is running in another process;
                nothing of the call is stored then.
        """
        if not observed:
            return
        number = self._locked_number(run_id)
        with self._lock:
            # A copy: if the transaction fails, the new variants were never stored.
            known = dict(self._known_variants(number))
            with self.writing() as connection:
                add_observations(connection, number, known, observed)
            self._variants[number] = known

    def forget(
        self,
        run_id: str,
        keys: Sequence[ItemKey],
        *,
        judge_failures: bool = True,
        target_errors: bool = True,
    ) -> int:
        """Mark failed answers as incomplete, so that they are retried.

        Args:
            run_id: The full id of the run.
            keys: Answers; those without a failure are not changed.
            judge_failures: Whether failures of judges are retried; judgments stay.
            target_errors: Whether outputs that are errors are produced again.

        Returns:
            The number of answers to be retried; their earlier results stay as history.

        Raises:
            InputError: When there is no such run or answer.
            StoreError: When the run is running in another process.
        """
        number = self._locked_number(run_id)
        with self.writing() as connection:
            return forget_failures(
                connection,
                number,
                keys,
                judge_failures=judge_failures,
                target_errors=target_errors,
            )

    def ask_person(self, run_id: str, items: Sequence[HumanItem]) -> None:
        """Queue items for human judgment; items in the queue are not changed.

        Args:
            run_id: The full id of the run.
            items: Criteria of stored answers.

        Raises:
            InputError: When there is no such run or answer.
            StoreError: When it cannot be stored.
        """
        with self.writing() as connection:
            human_queue.enqueue_items(connection, run_number(connection, run_id), items)

    def answer_item(
        self, item: HumanItem, judgment: Judgment, *, at: datetime | None = None
    ) -> None:
        """Store a human judgment and close the item.

        Args:
            item: From `queue`.
            judgment: Of the same criterion, with `source="human"`.
            at: The time; None means now.

        Raises:
            InputError: When the judgment is for another criterion, or there is no such answer.
            StoreError: When the item is not in the queue, or was answered already.
        """
        when = time_text(at or datetime.now(UTC))
        with self.writing() as connection:
            number = run_number(connection, item.run_id)
            human_queue.record_human_judgment(connection, number, item, judgment, when)

    def withdraw_answer(self, item: HumanItem, *, at: datetime | None = None) -> None:
        """Withdraw a human judgment: it stays as history, and the item is open again.

        Args:
            item: From `queue`.
            at: The time; None means now.

        Raises:
            InputError: When there is no such run or answer.
            StoreError: When the item is not in the queue, or was not answered.
        """
        when = time_text(at or datetime.now(UTC))
        with self.writing() as connection:
            human_queue.withdraw_human_judgment(
                connection, run_number(connection, item.run_id), item, when
            )

    def close(self) -> None:
        """Release all locked runs and close every connection."""
        # The database releases the locks themselves.
        self._locked_runs.clear()
        super().close()

    def _lost(self) -> None:
        self._locked_runs.clear()
        super()._lost()

    def _locked_number(self, run_id: str) -> int:
        """The number of a run, after locking it for this store."""
        number = self._locked_runs.get(run_id)
        if number is not None:
            return number
        number = self._number(run_id)
        self._lock_run(run_id, number)
        return number

    def _lock_run(self, run_id: str, number: int) -> None:
        with self._lock:
            if run_id in self._locked_runs:
                return
            # The lock of the operating system, not a column: it dies with its process.
            if not self._try_lock(number):
                with self.reading() as connection:
                    who = run_holder(connection, number)
                raise StoreError(
                    f"the run {run_id} is still running in {who}",
                    hint="wait for it or stop it, then continue with --resume",
                )
            self._locked_runs[run_id] = number

    def _unlock_run(self, run_id: str) -> None:
        with self._lock:
            number = self._locked_runs.pop(run_id, None)
            if number is not None:
                self._variants.pop(number, None)
                self._unlock(number)

    def _known_variants(self, number: int) -> dict[str, int]:
        if number not in self._variants:
            with self.reading() as connection:
                self._variants[number] = variant_numbers(connection, number)
        return self._variants[number]
