"""Writes a file beside its place and moves it there when it is complete.

A reader sees the old file or the new one, never a part.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from judgekit.errors import SettingsError, write_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@contextmanager
def atomic_writer(path: Path, *, is_private: bool = False) -> Iterator[IO[bytes]]:
    """Open a file beside a path; it takes the path's place when the block ends without an error."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # "x" after removing what an earlier process left: nobody else can have opened the new file.
        beside.unlink(missing_ok=True)
        with open(beside, "xb", opener=_private_opener if is_private else None) as file:
            yield file
            # A rename may reach the disk before the content: a power cut would leave an empty file.
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise write_error(f"cannot write {path}", error) from error
    finally:
        with suppress(OSError):  # it is in its place, or cannot be removed either
            beside.unlink()


def _private_opener(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text to a file, whole or not at all."""
    # A lone surrogate cannot be encoded as UTF-8: it becomes a replacement character.
    with atomic_writer(path) as file:
        file.write(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(f"cannot make the folder {folder}", error) from error


def check_output_path(
    path: Path, suffixes: Sequence[str], *, what: str, may_be_folder: bool
) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    known = ", ".join((*suffixes, "a folder") if may_be_folder else suffixes)
    is_folder = path.is_dir() or not path.suffix
    if path.suffix.lower() not in suffixes and not (may_be_folder and is_folder):
        raise SettingsError(
            f"cannot write {what} to {path.name}: its suffix is {path.suffix or 'missing'}",
            hint=f"use {known}",
        )
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"cannot write {path}: there is no folder {path.parent}")
