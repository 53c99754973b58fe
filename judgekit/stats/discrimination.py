"""Whether confidence parts right from wrong answers."""

from __future__ import annotations

from math import atanh, isnan, nan, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np

from judgekit.stats.coefficient import Ends, jackknife_ends
from judgekit.stats.estimate import Estimate
from judgekit.stats.known import known_clusters, known_pairs, outcomes
from judgekit.stats.quantiles import check_level, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def auroc(
    confidence: Sequence[float | None],
    correct: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """The chance that a right item has more confidence than a wrong one, ties as half.

    The variance is that of DeLong, DeLong & Clarke-Pearson 1988, taken on Fisher's z of 2A - 1.
    With clusters it is that of a jackknife which leaves out whole cases, with t(G - 1): answers to
    one case are right or wrong together, and their pairs are no independent evidence.

    Args:
        confidence: Any scores that rise with confidence; None and nan are missing.
        correct: 1 or 0, in the order of `confidence`.
        clusters: The case of each item; without, each is a case of its own.
        level: Confidence level in (0, 1).

    Returns:
        The chance over all pairs of items; nan where all items are right, or all wrong; no
        interval at 0 and 1, nor where one case alone has what is right, or what is wrong. `n`
        counts items, or cases.

    Raises:
        ValueError: When lengths differ or an outcome is neither 0 nor 1.
    """
    check_level(level)
    p, y, n_missing = known_pairs(confidence, correct)
    y = outcomes(y)
    codes = known_clusters(clusters, confidence, correct)
    right, wrong = p[y == 1], p[y == 0]
    value = float(_share_below(right, wrong).mean()) if len(right) and len(wrong) else nan
    if codes is None:
        ends, se = _delong(right, wrong, value, level)
    else:
        ends, se = _without_cases(p, y, codes, level)
    return Estimate(
        value=value,
        low=ends.low,
        high=ends.high,
        level=level,
        n=len(p) if codes is None else int(codes.max(initial=-1)) + 1,
        n_missing=n_missing,
        method="delong, fisher z" if codes is None else "jackknife over cases, fisher z",
        se=se,
        n_clusters=None if codes is None else int(codes.max(initial=-1)) + 1,
        n_observations=len(p),
        reason=_no_area(value, len(right), len(wrong)) or ends.reason,
    )


def _delong(right: np.ndarray, wrong: np.ndarray, value: float, level: float) -> tuple[Ends, float]:
    if isnan(value):
        return Ends(nan, nan, None), nan
    beaten, beaten_by = _share_below(right, wrong), 1 - _share_below(wrong, right)
    parts = [(beaten, len(right)), (beaten_by, len(wrong))]
    se = sqrt(sum(float(v.var(ddof=1)) / n if n > 1 else nan for v, n in parts))
    if not se > 0 or not 0 < value < 1:
        return Ends(nan, nan, "too few items for a variance"), se
    half = normal_quantile(level) * 2 * se / (1 - (2 * value - 1) ** 2)
    low, high = (tanh(atanh(2 * value - 1) + sign * half) for sign in (-1, 1))
    return Ends((low + 1) / 2, (high + 1) / 2, None), se


def _without_cases(
    p: np.ndarray, y: np.ndarray, codes: np.ndarray, level: float
) -> tuple[Ends, float]:
    """The jackknife over cases, from how many pairs each item wins and each case has of its own."""
    is_right = y == 1
    n_right, n_wrong = int(is_right.sum()), int((~is_right).sum())
    if not (n_right and n_wrong):
        return Ends(nan, nan, None), nan
    won = np.where(
        is_right,
        _share_below(p, p[~is_right]) * n_wrong,
        (1 - _share_below(p, p[is_right])) * n_right,
    )
    total, by_case = float(won[is_right].sum()), np.bincount(codes, won)
    within = np.zeros(len(by_case))
    rights, wrongs = np.bincount(codes, is_right), np.bincount(codes, ~is_right)
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    for case in np.flatnonzero((rights > 0) & (wrongs > 0)):
        own = members[case]
        right, wrong = p[own][is_right[own]], p[own][~is_right[own]]
        within[case] = _share_below(right, wrong).sum() * len(wrong)
    pairs = (n_right - rights) * (n_wrong - wrongs)
    left = np.where(pairs > 0, (total - by_case + within) / np.where(pairs > 0, pairs, 1), nan)
    ends = jackknife_ends(
        2 * total / (n_right * n_wrong) - 1, 2 * left - 1, level=level, unit="case"
    )
    n = len(left)
    se = sqrt((n - 1) / n * float(((left - left.mean()) ** 2).sum()))
    return Ends((ends.low + 1) / 2, (ends.high + 1) / 2, ends.reason), se


def _share_below(x: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each x the share of others below it, ties as half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, x, "left") + np.searchsorted(ordered, x, "right")
    return np.asarray(below / (2 * len(others)))


def _no_area(value: float, n_right: int, n_wrong: int) -> str | None:
    if not (n_right and n_wrong):
        return f"{n_right} right and {n_wrong} wrong items: there is nothing to part"
    if not 0 < value < 1:
        return f"the chance is {value:g}: its spread cannot be seen in these data"
    return None
