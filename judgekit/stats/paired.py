"""Two variants on the same items: difference of means, change of a pass rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.stats.arguments import given, whole
from judgekit.stats.estimate import Estimate, cluster_means, observed, standard_deviation
from judgekit.stats.quantiles import (
    SLACK,
    check_level,
    normal_quantile,
    sign_p_values,
    t_p_value,
    t_quantile,
)
from judgekit.stats.win_rates import (
    WinRate,
    clustered_win_rate,
    prob_superior,
    win_rate,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = [
    "PairedDifference",
    "PairedProportions",
    "WinRate",
    "clustered_win_rate",
    "paired_difference",
    "paired_proportions",
    "pass_rate_difference",
    "prob_superior",
    "win_rate",
]

_SIGN_FLIP_BELOW = 15
"""With fewer items every flip of signs is tried: 2^14 of them at most."""


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
        """The p to decide by: mid-p."""
        return self.p_mid


def paired_difference(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    step: float = 1.0,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> PairedDifference:
    """The mean of B - A over the same items; its interval never has width 0.

    Half a pseudo-item at +step and half at -step are added before the t interval is taken:
    `m = sum d / (n+1)`, `s^2 = (sum d^2 + step^2 - (n+1) m^2) / n`, `m +- t(n-1) s / sqrt(n+1)`.
    Twenty equal pairs so do not claim certainty. The p is that of the paired t test, or below 15
    items of all flips of signs (Fisher 1935). Repeats are averaged within their case first.

    Args:
        a: Scores of the first variant; nan and None are missing.
        b: Scores of the second, in the order of `a`.
        step: One step of the scale, more than 0: 1 for ratings 1-5 and for pass/fail.
        clusters: The case of each pair; a case counts once, with its mean on each side.
        level: Confidence level in (0, 1).

    Returns:
        The difference; `n` counts cases that have both sides, `n_missing` the pairs that lack
        one. With one case the interval is nan.

    Raises:
        ValueError: When lengths differ, the step is not positive, or a score is infinite.
        NotEnoughDataError: When no item has both sides.
    """
    check_level(level)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} scores of A, but {len(b)} of B")
    (step,) = given(step=step)
    if not step > 0:
        raise ValueError(f"step is {step}; a step of the scale is more than 0")
    names: Sequence[Hashable] = range(len(a)) if clusters is None else clusters
    of_a, of_b = cluster_means(*observed(a, names)), cluster_means(*observed(b, names))
    items = [name for name in of_a if name in of_b]
    if not items:
        raise NotEnoughDataError("no item has a score of both variants")
    sides = [of_a[name] for name in items], [of_b[name] for name in items]
    d = _differences(*sides)
    n, value, sd = len(d), fsum(d) / len(d), standard_deviation(d)
    low, high, se = _pseudo_pair_interval(d, step, level)
    apart = standard_deviation(sides[0]) ** 2 + standard_deviation(sides[1]) ** 2
    p_value, p_method = _difference_p(d)
    return PairedDifference(
        value=value,
        low=min(low, value),
        high=max(high, value),
        level=level,
        n=n,
        n_missing=sum(_missing(x) or _missing(y) for x, y in zip(a, b, strict=True)),
        method="t with half pseudo-items" + ("" if clusters is None else ", clustered"),
        se=se,
        df=n - 1,
        n_clusters=None if clusters is None else n,
        sd=sd,
        p_value=p_value,
        p_method=p_method,
        pairing_gain=1 - sd * sd / apart if apart > 0 else nan,
        reason="one item only" if n == 1 else None,
        note=None if any(d) else "no item differs: p is undefined",
    )


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

    Returns:
        The change and its tests.

    Raises:
        ValueError: When a count is negative.
        NotEnoughDataError: When there is no case.
    """
    both, only_a, only_b, neither = whole(both=both, only_a=only_a, only_b=only_b, neither=neither)
    z, n = normal_quantile(level), both + only_a + only_b + neither
    if min(both, only_a, only_b, neither) < 0:
        raise ValueError("a count of cases is negative")
    if n == 0:
        raise NotEnoughDataError("no case was given to both variants")
    a, b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    se = sqrt((a + b - (a - b) ** 2) / (n + 2))
    exact, mid = sign_p_values(only_a, only_b)
    from scipy.special import betainc  # noqa: PLC0415 - half a second, only where it is needed

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
        p_b_better=1 - float(betainc(only_b + 1, only_a + 1, 0.5)),
    )


def pass_rate_difference(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> PairedProportions | PairedDifference:
    """Change of a pass rate, B - A, from the outcomes themselves.

    Args:
        a: Outcomes of A: 1 (passed), 0 (did not) or missing (nan, None).
        b: Outcomes of B, in the order of `a`.
        clusters: The case of each pair; without, each pair is a case of its own.
        level: Confidence level in (0, 1).

    Returns:
        `paired_proportions` where every case has one pair, else `paired_difference` of the
        cases' pass rates with a step of 1.

    Raises:
        ValueError: When lengths differ or an outcome is neither 0 nor 1.
        NotEnoughDataError: When no case has an outcome of both.
    """
    if len(a) != len(b) or (clusters is not None and len(clusters) != len(a)):
        raise ValueError(f"{len(a)} outcomes of A and {len(b)} of B; each pair needs its case")
    if any(not _missing(v) and v not in (0, 1) for v in [*a, *b]):
        raise ValueError("an outcome is neither 0 nor 1")
    if clusters is not None and len(set(clusters)) < len(clusters):
        return paired_difference(a, b, clusters=clusters, level=level)
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (_missing(x) or _missing(y))]
    counts = [sum(pair == kind for pair in pairs) for kind in ((1, 1), (1, 0), (0, 1), (0, 0))]
    found = paired_proportions(*counts, level=level)
    return replace(found, n_missing=len(a) - len(pairs))


def _differences(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """B - A; what is only rounding of floats is no difference."""
    return [0.0 if abs(y - x) <= SLACK else y - x for x, y in zip(a, b, strict=True)]


def _missing(value: float | None) -> bool:
    return value is None or isnan(value)


def _pseudo_pair_interval(
    d: Sequence[float], step: float, level: float
) -> tuple[float, float, float]:
    n = len(d)
    if n == 1:
        return nan, nan, nan
    centre = fsum(d) / (n + 1)
    variance = (fsum(v * v for v in d) + step * step - (n + 1) * centre * centre) / n
    se = sqrt(variance / (n + 1))
    half = t_quantile(level, n - 1) * se
    return centre - half, centre + half, se


def _difference_p(d: Sequence[float]) -> tuple[float, str]:
    if not any(d):
        return nan, "none"
    if len(d) < _SIGN_FLIP_BELOW:
        return _sign_flip_p(d), "sign-flip"
    sd = standard_deviation(d)
    if sd <= SLACK * abs(d[0]):  # all differ alike: t is infinite, the flips are not fooled
        return 2.0 ** (1 - len(d)), "sign-flip"
    return t_p_value(fsum(d) / len(d) / (sd / sqrt(len(d))), len(d) - 1), "t"


def _sign_flip_p(d: Sequence[float]) -> float:
    """The share of all 2^n flips of signs whose sum is at least as far from 0."""
    import numpy as np  # noqa: PLC0415 - only small samples need it

    sums = np.zeros(1)
    for value in d:
        sums = np.concatenate([sums + value, sums - value])
    reached = abs(fsum(d)) - SLACK * max(abs(value) for value in d)
    return float(np.mean(np.abs(sums) >= reached))
