"""What the routes of the viewer have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.store import RunStore


@dataclass(frozen=True, slots=True)
class ViewContext:
    """What the viewer shows, and what it may change."""

    store: RunStore
    token: str
    edit_folder: Path | None = None
    """The folder whose files may be edited; None for reading only."""
