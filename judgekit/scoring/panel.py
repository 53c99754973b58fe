"""Combines the votes of several judges on one criterion, as the panel is set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from operator import attrgetter, mul
from typing import NamedTuple, Self

from judgekit.records import Criterion, JudgeFailure, Judgment, PanelCombination, RunPanel, Scale
from judgekit.stats.votes import median, mode, mode_bounds, nearest

_JUDGE, _CRITERION = attrgetter("judge"), attrgetter("criterion")


class MemberVote(NamedTuple):
    """The vote of one judge on one criterion, repeats and failures included."""

    values: list[float]
    n_failed: int
    weight: float = 1.0
    is_due: bool = False
    """Whether the judge counts in the bounds even without any answer."""

    @classmethod
    def of(
        cls,
        criterion: str,
        judgments: Sequence[Judgment],
        failures: Sequence[JudgeFailure],
        *,
        weight: float = 1.0,
        is_due: bool = False,
    ) -> Self:
        values: list[float] = []
        for judgment in judgments:
            if judgment.criterion == criterion:
                values.append(judgment.value)  # noqa: PERF401 - twice as quick as a comprehension for the one judgment there usually is
        n_failed = list(map(_CRITERION, failures)).count(criterion)
        return cls(values, n_failed, weight, is_due)

    @property
    def was_asked(self) -> bool:
        return bool(self.values) or self.n_failed > 0

    @property
    def value(self) -> float | None:
        return fsum(self.values) / len(self.values) if self.values else None

    @property
    def low(self) -> float:
        """Its value if every failure were the worst judgment."""
        return fsum(self.values) / (len(self.values) + self.n_failed) if self.values else 0

    @property
    def high(self) -> float:
        """Its value if every failure were the best judgment."""
        if not self.values:
            return 1
        return fsum([*self.values, self.n_failed]) / (len(self.values) + self.n_failed)


@dataclass(frozen=True, slots=True)
class Member:
    """One judge of a panel, and its judgments of one output."""

    judgments: list[Judgment]
    failures: list[JudgeFailure]
    weight: float
    is_due: bool
    is_extra: bool = False
    """Whether it answered although the panel does not name it."""

    place: str = ""
    """The judge of the panel whose vote it is."""

    def vote(self, criterion: str) -> MemberVote:
        return MemberVote.of(
            criterion, self.judgments, self.failures, weight=self.weight, is_due=self.is_due
        )

    def is_sure(self, criterion: str, limit: float) -> bool:
        """Whether it answered a criterion in every repeat, and was sure enough each time."""
        judgments = [j for j in self.judgments if j.criterion == criterion]
        failures = [f for f in self.failures if f.criterion == criterion]
        return is_confident(judgments, failures, limit)


class PanelValue(NamedTuple):
    """The value of a panel's votes, and its bounds."""

    value: float | None
    low: float
    high: float


_NOTHING = PanelValue(None, 0, 1)


def panel_members(
    judgments: Sequence[Judgment], failures: Sequence[JudgeFailure], panel: RunPanel
) -> list[Member]:
    """The judges in the order of their calls: those the panel names, then all others."""
    # Human judgments bear the annotator's name; where the panel names `human`, they are its votes.
    sources = {judgment.judge: judgment.source for judgment in judgments}
    present = list(dict.fromkeys([*sources, *(failure.judge for failure in failures)]))
    places: list[tuple[str, str | None]] = []
    for place in panel.judges:
        own = [n for n in present if n == place or place == sources.get(n) == "human"]
        places += [(name, place) for name in own or [place]]
    members = {name for name, _ in places}
    places += [(name, None) for name in present if name not in members]
    return [
        Member(
            [j for j in judgments if j.judge == name],
            [f for f in failures if f.judge == name],
            panel.weights.get(name, panel.weights.get(place or "", 1.0)),
            # `heuristic` answers only for what it checks: its silence is no missing vote.
            is_due=place not in {None, "heuristic"},
            is_extra=place is None,
            place=place or "",
        )
        for name, place in places
    ]


def members_for(
    criterion: Criterion, members: Sequence[Member], panel: RunPanel
) -> Sequence[Member]:
    """The judges of a panel whose votes count for a criterion."""
    if not panel.named:
        return members
    # An assertion names the criteria it judges itself, and an annotator adds to any panel.
    return [m for m in members if not m.is_due or panel.grades(m.place, criterion)]


def is_cascade_open(
    members: Sequence[Member], criterion: str, escalate_below: float | None
) -> bool:
    """Whether a cascade has not ended: the next judge is due, and has not answered yet."""
    votes = [(member, member.vote(criterion)) for member in members]
    called = [place for place, (_, vote) in enumerate(votes) if vote.was_asked]
    if escalate_below is None or not called or votes[called[-1]][0].is_extra:
        return False
    due = [place for place, (member, _) in enumerate(votes) if member.is_due]
    last = max(set(called) & set(due), default=-1)
    return last < max(due, default=-1) and not votes[last][0].is_sure(criterion, escalate_below)


def is_confident(
    judgments: Sequence[Judgment], failures: Sequence[JudgeFailure], limit: float | None
) -> bool:
    """Whether one judge is confident enough of a criterion that no further judge is called."""
    least = limit or 0.0
    return (
        bool(judgments)
        and not failures
        and all(j.confidence is not None and j.confidence >= least for j in judgments)
    )


def is_sure_of(
    criterion: str, outcomes: Sequence[Judgment | JudgeFailure], panel: RunPanel
) -> bool:
    """Whether a judge of a cascade is confident enough of a criterion, over all its repeats."""
    own = [one for one in outcomes if one.criterion == criterion]
    judgments = with_repeat_confidence([one for one in own if isinstance(one, Judgment)])
    failures = [one for one in own if isinstance(one, JudgeFailure)]
    return is_confident(judgments, failures, panel.escalate_below)


_ENOUGH_REPEATS = 2


def with_repeat_confidence(judgments: Sequence[Judgment]) -> tuple[Judgment, ...]:
    """The judgments, each with how well the repeats of its criterion agree."""
    # The agreement of repeats with values v_1 … v_n on [0, 1] is `1 - 2 * sd`, where `sd` is their
    # standard deviation about the mean: 1 when all are the same, 0 when half are worst and half
    # best, which is the furthest apart values in [0, 1] can be. With one judgment there is none.
    # Repeats of different criteria, or of different turns, say nothing about each other.
    by_question: dict[tuple[str, int | None], list[float]] = {}
    for judgment in judgments:
        question = judgment.criterion, judgment.turn
        by_question.setdefault(question, []).append(judgment.value)
    if len(by_question) == len(judgments):
        return tuple(judgments)
    return tuple(
        _with_agreement(judgment, by_question[judgment.criterion, judgment.turn])
        for judgment in judgments
    )


def _with_agreement(judgment: Judgment, values: list[float]) -> Judgment:
    if len(values) < _ENOUGH_REPEATS:
        return judgment
    mean = fsum(values) / len(values)
    spread = (fsum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    agreement = max(0.0, 1.0 - 2.0 * spread)
    # Repeats are trusted before token probabilities, and those before what the judge states.
    return judgment.model_copy(update={"repeat_confidence": agreement, "confidence": agreement})


def combine_votes(
    votes: Sequence[MemberVote], combine: PanelCombination, scale: Scale
) -> PanelValue:
    """The combined value of a panel's votes on one criterion."""
    if combine == "cascade":
        called = [vote for vote in votes if vote.was_asked]
        values = [vote.value for vote in called if vote.value is not None]
        return PanelValue(values[-1], called[-1].low, called[-1].high) if values else _NOTHING
    usable = [(vote.weight, vote.value) for vote in votes if vote.value is not None]
    if not usable:
        return _NOTHING
    counting = [vote for vote in votes if vote.was_asked or vote.is_due]
    if combine == "majority":
        return _majority([value for _, value in usable], counting, scale)
    if combine == "median":
        return PanelValue(
            median([value for _, value in usable]),
            median([vote.low for vote in counting]),
            median([vote.high for vote in counting]),
        )
    even = combine == "mean"
    return PanelValue(
        weighted_mean([(1.0 if even else weight, value) for weight, value in usable]),
        weighted_mean([(1.0 if even else vote.weight, vote.low) for vote in counting]),
        weighted_mean([(1.0 if even else vote.weight, vote.high) for vote in counting]),
    )


def _majority(values: Sequence[float], counting: Sequence[MemberVote], scale: Scale) -> PanelValue:
    points = None if scale.points is None else [scale.value_of(point) for point in scale.points]
    value = mode([nearest(value, points) for value in values])
    ends = [(nearest(vote.low, points), nearest(vote.high, points)) for vote in counting]
    sure = [low for low, high in ends if low == high]
    return PanelValue(value, *(mode_bounds(sure, len(ends) - len(sure)) or (0, 1)))


def weighted_mean(parts: Sequence[tuple[float, float]]) -> float:
    """The weighted mean of values in [0, 1]; equal weights if all are 0."""
    weights, values = zip(*parts, strict=True)
    if not (total := fsum(weights)):
        weights, total = (1.0,) * len(values), float(len(values))
    mean = fsum(map(mul, weights, values)) / total
    return min(1.0, max(0.0, mean))
