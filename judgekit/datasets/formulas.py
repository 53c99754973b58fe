"""Texts that a spreadsheet would run as formulas: marked when written, unmarked when read."""

from __future__ import annotations

MARK = "'"
"""Stands before a text that a spreadsheet must not run."""

_TRIGGERS = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")
_INVISIBLE = (
    " \n\xa0\xad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
)


def neutralise(text: str) -> str:
    """The text with a `'` before it where a spreadsheet might run it.

    A text that begins with `'` and then such a formula gets another, so that `restore` gives
    every text back as it was.

    Args:
        text: The content of a text cell; numbers are not passed here.

    Returns:
        A text that no spreadsheet runs.

    Example:
        >>> neutralise("=1+1"), neutralise("plain")
        ("'=1+1", 'plain')
    """
    return MARK + text if _is_formula(text.lstrip(MARK)) else text


def restore(text: str) -> str:
    """The text as it was before `neutralise`."""
    if text.startswith(MARK) and _is_formula(text.lstrip(MARK)):
        return text[len(MARK) :]
    return text


def _is_formula(text: str) -> bool:
    return text.lstrip(_INVISIBLE).startswith(_TRIGGERS)
