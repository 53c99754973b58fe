"""Recognises what follows a verdict in a reply: courtesies, and names of an explanation."""

from __future__ import annotations

import re
from typing import NamedTuple

from judgekit.prompts.parsing.phrases import phrases

DECORATION = " \t\r\n*_`#>|~-+\u2022\u00b7\"'\u201c\u201d\u201e\u2018\u2019\ufeff\u200b\x00"
"""What may surround the words of a line without meaning anything."""

STOPS = ".!?\u3002\uff01\uff1f"
"""What ends a sentence."""

SENTENCE_END = re.compile(rf"(?<=[{STOPS}])\s+|(?<=[\u3002\uff01\uff1f])|\n")

_LABEL = re.compile(
    rf"(?:(?:(?:here(?:'s| is| are)|the|my|a|brief|short|detailed|additional) ){{0,4}})"
    rf"(?P<key>{phrases('explanations')})"
    r"(?: (?:of|for|behind) (?:(?:the|this|my|each|these) )?\w{1,20})?"
    r"[*_` ]{0,4}(?:[:\uff1a][*_` ]{0,4}(?P<text>.*)|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NOTES = ("note", "nota", "hinweis", "anmerkung", "remarque", "comment")
_COURTESY = re.compile(phrases("courtesies"), re.IGNORECASE)
_LONGEST_COURTESY = 200

# In a courtesy or a note these words contradict what stands before it.
_CONTRADICTS = re.compile(
    r"\b(?:not|never|no|nothing|but|however|though|although|instead|rather|only|merely|just an?"
    r"|wrong|aber|nicht|nur|mais|seulement|pero|sólo|solo|mas|apenas|ma|maar|alleen|ale|tylko|но|не"
    r"|только)\b|n['\u2019]t\b|但|不|只|しかし|ただ|하지만|아니",
    re.IGNORECASE,
)


class NamedExplanation(NamedTuple):
    """The name of an explanation, as in `Brief explanation of the score: …`."""

    text: str
    # Whether a note contradicts what it stands beside; an explanation may weigh for and against.
    contradicts: bool


def split_label(line: str) -> NamedExplanation | None:
    """A line that names itself an explanation; its text is empty if it is a heading."""
    match = _LABEL.fullmatch(line)
    if match is None:
        return None
    text = (match["text"] or "").strip(DECORATION)
    is_note = match["key"].casefold().startswith(_NOTES)
    return NamedExplanation(text, is_note and _CONTRADICTS.search(text) is not None)


def is_courtesy(bare: str) -> bool:
    sentences = [part.strip(DECORATION) for part in SENTENCE_END.split(bare)]
    return all(_is_courteous(sentence) for sentence in sentences if sentence)


def _is_courteous(sentence: str) -> bool:
    if not any(map(str.isalnum, sentence)):
        return True
    text = sentence.replace("\u2019", "'")
    match = _COURTESY.match(text)
    # A question states nothing, in whatever language it offers more.
    is_question = text[-1:] in {"?", "\uff1f"}
    if match is None and not is_question:
        return False
    if len(text) > _LONGEST_COURTESY or any(map(str.isdigit, text)):
        return False
    return _CONTRADICTS.search(text, 0 if match is None else match.end()) is None
