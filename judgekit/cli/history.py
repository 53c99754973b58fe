"""`judgekit history`: the versions of a suite's variants with their figures."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from judgekit.cli.help import command
from judgekit.cli.options import OutputOptions, StoreOptions
from judgekit.cli.outputs import output_option, show_document, sort_outputs
from judgekit.cli.trend import suite_name
from judgekit.evaluation import imported_runs, version_history
from judgekit.report import history_document
from judgekit.store import RunStore


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
    """
    files = sort_outputs(options.output, what="a history")
    with closing(RunStore(options.store, create=False)) as store:
        name = suite_name(suite, store)
        document = history_document(name, version_history(store, name), imported_runs(store, name))
        show_document(document, options, files)
