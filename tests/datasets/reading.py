"""Reads recorded outputs without their cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets import iter_case_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import Output


def iter_outputs(path: Path, *, variant: str | None = None) -> Iterator[Output]:
    """The outputs of a file, in file order."""
    for _, output in iter_case_outputs(path, variant=variant, needs_input=False):
        yield output
