"""How far stated probabilities can be relied on.

Calibration error, Brier score, log loss; and prediction sets, which contain the human score with a
stated chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, isinf, nan
from typing import Literal

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.calibration import fit_isotonic
from judgekit.stats.estimate import (
    Counted,
    Estimate,
    Result,
    carried,
    few_clusters,
    known_observations,
)
from judgekit.stats.intervals import Rate, mean, rate, rating_mean
from judgekit.stats.missing import Values, clustered_pairs, count_units, group_sums, outcomes
from judgekit.stats.quantiles import SLACK, beta_quantile, require, require_whole

BinKind = Literal["width", "mass"]
_TENTHS = 10

# With fewer items the expected error of a calibrated judge is as large as a real one.
_FEW = 200

# Simulations run in chunks of so many numbers, 4 MiB: all at once they take gigabytes.
_CELLS = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError(Counted):
    """The gap between stated and observed rates, binned."""

    value: float
    """Mean gap over bins, weighted by their items; biased upwards."""

    max_gap: float
    """The largest gap of a bin."""

    n_bins: int
    """Bins that hold an item."""

    expected: float
    """The value a perfectly calibrated judge would show here; nan where not simulated."""

    p_value: float
    """How often such a judge would show as much; nan where not simulated."""

    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin(Result):
    """One row of a reliability diagram."""

    low: float
    """Lower border."""

    high: float
    """Upper border."""

    confidence: float
    """Mean confidence."""

    rate: Rate
    """Share that was right, with Wilson's interval."""


def ece(
    confidence: Sequence[float | None],
    correct: Sequence[float | None],
    n_bins: int = 10,
    kind: BinKind = "width",
    *,
    clusters: Sequence[Hashable] | None = None,
    rng: np.random.Generator | None = None,
    n_simulations: int = 500,
) -> CalibrationError:
    """The gap between stated and observed rates: `sum n_b / n |rate_b - confidence_b|`.

    Small samples make it large by chance: a perfectly calibrated judge shows about .1 at 100
    items and ten bins. With `rng` its value under calibration is simulated (Broecker & Smith
    2007); below 200 items read `brier_decomposition` instead. Answers to one case are right or
    wrong together, which makes the gaps larger by chance: with `clusters` the signs of whole cases
    are drawn instead, each keeping its residuals (wild cluster bootstrap: Cameron, Gelbach &
    Miller 2008).

    Args:
        confidence: Stated probabilities in [0, 1]; None and nan are missing.
        correct: 1 or 0, in the order of `confidence`.
        n_bins: Bins, 1 or more.
        kind: `width` (equal widths, closed above) or `mass` (equal numbers; equal confidences
            that straddle a border are dealt in the order given).
        clusters: The case of each item; without, each is a case of its own.
        rng: Source of random numbers for the simulation; None leaves it out.
        n_simulations: Simulated samples, 1 or more.
    """
    p, y, codes, n_missing = known_probabilities(confidence, correct, clusters)
    n_bins, n_simulations = require_whole(n_bins=n_bins, n_simulations=n_simulations)
    if n_simulations < 1:
        raise ValueError(f"{n_simulations} simulations; give 1 or more")
    n = count_units(codes, len(p))
    _, bins, counts = np.unique(_bins(p, n_bins, kind), return_inverse=True, return_counts=True)
    shares = counts / len(p)
    # Times residuals this gives rate less confidence of each bin that holds an item.
    means = (bins[:, None] == np.arange(len(counts))) / counts
    gaps = np.abs((y - p) @ means)
    value = float((shares * gaps).sum())
    expected = p_value = nan
    if rng is not None:
        simulated = np.concatenate(
            [gap @ shares for gap in _chance_gaps(p, y, means, codes, rng, n_simulations)]
        )
        expected = float(simulated.mean())
        # The observed value counts as one of the simulations, so that p is never 0.
        p_value = float((1 + (simulated >= value - 1e-12).sum()) / (1 + n_simulations))
    unit = "items" if codes is None else "cases"
    note = f"{n} {unit}: biased upwards, read mcb instead" if n < _FEW else None
    return CalibrationError(
        value=value,
        max_gap=float(gaps.max()),
        n=n,
        n_missing=n_missing,
        n_bins=len(shares),
        expected=expected,
        p_value=p_value,
        note=(None if codes is None else few_clusters(n)) or note,
    )


def reliability_table(
    confidence: Sequence[float | None],
    correct: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """The rows of a reliability diagram, rising: one for each tenth that holds an item.

    With clusters the intervals of the rates are by sums of cases (`intervals.pooled_proportion`).
    """
    p, y, codes, _ = known_probabilities(confidence, correct, clusters)
    bins = _bins(p, _TENTHS, "width")
    return tuple(
        ReliabilityBin(
            low=float(b / _TENTHS),
            high=float((b + 1) / _TENTHS),
            confidence=float(p[bins == b].mean()),
            rate=rate(y[bins == b], None if codes is None else codes[bins == b], level=level),
        )
        for b in np.unique(bins)
    )


def _bins(p: np.ndarray, n_bins: int, kind: BinKind) -> np.ndarray:
    if n_bins < 1 or kind not in ("width", "mass"):
        raise ValueError(f"{n_bins} bins of equal {kind}; one or more of width or mass")
    if kind == "width":
        inner = np.arange(1, n_bins) / n_bins
        # An edge belongs to the bin below, whatever rounding did to the score.
        return np.asarray(np.searchsorted(inner, p - 1e-12, side="left"))
    bins = np.empty(len(p), dtype=int)
    for b, places in enumerate(np.array_split(np.argsort(p, kind="stable"), n_bins)):
        bins[places] = b
    return bins


def _chance_gaps(
    p: np.ndarray,
    y: np.ndarray,
    means: np.ndarray,
    codes: np.ndarray | None,
    rng: np.random.Generator,
    n_simulations: int,
) -> Iterator[np.ndarray]:
    """The gaps of calibrated samples, some at a time: outcomes drawn by p, or cases' signs."""
    pull = means if codes is None else group_sums(codes, (y - p)[:, None] * means)
    many = len(pull)
    most = max(1, _CELLS // many)
    room = np.empty((min(most, n_simulations), many)) if codes is None else np.empty((0, 0))
    for start in range(0, n_simulations, most):
        size = (min(most, n_simulations - start), many)
        if codes is None:
            uniform = rng.random(out=room[: size[0]])
            yield np.abs(np.subtract(uniform < p, p, out=uniform) @ pull)
        else:
            # Whole cases change sign (wild bootstrap): drawing each outcome alone would treat
            # repeats of a case as independent.
            yield np.abs(rng.choice((-1.0, 1.0), size) @ pull)


_CLIP = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class BrierDecomposition(Estimate):
    """The Brier score and its components."""

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
    """The log loss, in nats."""

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
    """
    p, y, codes, n_missing = known_probabilities(prob, outcome, clusters)
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
    # CORP (Dimitriadis, Gneiting & Jordan 2021): isotonic recalibration needs no bins.
    recalibrated = fit_isotonic(p.tolist(), y.tolist()).predict(p)
    best = float(((recalibrated - y) ** 2).mean())
    return BrierDecomposition(
        **carried(
            scored,
            low=float(np.clip(scored.low, 0, 1)),
            high=float(np.clip(scored.high, 0, 1)),
            n_missing=n_missing,
            n_observations=len(p),
        ),
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
    """The log loss, `-mean ln p(y)`, in nats.

    Args:
        prob: Stated probabilities in [0, 1], moved to 1e-6 or 1 - 1e-6 where nearer to an end;
            None and nan are missing.
        outcome: 1 or 0, in the order of `prob`.
        clusters: The case of each item; the interval is then by sums of cases.
        level: Confidence level in (0, 1).

    Returns:
        The loss with a t interval; none, with a reason, where it does not vary. `n` counts items,
        or cases.
    """
    p, y, codes, n_missing = known_probabilities(prob, outcome, clusters)
    # One sure and wrong answer has an infinite loss; how many were clipped is reported.
    clipped = np.clip(p, _CLIP, 1 - _CLIP)
    losses = (-np.log(np.where(y == 1, clipped, 1 - clipped))).tolist()
    found = mean(losses, clusters=None if codes is None else codes.tolist(), level=level)
    return LogLoss(**carried(found, n_missing=n_missing), n_clipped=int((clipped != p).sum()))


def known_probabilities(
    prob: Values, outcome: Values, clusters: Sequence[Hashable] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """As `clustered_pairs`, of probabilities and outcomes."""
    p, y, codes, n_missing = clustered_pairs(prob, outcome, clusters)
    if len(p) == 0:
        raise NotEnoughDataError("no item has both a probability and an outcome")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("a probability lies outside 0..1")
    return p, outcomes(y), codes, n_missing


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalQuantile(Result):
    """The residual that covers a share of new items."""

    value: float
    """Half-width; infinite where there are too few residuals for the level."""

    n: int
    """Residuals."""

    alpha: float
    """Share of new items that may be missed."""

    coverage_low: float
    """With 95 % certainty the share covered is at least this; nan where the value is infinite."""

    reason: str | None = None
    """Why the value is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalSet(Result):
    """The levels that contain the human level with a stated probability."""

    labels: tuple[float, ...]
    """Levels of the scale, in its order; none where the prediction lies far off it."""

    quantile: ConformalQuantile
    """What the set was made with."""


def conformal_quantile(residuals: Sequence[float | None], alpha: float = 0.1) -> ConformalQuantile:
    """The half-width that covers 1 - alpha of new items (Vovk et al. 2005; Lei et al. 2018).

    The k-th smallest residual, `k = ceil((n + 1) (1 - alpha))`. The residuals have to come from
    items the predictions were not fitted on, and new items from the same source. Given these
    residuals the share covered follows Beta(k, n + 1 - k).

    Args:
        residuals: `|human - prediction|` of calibration items; None and nan are left out.
        alpha: Share of new items that may be missed, in (0, 1).

    Returns:
        The half-width; 9 residuals at least are needed for 90 %, 19 for 95 %.
    """
    (alpha,) = require(alpha=alpha)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}; it lies between 0 and 1")
    known = sorted(known_observations(residuals)[0])
    if any(r < 0 for r in known):
        raise ValueError("a residual is negative; give absolute values")
    n = len(known)
    k = ceil((n + 1) * (1 - alpha) - SLACK)
    # With too few residuals no finite bound has the coverage.
    if k > n:
        needed = ceil(1 / alpha - 1 - SLACK)
        reason = f"{n} residuals; {needed} are needed for {1 - alpha:.0%}"
        return ConformalQuantile(value=inf, n=n, alpha=alpha, coverage_low=nan, reason=reason)
    return ConformalQuantile(
        # Coverage given the residuals is Beta(k, n + 1 - k); its 5 % quantile is what can be
        # relied on.
        value=known[k - 1],
        n=n,
        alpha=alpha,
        coverage_low=beta_quantile(k, n + 1 - k, 0.05),
    )


def conformal_set(
    residuals: Sequence[float | None],
    alpha: float,
    prediction: float,
    scale: Sequence[float],
    *,
    spread: float = 1.0,
) -> ConformalSet:
    """The levels within the conformal half-width of a prediction.

    Args:
        residuals: As in `conformal_quantile`; where items differ in how sure the judge is, each
            divided by its spread.
        alpha: Share of new items that may be missed, in (0, 1).
        prediction: The predicted score.
        scale: Levels of the scale.
        spread: The new item's, above 0 (standard deviation of the judge's samples, plus a little).

    Returns:
        The levels; the whole scale where there are too few residuals.
    """
    prediction, spread = require(prediction=prediction, spread=spread)
    if not spread > 0:
        raise ValueError(f"spread is {spread}; it is more than 0")
    quantile = conformal_quantile(residuals, alpha)
    half = quantile.value * spread
    labels = tuple(y for y in scale if isinf(half) or abs(y - prediction) <= half + SLACK)
    return ConformalSet(labels=labels, quantile=quantile)
