"""The tables of the documentation, from what was measured."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

START, END = "<!-- bench-peers: begin -->", "<!-- bench-peers: end -->"
"""Between these lines of a page stands what was measured."""

TABLES = {
    "": ("wall_s", "ratio", "cpu_ms", "peak_mib", "warm_s", "n_warm_requests"),
    "CPU seconds of a new process; of import and `--help`, the lesser of two:": (
        "import_cpu_s", "first_cpu_s", "help_cpu_s",
    ),
    "Where a twentieth of the requests is answered with 429 and `Retry-After: 1`:": (
        "n_right", "n_lost", "n_wrong", "faulty_s",
    ),
    "Tokens of an item with three criteria and a score for each:": (
        "n_calls", "prompt", "schema", "all_tokens",
    ),
}  # fmt: skip
"""By the sentence before it, the figures of a table."""

HEADINGS = {
    "wall_s": "100 ms a call, s", "ratio": "bare loop = 1", "cpu_ms": "CPU, ms an item",
    "peak_mib": "peak, MiB", "warm_s": "again, s", "n_warm_requests": "calls paid again",
    "import_cpu_s": "import", "first_cpu_s": "first judgment", "help_cpu_s": "`--help`",
    "n_right": "right", "n_lost": "lost", "n_wrong": "0 or wrong", "faulty_s": "s",
    "n_calls": "calls", "prompt": "prompt", "schema": "reply schema", "all_tokens": "together",
}  # fmt: skip

_URL = re.compile(r"\w+://[^\s`'\"]+")


@dataclass(slots=True)
class Row:
    """What was measured of one tool."""

    name: str
    problem: str = ""
    """Why there are no figures, or not all."""

    figures: dict[str, list[float]] = field(default_factory=dict)
    """By the keys of `HEADINGS`, one number or several of which the median is shown."""

    absent: dict[str, str] = field(default_factory=dict)
    """What a cell says where the tool cannot do it."""

    def add(self, **figures: float) -> None:
        for name, number in figures.items():
            self.figures.setdefault(name, []).append(number)


def tables(rows: Sequence[Row], introduction: str) -> str:
    """What is known of the run, the tables, and what went wrong."""
    # What installers print names the index that they were set up with.
    problems = [f"- {row.name}: {_URL.sub('…', row.problem)}" for row in rows if row.problem]
    parts = [introduction]
    for sentence, columns in TABLES.items():
        cells = [
            [row.name, *(_cell(row, column) for column in columns)]
            for row in rows
            if not row.figures.keys().isdisjoint(columns)
        ]
        headings = ["tool", *(HEADINGS[column] for column in columns)]
        lines = [headings, ["---"] * len(headings), *cells]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        parts += [*([sentence] if sentence else []), table]
    if problems:
        parts += ["Without figures, or without all of them:", "\n".join(problems)]
    return "\n\n".join(parts)


def replaced(page: str, text: str) -> str:
    """A page with another text between its two marks."""
    if page.count(START) != 1 or page.count(END) != 1 or page.index(START) > page.index(END):
        raise ValueError(f"the page must have the lines {START} and {END}, each once")
    head, rest = page.split(START)
    return f"{head}{START}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def machine() -> str:
    """The day, the class of the machine, and how busy it was."""
    try:
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    now, version = datetime.now(tz=UTC), ".".join(platform.python_version_tuple()[:2])
    return (
        f"Taken on {now.day} {now:%B %Y} on a machine with {os.cpu_count()} cores "
        f"({found[1] if found else platform.machine()}), {platform.system()} and Python {version}; "
        f"its load average was {os.getloadavg()[0]:.1f} before"
    )


def _cell(row: Row, column: str) -> str:
    if column not in row.figures:
        return row.absent.get(column, "not measured")
    number = float(median(row.figures[column]))
    if number.is_integer() or number >= 100:
        return f"{number:,.0f}"
    return f"{number:,.{1 if number >= 10 else 2}f}"
