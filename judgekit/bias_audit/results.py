"""The result of an audit: effects with intervals and verdicts, and how they are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, fsum, isnan
from typing import TYPE_CHECKING, Literal

from judgekit import records
from judgekit.errors import NotEnoughDataError
from judgekit.presentable import Presentable
from judgekit.stats.estimate import Estimate, cluster_means, known_observations, undefined_estimate
from judgekit.stats.intervals import clustered_proportion, effective_n
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import VALUE_STEP, PairedDifference, paired_difference
from judgekit.stats.quantiles import beta_cdf, t_p_value

if TYPE_CHECKING:
    from judgekit.evaluation import JudgeUsage

EffectVerdict = Literal["none_seen", "small", "material", "cannot_say"]
"""`none_seen`: the interval includes 0 and no material effect; `small`: not 0, but not material;
`material`; `cannot_say`: the interval is too wide for any of these."""

ProbeStatus = Literal["done", "skipped", "incomplete"]
"""`done`; `skipped` with a reason, without calls; `incomplete`: interrupted, or out of budget."""

EffectScale = Literal["value", "lean", "rate"]
"""The unit of an effect: a shift of the value on [0, 1]; the distance of a choice from one half, at
most 0.5; or how often something happens."""

Harm = Literal["either", "up"]
"""The direction that is a bias: either, or only up, where a judge may lower the score."""

Counts = dict[str, float | str]
"""Further figures of a probe, by their description."""

# Half pseudo-items are this far from 0: one order out of two of a preference, and a twentieth of
# the scale for a shift of values. A t interval can exceed what the scale allows, the second number.
_STEPS: dict[EffectScale, tuple[float, float]] = {"value": (VALUE_STEP, 1.0), "lean": (0.5, 0.5)}

_MOST_CASES = 1_000_000
_NO_CASE = "no case has both answers"


@dataclass(frozen=True, slots=True)
class Margins:
    """The smallest effects that matter.

    Attributes:
        value: A shift of the value on [0, 1]: five points of a hundred.
        share: A share of cases, or the distance of a preference from one half.
    """

    value: float = 0.05
    share: float = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The effect of something that should not matter; a case counts once.

    Attributes:
        margin: The size from which it is material.
        verdict: The conclusion that the interval supports; None for a figure that decides nothing
            alone.
        p: The p-value of no effect, by the t of the interval; one-sided if only a rise is a bias.
            For a rate the exact p-value of at most the margin. None without a verdict or an
            interval.
        p_adjusted: The same after Holm's adjustment over all effects and parts of the audit that
            have a p.
        n_to_tell: About how many cases would decide an inconclusive effect; None if unknown.
    """

    name: str
    estimate: Estimate
    scale: EffectScale
    margin: float
    verdict: EffectVerdict | None
    p: float | None = None
    p_adjusted: float | None = None
    n_to_tell: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of one probe, with the reason why it was skipped or is incomplete.

    Attributes:
        parts: The effects for each kind of attack, with simultaneous intervals (Bonferroni). A kind
            that was tried a few times is rarely conclusive.
        n_left_out: Outputs that the probe does not apply to.
        n_failed: Questions without a complete usable answer; they are counted and excluded.
        n_asked: Its questions that were asked, including those shared with other probes.
    """

    name: str
    question: str
    status: ProbeStatus
    reason: str | None = None
    effects: tuple[Effect, ...] = ()
    parts: tuple[Effect, ...] = ()
    counts: Counts = field(default_factory=dict)
    n_cases: int = 0
    n_left_out: int = 0
    n_failed: int = 0
    n_asked: int = 0

    @property
    def verdict(self) -> EffectVerdict | None:
        """The most serious verdict of its effects; None without any."""
        # A part counts if it is material, or if there is no effect over all parts.
        verdicts = {effect.verdict for effect in self.effects or self.parts}
        verdicts |= {part.verdict for part in self.parts if part.verdict == "material"}
        order: tuple[EffectVerdict, ...] = ("material", "cannot_say", "small", "none_seen")
        return next((verdict for verdict in order if verdict in verdicts), None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit(Presentable):
    """The results of all probes of an audit.

    Attributes:
        judge: Model and template.
        pair_judge: Model and template for comparisons of two outputs.
        models: The models that answered, as the providers name them.
        seed: Seed of every random choice.
        level: Confidence level of the intervals.
        probes: In the order they ran.
        failures: Questions without a usable answer, by kind.
        failure_messages: The first message of each kind.
        spent: Calls and money.
    """

    judge: str
    pair_judge: str
    models: tuple[str, ...]
    rubric: str
    rubric_fingerprint: str
    n_cases: int
    n_outputs: int
    seed: int
    level: float
    probes: tuple[ProbeResult, ...]
    failures: Mapping[str, int]
    failure_messages: Mapping[str, str]
    spent: JudgeUsage

    @property
    def is_complete(self) -> bool:
        """Whether every probe that started is finished, and every question was answered."""
        return not self.failures and all(one.status != "incomplete" for one in self.probes)

    @property
    def found_material(self) -> tuple[str, ...]:
        """The probes that found a material bias."""
        return tuple(one.name for one in self.probes if one.verdict == "material")


def shift_effect(
    name: str,
    before: Sequence[float | None],
    after: Sequence[float | None],
    *,
    cases: Sequence[str],
    margin: float,
    scale: EffectScale = "value",
    harm: Harm = "either",
    level: float = 0.95,
    best: float | None = None,
) -> Effect:
    step, most = _STEPS[scale]
    try:
        shift = paired_difference(before, after, step=step, clusters=cases, level=level)
    except NotEnoughDataError:
        return _undefined(name, scale, margin, n_missing=len(before), level=level)
    # nan stays nan in this order of arguments.
    shift = replace(shift, low=max(shift.low, -most), high=min(shift.high, most))
    verdict = signed_verdict(shift, margin, harm)
    note = "it lowers the score, which is no bias" if harm == "up" and shift.high < 0 else None
    saturated = None if best is None else _cannot_rise(before, after, best)
    # Scores at the top cannot show an effect, so that its absence is no finding.
    if saturated is not None and verdict in {"none_seen", "small"}:
        verdict, note = "cannot_say", saturated
    return Effect(
        name=name,
        estimate=shift,
        scale=scale,
        margin=margin,
        verdict=verdict,
        p=_p(shift, harm),
        n_to_tell=_n_to_tell(shift, margin, harm)
        if verdict == "cannot_say" and note is None
        else None,
        note=note,
    )


def share_effect(
    name: str,
    outcomes: Sequence[float | None],
    *,
    cases: Sequence[str],
    margin: float,
    decides: bool = True,
    level: float = 0.95,
) -> Effect:
    """How often something happens that should not: the mean of the cases' own shares."""
    try:
        rate = clustered_proportion(outcomes, cases, level=level)
    except NotEnoughDataError:
        unknown = _undefined(name, "rate", margin, n_missing=len(outcomes), level=level)
        return unknown if decides else replace(unknown, verdict=None)
    verdict = share_verdict(rate, margin) if decides else None
    return Effect(
        name=name,
        estimate=rate,
        scale="rate",
        margin=margin,
        verdict=verdict,
        p=_share_p(outcomes, cases, margin) if decides else None,
        n_to_tell=_n_to_tell(rate, margin, "up") if verdict == "cannot_say" else None,
    )


def signed_verdict(estimate: Estimate, margin: float, harm: Harm = "either") -> EffectVerdict:
    low, high, value = estimate.low, estimate.high, estimate.value
    if isnan(low):
        return "cannot_say"
    if harm == "up":
        if high < margin:
            return "small" if low > 0 else "none_seen"
        return "material" if low > 0 and value >= margin - records.VALUE_TOLERANCE else "cannot_say"
    excludes_zero = low > 0 or high < 0
    if -margin < low and high < margin:
        return "small" if excludes_zero else "none_seen"
    return (
        "material"
        if excludes_zero and abs(value) >= margin - records.VALUE_TOLERANCE
        else "cannot_say"
    )


def share_verdict(estimate: Estimate, margin: float) -> EffectVerdict:
    if isnan(estimate.low):
        return "cannot_say"
    if estimate.high < margin:
        return "small" if estimate.value > 0 else "none_seen"
    return "material" if estimate.low >= margin else "cannot_say"


def adjust_p_values(probes: Sequence[ProbeResult], *, level: float) -> tuple[ProbeResult, ...]:
    """The probes with p-values adjusted for the number of effects (Holm 1979)."""
    # An effect or a part is material only if its adjusted p is significant too: of twenty 95 %
    # intervals on an unbiased judge one excludes 0 by chance. An effect in which no case differs
    # counts as a test; a figure without a verdict does not. In simulated audits of honest judges
    # (500 each, with 12 to 60 cases, stable or not) at most 2.6 % report anything as material, see
    # `docs/auditing.md`.
    tests = [effect.p for probe in probes for effect in (*probe.effects, *probe.parts)]
    adjusted = iter(adjust(tests, "holm").value)
    n = sum(p is not None for p in tests)

    def with_verdict(effect: Effect) -> Effect:
        p = next(adjusted)
        if isnan(p):
            return effect
        if effect.verdict != "material" or p <= 1 - level:
            return replace(effect, p_adjusted=p)
        note = f"not significant after Holm's adjustment for {n} tests (p {p:.2f})"
        return replace(effect, p_adjusted=p, verdict="cannot_say", note=note)

    return tuple(
        replace(
            probe,
            effects=tuple(map(with_verdict, probe.effects)),
            parts=tuple(map(with_verdict, probe.parts)),
        )
        for probe in probes
    )


def _share_p(outcomes: Sequence[float | None], cases: Sequence[str], margin: float) -> float | None:
    """The exact p-value of a share of at most the margin, for the effective number of trials."""
    # Clopper and Pearson's, because Wilson's interval for ten cases lies above a true 10 % in 7 %.
    known, names = known_observations(outcomes, cases)
    shares = list(cluster_means(known, names).values())
    trials = effective_n(shares, most=len(known))
    successes = trials * fsum(shares) / len(shares)
    if successes <= 0:
        return 1.0
    return beta_cdf(successes, trials - successes + 1, margin, 1 - margin)


def _p(shift: PairedDifference, harm: Harm) -> float | None:
    """The p-value by the t of the interval, one-sided if only a rise is a bias."""
    # With as few cases as an audit can have, an exact test could reject nothing after adjustment.
    if isnan(shift.low):
        return None
    t = shift.value * shift.n / (shift.n + 1) / shift.se
    p = t_p_value(t, shift.df)
    if harm == "either":
        return p
    return p / 2 if t > 0 else 1 - p / 2


def _cannot_rise(
    before: Sequence[float | None], after: Sequence[float | None], best: float
) -> str | None:
    """A note if most answers have the best value already."""
    known = [x for x, y in zip(before, after, strict=True) if x is not None and y is not None]
    n_best = sum(x >= best - records.VALUE_TOLERANCE for x in known)
    if 2 * n_best <= len(known):
        return None
    return f"{n_best} of {len(known)} have the best value without it and cannot rise"


def _undefined(
    name: str, scale: EffectScale, margin: float, *, n_missing: int, level: float
) -> Effect:
    undefined = undefined_estimate(_NO_CASE, n=0, method="none", level=level)
    estimate = replace(undefined, n_missing=n_missing)
    return Effect(name=name, estimate=estimate, scale=scale, margin=margin, verdict="cannot_say")


def _n_to_tell(estimate: Estimate, margin: float, harm: Harm) -> int | None:
    """About how many cases would decide, if the effect has the estimated size."""
    # An interval shrinks with the root of the number of cases. Its half-width has to be smaller
    # than the distance of the effect from the margin, or of a material effect from 0.
    half = (estimate.high - estimate.low) / 2
    size = estimate.value if harm == "up" else abs(estimate.value)
    gap = max(abs(margin - size), size if size >= margin else 0.0)
    if isnan(half) or gap <= 0:
        return None
    needed = ceil(estimate.n * (half / gap) ** 2)
    # An effect at the margin would need more cases than anybody has.
    return max(estimate.n + 1, needed) if needed <= _MOST_CASES else None
