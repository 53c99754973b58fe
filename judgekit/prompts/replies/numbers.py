"""Decides whether a value in a reply is a score of a criterion's scale."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.prompts.replies.documents import Leaf
    from judgekit.prompts.replies.scales import Wanted

_NUMBER = r"[+-]?(?:(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,4})?"
_PLAIN = re.compile(rf"({_NUMBER})")
_FRACTION = re.compile(rf"({_NUMBER})\s*(?:/|\bout\s+of\b)\s*({_NUMBER})", re.IGNORECASE)
_PERCENT = re.compile(rf"({_NUMBER})\s*%")
_LEADING = re.compile(
    rf"[*_`\"'“\[(]*\s*({_NUMBER}(?:\s*%|\s*(?:/|\bout\s+of\b)\s*{_NUMBER})?)[*_`\"'”\])]*"
    rf"(?:\s*(/|\bout\s+of\b)\s*({_NUMBER}))?",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\s*[.,;]?\s*\Z|\s+(?:[-\u2013—]+\s|#)|\s*\(|\s*[;,.]\s+|\s*[\u2013—]\s*\D")
_SECOND = re.compile(r"[:=]\s*[*_`]*[+-]?[0-9]")
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_SHOWN = 40


class NoScoreError(Exception):
    """A value is no score."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def read_score(leaf: Leaf, wanted: Wanted) -> float:
    """The score a value states; never rounded, rescaled or clamped."""
    number = _number(leaf, wanted)
    if not math.isfinite(number) or not wanted.scale.holds(number):
        raise NoScoreError("out_of_range", f"{wanted.ask}; the reply said {shown(leaf.text)}.")
    return number


def plain_number(leaf: Leaf) -> float | None:
    """The finite number a value states, on whatever scale."""
    if leaf.kind not in {"number", "string", "line"}:
        return None
    match = _PLAIN.fullmatch(ascii_digits(leaf.text.strip()))
    number = float(match.group(1)) if match else math.nan
    return number if math.isfinite(number) else None


def leading_number(text: str) -> tuple[str, str] | None:
    """The number a line begins with, where nothing after it casts doubt on it."""
    match = _LEADING.match(ascii_digits(text))
    if match is None or not _TAIL.match(ascii_digits(text), match.end()):
        return None
    if _SECOND.search(text, match.end()):
        return None
    number, bar, whole = match.groups()
    return (number if bar is None else f"{number}/{whole}"), text[match.end() :].strip(
        " -\u2013—.,;"
    )


def ascii_digits(text: str) -> str:
    """A text with full-width forms and the digits of other scripts as ASCII."""
    if text.isascii():
        return text
    return "".join(_ascii(char) for char in text)


def shown(text: str) -> str:
    """A value for a message: quoted, control characters escaped, at most 40 characters."""
    cut = text.strip()
    return repr(cut if len(cut) <= _SHOWN else f"{cut[: _SHOWN - 1]}…")


def _number(leaf: Leaf, wanted: Wanted) -> float:
    if leaf.kind == "number":
        return float(leaf.text)
    text = ascii_digits(leaf.text.strip())
    if leaf.kind != "null" and wanted.is_binary and text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    if leaf.kind in {"bool", "null"}:
        raise NoScoreError("not_a_number", f"{wanted.ask}; the reply said {shown(leaf.text)}.")
    if match := _PLAIN.fullmatch(text):
        return float(match.group(1))
    if leaf.kind != "bare" and (match := _FRACTION.fullmatch(text)):
        return _of_own_maximum(match, leaf, wanted)
    if leaf.kind != "bare" and (match := _PERCENT.fullmatch(text)):
        return _percent(float(match.group(1)), leaf, wanted)
    raise NoScoreError("not_a_number", f"{wanted.ask}; the reply said {shown(leaf.text)}.")


def _of_own_maximum(match: re.Match[str], leaf: Leaf, wanted: Wanted) -> float:
    if float(match.group(2)) != wanted.scale.max:
        raise NoScoreError("scale_mismatch", f"{wanted.ask}; the reply said {shown(leaf.text)}.")
    return float(match.group(1))


def _percent(number: float, leaf: Leaf, wanted: Wanted) -> float:
    if wanted.is_binary:
        return number / 100
    if (wanted.scale.min, wanted.scale.max) == (0, 100):
        return number
    raise NoScoreError("scale_mismatch", f"{wanted.ask}; the reply said {shown(leaf.text)}.")


def _ascii(char: str) -> str:
    if "\uff01" <= char <= "\uff5e":
        return chr(ord(char) - 0xFEE0)
    digit = unicodedata.decimal(char, None)
    return char if digit is None else str(digit)
