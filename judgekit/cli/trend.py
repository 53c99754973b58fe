"""`judgekit trend` and `history`: the quality of a suite from run to run, and its versions."""

from __future__ import annotations

from pathlib import Path

import click

from judgekit import evaluation, report, store as stores
from judgekit.cli.help import command
from judgekit.cli.options import OutputOptions, StoreOptions, option
from judgekit.cli.outputs import output_option, show_document, sort_outputs
from judgekit.cli.setup import configured_suite
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.records import TrendMeasure


class _TrendOptions(StoreOptions, OutputOptions):
    variant: str | None = option("Only this variant (default: those of the last run).", metavar="V")
    criterion: str | None = option(
        "The mean of this criterion instead of the overall score.", metavar="C"
    )
    measure: TrendMeasure = option(
        "score (default): the mean overall value; or pass_rate.", "score"
    )
    last: int | None = option("Only the latest N runs.", metavar="N", ge=2)
    output: tuple[Path, ...] = output_option("Write the trend to FILE: .json, .md or .html.")


@command("trend", _TrendOptions)
@click.argument("suite", required=False)
def trend_command(options: _TrendOptions, *, suite: str | None) -> None:
    """Show how the quality of SUITE moves from run to run.

    SUITE is the name of a suite with stored runs, or its file (default: the suite of this folder,
    else that of the last run). Only complete runs of all cases count. Where the judge, the
    template, the rubric, the assertions or the cases changed, the series breaks: nothing is
    compared over a break. Changed thresholds and weights break nothing, since earlier runs are
    scored again by the latest rubric.

    The direction is that of the last five runs: stable if they differ by at most 5 %, improving or
    degrading if they rise or fall consistently. Three degrading runs in a row escalate. The tests
    below the table look at all runs since the last break.

    Exit code 0 whatever the direction.

    Examples:
        judgekit trend
        judgekit trend support-replies --criterion accuracy
        judgekit trend --last 20 -o trend.html
    """
    if options.criterion is not None and options.measure == "pass_rate":
        raise SettingsError(
            "--criterion shows the mean of a criterion, which has no pass rate",
            hint="omit --criterion, or --measure pass_rate",
        )
    files = sort_outputs(options.output, what="a trend")
    with options.open_store() as store:
        name = suite_name(suite, store)
        trends = options.fill(evaluation.trend_of_suite, store=store, suite=name)
        criteria = []
        if files.has_page and options.criterion is None:
            criteria = evaluation.criterion_trends(
                store, name, variant=options.variant, last=options.last
            )
        show_document(report.trend_document(name, trends, criteria), options, files)


def suite_name(suite: str | None, store: stores.RunStore) -> str:
    """The name of the suite that is given by its name or file, or not at all."""
    if suite is None or Path(suite).is_file():
        found = configured_suite(None if suite is None else Path(suite))
        suite = store.run().suite if found is None else found.name
    # A misspelt suite would look like one in which nothing failed.
    if suite not in store.suites():
        raise UnknownNameError("suite", suite, store.suites())
    return suite


class _HistoryOptions(StoreOptions, OutputOptions):
    output: tuple[Path, ...] = output_option("Write the history to FILE: .json, .md or .html.")


@command("history", _HistoryOptions)
@click.argument("suite", required=False)
def history_command(options: _HistoryOptions, *, suite: str | None) -> None:
    """List the versions of the variants of SUITE, each with the figures of its latest run.

    A version is a prompt with all it includes, a program, or recorded outputs, as they were when
    they ran. Only complete runs of all cases count. SUITE is the name of a suite with stored runs,
    or its file (default: the suite of this folder, else that of the last run). Benchmark runs that
    came with a quality memory are listed below, as the memory has them.

    Examples:
        judgekit history
        judgekit history support-replies -o history.html
        judgekit history support-replies --json
    """
    files = sort_outputs(options.output, what="a history")
    with options.open_store() as store:
        name = suite_name(suite, store)
        document = report.history_document(
            name, evaluation.version_history(store, name), evaluation.imported_runs(store, name)
        )
        show_document(document, options, files)
