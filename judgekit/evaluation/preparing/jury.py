"""Everyone who judges the answers of a run: models, the assertions, people."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.judge.heuristic import HEURISTIC, implied_rubric, judge_by_assertions
from judgekit.judge.opening import open_judge
from judgekit.judge.panel import JudgePanel, is_sure_of
from judgekit.records.judgment import Judgment
from judgekit.records.label import HumanItem
from judgekit.records.run import Panel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import datetime

    from judgekit.datasets.suite import Suite
    from judgekit.evaluation.preparing.asking import Asking
    from judgekit.models.budget import Budget
    from judgekit.models.cache.interface import ReplyCache
    from judgekit.models.pricing import PriceTable
    from judgekit.records.case import Case
    from judgekit.records.check import AssertionResult
    from judgekit.records.judgment import JudgeFailure
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import ItemKey

    Said = Judgment | JudgeFailure

HUMAN = "human"
"""The place of a person among the judges."""


@dataclass(frozen=True, slots=True)
class Jury:
    """The judges of a suite."""

    panel: Panel
    """All of them, in order, and how they come to one value."""

    models: JudgePanel | None
    """Those that are models."""

    repeats: tuple[tuple[str, int], ...]
    """The identity of each model's judge, and how often it is asked each question."""

    assertions: tuple[JsonObject, ...]
    """The suite's assertions, for the heuristic judge."""

    @property
    def max_concurrency(self) -> int:
        """Calls in flight at most, of the judge that may have most."""
        if self.models is None:
            return 1
        return max(judge.connection.max_concurrency for judge in self.models.judges)

    def implied_rubric(self, assertions: Sequence[JsonObject]) -> Rubric | None:
        """The rubric that assertions make up, where they are the judge."""
        return implied_rubric(assertions) if HEURISTIC in self.panel.judges else None

    @property
    def asks_nobody(self) -> bool:
        """Whether neither a model nor a person is asked, so that the assertions say it all."""
        return self.models is None and HUMAN not in self.panel.judges

    def by_rule(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        said: Sequence[Said],
        checks: Sequence[AssertionResult],
    ) -> tuple[Said, ...]:
        """What the assertions say of an output, where they are a judge and have not said it yet."""
        if HEURISTIC not in self.panel.judges:
            return ()
        found = judge_by_assertions(
            rubric,
            self.assertions,
            checks[: len(self.assertions)],
            case_id=case.id,
            variant=output.variant,
        )
        if not said:
            return found
        heard = {one.criterion for one in said if one.judge == HEURISTIC}
        return tuple(one for one in found if one.criterion not in heard)

    async def observe(
        self, case: Case, output: Output, rubric: Rubric, *, said: Sequence[Said]
    ) -> AsyncGenerator[tuple[Said, ...], None]:
        """Ask the models for what they have not said yet."""
        if self.models is not None:
            async with aclosing(self.models.observe(case, output, rubric, said=said)) as answers:
                async for some in answers:
                    yield some

    def is_content(self, rubric: Rubric, said: Sequence[Said]) -> bool:
        """Whether it is sure that nobody will be asked anything more about an answer."""
        if self.asks_nobody:
            return True
        if HUMAN in self.panel.judges or self.panel.combine == "cascade":
            return False
        return not self.unanswered(rubric, said)

    def wanted_of_people(
        self, run_id: str, key: ItemKey, rubric: Rubric, said: Sequence[Said], *, at: datetime
    ) -> list[HumanItem]:
        """What a person is to judge of an answer."""
        if HUMAN not in self.panel.judges:
            return []
        judged = {one.criterion for one in said if _is_persons(one)}
        return [
            HumanItem(run_id=run_id, key=key, criterion=criterion.name, judge=HUMAN, asked_at=at)
            for criterion in rubric.criteria
            if criterion.name not in judged and self._needs_a_person(criterion.name, said)
        ]

    def unanswered(self, rubric: Rubric, said: Sequence[Said]) -> list[tuple[str, str, int]]:
        """Which questions no model has answered yet."""
        heard = {(one.judge, one.criterion, one.repeat) for one in said}
        missing = [
            (judge, criterion.name, repeat)
            for judge, n_repeats in self.repeats
            for criterion in rubric.criteria
            for repeat in range(n_repeats)
            if (judge, criterion.name, repeat) not in heard
        ]
        if self.panel.combine != "cascade":
            return missing
        return [one for one in missing if one[0] == missing[0][0]]

    async def aclose(self) -> None:
        """Close the models' connections of the running event loop, and what they opened."""
        if self.models is not None:
            await self.models.aclose()
            self.models.close()

    def _needs_a_person(self, criterion: str, said: Sequence[Said]) -> bool:
        if self.panel.combine != "cascade" or self.models is None:
            return True
        own = [one for one in said if one.criterion == criterion and not _is_persons(one)]
        for judge in reversed(self.panel.judges):
            last = [one for one in own if one.judge == judge]
            if last:
                return not is_sure_of(criterion, last, self.panel)
        return True


def open_jury(
    suite: Suite,
    *,
    cache: ReplyCache | None,
    asking: Asking,
    prices: PriceTable,
    budget: Budget | None,
) -> Jury:
    """The judges that a suite names."""
    ids: list[str] = []
    weights: dict[str, float] = {}
    models, repeats = [], []
    for settings in suite.judge:
        if settings.kind == "llm":
            judge = open_judge(
                settings,
                suite,
                cache=cache,
                template_folders=asking.template_folders,
                frozen=asking.frozen,
                refresh=asking.refresh,
                prices=prices,
                budget=budget,
            )
            models.append(judge)
            repeats.append((judge.id, settings.repeats))
        name = HUMAN if settings.kind == "human" else HEURISTIC
        name = models[-1].id if settings.kind == "llm" else name
        ids.append(name)
        weights[name] = settings.weight
    rule = suite.panel
    panel = Panel(
        judges=tuple(ids),
        combine="mean" if rule is None else rule.combine,
        weights=weights if rule is not None and rule.combine == "weighted" else {},
        escalate_below=None if rule is None else rule.escalate_below,
    )
    jury = JudgePanel(models, panel) if models else None
    return Jury(panel, jury, tuple(repeats), suite.assertions)


def _is_persons(one: Said) -> bool:
    return isinstance(one, Judgment) and one.source == "human"
