"""Replies that tests let the loopback server give; faults are `judgekit.testing.SERVER_FAULTS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.testing import ServedReply
from judgekit.testing.server_replies import http_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.testing import ServedRequest

GOOD = '{"rationale": "as asked", "score": 4}'
"""The text of a good reply, whatever the schema of the request."""


def ok(text: str = GOOD, *, delay_s: float = 0.0) -> ServedReply:
    """A good completion."""
    return ServedReply(text, delay_s=delay_s)


def limited(retry_after: str) -> ServedReply:
    """A 429 that asks to be left alone for a while."""
    return http_error(429, "Rate limit reached", Retry_After=retry_after)


def refusing(
    *names: str, complaint: str = "Unsupported parameter: '{}'"
) -> Callable[[ServedRequest], ServedReply]:
    """A rule that answers 400 while a request holds one of the named fields."""

    def rule(seen: ServedRequest) -> ServedReply:
        for name in names:
            if name in seen.body:
                return http_error(400, complaint.format(name), param=name)
        return ok()

    return rule
