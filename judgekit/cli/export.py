"""`judgekit export`: writes a stored run or comparison to a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from judgekit import api, evaluation, exports, records, report
from judgekit.cli.help import command
from judgekit.cli.options import (
    OutputOptions,
    StoreOptions,
    check_no_rule,
    flag,
    option,
    refuse_others,
)
from judgekit.cli.outputs import show_line
from judgekit.errors import NotEnoughDataError, SettingsError
from judgekit.exports import RUN_FORMATS, TRACKERS
from judgekit.records import ReconciliationRule
from judgekit.report import numbers

COMPARISON_FORMATS: Mapping[str, str] = {
    "comparison": "comparison.json, blind, scores 1 to 10 (.json, .jsonl, or a folder)",
    "preferences": "whole comparisons, as `compare -o` and `rank` have them (.jsonl, .json)",
    "analysis": "analysis.json, strengths, weaknesses, changes (.json, .jsonl, or a folder)",
}
"""The formats in which a comparison can be written, by name."""

_RESULTS = "results"
_QUALITY = "quality"  # runs and comparisons alike have this one
# Figures that stand under the id of a run are those of all its answers.
_REFUSED = {
    "history": {"--failed", "--filter-tag"},
    "validation": {"--failed"},
    _QUALITY: {"--failed"},
}
_SUMMARIES = {
    _RESULTS: "whole answers (.jsonl, .json), or a row for each judgment (.csv, .parquet)",
    **{name: form.summary for name, form in RUN_FORMATS.items()},
}


class _ExportOptions(StoreOptions, OutputOptions):
    output: Path | None = option(
        "Target file, or folder for some formats; written completely or not at all.",
        spelling="-o/--output",
        kind=click.Path(path_type=Path),
    )
    form: str | None = option(
        "Default: results, or by the file name (.xml: junit, .yaml: validation). "
        + "; ".join(f"{name}: {summary}" for name, summary in _SUMMARIES.items())
        + "; for comparisons: "
        + "; ".join(f"{name}: {summary}" for name, summary in COMPARISON_FORMATS.items()),
        spelling="--format",
        kind=click.Choice([*_SUMMARIES, *COMPARISON_FORMATS]),
    )
    to: str | None = option(
        "Instead of a file: log RUN as a run of MLflow or of W&B, with the settings of their "
        "clients; a run that was logged before is updated.",
        kind=click.Choice([*TRACKERS]),
    )
    project: str | None = option("With --to: the project (MLflow: experiment).", metavar="NAME")
    quiet: bool = flag("Do not report what was written.", spelling="-q/--quiet")
    variant: tuple[str, ...] = option("Only this variant; may be repeated.", ())
    filter_tag: str | None = option("Only cases with this tag.", metavar="TAG")
    failed: bool = flag("Only answers that failed or have no verdict.")
    rule: ReconciliationRule | None = option(
        "For a comparison: apply this rule instead of its own; makes no call."
    )


@command("export", _ExportOptions)
@click.argument("run", default="latest")
def export_command(options: _ExportOptions, *, run: str) -> None:
    """Write the answers of RUN to a file: input, output, checks and every judgment.

    RUN is the id of a run, the beginning of an id, latest (the default) or latest:SUITE. The suffix
    of the file selects the format. In CSV, texts that a spreadsheet would run as a formula are
    escaped.

    RUN can also be the id of a comparison (cmp-…), or latest with --format comparison or analysis.

    Examples:
        judgekit export -o results.csv
        judgekit export latest -o junit.xml
        judgekit export latest --failed -o failed.jsonl
        judgekit export latest --to mlflow --project support
    """
    output = _checked_output(options)
    if output is None:
        _log_run(run, options, str(options.to))
    # `latest` names runs and comparisons alike; then the format decides.
    elif run.startswith(records.COMPARISON_ID_PREFIX) or options.form in COMPARISON_FORMATS:
        _export_comparison(run, options, output)
    else:
        check_no_rule(options.rule)
        _export_run(run, options, output)


def _export_run(run: str, options: _ExportOptions, output: Path) -> None:
    form = RUN_FORMATS.get(options.form or exports.run_format_for(output) or _RESULTS)
    # A path that cannot be written is an error before the store is read.
    if form is None:
        report.check_export_suffix(output)
    else:
        form.check(output)
        part = "--failed" if options.failed else "--filter-tag" if options.filter_tag else ""
        if part in _REFUSED.get(form.name, ()):
            raise SettingsError(f"{part} does not go with {form.name}, which has figures of a run")
    # Results are all that was observed; other formats say what counts, as every summary does.
    wanted = evaluation.OutcomeFilter(
        variants=options.variant, tag=options.filter_tag, failed=options.failed, last=bool(form)
    )
    with options.open_store() as stored:
        info = stored.run(run)
        answers = evaluation.select_outcomes(stored, info, wanted)
        if form is None:
            n = report.write_results(output, (answer.result for answer in answers))
        else:
            n = form.write(output, info, answers, store=stored)
    line = f"wrote {numbers.format_count(n, 'answer')} of {info.id} to {output}"
    data = {"run": info.id, "n_answers": n, "file": str(output)}
    show_line(line, data, options, is_note=True)


def _checked_output(options: _ExportOptions) -> Path | None:
    """The file to write; None where a tool is named instead."""
    if (options.output is None) == (options.to is None):
        raise SettingsError("name a file with -o, or a tool with --to")
    if options.to is None:
        if options.project is not None:
            raise SettingsError("--project goes with --to")
    # The figures of a run are those of all its cases.
    elif options.form or options.variant or options.filter_tag or options.failed:
        raise SettingsError("--format, --variant, --filter-tag and --failed go with -o")
    return options.output


def _log_run(name: str, options: _ExportOptions, tool: str) -> None:
    # The client's own 7 retries take minutes, and the command can be repeated.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    with options.open_store() as stored:
        result: evaluation.Run | api.ComparisonResults
        if name.startswith(records.COMPARISON_ID_PREFIX):
            info = evaluation.with_rule(stored.comparison(name), options.rule)
            summary = evaluation.summarize_comparison(stored, info)
            pairs = [*evaluation.counted_pairs(stored, info)]
            result = api.ComparisonResults(pairs, info=info, summary=summary)
        else:
            check_no_rule(options.rule)
            result = evaluation.Run(stored.run(name), stored)
        where = exports.log_run(result, tool, project=options.project)
    run_id = result.info.id
    data = {"run": run_id, "tool": tool, "where": where}
    show_line(f"logged {run_id} to {TRACKERS[tool]}: {where}", data, options, is_note=True)


def _export_comparison(name: str, options: _ExportOptions, output: Path) -> None:
    why = "is for the answers of a run: a comparison is written whole"
    refuse_others({"form", "rule"}, why, "omit it")
    form = _comparison_form(options.form, output)
    with options.open_store() as stored:
        # The rule only reconciles stored preferences, so another one needs no call.
        info = evaluation.with_rule(stored.comparison(name), options.rule)
        if form == "preferences":
            n = 0
            with report.comparison_writer(output) as write:
                for _, found in evaluation.counted_pairs(stored, info):
                    write(found)
                    n += 1
        elif form == _QUALITY:
            approvals = [one for one in stored.approvals() if info.id in one.evidence]
            item = exports.blind_comparison_object(stored, info, approvals=approvals)
            n = exports.write_json_list(output, [item])
        elif form == "comparison":
            n = exports.write_comparisons(output, info, evaluation.counted_pairs(stored, info))
        else:
            analyses = stored.analyses(info.id)
            # An empty file would read as "nothing to improve".
            if not analyses:
                raise NotEnoughDataError(
                    f"{info.id} has no analyses",
                    hint="ask for them: judgekit compare … --analysis analysis.json",
                )
            n = exports.write_analyses(output, info, stored.compared(info.id), analyses)
    words = ("analysis", "analyses") if form == "analysis" else ("comparison",)
    line = f"wrote {numbers.format_count(n, *words)} of {info.id} to {output}"
    data = {"comparison": info.id, "n": n, "file": str(output)}
    show_line(line, data, options, is_note=True)


def _comparison_form(form: str | None, output: Path) -> str:
    """The format of a comparison's file; a path that cannot be written is an error."""
    # The file names are those of the skill format, whose readers look for exactly these.
    form = form or ("analysis" if output.name.endswith("analysis.json") else "comparison")
    known = (*COMPARISON_FORMATS, _QUALITY)
    if form not in known:
        raise SettingsError(
            f"a comparison cannot be written as {form}", hint=f"use --format {' or '.join(known)}"
        )
    if form == "preferences":
        report.check_comparison_file(output, ())
    elif form == _QUALITY:
        RUN_FORMATS[_QUALITY].check(output)
    else:  # the formats of skills may be a folder, with a file for each comparison
        exports.check_comparison_place(output)
    return form
