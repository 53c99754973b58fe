"""Several judges for two outputs: each sees both orders, and each has one vote."""

from __future__ import annotations

from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Self

from judgekit.errors import SettingsError
from judgekit.judge.gathering import gathered, merged
from judgekit.judge.panel import check_judges
from judgekit.judge.portal import Portal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Sequence
    from types import TracebackType

    from judgekit.judge.judge import Judge
    from judgekit.judge.pairwise import Comparer, Said
    from judgekit.records.case import Case
    from judgekit.records.comparison import Comparison
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric


class PairPanel:
    """Compares two outputs with several judges.

    Every judge is asked in both orders, and what it says is reconciled by itself; that is its one
    vote. The side with more than half of the votes wins, a judge's tie being half a vote for each.

    Args:
        judges: Who compares, in order; no two may have the same model and template.

    Raises:
        SettingsError: When two cannot be told apart, or they would not see the same texts or be
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
        self._portal = Portal()

    @classmethod
    def of(cls, judge: Judge | PairPanel) -> PairPanel:
        """A judge as a panel of one; a panel as it is."""
        return judge if isinstance(judge, PairPanel) else cls([judge])

    @property
    def id(self) -> str:
        """The judges, and how they come to one winner."""
        ids = [comparer.id for comparer in self.comparers]
        return ids[0] if len(ids) == 1 else f"majority of {', '.join(ids)}"

    @property
    def max_concurrency(self) -> int:
        """Calls in flight at most, of the judge that may have most."""
        return max(judge.connection.max_concurrency for judge in self.judges)

    @property
    def keeps(self) -> bool:
        """Whether every judge keeps its replies, so that none is paid twice."""
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
        pair = self.comparers[0].seen(output_a, output_b, names)
        said: list[Said] = []
        if output_a.error is None and output_b.error is None:
            for answers in await gathered(
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
        return self._portal.run(self.compare(case, output_a, output_b, rubric, names=names))

    async def observe(
        self,
        case: Case,
        a: Output,
        b: Output,
        rubric: Rubric,
        *,
        names: Iterable[str] = (),
        said: Sequence[Said] = (),
    ) -> AsyncGenerator[tuple[Said, ...], None]:
        """Ask every judge what it has not said yet, and tell each answer as it comes.

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
        async with aclosing(merged(streams) if len(streams) > 1 else streams[0]) as answers:
            async for found in answers:
                yield found

    async def aclose(self) -> None:
        """Close the judges' connections of the running event loop; the next call opens new ones."""
        for judge in self.judges:
            await judge.aclose()

    def close(self) -> None:
        """Close the connections of `compare_sync`, and the caches that the judges opened."""
        self._portal.close(last=self.aclose)
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
