"""A console that draws into a text, for tests of what a terminal shows."""

from __future__ import annotations

import io

from rich.console import Console


def plain_console(width: int = 100) -> Console:
    """A console without colours."""
    return Console(file=io.StringIO(), width=width, highlight=False)


def drawn(console: Console) -> str:
    """What was printed, without the white space at the ends of lines."""
    file = console.file
    assert isinstance(file, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())
