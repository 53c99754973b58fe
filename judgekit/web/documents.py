"""The documents of a store's results, by the paths of their pages; commands print the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, get_args

from judgekit.calibration import calibrate
from judgekit.errors import InputError, UnknownNameError
from judgekit.evaluation import (
    Run,
    TrendMeasure,
    approvals_resting_on,
    criterion_trends,
    has_model_judges,
    label_rows,
    relations_of_run,
    run_and_variant,
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
    Table,
    calibration_document,
    comparison_json,
    finding_document,
    findings_document,
    map_summary_lines,
    not_empty,
    page_path,
    relations_json,
    side_by_side_document,
    stored_answers,
    stored_comparison_document,
    stored_run_document,
    trend_document,
)
from judgekit.web.cost import cost_document
from judgekit.web.events import read_progress_of
from judgekit.web.home import home_document
from judgekit.web.result_cache import DocumentCache, FindingsCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import CalibrationInUse, CalibrationState, Finding, RunInfo
    from judgekit.report import Block, JudgeReplies, Tone
    from judgekit.store import RunStore

RUNS_PER_PAGE = 50

# A page of more would take seconds to open, and nobody reads so many.
_MOST_FINDINGS = 500

_CALIBRATE = "make one: judgekit calibrate LABELS --write-map"
_TONES: dict[CalibrationState, Tone] = {"calibrated": "pass", "stale": "fail"}


class ResultDocuments:
    """Makes the documents of a store's results; at most `most_bytes` of cases are held."""

    def __init__(self, store: RunStore, replies: JudgeReplies | None = None, **held: int) -> None:
        self._store = store
        self._replies = replies
        self.held = DocumentCache(**held)
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
        if info.status == "running":
            return self._running(info)
        followed = self.suite_findings.of(info.suite)
        # What refers to a run may change after its end, and is on its page.
        related = relations_json(relations_of_run(self._store, info, followed))

        def make() -> Document:
            run = Run(info, self._store)
            return stored_run_document(
                self._store, run, self._replies, followed=followed, has_page=True
            )

        state = [info.status, str(info.finished_at), self._store.run_state(info.id), related]
        return self.held.open(page_path("runs", info.id), state, make)

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
        approvals = [one.id for one in approvals_resting_on(self._store, (info.id,))]
        n_analyses = (
            0 if isinstance(info, ScoreComparisonInfo) else len(self._store.analyses(info.id))
        )
        return self.held.open(
            page_path("comparisons", info.id),
            [comparison_json(info), approvals, n_analyses],
            lambda: stored_comparison_document(self._store, info, self._replies, has_page=True),
        )

    def difference(self, a: str = "", b: str = "") -> Document:
        """Two variants of stored runs side by side, each named RUN::VARIANT."""
        if not (a and b):
            raise InputError(
                "two sides are needed", hint="tick two rows of the start page, or add a= and b="
            )
        sides = [run_and_variant(name, self._store) for name in (a, b)]
        if sides[0] == sides[1]:
            raise InputError("both sides are the same", hint="choose two runs, or two variants")
        states = [[run.status, self._store.run_state(run.id), variant] for run, variant in sides]
        return self.held.open(
            page_path("diff", a=a, b=b),
            states,
            lambda: side_by_side_document(self._store, sides[0], sides[1], self._replies),
        )

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
                criteria = (
                    () if criterion else criterion_trends(self._store, suite, variant=variant)
                )
                return trend_document(suite, trends, criteria)
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
        """A run's judge against the human labels of the run, and the maps that were applied."""
        info = self._store.run(name)
        state = [self._store.run_state(info.id), str(info.finished_at)]
        return self.held.open(
            page_path("calibrations", info.id), state, lambda: self._calibration(info)
        )

    def _calibration(self, info: RunInfo) -> Document:
        use = info.calibration
        labels = [*label_rows(self._store.results(info.id))] if has_model_judges(info) else []
        if labels:
            report = calibrate(Run(info, self._store), labels)
            document = calibration_document(report, stored_answers(self._store, info.id))
            maps = () if use is None else _applied_maps(use)
            return replace(document, blocks=not_empty((*document.blocks, *maps)))
        if use is None:
            raise InputError(
                f"{info.id} has no calibration: its judge was not compared with human labels",
                hint=f"label its answers: judgekit label {info.id}; or {_CALIBRATE}",
            )
        run = Cell(info.id, link=page_path("runs", info.id))
        return Document(
            f"Calibration of {info.id}",
            Conclusion(use.words, _TONES.get(use.state, "inconclusive")),
            not_empty((Table((Column("run", "id"),), ((run,),)), *_applied_maps(use))),
            use.to_json,
        )

    def cost(self, limit: int | None = RUNS_PER_PAGE) -> Document:
        """What the last runs cost, and what the cache saved."""
        runs = self._store.runs(limit=limit)
        return cost_document(self._store, [info for info in runs if info.status != "running"])


def _applied_maps(use: CalibrationInUse) -> tuple[Block, ...]:
    """The calibration maps that a run was concluded with."""
    lines = () if use.calibration is None else map_summary_lines(use.calibration)
    return (
        Notes(tuple(lines), "What each map does"),
        Notes(() if use.state == "calibrated" else (_CALIBRATE,)),
    )
