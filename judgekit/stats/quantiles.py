"""Quantiles and tail probabilities of the normal, t and binomial distributions.

Checks of scalar arguments. scipy is imported on first use.
"""

from __future__ import annotations

from math import erfc, isfinite, isnan, nan, sqrt
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


def t_quantile(level: float, df: float) -> float:
    """The half-width, in standard errors, of a two-sided t interval."""
    check_level(level)
    if not df > 0:
        return nan
    from scipy.special import stdtrit  # noqa: PLC0415 - half a second, only where it is needed

    return float(stdtrit(df, (1 + level) / 2))


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
    from scipy.special import stdtr  # noqa: PLC0415 - half a second, only where it is needed

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
    from scipy.special import bdtr  # noqa: PLC0415 - half a second, only where it is needed

    # The mid-p counts half of what was observed: less conservative with few cases.
    below = float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    up_to = float(bdtr(fewer, n, 0.5))
    return min(1.0, 2 * up_to), min(1.0, up_to + below)


def require_whole(**values: object) -> tuple[int, ...]:
    """Counts as Python integers, whether they arrive as 3, as 3.0 or as numpy's 3."""
    return tuple(_require_whole(name, value) for name, value in values.items())


def require(**values: object) -> tuple[float, ...]:
    """Numbers as Python floats, none missing or infinite."""
    return tuple(_require_number(name, value) for name, value in values.items())


def _require_whole(name: str, value: object) -> int:
    if isinstance(value, Integral):
        return index(value)
    # numpy and pandas hand over counts as floats.
    if isinstance(value, Real) and float(value).is_integer():
        return int(float(value))
    raise ValueError(f"{name} is {value}; a count is a whole number")


def _require_number(name: str, value: object) -> float:
    if isinstance(value, Real) and isfinite(value):
        return float(value)
    raise ValueError(f"{name} is {value}; give a number")
