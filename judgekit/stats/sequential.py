"""Evidence that stays valid after every item: e-values, mSPRT and confidence sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log, nan, pi
from numbers import Real
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Counted, Estimate, known_observations
from judgekit.stats.quantiles import require, require_whole

if TYPE_CHECKING:
    import numpy as np

# Halving 60 times exhausts the digits of a double.
_BISECTIONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class EValue(Counted):
    """Evidence against "no difference", valid whenever one chooses to stop."""

    value: float
    """The e-value: stop for a difference when it reaches 1 / alpha."""

    p_value: float
    """min(1, 1 / value): valid at any stopping time."""

    method: str
    """The mixture."""


def win_e_value(wins: int, losses: int, *, prior_a: float = 10.0, prior_b: float = 10.0) -> EValue:
    """Evidence that one side wins more often, from decisive pairs.

    `B(a + W, b + L) / (B(a, b) 2^-(W + L))`: the likelihood under a Beta(a, b) mixture over that
    under 1/2 (Robbins 1970; Ramdas et al. 2023).

    Args:
        wins: Pairs won.
        losses: Pairs lost; ties are left out.
        prior_a: a, more than 0; 10 suits rates of .55 to .7, 1 larger ones.
        prior_b: b, more than 0.

    Returns:
        The e-value; 1 without a decisive pair.
    """
    wins, losses = require_whole(wins=wins, losses=losses)
    prior_a, prior_b = require(prior_a=prior_a, prior_b=prior_b)
    if min(wins, losses) < 0 or not (prior_a > 0 and prior_b > 0):
        raise ValueError("counts are 0 or more, priors more than 0")
    n = wins + losses
    log_value = _log_beta(prior_a + wins, prior_b + losses) - _log_beta(prior_a, prior_b)
    return _e_value(log_value + n * log(2), n, 0, "beta mixture")


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def msprt(x: Sequence[float | None], sigma: float, tau: float) -> EValue:
    """Mixture sequential probability ratio of a normal mean against 0 (Robbins 1970).

    `sqrt(s^2 / (s^2 + n t^2)) exp(n^2 t^2 m^2 / (2 s^2 (s^2 + n t^2)))` (Johari et al. 2022).

    Args:
        x: Differences, near normal; nan and None are missing.
        sigma: Their known standard deviation, more than 0.
        tau: Standard deviation of the mixture, about the effect of interest, more than 0.

    Returns:
        The ratio as an e-value; 1 without data.
    """
    sigma, tau = require(sigma=sigma, tau=tau)
    if not (sigma > 0 and tau > 0):
        raise ValueError(f"sigma {sigma} and tau {tau} have to be more than 0")
    known, _ = known_observations(x)
    n, s2, t2 = len(known), sigma**2, tau**2
    log_ratio = 0.5 * log(s2 / (s2 + n * t2))
    if n:
        log_ratio += sum(known) ** 2 * t2 / (2 * s2 * (s2 + n * t2))
    return _e_value(log_ratio, n, len(x) - n, "normal mixture")


_MOST_STARTS = 30


def restarted_sequence(
    windows: Sequence[Sequence[float]], limit: float, *, alpha: float = 0.05
) -> Estimate | None:
    """The mean since some window, where it is surely on one side of a limit; else None.

    A confidence sequence over everything finds a change late, since what was before it counts too.
    So one begins with every window, the k-th of them with the share 6 / (pi k)^2 of alpha: the
    error over all starts and all looks together stays at most alpha.

    Args:
        windows: The values in [0, 1] of each window, in the order in which they came.
        limit: The limit.
        alpha: Error over all starts and looks, in (0, 1).

    Returns:
        The mean over the last windows whose interval leaves the limit out; the latest start first.
    """
    for start in range(len(windows) - 1, max(-1, len(windows) - 1 - _MOST_STARTS), -1):
        values = [value for window in windows[start:] for value in window]
        if not values:
            continue
        found = mean_confidence_sequence(values, alpha=alpha * 6 / (pi * (start + 1)) ** 2)
        if found.high < limit or found.low > limit:
            return found
    return None


def mean_confidence_sequence(
    x: Sequence[float | None], *, alpha: float = 0.05, low: float = 0.0, high: float = 1.0
) -> Estimate:
    """Interval of a bounded mean that stays valid after every item.

    Hedged capital of Waudby-Smith & Ramdas 2024: two bettors, one on a higher and one on a lower
    mean, whose stakes depend on earlier items only; a mean is out when half the larger capital
    reaches 1 / alpha. Both capitals are monotone in the mean, so two bisections find the ends.

    Args:
        x: Values in order of arrival, which must not depend on them; nan and None are missing.
        alpha: Error over all looks together, in (0, 1).
        low: The least possible value.
        high: The greatest possible value.

    Returns:
        The mean and its interval, within the bounds.
    """
    if not (isinstance(alpha, Real) and 0 < alpha < 1):
        raise ValueError(f"alpha is {alpha}; it lies between 0 and 1")
    low, high = require(low=low, high=high)
    if not low < high:
        raise ValueError(f"low {low} has to be less than high {high}")
    known, _ = known_observations(x)
    if not known:
        raise NotEnoughDataError("no values to average")
    if min(known) < low or max(known) > high:
        raise ValueError(f"a value lies outside {low:g}..{high:g}")
    import numpy as np  # noqa: PLC0415 - the rest of the module does without it

    unit = (np.asarray(known) - low) / (high - low)
    # The stake on each item rests on the items before it: the paper's predictable plug-in.
    t = np.arange(1, len(unit) + 1)
    running = (0.5 + np.cumsum(unit)) / (t + 1)
    variance = (0.25 + np.cumsum((unit - running) ** 2)) / (t + 1)
    # A bet may use only what was known before: the variance up to the step before.
    before = np.concatenate([[0.25], variance[:-1]])
    # Waudby-Smith & Ramdas (2024): half of alpha for each side.
    limit = log(2 / alpha)
    stakes = np.sqrt(2 * limit / (before * t * np.log1p(t)))
    centre = float(unit.mean())
    lower = _crossing(lambda m: _capital(unit, stakes, m) < limit)
    upper = 1 - _crossing(lambda m: _capital(1 - unit, stakes, m) < limit)
    empty = lower >= upper
    return Estimate(
        value=low + centre * (high - low),
        low=nan if empty else low + lower * (high - low),
        high=nan if empty else low + upper * (high - low),
        level=1 - alpha,
        n=len(known),
        n_missing=len(x) - len(known),
        method="hedged capital",
        reason="no constant mean fits: the values drift" if empty else None,
        note=None if lower <= centre <= upper else "the values drift from their early mean",
    )


def _e_value(log_value: float, n: int, n_missing: int, method: str) -> EValue:
    # Beyond, floats end; the evidence is settled long before.
    value = exp(min(log_value, 700.0))
    p_value = exp(min(-log_value, 0.0))
    return EValue(value=value, p_value=p_value, n=n, n_missing=n_missing, method=method)


def _capital(unit: np.ndarray, stakes: np.ndarray, m: float) -> float:
    """The log of the capital of the bettor on a mean above m; it falls in m."""
    # At most half of what would ruin, so that the capital stays positive.
    import numpy as np  # noqa: PLC0415 - as above

    bets = np.minimum(stakes, 0.5 / m) if m > 0 else stakes
    return float(np.log1p(bets * (unit - m)).sum())


def _crossing(stays: Callable[[float], bool]) -> float:
    """The mean in [0, 1] from which `stays` holds; it does at 1."""
    out, inside = 0.0, 1.0
    if stays(out):
        return out
    for _ in range(_BISECTIONS):
        middle = (out + inside) / 2
        if stays(middle):
            inside = middle
        else:
            out = middle
    return out
