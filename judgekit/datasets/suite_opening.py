"""Takes any path that names what is to be run as a suite: a suite file, or another tool's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.foreign.suite_of import foreign_suite
from judgekit.datasets.loading import load_dataset, load_suite
from judgekit.datasets.opening import whole_document
from judgekit.datasets.recognition import SKILL_TESTS, document_kind, foreign_shape
from judgekit.datasets.suite import Suite
from judgekit.datasets.suite_settings import RunSettings
from judgekit.datasets.texts import as_path, is_folder
from judgekit.errors import DatasetError, SettingsError

if TYPE_CHECKING:
    from pathlib import Path


def suite_from(path: Path | str) -> Suite:
    """The suite a path stands for."""
    path = as_path(path)
    document = whole_document(path)
    if document is not None:
        shape = foreign_shape(document.value)
        if shape is not None and shape.reader == SKILL_TESTS:
            return foreign_suite(document).suite
        if shape is None and document_kind(document.value) == "suite":
            return _with_its_tests(load_suite(path))
    dataset = load_dataset(path, unique=True)
    fields = {"name": dataset.name, "version": dataset.version, "cases": dataset.cases}
    return Suite.model_validate(fields).in_folder(path if is_folder(path) else path.parent)


def _with_its_tests(suite: Suite) -> Suite:
    """The suite with what a skill's tests say of how they are run, where they are its dataset."""
    tests = None if suite.columns else _skill_tests(suite.dataset_path)
    if tests is None:
        return suite
    settings = _merged(tests.settings, suite.settings)
    for name in ("setup", "teardown"):
        if getattr(settings, name) != getattr(suite.settings, name) and not _is_one_folder(
            tests.folder, suite.folder
        ):
            raise SettingsError(
                f"the {name} of {suite.dataset} runs in {tests.folder}, and the suite in "
                f"{suite.folder}",
                hint=f"move the suite's file there, or give it a `{name}` of its own in `settings`",
            )
    changes: dict[str, object] = {"settings": settings, "profile": suite.profile or tests.profile}
    if "suites" not in suite.model_fields_set:
        changes["suites"] = tests.suites
    return suite.model_copy(update=changes)


def _skill_tests(path: Path | None) -> Suite | None:
    """A skill's tests as a suite; None for any other file, and one whose faults are told later."""
    try:
        document = None if path is None else whole_document(path)
        shape = None if document is None else foreign_shape(document.value)
        if document is None or shape is None or shape.reader != SKILL_TESTS:
            return None
        return foreign_suite(document).suite
    except DatasetError:
        return None


def _merged(tests: RunSettings, own: RunSettings) -> RunSettings:
    theirs, ours = tests.model_dump(exclude_unset=True), own.model_dump(exclude_unset=True)
    for one, other in (("in_sequence", "max_concurrency"), ("max_concurrency", "in_sequence")):
        if one in ours:
            theirs.pop(other, None)
    environment = {**theirs.pop("environment", {}), **ours.pop("environment", {})}
    return RunSettings.model_validate({**theirs, **ours, "environment": environment})


def _is_one_folder(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
