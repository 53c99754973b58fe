"""One bias of a judge at a time, as an effect with its interval and a plain verdict."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Literal

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Estimate, cluster_means, observed
from judgekit.stats.known import is_missing
from judgekit.stats.paired import PairedDifference, paired_difference
from judgekit.stats.quantiles import SLACK, sign_p_values, t_p_value
from judgekit.stats.rates import RateDifference, difference_of_proportions
from judgekit.stats.scale_use import (
    Granularity,
    LengthSlope,
    ScaleUse,
    granularity,
    length_slope,
    scale_use,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = [
    "BiasVerdict",
    "Granularity",
    "LengthSlope",
    "PerturbationEffect",
    "PositionBias",
    "ScaleUse",
    "bias_verdict",
    "granularity",
    "length_slope",
    "perturbation_effect",
    "position_bias",
    "scale_use",
    "self_preference",
]

BiasVerdict = Literal["biased", "negligible", "inconclusive"]

_POINTS = {"first": 1.0, "tie": 0.5, "second": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias(Estimate):
    """How much a pairwise judge favours the answer shown first."""

    both_first: int
    """Pairs of which it chose the first slot in both orders."""

    both_second: int
    """Pairs of which it chose the second slot in both orders."""

    p_value: float
    """Exact sign test of these two; 1 where there is neither."""

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
    """`biased`, `negligible` or `inconclusive`."""

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
        ValueError: When lengths differ or a choice is none of the three.
        NotEnoughDataError: When no pair was judged in both orders.
    """
    if len(ab) != len(ba):
        raise ValueError(f"{len(ab)} choices in one order, but {len(ba)} in the other")
    sides = [(_points(first), _points(second)) for first, second in zip(ab, ba, strict=True)]
    known = [(x, y) for x, y in sides if not (isnan(x) or isnan(y))]
    if not known:
        raise NotEnoughDataError("no pair was judged in both orders")
    leaning = [(x + y - 1) / 2 for x, y in sides]
    found = paired_difference([0.0] * len(sides), leaning, step=0.5, clusters=clusters, level=level)
    both_first, both_second = (known.count((s, s)) for s in (1.0, 0.0))
    return PositionBias(
        value=found.value,
        low=found.low,
        high=found.high,
        level=level,
        n=found.n,
        n_missing=len(sides) - len(known),
        method=found.method,
        se=found.se,
        df=found.df,
        n_clusters=found.n_clusters,
        n_observations=len(known),
        reason=found.reason,
        both_first=both_first,
        both_second=both_second,
        p_value=sign_p_values(both_first, both_second)[0],
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
    2017). To look at several probes adjust their p-values by `multiplicity.adjust`.

    Args:
        original: Scores without the attribute; None and nan are missing.
        perturbed: Scores with it, in the order of `original`.
        threshold: Score from which an item passes; None where nothing passes or fails.
        margin: The largest effect that does not matter, more than 0; a quarter step without.
        step: One step of the scale.
        clusters: The case of each pair; a case counts once.
        level: Confidence level in (0, 1).

    Returns:
        The effect, above 0 where the attribute raises the score; and its verdict.

    Raises:
        ValueError: When lengths differ, or the margin or step is not positive.
        NotEnoughDataError: When no item has both scores.
    """
    limit = step / 4 if margin is None else margin
    if not limit > 0:
        raise ValueError(f"margin is {margin}; it is more than 0")
    found = paired_difference(original, perturbed, step=step, clusters=clusters, level=level)
    names = range(len(original)) if clusters is None else clusters
    sides = [cluster_means(*observed(x, names)) for x in (original, perturbed)]
    both = [(sides[0][name], sides[1][name]) for name in sides[0] if name in sides[1]]
    up, down = _flips(both, threshold)
    varies = found.sd > SLACK
    return PerturbationEffect(
        value=found.value,
        low=found.low,
        high=found.high,
        level=level,
        n=found.n,
        n_missing=found.n_missing,
        method=found.method,
        se=found.se,
        df=found.df,
        n_clusters=found.n_clusters,
        reason=found.reason,
        note=found.note,
        dz=found.value / found.sd if varies else nan,
        p_value=found.p_value,
        flips_up=up,
        flips_down=down,
        flip_rate=nan if threshold is None else (up + down) / found.n,
        p_flip=nan if threshold is None else sign_p_values(up, down)[0],
        p_equivalence=_tost(found, limit) if varies else nan,
        verdict=bias_verdict(found, limit),
        margin=limit,
    )


def bias_verdict(effect: Estimate, margin: float) -> BiasVerdict:
    """What the interval of a bias allows one to say.

    Args:
        effect: The bias; 0 is none.
        margin: The largest bias that does not matter, more than 0.

    Returns:
        `biased` when the interval leaves out 0 and either the effect is a margin or more, or the
        whole interval is beyond it; `negligible` when it lies inside +-margin; else
        `inconclusive`.

    Raises:
        ValueError: When the margin is not positive.
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

    Raises:
        ValueError: When a count is out of its range.
    """
    return difference_of_proportions(own_kept, own_total, other_kept, other_total, level=level)


def _points(choice: str | None) -> float:
    if is_missing(choice) or choice is None:
        return nan
    if choice not in _POINTS:
        raise ValueError(f"{choice!r} is no choice; known: first, second, tie")
    return _POINTS[choice]


def _flips(both: Sequence[tuple[float, float]], threshold: float | None) -> tuple[int, int]:
    if threshold is None:
        return 0, 0
    passed = [(x >= threshold - SLACK, y >= threshold - SLACK) for x, y in both]
    return passed.count((False, True)), passed.count((True, False))


def _tost(found: PairedDifference, margin: float) -> float:
    """The larger p of two one-sided t tests."""
    se = found.sd / sqrt(found.n)
    return max(_upper_p((side * found.value + margin) / se, found.n - 1) for side in (1, -1))


def _upper_p(t: float, df: float) -> float:
    both = t_p_value(t, df)
    return both / 2 if t > 0 else 1 - both / 2
