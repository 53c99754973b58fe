"""Takes any path that names what is to be run as a suite: a suite file, or another tool's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.foreign.suite_of import foreign_suite
from judgekit.datasets.loading import load_dataset, load_suite
from judgekit.datasets.opening import whole_document
from judgekit.datasets.recognition import SKILL_TESTS, document_kind, foreign_shape
from judgekit.datasets.suite import Suite
from judgekit.datasets.texts import as_path

if TYPE_CHECKING:
    from pathlib import Path


def suite_from(path: Path | str) -> Suite:
    """The suite a path stands for.

    Args:
        path: A suite file; a skill's `eval/tests.json`, its folder or its zip, whose settings,
            setup and groups become the suite's; or any other file with cases, which become a
            suite with nothing else.

    Returns:
        The suite; what the file does not name, such as variants and judges, is empty.

    Raises:
        DatasetError: When the cases are unsound.
        SettingsError: When the suite is unsound.
    """
    path = as_path(path)
    document = whole_document(path)
    if document is not None:
        shape = foreign_shape(document.value)
        if shape is not None and shape.reader == SKILL_TESTS:
            return foreign_suite(document).suite
        if shape is None and document_kind(document.value) == "suite":
            return load_suite(path)
    dataset = load_dataset(path)
    fields = {"name": dataset.name, "version": dataset.version, "cases": dataset.cases}
    return Suite.model_validate(fields).in_folder(path if path.is_dir() else path.parent)
