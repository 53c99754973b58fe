"""`judgekit export`: a run's answers in a file."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console as streams
from judgekit.cli.comparing.pair_options import check_no_rule, rule_option
from judgekit.cli.options import json_option, store_option
from judgekit.cli.stored.export_comparison import COMPARISON_FORMATS, export_comparison
from judgekit.evaluation.comparing.keeping import PREFIX
from judgekit.evaluation.figures.picking import Picked, picked
from judgekit.report import view
from judgekit.report.exports import check_suffix
from judgekit.report.formats.table import FORMATS as OTHER_FORMATS
from judgekit.report.formats.table import format_for
from judgekit.report.run_exports import write_results
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.comparison import Rule
    from judgekit.records.run import RunInfo


@dataclass(frozen=True, slots=True)
class Format:
    """A form in which a run can be written."""

    summary: str
    """What stands in it, for the help."""

    check: Callable[[Path], None]
    """Refuses a path it cannot be written to, before anything is read."""

    write: Callable[[Path, RunInfo, Iterable[Concluded]], int]
    """Writes the answers and says how many."""


def _write_results(path: Path, run: RunInfo, answers: Iterable[Concluded]) -> int:
    del run
    return write_results(path, (answer.result for answer in answers))


FORMATS = {
    "results": Format(
        "whole answers (.jsonl, .json), or a row for each judgment (.csv, .parquet)",
        check_suffix,
        _write_results,
    ),
    **{name: Format(form.summary, form.check, form.write) for name, form in OTHER_FORMATS.items()},
}
"""The forms there are, by their names on the command line."""


@click.command()
@click.argument("run", default="latest")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The file, or for some formats a folder; a file is replaced as a whole or not at all.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS, *COMPARISON_FORMATS]),
    help="By default results, or what the file's name says (.xml: junit). "
    + "; ".join(f"{name}: {form.summary}" for name, form in FORMATS.items())
    + "; of a comparison: "
    + "; ".join(f"{name}: {summary}" for name, summary in COMPARISON_FORMATS.items())
    + ".",
)
@click.option("--variant", multiple=True, help="Only this variant; may be repeated.")
@click.option("--filter-tag", metavar="TAG", help="Only cases with this tag.")
@click.option("--failed", is_flag=True, help="Only answers that did not pass or have no verdict.")
@rule_option("Of a comparison: conclude it by this rule instead of its own; nobody is asked.")
@store_option
@json_option
def export(
    *,
    run: str,
    output: Path,
    form: str | None,
    variant: tuple[str, ...],
    filter_tag: str | None,
    failed: bool,
    rule: Rule | None,
    store: str,
    as_json: bool,
) -> None:
    """Write the answers of RUN to a file: input, output, checks and every judgment."""
    # RUN is a run's id, the beginning of one, `latest` (the default) or `latest:SUITE`. The file's
    # suffix says what it will be; texts that a spreadsheet would run as formulas are marked in CSV.
    # RUN may also be a comparison's id (cmp-…), or with --format comparison or analysis `latest`.
    if run.startswith(PREFIX) or form in COMPARISON_FORMATS:
        export_comparison(run, output, form, rule=rule, store=store, as_json=as_json)
        return
    check_no_rule(rule)
    wanted = Picked(variants=variant, tag=filter_tag, failed=failed)
    chosen = FORMATS[form or format_for(output) or "results"]
    chosen.check(output)
    with closing(RunStore(store, create=False)) as kept:
        found = kept.run(run)
        n = chosen.write(output, found, picked(kept, found, wanted))
    if as_json:
        streams.print_json({"run": found.id, "n_answers": n, "file": str(output)})
    else:
        streams.note(f"wrote {view.count(n, 'answer')} of {found.id} to {output}")
