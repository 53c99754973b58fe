"""A stored run: what was observed, its figures and its status (made by `suite_evaluation`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self, overload

from judgekit.errors import InputError
from judgekit.evaluation.findings import ObservedRuns
from judgekit.evaluation.gate import GateResult, check_gate
from judgekit.evaluation.outcome import Outcome, conclude_result, last_tries
from judgekit.evaluation.run_config import REVIEWER, without_calibration
from judgekit.evaluation.run_figures import store_summary, stored_summary, summary_key
from judgekit.evaluation.summary import RunSummary, RunTally
from judgekit.presentable import Presentable
from judgekit.records import HUMAN_JUDGE, Case, CaseResult, Output, RunInfo, RunPanel

if TYPE_CHECKING:
    from judgekit.records import JudgeFailure, Judgment, Occurrence, Rubric, RunStatus, Verdict
    from judgekit.store import RunStore


_STORED_LEVEL = 0.95


class Run(Presentable):
    """A run in a store; its observations are read when they are asked for.

    Args:
        info: What it set out to do and how it ended.
        store: Where its observations are.
        owns_store: Whether closing the run closes the store.
    """

    def __init__(self, info: RunInfo, store: RunStore, *, owns_store: bool = False) -> None:
        self.info = info
        self.store = store
        self._owns_store = owns_store

    def __repr__(self) -> str:
        return f"<Run {self.id}: {self.status}>"

    @property
    def id(self) -> str:
        """Name of the run."""
        return self.info.id

    @property
    def status(self) -> RunStatus:
        """How it ended."""
        return self.info.status

    def results(
        self, *, variant: str | None = None, case_id: str | None = None, tag: str | None = None
    ) -> Iterator[CaseResult]:
        """What was observed, one answer at a time.

        Args:
            variant: Only this variant.
            case_id: Only this case.
            tag: Only cases with this tag.

        Yields:
            Answers in the order of the cases.
        """
        yield from self.store.results(self.id, variant=variant, case_id=case_id, tag=tag)

    def concluded(
        self, *, variant: str | None = None, case_id: str | None = None, tag: str | None = None
    ) -> Iterator[Outcome]:
        """Answers with their verdict, their value and whether they pass.

        Args:
            variant: Only this variant.
            case_id: Only this case.
            tag: Only cases with this tag.

        Yields:
            Answers in the order of the cases.
        """
        for result in self.results(variant=variant, case_id=case_id, tag=tag):
            yield conclude_result(result, self.info)

    def summary(
        self,
        *,
        level: float = 0.95,
        watch: Callable[[Outcome], None] | None = None,
        results: Iterable[CaseResult] | None = None,
    ) -> RunSummary:
        """The figures of the run.

        They are computed once, and stored until the run changes.

        Args:
            level: Confidence level of all intervals, in (0, 1).
            watch: Called with each answer, in the order of the cases.
            results: All that was observed, in the order of the cases, where it is in memory; None
                reads it from the store.

        Returns:
            Figures per variant, criterion, tag and stratum, and the variants' differences.
        """
        waiting = n_waiting(self.store, self.info)
        # Whoever watches has to see every answer, and only the usual level is stored.
        key = None
        if watch is None and results is None and level == _STORED_LEVEL:
            key = summary_key(self.info, self.store)
            if (known := stored_summary(self.info, self.store, key, waiting)) is not None:
                return known
        own = without_calibration(self.info)
        # Both are summed up in one pass: a run may be larger than memory.
        tally = RunTally(self.info, None if own is self.info else own)
        for result in self.results() if results is None else results:
            concluded = conclude_result(result, self.info)
            tally.take(concluded)
            if watch is not None:
                watch(concluded)
        replaced = self.store.spent_usd(self.id, is_owned=tally.is_free, only_replaced=True)
        summary = tally.summary(n_waiting=waiting, replaced_usd=replaced, level=level)
        if key is not None:
            store_summary(summary, self.store, key)
        return summary

    def gate(self, summary: RunSummary | None = None) -> GateResult | None:
        """What the suite's gate says of the run: of each variant's value, and of its pass rate.

        Args:
            summary: The run's figures, where they are at hand; None works them out.

        Returns:
            The gate, whose `held` is `passed`, `failed` or `inconclusive`; None where the suite
            has none that says something of figures.

        Raises:
            StoreError: When this run, or one before it, cannot be read.
        """
        return check_gate(summary or self.summary(), self.store)

    def findings(self) -> tuple[Occurrence, ...]:
        """What failed in the run, as `judgekit findings` follows it over runs.

        Returns:
            One for each case that failed, with its type, severity, criteria and description.
        """
        return ObservedRuns(self.store, self.info.suite).failures(self.info).failures

    def close(self) -> None:
        """Close the store, where the run opened it."""
        if self._owns_store:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@overload
def summarize(observed: Run, *, level: float = 0.95) -> RunSummary: ...


@overload
def summarize(
    observed: Iterable[Verdict], rubric: Rubric, *, level: float = 0.95
) -> RunSummary: ...


def summarize(
    observed: Run | Iterable[Verdict], rubric: Rubric | None = None, *, level: float = 0.95
) -> RunSummary:
    """Sum up a run, or verdicts.

    Args:
        observed: A run, or verdicts of one rubric.
        rubric: The rubric of the verdicts; a run knows its own.
        level: Confidence level of the intervals, in (0, 1).

    Returns:
        Figures per variant, criterion, tag and stratum, each with its interval, and how the
        variants differ; verdicts say nothing of tags and strata.

    Raises:
        InputError: When verdicts come without their rubric, or a run with one.
        StoreError: When the run cannot be read.
    """
    if isinstance(observed, Run):
        if rubric is not None:
            raise InputError("a run knows its own rubric", hint="call summarize(run)")
        return observed.summary(level=level)
    if rubric is None:
        raise InputError("verdicts are summed up with their rubric: summarize(verdicts, rubric)")
    return summarize_verdicts(observed, rubric, level=level)


def summarize_verdicts(
    verdicts: Iterable[Verdict], rubric: Rubric, *, level: float = 0.95
) -> RunSummary:
    known = list(verdicts)
    judge_answers: list[Judgment | JudgeFailure] = []
    for verdict in known:
        judge_answers += (*verdict.judgments, *verdict.failures)
    repeats = 1 + max((verdict.repeat or 0 for verdict in known), default=0)
    run = RunInfo(
        id="verdicts",
        suite=rubric.name,
        config={"settings": {"repeats": repeats}} if repeats > 1 else {},
        started_at=datetime.now(UTC),
        status="complete",
        rubric=rubric,
        panel=RunPanel(
            judges=tuple(dict.fromkeys(one.judge for one in judge_answers if one.judge))
        ),
    )
    # Calibrated verdicts carry the judge's own values, so that both can be reported without the
    # maps.
    are_plain = all(verdict.uncalibrated is None for verdict in known)
    tally = RunTally(run, None if are_plain else run)
    for outcome in verdict_outcomes(known):
        tally.take(outcome)
    return tally.summary(level=level)


# Stands for a run in what is read from a file of verdicts, which holds no outputs.
VERDICTS_RUN = "verdicts"


def verdict_outcomes(verdicts: Sequence[Verdict]) -> Iterator[Outcome]:
    """Verdicts as answers of a run, paired across variants by case."""
    # Two verdicts of one case and variant may be of different outputs, as in a test session, so
    # they are not repeats of one answer: each is a case of its own.
    places: dict[tuple[str, int], int] = {}
    n_seen: Counter[tuple[str, str]] = Counter()
    for number, verdict in enumerate(verdicts):
        case_id = verdict.case_id or f"#{number}"
        variant = verdict.variant or ""
        # Unless they say that they are repeats.
        n = n_seen[case_id, variant] if verdict.repeat is None else 0
        place = places.setdefault((case_id, n), len(places))
        n_seen[case_id, variant] += 1
        result = CaseResult.model_construct(  # a variant without a name is none a run could have
            run_id=VERDICTS_RUN,
            place=place,
            case=Case(id=case_id, input=None),
            variant=variant,
            repeat=verdict.repeat or 0,
            output=Output(text="") if verdict.error is None else Output(error=verdict.error),
            judgments=verdict.judgments,
            failures=verdict.failures,
            is_done=True,
        )
        yield Outcome(result, verdict, verdict.value, verdict.passed)


# How a run ends when everything was begun; one that was stopped has more to do than this.
_SETTLED = frozenset({"waiting", "complete", "incomplete"})


def run_status(store: RunStore, run: RunInfo) -> RunStatus:
    """How a run has ended of which everything was begun, by what is stored of it."""
    for progress in last_tries(store.progress(run.id), run):
        if not progress.is_done or progress.error_kind == "model":
            return "incomplete"
        if progress.n_failures and not _is_recovered(store.result(run.id, progress.key), run.panel):
            return "incomplete"
    asks = store.queue(run.id) if HUMAN_JUDGE in run.panel.judges else ()
    return "waiting" if any(item.judge != REVIEWER for item in asks) else "complete"


def n_waiting(store: RunStore, run: RunInfo) -> int:
    """How many questions have to be answered by a human before the run is complete."""
    if HUMAN_JUDGE not in run.panel.judges:
        return 0
    return sum(item.judge != REVIEWER for item in store.queue(run.id))


def update_run_status(store: RunStore, run_id: str, *, at: datetime) -> RunInfo:
    """Update a run's status after human judgments were added or withdrawn."""
    run = store.run(run_id)
    if run.status not in _SETTLED:
        return run
    status = run_status(store, run)
    if status == run.status:
        return run
    store.end(run_id, status=status, at=at)
    return store.run(run_id)


def _is_recovered(result: CaseResult | None, panel: RunPanel) -> bool:
    """Whether for each failure a later judge of a cascade has answered."""
    if result is None or panel.combine != "cascade":
        return False
    seats = {judge: place for place, judge in enumerate(panel.judges)}
    latest: dict[str, int] = {}
    for one in result.judgments:
        # Every reviewer has the place of the human judge.
        judge = HUMAN_JUDGE if one.source == "human" else one.judge
        place = seats.get(judge, len(seats))
        latest[one.criterion] = max(place, latest.get(one.criterion, -1))
    return all(
        latest.get(failure.criterion, -1) > seats.get(failure.judge, -1)
        for failure in result.failures
    )
