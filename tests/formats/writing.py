"""Writes foreign files for tests, and tells what was found in them."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

from judgekit.datasets import validate_path

if TYPE_CHECKING:
    from pathlib import Path

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
