"""What coefficients of agreement share: weights of disagreement, and an interval by jackknife."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from judgekit.stats.estimate import jackknife_interval

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Weights = Literal["linear", "quadratic", "ordinal"]
CoefficientInterval = Literal["jackknife", "analytic", "none"]

_ROUNDING = 1e-12


class Ends(NamedTuple):
    """The ends of an interval, or why there are none."""

    low: float
    high: float
    reason: str | None


def category_weights(labels: Sequence[Hashable], weights: Weights | None) -> np.ndarray:
    """How far two labels agree: 1 for the same, less the further apart.

    With L the labels, `linear` is `1 - |L_i - L_j| / range`, `quadratic` its square in place of
    the distance (Cohen 1968), `ordinal` `1 - C(|i-j|+1, 2) / C(q, 2)` by place (Gwet 2014).
    Labels that are no numbers are weighed by their place.

    Args:
        labels: The whole scale, in order, each label once.
        weights: Which; None counts exact agreement only.

    Returns:
        A square array, 1 on the diagonal.

    Raises:
        ValueError: When the scale repeats a label or has fewer than two, or the weights are
            unknown.
    """
    q = len(labels)
    if len(set(labels)) < q or q < 2:  # noqa: PLR2004 - one label cannot disagree
        raise ValueError(f"labels are {list(labels)}; give the whole scale, each label once")
    if weights is None:
        return np.eye(q)
    if weights not in ("linear", "quadratic", "ordinal"):
        raise ValueError(f"no weights are called {weights!r}; known: linear, quadratic, ordinal")
    places = np.arange(q)
    if weights == "ordinal":
        apart = np.abs(places[:, None] - places)
        return np.asarray(1 - apart * (apart + 1) / (q * (q - 1)))
    numbers = all(isinstance(label, int | float) for label in labels)
    points = np.array(labels, dtype=float) if numbers else places.astype(float)
    distance = np.abs(points[:, None] - points) / np.ptp(points)
    return np.asarray(1 - (distance if weights == "linear" else distance**2))


def above_chance(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """`(observed - expected) / (1 - expected)`: agreement beyond chance.

    Args:
        observed: Share of agreement that was seen.
        expected: Share that chance would give.

    Returns:
        The coefficient; nan where chance alone gives full agreement (0/0).
    """
    gain, room = observed - expected, 1 - expected
    gain = np.where(np.abs(gain) < _ROUNDING, 0.0, gain)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(room > _ROUNDING, gain / room, nan)


def jackknife_ends(
    value: float,
    left_out: np.ndarray | Sequence[float],
    *,
    level: float,
    unit: str = "item",
) -> Ends:
    """The jackknife interval of a coefficient, or why there is none.

    Args:
        value: The coefficient.
        left_out: Its value without each item (or cluster).
        level: Confidence level in (0, 1).
        unit: What was left out, for the reason.

    Returns:
        The ends; nan twice with the reason.

    Raises:
        ValueError: When the level does not lie between 0 and 1.
    """
    values = [float(v) for v in left_out]
    low, high = jackknife_interval(value, values, level=level)
    if not isnan(low) and low < high:
        return Ends(low, high, None)
    if len(values) < 2:  # noqa: PLR2004 - a variance needs two
        reason = f"one {unit} only"
    elif abs(value) >= 1:
        reason = f"the coefficient is {value:g}: its spread cannot be seen in these data"
    elif any(isnan(v) for v in values):
        reason = f"leaving one {unit} out leaves the coefficient undefined"
    else:
        reason = f"no {unit} changes the coefficient when it is left out"
    return Ends(nan, nan, reason)


def check_interval(ci: str, known: Sequence[str] = ("jackknife", "analytic", "none")) -> None:
    """Refuse an interval that does not exist.

    Args:
        ci: The name that was given.
        known: The names there are.

    Raises:
        ValueError: When it is none of them.
    """
    if ci not in known:
        raise ValueError(f"no interval is called {ci!r}; known: {', '.join(known)}")
