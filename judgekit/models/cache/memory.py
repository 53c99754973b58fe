"""The reply cache that lives in memory: the same rules as on disk, gone with the process."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judgekit.models.cache.kept import KeptReplies
from judgekit.models.cache.leases import LocalLeases
from judgekit.models.cache.rows import MemoryRows

if TYPE_CHECKING:
    from collections.abc import Callable


class MemoryCache(KeptReplies):
    """A reply cache in memory; shared by the threads of one process.

    Args:
        now: The clock, UTC.
    """

    def __init__(self, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        super().__init__(MemoryRows(), LocalLeases(), now=now)
