"""What stated probabilities cost: the Brier score and its parts, the log loss."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate
from judgekit.stats.intervals import mean, rating_mean
from judgekit.stats.isotonic import fit_isotonic
from judgekit.stats.known import known_clusters, known_pairs, outcomes

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


_CLIP = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class BrierDecomposition(Estimate):
    """The Brier score and what it is made of."""

    brier: float
    """Mean squared distance of probability and outcome, 0 to 1."""

    reliability: float
    """Murphy 1973: squared gap of stated and observed rate, over distinct probabilities."""

    resolution: float
    """Murphy 1973: how far observed rates part from the base rate."""

    uncertainty: float
    """Variance of the outcome."""

    mcb: float
    """Miscalibration: what a rising recalibration would gain (Dimitriadis et al. 2021)."""

    dsc: float
    """Discrimination: what that gains over the base rate."""

    skill: float
    """1 - brier / uncertainty; nan where all outcomes agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLoss(Estimate):
    """Mean surprise, in nats."""

    n_clipped: int
    """Probabilities that were moved to 1e-6 or 1 - 1e-6."""


def brier_decomposition(
    prob: Sequence[float | None],
    outcome: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> BrierDecomposition:
    """The Brier score, and its parts with and without bins.

    Murphy 1973 over distinct probabilities: `brier = reliability - resolution + uncertainty`.
    CORP (Dimitriadis, Gneiting & Jordan 2021), with q the rising fit of outcomes on
    probabilities: `mcb = brier(p) - brier(q)`, `dsc = uncertainty - brier(q)`, so
    `brier = mcb - dsc + uncertainty`.

    Args:
        prob: Stated probabilities in [0, 1]; None and nan are missing.
        outcome: 1 or 0, in the order of `prob`.
        clusters: The case of each item; the score's interval is then by sums of cases.
        level: Confidence level in (0, 1) of the score's interval.

    Returns:
        The score with a t interval that never has width 0 (with clusters: none, with a reason,
        where the cases do not vary), and its parts. `n` counts items, or cases.

    Raises:
        ValueError: When lengths differ or a value is out of its range.
        NotEnoughDataError: When no item has both sides.
    """
    p, y, n_missing = known_probabilities(prob, outcome)
    codes = known_clusters(clusters, prob, outcome)
    errors = ((p - y) ** 2).tolist()
    scored = (
        rating_mean(errors, (0.0, 1.0), continuous=True, level=level)
        if codes is None
        else mean(errors, clusters=codes.tolist(), level=level)
    )
    values, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    rates, share = np.bincount(place, y) / counts, counts / len(p)
    base = float(y.mean())
    uncertainty = base * (1 - base)
    recalibrated = fit_isotonic(p.tolist(), y.tolist()).predict(p)
    best = float(((recalibrated - y) ** 2).mean())
    return BrierDecomposition(
        value=scored.value,
        low=float(np.clip(scored.low, 0, 1)),
        high=float(np.clip(scored.high, 0, 1)),
        level=level,
        n=scored.n,
        n_missing=n_missing,
        method=scored.method,
        se=scored.se,
        df=scored.df,
        n_clusters=scored.n_clusters,
        n_observations=len(p),
        design_effect=scored.design_effect,
        reason=scored.reason,
        note=scored.note,
        brier=scored.value,
        reliability=float((share * (values - rates) ** 2).sum()),
        resolution=float((share * (rates - base) ** 2).sum()),
        uncertainty=uncertainty,
        mcb=scored.value - best,
        dsc=uncertainty - best,
        skill=1 - scored.value / uncertainty if uncertainty else nan,
    )


def log_loss(
    prob: Sequence[float | None],
    outcome: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> LogLoss:
    """Mean surprise at the outcomes, `-mean ln p(y)`, in nats.

    Args:
        prob: Stated probabilities in [0, 1], moved to 1e-6 or 1 - 1e-6 where nearer to an end;
            None and nan are missing.
        outcome: 1 or 0, in the order of `prob`.
        clusters: The case of each item; the interval is then by sums of cases.
        level: Confidence level in (0, 1).

    Returns:
        The loss with a t interval; none, with a reason, where it does not vary. `n` counts items,
        or cases.

    Raises:
        ValueError: When lengths differ or a value is out of its range.
        NotEnoughDataError: When no item has both sides.
    """
    p, y, n_missing = known_probabilities(prob, outcome)
    clipped = np.clip(p, _CLIP, 1 - _CLIP)
    codes = known_clusters(clusters, prob, outcome)
    losses = (-np.log(np.where(y == 1, clipped, 1 - clipped))).tolist()
    found = mean(losses, clusters=None if codes is None else codes.tolist(), level=level)
    return LogLoss(
        value=found.value,
        low=found.low,
        high=found.high,
        level=level,
        n=found.n,
        n_missing=n_missing,
        method=found.method,
        se=found.se,
        df=found.df,
        n_clusters=found.n_clusters,
        n_observations=len(p),
        design_effect=found.design_effect,
        reason=found.reason,
        note=found.note,
        n_clipped=int((clipped != p).sum()),
    )


def known_probabilities(
    prob: Sequence[float | None], outcome: Sequence[float | None]
) -> tuple[np.ndarray, np.ndarray, int]:
    """The pairs of a probability and an outcome of which both are known.

    Args:
        prob: Probabilities in [0, 1]; None and nan are missing.
        outcome: 1 or 0, in the order of `prob`.

    Returns:
        Probabilities, outcomes, and how many pairs lack a side.

    Raises:
        ValueError: When lengths differ or a value is out of its range.
        NotEnoughDataError: When no pair is known.
    """
    p, y, n_missing = known_pairs(prob, outcome)
    if len(p) == 0:
        raise NotEnoughDataError("no item has both a probability and an outcome")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("a probability lies outside 0..1")
    return p, outcomes(y), n_missing
