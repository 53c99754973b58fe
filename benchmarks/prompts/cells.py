"""One cell: what a judge with one template says of the items of a set; asked once and cached."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import judgekit as jk
from judgekit.bias_audit import GradeProbe, PairProbe, ProbeRunner
from judgekit.errors import SettingsError
from judgekit.models import CachedModel

if TYPE_CHECKING:
    from benchmarks.prompts.sets import Item, LabelledSet
    from judgekit.calibration import OutputKey

Answer = jk.Comparison | jk.Verdict
Record = jk.Preference | jk.PreferenceFailure | jk.Judgment | jk.JudgeFailure

# The judge answered, and the answer cannot be used: that is a property of template and model.
# Every other failure (no connection, not in the cache) leaves the item open.
_UNUSABLE = frozenset({
    "content_filter", "context_window", "empty", "truncated", "refusal", "unreadable",
    "evidence_missing", "cannot_assess",
})  # fmt: skip


@dataclass
class Cell:
    """The answers of one judge with one template about one set, as far as they are there.

    Attributes:
        judge: Asks; None where only cached replies are wanted.
        cached: The same judge, frozen: it answers without a call.
        problems: Kinds of failures that left items open.
    """

    labelled: LabelledSet
    template: str
    judge: jk.Judge | None
    cached: jk.Judge
    answers: dict[OutputKey, Answer] = field(default_factory=dict)
    problems: set[str] = field(default_factory=set)

    @property
    def n_open(self) -> int:
        """Items without an answer so far."""
        return len(self.labelled.items) - len(self.answers)

    @cached_property
    def report(self) -> jk.CalibrationReport:
        """The judge compared with the labels, once all was asked; there is at least one answer."""
        rubric = None if self.labelled.is_pairs else self.labelled.rubric
        return jk.calibrate([*self.answers.values()], self.labelled.labels, rubric=rubric)

    async def ask(self, items: Sequence[Item]) -> None:
        """Answer items: from the cache where it has the replies, else by calls."""
        await asyncio.gather(*map(self._take, items))

    async def _take(self, item: Item) -> None:
        left: list[str] = []
        for judge in filter(None, (self.cached, self.judge)):
            answer = await _answered(judge, item, self.labelled.rubric)
            left = [one.kind for one in answer.failures if one.kind not in _UNUSABLE]
            if not left or (judge is self.cached and self._is_cut_off(item)):
                self.answers[item.key] = answer
                return
        self.problems.update(left)

    def _is_cut_off(self, item: Item) -> bool:
        """Whether all that the cache does not serve are replies that were cut off."""
        # Such a reply is kept and not served, so that a later run may get a better one. Here it is
        # a result, and would be paid for in every run.
        model = self.cached.connection.model
        if not isinstance(model, CachedModel):
            return False
        requests = ProbeRunner(self.cached).requests(_probe(item, self.labelled.rubric))
        replies = model.cached_replies(requests)
        missing = [one.key for one, reply in zip(requests, replies, strict=True) if reply is None]
        return all(map(model.cache.has_rejected, missing))


def _probe(item: Item, rubric: jk.Rubric) -> GradeProbe | PairProbe:
    # As an audit asks: of pairs which is better overall, and nothing by single criteria, which
    # would be paid for in vain.
    if len(item.outputs) == 1:
        return GradeProbe(case=item.case, output=item.outputs[0], rubric=rubric)
    a, b = item.outputs
    return PairProbe(case=item.case, a=a, b=b, rubric=rubric)


async def _answered(judge: jk.Judge, item: Item, rubric: jk.Rubric) -> Answer:
    probe, runner = _probe(item, rubric), ProbeRunner(judge)
    if isinstance(probe, GradeProbe):
        return await runner.graded(probe)
    outcomes = await runner.compared(probe)
    comparer = judge.comparer
    return comparer.conclude(item.case, comparer.blind_pair(probe.a, probe.b), rubric, outcomes)


def records_of(answer: Answer) -> list[Record]:
    """All answers of the judge, usable or not."""
    if isinstance(answer, jk.Comparison):
        return [*answer.preferences, *answer.failures]
    return [*answer.judgments, *answer.failures]


def overall_choices(answer: Answer) -> list[jk.Preference]:
    """The choices that decide a pair: the overall ones, else those on its single criterion."""
    preferences = answer.preferences if isinstance(answer, jk.Comparison) else ()
    overall = [one for one in preferences if one.criterion is None]
    if not overall and len({one.criterion for one in preferences}) > 1:
        raise SettingsError(
            "the template asks by criteria only, and the rubric has several",
            hint="give a rubric with one criterion, or a template that compares overall",
        )
    return overall or list(preferences)
