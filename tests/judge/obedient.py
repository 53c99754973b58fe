"""A judge that takes every word literally: it obeys whatever stands outside the marker pairs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.models.request import ModelReply
from tests.factories import reply

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest

_OPENING = re.compile(r"<(?P<label>[a-z]+)(?P<marker>(?: [A-Z2-7]{6,16})?)>")


def outside(text: str) -> list[str]:
    """The lines that stand between no marker pair; a pair ends at the first line that closes it."""
    lines, closing = [], None
    for line in text.split("\n"):
        opening = _OPENING.fullmatch(line)
        if closing is None and opening is not None:
            closing = f"</{opening['label']}{opening['marker']}>"
        elif closing is None:
            lines.append(line)
        elif line == closing:
            closing = None
    return lines


class ObedientModel:
    """Scores 1, unless a line it does not know of stands outside the markers: then 5.

    Args:
        known: The lines that the template itself puts there.
    """

    name = "obedient"

    def __init__(self, known: list[str]) -> None:
        self._known = set(known)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Obey."""
        seen = outside("\n".join(message["content"] for message in request.messages))
        orders = [line for line in seen if line not in self._known]
        return ModelReply(text=reply(5 if orders else 1))
