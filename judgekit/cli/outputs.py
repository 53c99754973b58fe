"""The `-o` option of commands: several files, each in the form that its suffix names.

Documents (.json, .md, .html) are written here; data files (JSONL, CSV, …) by the command.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judgekit.cli import console
from judgekit.cli.options import NEW_FILE, option
from judgekit.errors import SettingsError
from judgekit.report import (
    EXPORT_SUFFIXES,
    REPORT_SUFFIXES,
    check_export_suffix,
    document_data,
    print_document,
    write_document,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.cli.options import OutputOptions
    from judgekit.report import Document


@dataclass(frozen=True, slots=True)
class OutputFiles:
    """Where results are written: data files, which the command writes, and those of the report."""

    exports: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()


def output_option(text: str) -> Any:
    """The field of `-o FILE`, which may be given several times."""
    # With a plain option click keeps the last file only, and the others were lost silently.
    return option("-o/--output", f"{text} May be repeated.", (), kind=NEW_FILE, metavar="FILE")


def sort_outputs(paths: Sequence[Path], *, what: str, exports: Sequence[str] = ()) -> OutputFiles:
    """Sort files by what is written to them; refuse those that cannot be, before any call."""
    known = list(dict.fromkeys((*exports, *REPORT_SUFFIXES)))
    for path in paths:
        if path.suffix.lower() not in known:
            raise SettingsError(
                f"cannot write {what} to {path.name}: its suffix is {path.suffix or 'missing'}",
                hint=f"use {', '.join(known)}",
            )
        # Found out before the calls are paid for; a missing folder is most often a typing error.
        if not path.absolute().parent.is_dir():
            raise SettingsError(f"cannot write {path}: there is no folder {path.parent}")
    # A suffix that is both is a data file: .json of `grade` has always been the verdicts.
    data = tuple(path for path in paths if path.suffix.lower() in exports)
    return OutputFiles(data, tuple(path for path in paths if path not in data))


def export_outputs(paths: Sequence[Path], *, what: str) -> OutputFiles:
    """Sort the files of answers or verdicts; refuse what cannot be written."""
    files = sort_outputs(paths, what=what, exports=EXPORT_SUFFIXES)
    for path in files.exports:
        check_export_suffix(path)  # whether pyarrow is installed, for .parquet
    return files


def show_document(
    document: Document, options: OutputOptions, files: OutputFiles | None = None
) -> None:
    """Write a document to its files, and print it on stdout as text or JSON."""
    places = () if files is None else files.documents
    # Files first: whoever reads only the head of stdout must not lose them to a broken pipe.
    for path in places:
        write_document(path, document)
    if options.as_json:
        console.print_json(document_data(document))
    else:
        print_document(console.stdout(), document, verbose=options.verbose)
    if not options.quiet:
        for path in places:
            console.note(f"wrote the report to {path}")


def show_line(line: str, data: object, options: OutputOptions, *, is_note: bool = False) -> None:
    """Print a result of one line, or its data as JSON; a note goes to stderr."""
    if options.as_json:
        console.print_json(data)
    else:
        click.echo(line, err=is_note)
