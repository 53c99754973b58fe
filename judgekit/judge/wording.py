"""What of a judge's words goes into a record: the reason it gives, as text a file can hold."""

from __future__ import annotations

import re

_NO_PROSE = re.compile(r"\{.*\}|```\w*", re.DOTALL)
_FEWEST_WORDS = 5
"""A reply with fewer words beside its JSON gives a score ("Score: 4 out of 5"), and no reason."""


def rationale_of(own: str | None, reply: str | None) -> str | None:
    """The rationale in its own field; else the reply, where it is more than a bare verdict."""
    said = (own or "").strip()
    if said:
        return encodable(said)
    text = (reply or "").strip()
    n_words = sum(any(c.isalpha() for c in word) for word in _NO_PROSE.sub(" ", text).split())
    return text if n_words >= _FEWEST_WORDS else None


def asked_for_none(reply: str | None) -> str:
    """What stands for the rationale of a judge whose template asks for none."""
    return encodable(f"The judge was asked for no reason; it answered: {(reply or '').strip()}")


def encodable(text: str) -> str:
    """A text with halves of broken characters replaced, which no file and no record can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
