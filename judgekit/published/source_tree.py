"""Holds the downloaded files of one published set, read by repository path."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from judgekit.records.record import JsonObject


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Files of one or more repositories at their pinned commits."""

    folders: Mapping[str, Path]
    names: Mapping[str, Sequence[str]]

    def text(self, name: str, *, repository: str | None = None) -> str:
        """A file's text."""
        path = self._folder(repository) / name
        try:
            return path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"cannot be read: {error}", path=path) from error

    def document(self, name: str) -> object:
        """A JSON file's value."""
        return self._parsed(self.text(name), name, 1)

    def objects(self, name: str) -> list[JsonObject]:
        """The objects of a JSON list, or of a file with one object a line."""
        text = self.text(name)
        if text.lstrip().startswith("["):
            found = self._parsed(text, name, 1)
        else:
            # Texts may hold U+2028: only a line feed ends a row.
            lines = enumerate(text.split("\n"), start=1)
            found = [self._parsed(line, name, at) for at, line in lines if line.strip()]
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise DatasetError("is no list of objects", path=self._folder(None) / name)
        return cast("list[JsonObject]", found)

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a CSV file."""
        return list(csv.DictReader(self.text(name).splitlines()))

    def below(self, prefix: str) -> list[str]:
        """The paths in the first repository that begin with a prefix, in the catalog's order."""
        first = next(iter(self.names))
        return [name for name in self.names[first] if name.startswith(prefix)]

    def _folder(self, repository: str | None) -> Path:
        return self.folders[repository or next(iter(self.folders))]

    def _parsed(self, text: str, name: str, line: int) -> object:
        try:
            value: object = json.loads(text)
        except ValueError as error:
            path = self._folder(None) / name
            raise DatasetError(f"is no JSON: {error}", path=path, line=line) from error
        return value
