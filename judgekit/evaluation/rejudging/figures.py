"""What another judge changes: decisions, scores, agreement, failures and money."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.stats.agreement import Kappa
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.paired import PairedDifference


AN_ERROR = "an error of the system under test"
NOT_BEFORE = "no verdict before"
NOT_NOW = "not judged now"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOf:
    """What a judge said of one criterion of one output."""

    value: float | None
    """The value on [0, 1]; None where there is none."""

    raw: float | None
    """The score of its first judgment."""

    rationale: str | None
    """The reason it gave there; where it failed, what happened."""

    own: float | None = None
    """What all its answers, and all judges of a panel, come to, whatever maps make of it."""

    n: int = 1
    """Usable answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one output came to, judged once."""

    passed: bool | None
    """Whether it passes; None where that is undecided."""

    value: float | None
    """Its value on [0, 1]."""

    criteria: Mapping[str, SaidOf]
    """What was said of each criterion."""

    failures: tuple[str, ...] = ()
    """Kinds of what the judge failed to say."""

    price_usd: float | None = 0.0
    """What its replies cost when they were bought; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Twice:
    """One output, judged by the old judge and the new one."""

    case_id: str
    """The case."""

    variant: str
    """The variant; empty where there is none."""

    repeat: int
    """Which time the variant answered."""

    old: Side
    """What it came to."""

    new: Side
    """What it comes to."""

    @property
    def has_flipped(self) -> bool:
        """Whether it passed and no longer does, or the other way round."""
        sides = self.old.passed, self.new.passed
        return None not in sides and sides[0] != sides[1]

    @property
    def shift(self) -> float:
        """The new value less the old; 0 where one is not known."""
        if self.old.value is None or self.new.value is None:
            return 0.0
        return self.new.value - self.old.value


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionShift:
    """How the scores of one criterion differ."""

    shift: PairedDifference
    """The new value less the old, with its interval."""

    p_adjusted: float | None
    """Two-sided p of no shift, after Holm over all criteria; None where no case differs."""

    kappa: Kappa | None
    """Agreement of the scores beyond chance, with quadratic weights; of several answers or judges
    the level nearest to what they come to. None where the scale has no levels, or differs, or is
    that of a case's own rubric."""

    same_question: bool
    """Whether both judges were asked the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """What another judge changes."""

    old_judges: tuple[str, ...]
    """Who judged."""

    new_judges: tuple[str, ...]
    """Who judges now."""

    rubric: str
    """Name of the rubric."""

    same_rubric: bool
    """Whether it is the one that was used before."""

    n: int
    """Outputs that both judged."""

    n_cases: int
    """Their cases."""

    left_out: Mapping[str, int] = field(default_factory=dict)
    """Outputs that only one judge has a verdict for, or that are errors, by why."""

    n_undecided: int
    """Outputs of which a side has no verdict; they are in no figure of verdicts."""

    churn: Estimate
    """Share of outputs whose verdict changes; undefined where nothing is decided on both sides."""

    kappa: Kappa | None
    """Agreement of the verdicts beyond chance; None where nothing is decided on both sides."""

    old_pass_rate: Estimate
    """Share that passed, among those decided on both sides."""

    new_pass_rate: Estimate
    """Share that passes."""

    value: PairedDifference | None
    """The new value less the old; None where no output has both."""

    criteria: Mapping[str, CriterionShift]
    """By criterion that both sides have; those of the run's rubric first, then those of rubrics of
    the cases."""

    flips: tuple[Twice, ...]
    """Outputs whose verdict changes, the largest shift first."""

    old_failures: Mapping[str, int]
    """What the old judge failed to say, by kind."""

    new_failures: Mapping[str, int]
    """What the new one fails to say."""

    old_price_usd: float | None
    """What the old replies cost when they were bought; None where some price is not known."""

    new_price_usd: float | None
    """What the new ones cost."""

    calibration: str
    """Whether a calibration holds for the new judge, in words."""

    run_id: str | None = None
    """The run the new judgments are kept in; None where they are not."""

    old_run_id: str | None = None
    """The run that was judged again."""
