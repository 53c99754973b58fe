"""The documents of a store's results, by the paths of their pages; commands print the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

from judgekit.errors import InputError, UnknownNameError
from judgekit.evaluation import (
    Run,
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
    format_count,
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
from judgekit.web.held import CaseSource, HeldFindings
from judgekit.web.home import home_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation import RunSummary, TrendMeasure
    from judgekit.records import CalibrationInUse, CalibrationState, Finding, RunInfo
    from judgekit.report import Block, CaseTable, Tone
    from judgekit.store import RunStore
    from judgekit.web.events import RunProgress
    from judgekit.web.held import HeldCases

RUNS_PER_PAGE = 50

# A page of more would take seconds to open, and nobody reads so many.
_MOST_FINDINGS = 500

NOT_STORED = {
    "rankings": "judgekit rank A B C -o ranking.html",
    "audits": "judgekit audit OUTPUTS -o audit.html",
}
"""Results that have no page here since no store has them, and what writes their page."""

_CALIBRATE = "judgekit calibrate LABELS --write-map"
_CALIBRATION_TONES: dict[CalibrationState, Tone] = {
    "calibrated": "pass",
    "partial": "inconclusive",
    "stale": "fail",
    "uncalibrated": "inconclusive",
}


class ResultDocuments:
    """Makes the documents of a store's results.

    Args:
        store: The store.
        held: Where the cases of runs are held.
    """

    def __init__(self, store: RunStore, held: HeldCases) -> None:
        self._store = store
        self._held = held
        self.suite_findings = HeldFindings(store)

    def home(self, page: int = 1) -> Document:
        """What needs attention, and the runs of a page, newest first."""
        # One more than is shown says whether there are older ones.
        end = page * RUNS_PER_PAGE
        runs = self._store.runs(limit=end + 1)
        shown = runs[end - RUNS_PER_PAGE : end]
        if page > 1 and not shown:
            n_pages = max(1, -(-len(runs) // RUNS_PER_PAGE))
            raise UnknownNameError("page", str(page), map(str, range(1, n_pages + 1)))
        more = len(runs) > end
        return home_document(self._store, self.suite_findings, shown, page=page, has_more=more)

    def run(self, info: RunInfo) -> tuple[str, Document]:
        """The name of a run's cases, and its document."""
        name, summary, cases = self._held.open(self._run_source(info))
        gate = Run(info, self._store).gate(summary)
        document = run_document(summary, gate, answers=(cases,))
        related = relations_of_run(self._store, info, self.suite_findings.of(info.suite))
        lines = relation_lines(info.id, related)
        return name, replace(document, blocks=not_empty((*document.blocks, lines)))

    def _run_source(self, info: RunInfo) -> CaseSource[RunSummary]:
        def make() -> tuple[RunSummary, CaseTable]:
            cases = RunCases(info)
            return Run(info, self._store).summary(watch=cases.take), cases.table()

        def state() -> str:
            return f"{info.status} {info.finished_at} {self._store.run_state(info.id)}"

        return CaseSource(page_path("runs", info.id), state, make)

    def running(self, info: RunInfo) -> Document:
        """How far a run is that has not ended."""
        return progress_document(read_progress_of(self._store, info.id))

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

    def difference(self, a: str, b: str) -> Document:
        """Two variants of stored runs, each named RUN:VARIANT, by their scores."""
        sides = (self.side(a), self.side(b))
        if sides[0][0].id == sides[1][0].id and sides[0][1] == sides[1][1]:
            raise InputError("both sides are the same", hint="choose two runs, or two variants")
        info = new_score_comparison(*sides, now=datetime.now(UTC))
        return score_comparison_document(compare_stored_scores(self._store, info).result)

    def side(self, name: str) -> tuple[RunInfo, str]:
        """The run and the variant that RUN:VARIANT names; RUN alone where it has one variant."""
        if not name:
            raise InputError(
                "two sides are needed", hint="tick two rows of the start page, or add a= and b="
            )
        parts = name.split(":")
        problem: UnknownNameError | None = None
        # Both names may hold colons: the longest run that exists is meant.
        for n in range(len(parts), 0, -1):
            try:
                info = self._store.run(":".join(parts[:n]))
            except UnknownNameError as error:
                problem = error
                continue
            return info, _variant(info, ":".join(parts[n:]))
        raise problem or InputError(f"{name!r} names no run")

    def trend(
        self, suite: str, variant: str = "", criterion: str = "", measure: TrendMeasure = "score"
    ) -> Document:
        """The trend of a suite."""
        trends = trend_of_suite(
            self._store,
            suite,
            variant=variant or None,
            criterion=criterion or None,
            measure=measure,
        )
        return trend_document(suite, trends)

    def findings(self, suite: str = "", *, has_resolved: bool = False) -> Document:
        """The findings of a suite, or of all."""
        known = self._store.suites()
        if suite and suite not in known:
            raise UnknownNameError("suite", suite, known)
        every = self._findings([suite] if suite else known)
        shown = [one for one in every if has_resolved or one.status != "resolved"]
        document = findings_document(suite or "all suites", every, shown[:_MOST_FINDINGS])
        notes = []
        if len(shown) > _MOST_FINDINGS:
            notes.append(f"The first {_MOST_FINDINGS:,} of {len(shown):,}; all: judgekit findings")
        hidden: tuple[tuple[str | Cell, ...], ...] = ()
        if n_hidden := len(every) - len(shown):
            query = {"suite": suite} if suite else {}
            link = page_path("findings", **query, status="all")
            hidden = ((Cell(f"{n_hidden:,} resolved", link=link),),)
        blocks = (Notes(tuple(notes)), Table((Column("not shown", "text"),), hidden))
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
            (one for of_suite in found for one in of_suite),
            key=lambda one: (one.status == "resolved", severities.index(one.severity)),
        )

    def calibration(self, name: str) -> Document:
        """The calibration that a run was concluded with; stores have none beside their runs."""
        info = self._store.run(name)
        use = info.calibration
        if use is None:
            raise InputError(
                f"{info.id} was run without a calibration", hint=f"make one: {_CALIBRATE}"
            )
        return calibration_in_use_document(info, use)

    def cost(self, limit: int | None = RUNS_PER_PAGE) -> Document:
        """What the last runs cost, and what the cache saved."""
        runs = self._store.runs(limit=limit)
        return cost_document(self._store, [info for info in runs if info.status != "running"])


def progress_document(progress: RunProgress) -> Document:
    """A run that has not ended: how far it is, and no conclusion."""
    info = progress.run
    return Document(
        f"{info.suite}: {info.id}",
        Conclusion("The run has not ended: there is no conclusion yet."),
        (
            # The script writes the progress of later moments in the place of each text.
            Lines(progress.lines()),
            Notes((f"If it was killed, resume it: judgekit run --resume {info.id}",)),
        ),
        info.to_json,
    )


def calibration_in_use_document(info: RunInfo, use: CalibrationInUse) -> Document:
    """Whether a run's judgments are calibrated, on what, and what each map does."""
    link = page_path("runs", info.id)
    blocks: list[Block] = [Table((Column("run", "id"),), ((Cell(info.id, link=link),),))]
    found = use.calibration
    if found is not None:
        judges = ", ".join(judge.judge for judge in found.asked.judges)
        facts = (
            ("judge", judges),
            ("rubric", found.rubric.name),
            (
                "labels",
                f"{found.n_labels:,} by {format_count(len(found.annotators), 'person', 'people')}",
            ),
        )
        blocks += [Lines(facts), Notes(tuple(map_summary_lines(found)), "What each map does")]
    if use.state != "calibrated":
        blocks.append(Notes((f"A new one: {_CALIBRATE}",)))
    conclusion = Conclusion(use.words, _CALIBRATION_TONES[use.state])
    return Document(f"Calibration of {info.id}", conclusion, not_empty(blocks), use.to_json)


def _variant(info: RunInfo, name: str) -> str:
    known = [one.id for one in info.variants]
    if not name and len(known) == 1:
        return known[0]
    if name not in known:
        raise UnknownNameError(f"variant of {info.id}", name, known)
    return name
