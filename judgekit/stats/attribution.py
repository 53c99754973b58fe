"""How much of a score's variance goes with which predictors: association, not cause.

Shapley R-squared and type II analysis of variance.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import factorial, nan
from typing import NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Counted
from judgekit.stats.missing import cluster_codes, count_units, floats, known_columns
from judgekit.stats.quantiles import check_level, f_tail, require_whole
from judgekit.stats.resample import resampled_rows

# 2^10 regressions for each resample; beyond that the shares take minutes.
_MOST_GROUPS = 10
_ROWS_PER_PARAMETER = 10
_FLAT = 1e-10
_SHUFFLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapleyR2(Counted):
    """R-squared divided among groups of predictors."""

    lmg: tuple[float, ...]
    """Share of each group; they sum to r2."""

    low: tuple[float, ...]
    """Lower end of each share; nan where it was not resampled."""

    high: tuple[float, ...]
    """Upper end of each share; nan where it was not resampled."""

    first: tuple[float, ...]
    """R-squared of each group alone."""

    last: tuple[float, ...]
    """What each adds to all others; far from `first` where predictors go together."""

    noise_floor: tuple[float, ...]
    """Share each would get if its rows were shuffled; nan where it was not resampled."""

    r2: float
    """R-squared of all."""

    adjusted_r2: float
    """The same, less what chance gives; nan where no row is left over."""

    level: float
    """Confidence level of the intervals."""

    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Type2Anova(Counted):
    """A test of each group of predictors, given the others."""

    f: tuple[float, ...]
    """F of each group; nan where it adds no column of its own."""

    p_value: tuple[float, ...]
    """Its p."""

    partial_eta2: tuple[float, ...]
    """Share of what the others leave that the group takes up."""

    df: tuple[int, ...]
    """Degrees of freedom of each group."""

    df_error: int
    """Degrees of freedom that are left."""

    note: str | None = None


def shapley_r2(
    X: Sequence[Sequence[float | None]],  # noqa: N803 - the matrix of a regression
    y: Sequence[float | None],
    groups: Sequence[Sequence[int]],
    *,
    clusters: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> ShapleyR2:
    """R-squared divided among groups of predictors (Lindeman, Merenda & Gold 1980).

    Each group gets the mean, over all orders of adding the groups, of what it adds: Shapley's
    value of the R-squared game (Groemping 2007). A useless predictor gets a little by chance:
    compare with `noise_floor`.

    Args:
        X: One row an observation, one column a predictor; rows with a missing number are left
            out. An intercept is added.
        y: The score of each row.
        groups: Columns of each group, ten groups at most; columns in none are left out.
        clusters: The case of each row; whole cases are resampled.
        n_resamples: Resamples for the intervals.
        rng: Source of random numbers; without, there are no intervals and no noise floor.
        level: Confidence level in (0, 1).

    Returns:
        The shares with percentile intervals.

    Raises:
        ValueError: When lengths differ, a column is out of range or in two groups, or there are
            more than ten groups.
        NotEnoughDataError: When the score does not vary or fewer than three rows are known.
    """
    check_level(level)
    table = _table(X, y, groups, clusters, most=_MOST_GROUPS)
    shares = _shares(_cross(table.whole), table.groups)
    rank = np.linalg.matrix_rank(_centred(table.whole[:, :-1]), tol=_FLAT * 1e3)
    n = len(table.whole)
    left, r2 = n - 1 - int(rank), float(shares.r2)
    low = high = floor = (nan,) * len(groups)
    if rng is not None:
        stacks = resampled_rows(table.whole, table.codes, rng, n_resamples)
        parts = [_shares(_cross(stack), table.groups).lmg for stack in stacks]
        ends = np.nanquantile(
            np.concatenate(parts, axis=1), [(1 - level) / 2, (1 + level) / 2], axis=1
        )
        low, high = tuple(ends[0].tolist()), tuple(ends[1].tolist())
        # A share of R² is never negative: only a shuffled column shows how much is noise.
        floor = _noise_floor(table, rng)
    return ShapleyR2(
        lmg=tuple(shares.lmg.tolist()),
        low=low,
        high=high,
        first=tuple(shares.first.tolist()),
        last=tuple(shares.last.tolist()),
        noise_floor=floor,
        r2=r2,
        adjusted_r2=1 - (1 - r2) * (n - 1) / left if left > 0 else nan,
        level=level,
        n=count_units(table.codes, n),
        n_missing=table.n_missing,
        note=_few_rows(n, int(rank) + 1),
    )


def type2_anova(
    X: Sequence[Sequence[float | None]],  # noqa: N803 - the matrix of a regression
    y: Sequence[float | None],
    groups: Sequence[Sequence[int]],
) -> Type2Anova:
    """A test of each group of predictors given all others (type II sums of squares).

    `F = ((RSS_without - RSS) / df) / (RSS / df_error)`, partial eta squared `SS / (SS + RSS)`
    (Langsrud 2003).

    Args:
        X: As in `shapley_r2`.
        y: As in `shapley_r2`.
        groups: As in `shapley_r2`, of any number.

    Raises:
        ValueError: When lengths differ, or a column is out of range or in two groups.
        NotEnoughDataError: When the score does not vary, or no row is left for an error.
    """
    table = _table(X, y, groups, None, most=len(groups))
    columns = [c for group in table.groups for c in group]
    rss, rank = _residual(table.whole, columns)
    n = len(table.whole)
    df_error = n - 1 - rank
    if df_error < 1:
        raise NotEnoughDataError(f"{n} rows for {rank + 1} parameters leave none for the error")
    rows = []
    for group in table.groups:
        without, its_rank = _residual(table.whole, [c for c in columns if c not in group])
        df = rank - its_rank
        # Least squares can lose a digit: a residual may not seem to grow with a column.
        gain = max(0.0, without - rss)
        f = (gain / df) / (rss / df_error) if df and rss > 0 else nan
        p_value = f_tail(f, df, df_error)
        rows.append((f, p_value, gain / without if df and without else nan, df))
    f_values, p_values, eta2, df_groups = zip(*rows, strict=True)
    return Type2Anova(
        f=f_values,
        p_value=p_values,
        partial_eta2=eta2,
        df=df_groups,
        df_error=df_error,
        n=n,
        n_missing=table.n_missing,
        note=_few_rows(n, rank + 1),
    )


class _Table(NamedTuple):
    """Known rows of predictors and, last, the score; the columns of each group; the cases."""

    whole: np.ndarray
    groups: list[list[int]]
    codes: np.ndarray | None
    n_missing: int


class _Shares(NamedTuple):
    """One row a group; further axes are resamples."""

    lmg: np.ndarray
    first: np.ndarray
    last: np.ndarray
    r2: np.ndarray


def _table(
    predictors: Sequence[Sequence[float | None]],
    y: Sequence[float | None],
    groups: Sequence[Sequence[int]],
    clusters: Sequence[Hashable] | None,
    *,
    most: int,
) -> _Table:
    if not len(predictors) and not len(y):
        raise NotEnoughDataError("no rows of predictors")
    x = floats(predictors).reshape(len(predictors), -1 if len(predictors) else 0)
    if len(x) != len(y) or (clusters is not None and len(clusters) != len(y)):
        raise ValueError(f"{len(x)} rows of predictors, {len(y)} scores; each row needs its case")
    # As Python integers: numpy's would print as np.int64(0) and 0.0 is no column.
    columns = [[c for column in group for c in require_whole(column=column)] for group in groups]
    used = [column for group in columns for column in group]
    if len(set(used)) < len(used) or any(not 0 <= column < x.shape[1] for column in used):
        raise ValueError(f"a group names a column twice, or one outside 0..{x.shape[1] - 1}")
    if not 1 <= len(groups) <= most:
        raise ValueError(f"{len(groups)} groups of predictors; 1 to {_MOST_GROUPS} can be shared")
    table, known = known_columns(*x[:, used].T, floats(y).ravel())
    used_rows = np.ascontiguousarray(table.T)
    if len(used_rows) < 3 or np.ptp(used_rows[:, -1]) <= _FLAT:  # noqa: PLR2004 - a line and a residual
        raise NotEnoughDataError(f"{len(used_rows)} complete rows, or a score that does not vary")
    ends = np.cumsum([0, *[len(group) for group in columns]])
    places = [list(range(a, b)) for a, b in pairwise(ends.tolist())]
    codes = None if clusters is None else cluster_codes(clusters, known)
    return _Table(used_rows, places, codes, len(y) - len(known))


def _centred(x: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and, where they vary, variance 1."""
    # Standardised, so that one tolerance judges the rank of columns in any unit.
    shifted = x - x.mean(axis=-2, keepdims=True)
    spread = shifted.std(axis=-2, keepdims=True)
    return np.asarray(shifted / np.where(spread > _FLAT, spread, np.inf))


def _cross(whole: np.ndarray) -> np.ndarray:
    """Correlations of all columns, 0 for those that do not vary."""
    z = _centred(whole)
    return np.asarray(np.swapaxes(z, -1, -2) @ z / z.shape[-2])


def _shares(correlations: np.ndarray, groups: Sequence[Sequence[int]]) -> _Shares:
    p = len(groups)
    r2 = {
        chosen: _r2(correlations, [c for g in chosen for c in groups[g]])
        for size in range(p + 1)
        for chosen in combinations(range(p), size)
    }
    every = tuple(range(p))
    lmg = np.zeros((p, *correlations.shape[:-2]))
    for chosen, value in r2.items():
        for g in set(every) - set(chosen):
            # Shapley (1953): the share of orders in which exactly these groups come before.
            weight = factorial(len(chosen)) * factorial(p - len(chosen) - 1) / factorial(p)
            lmg[g] += weight * (r2[tuple(sorted((*chosen, g)))] - value)
    last = [r2[every] - r2[tuple(h for h in every if h != g)] for g in every]
    return _Shares(lmg, np.array([r2[(g,)] for g in every]), np.array(last), r2[every])


def _r2(correlations: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """R-squared of some columns; nan where the score does not vary."""
    varies = np.where(correlations[..., -1, -1] > 0, 0.0, nan)
    if not columns:
        return varies
    inner = correlations[..., columns, :][..., columns]
    target = correlations[..., columns, -1]
    # Dependent columns are allowed in a group: the pseudo-inverse shares what they explain.
    inverse = np.linalg.pinv(inner, rcond=_FLAT, hermitian=True)
    return np.asarray(varies + np.einsum("...i,...ij,...j->...", target, inverse, target))


def _noise_floor(table: _Table, rng: np.random.Generator) -> tuple[float, ...]:
    """The share of each group with its rows shuffled, on average."""
    floors = []
    for place, group in enumerate(table.groups):
        shares = []
        for _ in range(_SHUFFLES):
            shuffled = table.whole.copy()
            shuffled[:, group] = rng.permutation(table.whole[:, group])
            shares.append(float(_shares(_cross(shuffled), table.groups).lmg[place]))
        floors.append(float(np.mean(shares)))
    return tuple(floors)


def _residual(whole: np.ndarray, columns: Sequence[int]) -> tuple[float, int]:
    """Residual sum of squares of the score on some columns, and their rank."""
    y = whole[:, -1] - whole[:, -1].mean()
    if not columns:
        return float(y @ y), 0
    z = _centred(whole[:, columns])
    coef, _, rank, _ = np.linalg.lstsq(z, y, rcond=_FLAT)
    rest = y - z @ coef
    return float(rest @ rest), int(rank)


def _few_rows(n: int, n_parameters: int) -> str | None:
    if n >= _ROWS_PER_PARAMETER * n_parameters:
        return None
    return f"{n} rows for {n_parameters} parameters: fewer than {_ROWS_PER_PARAMETER} each, rough"
