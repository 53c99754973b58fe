"""The document of the start page: what needs attention in a store, its runs and suites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from threading import Lock

from judgekit.evaluation import (
    VARIANT_SEPARATOR,
    FigureReader,
    StoredFigure,
    SuiteFindings,
    newest_comparisons,
)
from judgekit.records import FINISHED_STATUSES, RunInfo
from judgekit.report import (
    Cell,
    Column,
    Conclusion,
    Document,
    Table,
    Tone,
    comparisons_table,
    figure_cell,
    format_count,
    listing_table,
    message,
    not_empty,
    numbers,
    open_findings_text,
    page_path,
)
from judgekit.store import COMPARISON_OUTPUTS_SUFFIX, RunStore
from judgekit.web.events import read_progress_of

_MOST_COMPARISONS = 10
# Two runs that ended are most often the last two; and of older runs nobody labels anything.
_MOST_LOOKED_AT = 10
_GATE_WORDS: dict[str, tuple[str, Tone]] = {
    "passed": ("passed", "pass"),
    "failed": ("failed", "fail"),
    "inconclusive": ("undecided", "inconclusive"),
    "accepted": ("accepted", "neutral"),
}
_COUNTED = {
    "running": ("1 run is running", "{} runs are running"),
    "gate failed": ("1 gate failed", "{} gates failed"),
    "open findings": ("1 suite has open findings", "{} suites have open findings"),
    "stale calibration": ("1 calibration is stale", "{} calibrations are stale"),
    "not complete": ("1 last run is not complete", "{} last runs are not complete"),
}
"""What needs attention, in this order, and how many of it there are in words."""

_URGENT: tuple[Tone, ...] = ("fail", "inconclusive")
_Row = tuple[Cell, Cell, str]


def is_followed(suite: str) -> bool:
    """Whether a suite is a benchmark, and not what the outputs for a comparison are stored as."""
    return not suite.endswith(COMPARISON_OUTPUTS_SUFFIX)


class FindingsCache:
    """The findings of each suite, until its runs change; threads may share it.

    Those of a run that did not finish are stored nowhere: each time they follow from all of its
    answers. What a running run finds is examined when it ends.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._known: dict[str, tuple[object, SuiteFindings]] = {}
        self._lock = Lock()

    def of(self, suite: str) -> SuiteFindings:
        with self._lock:
            state = self._state(suite)
            known = self._known.get(suite)
            if known is None or known[0] != state:
                known = self._known[suite] = state, SuiteFindings(self._store, suite)
            return known[1]

    def _state(self, suite: str) -> object:
        runs = self._store.runs(suite=suite)
        ended = [run.id for run in runs if run.status != "running"]
        # Labels change a run after its end.
        states = [self._store.run_state(name) for name in ended[:_MOST_LOOKED_AT]]
        n_notes = len(self._store.finding_notes(suite))
        return [(run.id, run.status, run.finished_at) for run in runs], states, n_notes


class SuiteStatus:
    """Where a suite stands: its last run, that run's gate, and its open findings."""

    def __init__(self, store: RunStore, name: str, findings: FindingsCache) -> None:
        self.name = name
        self._store = store
        self._findings = findings
        self.last = store.runs(suite=name, limit=1)[0]
        self.decisions = store.gate_decisions(name)

    @cached_property
    def last_two(self) -> tuple[str, str] | None:
        """The last two runs of a variant, each as RUN::VARIANT, the earlier one first."""
        ended = [
            run
            for run in self._store.runs(suite=self.name, limit=_MOST_LOOKED_AT)
            if run.status in FINISHED_STATUSES
        ]
        for variant in ended[0].variants if ended else ():
            having = [run for run in ended if variant.id in {one.id for one in run.variants}]
            if len(having) > 1:
                after, before = (f"{run.id}{VARIANT_SEPARATOR}{variant.id}" for run in having[:2])
                return before, after
        return None

    @cached_property
    def open_findings(self) -> str:
        """How many findings are open, by severity; empty for none."""
        found = self._findings.of(self.name).findings.values()
        is_open = any(one.status != "resolved" for one in found)
        return open_findings_text(found) if is_open else ""

    def gate_cell(self, run: RunInfo) -> Cell:
        """What the gate decided about a run."""
        decision = self.decisions.get(run.id)
        if decision is None:
            return Cell(numbers.DASH)
        return Cell(*_GATE_WORDS[decision.outcome])

    def attention(self) -> Iterator[_Row]:
        """What somebody should look at."""
        run, decision = self.last, self.decisions.get(self.last.id)
        link = Cell(run.id, link=page_path("runs", run.id))
        if decision is not None and decision.outcome == "failed":
            yield Cell("gate failed", "fail"), link, message.one_line(decision.reason)
        if run.status not in {"running", "complete"}:
            words = message.RUN_STATUS_WORDS[run.status]
            reason = f"{words}: {message.one_line(run.reason)}" if run.reason else words
            yield Cell("not complete", "inconclusive"), link, reason
        if self.open_findings:
            where = Cell(self.name, link=page_path("findings", suite=self.name))
            yield Cell("open findings", "fail"), where, self.open_findings
        if run.calibration is not None and run.calibration.state == "stale":
            where = Cell(run.id, link=page_path("calibrations", run.id))
            yield Cell("stale calibration", "inconclusive"), where, run.calibration.words


def home_document(
    store: RunStore,
    findings: FindingsCache,
    runs: Sequence[RunInfo],
    *,
    page: int = 1,
    has_more: bool = False,
) -> Document:
    """What needs attention, then runs, suites and comparisons."""
    names = store.suites() if page == 1 else dict.fromkeys(run.suite for run in runs)
    known = {name: SuiteStatus(store, name, findings) for name in names if is_followed(name)}
    rows: list[_Row] = []
    tables = [_runs_table(store, runs, known), _turning(page, has_more=has_more)]
    if page == 1:
        rows += _running_rows(store, runs)
        rows += [row for suite in known.values() for row in suite.attention()]
        rows.sort(key=lambda row: [*_COUNTED].index(row[0].text))
        columns = (Column("needs attention", "text"), Column("where", "id"), Column("what", "text"))
        tables.insert(0, Table(columns, tuple(rows)))
        blind, scores = (
            find(limit=_MOST_COMPARISONS) for find in (store.comparisons, store.score_comparisons)
        )
        newest = newest_comparisons([*blind, *scores])[:_MOST_COMPARISONS]
        last = comparisons_table(newest, "Last comparisons", is_page=True)
        tables += [_suites_table(known.values()), last]
    return Document(
        "Results" if page == 1 else f"Results, page {page}",
        _conclusion(runs, rows, page),
        not_empty(tables),
        lambda: {"runs": [run.to_json() for run in runs]},
    )


def _conclusion(runs: Sequence[RunInfo], attention: Sequence[_Row], page: int) -> Conclusion:
    if not runs:
        return Conclusion("No run is stored yet. `judgekit run` stores runs.")
    if page > 1:
        return Conclusion(f"{format_count(len(runs), 'run')} on this page.")
    if not attention:
        return Conclusion("Nothing needs attention.", "pass")
    counts = Counter(row[0].text for row in attention)
    words = [
        one if counts[text] == 1 else many.format(counts[text])
        for text, (one, many) in _COUNTED.items()
        if counts[text]
    ]
    tones = {row[0].tone for row in attention}
    tone: Tone = next((one for one in _URGENT if one in tones), "neutral")
    return Conclusion(f"{'; '.join(words)}.", tone)


def _running_rows(store: RunStore, runs: Sequence[RunInfo]) -> Iterator[_Row]:
    for run in runs:
        if run.status == "running":
            where = Cell(run.id, link=page_path("runs", run.id))
            yield Cell("running", "neutral"), where, read_progress_of(store, run.id).lines()[0][1]


def _runs_table(store: RunStore, runs: Sequence[RunInfo], known: dict[str, SuiteStatus]) -> Table:
    readers = {name: FigureReader(store, name) for name in {run.suite for run in runs}}
    rows: list[dict[str, str | Cell]] = []
    for run in runs:
        # The figures of a run that did not finish are not stored: working them out reads it all.
        has_figures = run.status in FINISHED_STATUSES
        figures = readers[run.suite].figures(run).variants if has_figures else {}
        gate = known[run.suite].gate_cell(run) if run.suite in known else numbers.DASH
        for variant in run.variants:
            own = figures.get(variant.id)
            choice = "" if own is None else f"{run.id}{VARIANT_SEPARATOR}{variant.id}"
            rate = StoredFigure() if own is None else own.pass_rate
            rows.append({
                # The ids begin with the time, so that it needs no column.
                "run": Cell(run.id, link=page_path("runs", run.id), choice=choice),
                "variant": variant.id,
                "passed, 95 %": figure_cell(rate, is_rate=True),
                "gate": gate,
                "cases": numbers.DASH if run.n_cases is None else f"{run.n_cases:,}",
                "status": message.RUN_STATUS_WORDS[run.status],
            })  # fmt: skip
    return listing_table(rows, "Runs")


def _turning(page: int, *, has_more: bool) -> Table:
    turns = {"newer runs": page - 1, "older runs": page + 1 if has_more else 0}
    cells = (Cell(text, link=page_path("", page=str(n))) for text, n in turns.items() if n)
    return Table((Column("more", "text"),), tuple((cell,) for cell in cells))


def _suites_table(suites: Iterable[SuiteStatus]) -> Table:
    rows: list[dict[str, str | Cell]] = []
    for suite in suites:
        findings = suite.open_findings or "none open"
        use, sides = suite.last.calibration, suite.last_two
        rows.append({
            "suite": suite.name,
            "last run": suite.last.id,
            "gate": suite.gate_cell(suite.last),
            "findings": Cell(findings, link=page_path("findings", suite=suite.name)),
            "trend": Cell("trend", link=page_path("trends", suite.name)),
            "calibration": numbers.DASH
            if use is None
            else Cell(use.state, link=page_path("calibrations", suite.last.id)),
            "side by side": numbers.DASH
            if sides is None
            else Cell("last two runs", link=page_path("diff", a=sides[0], b=sides[1])),
        })  # fmt: skip
    return listing_table(rows, "Suites")
