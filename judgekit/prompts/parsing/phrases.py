"""Phrases by which replies are read: refusals to judge, courtesies, names of an explanation.

Those of many languages stand in `phrases.toml`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def phrases(kind: str) -> str:
    """The phrases of a kind in all languages, as one regular expression."""
    tables = _tables()
    text = "|".join(chain.from_iterable(tables[kind].values()))
    # A phrase names parts that it shares with others in angle brackets.
    for name, parts in tables.get(f"{kind}_parts", {}).items():
        text = text.replace(f"<{name}>", f"(?:{'|'.join(parts)})")
    return text


DECORATION = " \t\r\n*_`#>|~-+\u2022\u00b7\"'\u201c\u201d\u201e\u2018\u2019\ufeff\u200b\x00"
"""What may surround the words of a line without meaning anything."""

STOPS = ".!?\u3002\uff01\uff1f"
"""What ends a sentence."""

SENTENCE_END = re.compile(rf"(?<=[{STOPS}])\s+|(?<=[\u3002\uff01\uff1f])|\n")


# The patterns of many languages take longer to compile than a run of cached replies to parse, of
# which few have prose: each is compiled when it is first wanted.
@cache
def _label() -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?:(?:here(?:'s| is| are)|the|my|a|brief|short|detailed|additional) ){{0,4}})"
        rf"(?P<key>{phrases('explanations')})"
        r"(?: (?:of|for|behind) (?:(?:the|this|my|each|these) )?\w{1,20})?"
        r"[*_` ]{0,4}(?:[:\uff1a][*_` ]{0,4}(?P<text>.*)|\Z)",
        re.IGNORECASE | re.DOTALL,
    )


@cache
def _courtesy() -> re.Pattern[str]:
    return re.compile(phrases("courtesies"), re.IGNORECASE)


@cache
def _refuses() -> re.Pattern[str]:
    return re.compile(phrases("refusals"))


_NOTES = ("note", "nota", "hinweis", "anmerkung", "remarque", "comment")
_LONGEST_COURTESY = 200

_CONTRADICTS = re.compile(phrases("contradictions"), re.IGNORECASE)


class NamedExplanation(NamedTuple):
    """The name of an explanation, as in `Brief explanation of the score: …`."""

    text: str
    # Whether a note contradicts what it stands beside; an explanation may weigh for and against.
    contradicts: bool


def split_label(line: str) -> NamedExplanation | None:
    """A line that names itself an explanation; its text is empty if it is a heading."""
    match = _label().fullmatch(line)
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
    match = _courtesy().match(text)
    # A question states nothing, in whatever language it offers more.
    is_question = text[-1:] in {"?", "\uff1f"}
    if match is None and not is_question:
        return False
    if len(text) > _LONGEST_COURTESY or any(map(str.isdigit, text)):
        return False
    return _CONTRADICTS.search(text, 0 if match is None else match.end()) is None


# A judge that asks for something ("no response was provided") has not refused: the prompt lacks it.
_ASKS = re.compile(phrases("requests"))

# Judges quote refusals of the output they grade.
_QUOTED = re.compile(
    r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|„[^“”\n]{1,2000}[“”]|«[^»\n]{1,2000}»|「[^」\n]{1,2000}」"
    r"|\u2018[^\u2019\n]{1,2000}\u2019(?!\w)|(?<!\w)'[^'\n]{4,2000}'(?!\w)|`[^`\n]{1,2000}`"
)
_CURLY = str.maketrans("\u2019\u2018\u02bc\uff07\u00b4", "'''''")

# What filters of providers and gateways put in the place of a reply, as its whole text.
_BLOCKED = re.compile(
    # Possessive, so that a text of punctuation alone is gone through once.
    r"\W*+(?:error\b|(?:block|finish) ?reason\b)?\W*+(?:"
    r"(?:the |this |your )?(?:generated )?(?:(?:content|response|output|reply|prompt|request"
    r"|message|answer|text|completion|generation)\b[\w ]{0,20})?\b(?:blocked|filtered|censored"
    r"|redacted|withheld|moderated|removed|suppressed|(?:flagged|rejected)(?= (?:as|by|due|for)))\b"
    r"[^\n]{0,100}"
    # Reasons that providers give as names.
    r"|(?:safety(?: block)?|recitation|prohibited content|blocklist|content filter|flagged)\W*+)"
)

# How far into a sentence a refusal may begin: "The text is harmful, so I will not grade it".
_OPENING = 30

# A refusal is short or comes first, and the patterns above are slow on long texts.
_LOOKED_AT = 4000


def is_judge_refusal(prose: str) -> bool:
    """Whether a text declines to judge; what it quotes does not count."""
    folded = _folded(prose)
    if _BLOCKED.fullmatch(folded.replace("_", " ").strip()):
        return True
    return _refuses().search(folded) is not None and _ASKS.search(folded) is None


def opens_with_refusal(sentence: str) -> bool:
    """Whether a sentence declines to judge; one that reports a refusal begins otherwise."""
    match = _refuses().search(text := _folded(sentence))
    if match is None or re.fullmatch(phrases("reports"), text[: match.start()]):
        return False
    return match.start() <= _OPENING


def _folded(prose: str) -> str:
    text = _QUOTED.sub(" ", prose[:_LOOKED_AT])
    return unicodedata.normalize("NFC", text).translate(_CURLY).casefold()
