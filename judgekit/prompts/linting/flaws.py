"""A flaw: one thing in a rubric or template that may mislead a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing in a rubric or template that a person should mend."""

    rule: str
    """The rule it breaks, a short name: `vague-word`, `unfenced`."""

    severity: Literal["error", "warning"]
    """An error makes verdicts wrong or unreadable; a warning makes them worse or dearer."""

    message: str
    """What is wrong."""

    remedy: str
    """How to mend it."""

    place: str | None = None
    """The criterion or block it is about; None for the whole."""

    where: tuple[str | int, ...] = ()
    """In a rubric: keys and list positions from the root of its file."""

    path: Path | None = None
    """In a template: the file, which may be one that is included."""

    line: int | None = None
    """In a template: the line, from 1."""
