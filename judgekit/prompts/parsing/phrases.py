"""Phrases of many languages by which replies are read; they stand in `phrases.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from itertools import chain
from pathlib import Path


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def phrases(kind: str) -> str:
    """The phrases of a kind in all languages, as one regular expression."""
    tables = _tables()
    text = "|".join(chain.from_iterable(tables[kind].values()))
    # A phrase names parts that it shares with others in angle brackets.
    for name, parts in tables.get(f"{kind}_parts", {}).items():
        text = text.replace(f"<{name}>", f"(?:{'|'.join(parts)})")
    return text
