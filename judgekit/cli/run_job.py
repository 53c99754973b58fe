"""Carries out a run that is set up: progress, Ctrl-C, its figures, and the exit code.

`run` and `grade` both end here; `suite_setup` makes the set-up.
"""

from __future__ import annotations

import asyncio
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console, console as streams
from judgekit.cli.exit_codes import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_QUALITY,
)
from judgekit.cli.options import resume_command
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import refuse_uncalibrated
from judgekit.cli.signals import Interrupts
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
    WorstAnswers,
    answer_lines,
    grading_json,
    message,
    numbers,
    print_run,
    run_json,
    undecided_reason,
    write_results,
    write_verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from judgekit.cli.progress import ProgressReporter
    from judgekit.cli.setup import Options
    from judgekit.cli.suite_setup import RunSetup
    from judgekit.evaluation import GateResult, OpenSuite, RunStopReason, RunSummary
    from judgekit.records import CaseResult, JudgeFailure, Judgment, RunInfo, Verdict


def carry_out(
    setup: RunSetup, options: Options, *, output: Path | None, fail_under: float | None
) -> int:
    """Run, show and write what was found, and say how it ended."""
    info = prepared_run(setup, resumes=bool(options.get("resume")))
    if setup.begun is not None:
        note_stored_calibration(info, setup.opened)
    if not meets_calibration_gate(setup.opened.suite.gate, info):
        asyncio.run(setup.opened.aclose())
        return refuse_uncalibrated(calibration_of_run(info))
    try:
        ended = asyncio.run(run_with_progress(setup, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(_to_resume(setup, "stopped at once"))
        return EXIT_INTERRUPTED
    run = Run(ended, setup.store)
    results = results_in_order(setup, ended)
    summary, gate = _shown(run, setup, options, results)
    if output is not None:
        n = _write(output, run, setup, results)
        if not (setup.is_grading and options.get("quiet")):
            console.note(f"wrote {n} to {output}")
    return conclude_run(setup, summary, gate, fail_under)


def prepared_run(setup: RunSetup, *, resumes: bool) -> RunInfo:
    """The run that is to be carried out; a grading resumes the last one of the same outputs."""
    now = setup.session.now()
    info = prepare_run(setup.opened, setup.store, setup.begun, now=now, notes=setup.notes)
    if setup.is_grading and resumes:
        setup.begun = find_unfinished_run(setup.store, info)
        info = setup.begun or info
    setup.info = info
    return info


def results_in_order(setup: RunSetup, run: RunInfo) -> list[CaseResult] | None:
    """What was graded just now, in order; None where some of it is only in the store."""
    # Reading back what was written a moment ago would take as long as grading from the cache.
    if not setup.is_grading or setup.begun is not None:
        return None
    variants = {variant.id: number for number, variant in enumerate(run.variants)}
    criteria = {} if run.rubric is None else {c.name: k for k, c in enumerate(run.rubric.criteria)}
    judges = {judge: number for number, judge in enumerate(run.panel.judges)}

    def rank(said: Judgment | JudgeFailure) -> tuple[int, int, int]:
        judge, criterion = judges.get(said.judge, -1), criteria.get(said.criterion, -1)
        return judge, said.repeat, criterion

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
    """Write a grading's verdicts, or the answers of a run; what was written, in words."""
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
    found = run_verdicts(run, results)
    return [
        one.model_copy(update={"variant": None}) if one.variant in unnamed else one for one in found
    ]


async def run_with_progress(setup: RunSetup, options: Options) -> RunInfo:
    """Carry out a run with a progress bar; Ctrl-C ends it, and what was begun is finished."""
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    info = cast("RunInfo", setup.info)
    try:
        with (
            show_progress(
                console.stderr(),
                setup.total(),
                shown=shown,
                verb=setup.verb,
            ) as bar,
            Interrupts(lambda: setup.session.end("interrupted")),
        ):
            setup.session.watch = partial(_watch, setup, bar)
            setup.session.note = lambda text: console.note(message.message_lines(text))
            return await run_suite(
                setup.opened, setup.store, info, setup.session, resumed=setup.begun is not None
            )
    finally:
        await setup.opened.aclose()


def _watch(setup: RunSetup, bar: ProgressReporter, result: CaseResult) -> None:
    if setup.is_grading:
        setup.graded.append(result)
    opened = setup.opened
    usage = result.output.usage
    is_paid = usage is not None and not opened.is_free(result.variant, result.output)
    own_usd = (usage.cost_usd or 0.0) if usage is not None and is_paid else 0.0
    bar.advance(
        [*result.judgments, *result.failures],
        target_usd=own_usd + fsum(asked.cost_usd or 0.0 for asked in result.asked),
        is_error=result.output.error is not None,
    )


def _shown(
    run: Run, setup: RunSetup, options: Options, results: Sequence[CaseResult] | None
) -> tuple[RunSummary, GateResult | None]:
    """The run's figures and its gate, printed; the answers are read once for all of it."""
    if options.get("as_json"):
        summary = run.summary(results=results)
        gate = run.gate(summary)
        streams.print_json(_as_json(run, setup, summary, gate, results))
        return summary, gate
    console = streams.stdout()
    if options.get("verbose"):
        summary = run.summary(
            watch=lambda answer: console.print(answer_lines(answer)), results=results
        )
    else:
        weakest = WorstAnswers()
        summary = run.summary(watch=weakest.take, results=results)
        if not options.get("quiet"):
            weakest.show(console)
    gate = run.gate(summary)
    print_run(console, summary, gate, is_stored=setup.is_stored)
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
"""The exit code for each reason to end before everything was asked."""


def conclude_run(
    setup: RunSetup, summary: RunSummary, gate: GateResult | None, fail_under: float | None
) -> int:
    """Say how a run ended and what to do about it."""
    run, session = summary.run, setup.session
    if session.reason is not None:
        what = "interrupted" if session.reason == "interrupted" else f"stopped: {session.words()}"
        is_whole = session.reason == "fail_fast" and run.status == "complete"
        retry = session.reason == "model"
        console.note(what if is_whole else _to_resume(setup, what, retry=retry))
        return _STOP_EXIT_CODES[session.reason]
    if session.n_missed:
        console.note("some replies are not in the frozen cache; nothing was asked for them")
        console.note(f"ask for them: {_command(setup)}")
        return EXIT_FROZEN
    if run.status == "incomplete":
        if summary.is_blank:
            console.note(undecided_reason(summary))
        console.note(_to_complete(setup, summary))
        return EXIT_INCOMPLETE
    if summary.is_blank and run.status != "waiting":
        return _blank(setup, summary)
    return _quality(summary, gate, fail_under)


def note_stored_calibration(run: RunInfo, opened: OpenSuite) -> None:
    """Say where a run that is gone on with keeps another calibration than the suite has now."""
    then, now = calibration_of_run(run), calibration_of_suite(opened)
    if then.words != now.words:
        console.note(f"the run keeps what it was begun with: {message.printable(then.words)}")


def _to_complete(setup: RunSetup, summary: RunSummary) -> str:
    n_errors = sum(variant.n_errors for variant in summary.variants)
    if summary.failures.keys() == {"cannot_assess"} and not n_errors:
        return message.NOT_ASSESSED
    return f"retry what failed: {_command(setup, retry=True)}"


def _blank(setup: RunSetup, summary: RunSummary) -> int:
    """Nobody failed to judge, and yet nothing is known: no result may look like a good one."""
    console.note(undecided_reason(summary))
    if any(variant.n_errors or variant.assertions for variant in summary.variants):
        if not setup.is_grading:  # a recorded error stays what it is
            console.note(f"retry what failed: {_command(setup, retry=True)}")
        return EXIT_INCOMPLETE
    return EXIT_INCONCLUSIVE


def _quality(summary: RunSummary, gate: GateResult | None, fail_under: float | None) -> int:
    found = [_under(summary, fail_under), 0 if gate is None else _gate(gate)]
    if EXIT_QUALITY in found:
        return EXIT_QUALITY
    return EXIT_INCONCLUSIVE if any(found) or summary.run.status == "waiting" else 0


def _under(summary: RunSummary, fail_under: float | None) -> int:
    if fail_under is None:
        return 0
    low = [v for v in summary.variants if v.pass_rate.value < fail_under]
    for variant in low:
        who, found = message.printable(variant.variant), numbers.format_rate(variant.pass_rate)
        console.note(f"{who}: pass rate {found} is below --fail-under {fail_under:g}")
    for one in summary.variants:
        if one.n_errors and one.pass_rate.worst < fail_under <= one.pass_rate.value:
            n = numbers.format_count(one.n_errors, "error")
            console.note(
                f"{message.printable(one.variant)}: {n} of its own left out; counted as not "
                f"passed, the pass rate would be {one.pass_rate.worst * 100:.0f} %, below "
                f"--fail-under {fail_under:g}"
            )
    if low:
        return EXIT_QUALITY
    if any(v.n_passed + v.n_failed == 0 for v in summary.variants):
        console.note("a variant has no decided answer, so that --fail-under cannot be decided")
        return EXIT_INCONCLUSIVE
    return 0


def _gate(gate: GateResult) -> int:
    if gate.held == "failed":
        console.note("the gate of the suite is not reached")
        return EXIT_QUALITY
    if gate.held == "inconclusive":
        console.note("the gate of the suite cannot be decided")
        return EXIT_INCONCLUSIVE
    return 0


def _to_resume(setup: RunSetup, what: str, *, retry: bool = False) -> str:
    if not setup.is_stored and setup.opened.cache is None:
        return f"{what}; nothing of it is stored or cached"
    where = "every answer so far is stored" if setup.is_stored else "every reply so far is cached"
    return f"{what}; {where}. Resume with: {_command(setup, retry=retry)}"


def _command(setup: RunSetup, *, retry: bool = False) -> str:
    """What to type to go on with a run."""
    if not setup.is_grading:
        run_id = cast("RunInfo", setup.info).id
        return resume_command(click.get_current_context(), run_id, retry=retry)
    # The options say which outputs were chosen, so that all of them are needed once more.
    flags = ["--resume"] if setup.is_stored else []
    flags += ["--retry-errors"] if retry else []
    given = click.get_current_context().params
    against = next((name for name in ("no_cache", "refresh") if given.get(name)), None)
    without = f" without --{against.replace('_', '-')}" if setup.is_stored and against else ""
    return f"the same command {' '.join(['with', *flags]) if flags else 'again'}{without}"
