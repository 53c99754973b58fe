"""`judgekit validate`: reports every problem of suites, datasets, rubrics and templates at once."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit import assertions, datasets, evaluation, formats, models, prompts, targets
from judgekit.cli import console
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.lint import (
    TEMPLATE_SUFFIX,
    Diagnostic,
    criterion_templates,
    diagnostic_from_flaw,
    diagnostic_from_problem,
    diagnostics_document,
    file_flaws,
    is_failed,
    short_path,
    sort_diagnostics,
    template_fault,
    template_kind,
    templates_option,
)
from judgekit.cli.options import EXISTING_PATH, OutputOptions, flag, root_option
from judgekit.cli.outputs import show_document
from judgekit.cli.setup import SUITE_FILE
from judgekit.errors import (
    DatasetError,
    InputError,
    JudgekitError,
    NotImportedWarning,
    SettingsError,
    TemplateError,
    UnknownNameError,
)
from judgekit.extras import install_hint, is_installed
from judgekit.formats import DOCUMENT_SUFFIXES, FORMATS, LINE_SUFFIXES, TABLE_SUFFIXES
from judgekit.report import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pydantic import JsonValue

    from judgekit.datasets import Suite
    from judgekit.formats import ForeignFile, KeyPath, ParsedDocument
    from judgekit.models import Embeddings
    from judgekit.records import Case, JsonObject, Rubric
    from judgekit.web import CheckedFile

_KNOWN = frozenset({*DOCUMENT_SUFFIXES, *LINE_SUFFIXES, *TABLE_SUFFIXES, TEMPLATE_SUFFIX, ".eval"})

_TITLES = {
    "suite": "suite",
    "rubric": "rubric",
    "cases": "cases",
    "outputs": "outputs",
    "replies": "recorded replies",
    "labels": "labels",
}

# Rows that have nothing but `case_id`, `text` and what both kinds have.
_OUTPUTS_OR_REPLIES = "outputs or recorded replies"
_MAPS = "calibration maps"
_RESULTS: tuple[tuple[str, frozenset[str]], ...] = (
    ("verdicts", frozenset({"rubric_fingerprint", "judgments", "value_low"})),
    ("verdicts", frozenset({"case_id", "verdict_value", "verdict_passed"})),
    ("answers of a run", frozenset({"run_id", "output_text", "is_done"})),
    ("comparisons", frozenset({"variant_a", "variant_b", "preferences"})),
    (_MAPS, frozenset({"asked", "maps", "label_set"})),
    ("a calibration report", frozenset({"stand_in", "pooled"})),
    ("an audit report", frozenset({"probes", "material"})),
    ("a rejudgment report", frozenset({"churn", "flips"})),
    ("a plan", frozenset({"n_questions", "n_calls", "token_source"})),
    ("a plan", frozenset({"n_counted", "n_answers", "models"})),
    ("cache statistics", frozenset({"folder", "n_entries", "saved"})),
    ("a validation report", frozenset({"component", "overall_score", "dimensions"})),
)
"""What commands write about results, by fields that only such a file has."""

_PAGES = {".html": "a page", ".md": "a page", ".xml": "results for a CI server"}

_UNKNOWN = "not a file of judgekit"
_UNREADABLE = "cannot be read"
_CHECKED = frozenset(
    {*_TITLES.values(), _OUTPUTS_OR_REPLIES, "template", _UNREADABLE}
    | {one.title for one in FORMATS if one.has_cases}
)
"""The types of files that are checked in a folder."""


class _ValidateOptions(OutputOptions):
    strict: bool = flag("Exit 2 for warnings as well.")
    root: Path | None = root_option()
    allow_scripts: bool = flag("Run code that makes tests; do not list what needs this flag.")
    folders: tuple[Path, ...] = templates_option()


@command("validate", _ValidateOptions)
@click.argument("paths", nargs=-1, type=EXISTING_PATH)
def validate_command(options: _ValidateOptions, *, paths: tuple[Path, ...]) -> None:
    """Check that files are valid: reports every problem of every file at once.

    PATHS are suites, rubrics, cases, outputs, recorded replies, labels, templates, or folders of
    these; by default judgekit.yaml and all files it names. The type of a file is recognized by its
    content. Other files in a folder are skipped.

    Exit code 2 if there is an error, else 0.

    Examples:
        judgekit validate
        judgekit validate cases.jsonl rubrics/ --strict
        judgekit validate .
    """
    files = [(path, _title(path)) for path in _files(paths)]
    # What is not imported is listed below.
    allowed, root = options.allow_scripts, options.root
    with console.strict_import(is_strict=False, allow_scripts=allowed, root=root):
        warnings.simplefilter("ignore", NotImportedWarning)
        found = [one for path, title in files for one in _diagnostics(path, title, options.folders)]
    if allowed:
        found = [one for one in found if formats.NEEDS_SCRIPTS not in one.message]
    remarks = sort_diagnostics(found)
    document = diagnostics_document(
        "Files",
        numbers.format_count(len(files), "file"),
        remarks,
        {"files": [{"path": str(path), "kind": title} for path, title in files]},
        [f"{short_path(path)}: {title}" for path, title in files],
    )
    show_document(document, options)
    sys.exit(Exit.INPUT if is_failed(remarks, strict=options.strict) else 0)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """The files to check: those named, and in folders those of judgekit and unreadable ones."""
    if not paths and not Path(SUITE_FILE).is_file():
        raise SettingsError(
            f"there is no {SUITE_FILE} here",
            hint="check every file below this folder with `judgekit validate .`, or name suites, "
            "rubrics, cases, outputs, replies, labels, templates or folders of them",
        )
    for named in paths or (Path(SUITE_FILE),):
        if not named.is_dir():
            yield named
            continue
        for path in sorted(named.rglob("*")):
            parts = path.relative_to(named).parts
            is_skipped = any(
                part.startswith(".") or part in datasets.SKIPPED_FOLDERS for part in parts
            )
            if not path.is_file() or is_skipped or formats.suffix_of(path) not in _KNOWN:
                continue
            # Other tools may keep their files beside ours.
            title = _title(path)
            if title in _CHECKED or (title == "partial" and path.parent.name == "partials"):
                yield path


def checked_file(path: Path) -> CheckedFile:
    """What this command and `lint` report of a file; for the editor."""
    from judgekit.web import CheckedFile  # noqa: PLC0415 - the server, only there

    title = _title(path)
    try:
        found = _diagnostics(path, title)
    except JudgekitError as error:
        found = [_error(path, None, error.message, error.hint)]
    # Of a type that lint does not know, or invalid, which is in the list already.
    with suppress(InputError):
        found += file_flaws(path)
    return CheckedFile(
        title,
        # The editor marks errors and warnings; what is left out is no error.
        tuple(
            asdict(replace(one, severity="warning") if one.severity == "left_out" else one)
            for one in sort_diagnostics(found)
        ),
        is_listed=title in _CHECKED or title in {"partial", "prompt"},
        is_recorded=title == _TITLES["replies"] or title in dict(_RESULTS),
    )


def _title(path: Path) -> str:
    if path.suffix == TEMPLATE_SUFFIX:
        return template_kind(path)
    if path.suffix in _PAGES:
        return _PAGES[path.suffix]
    try:
        document = formats.read_whole_document(path)
        if document is not None:
            value = document.value
            shape, kind = formats.foreign_shape(value), formats.document_kind(value)
            if shape is not None:
                return shape.title
            # Lists and exports are recognized by their first item.
            while isinstance(value, list) or (isinstance(value, dict) and len(value) == 1):
                items = value if isinstance(value, list) else list(value.values())
                value = items[0] if items else None
            fields = value if isinstance(value, dict) else {}
        else:
            row = next(iter(formats.scan_rows(path)), None)
            if not isinstance(row, formats.FileRow):
                return _UNREADABLE
            fields = row.fields
            kind = formats.row_kind(fields)
    except DatasetError:
        return _UNREADABLE
    names = {name.removesuffix(formats.TYPED_SUFFIX) for name in fields}
    result = next((title for title, marks in _RESULTS if marks <= names), None)
    is_either = kind == "replies" and formats.REPLIES_OWN.isdisjoint(names)
    return result or (_OUTPUTS_OR_REPLIES if is_either else _TITLES.get(kind or "", _UNKNOWN))


def _diagnostics(path: Path, title: str, folders: tuple[Path, ...] = ()) -> list[Diagnostic]:
    try:
        if path.suffix == TEMPLATE_SUFFIX:
            # Whether it compiles and renders; its quality is the subject of `lint`.
            if title == "prompt":
                targets.TargetPrompt(str(path))
                return []
            flaws = (
                prompts.lint_template(str(path))
                if title == "template"
                else prompts.lint_partial(path)
            )
            return [
                diagnostic_from_flaw(flaw, path=str(path), line=flaw.line)
                for flaw in flaws
                if flaw.rule == "unsound"
            ]
        if title == _MAPS:
            datasets.load_calibration(path)
    except TemplateError as error:
        return [template_fault(str(path), error)]
    except SettingsError as error:
        return [_error(path, None, error.message, error.hint)]
    # What commands write about results is evidence, which nobody edits.
    if path.suffix in _PAGES or title in dict(_RESULTS):
        return []
    found = [diagnostic_from_problem(problem) for problem in datasets.validate_path(path)]
    found += assertion_diagnostics(path, found)
    if title == _TITLES["rubric"]:
        # It may belong to any suite above it, whose templates are beside that.
        around = [folder / "prompts" for folder in path.absolute().parents]
        found += criterion_templates(path, (*folders, *around))
    return [*found, *suite_diagnostics(path, found, folders)]


_ASSERTIONS = "assertions"


def assertion_diagnostics(path: Path, known: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The invalid assertions of a file, and of the cases a suite names."""
    try:
        document = formats.read_whole_document(path)
        if document is not None:
            found = list(_of_document(document))
        else:
            found = [
                _error(path, row.line, fault.message, fault.remedy, row.fields.get("id"))
                for row in formats.scan_rows(path)
                if isinstance(row, formats.FileRow)
                and isinstance(row.fields.get(_ASSERTIONS), list)
                for fault in assertions.read_specs(
                    row.fields[_ASSERTIONS], registry=assertions.every_assertion()
                )[1]
            ]
    except DatasetError:
        return []  # already in `known`
    return [remark for remark in found if not any(_is_same(remark, one) for one in known)]


def _of_document(document: ParsedDocument) -> Iterator[Diagnostic]:
    value = document.value
    shape, kind = formats.foreign_shape(value), formats.document_kind(value)
    fields = value if isinstance(value, dict) else {}
    if shape is None:
        if kind in {"suite", "cases"}:
            yield from _as_written(document)
    elif shape.reader is not None and shape.has_cases:
        if "workflowName" in fields:
            yield from _as_written(document)
        else:
            yield from _of_cases(shape.read(document))
    # The cases in the file that a suite names; a missing file is reported already.
    named = fields.get("dataset") if kind == "suite" else None
    other = document.path.parent / named if isinstance(named, str) else None
    if other is not None and (formats.folder_exists(other) or formats.file_exists(other)):
        yield from assertion_diagnostics(other, ())


def _of_cases(reading: ForeignFile) -> Iterator[Diagnostic]:
    """The faults of converted cases; one that several cases share is reported once."""
    reported: set[tuple[int, str]] = set()
    for case in reading.cases:
        places = reading.spec_places.get(case.id)
        every = assertions.every_assertion()
        for fault in assertions.read_specs(case.assertions, registry=every)[1]:
            at = reading.places[case.id] if places is None else places[int(fault.where[1])]
            line, message = reading.document.line_of(*at), fault.message
            if places is not None:  # its number in the case is not its number in the file
                message = message.partition(" ")[2]
            # A list that stands once in the file is part of every case it applies to.
            fault_key = (line, message.partition("assertions[")[2] if places is None else message)
            if fault_key not in reported:
                reported.add(fault_key)
                yield _error(reading.document.path, line, message, fault.remedy, case.id)


def _as_written(document: ParsedDocument) -> Iterator[Diagnostic]:
    """The faults of assertions that are used as the file has them, each with its line."""
    value = document.value
    cases = value.get("cases") if isinstance(value, dict) else value
    holders: list[tuple[KeyPath, JsonValue]] = [((), value)] if isinstance(value, dict) else []
    at: KeyPath = ("cases",) if isinstance(value, dict) else ()
    if isinstance(cases, list):
        holders += [((*at, place), case) for place, case in enumerate(cases)]
    for place, holder in holders:
        if isinstance(holder, dict) and holder.get(_ASSERTIONS):
            name = holder.get("id") if place else None
            specs, where = holder[_ASSERTIONS], (*place, _ASSERTIONS)
            for fault in assertions.read_specs(specs, registry=assertions.every_assertion())[1]:
                line = document.line_of(*where, *fault.where[1:])
                yield _error(document.path, line, fault.message, fault.remedy, name)


def _is_same(remark: Diagnostic, known: Diagnostic) -> bool:
    """Whether a problem is known: the same fault of a case, or a field that an assertion needs."""
    # The problems of a foreign file name its own fields, not those of the converted case.
    if remark.path != known.path:
        return False
    case, _, fault = known.message.partition("': ")
    if fault and remark.message.startswith(f"{case}': ") and fault in remark.message:
        return True
    named = remark.message.partition("(")[2].partition(")")[0]
    is_needed = bool(named) and f"`{named}` needs" in known.message
    return is_needed and remark.line == known.line and "needs `" in remark.message


def suite_diagnostics(
    path: Path, known: Sequence[Diagnostic], folders: Sequence[Path] = ()
) -> list[Diagnostic]:
    """The problems of how a suite evaluates its cases."""
    try:
        document = formats.read_whole_document(path)
        shape = None if document is None else formats.foreign_shape(document.value)
        is_suite = document is not None and (
            formats.document_kind(document.value) == "suite" if shape is None else shape.is_suite
        )
        if document is None or not is_suite:
            return []
        suite = datasets.suite_from_path(path)
    except JudgekitError as error:
        if any(remark.severity == "error" for remark in known):
            return []  # already in `known`
        return [_error(path, None, error.message, error.hint)]
    reported = {(remark.line, remark.message) for remark in known}
    found = [*_of_suite(suite, document), *_of_suite_cases(suite, document)]
    around = (*folders, *datasets.suite_template_folders(suite))
    for source in (suite.rubric_source, *map(suite.rubric_named, suite.extra_rubrics)):
        found += criterion_templates(source, around)
    found += _of_judges(suite, document, around)
    return [one for one in found if (one.line, one.message) not in reported]


def _of_suite(suite: Suite, document: ParsedDocument) -> Iterator[Diagnostic]:
    path, rubric = document.path, _rubric(suite)
    names = [] if rubric is None else [each.name for each in rubric.criteria]
    for key, specs in (("assertions", suite.assertions), ("scorers", suite.scorers)):
        for place, spec in enumerate(specs):
            line, named = document.line_of(key, place), spec.get("criterion")
            is_checked = names and key == "assertions" and isinstance(named, str)
            if is_checked and named not in names:
                hint = f"the rubric has {', '.join(names)}"
                yield _error(path, line, f"no criterion is called {named!r}", hint)
            yield from (_error(path, line, fault) for fault in _script_faults(suite, [spec]))
    yield from _of_scorers(suite, document)
    for key in ("setup", "teardown"):
        command = getattr(suite.settings, key)
        # Our own suites name commands, which are looked up when they run.
        is_theirs = formats.foreign_shape(document.value) is not None
        if command and is_theirs and not formats.file_exists(suite.folder / command[-1]):
            line = document.line_of(key, "script")
            yield _error(path, line, f"there is no script {command[-1]!r} in {suite.folder}")


def _of_judges(
    suite: Suite, document: ParsedDocument, folders: Sequence[Path]
) -> Iterator[Diagnostic]:
    """The judges whose template is unknown, or whose settings hold a key."""
    for place, judge in enumerate(suite.judge):
        each = (place,) if len(suite.judge) > 1 else ()
        checks: dict[str, Callable[[], object]] = {
            "parameters": partial(models.refuse_secret_parameters, judge.parameters),
            "api_base": partial(models.refuse_secret_address, judge.api_base),
        }
        if (name := datasets.resolve_suite_template(suite, judge.template)) is not None:
            checks["template"] = partial(prompts.find_template, name, folders)
        for field, check in checks.items():
            try:
                check()
            except (SettingsError, UnknownNameError) as error:
                line = document.line_of("judge", *each, field)
                yield _error(document.path, line, error.message, error.hint)


def _of_scorers(suite: Suite, document: ParsedDocument) -> Iterator[Diagnostic]:
    path = document.path
    for place, spec in enumerate(suite.scorers):
        line = document.line_of("scorers", place)
        try:
            plans = _plans(suite, None, scorers=(spec,))
            assertions.read_scorers(plans.suite_scorers, registry=plans.scorers)
        except InputError as error:
            # Each is checked alone, so its number in the message would always be 0.
            fault = error.message.removeprefix("scorers[0]").lstrip(": ")
            yield _error(path, line, fault, error.hint)
            continue
        # Warnings about what is missing on this machine: a key, an optional package.
        method = spec.get("method") if spec.get("type") == "similarity" else None
        variable = models.key_variable(str(spec.get("model")).partition("/")[0])
        is_asked = method == "embedding" and spec.get("api_base") is None
        if is_asked and not os.environ.get(variable):
            what = f"the model {spec.get('model')} needs a key, and {variable} is not set"
            yield Diagnostic(str(path), line, "warning", what, "set it before the run")
        if method == "best" and not is_installed("wordllama"):
            what = "semantic similarity is not installed; words are compared instead"
            yield Diagnostic(str(path), line, "warning", what, install_hint("wordllama"))


def _of_criteria(
    suite: Suite, plans: evaluation.CasePlans, cases: Sequence[Case], document: ParsedDocument
) -> Iterator[Diagnostic]:
    """Criteria without a judge, judges without a criterion, and needs that no case meets."""
    named = [judge.name for judge in suite.judge if judge.name is not None]
    checks = evaluation.CriterionChecks(named, n_judges=len(suite.judge))
    rubrics = [[*_rubrics_of(case, plans)] for case in cases]
    try:
        for case, listed in zip(cases, rubrics, strict=True):
            for rubric in listed:
                checks.take(case, rubric)
        if any(rubrics):
            checks.check_names()
    except SettingsError as error:
        line = document.line_of("judge")
        yield _error(document.path, line, error.message, error.hint)
    for words in checks.unmet_needs:
        line = document.line_of("rubric")
        remedy = "add it to the cases, or remove it from `needs`"
        yield Diagnostic(str(document.path), line, "warning", words, remedy)


def _rubrics_of(case: Case, plans: evaluation.CasePlans) -> Iterator[Rubric]:
    with suppress(InputError):  # reported with its case, or with its file
        if (rubric := plans.rubric_of(plans.as_run(case))) is not None:
            yield rubric
    with suppress(InputError):
        yield from filter(None, map(evaluation.choice_rubric, plans.every_check(case)))


def _of_suite_cases(suite: Suite, document: ParsedDocument) -> Iterator[Diagnostic]:
    try:
        plans = _plans(suite, _rubric(suite))
        placed = list(_placed_cases(suite, document))
        variants = [variant.id for variant in datasets.expand_variants(suite)]
    except JudgekitError:
        return  # its rubric, dataset or variants are invalid, which is in `known`
    yield from _of_criteria(suite, plans, [case for _, _, case in placed], document)
    for path, line, case in placed:
        lead = f"case {case.id!r}: "
        for name in sorted({*(case.variants or ())} - {*variants}) if variants else ():
            hint = formats.suggest_name(name, variants)
            yield _error(path, line, f"{lead}the suite has no variant {name!r}", hint)
        try:
            plans.plan(case)
        except InputError as error:
            yield _error(path, line, f"{lead}{error.message.removeprefix(lead)}", error.hint)
        own = None if case.evaluation is None else case.evaluation.script
        scripts = [] if own is None else [{"type": "custom.script", "script": own}]
        for fault in dict.fromkeys(_script_faults(suite, [*case.assertions, *scripts])):
            yield _error(path, line, f"{lead}{fault}")


def _placed_cases(
    suite: Suite, document: ParsedDocument
) -> Iterator[tuple[Path, int | None, Case]]:
    other = suite.dataset_path
    if other is None:
        shape = formats.foreign_shape(document.value)
        places = {} if shape is None else shape.read(document).places
        for place, case in enumerate(suite.cases or ()):
            line = document.line_of(*places.get(case.id, ("cases", place)))
            yield document.path, line, case
        return
    # Renamed columns are read by the loader only, which reports their problems itself.
    if suite.columns:
        return
    named = formats.read_whole_document(other)
    shape = None if named is None else formats.foreign_shape(named.value)
    if named is not None and shape is not None:
        reading = shape.read(named)
        for case in reading.cases:
            yield other, named.line_of(*reading.places[case.id]), case
        return
    check = datasets.RowCheck(other, "cases").take(formats.scan_rows(other))
    for case in check.cases:
        yield other, check.lines.get((case.id,)), case


def _script_faults(suite: Suite, specs: Sequence[object]) -> Iterator[str]:
    settings = _plans(suite, None).scripts
    for script in assertions.named_scripts(specs):
        try:
            assertions.find_script(script, settings)
        except assertions.ScriptFailedError as error:
            yield str(error)


def _plans(
    suite: Suite, rubric: Rubric | None, scorers: tuple[JsonObject, ...] = ()
) -> evaluation.CasePlans:
    # Extra rubrics are checked as files, and change nothing in how a case is evaluated.
    return evaluation.CasePlans(
        suite.model_copy(update={"extra_rubrics": (), "scorers": scorers}),
        rubric=rubric,
        is_judged=any(judge.kind != "heuristic" for judge in suite.judge),
        allow_scripts=True,
        # Only the settings are checked: no text is ever embedded.
        open_embeddings=lambda _model, _api_base: cast(
            "Embeddings", lambda texts: [() for _ in texts]
        ),
    )


def _rubric(suite: Suite) -> Rubric | None:
    try:
        return None if suite.rubric_source is None else datasets.load_rubric(suite.rubric_source)
    except InputError:
        return None  # an invalid rubric is in `known`


def _error(
    path: Path, line: int | None, message: str, hint: str | None = None, case_id: object = None
) -> Diagnostic:
    case = "" if case_id is None else f"case {case_id!r}: "
    return Diagnostic(str(path), line, "error", f"{case}{message}", hint)
