"""What a tuning came to: held-out figures, never those that candidates were chosen by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from judgekit.evaluation.auditing.audit import StopReason
    from judgekit.evaluation.figures.summary import Spent
    from judgekit.records.rubric import Rubric
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.paired import PairedDifference

Decision = Literal["better", "not_shown", "worse", "open", "none_better", "incomplete"]
"""`better` and `worse` are shown on held-out cases; `not_shown` leaves it open; `open` would be
better, but for what the judge failed on; `none_better` than the present one while choosing;
`incomplete` was broken off, or the judge did not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How near one way of asking comes to people, on held-out items."""

    name: str
    """The criterion; empty for all of them together."""

    distance: Estimate
    """Root of the mean squared distance from people's label, on [0, 1]; 0 is best."""

    kappa: Estimate
    """Cohen's kappa with quadratic weights; undefined where scales have no levels, or differ."""

    n_items: int
    """Labelled items."""

    n_failed: int
    """Of them, those the judge gave no usable answer on; left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """One way of asking on the held-out cases."""

    name: str
    """Which."""

    overall: Agreement
    """All criteria together."""

    criteria: tuple[Agreement, ...]
    """Each criterion, where there are several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The chosen way of asking less the present one, on the same held-out items."""

    distance: PairedDifference
    """Difference of the mean squared distances, a case counting once; below 0 is nearer."""

    low: float
    """The same, if all that was not usable had gone as well for the chosen one as it could."""

    high: float
    """The same, if it had gone as badly."""

    kappa: Estimate
    """Difference of the kappas, above 0 is nearer; undefined like these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A candidate, without the figures it was chosen by: they flatter it."""

    name: str
    """Its name."""

    place: int | None
    """Its place while choosing, from 1; None where nothing usable was said."""

    n_failed: int | None
    """Items on which the judge failed while choosing; None where that was broken off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What came of tuning a judge."""

    rubric: str
    """Name of the rubric."""

    rubric_fingerprint: str
    """Which rubric was the present one."""

    judge: str
    """Who was asked, with the template of the present rubric."""

    decision: Decision
    """What is shown."""

    chosen: str | None
    """The candidate that did best while choosing; None where that is the present rubric."""

    tuned: Rubric | None
    """The chosen candidate as a rubric, with examples from all training cases."""

    template: str | None
    """The template to grade with by that rubric; None for the one the judge had."""

    present_held_out: HeldOut | None
    """The present rubric on held-out cases; None where it was broken off."""

    chosen_held_out: HeldOut | None
    """The chosen candidate on held-out cases."""

    contrast: Contrast | None
    """One less the other."""

    tried: tuple[Tried, ...]
    """Everything that was tried, the present rubric first."""

    training_cases: tuple[str, ...]
    """Cases that candidates were chosen by, and that examples are from."""

    held_out_cases: tuple[str, ...]
    """Cases that nothing was chosen by."""

    n_labels: int
    """Labels that were used."""

    n_unused: int
    """Labels that were not: without a score, of the whole, or of outputs that are not there."""

    n_examples: int
    """Cases left out, for a rubric shows their outputs."""

    seed: int
    """Seed of the split."""

    level: float
    """Confidence level of every interval."""

    spent: Spent
    """What it took."""

    failures: dict[str, int] = field(default_factory=dict)
    """What the judge failed on, by kind."""

    failure_messages: dict[str, str] = field(default_factory=dict)
    """What the first of each kind says."""

    reason: StopReason | Literal["frozen"] | None = None
    """Why it was broken off."""
