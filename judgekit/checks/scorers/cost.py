"""Scores what making the output cost: 1 for nothing, falling evenly to 0 at the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.checks.scorers.budget import Limit, share_left
from judgekit.checks.seam import scorer

if TYPE_CHECKING:
    from judgekit.records.check import Score
    from judgekit.records.output import Output


@scorer("cost")
def cost(output: Output, *, max_usd: Limit = 1.0) -> Score:
    """Score what making the output cost."""
    return share_left("cost", output, "cost_usd", max_usd)
