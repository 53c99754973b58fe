"""`judgekit grade`: runs recorded outputs, with the suite's assertions, scorers and gate."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

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
from judgekit.cli.run_job import carry_out
from judgekit.cli.setup import configured_suite, grade_setup, output_sources
from judgekit.cli.suite_setup import grade_run_setup
from judgekit.errors import SettingsError
from judgekit.report import check_export_suffix

if TYPE_CHECKING:
    from judgekit.cli.setup import Options


@click.command("grade")
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
    help="Resume the stored run of the same outputs; without one, cached replies are used.",
)
@click.option(
    "--retry-errors",
    is_flag=True,
    help="Ask again what failed, also where the cache holds an unparseable reply.",
)
@click.option(
    "-x", "--fail-fast", is_flag=True, help="Stop at the first output that fails. Exit code 1."
)
@max_cost_option("Never spend more than this; --resume continues. Exit code 5.")
@click.option("--dry-run", is_flag=True, help="Only say what would be asked and what it costs.")
def grade_command(
    *, output: Path | None, fail_under: float | None, dry_run: bool, **options: object
) -> None:
    """Grade OUTPUTS against a rubric: per criterion a score, a rationale, evidence.

    A confidence.
    """
    # OUTPUTS are JSONL, JSON, CSV or Parquet files with a row for each output: case_id, text (or
    # data), variant. Give the tasks they answer with --cases, or as columns input and reference;
    # without them the judge sees the outputs alone. Without OUTPUTS, the suite file judgekit.yaml
    # says what is graded. Of several files, each whose rows name no variant is a variant of its
    # own, named after the file.
    if output is not None:
        check_export_suffix(output)
    _check_resumed(options)
    _check_target(output, options)
    if dry_run:
        show_dry_run(options)
        return
    sys.exit(run_grading(options, output=output, fail_under=fail_under))


def run_grading(
    options: Options, *, output: Path | None = None, fail_under: float | None = None
) -> int:
    """Grade, show and write what was found; the exit code."""
    with closing(grade_run_setup(options)) as setup:
        return carry_out(setup, options, output=output, fail_under=fail_under)


def show_dry_run(options: Options) -> None:
    """Print what a grading would ask and cost."""
    from judgekit.cli.plan import show_grade_plan  # noqa: PLC0415 - only for a dry run

    show_grade_plan(grade_setup(options), as_json=bool(options["as_json"]))


def _check_resumed(options: Options) -> None:
    """Refuse options that would ask again for what --resume is to keep."""
    against = next((name for name in ("no_cache", "refresh") if options.get(name)), None)
    if options.get("resume") and against is not None:
        raise SettingsError(
            f"--resume and --{against.replace('_', '-')} contradict each other",
            hint="what was answered before is in the cache: leave one of them out",
        )


def _check_target(output: Path | None, options: Options) -> None:
    """Outputs are never altered, also not by a slip of the hand."""
    if output is None:
        return
    sources = output_sources(options, configured_suite(options))
    if output.resolve() in {source.path.resolve() for source in sources}:
        raise SettingsError(
            f"--output would overwrite {output}, which is graded", hint="choose another file"
        )
