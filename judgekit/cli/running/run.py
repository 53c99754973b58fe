"""`judgekit run`: a suite from its cases to a stored run, resumable."""

from __future__ import annotations

import asyncio
import sys
from contextlib import closing
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console as streams
from judgekit.cli.display import progress
from judgekit.cli.interrupts import Interrupts
from judgekit.cli.main import EXIT_INTERRUPTED
from judgekit.cli.options import (
    cache_options,
    calibration_options,
    choice_options,
    judge_options,
    limit_options,
    max_cost_option,
    store_option,
    talk_options,
    target_options,
)
from judgekit.cli.running.named_suites import suite_paths
from judgekit.cli.running.run_outcome import outcome, stopped_at_once, tell_kept, told_uncalibrated
from judgekit.cli.running.sitting import Sat
from judgekit.cli.running.suite_setup import run_setup
from judgekit.errors import SettingsError
from judgekit.evaluation.preparing.calibrated import calibration_of, is_met
from judgekit.evaluation.run import Run
from judgekit.evaluation.running.resuming import next_run
from judgekit.evaluation.running.runner import run_suite
from judgekit.report import view
from judgekit.report.exports import check_suffix
from judgekit.report.run_exports import write_results
from judgekit.report.run_terminal import Weakest, answer_lines, print_run, run_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.cli.display import Progress
    from judgekit.cli.running.suite_setup import RunSetup
    from judgekit.cli.setup import Options
    from judgekit.evaluation.figures.run_figures import RunSummary
    from judgekit.evaluation.gating import GateHeld
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.records.run import CaseResult, RunInfo


@click.command()
@click.argument("suite", required=False, type=click.Path(path_type=Path, exists=True))
@choice_options
@target_options
@click.option(
    "--rubric",
    metavar="FILE|NAME",
    envvar="JUDGEKIT_RUBRIC",
    help="Rubric of cases without one of their own: a file, or a shipped one.",
)
@judge_options
@calibration_options
@limit_options
@cache_options
@store_option
@talk_options
@click.option(
    "--resume",
    metavar="[RUN]",
    is_flag=False,
    flag_value="latest",
    help="Go on with a run of this suite: its id, the beginning of it, or the latest.",
)
@click.option("--retry-errors", is_flag=True, help="With --resume: ask again what failed.")
@click.option("-x", "--fail-fast", is_flag=True, help="Stop at the first answer that fails.")
@max_cost_option("Never spend more than this; what is left can be resumed. Exit code 5.")
@click.option(
    "--max-time",
    type=click.FloatRange(0, min_open=True),
    envvar="JUDGEKIT_MAX_TIME",
    metavar="SECONDS",
    help="Begin nothing after this time; what is left can be resumed. Exit code 5.",
)
@click.option("--allow-scripts", is_flag=True, help="Let the suite run its setup and scripts.")
@click.option("--notes", help="Whatever should be remembered with the run.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every answer to FILE: .jsonl, .json, .csv or .parquet.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit 1 when the pass rate of a variant is below RATE (0 to 1), 4 when it has none.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be asked and what it costs.")
def run(
    *, suite: Path | None, output: Path | None, fail_under: float | None, **options: object
) -> None:
    """Run SUITE: every case by every variant, checked, judged and kept as it goes."""
    # SUITE is a suite file (judgekit.yaml, where there is one), a skill's folder or zip with
    # eval/tests.json, any other file of cases, or a folder, of which every suite and every other
    # dataset is run in turn. A suite that names no variants is run with --outputs or one of the
    # --target options; cases that name no rubric are judged by --rubric, else by the profile's,
    # else against their reference.
    # Everything observed is committed to the store as it arrives, and every reply that was paid for
    # to the cache: interrupt it, kill it, and go on with --resume.
    if output is not None:
        check_suffix(output)
    paths = suite_paths(suite, options)
    if len(paths) > 1:
        from judgekit.cli.running.run_each import run_each  # noqa: PLC0415 - only for folders

        _refuse_for_several(paths, options, output)
        sys.exit(run_each(paths, options, lambda path, given: _next(path, given, fail_under)))
    sys.exit(_one(paths[0], options, output, fail_under).code)


def _refuse_for_several(paths: Sequence[Path], options: Options, output: Path | None) -> None:
    given = "--output" if output is not None else "--resume" if options.get("resume") else None
    if given is not None:
        names = ", ".join(path.name for path in paths[:3])
        raise SettingsError(
            f"{given} is for one dataset, and there are {len(paths)}", hint=f"name one: {names}, …"
        )


def _next(path: Path, options: Options, fail_under: float | None) -> Sat:
    """Run one of several datasets, which is what is to be named to go on with it."""
    click.get_current_context().params["suite"] = path
    return _one(path, options, None, fail_under)


def _one(path: Path, options: Options, output: Path | None, fail_under: float | None) -> Sat:
    setup = run_setup(path, options)
    if options["dry_run"]:
        from judgekit.cli.running.plan import show_suite_plan  # noqa: PLC0415 - only for a dry run

        return Sat(show_suite_plan(setup, as_json=bool(options["as_json"])))
    with closing(setup.store):
        code = _run(setup, options, output=output, fail_under=fail_under)
    # A dataset's own failing fast ends its run, not those of the others.
    is_own = setup.session.reason == "fail_fast" and not options.get("fail_fast")
    return Sat(
        code,
        is_stopped=(setup.session.reason is not None and not is_own) or code == EXIT_INTERRUPTED,
        spent_usd=0.0 if setup.opened.budget is None else setup.opened.budget.spent_usd,
    )


def _run(
    setup: RunSetup, options: Options, *, output: Path | None, fail_under: float | None
) -> int:
    info = setup.info = next_run(
        setup.opened, setup.store, setup.begun, now=setup.session.now(), notes=setup.notes
    )
    if setup.begun is not None:
        tell_kept(info, setup.opened)
    if not is_met(setup.opened.suite.gate, info):
        asyncio.run(setup.opened.aclose())
        return told_uncalibrated(calibration_of(info))
    try:
        ended = asyncio.run(_all(setup, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        return stopped_at_once(info.id)
    held = Run(ended, setup.store)
    summary, gate = _shown(held, setup, options)
    if output is not None:
        n = write_results(output, held.results())
        streams.note(f"wrote {view.count(n, 'answer')} to {output}")
    return outcome(setup.session, summary, gate, fail_under)


async def _all(setup: RunSetup, options: Options) -> RunInfo:
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    info = cast("RunInfo", setup.info)
    try:
        with (
            progress(streams.stderr(), setup.total(), shown=shown, verb=("running", "done")) as bar,
            Interrupts(lambda: setup.session.end("interrupted")),
        ):
            setup.session.watch = lambda result: _advance(bar, result, setup.opened)
            setup.session.note = lambda text: streams.note(view.message_lines(text))
            return await run_suite(
                setup.opened, setup.store, info, setup.session, resumed=setup.begun is not None
            )
    finally:
        await setup.opened.aclose()


def _advance(bar: Progress, result: CaseResult, opened: OpenSuite) -> None:
    usage = result.output.usage
    is_paid = usage is not None and not opened.is_owned(result.variant, result.output)
    own_usd = (usage.cost_usd or 0.0) if usage is not None and is_paid else 0.0
    bar.advance(
        [*result.judgments, *result.failures],
        target_usd=own_usd + fsum(asked.cost_usd or 0.0 for asked in result.asked),
        is_error=result.output.error is not None,
    )


def _shown(held: Run, setup: RunSetup, options: Options) -> tuple[RunSummary, GateHeld | None]:
    """The run's figures and its gate, printed; what it was made of is read once for all of it."""
    if options.get("as_json"):
        summary = held.summary()
        gate = held.gate(summary)
        unmatched = {name: list(ids) for name, ids in setup.opened.unmatched.items()}
        streams.print_json(run_json(summary, gate, unmatched=unmatched))
        return summary, gate
    console = streams.stdout()
    if options.get("verbose"):
        summary = held.summary(watch=lambda answer: console.print(answer_lines(answer)))
    else:
        weakest = Weakest()
        summary = held.summary(watch=weakest.take)
        if not options.get("quiet"):
            weakest.show(console)
    gate = held.gate(summary)
    print_run(console, summary, gate)
    return summary, gate
