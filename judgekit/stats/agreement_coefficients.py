"""Shared by agreement coefficients: rating counts, weights, chance correction, intervals.

Intervals are by the jackknife, or smoothed: these keep their level on few, coarse or skewed scores.
Their standard error comes from the influence of every item on the coefficient (the infinitesimal
jackknife, Jaeckel 1972), taken after a few pseudo-items were added.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import atanh, inf, isnan, nan, sqrt, tanh
from numbers import Real
from typing import Literal, NamedTuple, Protocol

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import by_place, is_missing, jackknife_se
from judgekit.stats.missing import DIGITS, cluster_codes, count_units
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


def fisher_ends(value: float, half: float) -> tuple[float, float]:
    """The ends of an interval with a half-width on Fisher's z; they stay inside (-1, 1)."""
    return tanh(atanh(value) - half), tanh(atanh(value) + half)


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
    # Numbers of numpy count as numbers: else an array of levels would be weighed by its places.
    numbers = all(isinstance(label, Real) for label in labels)
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
    values = np.asarray(left_out, dtype=float).tolist()
    quantile = t_quantile(level, len(values) - 1)
    if isnan(value) and undefined:
        reason = undefined
    elif len(values) < 2:  # noqa: PLR2004 - a variance needs two
        reason = f"one {unit} only"
    elif abs(value) >= 1:
        reason = f"the coefficient is {value:g}: its spread cannot be seen in these data"
    elif isnan(value) or any(map(isnan, values)):
        reason = f"leaving one {unit} out leaves the coefficient undefined"
    else:
        se = jackknife_se(values)
        half = quantile * se / (1 - value * value)
        low, high = fisher_ends(value, half)
        # An interval of no width would claim certainty: better none, with the reason.
        if se > _ROUNDING and low < high:
            return Interval(low, high, None)
        reason = f"no {unit} changes the coefficient when it is left out"
    return Interval(nan, nan, reason)


def chance_interval(
    value: float, left_out: np.ndarray, *, level: float, unit: str = "item"
) -> Interval:
    """The interval of a chance in (0, 1), as that of the coefficient `2 chance - 1`."""
    ends = coefficient_interval(2 * value - 1, 2 * left_out - 1, level=level, unit=unit)
    return Interval((ends.low + 1) / 2, (ends.high + 1) / 2, ends.reason)


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


Ratings = Sequence[Sequence[Hashable]] | np.ndarray
"""One row an item, one rating a rater; None and nan are missing. An array holds scores."""


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
        return count_units(self.units, 0)

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
        np.add.at(counts, (self.items, np.array(list(map(place.__getitem__, self.ratings)))), 1)
        return scale, counts


def list_ratings(
    ratings: Ratings, *, at_least: int = 2, clusters: Sequence[Hashable] | None = None
) -> RatingList:
    """The known ratings, without the items that have fewer than `at_least`."""
    if clusters is not None and len(clusters) != len(ratings):
        raise ValueError(f"{len(ratings)} items, but {len(clusters)} cluster names")
    if isinstance(ratings, np.ndarray) and ratings.dtype.kind in "iuf" and not np.ma.isMA(ratings):
        is_known = ~np.isnan(ratings)
        sizes, labels = is_known.sum(axis=1), frozenset(np.unique(ratings[is_known]).tolist())
        usable = np.flatnonzero(sizes >= at_least)
        used = ratings[usable][is_known[usable]].tolist()
    else:
        ratings = by_place(ratings)
        # numpy scalars hash like Python numbers but print as np.float64(1.0) in messages.
        known = [
            [r.item() if isinstance(r, np.generic) else r for r in row if not is_missing(r)]
            for row in ratings
        ]
        sizes, labels = np.array(list(map(len, known))), frozenset(chain.from_iterable(known))
        usable = np.flatnonzero(sizes >= at_least)
        used = [rating for i in usable for rating in known[i]]
    if not labels.isdisjoint((inf, -inf)):
        raise ValueError("a rating is infinite; give nan where it is missing")
    if not len(usable):
        raise NotEnoughDataError(f"no item has {at_least} ratings")
    return RatingList(
        ratings=used,
        items=np.repeat(np.arange(len(usable)), sizes[usable]),
        labels=labels,
        units=np.arange(len(usable)) if clusters is None else cluster_codes(clusters, usable),
        n_missing=sum(map(len, ratings)) - int(sizes.sum()),
        n_dropped=len(sizes) - len(usable),
    )


_LEAST_DEGREES = 4

# Pseudo-items by chance and in agreement. Simulated five-level and pass/fail scores are covered at
# 94 % or more; with half of one by chance, heavy-tailed judges at 92 %, and rare labels at 91 %
# with a third of each.
_BY_CHANCE, _ALIKE = 1.0, 1.0

UNIT_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Where pseudo-items stand on scores from 0 to 1."""

# Ranks are compared pairwise in so many bins: exact up to as many different scores, and beyond it
# only the standard error is approximate, by a part in some hundreds.
_BINS = 256


class Influence(Protocol):
    """A coefficient of weighted pairs, with the influence of each pair on it."""

    def __call__(self, x: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The coefficient, nan where it is 0/0, and its derivative in the weight of each pair."""


def smoothed_interval(
    value: float,
    coefficient: Influence,
    x: np.ndarray,
    y: np.ndarray,
    *,
    levels: Sequence[float] | np.ndarray = UNIT_STEPS,
    codes: np.ndarray | None = None,
    level: float,
    undefined: str,
) -> Interval:
    """The interval of a coefficient in [-1, 1], taken with two pseudo-items; nan with the reason.

    One pseudo-item is spread evenly over all pairs of levels, one over the equal pairs: chance and
    agreement. On few items they stand for the pairs that were not seen yet, without which the
    spread of a skewed or nearly perfect table is underestimated (the idea of Agresti & Coull 1998
    for a rate). The ends are `tanh(atanh(c) +- t(df) se / (1 - c^2))` of the smoothed coefficient
    c, widened to include the plain `value`; df is n - 1, and less where few items carry the spread.
    With `codes`, the cluster of each pair, a pseudo-item is a pseudo-case of equal outputs, as many
    as the root of the average size.
    """
    n = len(x)
    units = count_units(codes, n)
    if isnan(value):
        return Interval(nan, nan, undefined)
    if units < 2:  # noqa: PLR2004 - a variance needs two
        return Interval(nan, nan, f"one {'item' if codes is None else 'case'} only")
    scale = np.asarray(levels, dtype=float)
    # Outputs of a case are neither all alike nor independent; the root of their number lies
    # between. Simulated cases of 1 to 15 outputs are covered at .94 to .99, with the whole number
    # at .97 to 1.00 by intervals up to 1.6 times as wide.
    q, size = len(scale), sqrt(n / units)
    share = np.concatenate([np.full(q * q, _BY_CHANCE / (q * q)), np.full(q, _ALIKE / q)])
    added = _BY_CHANCE + _ALIKE
    smoothed, influence = coefficient(
        np.concatenate([x, np.repeat(scale, q), scale]),
        np.concatenate([y, np.tile(scale, q), scale]),
        np.concatenate([np.ones(n), size * share]),
    )
    own, pseudo = influence[:n], size * influence[n:]
    # Items of one case err together: their influences are summed before they are squared.
    own = own if codes is None else np.bincount(codes, own)
    squares = float((own**2).sum() + (share * pseudo**2).sum())
    # n / (n - 1) for the units and the added ones, as in every sample variance.
    se = sqrt(squares * (units + added) / (units + added - 1)) / (n + added * size)
    # The smoothed coefficient is never 1: agreement without exception has an interval too.
    half = t_quantile(level, _degrees(own)) * se / (1 - smoothed * smoothed)
    low, high = fisher_ends(smoothed, half)
    return Interval(min(low, value), max(high, value), None)


def _degrees(influence: np.ndarray) -> float:
    """The degrees of freedom of a variance, less where few units carry it."""
    n, square = len(influence), float((influence**2).mean())
    if not square > 0:
        return n - 1
    # A sample variance varies as `(kurtosis - 1) / n` (Satterthwaite 1946), which is 2 / df.
    excess = float((influence**4).mean()) / square**2 - 1
    # Estimated from few units, fewer than 4 would be noise; simulated intervals cover with 4.
    return min(n - 1, max(_LEAST_DEGREES, 2 * n / excess)) if excess > 0 else n - 1


def to_unit(*sides: np.ndarray) -> list[np.ndarray]:
    """Scores with the lowest of all sides at 0 and the highest at 1."""
    low, high = (float(end) for end in (min(s.min() for s in sides), max(s.max() for s in sides)))
    return [(side - low) / (high - low if high > low else 1.0) for side in sides]


def pearson_influence(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """Pearson's correlation of weighted pairs, and the influence of each."""
    p = w / w.sum()
    dx, dy = x - p @ x, y - p @ y
    return _ratio(p @ (dx * dy), dx * dy, (p @ dx**2, dx**2), (p @ dy**2, dy**2))


def concordance_influence(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """Lin's concordance of weighted pairs, and the influence of each."""
    p = w / w.sum()
    mean_x, mean_y = p @ x, p @ y
    dx, dy, shift = x - mean_x, y - mean_y, mean_x - mean_y
    shared, below = p @ (dx * dy), p @ dx**2 + p @ dy**2 + shift**2
    if not below > _ROUNDING:
        return nan, np.full(len(x), nan)
    value = 2 * shared / below
    # The mean squared difference changes by its own deviation, the variances by theirs.
    moved = dx**2 + dy**2 + 2 * shift * (dx - dy) - (below - shift**2)
    return float(value), (2 * (dx * dy - shared) - value * moved) / below


def spearman_influence(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """Spearman's correlation of weighted pairs, and the influence of each."""
    p = w / w.sum()
    (fx, above_x), (fy, above_y) = (_mid_ranks(side, p) for side in (x, y))
    # A pair enters the product of ranks by its own ranks, and by moving the ranks above its own.
    product = fx * fy + above_x(p * fy) + above_y(p * fx)
    squares = [
        (p @ f**2, f**2 + 2 * above(p * f) - 2 * (p @ f**2))
        for f, above in ((fx, above_x), (fy, above_y))
    ]
    shared = p @ (fx * fy)
    return _ratio(shared, product - 2 * shared, *squares)


def kendall_influence(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """Kendall's tau-b of weighted pairs, and the influence of each."""
    p = w / w.sum()
    (ix, nx), (iy, ny) = _bins(x), _bins(y)
    table = np.zeros((nx, ny))
    np.add.at(table, (ix, iy), p)
    # Weight below and left of each cell, above and right, and so on, from one cumulative table.
    below = np.zeros((nx + 1, ny + 1))
    below[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)
    left, under = below[ix, ny], below[nx, iy]
    upto_x, upto_y = below[ix + 1, ny], below[nx, iy + 1]
    both_below, both_upto = below[ix, iy], below[ix + 1, iy + 1]
    both_above = 1 - upto_x - upto_y + both_upto
    crossed = (left - below[ix, iy + 1]) + (under - below[ix + 1, iy])
    score = both_below + both_above - crossed
    apart_x, apart_y = 1 - (upto_x - left), 1 - (upto_y - under)
    # Every pair of items is counted from both of its ends: the derivative is twice the deviation.
    value, influence = _ratio(p @ score, score, (p @ apart_x, apart_x), (p @ apart_y, apart_y))
    return value, 2 * influence


def kappa_influence(
    x: np.ndarray, y: np.ndarray, w: np.ndarray, *, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """Cohen's kappa of weighted pairs of level places, and the influence of each."""
    rows, columns, p = x.astype(int), y.astype(int), w / w.sum()
    q = len(weights)
    row, column = np.bincount(rows, p, q), np.bincount(columns, p, q)
    alike = weights[rows, columns]
    to_row, to_column = weights @ column, row @ weights
    po, pe = p @ alike, row @ to_row
    if not 1 - pe > _ROUNDING:
        return nan, np.full(len(x), nan)
    value = (po - pe) / (1 - pe)
    lean = to_row[rows] + to_column[columns] - 2 * pe
    return float(value), (alike - po - (1 - value) * lean) / (1 - pe)


def _ratio(
    shared: float, own: np.ndarray, left: tuple[float, np.ndarray], right: tuple[float, np.ndarray]
) -> tuple[float, np.ndarray]:
    """`shared / sqrt(left * right)`, and its derivative from those of the three."""
    if not (left[0] > _ROUNDING and right[0] > _ROUNDING):
        return nan, np.full(len(own), nan)
    scale = sqrt(left[0]) * sqrt(right[0])
    value = float(shared) / scale
    shrinks = (left[1] - left[0]) / left[0] + (right[1] - right[0]) / right[0]
    return value, (own - shared) / scale - value / 2 * shrinks


def _mid_ranks(
    x: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Mid-ranks as shares, less 1/2; and the sum of any column over what ranks above each."""
    _, at = np.unique(np.round(x, DIGITS), return_inverse=True)
    at = at.ravel()
    weight = np.bincount(at, p)
    ranks = np.cumsum(weight) - weight / 2 - 1 / 2

    def above(column: np.ndarray) -> np.ndarray:
        sums = np.bincount(at, column)
        # Equal scores count half, as in the ranks themselves.
        return np.asarray((sums.sum() - np.cumsum(sums) + sums / 2)[at])

    return ranks[at], above


def _bins(x: np.ndarray) -> tuple[np.ndarray, int]:
    """The place of each score among the different ones, in no more than `_BINS` steps."""
    levels, at = np.unique(np.round(x, DIGITS), return_inverse=True)
    at, n = at.ravel(), len(levels)
    if n <= _BINS:
        return at, n
    # By rank and not by distance, so that outliers do not push all others into one bin.
    upto = np.cumsum(np.bincount(at)) / len(x)
    return np.minimum((upto * _BINS).astype(int), _BINS - 1)[at], _BINS
