"""Has a judge compare sides, round by round, until the places are decided or the means end."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, NamedTuple, Self

from judgekit.evaluation.comparing.asking import compare_pairs
from judgekit.evaluation.comparing.summary import ComparisonTally
from judgekit.evaluation.ranking.figures import Questioned
from judgekit.evaluation.ranking.meetings import meeting_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from types import TracebackType

    from judgekit.evaluation.comparing.asking import Compared
    from judgekit.evaluation.ranking.choosing import Chooser
    from judgekit.evaluation.ranking.contest import Contest, Match
    from judgekit.evaluation.ranking.figures import Ended
    from judgekit.evaluation.ranking.meetings import Meeting
    from judgekit.judge.judge import Judge
    from judgekit.judge.pair_panel import PairPanel
    from judgekit.records.comparison import Comparison
    from judgekit.records.rubric import Rubric


_NO_MONEY = "budget"


class Told(NamedTuple):
    """A match and what the judge made of it."""

    match: Match
    """Who met."""

    comparison: Comparison
    """What both orders come to; its variants are called what the sides are."""


class Ranker:
    """Asks a judge, and keeps what came out."""

    def __init__(
        self,
        judge: Judge | PairPanel,
        contest: Contest,
        rubric: Rubric,
        *,
        chooser: Chooser,
        in_flight: int = 32,
    ) -> None:
        self._judge, self._contest, self._rubric = judge, contest, rubric
        self._chooser, self._in_flight = chooser, in_flight
        self._tally = ComparisonTally(rubric, ("first", "second"))
        self._ended: Ended | None = None
        self.meetings: list[Meeting] = []
        """What came out so far."""

    async def __aenter__(self) -> Self:
        """Open the judge's connections."""
        await self._judge.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close them."""
        await self._judge.__aexit__(kind, error, trace)

    async def ask(self, stop: asyncio.Event | None = None) -> AsyncGenerator[Told, None]:
        """Ask all that the chooser wants."""
        # A match the money did not suffice for is left out, and none is asked after it.
        halt = stop or asyncio.Event()
        out_of_money = asyncio.Event()
        while not halt.is_set() and (chosen := self._chooser.next_round(self.meetings)):
            pairs = compare_pairs(
                self._judge,
                (match.pair for match in chosen),
                self._rubric,
                names=self._contest.names,
                in_flight=self._in_flight,
                stop=halt,
            )
            async with aclosing(pairs) as answered:
                place = 0
                async for compared in answered:
                    match, place = chosen[place], place + 1
                    self._tally.take(compared)
                    if any(each.kind == _NO_MONEY for each in compared.comparison.failures):
                        out_of_money.set()
                        halt.set()
                        continue
                    yield Told(match, self._taken(match, compared))
        if out_of_money.is_set():
            self._ended = "cost"
        elif halt.is_set():
            self._ended = "interrupted"

    def questioned(self, *, is_adaptive: bool) -> Questioned:
        """Who was asked, what that took and why it ended."""
        found = self._tally.summary()
        return Questioned(
            rubric=found.rubric,
            judges=found.judges,
            models=found.models,
            is_adaptive=is_adaptive,
            ended=self._ended or self._chooser.ended,
            n_planned=self._contest.n_matches,
            n_errors=found.n_errors,
            failures={kind: n for kind, n in found.failures.items() if kind != _NO_MONEY},
            failure_messages={k: m for k, m in found.failure_messages.items() if k != _NO_MONEY},
            left_out=self._contest.left_out,
            spent=found.spent,
            rule=found.rule,
            panel=found.panel,
        )

    def _taken(self, match: Match, compared: Compared) -> Comparison:
        meeting = meeting_of(compared.comparison, match.a, match.b, case_id=compared.pair.case.id)
        if meeting is not None:
            self.meetings.append(meeting)
        return compared.comparison.model_copy(update={"variant_a": match.a, "variant_b": match.b})
