"""`judgekit grade`: existing outputs against a rubric."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console as streams
from judgekit.cli.display import progress
from judgekit.cli.interrupts import Interrupts
from judgekit.cli.options import (
    cache_options,
    calibration_options,
    input_options,
    judge_options,
    limit_options,
    max_cost_option,
    talk_options,
)
from judgekit.cli.running.grade_outcome import broken_off, has_failed, outcome
from judgekit.cli.running.run_outcome import told_uncalibrated
from judgekit.cli.running.unasked import REMEDY
from judgekit.cli.setup import grade_setup
from judgekit.errors import SettingsError
from judgekit.evaluation.figures.summary import summarize
from judgekit.evaluation.grading import grade_answers
from judgekit.evaluation.preparing.asked import asked_by
from judgekit.evaluation.preparing.calibrated import calibration_in_use
from judgekit.models.budget import Budget
from judgekit.report import terminal, view
from judgekit.report.exports import check_suffix, verdict_json, write_verdicts
from judgekit.verdicts.calibrating import apply_calibration

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.cli.setup import GradeSetup, Options
    from judgekit.evaluation.figures.summary import GradeSummary
    from judgekit.evaluation.grading import Graded
    from judgekit.records.calibration_map import CalibrationInUse
    from judgekit.records.rubric import Rubric


@click.command()
@input_options
@judge_options
@calibration_options
@limit_options
@cache_options
@talk_options
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the verdicts to FILE: .jsonl, .json, .csv or .parquet.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit 1 when the pass rate of a variant is below RATE (0 to 1), 4 when it has none.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Go on where a grading ended; so does the same command without it, by the cache.",
)
@click.option(
    "--retry-errors",
    is_flag=True,
    help="Ask again what failed, also where the cache holds a reply that nobody can read.",
)
@click.option(
    "-x", "--fail-fast", is_flag=True, help="Stop at the first output that fails. Exit code 1."
)
@max_cost_option("Never spend more than this; run it again to go on. Exit code 5.")
@click.option("--dry-run", is_flag=True, help="Only say what would be asked and what it costs.")
def grade(
    *,
    output: Path | None,
    fail_under: float | None,
    max_cost: float | None,
    dry_run: bool,
    **options: object,
) -> None:
    """Grade OUTPUTS against a rubric: per criterion a score, a rationale, evidence, a confidence."""
    # OUTPUTS are JSONL, JSON, CSV or Parquet files with a row for each output: case_id, text (or
    # data), variant. Give the tasks they answer with --cases, or as columns input and reference;
    # without them the judge sees the outputs alone. Without OUTPUTS, the suite file judgekit.yaml
    # says what is graded. Of several files, each whose rows name no variant is a variant of its
    # own, named after the file.
    # Every reply that was paid for is kept in the cache: run the same command again and nothing is
    # asked twice. An output that is an error of what made it is shown, and in no figure; where all
    # are, nothing was decided: exit code 3, as where a judge failed.
    if output is not None:
        check_suffix(output)
    _check_resumed(options)
    budget = None if max_cost is None else Budget(max_cost)
    setup = grade_setup({**options, "budget": budget})
    _check_target(output, setup)
    if dry_run:
        from judgekit.cli.running.plan import show_plan  # noqa: PLC0415 - only for a dry run

        show_plan(setup, as_json=bool(options["as_json"]))
        return
    sys.exit(run_grading(setup, options, output=output, fail_under=fail_under))


def run_grading(
    setup: GradeSetup,
    options: Options,
    *,
    output: Path | None = None,
    fail_under: float | None = None,
) -> int:
    """Grade, then show and write what came of it."""
    use = calibration_in_use(setup.calibration, setup.rubric, asked_by(setup.judge))
    if setup.requires_calibration and use.state != "calibrated":
        setup.judge.close()
        return told_uncalibrated(use)

    decided = partial(_decided, rubric=setup.rubric, use=use)

    def ends_at(item: Graded) -> bool:
        return bool(options.get("fail_fast")) and has_failed(decided(item))

    try:
        graded, interrupted = asyncio.run(grade_all(setup, options, ends_at))
    except asyncio.CancelledError:  # the second Ctrl-C
        return broken_off(setup, options)
    finally:
        setup.judge.close()
    graded = sorted(map(decided, graded), key=lambda item: item.index)
    summary = summarize((item.verdict for item in graded), setup.rubric, calibration=use)
    if output is not None:
        write_verdicts(output, [item.verdict for item in graded])
    _show(graded, summary, options)
    if output is not None and not options.get("quiet"):
        streams.note(f"wrote {view.count(len(graded), 'verdict')} to {output}")
    if interrupted:
        return broken_off(setup, options, len(graded))
    return outcome(graded, summary, setup, options, fail_under=fail_under)


def _decided(item: Graded, *, rubric: Rubric, use: CalibrationInUse) -> Graded:
    """A result by the calibration, where one is in use."""
    if not use.applied:
        return item
    return replace(item, verdict=apply_calibration(item.verdict, rubric, use))


def _check_resumed(options: Options) -> None:
    """What a grading goes on from is the cache; without it there is nothing to go on from."""
    against = next((name for name in ("no_cache", "refresh") if options.get(name)), None)
    if options.get("resume") and against is not None:
        raise SettingsError(
            f"--resume and --{against.replace('_', '-')} contradict each other",
            hint="what was answered before is in the cache: leave one of them out",
        )


def _check_target(output: Path | None, setup: GradeSetup) -> None:
    """Outputs are never altered, also not by a slip of the hand."""
    sources = {source.path.resolve() for source in setup.sources}
    if output is not None and output.resolve() in sources:
        raise SettingsError(
            f"--output would overwrite {output}, which is graded", hint="choose another file"
        )


async def grade_all(
    setup: GradeSetup, options: Options, ends_at: Callable[[Graded], bool] | None = None
) -> tuple[list[Graded], bool]:
    """Grade everything, with progress on stderr; Ctrl-C ends it cleanly."""
    stop, interrupted = asyncio.Event(), asyncio.Event()
    graded: list[Graded] = []

    def interrupt() -> None:
        interrupted.set()
        stop.set()

    total, n_unasked = setup.counts()
    if n_unasked:
        streams.note(
            f"{n_unasked} of {view.count(total, 'output')} without what was asked: the judge sees "
            f"the output alone; {REMEDY}"
        )
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    with progress(streams.stderr(), total, shown=shown) as display, Interrupts(interrupt):
        in_flight = _in_flight(setup, options)
        async with setup.judge:
            async for item in grade_answers(
                setup.judge, setup.answers(), setup.rubric, in_flight=in_flight, stop=stop
            ):
                graded.append(item)
                display.advance([*item.verdict.judgments, *item.verdict.failures])
                if ends_at is not None and ends_at(item):
                    stop.set()
    return graded, interrupted.is_set()


def _in_flight(setup: GradeSetup, options: Options) -> int:
    """Enough outputs at a time to keep every slot busy; no more where the first may end it."""
    n = setup.judge.connection.max_concurrency
    return n if options.get("fail_fast") else max(4, n)


def _show(graded: list[Graded], summary: GradeSummary, options: Options) -> None:
    if options.get("as_json"):
        streams.print_json(
            {
                "summary": json_ready(asdict(summary)),
                "verdicts": [verdict_json(item.verdict) for item in graded],
            }
        )
        return
    console = streams.stdout()
    if options.get("verbose"):
        terminal.print_verdicts(console, graded)
    elif not options.get("quiet"):
        terminal.print_weakest(console, graded)
    terminal.print_summary(console, summary)


def json_ready(value: object) -> object:
    """The value with every nan as None, so that it is JSON."""
    if isinstance(value, dict):
        return {key: json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - nan
