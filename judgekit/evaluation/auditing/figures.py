"""What an audit found: for each probe its effects, each with its doubt and a plain verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.evaluation.figures.summary import Spent
    from judgekit.stats.estimate import Estimate

EffectVerdict = Literal["none_seen", "small", "material", "cannot_say"]
"""`none_seen`: the interval holds 0 and nothing material; `small`: not 0, but surely not material;
`material`; `cannot_say`: the interval is too wide for any of these."""

ProbeStatus = Literal["done", "skipped", "incomplete"]
"""`done`; `skipped` with a reason, nothing was asked; `incomplete`: broken off, or out of money."""

Scale = Literal["value", "lean", "rate"]
"""What an effect is measured in: a shift of the value on [0, 1]; how far a choice is from one half,
at most 0.5; or how often something happens."""


@dataclass(frozen=True, slots=True)
class Margins:
    """From which size on an effect matters."""

    value: float = 0.05
    """A shift of the value on [0, 1]: five points of a hundred."""

    share: float = 0.10
    """A share of cases, or how far a preference is from one half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One thing that should not matter, and what it does."""

    name: str
    """What is measured, in a few words."""

    estimate: Estimate
    """The effect with its interval; a case counts once."""

    scale: Scale
    """What it is measured in."""

    margin: float
    """From which size on it is material."""

    verdict: EffectVerdict | None
    """What the interval allows one to say; None for a figure that decides nothing by itself."""

    p: float | None = None
    """The p of no effect, by the t of the interval, one-sided where only a rise is a bias; of a
    rate the exact p of no more than the margin. None without a verdict or an interval."""

    p_adjusted: float | None = None
    """The same after Holm, over all effects and parts of the audit that have a p."""

    n_to_tell: int | None = None
    """About how many cases would tell, where that cannot be said; None where nobody knows."""

    note: str | None = None
    """What to bear in mind in reading it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFound:
    """What one probe found."""

    name: str
    """Name of the probe."""

    question: str
    """The question it answers."""

    status: ProbeStatus
    """Whether it was done."""

    reason: str | None = None
    """Why it was skipped or is incomplete."""

    effects: tuple[Effect, ...] = ()
    """What it measured."""

    parts: tuple[Effect, ...] = ()
    """The same for each kind of what was tried, with intervals that hold for all kinds at once
    (Bonferroni); of a kind that was tried a few times little can be said."""

    counts: Mapping[str, float | int | str] = field(default_factory=dict)
    """Further figures, by what they say."""

    n_cases: int = 0
    """Cases it looked at."""

    n_left_out: int = 0
    """Outputs it cannot be tried on."""

    n_failed: int = 0
    """Questions without a usable answer to all that was asked; they are counted, and no effect."""

    n_asked: int = 0
    """Questions that were put to the judge for it, those shared with other probes included."""

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
    """What all probes of an audit found."""

    judge: str
    """Model and template."""

    pair_judge: str
    """Model and template where two outputs are compared."""

    models: tuple[str, ...]
    """The models that answered, in the providers' words."""

    rubric: str
    """Name of the rubric."""

    rubric_fingerprint: str
    """Its fingerprint."""

    n_cases: int
    """Cases of the outputs it was tried on."""

    n_outputs: int
    """Outputs."""

    seed: int
    """Seed of every draw."""

    level: float
    """Confidence level of the intervals."""

    probes: tuple[ProbeFound, ...]
    """In the order they were made."""

    failures: Mapping[str, int]
    """Questions without a usable answer, by kind."""

    failure_messages: Mapping[str, str]
    """For each kind, what the first of them says."""

    spent: Spent
    """Calls and money."""

    @property
    def is_complete(self) -> bool:
        """Whether every probe that was begun came to its end, and every question was answered."""
        return not self.failures and all(one.status != "incomplete" for one in self.probes)

    @property
    def found_material(self) -> tuple[str, ...]:
        """The probes that found a material bias."""
        return tuple(one.name for one in self.probes if one.verdict == "material")
