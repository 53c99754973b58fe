"""The `-o` option of commands: several files, each in the form that its suffix names.

Documents (.json, .md, .html) are written here; data files (JSONL, CSV, …) by the command.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgekit import report
from judgekit.atomic_write import check_output_path
from judgekit.cli import console
from judgekit.cli.exit_codes import Exit
from judgekit.cli.options import NEW_FILE, OutputOptions, ReplyOptions, option
from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.calibration import LabelledShare
    from judgekit.evaluation import ComparisonPlan, GradePlan
    from judgekit.models import Connection
    from judgekit.report import Document


LARGE_PAGE = 50_000_000
"""Bytes from which a page takes a browser long to read; the viewer sends it case by case."""


@dataclass(frozen=True, slots=True)
class OutputFiles:
    """Where results are written: data files, which the command writes, and those of the report."""

    exports: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()

    @property
    def has_page(self) -> bool:
        """Whether a page is written, which has all cases in full."""
        return any(path.suffix.lower() == ".html" for path in self.documents)


def output_option(text: str) -> Any:
    """The field of `-o FILE`, which may be given several times."""
    # With a plain option click keeps the last file only, and the others were lost silently.
    return option(f"{text} May be repeated.", (), spelling="-o/--output", kind=NEW_FILE)


def sort_outputs(paths: Sequence[Path], *, what: str, exports: Sequence[str] = ()) -> OutputFiles:
    """Sort files by what is written to them; refuse those that cannot be, before any call."""
    known = list(dict.fromkeys((*exports, *report.REPORT_SUFFIXES)))
    for path in paths:
        # Found out before the calls are paid for; a missing folder is most often a typing error.
        check_output_path(path, known, what=what, may_be_folder=False)
    context = click.get_current_context(silent=True)
    values = [] if context is None else [v for n, v in context.params.items() if n != "output"]
    named = chain.from_iterable(one if isinstance(one, tuple) else (one,) for one in values)
    refuse_overwriting(paths, (one for one in named if isinstance(one, Path)))
    # A suffix that is both is a data file: .json of `grade` has always been the verdicts.
    data = tuple(path for path in paths if path.suffix.lower() in exports)
    return OutputFiles(data, tuple(path for path in paths if path not in data))


def refuse_overwriting(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse to write a result over a file that it is made from."""
    read = {path.resolve() for path in inputs}
    for path in outputs:
        if path.resolve() in read:
            raise SettingsError(
                f"--output would overwrite {path}, which this command reads",
                hint="choose another file",
            )


def check_replies(options: ReplyOptions, files: OutputFiles) -> None:
    """Refuse `--with-replies` where it would have no effect."""
    if not options.with_replies:
        return
    if not files.has_page:
        raise SettingsError("--with-replies is for pages", hint="add -o FILE.html")
    if getattr(options, "no_cache", False):
        raise SettingsError(
            "--no-cache and --with-replies contradict each other",
            hint="prompts and raw replies are read from the cache",
        )


def export_outputs(paths: Sequence[Path], *, what: str) -> OutputFiles:
    """Sort the files of answers or verdicts; refuse what cannot be written."""
    files = sort_outputs(paths, what=what, exports=report.EXPORT_SUFFIXES)
    for path in files.exports:
        report.check_export_suffix(path)  # whether pyarrow is installed, for .parquet
    return files


def show_document(
    document: Document, options: OutputOptions, files: OutputFiles | None = None
) -> None:
    """Write a document to its files, and print it on stdout as text or JSON."""
    places = () if files is None else files.documents
    # Files first: whoever reads only the head of stdout must not lose them to a broken pipe.
    for path in places:
        report.write_document(path, document)
    if options.as_json:
        console.print_json(report.document_data(document))
    else:
        report.print_document(console.stdout(), document, verbose=options.verbose)
    if not options.quiet:
        for path in places:
            console.note(f"wrote the report to {path}")
            if (size := path.stat().st_size) > LARGE_PAGE and path.suffix.lower() == ".html":
                n = report.format_file_size(size)
                console.note(f"{path} has {n}; judgekit view shows the same without a file")
    if getattr(options, "dry_run", False):
        for path in getattr(options, "output", ()) if files is None else files.exports:
            console.note(f"{path} is not written: a dry run has no results")


def show_plan(
    plan: GradePlan | ComparisonPlan,
    options: OutputOptions,
    connections: Iterable[Connection],
    *,
    share: LabelledShare | None = None,
    files: OutputFiles | None = None,
    max_cost: float | None = None,
) -> int:
    """Print what judging would ask and cost; the exit code of a dry run."""
    note_list_prices(connections)
    document = report.judging_plan_document(plan, share, max_cost_usd=max_cost)
    show_document(document, options, files)
    return Exit.LIMIT if plan.sufficiency(max_cost) == "short" else 0


def note_list_prices(connections: Iterable[Connection]) -> None:
    """Report which models are priced as at their provider, although another endpoint is called."""
    for name in dict.fromkeys(
        one.name
        for one in connections
        if one.api_base is not None
        and one.prices.price(one.name, api_base=one.api_base) is None
        and one.prices.price(one.name) is not None
    ):
        console.note(f"{name}: the price is its list price; this endpoint may charge another")


def show_line(line: str, data: object, options: OutputOptions, *, is_note: bool = False) -> None:
    """Print a result of one line, or its data as JSON; a note goes to stderr."""
    if options.as_json:
        console.print_json(data)
    elif not (is_note and options.quiet):
        click.echo(line, err=is_note)
