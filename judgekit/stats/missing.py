"""Observations that may be missing: which values, pairs, labels, clusters and folds are known.

Checks of scalar arguments are in `quantiles`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar, cast

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import by_place, is_missing

Values = Sequence[float | None] | np.ndarray
"""Numbers in their order, held by a list, an array or a series; None and nan are missing."""

_Label = TypeVar("_Label", bound="Hashable")

_NEVER_MISSING = {bool, int, str}

# 0.1 + 0.2 and 0.3 are one score: without rounding they would be two levels, or a broken tie.
DIGITS = 9


def floats(x: Sequence[object] | np.ndarray) -> np.ndarray:
    """Scores, or rows of them, as an array of finite floats; what is missing becomes nan."""
    try:
        try:
            found = np.array(x, dtype=float)
        except TypeError:
            # pandas' NA is no number; nor are texts, which fail again.
            cells = np.array(x, dtype=object)
            cells[np.frompyfunc(is_missing, 1, 1)(cells).astype(bool)] = np.nan
            found = cells.astype(float)
        found = np.where(np.ma.getmaskarray(x), np.nan, found) if np.ma.isMA(x) else found
    except (TypeError, ValueError, OverflowError) as error:
        start = ", ".join(repr(value)[:40] for value in list(x)[:3])
        raise ValueError(
            f"not all values are numbers, or rows differ in length: [{start}, ...]"
        ) from error
    if np.isinf(found).any():
        raise ValueError("a value is infinite; give nan where it is missing")
    return found


def known_columns(*columns: Values) -> tuple[np.ndarray, np.ndarray]:
    """The observations of which every column is known, a row a column; and their positions."""
    if len({len(column) for column in columns}) > 1:
        sizes = ", ".join(str(len(column)) for column in columns)
        raise ValueError(f"sequences of {sizes} values; they have to be equally long")
    table = np.reshape(list(map(floats, columns)), (len(columns), -1))
    known = ~np.isnan(table).any(axis=0)
    return table[:, known], np.flatnonzero(known)


def known_pairs(a: Values, b: Values) -> tuple[np.ndarray, np.ndarray, int]:
    """Both sides of the pairs that lack neither, and how many pairs lack one."""
    (left, right), places = known_columns(a, b)
    return left, right, len(a) - len(places)


def known_labels(
    a: Sequence[_Label | None], b: Sequence[_Label | None]
) -> tuple[list[tuple[_Label, _Label]], Sequence[int]]:
    """The pairs of labels of which both sides are known, and the position of each."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} labels of one rater, but {len(b)} of the other")
    a, b = by_place(a), by_place(b)
    # Nearly always nothing is missing.
    if set(map(type, (*a, *b))) <= _NEVER_MISSING:
        return cast("list[tuple[_Label, _Label]]", list(zip(a, b, strict=True))), range(len(a))
    known = [
        (place, (x, y))
        for place, (x, y) in enumerate(zip(a, b, strict=True))
        if x is not None and y is not None and not (is_missing(x) or is_missing(y))
    ]
    return [pair for _, pair in known], [place for place, _ in known]


def outcomes(x: Values, what: str = "an outcome") -> np.ndarray:
    """Outcomes as 0, 1 and nan; `what` is their name in the message of the error."""
    values = floats(x)
    if not np.isin(values[~np.isnan(values)], (0, 1)).all():
        raise ValueError(f"{what} is neither 0 nor 1")
    return values


def cluster_codes(clusters: Sequence[Hashable], places: Sequence[int] | np.ndarray) -> np.ndarray:
    """The clusters of the observations at some places, numbered in order of appearance."""
    # By first appearance and not np.unique: names of clusters may be of types that do not sort.
    names = by_place(clusters)
    if len(places) != len(names):
        names = [names[place] for place in places]
    # A name is numbered when it is first looked up.
    codes: defaultdict[Hashable, int] = defaultdict(lambda: len(codes))
    return np.array(list(map(codes.__getitem__, names)), dtype=int)


def count_units(codes: np.ndarray | None, n: int) -> int:
    """How many independent units `n` observations are: clusters by their codes, else themselves."""
    return n if codes is None else int(codes.max(initial=-1)) + 1


def group_sums(codes: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The sum of a column, or of each of several, over the observations of each group."""
    sums = np.zeros((count_units(codes, 0), *column.shape[1:]))
    np.add.at(sums, codes, column)
    return sums


def members(codes: np.ndarray) -> list[np.ndarray]:
    """The positions of the observations of each group."""
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])


def clustered_pairs(
    a: Values, b: Values, clusters: Sequence[Hashable] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """As `known_pairs`, with the cluster of each pair, numbered in order of appearance."""
    (left, right), places = known_columns(a, b)
    if clusters is not None and len(clusters) != len(a):
        raise ValueError(f"{len(a)} pairs, but {len(clusters)} cluster names")
    codes = None if clusters is None else cluster_codes(clusters, places)
    return left, right, codes, len(a) - len(places)


def fold_codes(folds: Sequence[Hashable] | int, x: Values, y: Values) -> np.ndarray:
    """The fold of each known pair, numbered from 0; a number of folds deals pairs in turn."""
    _, places = known_columns(x, y)
    if isinstance(folds, int | np.integer):
        # Not at random: the same data give the same folds without a seed.
        codes = np.arange(len(places)) % max(1, int(folds))
    else:
        if len(folds) != len(x):
            raise ValueError(f"{len(x)} pairs, but {len(folds)} folds")
        codes = cluster_codes(folds, places)
    if len(np.unique(codes)) < 2:  # noqa: PLR2004 - nothing would be left to fit on
        raise NotEnoughDataError("cross-fitting needs two folds that hold a pair")
    return codes


def mean_ranks(x: np.ndarray) -> np.ndarray:
    """Ranks from 1; values that agree to nine digits share the mean of theirs."""
    # scipy.stats.rankdata ties exact equals only: 0.3 - 0.1 and 0.2 would get different ranks.
    _, group, counts = np.unique(np.round(x, DIGITS), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[group])


def known_scores(x: Values) -> np.ndarray:
    """The scores that are not missing."""
    (scores,), _ = known_columns(x)
    return np.asarray(scores)
