"""Rankings by Bradley-Terry, Davidson, and Rao and Kupper; a length-controlled win rate."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from math import exp, isnan, log, nan, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate, in_units
from judgekit.stats.logistic import expit, fit_logistic, maximise
from judgekit.stats.missing import cluster_codes, count_units, floats, known_columns
from judgekit.stats.paired_comparisons import (
    Comparisons,
    PairResult,
    Ranking,
    coefficients,
    comparisons,
    sandwich,
)
from judgekit.stats.quantiles import check_choice, normal_quantile, t_quantile

TieRule = Literal["half", "drop"]
_FAR = 0.10
_FLAT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthControlledWinRate(Estimate):
    """A's share of wins if both answers had been equally long."""

    raw: float
    """A's observed share of wins."""

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

    Raises:
        NotEnoughDataError: When there is no comparison, or the covariates leave no estimate.
    """
    check_choice("rule for ties", ties, get_args(TieRule))
    if ties == "drop":
        results = [{**r, "ties": 0.0} for r in results]
    rows = comparisons(results, n_items, clusters)
    # Beside the strengths stand the covariates, and last the first slot.
    extra = np.ones((len(rows.i), int(position)))
    if covariates is not None:
        if len(covariates) != len(results):
            raise ValueError(f"{len(results)} results, but {len(covariates)} rows of covariates")
        columns = floats(covariates).reshape(len(results), -1)[rows.used]
        if np.isnan(columns).any():
            raise ValueError("a covariate is missing")
        extra = np.column_stack([columns, extra])
    fit = _Fit.of(rows, _bradley_terry_terms, extra, position=position, level=level)
    return fit.ranking("bradley-terry", None)[0]


def davidson(
    results: Sequence[PairResult],
    n_items: int,
    *,
    clusters: Sequence[Hashable] | None = None,
    position: bool = False,
    level: float = 0.95,
) -> Ranking:
    """Strengths with a modelled chance of a tie (Davidson 1970).

    Win, loss and tie are as `exp(t_i)`, `exp(t_j)` and `nu exp((t_i + t_j) / 2)`; with `position`
    t_i is raised by the advantage of the slot (Davidson & Beaver 1977). Prefer it to half wins
    when ties are more than one in ten. Errors, priors and notes as in `bradley_terry`.

    Args:
        results: Rows of items i and j (from 0), wins_i, wins_j and ties.
        n_items: How many items there are.
        clusters: The prompt of each row.
        position: Whether i was shown first in every row; its advantage is then estimated.
        level: Confidence level in (0, 1).

    Returns:
        The ranking with `nu`; 0 where nothing was tied.

    Raises:
        NotEnoughDataError: When there is no comparison, or every one is a tie.
    """
    comparing = results, n_items, clusters
    found, tie = _tie_ranking(*comparing, "davidson", position=position, level=level)
    if tie is None:
        return replace(found, nu=0.0)
    return replace(found, nu=exp(tie.value), tie_interval=(exp(tie.low), exp(tie.high)))


def rao_kupper(
    results: Sequence[PairResult],
    n_items: int,
    *,
    clusters: Sequence[Hashable] | None = None,
    position: bool = False,
    level: float = 0.95,
) -> Ranking:
    """Strengths with a threshold below which a comparison is tied (Rao & Kupper 1967).

    `P(i wins) = exp(t_i) / (exp(t_i) + theta exp(t_j))`, a tie having what is left. Errors,
    priors, notes and `position` as in `davidson`.

    Args:
        results: Rows of items i and j (from 0), wins_i, wins_j and ties.
        n_items: How many items there are.
        clusters: The prompt of each row.
        position: Whether i was shown first in every row; its advantage is then estimated.
        level: Confidence level in (0, 1).

    Returns:
        The ranking with `theta`; 1 where nothing was tied.

    Raises:
        NotEnoughDataError: When there is no comparison, or every one is a tie.
    """
    comparing = results, n_items, clusters
    found, tie = _tie_ranking(*comparing, "rao-kupper", position=position, level=level)
    if tie is None:
        return replace(found, theta=1.0)
    ends = exp(max(0.0, tie.low)), exp(tie.high)
    return replace(found, theta=exp(tie.value), tie_interval=ends)


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
        NotEnoughDataError: When lengths never differ, or wins and losses are parted by length.
    """
    (y, words_a, words_b), places = known_columns(scores, length_a, length_b)
    if not ((y >= 0) & (y <= 1)).all():
        raise ValueError("a score lies outside 0..1")
    longer = words_a - words_b
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
    # max returns a nan, as of one cluster, only where it is the first argument.
    intercept, se = float(fit.coef[0]), sqrt(max(float(covariance[0, 0]), 0.0))
    n = count_units(codes, len(y))
    half = (normal_quantile(level) if codes is None else t_quantile(level, n - 1)) * se
    value, low, high = (float(expit(np.array(intercept + d))) for d in (0.0, -half, half))
    varies = se > _FLAT and high - low > _FLAT
    raw = float(y.mean())
    return LengthControlledWinRate(
        value=value,
        low=low if varies else nan,
        high=high if varies else nan,
        level=level,
        **in_units("logistic, sandwich", n, clustered=clusters is not None),
        n_missing=len(scores) - len(y),
        se=value * (1 - value) * se,
        n_observations=len(y),
        df=nan if codes is None else n - 1,
        reason=None if varies else "one cluster only" if isnan(se) else "no variation",
        note="length moves the rate by more than 10 points: it may stand for quality"
        if abs(value - raw) > _FAR
        else None,
        raw=raw,
        length_coef=float(fit.coef[1]),
        intercept=intercept,
    )


class _Terms(NamedTuple):
    """Log-probabilities of win, loss and tie, and their derivatives.

    The derivatives are by the difference d of both strengths and by the tie parameter: `first`
    has them in its last axis, `second` in its last two; the axis before is the outcome.
    """

    logp: np.ndarray
    first: np.ndarray
    second: np.ndarray


class _Fit(NamedTuple):
    """A model of comparisons: strengths, what stands beside them, and last the tie parameter."""

    rows: Comparisons
    terms: Callable[[np.ndarray, float], _Terms]
    basis: np.ndarray
    design: np.ndarray
    pseudo: np.ndarray
    position: bool
    level: float

    @classmethod
    def of(
        cls,
        rows: Comparisons,
        terms: Callable[[np.ndarray, float], _Terms],
        extra: np.ndarray,
        *,
        position: bool,
        level: float,
    ) -> _Fit:
        """The model with some columns beside the strengths; with a prior where it needs one."""
        basis, differences = rows.contrasts()
        design = np.column_stack([differences, extra])
        fit = cls(rows, terms, basis, design, np.zeros((0, design.shape[1])), position, level)
        # Separated strengths are infinite: the prior keeps them finite.
        return fit.with_prior() if rows.is_separated() else fit

    def with_prior(self) -> _Fit:
        """Half a win and half a loss against the mean, for each item that was compared."""
        pseudo = np.zeros((len(self.rows.items), self.design.shape[1]))
        pseudo[:, : self.basis.shape[1]] = self.basis[self.rows.items]
        return self._replace(pseudo=pseudo)

    def ranking(self, method: str, start: float | None) -> tuple[Ranking, Estimate | None]:
        """The ranking, and the tie parameter where there is a start for one."""
        rows, m, k = self.rows, self.basis.shape[1], self.design.shape[1]
        at = np.append(np.zeros(k), [] if start is None else [start])
        at = maximise(lambda x: self.loglik(x) + self._prior(x), self.derivatives, at)
        covariance = self._covariance(at)
        ratings, spread = self.basis @ at[:m], self.basis @ covariance[:m, :m] @ self.basis.T
        never = np.setdiff1d(np.arange(rows.n_items), rows.items)
        ratings[never], spread[never], spread[:, never] = nan, nan, nan
        strengths = coefficients(ratings, spread, rows, self.level)
        terms = coefficients(at[m:k], covariance[m:k, m:k], rows, self.level)
        ties = coefficients(at[k:], covariance[k:, k:], rows, self.level)
        found = Ranking(
            ratings=tuple(ratings.tolist()),
            se=tuple(strength.se for strength in strengths),
            low=tuple(strength.low for strength in strengths),
            high=tuple(strength.high for strength in strengths),
            covariance=tuple(map(tuple, spread.tolist())),
            level=self.level,
            n=rows.n_units,
            df=rows.df,
            loglik=self.loglik(at),
            position=terms[-1] if self.position else None,
            covariates=terms[:-1] if self.position else terms,
            groups=rows.groups(),
            method=f"{method}, sandwich" + ("" if rows.clusters is None else ", clustered"),
            note=rows.note(prior=len(self.pseudo) > 0),
        )
        return found, ties[0] if ties else None

    def loglik(self, at: np.ndarray) -> float:
        counts = self.rows.counts
        return float((counts * np.where(counts > 0, self._terms(at).logp, 0.0)).sum())

    def derivatives(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        terms, counts, k = self._terms(at), self.rows.counts, self.design.shape[1]
        gradient = self._by_coefficient(np.einsum("ro,rop->rp", counts, terms.first)).sum(axis=0)
        curvature = -self._blocks(np.einsum("ro,ropq->rpq", counts, terms.second))
        p = expit(self.pseudo @ at[:k])
        gradient[:k] += self.pseudo.T @ (0.5 - p)
        curvature[:k, :k] += self.pseudo.T @ ((p * (1 - p))[:, None] * self.pseudo)
        return gradient, curvature

    def _terms(self, at: np.ndarray) -> _Terms:
        k = self.design.shape[1]
        found = self.terms(self.design @ at[:k], float(at[k]) if len(at) > k else nan)
        if len(at) > k:
            return found
        return _Terms(found.logp, found.first[..., :1], found.second[..., :1, :1])

    def _by_coefficient(self, slopes: np.ndarray) -> np.ndarray:
        """Derivatives by d and the tie parameter as those by the coefficients, row by row."""
        return np.column_stack([slopes[:, :1] * self.design, slopes[:, 1:]])

    def _blocks(self, weights: np.ndarray) -> np.ndarray:
        """Second derivatives, or products of first ones, summed over the rows."""
        columns = [self.design, np.ones((len(self.design), 1))][: weights.shape[1]]
        return np.block(
            [
                [a.T @ (weights[:, i, j, None] * b) for j, b in enumerate(columns)]
                for i, a in enumerate(columns)
            ]
        )

    def _prior(self, at: np.ndarray) -> float:
        eta = self.pseudo @ at[: self.design.shape[1]]
        return float((eta / 2 - np.logaddexp(0, eta)).sum())

    def _covariance(self, at: np.ndarray) -> np.ndarray:
        """Each comparison, or each prompt, is a unit; so is each half win that was added."""
        terms, counts, k = self._terms(at), self.rows.counts, self.design.shape[1]
        _, curvature = self.derivatives(at)
        p = expit(self.pseudo @ at[:k])
        meat = np.zeros_like(curvature)
        # A half win is an outcome with its own spread, so that the curvature alone misstates the
        # variance.
        squares = ((1 - p) ** 2 + p**2) / 2
        meat[:k, :k] = self.pseudo.T @ (squares[:, None] * self.pseudo)
        if self.rows.clusters is None:
            first = terms.first
            meat += self._blocks(np.einsum("ro,rop,roq->rpq", counts, first, first))
            return sandwich(curvature, meat)
        score = self._by_coefficient(np.einsum("ro,rop->rp", counts, terms.first))
        return sandwich(curvature, meat, score, self.rows.clusters)


def _tie_ranking(
    results: Sequence[PairResult],
    n_items: int,
    clusters: Sequence[Hashable] | None,
    method: Literal["davidson", "rao-kupper"],
    *,
    position: bool,
    level: float,
) -> tuple[Ranking, Estimate | None]:
    """The ranking by a model of ties, and its tie parameter where anything was tied."""
    rows = comparisons(results, n_items, clusters)
    if not rows.counts[:, :2].any():
        # The tie parameter would grow without end, and the strengths with it would mean nothing.
        raise NotEnoughDataError("every comparison is a tie: the items cannot be ranked")
    share = float(rows.counts[:, 2].sum() / rows.counts.sum())
    start = log((1 + share) / (1 - share)) if share else None
    terms = _davidson_terms if method == "davidson" else _rao_kupper_terms
    extra = np.ones((len(rows.i), int(position)))
    fit = _Fit.of(rows, terms, extra, position=position, level=level)
    try:
        return fit.ranking(method, start)
    except NotEnoughDataError:
        if len(fit.pseudo):
            raise
        return fit.with_prior().ranking(method, start)


def _bradley_terry_terms(d: np.ndarray, _tie: float) -> _Terms:
    """A tie is half a win and half a loss; there is no tie parameter."""
    p = expit(d)
    logp, first = -np.logaddexp(0, np.column_stack([-d, d])), np.column_stack([1 - p, -p])
    logp, first = (np.column_stack([sides, sides.mean(axis=1)]) for sides in (logp, first))
    return _Terms(logp, first[..., None], np.repeat(-p * (1 - p), 3).reshape(-1, 3, 1, 1))


def _davidson_terms(d: np.ndarray, tie: float) -> _Terms:
    """Parameters d and ln nu; without ties (nan) nu is 0."""
    third = np.full_like(d, -np.inf if np.isnan(tie) else tie)
    eta = np.column_stack([d / 2, -d / 2, third])
    logp = eta - np.logaddexp(np.logaddexp(eta[:, 0], eta[:, 1]), eta[:, 2])[:, None]
    p = np.exp(logp)
    features = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, 1.0]])
    mean = p @ features
    first = features - mean[:, None, :]
    spread = np.einsum("ro,rop,roq->rpq", p, first, first)
    return _Terms(logp, first, np.repeat(-spread[:, None], 3, axis=1))


def _rao_kupper_terms(d: np.ndarray, tie: float) -> _Terms:
    """Parameters d and eta = ln theta, more than 0; without ties (nan) eta is 0."""
    eta = 0.0 if np.isnan(tie) else tie
    if not (eta > 0 or np.isnan(tie)):
        shape = (len(d), 3)
        return _Terms(np.full(shape, -np.inf), np.zeros((*shape, 2)), np.zeros((*shape, 2, 2)))
    sides = np.column_stack([d - eta, -d - eta])
    p = expit(sides)
    logp_side = -np.logaddexp(0, -sides)
    signs = np.array([[1.0, -1.0], [-1.0, -1.0]])
    first_side = (1 - p)[..., None] * signs
    second_side = -(p * (1 - p))[..., None, None] * np.einsum("sp,sq->spq", signs, signs)
    with np.errstate(divide="ignore"):
        grown = np.expm1(2 * eta)
        logp_tie = logp_side.sum(axis=1) + np.log(grown)
    first_tie, second_tie = first_side.sum(axis=1), second_side.sum(axis=1)
    if grown > 0:
        first_tie = first_tie + np.array([0.0, 2 * (grown + 1) / grown])
        second_tie = second_tie + np.array([[0.0, 0.0], [0.0, -4 * (grown + 1) / grown**2]])
    return _Terms(
        np.column_stack([logp_side, logp_tie]),
        np.concatenate([first_side, first_tie[:, None]], axis=1),
        np.concatenate([second_side, second_tie[:, None]], axis=1),
    )
