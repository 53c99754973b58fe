"""Scores the tokens that making the output took: 1 for none, falling evenly to 0 at the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from judgekit.checks.scorers.budget import Limit, share_left
from judgekit.checks.seam import scorer

if TYPE_CHECKING:
    from judgekit.checks.measures import Quantity
    from judgekit.records.check import Score
    from judgekit.records.output import Output

_QUANTITIES: dict[str, Quantity] = {
    "input": "input_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
}


@scorer("tokens")
def tokens(
    output: Output,
    *,
    max_tokens: Limit = 100_000.0,
    count: Literal["input", "output", "total"] = "total",
) -> Score:
    """Score the tokens that making the output took."""
    return share_left("tokens", output, _QUANTITIES[count], max_tokens)
