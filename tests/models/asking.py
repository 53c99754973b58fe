"""Requests and outcomes for the tests of the transports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.errors import ModelError
from judgekit.models.request import ModelRequest

if TYPE_CHECKING:
    from judgekit.models.request import Model, ModelReply

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"rationale": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["rationale", "score"],
    "additionalProperties": False,
}


def ask(text: str = "How good is it?", **fields: Any) -> ModelRequest:
    """A request with a system and a user message."""
    messages = ({"role": "system", "content": "You judge."}, {"role": "user", "content": text})
    return ModelRequest(**{"model": "openai/m", "messages": messages} | fields)


async def outcome(model: Model, request: ModelRequest) -> ModelReply | ModelError:
    """The reply or the error of one call."""
    try:
        return await model.complete(request)
    except ModelError as error:
        return error
