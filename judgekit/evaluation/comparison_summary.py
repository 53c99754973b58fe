"""Counts judged pairs, and concludes from those of two sides which one is better.

A ranking of more sides counts with the same tallies (`ranking_summary`); the result types are in
`comparison_result`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, get_args

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparison_result import (
    MOSTLY_INCONSISTENT,
    POSITION_BIAS,
    ComparisonSummary,
    JudgeFigures,
    PanelFigures,
    SequentialEvidence,
    SideCounts,
    WinFigures,
    decide_comparison,
)
from judgekit.evaluation.pairing import JudgedPair, LeftOut
from judgekit.evaluation.usage import JudgeTally
from judgekit.prompts import pairwise_text
from judgekit.records import (
    VALUE_TOLERANCE,
    WINNER_POINTS,
    CaseStratum,
    Comparison,
    Preference,
    PreferenceFailure,
    PreferenceSlot,
    ReconciliationRule,
    Rubric,
    Winner,
)
from judgekit.stats.alpha import Alpha, krippendorff_alpha
from judgekit.stats.bias import PositionBias, position_bias
from judgekit.stats.estimate import Estimate, cluster_means, known_observations, undefined_estimate
from judgekit.stats.intervals import clustered_proportion
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import clustered_win_rate
from judgekit.stats.quantiles import SLACK
from judgekit.stats.ranking import LengthControlledWinRate, length_controlled_win_rate

if TYPE_CHECKING:
    from judgekit.evaluation.ranking_result import MatchResult


class ComparisonTally:
    """Sums up comparisons of two sides."""

    def __init__(self, rubric: Rubric, labels: tuple[str, str], *, alpha: float = 0.05) -> None:
        self._rubric, self._labels, self._alpha = rubric, labels, alpha
        self._numbers: dict[str, int] = {}
        self._whole = PairTally()
        self._criteria: dict[str, PairTally] = {}
        self._tags: dict[str, PairTally] = {}
        self._strata: dict[str, PairTally] = {}
        self._flips = OrderTally()
        self._lengths = array("d"), array("d")
        self._raws = array("d"), array("d")
        self._n_identical = 0
        self._n_scrubbed: int | None = 0
        self._judge = PairJudgeTally()
        self._panel = PanelTally()

    def add(self, judged: JudgedPair) -> None:
        pair, comparison = judged
        self._judge.add(comparison)
        # Unknown once scrubbing was off for a pair.
        if self._n_scrubbed is not None:
            passages = comparison.scrubbed
            self._n_scrubbed = None if passages is None else self._n_scrubbed + len(passages)
        # A pair with an output in error is left out of wins: an error is not a loss of quality.
        if comparison.error is not None:
            return
        # Cases become numbers, so that tallies are arrays; repeats of a case share one and form a
        # cluster.
        number = self._numbers.setdefault(pair.case.id, len(self._numbers))
        self._add_outcome(number, judged)
        for lengths, output in zip(self._lengths, (pair.a, pair.b), strict=True):
            lengths.append(len(pairwise_text(output)))
        # Scores count in pairs only, so that both means are over the same cases.
        if comparison.raw_a is not None and comparison.raw_b is not None:
            for raws, raw in zip(self._raws, (comparison.raw_a, comparison.raw_b), strict=True):
                raws.append(raw)
        self._n_identical += comparison.is_identical
        # Nobody was asked about identical texts: they say nothing about the judge.
        if not comparison.is_identical:
            answers: list[Preference | PreferenceFailure]
            answers = [*comparison.preferences, *comparison.failures]
            self._flips.add(number, comparison.consistent, answers)
            self._panel.add(number, comparison)

    def _add_outcome(self, number: int, judged: JudgedPair) -> None:
        case, comparison = judged.pair.case, judged.comparison
        groups = [(self._tags, tag) for tag in case.tags]
        groups += [(self._strata, name) for name in (case.stratum,) if name is not None]
        tallies = [tallies.setdefault(name, PairTally()) for tallies, name in groups]
        for tally in (self._whole, *tallies):
            contradicts = comparison.consistent is False
            tally.add(number, comparison.winner, contradicts=contradicts)
        for one in comparison.criteria:
            tally = self._criteria.setdefault(one.name, PairTally())
            tally.add(number, one.winner, contradicts=one.consistent is False)

    def summary(
        self,
        *,
        left_out: LeftOut | None = None,
        evidence: SequentialEvidence | None = None,
        level: float = 0.95,
    ) -> ComparisonSummary:
        """The figures of all pairs so far, and the decision."""
        # Everything is computed from the tallies, so that a summary may be asked for at any time.
        whole = self._whole.figures(level)
        flip_rate, position = self._flips.figures(level)
        flags = reliability_flags(flip_rate, position)
        controlled, reason = self._length_controlled(level)
        raw_a, raw_b = (fsum(raws) / len(raws) if raws else None for raws in self._raws)
        # Simple cases first, as the type lists them, whatever order they came in.
        known = [stratum for stratum in get_args(CaseStratum) if stratum in self._strata]
        return ComparisonSummary(
            a=self._labels[0],
            b=self._labels[1],
            rubric=self._rubric.name,
            judges=tuple(self._judge.judges),
            models=tuple(self._judge.models),
            decision=decide_comparison(
                whole, self._whole.leaning(), alpha=self._alpha, flags=flags, evidence=evidence
            ),
            whole=whole,
            criteria=self._adjusted(level),
            strata={stratum: self._strata[stratum].figures(level) for stratum in known},
            tags={tag: self._tags[tag].figures(level) for tag in sorted(self._tags)},
            flip_rate=flip_rate,
            position=position,
            length_controlled=controlled,
            length_reason=reason,
            raw_a=raw_a,
            raw_b=raw_b,
            raw_winner=_higher(raw_a, raw_b),
            n_identical=self._n_identical,
            n_errors=self._judge.n_errors,
            failures=dict(self._judge.failures.most_common()),
            failure_messages=self._judge.messages,
            flags=flags,
            spent=self._judge.spent,
            left_out=left_out or LeftOut(),
            evidence=evidence,
            marks=dict(self._judge.flags.most_common()),
            n_scrubbed=self._n_scrubbed,
            rule=self._judge.rule or "consistent",
            panel=self._panel.figures(level),
        )

    def _adjusted(self, level: float) -> dict[str, WinFigures]:
        # In the order of the rubric; Holm counts all criteria that were compared.
        order = [c.name for c in self._rubric.criteria if c.name in self._criteria]
        found = {name: self._criteria[name].figures(level) for name in order}
        adjusted = adjust([figures.p for figures in found.values()], "holm").known
        return {
            name: replace(figures, p_adjusted=p)
            for (name, figures), p in zip(found.items(), adjusted, strict=True)
        }

    def _length_controlled(self, level: float) -> tuple[LengthControlledWinRate | None, str | None]:
        try:
            found = length_controlled_win_rate(
                self._whole.points, *self._lengths, clusters=self._whole.cases, level=level
            )
        except NotEnoughDataError as error:
            return None, error.message
        return found, None


def _higher(raw_a: float | None, raw_b: float | None) -> Winner | None:
    if raw_a is None or raw_b is None:
        return None
    # Means of many scores differ in their last digits without meaning it.
    if abs(raw_a - raw_b) <= VALUE_TOLERANCE:
        return "tie"
    return "a" if raw_a > raw_b else "b"


_EVEN = _MOSTLY = 0.5


@dataclass(slots=True)
class PairTally:
    """The outcomes of two sides: of all their pairs, on a criterion, or by one judge."""

    # Arrays, since a comparison may have millions of pairs and keeps a tally for each criterion,
    # tag and stratum: 12 bytes a pair.
    cases: array[int] = field(default_factory=lambda: array("I"))
    points: array[float] = field(default_factory=lambda: array("d"))
    n_inconsistent: int = 0

    def add(self, case: int, winner: Winner | None, *, contradicts: bool) -> None:
        """Count one pair; `contradicts` means that its two orders name different winners."""
        self.cases.append(case)
        # An undecided pair is missing, not half a win.
        self.points.append(nan if winner is None else WINNER_POINTS[winner])
        # Under the rule `average` a contradiction can still have a winner; then it is a win.
        self.n_inconsistent += winner == "tie" and contradicts

    def counts(self) -> SideCounts:
        points = Counter(self.points)
        wins, ties, losses = (points[each] for each in (1.0, 0.5, 0.0))
        return SideCounts(
            n_cases=len(set(self.cases)),
            wins=wins,
            ties=ties - self.n_inconsistent,
            inconsistent=self.n_inconsistent,
            losses=losses,
            n_undecided=len(self.points) - wins - ties - losses,
        )

    def leaning(self) -> tuple[int, int]:
        """Cases that lean to the first and to the second side by the mean of their pairs."""
        # Repeats of a case are not independent, so a sign test may count each case only once.
        means = cluster_means(*known_observations(self.points, self.cases)).values()
        return sum(m > _EVEN + SLACK for m in means), sum(m < _EVEN - SLACK for m in means)

    def share(self, undecided: float = nan) -> float:
        """The first side's mean share over cases; undecided pairs are left out or count so much."""
        points = [undecided if isnan(each) else each for each in self.points]
        means = cluster_means(*known_observations(points, self.cases)).values()
        return fsum(means) / len(means) if means else undecided

    def figures(self, level: float) -> WinFigures:
        """The counts with the win rate, its interval and the sign test."""
        counts = self.counts()
        is_decided = counts.n_undecided < len(self.points)
        rate = clustered_win_rate(self.points, self.cases, level=level) if is_decided else None
        return WinFigures(
            **asdict(counts),
            n_pairs=len(self.points),
            rate=rate
            or undefined_estimate("no pair is decided", n=0, method="wilson", level=level),
            # What the share would be if every undecided pair went one way: no assumption about why
            # they are undecided.
            bounds=(self.share(0.0), self.share(1.0)),
            p=None if rate is None else rate.p_sign,
        )


class OrderTally:
    """The effect of the order of showing: contradictions, and the slots that were chosen."""

    def __init__(self) -> None:
        self._cases, self._flips = array("I"), array("d")
        self._asked: list[int] = []
        self._chosen: tuple[list[PreferenceSlot | None], list[PreferenceSlot | None]] = ([], [])

    def add(
        self,
        case: int,
        consistent: bool | None,  # noqa: FBT001 - the record's own three-valued field
        answers: Iterable[Preference | PreferenceFailure],
    ) -> None:
        self._cases.append(case)
        self._flips.append(nan if consistent is None else float(not consistent))
        every = list(answers)
        # Keyed by question: orders are paired only where the same judge was called alike, both
        # ways.
        chosen = {
            (each.judge, each.criterion, each.repeat, each.order): each.choice
            for each in every
            if isinstance(each, Preference)
        }
        for judge, criterion, repeat in {(e.judge, e.criterion, e.repeat): None for e in every}:
            self._asked.append(case)
            self._chosen[0].append(chosen.get((judge, criterion, repeat, "ab")))
            self._chosen[1].append(chosen.get((judge, criterion, repeat, "ba")))

    def figures(self, level: float) -> tuple[Estimate, PositionBias | None]:
        """The flip rate, and the position bias where some question was answered in both orders."""
        rate = flip_rate(self._flips, self._cases, level=level, reason="no pair was judged")
        position = None
        # Position bias is defined on questions that were answered in both orders.
        if any(x and y for x, y in zip(*self._chosen, strict=True)):
            position = position_bias(*self._chosen, clusters=self._asked, level=level)
        return rate, position


def flip_rate(
    flips: Sequence[float], cases: Sequence[Hashable], *, level: float, reason: str
) -> Estimate:
    """The share of pairs whose winner depends on the order; `reason` says why there is none."""
    if all(map(isnan, flips)):
        return undefined_estimate(reason, n=0, method="wilson", level=level)
    return clustered_proportion(flips, cases, level=level)


def reliability_flags(flip_rate: Estimate, position: PositionBias | None) -> tuple[str, ...]:
    flags = []
    if position is not None and (position.low > 0 or position.high < 0):
        flags.append(POSITION_BIAS)
    # Above one half a judge contradicts itself more often than a coin would.
    if flip_rate.value > _MOSTLY:
        flags.append(MOSTLY_INCONSISTENT)
    return tuple(flags)


@dataclass(slots=True)
class _MemberTally:
    """The pairs as one judge of a panel decides them."""

    wins: PairTally = field(default_factory=PairTally)
    flips: OrderTally = field(default_factory=OrderTally)

    def figures(self, judge: str, level: float) -> JudgeFigures:
        rate, position = self.flips.figures(level)
        return JudgeFigures(
            judge=judge,
            whole=self.wins.figures(level),
            flip_rate=rate,
            position=position,
            flags=reliability_flags(rate, position),
        )


class PanelTally:
    """Counts each panel member's own winners, and how far the members agree."""

    def __init__(self) -> None:
        self._judges: dict[str, _MemberTally] = {}
        # Who wins a pair by each judge that was asked about it
        self._winners: list[dict[str, Winner | None]] = []
        self._cases = array("I")
        self._agreements = array("d")

    def add(self, case: int, comparison: Comparison) -> None:
        """Count one pair that was asked about; of a single judge there is nothing to count."""
        if not comparison.judges:
            return
        for one in comparison.judges:
            member = self._judges.setdefault(one.judge, _MemberTally())
            member.wins.add(case, one.winner, contradicts=one.consistent is False)
            answers: list[Preference | PreferenceFailure]
            answers = [*comparison.preferences, *comparison.failures]
            own = [each for each in answers if each.judge == one.judge]
            member.flips.add(case, one.consistent, own)
        self._winners.append({one.judge: one.winner for one in comparison.judges})
        self._cases.append(case)
        if comparison.agreement is not None:
            self._agreements.append(comparison.agreement)

    def figures(self, level: float = 0.95) -> PanelFigures | None:
        """Each member's wins and order effects, and the agreement; None for one judge."""
        if not self._judges:
            return None
        return PanelFigures(
            judges=tuple(one.figures(name, level) for name, one in self._judges.items()),
            agreed=fsum(self._agreements) / len(self._agreements) if self._agreements else nan,
            alpha=self._alpha(level),
        )

    def _alpha(self, level: float) -> Alpha | None:
        # One row a pair and one column a judge; a judge that was not asked is missing, not a tie.
        rows = [[winners.get(judge) for judge in self._judges] for winners in self._winners]
        try:
            return krippendorff_alpha(rows, "nominal", clusters=self._cases, confidence=level)
        except NotEnoughDataError:
            return None


class PairJudgeTally(JudgeTally):
    """Who judged pairs by which rule, what failed, and what that cost."""

    def __init__(self) -> None:
        super().__init__()
        self.rules: dict[ReconciliationRule, None] = {}
        self.n_errors = 0

    def add(self, comparison: Comparison) -> None:
        """Count the answers and failures of one pair; without a judge's reply, only its error."""
        self.rules[comparison.rule] = None
        self.n_errors += comparison.error is not None
        self.take([*comparison.preferences, *comparison.failures])

    @property
    def rule(self) -> ReconciliationRule | None:
        """The rule of all comparisons; None without any, or where they differ."""
        return next(iter(self.rules)) if len(self.rules) == 1 else None


def tally_pairs(matches: Iterable[MatchResult]) -> dict[tuple[str, str], PairTally]:
    numbers: dict[object, int] = {}
    tallies: dict[tuple[str, str], PairTally] = {}
    for place, match in enumerate(matches):
        # A match that names no case is a case of its own; places are integers and case ids text,
        # so the two kinds of keys cannot collide.
        case = numbers.setdefault(match.case_id or place, len(numbers))
        tally = tallies.setdefault((match.a, match.b), PairTally())
        tally.add(case, match.winner, contradicts=match.is_inconsistent)
    return tallies
