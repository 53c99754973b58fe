"""Shared by agreement coefficients: rating counts, weights, chance correction, jackknife.

See `agreement`, `raters` and `alpha`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import atanh, isnan, nan, tanh
from typing import Literal, NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import jackknife_se
from judgekit.stats.missing import cluster_codes, is_missing
from judgekit.stats.quantiles import t_quantile

Weights = Literal["linear", "quadratic", "ordinal"]
IntervalMethod = Literal["jackknife", "analytic", "none"]
PairInterval = Literal["jackknife", "smoothed", "analytic", "none"]

# Chance agreement within this of 1 makes the coefficient 0/0, whatever the last digits say.
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """The ends of an interval, or why there are none."""

    low: float
    high: float
    reason: str | None


NO_INTERVAL = Interval(nan, nan, "no interval was asked for")


def category_weights(labels: Sequence[Hashable], weights: Weights | None) -> np.ndarray:
    """How far two labels agree: 1 for the same, less the further apart.

    With L the labels, `linear` is `1 - |L_i - L_j| / range`, `quadratic` its square in place of
    the distance (Cohen 1968), `ordinal` `1 - C(|i-j|+1, 2) / C(q, 2)` by place (Gwet 2014).
    Labels that are no numbers are weighed by their place.
    """
    q = len(labels)
    # Weights taken from the labels that occur would change with the sample.
    if len(set(labels)) < q or q < 2:  # noqa: PLR2004 - one label cannot disagree
        raise ValueError(f"labels are {list(labels)}; give the whole scale, each label once")
    if weights is None:
        return np.eye(q)
    if weights not in ("linear", "quadratic", "ordinal"):
        raise ValueError(f"no weights are called {weights!r}; known: linear, quadratic, ordinal")
    places = np.arange(q)
    if weights == "ordinal":
        # Gwet (2014), ordinal weights: pairs of levels between the two, over all pairs of levels.
        apart = np.abs(places[:, None] - places)
        return np.asarray(1 - apart * (apart + 1) / (q * (q - 1)))
    # Names have no distance; their positions on the scale replace it.
    numbers = all(isinstance(label, int | float) for label in labels)
    points = np.array(labels, dtype=float) if numbers else places.astype(float)
    distance = np.abs(points[:, None] - points) / np.ptp(points)
    return np.asarray(1 - (distance if weights == "linear" else distance**2))


def above_chance(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """`(observed - expected) / (1 - expected)`: agreement beyond chance."""
    gain, room = observed - expected, 1 - expected
    # Without this, agreement exactly at chance gives -0.0 or 1e-17, and its sign is reported.
    gain = np.where(np.abs(gain) < _ROUNDING, 0.0, gain)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(room > _ROUNDING, gain / room, nan)


def coefficient_interval(
    value: float,
    left_out: np.ndarray | Sequence[float],
    *,
    level: float,
    unit: str = "item",
    undefined: str = "",
) -> Interval:
    """The interval of a coefficient in (-1, 1) from its values without each unit, or why none.

    `tanh(atanh(value) +- t(n-1) se / (1 - value^2))` by the delta method on Fisher's z, so that
    limits stay inside (-1, 1). `undefined` is the reason where the value is nan.
    """
    values = [float(v) for v in left_out]
    quantile = t_quantile(level, len(values) - 1)
    if isnan(value) and undefined:
        reason = undefined
    elif len(values) < 2:  # noqa: PLR2004 - a variance needs two
        reason = f"one {unit} only"
    elif abs(value) >= 1:
        reason = f"the coefficient is {value:g}: its spread cannot be seen in these data"
    elif isnan(value) or any(isnan(v) for v in values):
        reason = f"leaving one {unit} out leaves the coefficient undefined"
    else:
        se = jackknife_se(values)
        half = quantile * se / (1 - value * value)
        low, high = tanh(atanh(value) - half), tanh(atanh(value) + half)
        # An interval of no width would claim certainty: better none, with the reason.
        if se > _ROUNDING and low < high:
            return Interval(low, high, None)
        reason = f"no {unit} changes the coefficient when it is left out"
    return Interval(nan, nan, reason)


def interval_by(
    ci: IntervalMethod,
    value: float,
    left_out: np.ndarray,
    half: float = nan,
    *,
    level: float,
    undefined: str,
    flat: str = "",
) -> Interval:
    """The interval by a method; `flat` is the reason where the analytic half-width is 0."""
    # The jackknife is the default: the analytic error is 0 at perfect agreement and ignores
    # clusters.
    if ci == "jackknife" or isnan(value):
        return coefficient_interval(value, left_out, level=level, undefined=undefined)
    if ci == "none":
        return NO_INTERVAL
    if not half > 0:
        return Interval(nan, nan, flat)
    return Interval(max(-1.0, value - half), min(1.0, value + half), None)


@dataclass(frozen=True, slots=True)
class RatingList:
    """The ratings of the items that have enough of them, in the order of the items."""

    ratings: list[Hashable]
    items: np.ndarray
    """The item of each rating, numbered from 0."""

    labels: frozenset[Hashable]
    """All ratings that occur, those of dropped items included."""

    units: np.ndarray
    """The independent unit of each item, numbered from 0: itself, or its cluster."""

    n_missing: int
    n_dropped: int
    """Items with too few ratings."""

    @property
    def n(self) -> int:
        """Independent units: items, or clusters of items."""
        return int(self.units.max()) + 1

    def count(
        self, labels: Sequence[Hashable] | None = None
    ) -> tuple[Sequence[Hashable], np.ndarray]:
        """The scale, and how often each item got each label; without labels, those that occur."""
        if labels is not None:
            scale = labels
        elif all(isinstance(label, int | float) for label in self.labels):
            scale = sorted(self.labels, key=float)  # type: ignore[arg-type] # checked above
        else:
            # Labels of several types do not compare; their text always does.
            scale = sorted(self.labels, key=repr)
        place = {label: i for i, label in enumerate(scale)}
        strange = sorted(repr(rating) for rating in self.labels if rating not in place)
        if strange:
            raise ValueError(f"{', '.join(strange)} is not on the scale {list(scale)}")
        counts = np.zeros((len(self.units), len(scale)))
        np.add.at(counts, (self.items, np.array([place[r] for r in self.ratings])), 1)
        return scale, counts


def list_ratings(
    ratings: Sequence[Sequence[Hashable]],
    *,
    at_least: int = 2,
    clusters: Sequence[Hashable] | None = None,
) -> RatingList:
    """The known ratings, without the items that have fewer than `at_least`."""
    if clusters is not None and len(clusters) != len(ratings):
        raise ValueError(f"{len(ratings)} items, but {len(clusters)} cluster names")
    # numpy scalars hash like Python numbers but print as np.float64(1.0) in messages.
    known = [
        [r.item() if isinstance(r, np.generic) else r for r in row if not is_missing(r)]
        for row in ratings
    ]
    usable = [i for i, row in enumerate(known) if len(row) >= at_least]
    if not usable:
        raise NotEnoughDataError(f"no item has {at_least} ratings")
    return RatingList(
        ratings=[rating for i in usable for rating in known[i]],
        items=np.repeat(np.arange(len(usable)), [len(known[i]) for i in usable]),
        labels=frozenset(rating for row in known for rating in row),
        units=np.arange(len(usable)) if clusters is None else cluster_codes(clusters, usable),
        n_missing=sum(len(row) - len(k) for row, k in zip(ratings, known, strict=True)),
        n_dropped=len(known) - len(usable),
    )
