"""Whether the store of runs can be opened and what it holds."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from judgekit.cli.starting.health import Check
from judgekit.errors import JudgekitError, StoreError
from judgekit.report import view
from judgekit.store.location import locate
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Iterator


def store_checks(location: str) -> Iterator[Check]:
    """Whether a store is sound; one that is not there is not made."""
    try:
        place = locate(location)
        if place.file is not None and not place.file.exists():
            yield Check("store", "ok", f"no runs yet; {place.file} is made by the first")
            return
        with closing(RunStore(location, create=False)) as store:
            store.check()
            runs = store.runs()
    except JudgekitError as error:
        remedy = error.hint or "name another store with --store"
        is_damaged = isinstance(error, StoreError)
        yield Check("store", "error" if is_damaged else "warning", error.message, remedy)
        return
    n_open = sum(run.status != "complete" for run in runs)
    left = f", {n_open:,} of them not complete" if n_open else ""
    yield Check("store", "ok", f"{view.count(len(runs), 'run')} in {place.name}{left}")
