"""What refers to a stored run, and all that is known of a skill, an agent or a suite (S0.10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.evaluation.findings import FindingChanges, SuiteFindings

if TYPE_CHECKING:
    from judgekit.evaluation.trend import QualityTrend
    from judgekit.records import (
        Approval,
        Case,
        ComparisonInfo,
        Finding,
        RunInfo,
        ScoreComparisonInfo,
    )
    from judgekit.store import CaseFilter, RunStore

# The direction is that of five runs and an escalation looks at three directions: more runs change
# neither, and the answers of each run may have to be read.
_TREND_RUNS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRelations:
    """What refers to a run.

    Attributes:
        changes: The findings that it opened, continued or resolved.
        comparisons: Those that compared its outputs or its scores, newest first.
        approvals: Those that rest on it or on one of these comparisons, newest first.
    """

    changes: FindingChanges
    comparisons: tuple[ComparisonInfo | ScoreComparisonInfo, ...]
    approvals: tuple[Approval, ...]


def relations_of_run(
    store: RunStore, run: RunInfo, followed: SuiteFindings | None = None
) -> RunRelations:
    """What refers to a run; `followed` are the findings of its suite, where they are at hand."""
    followed = followed or SuiteFindings(store, run.suite)
    blind = store.comparisons(run_id=run.id)
    comparisons = newest_comparisons([*blind, *store.score_comparisons(run_id=run.id)])
    return RunRelations(
        changes=followed.changes_of(run.id),
        comparisons=comparisons,
        approvals=approvals_resting_on(store, (run.id, *(one.id for one in comparisons))),
    )


def approvals_resting_on(store: RunStore, ids: Iterable[str]) -> tuple[Approval, ...]:
    """The approvals whose evidence is one of these comparisons or runs, newest first."""
    wanted = set(ids)
    return tuple(one for one in store.approvals() if not wanted.isdisjoint(one.evidence))


def findings_of_case(store: RunStore, case_id: str) -> list[Finding]:
    """The findings about a case, by the names of their suites."""
    suites = sorted({run.suite for run in store.runs_of_case(case_id)})
    return [
        one
        for suite in suites
        for one in SuiteFindings(store, suite).findings.values()
        if one.case_id == case_id
    ]


def newest_comparisons(
    found: Iterable[ComparisonInfo | ScoreComparisonInfo],
) -> tuple[ComparisonInfo | ScoreComparisonInfo, ...]:
    """Comparisons of both kinds in one order, newest first."""
    return tuple(sorted(found, key=lambda one: (one.started_at, one.id), reverse=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that is known of some cases, such as those of a skill.

    Attributes:
        cases: Each content of each case with its runs, newest first.
        runs: The runs of these cases, newest first.
        variant_runs: The runs with a variant of the prompt version that was looked for.
        trends: Of each suite and variant, over these cases only.
        findings: The open ones: by suite, then the most severe first.
        comparisons: Blind ones of these cases, and those of the scores of their runs.
        approvals: Those that rest on these runs or comparisons.
    """

    cases: tuple[tuple[Case, tuple[RunInfo, ...]], ...]
    runs: tuple[RunInfo, ...]
    variant_runs: tuple[RunInfo, ...]
    trends: tuple[QualityTrend, ...]
    findings: tuple[Finding, ...]
    comparisons: tuple[ComparisonInfo | ScoreComparisonInfo, ...]
    approvals: tuple[Approval, ...]

    @property
    def latest_cases(self) -> list[Case]:
        """Each case once, as it was in the latest of its runs."""
        latest: dict[str, tuple[Case, tuple[RunInfo, ...]]] = {}
        for case, runs in self.cases:
            known = latest.get(case.id)
            if known is None or _began(runs) > _began(known[1]):
                latest[case.id] = case, runs
        return [case for case, _ in latest.values()]


def _began(runs: Sequence[RunInfo]) -> tuple[float, str]:
    return (runs[0].started_at.timestamp(), runs[0].id) if runs else (0.0, "")


def overview(store: RunStore, wanted: CaseFilter) -> Overview:
    """What is known of the cases that a filter finds, and of the variants of its prompt version."""
    version = wanted.prompt_version
    known_runs = [] if version is None else store.runs()
    having = [r for r in known_runs if version in {one.prompt_version for one in r.variants}]
    _check_names(store, wanted, having)
    cases = tuple((case, tuple(runs)) for case, runs in store.cases_with_runs(wanted))
    runs = _newest(run for _, of_case in cases for run in of_case)
    scope = _Scope(store, cases, runs, having, version)
    comparisons = newest_comparisons(scope.comparisons(wanted.suite))
    known = _newest((*runs, *having))
    return Overview(
        cases=cases,
        runs=runs,
        variant_runs=tuple(having),
        trends=tuple(scope.trends()),
        findings=tuple(scope.findings()),
        comparisons=comparisons,
        approvals=approvals_resting_on(store, (one.id for one in (*known, *comparisons))),
    )


def _check_names(store: RunStore, wanted: CaseFilter, having: Sequence[RunInfo]) -> None:
    """Refuse a name that nothing has: an empty answer would look as if nothing were known."""
    for attribute in ("agent", "skill", "prompt_version"):
        name = getattr(wanted, attribute)
        if name is None or (attribute == "prompt_version" and having):
            continue
        known = {*store.names_of_cases(attribute)}
        if attribute == "prompt_version":
            of_variants = (one.prompt_version for run in store.runs() for one in run.variants)
            known |= {*filter(None, of_variants)}
        if name not in known:
            raise UnknownNameError(attribute.replace("_", " "), name, known)
    if wanted.suite is not None and wanted.suite not in (suites := store.suites()):
        raise UnknownNameError("suite", wanted.suite, suites)


def _newest(runs: Iterable[RunInfo]) -> tuple[RunInfo, ...]:
    found = {run.id: run for run in runs}
    return tuple(sorted(found.values(), key=lambda run: (run.started_at, run.id), reverse=True))


class _Scope:
    """The part of each suite that is examined: some of its cases, or some of its variants."""

    def __init__(
        self,
        store: RunStore,
        cases: Sequence[tuple[Case, tuple[RunInfo, ...]]],
        runs: Sequence[RunInfo],
        having: Sequence[RunInfo],
        version: str | None,
    ) -> None:
        self._store = store
        self._case_ids = frozenset(case.id for case, _ in cases)
        self._run_ids = {run.id for run in (*runs, *having)}
        self._suites = list(dict.fromkeys(run.suite for run in runs))
        self._variants = {
            (run.suite, one.id)
            for run in having
            for one in run.variants
            if one.prompt_version == version
        }
        self._whole = {suite for suite in self._suites if self._is_whole(suite, runs)}

    def _is_whole(self, suite: str, runs: Sequence[RunInfo]) -> bool:
        """Whether these are all cases of a suite, as of its latest run of them."""
        latest = next(run for run in runs if run.suite == suite)
        return all(case.id in self._case_ids for case in self._store.cases_of_run(latest.id))

    def trends(self) -> Iterator[QualityTrend]:
        from judgekit.evaluation.trend import trend_of_suite  # noqa: PLC0415 - numpy

        for suite in self._suites:
            # The figures of whole runs are stored already.
            part = None if suite in self._whole else self._case_ids
            for trend in trend_of_suite(self._store, suite, last=_TREND_RUNS, cases=part):
                # Runs that only made outputs for a comparison have nothing to follow.
                if any(point.figure.value is not None for point in trend.points):
                    yield trend
        for suite, variant in sorted(self._variants):
            if suite not in self._whole:
                yield from trend_of_suite(self._store, suite, variant=variant, last=_TREND_RUNS)

    def findings(self) -> Iterator[Finding]:
        suites = sorted({*self._suites, *(suite for suite, _ in self._variants)})
        for suite in suites:
            for one in SuiteFindings(self._store, suite).findings.values():
                is_own = suite in self._whole or one.case_id in self._case_ids
                if one.status != "resolved" and (is_own or (suite, one.variant) in self._variants):
                    yield one

    def comparisons(self, suite: str | None) -> list[ComparisonInfo | ScoreComparisonInfo]:
        store = self._store
        blind = {one.id: one for one in store.comparisons_of_cases(self._case_ids)}
        for one in store.comparisons() if self._variants or suite else ():
            of_runs = {one.a.run_id, one.b.run_id} & self._run_ids
            of_variants = {(one.suite, side.variant) for side in (one.a, one.b)}
            is_of_suite = suite is not None and (one.suite == suite or bool(of_runs))
            if is_of_suite or of_variants & self._variants:
                blind[one.id] = one
        scores = [
            one for one in store.score_comparisons() if {one.a.run_id, one.b.run_id} & self._run_ids
        ]
        return [*blind.values(), *scores]
