"""Tells a threshold that was meant on a scale from one on [0, 1], and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import JsonValue

    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.rubric import Scale

_HUGE = 1e9
"""No scale reaches so far; a number beyond it is told to be too large, no more."""


def threshold_fault(where: KeyPath, given: JsonValue, scales: Iterable[Scale]) -> Fault | None:
    """What is wrong with a threshold above 1, which was meant on a scale."""
    if not isinstance(given, int | float) or isinstance(given, bool) or not 1 < given < _HUGE:
        return None
    message = f"`{where[-1]}` is {given:g}, but thresholds are on [0, 1]"
    ends = dict.fromkeys((scale.min, scale.max) for scale in scales if given <= scale.max)
    ways = [
        f"{given:g} on the scale {low:g}..{high:g} is {(given - low) / (high - low):.4g}"
        for low, high in ends
        if given >= low
    ]
    if not ways and given <= 100:  # noqa: PLR2004 - a percentage
        ways = [f"{given:g} % is {given / 100:.4g}"]
    remedy = f"(score - min) / (max - min): {', '.join(ways)}" if ways else "write 0.7, not 70"
    return Fault(where, message, remedy)
