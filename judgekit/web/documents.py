"""The documents of a store's results, by the paths of their pages; commands print the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, get_args

from judgekit.errors import InputError, UnknownNameError
from judgekit.evaluation import (
    Run,
    TrendMeasure,
    compare_stored_scores,
    new_score_comparison,
    relations_of_run,
    summarize_comparison,
    trend_of_suite,
)
from judgekit.records import FindingSeverity, ScoreComparisonInfo
from judgekit.report import (
    Cell,
    Column,
    Conclusion,
    Document,
    Lines,
    Notes,
    RunCases,
    Table,
    comparison_document,
    comparison_setup,
    finding_document,
    findings_document,
    map_summary_lines,
    not_empty,
    page_path,
    relation_lines,
    run_document,
    score_comparison_document,
    score_comparison_setup,
    trend_document,
)
from judgekit.web.cost import cost_document
from judgekit.web.events import read_progress_of
from judgekit.web.home import home_document
from judgekit.web.result_cache import CaseTableCache, FindingsCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation import RunSummary
    from judgekit.records import CalibrationState, Finding, RunInfo
    from judgekit.report import CaseTable, Tone
    from judgekit.store import RunStore

RUNS_PER_PAGE = 50

# A page of more would take seconds to open, and nobody reads so many.
_MOST_FINDINGS = 500

_CALIBRATE = "make one: judgekit calibrate LABELS --write-map"
_TONES: dict[CalibrationState, Tone] = {"calibrated": "pass", "stale": "fail"}


class ResultDocuments:
    """Makes the documents of a store's results; at most `most_bytes` of cases are held."""

    def __init__(self, store: RunStore, **held: int) -> None:
        self._store = store
        self.cases: CaseTableCache[RunSummary] = CaseTableCache(**held)
        self.suite_findings = FindingsCache(store)

    def home(self, page: int = 1) -> Document:
        """What needs attention, and the runs of a page, newest first."""
        # One more than is shown says whether there are older ones.
        end = page * RUNS_PER_PAGE
        runs = self._store.runs(limit=end + 1)
        shown = runs[end - RUNS_PER_PAGE : end]
        if page > 1 and not shown:
            raise UnknownNameError("page", str(page), ["1"])
        more = len(runs) > end
        return home_document(self._store, self.suite_findings, shown, page=page, has_more=more)

    def run(self, info: RunInfo) -> Document:
        """A run; of one that has not ended, how far it is."""
        return self._running(info) if info.status == "running" else self.run_with_cases(info)[1]

    def run_with_cases(self, info: RunInfo) -> tuple[str, Document]:
        """The name of an ended run's cases, and its document."""

        def make() -> tuple[RunSummary, CaseTable]:
            cases = RunCases(info)
            return Run(info, self._store).summary(watch=cases.take), cases.table()

        state = f"{info.status} {info.finished_at} {self._store.run_state(info.id)}"
        name, summary, cases = self.cases.open(page_path("runs", info.id), state, make)
        gate = Run(info, self._store).gate(summary)
        document = run_document(summary, gate, answers=(cases,))
        related = relations_of_run(self._store, info, self.suite_findings.of(info.suite))
        lines = relation_lines(info.id, related)
        return name, replace(document, blocks=not_empty((*document.blocks, lines)))

    def _running(self, info: RunInfo) -> Document:
        hint = f"If it was killed, resume it: judgekit run --resume {info.id}"
        return Document(
            f"{info.suite}: {info.id}",
            Conclusion("The run has not ended: there is no conclusion yet."),
            # The script writes the progress of later moments in the place of each text.
            (Lines(read_progress_of(self._store, info.id).lines()), Notes((hint,))),
            info.to_json,
        )

    def comparison(self, name: str) -> Document:
        """A blind comparison, or one of scores."""
        info = self._store.any_comparison(name)
        if isinstance(info, ScoreComparisonInfo):
            document = score_comparison_document(compare_stored_scores(self._store, info).result)
            setup = score_comparison_setup(info)
        else:
            document = comparison_document(summarize_comparison(self._store, info))
            setup = comparison_setup(info)
        return replace(document, blocks=(*document.blocks, setup))

    def difference(self, a: str = "", b: str = "") -> Document:
        """Two variants of stored runs, each named RUN:VARIANT, by their scores."""
        if not (a and b):
            raise InputError(
                "two sides are needed", hint="tick two rows of the start page, or add a= and b="
            )
        sides = (self.side(a), self.side(b))
        if sides[0] == sides[1]:
            raise InputError("both sides are the same", hint="choose two runs, or two variants")
        info = new_score_comparison(*sides, now=datetime.now(UTC))
        return score_comparison_document(compare_stored_scores(self._store, info).result)

    def side(self, name: str) -> tuple[RunInfo, str]:
        """The run and the variant that RUN:VARIANT names; RUN alone where it has one variant."""
        # Both names may hold colons: the longest run that exists is meant.
        run, variant = name, ""
        while True:
            try:
                info = self._store.run(run)
                break
            except UnknownNameError:
                if ":" not in run:
                    raise
                run, _, part = run.rpartition(":")
                variant = f"{part}:{variant}" if variant else part
        known = [one.id for one in info.variants]
        if not variant and len(known) == 1:
            return info, known[0]
        if variant not in known:
            raise UnknownNameError(f"variant of {info.id}", variant, known)
        return info, variant

    def trend(
        self,
        suite: str,
        variant: str | None = None,
        criterion: str | None = None,
        measure: str = "score",
    ) -> Document:
        """The trend of a suite."""
        for known in get_args(TrendMeasure):
            if known == measure:
                trends = trend_of_suite(
                    self._store, suite, variant=variant, criterion=criterion, measure=known
                )
                return trend_document(suite, trends)
        raise UnknownNameError("measure", measure, get_args(TrendMeasure))

    def findings(self, suite: str = "", status: str = "open") -> Document:
        """The open findings of a suite, or of all suites; with the status `all` resolved ones."""
        known = self._store.suites()
        if suite and suite not in known:
            raise UnknownNameError("suite", suite, known)
        every = self._findings([suite] if suite else known)
        shown = [one for one in every if status == "all" or one.status != "resolved"]
        document = findings_document(suite or "all suites", every, shown[:_MOST_FINDINGS])
        more = f"The first {_MOST_FINDINGS:,} of {len(shown):,}; all: judgekit findings"
        link = page_path("findings", **({"suite": suite} if suite else {}), status="all")
        hidden = Cell(f"{len(every) - len(shown):,} resolved", link=link)
        blocks = (
            Notes((more,) if len(shown) > _MOST_FINDINGS else ()),
            Table((Column("not shown", "text"),), ((hidden,),) if len(shown) < len(every) else ()),
        )
        return replace(document, blocks=not_empty((*document.blocks, *blocks)))

    def finding(self, name: str, suite: str = "") -> Document:
        """A finding in full."""
        every = {one.id: one for one in self._findings([suite] if suite else self._store.suites())}
        if name not in every:
            raise UnknownNameError("finding", name, every)
        return finding_document(every[name])

    def _findings(self, suites: Sequence[str]) -> list[Finding]:
        found = (self.suite_findings.of(suite).findings.values() for suite in suites)
        severities = get_args(FindingSeverity)
        return sorted(
            chain.from_iterable(found),
            key=lambda one: (one.status == "resolved", severities.index(one.severity)),
        )

    def calibration(self, name: str) -> Document:
        """The calibration that a run was concluded with; stores have none beside their runs."""
        info = self._store.run(name)
        use = info.calibration
        if use is None:
            raise InputError(f"{info.id} was run without a calibration", hint=_CALIBRATE)
        lines = () if use.calibration is None else map_summary_lines(use.calibration)
        run = Cell(info.id, link=page_path("runs", info.id))
        blocks = (
            Table((Column("run", "id"),), ((run,),)),
            Notes(tuple(lines), "What each map does"),
            Notes(() if use.state == "calibrated" else (_CALIBRATE,)),
        )
        conclusion = Conclusion(use.words, _TONES.get(use.state, "inconclusive"))
        title = f"Calibration of {info.id}"
        return Document(title, conclusion, not_empty(blocks), use.to_json)

    def cost(self, limit: int | None = RUNS_PER_PAGE) -> Document:
        """What the last runs cost, and what the cache saved."""
        runs = self._store.runs(limit=limit)
        return cost_document(self._store, [info for info in runs if info.status != "running"])
