"""`judgekit grade`: runs recorded outputs, with the suite's assertions, scorers and gate."""

from __future__ import annotations

import sys
from contextlib import closing

import click

from judgekit.cli.help import command
from judgekit.cli.options import EXISTING_PATH
from judgekit.cli.outputs import OutputFiles, check_replies, export_outputs
from judgekit.cli.run import carry_out
from judgekit.cli.setup import configured_suite, grade_setup, output_sources
from judgekit.cli.suite_setup import GradeOptions, grade_run_setup
from judgekit.errors import SettingsError


@command("grade", GradeOptions)
@click.argument("outputs", nargs=-1, type=EXISTING_PATH)
def grade_command(options: GradeOptions) -> None:
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
    files = export_outputs(options.output, what="a grading")
    check_replies(options, files)
    # --resume uses what was answered before; these two would fetch it again.
    against = "no-cache" if options.no_cache else "refresh"
    if options.resume and (options.no_cache or options.judge_settings.refresh):
        raise SettingsError(
            f"--resume and --{against} contradict each other",
            hint="earlier replies are in the cache: omit one of the two",
        )
    # They are the evidence for every verdict.
    written = {path.resolve() for path in (*files.exports, *files.documents)}
    for source in output_sources(options, configured_suite(options.config)) if written else ():
        if source.path.resolve() in written:
            raise SettingsError(
                f"--output would overwrite the graded file {source.path}",
                hint="choose another file",
            )
    sys.exit(grade(options, files))


def grade(options: GradeOptions, files: OutputFiles | None = None) -> int:
    """Grade, print and write the results, or estimate the calls and the cost; the exit code."""
    if not options.dry_run:
        with closing(grade_run_setup(options)) as setup:
            return carry_out(setup, options, files or OutputFiles())
    from judgekit.cli.plan import has_panel, show_grade_plan, show_suite_plan  # noqa: PLC0415 - only for a dry run

    suite = configured_suite(options.config)
    if suite is not None and options.judge_model is None and has_panel(suite):
        unstored = options.model_copy(update={"no_store": True})
        with closing(grade_run_setup(unstored)) as setup:
            return show_suite_plan(setup, options)
    inputs = grade_setup(options, is_lenient=True)
    return show_grade_plan(inputs, options, max_cost=options.max_cost)
