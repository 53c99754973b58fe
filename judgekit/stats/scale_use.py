"""How a judge uses its scale: what length is worth, how much of the range, how many levels."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, fsum, log, nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate
from judgekit.stats.known import DIGITS, cluster_codes, floats, known_clusters, known_pairs
from judgekit.stats.quantiles import SLACK, check_level, t_p_value, t_quantile
from judgekit.stats.result import Result

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

_FLAT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthSlope(Estimate):
    """Points a judge gives for a doubling of length, at equal human score."""

    p_value: float
    """Two-sided p against none."""

    raw_slope: float
    """The same without regard to the human score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleUse(Estimate):
    """How much of the scale a judge uses, against humans."""

    correlation: float
    """Pearson's r of judge and human."""

    p_value: float
    """Two-sided p against equal spread (Pitman-Morgan)."""

    @property
    def sd_ratio(self) -> float:
        """sd(judge) / sd(human): below 1 where the judge keeps to the middle."""
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Granularity(Result):
    """How many levels of its scale a judge really uses."""

    effective_levels: float
    """exp(entropy) of the scores: so many levels used evenly would be as varied."""

    n_distinct: int
    """Distinct scores."""

    modal_share: float
    """Share of the commonest score."""

    unused: tuple[float, ...]
    """Levels of the scale never given."""

    round_share: float
    """Share of scores that are multiples of 5; on scales of 10 points or less, nan."""

    n: int
    """Scores."""

    n_missing: int
    """Scores that are missing."""


def length_slope(
    judge: Sequence[float | None],
    human: Sequence[float | None],
    length: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> LengthSlope:
    """Points a judge gives for a doubling of length, at equal human score.

    Least squares of the judge's score on log2(length) and the human score, with errors that allow
    unequal variances (HC3: MacKinnon & White 1985) and t(n - 3); with clusters, sums of cases
    (Cameron & Miller 2015) and t(G - 1). Observational: humans may also prefer length for reasons
    their score does not show.

    Args:
        judge: Judge scores; None and nan are missing.
        human: Human scores, in the order of `judge`.
        length: Lengths, more than 0, in any unit.
        clusters: The case of each output.
        level: Confidence level in (0, 1).

    Returns:
        The slope.

    Raises:
        ValueError: When lengths differ or a length is not positive.
        NotEnoughDataError: When fewer than four outputs are known, or length or human score do
            not vary apart.
    """
    check_level(level)
    if not len(judge) == len(human) == len(length):
        raise ValueError("judge scores, human scores and lengths are not equally many")
    table = floats([judge, human, length])
    known = ~np.isnan(table).any(axis=0)
    y, people, words = table[:, known]
    if not (words > 0).all():
        raise ValueError("a length is not more than 0")
    n = len(y)
    if n < 4:  # noqa: PLR2004 - three coefficients and a residual
        raise NotEnoughDataError(f"{n} outputs with all three numbers; four are needed")
    doublings = np.log2(words)
    design = np.column_stack([np.ones(n), doublings - doublings.mean(), people - people.mean()])
    scaled = design / np.maximum(np.abs(design).max(axis=0), _FLAT)
    if np.linalg.matrix_rank(scaled, tol=_FLAT * n) < design.shape[1]:
        raise NotEnoughDataError("length and human score do not vary apart from each other")
    codes = None
    if clusters is not None:
        codes = cluster_codes(clusters, np.flatnonzero(known).tolist())
    coef, variance, df = _robust_fit(design, y, codes)
    value, se = float(coef[1]), sqrt(max(0.0, float(variance[1, 1])))
    exact = not se > _FLAT
    half = nan if exact else t_quantile(level, df) * se
    plain = design[:, 1]
    return LengthSlope(
        value=value,
        low=value - half,
        high=value + half,
        level=level,
        n=n if codes is None else int(codes.max()) + 1,
        n_missing=int((~known).sum()),
        method="least squares, " + ("HC3" if codes is None else "clustered"),
        se=se,
        df=df,
        n_observations=n,
        reason="all scores lie on a plane: the spread cannot be seen" if exact else None,
        p_value=nan if exact else t_p_value(value / se, df),
        raw_slope=float((plain * y).sum() / (plain**2).sum()),
    )


def scale_use(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> ScaleUse:
    """How much of the scale a judge uses: sd(judge) / sd(human) over the same items.

    The test is the correlation of difference and sum (Pitman 1939; Morgan 1939); inverted, with w
    the ratio of variances and `K = 1 + 2 (1 - r^2) t^2 / (n-2)`, it gives the limits
    `sqrt(w (K -+ sqrt(K^2 - 1)))`. With clusters both rest on a jackknife of the ratio's logarithm
    that leaves out whole cases, with t(G - 1).

    Args:
        human: Human scores; None and nan are missing.
        judge: Judge scores, in the order of `human`.
        clusters: The case of each item.
        level: Confidence level in (0, 1).

    Returns:
        The ratio; nan where humans give one score only, no interval where the judge does, or
        where leaving a case out makes either so. `n` counts items, or cases.

    Raises:
        ValueError: When lengths differ.
        NotEnoughDataError: When fewer than three items have both scores.
    """
    check_level(level)
    x, y, n_missing = known_pairs(human, judge)
    n = len(x)
    if n < 3:  # noqa: PLR2004 - the test has n - 2 degrees of freedom
        raise NotEnoughDataError(f"{n} items with both scores; three are needed")
    sd_human, sd_judge = (0.0 if np.ptp(v) <= _FLAT else float(v.std(ddof=1)) for v in (x, y))
    value = sd_judge / sd_human if sd_human else nan
    r = float(np.corrcoef(x, y)[0, 1]) if sd_human and sd_judge else nan
    codes = known_clusters(clusters, human, judge)
    low = high = p_value = nan
    reason = "humans give one score only" if not sd_human else "the judge gives one score only"
    if sd_human and sd_judge and codes is not None:
        low, high, p_value = _clustered_ratio(x, y, codes, value, level)
        reason = "leaving one case out leaves no spread, or changes nothing"
    elif sd_human and sd_judge:
        k = 1 + 2 * max(0.0, 1 - r * r) * t_quantile(level, n - 2) ** 2 / (n - 2)
        low, high = (value * sqrt(k + sign * sqrt(k * k - 1)) for sign in (-1, 1))
        gap = sd_judge**2 - sd_human**2
        both = sqrt(max(0.0, (sd_judge**2 + sd_human**2) ** 2 - 4 * (r * sd_judge * sd_human) ** 2))
        tilt = gap / both if both > _FLAT else nan
        rest = 1 - tilt * tilt
        p_value = t_p_value(tilt * sqrt((n - 2) / rest), n - 2) if rest > _FLAT else nan
        reason = "judge and human lie on a line: the spread cannot be seen"
    if not high - low > _FLAT:
        low = high = p_value = nan
    return ScaleUse(
        value=value,
        low=low,
        high=high,
        level=level,
        n=n if codes is None else int(codes.max()) + 1,
        n_missing=n_missing,
        method="pitman-morgan" if codes is None else "jackknife over cases",
        df=n - 2 if codes is None else int(codes.max()),
        n_clusters=None if codes is None else int(codes.max()) + 1,
        n_observations=n,
        reason=None if low < high else reason,
        correlation=r,
        p_value=p_value,
    )


def granularity(scores: Sequence[float | None], scale: Sequence[float]) -> Granularity:
    """How many levels of its scale a judge really uses.

    Args:
        scores: Scores; None and nan are missing.
        scale: Levels of the scale, or its two ends.

    Returns:
        The measures.

    Raises:
        ValueError: When a score lies outside the scale.
        NotEnoughDataError: When there is no score.
    """
    known = np.round([s for s in floats(scores) if not np.isnan(s)], DIGITS)
    if len(known) == 0:
        raise NotEnoughDataError("no score to count")
    bottom, top = min(scale), max(scale)
    if known.min() < bottom - SLACK or known.max() > top + SLACK:
        raise ValueError(f"a score lies outside {bottom:g}..{top:g}")
    values, counts = np.unique(known, return_counts=True)
    share = (counts / len(known)).tolist()
    wide = top - bottom > 10  # noqa: PLR2004 - on short scales every fifth point is no habit
    return Granularity(
        effective_levels=exp(-fsum(p * log(p) for p in share)),
        n_distinct=len(values),
        modal_share=max(share),
        unused=tuple(y for y in scale if not (np.abs(values - y) <= SLACK).any()),
        round_share=float((np.abs(known / 5 - np.round(known / 5)) < SLACK).mean())
        if wide
        else nan,
        n=len(known),
        n_missing=len(scores) - len(known),
    )


def _clustered_ratio(
    x: np.ndarray, y: np.ndarray, codes: np.ndarray, value: float, level: float
) -> tuple[float, float, float]:
    """Ends and p of the ratio of spreads, from its logarithm without each case."""
    left = len(x) - np.bincount(codes)
    groups, logs = len(left), []
    for v in (x, y):
        centred = v - v.mean()
        first, second = (p.sum() - np.bincount(codes, p) for p in (centred, centred**2))
        spread = second - first**2 / np.maximum(left, 1)
        logs.append(np.log(np.where(spread > _FLAT * (centred**2).sum(), spread, nan)) / 2)
    without = logs[1] - logs[0]
    se = sqrt((groups - 1) / groups * float(((without - without.mean()) ** 2).sum()))
    if not se > _FLAT:
        return nan, nan, nan
    half = t_quantile(level, groups - 1) * se
    p_value = t_p_value(log(value) / se, groups - 1)
    return value * exp(-half), value * exp(half), p_value


def _robust_fit(
    design: np.ndarray, y: np.ndarray, codes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients, their covariance, and degrees of freedom."""
    n, k = design.shape
    bread = np.linalg.inv(design.T @ design)
    coef = bread @ design.T @ y
    rest = y - design @ coef
    if codes is None:
        leverage = np.einsum("ij,jk,ik->i", design, bread, design)
        score = design * (rest / np.maximum(1 - leverage, _FLAT))[:, None]
        return coef, bread @ score.T @ score @ bread, n - k
    totals = np.zeros((int(codes.max()) + 1, k))
    np.add.at(totals, codes, design * rest[:, None])
    groups = len(totals)
    factor = groups / (groups - 1) if groups > 1 else nan
    return coef, bread @ totals.T @ totals @ bread * factor, groups - 1
