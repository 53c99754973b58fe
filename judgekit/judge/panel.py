"""Several judges for one output or for two.

All are asked, or in a cascade the next one only where the last is not confident.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Self

from judgekit.errors import SettingsError
from judgekit.judge.concurrency import SyncRunner, gather_in_order, merge_streams
from judgekit.judge.confidence import with_repeat_confidence
from judgekit.judge.exchange import panel_configuration
from judgekit.records import JudgeFailure, Judgment, RunPanel
from judgekit.scoring import conclude, is_confident

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
    from types import TracebackType

    from judgekit.judge.judge import Judge
    from judgekit.judge.pairwise import Comparer, PreferenceOutcome
    from judgekit.judge.pointwise import PendingGrading
    from judgekit.records import Case, Comparison, Output, Rubric, Verdict

if TYPE_CHECKING:
    _JudgmentOutcome = Judgment | JudgeFailure


class JudgePanel:
    """Grades outputs with several judges.

    With `cascade` they are asked in order, each only for the criteria of which the one before was
    less sure than the panel's `escalate_below`, did not say how sure it is, or failed in any
    repeat. A judge that asks one criterion at a time is then sent the same requests as ever, so
    that the cache serves both; one that asks all at once is asked those criteria alone.
    """

    def __init__(self, judges: Sequence[Judge], panel: RunPanel | None = None) -> None:
        ids = [judge.id for judge in judges]
        given = panel or RunPanel()
        _check_panel(ids, given)
        self.panel = given if given.judges else given.model_copy(update={"judges": tuple(ids)})
        self.judges = tuple(sorted(judges, key=lambda judge: self.panel.judges.index(judge.id)))

    @property
    def id(self) -> str:
        """The rule and the judges."""
        return f"{self.panel.combine} of {', '.join(judge.id for judge in self.judges)}"

    async def grade(self, case: Case, output: Output, rubric: Rubric) -> Verdict:
        """Grade one output."""
        said: list[_JudgmentOutcome] = []
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
        each = [one for judge in self.judges for one in judge.grader.configuration.judges]
        asked = panel_configuration(each, self.panel)
        return verdict.model_copy(update={"asked": asked})

    async def observe(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        said: Sequence[_JudgmentOutcome] = (),
        begun: Sequence[PendingGrading] = (),
    ) -> AsyncGenerator[tuple[_JudgmentOutcome, ...], None]:
        """Grade one output and yield each answer as it arrives."""
        if output.error is not None:
            return
        if self.panel.combine == "cascade":
            answers = self._one_by_one(case, output, rubric, said)
        else:
            # What `begin` rendered is not rendered again.
            rendered = {pending.grader.id: pending.questions for pending in begun}
            answers = merge_streams(
                [
                    judge.grader.observe(
                        case,
                        output,
                        rubric,
                        known=_answers_of(said, judge.id),
                        questions=rendered.get(judge.id),
                    )
                    for judge in self.judges
                ]
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
        self, case: Case, output: Output, rubric: Rubric, said: Sequence[_JudgmentOutcome]
    ) -> AsyncGenerator[tuple[_JudgmentOutcome, ...], None]:
        heard, left = [*said], rubric
        for judge in self.judges:
            answers = judge.observe(case, output, left, known=_answers_of(said, judge.id))
            async with aclosing(answers):
                async for found in answers:
                    heard += found
                    yield found
            own = [found for found in heard if found.judge == judge.id]
            unsure = {c.name for c in left.criteria if not is_sure_of(c.name, own, self.panel)}
            if not unsure:
                return
            left = select_criteria(rubric, unsure)

    def _in_order(
        self, said: Sequence[_JudgmentOutcome], rubric: Rubric
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


def is_sure_of(criterion: str, said: Sequence[_JudgmentOutcome], panel: RunPanel) -> bool:
    """Whether a judge of a cascade is sure enough of a criterion, its repeats considered."""
    own = [found for found in said if found.criterion == criterion]
    judgments = with_repeat_confidence([found for found in own if isinstance(found, Judgment)])
    failures = [found for found in own if isinstance(found, JudgeFailure)]
    return is_confident(judgments, failures, panel.escalate_below)


def select_criteria(rubric: Rubric, names: Collection[str]) -> Rubric:
    """The rubric with some of its criteria, each as it was."""
    criteria = tuple(criterion for criterion in rubric.criteria if criterion.name in names)
    if len(criteria) == len(rubric.criteria):
        return rubric
    copy = rubric.model_copy(update={"criteria": criteria})
    copy.__dict__.pop("fingerprint", None)  # worked out for the whole rubric
    return copy


def check_judges(ids: Sequence[str]) -> None:
    """Refuse a panel without judges, and one with two judges of the same name."""
    if not ids:
        raise SettingsError("a panel needs a judge")
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise SettingsError(
            f"two judges of the panel are {twice[0]}, so that their votes cannot be told apart",
            hint="give one another model or template, or ask one judge with repeats",
        )


def _check_panel(ids: Sequence[str], panel: RunPanel) -> None:
    check_judges(ids)
    if strange := [name for name in ids if panel.judges and name not in panel.judges]:
        raise SettingsError(f"the panel does not name the judge {strange[0]}")
    if panel.combine == "cascade" and panel.escalate_below is None:
        raise SettingsError(
            "a cascade needs escalate_below", hint="the confidence below which the next is asked"
        )


def _answers_of(said: Sequence[_JudgmentOutcome], judge: str) -> set[tuple[str, int]]:
    return {(found.criterion, found.repeat) for found in said if found.judge == judge}


class Panel:
    """Compares two outputs with several judges.

    Every judge is asked in both orders, and what it says is reconciled by itself; that is its one
    vote. The side with more than half of the votes wins, a judge's tie being half a vote for each.

    Args:
        judges: Who compares, in order; no two may have the same model and template.

    Raises:
        SettingsError: When two have the same name, or they would not see the same texts or be
            reconciled by the same rule.
    """

    def __init__(self, judges: Sequence[Judge]) -> None:
        self.judges = tuple(judges)
        """Who compares."""
        self.comparers: tuple[Comparer, ...] = tuple(judge.comparer for judge in judges)
        """How each of them asks."""
        check_judges([comparer.id for comparer in self.comparers])
        shown = {(c.scrubs, c.draws_labels, c.seed, c.rule) for c in self.comparers}
        if len(shown) > 1:
            raise SettingsError(
                "the judges of a panel are to see the same texts, and be reconciled by one rule",
                hint="give all of them the same scrub, draw_labels, label_seed and rule",
            )
        self._sync_runner = SyncRunner()

    @classmethod
    def of(cls, judge: Judge | Panel) -> Panel:
        """A judge as a panel of one; a panel as it is."""
        return judge if isinstance(judge, Panel) else cls([judge])

    @property
    def id(self) -> str:
        """The judges, and the rule by which they decide on one winner."""
        ids = [comparer.id for comparer in self.comparers]
        return ids[0] if len(ids) == 1 else f"majority of {', '.join(ids)}"

    @property
    def max_concurrency(self) -> int:
        """Calls in flight at most, of the judge that may have most."""
        return max(judge.connection.max_concurrency for judge in self.judges)

    @property
    def keeps(self) -> bool:
        """Whether every judge has a cache, so that no reply is paid twice."""
        return all(judge.connection.cache is not None for judge in self.judges)

    async def compare(
        self,
        case: Case,
        output_a: Output,
        output_b: Output,
        rubric: Rubric,
        *,
        names: Iterable[str] = (),
    ) -> Comparison:
        """Compare two outputs blind, in both orders; the same text twice is a tie without a call.

        Args:
            case: What was to be answered.
            output_a: One output.
            output_b: The other; where either is an error nothing is judged.
            rubric: How they are compared.
            names: Names that would give one of them away (models, files), beside the variants'.

        Returns:
            The panel's winner on the whole and for each criterion, each judge's own, and all that
            was said.

        Raises:
            TemplateError: When a template does not fit the rubric.
            StoreError: When a cache cannot keep what was paid for.
        """
        pair = self.comparers[0].blind_pair(output_a, output_b, names)
        said: list[PreferenceOutcome] = []
        if output_a.error is None and output_b.error is None:
            for answers in await gather_in_order(
                [comparer.answers(case, pair, rubric) for comparer in self.comparers]
            ):
                said += answers
        return self.comparers[0].conclude(case, output_a, output_b, pair, rubric, said)

    def compare_sync(
        self,
        case: Case,
        output_a: Output,
        output_b: Output,
        rubric: Rubric,
        *,
        names: Iterable[str] = (),
    ) -> Comparison:
        """`compare`, for callers that are not asynchronous; works inside a running loop too.

        Args:
            case: What was to be answered.
            output_a: One output.
            output_b: The other.
            rubric: How they are compared.
            names: Names that would give one of them away, beside the variants'.

        Returns:
            The comparison.

        Raises:
            TemplateError: When a template does not fit the rubric.
            StoreError: When a cache cannot keep what was paid for.
        """
        return self._sync_runner.run(self.compare(case, output_a, output_b, rubric, names=names))

    async def observe(
        self,
        case: Case,
        a: Output,
        b: Output,
        rubric: Rubric,
        *,
        names: Iterable[str] = (),
        said: Sequence[PreferenceOutcome] = (),
    ) -> AsyncGenerator[tuple[PreferenceOutcome, ...], None]:
        """Ask every judge what it has not answered yet, and yield each answer as it arrives.

        Args:
            case: What was to be answered.
            a: One output; with one that is an error nothing is asked.
            b: The other.
            rubric: How they are compared.
            names: Names that would give one of them away, beside the variants'.
            said: What was said before; leave failures out to have them asked again.

        Yields:
            What one question came to, a preference or failure for each thing it asks about.

        Raises:
            TemplateError: When a template does not fit the rubric.
        """
        streams = []
        for comparer in self.comparers:
            own = [one for one in said if one.judge == comparer.id]
            known = {(one.order, one.criterion, one.repeat) for one in own}
            streams.append(comparer.observe(case, a, b, rubric, names=names, known=known))
        async with aclosing(merge_streams(streams) if len(streams) > 1 else streams[0]) as answers:
            async for found in answers:
                yield found

    async def aclose(self) -> None:
        """Close the judges' connections of the running event loop; the next call opens new ones."""
        for judge in self.judges:
            await judge.aclose()

    def close(self) -> None:
        """Close the connections of `compare_sync`, and the caches that the judges opened."""
        self._sync_runner.close(last=self.aclose)
        for judge in self.judges:
            judge.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async with AsyncExitStack() as stack:
            for judge in self.judges:
                stack.push_async_exit(judge)
