"""Runs `python -m judgekit` in this process, and takes out of its answer what no run repeats."""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAIN = str(Path(jk.__file__).with_name("__main__.py"))
"""What `python -m judgekit` runs."""

_UNREPEATED = (
    (r"\d{8}T\d{6}Z(?:-([\w.-]+?))?-[0-9a-z]{4}\b", r"<id \1>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?", "<time>"),
    (r"(size on disk +)[\d.]+ [KM]iB", r"\1<size>"),
    (r"\b20\d\d-\d\d-\d\d\b", "<day>"),
    (r"\b[0-2]\d:[0-5]\d\b", "<hour>"),
    (r"(?m)^\w[\w ]* [\d,]+ of [\d,]+ · .*\n", ""),
    # The demo's folder is in a git checkout here and in none where it is installed.
    (r',\s*"revision": "[0-9a-f]{40}"', ""),
    (rf"\b{re.escape(jk.__version__)}\b", "<version>"),
)
"""What differs from run to run: ids, times, progress, the version."""


@contextlib.contextmanager
def steady_surroundings() -> Iterator[None]:
    """No colours, and no settings of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        for name in ("CI", "FORCE_COLOR", "JUDGEKIT_DATA", "PYTHONWARNINGS"):
            patch.delenv(name, raising=False)
        yield


@dataclass(frozen=True)
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its stdout, read as JSON."""
        return json.loads(self.out)


def judgekit(*arguments: str, folder: Path, stdin: str = "", columns: str = "80") -> Ran:
    """Run the command line in a folder."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    code: object = 0
    # Until a command is imported, the real entry point ends the whole process on Ctrl-C.
    on_interrupt = signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.setattr(sys, "argv", ["judgekit", *arguments])
        patch.setenv("COLUMNS", columns)
        patch.setattr(sys, "stdin", io.StringIO(stdin))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            runpy.run_path(_MAIN, run_name="__main__")
        except SystemExit as stop:
            code = stop.code
        finally:
            signal.signal(signal.SIGINT, on_interrupt)
    assert isinstance(code, int)
    return Ran(code, *(_text_of(stream) for stream in (out, err)))


def repeatable(text: str, folder: Path) -> str:
    """A text of the command line without what differs from run to run."""
    for name in {str(folder.resolve()), str(folder)}:
        text = text.replace(name, "<folder>")
    for pattern, replacement in _UNREPEATED:
        text = re.sub(pattern, replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def _text_of(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")
