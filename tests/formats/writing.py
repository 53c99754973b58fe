"""Writes foreign files for tests, and tells what was found in them."""

from __future__ import annotations

import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.datasets import read_output, validate_path
from judgekit.datasets.labels import label_from_row
from judgekit.errors import DatasetError
from judgekit.formats import FileRow, ParsedDocument, foreign_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.formats import Problem


def write(folder: Path, value: object, name: str = "a.json") -> Path:
    """A file with a JSON value, indented so that lines mean something."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return path


def pack(path: Path, files: dict[str, str | bytes]) -> Path:
    """A zip with files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def errors_of(path: Path) -> list[Problem]:
    """What keeps a file from being used."""
    return [problem for problem in validate_path(path) if problem.severity == "error"]


def warnings_of(path: Path) -> list[str]:
    """What should be mended in a file."""
    return [problem.message for problem in validate_path(path) if problem.severity == "warning"]


def line_with(path: Path, text: str) -> int:
    """The line of a file that holds a text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def skill_test(**fields: Any) -> dict[str, Any]:
    """A test of an `eval/tests.json`."""
    known = {
        "id": "t1",
        "name": "A test",
        "input": {"prompt": "Q"},
        "expected": {"output": "R"},
        "evaluation": {"strategy": "exact_match"},
    }
    return known | fields


def skill_tests(*tests: Any, **fields: Any) -> dict[str, Any]:
    """An `eval/tests.json`."""
    known = {"version": "2.0", "profile": "deterministic", "settings": {}}
    return known | {"testCases": [*tests]} | fields


ODD: tuple[Any, ...] = (None, [], {}, [[1]], {"a": [1]}, 7, "x", True)


def variations(value: Any) -> Iterator[Any]:
    """The value with each of its parts replaced by something that does not belong there."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            for other in (*ODD, *variations(value[key])):
                changed = dict(value) if isinstance(value, dict) else list(value)
                changed[key] = other
                yield changed


def read_variations(sample: Any) -> None:
    """Read every variation of a log: it is read, or refused with an error of its own."""
    for value in variations(sample):
        document = ParsedDocument(Path("x.json"), value)
        shape = foreign_shape(value)
        if shape is None or not shape.is_log:
            continue
        with suppress(DatasetError):
            reading = shape.read(document)
            for _, fields in reading.outputs:
                read_output(FileRow(1, fields))
            for _, fields in reading.labels:
                label_from_row(FileRow(1, fields))
