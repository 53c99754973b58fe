"""The figures a run comes to, each with its doubt: what `summarize` returns for a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.records.run import RunInfo
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.intervals import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """What a group of answers of one variant comes to: all of them, a tag's or a stratum's."""

    n_cases: int
    """Cases."""

    n_answers: int
    """Answers, repeats included; of several tries only the last."""

    n_passed: int
    """Answers that pass."""

    n_failed: int
    """Answers that do not pass."""

    n_undecided: int
    """Answers whose missing judgments or erring assertions could decide either way."""

    n_errors: int
    """Errors of the system under test; they are not judged."""

    pass_rate: Rate
    """Share of passed among decided answers, clustered by case; `worst` and `best` count what is
    undecided, and errors, as failed and as passed."""

    value: Estimate
    """Mean value of answers that have one, clustered by case."""

    criteria: dict[str, Estimate]
    """Mean value per criterion, clustered by case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """What was paid, as far as known, in US dollars."""

    targets_usd: float
    """For the answers, where they were produced in this run."""

    judges_usd: float
    """For the judges."""

    checks_usd: float = 0.0
    """For the vectors that checks and scorers compared."""

    saved_usd: float
    """What owned replies cost when they were bought."""

    recorded_usd: float = 0.0
    """What recorded answers cost when they were made, as far as their file says."""

    is_complete: bool
    """Whether every price is known."""

    n_unreported: int = 0
    """Answers of a program, a function or an endpoint that did not say what they cost."""

    @property
    def total_usd(self) -> float:
        """All that was paid."""
        return self.targets_usd + self.judges_usd + self.checks_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantFigures(GroupFigures):
    """What one variant comes to."""

    variant: str
    """Name of the variant."""

    tags: dict[str, GroupFigures] = field(default_factory=dict)
    """The same for the cases of each tag."""

    strata: dict[str, GroupFigures] = field(default_factory=dict)
    """The same for the cases of each complexity stratum, simple ones first."""

    assertions: dict[str, Rate] = field(default_factory=dict)
    """Share of answers for which each type of assertion holds."""

    scores: dict[str, Estimate] = field(default_factory=dict)
    """Mean of each scorer's score, clustered by case; `overall` is that of their weighted mean,
    where there are several."""

    errors: dict[str, int] = field(default_factory=dict)
    """Errors of the system under test, by kind."""

    failures: dict[str, int] = field(default_factory=dict)
    """Failures of judges, by kind."""

    money: Money
    """What it cost."""

    input_tokens: int
    """Tokens the system under test was sent, as far as known."""

    output_tokens: int
    """Tokens it gave back, as far as known."""

    judge_input_tokens: int
    """Tokens judges were sent."""

    judge_output_tokens: int
    """Tokens judges gave back."""

    latency_ms: dict[str, float]
    """How long answers took: `p50`, `p90`, `p99` and `max`, in ms; empty where unknown."""

    n_unfinished: int = 0
    """Answers of which something was not asked, since the run was stopped or interrupted."""

    n_flaky: int
    """Cases answered several times that neither always pass nor never; where a run tries again
    what failed, those that passed only then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How two variants differ on the cases both answered: second less first."""

    first: str
    """The one variant."""

    second: str
    """The other."""

    measure: str
    """`value`, `pass_rate`, or the name of a criterion."""

    estimate: Estimate
    """The mean difference over cases, with its interval."""

    p: float | None
    """Two-sided p of no difference; None where no case differs."""

    p_adjusted: float | None
    """The same after Holm, over all pairs of variants for this measure."""

    detectable: float | None
    """The smallest difference this many cases can show with 80 % power at 5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What a run comes to."""

    run: RunInfo
    """The run."""

    variants: tuple[VariantFigures, ...]
    """Per variant, in the suite's order."""

    differences: tuple[Difference, ...]
    """Every pair of variants, for value and pass rate."""

    n_waiting: int = 0
    """Questions that wait for a person."""

    replaced_usd: float = 0.0
    """What was paid for answers and judgments that others took the place of since, beside what
    the variants cost."""

    uncalibrated: tuple[VariantFigures, ...] = ()
    """The variants by the judges' own values, where calibration maps decide."""

    @property
    def is_blank(self) -> bool:
        """Whether nothing at all was found out: no answer decided, no value and no score known."""
        return not any(
            variant.n_passed + variant.n_failed
            or any(e.n for e in (variant.value, *variant.criteria.values()))
            or any(e.n for e in variant.scores.values())
            for variant in self.variants
        )

    @property
    def failures(self) -> dict[str, int]:
        """Failures of judges by kind, over all variants."""
        total: dict[str, int] = {}
        for variant in self.variants:
            for kind, n in variant.failures.items():
                total[kind] = total.get(kind, 0) + n
        return total
