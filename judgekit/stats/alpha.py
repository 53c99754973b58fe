"""Krippendorff's alpha at the nominal, ordinal, interval and ratio levels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal, get_args

import numpy as np

from judgekit.stats.agreement_coefficients import (
    IntervalMethod,
    RatingList,
    Ratings,
    interval_by,
    list_ratings,
)
from judgekit.stats.estimate import Estimate, in_units
from judgekit.stats.missing import group_sums
from judgekit.stats.quantiles import check_choice, check_level

AlphaLevel = Literal["nominal", "ordinal", "interval", "ratio"]

# Below so many items the jackknife interval of alpha covers clearly less than its level.
_FEW_ITEMS = 20
_FEW_LEVELS = 128

# Ranks computed at once: about 1 MiB.
_CELLS = 160_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha(Estimate):
    """Agreement of any number of raters beyond chance."""

    measurement: str
    """How far two ratings are apart: nominal, ordinal, interval or ratio."""

    n_dropped: int
    """Items with fewer than two ratings; they say nothing on agreement."""


def krippendorff_alpha(
    ratings: Ratings,
    level: AlphaLevel = "ordinal",
    *,
    ci: IntervalMethod = "jackknife",
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Alpha:
    """Agreement of any number of raters, missing ratings allowed.

    `alpha = 1 - Do / De`: the mean squared difference of two ratings of one item over that of any
    two ratings (Krippendorff 2011). Differences: nominal 1; interval `c - k`; ratio
    `(c - k) / (c + k)`; ordinal `sum_{g=c..k} n_g - (n_c + n_k) / 2`, which is the distance of
    the labels' middle ranks, from the data's own frequencies.

    Time and memory grow with the ratings; at the ratio level with items times distinct ratings, as
    does the time of more than 128 distinct ordinal ratings.

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
    check_choice("interval", ci, ("jackknife", "none"))
    check_choice("level", level, get_args(AlphaLevel))
    table = list_ratings(ratings, clusters=clusters)
    if level == "interval":
        value, left_out = _interval_alphas(table)
    elif level == "nominal":
        value, left_out = _nominal_alphas(table)
    # Few levels go by counts, many by ranks: a table of items by levels would not fit in memory.
    elif level == "ordinal" and len(table.labels) > _FEW_LEVELS:
        value, left_out = _ranked_alphas(table)
    else:
        value, left_out = _alphas(table, level)
    undefined = "all ratings are equal: alpha is 0/0"
    ends = interval_by(ci, value, left_out, level=confidence, undefined=undefined)
    return Alpha(
        value=value,
        **ends._asdict(),
        level=confidence,
        **in_units(f"alpha, {ci}", table.n, clustered=clusters is not None),
        n_missing=table.n_missing,
        n_observations=len(table.ratings),
        note=f"{table.n} items only: the interval is rough" if table.n < _FEW_ITEMS else None,
        measurement=level,
        n_dropped=table.n_dropped,
    )


def _interval_alphas(table: RatingList) -> tuple[float, np.ndarray]:
    """Alpha, and alpha without each item or case, from sums of values and of their squares."""
    values = _numbers(table.ratings)
    # Centred first: sums of squares of large numbers would lose the spread to rounding.
    values = values - values.mean()
    powers = np.stack([np.ones(len(values)), values, values**2], axis=1)
    sums = group_sums(table.items, powers)
    within = _spread(sums.T) / (sums[:, 0] - 1)
    whole, total = sums.sum(axis=0), float(within.sum())
    rest = whole - group_sums(table.units, sums)
    left = _alpha(total - group_sums(table.units, within), _spread(rest.T), rest[:, 0])
    return float(_alpha(total, _spread(whole), whole[0])), left


def _nominal_alphas(table: RatingList) -> tuple[float, np.ndarray]:
    """Alpha, and alpha without each item or case, from how often labels coincide."""
    codes: dict[Hashable, int] = {}
    label = np.array([codes.setdefault(rating, len(codes)) for rating in table.ratings])
    sizes, counts = np.bincount(table.items), np.bincount(label)
    item, _, times = _met(table.items, label)
    within = (sizes**2 - np.bincount(item, times**2)) / (sizes - 1)
    unit, of, own = _met(table.units[table.items], label)
    # Without a unit's ratings only the counts of its own labels change.
    gone = counts[of] ** 2 - (counts[of] - own) ** 2
    n, squares, total = len(label), int((counts**2).sum()), float(within.sum())
    rest = n - np.bincount(table.units[table.items])
    apart = rest**2 - (squares - np.bincount(unit, gone))
    left = _alpha(total - np.bincount(table.units, within), apart, rest)
    return float(_alpha(total, np.array(n * n - squares), np.array(n))), left


def _met(rows: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which labels each row holds, and how often."""
    many = int(label.max()) + 1
    key, times = np.unique(rows * many + label, return_counts=True)
    return key // many, key % many, times


def _ranked_alphas(table: RatingList) -> tuple[float, np.ndarray]:
    """Alpha, and alpha without each item or case, from the ranks of ordinal ratings."""
    level = np.unique(_numbers(table.ratings), return_inverse=True)[1]
    counts, sizes = np.bincount(level), np.bincount(table.items)
    unit, first = table.units[table.items], np.cumsum(sizes) - sizes
    # A few units are left out at a time: ranks of all ratings for all units would not fit in
    # memory. Unit -1 does not exist, so that the first alpha is that of all ratings.
    alphas, step = [], max(1, _CELLS // len(level))
    for start in range(-1, table.n, step):
        gone = np.arange(start, min(start + step, table.n))[:, None]
        row, place = np.nonzero(unit == gone)
        rest = np.tile(counts, (len(gone), 1))
        np.subtract.at(rest, (row, level[place]), 1)
        ranks = _ranks(rest)
        at = ranks[:, level]
        sums, squares = (np.add.reduceat(x, first, axis=1) for x in (at, at * at))
        within = 2 * (sizes * squares - sums**2) / (sizes - 1)
        observed = (within * (table.units != gone)).sum(axis=1)
        alphas.append(_alpha(observed, _spread(_powers(rest, ranks)), rest.sum(axis=1)))
    whole, left = np.split(np.concatenate(alphas), [1])
    return float(whole[0]), left


def _alphas(table: RatingList, level: Literal["ordinal", "ratio"]) -> tuple[float, np.ndarray]:
    """Alpha, and alpha without each item or case, from a table of few levels."""
    labels, rows = table.count()
    points, group, place = _numbers(labels), table.units, np.arange(table.n)
    times: np.ndarray = np.ones(len(rows))
    if table.n == len(rows):
        # Items with the same counts are alike: each distinct row is left out once.
        rows, place, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        group, place = np.arange(len(rows)), place.ravel()
    sizes = rows.sum(axis=1)
    counts = times @ rows
    rest = counts - group_sums(group, rows)
    if level == "ratio":
        if (points < 0).any():
            raise ValueError("a rating is negative; the ratio level has a zero")
        # Two ratings of 0 are equal: their distance is 0, not 0/0.
        sums = points[:, None] + points
        distance = ((points[:, None] - points) / np.where(sums > 0, sums, 1)) ** 2
        within = _apart(rows, distance) / (sizes - 1)
        total = float((times * within).sum())
        whole = _alpha(total, _apart(counts[None], distance)[0], counts.sum())
        left = _alpha(total - group_sums(group, within), _apart(rest, distance), rest.sum(axis=1))
        return float(whole), left[place]
    whole_at, rest_at = _ranks(counts), _ranks(rest)
    # L with `x L x` = sum over items of the spread of their ratings / (m - 1): the leave-one-out
    # values move every rank, and a quadratic form avoids a pass over all items for each.
    weight = times / (sizes - 1)
    laplacian = 2 * (np.diag((weight * sizes) @ rows) - rows.T @ (weight[:, None] * rows))
    total = float(whole_at @ laplacian @ whole_at)
    whole = _alpha(total, _spread(_powers(counts, whole_at)), counts.sum())
    removed = _spread(_powers(rows, rest_at[group])) / (sizes - 1)
    observed = ((rest_at @ laplacian) * rest_at).sum(axis=1) - group_sums(group, removed)
    left = _alpha(observed, _spread(_powers(rest, rest_at)), rest.sum(axis=1))
    return float(whole), left[place]


def _alpha(observed: np.ndarray | float, apart: np.ndarray, n: np.ndarray) -> np.ndarray:
    """`1 - (n-1) observed / apart`; nan where no two ratings differ."""
    with np.errstate(invalid="ignore", divide="ignore"):
        differs = np.asarray(apart) > 1e-12  # noqa: PLR2004 - rounding
        return np.where(differs, 1 - (n - 1) * np.maximum(observed, 0) / apart, nan)


def _apart(counts: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """`sum_ck n_c n_k d_ck` of each row of counts, d the squared difference."""
    return np.asarray(((counts @ distance) * counts).sum(axis=1))


def _ranks(counts: np.ndarray) -> np.ndarray:
    """Where each label stands: its middle rank in each row of counts, about their mean."""
    middle = np.cumsum(counts, axis=-1) - counts / 2
    return np.asarray(middle - middle.mean(axis=-1, keepdims=True))


def _numbers(labels: Sequence[Hashable]) -> np.ndarray:
    if not all(isinstance(label, int | float) for label in labels):
        raise ValueError("ratings are no numbers; use the nominal level")
    return np.array(labels, dtype=float)


def _powers(counts: np.ndarray, at: np.ndarray) -> np.ndarray:
    """How many ratings each row has, their sum and that of squares, where labels stand at `at`."""
    return np.stack([(counts * at**power).sum(axis=-1) for power in range(3)])


def _spread(powers: np.ndarray) -> np.ndarray:
    """`sum_ij (x_i - x_j)^2` from how many values there are, their sum and that of squares."""
    n, first, second = powers
    return np.asarray(2 * (n * second - first**2))
