"""Finds the score a sentence states: `scoring a 2 out of 5`, `a score of three`, `4 stars`."""

from __future__ import annotations

import re

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ONE = rf"(?:[0-9]{{1,3}}(?:\.[0-9]{{1,4}})?|{'|'.join(_WORDS)})"
_VALUE = (
    rf"(?<![\w.$£€-])(?P<value>{_ONE}(?:[ -]?(?:out[ ]of|/)[ ]?{_ONE})?)"
    r"(?![\w/]|[ ]?%|[.,][0-9]|[ ]?[-\u2013][ ]?[0-9]|[ ]of\b)"
)
_LABELLED = re.compile(
    rf"\b(?:score|rating|grade)\b[*_`\"']{{0,4}}[ ]{{0,3}}[:=][*_`\"' ]{{0,6}}{_VALUE}",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    rf"\b(?:score[sd]?|scoring|rat(?:e[sd]?|ing)|grade[sd]?)\b[^.!?\n]{{0,80}}?{_VALUE}",
    re.IGNORECASE,
)
_OUT_OF = re.compile(
    rf"(?<![\w.-])(?P<value>{_ONE}[ -]?(?:out[ ]of|/)[ ]?{_ONE})(?![\w%/]|[.,][0-9])",
    re.IGNORECASE,
)
_STARS = re.compile(rf"(?<![\w.-])(?P<value>{_ONE})[ -]?stars?\b", re.IGNORECASE)
_LAST = re.compile(rf"{_VALUE}[ \t*_`.\"')\]]{{0,8}}\Z", re.IGNORECASE)
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)


def stated_scores(prose: str) -> list[re.Match[str]]:
    """Where a score is stated, in the order it stands in."""
    # A line `Score: n` outdoes a sentence, and a sentence a bare number that ends the reply. What
    # follows a number counts: a match that ended 2-1 and 3.5 % are no scores.
    folded = prose.casefold()
    has_verb = any(stem in folded for stem in ("scor", "rat", "grad"))
    if has_verb and (labelled := list(_LABELLED.finditer(prose))):
        return labelled
    found: dict[int, re.Match[str]] = {}
    if "star" in folded:
        found |= {hit.start("value"): hit for hit in _STARS.finditer(prose)}
    if "/" in prose or "out of" in folded:
        found |= {hit.start("value"): hit for hit in _OUT_OF.finditer(prose)}
    if has_verb:
        found |= {hit.start("value"): hit for hit in _SENTENCE.finditer(prose)}
    if not found and (last := _LAST.search(prose[-_TAIL:])):
        return [last]
    return [found[start] for start in sorted(found)]


_TAIL = 200


def in_digits(text: str) -> str:
    """A text with the numbers from zero to ten in digits."""
    return _NUMBER_WORD.sub(lambda hit: str(_WORDS.index(hit.group().lower())), text)
