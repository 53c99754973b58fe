"""Biases of a judge as effects with intervals.

Position, perturbation, self-preference, length, and use of the scale.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, fsum, isnan, log, nan, sqrt
from typing import Literal

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import (
    Counted,
    Estimate,
    by_place,
    carried,
    cluster_means,
    in_units,
    is_missing,
    jackknife_se,
)
from judgekit.stats.intervals import RateDifference, difference_of_proportions
from judgekit.stats.missing import (
    DIGITS,
    cluster_codes,
    clustered_pairs,
    count_units,
    known_columns,
    known_scores,
)
from judgekit.stats.paired import bounded_difference, paired_difference, paired_means
from judgekit.stats.paired_comparisons import sandwich
from judgekit.stats.quantiles import (
    SLACK,
    check_level,
    sign_p_values,
    t_p_value,
    t_quantile,
    upper_t_p_value,
)

BiasVerdict = Literal["biased", "negligible", "inconclusive"]
_POINTS = {"first": 1.0, "tie": 0.5, "second": 0.0}
_FLAT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias(Estimate):
    """How much a pairwise judge favours the answer shown first."""

    both_first: int
    """Pairs of which it chose the first slot in both orders."""

    both_second: int
    """Pairs of which it chose the second slot in both orders."""

    p_value: float
    """Exact sign test of these two, or of the cases that lean to either; 1 where there is none."""

    consistency: float
    """Share of pairs judged alike in both orders."""

    @property
    def bias(self) -> float:
        """Rate at which the first slot wins, less a half."""
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbationEffect(Estimate):
    """What an attribute that should not matter does to the score."""

    dz: float
    """The effect in standard deviations of the items' differences; nan where they are equal."""

    p_value: float
    """Two-sided p against no effect; nan where no item changes."""

    flips_up: int
    """Items that pass with the attribute only."""

    flips_down: int
    """Items that pass without it only."""

    flip_rate: float
    """Share of items whose verdict changes; nan without a threshold."""

    p_flip: float
    """Exact sign test of flips up against flips down; nan without a threshold."""

    p_equivalence: float
    """p against an effect of the margin or more (two one-sided t tests); nan where undefined."""

    verdict: BiasVerdict

    margin: float
    """The largest effect that does not matter."""


def position_bias(
    ab: Sequence[str | None],
    ba: Sequence[str | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> PositionBias:
    """How much a pairwise judge favours the answer shown first.

    With 1, 1/2, 0 for the first slot, a tie, the second, each pair gives
    `(s_ab + s_ba - 1) / 2`: which answer is better cancels out. The interval is that of
    `paired_difference` with a step of 1/2, so ten consistent pairs do not claim certainty.

    Args:
        ab: Choice with A shown first: `first`, `second`, `tie`, or None where it is missing.
        ba: Choice of the same pair with B shown first, by slot as well.
        clusters: The prompt of each pair.
        level: Confidence level in (0, 1).

    Returns:
        The bias, above 0 for the first slot.

    Raises:
        NotEnoughDataError: When no pair was judged in both orders.
    """
    if len(ab) != len(ba):
        raise ValueError(f"{len(ab)} choices in one order, but {len(ba)} in the other")
    sides = list(zip(map(_points, by_place(ab)), map(_points, by_place(ba)), strict=True))
    known = [(x, y) for x, y in sides if not (isnan(x) or isnan(y))]
    if not known:
        raise NotEnoughDataError("no pair was judged in both orders")
    leaning = [(x + y - 1) / 2 for x, y in sides]
    found = paired_difference([0.0] * len(sides), leaning, step=0.5, clusters=clusters, level=level)
    both_first, both_second = (known.count((s, s)) for s in (1.0, 0.0))
    # Repeats of a case err together: the test counts a case once, by what most of its pairs show.
    signs = [(side == (1.0, 1.0)) - (side == (0.0, 0.0)) for side in sides]
    names = range(len(sides)) if clusters is None else by_place(clusters)
    leans = cluster_means(signs, names).values()
    to_first, to_second = (sum(sign * lean > 0 for lean in leans) for sign in (1, -1))
    return PositionBias(
        **carried(
            bounded_difference(found, 0.5),
            n_missing=len(sides) - len(known),
            n_observations=len(known),
            note=None,
        ),
        both_first=both_first,
        both_second=both_second,
        p_value=sign_p_values(to_first, to_second)[0],
        consistency=sum(x == 1 - y for x, y in known) / len(known),
    )


def perturbation_effect(
    original: Sequence[float | None],
    perturbed: Sequence[float | None],
    *,
    threshold: float | None = None,
    margin: float | None = None,
    step: float = 1.0,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> PerturbationEffect:
    """What an attribute that should not matter (length, layout, a name) does to the score.

    The same content is scored without and with it; the effect is the mean difference with the
    interval of `paired_difference`. Equivalence by two one-sided t tests (Schuirmann 1987; Lakens
    2017). With several probes adjust their p-values by `multiplicity.adjust`.

    Args:
        original: Scores without the attribute; None and nan are missing.
        perturbed: Scores with it, in the order of `original`.
        threshold: Score from which an item passes; None where nothing passes or fails.
        margin: The largest effect that does not matter, more than 0; a quarter step without.
        step: One step of the scale, more than 0.
        clusters: The case of each pair; a case counts once.
        level: Confidence level in (0, 1).

    Returns:
        The effect, above 0 where the attribute raises the score; and its verdict.
    """
    limit = step / 4 if margin is None else margin
    if not limit > 0:
        raise ValueError(f"margin is {margin}; it is more than 0")
    found = paired_difference(original, perturbed, step=step, clusters=clusters, level=level)
    up = down = 0
    if threshold is not None:
        both = zip(*paired_means(original, perturbed, clusters), strict=True)
        passed = [tuple(x >= threshold - SLACK for x in pair) for pair in both]
        up, down = passed.count((False, True)), passed.count((True, False))
    p_equivalence = nan
    varies = found.sd > SLACK
    if varies:
        # The larger p of two one-sided t tests, with the standard error of the paired t test: that
        # of the interval has pseudo-items in it.
        ts = [(side * found.value + limit) / (found.sd / sqrt(found.n)) for side in (1, -1)]
        p_equivalence = max(upper_t_p_value(t, found.n - 1) for t in ts)
    return PerturbationEffect(
        **carried(found),
        dz=found.value / found.sd if varies else nan,
        p_value=found.p_value,
        flips_up=up,
        flips_down=down,
        flip_rate=nan if threshold is None else (up + down) / found.n,
        p_flip=nan if threshold is None else sign_p_values(up, down)[0],
        p_equivalence=p_equivalence,
        verdict=bias_verdict(found, limit),
        margin=limit,
    )


def bias_verdict(effect: Estimate, margin: float) -> BiasVerdict:
    """The conclusion that the interval of a bias allows; less than `margin` does not matter.

    `biased` when the interval leaves out 0 and the effect is a margin or more, `negligible` when it
    lies inside +-margin, else `inconclusive`.
    """
    if not margin > 0:
        raise ValueError(f"margin is {margin}; it is more than 0")
    if -margin < effect.low and effect.high < margin:
        return "negligible"
    if (effect.low > 0 or effect.high < 0) and abs(effect.value) >= margin - SLACK:
        return "biased"
    return "inconclusive"


def self_preference(
    own_kept: int, own_total: int, other_kept: int, other_total: int, *, level: float = 0.95
) -> RateDifference:
    """How much more faithfully a judge confirms humans' preference for its own answers.

    P(judge picks own | humans prefer own) less P(judge picks the other | humans prefer the
    other), with Newcombe's interval (equal opportunity: Wataoka et al. 2024).

    Args:
        own_kept: Pairs in which humans and judge prefer the judge's own answer.
        own_total: Pairs in which humans do.
        other_kept: Pairs in which humans and judge prefer the other answer.
        other_total: Pairs in which humans do.
        level: Confidence level in (0, 1).

    Returns:
        The difference, above 0 where the judge favours itself; nan where humans never prefer one.
    """
    return difference_of_proportions(own_kept, own_total, other_kept, other_total, level=level)


def _points(choice: str | None) -> float:
    if is_missing(choice) or choice is None:
        return nan
    if choice not in _POINTS:
        raise ValueError(f"{choice!r} is no choice; known: first, second, tie")
    return _POINTS[choice]


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthSlope(Estimate):
    """Points a judge gives for a doubling of length, at equal human score."""

    p_value: float
    """Two-sided p against none."""

    raw_slope: float
    """The same without regard to the human score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleUse(Estimate):
    """How much of the scale a judge uses, compared with humans."""

    correlation: float
    """Pearson's r of judge and human."""

    p_value: float
    """Two-sided p against equal spread (Pitman-Morgan)."""

    @property
    def sd_ratio(self) -> float:
        """sd(judge) / sd(human): below 1 where the judge keeps to the middle."""
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Granularity(Counted):
    """How many levels of its scale a judge uses."""

    effective_levels: float
    """exp(entropy) of the scores: so many levels used evenly would be as varied."""

    n_distinct: int

    modal_share: float
    """Share of the commonest score."""

    unused: tuple[float, ...]
    """Levels of the scale never given."""

    round_share: float
    """Share of scores that are multiples of 5; on scales of 10 points or less, nan."""


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

    Raises:
        NotEnoughDataError: When fewer than four outputs are known, or length or human score do
            not vary apart.
    """
    check_level(level)
    (y, quality, words), places = known_columns(judge, human, length)
    if not (words > 0).all():
        raise ValueError("a length is not more than 0")
    n = len(y)
    if n < 4:  # noqa: PLR2004 - three coefficients and a residual
        raise NotEnoughDataError(f"{n} outputs with all three numbers; four are needed")
    # Centred predictors leave the slopes as they are and keep the equations well conditioned. In
    # log2 the coefficient reads as points per doubling of the length.
    doublings = np.log2(words)
    design = np.column_stack([np.ones(n), doublings - doublings.mean(), quality - quality.mean()])
    # Rank is judged on scaled columns: scores of 0 to 1 beside ones of 0 to 100 are not collinear.
    scaled = design / np.maximum(np.abs(design).max(axis=0), _FLAT)
    if np.linalg.matrix_rank(scaled, tol=_FLAT * n) < design.shape[1]:
        raise NotEnoughDataError("length and human score do not vary apart from each other")
    codes = None if clusters is None else cluster_codes(clusters, places)
    coef, variance, df = _robust_fit(design, y, codes)
    # max returns a nan, as of one cluster, only where it is the first argument.
    value, se = float(coef[1]), sqrt(max(float(variance[1, 1]), 0.0))
    # Scores on a plane leave no residual: an interval of width 0 would claim certainty.
    exact = not se > _FLAT
    half = nan if exact else t_quantile(level, df) * se
    flat = "one cluster only" if not df else "all scores lie on a plane: the spread cannot be seen"
    method = "least squares, HC3" if codes is None else "least squares"
    plain = design[:, 1]
    return LengthSlope(
        value=value,
        low=value - half,
        high=value + half,
        level=level,
        **in_units(method, count_units(codes, n), clustered=codes is not None),
        n_missing=len(judge) - n,
        se=se,
        df=df,
        n_observations=n,
        reason=flat if exact else None,
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
        NotEnoughDataError: When fewer than three items have both scores.
    """
    check_level(level)
    x, y, codes, n_missing = clustered_pairs(human, judge, clusters)
    n = len(x)
    if n < 3:  # noqa: PLR2004 - the test has n - 2 degrees of freedom
        raise NotEnoughDataError(f"{n} items with both scores; three are needed")
    sd_human, sd_judge = (0.0 if np.ptp(v) <= _FLAT else float(v.std(ddof=1)) for v in (x, y))
    value = sd_judge / sd_human if sd_human else nan
    r = float(np.corrcoef(x, y)[0, 1]) if sd_human and sd_judge else nan
    units = count_units(codes, n)
    low = high = p_value = nan
    reason = "humans give one score only" if not sd_human else "the judge gives one score only"
    if sd_human and sd_judge and codes is not None:
        low, high, p_value = _clustered_ratio(x, y, codes, value, level)
        reason = "leaving one case out leaves no spread, or changes nothing"
    elif sd_human and sd_judge:
        # Pitman (1939) and Morgan (1939): the interval for the ratio of two correlated spreads.
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
        n=units,
        n_missing=n_missing,
        method="pitman-morgan" if codes is None else "jackknife over cases",
        df=n - 2 if codes is None else units - 1,
        n_clusters=None if codes is None else units,
        n_observations=n,
        reason=None if low < high else reason,
        correlation=r,
        p_value=p_value,
    )


def granularity(scores: Sequence[float | None], scale: Sequence[float]) -> Granularity:
    """How many levels of its scale (its levels, or its two ends) a judge uses."""
    known = np.round(known_scores(scores), DIGITS)
    if len(known) == 0:
        raise NotEnoughDataError("no score to count")
    bottom, top = min(scale), max(scale)
    if known.min() < bottom - SLACK or known.max() > top + SLACK:
        raise ValueError(f"a score lies outside {bottom:g}..{top:g}")
    values, counts = np.unique(known, return_counts=True)
    share = (counts / len(known)).tolist()
    wide = top - bottom > 10  # noqa: PLR2004 - on short scales every fifth point is no habit
    return Granularity(
        # exp of the entropy (Hill number of order 1): levels used alike often count fully.
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
        # Sums without each cluster come from totals less its own: n instead of n times clusters.
        first, second = (p.sum() - np.bincount(codes, p) for p in (centred, centred**2))
        spread = second - first**2 / np.maximum(left, 1)
        # Cancellation: a cluster that holds all the spread leaves a rounding error, not a variance.
        logs.append(np.log(np.where(spread > _FLAT * (centred**2).sum(), spread, nan)) / 2)
    # On the log scale, where a ratio is nearly normal and the interval cannot go below 0.
    se = jackknife_se(logs[1] - logs[0])
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
    gram = design.T @ design
    bread = np.linalg.inv(gram)
    coef = bread @ design.T @ y
    rest = y - design @ coef
    if codes is not None:
        score = design * rest[:, None]
        return coef, sandwich(gram, np.zeros((k, k)), score, codes), int(codes.max())
    # HC3 (MacKinnon & White 1985): residuals over 1 - leverage, which keeps the level in small
    # samples.
    leverage = np.einsum("ij,jk,ik->i", design, bread, design)
    score = design * (rest / np.maximum(1 - leverage, _FLAT))[:, None]
    return coef, sandwich(gram, score.T @ score), n - k
