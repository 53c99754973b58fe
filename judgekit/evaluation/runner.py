"""Runs a suite: every chosen case by every variant, stored as results arrive, resumable."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, cast

from judgekit.datasets import naming_place, resolve_suite_model
from judgekit.errors import JudgekitError, ModelError, SettingsError
from judgekit.evaluation.case_plans import default_rubric_records
from judgekit.evaluation.judges import judging_of_suite, resolve_calibration
from judgekit.evaluation.outcome import conclude_result, last_tries
from judgekit.evaluation.provenance import git_revision, trigger_of_ci
from judgekit.evaluation.run import run_status
from judgekit.evaluation.run_config import (
    CALIBRATION_KEY,
    DEFAULT_RUBRICS_KEY,
    JUDGING_KEY,
    MEMORY_KEY,
    PARTS_KEY,
    REVIEW_KEY,
    SCRIPTS_KEY,
    SIMILARITY_KEY,
    UNASKED_CASES_KEY,
    UNASKED_RUBRICS_KEY,
    VERSIONS_KEY,
)
from judgekit.evaluation.schedule import (
    ProgressLedger,
    Schedule,
    WorkItem,
    read_chosen_cases,
    require_same_run,
    run_identity,
    unmatched_message,
    unused_reply_messages,
    variant_versions,
)
from judgekit.evaluation.session import Choice, Session, check_callable, price_table
from judgekit.evaluation.variant_choice import VariantChooser
from judgekit.evaluation.worker import AnswerWorker, ObservationWriter, review_items
from judgekit.extras import missing_dependencies
from judgekit.fingerprint import fingerprint, random_token
from judgekit.judge import gather_in_order
from judgekit.models import Connection, connect
from judgekit.records import FATAL_FAILURE_KINDS, CalibrationInUse, RunInfo, Variant, config_part
from judgekit.store import LATEST_RUN
from judgekit.subprocess import ProcessFailedError, ProcessLimits, run_process, scrub_environment
from judgekit.targets import is_code

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractAsyncContextManager

    from judgekit.datasets import Suite
    from judgekit.evaluation.remote import RemoteEngine, WorkerPool
    from judgekit.evaluation.schedule import WorkChain
    from judgekit.evaluation.session import OpenSuite
    from judgekit.records import CaseResult, ItemKey, JsonObject, RunStatus
    from judgekit.store import RunStore, StoredRuns

# Answers in work at a time, where nothing else says.
_IN_FLIGHT = 32
# Answers for which the cache is read with one query.
_READ_AHEAD = 16
# Kinds of errors that an endpoint under test ends in where it is down, or refuses every case.
_ENDPOINT_ERRORS = frozenset({"connection", "http_status", "timeout"})
# So many cases fail at an endpoint that has never answered before no further one is sent.
_MOST_UNANSWERED = 10
# Answers that are reset in one transaction, so that other readers and writers wait little.
_MOST_FORGOTTEN = 500


def new_run(
    opened: OpenSuite,
    *,
    now: datetime,
    notes: str | None = None,
    triggered_by: str | None = None,
    token: str | None = None,
) -> RunInfo:
    suite = opened.suite
    n_cases, content = read_chosen_cases(opened)
    parts = run_identity(opened, content)
    return RunInfo(
        id=new_run_id(suite.name, now, token or random_token()),
        suite=suite.name,
        suite_version=str(suite.version),
        started_at=now,
        config=_run_config(opened, parts),
        config_fingerprint=fingerprint({**parts}),
        folder=str(suite.folder.resolve()),
        dataset=opened.cases.name,
        dataset_version=opened.cases.version,
        n_cases=n_cases,
        rubric=opened.rubric,
        variants=tuple(
            Variant.model_validate(one, from_attributes=True) for one in opened.variants
        ),
        panel=opened.judges.panel,
        triggered_by=triggered_by or trigger_of_ci(os.environ),
        revision=git_revision(suite.folder),
        notes=notes,
        tags=suite.tags,
    )


def new_run_id(suite: str, now: datetime, ending: str) -> str:
    """An id that sorts by start and is readable."""
    slug = "".join(c if c.isalnum() else "-" for c in suite.lower()).strip("-")[:40]
    return f"{now:%Y%m%dT%H%M%SZ}-{slug or 'run'}-{ending}"


def _run_config(opened: OpenSuite, parts: dict[str, str]) -> JsonObject:
    """The suite, what is chosen of it, and what decides the figures beside it."""
    suite, plans, asked = opened.suite, opened.plans, judging_of_suite(opened.judges, opened.rubric)
    config: JsonObject = {
        **_without_webhook(suite.to_json()),
        "chosen": opened.choice.as_json(),
        PARTS_KEY: {**parts},
        VERSIONS_KEY: variant_versions(opened),
    }
    # They go out again with the run: benchmarks, their earlier runs, and cases of other benchmarks.
    if opened.cases.source.objects:
        config[MEMORY_KEY] = [*opened.cases.source.objects]
    if asked is not None:
        config[JUDGING_KEY] = asked.to_json()
    if suite.calibration is not None:
        config[CALIBRATION_KEY] = calibration_of_suite(opened).to_json()
    if plans.by_default:
        config[DEFAULT_RUBRICS_KEY] = [*default_rubric_records(plans.by_default)]
    counts: JsonObject = {
        UNASKED_RUBRICS_KEY: plans.n_unasked,
        UNASKED_CASES_KEY: {**opened.unasked},
        REVIEW_KEY: opened.execution.review,
        SCRIPTS_KEY: {**plans.script_versions},
    }
    config |= {name: count for name, count in counts.items() if count}
    # How similarity is measured may depend on what is installed.
    if plans.measures_similarity:
        config[SIMILARITY_KEY] = plans.similarity_measure
    return config


def _without_webhook(config: JsonObject) -> JsonObject:
    """A suite as it is stored: the address of a webhook works like a key."""
    settings = config.get("notify")
    if not isinstance(settings, dict) or "webhook" not in settings:
        return config
    return {**config, "notify": {**settings, "webhook": "***"}}


async def run_suite(
    opened: OpenSuite,
    store: RunStore,
    run: RunInfo,
    session: Session,
    *,
    resumed: bool = False,
    answers: Iterator[CaseResult] | None = None,
    engine: RemoteEngine | None = None,
) -> RunInfo:
    """Run a suite, or resume a run of it; `answers` of another run are judged as they are."""
    # With an engine, other processes work on the answers.
    if session.reason is not None:
        raise SettingsError("the session has ended already", hint="make a new one for each run")
    for name, ids in opened.unmatched.items():
        session.note(unmatched_message(name, ids))
    for words in opened.plans.unmet_needs:
        session.note(words)
    allowed = opened.execution.allow_scripts
    async with (
        suite_hooks(opened.suite, allowed=allowed, note=session.note),
        _workers(engine, opened, run, session) as pool,
    ):
        if resumed:
            store.end(run.id, status="running", at=session.now())
        else:
            store.begin(run)
        status: RunStatus = "interrupted"
        broken: str | None = None
        try:
            loop = _RunLoop(opened, store, run, session, pool)
            is_whole = await loop.go(resumed=resumed, answers=answers)
            # The status follows from what is stored, so that a resumed run ends like one that was
            # never stopped.
            status = _final_status(opened, store, run, session, is_whole=is_whole)
        except JudgekitError as error:
            broken = error.message
            raise
        finally:
            reason = broken or session.words()
            store.end(run.id, status=status, reason=reason, at=session.now())
    if is_whole and not resumed:  # a resumed run has used some replies before
        for text in unused_reply_messages(opened.judges):
            session.note(text)
    return store.run(run.id)


def _workers(
    engine: RemoteEngine | None, opened: OpenSuite, run: RunInfo, session: Session
) -> AbstractAsyncContextManager[WorkerPool | None]:
    """The processes that work on the answers; None where this one does."""
    if engine is None:
        return nullcontext()
    return engine.workers(opened, run.id, n_most=n_answers_in_work(opened, session.in_flight))


class _RunLoop:
    def __init__(
        self,
        opened: OpenSuite,
        store: RunStore,
        run: RunInfo,
        session: Session,
        pool: WorkerPool | None,
    ) -> None:
        self._pool = pool
        self._opened = opened
        self._store = store
        self._run = run
        self._session = session
        self._ledger = ProgressLedger()
        self._concludes = session.fail_fast or opened.suite.settings.fail_fast
        self._is_whole = False
        self._unfinished: set[ItemKey] = set()
        self._waiting: deque[WorkChain] = deque()
        # Endpoints under test that have not answered yet, each with the cases that failed there
        endpoints = [variant.id for variant in opened.variants if variant.kind == "http"]
        self._unanswered: dict[str, set[str]] = {variant: set() for variant in endpoints}
        connections = opened.judges.connections
        self._limited = [one.limited for one in connections if one.limited is not None]
        self._time_over = ModelError("the time is over", kind="cancelled")

    async def go(self, *, resumed: bool, answers: Iterator[CaseResult] | None) -> bool:
        """Produce and judge every answer; whether all of them were taken up."""
        if resumed:
            self._look_back()
        limit = self._session.max_seconds
        timer = None
        if limit is not None:
            timer = asyncio.get_running_loop().call_later(limit, self._end_in_time)
        interrupted = asyncio.create_task(self._end_when_interrupted())
        try:
            async with ObservationWriter(self._store, self._run.id) as keeper:
                answering = (
                    AnswerWorker(self._opened, keeper, self._run.id, now=self._session.now)
                    if self._pool is None
                    else self._pool.bound(keeper, partial(self._store.result, self._run.id))
                )
                try:
                    await self._work(self._chains(answers), answering)
                finally:
                    answering.close()
            if self._pool is not None:
                await self._pool.settle_budget()
            if self._is_whole and self._opened.plans.compares_variants:
                about = self._opened, self._store, self._run, self._session
                chooser = VariantChooser(*about, self._stop_at)
                n = n_answers_in_work(self._opened, self._session.in_flight)
                self._is_whole = await chooser.go(self._unfinished, in_flight=n)
        finally:
            interrupted.cancel()
            if timer is not None:
                timer.cancel()
            for limited in self._limited:  # a judge may be used again in another run
                limited.accept_calls(after=self._time_over)
        return self._is_whole

    def _end_in_time(self) -> None:
        self._session.end("time")
        if self._pool is not None:
            self._pool.refuse_calls(self._time_over)
        # Questions that wait for a slot are not asked either: with few slots they would take long.
        for limited in self._limited:
            limited.refuse_calls(self._time_over)

    async def _end_when_interrupted(self) -> None:
        await self._session.stop.wait()
        # In this process, whoever interrupts has the judges refuse further calls.
        if self._session.reason == "interrupted" and self._pool is not None:
            self._pool.refuse_calls(ModelError("interrupted by the user", kind="cancelled"))

    def _look_back(self) -> None:
        progress = self._store.progress(self._run.id)
        failed = self._ledger.look_back(
            progress, self._run, retry_failed=self._session.retry_errors
        )
        for start in range(0, len(failed), _MOST_FORGOTTEN):
            self._store.forget(self._run.id, failed[start : start + _MOST_FORGOTTEN])
        if self._opened.execution.review:
            # A session may have been killed between an answer and the questions about it.
            asked = partial(review_items, self._opened, at=self._session.now())
            results = self._store.results(self._run.id)
            self._store.ask_person(self._run.id, [item for one in results for item in asked(one)])
        if self._opened.suite.settings.retry_failed:
            for result in self._store.results(self._run.id):
                is_last = result.repeat >= self._opened.retries_of(result.case)
                if result.is_done and (is_last or not self._has_failed(result)):
                    self._ledger.settle(result.variant, result.place)

    def _chains(self, answers: Iterator[CaseResult] | None) -> Iterator[WorkChain]:
        if answers is not None:
            return ((WorkItem(one.key, one.place, one.case, one),) for one in answers)
        work = Schedule(
            [variant.id for variant in self._opened.variants],
            self._opened.suite.settings.repeats,
            self._opened.suite.suites,
            self._ledger,
            self._opened.retries_of,
            self._opened.has_answer,
        )
        return work.chains(self._opened.plans.as_run(case) for case in self._opened.cases)

    async def _work(
        self, chains: Iterator[WorkChain], answering: AnswerWorker | WorkerPool
    ) -> None:
        async def worker() -> None:
            while not self._session.stop.is_set():
                chain = await self._next_chain(chains, answering)
                if chain is None:
                    self._is_whole = True
                    return
                for item in chain:
                    if not self._session.stop.is_set():
                        await self._settle(item, answering)

        n = n_answers_in_work(self._opened, self._session.in_flight)
        await gather_in_order([worker() for _ in range(n)])

    async def _next_chain(
        self, chains: Iterator[WorkChain], answering: AnswerWorker | WorkerPool
    ) -> WorkChain | None:
        if not self._waiting:
            self._waiting.extend(islice(chains, _READ_AHEAD))
            # The later items of a chain depend on the earlier ones, and an item that was begun has
            # its output in the store.
            first = [chain[0] for chain in self._waiting]
            await answering.read_ahead([one for one in first if not self._ledger.is_begun(one)])
        return self._waiting.popleft() if self._waiting else None

    async def _settle(self, item: WorkItem, answering: AnswerWorker | WorkerPool) -> None:
        """Have an answer; where it does not pass and may be tried again, have another."""
        result = await self._answer(item, answering)
        # A stored answer is judged as it is: what it retried is another stored answer.
        n_retries = 0 if item.stored is not None else self._opened.retries_of(item.case)
        for _ in range(n_retries):
            if self._session.stop.is_set() or not self._has_failed(result):
                break
            item = item.again()
            if not self._opened.has_try(item.key):
                break
            result = await self._answer(item, answering)
        if self._concludes and self._has_failed(result):
            self._session.end("fail_fast", f"{item.key.variant}, case {item.key.case_id}")

    async def _answer(self, item: WorkItem, answering: AnswerWorker | WorkerPool) -> CaseResult:
        # Most answers are new: the ledger in memory saves a query for each of them.
        known = self._store.result(self._run.id, item.key) if self._ledger.is_begun(item) else None
        if known is not None and known.is_done:
            return known
        result = await answering.answer(item, known)
        self._session.watch(result)
        self._stop_if_needed(item, result)
        return result

    def _has_failed(self, result: CaseResult) -> bool:
        """Whether an answer is an error or does not pass; what is undecided has not failed."""
        if not result.is_done:
            return False
        if result.output.error is not None:
            return True
        return conclude_result(result, self._run).passed is False

    def _stop_if_needed(self, item: WorkItem, result: CaseResult) -> None:
        self._session.n_open += not result.is_done
        if not result.is_done:
            self._unfinished.add(item.key)
        for failure in result.failures:
            self._stop_at(failure.kind, failure.message)
        self._session.n_missed += any(f.kind == "frozen_miss" for f in result.failures)
        if item.stored is None and result.output.metadata.get("model_error") in FATAL_FAILURE_KINDS:
            self._session.end("model", result.output.error)
        if item.stored is None:
            self._stop_at_dead_endpoint(result)
        if self._opened.count_own_spending(result.variant, result.output):
            self._session.end("budget", f"{result.variant} has spent it")

    def _stop_at(self, kind: str, message: str) -> None:
        """End the session at a failure after which every further call would fail."""
        if kind == "budget":
            self._session.end("budget", message.partition("\n")[0])
        # A wrong key, an empty account or a server that is down fails every call in the same
        # way, at the price of a retry each.
        elif kind in FATAL_FAILURE_KINDS:
            self._session.end("model", message)

    def _stop_at_dead_endpoint(self, result: CaseResult) -> None:
        """End the session when an endpoint under test fails for case after case, and for all."""
        failed = self._unanswered.get(result.variant)
        if failed is None:
            return
        if result.output.error_kind not in _ENDPOINT_ERRORS:
            del self._unanswered[result.variant]  # it has answered: later errors are its own
            return
        failed.add(result.case.id)
        if len(failed) >= _MOST_UNANSWERED:
            self._session.end(
                "model",
                f"{result.variant} answered none of {len(failed)} cases; the last error: "
                f"{result.output.error}\ncheck that the endpoint runs and takes the cases",
            )


def n_answers_in_work(opened: OpenSuite, in_flight: int | None) -> int:
    settings = opened.suite.settings
    if settings.in_sequence:
        return 1
    wanted = in_flight or settings.max_concurrency
    return wanted or max(_IN_FLIGHT, opened.judges.max_concurrency)


def _final_status(
    opened: OpenSuite, store: RunStore, run: RunInfo, session: Session, *, is_whole: bool
) -> RunStatus:
    if is_whole and session.reason in {"interrupted", "budget", "time"} and not session.n_open:
        session.reason = session.detail = None  # it came when the last answers were on their way
    if session.reason in {"budget", "time"} or (session.reason == "fail_fast" and not is_whole):
        return "stopped"
    if session.reason == "interrupted" or (session.reason is None and not is_whole):
        return "interrupted"
    if is_whole and not session.n_open:
        return run_status(store, run)
    # Where a model cannot be called, or a frozen cache lacks an output, nothing is stored of some
    # answers. Figures of the others are of some of the cases only, so that no gate may decide by
    # them and no later run be compared with them.
    n_stored = sum(1 for _ in last_tries(store.progress(run.id), run))
    return "incomplete" if n_stored >= opened.count_answers(run.n_cases or 0) else "stopped"


def find_resumed_run(store: StoredRuns, name: str | None, suite: Suite) -> RunInfo | None:
    if name is None:
        return None
    return store.run(f"{name}:{suite.name}" if name == LATEST_RUN else name)


def choice_of_run(run: RunInfo | None) -> Choice:
    """Which part of its suite a run chose when it was begun."""
    chosen = {} if run is None else config_part(run, "chosen")
    known = {
        name: tuple(value) if isinstance(value, list) else value for name, value in chosen.items()
    }
    return replace(Choice(), **known)  # type: ignore[arg-type]  # written by Choice.as_json


def prepare_run(
    opened: OpenSuite,
    store: StoredRuns,
    begun: RunInfo | None,
    *,
    now: datetime,
    notes: str | None = None,
    triggered_by: str | None = None,
) -> RunInfo:
    """The run that is to be run: a new one, or the one that was begun, if it still is the same."""
    if begun is None and (latest := store.latest_start()) and latest > now:
        # The clock was set back. Runs are ordered by their times, and this one is the latest.
        now = latest + timedelta(microseconds=1)
    # What it has cost so far is counted against the money that may be spent.
    check_callable(opened)
    fresh = new_run(opened, now=now, notes=notes, triggered_by=triggered_by)
    if begun is None:
        return fresh
    run = require_same_run(begun, fresh)
    if opened.budget is not None:
        opened.budget.spend(store.spent_usd(run.id, is_owned=opened.is_free))
    return run


_TIMEOUT_S = 600
_TAIL = 400


@asynccontextmanager
async def suite_hooks(
    suite: Suite, *, allowed: bool, note: Callable[[str], None]
) -> AsyncIterator[None]:
    """Run the suite's setup before, and its teardown after, whatever happened before it."""
    setup, teardown = suite.settings.setup, suite.settings.teardown
    if (setup or teardown) and not allowed:
        raise SettingsError(
            f"the suite {suite.name!r} runs programs before or after its cases "
            f"({', '.join((setup or teardown or ())[:1])})",
            hint="read them, then allow them with --allow-scripts",
        )
    try:
        if setup:
            try:
                await _run_hook(suite, setup)
            except ProcessFailedError as error:
                raise SettingsError(
                    f"the setup of suite {suite.name!r} failed, so no call was made: "
                    f"{_failure_message(error)}"
                ) from error
        # After the setup, which may install them.
        missing = missing_dependencies(suite.settings.dependencies, suite.folder)
        if missing:
            raise SettingsError(
                f"the suite {suite.name!r} needs {', '.join(missing)}: not found among programs, "
                "Python packages and node modules, so no call was made",
                hint="install them, or remove them from `dependencies`; judgekit installs nothing",
            )
        yield
    finally:
        # The run is over: a failed teardown is reported and changes no result.
        if teardown:
            try:
                await _run_hook(suite, teardown)
            except ProcessFailedError as error:
                note(f"the teardown of suite {suite.name!r} failed: {_failure_message(error)}")


async def _run_hook(suite: Suite, command: tuple[str, ...]) -> None:
    await run_process(
        command,
        b"",
        limits=ProcessLimits(timeout_s=_TIMEOUT_S, memory_bytes=None),
        environment=scrub_environment(suite.settings.environment),
        folder=suite.folder,
    )


def _failure_message(error: ProcessFailedError) -> str:
    last = error.stderr[-_TAIL:].strip()
    return f"{error.message}; the end of stderr: {last}" if last else error.message


def target_connections(opened: OpenSuite) -> Iterator[tuple[str, Connection]]:
    """Each variant that is a prompt, and the connection of the model that answers it."""
    suite, prices = opened.suite, price_table(opened.suite)
    for variant in opened.variants:
        # What a function costs is as little known as what a command does.
        if variant.kind == "prompt" and not is_code(variant.model):
            model = resolve_suite_model(suite, cast("str", variant.model))
            way = connect(model, api_base=variant.api_base, cache=opened.cache, prices=prices)
            yield variant.id, way


def calibration_of_suite(opened: OpenSuite) -> CalibrationInUse:
    suite = opened.suite
    path = None if suite.calibration is None else suite.resolve(suite.calibration)
    with naming_place(suite, "calibration"):
        return resolve_calibration(
            path, opened.rubric, judging_of_suite(opened.judges, opened.rubric)
        )
