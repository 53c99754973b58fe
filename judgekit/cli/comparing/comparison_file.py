"""Writes comparisons to a file as they come, and refuses places that would lose something."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.report.replacing import check_place, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from judgekit.records.comparison import Comparison

_SUFFIXES = (".jsonl", ".json")


def check_comparison_file(output: Path | None, sources: Iterable[str]) -> None:
    """Refuse a place that comparisons cannot be written to: inputs are never altered."""
    if output is None:
        return
    check_place(output, _SUFFIXES, what="comparisons", may_be_folder=False)
    for name in sources:
        source = Path(name if Path(name).exists() else name.rpartition("::")[0])
        if source.is_file() and source.resolve() == output.resolve():
            raise SettingsError(
                f"--output would overwrite {output}, which is compared", hint="choose another file"
            )


@contextmanager
def written(path: Path | None) -> Iterator[Callable[[Comparison], None]]:
    """Write comparisons to a file; it appears when all of them are there."""
    if path is None:
        yield lambda _: None
        return
    is_list = path.suffix.lower() == ".json"
    lead, between, after = ("[\n", ",\n", "\n]\n") if is_list else ("", "\n", "\n")
    n = 0
    with replaced(path) as file:

        def write(found: Comparison) -> None:
            nonlocal n
            line = json.dumps(found.to_json(), ensure_ascii=False)
            file.write(f"{between if n else lead}{line}".encode("utf-8", "replace"))
            n += 1

        yield write
        file.write(after.encode() if n else b"[]\n" if is_list else b"")
