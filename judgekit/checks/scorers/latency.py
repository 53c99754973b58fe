"""Scores how long making the output took: 1 for nothing, falling evenly to 0 at the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.checks.scorers.budget import Limit, share_left
from judgekit.checks.seam import scorer

if TYPE_CHECKING:
    from judgekit.records.check import Score
    from judgekit.records.output import Output


@scorer("latency")
def latency(output: Output, *, max_ms: Limit = 60_000.0) -> Score:
    """Score how long making the output took."""
    return share_left("latency", output, "latency_ms", max_ms)
