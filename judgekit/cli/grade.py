"""`judgekit grade`: runs recorded outputs, with the suite's assertions, scorers and gate."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from judgekit.cli.help import HelpCommand
from judgekit.cli.options import (
    cache_options,
    calibration_options,
    input_options,
    judge_model_options,
    limit_options,
    max_cost_option,
    store_option,
    talk_options,
)
from judgekit.cli.outputs import OutputFiles, export_outputs, output_option
from judgekit.cli.run_job import carry_out
from judgekit.cli.setup import configured_suite, grade_setup, output_sources
from judgekit.cli.suite_setup import grade_run_setup
from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.cli.setup import Options


@click.command("grade", cls=HelpCommand)
@input_options
@judge_model_options
@calibration_options
@limit_options
@cache_options
@store_option
@click.option(
    "--no-store",
    is_flag=True,
    envvar="JUDGEKIT_NO_STORE",
    help="Do not store the run: no later show, trend, baseline or --resume.",
)
@talk_options
@output_option(
    "Write the verdicts to FILE: .jsonl, .json, .csv or .parquet; or the report: .html or .md."
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
    help="Resume the stored run of the same outputs; without one, cached replies are used.",
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
    *, output: tuple[Path, ...], fail_under: float | None, dry_run: bool, **options: object
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
    files = export_outputs(output, what="a grading")
    _check_resumed(options)
    _check_target(files, options)
    if dry_run:
        show_dry_run(options)
        return
    sys.exit(run_grading(options, files=files, fail_under=fail_under))


def run_grading(
    options: Options, *, files: OutputFiles | None = None, fail_under: float | None = None
) -> int:
    """Grade, show and write what was found; the exit code."""
    with closing(grade_run_setup(options)) as setup:
        return carry_out(setup, options, files=files or OutputFiles(), fail_under=fail_under)


def show_dry_run(options: Options) -> None:
    """Print what a grading would ask and cost."""
    from judgekit.cli.plan import show_grade_plan  # noqa: PLC0415 - only for a dry run

    show_grade_plan(grade_setup(options), options)


def _check_resumed(options: Options) -> None:
    """Refuse options that would ask again for what --resume is to keep."""
    against = next((name for name in ("no_cache", "refresh") if options.get(name)), None)
    if options.get("resume") and against is not None:
        raise SettingsError(
            f"--resume and --{against.replace('_', '-')} contradict each other",
            hint="what was answered before is in the cache: leave one of them out",
        )


def _check_target(files: OutputFiles, options: Options) -> None:
    """Refuse to write over a file that is graded."""
    if not files.all:
        return
    sources = output_sources(options, configured_suite(options))
    graded = {source.path.resolve() for source in sources}
    for path in files.all:
        if path.resolve() in graded:
            raise SettingsError(
                f"--output would overwrite {path}, which is graded", hint="choose another file"
            )
