"""An endpoint with a script and virtual time, and a limited way to it."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

from judgekit.errors import ModelError
from judgekit.models.rate_limit import LimitedModel
from judgekit.models.request import Model, ModelReply, ModelRequest
from tests.models.asking import ask, outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from tests.models.virtual_time import VirtualTime

Step = ModelError | ModelReply | BaseException

GOOD = ModelReply(text="4")


def broken(kind: str = "overloaded", **fields: Any) -> ModelError:
    retryable = kind in {"overloaded", "rate_limited", "timeout", "connection"}
    return ModelError(f"it was {kind}", kind=kind, **({"retryable": retryable} | fields))


class Endpoint:
    """Answers in turn, then well, each call taking some virtual seconds."""

    name = "openai/m"

    def __init__(
        self,
        time: VirtualTime,
        answers: Sequence[Step] | Callable[[int], Step] = (),
        *,
        takes_s: float = 0,
    ) -> None:
        self.time, self.answers, self.takes_s = time, answers, takes_s
        self.sent_at: list[float] = []
        self.in_flight = self.most_in_flight = 0

    async def complete(self, _: ModelRequest) -> ModelReply:
        turn = len(self.sent_at)
        self.sent_at.append(self.time.now)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.takes_s:
                await self.time.sleep(self.takes_s)
            return self._answer(turn)
        finally:
            self.in_flight -= 1

    def _answer(self, turn: int) -> ModelReply:
        if callable(self.answers):
            answer = self.answers(turn)
        else:
            answer = self.answers[turn] if turn < len(self.answers) else GOOD
        if isinstance(answer, ModelReply):
            return answer
        raise answer


def limited(endpoint: Endpoint, **limits: Any) -> LimitedModel:
    time = endpoint.time
    return LimitedModel(
        endpoint, clock=time.clock, sleep=time.sleep, rng=random.Random(1), **limits
    )


async def all_of(model: Model, n: int) -> list[ModelReply | ModelError]:
    return await asyncio.gather(*(outcome(model, ask(f"case {i}")) for i in range(n)))


def calls(model: Model, n: int) -> Coroutine[Any, Any, list[ModelReply | ModelError]]:
    return all_of(model, n)
