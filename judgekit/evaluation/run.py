"""Evaluates a suite from Python (by `runner`), and hands back a `Run` to be read and summed up."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from functools import cache as remembered
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

from judgekit.datasets import (
    DEFAULT_CACHE_FOLDER,
    DEFAULT_STORE_FILE,
    VariantSettings,
    number_single_outputs,
    open_cases,
    read_answer,
    refuse_retired,
    repeat_of,
    suite_from_path,
    with_benchmark,
)
from judgekit.errors import InputError, SettingsError
from judgekit.evaluation.completion import complete_run
from judgekit.evaluation.findings import CaseTally, ObservedRuns
from judgekit.evaluation.gate import GateResult, check_gate
from judgekit.evaluation.judges import (
    ExecutionOptions,
    calibration_of_run,
    meets_calibration_gate,
    refresh_mode,
    without_calibration,
)
from judgekit.evaluation.outcome import Outcome, conclude_result
from judgekit.evaluation.planner import check_keys
from judgekit.evaluation.run_figures import store_summary, stored_summary, summary_key
from judgekit.evaluation.runner import (
    choice_of_run,
    find_resumed_run,
    n_waiting,
    prepare_run,
    run_suite,
)
from judgekit.evaluation.session import Choice, OpenSuite, RecordedAnswers, Session, open_suite
from judgekit.evaluation.summary import RunSummary, RunTally
from judgekit.formats import memory_rows
from judgekit.judge import synchronous
from judgekit.models.cache import cache_location
from judgekit.presentable import Presentable
from judgekit.records import OUTPUTS_TAG, Case, CaseResult, CaseSource, Output, RunInfo, RunPanel
from judgekit.store import RunStore

if TYPE_CHECKING:
    from judgekit.datasets import CaseOutput, Gate, Suite
    from judgekit.models.cache import ReplyCache
    from judgekit.records import JudgeFailure, Judgment, Occurrence, Rubric, RunStatus, Verdict


_STORED_LEVEL = 0.95


async def evaluate(
    suite: Suite | Path | str,
    *,
    store: RunStore | Path | str = DEFAULT_STORE_FILE,
    cache: ReplyCache | Path | str | None = DEFAULT_CACHE_FOLDER,
    choice: Choice | None = None,
    resume: str | None = None,
    session: Session | None = None,
    max_cost_usd: float | None = None,
    frozen: bool = False,
    refresh: bool = False,
    allow_scripts: bool = False,
    template_folders: Sequence[Path] = (),
    notes: str | None = None,
    triggered_by: str | None = None,
    benchmark: str | None = None,
    retired: bool = False,
    review: float = 0.0,
    outputs: object | None = None,
) -> Run:
    """Run a suite from cases to a stored run, or judge outputs that are at hand by it.

    What the gate decides, and what fails, is stored with the run, for `judgekit gate`, `trend` and
    `findings`; alarms are sent where the suite has `notify`.

    Args:
        suite: The suite, or its file.
        store: The store, the path of its SQLite file, or a database URL.
        cache: Folder or address (`postgresql://…`, `redis://…`) of the reply cache of judges and
            prompts, a cache, or None for none.
        choice: Which part of the suite is run; None for all of it, or with `resume` for what the
            run chose when it was begun.
        resume: The run to resume: its id, the beginning of it, or `latest` for the last of
            this suite. Stored answers cause no further calls.
        session: Limits and callbacks of this session: time, fail fast, progress, retrying what
            failed; each call needs its own.
        max_cost_usd: The money the run may cost, in US dollars, earlier sessions of it included;
            None for no limit.
        frozen: Whether a reply that is not cached is an error.
        refresh: Whether cached replies are fetched again.
        allow_scripts: Whether the suite's setup and teardown programs may be run.
        template_folders: Folders of templates that come before the suite's own.
        notes: Whatever should be remembered with a new run.
        triggered_by: Who or what started a new run; None records the CI job that this process
            belongs to, and nothing outside of CI.
        benchmark: The benchmark to run, by its id or name, where the file is a quality memory with
            several, or a suite with one as its dataset; None runs all its cases.
        retired: Whether a suite or benchmark that is retired is run nevertheless.
        review: Share of the answers, in [0, 1], whose automated verdicts a human reviews as well;
            the verdicts stand, and `judgekit label RUN` asks.
        outputs: Outputs to judge in the place of what the suite's variants answer, such as that of
            an agent run that has just ended: pairs of a case and its output, outputs whose
            `case_id` is a case of the suite, rows as `judgekit grade FILE` reads them, or a data
            frame of such rows. The run
            is tagged `outputs`; the variant of an output that names none is that of the suite if
            it has only one, else `outputs`. With one output that has a `run_id`, this agent run is
            the trigger. None runs the variants.

    Returns:
        The run; read it, sum it up with `summarize`, close it after use.

    Raises:
        InputError: When a file, a name or a setting is invalid, the run to resume is of a
            suite that has changed since, the suite is retired, or the gate requires a calibration
            and none holds.
        StoreError: When the store cannot be used, or the run is running in another process.

    Example:
        >>> import judgekit as jk
        >>> async def passed() -> float:
        ...     with await jk.evaluate("judgekit.yaml", max_cost_usd=2.0) as run:
        ...         return jk.summarize(run).variants[0].pass_rate.value

        After each run of an agent, from the agent's own event loop:

        >>> async def judged(task: jk.Case, answer: jk.Output) -> bool | None:
        ...     with await jk.evaluate("judgekit.yaml", outputs=[(task, answer)]) as run:
        ...         (outcome,) = run.concluded()
        ...         return outcome.passed
    """
    current = session or Session()
    execution = ExecutionOptions(
        cache=cache_location(cache) if isinstance(cache, str) else cache,
        template_folders=tuple(template_folders),
        frozen=frozen,
        refresh=refresh_mode(refresh=refresh, retry_errors=current.retry_errors, frozen=frozen),
        max_cost_usd=max_cost_usd,
        allow_scripts=allow_scripts,
        review=review,
    )
    loaded, recorded = _with_outputs(_loaded(suite, benchmark, retired), outputs, choice)
    # A store that was passed in stays open: its owner may use it for other runs.
    opened_store = store if isinstance(store, RunStore) else RunStore(store)
    trigger = triggered_by or _agent_run(recorded)
    try:
        begun = find_resumed_run(opened_store, resume, loaded)
        opened = open_suite(loaded, choice or choice_of_run(begun), execution, recorded=recorded)
        async with aclosing(opened):
            info = prepare_run(
                opened, opened_store, begun, now=current.now(), notes=notes, triggered_by=trigger
            )
            _check_calibrated(opened.suite.gate, info)
            ended = await _run(opened, opened_store, info, current, begun)
        run = Run(ended, opened_store, owns_store=opened_store is not store)
        for problem in await _complete(run, loaded, current.now()):
            # Without a session nothing else would show it.
            warnings.warn(problem, stacklevel=2) if session is None else session.note(problem)
    except BaseException:
        if opened_store is not store:
            opened_store.close()
        raise
    return run


evaluate_sync = synchronous(evaluate)


def _loaded(suite: Suite | Path | str, benchmark: str | None, retired: bool) -> Suite:  # noqa: FBT001 - called once
    if isinstance(suite, Path | str):
        loaded = suite_from_path(suite, benchmark=benchmark)
    else:
        named = {} if benchmark is None else {"benchmark": benchmark}
        loaded = with_benchmark(suite.model_copy(update=named))
    refuse_retired(loaded, allowed=retired)
    return loaded


def _with_outputs(
    suite: Suite, outputs: object | None, choice: Choice | None
) -> tuple[Suite, RecordedAnswers | None]:
    """A suite of recorded outputs, as `grade` makes one of files; without any the suite itself."""
    if outputs is None:
        return suite, None
    if choice is not None:
        raise SettingsError(
            "`outputs` and `choice` exclude each other", hint="pass the outputs that are wanted"
        )
    (only,) = suite.variants if len(suite.variants) == 1 else (None,)
    default = OUTPUTS_TAG if only is None else only.id
    recorded, variants = record_answers(_answers(outputs, suite), default)
    tags = tuple(dict.fromkeys([*suite.tags, OUTPUTS_TAG]))
    changes = {"variants": variants, "tags": tags, "context": None}
    return recorded.with_repeats(suite.model_copy(update=changes)), recorded


def _answers(outputs: object, suite: Suite) -> Iterator[CaseOutput]:
    """Outputs with their cases; an output by itself is of a case of the suite."""

    @remembered
    def known() -> dict[str, Case]:
        return {case.id: case for case in open_cases(suite)}

    for row in memory_rows(outputs, OUTPUTS_TAG):
        # A row describes its own case, and none of the suite.
        is_row = isinstance(row.value, dict)
        yield read_answer(row) if is_row else read_answer(row, known)


def record_answers(
    answers: Iterable[CaseOutput], default: str = OUTPUTS_TAG
) -> tuple[RecordedAnswers, tuple[VariantSettings, ...]]:
    """Outputs in memory as those of a run, and their variants; `default` is the unnamed one."""
    cases: dict[str, Case] = {}
    by_variant: dict[str, dict[tuple[str, int], Output]] = {}
    unnamed: set[str] = set()
    for place, (case, output) in enumerate(answers):
        variant = output.variant or default
        unnamed |= {variant} if output.variant is None else set()
        own = by_variant.setdefault(variant, {})
        key = (case.id, repeat_of(output))
        if key in own or cases.setdefault(case.id, case) != case:
            raise InputError(
                f"outputs[{place}]: the case {case.id!r} comes twice",
                hint="give each output of a variant a case of its own, or repeats their `repeat`",
            )
        own[key] = output.model_copy(update={"case_id": case.id, "variant": variant})
    if not cases:
        raise InputError("there are no outputs to judge")
    number_single_outputs(by_variant.values())
    chosen = tuple(cases.values())
    recorded = RecordedAnswers(
        CaseSource(OUTPUTS_TAG, "1", lambda: iter(chosen)),
        by_variant,
        has_gaps=True,
        unnamed=frozenset(unnamed),
        is_from_memory=True,
    )
    return recorded, tuple(VariantSettings(id=v, outputs="(in memory)") for v in by_variant)


def _agent_run(recorded: RecordedAnswers | None) -> str | None:
    if recorded is None:
        return None
    every = [output for of_variant in recorded.outputs.values() for output in of_variant.values()]
    return f"agent run {every[0].run_id}" if len(every) == 1 and every[0].run_id else None


async def _complete(run: Run, suite: Suite, at: datetime) -> tuple[str, ...]:
    """Store what follows from a run, and send alarms; what could not be sent."""
    failures = CaseTally(run.info)
    summary = run.summary(watch=failures.take)
    gate = run.gate(summary)
    return (await complete_run(suite, run.store, summary, gate, failures, at=at)).problems


async def _run(
    opened: OpenSuite, store: RunStore, run: RunInfo, session: Session, begun: RunInfo | None
) -> RunInfo:
    await check_keys(opened, store, begun)
    return await run_suite(opened, store, run, session, resumed=begun is not None)


def _check_calibrated(gate: Gate | None, run: RunInfo) -> None:
    if not meets_calibration_gate(gate, run):
        raise SettingsError(
            f"the suite requires a calibration: {calibration_of_run(run).words}",
            hint="make one with `judgekit calibrate LABELS --write-map`, and name it in the suite",
        )


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
