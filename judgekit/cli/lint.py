"""`judgekit lint`: checks rubrics and templates for what misleads judges or wastes tokens.

How problems of files are shown, for `validate` too, stands at the end.
"""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from judgekit import datasets, formats, prompts, report, targets as test_targets
from judgekit.cli.help import command
from judgekit.cli.options import OutputOptions, flag, option
from judgekit.cli.outputs import show_document
from judgekit.cli.setup import SUITE_FILE
from judgekit.errors import DatasetError, InputError, SettingsError, TemplateError, UnknownNameError
from judgekit.report import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from judgekit.formats import Problem
    from judgekit.prompts import Flaw


TEMPLATE_SUFFIX = ".j2"
TemplateKind = Literal["template", "partial", "prompt"]
"""A judge's template, a part of some, or a prompt under test, whose author is free."""

_BLOCK = re.compile(rb"\{%[-+]?\s*block\s+(\w+)")


def templates_option() -> Any:
    kind = click.Path(path_type=Path, exists=True, file_okay=False)
    words = "Folder with your own templates; may be repeated."
    return option(words, (), spelling="--templates", kind=kind)


class _LintOptions(OutputOptions):
    folders: tuple[Path, ...] = templates_option()
    strict: bool = flag("Exit 1 for warnings as well.")


@command("lint", _LintOptions)
@click.argument("paths", nargs=-1, metavar="[PATHS|NAMES]...")
def lint_command(options: _LintOptions, *, paths: tuple[str, ...]) -> None:
    """Check rubrics and prompt templates for wording that misleads judges or wastes tokens.

    PATHS are rubrics, .j2 templates, suites, or folders of these; NAMES are those of shipped
    rubrics and templates. By default the files that judgekit.yaml uses, else everything shipped.
    Of a prompt under test, only whether it can be rendered is checked.

    Exit code 1 if there is an error, else 0.

    Examples:
        judgekit lint
        judgekit lint rubric.yaml --strict
        judgekit lint rubrics/ --templates prompts
    """
    # Without names, what the user works on: the suite here, else everything shipped.
    if paths:
        found = [target for name in paths for target in _targets(name, options.folders)]
    elif Path(SUITE_FILE).is_file():
        found = list(_suite_targets(Path(SUITE_FILE), options.folders))
    else:
        found = [LintTarget("rubric", name) for name in datasets.shipped_rubrics()]
        # Templates of an earlier date are kept as they were, with flaws that are known.
        found += [
            LintTarget("template", name) for name in _all_templates() if not _DATED.search(name)
        ]
    targets = list(dict.fromkeys(found))
    remarks = sort_diagnostics(remark for target in targets for remark in _lint(target))
    kinds = [target.kind for target in targets]
    counted = [numbers.format_count(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)]
    checked = [{"kind": target.kind, "name": target.name} for target in targets]
    document = diagnostics_document(
        "Rubrics and templates",
        f"{', '.join(counted) or 'nothing'} checked",
        remarks,
        {"checked": checked},
    )
    show_document(document, options)
    # As linters do; 2 is an error of the command line.
    sys.exit(1 if is_failed(remarks, strict=options.strict) else 0)


_DATED = re.compile(r"_20\d\d_\d\d$")


@dataclass(frozen=True, slots=True)
class LintTarget:
    """A rubric or template to check, by its path or shipped name.

    The includes of its folders go before the shipped ones.
    """

    kind: Literal["rubric"] | TemplateKind
    name: str
    folders: tuple[Path, ...] = ()


def _lint(target: LintTarget) -> list[Diagnostic]:
    if target.kind == "rubric":
        path = datasets.rubric_path(target.name)
        own = datasets.memory_rubric(path)
        if own is not None:  # it has no line of its own in the memory
            flaws = prompts.lint_rubric(own)
            return [diagnostic_from_flaw(flaw, path=str(path), line=None) for flaw in flaws]
        # The wording of a rubric that cannot be loaded cannot be checked.
        problems = [one for one in datasets.validate_path(path) if one.severity == "error"]
        if problems:
            return [diagnostic_from_problem(problem) for problem in problems]
        document = formats.read_document(path)
        return [
            diagnostic_from_flaw(flaw, path=str(path), line=document.line_of(*flaw.where))
            for flaw in prompts.lint_rubric(datasets.load_rubric(path))
        ]
    try:
        if target.kind == "partial":
            flaws = prompts.lint_partial(Path(target.name))
        elif target.kind == "prompt":
            # No judge reads it, so that only what would stop a run is a fault.
            test_targets.TargetPrompt(target.name, template_folders=target.folders)
            return []
        else:
            flaws = prompts.lint_template(target.name, target.folders)
    except TemplateError as error:
        return [template_fault(target.name, error)]
    return [
        diagnostic_from_flaw(flaw, path=str(flaw.path or target.name), line=flaw.line)
        for flaw in flaws
    ]


def file_flaws(path: Path) -> list[Diagnostic]:
    """What `lint` reports of a file, and of what it uses."""
    return [flaw for target in _file_targets(path, ()) for flaw in _lint(target)]


def _targets(name: str, folders: tuple[Path, ...]) -> Iterator[LintTarget]:
    path = Path(name)
    if path.is_dir():
        yield from _folder_targets(path, folders)
    elif path.is_file():
        yield from _file_targets(path, folders)
    elif name.removesuffix(TEMPLATE_SUFFIX) in _all_templates(folders):
        yield LintTarget("template", name, folders)
    elif (
        rubric := name.strip().lower().replace("-", "_").replace(" ", "_")
    ) in datasets.shipped_rubrics():
        yield LintTarget("rubric", rubric)
    elif "#" in name and datasets.memory_rubric(path) is not None:
        yield LintTarget("rubric", name)
    else:
        known = [*datasets.shipped_rubrics(), *_all_templates(folders)]
        raise UnknownNameError("file, rubric or template", name, known)


def _all_templates(folders: tuple[Path, ...] = ()) -> list[str]:
    return [*prompts.template_names(folders), *prompts.pair_template_names(folders)]


def _file_targets(path: Path, folders: tuple[Path, ...]) -> Iterator[LintTarget]:
    if path.suffix == TEMPLATE_SUFFIX:
        yield LintTarget(template_kind(path), str(path), (*folders, *_prompts_around(path)))
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
        if path.suffix == TEMPLATE_SUFFIX and is_judge_template(path):
            yield LintTarget("template", str(path), around)
        elif path.suffix == TEMPLATE_SUFFIX and path.parent.name == "partials":
            yield LintTarget("partial", str(path))
        elif formats.suffix_of(path) in formats.DOCUMENT_SUFFIXES and _kind(path) == "rubric":
            yield LintTarget("rubric", str(path))


def _suite_targets(path: Path, folders: tuple[Path, ...]) -> Iterator[LintTarget]:
    """The suite's rubric, the templates its judges name, and the `prompts/` folder beside it."""
    suite = datasets.load_suite(path)
    if suite.rubric_source is not None:
        with datasets.naming_place(suite, "rubric"):
            rubric = datasets.rubric_path(suite.rubric_source)
        yield LintTarget("rubric", str(rubric))
    own = suite.resolve("prompts")
    around = (*folders, own) if own.is_dir() else folders
    for judge in suite.judge:
        if judge.template is not None:
            yield LintTarget("template", judge.template, around)
    if own.is_dir():
        yield from _folder_targets(own, folders)


def _prompts_around(path: Path) -> tuple[Path, ...]:
    """The nearest folder above that is named `prompts`: includes are relative to it."""
    return tuple(each for each in path.resolve().parents if each.name == "prompts")[:1]


def _kind(path: Path) -> str | None:
    try:
        return formats.document_kind(formats.read_document(path).value)
    except DatasetError:
        # A rubric that cannot be parsed is recognized by its path, so that its error is reported.
        return "rubric" if "rubric" in str(path).lower() else None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem in a file, with its line from 1, and the rule it breaks, if rules have names."""

    path: str | None
    line: int | None
    severity: formats.Severity
    message: str
    remedy: str | None
    rule: str | None = None


def template_fault(path: str, error: TemplateError) -> Diagnostic:
    """A template that cannot be used, at the line that its error names."""
    place = re.search(r":(\d+): ", error.message)
    line = None if place is None else int(place[1])
    return Diagnostic(path, line, "error", error.message, error.hint, "unsound")


def criterion_templates(source: Path | str | None, folders: Sequence[Path]) -> Iterator[Diagnostic]:
    """The criteria of a rubric's file whose own template is unknown or does not fit."""
    try:
        path = None if source is None else datasets.rubric_path(source)
        if path is None or datasets.memory_rubric(path) is not None:  # which names no templates
            return
        document, rubric = formats.read_document(path), datasets.load_rubric(path)
    except InputError:
        return  # an invalid rubric is reported already
    for place, criterion in enumerate(rubric.criteria):
        if criterion.template is not None:
            alone = rubric.model_copy(update={"criteria": (criterion,)})
            try:
                prompts.PromptTemplate(criterion.template, folders).check_fits(alone)
            except InputError as error:
                line = document.line_of("criteria", place, "template")
                lead = f"criterion {criterion.name!r}: "
                message = lead + error.message.removeprefix(lead)
                yield Diagnostic(str(path), line, "error", message, error.hint)


def diagnostic_from_problem(problem: Problem) -> Diagnostic:
    case = "" if problem.case_id is None else f"case {problem.case_id!r}: "
    words = f"{case}{problem.message}"
    return Diagnostic(problem.path, problem.line, problem.severity, words, problem.remedy)


def diagnostic_from_flaw(flaw: Flaw, *, path: str | None, line: int | None) -> Diagnostic:
    place = "" if flaw.place is None else f"{flaw.place}: "
    words = f"{place}{flaw.message}"
    return Diagnostic(path, line, flaw.severity, words, flaw.remedy, flaw.rule)


def sort_diagnostics(remarks: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Problems by file and line, each once."""
    # Files stay in the order in which they were named; a set would shuffle them.
    # A file may be checked both by itself and as a part of a suite.
    unique = list(dict.fromkeys(remarks))
    files = {path: number for number, path in enumerate(dict.fromkeys(r.path for r in unique))}
    return sorted(unique, key=lambda remark: (files[remark.path], remark.line or 0))


def is_failed(remarks: Sequence[Diagnostic], *, strict: bool) -> bool:
    """Whether there is an error, or with `strict` anything at all."""
    return any(strict or remark.severity == "error" for remark in remarks)


def short_path(path: str | Path) -> Path:
    """A path as short as it can be typed here: a line is wrapped where it is too long."""
    whole, here = Path(path).absolute(), Path.cwd()
    return whole.relative_to(here) if whole.is_relative_to(here) else Path(path)


def diagnostics_document(
    title: str,
    checked: str,
    remarks: Sequence[Diagnostic],
    data: dict[str, object],
    notes: Sequence[str] = (),
) -> report.Document:
    """The problems, one per line, as compilers do, so that editors can jump to them."""
    counts = {
        severity: sum(remark.severity == severity for remark in remarks)
        for severity in get_args(formats.Severity)
    }
    parts = [
        f"{n} left out" if severity == "left_out" else numbers.format_count(n, severity)
        for severity, n in counts.items()
        if n
    ]
    lines = [*notes]
    for remark in remarks:
        place = "" if remark.path is None else f"{short_path(remark.path)}:"
        place += "" if remark.line is None else f"{remark.line}:"
        remedy = f" ({remark.remedy})" if remark.remedy else ""
        rule = f" [{remark.rule}]" if remark.rule else ""
        lines.append(
            f"{place} {remark.severity.replace('_', ' ')}: {remark.message}{remedy}{rule}".lstrip()
        )
    tone: Literal["fail", "inconclusive", "pass"] = "inconclusive" if remarks else "pass"
    return report.Document(
        title,
        report.Conclusion(
            f"{checked}: {', '.join(parts) or 'no problems found'}",
            "fail" if counts["error"] else tone,
        ),
        report.not_empty([report.Notes(tuple(lines))]),
        lambda: {
            **data,
            "n_errors": counts["error"],
            "n_left_out": counts["left_out"],
            "n_warnings": counts["warning"],
            "findings": [asdict(remark) for remark in remarks],
        },
    )


# A judge template has blocks of its own, or fills those of a base template; a prompt under test has
# none but `user` and `system`.
def is_judge_template(path: Path) -> bool:
    with formats.open_file(path) as stream:
        text = stream.read()
    return b"extends" in text or not {*_BLOCK.findall(text)} <= {b"user", b"system"}


def template_kind(path: Path) -> TemplateKind:
    """What a template file is, by its blocks and its folder."""
    if is_judge_template(path):
        return "template"
    return "partial" if path.parent.name == "partials" else "prompt"
