"""Writes a file beside its place and moves it there when it is complete.

So that no reader sees half of it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from judgekit.errors import SettingsError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@contextmanager
def atomic_writer(path: Path) -> Iterator[IO[bytes]]:
    """A file beside a path that takes its place when all went well."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # it is in its place, or cannot be removed either
            beside.unlink()


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text to a file, whole or not at all."""
    with atomic_writer(path) as file:
        file.write(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())


def check_output_path(
    path: Path, suffixes: Sequence[str], *, what: str, may_be_folder: bool
) -> None:
    """Refuse a place that something cannot be written to, before anything is read."""
    known = ", ".join((*suffixes, "a folder") if may_be_folder else suffixes)
    is_folder = path.is_dir() or not path.suffix
    if path.suffix.lower() not in suffixes and not (may_be_folder and is_folder):
        raise SettingsError(
            f"cannot write {what} to {path.name}: its suffix is {path.suffix or 'missing'}",
            hint=f"use {known}",
        )
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"cannot write {path}: there is no folder {path.parent}")
