"""The result of an audit: effects with intervals and verdicts, per probe.

How answers become effects.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil, fsum, isnan
from typing import TYPE_CHECKING, Literal

from judgekit.errors import NotEnoughDataError
from judgekit.records import VALUE_TOLERANCE
from judgekit.stats.estimate import cluster_means, known_observations, undefined_estimate
from judgekit.stats.intervals import clustered_proportion, effective_n
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import paired_difference
from judgekit.stats.quantiles import t_p_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.evaluation import JudgeUsage
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.paired import PairedDifference

EffectVerdict = Literal["none_seen", "small", "material", "cannot_say"]
"""`none_seen`: the interval holds 0 and nothing material; `small`: not 0, but surely not material;
`material`; `cannot_say`: the interval is too wide for any of these."""

ProbeStatus = Literal["done", "skipped", "incomplete"]
"""`done`; `skipped` with a reason, nothing was asked; `incomplete`: broken off, or out of money."""

EffectScale = Literal["value", "lean", "rate"]
"""What an effect is measured in: a shift of the value on [0, 1]; how far a choice is from one half,
at most 0.5; or how often something happens."""


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
    """The effect of something that should not matter.

    Attributes:
        name: What is measured, in a few words.
        estimate: The effect with its interval; a case counts once.
        scale: The unit of the effect.
        margin: The size from which it is material.
        verdict: The conclusion that the interval supports; None for a figure that decides nothing
            alone.
        p: The p-value of no effect, by the t of the interval; one-sided if only a rise is a bias.
            For a rate the exact p-value of at most the margin. None without a verdict or an
            interval.
        p_adjusted: The same after Holm's adjustment over all effects and parts of the audit that
            have a p.
        n_to_tell: About how many cases would decide an inconclusive effect; None if unknown.
        note: A caveat for the reader.
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
    """The result of one probe.

    Attributes:
        reason: Why it was skipped or is incomplete.
        parts: The same for each kind of attack, with simultaneous intervals (Bonferroni). A kind
            that was tried a few times is rarely conclusive.
        counts: Further figures by their description.
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
    counts: Mapping[str, float | int | str] = field(default_factory=dict)
    n_cases: int = 0
    n_left_out: int = 0
    n_failed: int = 0
    n_asked: int = 0

    @property
    def verdict(self) -> EffectVerdict | None:
        """The gravest of its effects' verdicts; None where none was measured."""
        # A part counts where it is material, and where nothing was measured on the whole.
        found = {effect.verdict for effect in self.effects or self.parts}
        found |= {part.verdict for part in self.parts if part.verdict == "material"}
        order: tuple[EffectVerdict, ...] = ("material", "cannot_say", "small", "none_seen")
        return next((verdict for verdict in order if verdict in found), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
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
        """Whether every probe that was begun came to its end, and every question was answered."""
        return not self.failures and all(one.status != "incomplete" for one in self.probes)

    @property
    def found_material(self) -> tuple[str, ...]:
        """The probes that found a material bias."""
        return tuple(one.name for one in self.probes if one.verdict == "material")


Harm = Literal["either", "up"]
"""Which direction is a bias: either, or only upwards, where a drop is a judge's good right."""

_VALUE_STEP = 0.05
"""Half pseudo-items of a shift of values stand this far from 0 (a twentieth of the scale)."""

SHARE_STEP = 0.5
"""The same for preferences: one order out of two."""

_MOST_CASES = 1_000_000
_NOTHING = "no case has both answers"


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
    """What an attribute that should not matter does: the mean of after - before."""
    step = _VALUE_STEP if scale == "value" else SHARE_STEP
    try:
        found = paired_difference(before, after, step=step, clusters=cases, level=level)
    except NotEnoughDataError:
        return _undefined(name, scale, margin, n_missing=len(before), level=level)
    most = 1.0 if scale == "value" else 0.5
    found = replace(found, low=max(found.low, -most), high=min(found.high, most))  # nan stays nan
    verdict = signed_verdict(found, margin, harm)
    note = "it lowers the score, which is no bias" if harm == "up" and found.high < 0 else None
    full = None if best is None else _cannot_rise(before, after, best)
    if full is not None and verdict in {"none_seen", "small"}:
        verdict, note = "cannot_say", full
    return Effect(
        name=name,
        estimate=found,
        scale=scale,
        margin=margin,
        verdict=verdict,
        p=_p(found, harm),
        n_to_tell=_n_to_tell(found, margin, harm)
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
        found = clustered_proportion(outcomes, cases, level=level)
    except NotEnoughDataError:
        unknown = _undefined(name, "rate", margin, n_missing=len(outcomes), level=level)
        return unknown if decides else replace(unknown, verdict=None)
    verdict = share_verdict(found, margin) if decides else None
    return Effect(
        name=name,
        estimate=found,
        scale="rate",
        margin=margin,
        verdict=verdict,
        p=_share_p(outcomes, cases, margin) if decides else None,
        n_to_tell=_n_to_tell(found, margin, "up") if verdict == "cannot_say" else None,
    )


def signed_verdict(estimate: Estimate, margin: float, harm: Harm = "either") -> EffectVerdict:
    """What the interval of a shift around 0 allows one to say."""
    low, high, value = estimate.low, estimate.high, estimate.value
    if isnan(low):
        return "cannot_say"
    if harm == "up":
        if high < margin:
            return "small" if low > 0 else "none_seen"
        return "material" if low > 0 and value >= margin - VALUE_TOLERANCE else "cannot_say"
    is_something = low > 0 or high < 0
    if -margin < low and high < margin:
        return "small" if is_something else "none_seen"
    return "material" if is_something and abs(value) >= margin - VALUE_TOLERANCE else "cannot_say"


def share_verdict(estimate: Estimate, margin: float) -> EffectVerdict:
    """What the interval of a share that should be 0 allows one to say."""
    if isnan(estimate.low):
        return "cannot_say"
    if estimate.high < margin:
        return "small" if estimate.value > 0 else "none_seen"
    return "material" if estimate.low >= margin else "cannot_say"


def adjust_p_values(probes: Sequence[ProbeResult], *, level: float) -> tuple[ProbeResult, ...]:
    """The probes with p-values adjusted for how many effects were looked at (Holm 1979)."""
    # An effect or a part is material only where its adjusted p says so too: of twenty looks at a
    # judge without a bias one leaves out 0 by chance. A look in which no case differs is one as
    # well; a figure without a verdict is none. Of simulated audits of honest judges (500 each, of
    # 12 to 60 cases, steady or not) at most 2.6 % call anything material, see `docs/auditing.md`.
    looks = [effect.p for probe in probes for effect in (*probe.effects, *probe.parts)]
    adjusted = iter(adjust(looks, "holm").value)
    n = sum(p is not None for p in looks)

    def with_verdicts(effects: Sequence[Effect]) -> tuple[Effect, ...]:
        return tuple(_adjusted(effect, next(adjusted), n, 1 - level) for effect in effects)

    return tuple(
        replace(probe, effects=with_verdicts(probe.effects), parts=with_verdicts(probe.parts))
        for probe in probes
    )


def _adjusted(effect: Effect, p: float, n_looks: int, alpha: float) -> Effect:
    if isnan(p):
        return effect
    found = replace(effect, p_adjusted=p)
    if effect.verdict != "material" or p <= alpha:
        return found
    away = "above its margin" if effect.scale == "rate" else "from 0"
    note = f"one of {n_looks} looks is so far {away} by chance: p {p:.2f} after Holm's adjustment"
    return replace(found, verdict="cannot_say", note=note)


def _share_p(outcomes: Sequence[float | None], cases: Sequence[str], margin: float) -> float | None:
    """The p of a share that is no more than the margin: exact, of as many trials as it is worth."""
    # Clopper and Pearson's: Wilson's interval of ten cases lies above a true tenth in 7 %.
    known, names = known_observations(outcomes, cases)
    shares = list(cluster_means(known, names).values())
    trials = effective_n(shares, most=len(known))
    seen = trials * fsum(shares) / len(shares)
    if seen <= 0:
        return 1.0
    from scipy.special import betainc  # noqa: PLC0415 - half a second, only where it is needed

    return float(betainc(seen, trials - seen + 1, margin))


def _p(found: PairedDifference, harm: Harm) -> float | None:
    """The p that goes with the interval: of its own t.

    One-sided where only a rise is a bias.
    """
    # The exact test of so few cases as an audit may have could reject nothing once it is adjusted.
    if isnan(found.low):
        return None
    t = found.value * found.n / (found.n + 1) / found.se
    p = t_p_value(t, found.df)
    if harm == "either":
        return p
    return p / 2 if t > 0 else 1 - p / 2


def _cannot_rise(
    before: Sequence[float | None], after: Sequence[float | None], best: float
) -> str | None:
    """What to say where most have the best value already."""
    known = [x for x, y in zip(before, after, strict=True) if x is not None and y is not None]
    n_best = sum(x >= best - VALUE_TOLERANCE for x in known)
    if 2 * n_best <= len(known):
        return None
    return f"{n_best} of {len(known)} have the best value without it and cannot rise"


def _undefined(
    name: str, scale: EffectScale, margin: float, *, n_missing: int, level: float
) -> Effect:
    found = replace(
        undefined_estimate(_NOTHING, n=0, method="none", level=level), n_missing=n_missing
    )
    return Effect(name=name, estimate=found, scale=scale, margin=margin, verdict="cannot_say")


def _n_to_tell(estimate: Estimate, margin: float, harm: Harm) -> int | None:
    """About how many cases would settle it, if the effect is what it seems to be."""
    # An interval shrinks with the root of the number of cases; it has to be shorter than the way
    # from the effect to the margin, or from a material effect to 0.
    half = (estimate.high - estimate.low) / 2
    size = estimate.value if harm == "up" else abs(estimate.value)
    gap = max(abs(margin - size), size if size >= margin else 0.0)
    if isnan(half) or gap <= 0:
        return None
    wanted = ceil(estimate.n * (half / gap) ** 2)
    return max(estimate.n + 1, wanted) if wanted <= _MOST_CASES else None
