"""Writes comparisons as a skill's `comparison.json` (S3.4): blind, the sides in drawn order."""

from __future__ import annotations

import random
from functools import partial
from math import floor
from typing import TYPE_CHECKING

from judgekit.errors import StoreError
from judgekit.prompts.rendering import as_text
from judgekit.report.formats.listing import json_text
from judgekit.report.replacing import check_place, replace_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from judgekit.records.compared import ComparedPair, ComparisonInfo
    from judgekit.records.comparison import Comparison
    from judgekit.records.record import JsonObject

SUFFIXES = (".json", ".jsonl")
"""The files comparisons can be written to, beside a folder with a file for each."""

NAME = "comparison.json"
"""What the file is called."""

check_comparison_place = partial(
    check_place, suffixes=SUFFIXES, what="comparisons", may_be_folder=True
)
"""Refuses a path that comparisons cannot be written to."""

_MOST_NAME = 80


def is_skill_file(path: Path | None) -> bool:
    """Whether a file is to be a `comparison.json` by its name."""
    return path is not None and path.name.endswith(NAME)


def labels_of(pair: ComparedPair, info: ComparisonInfo) -> tuple[str, str]:
    """What the first and the second side are called in a blind file: A and B, drawn for each case."""
    draw = random.Random(f"judgekit sides {info.label_seed} {pair.repeat} {pair.case.id}")
    return ("A", "B") if draw.random() < 0.5 else ("B", "A")  # noqa: PLR2004 - a fair coin


def skill_comparison(pair: ComparedPair, found: Comparison, info: ComparisonInfo) -> JsonObject:
    """A compared pair as a `comparison.json`."""
    # A score is the mean over both orders, taken to a whole number from 1 to 10; null where the
    # judge gave none. `winner` is A or B, `tie` where nobody wins, null where failures leave it
    # open.
    letters = labels_of(pair, info)
    named = dict(zip(("a", "b"), letters, strict=True))
    scores: JsonObject = {}
    for one in found.criteria:
        raws = {named["a"]: _whole(one.raw_a), named["b"]: _whole(one.raw_b)}
        scores[one.name] = {letter: raws[letter] for letter in ("A", "B")}
    return {
        "eval_prompt": as_text(pair.case.input),
        "winner": named.get(found.winner or "", found.winner),
        "reasoning": _reasoning(found, named),
        "scores": scores,
        "judgekit": {
            "comparison": info.id,
            "case_id": pair.case.id,
            "repeat": pair.repeat,
            "consistent": found.consistent,
            "rule": found.rule,
            "judge": info.judge,
            "rubric": info.rubric.name,
            "error": found.error,
        },
    }


def write_comparisons(
    path: Path, info: ComparisonInfo, pairs: Iterable[tuple[ComparedPair, Comparison]]
) -> int:
    """Write compared pairs as comparisons; every file is replaced as a whole or not at all."""
    found = [
        (file_name_of(pair), skill_comparison(pair, comparison, info)) for pair, comparison in pairs
    ]
    return write_each(path, found)


def write_each(path: Path, found: list[tuple[str, JsonObject]]) -> int:
    """Write objects to a folder, a line each, or as one JSON document."""
    check_comparison_place(path)
    items = [item for _, item in found]
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        replace_text(path, "".join(f"{json_text(item)}\n" for item in items))
    elif suffix == ".json" and not path.is_dir():
        texts = [json_text(item, indent=2) for item in items]
        only = texts[0] if len(texts) == 1 else "[\n" + ",\n".join(texts) + "\n]"
        replace_text(path, f"{only}\n")
    else:
        _write_folder(path, found)
    return len(items)


def _write_folder(path: Path, found: list[tuple[str, JsonObject]]) -> None:
    names = [name for name, _ in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise StoreError(f"two comparisons would be written to {twice}", hint="write a .json file")
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path}: {error.strerror}") from error
    for name, item in found:
        replace_text(path / name, json_text(item, indent=2) + "\n")


def file_name_of(pair: ComparedPair) -> str:
    """The name of a pair's own file in a folder."""
    stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in pair.case.id)[:_MOST_NAME]
    return f"{stem}_run{pair.repeat + 1}.json" if pair.repeat else f"{stem}.json"


def _whole(raw: float | None) -> int | None:
    return None if raw is None else floor(raw + 0.5)


def _reasoning(found: Comparison, named: dict[str, str]) -> str:
    """The judge's reasons on the whole, or else on the criteria, with what it saw first."""
    if found.error is not None:
        return f"Not judged: {found.error}"
    if found.is_identical:
        return "Both outputs are the same text."
    own = [one for one in found.preferences if one.criterion is None] or list(found.preferences)
    parts = []
    for one in own:
        about = "" if one.criterion is None else f"{one.criterion}, "
        first = named["a" if one.order == "ab" else "b"]
        parts.append(f"{about}{first} shown first: {one.rationale}")
    parts += [f"No answer: {failure.message}" for failure in found.failures[:1] if not parts]
    return "\n".join(parts)
