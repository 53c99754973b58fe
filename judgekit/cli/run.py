"""`judgekit run`: evaluates a suite, or each suite of a folder.

Into a stored run that can be resumed.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console
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
    store_option,
    talk_options,
    target_options,
)
from judgekit.cli.outputs import OutputFiles, export_outputs, output_option
from judgekit.cli.run_job import carry_out
from judgekit.cli.suite_setup import run_setup, suite_paths
from judgekit.errors import InputError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.cli.setup import Options


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
@output_option(
    "Write every answer to FILE: .jsonl, .json, .csv or .parquet; or the report: .html or .md."
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit 1 if the pass rate of a variant is below RATE, 4 if it has none.",
)
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost without making any.")
def run_command(
    *, suite: Path | None, output: tuple[Path, ...], fail_under: float | None, **options: object
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
    files = export_outputs(output, what="a run")
    paths = suite_paths(suite, options)
    if len(paths) > 1:
        _refuse_for_several(paths, options, files)
        sys.exit(run_datasets(paths, options, lambda path, given: _next(path, given, fail_under)))
    sys.exit(_one(paths[0], options, files, fail_under).code)


def _refuse_for_several(paths: Sequence[Path], options: Options, files: OutputFiles) -> None:
    given = "--output" if files.all else "--resume" if options.get("resume") else None
    if given is not None:
        names = ", ".join(path.name for path in paths[:3])
        raise SettingsError(
            f"{given} is for one dataset, and there are {len(paths)}", hint=f"name one: {names}, …"
        )


def _next(path: Path, options: Options, fail_under: float | None) -> DatasetEnd:
    """Run one of several datasets, which is what is to be named to go on with it."""
    click.get_current_context().params["suite"] = path
    return _one(path, options, OutputFiles(), fail_under)


def _one(path: Path, options: Options, files: OutputFiles, fail_under: float | None) -> DatasetEnd:
    setup = run_setup(path, options)
    if options["dry_run"]:
        from judgekit.cli.plan import show_suite_plan  # noqa: PLC0415 - only for a dry run

        return DatasetEnd(show_suite_plan(setup, options, files))
    with closing(setup):
        code = carry_out(setup, options, files=files, fail_under=fail_under)
    # A dataset's own failing fast ends its run, not those of the others.
    is_own = setup.session.reason == "fail_fast" and not options.get("fail_fast")
    return DatasetEnd(
        code,
        is_stopped=(setup.session.reason is not None and not is_own) or code == EXIT_INTERRUPTED,
        spent_usd=0.0 if setup.opened.budget is None else setup.opened.budget.spent_usd,
    )


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


@dataclass(frozen=True, slots=True)
class DatasetEnd:
    """What one sitting came to."""

    code: int
    """Its exit code."""

    is_stopped: bool = False
    """Whether it ended before everything was asked, so that no other is begun."""

    spent_usd: float = 0.0
    """What it cost, where money is limited, in US dollars."""
