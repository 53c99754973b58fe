"""The store of runs, for writing. Reading is in `catalog`, observations in `observations`."""

from __future__ import annotations

import atexit
import os
import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from judgekit import records  # loaded when used: few commands read packets or notes
from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.errors import InputError, StoreError
from judgekit.fingerprint import fingerprint
from judgekit.records import (
    GateDecision,
    HumanItem,
    ItemKey,
    Judgment,
    Label,
    Observation,
    RunInfo,
    RunStatus,
    judgment_slot,
    lookup_text,
    name_text,
    read_record,
    record_text,
    time_text,
    words_text,
)
from judgekit.store.catalog import StoredRuns, run_number
from judgekit.store.comparisons import StoredComparisons
from judgekit.store.observations import (
    add_observations,
    find_answer_row,
    forget_failures,
    judge_row,
)
from judgekit.store.rows import (
    RowValues,
    ending_columns,
    insert_config,
    insert_new,
    insert_numbered,
    insert_rubric,
    insert_variants,
    number_of,
    record_row,
    supersede,
)
from judgekit.store.schema import (
    ANSWER_COLUMNS,
    failures,
    finding_notes,
    gate_decisions,
    judgments,
    label_packets,
    notifications,
    queue,
    run_figures,
    runs,
    variants,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row

    from judgekit.records import FindingNote, LabelPacket


_SLOT_COLUMNS = (*ANSWER_COLUMNS, "slot")


class RunStore(StoredRuns, StoredComparisons):
    """Keeps runs, comparisons and labelling packets in an SQLite file or a PostgreSQL database.

    See `Database` for its arguments.

    When a method that adds returns, its data are on disk: a killed process loses nothing of
    them. A run that is started or resumed is locked by this store until it ends, the store is
    closed or the process dies; other processes can read it meanwhile, but not add to it.

    Runs are named by their full ids. A method that adds raises `UnknownNameError` where there is no
    such run, and `StoreError` where another process runs it or nothing can be stored; then nothing
    of the call is stored.
    """

    def __init__(
        self,
        location: str | Path = DEFAULT_STORE_FILE,
        *,
        create: bool = True,
        patience_s: float = 30.0,
        durable: bool = True,
    ) -> None:
        self._locked_runs: dict[str, int] = {}
        # Of the runs begun here. A number never changes, since no run is ever removed.
        self._numbers: dict[str, int] = {}
        self._variants: dict[int, dict[str, int]] = {}
        super().__init__(location, create=create, patience_s=patience_s, durable=durable)

    def begin(self, run: RunInfo) -> None:
        """Store the settings of a run and lock it for this store."""
        self.check()  # before anything is paid for
        with self.writing() as connection:
            try:
                number = _insert_run(connection, run)
            except IntegrityError as error:  # another process stored it in between
                raise StoreError(f"the run {run.id} exists already") from error
        self._numbers[run.id] = number
        # An imported run is complete already; nothing will be added to it.
        if run.status == "running":
            self._lock_run(run.id, number)

    def end(
        self, run_id: str, *, status: RunStatus, reason: str | None = None, at: datetime
    ) -> None:
        """Store how a run ended, and why if it is not complete; with `running`, resume it."""
        is_running = status == "running"
        if is_running:
            self.check()
        number = self._locked_number(run_id)
        with self.writing() as connection:
            row = ending_columns(status, reason, None if is_running else at)
            row |= _this_process() if is_running else {}
            connection.execute(update(runs).where(runs.c.no == number).values(row))
        if not is_running:
            with self._lock:
                if self._locked_runs.pop(run_id, None) is not None:
                    self._variants.pop(number, None)
                    self._unlock(number)
            self.checkpoint()

    def add(self, run_id: str, observed: Sequence[Observation]) -> None:
        """Add observations in one transaction; when it returns they are on disk.

        Identical observations are not added again. A different one supersedes the earlier,
        which stays as history: judgments by criterion, judge and repeat; an output together
        with all its judgments; checks and scores as whole lists.
        """
        if not observed:
            return
        number = self._locked_number(run_id)
        with self._lock:
            # A copy: if the transaction fails, the new variants were never stored.
            known = dict(self._variants.get(number, {}))
            with self.writing() as connection:
                if not known:
                    query = select(variants.c.variant, variants.c.no)
                    of_run = query.where(variants.c.run_no == number).order_by(variants.c.no)
                    known = {row.variant: row.no for row in connection.execute(of_run)}
                add_observations(connection, number, known, observed)
                _forget_figures(connection, number)
            self._variants[number] = known

    def forget(
        self,
        run_id: str,
        keys: Sequence[ItemKey],
        *,
        judge_failures: bool = True,
        target_errors: bool = True,
    ) -> int:
        """Mark failed answers as incomplete, so that they are retried; returns their number.

        Judgments stay, and earlier results stay as history.
        """
        number = self._locked_number(run_id)
        with self.writing() as connection:
            _forget_figures(connection, number)
            return forget_failures(
                connection, number, keys, judge_failures=judge_failures, target_errors=target_errors
            )

    def record_gate(self, decision: GateDecision) -> None:
        """Store what a gate decided about a run, or that somebody accepted it; the last counts."""
        with self.writing() as connection:
            number, at = run_number(connection, decision.run_id), time_text(decision.at)
            row = record_row(gate_decisions, decision, run_no=number, at=at)
            connection.execute(insert(gate_decisions), row)

    def add_finding_note(self, suite: str, note: FindingNote) -> None:
        """Store a note on a finding of a suite."""
        at = time_text(note.at)
        row = record_row(finding_notes, note, suite=lookup_text(suite), at=at)
        with self.writing() as connection:
            connection.execute(insert(finding_notes), row)

    def record_notification(self, suite: str, episode: str, at: datetime) -> None:
        """Store that the notification of an episode was sent; it is sent once."""
        row: RowValues = {"suite": lookup_text(suite), "episode": episode, "at": time_text(at)}
        with self.writing() as connection:
            insert_new(connection, notifications, [row])

    def keep_figures(self, run_id: str, key: str, text: str) -> None:
        """Cache figures of a run, as JSON, until it changes.

        The key says by which rubric and calibration they are.
        """
        with self.writing() as connection:
            number = run_number(connection, run_id)
            insert_new(connection, run_figures, [{"run_no": number, "key": key, "json": text}])

    def ask_person(self, run_id: str, items: Sequence[HumanItem]) -> None:
        """Queue items for human judgment; items in the queue are not changed."""
        with self.writing() as connection:
            number, rows = run_number(connection, run_id), []
            for item in items:
                key, at = find_answer_row(connection, number, item.key), time_text(item.asked_at)
                own: RowValues = {**key, "slot": _item_slot(item), "asked_at": at}
                rows.append(record_row(queue, item, **own, answered_at=None))
            insert_new(connection, queue, rows)

    def answer_item(
        self,
        item: HumanItem,
        judgment: Judgment,
        *,
        at: datetime | None = None,
        replaces: bool = False,
    ) -> None:
        """Store a human judgment of an item's criterion, by default now, and close the item.

        It may replace an earlier one: both or neither is done.
        """
        if judgment.source != "human" or judgment.criterion != item.criterion:
            raise InputError(
                f"the item is about {item.criterion!r}; this is a judgment of "
                f"{judgment.criterion!r} by {judgment.source}"
            )
        when = time_text(at or datetime.now(UTC))
        with self.writing() as connection:
            row = _queue_row(connection, item)
            if row.answered_at is not None and not replaces:
                raise StoreError(
                    f"{item.criterion!r} of case {item.key.case_id!r} was answered already",
                    hint="withdraw that answer first",
                )
            key: RowValues = {name: getattr(row, name) for name in ANSWER_COLUMNS}
            new = judge_row(key, judgment, when)
            # A human judgment replaces an identical one too, so that the item is closed by it.
            slots = [key | {"slot": slot} for slot in {new["slot"], row.answer_slot} - {None}]
            for table in (judgments, failures):
                supersede(connection, table, _SLOT_COLUMNS, slots, at=when)
            insert_new(connection, judgments, [new])
            _update_item(connection, row, answered_at=when, slot=str(new["slot"]))

    def withdraw_answer(self, item: HumanItem, *, at: datetime | None = None) -> None:
        """Withdraw a human judgment: it stays as history, and the item is open again."""
        with self.writing() as connection:
            row = _queue_row(connection, item)
            if row.answered_at is None:
                raise StoreError(
                    f"{item.criterion!r} of case {item.key.case_id!r} was not answered yet"
                )
            slot: RowValues = {name: getattr(row, name) for name in ANSWER_COLUMNS}
            slot["slot"] = row.answer_slot
            when = time_text(at or datetime.now(UTC))
            supersede(connection, judgments, _SLOT_COLUMNS, [slot], at=when)
            _update_item(connection, row, answered_at=None, slot=None)

    def add_packet(self, packet: LabelPacket) -> None:
        """Store what annotators are given, before they get it."""
        name, at = name_text("packet id", packet.id), time_text(packet.made_at)
        with self.writing() as connection:
            row = record_row(label_packets, packet, id=name, made_at=at)
            connection.execute(insert(label_packets), row)

    def add_labels(self, packet_id: str, labels: Iterable[Label]) -> None:
        """Store labels of a packet's items in the packet; a later one of an annotator replaces."""
        own = label_packets.c.id == packet_id
        with self.writing() as connection:
            # Two annotators may answer at the same moment: the second waits for the first.
            query = select(label_packets.c.json).where(own).with_for_update()
            packet = read_record(records.LabelPacket, connection.execute(query).scalar_one())
            both = sorted(
                (*packet.labels, *labels),
                key=lambda one: str((one.metadata or {}).get("labelled_at") or ""),
            )
            known = {(one.case_id, one.criterion, one.annotator): one for one in both}
            changed = packet.model_copy(update={"labels": tuple(known.values())})
            connection.execute(update(label_packets).where(own).values(json=record_text(changed)))

    def close(self) -> None:
        """Release all locked runs and close every connection."""
        # The database releases the locks themselves.
        self._locked_runs.clear()
        super().close()

    def _lost(self) -> None:
        self._locked_runs.clear()
        super()._lost()

    def _number(self, run_id: str) -> int:
        return self._numbers.get(run_id) or super()._number(run_id)

    def _locked_number(self, run_id: str) -> int:
        """The number of a run, after locking it for this store."""
        self._reset_after_fork()
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
                query = select(runs.c.pid, runs.c.host).where(runs.c.no == number)
                with self.reading() as connection:
                    row = connection.execute(query).one()
                here = "" if row.host == socket.gethostname() else f" on {row.host}"
                raise StoreError(
                    f"the run {run_id} is still running in process {row.pid}{here}",
                    hint="wait for it or stop it, then continue with --resume",
                )
            self._locked_runs[run_id] = number


def _item_slot(item: HumanItem) -> str:
    return judgment_slot(item.criterion, item.judge, item.repeat)


def _queue_row(connection: Connection, item: HumanItem) -> Row[tuple[object, ...]]:
    key = find_answer_row(connection, run_number(connection, item.run_id), item.key)
    query = select(queue).where(queue.c.slot == _item_slot(item))
    # On a server two annotators may answer at the same moment: the second waits for the first.
    query = query.where(*(queue.c[name] == value for name, value in key.items())).with_for_update()
    row = connection.execute(query).first()
    if row is None:
        raise StoreError(
            f"{item.criterion!r} of case {item.key.case_id!r} is not in the queue",
            hint="only queued items can be answered",
        )
    return row


def _update_item(
    connection: Connection,
    row: Row[tuple[object, ...]],
    *,
    answered_at: str | None,
    slot: str | None,
) -> None:
    """Close or open an item; figures of its run no longer hold."""
    values = {"answered_at": answered_at, "answer_slot": slot}
    connection.execute(update(queue).where(queue.c.no == row.no).values(values))
    _forget_figures(connection, row.run_no)


def _forget_figures(connection: Connection, run_no: int) -> None:
    connection.execute(delete(run_figures).where(run_figures.c.run_no == run_no))


def _insert_run(connection: Connection, run: RunInfo) -> int:
    at = time_text(run.started_at)
    if number_of(connection, runs, name_text("run id", run.id)) is not None:
        raise StoreError(
            f"the run {run.id} exists already",
            hint="continue it with --resume, or give the new run another id",
        )
    # The JSON text leaves out what has a column or a table of its own: a second copy could
    # contradict it after an update.
    apart: dict[str, object] = {"config": {}, "rubric": None, "variants": ()}
    ended: dict[str, object] = {"status": "running", "finished_at": None, "reason": None}
    own: RowValues = {
        "id": run.id,
        "started_at": at,
        "config_key": insert_config(connection, run.config),
        "config_fingerprint": lookup_text(run.config_fingerprint or fingerprint(run.config)),
        "rubric_key": None if run.rubric is None else insert_rubric(connection, run.rubric, at),
        **ending_columns(run.status, run.reason, run.finished_at),
        **_this_process(),
    }
    row = record_row(runs, run.model_copy(update=apart | ended), **own)
    number = insert_numbered(connection, runs, row)
    insert_variants(connection, number, enumerate(run.variants))
    return number


def _this_process() -> RowValues:
    return {"pid": os.getpid(), "host": words_text(socket.gethostname())}


# By process, since a forked one must neither use nor delete the files of its parent
_free_stores: defaultdict[int, list[RunStore]] = defaultdict(list)
# A file that has grown larger is deleted after use.
_LARGEST_FREE_STORE = 64 * 2**20


@contextmanager
def temporary_store() -> Iterator[RunStore]:
    """A store for what is not to be stored; its file is deleted when the process ends."""
    # It is used again, since opening one costs more CPU time than judging twenty outputs.
    free = _free_stores[os.getpid()]
    try:
        store = free.pop()
    except IndexError:
        store = RunStore(Path(mkdtemp(prefix="judgekit-run-"), "judgekit.db"), durable=False)
    try:
        yield store
    except BaseException:
        _delete_store(store)  # an interrupted call may have left locks and a transaction
        raise
    if Path(store.location.name).stat().st_size > _LARGEST_FREE_STORE:
        _delete_store(store)
    else:
        free.append(store)


def _delete_store(store: RunStore) -> None:
    store.close()
    rmtree(Path(store.location.name).parent, ignore_errors=True)


@atexit.register
def _delete_free_stores() -> None:
    for store in _free_stores.pop(os.getpid(), ()):
        _delete_store(store)
