"""Quotations in replies: verdicts quoted from the judged text, and where evidence stands in it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from judgekit.records import Evidence

_BETWEEN_TEXTS = "\ue000"
_ESCAPES = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nrt]")

# Judges drop or add these when they quote: white space, emphasis, invisible characters.
_SILENT = (
    "[\\s\\\\*`_>\x00\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufe00-\ufe0f"
    "\U000e0000-\U000e007f]"
)
_MARKS = "'“”„‟\u2018\u2019\u201a\u201b«»\u2039\u203a\u00b4\uff02\uff07「」『』"
_DROPPED = re.compile(f"{_SILENT}+")
_SAME = str.maketrans(dict.fromkeys(_MARKS, '"') | {"|": "/", "\uff1a": ":", "\uff0c": ","})
_JSON_LIKE = re.compile(f'["{_MARKS}]{_SILENT}*+[:=]')
# Before these, a text can be cut without harm: no escape or entity spans them, and they compose
# with nothing before them.
_PIECE_BORDER = re.compile(r"[\x00-\x22\x24-\x2f\x3a\x3c-\x40\x5b-\x60\x7b-\x7f]")
_FIRST_STEP = 64

# Normalised characters that must agree before an unreadable structure counts as quoted.
_LEAST = 12


@dataclass(frozen=True, slots=True)
class JudgedTexts:
    """The judged texts, normalised."""

    quoted: str
    plain: str

    def has(self, text: str) -> bool:
        """Whether the judged texts contain a structure, whatever its quotation marks."""
        return bool(self.plain) and _occurs(normalised(text).replace('"', ""), self.plain)

    def has_quoted(self, text: str) -> bool:
        """As `has`, but quotation marks count, so that `"score": 5` is not `Score: 5`."""
        return _occurs(normalised(text), self.quoted)

    def common_start(self, text: str, start: int) -> int:
        """Where a quotation that begins at a place of the reply ends."""
        # The longest part that ends at a border and is contained in the judged texts. Steps grow
        # while they succeed, so that the work is in proportion to what is shared.
        shared, end, failed, step = "", start, len(text) + 1, _FIRST_STEP
        while step and end < len(text):
            border = _PIECE_BORDER.search(text, end + step)
            stop = len(text) if border is None else border.start()
            longer = shared + normalised(text[end:stop]) if stop < failed else None
            if longer is not None and longer in self.quoted:
                shared, end, step = longer, stop, step * 2
            else:
                failed, step = min(failed, stop), step // 2
        low, high = end, failed - 1
        # The rest is found by bisection: normalising is what costs time.
        while low < high:
            middle = (low + high + 1) // 2
            if shared + normalised(text[end:middle]) in self.quoted:
                low = middle
            else:
                high = middle - 1
        shared += normalised(text[end:low])
        return low if len(shared) >= _LEAST and ":" in shared else start


def judged_texts(judged_text: str | Sequence[str] | None) -> JudgedTexts:
    """The judged texts in the form they are compared in, cached for the next reply."""
    texts = (judged_text,) if isinstance(judged_text, str) else (judged_text or ())
    return _normalised_texts(tuple(text for text in texts if text))


def normalised(text: str) -> str:
    """A text without the differences that quoting makes."""
    # White space, escapes, emphasis, quoting prefixes and invisible characters are dropped,
    # full-width forms, quotation marks and letter case made alike.
    return _DROPPED.sub("", _unescaped(text).casefold()).translate(_SAME)


@lru_cache(maxsize=32)
def _normalised_texts(texts: tuple[str, ...]) -> JudgedTexts:
    quoted = _BETWEEN_TEXTS.join(normalised(text) for text in texts)
    return JudgedTexts(quoted, quoted.replace('"', ""))


@lru_cache(maxsize=32)
def may_hold_verdict(text: str) -> bool:
    """Whether a text could contain a JSON verdict with its rationale."""
    # Without that it may have the score of a judge who gives a rationale, and not the verdict. Most
    # texts lack the word, and only in escapes or other characters could it be spelled otherwise.
    if "rationale" not in text.casefold() and text.isascii() and not ("&" in text or "\\" in text):
        return False
    return _JSON_LIKE.search(_unescaped(text)) is not None and "rationale" in normalised(text)


def _unescaped(text: str) -> str:
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        # A line break or a tab is white space, which is dropped anyway.
        text = _ESCAPES.sub(lambda match: " " if match[1] is None else chr(int(match[1], 16)), text)
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


_MORE_DIGITS = re.compile(r"[0-9]|\.[0-9]")


def _occurs(needle: str, text: str) -> bool:
    if not needle:
        return False
    # `score: 1` does not occur in `score: 10`.
    place = text.find(needle)
    while place >= 0:
        if not needle[-1].isdigit() or not _MORE_DIGITS.match(text, place + len(needle)):
            return True
        place = text.find(needle, place + 1)
    return False


# Where a piece begins and ends in the text, in characters.
_Place = tuple[int, int]

# Characters with which nothing composes; the last before a non-ASCII one may compose with it.
_ALONE = re.compile(r"[\x00-\x7f]+(?=[\x00-\x7f]|\Z)")
_ELLIPSES = ("[...]", "[…]", "...", "…")
_DOUBLE, _SINGLE = re.compile("[\u201c-\u201e]"), re.compile("[\u2018-\u201a]")
_OUTER = "\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"

# Unicode's stream-safe form allows 30 marks on a character; longer runs cost quadratic time.
_LONGEST = 32


def locate_evidence(quotes: Sequence[str], text: str) -> tuple[Evidence, ...]:
    """Each quotation with its place in the text, or marked as not found."""
    # Exact matches are tried first; then both texts are compared after Unicode NFKC, with straight
    # quotes, and with every run of white space as one space. Quotation marks around a quote and an
    # ellipsis at its ends are the judge's own and are ignored. A quote with a changed word is not
    # found: the check is there to catch invented evidence.
    found: list[Evidence] = []
    for quote in quotes:
        if not quote.strip():
            continue
        wanted, start = quote, text.find(quote)
        if start < 0:
            wanted = _bare(quote)
            start = text.find(wanted) if wanted else -1
        if start < 0 and wanted.startswith(_ELLIPSES):  # not the output's own
            wanted = wanted.lstrip("[.\u2026] ")
            start = text.find(wanted) if wanted else -1
        if start >= 0:
            end = start + len(wanted)
            found.append(Evidence(quote=quote, match="exact", start=start, end=end))
        elif place := _folded_place(text, wanted):
            start, end = place
            found.append(Evidence(quote=quote, match="normalized", start=start, end=end))
        else:
            found.append(Evidence(quote=quote))
    return tuple(found)


def _bare(quote: str) -> str:
    bare = quote.strip().strip(_OUTER).strip()
    for ellipsis in _ELLIPSES:
        bare = bare.removesuffix(ellipsis)
    return bare.strip()


def _straight(text: str) -> str:
    # `str.translate` takes twenty times as long for a text that is not ASCII.
    return _SINGLE.sub("'", _DOUBLE.sub('"', text))


@lru_cache(maxsize=32)
def _folded(text: str) -> str:
    # Cached: every criterion's quotations are looked for in the same output.
    if text.isascii():
        return " ".join(text.split())
    if unicodedata.is_normalized("NFKC", text):
        return " ".join(_straight(text).split())
    return "".join(piece for piece, _ in _folded_pieces(text)).strip()


def _folded_place(text: str, quote: str) -> _Place | None:
    """Where a quotation begins and ends in the text, when both are folded."""
    wanted = _folded(quote)
    first = _folded(text).find(wanted) if wanted else -1
    if first < 0:
        return None
    last = first + len(wanted) - 1
    if not unicodedata.is_normalized("NFKC", text):
        pieces = islice(_folded_pieces(text), first, last + 1)
        (_, (start, end)) = next(pieces)
        for _, (_, end) in pieces:  # noqa: B007 - the last one counts
            pass
        return start, end
    # In a normalised text only white space has another length.
    begin, end = _unfolded(text, first), _unfolded(text, last) + 1
    return _whole_clusters(text, begin, end)


def _unfolded(text: str, place: int) -> int:
    """The place in a normalised text of a character of its folded form that is no white space."""
    plain = _folded(text)
    n_words = plain.count(" ", 0, place)
    word = text.split(None, n_words)[n_words] if n_words else text.lstrip()
    return len(text) - len(word) + place - plain.rfind(" ", 0, place) - 1


def _whole_clusters(text: str, start: int, end: int) -> _Place:
    """The place with the marks that compose with its last character, and the base of its first."""
    while start and unicodedata.combining(text[start]):
        start -= 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return start, end


def _folded_pieces(text: str) -> Iterator[tuple[str, _Place]]:
    """Each character of the folded text with its place in the original."""
    is_between = False
    for place, plain in _clusters(text):
        for piece in _straight(plain):
            if not piece.isspace():
                is_between = True
                yield piece, place
            elif is_between:
                is_between = False
                yield " ", place


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
