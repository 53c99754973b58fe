"""Reads the values of settings from text; says in words what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def fraction(text: str) -> float:
    """A number from 0 to 1."""
    value = _number(text)
    if not 0 <= value <= 1:
        raise ValueError(f"{text} is not a number from 0 to 1")
    return value


def amount(text: str) -> float:
    """An amount of money above 0."""
    value = _number(text)
    if not 0 < value < float("inf"):
        raise ValueError(f"{text} is not an amount above 0")
    return value


def count(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{text} is not a whole number from 1")
    return int(text)


def one_of(*words: str) -> Callable[[str], str]:
    """A reader that knows a few words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"{text!r} is none of {', '.join(words)}")
        return text

    return read


def flag(text: str) -> bool:
    """Yes or no."""
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() in _TRUE


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
