"""Tallies of judged pairs: who won, what the order did, who judged and what failed.

A comparison of two sides and a ranking of more count with these; the conclusions they draw are in
`comparison_summary` and `ranking_summary`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparison_result import (
    MOSTLY_INCONSISTENT,
    POSITION_BIAS,
    JudgeFigures,
    PanelFigures,
    WinFigures,
)
from judgekit.evaluation.judges import JudgeUsage, one_per_reply
from judgekit.records import WINNER_POINTS, Preference
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.bias import position_bias
from judgekit.stats.estimate import Estimate, cluster_means, known_observations, undefined_estimate
from judgekit.stats.intervals import clustered_proportion
from judgekit.stats.paired import clustered_win_rate
from judgekit.stats.quantiles import SLACK

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from judgekit.evaluation.ranking_result import MatchResult
    from judgekit.records import (
        Comparison,
        PairAnswer,
        PreferenceFailure,
        PreferenceSlot,
        ReconciliationRule,
        Winner,
    )
    from judgekit.stats.alpha import Alpha
    from judgekit.stats.bias import PositionBias

_EVEN = _MOSTLY = 0.5


class SideCounts(NamedTuple):
    """How the pairs of two sides came out."""

    n_cases: int
    wins: int
    ties: int
    inconsistent: int
    losses: int
    n_undecided: int


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
        """The number of pairs of each outcome."""
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
            **counts._asdict(),
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
        """Count one pair that a judge was asked about."""
        self._cases.append(case)
        self._flips.append(nan if consistent is None else float(not consistent))
        every = list(answers)
        # Keyed by question: orders are paired only where the same judge was asked the same, both
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
    """The reasons not to trust a judge."""
    flags = []
    if position is not None and (position.low > 0 or position.high < 0):
        flags.append(POSITION_BIAS)
    # Above one half a judge contradicts itself more often than a coin would.
    if flip_rate.value > _MOSTLY:
        flags.append(MOSTLY_INCONSISTENT)
    return tuple(flags)


_WINNERS: tuple[Winner | None, ...] = ("a", "tie", "b", None)


@dataclass(slots=True)
class _MemberTally:
    """The pairs as one judge of a panel decides them."""

    wins: PairTally = field(default_factory=PairTally)
    flips: OrderTally = field(default_factory=OrderTally)
    places: array[int] = field(default_factory=lambda: array("I"))
    winners: array[int] = field(default_factory=lambda: array("B"))


class PanelTally:
    """Counts each panel member's own winners, and how far the members agree."""

    def __init__(self) -> None:
        self._judges: dict[str, _MemberTally] = {}
        self._cases = array("I")
        self._agreements = array("d")

    def add(self, case: int, comparison: Comparison) -> None:
        """Count one pair that was asked about; of a single judge there is nothing to count."""
        if not comparison.judges:
            return
        for one in comparison.judges:
            member = self._judges.setdefault(one.judge, _MemberTally())
            member.wins.add(case, one.winner, contradicts=one.consistent is False)
            member.places.append(len(self._cases))
            member.winners.append(_WINNERS.index(one.winner))
            answers: list[Preference | PreferenceFailure]
            answers = [*comparison.preferences, *comparison.failures]
            own = [each for each in answers if each.judge == one.judge]
            member.flips.add(case, one.consistent, own)
        self._cases.append(case)
        if comparison.agreement is not None:
            self._agreements.append(comparison.agreement)

    def figures(self, level: float = 0.95) -> PanelFigures | None:
        """Each member's wins and order effects, and the agreement; None for one judge."""
        if not self._judges:
            return None
        return PanelFigures(
            judges=tuple(_judge_figures(name, one, level) for name, one in self._judges.items()),
            agreed=fsum(self._agreements) / len(self._agreements) if self._agreements else nan,
            alpha=self._alpha(level),
        )

    def _alpha(self, level: float) -> Alpha | None:
        # One row a pair and one column a judge; a judge that was not asked is missing, not a tie.
        rows: list[list[Winner | None]] = [[None] * len(self._judges) for _ in self._cases]
        for column, one in enumerate(self._judges.values()):
            for place, winner in zip(one.places, one.winners, strict=True):
                rows[place][column] = _WINNERS[winner]
        try:
            return krippendorff_alpha(rows, "nominal", clusters=self._cases, confidence=level)
        except NotEnoughDataError:
            return None


def _judge_figures(judge: str, one: _MemberTally, level: float) -> JudgeFigures:
    rate, position = one.flips.figures(level)
    return JudgeFigures(
        judge=judge,
        whole=one.wins.figures(level),
        flip_rate=rate,
        position=position,
        flags=reliability_flags(rate, position),
    )


class JudgeTally:
    """Who judged by which rule, what failed, and what that cost."""

    def __init__(self) -> None:
        # Dicts, since the order of first appearance is reported.
        self.rules: dict[ReconciliationRule, None] = {}
        self.judges: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.failures: Counter[str] = Counter()
        self.messages: dict[str, str] = {}
        self.marks: Counter[str] = Counter()
        self.n_errors = 0
        self._counts: Counter[str] = Counter()
        self._usd = {"paid": 0.0, "saved": 0.0}
        self._is_unknown = False

    def add(self, comparison: Comparison) -> None:
        """Count the answers and failures of one pair; without a judge's reply, only its error."""
        self.rules[comparison.rule] = None
        self.n_errors += comparison.error is not None
        for failure in comparison.failures:
            self.failures[failure.kind] += 1
            self.messages.setdefault(failure.kind, failure.message)
        for preference in comparison.preferences:
            self.marks.update(preference.flags)
            if preference.model:
                self.models[preference.model] = None
        answers: list[Preference | PreferenceFailure]
        answers = [*comparison.preferences, *comparison.failures]
        for each in answers:
            self.judges[each.judge] = None
            self._add_cost(each)
        for reply in one_per_reply(answers):
            self._counts["replies"] += reply.n_calls
            self._counts["cached"] += reply.n_calls if reply.cached else 0

    @property
    def rule(self) -> ReconciliationRule | None:
        """The rule of all comparisons; None without any, or where they differ."""
        return next(iter(self.rules)) if len(self.rules) == 1 else None

    def usage(self) -> JudgeUsage:
        """Replies, tokens and money."""
        return JudgeUsage(
            n_replies=self._counts["replies"],
            n_cached=self._counts["cached"],
            cost_usd=self._usd["paid"],
            saved_usd=self._usd["saved"],
            cost_unknown=self._is_unknown,
            input_tokens=self._counts["input"],
            output_tokens=self._counts["output"],
        )

    def _add_cost(self, each: PairAnswer) -> None:
        # Questions that share a reply (joint mode) have shared its cost already: no division here.
        if each.cached:
            self._usd["saved"] += each.price_usd or 0.0
        elif each.n_calls:
            self._usd["paid"] += each.cost_usd or 0.0
            self._is_unknown |= each.cost_usd is None
            if each.usage is not None:
                self._counts["input"] += each.usage.input_tokens
                self._counts["output"] += each.usage.output_tokens


def tally_pairs(matches: Iterable[MatchResult]) -> dict[tuple[str, str], PairTally]:
    """The tally of every two sides that met."""
    numbers: dict[object, int] = {}
    tallies: dict[tuple[str, str], PairTally] = {}
    for place, match in enumerate(matches):
        # A match that names no case is a case of its own; places are integers and case ids text,
        # so the two kinds of keys cannot collide.
        case = numbers.setdefault(match.case_id or place, len(numbers))
        tally = tallies.setdefault((match.a, match.b), PairTally())
        tally.add(case, match.winner, contradicts=match.is_inconsistent)
    return tallies
