"""Finds a judge's quotations in the text it judged."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from judgekit.records import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Where a piece begins and ends in the text, in characters.
_Place = tuple[int, int]

# Characters with which nothing composes; the last before a non-ASCII one may compose with it.
_ALONE = re.compile(r"[\x00-\x7f]+(?=[\x00-\x7f]|\Z)")

_ELLIPSES = ("[...]", "[…]", "...", "…")

_QUOTES = str.maketrans(
    {"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'", "\u201a": "'"}
)

_OUTER = "\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"

# Unicode's stream-safe form allows 30 marks on a character; longer runs cost quadratic time.
_LONGEST = 32


def locate_evidence(quotes: Sequence[str], text: str) -> tuple[Evidence, ...]:
    """Each quotation with its place in the text, or marked as not found."""
    # Exact matches are tried first; then both texts are compared after Unicode NFKC, with straight
    # quotes, and with every run of white space as one space. Quotation marks around a quote and an
    # ellipsis at its end are the judge's own and are ignored. A quote with a changed word is not
    # found: the check is there to catch invented evidence.
    folded: tuple[str, list[_Place]] | None = None
    found: list[Evidence] = []
    for quote in quotes:
        if not quote.strip():
            continue
        wanted, start = quote, text.find(quote)
        if start < 0:
            wanted = _bare(quote)
            start = text.find(wanted) if wanted else -1
        if start >= 0:
            end = start + len(wanted)
            found.append(Evidence(quote=quote, match="exact", start=start, end=end))
        else:
            folded = folded or _fold(text)  # costly, and most quotes are exact
            found.append(_find_folded(quote, *folded))
    return tuple(found)


def _find_folded(quote: str, folded: str, places: list[_Place]) -> Evidence:
    wanted = _fold(_bare(quote))[0].strip()
    start = folded.find(wanted) if wanted else -1
    if start < 0:
        return Evidence(quote=quote)
    last = start + len(wanted) - 1
    return Evidence(quote=quote, match="normalized", start=places[start][0], end=places[last][1])


def _bare(quote: str) -> str:
    bare = quote.strip().strip(_OUTER).strip()
    ellipsis = next((mark for mark in _ELLIPSES if bare.endswith(mark)), "")
    return bare.removesuffix(ellipsis).strip()


def _fold(text: str) -> tuple[str, list[_Place]]:
    """The folded text, and for each of its characters its place in the original."""
    folded: list[str] = []
    places: list[_Place] = []
    for place, plain in _clusters(text):
        for piece in plain.translate(_QUOTES):
            if not piece.isspace():
                folded.append(piece)
                places.append(place)
            elif folded and folded[-1] != " ":
                folded.append(" ")
                places.append(place)
    return "".join(folded), places


def _clusters(text: str) -> Iterator[tuple[_Place, str]]:
    """Each character with all that composes with it: its place, and its NFKC form."""
    start = 0
    while start < len(text):
        if alone := _ALONE.match(text, start):
            yield from (((at, at + 1), text[at]) for at in range(start, alone.end()))
            start = alone.end()
            continue
        end = start + 1
        while end < len(text) and end - start < _LONGEST and _composes(text[start:end], text[end]):
            end += 1
        yield (start, end), unicodedata.normalize("NFKC", text[start:end])
        start = end


def _composes(cluster: str, following: str) -> bool:
    """Whether the next character composes with the one before it (marks, Hangul vowels)."""
    if following.isascii():
        return False
    if unicodedata.combining(following):
        return True
    before, after = (unicodedata.normalize("NFKC", part) for part in (cluster, following))
    return unicodedata.normalize("NFKC", cluster + following) != before + after
