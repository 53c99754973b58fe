"""How often the first of two wins: shares of wins with ties as half, and which rate is higher."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, inf, nan, sqrt
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.stats.arguments import whole
from judgekit.stats.estimate import Estimate, Figure, cluster_means, observed, standard_deviation
from judgekit.stats.quantiles import (
    SLACK,
    check_level,
    sign_p_values,
)
from judgekit.stats.rates import share_interval, wilson

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate(Estimate):
    """A's share of wins, a tie being half a win."""

    net: float
    """Wins less losses, as a share of all."""

    p_sign: float
    """Exact sign test of wins against losses, two-sided; 1 where all are ties."""


def win_rate(wins: int, ties: int, losses: int, *, level: float = 0.95) -> WinRate:
    """A's share of wins with ties as half, and an interval from the trinomial variance.

    `p = (W + T/2) / n`, `V = (W + T/4) / n - p^2`. The interval is Wilson's for
    `n p~ (1 - p~) / V~` trials, p~ and V~ being taken with half a win, tie and loss added; so it
    keeps its level near 0 and 1, where t intervals do not.

    Args:
        wins: Items A won.
        ties: Items nobody won.
        losses: Items B won.
        level: Confidence level in (0, 1).

    Returns:
        The rate, its net form and the sign test.

    Raises:
        ValueError: When a count is negative.
        NotEnoughDataError: When there is no item.
    """
    check_level(level)
    wins, ties, losses = whole(wins=wins, ties=ties, losses=losses)
    n = wins + ties + losses
    if min(wins, ties, losses) < 0:
        raise ValueError("a count of items is negative")
    if n == 0:
        raise NotEnoughDataError("no comparison to count")
    rate = (wins + ties / 2) / n
    centre = (wins + ties / 2 + 0.75) / (n + 1.5)
    variance = (wins + ties / 4 + 0.625) / (n + 1.5) - centre * centre
    low, high = wilson(rate, n * centre * (1 - centre) / variance, level=level)
    plain = (wins + ties / 4) / n - rate * rate
    return WinRate(
        value=rate,
        low=low,
        high=high,
        level=level,
        n=n,
        method="wilson, trinomial variance",
        se=sqrt(plain / (n - 1)) if n > 1 and plain > 0 else nan,
        net=(wins - losses) / n,
        p_sign=sign_p_values(wins, losses)[0],
    )


def clustered_win_rate(
    scores: Sequence[float | None], clusters: Sequence[Hashable], *, level: float = 0.95
) -> WinRate:
    """A's share of wins where a prompt was compared several times: the mean over prompts.

    Args:
        scores: 1 (A won), 1/2 (tie), 0 (B won), a probability between, or missing (nan, None).
        clusters: The prompt of each score.
        level: Confidence level in (0, 1).

    Returns:
        The rate as in `win_rate`, with each prompt's mean score in place of one score; the sign
        test counts prompts that lean to either side. `n` counts prompts.

    Raises:
        ValueError: When a score lies outside [0, 1] or `clusters` has another length.
        NotEnoughDataError: When no score is known.
    """
    known, names = observed(scores, clusters)
    if any(not 0 <= value <= 1 for value in known):
        raise ValueError("a score lies outside 0..1")
    if not known:
        raise NotEnoughDataError("no comparison to count")
    shares = list(cluster_means(known, names).values())
    n, sd = len(shares), standard_deviation(shares)
    low, high = share_interval(shares, most=inf, pseudo=(0.0, 0.5, 1.0), level=level)
    ahead, behind = (sum(sign * (s - 0.5) > SLACK for s in shares) for sign in (1, -1))
    return WinRate(
        value=fsum(shares) / n,
        low=low,
        high=high,
        level=level,
        n=n,
        n_missing=len(scores) - len(known),
        method="wilson, trinomial variance, clustered",
        se=sd / sqrt(n) if sd > 0 else nan,
        n_clusters=n,
        n_observations=len(known),
        net=2 * fsum(shares) / n - 1,
        p_sign=sign_p_values(ahead, behind)[0],
    )


def prob_superior(k1: int, n1: int, k2: int, n2: int) -> Figure:
    """Posterior probability that the first of two independent rates is the higher one.

    The finite sum for whole Beta parameters (Miller 2015, "Formulas for Bayesian A/B testing"),
    with uniform priors. To be read beside an interval; it is no protection from peeking.

    Args:
        k1: Successes of the first.
        n1: Trials of the first; 0 leaves the prior.
        k2: Successes of the second.
        n2: Trials of the second.

    Returns:
        The probability, in [0, 1].

    Raises:
        ValueError: When a count is out of its range.
    """
    k1, n1, k2, n2 = whole(k1=k1, n1=n1, k2=k2, n2=n2)
    if not (0 <= k1 <= n1 and 0 <= k2 <= n2):
        raise ValueError(f"{k1} of {n1} and {k2} of {n2} are no counts of successes")
    import numpy as np  # noqa: PLC0415 - only this function needs arrays
    from scipy.special import betaln  # noqa: PLC0415 - half a second, only where it is needed

    a1, b1, a2, b2 = k1 + 1, n1 - k1 + 1, k2 + 1, n2 - k2 + 1
    i = np.arange(a1)
    terms = betaln(a2 + i, b1 + b2) - np.log(b1 + i) - betaln(1 + i, b1) - betaln(a2, b2)
    return Figure(value=float(min(1.0, np.exp(terms).sum())), method="beta posteriors, exact sum")
