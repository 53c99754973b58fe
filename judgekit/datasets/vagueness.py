"""Finds in a description the words that nothing can contradict."""

from __future__ import annotations

import re

VAGUE_WORDS = ("appropriate", "reasonable", "adequate", "suitable", "proper", "sensible")
"""Words in a description that nothing can contradict."""

_STEMS = "|".join(word.removesuffix("e") for word in VAGUE_WORDS)
_VAGUE = re.compile(rf"\b(?:in|un)?(?:{_STEMS})(?:e|y|ly|ely)?\b", re.IGNORECASE)


def vague_word(text: str | None) -> str | None:
    """The first word of a text that nothing can contradict."""
    found = _VAGUE.search(text or "")
    return None if found is None else found.group()
