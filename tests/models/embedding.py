"""Answers of a loopback model of embeddings, whose vectors say which words a text has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.testing import ServedReply

if TYPE_CHECKING:
    from judgekit.testing import ServedRequest

WORDS = ("refund", "days", "shipping")


def vector(text: str) -> list[float]:
    """One number a known word, and one for all texts."""
    return [1.0 * (word in text.lower()) for word in WORDS] + [0.25]


def embedded(seen: ServedRequest) -> ServedReply:
    """The vector of what was asked, in the shape OpenAI gives it."""
    asked = seen.body["input"]
    text = asked[0] if isinstance(asked, list) else asked
    row = {"object": "embedding", "index": 0, "embedding": vector(text)}
    body: dict[str, Any] = {"object": "list", "data": [row], "model": seen.body["model"],
                            "usage": {"prompt_tokens": 7, "total_tokens": 7}}  # fmt: skip
    return ServedReply(body=body)
