"""The two output streams: results on stdout, progress, notes and errors on stderr."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

from judgekit.errors import NotImportedWarning, ScriptsNeededWarning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import Console

_PLAIN_WIDTH = 110


class ReaderGoneError(Exception):
    """The reader of our output has exited, for example in `judgekit grade … | head`."""


def stdout() -> Console:
    """Where results go; colours only on a terminal, and never with NO_COLOR."""
    return _console(stderr=False)


def stderr() -> Console:
    """Where progress, notes and errors go."""
    return _console(stderr=True)


def print_json(value: object) -> None:
    """Print a value as indented JSON on stdout."""
    text = json.dumps(value, ensure_ascii=not _is_unicode(sys.stdout), indent=2)
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise ReaderGoneError from error


def note(text: str) -> None:
    """Print a line on stderr, where no program reads it as a result."""
    sys.stderr.write(f"{text}\n")


def coloured(text: str, colour: Literal["red", "yellow"]) -> str:
    """A text for stderr; in colour only on a terminal, and never with NO_COLOR."""
    has_colour = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if not has_colour or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{31 if colour == 'red' else 33}m{text}\x1b[0m"


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print our own warnings as notes, without the line of code they come from."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if category.__module__.startswith("judgekit."):
            note(f"{coloured('warning:', 'yellow')} {message}")
        else:
            shown(message, category, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown


@contextmanager
def strict_import(
    *, is_strict: bool, allow_scripts: bool = False, root: Path | None = None
) -> Iterator[None]:
    """Read another tool's file: what is not imported is an error, with `--strict`."""
    from judgekit.assertions import tests_by_code  # noqa: PLC0415 - as below
    from judgekit.formats import files_below  # noqa: PLC0415 - completion needs no files

    with files_below(root), tests_by_code(is_allowed=allow_scripts), warnings.catch_warnings():
        warnings.simplefilter("error" if is_strict else "default", NotImportedWarning)
        if allow_scripts:  # then nothing is missing
            warnings.simplefilter("ignore", ScriptsNeededWarning)
        yield


def _console(*, stderr: bool) -> Console:
    from rich.console import Console as RichConsole  # noqa: PLC0415 - a tenth of a second

    class PipeConsole(RichConsole):
        """Leaves it to `main` how a command ends whose output is not read."""

        def on_broken_pipe(self) -> NoReturn:
            raise ReaderGoneError

    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper) and not _is_unicode(stream):
        stream.reconfigure(errors="replace")  # a table with gaps is better than no table
    # A file or a pipe has no width: rich would assume 80 columns and wrap every table.
    width = None if stream.isatty() or os.environ.get("COLUMNS") else _PLAIN_WIDTH
    return PipeConsole(stderr=stderr, width=width, soft_wrap=False, highlight=False)


def _is_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "").startswith("utf")
