"""Krippendorff's alpha: agreement of any number of raters, missing ratings allowed."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from judgekit.stats.coefficient import CoefficientInterval, Ends, check_interval, jackknife_ends
from judgekit.stats.estimate import Estimate
from judgekit.stats.ordinal_alpha import RankedRatings, n_couples, ordinal_sums
from judgekit.stats.quantiles import check_level
from judgekit.stats.rating_table import RatingCounts, RatingList, count_ratings, list_ratings

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

AlphaLevel = Literal["nominal", "ordinal", "interval", "ratio"]

_LEVELS = ("nominal", "ordinal", "interval", "ratio")
_FEW_ITEMS = 20
_FEW_LEVELS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha(Estimate):
    """Agreement of any number of raters beyond chance."""

    measurement: str
    """How far two ratings are apart: nominal, ordinal, interval or ratio."""

    n_dropped: int
    """Items with fewer than two ratings; they say nothing on agreement."""


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable]],
    level: AlphaLevel = "ordinal",
    *,
    ci: CoefficientInterval = "jackknife",
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Alpha:
    """Agreement of any number of raters, missing ratings allowed.

    `alpha = 1 - Do / De`: the mean squared difference of two ratings of one item over that of any
    two ratings (Krippendorff 2011). Differences: nominal 1; interval `c - k`; ratio
    `(c - k) / (c + k)`; ordinal `sum_{g=c..k} n_g - (n_c + n_k) / 2`, which is the distance of
    the labels' middle ranks, from the data's own frequencies.

    Time and memory grow with the ratings (at the ordinal level times their logarithm), but at the
    ratio level with items times distinct ratings.

    Args:
        ratings: One row an item, one rating a rater; None and nan are missing.
        level: Level of measurement: `nominal`, `ordinal`, `interval` or `ratio`.
        ci: `jackknife` (leaving out an item) or `none`.
        clusters: The case of each item; the jackknife leaves out whole cases.
        confidence: Confidence level in (0, 1).

    Returns:
        Alpha; nan where all ratings are equal. `n` counts items with two ratings or more.

    Raises:
        ValueError: When the level is unknown, or ratings are no numbers where they have to be.
        NotEnoughDataError: When no item has two ratings.
    """
    check_level(confidence)
    check_interval(ci, ("jackknife", "none"))
    if level not in _LEVELS:
        raise ValueError(f"no level is called {level!r}; known: {', '.join(_LEVELS)}")
    table = list_ratings(ratings, clusters=clusters)
    if level == "interval":
        value, left_out = _interval_alphas(table)
    elif level == "nominal":
        value, left_out = _nominal_alphas(table)
    elif level == "ordinal" and _is_fine(table):
        value, left_out = _ranked_alphas(table)
    else:
        value, left_out = _alphas(count_ratings(ratings, clusters=clusters), level)
    ends = Ends(nan, nan, "no interval was asked for")
    if ci == "jackknife":
        ends = jackknife_ends(value, left_out, level=confidence)
    few = f"{table.n} items only: the interval is rough" if table.n < _FEW_ITEMS else None
    return Alpha(
        value=value,
        low=ends.low,
        high=ends.high,
        level=confidence,
        n=table.n,
        n_missing=table.n_missing,
        method=f"alpha, {ci}" + ("" if clusters is None else ", clustered"),
        n_clusters=None if clusters is None else table.n,
        n_observations=table.n_ratings,
        reason="all ratings are equal: alpha is 0/0" if isnan(value) else ends.reason,
        note=few,
        measurement=level,
        n_dropped=table.n_dropped,
    )


class _Units(NamedTuple):
    """Distinct items with their number, and the group each is left out with."""

    rows: np.ndarray
    times: np.ndarray
    group: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, table: RatingCounts) -> _Units:
        if table.clusters is not None:
            ones = np.ones(len(table.counts))
            return cls(table.counts, ones, table.clusters, np.arange(table.n))
        rows, place, times = np.unique(
            table.counts, axis=0, return_inverse=True, return_counts=True
        )
        return cls(rows, times, np.arange(len(rows)), place.ravel())

    def per_group(self, column: np.ndarray) -> np.ndarray:
        total = np.zeros((int(self.group.max()) + 1, *column.shape[1:]))
        np.add.at(total, self.group, column)
        return total


def _interval_alphas(table: RatingList) -> tuple[float, np.ndarray]:
    """Alpha, and alpha without each item or case, from sums of values and of their squares."""
    values = _numbers(table.ratings)
    values = values - values.mean()
    sums = np.zeros((table.n_items, 3))
    np.add.at(sums, table.items, np.stack([np.ones(len(values)), values, values**2], axis=1))
    within = _spread_of(sums) / (sums[:, 0] - 1)
    groups = np.arange(table.n_items) if table.clusters is None else table.clusters
    left, left_within = np.zeros((table.n, 3)), np.zeros(table.n)
    np.add.at(left, groups, sums)
    np.add.at(left_within, groups, within)
    whole, total = sums.sum(axis=0), float(within.sum())
    rest = whole - left
    return (
        float(_alpha(total, _spread_of(whole), whole[0])),
        _alpha(total - left_within, _spread_of(rest), rest[:, 0]),
    )


def _nominal_alphas(table: RatingList) -> tuple[float, np.ndarray]:
    """Alpha, and alpha without each item or case, from how often labels coincide."""
    codes: dict[Hashable, int] = {}
    label = np.array([codes.setdefault(rating, len(codes)) for rating in table.ratings])
    sizes, counts = np.bincount(table.items), np.bincount(label)
    item, _, times = _met(table.items, label)
    within = (sizes**2 - np.bincount(item, times**2)) / (sizes - 1)
    groups = np.arange(table.n_items) if table.clusters is None else table.clusters
    unit, of, own = _met(groups[table.items], label)
    gone = counts[of] ** 2 - (counts[of] - own) ** 2
    n, squares, total = len(label), int((counts**2).sum()), float(within.sum())
    rest = n - np.bincount(groups[table.items])
    apart = rest**2 - (squares - np.bincount(unit, gone))
    left = _alpha(total - np.bincount(groups, within), apart, rest)
    return float(_alpha(total, np.array(n * n - squares), np.array(n))), left


def _met(rows: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which labels each row holds, and how often."""
    many = int(label.max()) + 1
    key, times = np.unique(rows * many + label, return_counts=True)
    return key // many, key % many, times


def _is_fine(table: RatingList) -> bool:
    """Whether ratings have so many levels that ranks are quicker than a table of them."""
    n_levels = len(table.seen)
    if n_levels <= _FEW_LEVELS:
        return False
    return n_couples(*_ranked(table)[::2]) <= table.n_ratings * n_levels


def _ranked(table: RatingList) -> RankedRatings:
    level = np.unique(_numbers(table.ratings), return_inverse=True)[1]
    groups = np.arange(table.n_items) if table.clusters is None else table.clusters
    return RankedRatings(level, table.items, groups[table.items])


def _ranked_alphas(table: RatingList) -> tuple[float, np.ndarray]:
    """Ordinal alpha, and that without each item or case, from ranks."""
    whole, left = (_alpha(s.observed, s.expected, s.n) for s in ordinal_sums(_ranked(table)))
    return float(whole), left


def _spread_of(sums: np.ndarray) -> np.ndarray:
    """`sum_ij (x_i - x_j)^2` from how many values there are, their sum and that of squares."""
    return np.asarray(2 * (sums[..., 0] * sums[..., 2] - sums[..., 1] ** 2))


def _alphas(table: RatingCounts, level: Literal["ordinal", "ratio"]) -> tuple[float, np.ndarray]:
    """Alpha, and alpha without each item or case, from a table of few levels."""
    units = _Units.of(table)
    counts = (units.times[:, None] * units.rows).sum(axis=0)
    rest = counts - units.per_group(units.rows)
    if level == "ratio":
        distance = _ratios(_numbers(table.labels))
        within = _apart(units.rows, distance) / (_sizes(units) - 1)
        total = float((units.times * within).sum())
        whole = _alpha(total, _apart(counts[None], distance)[0], counts.sum())
        left = _alpha(total - units.per_group(within), _apart(rest, distance), rest.sum(axis=1))
        return float(whole), left[units.place]
    whole_at = _ranks(table.labels, counts[None])
    rest_at = _ranks(table.labels, rest)
    laplacian = _laplacian(units)
    total = float(((whole_at @ laplacian) * whole_at).sum())
    whole = _alpha(total, _spread(counts[None], whole_at)[0], counts.sum())
    removed = _spread(units.rows, rest_at[units.group]) / (_sizes(units) - 1)
    observed = ((rest_at @ laplacian) * rest_at).sum(axis=1) - units.per_group(removed)
    left = _alpha(observed, _spread(rest, rest_at), rest.sum(axis=1))
    return float(whole), left[units.place]


def _alpha(observed: np.ndarray | float, apart: np.ndarray, n: np.ndarray) -> np.ndarray:
    """`1 - (n-1) observed / apart`; nan where no two ratings differ."""
    with np.errstate(invalid="ignore", divide="ignore"):
        differs = np.asarray(apart) > 1e-12  # noqa: PLR2004 - rounding
        return np.where(differs, 1 - (n - 1) * np.maximum(observed, 0) / apart, nan)


def _sizes(units: _Units) -> np.ndarray:
    return np.asarray(units.rows.sum(axis=1))


def _apart(counts: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """`sum_ck n_c n_k d_ck` of each row of counts, d the squared difference."""
    return np.asarray(((counts @ distance) * counts).sum(axis=1))


def _ratios(points: np.ndarray) -> np.ndarray:
    """Squared differences at the ratio level."""
    if (points < 0).any():
        raise ValueError("a rating is negative; the ratio level has a zero")
    sums = points[:, None] + points
    difference = np.abs(points[:, None] - points)
    return np.asarray((difference / np.where(sums > 0, sums, 1)) ** 2)


def _ranks(labels: Sequence[Hashable], counts: np.ndarray) -> np.ndarray:
    """Where each label stands: its middle rank in each row of counts, about their mean."""
    _numbers(labels)
    found = np.cumsum(counts, axis=1) - counts / 2
    return np.asarray(found - found.mean(axis=1, keepdims=True))


def _numbers(labels: Sequence[Hashable]) -> np.ndarray:
    if not all(isinstance(label, int | float) for label in labels):
        raise ValueError("ratings are no numbers; use the nominal level")
    return np.array(labels, dtype=float)


def _spread(counts: np.ndarray, at: np.ndarray) -> np.ndarray:
    """`sum_ck n_c n_k (x_c - x_k)^2` of each row."""
    n, first, second = counts.sum(axis=1), (counts * at).sum(axis=1), (counts * at**2).sum(axis=1)
    return np.asarray(2 * (n * second - first**2))


def _laplacian(units: _Units) -> np.ndarray:
    """The matrix L with `x L x` = sum over items of the spread of their ratings / (m - 1)."""
    weight = units.times / (_sizes(units) - 1)
    shared = units.rows.T @ (weight[:, None] * units.rows)
    own = np.diag((weight * _sizes(units)) @ units.rows)
    return np.asarray(2 * (own - shared))
