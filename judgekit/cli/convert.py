"""`judgekit convert`: converts cases or a rubric between formats, and lists what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from judgekit import exports
from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import OutputOptions, flag, option, root_option
from judgekit.cli.outputs import show_line
from judgekit.errors import SettingsError
from judgekit.exports import CASE_FORMATS, SUITE_NAME
from judgekit.report import message, numbers

# Not formats of cases, and so not among CASE_FORMATS.
_SUITE, _RUBRIC = "suite", "rubric"
_NAMES = {"tests.json": "skill-tests", "evals.json": "skill-evals"}

_SUMMARIES = {
    _SUITE: f"a folder with {SUITE_NAME}, cases and rubric",
    _RUBRIC: "the rubric of grader specs, or the one all cases share (.yaml, .json)",
    **{name: form.summary for name, form in CASE_FORMATS.items()},
}


class _ConvertOptions(OutputOptions):
    output: Path = option(
        "Target file, written completely or not at all; for a suite a folder.",
        spelling="-o/--output",
        kind=click.Path(path_type=Path),
    )
    form: str | None = option(
        "Default: by the output's name. "
        + "; ".join(f"{name}: {summary}" for name, summary in _SUMMARIES.items()),
        spelling="--to",
        kind=click.Choice(list(_SUMMARIES)),
    )
    columns: tuple[str, ...] = option(
        "Map a column to a field of a case (question=input); may be repeated.",
        (),
        spelling="--column",
        metavar="NAME=FIELD",
    )
    strict: bool = flag("Exit 2 if a part of SOURCE is not imported; nothing is written.")
    root: Path | None = root_option()
    allow_scripts: bool = flag("Run the code that makes the tests of SOURCE.")
    lossy: bool = flag("Write even if something is lost; lists the losses.")


@command("convert", _ConvertOptions)
@click.argument("source", type=click.Path(path_type=Path, exists=True))
def convert_command(options: _ConvertOptions, *, source: Path) -> None:
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
        judgekit convert cases.csv -o cases.jsonl --column question=input
    """
    output = options.output
    # A name without a suffix is more often a folder to be created than a file.
    is_folder = output.is_dir() or not output.suffix
    form = options.form or (_SUITE if is_folder else _NAMES.get(output.name, "cases"))
    columns: dict[str, str] = {}
    for column in options.columns:
        # From the right: a column may have an equals sign in its name, a field has none.
        name, _, field = column.rpartition("=")
        if not name or not field:
            raise SettingsError(f"--column {column!r} is not NAME=FIELD", hint="question=input")
        columns[name] = field
    allowed, root = options.allow_scripts, options.root
    with console.strict_import(is_strict=options.strict, allow_scripts=allowed, root=root):
        if form == _RUBRIC:
            _convert_rubric(source, options)
            return
        opened = exports.open_conversion_source(source, columns or None)
    if form != _SUITE:
        lost = exports.convert_cases(opened, output, form, lossy=options.lossy)
    else:
        # Checked before writing: a folder cannot be written completely or not at all.
        lost = exports.suite_losses(output, opened)
        if lost and not options.lossy:
            raise exports.loss_error(output, lost)
        exports.write_own_suite(output, opened)
    # A suite has a place for rubric, judge and settings; a file of cases has not.
    beside = () if form == _SUITE else exports.omitted_content(opened, output, form)
    # Counted, not measured: cases may be read from the file one by one.
    n = opened.cases.count()
    lines = [f"wrote {numbers.format_count(n, 'case')} to {output} ({form})", *_losses(lost)]
    if beside:
        is_kept = opened.skill_tests is not None or opened.suite_fields is not None
        hint = "; --to suite keeps it" if is_kept else ""
        omitted = message.printable(", ".join(beside))
        lines.append(f"not converted, because the target holds only cases: {omitted}{hint}")
    done = {"source": str(source), "file": str(output), "form": form, "n_cases": n}
    left_out = {"left_out": list(beside)} if beside else {}
    data = {**done, "lost": list(lost), **left_out}
    show_line("\n".join(lines), data, options, is_note=True)


def _losses(lost: Sequence[str]) -> list[str]:
    return [f"lost: {message.printable(one)}" for one in lost]


def _convert_rubric(source: Path, options: _ConvertOptions) -> None:
    rubric, lost = exports.convert_to_rubric(source)
    output, n = options.output, len(rubric.criteria)
    count = numbers.format_count(n, "criterion", "criteria")
    if lost and not options.lossy:
        raise exports.loss_error(output, lost)
    exports.write_rubric(output, rubric)
    done = {"source": str(source), "file": str(output), "form": _RUBRIC}
    lines = [f"wrote a rubric of {count} to {output}", *_losses(lost)]
    data = {**done, "n_criteria": n, "lost": list(lost)}
    show_line("\n".join(lines), data, options, is_note=True)
