"""Intraclass correlations of a complete table of ratings, with F limits."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.coefficient import Ends
from judgekit.stats.estimate import Estimate
from judgekit.stats.known import floats
from judgekit.stats.quantiles import check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

ICCKind = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]

_KINDS = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")
_FLAT = 1e-12
_NARROW = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class IntraclassCorrelation(Estimate):
    """Reliability of ratings on a numeric scale."""

    kind: str
    """Which of Shrout & Fleiss 1979: model 1, 2 or 3, of one rater or of the mean of k."""

    f: float
    """Items' mean square over that of the error."""

    p_value: float
    """p of that F against items that do not differ."""

    n_raters: int
    """Raters."""

    n_dropped: int
    """Items left out because a rating is missing."""


def icc(
    ratings: Sequence[Sequence[float | None]], kind: ICCKind = "2,1", *, level: float = 0.95
) -> IntraclassCorrelation:
    """Intraclass correlation of a complete table, with F limits.

    Model 1 takes raters as nested in items; 2 as a sample of raters, absolute agreement: use
    `2,1` for a judge against a human; 3 as fixed, consistency: `3,k` says how reliable the mean
    of this panel is (Shrout & Fleiss 1979; limits of 2 after McGraw & Wong 1996, Satterthwaite's
    degrees of freedom).

    Args:
        ratings: One row an item, one rating a rater; items with a missing rating are left out
            (for many, use `krippendorff_alpha`).
        kind: `1,1`, `2,1`, `3,1`, or with `k` for the mean of all raters.
        level: Confidence level in (0, 1).

    Returns:
        The correlation; nan where items (or all ratings) do not vary. No interval at 1.

    Raises:
        ValueError: When the kind is unknown or rows differ in length.
        NotEnoughDataError: When fewer than two complete items or two raters are left.
    """
    check_level(level)
    if kind not in _KINDS:
        raise ValueError(f"no ICC is called {kind!r}; known: {', '.join(_KINDS)}")
    if len({len(row) for row in ratings}) > 1:
        raise ValueError("items have unlike numbers of ratings; give None where one is missing")
    if not len(ratings):
        raise NotEnoughDataError("no items; an ICC needs two, of two raters")
    table = floats(ratings).reshape(len(ratings), -1)
    kept = table[~np.isnan(table).any(axis=1)]
    n, k = kept.shape
    if n < 2 or k < 2:  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError(f"{n} complete items of {k} raters; an ICC needs two of each")
    squares = _MeanSquares.of(kept)
    error = squares.within if kind.startswith("1") else squares.error
    value = _value(squares, kind)
    f = squares.items / error if error > _FLAT * squares.size else nan
    ends = _ends(squares, kind, f, level) if value < 1 - _FLAT else _no_ends(value)
    return IntraclassCorrelation(
        value=value,
        low=ends.low,
        high=ends.high,
        level=level,
        n=n,
        n_missing=int(np.isnan(table).sum()),
        method=f"icc {kind}, F limits",
        n_observations=n * k,
        reason=ends.reason,
        kind=kind,
        f=f,
        p_value=_f_tail(f, n - 1, squares.error_df(kind)),
        n_raters=k,
        n_dropped=len(table) - n,
    )


class _MeanSquares(NamedTuple):
    """Two-way analysis of variance of n items by k raters."""

    items: float
    raters: float
    error: float
    within: float
    n: int
    k: int
    size: float

    @classmethod
    def of(cls, table: np.ndarray) -> _MeanSquares:
        n, k = table.shape
        whole, item, rater = table.mean(), table.mean(axis=1), table.mean(axis=0)
        rest = table - item[:, None] - rater + whole
        return cls(
            items=float(k * ((item - whole) ** 2).sum() / (n - 1)),
            raters=float(n * ((rater - whole) ** 2).sum() / (k - 1)),
            error=float((rest**2).sum() / ((n - 1) * (k - 1))),
            within=float(((table - item[:, None]) ** 2).sum() / (n * (k - 1))),
            n=n,
            k=k,
            size=max(1.0, float(np.abs(table).max()) ** 2),
        )

    def error_df(self, kind: ICCKind) -> int:
        return self.n * (self.k - 1) if kind.startswith("1") else (self.n - 1) * (self.k - 1)


def _value(s: _MeanSquares, kind: ICCKind) -> float:
    model, of_mean = kind[0], kind.endswith("k")
    error = s.within if model == "1" else s.error
    shift = 0.0 if model != "2" else (s.raters - s.error) / s.n
    below = s.items + shift if of_mean else s.items + (s.k - 1) * error + s.k * shift
    return (s.items - error) / below if below > _FLAT * s.size else nan


def _no_ends(value: float) -> Ends:
    if value >= 1 - _FLAT:
        return Ends(nan, nan, "raters differ nowhere: the spread cannot be seen in these data")
    return Ends(nan, nan, "items do not vary: the correlation is undefined")


def _ends(s: _MeanSquares, kind: ICCKind, f: float, level: float) -> Ends:
    of_mean = kind.endswith("k")
    if kind.startswith("2"):
        ends = _absolute_ends(s, level)
        low, high = (_stepped_up(x, s.k) for x in ends) if of_mean else ends
    else:
        df = s.error_df(kind)
        f_low = f / _f_quantile(level, s.n - 1, df)
        f_high = f * _f_quantile(level, df, s.n - 1)
        low, high = (1 - 1 / x if of_mean else (x - 1) / (x + s.k - 1) for x in (f_low, f_high))
    if not low - _FLAT <= _value(s, kind) <= high + _FLAT or not high - low > _NARROW:
        return Ends(nan, nan, "the limits cannot be told in these data")
    return Ends(low, high, None)


def _stepped_up(x: float, k: int) -> float:
    """Spearman and Brown: the reliability of the mean of k from that of one."""
    below = 1 + (k - 1) * x
    return k * x / below if below > _FLAT else nan


def _absolute_ends(s: _MeanSquares, level: float) -> tuple[float, float]:
    """Shrout & Fleiss 1979, equations for ICC(2,1)."""
    n, k, v = s.n, s.k, _value(s, "2,1")
    own = k * v * s.raters
    rest = (n * (1 + (k - 1) * v) - k * v) * s.error
    below = (n - 1) * own**2 + rest**2
    if not below > 0:
        return nan, nan
    df = (k - 1) * (n - 1) * (own + rest) ** 2 / below
    f_low, f_high = _f_quantile(level, n - 1, df), _f_quantile(level, df, n - 1)
    scale = k * s.raters + (k * n - k - n) * s.error
    low = n * (s.items - f_low * s.error) / (f_low * scale + n * s.items)
    high = n * (f_high * s.items - s.error) / (scale + n * f_high * s.items)
    return low, high


def _f_quantile(level: float, df1: float, df2: float) -> float:
    from scipy.special import fdtri  # noqa: PLC0415 - half a second, only where it is needed

    return float(fdtri(df1, df2, (1 + level) / 2))


def _f_tail(f: float, df1: float, df2: float) -> float:
    from scipy.special import fdtrc  # noqa: PLC0415 - half a second, only where it is needed

    return float(fdtrc(df1, df2, f))
