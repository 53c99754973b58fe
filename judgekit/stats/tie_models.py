"""Rankings that model the probability of a tie: Davidson, and Rao and Kupper.

Bradley-Terry is in `ranking`.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.logistic import expit, maximise
from judgekit.stats.paired_comparisons import (
    Comparisons,
    PairResult,
    Ranking,
    build_ranking,
    coefficients,
    comparisons,
    sandwich,
)
from judgekit.stats.quantiles import check_level

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence


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
        ValueError: When an item or count is out of range.
        NotEnoughDataError: When there is no comparison, or every one is a tie.
    """
    fit = _fit(results, n_items, clusters, _davidson_terms, position=position, level=level)
    share = fit.tie_share
    start = log(2 * share / (1 - share)) if share else 0.0
    found, tie = fit.ranking("davidson", start)
    if tie is None:
        return replace(found, nu=0.0)
    value, low, high = tie
    return replace(found, nu=exp(value), tie_interval=(exp(low), exp(high)))


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
        ValueError: When an item or count is out of range.
        NotEnoughDataError: When there is no comparison, or every one is a tie.
    """
    fit = _fit(results, n_items, clusters, _rao_kupper_terms, position=position, level=level)
    share = fit.tie_share
    found, tie = fit.ranking("rao-kupper", log((1 + share) / (1 - share)))
    if tie is None:
        return replace(found, theta=1.0)
    value, low, high = tie
    return replace(found, theta=exp(value), tie_interval=(exp(max(0.0, low)), exp(high)))


class _Terms(NamedTuple):
    """Log-probabilities of win, loss and tie, and their derivatives.

    The derivatives are by the difference d of both strengths and by the tie parameter: `first`
    has them in its last axis, `second` in its last two; the axis before is the outcome.
    """

    logp: np.ndarray
    first: np.ndarray
    second: np.ndarray


class _Fit(NamedTuple):
    rows: Comparisons
    terms: Callable[[np.ndarray, float], _Terms]
    basis: np.ndarray
    design: np.ndarray
    pseudo: np.ndarray
    position: bool
    level: float

    @property
    def tie_share(self) -> float:
        return float(self.rows.counts[:, 2].sum() / self.rows.counts.sum())

    def ranking(
        self, method: str, start: float
    ) -> tuple[Ranking, tuple[float, float, float] | None]:
        """The ranking, and the tie parameter with its ends where anything was tied."""
        tied = self.tie_share > 0
        at = np.append(np.zeros(self.design.shape[1]), [start] if tied else [])
        try:
            at = maximise(lambda x: self.loglik(x) + self._prior(x), self.derivatives, at)
        except NotEnoughDataError:
            if len(self.pseudo):
                raise
            return self.with_prior().ranking(method, start)
        covariance = self._covariance(at)
        k = self.design.shape[1]
        found = build_ranking(
            self.rows,
            self.basis,
            at[:k],
            covariance[:k, :k],
            loglik=self.loglik(at),
            method=method,
            prior=len(self.pseudo) > 0,
            position=self.position,
            level=self.level,
        )
        if not tied:
            return found, None
        tie = coefficients(at[k:], covariance[k:, k:], self.rows, self.level)[0]
        return found, (tie.value, tie.low, tie.high)

    def with_prior(self) -> _Fit:
        """Half a win and half a loss against the mean, for each item that was compared."""
        items = self.basis[self.rows.items]
        beside = np.zeros((len(items), int(self.position)))
        return self._replace(pseudo=np.hstack([items, beside]))

    def loglik(self, at: np.ndarray) -> float:
        terms = self._terms(at)
        counts = self.rows.counts
        return float((counts * np.where(counts > 0, terms.logp, 0.0)).sum())

    def derivatives(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        terms, counts, k = self._terms(at), self.rows.counts, self.design.shape[1]
        jacobian = self._jacobian(len(at) - k)
        slope = np.einsum("ro,rop->rp", counts, terms.first)
        bend = np.einsum("ro,ropq->rpq", counts, terms.second)
        gradient = np.einsum("rp,rpd->d", slope, jacobian)
        curvature = -np.einsum("rpd,rpq,rqe->de", jacobian, bend, jacobian)
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

    def _jacobian(self, n_tie: int) -> np.ndarray:
        """Of (d, tie parameter) by the coefficients, row by row."""
        n, k = self.design.shape
        found = np.zeros((n, 1 + n_tie, k + n_tie))
        found[:, 0, :k] = self.design
        found[:, 1:, k:] = np.eye(n_tie)
        return found

    def _prior(self, at: np.ndarray) -> float:
        eta = self.pseudo @ at[: self.design.shape[1]]
        return float((eta / 2 - np.logaddexp(0, eta)).sum())

    def _covariance(self, at: np.ndarray) -> np.ndarray:
        """Each comparison, or each prompt, is a unit; so is each half win that was added."""
        terms, counts, k = self._terms(at), self.rows.counts, self.design.shape[1]
        _, curvature = self.derivatives(at)
        pull = np.einsum("rop,rpd->rod", terms.first, self._jacobian(len(at) - k))
        p = expit(self.pseudo @ at[:k])
        added = np.zeros_like(curvature)
        squares = ((1 - p) ** 2 + p**2) / 2
        added[:k, :k] = self.pseudo.T @ (squares[:, None] * self.pseudo)
        if self.rows.clusters is None:
            own = np.einsum("ro,rod,roe->de", counts, pull, pull)
            return sandwich(curvature, own + added)
        score = np.einsum("ro,rod->rd", counts, pull)
        return sandwich(curvature, added, score, self.rows.clusters)


def _fit(
    results: Sequence[PairResult],
    n_items: int,
    clusters: Sequence[Hashable] | None,
    terms: Callable[[np.ndarray, float], _Terms],
    *,
    position: bool,
    level: float,
) -> _Fit:
    check_level(level)
    rows = comparisons(results, n_items, clusters)
    if not rows.counts[:, :2].any():
        # The tie parameter would grow without end, and the strengths with it would mean nothing.
        raise NotEnoughDataError("every comparison is a tie: the items cannot be told apart")
    basis, differences = rows.contrasts()
    design = np.column_stack([differences, np.ones((len(rows.i), int(position)))])
    fit = _Fit(rows, terms, basis, design, np.zeros((0, design.shape[1])), position, level)
    return fit.with_prior() if rows.is_separated() else fit


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
