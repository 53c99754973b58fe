"""Several votes combined into one value: median, mode and how far open votes can move it.

Free of numpy, because every judgment loads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

# Distances that agree so far are the same; floats differ in the last place.
_DIGITS = 9


def median(values: Sequence[float]) -> float:
    """The value in the middle; of an even number the mean of the two in the middle."""
    if not values:
        raise ValueError("no values have no median")
    ordered, middle = sorted(values), len(values) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def mode(votes: Sequence[float]) -> float:
    """The value with the most votes; of several with as many, their median."""
    counts = Counter(votes)
    most = max(counts.values(), default=0)
    return median([vote for vote, n in counts.items() if n == most])


def mode_bounds(votes: Sequence[float], n_open: int) -> tuple[float, float] | None:
    """The bounds of the mode while some votes are open; None where they are any value."""
    if not n_open:
        value = mode(votes)
        return value, value
    counts = Counter(votes)
    most = max(counts.values(), default=0)
    if n_open >= most:
        return None
    # Every value that the open votes can bring level with the leader counts, so that the mode lies
    # within the bounds whatever they are; the median of a tie may lie further inside.
    reachable = [vote for vote, n in counts.items() if n + n_open >= most]
    return min(reachable), max(reachable)


def nearest(value: float, points: Sequence[float] | None) -> float:
    """The nearest of some points; the lower of two that are as near."""
    if points is None:
        return round(value, _DIGITS)
    return min(points, key=lambda point: (round(abs(point - value), _DIGITS), point))
