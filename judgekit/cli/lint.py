"""`judgekit lint`: checks rubrics and templates for what misleads judges or wastes tokens."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from judgekit.cli import console, diagnostics
from judgekit.cli.diagnostics import Diagnostic, diagnostic_from_flaw, diagnostic_from_problem
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import json_option
from judgekit.cli.setup import SUITE_FILE
from judgekit.datasets import load_rubric, load_suite, rubric_path, shipped_rubrics, validate_path
from judgekit.errors import DatasetError, SettingsError, TemplateError, UnknownNameError
from judgekit.formats import DOCUMENT_SUFFIXES, document_kind, read_document, suffix_of
from judgekit.prompts import (
    lint_partial,
    lint_rubric,
    lint_template,
    pair_template_names,
    template_names,
)
from judgekit.report import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# As linters do; 2 is an error of the command line.
EXIT_FLAWED = 1


@click.command("lint", cls=HelpCommand)
@click.argument("paths", nargs=-1, metavar="[PATHS|NAMES]...")
@click.option(
    "--templates",
    "folders",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    help="Folder with your own templates; may be repeated.",
)
@click.option("--strict", is_flag=True, help="Exit 1 for warnings as well.")
@json_option
def lint_command(
    *, paths: tuple[str, ...], folders: tuple[Path, ...], strict: bool, as_json: bool
) -> None:
    """Check rubrics and prompt templates for wording that misleads judges or wastes tokens.

    PATHS are rubrics, .j2 templates, suites, or folders of these; NAMES are those of shipped
    rubrics and templates. By default the files that judgekit.yaml uses, else everything shipped.

    Exit code 1 if there is an error, else 0.

    Examples:
        judgekit lint
        judgekit lint rubric.yaml --strict
    """
    targets = find_lint_targets(paths, folders)
    remarks = diagnostics.sort_diagnostics(
        remark for target in targets for remark in lint_target(target)
    )
    if as_json:
        checked = [{"kind": target.kind, "name": target.name} for target in targets]
        console.print_json({"checked": checked, **diagnostics.diagnostics_json(remarks)})
    else:
        diagnostics.print_diagnostics(remarks)
        kinds = [target.kind for target in targets]
        counted = [numbers.format_count(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)]
        click.echo(
            f"{', '.join(counted) or 'nothing'} checked: {diagnostics.severity_totals(remarks)}"
        )
    n_bad = len(remarks) if strict else diagnostics.count_severity(remarks, "error")
    sys.exit(EXIT_FLAWED if n_bad else 0)


_TEMPLATE = ".j2"


@dataclass(frozen=True, slots=True)
class LintTarget:
    """One rubric or template to check."""

    kind: Literal["rubric", "template", "partial"]
    name: str
    """Its path, or the name of a shipped one."""

    folders: tuple[Path, ...] = ()
    """Folders whose includes go before the shipped ones."""


def find_lint_targets(names: Sequence[str], folders: Sequence[Path]) -> list[LintTarget]:
    """The rubrics and templates to check: those named, else the suite's, else all shipped ones."""
    # Without names, what the user works on: the suite here, else everything shipped.
    if names:
        found = [target for name in names for target in _targets(name, tuple(folders))]
    elif Path(SUITE_FILE).is_file():
        found = list(_suite_targets(Path(SUITE_FILE), tuple(folders)))
    else:
        found = [LintTarget("rubric", name) for name in shipped_rubrics()]
        found += [LintTarget("template", name) for name in _all_templates()]
    return list(dict.fromkeys(found))


def lint_target(target: LintTarget) -> list[Diagnostic]:
    """The problems of a rubric or template."""
    if target.kind == "rubric":
        return _rubric_diagnostics(rubric_path(target.name))
    try:
        if target.kind == "partial":
            flaws = lint_partial(Path(target.name))
        else:
            flaws = lint_template(target.name, target.folders)
    except TemplateError as error:
        return [Diagnostic(target.name, None, "error", error.message, error.hint, "unsound")]
    return [
        diagnostic_from_flaw(flaw, path=str(flaw.path or target.name), line=flaw.line)
        for flaw in flaws
    ]


def _targets(name: str, folders: tuple[Path, ...]) -> Iterator[LintTarget]:
    path = Path(name)
    if path.is_dir():
        yield from _folder_targets(path, folders)
    elif path.is_file():
        yield from _file_targets(path, folders)
    elif name.removesuffix(_TEMPLATE) in _all_templates(folders):
        yield LintTarget("template", name, folders)
    elif _rubric_name(name) in shipped_rubrics():
        yield LintTarget("rubric", _rubric_name(name))
    else:
        known = [*shipped_rubrics(), *_all_templates(folders)]
        raise UnknownNameError("file, rubric or template", name, known)


def _all_templates(folders: tuple[Path, ...] = ()) -> list[str]:
    return [*template_names(folders), *pair_template_names(folders)]


def _rubric_name(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _file_targets(path: Path, folders: tuple[Path, ...]) -> Iterator[LintTarget]:
    if path.suffix == _TEMPLATE:
        kind: Literal["template", "partial"] = "template" if _has_blocks(path) else "partial"
        yield LintTarget(kind, str(path), (*folders, *_prompts_around(path)))
        return
    match _kind(path):
        case "rubric":
            yield LintTarget("rubric", str(path))
        case "suite":
            yield from _suite_targets(path, folders)
        case _:
            raise SettingsError(
                f"{path} is neither a rubric nor a prompt template nor a suite",
                hint="`judgekit validate` checks every other type of file",
            )


def _folder_targets(folder: Path, folders: tuple[Path, ...]) -> Iterator[LintTarget]:
    """The rubrics and judge templates in a folder; a prompt for a system under test is neither."""
    around = (*folders, folder, *_prompts_around(folder))
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        # `.venv`, `.git` and the like hold templates of other tools.
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path.suffix == _TEMPLATE and _has_blocks(path):
            yield LintTarget("template", str(path), around)
        elif path.suffix == _TEMPLATE and path.parent.name == "partials":
            yield LintTarget("partial", str(path))
        elif suffix_of(path) in DOCUMENT_SUFFIXES and _kind(path) == "rubric":
            yield LintTarget("rubric", str(path))


def _suite_targets(path: Path, folders: tuple[Path, ...]) -> Iterator[LintTarget]:
    """The suite's rubric, the templates its judges name, and the `prompts/` folder beside it."""
    suite = load_suite(path)
    if suite.rubric_source is not None:
        yield LintTarget("rubric", str(suite.rubric_source))
    own = suite.resolve("prompts")
    around = (*folders, own) if own.is_dir() else folders
    for judge in suite.judge:
        if judge.template is not None:
            yield LintTarget("template", judge.template, around)
    if own.is_dir():
        yield from _folder_targets(own, folders)


# A judge template fills the blocks of a base template; a prompt of a system under test has none.
def _has_blocks(path: Path) -> bool:
    return "block" in path.read_text(encoding="utf-8", errors="replace")


def _prompts_around(path: Path) -> tuple[Path, ...]:
    """The nearest folder above that is named `prompts`: includes are relative to it."""
    return tuple(each for each in path.resolve().parents if each.name == "prompts")[:1]


def _kind(path: Path) -> str | None:
    try:
        return document_kind(read_document(path).value)
    except DatasetError:
        # A rubric that cannot be parsed is recognized by its path, so that its error is reported.
        return "rubric" if "rubric" in str(path).lower() else None


def _rubric_diagnostics(path: Path) -> list[Diagnostic]:
    # The wording of a rubric that cannot be loaded cannot be checked.
    problems = [problem for problem in validate_path(path) if problem.severity == "error"]
    if problems:
        return [diagnostic_from_problem(problem) for problem in problems]
    document = read_document(path)
    return [
        diagnostic_from_flaw(flaw, path=str(path), line=document.line_of(*flaw.where))
        for flaw in lint_rubric(load_rubric(path))
    ]
