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
    """For each judgment and each failure the place of its exchange; None where nothing was asked.
    """


class JudgeReplies:
    """Finds prompts and raw replies by the keys that judgments name; without a cache, none."""

    def __init__(self, cache: ReplyCache | None) -> None:
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
        cache = self._cache
        parts = None if cache is None else cache.request_parts(key)
        messages = [] if parts is None else parts.get("messages")
        sent = (
            [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
        )
        reply = None if cache is None else cache.get(key)
        rejected = () if cache is None or reply is not None else cache.rejected(key)
        text = rejected[-1].reply.text if rejected else None if reply is None else reply.text
        return {
            "messages": [
                {"role": str(one.get("role", "")), "text": str(one.get("content", ""))}
                for one in sent
            ],
            "reply": text,
            "note": _MISSING if text is None and not sent else "",
        }
