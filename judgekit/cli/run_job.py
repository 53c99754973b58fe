"""Carries out a run that is set up: progress, Ctrl-C, its results, and the exit code.

`run` and `grade` both end here; `suite_setup` makes the set-up.
"""

from __future__ import annotations

import asyncio
from math import fsum
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console
from judgekit.cli.exit_codes import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_QUALITY,
)
from judgekit.cli.options import resume_command
from judgekit.cli.outputs import show_document
from judgekit.cli.progress import attend
from judgekit.cli.setup import refuse_uncalibrated
from judgekit.cli.suite_setup import find_unfinished_run
from judgekit.evaluation import (
    Run,
    calibration_of_run,
    calibration_of_suite,
    meets_calibration_gate,
    prepare_run,
    run_suite,
    run_verdicts,
)
from judgekit.report import (
    Details,
    RunAnswers,
    grading_json,
    message,
    not_empty,
    numbers,
    run_document,
    run_json,
    undecided_reason,
    write_results,
    write_verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from judgekit.cli.options import TalkOptions
    from judgekit.cli.outputs import OutputFiles
    from judgekit.cli.run_options import EngineOptions
    from judgekit.cli.suite_setup import RunSetup
    from judgekit.evaluation import GateResult, OpenSuite, RunStopReason, RunSummary
    from judgekit.records import CaseResult, JudgeFailure, Judgment, RunInfo, Verdict


def carry_out(setup: RunSetup, options: EngineOptions, files: OutputFiles) -> int:
    """Evaluate, print and write the results; the exit code."""
    info = prepared_run(setup, resumes=options.resumes)
    if setup.resumed is not None:
        _note_stored_calibration(info, setup.opened)
    # Checked before the first call: a stale calibration makes every verdict unusable.
    if not meets_calibration_gate(setup.opened.suite.gate, info):
        asyncio.run(setup.opened.aclose())
        return refuse_uncalibrated(calibration_of_run(info))
    try:
        ended = asyncio.run(run_with_progress(setup, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(_resume_note(setup, "stopped at once"))
        return EXIT_INTERRUPTED
    run = Run(ended, setup.store)
    results = results_in_order(setup, ended)
    summary, gate = _shown(run, setup, options, files, results)
    for path in files.exports:
        n = _write(path, run, setup, results)
        if not (setup.is_grading and options.quiet):
            console.note(f"wrote {n} to {path}")
    return conclude_run(setup, summary, gate, options.fail_under)


def prepared_run(setup: RunSetup, *, resumes: bool) -> RunInfo:
    """The run to carry out; `grade --resume` takes the last one of the same outputs."""
    now = setup.session.now()
    info = prepare_run(setup.opened, setup.store, setup.resumed, now=now, notes=setup.notes)
    if setup.is_grading and resumes:
        setup.resumed = find_unfinished_run(setup.store, info)
        info = setup.resumed or info
    setup.info = info
    return info


def results_in_order(setup: RunSetup, run: RunInfo) -> list[CaseResult] | None:
    """The results of this session, in order; None if some of them are only in the store."""
    # Reading them back from the store would take as long as grading from the cache.
    if not setup.is_grading or setup.resumed is not None:
        return None
    variants = {variant.id: number for number, variant in enumerate(run.variants)}
    criteria = {} if run.rubric is None else {c.name: k for k, c in enumerate(run.rubric.criteria)}
    judges = {judge: number for number, judge in enumerate(run.panel.judges)}

    def rank(answer: Judgment | JudgeFailure) -> tuple[int, int, int]:
        # Answers arrive as the models finish; the output must not depend on it.
        judge, criterion = judges.get(answer.judge, -1), criteria.get(answer.criterion, -1)
        return judge, answer.repeat, criterion

    return [
        result.model_copy(
            update={
                "judgments": tuple(sorted(result.judgments, key=rank)),
                "failures": tuple(sorted(result.failures, key=rank)),
            }
        )
        for result in sorted(
            setup.graded, key=lambda one: (one.place, variants.get(one.variant, 0), one.repeat)
        )
    ]


def _write(output: Path, run: Run, setup: RunSetup, results: Sequence[CaseResult] | None) -> str:
    """Write a grading's verdicts, or the answers of a run; how many of what."""
    # Without a rubric there are assertions only, which a verdict has no place for.
    if setup.is_grading and run.info.rubric is not None:
        verdicts = stored_verdicts(setup, run.info, run.results() if results is None else results)
        write_verdicts(output, verdicts)
        return numbers.format_count(len(verdicts), "verdict")
    n = write_results(output, run.results())
    return numbers.format_count(n, "answer")


def stored_verdicts(setup: RunSetup, run: RunInfo, results: Iterable[CaseResult]) -> list[Verdict]:
    """The verdicts of a grading."""
    # Labels and earlier verdicts are joined with these by case and variant: outputs that name no
    # variant keep none here, though a run must call it something.
    unnamed = setup.opened.recorded.unnamed if setup.opened.recorded is not None else frozenset()
    verdicts = run_verdicts(run, results)
    return [
        one.model_copy(update={"variant": None}) if one.variant in unnamed else one
        for one in verdicts
    ]


async def run_with_progress(setup: RunSetup, options: TalkOptions) -> RunInfo:
    """Carry out a run with a progress bar; Ctrl-C ends it, and calls in flight are finished."""
    opened, session, info = setup.opened, setup.session, cast("RunInfo", setup.info)
    try:
        with attend(
            options, setup.total(), interrupt=lambda: session.end("interrupted"), verb=setup.verb
        ) as bar:

            def watch(result: CaseResult) -> None:
                if setup.is_grading:
                    setup.graded.append(result)
                usage = result.output.usage
                # A recorded or cached output was paid for earlier.
                is_paid = usage is not None and not opened.is_free(result.variant, result.output)
                own_usd = (usage.cost_usd or 0.0) if usage is not None and is_paid else 0.0
                bar.advance(
                    [*result.judgments, *result.failures],
                    target_usd=own_usd + fsum(call.cost_usd or 0.0 for call in result.asked),
                    is_error=result.output.error is not None,
                )

            session.watch = watch
            session.note = lambda text: console.note(message.message_lines(text))
            return await run_suite(
                opened, setup.store, info, session, resumed=setup.resumed is not None
            )
    finally:
        await opened.aclose()


def _shown(
    run: Run,
    setup: RunSetup,
    options: EngineOptions,
    files: OutputFiles,
    results: Sequence[CaseResult] | None,
) -> tuple[RunSummary, GateResult | None]:
    """Print the results and write the report; the answers are read once for all of it."""
    # With -v every answer is printed: those that did not pass are not printed twice.
    answers = RunAnswers(
        most=0 if options.verbose else 5, lists_all=options.verbose or bool(files.documents)
    )
    summary = run.summary(watch=answers.take, results=results)
    gate = run.gate(summary)
    blocks = answers.blocks()
    if options.quiet:
        blocks = not_empty([Details("Answers", blocks)])  # on a page, not in the terminal
    document = run_document(
        summary,
        gate,
        answers=blocks,
        is_stored=setup.is_stored,
        data=lambda: _as_json(run, setup, summary, gate, results),
    )
    show_document(document, options, files)
    return summary, gate


def _as_json(
    run: Run,
    setup: RunSetup,
    summary: RunSummary,
    gate: GateResult | None,
    results: Sequence[CaseResult] | None,
) -> object:
    unmatched = {name: list(ids) for name, ids in setup.opened.unmatched.items()}
    whole = run_json(summary, gate, unmatched=unmatched)
    if not setup.is_grading:
        return whole
    return {
        **whole,
        **grading_json(
            summary, stored_verdicts(setup, run.info, run.results() if results is None else results)
        ),
    }


_STOP_EXIT_CODES: dict[RunStopReason, int] = {
    "interrupted": EXIT_INTERRUPTED,
    "budget": EXIT_LIMIT,
    "time": EXIT_LIMIT,
    "fail_fast": EXIT_QUALITY,
    "model": EXIT_INCOMPLETE,
}
"""The exit code for each reason to end early."""


def conclude_run(
    setup: RunSetup, summary: RunSummary, gate: GateResult | None, fail_under: float | None
) -> int:
    """The exit code of a run, with the note that explains it and names the next command."""
    run, session = summary.run, setup.session
    if session.reason is not None:
        what = "interrupted" if session.reason == "interrupted" else f"stopped: {session.words()}"
        # The first failure may be in the last answer.
        is_complete = session.reason == "fail_fast" and run.status == "complete"
        retry = session.reason == "model"
        console.note(what if is_complete else _resume_note(setup, what, retry=retry))
        return _STOP_EXIT_CODES[session.reason]
    if session.n_missed:
        console.note("some replies are not in the frozen cache, and no calls were made for them")
        console.note(f"to make these calls: {_command(setup)}")
        return EXIT_FROZEN
    if run.status == "incomplete":
        if summary.is_blank:
            console.note(undecided_reason(summary))
        n_errors = sum(variant.n_errors for variant in summary.variants)
        # Another try would get the same reply: the judge did answer.
        is_answered = summary.failures.keys() == {"cannot_assess"} and not n_errors
        retry_note = f"retry what failed: {_command(setup, retry=True)}"
        console.note(message.NOT_ASSESSED if is_answered else retry_note)
        return EXIT_INCOMPLETE
    if summary.is_blank and run.status != "waiting":
        return _blank(setup, summary)
    return _quality(summary, gate, fail_under)


def _quality(summary: RunSummary, gate: GateResult | None, fail_under: float | None) -> int:
    codes = [_under(summary, fail_under), 0 if gate is None else _gate(gate)]
    if EXIT_QUALITY in codes:
        return EXIT_QUALITY
    return EXIT_INCONCLUSIVE if any(codes) or summary.run.status == "waiting" else 0


def _blank(setup: RunSetup, summary: RunSummary) -> int:
    # No judge failed, but nothing is decided either: exit code 0 would look like a success.
    console.note(undecided_reason(summary))
    if not any(variant.n_errors or variant.assertions for variant in summary.variants):
        return EXIT_INCONCLUSIVE
    if not setup.is_grading:  # an error recorded with an output cannot be retried
        console.note(f"retry what failed: {_command(setup, retry=True)}")
    return EXIT_INCOMPLETE


def _note_stored_calibration(run: RunInfo, opened: OpenSuite) -> None:
    """Warn if a resumed run has another calibration than the suite now."""
    then, now = calibration_of_run(run), calibration_of_suite(opened)
    if then.words != now.words:
        console.note(
            f"the run keeps the calibration it started with: {message.printable(then.words)}"
        )


def _under(summary: RunSummary, fail_under: float | None) -> int:
    if fail_under is None:
        return 0
    low = [v for v in summary.variants if v.pass_rate.value < fail_under]
    for variant in low:
        who, rate = message.printable(variant.variant), numbers.format_rate(variant.pass_rate)
        console.note(f"{who}: pass rate {rate} is below --fail-under {fail_under:g}")
    for one in summary.variants:
        # Errors are excluded from the rate, which must not hide that they could change the answer.
        if one.n_errors and one.pass_rate.worst < fail_under <= one.pass_rate.value:
            n = numbers.format_count(one.n_errors, "error")
            console.note(
                f"{message.printable(one.variant)}: {n} excluded; counted as failures, the pass "
                f"rate would be {one.pass_rate.worst * 100:.0f} %, below --fail-under "
                f"{fail_under:g}"
            )
    if low:
        return EXIT_QUALITY
    if any(v.n_passed + v.n_failed == 0 for v in summary.variants):
        console.note("--fail-under is inconclusive: a variant has no decided answer")
        return EXIT_INCONCLUSIVE
    return 0


def _gate(gate: GateResult) -> int:
    if gate.held == "failed":
        console.note("the gate of the suite failed")
        return EXIT_QUALITY
    if gate.held == "inconclusive":
        console.note("the gate of the suite is inconclusive")
        return EXIT_INCONCLUSIVE
    return 0


def _resume_note(setup: RunSetup, what: str, *, retry: bool = False) -> str:
    if not setup.is_stored and setup.opened.cache is None:
        return f"{what}; nothing is stored or cached"
    where = "every answer so far is stored" if setup.is_stored else "every reply so far is cached"
    return f"{what}; {where}. Resume with: {_command(setup, retry=retry)}"


def _command(setup: RunSetup, *, retry: bool = False) -> str:
    """What to type to resume a run."""
    context = click.get_current_context()
    if not setup.is_grading and setup.info is not None:
        return resume_command(context, setup.info.id, retry=retry)
    # A grading is described by its options alone, so all of them are needed again.
    flags = ["--resume"] if setup.is_stored else []
    flags += ["--retry-errors"] if retry else []
    against = next((name for name in ("no_cache", "refresh") if context.params.get(name)), None)
    without = f" without --{against.replace('_', '-')}" if setup.is_stored and against else ""
    return f"the same command {' '.join(['with', *flags]) if flags else 'again'}{without}"
