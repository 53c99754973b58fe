"""Sums up comparisons as they come, in a few bytes for each."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field, replace
from math import fsum, isnan
from typing import TYPE_CHECKING, get_args

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparing.decision import (
    MOSTLY_INCONSISTENT,
    POSITION_BIAS,
    decide_comparison,
)
from judgekit.evaluation.comparing.figures import ComparisonSummary, WinFigures
from judgekit.evaluation.comparing.pairing import LeftOut
from judgekit.evaluation.figures.summary import Spent
from judgekit.prompts.pair_rendering import shown_text
from judgekit.records.case import Stratum
from judgekit.records.rubric import SAME
from judgekit.stats.bias import position_bias
from judgekit.stats.estimate import Estimate, cluster_means, undefined
from judgekit.stats.intervals import clustered_proportion
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import clustered_win_rate
from judgekit.stats.ranking import length_controlled_win_rate

if TYPE_CHECKING:
    from judgekit.evaluation.comparing.asking import Compared
    from judgekit.evaluation.comparing.figures import Evidence
    from judgekit.records.comparison import (
        Comparison,
        CriterionComparison,
        PairAnswer,
        Preference,
        PreferenceFailure,
        Scrubbed,
        Slot,
        Winner,
    )
    from judgekit.records.rubric import Rubric
    from judgekit.stats.bias import PositionBias
    from judgekit.stats.ranking import LengthControlledWinRate

_NONE = float("nan")
_POINTS = {"a": 1.0, "tie": 0.5, "b": 0.0, None: _NONE}
_MOSTLY = 0.5


@dataclass(slots=True)
class _Wins:
    """The winners of a group of pairs."""

    cases: array[int] = field(default_factory=lambda: array("I"))
    points: array[float] = field(default_factory=lambda: array("d"))
    n_inconsistent: int = 0

    def add(self, case: int, found: Comparison | CriterionComparison) -> None:
        self.cases.append(case)
        self.points.append(_POINTS[found.winner])
        self.n_inconsistent += found.winner == "tie" and found.consistent is False

    def figures(self, level: float) -> WinFigures:
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
            rate=rate or undefined("no pair is decided", n=0, method="wilson", level=level),
            bounds=(self._mean(0.0), self._mean(1.0)),
            p=None if rate is None else rate.p_sign,
        )

    def _mean(self, undecided: float) -> float:
        """A's share of wins if the undecided pairs had come out like that."""
        if not self.points:
            return undecided
        points = [undecided if isnan(each) else each for each in self.points]
        means = cluster_means(points, self.cases)
        return fsum(means.values()) / len(means)


class ComparisonTally:
    """Sums up comparisons of two sides.

    Args:
        rubric: How they were compared.
        labels: What the sides are called.
        alpha: The error that a decision may have, in (0, 1).
    """

    def __init__(self, rubric: Rubric, labels: tuple[str, str], *, alpha: float = 0.05) -> None:
        self._rubric, self._labels, self._alpha = rubric, labels, alpha
        self._numbers: dict[str, int] = {}
        self._whole = _Wins()
        self._criteria: dict[str, _Wins] = {}
        self._tags: dict[str, _Wins] = {}
        self._strata: dict[str, _Wins] = {}
        self._flips = _Flips()
        self._lengths = array("d"), array("d")
        self._raws = array("d"), array("d")
        self._n_identical = self._n_errors = 0
        self._n_scrubbed: int | None = 0
        self._judge = _Judge()

    def take(self, compared: Compared) -> None:
        """Count one pair.

        Args:
            compared: The pair and what the judge made of it.
        """
        pair, found = compared
        self._judge.take(found)
        self._n_scrubbed = _added(self._n_scrubbed, found.scrubbed)
        if found.error is not None:
            self._n_errors += 1
            return
        number = self._numbers.setdefault(pair.case.id, len(self._numbers))
        self._whole.add(number, found)
        for criterion in found.criteria:
            self._criteria.setdefault(criterion.name, _Wins()).add(number, criterion)
        for tag in pair.case.tags:
            self._tags.setdefault(tag, _Wins()).add(number, found)
        if pair.case.stratum is not None:
            self._strata.setdefault(pair.case.stratum, _Wins()).add(number, found)
        for lengths, output in zip(self._lengths, (pair.a, pair.b), strict=True):
            lengths.append(len(shown_text(output)))
        if found.raw_a is not None and found.raw_b is not None:
            for raws, raw in zip(self._raws, (found.raw_a, found.raw_b), strict=True):
                raws.append(raw)
        self._n_identical += found.is_identical
        self._flips.take(number, found)

    def summary(
        self,
        *,
        left_out: LeftOut | None = None,
        evidence: Evidence | None = None,
        level: float = 0.95,
    ) -> ComparisonSummary:
        """What all that was counted comes to.

        Args:
            left_out: What could not be paired.
            evidence: What looking after every case has shown, where that decides.
            level: Confidence level of all intervals, in (0, 1).

        Returns:
            The figures; a rate of nothing is undefined, never 0.
        """
        whole = self._whole.figures(level)
        flip_rate, position = self._flips.figures(level)
        flags = _flags(flip_rate, position)
        controlled, reason = self._length_controlled(level)
        raw_a, raw_b = (_mean(raws) for raws in self._raws)
        known = [stratum for stratum in get_args(Stratum) if stratum in self._strata]
        return ComparisonSummary(
            a=self._labels[0],
            b=self._labels[1],
            rubric=self._rubric.name,
            judges=tuple(self._judge.judges),
            models=tuple(self._judge.models),
            decision=decide_comparison(whole, alpha=self._alpha, flags=flags, evidence=evidence),
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


class _Flips:
    """What the order of showing did: contradictions, and the places that were chosen."""

    def __init__(self) -> None:
        self._cases, self._flips = array("I"), array("d")
        self._asked: list[int] = []
        self._chosen: tuple[list[Slot | None], list[Slot | None]] = ([], [])

    def take(self, case: int, found: Comparison) -> None:
        if found.is_identical:
            return
        self._cases.append(case)
        self._flips.append(_NONE if found.consistent is None else float(not found.consistent))
        said = {
            (each.judge, each.criterion, each.repeat, each.order): each.choice
            for each in found.preferences
        }
        every: list[PairAnswer] = [*found.preferences, *found.failures]
        for judge, criterion, repeat in {(e.judge, e.criterion, e.repeat): None for e in every}:
            self._asked.append(case)
            self._chosen[0].append(said.get((judge, criterion, repeat, "ab")))
            self._chosen[1].append(said.get((judge, criterion, repeat, "ba")))

    def figures(self, level: float) -> tuple[Estimate, PositionBias | None]:
        rate: Estimate = undefined("no pair was judged", n=0, method="wilson", level=level)
        position = None
        if any(not isnan(flip) for flip in self._flips):
            rate = clustered_proportion(self._flips, self._cases, level=level)
        if any(x and y for x, y in zip(*self._chosen, strict=True)):
            position = position_bias(*self._chosen, clusters=self._asked, level=level)
        return rate, position


class _Judge:
    """Who judged, what it failed to say, and what that cost."""

    def __init__(self) -> None:
        self.judges: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.failures: Counter[str] = Counter()
        self.messages: dict[str, str] = {}
        self.marks: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._usd = {"paid": 0.0, "saved": 0.0}
        self._is_unknown = False

    def take(self, found: Comparison) -> None:
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

    def spent(self) -> Spent:
        return Spent(
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
    """One answer for each reply of a judge about one pair.

    Args:
        said: What was said of one pair.

    Returns:
        Of questions that were answered together the last; without a key each stands for itself.
    """
    return list(
        {
            (place,) if one.reply_key is None else (one.reply_key, one.order, one.repeat): one
            for place, one in enumerate(said)
        }.values()
    )


def _added(n: int | None, scrubbed: tuple[Scrubbed, ...] | None) -> int | None:
    """How many passages were taken out so far; None once nobody looked."""
    return None if n is None or scrubbed is None else n + len(scrubbed)


def _flags(flip_rate: Estimate, position: PositionBias | None) -> tuple[str, ...]:
    found = []
    if position is not None and (position.low > 0 or position.high < 0):
        found.append(POSITION_BIAS)
    if flip_rate.value > _MOSTLY:
        found.append(MOSTLY_INCONSISTENT)
    return tuple(found)


def _mean(raws: array[float]) -> float | None:
    return fsum(raws) / len(raws) if raws else None


def _higher(raw_a: float | None, raw_b: float | None) -> Winner | None:
    if raw_a is None or raw_b is None:
        return None
    if abs(raw_a - raw_b) <= SAME:
        return "tie"
    return "a" if raw_a > raw_b else "b"
