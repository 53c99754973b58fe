"""Reads verdicts that a grading wrote to a file, to set them beside new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.rows import iter_rows, suffix_of
from judgekit.errors import DatasetError
from judgekit.evaluation.rejudging.contrasting import side_of
from judgekit.evaluation.rejudging.figures import Twice
from judgekit.records.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Key = tuple[str | None, str | None]

_SUFFIXES = (".jsonl", ".json")


def read_verdicts(path: Path) -> dict[Key, Verdict]:
    """The verdicts of a file that `judgekit grade -o` wrote.

    Args:
        path: A `.jsonl` or `.json` file; tables hold no whole verdicts.

    Returns:
        Verdicts by case and variant.

    Raises:
        DatasetError: When the file cannot be read, a row is no verdict, or two are of one output.
    """
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


def joined(old: dict[Key, Verdict], new: Iterable[Verdict]) -> list[Twice]:
    """The outputs that have a verdict of both judges.

    Args:
        old: What was said before, from `read_verdicts`.
        new: What is said now.

    Returns:
        In the order of the new verdicts; without outputs that are errors.
    """
    twices = []
    for after in new:
        before = old.get((after.case_id, after.variant))
        if before is None or before.error is not None or after.error is not None:
            continue
        twices.append(
            Twice(
                case_id=after.case_id or "",
                variant=after.variant or "",
                repeat=0,
                old=side_of(before, passed=before.passed, value=before.value),
                new=side_of(after, passed=after.passed, value=after.value),
            )
        )
    return twices
