"""The probe of formatting: the same words as plain prose, and with heading, bullets and bold."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.probe import Probe
from judgekit.evaluation.auditing.rewriting import rewriting_found, rewritten

if TYPE_CHECKING:
    import random

_LAYOUT = re.compile(r"```|^\s*\||^ {4,}\S|^\t", re.MULTILINE)
"""Code, tables and indented lines: their layout is part of what they say."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__")
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z\"'(])|\n+")
_BOLD_WORDS = 2


def plain_and_dressed(text: str, draw: random.Random) -> tuple[str, str] | None:
    """The same words without and with a layout in Markdown."""
    del draw
    if _LAYOUT.search(text):
        return None
    plain = undressed(text)
    sentences = [part.strip() for part in _SENTENCE.split(plain) if part.strip()]
    if not sentences:
        return None
    return plain, "\n".join(["## Answer", "", *(f"- {_bold(part)}" for part in sentences)])


def undressed(text: str) -> str:
    """A text without headings, bullets and bold letters."""
    without = _BOLD.sub(lambda found: found[1] or found[2], text)
    return _BULLET.sub("", _HEADING.sub(r"\1", without))


def _bold(sentence: str) -> str:
    words = sentence.split(" ")
    lead, rest = words[:_BOLD_WORDS], words[_BOLD_WORDS:]
    return " ".join([f"**{' '.join(lead)}**", *rest])


FORMATTING = Probe(
    name="formatting",
    question="Does the layout of the same words change the score?",
    needs="outputs with a text that is not code or a table",
    cost="2 gradings (1 mostly shared) and 2 comparisons",
    plan=partial(rewritten, probe="formatting", rewrite=plain_and_dressed),
    find=partial(rewriting_found, attribute="Markdown", harm="either"),
)
"""The probe."""
