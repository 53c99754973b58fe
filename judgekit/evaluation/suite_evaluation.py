"""Evaluates a suite from Python, or judges outputs in memory by it (run by `runner`)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import cache as remembered
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets import (
    DEFAULT_CACHE_FOLDER,
    DEFAULT_STORE_FILE,
    CaseOutput,
    Suite,
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
from judgekit.evaluation.findings import CaseTally
from judgekit.evaluation.judges import ExecutionOptions, refresh_mode
from judgekit.evaluation.run import Run
from judgekit.evaluation.run_config import calibration_of_run, meets_calibration_gate
from judgekit.evaluation.runner import (
    choice_of_run,
    find_resumed_run,
    prepare_run,
    run_suite,
    target_connections,
)
from judgekit.evaluation.session import Choice, OpenSuite, RecordedAnswers, Session, open_suite
from judgekit.formats import memory_rows
from judgekit.judge import synchronous
from judgekit.models.cache import cache_location
from judgekit.records import OUTPUTS_TAG, Case, CaseSource, Gate, Output, RunInfo
from judgekit.store import RunStore

if TYPE_CHECKING:
    from judgekit.models import Connection
    from judgekit.models.cache import ReplyCache


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


async def check_keys(
    opened: OpenSuite,
    store: RunStore,
    begun: RunInfo | None,
    *,
    compared_by: Sequence[Connection] = (),
) -> None:
    """Refuse a run that needs a key which is missing, before anything is stored or called."""
    if opened.execution.frozen:
        return
    used = [
        *opened.judges.connections,
        *(connection for _, connection in target_connections(opened)),
        *compared_by,
    ]
    # What is cached needs no key. Whether all of it is takes a plan, made only for a missing key.
    doubtful = [one for one in used if one.may_lack_key]
    if not doubtful:
        return
    from judgekit.evaluation.planner import called_models  # noqa: PLC0415 - for a missing key

    called = await called_models(opened, store, begun)
    for one in doubtful:
        # New outputs have to be compared.
        if one.name in called or (called and one in compared_by):
            one.check()


def _check_calibrated(gate: Gate | None, run: RunInfo) -> None:
    if not meets_calibration_gate(gate, run):
        raise SettingsError(
            f"the suite requires a calibration: {calibration_of_run(run).words}",
            hint="make one with `judgekit calibrate LABELS --write-map`, and name it in the suite",
        )
