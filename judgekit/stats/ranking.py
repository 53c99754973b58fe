"""Rankings by Bradley-Terry, their bootstrap, and a win rate controlled for length.

Models of ties are in `tie_models`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate
from judgekit.stats.logistic import LogisticFit, expit, fit_logistic
from judgekit.stats.missing import cluster_codes, floats
from judgekit.stats.paired_comparisons import (
    Comparisons,
    PairResult,
    Ranking,
    build_ranking,
    comparisons,
    sandwich,
)
from judgekit.stats.quantiles import check_level, normal_quantile, t_quantile
from judgekit.stats.tie_models import davidson, rao_kupper

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = [
    "LengthControlledWinRate",
    "PairResult",
    "Ranking",
    "RankingModel",
    "TieRule",
    "bootstrap_ranking",
    "bradley_terry",
    "davidson",
    "length_controlled_win_rate",
    "rao_kupper",
]

TieRule = Literal["half", "drop"]
RankingModel = Literal["bradley-terry", "davidson", "rao-kupper"]
_FAR = 0.10
_FLAT = 1e-9

# What item i gets for its win, its loss and a tie: the order of the columns of counts.
_POINTS = np.array([1.0, 0.0, 0.5])


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthControlledWinRate(Estimate):
    """A's share of wins if both answers had been equally long."""

    raw: float
    """A's share of wins as it is."""

    length_coef: float
    """Log-odds for tanh of one standard deviation of the difference in length."""

    intercept: float
    """Log-odds of a win at equal length."""


def bradley_terry(
    results: Sequence[PairResult],
    n_items: int,
    *,
    ties: TieRule = "half",
    clusters: Sequence[Hashable] | None = None,
    covariates: Sequence[Sequence[float]] | None = None,
    position: bool = False,
    level: float = 0.95,
) -> Ranking:
    """Strengths from comparisons of two: `P(i beats j) = 1 / (1 + exp(-(t_i - t_j)))`.

    Maximum likelihood (Bradley & Terry 1952) by Newton's method, so the order of results does not
    matter; errors are sandwich ones, `H^-1 G H^-1`, clustered by prompt where given (with factor
    C / (C-1) and t(C-1)). Where some items won or lost everything, or never met, there is no
    maximum: half a win and half a loss against the mean are then added for each item, with a
    note.

    Args:
        results: Rows of items i and j (from 0), wins_i, wins_j and ties.
        n_items: How many items there are.
        ties: `half` a win for each, or `drop`.
        clusters: The prompt of each row; rows of one prompt are not independent.
        covariates: For each row numbers of i less j (difference in length, lists, headers);
            strengths are then at equal covariates.
        position: Whether i was shown first in every row; its advantage is then estimated.
        level: Confidence level in (0, 1).

    Returns:
        The ranking.

    Raises:
        ValueError: When an item, count or option is out of range, or lengths differ.
        NotEnoughDataError: When there is no comparison, or the covariates leave no estimate.
    """
    check_level(level)
    if ties not in ("half", "drop"):
        raise ValueError(f"no rule for ties is called {ties!r}; known: half, drop")
    if ties == "drop":
        results = [{**r, "ties": 0.0} for r in results]
    rows = comparisons(results, n_items, clusters)
    extra = _extra_columns(rows, covariates, len(results), position=position)
    basis, differences = rows.contrasts()
    prior = rows.is_separated()
    # Separated strengths are infinite: half a win and half a loss of each item against the mean
    # keep them finite.
    pseudo = basis[rows.items] if prior else basis[:0]
    beside = np.zeros((len(pseudo), extra.shape[1]))
    design = np.vstack([np.hstack([differences, extra]), np.hstack([pseudo, beside])])
    counts = np.vstack([rows.counts, np.tile([0.5, 0.5, 0.0], (len(pseudo), 1))])
    weight = counts.sum(axis=1)
    fit = fit_logistic(design, (counts @ _POINTS) / weight, weights=weight)
    # Of the observed comparisons alone: with the prior two models could not be compared.
    points, p = rows.counts @ _POINTS, fit.fitted[: len(rows.i)]
    loglik = points * np.log(p) + (rows.counts.sum(axis=1) - points) * np.log1p(-p)
    return build_ranking(
        rows,
        basis,
        fit.coef,
        _covariance(design, counts, fit, rows.clusters),
        loglik=float(loglik.sum()),
        method="bradley-terry",
        prior=prior,
        position=position,
        level=level,
    )


def bootstrap_ranking(
    results: Sequence[PairResult],
    n_items: int,
    *,
    rng: np.random.Generator,
    model: RankingModel = "bradley-terry",
    clusters: Sequence[Hashable] | None = None,
    n_resamples: int = 500,
    level: float = 0.95,
) -> Ranking:
    """A ranking whose intervals come from resampling prompts, or single comparisons.

    Args:
        results: As in `bradley_terry`.
        n_items: How many items there are.
        rng: Source of random numbers.
        model: `bradley-terry`, `davidson` or `rao-kupper`.
        clusters: The prompt of each row; whole prompts are resampled.
        n_resamples: Resamples, 100 or more.
        level: Confidence level in (0, 1).

    Returns:
        The ranking with percentile intervals and the resamples' covariance. Resamples in which
        an item was not drawn are left out of its figures.

    Raises:
        ValueError: When an argument is out of range.
        NotEnoughDataError: When there is no comparison.
    """
    fits = {"bradley-terry": bradley_terry, "davidson": davidson, "rao-kupper": rao_kupper}
    if model not in fits or n_resamples < 100:  # noqa: PLR2004 - 2.5 % of fewer is a guess
        raise ValueError(f"{n_resamples} resamples of {model!r}; 100 or more of {', '.join(fits)}")
    ranking = fits[model](results, n_items, clusters=clusters, level=level)
    rows = comparisons(results, n_items, clusters)
    resampled = []
    for _ in range(n_resamples):
        try:
            resampled.append(fits[model](_resampled(rows, rng), n_items).ratings)
        except NotEnoughDataError:
            # A resample without a fit counts as nan: all its items are missing from it.
            resampled.append((nan,) * n_items)
    sample = np.array(resampled)
    tails = [(1 - level) / 2, (1 + level) / 2]
    known = [column[~np.isnan(column)] for column in sample.T]
    ends = [
        np.quantile(x, tails).tolist() if len(x) and np.ptp(x) > 0 else [nan, nan] for x in known
    ]
    covariance = np.full((n_items, n_items), nan)
    whole = ~np.isnan(sample[:, rows.items]).any(axis=1)
    if whole.sum() > 1:
        covariance[np.ix_(rows.items, rows.items)] = np.cov(sample[whole][:, rows.items].T)
    return replace(
        ranking,
        se=tuple(np.sqrt(np.diag(covariance)).tolist()),
        low=tuple(float(low) for low, _ in ends),
        high=tuple(float(high) for _, high in ends),
        covariance=tuple(map(tuple, covariance.tolist())),
        method=f"{model}, bootstrap" + ("" if clusters is None else ", clustered"),
    )


def length_controlled_win_rate(
    scores: Sequence[float | None],
    length_a: Sequence[float | None],
    length_b: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> LengthControlledWinRate:
    """A's share of wins had both answers been equally long (after Dubois et al. 2024).

    Logistic regression of the score on `tanh(difference in length / its sd)`; the rate is that at
    no difference, its interval from the sandwich error of the intercept (clustered: with
    t(G - 1)). AlpacaEval adds terms for each instruction and a penalty of its own: this is not
    the number of its leaderboard. Where longer answers are better for good reason, the control
    takes real merit away.

    Args:
        scores: 1 (A won), 1/2 (tie), 0 (B won) or a probability; None and nan are missing.
        length_a: Length of A's answers.
        length_b: Length of B's, in the same unit.
        clusters: The prompt of each comparison.
        level: Confidence level in (0, 1).

    Returns:
        The rate beside the raw one.

    Raises:
        ValueError: When lengths differ or a score lies outside [0, 1].
        NotEnoughDataError: When lengths never differ, or wins and losses are parted by length.
    """
    check_level(level)
    y, longer, places = _scored_lengths(scores, length_a, length_b)
    spread = float(longer.std(ddof=1)) if len(longer) > 1 else 0.0
    if not spread > 0:
        raise NotEnoughDataError("the difference in length does not vary: nothing to control for")
    # Dubois et al. (2024): the intercept is the rate at equal lengths; tanh keeps a few very long
    # answers from setting the slope.
    design = np.column_stack([np.ones(len(y)), np.tanh(longer / spread)])
    fit = fit_logistic(design, y)
    codes = None if clusters is None else cluster_codes(clusters, places)
    score = design * (y - fit.fitted)[:, None]
    meat = score.T @ score if codes is None else np.zeros((2, 2))
    covariance = sandwich(fit.curvature, meat, score, codes)
    intercept, se = float(fit.coef[0]), sqrt(max(0.0, float(covariance[0, 0])))
    n = len(y) if codes is None else int(codes.max()) + 1
    half = (normal_quantile(level) if codes is None else t_quantile(level, n - 1)) * se
    value, low, high = (float(expit(np.array(intercept + d))) for d in (0.0, -half, half))
    varies = se > _FLAT and high - low > _FLAT
    raw = float(y.mean())
    return LengthControlledWinRate(
        value=value,
        low=low if varies else nan,
        high=high if varies else nan,
        level=level,
        n=n,
        n_missing=len(scores) - len(y),
        method="logistic, sandwich" + ("" if clusters is None else ", clustered"),
        se=value * (1 - value) * se,
        n_clusters=None if clusters is None else n,
        n_observations=len(y),
        df=nan if codes is None else n - 1,
        reason=None if varies else "no variation",
        note="length moves the rate by more than 10 points: it may stand for quality"
        if abs(value - raw) > _FAR
        else None,
        raw=raw,
        length_coef=float(fit.coef[1]),
        intercept=intercept,
    )


def _scored_lengths(
    scores: Sequence[float | None],
    length_a: Sequence[float | None],
    length_b: Sequence[float | None],
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The known scores, by how much A is longer in each, and their positions."""
    if not len(scores) == len(length_a) == len(length_b):
        raise ValueError("scores and lengths are not equally many")
    table = floats([scores, length_a, length_b])
    known = ~np.isnan(table).any(axis=0)
    y = table[0, known]
    if not ((y >= 0) & (y <= 1)).all():
        raise ValueError("a score lies outside 0..1")
    return y, table[1, known] - table[2, known], np.flatnonzero(known).tolist()


def _extra_columns(
    rows: Comparisons,
    covariates: Sequence[Sequence[float]] | None,
    n_results: int,
    *,
    position: bool,
) -> np.ndarray:
    """Covariates, then the first slot."""
    columns = np.zeros((len(rows.i), 0))
    if covariates is not None:
        if len(covariates) != n_results:
            raise ValueError(f"{n_results} results, but {len(covariates)} rows of covariates")
        columns = floats(covariates).reshape(n_results, -1)[rows.used]
        if not np.isfinite(columns).all():
            raise ValueError("a covariate is missing or infinite")
    return np.column_stack([columns, np.ones((len(rows.i), int(position)))])


def _covariance(
    design: np.ndarray, counts: np.ndarray, fit: LogisticFit, clusters: np.ndarray | None
) -> np.ndarray:
    """Each comparison, or each prompt, is a unit; so is each half win that was added."""
    p = fit.fitted
    # A half win is an outcome with its own spread, so that the curvature alone misstates the
    # variance.
    squares = (counts * (_POINTS - p[:, None]) ** 2).sum(axis=1)
    if clusters is None:
        return sandwich(fit.curvature, design.T @ (squares[:, None] * design))
    n = len(clusters)
    score = design[:n] * (counts @ _POINTS - counts.sum(axis=1) * p)[:n, None]
    added = design[n:].T @ (squares[n:, None] * design[n:])
    return sandwich(fit.curvature, added, score, clusters)


def _resampled(rows: Comparisons, rng: np.random.Generator) -> list[PairResult]:
    """As many prompts, or comparisons, drawn with replacement."""
    if rows.clusters is None:
        total = rows.counts.sum()
        cells = rng.multinomial(rows.n_units, (rows.counts / total).ravel())
        counts = cells.reshape(rows.counts.shape).astype(float)
    else:
        # Whole clusters are drawn: comparisons of one case are not independent.
        often = np.bincount(rng.integers(0, rows.n_units, rows.n_units), minlength=rows.n_units)
        counts = rows.counts * often[rows.clusters][:, None]
    return [
        {"i": int(i), "j": int(j), "wins_i": float(a), "wins_j": float(b), "ties": float(t)}
        for i, j, (a, b, t) in zip(rows.i, rows.j, counts, strict=True)
    ]
