"""What each statistic of a page means for its reader: the tooltips of column heads and labels.

The texts are in `meanings.toml`. The tooltip of a cell has its method, its sample size and what is
missing.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

_LEVEL = re.compile(r", [\d.]+ %$")


def meaning_of(name: str, kind: str) -> str:
    """What a column or a label of a result of some kind means; empty where it needs no words."""
    term = _LEVEL.sub("", name).casefold()
    return _meanings().get(f"{kind.casefold()}: {term}") or _meanings().get(term, "")


@cache
def _meanings() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
