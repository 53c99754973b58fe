"""The results of a ranking, and what one comparison says about the strengths of two sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import fsum, nan
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from judgekit.errors import SettingsError
from judgekit.evaluation.comparison_result import PanelFigures, SideCounts
from judgekit.evaluation.pairing import LeftOut
from judgekit.presentable import Presentable
from judgekit.records import (
    WINNER_POINTS,
    Comparison,
    PreferenceSlot,
    PresentationOrder,
    ReconciliationRule,
    Ties,
    Winner,
)

if TYPE_CHECKING:
    from judgekit.evaluation.usage import JudgeUsage
    from judgekit.stats.estimate import Estimate

# What shows that one side is stronger: the strengths and their errors, the exact sign test of the
# cases both met on, or the always-valid evidence of these.
EvidenceKind = Literal["wald", "sign", "e-value"]
# Why no more was asked: all there is was; the places are decided; so many comparisons were allowed;
# so much money; the cases of the pairs that matter are used up; the user broke it off.
EndReason = Literal["all", "decided", "comparisons", "cost", "cases", "model", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRules:
    """How a ranking is concluded."""

    ties: Ties = "half"
    # How many of the first places are to be decided, 1 or more
    top: int = 1
    # The error a decision may have, over all pairs together, in (0, 1)
    alpha: float = 0.05

    def check(self, n_sides: int) -> None:
        if self.ties not in get_args(Ties):
            raise SettingsError(
                f"no rule for ties is called {self.ties!r}",
                hint=f"one of {', '.join(get_args(Ties))}",
            )
        if not 0 < self.alpha < 1:
            raise SettingsError(f"alpha is {self.alpha}; it lies between 0 and 1")
        if not 1 <= self.top < max(2, n_sides):
            raise SettingsError(
                f"the first {self.top} of {n_sides} places cannot be decided",
                hint=f"--top is 1 to {max(1, n_sides - 1)}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSide:
    """One side and its place.

    Attributes:
        group: Which group of sides that met, if by way of others; from 0. No place holds across
            groups.
        place: Its place in the group, from 1; equal strengths share one.
        best: The best place it may have, given which sides are shown to be stronger.
        strength: Log-strength, mean 0 in its group: of two sides the stronger wins with the odds
            exp(difference). The interval is open (nan) where the side won or lost everything.
        elo: The strength on Elo's scale: 1000 + 400 / ln 10 of it.
        win_share: Its share of wins over all it met, no winner being half a win.
        bounds: The same if it had lost all comparisons a failure leaves open, and if it had won
            them.
        win_rate: How far it is preferred on average: by probabilities where they are known, else
            its share of wins. Cases are independent; `se` is the standard error.
        is_unbeaten: Whether it won every comparison, so that its strength has no upper bound.
    """

    name: str
    group: int
    place: int
    best: int
    worst: int
    strength: Estimate
    elo: float
    win_share: float
    bounds: tuple[float, float]
    win_rate: Estimate
    n_comparisons: int
    is_unbeaten: bool
    is_winless: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFigures(SideCounts):
    """Two sides against each other.

    Attributes:
        share: a's share of wins, no winner being half a win; nan where they never met.
        expected: The share that the strengths stand for; nan in different groups.
        p: Two-sided p of equal strengths; None where nothing is known.
        p_adjusted: The same after Holm, over all pairs.
        stronger: The side that is shown to be stronger, by p or by way of sides between; None for
            neither.
    """

    a: str
    b: str
    share: float
    expected: float
    p: float | None
    p_adjusted: float | None
    evidence: EvidenceKind
    stronger: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankDecision:
    """Whether the first places are decided."""

    is_decided: bool
    # The sides in the first places, best first; what is decided, or what only seems so
    order: tuple[str, ...]
    reason: str
    alpha: float
    # Without a decision: about how many cases would tell the two closest of the places apart four
    # times in five, if they differ as much as they seem to; None where none is in sight
    n_to_decide: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingProvenance:
    """Who was asked, what that took and why it ended; empty for comparisons that were given.

    Attributes:
        n_planned: Comparisons there would have been; None where nobody asked.
        n_errors: Comparisons of which an output is an error; not judged.
        rule: Who wins where the orders differ; None where that is not known, or not the same for
            all.
        panel: The judges of a panel by themselves, over all they compared, `a` being the side that
            comes first in the alphabet; None for one judge.
    """

    rubric: str | None = None
    judges: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    is_adaptive: bool = False
    ended: EndReason = "all"
    n_planned: int | None = None
    n_errors: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    failure_messages: dict[str, str] = field(default_factory=dict)
    left_out: LeftOut = field(default_factory=LeftOut)
    spent: JudgeUsage | None = None
    rule: ReconciliationRule | None = None
    panel: PanelFigures | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentWins:
    """How far each side is preferred on the cases of a stratum or a tag.

    Attributes:
        n_cases: Cases with a comparison.
        win_rates: By side, in the order of the ranking: its share of wins over all it met there, no
            winner being half a win.
    """

    n_cases: int
    win_rates: dict[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RankingSummary(Presentable):
    """Sides in the order of their strengths.

    Attributes:
        groups: Sides that met, if by way of others; with several of them nothing ranks all.
        levels: Sides that beat each other, if by way of others, where a group has several such
            levels: between levels one side has won every time, so that no strength can be
            estimated.
        tie_share: The share of choices that are ties.
        tie_parameter: Davidson's nu or Rao and Kupper's theta; None for half wins, or without ties.
        position: Log-odds by which the output shown first is favoured between equals; None where it
            is not known.
        strata: Who won how often on the cases of each stratum; empty where the cases are not known,
            as of comparisons from a file.
        tags: The same for each tag.
    """

    sides: tuple[RankedSide, ...]
    pairs: tuple[PairFigures, ...]
    decision: RankDecision
    groups: tuple[tuple[str, ...], ...]
    levels: tuple[tuple[str, ...], ...]
    ties: Ties
    tie_share: float
    tie_parameter: float | None
    position: Estimate | None
    position_reason: str | None
    flip_rate: Estimate
    n_cases: int
    n_comparisons: int
    n_undecided: int
    n_identical: int
    questioned: RankingProvenance
    strata: dict[str, SegmentWins] = field(default_factory=dict)
    tags: dict[str, SegmentWins] = field(default_factory=dict)


_MIRRORED: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}

# A match turned round was shown in the other order as well.
_TURNED: dict[PresentationOrder, PresentationOrder] = {"ab": "ba", "ba": "ab"}

_OUTCOMES: dict[PreferenceSlot, tuple[float, float, float]] = {
    "first": (1.0, 0.0, 0.0), "second": (0.0, 1.0, 0.0), "tie": (0.0, 0.0, 1.0),
}  # fmt: skip


class MatchResult(NamedTuple):
    """Two sides that answered the same case, and which of them the judge preferred.

    Attributes:
        case_id: The case; comparisons without one are cases of their own.
        a: A side; in the order of the alphabet the first of both.
        choices: The overall choice in each order, or where probabilities are averaged how far the
            first was preferred; empty where only the winner is known.
        is_identical: Whether both sides were the same text, so that nobody was asked.
        share: How far a is preferred, in [0, 1], where that is known better than by the winner.
    """

    case_id: str
    a: str
    b: str
    winner: Winner | None
    is_inconsistent: bool
    choices: tuple[tuple[PresentationOrder, PreferenceSlot | float], ...] = ()
    is_identical: bool = False
    share: float | None = None

    @property
    def preferred(self) -> float:
        """How far a is preferred: its share, else its points; nan where that is open."""
        return self.points if self.share is None else self.share

    @property
    def points(self) -> float:
        """What a gets: 1, ½ or 0; nan where it is open."""
        return nan if self.winner is None else WINNER_POINTS[self.winner]

    @property
    def has_both_orders(self) -> bool:
        """Whether the choices of both orders are known, so that position bias can be measured."""
        return self.is_identical or {order for order, _ in self.choices} == {"ab", "ba"}

    def shown(self) -> list[tuple[str, str, tuple[float, float, float]]]:
        """The choices with their places: who was shown first, who second, and how it came out."""
        # The same text is a tie in either order, though nobody was asked.
        if self.is_identical:
            return [(self.a, self.b, (0.0, 0.0, 1.0)), (self.b, self.a, (0.0, 0.0, 1.0))]
        found = []
        for order, (first, second) in (("ab", (self.a, self.b)), ("ba", (self.b, self.a))):
            # Several repeats or judges share one order: their mean is one observation.
            own = [
                (choice, 1 - choice, 0.0) if isinstance(choice, float) else _OUTCOMES[choice]
                for shown, choice in self.choices
                if shown == order
            ]
            won, lost, tied = (fsum(column) / len(own) for column in zip(*own, strict=True))
            found.append((first, second, (won, lost, tied)))
        return found


def match_result_of(found: Comparison, a: str, b: str) -> MatchResult | None:
    # An output in error lost nothing: the pair is left out, as in a comparison of two.
    if found.error is not None:
        return None
    # Only overall choices: criteria would count one judgment several times.
    whole = [each for each in found.preferences if each.criterion is None]
    # Under `consistent` only the choice decides; a probability would decide where the choice does
    # not.
    choices: list[tuple[PresentationOrder, PreferenceSlot | float]] = []
    for one in whole:
        p = one.logprob_first if found.rule == "average" else None
        choices.append((one.order, one.choice if p is None else p))
    return canonical_match(
        MatchResult(
            case_id=found.case_id or "",
            a=a,
            b=b,
            winner=found.winner,
            is_inconsistent=found.winner is not None and found.consistent is False,
            choices=_sorted(choices),
            is_identical=found.is_identical,
        )
    )


def canonical_match(meeting: MatchResult) -> MatchResult:
    """The same match, from the side that comes first in the alphabet."""
    # One orientation for each pair, so that wins of both directions add up.
    if meeting.a <= meeting.b:
        return meeting
    return meeting._replace(
        a=meeting.b,
        b=meeting.a,
        winner=None if meeting.winner is None else _MIRRORED[meeting.winner],
        share=None if meeting.share is None else 1 - meeting.share,
        choices=_sorted((_TURNED[order], choice) for order, choice in meeting.choices),
    )


def sort_matches(meetings: Iterable[MatchResult]) -> list[MatchResult]:
    """Meetings in an order of their own, so that no figure hangs on the order they came in."""
    # Floats are summed in this order: any other would change the last digits of strengths.
    return sorted(meetings, key=lambda m: (m[:3], m.winner or "", str(m[4:])))


def _sorted(
    choices: Iterable[tuple[PresentationOrder, PreferenceSlot | float]],
) -> tuple[tuple[PresentationOrder, PreferenceSlot | float], ...]:
    return tuple(sorted(choices, key=str))
