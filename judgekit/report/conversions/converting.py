"""Converts a file: writes it beside its place, reads it again, and puts it there if all is kept."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from judgekit.datasets.streaming import open_cases
from judgekit.errors import SettingsError, StoreError
from judgekit.report.conversions.losses import losses
from judgekit.report.conversions.table import FORMATS
from judgekit.report.replacing import check_place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.report.conversions.source import Source

_SHOWN = 20


def convert_cases(source: Source, path: Path, form: str, *, lossy: bool = False) -> tuple[str, ...]:
    """Write the cases of a file in another form; what is there is replaced as a whole or not."""
    found = FORMATS[form]
    check_place(path, found.suffixes, what=found.summary, may_be_folder=False)
    # The ending stays, for that says how it is read; the folder, for the files it may name.
    beside = path.with_name(f".part-{os.getpid()}-{path.name}")
    try:
        lost = found.write(beside, source)
        if found.keeps_ids:
            again = losses(source.cases, lambda: open_cases(beside))
            lost = (*lost, *(one.replace(beside.name, path.name) for one in again))
        if lost and not lossy:
            raise refusal(path, lost)
        beside.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):  # it is in its place, or cannot be removed either
            beside.unlink()
    return lost


def refusal(path: Path, lost: Sequence[str]) -> SettingsError:
    """The error that says what a conversion would lose."""
    more = f"\n  … and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    listed = "".join(f"\n  {one}" for one in lost[:_SHOWN])
    return SettingsError(
        f"{path.name} is not written, for this would be lost:{listed}{more}",
        hint="convert it nevertheless with --lossy",
    )
