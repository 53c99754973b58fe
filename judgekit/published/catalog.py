"""Says which published sets there are: source, commit, licence, and every file's SHA-256."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, ValidationError

from judgekit.datasets.documents import read_document
from judgekit.errors import DatasetError, UnknownNameError
from judgekit.records.record import Count, Name, Record
from judgekit.shipped import shipped_file

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAFE = re.compile(r"[\w.()+@,=-]+(?:/[\w.()+@,=-]+)*")


class PinnedFile(Record):
    """One file of a source, as it has to be."""

    bytes: Count
    """Its size."""

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Its SHA-256, in hexadecimal."""


class Source(Record):
    """A repository at one commit."""

    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    """`owner/name`."""

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    """The commit that all files are taken from."""

    files: dict[str, PinnedFile]
    """The files by their path in the repository."""


class PublishedSet(Record):
    """A public labelled set."""

    name: Name
    """What it is called here, and its folder."""

    what: Name
    """What it holds."""

    labelled_by: Name
    """Who labelled it."""

    licence: Name
    """The licence its owners state, or that they state none."""

    citation: Name
    """The paper it comes from."""

    converter: Name
    """The module of `judgekit.published.converters` that reads it."""

    sources: tuple[Source, ...]
    """Where its files come from; the first is the main one."""

    @property
    def n_bytes(self) -> int:
        """The size of all its files."""
        return sum(file.bytes for source in self.sources for file in source.files.values())

    @property
    def n_files(self) -> int:
        """How many files it has."""
        return sum(len(source.files) for source in self.sources)


class Catalog(Record):
    """All published sets, and the address their files are fetched from."""

    address: Name
    """An address with `{repository}`, `{commit}` and `{path}` to be filled in."""

    sets: tuple[PublishedSet, ...]
    """The sets."""

    def find(self, name: str) -> PublishedSet:
        """The set of a name."""
        for one in self.sets:
            if one.name == name:
                return one
        raise UnknownNameError("published set", name, [one.name for one in self.sets])


def load_catalog(path: Path | None = None) -> Catalog:
    """Read a catalog and the listings in `sources/` beside it."""
    path = path or shipped_file("calibration", "catalog.yaml")
    value = read_document(path).value
    try:
        if not isinstance(value, dict) or not isinstance(value.get("sets"), dict):
            raise DatasetError("has no `sets:`", path=path)
        sets = [_set(name, fields, path.parent) for name, fields in value["sets"].items()]  # type: ignore[union-attr]  # checked above
        return Catalog.model_validate({"address": value.get("from"), "sets": sets})
    except ValidationError as error:
        raise DatasetError(f"is no catalog: {error}", path=path) from error


def _set(name: str, fields: object, folder: Path) -> PublishedSet:
    listing = _listing(folder / "sources" / f"{name}.json")
    given = dict(fields) if isinstance(fields, dict) else {}
    sources = [
        {**source, "files": listing.get(str(source.get("repository")))}
        for source in given.get("sources") or ()
    ]
    return PublishedSet.model_validate({**given, "name": name, "sources": sources})


def _listing(path: Path) -> Mapping[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"is no listing of files: {error}", path=path) from error
    for files in found.values():
        for name in files:
            if not _SAFE.fullmatch(name) or ".." in PurePosixPath(name).parts:
                raise DatasetError(f"lists {name!r}, which is no path in a repository", path=path)
    listing: Mapping[str, object] = found
    return listing
