"""Requests, replies and a model that counts its calls, saying only what a test is about."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING

from judgekit.models.request import ModelReply, ModelRequest, Subject
from judgekit.records import Usage

if TYPE_CHECKING:
    from judgekit.records import JsonObject


def make_request(
    text: str = "Is the answer right?",
    *,
    model: str = "openai/small",
    parameters: JsonObject | None = None,
    repeat: int = 0,
) -> ModelRequest:
    """A request that differs from others in its text."""
    return ModelRequest(
        model=model,
        messages=({"role": "system", "content": "You judge."}, {"role": "user", "content": text}),
        parameters={"temperature": 0.0} if parameters is None else parameters,
        subject=Subject(repeat=repeat),
    )


def make_reply(
    text: str | None = '{"score": 4}',
    *,
    finish_reason: str | None = "stop",
    cost_usd: float | None = 0.25,
    duration_ms: float | None = 800.0,
) -> ModelReply:
    """A reply as a model gives it."""
    return ModelReply(
        text=text,
        finish_reason=finish_reason,
        usage=Usage(input_tokens=90, output_tokens=12),
        model="small-2026-01-01",
        cost_usd=cost_usd,
        duration_ms=duration_ms,
    )


class CountingModel:
    """A model that answers in turn, or with one answer for ever, and counts what it was asked."""

    def __init__(self, *replies: ModelReply | Exception) -> None:
        self.replies = list(replies) or [make_reply()]
        self.asked: list[str] = []
        self.was_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    @property
    def name(self) -> str:
        """Its name."""
        return "counting"

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The next answer, once it may answer."""
        self.asked.append(request.key)
        self.was_asked.set()
        await asyncio.sleep(0)
        await self.may_answer.wait()
        answer = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def random_text(n_characters: int) -> str:
    """A text that cannot be packed to less than half of its size."""
    return Random(0).randbytes(n_characters // 2).hex()
