"""The results of a blind comparison of two sides, its decision and its stopping rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Literal

from judgekit.presentable import Presentable
from judgekit.records import DEFAULT_PRIOR
from judgekit.stats.power import sample_size_sign
from judgekit.stats.quantiles import SLACK
from judgekit.stats.sequential import win_e_value

if TYPE_CHECKING:
    from judgekit.evaluation.pairing import LeftOut
    from judgekit.evaluation.usage import JudgeUsage
    from judgekit.records import Comparison, ReconciliationRule, Winner
    from judgekit.stats.alpha import Alpha
    from judgekit.stats.bias import PositionBias
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.ranking import LengthControlledWinRate

BetterSide = Literal["a", "b"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideCounts:
    """How the pairs of two sides came out."""

    n_cases: int
    wins: int
    ties: int
    # Pairs whose two orders contradict each other: no winner, and no true tie
    inconsistent: int
    losses: int
    n_undecided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WinFigures(SideCounts):
    """Wins of A against B: of all pairs, on a criterion, of a tag or of a stratum.

    Attributes:
        n_pairs: Pairs that were judged, repeats included; errors of the systems under test are not.
        rate: A's share of wins among decided pairs, clustered by case; no winner is half a win.
        bounds: The share if B had won all undecided pairs, and if A had.
        p: Exact two-sided sign test of the cases that lean to A against those that lean to B, ties
            and contradictions left out; None where no pair is decided.
        p_adjusted: The same after Holm, over all criteria; None for other groups, which are only
            examined.
    """

    n_pairs: int
    rate: Estimate
    bounds: tuple[float, float]
    p: float | None
    p_adjusted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialEvidence:
    """The sequential evidence after every case."""

    # The evidence against no difference; a difference is shown from 1 / alpha on
    e_value: float
    n_cases: int
    # After how many cases the difference was shown; None where it was not
    stopped_at: int | None
    max_cases: int | None
    # N of the test's prior Beta(N, N)
    prior: float = DEFAULT_PRIOR
    # Seed of the order of the cases; None where they were taken in the order of their files
    order_seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonDecision:
    """Which side is better, or why that is not decided."""

    winner: BetterSide | None
    reason: str
    # The p it rests on; valid at any time where cases were asked until decided
    p: float | None
    alpha: float
    # Without a decision: about how many cases would give one four times in five, if the sides
    # differ as much as they seem to; None where no number is in sight
    n_to_decide: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """The overall figures of one judge of a panel."""

    judge: str
    # Wins by its own verdicts, of the pairs it was asked about
    whole: WinFigures
    # Share of pairs whose winner hangs on the order they were shown in
    flip_rate: Estimate
    position: PositionBias | None
    # Reasons not to trust it: `position_bias`, `mostly_inconsistent`
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelFigures:
    """The judges of a panel, each by itself, and how far they agree."""

    judges: tuple[JudgeFigures, ...]
    # Share of the pairs of judges that name the same winner, over all pairs of outputs; nan where
    # no two judges name one
    agreed: float
    # The same beyond chance: Krippendorff's nominal alpha of the winners, with an interval that
    # leaves out whole cases; None where no two judges name one
    alpha: Alpha | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ComparisonSummary(Presentable):
    """The result of a comparison.

    Attributes:
        flip_rate: Share of pairs whose winner hangs on the order they were shown in; texts that are
            the same to the judge do not count.
        length_controlled: A's share of wins had both outputs been equally long; None where that
            cannot be estimated.
        raw_a: Mean score of A, from 1 to 10, over the pairs in which both have one.
        raw_winner: The side with the higher mean score, which is not a decision; None without
            scores.
        n_identical: Pairs that were the same to the judge, so that it was not asked.
        n_errors: Pairs of which an output is an error; not judged.
        flags: Reasons not to trust the judge: `position_bias`, `mostly_inconsistent`.
        evidence: The sequential evidence after every case, where cases were judged until decided.
        n_scrubbed: Passages by which outputs named their makers, not shown to the judge; None where
            scrubbing was switched off.
    """

    a: str
    b: str
    rubric: str
    judges: tuple[str, ...]
    models: tuple[str, ...]
    decision: ComparisonDecision
    whole: WinFigures
    criteria: dict[str, WinFigures]
    strata: dict[str, WinFigures]
    tags: dict[str, WinFigures]
    flip_rate: Estimate
    position: PositionBias | None
    length_controlled: LengthControlledWinRate | None
    length_reason: str | None
    raw_a: float | None
    raw_b: float | None
    raw_winner: Winner | None
    n_identical: int
    n_errors: int
    failures: dict[str, int]
    failure_messages: dict[str, str]
    flags: tuple[str, ...]
    spent: JudgeUsage
    left_out: LeftOut
    evidence: SequentialEvidence | None = None
    marks: dict[str, int] = field(default_factory=dict)
    rule: ReconciliationRule = "consistent"
    panel: PanelFigures | None = None
    n_scrubbed: int | None = 0


# Flags of a judge not to be trusted: it favours a place; it contradicts itself more often than not.
POSITION_BIAS, MOSTLY_INCONSISTENT = "position_bias", "mostly_inconsistent"


class StoppingRule:
    """Looks after every case whether the question is decided, without spoiling the error rate.

    A case counts once, with its first pair; ties, contradictions and failures change nothing. The
    e-value may be examined as often as one likes: where there is no difference it reaches
    1 / alpha with a probability of at most alpha, ever. That holds for cases in an order that has
    nothing to do with who wins them, so that they are shuffled.
    """

    def __init__(
        self,
        alpha: float,
        max_cases: int | None = None,
        *,
        prior: float = DEFAULT_PRIOR,
        order_seed: int | None = None,
    ) -> None:
        self._alpha, self.max_cases = alpha, max_cases
        self._prior, self._order_seed = prior, order_seed
        self._seen: set[str | None] = set()
        self._wins = self._losses = 0
        self._e_value = 1.0

    @property
    def is_decided(self) -> bool:
        return self._e_value >= 1 / self._alpha

    @property
    def is_over(self) -> bool:
        """Whether no further case is to be examined."""
        return self.is_decided or len(self._seen) == self.max_cases

    def look(self, comparison: Comparison) -> None:
        # Only the first pair of a case counts: the e-value assumes independent observations.
        if comparison.case_id in self._seen:
            return
        self._seen.add(comparison.case_id)
        # Ties and contradictions are no evidence of direction; leaving them out keeps the test
        # valid (a sign test).
        self._wins += comparison.winner == "a"
        self._losses += comparison.winner == "b"
        prior = self._prior
        self._e_value = win_e_value(self._wins, self._losses, prior_a=prior, prior_b=prior).value

    def evidence(self) -> SequentialEvidence:
        n = len(self._seen)
        return SequentialEvidence(
            e_value=self._e_value,
            n_cases=n,
            stopped_at=n if self.is_decided else None,
            max_cases=self.max_cases,
            prior=self._prior,
            order_seed=self._order_seed,
        )


def decide_comparison(
    whole: WinFigures,
    leaning: tuple[int, int],
    *,
    alpha: float,
    flags: tuple[str, ...] = (),
    evidence: SequentialEvidence | None = None,
) -> ComparisonDecision:
    # A side is better where more of the cases that lean to either side lean to it than chance
    # allows, and failures could not turn that. A judge whose flags say that it looks at places
    # rather than at outputs can still decide: what hangs on the place has been left out as a
    # contradiction.
    p = whole.p if evidence is None else min(1.0, 1 / max(evidence.e_value, 1.0))
    if not whole.wins + whole.losses:
        return ComparisonDecision(winner=None, reason=_why_none(whole, flags), p=p, alpha=alpha)
    shown = p is not None and p <= alpha
    leader: BetterSide = "a" if leaning[0] > leaning[1] else "b"
    # The leader has more than half, even if the other side had won all that is open: a significant
    # sign test says nothing about pairs without a winner.
    low, high = whole.bounds
    keeps_lead = low > _EVEN + SLACK if leader == "a" else high < _EVEN - SLACK
    if shown and keeps_lead:
        what = "decided pairs" if whole.n_pairs == whole.n_cases else "cases that favour a side"
        return ComparisonDecision(
            winner=leader, reason=f"{max(leaning)} of {sum(leaning)} {what}", p=p, alpha=alpha
        )
    reason = _why_open(whole, leaning, flags, alpha)
    if shown:
        reason = "the undecided pairs could turn it" if whole.n_undecided else _NOT_ON_AVERAGE
    n_to_decide = _n_to_decide(whole, leaning, alpha)
    return ComparisonDecision(winner=None, reason=reason, p=p, alpha=alpha, n_to_decide=n_to_decide)


_NOT_ON_AVERAGE = "more cases lean to one side, but on average over all cases it does not win more"
_EVEN = 0.5


def _why_none(whole: WinFigures, flags: tuple[str, ...]) -> str:
    if not whole.n_pairs - whole.n_undecided:
        return "no pair was judged in both orders"
    if whole.inconsistent and MOSTLY_INCONSISTENT in flags:
        return "the judge contradicts itself when the order is turned: no pair has a winner"
    more = f", and {whole.n_undecided:,} undecided" if whole.n_undecided else ""
    return f"no pair has a winner{more}"


def _why_open(
    whole: WinFigures, leaning: tuple[int, int], flags: tuple[str, ...], alpha: float
) -> str:
    for_a, for_b = leaning
    wins = f"{for_a} win{'s' if for_a != 1 else ''}"
    losses = f"{for_b} loss{'es' if for_b != 1 else ''}"
    if whole.n_pairs > whole.n_cases:
        wins, losses = f"{for_a} cases that lean to A", f"{for_b} to B"
    reason = f"{wins} and {losses} may be chance (alpha {alpha:g})"
    if MOSTLY_INCONSISTENT in flags:
        return f"the judge contradicts itself on most pairs; {reason}"
    return reason


def _n_to_decide(whole: WinFigures, leaning: tuple[int, int], alpha: float) -> int | None:
    """Cases for a sign test with 80 % power, with as many even ones as now."""
    # Half a win and half a loss are added, so that three wins of three do not promise that the
    # fourth is one too.
    for_a, for_b = leaning
    # Power refers to cases that favour a side; the share of even ones is assumed to stay as it is.
    decided = for_a + for_b
    if for_a == for_b:
        return None
    share = (for_a + _EVEN) / (decided + 1)
    try:
        needed = sample_size_sign(share, alpha=alpha).value
    except ValueError:  # so near to a half that a million pairs would not do
        return None
    return max(whole.n_cases + 1, ceil(needed * whole.n_cases / decided))
