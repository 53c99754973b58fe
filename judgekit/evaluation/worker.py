"""Takes one answer of a run from the case to stored observations: output, checks, judgments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self, TypeGuard, cast

from judgekit.datasets import is_sampled
from judgekit.errors import BudgetExceededError, FrozenCacheError, ModelError, StoreError
from judgekit.evaluation.check_runner import (
    CheckResults,
    CheckRunner,
    FetchedVectors,
    is_pending_score,
)
from judgekit.evaluation.run_config import REVIEWER
from judgekit.fingerprint import fingerprint
from judgekit.judge import UNASKED_FAILURE_KINDS
from judgekit.records import CaseResult, HumanItem, JudgeFailure, Judgment, Observation, Output
from judgekit.targets import GivenTarget, RecordedTarget

if TYPE_CHECKING:
    from judgekit.evaluation.schedule import WorkItem
    from judgekit.evaluation.session import OpenSuite
    from judgekit.judge import PendingGrading
    from judgekit.records import AssertionResult, FailureKind, ItemKey, Rubric, Score
    from judgekit.store import RunStore

# Why a model of embeddings was not asked; the answer is taken up again when the run is.
_CANNOT_ASK_ERRORS = (BudgetExceededError, FrozenCacheError, ModelError)


@dataclass(slots=True)
class PartialAnswer:
    """What is known of one answer so far."""

    item: WorkItem
    output: Output | None = None
    ran_at: datetime | None = None
    judge_answers: list[Judgment | JudgeFailure] = field(default_factory=list)
    checks: tuple[AssertionResult, ...] = ()
    scores: tuple[Score, ...] = ()
    # Questions that were not asked, so that the answer is not whole
    withheld: list[JudgeFailure] = field(default_factory=list)
    # The models' questions, where they were rendered to look into the cache
    begun: Sequence[PendingGrading] = ()
    is_done: bool = False
    # Whether the store has the output; if not, it is stored together with its judgments
    is_stored: bool = False

    @classmethod
    def of(cls, item: WorkItem, known: CaseResult | None) -> PartialAnswer:
        """Where an earlier session left an answer."""
        if known is None:
            return cls(item)
        failures = (one for one in known.failures if not _is_unasked(one))
        judge_answers: list[Judgment | JudgeFailure] = [*known.judgments, *failures]
        measured = known.checks, known.scores
        return cls(item, known.output, known.ran_at, judge_answers, *measured, is_stored=True)

    def result(self, run_id: str) -> CaseResult:
        judge_answers = [*self.judge_answers, *self.withheld]
        key = self.item.key
        # Every part was checked when it was made.
        return CaseResult.model_construct(
            run_id=run_id,
            place=self.item.place,
            case=self.item.case,
            variant=key.variant,
            repeat=key.repeat,
            output=self.output or Output(error="it was not asked", error_kind="cancelled"),
            judgments=tuple([one for one in judge_answers if isinstance(one, Judgment)]),
            failures=tuple([one for one in judge_answers if isinstance(one, JudgeFailure)]),
            checks=self.checks,
            scores=self.scores,
            is_done=self.is_done,
            ran_at=self.ran_at,
        )


def named_output(output: Output, key: ItemKey) -> Output:
    """The output with the case and the variant that it is stored under."""
    if (output.case_id, output.variant) == (key.case_id, key.variant):
        return output
    return output.model_copy(update={"case_id": key.case_id, "variant": key.variant})


class ObservationKeeper(Protocol):
    """Where the observations of answers go, to be stored."""

    async def keep_soon(self, observed: Observation) -> None:
        """Have one observation stored soon."""

    def add_soon(self, observed: Observation) -> object:
        """Have it stored soon; if that fails, the run ends with the error."""

    def put(self, observed: Observation) -> asyncio.Future[None]:
        """Have one observation stored at once; it is on disk when the future is done."""

    async def queue_human_items(self, items: Sequence[HumanItem]) -> None:
        """Ask a reviewer, after what was observed before."""


class AnswerWorker:
    """Asks targets, checks and judges for one answer after the other, and keeps what they say."""

    def __init__(
        self,
        opened: OpenSuite,
        keeper: ObservationKeeper,
        run_id: str,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._opened = opened
        self._keeper = keeper
        self._run_id = run_id
        self._now = now
        self._measuring = CheckRunner(opened.plans)
        # Outputs that were read before their turn came, with their questions to the models
        self._ahead: dict[ItemKey, tuple[Output, tuple[PendingGrading, ...]]] = {}

    async def read_ahead(self, items: Sequence[WorkItem]) -> None:
        """Read the recorded outputs of items, and what the cache holds of their judgments."""
        read: list[tuple[WorkItem, Output, Rubric]] = []
        for item in items:
            # Only what costs nothing is read ahead: a stopped run must not have called a model.
            if not self._is_recorded(item):
                continue
            if item.stored is not None:
                output = item.stored.output
            else:
                output = await self._opened.answer(item.case, item.key)
            named = named_output(output, item.key)
            rubric = self._rubric_of(item, named)
            self._ahead[item.key] = named, ()
            if rubric is not None:
                read.append((item, named, rubric))
        gradings = self._opened.judges.begin(
            [(item.case, named, rubric) for item, named, rubric in read]
        )
        for (item, named, _), begun in zip(read, gradings, strict=True):
            self._ahead[item.key] = named, begun

    def hold_output(self, key: ItemKey, output: Output) -> None:
        self._ahead[key] = named_output(output, key), ()

    async def answer(self, item: WorkItem, known: CaseResult | None = None) -> CaseResult:
        progressed = PartialAnswer.of(item, known)
        try:
            await self._progress(progressed)
            if not (progressed.withheld or progressed.is_done):
                progressed.is_done = True
                if progressed.is_stored:
                    await self._keeper.put(self._observation(item, is_done=True))
        finally:  # an interrupted answer is stored as far as it came
            if progressed.output is not None and not progressed.is_stored:
                await self._keep_all(progressed)
        result = progressed.result(self._run_id)
        asked = review_items(self._opened, result, at=self._now())
        if asked:
            await self._keeper.queue_human_items(asked)
        return result

    async def _progress(self, progressed: PartialAnswer) -> None:
        """Have the output, then its judgments, as far as they are missing."""
        item = progressed.item
        limit = self._limit_s(item)
        # One deadline for the target and the judges together: the limit is for a case.
        deadline = None if limit is None else asyncio.get_running_loop().time() + limit
        try:
            if progressed.output is None:
                ahead = self._ahead.pop(item.key, None)
                if ahead is None:
                    ahead = named_output(await self._output(item, deadline), item.key), ()
                await self._take_in(progressed, *ahead)
            else:
                await self._check_again(progressed, progressed.output)
            if not progressed.is_done:
                await self._judge(progressed, deadline)
        except _CANNOT_ASK_ERRORS as error:
            progressed.withheld.append(
                JudgeFailure(
                    criterion="(answer)",
                    kind=cast("FailureKind", error.kind),
                    message=str(error),
                    case_id=item.key.case_id,
                    variant=item.key.variant,
                )
            )

    def close(self) -> None:
        self._measuring.close()

    def _rubric_of(self, item: WorkItem, output: Output) -> Rubric | None:
        if output.error is not None:
            return None
        return self._opened.rubric_of(item.case, item.key)

    def _is_recorded(self, item: WorkItem) -> bool:
        target = self._opened.targets.get(item.key.variant)
        return item.stored is not None or isinstance(target, GivenTarget | RecordedTarget)

    async def _output(self, item: WorkItem, deadline: float | None) -> Output:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._opened.answer(item.case, item.key)
        except TimeoutError:
            return Output(error=self._too_long(item), error_kind="timeout")

    async def _take_in(
        self, progressed: PartialAnswer, named: Output, begun: Sequence[PendingGrading]
    ) -> None:
        """Store the output with the results of its checks and its cached judgments, all at once."""
        item = progressed.item
        progressed.output, progressed.ran_at = named, self._now()
        if item.stored is None:
            found = await self._measured(progressed, named)
        else:
            found = CheckResults(item.stored.checks, item.stored.scores)
        self._take_findings(progressed, named, found)
        rubric = self._rubric_of(item, named)
        if rubric is not None:
            progressed.begun = begun or next(
                self._opened.judges.begin([(item.case, named, rubric)])
            )
            for pending in progressed.begun:
                for answers in pending.answers:
                    progressed.judge_answers += answers or ()
        progressed.is_done = rubric is None or self._opened.judges.is_content(
            item.case, named, rubric, progressed.judge_answers
        )
        # What files and the cache can say again is stored once, when the answer is complete or its
        # judges are slow: four transactions instead of one are an eighth of the time of grading.
        # Other outputs must be on disk before a judge is paid for them.
        if progressed.is_done or not (self._is_recorded(item) and self._opened.judges.keeps):
            await self._keep_all(progressed)

    def _take_findings(
        self, progressed: PartialAnswer, output: Output, found: CheckResults
    ) -> tuple[Judgment | JudgeFailure, ...]:
        """Take what was found, and what the assertions say of it where they are a judge."""
        item = progressed.item
        progressed.checks, progressed.scores = found.checks, found.scores
        rubric = self._rubric_of(item, output)
        if rubric is None:
            return ()
        judge_answers = self._opened.judges.by_rule(
            item.case, output, rubric, judge_answers=progressed.judge_answers, checks=found.checks
        )
        progressed.judge_answers += judge_answers
        return judge_answers

    async def _keep_all(self, progressed: PartialAnswer) -> None:
        # An answer that is complete, or was read from a file, cost nothing to get, so nobody need
        # wait until it is on disk.
        is_free = progressed.is_done or self._is_recorded(progressed.item)
        keep = self._keeper.keep_soon if is_free else self._keeper.put
        await keep(self._whole_observation(progressed))

    def _keep_begun(self, progressed: PartialAnswer) -> None:
        if not progressed.is_stored:
            self._keeper.add_soon(self._whole_observation(progressed))

    def _whole_observation(self, progressed: PartialAnswer) -> Observation:
        """Everything that is known of an answer which the store does not have yet."""
        progressed.is_stored = True
        return replace(
            self._observation(
                progressed.item,
                [*progressed.judge_answers, *filter(_is_paid, progressed.withheld)],
                checks=progressed.checks,
                scores=progressed.scores,
                is_done=progressed.is_done,
            ),
            at=progressed.ran_at or self._now(),
            case=progressed.item.case,
            output=progressed.output,
        )

    async def _check_again(self, progressed: PartialAnswer, output: Output) -> None:
        """Run the checks that have no result yet, and those whose result was reset."""
        item, checks = progressed.item, progressed.checks
        if output.error is not None:
            return
        found = CheckResults(checks, progressed.scores)
        lacks = (len(checks), len(progressed.scores)) != self._measuring.n_wanted(item.case)
        lacks = lacks or any(map(is_pending_score, progressed.scores))
        if not lacks and self._rubric_of(item, output) is None:
            return
        if lacks or any(check.passed is None for check in checks):
            found = await self._measured(progressed, output)
        judge_answers = self._take_findings(progressed, output, found)
        if judge_answers or lacks:
            await self._keeper.put(
                self._observation(item, judge_answers, checks=found.checks, scores=found.scores)
            )

    async def _measured(self, progressed: PartialAnswer, output: Output) -> CheckResults:
        item, fetched = progressed.item, FetchedVectors()
        try:
            return await self._measuring.find(item.case, output, fetched)
        # The output stays, and is measured when the run is resumed.
        except _CANNOT_ASK_ERRORS as error:
            scores = self._measuring.not_yet(str(error), fetched, at=self._now())
            if not progressed.is_stored:
                progressed.scores = scores
                await self._keep_all(progressed)
            elif scores:  # something was paid all the same
                await self._keeper.put(self._observation(item, scores=scores))
            raise

    async def _judge(self, progressed: PartialAnswer, deadline: float | None) -> None:
        """Ask who was not asked yet; whoever is still out at the deadline has failed."""
        item, output = progressed.item, cast("Output", progressed.output)
        rubric = self._rubric_of(item, output)
        if rubric is None:
            return
        # A killed run must know what it paid, so slow judges' answers are stored as they come.
        begun = asyncio.get_running_loop().call_later(_BEGUN_S, self._keep_begun, progressed)
        try:
            async with asyncio.timeout_at(deadline):
                await self._ask_models(progressed, output, rubric)
        except TimeoutError:
            await self._give_up(progressed, rubric)
        finally:
            begun.cancel()
        if not progressed.withheld:
            wanted = self._opened.judges.human_questions(
                self._run_id, item.key, rubric, progressed.judge_answers, at=self._now()
            )
            if wanted:
                if not progressed.is_stored:
                    await self._keep_all(progressed)
                await self._keeper.queue_human_items(wanted)

    async def _ask_models(self, progressed: PartialAnswer, output: Output, rubric: Rubric) -> None:
        """Ask, and have each answer kept while others are still out, so that a kill loses few."""
        item, judges = progressed.item, self._opened.judges
        answers = judges.observe(
            item.case,
            output,
            rubric,
            judge_answers=progressed.judge_answers.copy(),
            begun=progressed.begun,
        )
        keeping: list[asyncio.Future[None]] = []
        try:
            async with aclosing(answers):
                async for found in answers:
                    usable = [one for one in found if not _is_unasked(one)]
                    progressed.withheld += filter(_is_unasked, found)
                    progressed.judge_answers += usable
                    if usable:
                        progressed.is_done = judges.is_content(
                            item.case, output, rubric, progressed.judge_answers
                        )
                    usable += [one for one in found if _is_unasked(one) and _is_paid(one)]
                    if not (usable and progressed.is_stored):
                        continue
                    observed = self._observation(item, usable, is_done=progressed.is_done)
                    if judges.keeps:  # what was paid for is on disk already
                        await self._keeper.keep_soon(observed)
                    else:
                        keeping.append(self._keeper.put(observed))
            for one in keeping:
                await one
        finally:
            for one in keeping:
                one.cancel()

    async def _give_up(self, progressed: PartialAnswer, rubric: Rubric) -> None:
        key, case, output = progressed.item.key, progressed.item.case, progressed.output
        if output is None:
            return
        answered = [*progressed.judge_answers, *progressed.withheld]
        failures = [
            JudgeFailure(
                criterion=criterion,
                kind="timeout",
                message=self._too_long(progressed.item),
                case_id=key.case_id,
                variant=key.variant,
                repeat=repeat,
                turn=turn,
                judge=judge,
            )
            for judge, (criterion, repeat, turn) in self._opened.judges.unanswered(
                case, output, rubric, answered
            )
        ]
        progressed.judge_answers += failures
        if progressed.is_stored:
            await self._keeper.put(self._observation(progressed.item, failures))

    def _limit_s(self, item: WorkItem) -> float | None:
        """How long a case may take; one that allows the answer more than the suite does has it."""
        limit, own = self._opened.suite.settings.timeout_s, item.case.evaluation
        if limit is None or own is None or own.timeout_s is None:
            return limit
        return max(limit, own.timeout_s)

    def _too_long(self, item: WorkItem) -> str:
        limit = self._limit_s(item)
        where = "settings.timeout_s"
        if limit != self._opened.suite.settings.timeout_s:
            where = "evaluation.timeout_s of the case"
        return f"the case took longer than {limit:g} s ({where})"

    def _observation(
        self,
        item: WorkItem,
        judge_answers: Sequence[Judgment | JudgeFailure] = (),
        *,
        checks: Sequence[AssertionResult] = (),
        scores: Sequence[Score] = (),
        is_done: bool = False,
    ) -> Observation:
        return Observation(
            key=item.key,
            place=item.place,
            at=self._now(),
            said=judge_answers,
            checks=checks,
            scores=scores,
            # Until its output was compared with those of other variants, it is not whole.
            is_done=is_done and not self._opened.plans.is_compared(item.case),
        )


def review_items(opened: OpenSuite, result: CaseResult, *, at: datetime) -> list[HumanItem]:
    """What a reviewer is asked about a complete answer, where it is drawn for a review."""
    share, output = opened.execution.review, result.output
    is_judged = bool(result.judgments or result.failures) and output.error is None
    rubric = opened.rubric_of(result.case, result.key) if share and is_judged else None
    if rubric is None or not result.is_done:
        return []
    # By the content, so that it is the same in every run; and by another hash than that of the
    # rows that `watch` draws, or only the lowest of its sample would be reviewed.
    content = fingerprint([*result.key, result.case.input, output.text, output.data])
    if not is_sampled(f"review:{content}".encode(), share):
        return []
    asked = partial(HumanItem, run_id=result.run_id, key=result.key, judge=REVIEWER, asked_at=at)
    # Every criterion, whatever was decided.
    return [asked(criterion=one.name) for one in rubric.criteria]


def _is_unasked(one: Judgment | JudgeFailure) -> TypeGuard[JudgeFailure]:
    return isinstance(one, JudgeFailure) and one.kind in UNASKED_FAILURE_KINDS


def _is_paid(one: JudgeFailure) -> bool:
    # Stored for its cost: a repetition was refused, and the reply before it was paid for.
    return bool(one.n_calls) and not one.cached


# Observations that may wait to be written, so that memory stays bounded. Fewer cost a tenth of the
# time of grading: two threads then take turns all the time.
_MOST_UNWRITTEN = 1024
# After so many the event loop gets a turn: progress is drawn, and an interrupt is noticed.
_YIELD_EVERY = 16
# Longest time in seconds that an observation nobody waits for stays in memory: others come
# meanwhile and share its transaction, which costs a millisecond and a change of threads.
_LINGER_S = 0.05
# Longest time in seconds that paid judgments of a recorded output wait to be stored together.
_BEGUN_S = 0.25
# After so many it is not the observations that are at fault, and trying on takes long.
_MOST_FAILURES = 2
_Waiting = tuple["Observation", "asyncio.Future[None]"]


class ObservationWriter:
    """Writes observations of one run from one thread, so that the event loop never waits."""

    def __init__(self, store: RunStore, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._untold: BaseException | None = None
        self._n_soon = 0
        self._urgent = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judgekit-store")

    async def keep_soon(self, observed: Observation) -> None:
        """Have one observation stored soon, and wait only where too many are waiting already."""
        if self._untold is not None:
            raise self._untold
        done = self.add_soon(observed)
        if len(self._waiting) >= _MOST_UNWRITTEN:
            self._urgent.set()
            await done
            return
        self._n_soon += 1
        if self._n_soon % _YIELD_EVERY == 0:
            await asyncio.sleep(0)

    def add_soon(self, observed: Observation) -> asyncio.Future[None]:
        """Have one observation stored soon; if that fails, the run ends with the error."""
        done = self._add_waiting(observed)
        done.add_done_callback(self._note_failure)
        return done

    def _note_failure(self, done: asyncio.Future[None]) -> None:
        """Keep the first error of a write nobody waits for; the end of the run raises it."""
        if not done.cancelled():
            self._untold = self._untold or done.exception()

    def put(self, observed: Observation) -> asyncio.Future[None]:
        """Have one observation stored at once; it is on disk when the future is done."""
        self._urgent.set()
        return self._add_waiting(observed)

    def _add_waiting(self, observed: Observation) -> asyncio.Future[None]:
        # The future belongs to one observation, although they are committed together: a caller
        # waits for its own only.
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((observed, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return done

    async def flush(self) -> None:
        """Wait until everything that was observed so far is stored."""
        if self._waiting:
            self._urgent.set()
            await asyncio.wait({self._waiting[-1][1]})
        # The thread is free only after what was being written.
        await asyncio.get_running_loop().run_in_executor(self._thread, int)

    async def queue_human_items(self, items: Sequence[HumanItem]) -> None:
        await self.flush()  # the answers that they are about come first
        await asyncio.get_running_loop().run_in_executor(
            self._thread, self._store.ask_person, self._run_id, items
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Write what still waits, also when the run was interrupted."""
        try:
            while self._writing is not None:
                self._urgent.set()
                await self._writing
        finally:
            # The last transaction must be on disk before the run's status says that it ended.
            self._thread.shutdown(wait=True)
        if self._untold is not None and not isinstance(error, StoreError):
            raise self._untold

    async def _write(self) -> None:
        try:
            while self._waiting:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LINGER_S):
                        await self._urgent.wait()
                self._urgent.clear()
                batch, self._waiting = self._waiting, []
                await self._commit(batch)
        finally:
            self._writing = None

    async def _commit(self, batch: list[_Waiting]) -> None:
        error = await self._add([observed for observed, _ in batch])
        if error is None or len(batch) == 1:
            for _, done in batch:
                self._tell(done, error)
            return
        n_failed = 0
        for observed, done in batch:  # one that cannot be kept takes no other with it
            if n_failed < _MOST_FAILURES:
                error = await self._add([observed])
                n_failed += error is not None
            self._tell(done, error)

    async def _add(self, observed: Sequence[Observation]) -> BaseException | None:
        commit = asyncio.get_running_loop().run_in_executor(
            self._thread, self._store.add, self._run_id, observed
        )
        # `wait`, not `await commit`: a cancelled worker must not cancel a transaction that carries
        # others' answers.
        await asyncio.wait({commit})
        return commit.exception()

    def _tell(self, done: asyncio.Future[None], error: BaseException | None) -> None:
        if done.done():  # whoever waited was cancelled; the observation is kept all the same
            self._untold = self._untold or error
        elif error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
            done.exception()  # else Python reports each one that nobody awaits, traceback and all
