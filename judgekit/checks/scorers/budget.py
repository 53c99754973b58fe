"""The share of a budget that is left, as latency, cost and tokens are scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from judgekit.checks.measures import Quantity, measured
from judgekit.checks.seam import UndecidedError
from judgekit.records.check import Score

if TYPE_CHECKING:
    from judgekit.records.output import Output

Limit = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""The most that is still worth something."""


def share_left(name: str, output: Output, quantity: Quantity, limit: float) -> Score:
    """The share of a budget that making an output left."""
    found = measured(output, quantity)
    if found.gap is not None:
        raise UndecidedError(f"at least {found.value:.15g} {found.unit}, but {found.gap}")
    return Score(
        name=name,
        value=min(max(1 - found.value / limit, 0.0), 1.0),
        raw=found.value,
        unit=found.unit,
        message=f"{found.value:.15g} of at most {limit:.15g} {found.unit}",
    )
