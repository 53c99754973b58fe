"""`judgekit convert`: converts cases or a rubric between formats, and lists what is lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import json_option
from judgekit.errors import SettingsError
from judgekit.exports import (
    CASE_FORMATS,
    SUITE_NAME,
    convert_cases,
    convert_to_rubric,
    loss_error,
    omitted_content,
    open_conversion_source,
    suite_losses,
    write_own_suite,
    write_rubric,
)
from judgekit.report import message, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.formats import ConversionSource

# Not formats of cases, and so not among CASE_FORMATS.
_SUITE, _RUBRIC = "suite", "rubric"
_NAMES = {"tests.json": "skill-tests", "evals.json": "skill-evals"}

_SUMMARIES = {
    _SUITE: f"a folder with {SUITE_NAME}, cases and rubric",
    _RUBRIC: "the rubric of grader specs, or the one all cases share (.yaml, .json)",
    **{name: form.summary for name, form in CASE_FORMATS.items()},
}


@click.command("convert", cls=HelpCommand)
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Target file, written completely or not at all; for a suite a folder.",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(list(_SUMMARIES)),
    help="Default: by the output's name. "
    + "; ".join(f"{name}: {summary}" for name, summary in _SUMMARIES.items())
    + ".",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=FIELD",
    help="Map a column to a field of a case (question=input); may be repeated.",
)
@click.option("--lossy", is_flag=True, help="Write even if something is lost; lists the losses.")
@json_option
def convert_command(
    *,
    source: Path,
    output: Path,
    form: str | None,
    columns: tuple[str, ...],
    lossy: bool,
    as_json: bool,
) -> None:
    """Convert the cases of SOURCE to another file format.

    SOURCE is any file with cases: JSONL, JSON, YAML, CSV or Parquet files of judgekit, a suite, the
    eval/tests.json of a skill (version 2 or 1, its folder or zip file), evals.json, a workflow
    dataset, quality records, or a promptfoo configuration; for a rubric also grader specs. The
    result is read again and compared with the source: if part of a case would be lost, nothing is
    written without --lossy, and the losses are listed. Parts of the source other than cases are
    reported if the target format cannot hold them.

    Examples:
        judgekit convert evals.json -o cases.jsonl
        judgekit convert promptfooconfig.yaml -o my-suite
    """
    # A name without a suffix is more often a folder to be created than a file.
    is_folder = output.is_dir() or not output.suffix
    form = form or (_SUITE if is_folder else _NAMES.get(output.name, "cases"))
    if form == _RUBRIC:
        _convert_rubric(source, output, lossy=lossy, as_json=as_json)
        return
    opened = open_conversion_source(source, _mapping(columns))
    lost = _convert(opened, output, form, lossy=lossy)
    # A suite has a place for rubric, judge and settings; a file of cases has not.
    beside = () if form == _SUITE else omitted_content(opened, output, form)
    # Counted, not measured: cases may be read from the file one by one.
    n = opened.cases.count()
    if as_json:
        done = {"source": str(source), "file": str(output), "form": form, "n_cases": n}
        left_out = {"left_out": list(beside)} if beside else {}
        console.print_json({**done, "lost": list(lost), **left_out})
        return
    console.note(f"wrote {numbers.format_count(n, 'case')} to {output} ({form})")
    _list_losses(lost)
    if beside:
        hint = "" if opened.is_suite or opened.skill_tests is None else "; --to suite keeps it"
        omitted = message.printable(", ".join(beside))
        console.note(f"not converted, because the target holds only cases: {omitted}{hint}")


def _list_losses(lost: Sequence[str]) -> None:
    for one in lost:
        console.note(f"lost: {message.printable(one)}")


def _convert_rubric(source: Path, output: Path, *, lossy: bool, as_json: bool) -> None:
    rubric, lost = convert_to_rubric(source)
    if lost and not lossy:
        raise loss_error(output, lost)
    write_rubric(output, rubric)
    if as_json:
        done = {"source": str(source), "file": str(output), "form": _RUBRIC}
        console.print_json({**done, "n_criteria": len(rubric.criteria), "lost": list(lost)})
        return
    console.note(f"wrote a rubric of {len(rubric.criteria)} criteria to {output}")
    _list_losses(lost)


def _convert(opened: ConversionSource, output: Path, form: str, *, lossy: bool) -> Sequence[str]:
    if form != _SUITE:
        return convert_cases(opened, output, form, lossy=lossy)
    # Checked before writing: a folder cannot be written completely or not at all.
    lost = suite_losses(output, opened)
    if lost and not lossy:
        raise loss_error(output, lost)
    write_own_suite(output, opened)
    return lost


def _mapping(columns: Sequence[str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for column in columns:
        # From the right: a column may have an equals sign in its name, a field has none.
        name, sign, field = column.rpartition("=")
        if not sign or not name or not field:
            raise SettingsError(f"--column {column!r} is not NAME=FIELD", hint="question=input")
        found[name] = field
    return found or None
