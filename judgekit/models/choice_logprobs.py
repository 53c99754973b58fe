"""Reads from a reply's log-probabilities how likely each of its possible choices was."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.models.request import ModelReply, TokenLogprob
    from judgekit.records.comparison import Slot

_LEAD = " \t\n\"'`*_([:"
_LEAST_MASS = 0.5
"""With less probability on the choices than this, the tokens are not about the choice."""


@dataclass(frozen=True, slots=True)
class ChoiceDistribution:
    """How likely each choice was where the reply makes its own."""

    first: float
    """The probability of the first, a tie counting half, among the choices; in [0, 1]."""

    confidence: float
    """The probability of the choice that was made, among the choices; in [0, 1]."""

    mass: float
    """How much probability fell on choices at all, in [0, 1]."""


def choice_distribution(
    reply: ModelReply, words: Mapping[str, Slot], *, lead: str, made: Slot
) -> ChoiceDistribution | None:
    """The probability of each choice, at the token that begins the one that was made."""
    tokens = reply.logprobs or ()
    text = "".join(token.token for token in tokens)
    matches = list(re.finditer(lead, text))
    if not matches or reply.text is None or text.strip() != reply.text.strip():
        return None
    token = _beginning(tokens, text, matches[-1].end())
    if token is None or _slot(token.token, words) != made:
        return None
    on: dict[Slot, float] = {}
    given = {token.token: token.logprob} | dict(token.top)
    for alternative, logprob in given.items():
        slot = _slot(alternative, words)
        if slot is not None:
            on[slot] = on.get(slot, 0.0) + math.exp(min(0.0, logprob))
    mass = math.fsum(on.values())
    if mass < _LEAST_MASS:
        return None
    first = on.get("first", 0.0) + on.get("tie", 0.0) / 2
    return ChoiceDistribution(
        first=min(1.0, first / mass), confidence=min(1.0, on[made] / mass), mass=min(1.0, mass)
    )


def _beginning(tokens: tuple[TokenLogprob, ...], text: str, place: int) -> TokenLogprob | None:
    """The token that holds the first character of the choice."""
    while place < len(text) and text[place] in _LEAD:
        place += 1
    ends = accumulate(len(token.token) for token in tokens)
    at = next((index for index, end in enumerate(ends) if end > place), None)
    return None if at is None else tokens[at]


def _slot(token: str, words: Mapping[str, Slot]) -> Slot | None:
    """The choice a token begins; None where it begins none, or could begin several."""
    bare = token.strip().lstrip(_LEAD)
    if not bare:
        return None
    folded = bare if all(len(word) == 1 for word in words) else bare.casefold()
    found = {
        slot
        for word, slot in words.items()
        if word.startswith(folded) or re.match(rf"{re.escape(word)}(?!\w)", folded)
    }
    return found.pop() if len(found) == 1 else None
