"""The search for a pattern, as the worker process carries it out."""

from __future__ import annotations

import re
import warnings

warnings.simplefilter("ignore")


def search(pattern: str, text: str, ignore_case: bool, whole: bool) -> str | None:  # noqa: FBT001
    """The first part of a text that a pattern matches."""
    rule = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    found = rule.fullmatch(text) if whole else rule.search(text)
    return None if found is None else found.group()
