"""Regular expressions of Python's `re`, searched within a time limit."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from math import isqrt
from typing import Annotated

from pydantic import AfterValidator

from judgekit.checks.bounded import bounded
from judgekit.errors import InputError

PATTERN_MAX = 10_000
"""How many characters a pattern may have."""

_TASK = "judgekit.checks.searching:search"
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?[^\]]*+\]")
_FIXED_REPEAT = re.compile(r"\{([0-9]{1,3})\}")
_PLAIN_MAX = 100
_STEPS = 5_000_000
"""Steps of a search that are over in some tenths of a second."""

_LONGEST = 100_000
"""Longer texts are always searched in the worker process."""


@lru_cache(maxsize=1024)
def compiled(pattern: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """A pattern, compiled."""
    if len(pattern) > PATTERN_MAX:
        raise InputError(f"a pattern has {len(pattern)} characters, the limit is {PATTERN_MAX}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's plans for later versions
            return re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            f"{pattern[:80]!r} is no regular expression: {error}",
            hint="patterns are those of Python's re module",
        ) from error


def _checked(pattern: str) -> str:
    compiled(pattern)
    return pattern


PatternText = Annotated[str, AfterValidator(_checked)]
"""A pattern that compiles."""


def search(
    pattern: str, text: str, *, ignore_case: bool = False, whole: bool = False, timeout_s: float = 1
) -> str | None:
    """The first part of a text that a pattern matches."""
    rule = compiled(pattern, ignore_case=ignore_case)
    if _is_quick(pattern, len(text)):
        found = rule.fullmatch(text) if whole else rule.search(text)
        return None if found is None else found.group()
    part = bounded(_TASK, pattern, text, ignore_case, whole, timeout_s=timeout_s)
    return part if isinstance(part, str) else None


@lru_cache(maxsize=1024)
def _longest_quick_text(pattern: str) -> int:
    """Up to how many characters a text is surely searched at once, whatever it says."""
    # Without groups nothing is repeated that is repeated itself. From each place of the text the
    # parts of the pattern are tried one after the other, once for each way its optional ones may
    # go, and once more for each length that an open repeat may have.
    bare = _CLASS.sub("x", _ESCAPE.sub("x", pattern))
    n_repeated = sum(int(count) for count in _FIXED_REPEAT.findall(bare))
    bare = _FIXED_REPEAT.sub("", bare)
    n_open = bare.count("*") + bare.count("+")
    if len(pattern) > _PLAIN_MAX or "(" in bare or "{" in bare or n_open > 1:
        return 0
    n_places = _STEPS // max(1, (len(bare) + n_repeated) << bare.count("?"))
    return min(_LONGEST, isqrt(2 * n_places) if n_open else n_places)


def _is_quick(pattern: str, length: int) -> bool:
    return length <= _longest_quick_text(pattern)
