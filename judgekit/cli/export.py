"""`judgekit export`: writes a stored run or comparison to a file."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from judgekit.cli import console
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import check_no_rule, json_option, rule_option, store_option
from judgekit.errors import NotEnoughDataError, SettingsError
from judgekit.evaluation import (
    COMPARISON_ID_PREFIX,
    OutcomeFilter,
    counted_pairs,
    select_outcomes,
    with_rule,
)
from judgekit.exports import (
    RUN_FORMATS as OTHER_FORMATS,
    check_comparison_place,
    run_format_for,
    write_analyses,
    write_comparisons,
)
from judgekit.report import (
    check_comparison_file,
    check_export_suffix,
    comparison_writer,
    numbers,
    write_results,
)
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from judgekit.evaluation import Outcome
    from judgekit.records import ComparisonInfo, ReconciliationRule, RunInfo

COMPARISON_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "comparison": "comparison.json, blind, scores 1 to 10 (.json, .jsonl, or a folder)",
        "preferences": "whole comparisons, as `compare -o` and `rank` have them (.jsonl, .json)",
        "analysis": "analysis.json, strengths, weaknesses, changes (.json, .jsonl, or a folder)",
    }
)
"""The formats in which a comparison can be written, by name."""


def export_comparison(
    name: str,
    output: Path,
    form: str | None,
    *,
    rule: ReconciliationRule | None = None,
    store: str,
    as_json: bool,
) -> None:
    """Write a stored comparison, or its analyses."""
    # The file names are those of the skill format, whose readers look for exactly these.
    chosen = form or ("analysis" if output.name.endswith("analysis.json") else "comparison")
    if chosen not in COMPARISON_FORMATS:
        raise SettingsError(
            f"a comparison cannot be written as {chosen}",
            hint=f"use --format {' or '.join(COMPARISON_FORMATS)}",
        )
    if chosen == "preferences":
        check_comparison_file(output, ())
    # The formats of skills may be a folder, with a file for each comparison.
    check_comparison_place(output)
    with closing(RunStore(store, create=False)) as stored:
        # The rule only reconciles stored preferences, so another one needs no call.
        info = with_rule(stored.comparison(name), rule)
        if chosen == "preferences":
            n = _write_whole(output, stored, info)
        elif chosen == "comparison":
            n = write_comparisons(output, info, counted_pairs(stored, info))
        else:
            analyses = stored.analyses(info.id)
            # An empty file would read as "nothing to improve".
            if not analyses:
                raise NotEnoughDataError(
                    f"{info.id} has no analyses",
                    hint="ask for them: judgekit compare … --analysis analysis.json",
                )
            n = write_analyses(output, info, stored.compared(info.id), analyses)
    what = numbers.format_count(
        n, *("analysis", "analyses") if chosen == "analysis" else ("comparison",)
    )
    if as_json:
        console.print_json({"comparison": info.id, "n": n, "file": str(output)})
    else:
        console.note(f"wrote {what} of {info.id} to {output}")


def _write_whole(output: Path, stored: RunStore, info: ComparisonInfo) -> int:
    """Write every comparison with all judgments, as `compare -o` does."""
    n = 0
    with comparison_writer(output) as write:
        for _, found in counted_pairs(stored, info):
            write(found)
            n += 1
    return n


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format in which a run can be written."""

    summary: str
    """Its content, for the help."""

    check: Callable[[Path], None]
    """Refuses a path it cannot be written to, before anything is read."""

    write: Callable[[Path, RunInfo, Iterable[Outcome]], int]
    """Writes the answers and returns how many."""


EXPORT_FORMATS = {
    "results": ExportFormat(
        "whole answers (.jsonl, .json), or a row for each judgment (.csv, .parquet)",
        check_export_suffix,
        lambda path, _, answers: write_results(path, (answer.result for answer in answers)),
    ),
    **{
        name: ExportFormat(form.summary, form.check, form.write)
        for name, form in OTHER_FORMATS.items()
    },
}


@click.command("export", cls=HelpCommand)
@click.argument("run", default="latest")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Target file, or folder for some formats; written completely or not at all.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([*EXPORT_FORMATS, *COMPARISON_FORMATS]),
    help="Default: results, or by the file name (.xml: junit). "
    + "; ".join(f"{name}: {form.summary}" for name, form in EXPORT_FORMATS.items())
    + "; for comparisons: "
    + "; ".join(f"{name}: {summary}" for name, summary in COMPARISON_FORMATS.items())
    + ".",
)
@click.option("--variant", multiple=True, help="Only this variant; may be repeated.")
@click.option("--filter-tag", metavar="TAG", help="Only cases with this tag.")
@click.option("--failed", is_flag=True, help="Only answers that failed or have no verdict.")
@rule_option("For a comparison: apply this rule instead of its own; makes no call.")
@store_option
@json_option
def export_command(
    *,
    run: str,
    output: Path,
    form: str | None,
    variant: tuple[str, ...],
    filter_tag: str | None,
    failed: bool,
    rule: ReconciliationRule | None,
    store: str,
    as_json: bool,
) -> None:
    """Write the answers of RUN to a file: input, output, checks and every judgment.

    RUN is the id of a run, the beginning of an id, latest (the default) or latest:SUITE. The suffix
    of the file selects the format. In CSV, texts that a spreadsheet would run as a formula are
    escaped.

    RUN can also be the id of a comparison (cmp-…), or latest with --format comparison or analysis.

    Examples:
        judgekit export -o results.csv
        judgekit export latest -o junit.xml
        judgekit export latest --failed -o failed.jsonl
    """
    # `latest` names runs and comparisons alike; then the format decides.
    if run.startswith(COMPARISON_ID_PREFIX) or form in COMPARISON_FORMATS:
        export_comparison(run, output, form, rule=rule, store=store, as_json=as_json)
        return
    check_no_rule(rule)
    wanted = OutcomeFilter(variants=variant, tag=filter_tag, failed=failed)
    chosen = EXPORT_FORMATS[form or run_format_for(output) or "results"]
    # A path that cannot be written is an error before the store is read.
    chosen.check(output)
    with closing(RunStore(store, create=False)) as stored:
        found = stored.run(run)
        n = chosen.write(output, found, select_outcomes(stored, found, wanted))
    if as_json:
        console.print_json({"run": found.id, "n_answers": n, "file": str(output)})
    else:
        console.note(f"wrote {numbers.format_count(n, 'answer')} of {found.id} to {output}")
