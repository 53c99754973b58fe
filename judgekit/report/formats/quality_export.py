"""Writes a run as the objects of a quality memory (S0), from its cases to its benchmark run."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import fsum
from typing import TYPE_CHECKING

from judgekit.datasets.foreign.quality_additions import benchmarks_of
from judgekit.report.formats.listing import write_list
from judgekit.report.formats.quality_failures import failure_object
from judgekit.report.formats.quality_objects import (
    RubricIds,
    case_object,
    judgment_objects,
    prompt_version,
    rubric_objects,
    rubric_of,
    run_object,
    run_object_id,
)
from judgekit.report.replacing import check_place
from judgekit.stats.estimate import cluster_means
from judgekit.stats.intervals import clustered_proportion
from judgekit.store.texts import time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.record import JsonObject
    from judgekit.records.run import RunInfo

SUFFIXES = (".jsonl", ".json")
"""The files objects can be written to."""

check_quality_place = partial(
    check_place, suffixes=SUFFIXES, what="quality records", may_be_folder=False
)
"""Refuses a path that objects cannot be written to."""


def quality_export(run: RunInfo, answers: Iterable[Concluded]) -> Iterator[JsonObject]:
    """A run as objects of a quality memory."""
    # Test cases, rubrics and criteria come before the first answer that needs them; then each
    # `test-run` with its `eval-judgment`s, and an `eval-failure` where it fails; at the end the
    # `benchmark`, with the id of the one that all cases came with, and for each variant a
    # `benchmark-run` with the ids of its test runs. Of all answers only ids and numbers are kept.
    export = _Export(run)
    yield from export.objects(answers)


def write_quality_records(path: Path, run: RunInfo, answers: Iterable[Concluded]) -> int:
    """Write a run as objects of a quality memory; replaced as a whole or not at all."""
    check_quality_place(path)
    export = _Export(run)
    write_list(path, export.objects(answers))
    return export.n


@dataclass(slots=True)
class _Variant:
    """What has been written of one variant: ids, and the numbers its benchmark run is made of."""

    run_ids: list[JsonValue] = field(default_factory=list)
    values: list[tuple[int, float]] = field(default_factory=list)
    passed: list[tuple[int, float]] = field(default_factory=list)

    def take(self, answer: Concluded) -> None:
        place = answer.result.place
        self.run_ids.append(run_object_id(answer.result))
        if answer.value is not None:
            self.values.append((place, answer.value))
        if answer.passed is not None:
            self.passed.append((place, float(answer.passed)))

    @property
    def overall(self) -> float | None:
        """The mean value; each case counts once, with the mean of its repeats."""
        if not self.values:
            return None
        means = cluster_means([v for _, v in self.values], [p for p, _ in self.values])
        return fsum(means.values()) / len(means)

    @property
    def pass_rate(self) -> float | None:
        """The share of passed among decided answers."""
        if not self.passed:
            return None
        return clustered_proportion([v for _, v in self.passed], [p for p, _ in self.passed]).value


@dataclass(slots=True)
class _Export:
    """What has been written so far."""

    run: RunInfo
    n: int = 0
    case_ids: dict[str, None] = field(default_factory=dict)
    rubrics: RubricIds = field(default_factory=RubricIds)
    variants: dict[str, _Variant] = field(default_factory=dict)
    shared: dict[str, JsonObject] | None = None

    def objects(self, answers: Iterable[Concluded]) -> Iterator[JsonObject]:
        for answer in answers:
            self.n += 1
            yield from self._answer(answer)
        yield self._benchmark()
        for name, variant in self.variants.items():
            yield self._benchmark_run(name, variant)

    def _answer(self, answer: Concluded) -> Iterator[JsonObject]:
        result = answer.result
        rubric, rubric_id = rubric_of(answer, self.run), None
        if rubric is not None:
            rubric_id, is_new = self.rubrics.of(rubric, result.case)
            yield from rubric_objects(rubric, rubric_id) if is_new else ()
        if result.case.id not in self.case_ids:
            self.case_ids[result.case.id] = None
            own = benchmarks_of(result.case)
            self.shared = own if self.shared is None else _in_both(self.shared, own)
            yield case_object(result.case, rubric_id)
        self.variants.setdefault(result.variant, _Variant()).take(answer)
        yield run_object(answer, self.run)
        if rubric is not None and rubric_id is not None:
            yield from judgment_objects(answer, rubric, rubric_id)
        failure = failure_object(answer, rubric, rubric_id)
        if failure is not None:
            yield failure

    def _benchmark(self) -> JsonObject:
        run, last = self.run, list(self.variants.values())[-1:]
        fields: JsonObject = {
            "name": run.suite,
            "testCaseIds": [*self.case_ids],
            "passingThreshold": None if run.rubric is None else run.rubric.pass_threshold,
            "dimension": None if run.rubric is None else run.rubric.name,
            "lastRunAt": time_text(run.started_at),
            "lastScore": last[0].overall if last else None,
            "status": "active",
        }
        known: JsonObject = {name: item for name, item in fields.items() if item is not None}
        theirs = (self.shared or {}).get(self.benchmark_id, {})
        return {"type": "benchmark", "id": self.benchmark_id, "fields": {**known, **theirs}}

    @property
    def benchmark_id(self) -> str:
        """That of the benchmark all cases came with, else the suite's name."""
        return next(iter(self.shared or {}), self.run.suite)

    def _benchmark_run(self, name: str, variant: _Variant) -> JsonObject:
        run = self.run
        fields: JsonObject = {
            "benchmarkId": self.benchmark_id,
            "testRunIds": variant.run_ids,
            "overallScore": variant.overall,
            "passRate": variant.pass_rate,
            "ranAt": time_text(run.started_at),
            "triggeredBy": run.triggered_by or "",
            "notes": run.notes or "",
            "promptVersionRef": prompt_version(name, run),
            "variant": name,
            "status": run.status,
        }
        return {"type": "benchmark-run", "id": f"{run.id}/{name}", "fields": fields}


def _in_both(one: dict[str, JsonObject], other: dict[str, JsonObject]) -> dict[str, JsonObject]:
    return {name: fields for name, fields in one.items() if name in other}
