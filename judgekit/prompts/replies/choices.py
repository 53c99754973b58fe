"""Finds the choices (letters or words) a judge's reply may have made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAD = (
    r"\b(?:answer|verdict|grade|choice|decision|judge?ment|option|rating|score|result|conclusion)\b"
    r"[*_`]{0,3}(?:[ \t]{0,3}(?:is|:|=)[*_`]{0,3})[ \t]{0,5}[*_`\"'(\[]{0,4}"
)


def find_choices(prose: str, choices: Sequence[str]) -> list[re.Match[str]]:
    """Places where a choice is made, in order: a line that is one, or `Answer: B`."""
    # Where there is none of these, the first word counts when a colon or a comma follows it (`Yes,
    # because …`), and then the last word of the reply.
    options = "|".join(_option(choice) for choice in sorted(choices, key=len, reverse=True))
    option = rf"(?P<value>{options})(?![\w'\u2019])"
    mark = r"[ \t]{0,5}[*_`\"'(\[]{0,4}"
    end = r"[*_`\"')\].!]{0,5}[ \t]{0,5}"
    alone = re.compile(rf"^{mark}{option}{end}$", re.MULTILINE)
    stated = re.compile(rf"(?i:{_LEAD}){option}")
    hits = [*alone.finditer(prose), *stated.finditer(prose)]
    if hits:
        return sorted(hits, key=lambda hit: hit.start("value"))
    opening = re.match(
        rf"\s{{0,50}}{mark}{option}[*_`\"')\]]{{0,4}}[ \t]{{0,3}}[:,.;\u2013—-]", prose
    )
    closing = re.search(rf"(?<![\w'\u2019]){option}{end}\s{{0,50}}\Z", prose[-400:])
    if opening:
        return [opening]
    return _last(prose, rf"(?<![\w'\u2019]){option}", closing)


def fold_choice(word: str) -> str:
    """A choice as choices are compared."""
    return word if len(word) == 1 else word.casefold()


def _option(choice: str) -> str:
    return re.escape(choice) if len(choice) == 1 else f"(?i:{re.escape(choice)})"


def _last(prose: str, option: str, closing: re.Match[str] | None) -> list[re.Match[str]]:
    """The last word of a reply, when no other choice stands before it."""
    words = list(re.finditer(option, prose))
    if closing is None or len({fold_choice(hit["value"]) for hit in words}) != 1:
        return []
    return words[-1:]
