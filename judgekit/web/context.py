"""What the routes of the viewer have in common."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.report import JudgeReplies
    from judgekit.store import RunStore


@dataclass(frozen=True, slots=True)
class ViewContext:
    """What the viewer shows, and what it may change."""

    store: RunStore
    token: str
    """What the address holds that the user is given."""

    write_token: str | None = None
    """What pages that change something send with it; None where nothing may be changed.

    It is not the token of the address, which no page ever holds.
    """

    edit_folder: Path | None = None
    """The folder whose files may be edited."""

    replies: JudgeReplies | None = None
    """Where prompts and raw replies of judges are read from; None where they are not shown."""

    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server ends, so that streams of events end with it."""
