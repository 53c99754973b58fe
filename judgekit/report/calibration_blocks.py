"""What a calibration is told in: tables and lines of words, and how its figures are rounded."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import view

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.deciding import Answer

CHOICES = {1.0: "a", 0.5: "tie", 0.0: "b"}
"""What a choice between two outputs is called, by how far it prefers a."""

ANSWERS: dict[Answer, str] = {"yes": "yes", "no": "no", "open": "cannot be said"}
"""What an answer is called."""

ALL, WHOLE = "all criteria", "whole"
"""Names of what sums up."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below named columns; the first column is text, the others are numbers."""

    title: str
    """What it shows."""

    columns: tuple[str, ...]
    """Heads of the columns."""

    rows: tuple[tuple[str, ...], ...]
    """Cells."""

    notes: tuple[str, ...] = ()
    """What stands below."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Plain lines, each with a word before it."""

    title: str
    """What they are about; empty for none."""

    rows: tuple[tuple[str, str], ...]
    """A word, and the rest of the line."""


def percent(share: float) -> str:
    """A share without an interval: `62 %`."""
    return view.DASH if isnan(share) else f"{share * 100:.0f} %"


def decimal(number: float) -> str:
    """A number of two digits, or a dash."""
    return view.DASH if isnan(number) else f"{number:.2f}"
