"""Counts judged pairs as they arrive and summarizes them: wins, order effects, panel agreement.

The result types are in `comparison_result`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field, replace
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, Protocol, get_args

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparison_result import (
    MOSTLY_INCONSISTENT,
    POSITION_BIAS,
    ComparisonSummary,
    JudgeFigures,
    PanelFigures,
    WinFigures,
    decide_comparison,
)
from judgekit.evaluation.judges import JudgeUsage
from judgekit.evaluation.pairing import LeftOut
from judgekit.prompts import pairwise_text
from judgekit.records import VALUE_TOLERANCE, CaseStratum, Preference
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.bias import position_bias
from judgekit.stats.estimate import Estimate, cluster_means, known_observations, undefined_estimate
from judgekit.stats.intervals import clustered_proportion
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import clustered_win_rate
from judgekit.stats.quantiles import SLACK
from judgekit.stats.ranking import length_controlled_win_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.evaluation.comparison_result import SequentialEvidence
    from judgekit.evaluation.pairing import JudgedPair
    from judgekit.records import (
        Comparison,
        PairAnswer,
        PreferenceFailure,
        PreferenceSlot,
        ReconciliationRule,
        Rubric,
        ScrubbedPassage,
        Winner,
    )
    from judgekit.stats.alpha import Alpha
    from judgekit.stats.bias import PositionBias
    from judgekit.stats.ranking import LengthControlledWinRate


class ComparisonTally:
    """Sums up comparisons of two sides."""

    def __init__(self, rubric: Rubric, labels: tuple[str, str], *, alpha: float = 0.05) -> None:
        self._rubric, self._labels, self._alpha = rubric, labels, alpha
        self._numbers: dict[str, int] = {}
        self._whole = WinTally()
        self._criteria: dict[str, WinTally] = {}
        self._tags: dict[str, WinTally] = {}
        self._strata: dict[str, WinTally] = {}
        self._flips = OrderTally()
        self._lengths = array("d"), array("d")
        self._raws = array("d"), array("d")
        self._n_identical = self._n_errors = 0
        self._n_scrubbed: int | None = 0
        self._judge = _ReplyTally()
        self._panel = PanelTally()

    def take(self, compared: JudgedPair) -> None:
        """Count one pair."""
        pair, found = compared
        self._judge.take(found)
        self._n_scrubbed = _added(self._n_scrubbed, found.scrubbed)
        if found.error is not None:
            self._n_errors += 1
            return
        number = self._numbers.setdefault(pair.case.id, len(self._numbers))
        self._whole.add(number, found)
        for criterion in found.criteria:
            self._criteria.setdefault(criterion.name, WinTally()).add(number, criterion)
        groups = [(self._tags, tag) for tag in pair.case.tags]
        groups += [(self._strata, name) for name in (pair.case.stratum,) if name is not None]
        for wins, name in groups:
            wins.setdefault(name, WinTally()).add(number, found)
        for lengths, output in zip(self._lengths, (pair.a, pair.b), strict=True):
            lengths.append(len(pairwise_text(output)))
        if found.raw_a is not None and found.raw_b is not None:
            for raws, raw in zip(self._raws, (found.raw_a, found.raw_b), strict=True):
                raws.append(raw)
        self._n_identical += found.is_identical
        if not found.is_identical:
            self._flips.take(number, found, (*found.preferences, *found.failures))
            self._panel.take(number, found)

    def summary(
        self,
        *,
        left_out: LeftOut | None = None,
        evidence: SequentialEvidence | None = None,
        level: float = 0.95,
    ) -> ComparisonSummary:
        """What all that was counted comes to."""
        whole = self._whole.figures(level)
        flip_rate, position = self._flips.figures(level)
        flags = reliability_flags(flip_rate, position)
        controlled, reason = self._length_controlled(level)
        raw_a, raw_b = (_mean(raws) for raws in self._raws)
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
            n_errors=self._n_errors,
            failures=dict(self._judge.failures.most_common()),
            failure_messages=self._judge.messages,
            flags=flags,
            spent=self._judge.spent(),
            left_out=left_out or LeftOut(),
            evidence=evidence,
            marks=dict(self._judge.marks.most_common()),
            n_scrubbed=self._n_scrubbed,
            rule=self._judge.rule,
            panel=self._panel.figures(level),
        )

    def _adjusted(self, level: float) -> dict[str, WinFigures]:
        order = [c.name for c in self._rubric.criteria if c.name in self._criteria]
        found = {name: self._criteria[name].figures(level) for name in order}
        adjusted = adjust([figures.p for figures in found.values()], "holm").value
        return {
            name: replace(figures, p_adjusted=None if isnan(p) else p)
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


class _ReplyTally:
    """Who judged, what it failed to say, and what that cost."""

    def __init__(self) -> None:
        self.rule: ReconciliationRule = "consistent"
        self.judges: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.failures: Counter[str] = Counter()
        self.messages: dict[str, str] = {}
        self.marks: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._usd = {"paid": 0.0, "saved": 0.0}
        self._is_unknown = False

    def take(self, found: Comparison) -> None:
        self.rule = found.rule
        for failure in found.failures:
            self.failures[failure.kind] += 1
            self.messages.setdefault(failure.kind, failure.message)
        for preference in found.preferences:
            self.marks.update(preference.flags)
            if preference.model:
                self.models[preference.model] = None
        said: list[Preference | PreferenceFailure] = [*found.preferences, *found.failures]
        for each in said:
            self.judges[each.judge] = None
            self._pay(each)
        for answer in one_per_reply(said):
            self._counts["replies"] += answer.n_calls
            self._counts["cached"] += answer.n_calls if answer.cached else 0

    def _pay(self, each: PairAnswer) -> None:
        """Questions that share a reply (joint mode) share its cost already."""
        if each.cached:
            self._usd["saved"] += each.price_usd or 0.0
        elif each.n_calls:
            self._usd["paid"] += each.cost_usd or 0.0
            self._is_unknown |= each.cost_usd is None
            if each.usage is not None:
                self._counts["input"] += each.usage.input_tokens
                self._counts["output"] += each.usage.output_tokens

    def spent(self) -> JudgeUsage:
        return JudgeUsage(
            n_replies=self._counts["replies"],
            n_cached=self._counts["cached"],
            cost_usd=self._usd["paid"],
            saved_usd=self._usd["saved"],
            cost_unknown=self._is_unknown,
            input_tokens=self._counts["input"],
            output_tokens=self._counts["output"],
        )


def one_per_reply(
    said: list[Preference | PreferenceFailure],
) -> list[Preference | PreferenceFailure]:
    """One answer for each reply of a judge about one pair."""
    return list(
        {
            (place,) if one.reply_key is None else (one.reply_key, one.order, one.repeat): one
            for place, one in enumerate(said)
        }.values()
    )


def _added(n: int | None, scrubbed: tuple[ScrubbedPassage, ...] | None) -> int | None:
    """How many passages were taken out so far; None once nobody looked."""
    return None if n is None or scrubbed is None else n + len(scrubbed)


def _mean(raws: array[float]) -> float | None:
    return fsum(raws) / len(raws) if raws else None


def _higher(raw_a: float | None, raw_b: float | None) -> Winner | None:
    if raw_a is None or raw_b is None:
        return None
    if abs(raw_a - raw_b) <= VALUE_TOLERANCE:
        return "tie"
    return "a" if raw_a > raw_b else "b"


_NONE = float("nan")

_POINTS = {"a": 1.0, "tie": 0.5, "b": 0.0, None: _NONE}

_EVEN = _MOSTLY = 0.5


class _ReconciledOrders(Protocol):
    """What two orders come to: of a pair, on a criterion, or by one judge of a panel."""

    @property
    def winner(self) -> Winner | None:
        """Which output is better."""
        ...

    @property
    def consistent(self) -> bool | None:
        """Whether both orders say the same."""
        ...


@dataclass(slots=True)
class WinTally:
    """The winners of a group of pairs."""

    cases: array[int] = field(default_factory=lambda: array("I"))
    points: array[float] = field(default_factory=lambda: array("d"))
    n_inconsistent: int = 0

    def add(self, case: int, found: _ReconciledOrders) -> None:
        """Count one pair."""
        self.cases.append(case)
        self.points.append(_POINTS[found.winner])
        self.n_inconsistent += found.winner == "tie" and found.consistent is False

    def figures(self, level: float) -> WinFigures:
        """What they come to."""
        counts = Counter(self.points)
        wins, ties, losses = (counts[points] for points in (1.0, 0.5, 0.0))
        n, known = len(self.points), wins + ties + losses
        rate = clustered_win_rate(self.points, self.cases, level=level) if known else None
        return WinFigures(
            n_cases=len(set(self.cases)),
            n_pairs=n,
            wins=wins,
            ties=ties - self.n_inconsistent,
            inconsistent=self.n_inconsistent,
            losses=losses,
            n_undecided=n - known,
            rate=rate
            or undefined_estimate("no pair is decided", n=0, method="wilson", level=level),
            bounds=(self._mean(0.0), self._mean(1.0)),
            p=None if rate is None else rate.p_sign,
        )

    def leaning(self) -> tuple[int, int]:
        """Cases that lean to A, and to B, by the mean of their decided pairs; each counts once."""
        means = cluster_means(*known_observations(self.points, self.cases)).values()
        return sum(m > _EVEN + SLACK for m in means), sum(m < _EVEN - SLACK for m in means)

    def _mean(self, undecided: float) -> float:
        """A's share of wins if the undecided pairs had come out like that."""
        if not self.points:
            return undecided
        points = [undecided if isnan(each) else each for each in self.points]
        means = cluster_means(points, self.cases)
        return fsum(means.values()) / len(means)


class OrderTally:
    """What the order of showing did: contradictions, and the places that were chosen."""

    def __init__(self) -> None:
        self._cases, self._flips = array("I"), array("d")
        self._asked: list[int] = []
        self._chosen: tuple[list[PreferenceSlot | None], list[PreferenceSlot | None]] = ([], [])

    def take(
        self, case: int, found: _ReconciledOrders, said: Iterable[Preference | PreferenceFailure]
    ) -> None:
        """Count one pair that was asked about."""
        self._cases.append(case)
        self._flips.append(_NONE if found.consistent is None else float(not found.consistent))
        every = list(said)
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
        """What they come to."""
        rate: Estimate = undefined_estimate("no pair was judged", n=0, method="wilson", level=level)
        position = None
        if any(not isnan(flip) for flip in self._flips):
            rate = clustered_proportion(self._flips, self._cases, level=level)
        if any(x and y for x, y in zip(*self._chosen, strict=True)):
            position = position_bias(*self._chosen, clusters=self._asked, level=level)
        return rate, position


def reliability_flags(flip_rate: Estimate, position: PositionBias | None) -> tuple[str, ...]:
    """What makes a judge doubtful."""
    found = []
    if position is not None and (position.low > 0 or position.high < 0):
        found.append(POSITION_BIAS)
    if flip_rate.value > _MOSTLY:
        found.append(MOSTLY_INCONSISTENT)
    return tuple(found)


_WINNERS: tuple[Winner | None, ...] = ("a", "tie", "b", None)


@dataclass(slots=True)
class _MemberTally:
    """What one judge said of the pairs."""

    wins: WinTally = field(default_factory=WinTally)
    flips: OrderTally = field(default_factory=OrderTally)
    places: array[int] = field(default_factory=lambda: array("I"))
    winners: array[int] = field(default_factory=lambda: array("B"))


class PanelTally:
    """Counts what each judge of a panel makes of pairs of outputs."""

    def __init__(self) -> None:
        self._judges: dict[str, _MemberTally] = {}
        self._cases = array("I")
        self._agreements = array("d")

    def take(self, case: int, found: Comparison) -> None:
        """Count one pair that was asked about."""
        if not found.judges:
            return
        for one in found.judges:
            own = self._judges.setdefault(one.judge, _MemberTally())
            own.wins.add(case, one)
            own.places.append(len(self._cases))
            own.winners.append(_WINNERS.index(one.winner))
            said: list[Preference | PreferenceFailure] = [*found.preferences, *found.failures]
            own.flips.take(case, one, [each for each in said if each.judge == one.judge])
        self._cases.append(case)
        if found.agreement is not None:
            self._agreements.append(found.agreement)

    def figures(self, level: float) -> PanelFigures | None:
        """What they come to."""
        if not self._judges:
            return None
        return PanelFigures(
            judges=tuple(_figures(judge, one, level) for judge, one in self._judges.items()),
            agreed=fsum(self._agreements) / len(self._agreements) if self._agreements else nan,
            alpha=self._alpha(level),
        )

    def _alpha(self, level: float) -> Alpha | None:
        rows: list[list[Winner | None]] = [[None] * len(self._judges) for _ in self._cases]
        for column, one in enumerate(self._judges.values()):
            for place, winner in zip(one.places, one.winners, strict=True):
                rows[place][column] = _WINNERS[winner]
        try:
            return krippendorff_alpha(rows, "nominal", clusters=self._cases, confidence=level)
        except NotEnoughDataError:
            return None


def _figures(judge: str, one: _MemberTally, level: float) -> JudgeFigures:
    flip_rate, position = one.flips.figures(level)
    return JudgeFigures(
        judge=judge,
        whole=one.wins.figures(level),
        flip_rate=flip_rate,
        position=position,
        flags=reliability_flags(flip_rate, position),
    )
