"""What a benchmark reports: figures with their bars, and the table they are shown in."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_HEADINGS = ("figure", "ours", "reference", "ratio", "bar", "met")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number beside what it is measured against."""

    name: str
    """What was measured."""

    ours: str
    """judgekit's own number, with its unit."""

    reference: str = ""
    """The number it is compared with."""

    ratio: float | None = None
    """Ours through the reference, where they are compared; more is better."""

    bar: str = ""
    """What must be reached, in words; empty for a figure that is only shown."""

    met: bool | None = None
    """Whether it is reached; None where there is no bar."""


def compared(
    name: str,
    ours: Sequence[float],
    reference: Sequence[float],
    *,
    unit: str,
    at_least: float | None = None,
) -> Figure:
    """A speed against a reference speed, from runs that alternated.

    Args:
        name: What was measured.
        ours: judgekit's speed in each run; more is better.
        reference: The reference's speed in the run beside it.
        unit: The unit of both.
        at_least: The ratio that must be reached; None only shows it.

    Returns:
        A figure with the medians of the runs, and the median of the ratios of neighbours.
    """
    ratio = median(one / other for one, other in zip(ours, reference, strict=True))
    return Figure(
        name=name,
        ours=_number(median(ours), unit),
        reference=_number(median(reference), unit),
        ratio=ratio,
        bar="" if at_least is None else f"ratio >= {at_least:.2f}",
        met=None if at_least is None else ratio >= at_least,
    )


def limited(
    name: str, ours: float, *, unit: str = "", at_most: float | None = None, reference: str = ""
) -> Figure:
    """A number that must not exceed a limit.

    Args:
        name: What was measured.
        ours: The number.
        unit: Its unit.
        at_most: The limit; None only shows the number.
        reference: What the number can be compared with, in words.

    Returns:
        The figure.
    """
    return Figure(
        name=name,
        ours=_number(ours, unit),
        reference=reference,
        bar="" if at_most is None else f"<= {_number(at_most, unit)}",
        met=None if at_most is None else ours <= at_most,
    )


def table(figures: Sequence[Figure]) -> str:
    """The figures in aligned columns.

    Args:
        figures: What to show.

    Returns:
        Lines of text.
    """
    rows = [_HEADINGS, *(_cells(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    rows.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def exit_code(figures: Sequence[Figure]) -> int:
    """1 where a bar is missed, else 0.

    Args:
        figures: What was measured.
    """
    return int(any(figure.met is False for figure in figures))


def report(measure: Callable[[bool], list[Figure]]) -> None:
    """The command line of one benchmark: measure, print, exit 1 when a bar is missed.

    Args:
        measure: Measures; True asks for a quick run with fewer and smaller rounds.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="smaller runs, for a first look")
    parser.add_argument("--json", action="store_true", help="one JSON list on stdout, no table")
    arguments = parser.parse_args()
    figures = measure(arguments.quick)
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in figures]))
    else:
        print(table(figures))
    sys.exit(exit_code(figures))


def _cells(figure: Figure) -> tuple[str, ...]:
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    met = "" if figure.met is None else ("yes" if figure.met else "NO")
    return (figure.name, figure.ours, figure.reference, ratio, figure.bar, met)


def _number(value: float, unit: str) -> str:
    digits = 0 if float(value).is_integer() or abs(value) >= 100 else 3 if abs(value) < 1 else 1
    return f"{value:,.{digits}f} {unit}".strip()
