"""`judgekit run`: evaluates a suite, or each suite of a folder.

Into a stored run that can be resumed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console, console as streams
from judgekit.cli.exit_codes import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INPUT,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_QUALITY,
)
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import (
    cache_options,
    calibration_options,
    choice_options,
    judge_model_options,
    limit_options,
    max_cost_option,
    resume_command,
    store_option,
    talk_options,
    target_options,
)
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import refuse_uncalibrated
from judgekit.cli.signals import Interrupts
from judgekit.cli.suite_setup import run_setup, suite_paths
from judgekit.errors import InputError, SettingsError
from judgekit.evaluation import (
    Run,
    calibration_of_run,
    calibration_of_suite,
    meets_calibration_gate,
    prepare_run,
    run_suite,
)
from judgekit.report import (
    WorstAnswers,
    answer_lines,
    check_export_suffix,
    message,
    numbers,
    print_run,
    run_json,
    undecided_reason,
    write_results,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.cli.progress import ProgressReporter
    from judgekit.cli.setup import Options
    from judgekit.cli.suite_setup import RunSetup
    from judgekit.evaluation import GateResult, OpenSuite, RunStopReason, RunSummary, Session
    from judgekit.records import CaseResult, RunInfo


@click.command("run", cls=HelpCommand)
@click.argument("suite", required=False, type=click.Path(path_type=Path, exists=True))
@choice_options
@target_options
@click.option(
    "--rubric",
    metavar="FILE|NAME",
    envvar="JUDGEKIT_RUBRIC",
    help="Rubric of cases that have none: a file, or the name of a shipped rubric.",
)
@judge_model_options
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
    help="Resume a run of this suite: its id, the beginning of it, or the latest.",
)
@click.option("--retry-errors", is_flag=True, help="With --resume: retry what failed.")
@click.option("-x", "--fail-fast", is_flag=True, help="Stop at the first failed answer.")
@max_cost_option("Stop at this cost; --resume continues. Exit code 5.")
@click.option(
    "--max-time",
    type=click.FloatRange(0, min_open=True),
    envvar="JUDGEKIT_MAX_TIME",
    metavar="SECONDS",
    help="Start no new case after this time; --resume continues. Exit code 5.",
)
@click.option("--allow-scripts", is_flag=True, help="Allow the setup and the scripts of the suite.")
@click.option("--notes", help="Notes to store with the run.")
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
    help="Exit 1 if the pass rate of a variant is below RATE, 4 if it has none.",
)
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost without making any.")
def run_command(
    *, suite: Path | None, output: Path | None, fail_under: float | None, **options: object
) -> None:
    """Run SUITE: every variant answers every case, and each answer is checked, judged and stored.

    SUITE is a suite file (default: judgekit.yaml), the folder or zip file of a skill with
    eval/tests.json, any other file of cases, or a folder; of a folder, every suite and every other
    dataset is run. A suite without variants needs --outputs or one of the --target options. Cases
    without a rubric are judged by --rubric, else by the rubric of their profile, else against
    their reference.

    Every answer is stored as soon as it arrives, and every reply is cached. If the run is
    interrupted, continue it with --resume.

    Examples:
        judgekit run
        judgekit run suite.yaml --max-cost 2 --fail-under 0.8
        judgekit run --resume --retry-errors
    """
    if output is not None:
        check_export_suffix(output)
    paths = suite_paths(suite, options)
    if len(paths) > 1:
        _refuse_for_several(paths, options, output)
        sys.exit(run_datasets(paths, options, lambda path, given: _next(path, given, fail_under)))
    sys.exit(_one(paths[0], options, output, fail_under).code)


def _refuse_for_several(paths: Sequence[Path], options: Options, output: Path | None) -> None:
    given = "--output" if output is not None else "--resume" if options.get("resume") else None
    if given is not None:
        names = ", ".join(path.name for path in paths[:3])
        raise SettingsError(
            f"{given} is for one dataset, and there are {len(paths)}", hint=f"name one: {names}, …"
        )


def _next(path: Path, options: Options, fail_under: float | None) -> DatasetEnd:
    """Run one of several datasets, which is what is to be named to go on with it."""
    click.get_current_context().params["suite"] = path
    return _one(path, options, None, fail_under)


def _one(path: Path, options: Options, output: Path | None, fail_under: float | None) -> DatasetEnd:
    setup = run_setup(path, options)
    if options["dry_run"]:
        from judgekit.cli.plan import show_suite_plan  # noqa: PLC0415 - only for a dry run

        return DatasetEnd(show_suite_plan(setup, options))
    with closing(setup.store):
        code = _run(setup, options, output=output, fail_under=fail_under)
    # A dataset's own failing fast ends its run, not those of the others.
    is_own = setup.session.reason == "fail_fast" and not options.get("fail_fast")
    return DatasetEnd(
        code,
        is_stopped=(setup.session.reason is not None and not is_own) or code == EXIT_INTERRUPTED,
        spent_usd=0.0 if setup.opened.budget is None else setup.opened.budget.spent_usd,
    )


def _run(
    setup: RunSetup, options: Options, *, output: Path | None, fail_under: float | None
) -> int:
    info = setup.info = prepare_run(
        setup.opened, setup.store, setup.begun, now=setup.session.now(), notes=setup.notes
    )
    if setup.begun is not None:
        note_stored_calibration(info, setup.opened)
    if not meets_calibration_gate(setup.opened.suite.gate, info):
        asyncio.run(setup.opened.aclose())
        return refuse_uncalibrated(calibration_of_run(info))
    try:
        ended = asyncio.run(_all(setup, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        return note_hard_stop(info.id)
    held = Run(ended, setup.store)
    summary, gate = _shown(held, setup, options)
    if output is not None:
        n = write_results(output, held.results())
        console.note(f"wrote {numbers.format_count(n, 'answer')} to {output}")
    return conclude_run(setup.session, summary, gate, fail_under)


async def _all(setup: RunSetup, options: Options) -> RunInfo:
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    info = cast("RunInfo", setup.info)
    try:
        with (
            show_progress(
                console.stderr(), setup.total(), shown=shown, verb=("running", "done")
            ) as bar,
            Interrupts(lambda: setup.session.end("interrupted")),
        ):
            setup.session.watch = lambda result: _advance(bar, result, setup.opened)
            setup.session.note = lambda text: console.note(message.message_lines(text))
            return await run_suite(
                setup.opened, setup.store, info, setup.session, resumed=setup.begun is not None
            )
    finally:
        await setup.opened.aclose()


def _advance(bar: ProgressReporter, result: CaseResult, opened: OpenSuite) -> None:
    usage = result.output.usage
    is_paid = usage is not None and not opened.is_owned(result.variant, result.output)
    own_usd = (usage.cost_usd or 0.0) if usage is not None and is_paid else 0.0
    bar.advance(
        [*result.judgments, *result.failures],
        target_usd=own_usd + fsum(asked.cost_usd or 0.0 for asked in result.asked),
        is_error=result.output.error is not None,
    )


def _shown(held: Run, setup: RunSetup, options: Options) -> tuple[RunSummary, GateResult | None]:
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
        weakest = WorstAnswers()
        summary = held.summary(watch=weakest.take)
        if not options.get("quiet"):
            weakest.show(console)
    gate = held.gate(summary)
    print_run(console, summary, gate)
    return summary, gate


_WORST_FIRST = (
    EXIT_INTERRUPTED, EXIT_INPUT, EXIT_LIMIT, EXIT_FROZEN, EXIT_INCOMPLETE, EXIT_QUALITY,
    EXIT_INCONCLUSIVE, 0,
)  # fmt: skip
"""Exit codes, from what leaves most unknown to what is known to be well."""


def run_datasets(
    paths: Sequence[Path], options: Options, run: Callable[[Path, Options], DatasetEnd]
) -> int:
    """Run several datasets in turn, within the money and time that all of them may take."""
    # One that cannot be run as it is does not keep the others from it; one that was stopped does.
    left = {name: options.get(name) for name in ("max_cost", "max_time")}
    codes = []
    for number, path in enumerate(paths, 1):
        console.note(f"dataset {number} of {len(paths)}: {path}")
        began = time.monotonic()
        try:
            sat = run(path, {**options, **left})
        except InputError as error:
            console.note(f"error: {error}")
            codes.append(EXIT_INPUT)
            continue
        codes.append(sat.code)
        used = {"max_cost": sat.spent_usd, "max_time": time.monotonic() - began}
        left = {name: _rest(limit, used[name]) for name, limit in left.items()}
        if sat.is_stopped or 0 in left.values():
            if number < len(paths):
                console.note(f"not begun: {', '.join(map(str, paths[number:]))}")
                codes.append(sat.code or EXIT_LIMIT)
            break
    return min(codes, key=_WORST_FIRST.index)


def _rest(limit: object, used: float) -> float | None:
    return max(0.0, limit - used) if isinstance(limit, int | float) else None


_STOP_EXIT_CODES: dict[RunStopReason, int] = {
    "interrupted": EXIT_INTERRUPTED,
    "budget": EXIT_LIMIT,
    "time": EXIT_LIMIT,
    "fail_fast": EXIT_QUALITY,
    "model": EXIT_INCOMPLETE,
}
"""The exit code for each reason to end before everything was asked."""


def conclude_run(
    session: Session, summary: RunSummary, gate: GateResult | None, fail_under: float | None
) -> int:
    """Say how a run ended and what to do about it."""
    run = summary.run
    if session.reason is not None:
        what = "interrupted" if session.reason == "interrupted" else f"stopped: {session.words()}"
        console.note(_go_on(what, run.id, retry=session.reason == "model"))
        return _STOP_EXIT_CODES[session.reason]
    if session.n_missed:
        console.note("some replies are not in the frozen cache; nothing was asked for them")
        console.note(f"ask for them: {_command(run.id)}")
        return EXIT_FROZEN
    if run.status == "incomplete":
        if summary.is_blank:
            console.note(undecided_reason(summary))
        console.note(_to_complete(summary))
        return EXIT_INCOMPLETE
    if summary.is_blank and run.status != "waiting":
        return _blank(summary)
    return _quality(summary, gate, fail_under)


def note_stored_calibration(run: RunInfo, opened: OpenSuite) -> None:
    """Say where a run that is gone on with keeps another calibration than the suite has now."""
    then, now = calibration_of_run(run), calibration_of_suite(opened)
    if then.words != now.words:
        console.note(f"the run keeps what it was begun with: {message.printable(then.words)}")


def note_hard_stop(run_id: str) -> int:
    """Say that a run was left in the middle of its answers."""
    console.note(_go_on("stopped at once", run_id))
    return EXIT_INTERRUPTED


def _to_complete(summary: RunSummary) -> str:
    n_errors = sum(variant.n_errors for variant in summary.variants)
    if summary.failures.keys() == {"cannot_assess"} and not n_errors:
        return message.NOT_ASSESSED
    return f"ask again what failed: {_command(summary.run.id, retry=True)}"


def _blank(summary: RunSummary) -> int:
    """Nobody failed to judge, and yet nothing is known: no result may look like a good one."""
    console.note(undecided_reason(summary))
    if any(variant.n_errors or variant.assertions for variant in summary.variants):
        console.note(f"ask again what failed: {_command(summary.run.id, retry=True)}")
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


def _go_on(what: str, run_id: str, *, retry: bool = False) -> str:
    return f"{what}; everything is kept. Go on with: {_command(run_id, retry=retry)}"


def _command(run_id: str, *, retry: bool = False) -> str:
    return resume_command(click.get_current_context(), run_id, retry=retry)


@dataclass(frozen=True, slots=True)
class DatasetEnd:
    """What one sitting came to."""

    code: int
    """Its exit code."""

    is_stopped: bool = False
    """Whether it ended before everything was asked, so that no other is begun."""

    spent_usd: float = 0.0
    """What it cost, where money is limited, in US dollars."""
