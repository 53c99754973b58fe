"""Adds a run's variants to a skill's `history.json` (S3.2), and loses nothing of what is there."""

from __future__ import annotations

from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from judgekit.datasets.documents import read_document
from judgekit.datasets.foreign.skill_history import read_history
from judgekit.evaluation.figures.run_summary import summarize_run
from judgekit.report.formats.listing import json_text
from judgekit.report.formats.skill_grading import version_of
from judgekit.report.replacing import check_place, replace_text
from judgekit.store.texts import time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.evaluation.figures.run_figures import RunSummary
    from judgekit.records.record import JsonObject
    from judgekit.records.run import CaseResult, RunInfo

SUFFIXES = (".json",)
"""The files a history can be written to."""

check_history_place = partial(check_place, suffixes=SUFFIXES, what="a history", may_be_folder=False)
"""Refuses a path that a history cannot be written to."""

_MINE = ("run_id", "variant")
_WORST, _BEST = 1, 5


def extended_history(summary: RunSummary, known: JsonObject | None = None) -> JsonObject:
    """A history with a version for each variant of a run."""
    # A version that a run has already is not added again: its average is brought up to date. The
    # last version added is the current one.
    found: JsonObject = {**known} if known is not None else {"versions": [], "current_version": 0}
    given = found["versions"]
    versions: list[JsonValue] = [*given] if isinstance(given, list) else []
    for figures in summary.variants:
        if figures.n_answers == 0:  # it was left out of what is written
            continue
        entry = _version(summary.run, figures.variant, figures.value.value)
        place = _place(versions, entry)
        if place is not None:
            old = versions[place]
            kept = old if isinstance(old, dict) else {}
            versions[place] = {**kept, "average_score": entry["average_score"]}
            continue
        number = _next(version_of(figures.variant, summary.run), versions)
        versions.append({"version": number, **entry})
        found["current_version"] = number
    return {**found, "versions": versions}


def write_history(path: Path, run: RunInfo, answers: Iterable[Concluded]) -> int:
    """Add a run to a history; the file is replaced as a whole or not at all."""
    check_history_place(path)
    known: JsonObject | None = None
    if path.is_file():
        read_history(path)
        value = read_document(path).value
        known = value if isinstance(value, dict) else None
    n = [0]
    summary = summarize_run(_counted(answers, n), run)
    replace_text(path, json_text(extended_history(summary, known), indent=2) + "\n")
    return n[0]


def _version(run: RunInfo, variant: str, value: float) -> JsonObject:
    known = next((each for each in run.variants if each.id == variant), None)
    prompt = None if known is None else known.prompt_version
    described = f"{run.suite}: {variant}" + (f" ({prompt})" if prompt else "")
    return {
        "timestamp": time_text(run.started_at).replace("+00:00", "Z"),
        "description": described + (f" - {run.notes}" if run.notes else ""),
        "git_hash": None,
        "path": None,
        "average_score": None if isnan(value) else round(_WORST + (_BEST - _WORST) * value, 4),
        "run_id": run.id,
        "variant": variant,
    }


def _place(versions: list[JsonValue], entry: JsonObject) -> int | None:
    """Where the same run's version of the same variant stands."""
    for place, version in enumerate(versions):
        if isinstance(version, dict) and all(version.get(k) == entry[k] for k in _MINE):
            return place
    return None


def _next(wanted: int, versions: list[JsonValue]) -> int:
    """The number the variant's gradings have where it is free, else the next."""
    taken = {_number(version) for version in versions}
    return wanted if wanted not in taken else 1 + max(taken)


def _number(version: JsonValue) -> int:
    number = version.get("version") if isinstance(version, dict) else None
    return number if isinstance(number, int) else -1


def _counted(answers: Iterable[Concluded], numbers: list[int]) -> Iterator[CaseResult]:
    for answer in answers:
        numbers[0] += 1
        yield answer.result
