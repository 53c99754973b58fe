"""Gets a published set: fetches what is missing, verifies all of it, and writes the rows."""

from __future__ import annotations

import gzip
import importlib
import json
import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from judgekit.errors import SettingsError, StoreError
from judgekit.published.fetching import address_of, fetch, is_verified
from judgekit.published.own_forms import own_files
from judgekit.published.source_tree import SourceTree
from judgekit.report.replacing import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from judgekit.published.catalog import PinnedFile, PublishedSet
    from judgekit.records.record import JsonObject

FOLDER_VARIABLE = "JUDGEKIT_DATA"
"""The environment variable that names the folder the sets lie in."""

_DEFAULT = Path(".judgekit/data")
_SOURCES = ".sources"
_OWN = "judgekit"
_AT_ONCE = 8
_JOINED = ".jsonl.gz"


class _Converter(Protocol):
    def convert(self, tree: SourceTree) -> Mapping[str, Iterator[JsonObject]]: ...


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file of a set that was written."""

    path: Path
    n_rows: int


@dataclass(frozen=True, slots=True)
class GotSet:
    """What getting a set came to."""

    folder: Path
    n_fetched: int
    n_kept: int
    joined: tuple[WrittenFile, ...]
    own: tuple[WrittenFile, ...]


def data_folder(given: Path | None = None) -> Path:
    """The folder the sets lie in."""
    return given or Path(os.environ.get(FOLDER_VARIABLE) or _DEFAULT)


def joined_files(name: str, folder: Path) -> list[Path]:
    """The joined files of a set that are there."""
    return sorted((folder / name).glob(f"*{_JOINED}"))


def get_set(
    chosen: PublishedSet,
    folder: Path,
    *,
    origin: str,
    on_file: Callable[[str], None] = lambda _: None,
) -> GotSet:
    """Fetch a set's files from its source, verify them, and write its rows."""
    # What is there and verified is not fetched again. Rows are written when all files are there.
    _check_is_ours(chosen, folder)
    try:
        own = folder / chosen.name / _OWN
        own.mkdir(parents=True, exist_ok=True)
        wanted = _missing(chosen, folder)
        _fetch_all(chosen, wanted, origin, on_file)
    except OSError as error:
        raise StoreError(f"cannot write below {folder}: {error.strerror}") from error
    converter = importlib.import_module(f"judgekit.published.converters.{chosen.converter}")
    rows = cast("_Converter", converter).convert(_tree(chosen, folder))
    joined = {stem: list(found) for stem, found in rows.items()}
    place = folder / chosen.name
    return GotSet(
        folder=place,
        n_fetched=len(wanted),
        n_kept=chosen.n_files - len(wanted),
        joined=tuple(_write(place / f"{stem}{_JOINED}", found) for stem, found in joined.items()),
        own=tuple(
            _write(own / name, found) for name, found in own_files(joined, instrument=chosen.name)
        ),
    )


def _check_is_ours(chosen: PublishedSet, folder: Path) -> None:
    """Rows without the sources they were made of came from elsewhere, and are not replaced."""
    sources = _tree(chosen, folder).folders.values()
    if joined_files(chosen.name, folder) and not any(place.is_dir() for place in sources):
        raise SettingsError(
            f"{folder / chosen.name} holds rows that were not fetched by judgekit",
            hint="they stay as they are; give another folder with --to",
        )


def _tree(chosen: PublishedSet, folder: Path) -> SourceTree:
    return SourceTree(
        folders={s.repository: folder / _SOURCES / s.repository / s.commit for s in chosen.sources},
        names={source.repository: tuple(source.files) for source in chosen.sources},
    )


_Wanted = list[tuple[int, str, Path, "PinnedFile"]]


def _missing(chosen: PublishedSet, folder: Path) -> _Wanted:
    folders = _tree(chosen, folder).folders
    return [
        (at, name, path, pinned)
        for at, source in enumerate(chosen.sources)
        for name, pinned in source.files.items()
        if not is_verified(path := folders[source.repository] / name, pinned)
    ]


def _fetch_all(
    chosen: PublishedSet, wanted: _Wanted, origin: str, on_file: Callable[[str], None]
) -> None:
    """Fetch several at once; the first that fails stops those that have not begun."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = {
            pool.submit(
                fetch, address_of(origin, chosen.sources[at], name), path, pinned=pinned
            ): name
            for at, name, path, pinned in wanted
        }
        try:
            for done in as_completed(asked):
                done.result()
                on_file(asked[done])
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _write(path: Path, rows: Iterable[JsonObject]) -> WrittenFile:
    n_rows = 0
    with replaced(path) as file:
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix == ".gz" else file
        for row in rows:
            packed.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            n_rows += 1
        if packed is not file:
            packed.close()
    return WrittenFile(path, n_rows)
