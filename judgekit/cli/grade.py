"""`judgekit grade`: grades existing outputs against a rubric."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

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
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import (
    cache_options,
    calibration_options,
    input_options,
    judge_model_options,
    limit_options,
    max_cost_option,
    talk_options,
)
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import (
    MISSING_INPUT_REMEDY,
    grade_setup,
    note_unused_replies,
    refuse_uncalibrated,
)
from judgekit.cli.signals import Interrupts
from judgekit.errors import SettingsError
from judgekit.evaluation import (
    grade_answers,
    judging_of_judge,
    resolve_calibration,
    summarize_verdicts,
)
from judgekit.models import Budget
from judgekit.report import (
    answers,
    check_export_suffix,
    message,
    numbers,
    run,
    verdict_json,
    write_verdicts,
)
from judgekit.scoring import apply_calibration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.cli.setup import GradeSetup, Options
    from judgekit.evaluation import Graded, GradeSummary, VariantSummary
    from judgekit.records import CalibrationInUse, Rubric


@click.command("grade", cls=HelpCommand)
@input_options
@judge_model_options
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
    help="Exit 1 if the pass rate of a variant is below RATE, 4 if it has none.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Continue an interrupted grading; the cache makes this the default.",
)
@click.option(
    "--retry-errors",
    is_flag=True,
    help="Retry failed questions, including cached replies that cannot be parsed.",
)
@click.option(
    "-x", "--fail-fast", is_flag=True, help="Stop at the first failed output. Exit code 1."
)
@max_cost_option("Stop at this cost; run it again to continue. Exit code 5.")
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost without making any.")
def grade_command(
    *,
    output: Path | None,
    fail_under: float | None,
    max_cost: float | None,
    dry_run: bool,
    **options: object,
) -> None:
    """Grade OUTPUTS against a rubric: a score, a rationale and evidence for each criterion.

    OUTPUTS are JSONL, JSON, CSV or Parquet files. Without them the recorded variants of the
    suite are graded (judgekit.yaml, if there is one).

    Outputs that record an error are listed but excluded from statistics. If every output is an
    error, or if a judge failed, the exit code is 3.

    Examples:
        judgekit grade
        judgekit grade outputs.jsonl --rubric helpfulness --judge openai/gpt-4.1
        judgekit grade outputs.jsonl --cases cases.jsonl -o verdicts.jsonl
    """
    if output is not None:
        check_export_suffix(output)
    _check_resumed(options)
    budget = None if max_cost is None else Budget(max_cost)
    setup = grade_setup({**options, "budget": budget})
    _check_target(output, setup)
    if dry_run:
        from judgekit.cli.plan import show_grade_plan  # noqa: PLC0415 - only for a dry run

        show_grade_plan(setup, options)
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
    use = resolve_calibration(setup.calibration, setup.rubric, judging_of_judge(setup.judge))
    if setup.requires_calibration and use.state != "calibrated":
        setup.judge.close()
        return refuse_uncalibrated(use)

    decided = partial(_decided, rubric=setup.rubric, use=use)

    def ends_at(item: Graded) -> bool:
        return bool(options.get("fail_fast")) and has_failed(decided(item))

    try:
        graded, interrupted = asyncio.run(grade_all(setup, options, ends_at))
    except asyncio.CancelledError:  # the second Ctrl-C
        return note_interruption(setup, options)
    finally:
        setup.judge.close()
    graded = sorted(map(decided, graded), key=lambda item: item.index)
    summary = summarize_verdicts((item.verdict for item in graded), setup.rubric, calibration=use)
    if output is not None:
        write_verdicts(output, [item.verdict for item in graded])
    _show(graded, summary, options)
    if output is not None and not options.get("quiet"):
        console.note(f"wrote {numbers.format_count(len(graded), 'verdict')} to {output}")
    if interrupted:
        return note_interruption(setup, options, len(graded))
    return conclude_grade(graded, summary, setup, options, fail_under=fail_under)


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
        console.note(
            f"{n_unasked} of {numbers.format_count(total, 'output')} without what was "
            "asked: the judge sees "
            f"the output alone; {MISSING_INPUT_REMEDY}"
        )
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    with show_progress(console.stderr(), total, shown=shown) as display, Interrupts(interrupt):
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
                "summary": _json_ready(asdict(summary)),
                "verdicts": [verdict_json(item.verdict) for item in graded],
            }
        )
        return
    console = streams.stdout()
    if options.get("verbose"):
        answers.print_verdicts(console, graded)
    elif not options.get("quiet"):
        answers.print_worst_verdicts(console, graded)
    run.print_grade_summary(console, summary)


def _json_ready(value: object) -> object:
    """The value with every nan as None, so that it is JSON."""
    if isinstance(value, dict):
        return {key: _json_ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_ready(item) for item in value]
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - nan


_WITHHELD = frozenset({"frozen_miss", "budget"})

_SAME_AGAIN = "run the same command again"


def has_failed(item: Graded) -> bool:
    """Whether an output is an error or does not pass; one that is undecided has not failed."""
    return item.output.error is not None or item.verdict.passed is False


def note_interruption(setup: GradeSetup, options: Options, n_graded: int | None = None) -> int:
    """Say that the user broke a grading off, and how to go on."""
    what = "stopped at once"
    if n_graded is not None:
        what = (
            f"interrupted after {n_graded:,} of {numbers.format_count(setup.counts()[0], 'output')}"
        )
    console.note(f"{what}; {_to_go_on(setup, options)}")
    return EXIT_INTERRUPTED


def conclude_grade(
    graded: Sequence[Graded],
    summary: GradeSummary,
    setup: GradeSetup,
    options: Options,
    *,
    fail_under: float | None,
) -> int:
    """Say how a grading ended and what to do about it."""
    first = next(filter(has_failed, graded), None) if options.get("fail_fast") else None
    if first is None:
        note_unused_replies([setup.judge])
    if first is not None and not summary.failures.keys() & _WITHHELD:
        return _stopped(first, len(graded), setup, options)
    if not summary.complete:
        return _incomplete(summary, setup, options)
    if fail_under is not None:
        return _under(summary.variants, fail_under)
    if all(variant.n_errors == variant.n for variant in summary.variants):
        each = "the only output" if len(graded) == 1 else f"each of {len(graded):,} outputs"
        console.note(f"nothing was decided: {each} is an error of its variant")
        return EXIT_INCOMPLETE
    return 0


def _to_go_on(setup: GradeSetup, options: Options) -> str:
    if setup.judge.connection.cache is None:
        return f"{_SAME_AGAIN} to go on: from the beginning"
    without = " without --refresh" if options.get("refresh") else ""
    return f"{_SAME_AGAIN}{without} to go on: nothing that was answered is asked twice"


def _stopped(first: Graded, n_graded: int, setup: GradeSetup, options: Options) -> int:
    variant, case = first.verdict.variant, message.printable(first.case.id)
    who = f"case {case}" if variant is None else f"{message.printable(variant)}, case {case}"
    n_left = setup.counts()[0] - n_graded
    rest = f"; {n_left:,} not graded; without -x, {_to_go_on(setup, options)}" if n_left else ""
    console.note(f"stopped: an output did not pass: {who}{rest}")
    return EXIT_QUALITY


def _incomplete(summary: GradeSummary, setup: GradeSetup, options: Options) -> int:
    """How what failed is asked again, where that can help: what cannot be assessed is an answer."""
    if summary.failures.get("frozen_miss"):
        return EXIT_FROZEN
    if summary.failures.get("budget"):
        console.note(f"--max-cost is reached; {_to_go_on(setup, options)}")
        return EXIT_LIMIT
    if summary.failures.keys() == {"cannot_assess"}:
        console.note(message.NOT_ASSESSED)
    elif setup.judge.connection.cache is not None and "retry_errors" in options:
        again = "" if options.get("retry_errors") else " with --retry-errors"
        console.note(f"ask again what failed: {_SAME_AGAIN}{again}; nothing else is asked twice")
    return EXIT_INCOMPLETE


def _under(variants: Sequence[VariantSummary], fail_under: float) -> int:
    low = [v for v in variants if v.pass_rate.value < fail_under]
    for one in low:
        found = numbers.format_rate(one.pass_rate)
        console.note(f"{_name(one)}: pass rate {found} is below --fail-under {fail_under:g}")
    unknown = [v for v in variants if not v.n_passed + v.n_failed]
    for one in unknown:
        console.note(f"{_name(one)}: no output was judged, so that --fail-under cannot be decided")
    for one in variants:
        if one.n_errors and one.pass_rate_bounds[0] < fail_under <= one.pass_rate.value:
            n, least = numbers.format_count(one.n_errors, "error"), one.pass_rate_bounds[0]
            console.note(
                f"{_name(one)}: {n} of its own left out; counted as not passed, the pass rate "
                f"would be {least * 100:.0f} %, below --fail-under {fail_under:g}"
            )
    return EXIT_QUALITY if low else EXIT_INCONCLUSIVE if unknown else 0


def _name(variant: VariantSummary) -> str:
    return message.printable(variant.variant) or "all"
