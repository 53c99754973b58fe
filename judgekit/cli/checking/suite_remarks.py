"""What would keep a suite from being run: its scripts, scorers and strategies."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from judgekit.checks.custom import ScriptFailedError, find_script, named_scripts
from judgekit.checks.scoring import check_scorers
from judgekit.cli.remarks import Remark
from judgekit.datasets.loading import load_rubric
from judgekit.datasets.opening import whole_document
from judgekit.datasets.recognition import SKILL_TESTS, document_kind, foreign_shape
from judgekit.datasets.row_checks import RowCheck
from judgekit.datasets.rows import scan_rows
from judgekit.datasets.suite_opening import suite_from
from judgekit.datasets.texts import is_file
from judgekit.errors import InputError, JudgekitError
from judgekit.evaluation.preparing.case_plans import CasePlans
from judgekit.models.endpoint import key_variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from judgekit.datasets.documents import Document
    from judgekit.datasets.suite import Suite
    from judgekit.models.embeddings import Embeddings
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

_SIMILARITY = "similarity"


def suite_remarks(path: Path, known: Sequence[Remark]) -> list[Remark]:
    """What is wrong with how the cases of a suite are evaluated."""
    try:
        document = whole_document(path)
        if document is None or not _is_suite(document):
            return []
        suite = suite_from(path)
    except JudgekitError as error:
        if any(remark.severity == "error" for remark in known):
            return []  # it is among what is known
        return [_error(path, None, error.message, error.hint)]
    said = {(remark.line, remark.message) for remark in known}
    found = [*_of_suite(suite, document), *_of_cases(suite, document)]
    return [one for one in found if (one.line, one.message) not in said]


def _is_suite(document: Document) -> bool:
    shape = foreign_shape(document.value)
    if shape is not None:
        return shape.reader == SKILL_TESTS
    return document_kind(document.value) == "suite"


def _of_suite(suite: Suite, document: Document) -> Iterator[Remark]:
    path, rubric = document.path, _rubric(suite)
    for place, spec in enumerate(suite.assertions):
        line = document.line_of("assertions", place)
        named = spec.get("criterion")
        names = [] if rubric is None else [each.name for each in rubric.criteria]
        if names and isinstance(named, str) and named not in names:
            hint = f"the rubric has {', '.join(names)}"
            yield _error(path, line, f"no criterion is called {named!r}", hint)
    for key, specs in (("assertions", suite.assertions), ("scorers", suite.scorers)):
        for place, spec in enumerate(specs):
            line = document.line_of(key, place)
            yield from (_error(path, line, told) for told in _script_faults(suite, [spec]))
    yield from _of_scorers(suite, document)
    for key in ("setup", "teardown"):
        command = getattr(suite.settings, key)
        is_theirs = foreign_shape(document.value) is not None
        if command and is_theirs and not is_file(suite.folder / command[-1]):
            line = document.line_of(key, "script")
            yield _error(path, line, f"there is no script {command[-1]!r} in {suite.folder}")


def _of_scorers(suite: Suite, document: Document) -> Iterator[Remark]:
    path = document.path
    for place, spec in enumerate(suite.scorers):
        line = document.line_of("scorers", place)
        try:
            plans = _plans(suite.model_copy(update={"scorers": (spec,)}), None)
            check_scorers(plans.suite_scorers, registry=plans.scorers)
        except InputError as error:
            told = error.message.removeprefix("scorers[0]").lstrip(": ")
            yield _error(path, line, told, error.hint)
        else:
            yield from _of_similarity(spec, path, line)


def _of_similarity(spec: JsonObject, path: Path, line: int) -> Iterator[Remark]:
    """What the file cannot show: whether the means to measure with are at hand."""
    if spec.get("type") != _SIMILARITY:
        return
    variable = key_variable(str(spec.get("model")).partition("/")[0])
    is_asked = spec.get("method") == "embedding" and spec.get("api_base") is None
    if is_asked and not os.environ.get(variable):
        what = f"the model {spec.get('model')} needs a key, and {variable} is not set"
        yield Remark(str(path), line, "warning", what, "set it before the run")
    if spec.get("method") == "best" and find_spec("wordllama") is None:
        what = "semantic similarity is not installed, so that words are compared"
        yield Remark(str(path), line, "warning", what, "pip install 'judgekit-llm[semantic]'")


def _of_cases(suite: Suite, document: Document) -> Iterator[Remark]:
    try:
        plans = _plans(suite.model_copy(update={"scorers": ()}), _rubric(suite))
        placed = list(_placed_cases(suite, document))
    except JudgekitError:
        return  # its rubric or its dataset is unsound, which is among what is known
    for path, line, case in placed:
        lead = f"case {case.id!r}: "
        try:
            plans.plan(case)
        except InputError as error:
            told = error.message.removeprefix(lead)
            yield _error(path, line, f"{lead}{told}", error.hint)
        own = None if case.evaluation is None else case.evaluation.script
        specs = [*case.assertions, *([] if own is None else [_named(own)])]
        for told in dict.fromkeys(_script_faults(suite, specs)):
            yield _error(path, line, f"{lead}{told}")


def _placed_cases(suite: Suite, document: Document) -> Iterator[tuple[Path, int | None, Case]]:
    """The cases of a suite, each with its file and line."""
    other = suite.dataset_path
    if other is None:
        shape = foreign_shape(document.value)
        places = {} if shape is None else shape.read(document).places
        for place, case in enumerate(suite.cases or ()):
            line = document.line_of(*places.get(case.id, ("cases", place)))
            yield document.path, line, case
        return
    if suite.columns:
        return
    named = whole_document(other)
    shape = None if named is None else foreign_shape(named.value)
    if named is not None and shape is not None:
        reading = shape.read(named)
        for case in reading.cases:
            yield other, named.line_of(*reading.places[case.id]), case
        return
    check = RowCheck(other, "cases").take(scan_rows(other))
    for case in check.cases:
        yield other, check.lines.get((case.id,)), case


def _script_faults(suite: Suite, specs: Sequence[object]) -> Iterator[str]:
    settings = _plans(suite.model_copy(update={"scorers": ()}), None).scripts
    for script in named_scripts(specs):
        try:
            find_script(script, settings)
        except ScriptFailedError as error:
            yield str(error)


def _named(script: str) -> dict[str, object]:
    return {"type": "custom.script", "script": script}


def _plans(suite: Suite, rubric: Rubric | None) -> CasePlans:
    return CasePlans(
        suite,
        rubric=rubric,
        is_judged=any(judge.kind != "heuristic" for judge in suite.judge),
        allow_scripts=True,
        open_embeddings=_unasked,
    )


def _unasked(_model: str, _api_base: str | None) -> Embeddings:
    """Stands where a run has a model: here only its settings are looked at."""
    return cast("Embeddings", lambda texts: [() for _ in texts])


def _rubric(suite: Suite) -> Rubric | None:
    try:
        return None if suite.rubric_source is None else load_rubric(suite.rubric_source)
    except InputError:
        return None  # which is among what is known


def _error(path: Path, line: int | None, message: str, hint: str | None = None) -> Remark:
    return Remark(str(path), line, "error", message, hint)
