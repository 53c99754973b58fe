"""One line of progress: in a terminal, and in a notebook below the cell that runs."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from judgekit.report import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Often enough to show that it is alive; a notebook's page is slower than a terminal.
_EVERY_S = 0.2


@contextmanager
def progress_line(total: int, verb: str, *, shown: bool) -> Iterator[Callable[[float, int], None]]:
    """Count results as they arrive; each adds its cost and its failures."""
    write = _writer() if shown else None
    if write is None:
        yield lambda _cost, _failures: None
        return
    started = last = time.monotonic()
    n = n_failures = 0
    cost_usd = 0.0

    def words() -> str:
        rate = n / max(time.monotonic() - started, 1e-6)
        left = numbers.format_duration((total - n) / rate) + " left" if 0 < n < total else ""
        failed = f"{n_failures:,} failed" if n_failures else ""
        spent = numbers.format_usd(cost_usd) if cost_usd else ""
        parts = [f"{verb} {n:,} of {total:,}", f"{rate:,.1f}/s", spent, failed, left]
        return " · ".join(filter(None, parts))

    def advance(cost: float, failures: int) -> None:
        nonlocal n, n_failures, cost_usd, last
        n, n_failures, cost_usd = n + 1, n_failures + failures, cost_usd + cost
        if time.monotonic() - last >= _EVERY_S:
            last = time.monotonic()
            write(words())

    write(words())
    try:
        yield advance
    finally:
        write("")


def _writer() -> Callable[[str], None] | None:
    """What shows a line in place of the last one; None where nobody would see it."""
    # Tests are no place for it, although `pytest -s` has a terminal.
    if "PYTEST_CURRENT_TEST" in os.environ:
        return None
    # Not imported: in a notebook it is there already.
    shell = sys.modules.get("IPython")
    kernel = None if shell is None else shell.get_ipython()
    if shell is not None and kernel is not None and hasattr(kernel, "kernel"):
        return _notebook_writer(shell.display.display)
    if not sys.stderr.isatty() or os.environ.get("CI"):
        return None
    return _write_to_terminal


def _notebook_writer(display: Callable[..., Any]) -> Callable[[str], None]:
    handle = display({"text/plain": ""}, raw=True, display_id=True)
    return lambda text: handle.update({"text/plain": text}, raw=True)


def _write_to_terminal(text: str) -> None:
    # A line that wraps could not be replaced by the next one.
    width = get_terminal_size().columns - 1
    sys.stderr.write(f"\r\x1b[K{text[:width]}")
    sys.stderr.flush()
