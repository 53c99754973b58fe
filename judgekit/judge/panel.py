"""Several judges for one output or for two.

All are asked, or in a cascade the next one only where the last is not confident.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Self

from judgekit.errors import SettingsError
from judgekit.judge.concurrency import SyncRunner
from judgekit.judge.exchange import merge_streams
from judgekit.judge.pairwise import PairJudge
from judgekit.models import check_together
from judgekit.records import JudgeFailure, RunPanel
from judgekit.scoring import is_sure_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Sequence

    from judgekit.judge.judge import Judge
    from judgekit.judge.pairwise import Comparer, PreferenceOutcome
    from judgekit.judge.pointwise import AnswerKey, JudgmentOutcome, PendingGrading
    from judgekit.records import Case, Output, Rubric


class _JudgeGroup:
    """Several judges, closed together."""

    judges: tuple[Judge, ...]

    @property
    def max_concurrency(self) -> int:
        """Calls in flight at most, of the judge that may have most."""
        return max((judge.connection.max_concurrency for judge in self.judges), default=1)

    @property
    def keeps(self) -> bool:
        """Whether every judge has a cache, so that no reply is paid twice."""
        return all(judge.connection.cache is not None for judge in self.judges)

    async def aclose(self) -> None:
        """Close the judges' connections of the running event loop; the next call opens new ones."""
        for judge in self.judges:
            await judge.aclose()

    def close(self) -> None:
        """Close the judges' caches, where they opened them."""
        for judge in self.judges:
            judge.close()


class JudgePanel(_JudgeGroup):
    """Grades outputs with several judges; with none where a reviewer or assertions judge alone.

    With `cascade` they are called in order, each only for the criteria on which the one before was
    less confident than the panel's `escalate_below`, stated no confidence, or failed in any
    repeat. A judge that asks one criterion at a time gets the same requests as in any other
    panel, so that the cache serves both; one that asks all at once gets only those criteria.
    Criteria that name a judge are graded by it alone, and have no part in a cascade.
    """

    def __init__(self, judges: Sequence[Judge], panel: RunPanel | None = None) -> None:
        ids = [judge.id for judge in judges]
        panel = panel or RunPanel()
        check_distinct(ids)
        if strange := [name for name in ids if panel.judges and name not in panel.judges]:
            raise SettingsError(f"the panel does not name the judge {strange[0]}")
        if panel.combine == "cascade" and panel.escalate_below is None:
            raise SettingsError(
                "a cascade needs escalate_below",
                hint="the confidence below which the next judge is called",
            )
        self.panel = panel if panel.judges else panel.model_copy(update={"judges": tuple(ids)})
        # In the order of the settings: a cascade begins with the first one named.
        self.judges = tuple(sorted(judges, key=lambda judge: self.panel.judges.index(judge.id)))
        is_cascade, named = self.panel.combine == "cascade", self.panel.named.values()
        self._cascade = tuple(j for j in self.judges if is_cascade and j.id not in named)
        check_together([judge.connection for judge in judges])

    def observe(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        judge_answers: Sequence[JudgmentOutcome] = (),
        begun: Sequence[PendingGrading] = (),
    ) -> AsyncGenerator[tuple[JudgmentOutcome, ...], None]:
        """Grade one output and yield each answer as it arrives."""
        if output.error is not None:
            return merge_streams([])
        # What `begin` rendered is not rendered again.
        rendered = {pending.grader.id: pending.questions for pending in begun}
        streams = [
            judge.grader.observe(
                case,
                output,
                self.panel.rubric_of(judge.id, rubric),
                known=_answers_of(judge_answers, judge.id),
                questions=rendered.get(judge.id),
            )
            for judge in self.judges
            if judge not in self._cascade
        ]
        if self._cascade:
            part = self.panel.rubric_of(self._cascade[0].id, rubric)
            streams.append(self._one_by_one(case, output, part, judge_answers))
        return merge_streams(streams)

    async def _one_by_one(
        self, case: Case, output: Output, rubric: Rubric, earlier: Sequence[JudgmentOutcome]
    ) -> AsyncGenerator[tuple[JudgmentOutcome, ...], None]:
        outcomes, open_criteria = [*earlier], rubric
        for judge in self._cascade:
            known = _answers_of(earlier, judge.id)
            async with aclosing(judge.observe(case, output, open_criteria, known=known)) as answers:
                async for answer in answers:
                    outcomes += answer
                    yield answer
            own = [one for one in outcomes if one.judge == judge.id]
            names = [criterion.name for criterion in open_criteria.criteria]
            # Decided for each criterion: a strong judge is paid only for what the cheap one leaves
            # open.
            unsure = {name for name in names if not is_sure_of(name, own, self.panel)}
            if (cache := judge.connection.cache) is not None and cache.missed is not None:
                # What goes into a batch is not answered yet: the judge may be sure of it.
                unsure -= {
                    one.criterion
                    for one in own
                    if isinstance(one, JudgeFailure) and one.kind == "frozen_miss"
                }
            if not unsure:
                return
            open_criteria = select_criteria(rubric, unsure)


def select_criteria(rubric: Rubric, names: Collection[str]) -> Rubric:
    """The rubric with some of its criteria, each as it was."""
    criteria = tuple(criterion for criterion in rubric.criteria if criterion.name in names)
    if len(criteria) == len(rubric.criteria):
        return rubric
    return rubric.model_copy(update={"criteria": criteria})


def check_distinct(ids: Sequence[str]) -> None:
    """Refuse two judges of the same name."""
    # Votes are kept by the name of the judge; two of one name would count as repeats of one judge.
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise SettingsError(
            f"two judges of the panel are {twice[0]}, so that their votes cannot be distinguished",
            hint="give one another model or template, or ask one judge with repeats",
        )


def _answers_of(outcomes: Sequence[JudgmentOutcome], judge: str) -> set[AnswerKey]:
    return {(one.criterion, one.repeat, one.turn) for one in outcomes if one.judge == judge}


class Panel(PairJudge, _JudgeGroup):
    """Compares two outputs with several judges.

    Every judge sees both orders, and its own answers are reconciled into its one vote. The side
    with more than half of the votes wins; a judge's tie is half a vote for each side.

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
        if not judges:
            raise SettingsError("a panel needs a judge")
        check_distinct([comparer.id for comparer in self.comparers])
        # Judges that see different texts, or count a tie in another way, do not vote on the same
        # question.
        shown = {(c.scrubs, c.draws_labels, c.seed, c.rule) for c in self.comparers}
        if len(shown) > 1:
            raise SettingsError(
                "the judges of a panel are to see the same texts, and be reconciled by one rule",
                hint="give all of them the same scrub, draw_labels, label_seed and rule",
            )
        check_together([judge.connection for judge in judges])
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

    def _comparers(self) -> tuple[Comparer, ...]:
        return self.comparers

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
            said: Earlier answers, which are not fetched again; leave failures out to retry them.

        Yields:
            The outcome of one question, a preference or failure for each thing it asks about.

        Raises:
            TemplateError: When a template does not fit the rubric.
        """
        streams = []
        for comparer in self.comparers:
            # Resumed runs pass earlier answers; a judge that was added later has none and is asked
            # everything.
            own = [one for one in said if one.judge == comparer.id]
            known = {(one.order, one.criterion, one.repeat) for one in own}
            streams.append(comparer.observe(case, a, b, rubric, names=names, known=known))
        async with aclosing(merge_streams(streams) if len(streams) > 1 else streams[0]) as answers:
            async for found in answers:
                yield found

    def close(self) -> None:
        """Close the connections of `compare_sync`, and the caches that the judges opened."""
        self._sync_runner.close(last=self.aclose)
        super().close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        async with AsyncExitStack() as stack:
            for judge in self.judges:
                stack.push_async_exit(judge)
