"""The ranking that comparisons of two items at a time give."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.multiplicity import adjust
from judgekit.stats.quantiles import normal_p_value, normal_quantile, t_p_value, t_quantile
from judgekit.stats.result import Result

if TYPE_CHECKING:
    from judgekit.stats.paired_comparisons import Comparisons


_ELO = 400 / log(10)
_FLAT = 1e-9
"""A standard error that floats make where nothing varies."""


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
    """Log-likelihood."""

    position: Estimate | None
    """Log-odds by which the item shown first is favoured, where that was asked for."""

    covariates: tuple[Estimate, ...]
    """Log-odds for each unit of each covariate."""

    groups: tuple[tuple[int, ...], ...]
    """Items linked by comparisons; of two groups nothing says which is stronger."""

    method: str
    """The model and how its errors were found."""

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
        """How much stronger item i is than item j.

        Args:
            i: An item, from 0.
            j: Another.

        Returns:
            The difference of their log-strengths with its interval; nan with a reason where no
            chain of comparisons links them.
        """
        if not any(i in group and j in group for group in self.groups):
            reason = f"no chain of comparisons links items {i} and {j}"
            return undefined(reason, n=self.n, method=self.method, level=self.level)
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

    def rank_bounds(self) -> tuple[tuple[int, int], ...]:
        """The best and the worst rank each item may have.

        Returns:
            For each item 1 + how many are shown to be stronger, and how many there are less those
            shown to be weaker (Holm over all pairs, at 1 - level).
        """
        k = len(self.ratings)
        pairs = [(i, j) for i in range(k) for j in range(i)]
        found = [self.difference(i, j) for i, j in pairs]
        p_values = [nan if not d.se > _FLAT else _p_value(d.value / d.se, self.df) for d in found]
        stronger, weaker = [0] * k, [0] * k
        for (i, j), d, p in zip(pairs, found, adjust(p_values).value, strict=True):
            if p <= 1 - self.level:
                up, down = (i, j) if d.value > 0 else (j, i)
                stronger[down] += 1
                weaker[up] += 1
        return tuple((1 + stronger[i], k - weaker[i]) for i in range(k))


def ranking(
    rows: Comparisons,
    basis: np.ndarray,
    coef: np.ndarray,
    covariance: np.ndarray,
    *,
    loglik: float,
    method: str,
    prior: bool,
    position: bool,
    level: float,
) -> Ranking:
    """The ranking that coefficients stand for.

    Args:
        rows: The results.
        basis: Strengths from the first coefficients.
        coef: Those, then one for each covariate, then the position's where asked for.
        covariance: Their covariance.
        loglik: Log-likelihood.
        method: The model.
        prior: Whether a prior was added.
        position: Whether the last coefficient is the position's.
        level: Confidence level in (0, 1).

    Returns:
        The ranking; nan for items never compared.
    """
    k, df = basis.shape[1], nan if rows.clusters is None else float(rows.n_units - 1)
    never = np.setdiff1d(np.arange(rows.n_items), rows.items)
    ratings, spread = basis @ coef[:k], basis @ covariance[:k, :k] @ basis.T
    ratings[never] = nan
    spread[never], spread[:, never] = nan, nan
    se, low, high = _ends(ratings, np.diag(spread), level, df)
    terms = coefficients(coef[k:], covariance[k:, k:], rows, level)
    return Ranking(
        ratings=tuple(ratings.tolist()),
        se=tuple(se.tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        covariance=tuple(map(tuple, spread.tolist())),
        level=level,
        n=rows.n_units,
        df=df,
        loglik=loglik,
        position=terms[-1] if position else None,
        covariates=terms[:-1] if position else terms,
        groups=rows.groups(),
        method=f"{method}, sandwich" + ("" if rows.clusters is None else ", clustered"),
        note=_note(rows, prior=prior),
    )


def coefficients(
    values: np.ndarray, covariance: np.ndarray, rows: Comparisons, level: float
) -> tuple[Estimate, ...]:
    """Coefficients beside the strengths, with their intervals.

    Args:
        values: The coefficients.
        covariance: Their covariance.
        rows: The results.
        level: Confidence level in (0, 1).

    Returns:
        One estimate each.
    """
    df = nan if rows.clusters is None else float(rows.n_units - 1)
    se, low, high = _ends(values, np.diag(covariance), level, df)
    return tuple(
        Estimate(
            value=float(values[k]),
            low=float(low[k]),
            high=float(high[k]),
            level=level,
            n=rows.n_units,
            method="sandwich",
            se=float(se[k]),
            df=df,
            reason=None if se[k] > 0 else "one cluster only, or no variation",
        )
        for k in range(len(values))
    )


def sandwich(
    curvature: np.ndarray,
    meat: np.ndarray,
    score: np.ndarray | None = None,
    codes: np.ndarray | None = None,
) -> np.ndarray:
    """The sandwich covariance `H^-1 G H^-1` (Huber 1967; White 1982).

    Args:
        curvature: H, minus the second derivative of the log-likelihood.
        meat: The part of G that independent observations make.
        score: Gradient of each further row.
        codes: The cluster of each of these; their sums are the units, with factor C / (C - 1).

    Returns:
        The covariance; nan for one cluster.
    """
    bread = np.linalg.inv(curvature)
    if score is not None and codes is not None:
        totals = np.zeros((int(codes.max()) + 1, score.shape[1]))
        np.add.at(totals, codes, score)
        many = len(totals)
        meat = meat + totals.T @ totals * (many / (many - 1) if many > 1 else nan)
    return np.asarray(bread @ meat @ bread)


def _ends(
    values: np.ndarray, variances: np.ndarray, level: float, df: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with np.errstate(invalid="ignore"):
        se = np.sqrt(np.where(variances > _FLAT**2, variances, nan))
    half = _quantile(level, df) * se
    return se, values - half, values + half


def _note(rows: Comparisons, *, prior: bool) -> str | None:
    """What has to be said of results that do not identify all strengths."""
    notes = []
    groups, never = rows.groups(), sorted(set(range(rows.n_items)) - set(rows.items.tolist()))
    if len(groups) > 1:
        named = " and ".join("{" + ", ".join(map(str, g)) + "}" for g in groups)
        notes.append(f"items {named} never met, even by way of others: compare within each only")
    if never:
        notes.append(f"never compared: {', '.join(map(str, never))}")
    if prior:
        notes.append(
            "some items won or lost everything, or never met: half a win and half a loss against"
            " the mean were added for each"
        )
    return "; ".join(notes) or None


def _quantile(level: float, df: float) -> float:
    return t_quantile(level, df) if df > 0 else normal_quantile(level)


def _p_value(z: float, df: float) -> float:
    return t_p_value(z, df) if df > 0 else normal_p_value(z)
