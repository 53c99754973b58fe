"""Several judges for one output: side by side, or the next one only where the last is unsure."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.judge.asked import asked_together
from judgekit.judge.confidence import with_repeat_confidence
from judgekit.judge.gathering import merged
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.run import Panel
from judgekit.verdicts import conclude
from judgekit.verdicts.combining import is_sure

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Sequence

    from judgekit.judge.judge import Judge
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric
    from judgekit.records.verdict import Verdict

    Said = Judgment | JudgeFailure


class JudgePanel:
    """Grades outputs with several judges.

    With `cascade` they are asked in order, each only for the criteria of which the one before was
    less sure than the panel's `escalate_below`, did not say how sure it is, or failed in any
    repeat. A judge that asks one criterion at a time is then sent the same requests as ever, so
    that the cache serves both; one that asks all at once is asked those criteria alone.
    """

    def __init__(self, judges: Sequence[Judge], panel: Panel | None = None) -> None:
        ids = [judge.id for judge in judges]
        given = panel or Panel()
        _check(ids, given)
        self.panel = given if given.judges else given.model_copy(update={"judges": tuple(ids)})
        self.judges = tuple(sorted(judges, key=lambda judge: self.panel.judges.index(judge.id)))

    @property
    def id(self) -> str:
        """The rule and the judges."""
        return f"{self.panel.combine} of {', '.join(judge.id for judge in self.judges)}"

    async def grade(self, case: Case, output: Output, rubric: Rubric) -> Verdict:
        """Grade one output."""
        said: list[Said] = []
        async with aclosing(self.observe(case, output, rubric)) as answers:
            async for found in answers:
                said += found
        judgments, failures = self._in_order(said, rubric)
        verdict = conclude(
            rubric,
            judgments,
            failures,
            panel=self.panel,
            case_id=case.id,
            variant=output.variant,
            error=output.error,
        )
        each = [one for judge in self.judges for one in judge.grader.asked.judges]
        asked = asked_together(each, self.panel)
        return verdict.model_copy(update={"asked": asked})

    async def observe(
        self, case: Case, output: Output, rubric: Rubric, *, said: Sequence[Said] = ()
    ) -> AsyncGenerator[tuple[Said, ...], None]:
        """Grade one output and tell each answer as it comes, so that it can be kept at once."""
        if output.error is not None:
            return
        if self.panel.combine == "cascade":
            answers = self._one_by_one(case, output, rubric, said)
        else:
            answers = merged(
                [j.observe(case, output, rubric, known=_known(said, j.id)) for j in self.judges]
            )
        async with aclosing(answers):
            async for found in answers:
                yield found

    async def aclose(self) -> None:
        """Close the judges' connections of the running event loop; the next call opens new ones."""
        for judge in self.judges:
            await judge.aclose()

    def close(self) -> None:
        """Close the judges' caches, where they opened them."""
        for judge in self.judges:
            judge.close()

    async def _one_by_one(
        self, case: Case, output: Output, rubric: Rubric, said: Sequence[Said]
    ) -> AsyncGenerator[tuple[Said, ...], None]:
        heard, left = [*said], rubric
        for judge in self.judges:
            answers = judge.observe(case, output, left, known=_known(said, judge.id))
            async with aclosing(answers):
                async for found in answers:
                    heard += found
                    yield found
            own = [found for found in heard if found.judge == judge.id]
            unsure = {c.name for c in left.criteria if not is_sure_of(c.name, own, self.panel)}
            if not unsure:
                return
            left = narrowed(rubric, unsure)

    def _in_order(
        self, said: Sequence[Said], rubric: Rubric
    ) -> tuple[list[Judgment], list[JudgeFailure]]:
        """Judge by judge, each repeat by repeat and in the rubric's order."""
        places = {criterion.name: place for place, criterion in enumerate(rubric.criteria)}
        judgments: list[Judgment] = []
        failures: list[JudgeFailure] = []
        for judge in self.judges:
            own = [found for found in said if found.judge == judge.id]
            own.sort(key=lambda found: (found.repeat, places[found.criterion]))
            judgments += with_repeat_confidence([f for f in own if isinstance(f, Judgment)])
            failures += [found for found in own if isinstance(found, JudgeFailure)]
        return judgments, failures


def is_sure_of(criterion: str, said: Sequence[Said], panel: Panel) -> bool:
    """Whether a judge of a cascade is sure enough of a criterion, its repeats considered."""
    own = [found for found in said if found.criterion == criterion]
    judgments = with_repeat_confidence([found for found in own if isinstance(found, Judgment)])
    failures = [found for found in own if isinstance(found, JudgeFailure)]
    return is_sure(judgments, failures, panel.escalate_below)


def narrowed(rubric: Rubric, names: Collection[str]) -> Rubric:
    """The rubric with some of its criteria, each as it was."""
    criteria = tuple(criterion for criterion in rubric.criteria if criterion.name in names)
    if len(criteria) == len(rubric.criteria):
        return rubric
    copy = rubric.model_copy(update={"criteria": criteria})
    copy.__dict__.pop("fingerprint", None)  # worked out for the whole rubric
    return copy


def check_judges(ids: Sequence[str]) -> None:
    """Refuse a panel of nobody, and one in which two judges cannot be told apart."""
    if not ids:
        raise SettingsError("a panel needs a judge")
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise SettingsError(
            f"two judges of the panel are {twice[0]}, so that their votes cannot be told apart",
            hint="give one another model or template, or ask one judge with repeats",
        )


def _check(ids: Sequence[str], panel: Panel) -> None:
    check_judges(ids)
    if strange := [name for name in ids if panel.judges and name not in panel.judges]:
        raise SettingsError(f"the panel does not name the judge {strange[0]}")
    if panel.combine == "cascade" and panel.escalate_below is None:
        raise SettingsError(
            "a cascade needs escalate_below", hint="the confidence below which the next is asked"
        )


def _known(said: Sequence[Said], judge: str) -> set[tuple[str, int]]:
    return {(found.criterion, found.repeat) for found in said if found.judge == judge}
