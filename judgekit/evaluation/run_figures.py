"""The figures of a stored run, computed once for each rubric and calibration.

A gate or a trend looks at many runs, and reading the answers of one takes seconds where it has
thousands, so that they are stored: of a trend's runs the means and rates, of a run that is shown
the whole summary.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import fields
from functools import cached_property
from importlib.metadata import version
from math import isnan
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from judgekit.errors import StoreError
from judgekit.evaluation.run_config import CALIBRATION_KEY
from judgekit.evaluation.summary import (
    GroupFigures,
    RunCost,
    RunSummary,
    VariantDifference,
    VariantFigures,
    summarize_run,
)
from judgekit.evaluation.usage import JudgeUsage
from judgekit.fingerprint import fingerprint
from judgekit.records import FINISHED_STATUSES, Case, Record, RunInfo, read_record, record_text
from judgekit.stats.estimate import Estimate
from judgekit.stats.intervals import Rate
from judgekit.stats.paired import PairedDifference, PairedProportions

if TYPE_CHECKING:
    from judgekit.store import RunStore


_RecordT = TypeVar("_RecordT", bound=Record)
_PART_LENGTH = 16


class StoredFigure(Record):
    """A mean or a rate with its 95 % interval; None where undefined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class StoredFigures(Record):
    """The figures of a variant in a run."""

    score: StoredFigure
    pass_rate: StoredFigure
    criteria: dict[str, StoredFigure]
    n_cases: int


class RunFigures(Record):
    """The figures of a run."""

    cases: str
    """Fingerprint of its cases; where it differs, contents may be equal all the same."""

    variants: dict[str, StoredFigures]


class CaseContents(Record):
    """Fingerprint of the ids of a run's cases and of what a judgment of each depends on."""

    fingerprint: str


class FigureReader:
    """Reads figures of a suite's runs, of some cases only, and stores those it had to compute."""

    def __init__(
        self, store: RunStore, suite: str, *, cases: Collection[str] | None = None
    ) -> None:
        self._store, self._suite = store, suite
        self._cases = None if cases is None else frozenset(cases)
        part = "" if cases is None else f"-of-{fingerprint(sorted(cases))[:_PART_LENGTH]}"
        self._part = part
        self._stored = StoredRecords(store, suite, f"figures{part}", RunFigures)
        self._contents: StoredRecords[CaseContents] | None = None

    def figures(self, run: RunInfo) -> RunFigures:
        """The figures of a run by the rubric and the calibration that it has here."""
        return self._stored.of(run, lambda: self._compute(run))

    def has_same_cases(self, a: RunInfo, b: RunInfo) -> bool:
        """Whether two runs had the same cases, apart from names, tags and metadata."""
        if self.figures(a).cases == self.figures(b).cases:
            return True
        return self._content(a) == self._content(b)

    def _compute(self, run: RunInfo) -> RunFigures:
        results = self._store.results(run.id)
        if self._cases is None:
            return _figures(summarize_run(results, run), self._store)
        own = (result for result in results if result.case.id in self._cases)
        return _figures(summarize_run(own, run), self._store, self._content(run))

    def _content(self, run: RunInfo) -> str:
        def compute() -> CaseContents:
            found = sorted(
                [case.id, case_content(case)]
                for case in self._store.cases_of_run(run.id)
                if self._cases is None or case.id in self._cases
            )
            return CaseContents(fingerprint=fingerprint(found))

        if self._contents is None:
            kind = f"contents{self._part}"
            self._contents = StoredRecords(self._store, self._suite, kind, CaseContents)
        return self._contents.of(run, compute).fingerprint


class StoredRecords(Generic[_RecordT]):
    """The records of one kind that are stored with the runs of a suite."""

    def __init__(self, store: RunStore, suite: str, kind: str, model: type[_RecordT]) -> None:
        self._store, self._suite, self._kind, self._model = store, suite, kind, model
        self._read: dict[tuple[str, str], _RecordT] = {}

    @cached_property
    def _known(self) -> dict[tuple[str, str], str]:
        # All at once: a query for each of a thousand runs would take longer than the figures.
        return self._store.figures_of_suite(self._suite, self._kind)

    def of(self, run: RunInfo, compute: Callable[[], _RecordT]) -> _RecordT:
        """The record of a run, computed and stored where it is not known."""
        key = run.id, record_key(self._kind, run)
        if key in self._read:
            return self._read[key]
        known = self._known.pop(key, None)
        if known is not None:
            self._read[key] = read_record(self._model, known)
            return self._read[key]
        found = self._read[key] = compute()
        # Answers may still be added to a run that did not finish; and a database that cannot be
        # written to can still be read.
        if run.status in FINISHED_STATUSES:
            with suppress(StoreError):
                store_record(self._store, self._kind, run, found)
        return found


# What an answer and its judgment depend on; names, tags and metadata may change.
_CONTENT = {"input", "reference", "context", "assertions", "rubric", "evaluation"}


def case_content(case: Case) -> str:
    """Fingerprint of what an answer and its judgment depend on in a case."""
    # Most cases have no transform, and keep the fingerprint under which their runs are stored.
    include = {*_CONTENT, "transform"} if case.transform else _CONTENT
    return fingerprint(case.model_dump(mode="json", include=include))


def store_figures(summary: RunSummary, store: RunStore) -> None:
    """Store the figures of a run that has just ended, so that its answers need not be read."""
    store_record(store, "figures", summary.run, _figures(summary, store))
    store_summary(summary, store, summary_key(summary.run, store))


def store_record(store: RunStore, kind: str, run: RunInfo, record: Record) -> None:
    """Store something with a run until the run changes."""
    store.keep_figures(run.id, record_key(kind, run), record_text(record))


def record_key(kind: str, run: RunInfo) -> str:
    """Of what kind it is, and by which rubric and calibration it is concluded."""
    rubric = "" if run.rubric is None else run.rubric.fingerprint
    return f"{kind} {fingerprint([rubric, run.config.get(CALIBRATION_KEY)])}"


def _figures(summary: RunSummary, store: RunStore, cases: str | None = None) -> RunFigures:
    return RunFigures(
        cases=cases or fingerprint(store.case_keys(summary.run.id)),
        variants={
            one.variant: StoredFigures(
                score=_stored(one.value),
                pass_rate=_stored(one.pass_rate),
                criteria={name: _stored(found) for name, found in one.criteria.items()},
                n_cases=one.n_cases,
            )
            for one in summary.variants
        },
    )


def _stored(found: Estimate) -> StoredFigure:
    value, low, high = (None if isnan(x) else x for x in (found.value, found.low, found.high))
    return StoredFigure(value=value, low=low, high=high, n=found.n)


# The results that a summary consists of.
_PARTS = {
    part.__name__: part
    for part in (
        Estimate, GroupFigures, JudgeUsage, PairedDifference, PairedProportions, Rate, RunCost,
        VariantDifference, VariantFigures,
    )
}  # fmt: skip
_ENDING = {"status", "finished_at", "reason"}
_NOT_STORED = {"run", "n_waiting"}


def summary_key(run: RunInfo, store: RunStore) -> str:
    """What the summary of a run depends on: the run, its answers, and the code that sums up."""
    own = run.model_dump(mode="json", exclude=_ENDING)
    # The answers' state is read before they are: figures of answers that change meanwhile are
    # stored by a key that nothing looks for.
    state = store.run_state(run.id)
    parts = [[n, *((one.name, one.type) for one in fields(part))] for n, part in _PARTS.items()]
    return f"summary {fingerprint([version('judgekit-llm'), parts, own, state])}"


def store_summary(summary: RunSummary, store: RunStore, key: str) -> None:
    """Store the figures of a run that has ended; more answers are expected of any other."""
    if summary.run.status in FINISHED_STATUSES:
        values = {
            field.name: _to_plain(getattr(summary, field.name))
            for field in fields(summary)
            if field.name not in _NOT_STORED
        }
        # A database that cannot be written to can still be read.
        with suppress(StoreError):
            store.keep_figures(summary.run.id, key, json.dumps(values))


def stored_summary(run: RunInfo, store: RunStore, key: str, n_waiting: int) -> RunSummary | None:
    """The figures that were stored by this key."""
    text = store.figures_of_run(run.id, key)
    if text is None:
        return None
    return RunSummary(run=run, n_waiting=n_waiting, **_from_plain(json.loads(text)))


def _to_plain(value: object) -> object:
    """A part of a summary as JSON; nan is written, since it differs from None."""
    if type(value).__name__ in _PARTS:
        own = {one.name: _to_plain(getattr(value, one.name)) for one in fields(value)}  # type: ignore[arg-type]  # all are dataclasses
        return [type(value).__name__, own]
    if isinstance(value, tuple):
        return ["", *map(_to_plain, value)]
    if isinstance(value, dict):
        return {name: _to_plain(each) for name, each in value.items()}
    return value


def _from_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _from_plain(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    name, *values = value
    return _PARTS[name](**_from_plain(*values)) if name else tuple(map(_from_plain, values))
