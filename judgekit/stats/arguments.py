"""Single numbers given to a function: counts that are whole, and numbers that are there."""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real
from operator import index


def whole(**values: object) -> tuple[int, ...]:
    """Counts as Python integers, whether given as 3, as 3.0 or as numpy's 3.

    Args:
        **values: Counts by name; their range is left to the caller.

    Returns:
        The counts, in the order given.

    Raises:
        ValueError: When one is missing or not whole.

    Example:
        >>> whole(k=3.0, n=10)
        (3, 10)
    """
    return tuple(_whole(name, value) for name, value in values.items())


def given(**values: object) -> tuple[float, ...]:
    """Numbers as Python floats, none missing or infinite.

    Args:
        **values: Numbers by name; their range is left to the caller.

    Returns:
        The numbers, in the order given.

    Raises:
        ValueError: When one is missing, infinite or no number.
    """
    return tuple(_given(name, value) for name, value in values.items())


def _whole(name: str, value: object) -> int:
    if isinstance(value, Integral):
        return index(value)
    if isinstance(value, Real) and float(value).is_integer():
        return int(float(value))
    raise ValueError(f"{name} is {value}; a count is a whole number")


def _given(name: str, value: object) -> float:
    if isinstance(value, Real) and isfinite(value):
        return float(value)
    raise ValueError(f"{name} is {value}; give a number")
