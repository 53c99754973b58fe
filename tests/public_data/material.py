"""Published rows and figures, read from the folder `JUDGEKIT_DATA` names."""

from __future__ import annotations

import gzip
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ.get("JUDGEKIT_DATA", "")
needs_data = pytest.mark.skipif(not FOLDER, reason="JUDGEKIT_DATA names no folder")
needs_reference = pytest.mark.skipif(
    not FOLDER or not (Path(FOLDER) / "reference_values.json").is_file(),
    reason="JUDGEKIT_DATA names no folder with reference_values.json",
)

Rows = list[dict[str, Any]]
Figure = dict[str, Any]
"""`value`, `n` and what else a figure consists of."""

Figures = dict[str, Figure]


@lru_cache(maxsize=32)
def rows_of(name: str) -> Rows:
    """The joined rows of one file, such as `llmbar/pairwise`; skips the test without it."""
    path = Path(FOLDER) / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"{path} is missing: judgekit data get {name.split('/', maxsplit=1)[0]}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def sets_below(folder: str, prefix: str = "") -> list[str]:
    """The names of the joined files in a folder, without the prefix."""
    names = [path.name.removesuffix(".jsonl.gz") for path in (Path(FOLDER) / folder).glob("*.gz")]
    return sorted(name.removeprefix(prefix) for name in names if name.startswith(prefix))


@lru_cache(maxsize=1)
def reference() -> dict[str, Any]:
    """The published and recomputed figures, `dataset/judge/statistic` to figure."""
    path = Path(FOLDER) / "reference_values.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["values"]
    return found


def judges_of(rows: Rows) -> list[str]:
    """Every judge that any row has an answer of."""
    return sorted({judge for row in rows for judge in row["judge_parsed"]})
