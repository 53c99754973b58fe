"""What a judge was sent and what it wrote, read from the reply cache for a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.models.cache import ReplyCache
    from judgekit.records import JudgeFailure, Judgment
    from judgekit.report.document import PageJson

_MISSING = "The cache does not hold this prompt and reply: it was recorded elsewhere, or deleted."


@dataclass(frozen=True, slots=True)
class ShownExchanges:
    """The exchanges of one answer; several criteria may share one."""

    shown: list[PageJson]
    places: list[int | None]
    """The place of each judgment's and failure's exchange; None where nothing was asked."""


class JudgeReplies:
    """Finds prompts and raw replies by the keys that judgments name."""

    def __init__(self, cache: ReplyCache) -> None:
        self._cache = cache

    def of(self, answers: Sequence[Judgment | JudgeFailure]) -> ShownExchanges:
        """The exchanges that some judgments and failures come from, each once."""
        keys = [one.reply_key for one in answers]
        known = list(dict.fromkeys(key for key in keys if key is not None))
        return ShownExchanges(
            [self._exchange(key) for key in known],
            [None if key is None else known.index(key) for key in keys],
        )

    def _exchange(self, key: str) -> PageJson:
        """The messages and the reply only: a request names its endpoint, too."""
        sent = (self._cache.request_parts(key) or {}).get("messages")
        messages = sent if isinstance(sent, list) else []
        reply = self._cache.get(key)
        if reply is None and (rejected := self._cache.rejected(key)):
            reply = rejected[-1].reply
        return {
            "messages": [
                {"role": str(one.get("role", "")), "text": str(one.get("content", ""))}
                for one in messages
                if isinstance(one, dict)
            ],
            "reply": None if reply is None else reply.text,
            "note": _MISSING if reply is None and not messages else "",
        }
