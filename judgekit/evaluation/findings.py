"""Findings: failures of a suite's runs, each followed until a run or a user resolves it.

What runs observed is derived from their answers; only what users added is stored. A run continues
or resolves the findings of the cases it ran, and an undecided answer does neither.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property, partial
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from judgekit import assertions  # loaded when used: only failures need it
from judgekit.errors import UnknownNameError
from judgekit.evaluation.comparability import compare_measures, has_other_cases, paired_sides
from judgekit.evaluation.outcome import Outcome, conclude_result, rubric_of_result
from judgekit.evaluation.run_figures import (
    FigureReader,
    StoredRecords,
    case_content,
    record_key,
    store_record,
)
from judgekit.fingerprint import fingerprint
from judgekit.records import (
    Finding,
    FindingNote,
    Occurrence,
    Record,
    SpooledRecords,
    has_own_cases,
    is_whole_run,
    record_text,
)
from judgekit.stats.trend import pass_rate_drop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from judgekit.records import CaseResult, FindingSeverity, FindingType, Output, Rubric, RunInfo
    from judgekit.store import RunStore

_ID_LENGTH = 10
_MOST_QUOTES = 3
_LONGEST = 1_000
# So many earlier runs say whether a failure is new.
_MOST_RUNS = 20


class RunFailures(Record):
    """The failures of a run."""

    failures: tuple[Occurrence, ...] = ()


class DecidedCases(Record):
    """The ids of the cases that failed and that passed in a run, by variant."""

    failed: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    passed: dict[str, tuple[str, ...]] = Field(default_factory=dict)


_FAILURES, _DECIDED = "failures", "decided"


@dataclass(frozen=True, slots=True)
class FindingChanges:
    """How a run changed the findings of its suite, by their ids."""

    opened: tuple[str, ...] = ()
    """Also those that were resolved before and recur."""

    continued: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()


def finding_id(suite: str, variant: str, case_id: str | None) -> str:
    """The id of a finding, the same in every run and every store."""
    return f"f-{fingerprint([suite, variant, case_id])[:_ID_LENGTH]}"


class SuiteFindings:
    """The findings of a suite."""

    def __init__(self, store: RunStore, suite: str) -> None:
        self._suite = suite
        # By variant and case: of most cases that pass no id is needed
        self._events: dict[tuple[str, str | None], list[_Event]] = defaultdict(list)
        runs = store.runs(suite=suite)[::-1]
        reader = FigureReader(store, suite)
        observed = ObservedRuns(store, suite)
        drops = _regressions(runs, reader, store)
        for run in runs:
            drop = drops.get(run.id, _RunDrops((), ()))
            for one in (*observed.failures(run).failures, *drop.fallen):
                event = _Event(run.started_at, run.id, occurrence=one)
                self._events[one.variant, one.case_id].append(event)
            for variant, ids in observed.decided(run).passed.items():
                self._take_passes(run, variant, ids)
            for variant in drop.recovered:
                self._take_passes(run, variant, (None,))
        self._names = {finding_id(suite, *key): key for key in self._events}
        for note in store.finding_notes(suite):
            if note.finding in self._names:
                self._events[self._names[note.finding]].append(_Event(note.at, None, note=note))
        self._measures = _Measures(runs, reader, store)

    @cached_property
    def findings(self) -> dict[str, Finding]:
        """By id: open ones first, then by severity, those of whole runs first, the latest first."""
        found = sorted((one.finding() for one in self._followed()), key=_order)
        return {one.id: one for one in found}

    @cached_property
    def _changes(self) -> dict[str, dict[str, list[str]]]:
        changes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for one in self._followed():
            for run_id, change in one.changes.items():
                changes[run_id][change].append(one.name)
        return changes

    def _followed(self) -> Iterator[_Followed]:
        # One at a time: a run may have a finding for each of its cases, and many want their ids.
        for name, key in self._names.items():
            changes = partial(self._measures.changes, case_id=key[1])
            yield _Followed(name, self._suite, self._events[key], changes)

    def changes_of(self, run_id: str) -> FindingChanges:
        return FindingChanges(**{name: tuple(ids) for name, ids in self._changes[run_id].items()})

    def of_run(self, run_id: str) -> list[Finding]:
        """Those that a run opened, continued or resolved, in the order of `findings`."""
        ids = {name for names in self._changes[run_id].values() for name in names}
        return [one for one in self.findings.values() if one.id in ids]

    def find(self, name: str) -> Finding:
        """The finding of this id, or of the only id that begins like it."""
        near = [one for id_, one in self.findings.items() if id_.startswith(name)]
        if name in self.findings or len(near) == 1:
            return self.findings.get(name) or near[0]
        raise UnknownNameError("finding", name, self.findings)

    def _take_passes(self, run: RunInfo, variant: str, case_ids: Iterable[str | None]) -> None:
        for case_id in case_ids:
            # A case that never failed has no finding that could be resolved.
            events = self._events.get((variant, case_id))
            if events is not None:
                events.append(_Event(run.started_at, run.id))


def finding_changes(store: RunStore, run: RunInfo) -> FindingChanges:
    """How a run that has just ended changed the findings of its suite."""
    # Only ids are read, of the last runs: the whole list takes a second with thousands of runs.
    observed = ObservedRuns(store, run.suite)
    runs = [*reversed(store.runs(suite=run.suite, before=run, limit=_MOST_RUNS)), run]
    measures = _Measures(runs, FigureReader(store, run.suite), store)
    notes: dict[str, list[_Event]] = defaultdict(list)
    for note in store.finding_notes(run.suite):
        notes[note.finding].append(_Event(note.at, None, note=note))
    events: dict[_CaseKey, list[_Event]] = defaultdict(list)
    for one in runs:
        decided = observed.decided(one)
        for key in _keys(decided.failed):
            events[key].append(_Event(one.started_at, one.id, _UNREAD))
        for key in filter(events.__contains__, _keys(decided.passed)):
            events[key].append(_Event(one.started_at, one.id))
    changes: dict[str, list[str]] = defaultdict(list)
    now = observed.decided(run)
    for key in filter(events.__contains__, (*_keys(now.failed), *_keys(now.passed))):
        name, between = finding_id(run.suite, *key), partial(measures.changes, case_id=key[1])
        followed = _Followed(name, run.suite, [*events[key], *notes[name]], between)
        if (change := followed.changes.get(run.id)) is not None:
            changes[change].append(name)
    return FindingChanges(**{change: tuple(names) for change, names in changes.items()})


_CaseKey = tuple[str, str]
# Stands for a failure of which only the id of its finding is wanted.
_UNREAD = Occurrence(variant="-", case_id=None, type="crash", severity="minor", description="-")


def _keys(by_variant: Mapping[str, Sequence[str]]) -> Iterator[_CaseKey]:
    return ((variant, case) for variant, ids in by_variant.items() for case in ids)


class _Event(NamedTuple):
    """Something that happened to a finding: it occurred, its case passed, or a note was added."""

    at: datetime
    run: str | None
    occurrence: Occurrence | None = None
    note: FindingNote | None = None


class _Measures:
    """What was measured differently in two runs, looked up once for all findings."""

    def __init__(self, runs: Iterable[RunInfo], reader: FigureReader, store: RunStore) -> None:
        self._runs = {run.id: run for run in runs}
        self._changes: dict[tuple[str, str], str] = {}
        self._reader = reader
        self._case = cache(lambda *of: case_content(next(store.results(of[0], case_id=of[1])).case))

    def changes(self, then: str, now: str, *, case_id: str | None) -> str:
        """In words; empty where the runs are comparable, and the case is what it was."""
        if (then, now) not in self._changes:
            found = compare_measures(self._runs[then], self._runs[now])
            self._changes[then, now] = "; ".join(found.changes)
        changes, runs = self._changes[then, now], (self._runs[then], self._runs[now])
        if changes or case_id is None or self._reader.has_same_cases(*runs):
            return changes
        is_same = self._case(then, case_id) == self._case(now, case_id)
        return "" if is_same else "the case was edited"


class _Followed:
    def __init__(
        self, name: str, suite: str, events: Iterable[_Event], changes: Callable[[str, str], str]
    ) -> None:
        self.name, self._suite, self._changes_between = name, suite, changes
        self._passes_since: str | None = None
        # What each run did to it: `opened`, `continued` or `resolved`
        self.changes: dict[str, str] = {}
        self._seen: list[tuple[_Mark, Occurrence]] = []
        # The runs since it was opened last
        self._failed_in: list[str] = []
        self._notes: dict[str, object] = {}
        self._is_open, self._n_resolved = False, 0
        self._resolved: _Mark | None = None
        for event in sorted(events, key=lambda one: one.at):
            self._take(event)

    def _take(self, event: _Event) -> None:
        note, run = event.note, event.run
        if note is not None:
            added = {"root_cause", "resolution", "note", "type", "severity"}
            self._notes |= note.model_dump(include=added, exclude_none=True)
            if note.resolution is not None:
                self._resolve(_Mark(note.by, event.at))
        elif run is not None and event.occurrence is not None:
            self.changes[run] = "continued" if self._is_open else "opened"
            if not self._is_open:
                self._failed_in = []
            self._failed_in.append(run)
            self._is_open, self._passes_since = True, None
            self._seen.append((_Mark(run, event.at), event.occurrence))
        elif run is not None and self._is_open:
            # Another judge that lets the output pass has not shown that it became better. One that
            # let it fail before, has.
            if all(self._changes_between(then, run) for then in reversed(self._failed_in)):
                changes = self._changes_between(self._failed_in[-1], run)
                self._passes_since = f"in {run}, which is not comparable: {changes}"
                return
            self.changes[run] = "resolved"
            self._resolve(_Mark(run, event.at))

    def _resolve(self, by: _Mark) -> None:
        if self._is_open:
            self._is_open, self._resolved, self._passes_since = False, by, None
            self._n_resolved += 1

    def finding(self) -> Finding:
        (first, _), (last, occurrence) = self._seen[0], self._seen[-1]
        status = "resolved" if not self._is_open else "recurring" if self._n_resolved else "open"
        resolved = None if self._is_open else self._resolved
        return Finding.model_validate(
            {
                **occurrence.model_dump(exclude={"n_failed", "n_answers"}),
                "id": self.name,
                "suite": self._suite,
                "status": status,
                "first_run": first.name,
                "last_run": last.name,
                "first_seen_at": first.at,
                "last_seen_at": last.at,
                "n_runs": len(self._seen),
                "runs": tuple(mark.name for mark, _ in self._seen),
                "n_resolved": self._n_resolved,
                "resolved_by": None if resolved is None else resolved.name,
                "resolved_at": None if resolved is None else resolved.at,
                "passes_since": self._passes_since,
                **self._notes,
            }
        )


class _Mark(NamedTuple):
    name: str
    at: datetime


_SEVERITIES: Sequence[FindingSeverity] = ("critical", "major", "minor")


def _order(one: Finding) -> tuple[object, ...]:
    rank = _SEVERITIES.index(one.severity)
    # One about a whole run says more than those of its cases.
    is_of_case = one.case_id is not None
    return one.status == "resolved", rank, is_of_case, -one.last_seen_at.timestamp(), one.id


class CaseTally:
    """Notes which cases of a run fail, and why, while its answers are read for something else."""

    def __init__(self, run: RunInfo) -> None:
        self._run = run
        # How many answers of each variant to each case count: of several tries the last, of repeats
        # all
        self._n_answers: dict[_CaseKey, int] = {}
        self._undecided: set[_CaseKey] = set()
        # The most severe failure of each; of a bad variant there may be one for every case.
        self._failures: SpooledRecords[_CaseKey, Occurrence] = SpooledRecords(Occurrence)

    def take(self, answer: Outcome) -> None:
        key = answer.result.variant, answer.result.case.id
        if self._run.repeats == 1:
            self._undecided.discard(key)
            self._failures.pop(key, None)
            self._n_answers[key] = 1
        else:
            self._n_answers[key] = self._n_answers.get(key, 0) + 1
        failure = failure_of(answer, self._run)
        if failure is None:
            if _state(answer) is None:
                self._undecided.add(key)
            return
        known = self._failures.get(key)
        if known is not None:
            # Of two that are equally severe the first.
            worst = min(known, failure, key=lambda one: _SEVERITIES.index(one.severity))
            failure = worst.model_copy(update={"n_failed": known.n_failed + 1})
        self._failures[key] = failure

    def keep(self, store: RunStore) -> None:
        """Store it with a run that has just ended."""
        store_record(store, _DECIDED, self._run, self.decided())
        # The text of a `RunFailures`, made one by one: its records take several times the memory.
        texts = map(record_text, self._occurrences())
        key = record_key(_FAILURES, self._run)
        store.keep_figures(self._run.id, key, f'{{"failures":[{",".join(texts)}]}}')

    def decided(self) -> DecidedCases:
        failed: dict[str, list[str]] = defaultdict(list)
        passed: dict[str, list[str]] = defaultdict(list)
        for key in self._n_answers:
            # A case fails with any of its repeats, and passes with all of them.
            if key in self._failures:
                failed[key[0]].append(key[1])
            elif key not in self._undecided:
                passed[key[0]].append(key[1])
        return DecidedCases.model_validate({"failed": failed, "passed": passed})

    def failures(self) -> RunFailures:
        """One failure for each case and variant that failed: of several repeats the most severe."""
        return RunFailures(failures=tuple(self._occurrences()))

    def _occurrences(self) -> Iterator[Occurrence]:
        for key, n in self._n_answers.items():
            if key in self._failures:
                yield self._failures[key].model_copy(update={"n_answers": n})


def _state(answer: Outcome) -> bool | None:
    """Whether an answer passed without any failure; None where it is undecided."""
    if answer.result.output.error is not None:
        return False
    criteria = () if answer.verdict is None else answer.verdict.criteria
    if answer.passed and any(one.passed is False for one in criteria):
        return False
    return answer.passed


class ObservedRuns:
    """What failed and what passed in the runs of a suite, as stored or computed."""

    def __init__(self, store: RunStore, suite: str) -> None:
        self._store = store
        self._failures = StoredRecords(store, suite, _FAILURES, RunFailures)
        self._decided = StoredRecords(store, suite, _DECIDED, DecidedCases)
        self._read: tuple[str, CaseTally] | None = None

    def failures(self, run: RunInfo) -> RunFailures:
        return self._failures.of(run, lambda: self._tally(run).failures())

    def decided(self, run: RunInfo) -> DecidedCases:
        return self._decided.of(run, lambda: self._tally(run).decided())

    def _tally(self, run: RunInfo) -> CaseTally:
        # Both records follow from one reading of the answers; the next call wants the other.
        if self._read is None or self._read[0] != run.id:
            tally = CaseTally(run)
            for result in self._store.results(run.id):
                tally.take(conclude_result(result, run))
            self._read = run.id, tally
        return self._read[1]


def failure_of(answer: Outcome, run: RunInfo) -> Occurrence | None:
    """What went wrong with an answer; None where it passed without a failure or is undecided."""
    if _state(answer) is not False:
        return None
    result, verdict = answer.result, answer.verdict
    criteria = () if verdict is None else verdict.criteria
    failing = [one for one in criteria if one.passed is False]
    severity: FindingSeverity = "major"
    if result.output.error is not None or any(one.required for one in failing):
        severity = "critical"
    elif answer.passed:
        severity = "minor"
    names = [one.name for one in failing] or _below_threshold(answer, run)
    return Occurrence(
        variant=result.variant,
        case_id=result.case.id,
        type=_type(answer, names, rubric_of_result(result, run)),
        severity=severity,
        criteria=tuple(names),
        description=_description(answer)[:_LONGEST],
        quotes=tuple(_quotes(result, names)),
        step=_failing_step(result.output),
    )


def _below_threshold(answer: Outcome, run: RunInfo) -> list[str]:
    """The criteria below the rubric's threshold, where none has failed by itself."""
    rubric = rubric_of_result(answer.result, run)
    if rubric is None or answer.verdict is None or answer.passed:
        return []
    known = [one for one in answer.verdict.criteria if one.value is not None]
    return [one.name for one in known if (one.value or 0.0) < rubric.pass_threshold]


_OF_ERRORS: Mapping[str, FindingType] = MappingProxyType({
    "timeout": "timeout", "refused": "refusal", "unreadable": "format-error",
    "too_large": "format-error",
})  # fmt: skip
_FORMS = frozenset({"html", "json", "sql", "xml"})


def _type(answer: Outcome, criteria: Sequence[str], rubric: Rubric | None) -> FindingType:
    output = answer.result.output
    if output.error is not None:
        return _OF_ERRORS.get(output.error_kind or "", "crash")
    if output.text and assertions.is_refusal(output).actual:
        return "refusal"
    failed = [check.type for check in answer.result.checks if check.passed is False]
    synonyms = assertions.SYNONYMS
    own = [synonyms[name].name if name in synonyms else name for name in failed]
    # `text.is_json`, `text.contains_xml` and the like check the form.
    if any(name.startswith("text.") and name.rpartition("_")[2] in _FORMS for name in own):
        return "format-error"
    for criterion in () if rubric is None else rubric.criteria:
        if criterion.name in criteria and criterion.finding is not None:
            return criterion.finding
    return "wrong-output"


def _description(answer: Outcome) -> str:
    result = answer.result
    if result.output.error is not None:
        return result.output.error
    failed = [check for check in result.checks if check.passed is False]
    # The judge `heuristic` makes judgments of them, with the same words.
    known = {one.rationale for one in result.judgments}
    lines = [
        f"{check.type or 'assertion'} failed: {check.message}"
        for check in failed
        if check.message not in known
    ]
    criteria = () if answer.verdict is None else answer.verdict.criteria
    failing = {one.name for one in criteria if one.passed is False}
    lines += [
        f"{one.criterion}: {one.rationale}" for one in result.judgments if one.criterion in failing
    ]
    if not lines and answer.outcome is not None:
        lines = [answer.outcome.feedback]
    if not lines:
        lines = [f"{one.criterion}: {one.rationale}" for one in result.judgments]
    return "\n".join(lines) or f"the value is {answer.value or 0.0:.3f}"


def _quotes(result: CaseResult, criteria: Sequence[str]) -> Iterator[str]:
    found = dict.fromkeys(
        evidence.quote
        for judgment in result.judgments
        if judgment.criterion in criteria
        for evidence in judgment.evidence
        if evidence.match is not None
    )
    yield from list(found)[:_MOST_QUOTES]


def _failing_step(output: Output) -> str | None:
    """The first step of the trace that failed, by its type or by a field of it."""
    for place, event in enumerate(output.trace, 1):
        more = event.model_extra or {}
        is_failed = event.type == "error" or bool(more.get("error")) or more.get("is_error") is True
        if is_failed or more.get("status") in {"error", "failed"}:
            name = f" {event.name}" if event.name else ""
            return f"step {place}: {event.type}{name}"
    return None


class _RunDrops(NamedTuple):
    """The critical drops of a run's pass rates, and the variants that recovered from one."""

    fallen: tuple[Occurrence, ...]
    recovered: tuple[str, ...]


@dataclass(slots=True)
class _Level:
    """The last run that was measured in one way, and after a drop the run before it."""

    run: RunInfo
    normal: RunInfo | None = None


# So many ways of measuring, as where two judges take turns, are followed side by side.
_MOST_LEVELS = 3


def _regressions(
    runs: Sequence[RunInfo], reader: FigureReader, store: RunStore
) -> dict[str, _RunDrops]:
    """Critical drops of a pass rate since the comparable run before, and their end."""
    found: dict[str, _RunDrops] = {}
    levels: dict[str, list[_Level]] = defaultdict(list)
    for run in runs:
        if not is_whole_run(run) or has_own_cases(run):
            continue
        fallen, recovered = [], []
        # A run in which too little was decided says nothing, and hides no earlier one.
        figures = reader.figures(run).variants.items()
        for variant in [name for name, one in figures if one.pass_rate.value is not None]:
            own = levels[variant]
            level = next((one for one in own[::-1] if _is_comparable(one.run, run, reader)), None)
            if level is None:
                levels[variant] = [*own[1 - _MOST_LEVELS :], _Level(run)]
                continue
            # The rate before a drop is what a later run has to come near again.
            before = level.normal or level.run
            earlier, rate = _pass_rates(before, run, variant, reader, store)
            if earlier is None or rate is None:
                continue
            if pass_rate_drop(earlier, rate).critical:
                fallen.append(_regression(variant, earlier, rate, level.run.id))
                level.normal = before
            elif level.normal is not None:
                recovered.append(variant)
                level.normal = None
            level.run = run
        found[run.id] = _RunDrops(tuple(fallen), tuple(recovered))
    return found


def _is_comparable(then: RunInfo, now: RunInfo, reader: FigureReader) -> bool:
    return not compare_measures(then, now).changes and not has_other_cases(reader, then, now)


def _pass_rates(
    then: RunInfo, now: RunInfo, variant: str, reader: FigureReader, store: RunStore
) -> tuple[float | None, float | None]:
    """The pass rates of two comparable runs, by one rubric and one calibration."""
    # Another threshold moves a rate without any change of the outputs.
    measure = compare_measures(then, now)
    figures = [reader.figures(run).variants[variant] for run in (measure.a, measure.b)]
    before, after = (one.pass_rate.value for one in figures)
    is_whole = all(one.pass_rate.n == one.n_cases for one in figures)
    if is_whole or not pass_rate_drop(before, after).critical:
        return before, after
    # Where a judge failed, the rates are of other cases: only those that both decided count.
    sides = paired_sides(store, (then, variant), (now, variant))[:2]
    both = sides[0].passed.keys() & sides[1].passed.keys()
    paired = [fmean(fmean(side.passed[c]) for c in both) if both else None for side in sides]
    return (paired[0], paired[1]) if pass_rate_drop(*paired).critical else (None, None)


def _regression(variant: str, before: float, now: float, then: str) -> Occurrence:
    share = (before - now) / before
    return Occurrence(
        variant=variant,
        case_id=None,
        type="regression",
        severity="critical",
        description=f"the pass rate fell from {before * 100:.0f} % to {now * 100:.0f} %, "
        f"{share * 100:.0f} % lower; the run before is {then}",
    )
