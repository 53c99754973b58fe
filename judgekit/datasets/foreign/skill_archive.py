"""Finds the test file of a skill in its folder or zip, and the place of the files it names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from judgekit.datasets.documents import Document, read_document
from judgekit.datasets.foreign.attachments import (
    AttachmentError,
    Attachments,
    FolderAttachments,
)
from judgekit.datasets.foreign.zips import ZipAttachments, opened, read_member
from judgekit.datasets.json_text import REPAIRED, json_lines, parse_json
from judgekit.datasets.texts import decode, is_archive, is_file
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    import zipfile
    from pathlib import Path

TEST_FILES = ("eval/tests.json", "tests.json", "evals/evals.json", "evals.json")
"""Where a skill keeps its tests; the first there is counts."""

_EVAL = "eval"


def skill_document(path: Path) -> Document:
    """The test file of a skill."""
    if is_archive(path):
        return _zipped(path)
    name = folder_tests(path)
    if name is None:
        raise _no_tests(path)
    if not (path / name).resolve().is_relative_to(path.resolve()):
        raise DatasetError("is a link that leads out of the folder", path=path / name)
    return read_document(path / name)


def folder_tests(folder: Path) -> str | None:
    """The test file of a skill's folder."""
    return next((name for name in TEST_FILES if is_file(folder / name)), None)


def attachments_of(document: Path) -> tuple[Attachments, str]:
    """Where the files lie that a test file names."""
    folder = document.parent
    inside = f"{_EVAL}/" if folder.name == _EVAL else ""
    root = folder.parent if inside else folder
    zipped = next((path for path in (root, root.parent) if is_archive(path)), None)
    if zipped is None or not is_file(zipped):
        return FolderAttachments(root), inside
    prefix = "" if root == zipped else f"{root.name}/"
    return ZipAttachments(zipped, prefix), inside


def skill_name(document: Path) -> str:
    """What the tests of a skill are called: as its folder or zip, or a test file of another name."""
    if document.stem != "tests":
        return document.stem
    folder = document.parent.parent if document.parent.name == _EVAL else document.parent
    name = folder.resolve().name if not folder.name else folder.name
    return name.removesuffix(".zip").strip() or document.stem


def _zipped(path: Path) -> Document:
    with opened(path) as archive:
        name = _member(archive)
        if name is None:
            raise _no_tests(path)
        try:
            raw = read_member(archive, name)
        except AttachmentError as error:
            raise DatasetError(str(error), path=path, hint=error.remedy) from error
    place = path / name
    text = decode(raw, path=place)
    if not text.strip():
        raise DatasetError("the file is empty", path=place, line=1)
    value, is_repaired = parse_json(text, path=place)
    return Document(place, value, (REPAIRED,) if is_repaired else (), partial(json_lines, text))


def _member(archive: zipfile.ZipFile) -> str | None:
    names = archive.NameToInfo
    tops = sorted({name.split("/")[0] for name in names if "/" in name})
    for prefix in ("", *(f"{top}/" for top in tops)):
        for name in TEST_FILES:
            if prefix + name in names:
                return prefix + name
    return None


def _no_tests(path: Path) -> DatasetError:
    return DatasetError(
        "holds no `eval/tests.json`",
        path=path,
        hint=f"a skill keeps its tests in one of {', '.join(TEST_FILES)}",
    )
