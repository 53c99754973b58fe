"""Reads verdicts that a grading wrote to a file, to set them beside new ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.rows import iter_rows, suffix_of
from judgekit.errors import DatasetError
from judgekit.evaluation.rejudging.contrasting import own_side
from judgekit.evaluation.rejudging.figures import AN_ERROR, NOT_BEFORE, NOT_NOW, Twice
from judgekit.records.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    Key = tuple[str | None, str | None]

_SUFFIXES = (".jsonl", ".json")


def read_verdicts(path: Path) -> dict[Key, Verdict]:
    """The verdicts of a file that `judgekit grade -o` wrote."""
    if suffix_of(path) not in _SUFFIXES:
        raise DatasetError(
            "verdicts are read from .jsonl and .json",
            path=path,
            hint="write them so: judgekit grade … -o verdicts.jsonl",
        )
    found: dict[Key, Verdict] = {}
    for row in iter_rows(path):
        try:
            verdict = Verdict.model_validate(row.fields)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DatasetError(
                f"no verdict: {where}: {first['msg']}",
                path=path,
                line=row.line,
                hint="give a file that `judgekit grade -o` wrote",
            ) from error
        key = verdict.case_id, verdict.variant
        if key in found:
            raise DatasetError(
                "a second verdict of one output", path=path, line=row.line, case_id=key[0]
            )
        found[key] = verdict
    return found


@dataclass(frozen=True, slots=True)
class Joined:
    """Outputs with what both judges made of them, and how many are in no figure."""

    twices: tuple[Twice, ...]
    """In the order of the new verdicts."""

    left_out: Mapping[str, int]
    """Outputs that are left out, by why."""

    was_calibrated: bool = False
    """Whether maps decided the old verdicts; here the judge's own values do on either side."""


def joined(old: Mapping[Key, Verdict], new: Iterable[Verdict]) -> Joined:
    """Set old verdicts beside new ones."""
    twices: list[Twice] = []
    left_out: Counter[str] = Counter()
    met: set[Key] = set()
    for after in new:
        key = after.case_id, after.variant
        before = old.get(key)
        met.add(key)
        if after.error is not None or (before is not None and before.error is not None):
            left_out[AN_ERROR] += 1
        elif before is None:
            left_out[NOT_BEFORE] += 1
        else:
            twices.append(
                Twice(
                    case_id=after.case_id or "",
                    variant=after.variant or "",
                    repeat=0,
                    old=own_side(before),
                    new=own_side(after),
                )
            )
    if unmet := len(old.keys() - met):
        left_out[NOT_NOW] = unmet
    return Joined(
        tuple(twices), left_out, any(one.uncalibrated is not None for one in old.values())
    )
