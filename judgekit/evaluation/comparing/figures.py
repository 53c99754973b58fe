"""The figures a blind comparison of two sides comes to, each with its doubt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from judgekit.evaluation.comparing.pairing import LeftOut
    from judgekit.evaluation.figures.summary import Spent
    from judgekit.records.comparison import Rule, Winner
    from judgekit.stats.alpha import Alpha
    from judgekit.stats.bias import PositionBias
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.ranking import LengthControlledWinRate

Choice = Literal["a", "b"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WinFigures:
    """Wins of A against B: of all pairs, on a criterion, of a tag or of a stratum."""

    n_cases: int
    """Cases."""

    n_pairs: int
    """Pairs that were judged, repeats included; errors of the systems under test are not."""

    wins: int
    """Pairs that A won."""

    ties: int
    """Pairs that both orders call a tie."""

    inconsistent: int
    """Pairs whose two orders contradict each other: no winner, and no true tie."""

    losses: int
    """Pairs that B won."""

    n_undecided: int
    """Pairs that a failure leaves open."""

    rate: Estimate
    """A's share of wins among decided pairs, clustered by case; no winner is half a win."""

    bounds: tuple[float, float]
    """The share if B had won all undecided pairs, and if A had."""

    p: float | None
    """Exact two-sided sign test of the cases that lean to A against those that lean to B, ties
    and contradictions left out; None where no pair is decided."""

    p_adjusted: float | None = None
    """The same after Holm, over all criteria; None for other groups, which are only looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What looking after every case has shown."""

    e_value: float
    """The evidence against no difference; a difference is shown from 1 / alpha on."""

    n_cases: int
    """Cases that were looked at."""

    stopped_at: int | None
    """After how many cases the difference was shown; None where it was not."""

    max_cases: int | None
    """How many were allowed at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which side is better, or why that is not decided."""

    winner: Choice | None
    """The better side; None for no decision."""

    reason: str
    """Why."""

    p: float | None
    """The p it rests on; valid at any time where cases were asked until decided."""

    alpha: float
    """The error that was allowed."""

    n_to_decide: int | None = None
    """Without a decision: about how many cases would give one four times in five, if the sides
    differ as much as they seem to; None where no number is in sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """What one judge of a panel says, on the whole."""

    judge: str
    """Model and template."""

    whole: WinFigures
    """Wins by its own verdicts, of the pairs it was asked about."""

    flip_rate: Estimate
    """Share of pairs whose winner hangs on the order they were shown in."""

    position: PositionBias | None
    """How much it favours what it saw first, over all questions; None without any."""

    flags: tuple[str, ...]
    """What makes it doubtful: `position_bias`, `mostly_inconsistent`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelFigures:
    """The judges of a panel, each by itself, and how far they agree."""

    judges: tuple[JudgeFigures, ...]
    """The judges."""

    agreed: float
    """Share of the pairs of judges that name the same winner, over all pairs of outputs; nan where
    no two judges name one."""

    alpha: Alpha | None
    """The same beyond chance: Krippendorff's nominal alpha of the winners, with an interval that
    leaves out whole cases; None where no two judges name one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSummary:
    """What a comparison comes to."""

    a: str
    """What the first side is called."""

    b: str
    """What the second side is called."""

    rubric: str
    """Name of the rubric."""

    judges: tuple[str, ...]
    """Who judged: model and template."""

    models: tuple[str, ...]
    """The models that answered, in the providers' words."""

    decision: Decision
    """Which side is better."""

    whole: WinFigures
    """Wins on the whole."""

    criteria: dict[str, WinFigures]
    """Wins on each criterion."""

    strata: dict[str, WinFigures]
    """Wins on the whole for each complexity stratum, simple ones first."""

    tags: dict[str, WinFigures]
    """Wins on the whole for each tag."""

    flip_rate: Estimate
    """Share of pairs whose winner hangs on the order they were shown in; texts that are the same
    to the judge do not count."""

    position: PositionBias | None
    """How much the judge favours what it saw first, over all questions; None without any."""

    length_controlled: LengthControlledWinRate | None
    """A's share of wins had both outputs been equally long; None where that cannot be told."""

    length_reason: str | None
    """Why there is no `length_controlled`."""

    raw_a: float | None
    """Mean score of A, from 1 to 10, over the pairs in which both have one."""

    raw_b: float | None
    """Mean score of B."""

    raw_winner: Winner | None
    """The side with the higher mean score, which is not a decision; None without scores."""

    n_identical: int
    """Pairs that were the same to the judge, so that it was not asked."""

    n_errors: int
    """Pairs of which an output is an error; not judged."""

    failures: dict[str, int]
    """Failures of the judge by kind."""

    failure_messages: dict[str, str]
    """For each kind, what the first of them says."""

    flags: tuple[str, ...]
    """What makes the judge doubtful: `position_bias`, `mostly_inconsistent`."""

    spent: Spent
    """Calls and money."""

    left_out: LeftOut
    """What could not be paired."""

    evidence: Evidence | None = None
    """What looking after every case has shown, where cases were asked until decided."""

    marks: dict[str, int] = field(default_factory=dict)
    """Advisory marks on preferences, by name."""

    rule: Rule = "consistent"
    """Who wins where the orders differ."""

    panel: PanelFigures | None = None
    """The judges of a panel by themselves; None for one judge."""

    n_scrubbed: int | None = 0
    """Passages by which outputs named their makers, not shown to the judge; None where scrubbing
    was switched off."""
