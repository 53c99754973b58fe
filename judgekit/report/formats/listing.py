"""Writes JSON objects to a file as they come: one a line, or as the items of one list."""

from __future__ import annotations

import json
from itertools import chain, islice
from typing import TYPE_CHECKING

from judgekit.report.replacing import replace_text, replaced

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from judgekit.records.record import JsonObject


def write_list(path: Path, items: Iterable[JsonObject], *, one_alone: bool = False) -> int:
    """Write objects to a file, one in memory at a time; replaced as a whole or not at all."""
    is_lines = path.suffix.lower() == ".jsonl"
    coming = iter(items)
    first = list(islice(coming, 2))
    if one_alone and len(first) == 1 and not is_lines:
        replace_text(path, f"{json_text(first[0], indent=2)}\n")
        return 1
    n = 0
    with replaced(path) as file:
        for item in chain(first, coming):
            if not is_lines:
                file.write(b",\n" if n else b"[\n")
            file.write(json_text(item, indent=None if is_lines else 2).encode())
            file.write(b"\n" if is_lines else b"")
            n += 1
        if not is_lines:
            file.write(b"\n]\n" if n else b"[]\n")
    return n


def json_text(item: JsonObject, *, indent: int | None = None) -> str:
    """An object as JSON that can be encoded as UTF-8."""
    text = json.dumps(item, ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(item, indent=indent, allow_nan=False)
    return text
