"""Wilcoxon's signed ranks: whether paired differences lean to one side, whatever their shape."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Figure
from judgekit.stats.quantiles import SLACK, normal_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXACT_UP_TO = 100
"""With more items the normal law is as good to three digits, and quicker."""


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
    """Wilcoxon's signed-rank test of B - A over the same items.

    Items that do not differ are left out, equal distances share their mean rank. Up to 100 items
    the p is exact, ties included: the share of all flips of signs whose rank sum lies at least as
    far from its mean; beyond, normal with the variance `sum r^2 / 4` and no continuity
    correction. The value is `(W+ - W-) / (W+ + W-)` (Kerby 2014): 1 where B is always higher.

    Args:
        a: Values of the first; nan and None are missing.
        b: Values of the second, in the order of `a`.

    Returns:
        The test and its effect; nan with a reason where no item differs.

    Raises:
        ValueError: When lengths differ.
        NotEnoughDataError: When no item has both values.

    References:
        Wilcoxon (1945), Individual comparisons by ranking methods.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values of A, but {len(b)} of B")
    known = [
        (float(x), float(y))
        for x, y in zip(a, b, strict=True)
        if x is not None and y is not None and not (isnan(x) or isnan(y))
    ]
    if not known:
        raise NotEnoughDataError("no item has a value of both")
    d = [y - x for x, y in known if abs(y - x) > SLACK]
    ranks = _ranks([abs(value) for value in d])
    w_plus = fsum(rank for rank, value in zip(ranks, d, strict=True) if value > 0)
    total = fsum(ranks)
    exact = len(d) <= _EXACT_UP_TO
    p_value = nan
    if d:
        p_value = _exact_p(ranks, w_plus) if exact else _normal_p(ranks, w_plus)
    return SignedRanks(
        value=(2 * w_plus - total) / total if d else nan,
        method="signed ranks, " + ("exact" if exact else "normal"),
        reason=None if d else "no item differs",
        p_value=p_value,
        w_plus=w_plus,
        n=len(known),
        n_zero=len(known) - len(d),
        n_missing=len(a) - len(known),
    )


def _ranks(distances: Sequence[float]) -> list[float]:
    """Ranks from 1; distances that are the same but for rounding share their mean."""
    order = sorted(range(len(distances)), key=distances.__getitem__)
    ranks = [0.0] * len(distances)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and distances[order[end]] - distances[order[start]] <= SLACK:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + 1 + end) / 2
        start = end
    return ranks


def _exact_p(ranks: Sequence[float], w_plus: float) -> float:
    """From the number of ways to each rank sum, in halves so that mean ranks are whole."""
    import numpy as np  # noqa: PLC0415 - only this function needs arrays

    doubled = [round(2 * rank) for rank in ranks]
    ways = np.zeros(sum(doubled) + 1)
    ways[0] = 1.0
    for step in doubled:
        ways[step:] = (ways[step:] + ways[: len(ways) - step]) / 2
        ways[:step] /= 2
    sums = np.arange(len(ways))
    off = abs(2 * round(2 * w_plus) - sum(doubled))
    return float(min(1.0, ways[np.abs(2 * sums - sum(doubled)) >= off].sum()))


def _normal_p(ranks: Sequence[float], w_plus: float) -> float:
    variance = fsum(rank * rank for rank in ranks) / 4
    return normal_p_value((w_plus - fsum(ranks) / 2) / sqrt(variance))
