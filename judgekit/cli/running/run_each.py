"""Runs the datasets of a folder one after the other; the exit code is the worst of theirs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from judgekit.cli import console as streams
from judgekit.cli.main import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INPUT,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_QUALITY,
)
from judgekit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from judgekit.cli.running.sitting import Sat
    from judgekit.cli.setup import Options

_WORST_FIRST = (
    EXIT_INTERRUPTED, EXIT_INPUT, EXIT_LIMIT, EXIT_FROZEN, EXIT_INCOMPLETE, EXIT_QUALITY,
    EXIT_INCONCLUSIVE, 0,
)  # fmt: skip
"""Exit codes, from what leaves most unknown to what is known to be well."""


def run_each(paths: Sequence[Path], options: Options, run: Callable[[Path, Options], Sat]) -> int:
    """Run several datasets in turn, within the money and time that all of them may take."""
    # One that cannot be run as it is does not keep the others from it; one that was stopped does.
    left = {name: options.get(name) for name in ("max_cost", "max_time")}
    codes = []
    for number, path in enumerate(paths, 1):
        streams.note(f"dataset {number} of {len(paths)}: {path}")
        began = time.monotonic()
        try:
            sat = run(path, {**options, **left})
        except InputError as error:
            streams.note(f"error: {error}")
            codes.append(EXIT_INPUT)
            continue
        codes.append(sat.code)
        used = {"max_cost": sat.spent_usd, "max_time": time.monotonic() - began}
        left = {name: _rest(limit, used[name]) for name, limit in left.items()}
        if sat.is_stopped or 0 in left.values():
            if number < len(paths):
                streams.note(f"not begun: {', '.join(map(str, paths[number:]))}")
                codes.append(sat.code or EXIT_LIMIT)
            break
    return min(codes, key=_WORST_FIRST.index)


def _rest(limit: object, used: float) -> float | None:
    return max(0.0, limit - used) if isinstance(limit, int | float) else None
