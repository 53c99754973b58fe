"""Puts the files that a test's context names (`fixtures/…`) in the place of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.foreign.attachments import (
    MAX_CASE_FILES,
    AttachmentError,
    FolderAttachments,
    MissingAttachmentError,
    Shelf,
    safe_name,
)
from judgekit.datasets.foreign.skill_archive import attachments_of
from judgekit.datasets.texts import is_folder

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.datasets.foreign.reading import Reading
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

_FOLDER = "fixtures"
_LEADS = ("fixtures/", "eval/fixtures/")


class Fixtures:
    """Looks up the files that the tests of one test file name."""

    def __init__(self, reading: Reading) -> None:
        place, self._inside = attachments_of(reading.document.path)
        self._is_alone = isinstance(place, FolderAttachments) and not _has_fixtures(
            place.root, self._inside
        )
        self._shelf = Shelf(place)
        self._reading = reading

    def resolve(self, context: JsonObject, at: KeyPath, case_id: str) -> JsonValue:
        """A test's context with the files it names."""
        # Every text in it that begins with `fixtures/` or `eval/fixtures/` becomes an object: the
        # `file` and its `text`, or what kind of file it is. What cannot be taken is noted and its
        # name stays; where there is no folder with fixtures at all, as when a test file stands
        # alone, that is a warning.
        return self._resolved(context, at, case_id, [0])

    def _resolved(
        self, value: JsonValue, at: KeyPath, case_id: str, n_files: list[int]
    ) -> JsonValue:
        if isinstance(value, dict):
            return {
                name: self._resolved(item, (*at, name), case_id, n_files)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [
                self._resolved(item, (*at, index), case_id, n_files)
                for index, item in enumerate(value)
            ]
        name = fixture_name(value)
        if name is None:
            return value
        n_files[0] += 1
        return self._file(name, at, case_id, n_files[0])

    def _file(self, name: str, at: KeyPath, case_id: str, number: int) -> JsonValue:
        if number > MAX_CASE_FILES:
            if number == MAX_CASE_FILES + 1:
                message = f"a case may name {MAX_CASE_FILES} files; this one names more"
                self._reading.add(at, message, case_id=case_id)
            return name
        try:
            return {**self._found(name), "file": name}
        except MissingAttachmentError as error:
            self._missing(name, at, case_id, error)
        except AttachmentError as error:
            self._reading.add(at, str(error), error.remedy, case_id=case_id)
        return name

    def _found(self, name: str) -> JsonObject:
        """`eval/fixtures/x` from the root; `fixtures/x` beside the test file, or in the root."""
        path = safe_name(name)
        if path.startswith("eval/") or not self._inside:
            return self._shelf.take(path)
        try:
            return self._shelf.take(self._inside + path)
        except MissingAttachmentError:
            return self._shelf.take(path)

    def _missing(self, name: str, at: KeyPath, case_id: str, error: MissingAttachmentError) -> None:
        if self._is_alone:
            message = f"the fixture {name!r} is not here; the case is read with its name alone"
            remedy = "open the skill's folder or zip to have its fixtures"
            self._reading.warn(at, message, remedy, case_id=case_id)
        else:
            self._reading.add(at, str(error), "add it, or mend the name", case_id=case_id)


def fixture_name(value: JsonValue) -> str | None:
    """The file a value of a context names."""
    if not isinstance(value, str) or "\n" in value:
        return None
    path = value.replace("\\", "/").removeprefix("./")
    return value if path.startswith(_LEADS) and len(path.split("/")[-1]) > 0 else None


def _has_fixtures(root: Path, inside: str) -> bool:
    return any(is_folder(folder) for folder in (root / inside / _FOLDER, root / _FOLDER))
