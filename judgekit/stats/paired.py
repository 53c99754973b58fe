"""Two variants on the same items: difference of means, pass rates, win rate, signed ranks.

For independent samples see `intervals`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import cbrt, fsum, inf, isnan, nan, sqrt
from typing import Literal, TypeVar, get_args

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import (
    Estimate,
    Figure,
    cluster_means,
    finite_floats,
    in_units,
    known_observations,
    standard_deviation,
)
from judgekit.stats.intervals import mean, share_interval, wilson
from judgekit.stats.quantiles import (
    SLACK,
    check_choice,
    check_level,
    fair_binomial,
    normal_p_value,
    normal_quantile,
    require,
    require_whole,
    sign_p_values,
    t_p_value,
    t_quantile,
)

# `step` for values on [0, 1]: half pseudo-items stand a twentieth of the scale from 0.
VALUE_STEP = 0.05

# A smaller skewness bends the t distribution by less than rounding does.
_STRAIGHT = 1e-6

DifferenceInterval = Literal["t", "skewed"]
_DIFFERENCE_METHODS = {
    "t": "t with half pseudo-items",
    "skewed": "t with half pseudo-items, widened for skewness",
}

# With fewer items every flip of signs is tried: 2^14 of them at most.
_SIGN_FLIP_BELOW = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference(Estimate):
    """The mean of B - A over the same items."""

    sd: float
    """Standard deviation of the items' differences; nan for one item."""

    p_value: float
    """Two-sided p against no difference; nan where no item differs."""

    p_method: str
    """`t`; `sign-flip` with fewer than 15 items or all differing alike; `none` where undefined."""

    pairing_gain: float
    """Share of the variance that pairing removed: 1 - Var(B - A) / (Var A + Var B)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedProportions(Estimate):
    """The change of a pass rate, B - A, on the same cases."""

    p_exact: float
    """Exact McNemar test, two-sided; never rejects too often."""

    p_mid: float
    """Mid-p McNemar test, two-sided; less conservative, for decisions."""

    p_b_better: float
    """Posterior probability that a case only one passes is passed by B (uniform prior)."""

    @property
    def p_value(self) -> float:
        """The p for decisions: mid-p."""
        return self.p_mid


def paired_difference(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    step: float = 1.0,
    ci: DifferenceInterval = "t",
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> PairedDifference:
    """The mean of B - A over the same items; its interval never has width 0.

    Half a pseudo-item at +step and half at -step are added before the t interval is taken:
    `m = sum d / (n+1)`, `s^2 = (sum d^2 + step^2 - (n+1) m^2) / n`, `m +- t(n-1) s / sqrt(n+1)`.
    So twenty equal pairs do not claim certainty. The p is that of the paired t test, or below 15
    items of all flips of signs (Fisher 1935). Repeats are averaged within their case first.

    Args:
        a: Scores of the first variant; nan and None are missing.
        b: Scores of the second, in the order of `a`.
        step: One step of the scale, more than 0: 1 for ratings 1-5 and for pass/fail.
        ci: `t`, or `skewed`, which is widened by the interval of Hall's transformation (1992): for
            differences with a long tail, such as costs or rare large changes, of which `t` covers
            80 to 92 % of lognormal means with 12 to 100 items and `skewed` 92 to 96 %.
        clusters: The case of each pair; a case counts once, with its mean on each side.
        level: Confidence level in (0, 1).

    Returns:
        The difference; `n` counts cases that have both sides, `n_missing` the pairs that lack
        one. With one case the interval is nan.
    """
    check_level(level)
    check_choice("interval", ci, get_args(DifferenceInterval))
    if len(a) != len(b):
        raise ValueError(f"{len(a)} scores of A, but {len(b)} of B")
    (step,) = require(step=step)
    if not step > 0:
        raise ValueError(f"step is {step}; a step of the scale is more than 0")
    a, b = finite_floats(a), finite_floats(b)
    sides = paired_means(a, b, clusters)
    if not sides[0]:
        raise NotEnoughDataError("no item has a score of both variants")
    # What is only rounding of floats is no difference: it would give a p where no item differs.
    d = [0.0 if abs(y - x) <= SLACK else y - x for x, y in zip(*sides, strict=True)]
    n, value, sd = len(d), fsum(d) / len(d), standard_deviation(d)
    low, high, se = _difference_ends(d, step, ci, level) if n > 1 else (nan, nan, nan)
    apart = standard_deviation(sides[0]) ** 2 + standard_deviation(sides[1]) ** 2
    p_value, p_method = _difference_p(d)
    return PairedDifference(
        value=value,
        low=min(low, value),
        high=max(high, value),
        level=level,
        **in_units(_DIFFERENCE_METHODS[ci], n, clustered=clusters is not None),
        n_missing=sum(isnan(x) or isnan(y) for x, y in zip(a, b, strict=True)),
        se=se,
        df=n - 1,
        sd=sd,
        p_value=p_value,
        p_method=p_method,
        pairing_gain=1 - sd * sd / apart if apart > 0 else nan,
        reason="one item only" if n == 1 else None,
        note=None if any(d) else "no item differs: p is undefined",
    )


def paired_means(
    a: Sequence[float | None], b: Sequence[float | None], clusters: Sequence[Hashable] | None
) -> tuple[list[float], list[float]]:
    """The mean of each case on both sides, of the cases that have both."""
    names: Sequence[Hashable] = range(len(a)) if clusters is None else clusters
    of_a, of_b = (cluster_means(*known_observations(x, names)) for x in (a, b))
    both = [name for name in of_a if name in of_b]
    return [of_a[name] for name in both], [of_b[name] for name in both]


def amount_difference(
    a: Sequence[float | None], b: Sequence[float | None], *, level: float = 0.95
) -> Estimate:
    """The mean of B - A over the same items, for amounts without a scale: tokens, seconds, money.

    The interval is the wider one of `paired_difference`, taken around the mean: its pseudo-items
    stand one standard deviation above and below it, because amounts have no step, and a mean of
    24,000 tokens is not to be drawn to 0.

    Args:
        a: Amounts of the first variant; nan and None are missing.
        b: Those of the second, in the order of `a`.
        level: Confidence level in (0, 1).

    Returns:
        The difference; its interval is nan, with the reason, for one item and where all items
        differ by the same amount.
    """
    d = [y - x for x, y in zip(finite_floats(a), finite_floats(b), strict=True)]
    plain = mean(d, level=level)
    if plain.reason is not None:
        return plain
    value, (d, _) = plain.value, known_observations(d)
    around = paired_difference(
        [value] * len(d), d, step=standard_deviation(d), ci="skewed", level=level
    )
    low, high = value + around.low, value + around.high
    return replace(plain, low=low, high=high, se=around.se, method=around.method)


def _difference_ends(
    d: Sequence[float], step: float, ci: DifferenceInterval, level: float
) -> tuple[float, float, float]:
    """The ends of the interval, and the standard error of the mean with its pseudo-items."""
    n = len(d)
    centre = fsum(d) / (n + 1)
    variance = (fsum(v * v for v in d) + step * step - (n + 1) * centre * centre) / n
    se = sqrt(variance / (n + 1))
    half = t_quantile(level, n - 1) * se
    low, high = centre - half, centre + half
    if ci == "skewed":
        less, more = _skewed_ends(d, centre, variance, level)
        low, high = min(low, less), max(high, more)
    return low, high, se


def _skewed_ends(
    d: Sequence[float], centre: float, variance: float, level: float
) -> tuple[float, float]:
    """The interval by Hall's transformation, which takes the skewness out of the t statistic."""
    n = len(d)
    skewness = fsum((v - centre) ** 3 for v in d) / (n + 1) / variance**1.5
    # Small samples seldom hold the tail and understate the skewness (it cannot exceed the root of
    # n). The factor was chosen by simulation of lognormal differences, n from 12 to 100.
    bend = skewness * (1 + 10 / max(n, 12)) / sqrt(n + 1)
    if abs(bend) < _STRAIGHT:
        return inf, -inf
    se, t = sqrt(variance / (n + 1)), t_quantile(level, n - 1)
    # Hall (1992), On the removal of skewness by transformation, inverse of his cubic g.
    high, low = (centre - (cbrt(1 + bend * (x - bend / 6)) - 1) * 3 / bend * se for x in (-t, t))
    return low, high


_DifferenceT = TypeVar("_DifferenceT", bound="PairedDifference | PairedProportions")


def bounded_difference(difference: _DifferenceT, limit: float = 1.0) -> _DifferenceT:
    """A difference that cannot exceed `limit`, its interval cut there; 1 for values on [0, 1]."""
    # max and min return a nan only where it is the first argument.
    return replace(difference, low=max(difference.low, -limit), high=min(difference.high, limit))


def paired_proportions(
    both: int, only_a: int, only_b: int, neither: int, *, level: float = 0.95
) -> PairedProportions:
    """Change of a pass rate, B - A, on the same cases.

    Bonett & Price 2012: with `a = (only_a+1)/(n+2)` and `b = (only_b+1)/(n+2)` the interval is
    `b - a +- z sqrt((a + b - (a - b)^2) / (n+2))`; McNemar's test exact and as mid-p
    (Fagerland, Lydersen & Laake 2013).

    Args:
        both: Cases both variants pass.
        only_a: Cases only A passes.
        only_b: Cases only B passes.
        neither: Cases neither passes.
        level: Confidence level in (0, 1).
    """
    both, only_a, only_b, neither = require_whole(
        both=both, only_a=only_a, only_b=only_b, neither=neither
    )
    z, n = normal_quantile(level), both + only_a + only_b + neither
    if min(both, only_a, only_b, neither) < 0:
        raise ValueError("a count of cases is negative")
    if n == 0:
        raise NotEnoughDataError("no case was given to both variants")
    a, b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    se = sqrt((a + b - (a - b) ** 2) / (n + 2))
    exact, mid = sign_p_values(only_a, only_b)
    return PairedProportions(
        value=(only_b - only_a) / n,
        low=max(-1.0, b - a - z * se),
        high=min(1.0, b - a + z * se),
        level=level,
        n=n,
        method="bonett-price",
        se=se,
        p_exact=exact,
        p_mid=mid,
        # The beta distribution at 1/2 is a binomial tail.
        p_b_better=fair_binomial(only_b, only_a + only_b + 1),
    )


def pass_rate_difference(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> PairedProportions | PairedDifference:
    """Change of a pass rate, B - A, from the outcomes themselves.

    `paired_proportions` where every case has one pair, else `paired_difference` of the cases' pass
    rates with a step of 1.
    """
    if len(a) != len(b) or (clusters is not None and len(clusters) != len(a)):
        raise ValueError(f"{len(a)} outcomes of A and {len(b)} of B; each pair needs its case")
    a, b = finite_floats(a), finite_floats(b)
    if any(not isnan(v) and v not in (0, 1) for v in [*a, *b]):
        raise ValueError("an outcome is neither 0 nor 1")
    # Repeats of a case are not independent pairs, which the tests of `paired_proportions` assume.
    if clusters is not None and len(set(clusters)) < len(clusters):
        return bounded_difference(paired_difference(a, b, clusters=clusters, level=level))
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (isnan(x) or isnan(y))]
    counts = [sum(pair == kind for pair in pairs) for kind in ((1, 1), (1, 0), (0, 1), (0, 0))]
    return replace(paired_proportions(*counts, level=level), n_missing=len(a) - len(pairs))


def _difference_p(d: Sequence[float]) -> tuple[float, str]:
    if not any(d):
        return nan, "none"
    if len(d) < _SIGN_FLIP_BELOW:
        # The share of all 2^n flips of signs whose sum is at least as far from 0; the first sign
        # stays, for flipping all of them changes no distance. At most 2^13 sums take less time than
        # importing numpy.
        sums = [d[0]]
        for value in d[1:]:
            sums = [total + sign for total in sums for sign in (value, -value)]
        reached = abs(fsum(d)) - SLACK * max(abs(value) for value in d)
        return sum(abs(total) >= reached for total in sums) / len(sums), "sign-flip"
    sd = standard_deviation(d)
    if sd <= SLACK * abs(d[0]):  # all differ alike: t is infinite, the flips are not fooled
        return 2.0 ** (1 - len(d)), "sign-flip"
    return t_p_value(fsum(d) / len(d) / (sd / sqrt(len(d))), len(d) - 1), "t"


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
    """
    wins, ties, losses = require_whole(wins=wins, ties=ties, losses=losses)
    n = wins + ties + losses
    if min(wins, ties, losses) < 0:
        raise ValueError("a count of items is negative")
    if n == 0:
        raise NotEnoughDataError("no comparison to count")
    rate = (wins + ties / 2) / n
    # Half a win, tie and loss: without them unanimous results would have no variance.
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

    As `win_rate`, with each prompt's mean score (1 where A won, 1/2 for a tie) in place of one
    score; the sign test counts prompts that lean to either side. `n` counts prompts.
    """
    known, names = known_observations(scores, clusters)
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
        **in_units("wilson, trinomial variance", n, clustered=True),
        n_missing=len(scores) - len(known),
        se=sd / sqrt(n) if sd > 0 else nan,
        n_observations=len(known),
        net=2 * fsum(shares) / n - 1,
        p_sign=sign_p_values(ahead, behind)[0],
    )


def prob_superior(k1: int, n1: int, k2: int, n2: int) -> Figure:
    """Posterior probability that the first of two independent rates is the higher one.

    The finite sum for whole Beta parameters (Miller 2015, "Formulas for Bayesian A/B testing"),
    with uniform priors. Read it beside an interval; it does not protect from repeated looks.

    Args:
        k1: Successes of the first.
        n1: Trials of the first; 0 leaves the prior.
        k2: Successes of the second.
        n2: Trials of the second.

    Returns:
        The probability, in [0, 1].
    """
    k1, n1, k2, n2 = require_whole(k1=k1, n1=n1, k2=k2, n2=n2)
    if not (0 <= k1 <= n1 and 0 <= k2 <= n2):
        raise ValueError(f"{k1} of {n1} and {k2} of {n2} are no counts of successes")
    import numpy as np  # noqa: PLC0415 - the rest of the module does without it
    from scipy.special import betaln  # noqa: PLC0415 - half a second, only where it is needed

    a1, b1, a2, b2 = k1 + 1, n1 - k1 + 1, k2 + 1, n2 - k2 + 1
    i = np.arange(a1)
    # Logarithms of the terms: beta functions of thousands of trials leave the range of floats.
    terms = betaln(a2 + i, b1 + b2) - np.log(b1 + i) - betaln(1 + i, b1) - betaln(a2, b2)
    return Figure(value=float(min(1.0, np.exp(terms).sum())), method="beta posteriors, exact sum")


# With more items the normal law is as good to three digits, and quicker.
_EXACT_UP_TO = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRanks(Figure):
    """How far B is above A in ranks; `value` is the matched-pairs rank-biserial correlation."""

    p_value: float
    """Two-sided p of differences that are symmetric about 0; nan where no item differs."""

    w_plus: float
    """Sum of the ranks of items on which B is higher."""

    n: int
    """Items with both values."""

    n_zero: int
    """Of them, those that do not differ; they are left out (Wilcoxon 1945)."""

    n_missing: int
    """Pairs that lack a value."""


def signed_rank_test(a: Sequence[float | None], b: Sequence[float | None]) -> SignedRanks:
    """Wilcoxon's signed-rank test (1945) of B - A over the same items.

    Items that do not differ are left out, equal distances share their mean rank. Up to 100 items
    the p is exact, ties included: the share of all flips of signs whose rank sum lies at least as
    far from its mean; beyond, normal with the variance `sum r^2 / 4` and no continuity
    correction. The value is `(W+ - W-) / (W+ + W-)` (Kerby 2014): 1 where B is always higher.
    """
    import numpy as np  # noqa: PLC0415 - the rest of the module does without it

    from judgekit.stats.missing import known_pairs, mean_ranks  # noqa: PLC0415 - as above

    x, y, n_missing = known_pairs(a, b)
    if len(x) == 0:
        raise NotEnoughDataError("no item has a value of both")
    d = (y - x)[np.abs(y - x) > SLACK]
    ranks = mean_ranks(np.abs(d))
    w_plus, total = float(ranks[d > 0].sum()), float(ranks.sum())
    exact = len(d) <= _EXACT_UP_TO
    p_value = nan
    if len(d) and exact:
        # From the number of ways to each rank sum, in halves so that mean ranks are whole;
        # scipy.stats.wilcoxon has no exact p with ties, which scores on a short scale always have,
        # and every `compare --scores` would pay for importing scipy.stats.
        ways = np.ones(1)
        for step in (2 * ranks).astype(int):
            ways = (np.pad(ways, (0, step)) + np.pad(ways, (step, 0))) / 2
        off = np.abs(2 * np.arange(len(ways)) - 2 * total)
        p_value = float(min(1.0, ways[off >= abs(4 * w_plus - 2 * total)].sum()))
    elif len(d):
        variance = float((ranks**2).sum()) / 4
        p_value = normal_p_value((w_plus - total / 2) / sqrt(variance))
    return SignedRanks(
        value=(2 * w_plus - total) / total if len(d) else nan,
        method="signed ranks, " + ("exact" if exact else "normal"),
        reason=None if len(d) else "no item differs",
        p_value=p_value,
        w_plus=w_plus,
        n=len(x),
        n_zero=len(x) - len(d),
        n_missing=n_missing,
    )
