"""The document of the start page: what needs attention in a store, its runs and suites."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, get_args

from judgekit.evaluation import VARIANT_SEPARATOR, FigureReader, StoredFigure, newest_comparisons
from judgekit.records import FINISHED_STATUSES, FindingSeverity
from judgekit.report import (
    Cell,
    Column,
    Conclusion,
    Document,
    Table,
    comparisons_table,
    format_count,
    message,
    not_empty,
    numbers,
    page_path,
    rate_cell,
)
from judgekit.stats.estimate import Estimate
from judgekit.store import COMPARISON_OUTPUTS_SUFFIX
from judgekit.web.events import read_progress_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from judgekit.records import RunInfo
    from judgekit.report import Tone
    from judgekit.store import RunStore
    from judgekit.web.result_cache import FindingsCache

_MOST_COMPARISONS = 10
# Two runs that ended are most often the last two.
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
_Row = tuple[str | Cell, ...]


def is_followed(suite: str) -> bool:
    """Whether a suite is a benchmark, and not what the outputs for a comparison are stored as."""
    return not suite.endswith(COMPARISON_OUTPUTS_SUFFIX)


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
        counts = Counter(one.severity for one in found if one.status != "resolved")
        words = [f"{counts[name]} {name}" for name in get_args(FindingSeverity) if counts[name]]
        total = format_count(sum(counts.values()), "open finding")
        return f"{total}: {', '.join(words)}" if words else ""

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
        rows.sort(key=_urgency)
        columns = (Column("needs attention", "text"), Column("where", "id"), Column("what", "text"))
        tables.insert(0, Table(columns, tuple(rows)))
        blind, scores = (
            find(limit=_MOST_COMPARISONS) for find in (store.comparisons, store.score_comparisons)
        )
        newest = newest_comparisons([*blind, *scores])[:_MOST_COMPARISONS]
        tables += [_suites_table(known.values()), comparisons_table(newest, "Last comparisons")]
    return Document(
        "Results" if page == 1 else f"Results, page {page}",
        _conclusion(runs, rows, page),
        not_empty(tables),
        lambda: {"runs": [run.to_json() for run in runs]},
    )


def _urgency(row: _Row) -> int:
    return [*_COUNTED].index(row[0].text if isinstance(row[0], Cell) else row[0])


def _conclusion(runs: Sequence[RunInfo], attention: Sequence[_Row], page: int) -> Conclusion:
    if not runs:
        return Conclusion("No run is stored yet. `judgekit run` stores runs.")
    if page > 1:
        return Conclusion(f"{format_count(len(runs), 'run')} on this page.")
    if not attention:
        return Conclusion("Nothing needs attention.", "pass")
    marks = [row[0] for row in attention if isinstance(row[0], Cell)]
    counts = Counter(cell.text for cell in marks)
    words = [
        one if counts[text] == 1 else many.format(counts[text])
        for text, (one, many) in _COUNTED.items()
        if counts[text]
    ]
    tones = {cell.tone for cell in marks}
    tone: Tone = next((one for one in _URGENT if one in tones), "neutral")
    return Conclusion(f"{'; '.join(words)}.", tone)


def _running_rows(store: RunStore, runs: Sequence[RunInfo]) -> Iterator[_Row]:
    for run in runs:
        if run.status == "running":
            where = Cell(run.id, link=page_path("runs", run.id))
            yield Cell("running", "neutral"), where, read_progress_of(store, run.id).lines()[0][1]


def _runs_table(store: RunStore, runs: Sequence[RunInfo], known: dict[str, SuiteStatus]) -> Table:
    readers = {name: FigureReader(store, name) for name in {run.suite for run in runs}}
    rows: list[_Row] = []
    for run in runs:
        figures = None
        # The figures of a run that did not finish are not stored: working them out reads it all.
        if run.status in FINISHED_STATUSES:
            figures = readers[run.suite].figures(run).variants
        gate = known[run.suite].gate_cell(run) if run.suite in known else Cell(numbers.DASH)
        for variant in run.variants:
            own = None if figures is None else figures.get(variant.id)
            estimate = _estimate(None if own is None else own.pass_rate)
            rate = rate_cell(estimate)
            choice = f"{run.id}{VARIANT_SEPARATOR}{variant.id}" if own is not None else ""
            rows.append((
                Cell(run.id, link=page_path("runs", run.id), choice=choice),
                variant.id,
                rate,
                gate,
                numbers.DASH if run.n_cases is None else f"{run.n_cases:,}",
                message.RUN_STATUS_WORDS[run.status],
            ))  # fmt: skip
    columns = (
        Column("run", "id"),
        Column("variant", "text"),
        Column("passed, 95 %"),
        Column("gate", "text"),
        Column("cases"),
        Column("status", "text"),
    )
    # The ids begin with the time, so that it needs no column.
    return Table(columns, tuple(rows), "Runs")


def _estimate(found: StoredFigure | None) -> Estimate:
    figure = found or StoredFigure()
    value, low, high = (nan if x is None else x for x in (figure.value, figure.low, figure.high))
    return Estimate(value=value, low=low, high=high, n=figure.n, method="clustered by case")


def _turning(page: int, *, has_more: bool) -> Table:
    turns = {"newer runs": page - 1, "older runs": page + 1 if has_more else 0}
    cells = (Cell(text, link=page_path("", page=str(n))) for text, n in turns.items() if n)
    return Table((Column("more", "text"),), tuple((cell,) for cell in cells))


def _suites_table(suites: Iterable[SuiteStatus]) -> Table:
    def calibration(suite: SuiteStatus) -> Cell:
        use = suite.last.calibration
        if use is None:
            return Cell(numbers.DASH)
        return Cell(use.state, link=page_path("calibrations", suite.last.id))

    def last_two(suite: SuiteStatus) -> Cell:
        sides = suite.last_two
        link = "" if sides is None else page_path("diff", a=sides[0], b=sides[1])
        return Cell("last two runs" if link else numbers.DASH, link=link)

    columns: dict[str, Callable[[SuiteStatus], str | Cell]] = {
        "suite": lambda suite: suite.name,
        "last run": lambda suite: Cell(suite.last.id, link=page_path("runs", suite.last.id)),
        "gate": lambda suite: suite.gate_cell(suite.last),
        "findings": lambda suite: Cell(
            suite.open_findings or "none open", link=page_path("findings", suite=suite.name)
        ),
        "trend": lambda suite: Cell("trend", link=page_path("trends", suite.name)),
        "calibration": calibration,
        "side by side": last_two,
    }
    rows = tuple(tuple(cell(suite) for cell in columns.values()) for suite in suites)
    heads = tuple(Column(name, "id" if name == "last run" else "text") for name in columns)
    return Table(heads, rows, "Suites")
