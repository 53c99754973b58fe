"""Summarizes the judged pairs of two sides: wins, order effects, lengths, and who is better.

The counting is in `comparison_tally`, the result types are in `comparison_result`.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING, get_args

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparison_result import ComparisonSummary, WinFigures, decide_comparison
from judgekit.evaluation.comparison_tally import (
    JudgeTally,
    OrderTally,
    PairTally,
    PanelTally,
    reliability_flags,
)
from judgekit.evaluation.pairing import LeftOut
from judgekit.prompts import pairwise_text
from judgekit.records import VALUE_TOLERANCE, CaseStratum
from judgekit.stats.multiplicity import adjust
from judgekit.stats.ranking import length_controlled_win_rate

if TYPE_CHECKING:
    from judgekit.evaluation.comparison_result import SequentialEvidence
    from judgekit.evaluation.pairing import JudgedPair
    from judgekit.records import Preference, PreferenceFailure, Rubric, ScrubbedPassage, Winner
    from judgekit.stats.ranking import LengthControlledWinRate


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
        self._judge = JudgeTally()
        self._panel = PanelTally()

    def add(self, judged: JudgedPair) -> None:
        """Count one pair."""
        pair, comparison = judged
        self._judge.add(comparison)
        self._n_scrubbed = _added(self._n_scrubbed, comparison.scrubbed)
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
        raw_a, raw_b = (_mean(raws) for raws in self._raws)
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
            spent=self._judge.usage(),
            left_out=left_out or LeftOut(),
            evidence=evidence,
            marks=dict(self._judge.marks.most_common()),
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


def _added(n: int | None, scrubbed: tuple[ScrubbedPassage, ...] | None) -> int | None:
    """The number of passages removed so far; None once scrubbing was off for a pair."""
    return None if n is None or scrubbed is None else n + len(scrubbed)


def _mean(raws: array[float]) -> float | None:
    return fsum(raws) / len(raws) if raws else None


def _higher(raw_a: float | None, raw_b: float | None) -> Winner | None:
    if raw_a is None or raw_b is None:
        return None
    # Means of many scores differ in their last digits without meaning it.
    if abs(raw_a - raw_b) <= VALUE_TOLERANCE:
        return "tie"
    return "a" if raw_a > raw_b else "b"
