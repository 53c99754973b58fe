"""The versions of a suite's variants, each with the figures of its latest run (S3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.evaluation.comparability import compare_measures
from judgekit.evaluation.judges import calibration_changes
from judgekit.evaluation.run_figures import FigureReader
from judgekit.evaluation.schedule import MEMORY_KEY, VERSIONS_KEY
from judgekit.fingerprint import fingerprint
from judgekit.formats import objects_of
from judgekit.records import VariantVersion, config_rows, is_whole_run

if TYPE_CHECKING:
    from datetime import datetime

    from judgekit.evaluation.run_figures import StoredFigures
    from judgekit.records import JsonObject, RunInfo
    from judgekit.store import RunStore


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFigures:
    """A version of a variant: a prompt, a program or recorded outputs as they were then.

    Attributes:
        number: From 1, in the order in which the versions first ran.
        path: The file of its prompt or its outputs; None for what has no file.
        n_runs: Complete runs of all cases.
        first_at: When it first ran.
        last_run: Its latest run, whose figures these are.
        changes: What was measured differently in that run than in the suite's latest one, so that
            the figures are not comparable; empty where they are.
        is_current: Whether the suite's latest run has it.
    """

    variant: str
    number: int
    fingerprint: str
    path: str | None
    revision: str | None
    n_runs: int
    first_at: datetime
    last_run: str
    last_at: datetime
    figures: StoredFigures
    changes: tuple[str, ...]
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """A benchmark run of a quality memory that was made elsewhere.

    Attributes:
        id: Its id in the memory.
        fields: What the memory says of it; its answers are not known, so that nothing here is
            compared with it.
    """

    id: str
    fields: JsonObject


def imported_runs(store: RunStore, suite: str) -> list[ImportedRun]:
    """The earlier runs of a suite's benchmark in the quality memory of its latest run."""
    runs = store.runs(suite=suite)
    if not runs:
        raise UnknownNameError("suite", suite, store.suites())
    known, config = {run.id for run in runs}, runs[0].config
    wanted = config.get("benchmark")
    found = [
        ImportedRun(id=key, fields=fields)
        for key, fields in objects_of(config_rows(runs[0], MEMORY_KEY), "benchmark-run")
        # A memory that was exported from this store has runs that are here with their answers.
        if key.rpartition("/")[0] not in known
    ]
    of_suite = (one for one in found if wanted in (None, one.fields.get("benchmarkId")))
    return sorted(of_suite, key=lambda one: (str(one.fields.get("ranAt")), one.id))


def version_history(store: RunStore, suite: str) -> list[VersionFigures]:
    """The versions of a suite's variants, oldest first.

    Raises:
        UnknownNameError: When no run has the suite.
    """
    runs = store.runs(suite=suite)[::-1]
    if not runs:
        raise UnknownNameError("suite", suite, store.suites())
    whole = [run for run in runs if is_whole_run(run)]
    reader = FigureReader(store, suite)
    by_version: dict[tuple[str, str], list[RunInfo]] = {}
    for run in whole:
        for each in run.variants:
            key = each.id, _version(run, each.id).fingerprint
            by_version.setdefault(key, []).append(run)
    numbers: dict[str, int] = {}
    found = []
    for (variant, print_), own in by_version.items():
        numbers[variant] = numbers.get(variant, 0) + 1
        latest = own[-1]
        measure = compare_measures(latest, whole[-1])
        # Figures by other maps are on another scale, although scores can be compared without them.
        changes = measure.changes or calibration_changes(latest, whole[-1])
        mark = _version(latest, variant)
        found.append(
            VersionFigures(
                variant=variant,
                number=numbers[variant],
                fingerprint=print_,
                path=mark.prompt or mark.outputs,
                revision=latest.revision,
                n_runs=len(own),
                first_at=own[0].started_at,
                last_run=latest.id,
                last_at=latest.started_at,
                # Where only thresholds or weights differ, all are scored by the latest ones.
                figures=reader.figures(latest if changes else measure.a).variants[variant],
                changes=changes,
                is_current=_has(whole[-1], variant, print_),
            )
        )
    return found


def _has(run: RunInfo, variant: str, print_: str) -> bool:
    own = any(one.id == variant for one in run.variants)
    return own and _version(run, variant).fingerprint == print_


def _version(run: RunInfo, variant: str) -> VariantVersion:
    marks = run.config.get(VERSIONS_KEY)
    mark = marks.get(variant) if isinstance(marks, dict) else None
    if mark is None:  # of a run that was imported, or is older than versions
        return VariantVersion(fingerprint=fingerprint(variant))
    return VariantVersion.model_validate(mark)
