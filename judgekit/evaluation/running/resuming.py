"""Finds the run that is to be gone on with, and what it has chosen and spent so far."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.evaluation.preparing.asking import Choice
from judgekit.evaluation.running.identity import same_run
from judgekit.evaluation.running.runner import new_run

if TYPE_CHECKING:
    from datetime import datetime

    from judgekit.datasets.suite import Suite
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.records.run import RunInfo
    from judgekit.store.reading import StoredRuns

LATEST = "latest"
"""Stands for the run of a suite that was begun last."""


def begun_run(store: StoredRuns, name: str | None, suite: Suite) -> RunInfo | None:
    """The run of a suite that is to be gone on with."""
    if name is None:
        return None
    return store.run(f"{LATEST}:{suite.name}" if name == LATEST else name)


def chosen_before(run: RunInfo | None) -> Choice:
    """Which part of its suite a run chose when it was begun."""
    chosen = {} if run is None else run.config.get("chosen")
    if not isinstance(chosen, dict):
        return Choice()
    known = {
        name: tuple(value) if isinstance(value, list) else value for name, value in chosen.items()
    }
    return replace(Choice(), **known)  # type: ignore[arg-type]  # written by Choice.as_json


def next_run(
    opened: OpenSuite,
    store: StoredRuns,
    begun: RunInfo | None,
    *,
    now: datetime,
    notes: str | None = None,
) -> RunInfo:
    """The run that is to be run: a new one, or the one that was begun, if it still is the same."""
    # What it has cost so far is counted against the money that may be spent.
    fresh = new_run(opened, now=now, notes=notes)
    if begun is None:
        return fresh
    run = same_run(begun, fresh)
    if opened.budget is not None:
        opened.budget.spend(store.spent_usd(run.id, is_owned=opened.is_owned))
    return run
