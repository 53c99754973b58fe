"""The store of runs: what is observed is added as it comes, and never lost or altered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy.exc import IntegrityError

from judgekit.errors import StoreError
from judgekit.store import people
from judgekit.store.adding import add_observations
from judgekit.store.comparisons import StoredComparisons
from judgekit.store.forgetting import forget_failures
from judgekit.store.reading import StoredRuns
from judgekit.store.run_rows import begin_run, end_run, holder, run_number, variant_numbers
from judgekit.store.texts import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.records.judgment import Judgment
    from judgekit.records.label import HumanItem
    from judgekit.records.run import ItemKey, Observed, RunInfo, RunStatus


class RunStore(StoredRuns, StoredComparisons):
    """Keeps runs and comparisons in an SQLite file or a PostgreSQL database.

    See `Database` for its arguments.

    What a method that adds has returned from is on disk: a process that is killed loses nothing
    of it. A run that is begun or taken up again belongs to this store until it ends, is closed
    or its process dies; no other process can add to it meanwhile, though all can read it.
    """

    def __init__(
        self,
        location: str | Path = ".judgekit/judgekit.db",
        *,
        create: bool = True,
        patience_s: float = 30.0,
    ) -> None:
        self._owned: dict[str, int] = {}
        self._variants: dict[int, dict[str, int]] = {}
        super().__init__(location, create=create, patience_s=patience_s)

    def begin(self, run: RunInfo) -> None:
        """Keep what a run sets out to do; it then belongs to this store.

        Args:
            run: The run.

        Raises:
            StoreError: When a run of that id was begun already, or it cannot be kept, or the
                store is damaged.
        """
        self.check()  # before anything is paid for
        with self.writing() as connection:
            try:
                number = begin_run(connection, run)
            except IntegrityError as error:  # another process was quicker by a hair
                raise StoreError(f"the run {run.id} was begun already") from error
        if run.status == "running":
            self._own(run.id, number)

    def end(
        self, run_id: str, *, status: RunStatus, reason: str | None = None, at: datetime
    ) -> None:
        """Keep how a run ended; or, with `running`, take it up again.

        Args:
            run_id: The run's whole id.
            status: How it ended.
            reason: Why it is not complete.
            at: When; not kept for `running`.

        Raises:
            UnknownNameError: When there is no such run.
            StoreError: When it is running in another process, or is to be taken up again and
                the store is damaged.
        """
        is_running = status == "running"
        if is_running:
            self.check()
        number = self._owned_number(run_id)
        with self.writing() as connection:
            end_run(connection, number, status, reason, None if is_running else at)
        if not is_running:
            self._disown(run_id)
            self.checkpoint()

    def add(self, run_id: str, observed: Sequence[Observed]) -> None:
        """Add observations in one transaction; when it returns they are on disk.

        What is there already, to the letter, is not added again. Where something else was
        observed before, what is added takes its place and the earlier stays as history: for
        judgments by criterion, judge and repeat, for an output with everything it was judged,
        and for checks and scores as whole lists.

        Args:
            run_id: The run's whole id.
            observed: In the order they were made.

        Raises:
            UnknownNameError: When there is no such run.
            StoreError: When something cannot be kept, or the run is running in another process;
                nothing of the call is kept then.
        """
        if not observed:
            return
        number = self._owned_number(run_id)
        with self._lock:
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
        """Make answers that failed incomplete, so that they are asked again.

        Args:
            run_id: The run's whole id.
            keys: Answers; those without a failure stay as they are.
            judge_failures: Whether judges' failures are asked again; judgments stay.
            target_errors: Whether outputs that are errors are produced again.

        Returns:
            How many answers will be asked again; what they were before stays as history.

        Raises:
            InputError: When there is no such run or answer.
            StoreError: When the run is running in another process.
        """
        number = self._owned_number(run_id)
        with self.writing() as connection:
            return forget_failures(
                connection,
                number,
                keys,
                judge_failures=judge_failures,
                target_errors=target_errors,
            )

    def ask_person(self, run_id: str, items: Sequence[HumanItem]) -> None:
        """Put items in the queue for a person; those that are in it stay as they are.

        Args:
            run_id: The run's whole id.
            items: Criteria of answers that were begun.

        Raises:
            InputError: When there is no such run or answer.
            StoreError: When it cannot be kept.
        """
        with self.writing() as connection:
            people.ask(connection, run_number(connection, run_id), items)

    def answer_item(
        self, item: HumanItem, judgment: Judgment, *, at: datetime | None = None
    ) -> None:
        """Keep a person's judgment as one of its answer, and close the item.

        Args:
            item: From `queue`.
            judgment: Of the same criterion, with `source="human"`.
            at: When; None means now.

        Raises:
            InputError: When the judgment is of something else, or there is no such answer.
            StoreError: When the item is not in the queue, or was answered already.
        """
        when = time_text(at or datetime.now(UTC))
        with self.writing() as connection:
            number = run_number(connection, item.run_id)
            people.answer(connection, number, item, judgment, when)

    def withdraw_answer(self, item: HumanItem, *, at: datetime | None = None) -> None:
        """Take a person's judgment back: it stays as history, and the item waits again.

        Args:
            item: From `queue`, as it was asked.
            at: When; None means now.

        Raises:
            InputError: When there is no such run or answer.
            StoreError: When the item is not in the queue, or was not answered.
        """
        when = time_text(at or datetime.now(UTC))
        with self.writing() as connection:
            people.withdraw(connection, run_number(connection, item.run_id), item, when)

    def close(self) -> None:
        """Give up the runs that are held and close every connection."""
        self._owned.clear()
        super().close()

    def _lost(self) -> None:
        self._owned.clear()
        super()._lost()

    def _owned_number(self, run_id: str) -> int:
        """The number of a run that belongs to this store; takes it when nobody has it."""
        number = self._owned.get(run_id)
        if number is not None:
            return number
        number = self._number(run_id)
        self._own(run_id, number)
        return number

    def _own(self, run_id: str, number: int) -> None:
        with self._lock:
            if run_id in self._owned:
                return
            if not self._try_lock(number):
                with self.reading() as connection:
                    who = holder(connection, number)
                raise StoreError(
                    f"the run {run_id} is still running as {who}",
                    hint="wait for it or stop it; then go on with --resume",
                )
            self._owned[run_id] = number

    def _disown(self, run_id: str) -> None:
        with self._lock:
            number = self._owned.pop(run_id, None)
            if number is not None:
                self._variants.pop(number, None)
                self._unlock(number)

    def _known_variants(self, number: int) -> dict[str, int]:
        if number not in self._variants:
            with self.reading() as connection:
                self._variants[number] = variant_numbers(connection, number)
        return self._variants[number]
