"""Sums up comparisons as they come, in a few bytes for each."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import replace
from math import fsum, isnan
from typing import TYPE_CHECKING, get_args

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparing.decision import decide_comparison
from judgekit.evaluation.comparing.figures import ComparisonSummary, WinFigures
from judgekit.evaluation.comparing.pairing import LeftOut
from judgekit.evaluation.comparing.panels import PanelTally
from judgekit.evaluation.comparing.tallies import Flips, Wins, doubts
from judgekit.evaluation.figures.summary import Spent
from judgekit.prompts.pair_rendering import shown_text
from judgekit.records.case import Stratum
from judgekit.records.rubric import SAME
from judgekit.stats.multiplicity import adjust
from judgekit.stats.ranking import length_controlled_win_rate

if TYPE_CHECKING:
    from judgekit.evaluation.comparing.asking import Compared
    from judgekit.evaluation.comparing.figures import Evidence
    from judgekit.records.comparison import (
        Comparison,
        PairAnswer,
        Preference,
        PreferenceFailure,
        Rule,
        Scrubbed,
        Winner,
    )
    from judgekit.records.rubric import Rubric
    from judgekit.stats.ranking import LengthControlledWinRate


class ComparisonTally:
    """Sums up comparisons of two sides."""

    def __init__(self, rubric: Rubric, labels: tuple[str, str], *, alpha: float = 0.05) -> None:
        self._rubric, self._labels, self._alpha = rubric, labels, alpha
        self._numbers: dict[str, int] = {}
        self._whole = Wins()
        self._criteria: dict[str, Wins] = {}
        self._tags: dict[str, Wins] = {}
        self._strata: dict[str, Wins] = {}
        self._flips = Flips()
        self._lengths = array("d"), array("d")
        self._raws = array("d"), array("d")
        self._n_identical = self._n_errors = 0
        self._n_scrubbed: int | None = 0
        self._judge = _Judge()
        self._panel = PanelTally()

    def take(self, compared: Compared) -> None:
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
            self._criteria.setdefault(criterion.name, Wins()).add(number, criterion)
        groups = [(self._tags, tag) for tag in pair.case.tags]
        groups += [(self._strata, name) for name in (pair.case.stratum,) if name is not None]
        for wins, name in groups:
            wins.setdefault(name, Wins()).add(number, found)
        for lengths, output in zip(self._lengths, (pair.a, pair.b), strict=True):
            lengths.append(len(shown_text(output)))
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
        evidence: Evidence | None = None,
        level: float = 0.95,
    ) -> ComparisonSummary:
        """What all that was counted comes to."""
        whole = self._whole.figures(level)
        flip_rate, position = self._flips.figures(level)
        flags = doubts(flip_rate, position)
        controlled, reason = self._length_controlled(level)
        raw_a, raw_b = (_mean(raws) for raws in self._raws)
        known = [stratum for stratum in get_args(Stratum) if stratum in self._strata]
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


class _Judge:
    """Who judged, what it failed to say, and what that cost."""

    def __init__(self) -> None:
        self.rule: Rule = "consistent"
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
    """One answer for each reply of a judge about one pair."""
    return list(
        {
            (place,) if one.reply_key is None else (one.reply_key, one.order, one.repeat): one
            for place, one in enumerate(said)
        }.values()
    )


def _added(n: int | None, scrubbed: tuple[Scrubbed, ...] | None) -> int | None:
    """How many passages were taken out so far; None once nobody looked."""
    return None if n is None or scrubbed is None else n + len(scrubbed)


def _mean(raws: array[float]) -> float | None:
    return fsum(raws) / len(raws) if raws else None


def _higher(raw_a: float | None, raw_b: float | None) -> Winner | None:
    if raw_a is None or raw_b is None:
        return None
    if abs(raw_a - raw_b) <= SAME:
        return "tie"
    return "a" if raw_a > raw_b else "b"
