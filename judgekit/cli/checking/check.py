"""`judgekit validate` and `judgekit lint`: whether files are sound, and rubrics fit for judges."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console as streams
from judgekit.cli import remarks as printing
from judgekit.cli.checking.assertion_remarks import assertion_remarks
from judgekit.cli.checking.lint_targets import find_targets, look_at
from judgekit.cli.checking.suite_remarks import suite_remarks
from judgekit.cli.main import EXIT_INPUT
from judgekit.cli.options import json_option
from judgekit.cli.setup import SUITE_FILE
from judgekit.datasets.opening import whole_document
from judgekit.datasets.recognition import (
    FOREIGN_SHAPES,
    document_kind,
    foreign_shape,
    row_kind,
)
from judgekit.datasets.rows import (
    DOCUMENT_SUFFIXES,
    LINE_SUFFIXES,
    TABLE_SUFFIXES,
    Row,
    scan_rows,
    suffix_of,
)
from judgekit.datasets.validation import validate_path
from judgekit.errors import DatasetError, SettingsError, TemplateError
from judgekit.prompts.lint import lint_partial, lint_template
from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue

    from judgekit.cli.remarks import Remark
    from judgekit.prompts.lint import Flaw

EXIT_FLAWED = 1

_TEMPLATE = ".j2"
_KNOWN = frozenset({*DOCUMENT_SUFFIXES, *LINE_SUFFIXES, *TABLE_SUFFIXES, _TEMPLATE})
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_TITLES = {
    "suite": "suite",
    "rubric": "rubric",
    "cases": "cases",
    "outputs": "outputs",
    "replies": "recorded replies",
    "labels": "labels",
}
_CASES_OF_OTHERS = frozenset(shape.title for shape in FOREIGN_SHAPES if shape.has_cases)
_UNKNOWN = "not a file of judgekit"
_UNREADABLE = "cannot be read"


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--strict", is_flag=True, help="Exit 2 for warnings too.")
@json_option
def validate(*, paths: tuple[Path, ...], strict: bool, as_json: bool) -> None:
    """Check that files are sound: every problem of every file at once."""
    # PATHS are suites, rubrics, cases, outputs, recorded replies, labels, templates, or folders
    # with them; by default judgekit.yaml, with all the files it names. What a file is, is seen from
    # what it holds. In a folder, files that are not judgekit's are passed over.
    # Exit 2 when there is an error, 0 otherwise.
    files = [(path, _title(path)) for path in _files(paths)]
    found = [(path, title, _remarks(path)) for path, title in files]
    remarks = printing.in_order(remark for _, _, each in found for remark in each)
    if as_json:
        listed = [{"path": str(path), "kind": title} for path, title in files]
        streams.print_json({"files": listed, **printing.as_json(remarks)})
    else:
        _print_files(files)
        printing.print_remarks(remarks)
        click.echo(f"{view.count(len(files), 'file')}: {printing.totals(remarks)}")
    n_bad = len(remarks) if strict else printing.count(remarks, "error")
    sys.exit(EXIT_INPUT if n_bad else 0)


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATHS|NAMES]...")
@click.option(
    "--templates",
    "folders",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="Folder of your own templates and partials; may be given more than once.",
)
@click.option("--strict", is_flag=True, help="Exit 1 for warnings too.")
@json_option
def lint(*, paths: tuple[str, ...], folders: tuple[Path, ...], strict: bool, as_json: bool) -> None:
    """Check rubrics and prompt templates for what misleads judges or costs more than it need."""
    # PATHS are rubrics, .j2 templates, suites, or folders with them; NAMES are those of shipped
    # rubrics and templates. By default what judgekit.yaml uses, else everything that is shipped.
    # Exit 1 when there is an error, 0 otherwise.
    targets = find_targets(paths, folders)
    remarks = printing.in_order(remark for target in targets for remark in look_at(target))
    if as_json:
        checked = [{"kind": target.kind, "name": target.name} for target in targets]
        streams.print_json({"checked": checked, **printing.as_json(remarks)})
    else:
        printing.print_remarks(remarks)
        kinds = [target.kind for target in targets]
        counted = [view.count(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)]
        click.echo(f"{', '.join(counted) or 'nothing'} looked at: {printing.totals(remarks)}")
    n_bad = len(remarks) if strict else printing.count(remarks, "error")
    sys.exit(EXIT_FLAWED if n_bad else 0)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files to check: those named, and of a folder those that are judgekit's or unreadable."""
    if not paths and not Path(SUITE_FILE).is_file():
        raise SettingsError(
            f"there is no {SUITE_FILE} here", hint="name the files or folders to check"
        )
    for path in paths or (Path(SUITE_FILE),):
        if path.is_dir():
            yield from (each for each in _in_folder(path) if _is_ours(each))
        else:
            yield path


def _in_folder(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        is_skipped = any(part.startswith(".") or part in _SKIPPED for part in parts)
        if path.is_file() and not is_skipped and suffix_of(path) in _KNOWN:
            yield path


def _is_ours(path: Path) -> bool:
    """A folder may hold anything; another tool's results in it are no fault."""
    if path.suffix == _TEMPLATE:
        return _is_judge_template(path) or path.parent.name == "partials"
    return _title(path) in {*_TITLES.values(), *_CASES_OF_OTHERS, _UNREADABLE}


def _is_judge_template(path: Path) -> bool:
    return "block" in path.read_text(encoding="utf-8", errors="replace")


def _title(path: Path) -> str:
    """What a file is recognised as."""
    if path.suffix == _TEMPLATE:
        return "template" if _is_judge_template(path) else "partial"
    try:
        document = whole_document(path)
        if document is not None:
            return _document_title(document.value)
        rows = [row for row in islice(scan_rows(path), 1) if isinstance(row, Row)]
    except DatasetError:
        return _UNREADABLE
    return _TITLES.get(row_kind(rows[0].fields) or "", _UNKNOWN) if rows else _UNREADABLE


def _document_title(value: JsonValue) -> str:
    shape = foreign_shape(value)
    return _TITLES.get(document_kind(value) or "", _UNKNOWN) if shape is None else shape.title


def _remarks(path: Path) -> list[Remark]:
    if path.suffix == _TEMPLATE:
        return _template_remarks(path)
    found = [printing.from_problem(problem) for problem in validate_path(path)]
    found += assertion_remarks(path, found)
    return [*found, *suite_remarks(path, found)]


def _template_remarks(path: Path) -> list[Remark]:
    """Whether a template compiles and renders; how good it is, `lint` says."""
    try:
        flaws = _unsound(
            lint_template(str(path)) if _is_judge_template(path) else lint_partial(path)
        )
    except TemplateError as error:
        return [printing.Remark(str(path), None, "error", error.message, error.hint)]
    return [printing.from_flaw(flaw, path=str(path), line=flaw.line) for flaw in flaws]


def _unsound(flaws: Sequence[Flaw]) -> list[Flaw]:
    return [flaw for flaw in flaws if flaw.rule == "unsound"]


def _print_files(files: Sequence[tuple[Path, str]]) -> None:
    for path, title in files:
        click.echo(f"{view.printable(str(path))}: {title}")
