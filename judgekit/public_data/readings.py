"""Reads scores and choices from judges' replies in the way the authors of each dataset did.

Where their code misreads replies, a comment states how, and what is done here instead.
"""

from __future__ import annotations

import re

_WORDS = ("one", "two", "three", "four", "five")
_WORD = "|".join(_WORDS)
_LABELLED = re.compile(rf"score:\s*(?:(?P<number>[1-5](?:\.\d)?)|(?P<word>{_WORD}))")
_NEAR = re.compile(r"scor(?:e|ing)[^.]+?[1-5](?:\.\d)?")
_NEAR_WORD = re.compile(rf"scor(?:e|ing)[^.]+\s({_WORD})[\s.,]")
_LAST = re.compile(r"[1-5](?:\.\d\s)?(?:out of [1-5])?")
_DIGIT = re.compile(r"[1-5](?:\.[1-5])?")
_STAR = re.compile(r"(\S+)\sstar")
_BARE = re.compile(r"([1-5]\.[0-9])\W*\Z")
_RATING = re.compile(r"[0-9](?:\.[0-9]+)?")
_LETTER = re.compile(r"summary ([abc])|\A([abc])[\s.:]", re.IGNORECASE)


def parse_sentence_score(text: str) -> float | None:
    """The score a sentence about a summary states, as its authors read it."""
    # Theirs takes the last digit where no word `score` is near, so "a 4 out of 5" counts as 5. A
    # bare closing "4.5" stays 4.5 here; theirs makes 5 of it.
    low = text.lower()
    for found in sorted(_LABELLED.finditer(low), key=lambda hit: hit["number"] is None)[:1]:
        return float(found["number"] or _WORDS.index(found["word"]) + 1)
    if near := _NEAR.search(low):
        return _first_digit(near.group())
    if near := _NEAR_WORD.search(low):
        word = re.search(_WORD, near.group())
        return None if word is None else float(_WORDS.index(word.group()) + 1)
    if bare := _BARE.search(low):
        return float(bare.group(1))
    last = _LAST.findall(low)
    return _first_digit(last[-1]) if last else None


def parse_stars(text: str) -> float | None:
    """The number before the first `star`."""
    found = _STAR.search(text.lower())
    if found is None:
        return None
    word = found.group(1)
    if word in _WORDS:
        return float(_WORDS.index(word) + 1)
    try:
        return float(word)
    except ValueError:
        return None


def parse_rating(text: str) -> float | None:
    """The first number behind the last `Rating:`, or of the whole; `1-3` is a scale."""
    # The authors cut decimals and count an unreadable reply as 0; decimals are kept here.
    low = text.lower().replace("1-3", " ").rsplit("rating:", 1)[-1]
    found = _RATING.search(low)
    return None if found is None else float(found.group())


def opens_with_yes(text: str) -> int:
    """Whether an answer begins with Yes."""
    # Anything else counts as No, a blocked answer too, as its authors count it.
    return int(text.strip().lower().startswith("yes"))


def parse_letter(text: str) -> str:
    """The option an answer chooses: alone, behind `summary`, or opening it."""
    bare = text.strip()
    if len(bare) != 1 and (found := _LETTER.search(bare)):
        bare = found.group(1) or found.group(2)
    return bare.upper() if bare.upper() in {"A", "B"} else "C"


def _first_digit(text: str) -> float | None:
    found = _DIGIT.search(text)
    return None if found is None else float(found.group())
