"""Runs a suite: every chosen case by every variant, kept as it goes, stopped cleanly."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from judgekit.errors import JudgekitError, SettingsError
from judgekit.evaluation.figures.concluding import conclude_result
from judgekit.evaluation.preparing.asked import ASKED, asked_by_jury
from judgekit.evaluation.preparing.calibrated import CALIBRATED, calibration_of_suite
from judgekit.evaluation.preparing.case_plans import MEASURE
from judgekit.evaluation.preparing.default_rubrics import BY_DEFAULT, UNASKED, listed
from judgekit.evaluation.preparing.versions import versions_of
from judgekit.evaluation.running.answering import Answering
from judgekit.evaluation.running.hooks import prepared
from judgekit.evaluation.running.identity import PARTS, VERSIONS, identity, read_cases
from judgekit.evaluation.running.items import Ledger, Work
from judgekit.evaluation.running.keeping import Keeper
from judgekit.evaluation.running.statuses import status_of
from judgekit.evaluation.running.strangers import strangers_told, unasked_replies
from judgekit.fingerprint import fingerprint
from judgekit.records.run import RunInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.evaluation.running.items import Chain, Item
    from judgekit.records.record import JsonObject
    from judgekit.records.run import CaseResult, ItemKey, RunStatus
    from judgekit.store.runs import RunStore

StopReason = Literal["interrupted", "budget", "time", "fail_fast", "model"]
"""Why a run ended before everything was asked."""

DEFAULT_IN_FLIGHT = 32
"""Cases in work at a time, where nothing else says."""

READING_IN_FLIGHT = 128
"""The same where nobody is asked: more answers are committed at a time."""

_WORDS: dict[StopReason, str] = {
    "interrupted": "interrupted by the user",
    "budget": "the money that may be spent is used up",
    "time": "the time it may take is used up",
    "fail_fast": "an answer did not pass",
    "model": "a model cannot be asked",
}
_FROZEN = "the frozen cache lacks replies"
_FATAL = frozenset({"auth", "not_found", "quota"})
"""Kinds of a model's errors after which every further call would fail in the same way."""

_MOST_FORGOTTEN = 500
"""Answers that are forgotten in one transaction, so that readers and writers can go on."""


@dataclass(slots=True)
class Session:
    """One sitting of a run: what it is told, and what came of it. Each run needs its own."""

    max_seconds: float | None = None
    """How long it may take; what is in flight then is finished."""

    fail_fast: bool = False
    """Whether the first answer that does not pass ends it."""

    in_flight: int | None = None
    """Cases in work at a time; None takes the suite's own."""

    retry_errors: bool = False
    """Whether what failed in an earlier session is asked again."""

    watch: Callable[[CaseResult], None] = field(default=lambda _: None)
    """Told of each answer when it is there."""

    note: Callable[[str], None] = field(default=lambda _: None)
    """Told what a person should know."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """Once set, nothing new is begun; what was begun is finished."""

    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    """The clock."""

    reason: StopReason | None = None
    """Why it ended early, once it did."""

    detail: str | None = None
    """What happened then, in words."""

    n_missed: int = 0
    """Answers of which a frozen cache lacked a reply."""

    n_open: int = 0
    """Answers that were begun and are not whole, for something was not asked."""

    def end(self, reason: StopReason, detail: str | None = None) -> None:
        """Begin nothing new.

        Args:
            reason: Why; the first one stands.
            detail: What happened, in words.
        """
        if self.reason is None:
            self.reason, self.detail = reason, detail
        self.stop.set()

    def words(self) -> str | None:
        """Why the run is not complete, in words; None where this sitting knows of no reason."""
        if self.reason is None:
            return _FROZEN if self.n_missed else None
        return _WORDS[self.reason] + (f": {self.detail}" if self.detail else "")


def new_run(
    opened: OpenSuite, *, now: datetime, notes: str | None = None, token: str | None = None
) -> RunInfo:
    """What a run of an opened suite sets out to do."""
    suite = opened.suite
    cases = read_cases(opened)
    parts = identity(opened, cases)
    config: JsonObject = {
        **suite.to_json(),
        "chosen": opened.choice.as_json(),
        PARTS: {**parts},
        VERSIONS: versions_of(opened),
        **_calibrating(opened),
        **_by_default(opened),
        **_measuring(opened),
    }
    slug = "".join(c if c.isalnum() else "-" for c in suite.name.lower()).strip("-")[:40]
    return RunInfo(
        id=f"{now:%Y%m%dT%H%M%SZ}-{slug or 'run'}-{token or secrets.token_hex(2)}",
        suite=suite.name,
        suite_version=str(suite.version),
        started_at=now,
        config=config,
        config_fingerprint=fingerprint({**parts}),
        folder=str(suite.folder.resolve()),
        dataset=opened.cases.name,
        dataset_version=opened.cases.version,
        n_cases=cases.n_cases,
        rubric=opened.rubric,
        variants=opened.variant_records(),
        panel=opened.jury.panel,
        notes=notes,
        tags=suite.tags,
    )


async def run_suite(
    opened: OpenSuite, store: RunStore, run: RunInfo, session: Session, *, resumed: bool = False
) -> RunInfo:
    """Run a suite, or go on with a run of it."""
    if session.reason is not None:
        raise SettingsError("the session has ended already", hint="make a new one for each run")
    for variant, ids in opened.unmatched.items():
        session.note(strangers_told(variant, ids))
    allowed = opened.asking.allow_scripts
    async with prepared(opened.suite, allowed=allowed, note=session.note):
        if resumed:
            store.end(run.id, status="running", at=session.now())
        else:
            store.begin(run)
        status: RunStatus = "interrupted"
        broken: str | None = None
        try:
            is_whole = await _Flow(opened, store, run, session).go(resumed=resumed)
            status = _status(store, run, session, is_whole=is_whole)
        except JudgekitError as error:
            broken = error.message
            raise
        finally:
            reason = broken or session.words()
            store.end(run.id, status=status, reason=reason, at=session.now())
    if is_whole and not resumed:  # of an older run, what is kept was not asked for again
        for told in unasked_replies(opened.jury.models):
            session.note(told)
    return store.run(run.id)


class _Flow:
    """The workers of one sitting, and what they share."""

    def __init__(self, opened: OpenSuite, store: RunStore, run: RunInfo, session: Session) -> None:
        self._opened = opened
        self._store = store
        self._run = run
        self._session = session
        self._ledger = Ledger()
        self._concludes = session.fail_fast or opened.suite.settings.fail_fast
        self._is_whole = False

    async def go(self, *, resumed: bool) -> bool:
        """Have every answer; whether that came to its end."""
        if resumed:
            self._look_back()
        limit = self._session.max_seconds
        timer = (
            None
            if limit is None
            else asyncio.get_running_loop().call_later(limit, self._session.end, "time")
        )
        try:
            async with Keeper(self._store, self._run.id) as keeper:
                answering = Answering(self._opened, keeper, self._run.id, now=self._session.now)
                try:
                    await self._work(self._chains(), answering)
                finally:
                    answering.close()
        finally:
            if timer is not None:
                timer.cancel()
        return self._is_whole

    def _look_back(self) -> None:
        """Which answers earlier sessions began, and which of them are whole."""
        failed: list[ItemKey] = []
        for seen in self._store.progress(self._run.id):
            again = self._session.retry_errors and (seen.has_error or seen.n_failures > 0)
            if again:
                failed.append(seen.key)
            is_done = seen.is_done and not again
            self._ledger.note(seen.key.variant, seen.key.repeat, seen.place, is_done=is_done)
        self._forget(failed)
        if self._opened.has_own_retries:
            for result in self._store.results(self._run.id):
                is_last = result.repeat >= self._opened.retries_of(result.case)
                if result.is_done and (is_last or not self._has_failed(result)):
                    self._ledger.settle(result.variant, result.place)

    def _forget(self, failed: Sequence[ItemKey]) -> None:
        for start in range(0, len(failed), _MOST_FORGOTTEN):
            self._store.forget(self._run.id, failed[start : start + _MOST_FORGOTTEN])

    def _chains(self) -> Iterator[Chain]:
        work = Work(
            [variant.id for variant in self._opened.variants],
            self._opened.suite.settings.repeats,
            self._opened.suite.suites,
            self._ledger,
            self._opened.retries_of,
        )
        return work.chains(self._opened.case_as_run(case) for case in self._opened.cases)

    async def _work(self, chains: Iterator[Chain], answering: Answering) -> None:
        async def worker() -> None:
            while not self._session.stop.is_set():
                chain = next(chains, None)
                if chain is None:
                    self._is_whole = True
                    return
                for item in chain:
                    if not self._session.stop.is_set():
                        await self._settle(item, answering)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._n_workers()):
                    group.create_task(worker())
        except BaseExceptionGroup as problems:
            raise _first(problems) from None

    async def _settle(self, item: Item, answering: Answering) -> None:
        """Have an answer; where it does not pass and may be tried again, have another."""
        result = await self._answer(item, answering)
        for _ in range(self._opened.retries_of(item.case)):
            if self._session.stop.is_set() or not self._has_failed(result):
                break
            item = item.again()
            result = await self._answer(item, answering)
        if self._concludes and self._has_failed(result):
            self._session.end("fail_fast", f"{item.key.variant}, case {item.key.case_id}")

    async def _answer(self, item: Item, answering: Answering) -> CaseResult:
        known = self._store.result(self._run.id, item.key) if self._ledger.is_begun(item) else None
        if known is not None and known.is_done:
            return known
        result = await answering.answer(item, known)
        self._session.watch(result)
        self._stop_if_needed(result)
        return result

    def _has_failed(self, result: CaseResult) -> bool:
        """Whether an answer is an error or does not pass; what is undecided has not failed."""
        if not result.is_done:
            return False
        if result.output.error is not None:
            return True
        return conclude_result(result, self._run).passed is False

    def _stop_if_needed(self, result: CaseResult) -> None:
        self._session.n_open += not result.is_done
        for failure in result.failures:
            if failure.kind == "budget":
                self._session.end("budget", failure.message.partition("\n")[0])
            elif failure.kind in _FATAL:
                self._session.end("model", failure.message)
        self._session.n_missed += any(f.kind == "frozen_miss" for f in result.failures)
        if result.output.metadata.get("model_error") in _FATAL:
            self._session.end("model", result.output.error)
        if self._opened.count_own_spending(result.variant, result.output):
            self._session.end("budget", f"{result.variant} has spent it")

    def _n_workers(self) -> int:
        settings = self._opened.suite.settings
        if settings.in_sequence:
            return 1
        wanted = self._session.in_flight or settings.max_concurrency
        if wanted is None and self._opened.only_reads:
            return READING_IN_FLIGHT
        return wanted or max(DEFAULT_IN_FLIGHT, self._opened.jury.max_concurrency)


def _calibrating(opened: OpenSuite) -> JsonObject:
    """How the judges are asked, and the maps their values are calibrated by."""
    asked = asked_by_jury(opened.jury)
    noted: JsonObject = {} if asked is None else {ASKED: asked.to_json()}
    if opened.suite.calibration is not None:
        noted[CALIBRATED] = calibration_of_suite(opened).to_json()
    return noted


def _measuring(opened: OpenSuite) -> JsonObject:
    """How similarity is measured, which may hang on what is installed."""
    plans = opened.plans
    return {MEASURE: plans.similarity_measure} if plans.measures_similarity else {}


def _by_default(opened: OpenSuite) -> JsonObject:
    """The rubrics that nobody named, and how many no judge is asked; else nothing is noted."""
    found, n_unasked = opened.plans.by_default, opened.plans.n_unasked
    noted: JsonObject = {BY_DEFAULT: [*listed(found)]} if found else {}
    return {**noted, UNASKED: n_unasked} if n_unasked else noted


def _status(store: RunStore, run: RunInfo, session: Session, *, is_whole: bool) -> RunStatus:
    if is_whole and session.reason in {"interrupted", "budget", "time"} and not session.n_open:
        session.reason = session.detail = None  # it came when the last answers were on their way
    if session.reason in {"budget", "time"} or (session.reason == "fail_fast" and not is_whole):
        return "stopped"
    if session.reason == "interrupted" or (session.reason is None and not is_whole):
        return "interrupted"
    return "incomplete" if session.n_open else status_of(store, run.id)


def _first(problems: BaseExceptionGroup[BaseException]) -> BaseException:
    error = problems.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
