"""Quantiles and tail probabilities of the normal, t, F, beta and binomial distributions.

Checks of scalar arguments. scipy, whose import takes longer than most commands, is left to large
numbers; `tests/stats/test_quantiles.py` compares the two.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, isfinite, isnan, lgamma, log, log1p, nan, pi, sqrt
from numbers import Integral, Real
from operator import index
from statistics import NormalDist

# Scores that differ by less are equal: (0.8 - 0.72) / 0.8 is 0.10000000000000009 in floats, and
# a limit of 0.1 must not depend on that.
SLACK = 1e-9


def check_level(level: float) -> None:
    """Raise ValueError unless the confidence level lies between 0 and 1."""
    if not (isinstance(level, Real) and isfinite(level) and 0 < level < 1):
        raise ValueError(f"level is {level}; a confidence level lies between 0 and 1")


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Raise ValueError unless the value is one of the known ones."""
    if value not in known:
        raise ValueError(f"no {what} is called {value!r}; known: {', '.join(known)}")


def normal_quantile(level: float) -> float:
    """The half-width, in standard errors, of a two-sided normal interval."""
    check_level(level)
    return NormalDist().inv_cdf((1 + level) / 2)


# Resampling and reports of many criteria ask for the same few quantiles thousands of times.
@lru_cache(maxsize=1024)
def t_quantile(level: float, df: float) -> float:
    """The half-width, in standard errors, of a two-sided t interval."""
    check_level(level)
    if not df > 0:
        return nan
    # Every report has a mean with its interval. scipy has this quantile too, but importing it takes
    # longer than grading a thousand outputs from the cache; a test compares the two.
    t = NormalDist().inv_cdf((1 + level) / 2)
    if df > _MANY_DF:
        # Abramowitz & Stegun 26.7.5; the next term is below 1e-12.
        return (
            t
            + (
                (t**3 + t) / 4
                + (5 * t**5 + 16 * t**3 + 3 * t) / (96 * df)
                + (3 * t**7 + 19 * t**5 + 17 * t**3 - 15 * t) / (384 * df**2)
                + (79 * t**9 + 776 * t**7 + 1482 * t**5 - 1920 * t**3 - 945 * t) / (92160 * df**3)
            )
            / df
        )
    # The tail is convex and the normal quantile below the root: Newton's steps never overshoot.
    half = lgamma((df + 1) / 2) - lgamma(df / 2) - log(pi * df) / 2
    for _ in range(200):
        density = exp(half - (df + 1) / 2 * log1p(t * t / df))
        step = (_t_tail(t, df) - (1 - level)) / (2 * density)
        t += step
        if abs(step) <= _PRECISION * t:
            break
    return t


def normal_p_value(z: float) -> float:
    """The two-sided p of a standard normal statistic."""
    if isnan(z):
        return nan
    # erfc keeps its digits in the tail, where 1 - cdf would be 0.
    return erfc(abs(z) / sqrt(2))


def t_p_value(t: float, df: float) -> float:
    """The two-sided p of a t statistic."""
    if isnan(t) or not df > 0:
        return nan
    if df <= _MANY_TRIES:
        return _t_tail(t, df)
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import, only for large numbers

    return float(min(1.0, 2 * stdtr(df, -abs(t))))


def upper_t_p_value(t: float, df: float) -> float:
    """The one-sided p of a t statistic, P(T >= t)."""
    both = t_p_value(t, df)
    return both / 2 if t > 0 else 1 - both / 2


def sign_p_values(wins: int, losses: int) -> tuple[float, float]:
    """The exact two-sided sign test, and its mid-p.

    With w = min(wins, losses) of n decisive, the exact p is min(1, 2 P(X <= w)) and the mid-p
    2 P(X <= w) - P(X = w), X binomial with n tries at 1/2 (Lancaster 1961; Fagerland,
    Lydersen & Laake 2013).
    """
    wins, losses = require_whole(wins=wins, losses=losses)
    if wins < 0 or losses < 0:
        raise ValueError(f"{wins} wins and {losses} losses; counts are not negative")
    fewer, n = min(wins, losses), wins + losses
    if n == 0:
        return 1.0, 1.0
    # The mid-p counts half of what was observed: less conservative with few cases.
    below, up_to = fair_binomial(fewer - 1, n), fair_binomial(fewer, n)
    return min(1.0, 2 * up_to), min(1.0, up_to + below)


def fair_binomial(k: int, n: int) -> float:
    """P(X <= k), X binomial with n tries at 1/2."""
    if k < 0:
        return 0.0
    if n <= _MANY_TRIES:
        # Whole numbers, exact: every comparison needs one, and scipy's import takes longer.
        ways = so_far = 1
        for i in range(k):
            ways = ways * (n - i) // (i + 1)
            so_far += ways
        return so_far / (1 << n)
    return binomial_cdf(k, n, 0.5)


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k), X binomial with n tries at p."""
    if k < 0 or k >= n:
        return float(k >= n)
    if n <= _MANY_TRIES:
        return beta_cdf(n - k, k + 1, 1 - p, p)
    from scipy.special import bdtr  # noqa: PLC0415 - slow to import, only for large numbers

    return float(bdtr(k, n, p))


def beta_cdf(a: float, b: float, x: float, y: float) -> float:
    """P(X <= x), X beta with the parameters a and b: the regularized incomplete beta function.

    y is 1 - x; whoever has the smaller one of the two exactly loses no digits of it.
    """
    if x <= 0 or y <= 0:
        return float(y <= 0)
    if isnan(x):
        return nan
    log_x, log_y = (log(v) if v < w else log1p(-w) for v, w in ((x, y), (y, x)))
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log_x + b * log_y)
    # The fraction converges fast only on this side of the mean of the distribution.
    if x < (a + 1) / (a + b + 2):
        return min(1.0, front * _beta_fraction(a, b, x) / a)
    return 1 - min(1.0, front * _beta_fraction(b, a, y) / b)


def beta_quantile(a: float, b: float, p: float) -> float:
    """The x with P(X <= x) = p, X beta with the parameters a and b."""
    if a + b > _MANY_TRIES:
        from scipy.special import betaincinv  # noqa: PLC0415 - slow to import, for large numbers

        return float(betaincinv(a, b, p))
    low, x, high = 0.0, a / (a + b), 1.0
    front = lgamma(a + b) - lgamma(a) - lgamma(b)
    for _ in range(200):
        beyond = beta_cdf(a, b, x, 1 - x) - p
        low, high = (low, x) if beyond > 0 else (x, high)
        density = exp(front + (a - 1) * log(x) + (b - 1) * log1p(-x))
        following = x - beyond / density if density > 0 else low
        # Newton's step, but halving where it leaves what still can be.
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - x) <= _PRECISION * x:
            break
        x = following
    return x


def f_tail(f: float, df1: float, df2: float) -> float:
    """P(F >= f), F with df1 degrees of freedom over df2."""
    total = df2 + df1 * f
    share = df1 * f / total if isfinite(total) else 1.0
    return nan if isnan(f) else beta_cdf(df2 / 2, df1 / 2, df2 / total, share)


def f_quantile(p: float, df1: float, df2: float) -> float:
    """The f with P(F <= f) = p, for p in the upper half."""
    x = beta_quantile(df2 / 2, df1 / 2, 1 - p)
    return df2 * (1 - x) / (df1 * x)


def require_whole(**values: object) -> tuple[int, ...]:
    """Counts as Python integers, whether they arrive as 3, as 3.0 or as numpy's 3."""
    counts = []
    for name, value in values.items():
        if isinstance(value, Integral):
            counts.append(index(value))
        # numpy and pandas hand over counts as floats.
        elif isinstance(value, Real) and float(value).is_integer():
            counts.append(int(float(value)))
        else:
            raise ValueError(f"{name} is {value}; a count is a whole number")
    return tuple(counts)


def require(**values: object) -> tuple[float, ...]:
    """Numbers as Python floats, none missing or infinite."""
    numbers = []
    for name, value in values.items():
        if not (isinstance(value, Real) and isfinite(value)):
            raise ValueError(f"{name} is {value}; give a number")
        numbers.append(float(value))
    return tuple(numbers)


_MANY_DF = 1000
_MANY_TRIES = 500
_TINY = 1e-300
_PRECISION = 1e-15


def _t_tail(t: float, df: float) -> float:
    """P(|T| >= t)."""
    total = df + t * t
    return beta_cdf(df / 2, 0.5, df / total, t * t / total) if isfinite(total) else 0.0


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    c, d = 1.0, 1.0 / ((1 - (a + b) * x / (a + 1)) or _TINY)
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / ((1 + term * d) or _TINY)
            c = (1 + term / c) or _TINY
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value
