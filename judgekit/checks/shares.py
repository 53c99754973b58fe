"""The shares of a whole that weights come to."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def shares(weights: Sequence[float]) -> list[float]:
    """The share of each weight in their sum, also where that is larger than any float."""
    most = max(weights, default=0.0)
    if not most:
        return [0.0] * len(weights)
    scaled = [weight / most for weight in weights]
    total = fsum(scaled)
    return [weight / total for weight in scaled]
