"""Tables of paired comparisons, and the ranking that fitted strengths give."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import log, nan, sqrt
from typing import NamedTuple, TypedDict

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate, Result, undefined_estimate
from judgekit.stats.missing import cluster_codes, count_units, group_sums
from judgekit.stats.quantiles import normal_quantile, require_whole, t_quantile


class PairResult(TypedDict):
    """The results of comparing items i and j, numbered from 0."""

    i: int
    j: int
    wins_i: float
    wins_j: float
    ties: float


class Comparisons(NamedTuple):
    """Rows of results in arrays; `used` are the positions of the rows that hold a comparison."""

    i: np.ndarray
    j: np.ndarray
    counts: np.ndarray
    n_items: int
    clusters: np.ndarray | None
    used: np.ndarray

    @property
    def items(self) -> np.ndarray:
        """The items that were compared."""
        return np.unique(np.concatenate([self.i, self.j]))

    @property
    def n_units(self) -> int:
        """Comparisons, or clusters of them."""
        return count_units(self.clusters, round(float(self.counts.sum())))

    @property
    def df(self) -> float:
        """Degrees of freedom of intervals over clusters; nan for the normal law."""
        return nan if self.clusters is None else float(self.n_units - 1)

    def note(self, *, prior: bool) -> str | None:
        """What these results leave open; `prior` where half wins had to be added."""
        notes = []
        groups, never = self.groups(), sorted(set(range(self.n_items)) - set(self.items.tolist()))
        if len(groups) > 1:
            named = " and ".join("{" + ", ".join(map(str, g)) + "}" for g in groups)
            notes.append(
                f"items {named} never met, even by way of others: compare within each only"
            )
        if never:
            notes.append(f"never compared: {', '.join(map(str, never))}")
        if prior:
            notes.append(
                "some items won or lost everything, or never met: half a win and half a loss"
                " against the mean were added for each"
            )
        return "; ".join(notes) or None

    def contrasts(self) -> tuple[np.ndarray, np.ndarray]:
        """Strengths of all items from free coefficients, and the difference of each row."""
        items = self.items
        basis = np.zeros((self.n_items, len(items) - 1))
        basis[items[:-1]] = np.eye(len(items) - 1)
        # Sum to zero: no item is the reference, and standard errors do not depend on the choice of
        # one.
        basis[items[-1]] = -1
        return basis, basis[self.i] - basis[self.j]

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Items linked by comparisons in either direction."""
        reach = _closure(self._beats() | self._beats().T)
        linked = {tuple(np.flatnonzero(row).tolist()) for row in reach}
        return tuple(sorted(group for group in linked if len(group) > 1))

    def levels(self) -> tuple[tuple[int, ...], ...]:
        """Items that beat each other, directly or by way of others; single ones included."""
        # Within a level strengths are finite; between two levels only one side has ever won.
        reach = _closure(self._beats())
        return tuple(sorted({tuple(np.flatnonzero(row).tolist()) for row in reach & reach.T}))

    def is_separated(self) -> bool:
        """Whether some items never lost or tied against the others."""
        # Strengths are finite if and only if every item reaches every other by wins (Ford 1957).
        reach = _closure(self._beats())[np.ix_(self.items, self.items)]
        return not bool(reach.all())

    def _beats(self) -> np.ndarray:
        beats = np.zeros((self.n_items, self.n_items), dtype=bool)
        tied = self.counts[:, 2] > 0
        for winner, loser, won in (
            (self.i, self.j, self.counts[:, 0] > 0),
            (self.j, self.i, self.counts[:, 1] > 0),
        ):
            # A tie counts as a win both ways: it links the items, and strengths stay finite.
            beats[winner[won | tied], loser[won | tied]] = True
        return beats


def comparisons(
    results: Sequence[PairResult], n_items: int, clusters: Sequence[Hashable] | None = None
) -> Comparisons:
    """Check results and put them in arrays; rows without a comparison are left out."""
    (n_items,) = require_whole(n_items=n_items)
    if clusters is not None and len(clusters) != len(results):
        raise ValueError(f"{len(results)} results, but {len(clusters)} cluster names")
    rows = np.array([(r["i"], r["j"]) for r in results], dtype=float).reshape(-1, 2)
    counts = np.array(
        [(r["wins_i"], r["wins_j"], r["ties"]) for r in results], dtype=float
    ).reshape(-1, 3)
    is_item = (rows >= 0) & (rows < n_items) & (rows == np.floor(rows))
    if not is_item.all() or (rows[:, 0] == rows[:, 1]).any():
        raise ValueError(f"a result is not of two different items of 0..{n_items - 1}")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("a count of wins or ties is negative or missing")
    used = np.flatnonzero(counts.sum(axis=1) > 0)
    if len(used) == 0:
        raise NotEnoughDataError("no comparison to rank by")
    codes = None if clusters is None else cluster_codes(clusters, used.tolist())
    i, j = rows[used].astype(int).T
    return Comparisons(i, j, counts[used], n_items, codes, used)


def _closure(links: np.ndarray) -> np.ndarray:
    """Which items reach which by a chain of links (Warshall 1962)."""
    reach = links | np.eye(len(links), dtype=bool)
    for via in range(len(links)):
        reach |= reach[:, [via]] & reach[[via], :]
    return reach


# Elo's scale: 400 points are odds of 10 to 1.
_ELO = 400 / log(10)

# A standard error that floats leave where nothing varies.
_FLAT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Result):
    """Strengths of items, from comparisons of two at a time."""

    ratings: tuple[float, ...]
    """Natural-log strengths, mean 0; nan for an item that was never compared."""

    se: tuple[float, ...]
    """Standard error of each (sandwich, or by resampling)."""

    low: tuple[float, ...]
    """Lower end of each strength's interval."""

    high: tuple[float, ...]
    """Upper end of each strength's interval."""

    covariance: tuple[tuple[float, ...], ...]
    """Covariance of the strengths: differences need it whole."""

    level: float
    """Confidence level of the intervals."""

    n: int
    """Independent units: comparisons, or clusters of them."""

    df: float
    """Degrees of freedom of the intervals; nan for the normal law."""

    loglik: float

    position: Estimate | None
    """Log-odds by which the item shown first is favoured, where that was asked for."""

    covariates: tuple[Estimate, ...]
    """Log-odds for each unit of each covariate."""

    groups: tuple[tuple[int, ...], ...]
    """Items linked by comparisons; between two groups the data do not show which is stronger."""

    method: str
    """The model and how its errors were estimated."""

    nu: float = nan
    """Davidson's weight of a tie: P(tie) is nu / (2 + nu) for equals; nan for other models."""

    theta: float = nan
    """Rao & Kupper's threshold, 1 without ties; nan for other models."""

    tie_interval: tuple[float, float] = (nan, nan)
    """Interval of `nu` or `theta`; nan where there is none."""

    note: str | None = None
    """What to bear in mind: a prior that had to be added, groups that never met."""

    @property
    def elo(self) -> tuple[float, ...]:
        """The strengths on the scale of Elo: 1000 + 400 / ln 10 of each."""
        return tuple(1000 + _ELO * rating for rating in self.ratings)

    def difference(self, i: int, j: int) -> Estimate:
        """How much stronger item i is than item j, by their log-strengths."""
        if not any(i in group and j in group for group in self.groups):
            reason = f"no chain of comparisons links items {i} and {j}"
            return undefined_estimate(reason, n=self.n, method=self.method, level=self.level)
        v = self.covariance
        se = sqrt(max(0.0, v[i][i] + v[j][j] - 2 * v[i][j]))
        value, half = self.ratings[i] - self.ratings[j], _quantile(self.level, self.df) * se
        return Estimate(
            value=value,
            low=value - half if se > _FLAT else nan,
            high=value + half if se > _FLAT else nan,
            level=self.level,
            n=self.n,
            method=self.method,
            se=se,
            df=self.df,
            reason=None if se > _FLAT else "an item against itself" if i == j else "no variation",
        )


def coefficients(
    values: np.ndarray, covariance: np.ndarray, rows: Comparisons, level: float
) -> tuple[Estimate, ...]:
    """Coefficients of a fit with their intervals."""
    variances = np.diag(covariance)
    # A variance that is only the rounding of larger ones beside it is none.
    least = max(_FLAT**2, 1e-14 * float(np.nanmax(variances, initial=0.0)))
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.where(variances > least, variances, nan))
    quantile = _quantile(level, rows.df)
    return tuple(
        Estimate(
            value=value,
            low=value - quantile * se,
            high=value + quantile * se,
            level=level,
            n=rows.n_units,
            method="sandwich",
            se=se,
            df=rows.df,
            reason=None if se > 0 else "one cluster only, or no variation",
        )
        for value, se in zip(values.tolist(), errors.tolist(), strict=True)
    )


def sandwich(
    curvature: np.ndarray,
    meat: np.ndarray,
    score: np.ndarray | None = None,
    codes: np.ndarray | None = None,
) -> np.ndarray:
    """The sandwich covariance `H^-1 G H^-1` (Huber 1967; White 1982), clustered by `codes`."""
    bread = np.linalg.inv(curvature)
    if score is not None and codes is not None:
        totals = group_sums(codes, score)
        # The small-sample factor of clustered errors; one cluster has no variance.
        many = len(totals)
        meat = meat + totals.T @ totals * (many / (many - 1) if many > 1 else nan)
    return np.asarray(bread @ meat @ bread)


def _quantile(level: float, df: float) -> float:
    return t_quantile(level, df) if df > 0 else normal_quantile(level)
