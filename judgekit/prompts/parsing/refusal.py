"""Decides whether a reply without a verdict is a refusal to judge."""

from __future__ import annotations

import re
import unicodedata

from judgekit.prompts.parsing.phrases import phrases

_REFUSES = re.compile(phrases("refusals"))

# A judge that asks for something ("no response was provided") has not refused: the prompt lacks it.
_ASKS = re.compile(
    r"\b(?:please|could you|can you|would you)\b[^.!?\n]{0,40}\b(?:provide|share|paste|send|supply"
    r"|include|clarify|specify)|\bno (?:response|text|answer|output|content|candidate)\b"
    r"|\b(?:not|n't|without)\b[^.!?\n]{0,40}\b(?:provided|included|attached|see the"
    r"|been given|see any)"
    r"|\b(?:is|are|was|were|seems?|appears?) (?:to be )?(?:missing|empty|blank|cut off|incomplete)"
    r"|without (?:the|a|any|more|seeing|knowing|access)|\b(?:more|additional"
    r"|further) (?:context|information)"
    r"|\bneed (?:the|to see|more)|follow (?:the|that|this|any|those|these) instruction"
)

# Judges quote refusals of the output they grade.
_QUOTED = re.compile(
    r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|„[^“”\n]{1,2000}[“”]|«[^»\n]{1,2000}»|「[^」\n]{1,2000}」"
    r"|\u2018[^\u2019\n]{1,2000}\u2019(?!\w)|(?<!\w)'[^'\n]{4,2000}'(?!\w)|`[^`\n]{1,2000}`"
)
_CURLY = str.maketrans("\u2019\u2018\u02bc\uff07\u00b4", "'''''")

# What filters of providers and gateways put in the place of a reply, as its whole text.
_BLOCKED = re.compile(
    r"[\W_]*(?:the |this |your )?(?:(?:content|response|output|reply|prompt|request|message|answer"
    r"|text|completion|generation)\b[\w ]{0,20})?\b(?:blocked|filtered|censored|redacted|withheld"
    r"|moderated|removed|suppressed)\b[^\n]{0,100}"
)

# How far into a sentence a refusal may begin: "The text is harmful, so I will not grade it".
_OPENING = 30

# A refusal is short or comes first, and the patterns above are slow on long texts.
_LOOKED_AT = 4000


def is_judge_refusal(prose: str) -> bool:
    """Whether a text declines to judge; what it quotes does not count."""
    folded = _folded(prose)
    if _BLOCKED.fullmatch(folded.strip()):
        return True
    return _REFUSES.search(folded) is not None and _ASKS.search(folded) is None


def opens_with_refusal(sentence: str) -> bool:
    """Whether a sentence declines to judge; one that reports a refusal begins otherwise."""
    match = _REFUSES.search(_folded(sentence))
    return match is not None and match.start() <= _OPENING


def _folded(prose: str) -> str:
    text = _QUOTED.sub(" ", prose[:_LOOKED_AT])
    return unicodedata.normalize("NFC", text).translate(_CURLY).casefold()
