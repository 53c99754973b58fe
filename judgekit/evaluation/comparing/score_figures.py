"""The figures that two runs come to beside each other, by the scores their answers have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.evaluation.comparing.figures import Decision
    from judgekit.stats.paired import PairedDifference, PairedProportions, WinRate
    from judgekit.stats.resample import BootstrapEstimate
    from judgekit.stats.signed_ranks import SignedRanks


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDifference:
    """How far B is above A on one measure, over the cases both have it for."""

    a: float
    """Mean over A's cases."""

    b: float
    """Mean over B's cases."""

    estimate: PairedDifference | PairedProportions
    """B less A with its interval; repeats of a case count as one."""

    p: float | None
    """Two-sided p of no difference, by `test`; None where no case differs."""

    test: str
    """What the p is of: `mcnemar` (mid-p) for pass or fail, else `t`, or `sign-flip` with fewer
    than 15 cases or where all differ alike; `none` where no case differs."""

    p_adjusted: float | None
    """The same after Holm, over all criteria; None for the measures of the whole."""

    resampled: BootstrapEstimate
    """The difference with a percentile interval from resampling cases."""

    ranks: SignedRanks
    """Wilcoxon's signed ranks: whether the cases lean to B whatever the shape of their
    differences; a second opinion, which decides nothing."""

    higher: WinRate
    """The share of cases on which B is higher, a case that does not differ being half; its `net`
    is Cliff's delta of paired cases."""

    changed: tuple[int, int] | None
    """Cases that only A passes, and that only B passes; None where it is not pass or fail."""

    effect_size: float | None
    """The difference in standard deviations of the cases' differences; None where undefined."""

    detectable: float | None
    """The smallest difference this many cases can show with 80 % power."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison:
    """What two runs come to beside each other."""

    a: str
    """What the first side is called."""

    b: str
    """What the second is called."""

    value: ScoreDifference | None
    """Of the values; None where no case has one on both sides."""

    pass_rate: ScoreDifference | None
    """Of passing."""

    criteria: dict[str, ScoreDifference]
    """Of the values of each criterion that both have."""

    n_only_a: int
    """Cases that only the first side answered."""

    n_only_b: int
    """Cases that only the second side answered."""

    n_unscored: int
    """Cases that both answered, but a side has no value for: its output is an error, or nobody
    could judge it."""

    decision: Decision
    """Which side has the higher values; without values, which passes more often."""

    n_unscored_a: int = 0
    """Of them, those the first side has no value for."""

    n_unscored_b: int = 0
    """Of them, those the second side has none for."""

    bounds: tuple[float, float] | None = None
    """B less A of the values if every missing value were as good as can be for A, and for B;
    None where none is missing."""

    strata: dict[str, ScoreDifference] = field(default_factory=dict)
    """Of the values in each complexity stratum, simple ones first; only looked at."""

    tags: dict[str, ScoreDifference] = field(default_factory=dict)
    """Of the values of the cases of each tag; only looked at."""
