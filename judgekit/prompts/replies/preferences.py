"""Holds what a judge said of two outputs in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.records.comparison import Slot


@dataclass(frozen=True, slots=True)
class PreferenceReply:
    """What a judge's reply says about two outputs, on one criterion or on the whole."""

    choice: Slot | None
    rationale: str | None = None
    evidence_first: tuple[str, ...] = ()
    evidence_second: tuple[str, ...] = ()
    confidence: float | None = None
    raw_first: float | None = None
    raw_second: float | None = None

    @property
    def cannot_assess(self) -> bool:
        """Whether the judge says that the two cannot be compared."""
        return self.choice is None

    @property
    def scores_disagree(self) -> bool:
        """Whether its scores say something else than its choice."""
        if self.raw_first is None or self.raw_second is None or self.choice is None:
            return False
        order = (self.raw_first > self.raw_second) - (self.raw_first < self.raw_second)
        return order != {"first": 1, "second": -1, "tie": 0}[self.choice]
