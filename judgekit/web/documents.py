"""The documents of a store's results, by the paths of their pages; commands print the same.

A page has the index of its cases; their full contents are fetched when one is opened, which may be
long after the page was made. So the documents that were opened last are held.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from math import fsum
from typing import TYPE_CHECKING, get_args

from judgekit.calibration import calibrate
from judgekit.errors import InputError, UnknownNameError
from judgekit.evaluation import (
    Run,
    StoredRecords,
    approvals_resting_on,
    criterion_trends,
    has_model_judges,
    label_rows,
    relations_of_run,
    run_and_variant,
    trend_of_suite,
)
from judgekit.fingerprint import fingerprint
from judgekit.records import FindingSeverity, Record, ScoreComparisonInfo
from judgekit.report import (
    Cell,
    Column,
    Conclusion,
    Document,
    Lines,
    Notes,
    Table,
    calibration_document,
    case_table_of,
    comparison_json,
    finding_document,
    findings_document,
    format_count,
    listing_table,
    map_summary_lines,
    not_empty,
    numbers,
    page_path,
    relations_json,
    side_by_side_document,
    stored_answers,
    stored_comparison_document,
    stored_run_document,
    trend_document,
)
from judgekit.web.events import read_progress_of
from judgekit.web.home import FindingsCache, home_document

if TYPE_CHECKING:
    from judgekit.records import (
        CalibrationInUse,
        CalibrationState,
        ComparisonInfo,
        Finding,
        RunInfo,
    )
    from judgekit.report import Block, CaseTable, JudgeReplies, Tone
    from judgekit.store import RunStore

RUNS_PER_PAGE = 50
_PAGE_NUMBER = re.compile("[1-9][0-9]{0,5}")

# A page of more would take seconds to open, and nobody reads so many.
_MOST_FINDINGS = 500

_MOST_BYTES = 256 * 1024 * 1024
_BYTES_OF_ROW = 1_000
_NAME_LENGTH = 24

_CALIBRATE = "make one: judgekit calibrate LABELS --write-map"
_PAID_FOR = ("answers", "judges", "embeddings", "replaced")
_TONES: dict[CalibrationState, Tone] = {"calibrated": "pass", "stale": "fail"}


class DocumentCache:
    """The documents of results that were opened last, with their cases; threads may share it."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._known: OrderedDict[str, Document] = OrderedDict()
        self._making: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def open(self, path: str, state: object, make: Callable[[], Document]) -> Document:
        """The document of a path, made where it is not held.

        The `state` is JSON that differs after each change of the result.
        """
        name = fingerprint([path, state])[:_NAME_LENGTH]
        with self._lock:
            making = self._making[name]
        # Two tabs that open one page wait for each other, and not for other pages.
        with making:
            found = self._known.get(name) or make()
        with self._lock:
            self._known[name] = found
            self._known.move_to_end(name)
            self._making.pop(name, None)
            # The one that is being shown stays, however large it is.
            while len(self._known) > 1 and self._n_bytes() > self._most_bytes:
                self._known.popitem(last=False)
        return found

    def name_of(self, document: Document) -> str:
        """The name by which the cases of a document are fetched; empty where it is not held."""
        with self._lock:
            return next((name for name, one in self._known.items() if one is document), "")

    def table(self, name: str) -> CaseTable | None:
        """The cases of the document of this name, where they are still held."""
        with self._lock:
            found = self._known.get(name)
        return None if found is None else case_table_of(found)

    def _n_bytes(self) -> int:
        tables = [table for one in self._known.values() if (table := case_table_of(one))]
        n_rows = sum(int(str(table.index["n"])) for table in tables)
        return n_rows * _BYTES_OF_ROW + sum(len(part) for one in tables for part in one.chunks)


class ResultDocuments:
    """Makes the documents of a store's results; at most `most_bytes` of cases are held."""

    def __init__(self, store: RunStore, replies: JudgeReplies | None = None, **held: int) -> None:
        self._store = store
        self._replies = replies
        self.held = DocumentCache(**held)
        self.suite_findings = FindingsCache(store)

    def home(self, page: str = "1") -> Document:
        """What needs attention, and the runs of a page, newest first."""
        if _PAGE_NUMBER.fullmatch(page) is None:
            raise InputError(f"{page!r} is no page number", hint="pages are numbered from 1")
        number = int(page)
        # One more than is shown says whether there are older ones.
        end = number * RUNS_PER_PAGE
        runs = self._store.runs(limit=end + 1)
        shown = runs[end - RUNS_PER_PAGE : end]
        if number > 1 and not shown:
            raise UnknownNameError("page", page, ["1"])
        more = len(runs) > end
        return home_document(self._store, self.suite_findings, shown, page=number, has_more=more)

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
            f"Run {info.id}",
            Conclusion("The run has not ended: there is no conclusion yet."),
            # The script writes the progress of later moments in the place of each text.
            (Lines(read_progress_of(self._store, info.id).lines()), Notes((hint,))),
            info.to_json,
        )

    def comparison(self, name: str) -> Document:
        """A blind comparison, or one of scores."""
        info = self._store.any_comparison(name)
        approvals = [one.id for one in approvals_resting_on(self._store, (info.id,))]
        return self.held.open(
            page_path("comparisons", info.id),
            [comparison_json(info), approvals, self._comparison_state(info)],
            lambda: stored_comparison_document(self._store, info, self._replies, has_page=True),
        )

    def _comparison_state(self, info: ComparisonInfo | ScoreComparisonInfo) -> list[object]:
        if isinstance(info, ScoreComparisonInfo):
            # Its figures follow from the answers of both runs, which labels change.
            return [self._store.run_state(side.run_id or "") for side in (info.a, info.b)]
        pairs = () if info.finished_at is not None else self._store.compared(info.id)
        answers = [(one.place, len(one.preferences), len(one.failures)) for one in pairs]
        return [len(self._store.analyses(info.id)), answers]

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

    def trend(self, suite: str) -> Document:
        """The trend of a suite, with those of its criteria."""
        trends = trend_of_suite(self._store, suite)
        return trend_document(suite, trends, criterion_trends(self._store, suite))

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
        # How a packet chose its items decides what their labels are evidence of.
        packets = [one.id for one in self._store.packets(info.id)]
        state = [self._store.run_state(info.id), str(info.finished_at), packets]
        return self.held.open(
            page_path("calibrations", info.id), state, lambda: self._calibration(info)
        )

    def _calibration(self, info: RunInfo) -> Document:
        use = info.calibration
        rows = label_rows(self._store.results(info.id), self._store.packets(info.id))
        labels = [*rows] if has_model_judges(info) else []
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
        runs = [info for info in self._store.runs(limit=limit) if info.status != "running"]
        suites: dict[str, list[RunSpending]] = {run.suite: [] for run in runs}
        # Costs follow from all answers of a run: they are worked out once and stored with it.
        stored = {
            name: StoredRecords(self._store, name, "spending", RunSpending) for name in suites
        }
        rows = []
        for run in runs:
            spent = stored[run.suite].of(run, partial(RunSpending.of_run, run, self._store))
            suites[run.suite].append(spent)
            rows.append({"run": run.id, **spent.row()})
        whole = RunSpending.total(chain.from_iterable(suites.values()))
        paid, saved = numbers.format_usd(whole.paid, unknown=bool(whole.n_unknown)), whole.saved
        count = format_count(len(runs), "run")
        text = f"Paid {paid} in the last {count}; the cache saved {numbers.format_usd(saved)}."
        if whole.n_unknown:
            text += f" {format_count(whole.n_unknown, 'run')} had calls of unknown price."
        totals = {name: RunSpending.total(own) for name, own in suites.items()}
        by_suite = [
            {"suite": name, "runs": f"{len(suites[name]):,}", **total.row()}
            for name, total in totals.items()
        ]
        return Document(
            "Cost",
            Conclusion(text if runs else "No run has ended yet."),
            not_empty((listing_table(by_suite, "By suite"), listing_table(rows, "By run"))),
            lambda: {name: total.to_json() for name, total in totals.items()},
        )


class RunSpending(Record):
    """What was paid in US dollars, as far as known, and what cached replies saved."""

    answers: float = 0.0
    judges: float = 0.0
    embeddings: float = 0.0
    replaced: float = 0.0
    """For answers and judgments that others took the place of since."""

    saved: float = 0.0
    n_unknown: int = 0
    """Runs that had calls of unknown price."""

    @classmethod
    def of_run(cls, run: RunInfo, store: RunStore) -> RunSpending:
        summary = Run(run, store).summary()
        money = [variant.money for variant in summary.variants]
        return cls(
            answers=fsum(one.targets_usd for one in money),
            judges=fsum(one.judges_usd for one in money),
            embeddings=fsum(one.checks_usd for one in money),
            replaced=summary.replaced_usd,
            saved=fsum(one.saved_usd for one in money),
            n_unknown=any(one.n_unreported or not one.is_complete for one in money),
        )

    @classmethod
    def total(cls, parts: Iterable[RunSpending]) -> RunSpending:
        """What several runs cost together."""
        every = [*parts]
        return cls(**{name: sum(getattr(one, name) for one in every) for name in cls.model_fields})

    @property
    def paid(self) -> float:
        return self.answers + self.judges + self.embeddings + self.replaced

    def row(self) -> dict[str, str]:
        """The amounts by the heads of their columns; one of unknown price is never shown as $0."""
        texts = {name: numbers.format_paid(getattr(self, name)) for name in _PAID_FOR}
        paid = numbers.format_usd(self.paid, unknown=bool(self.n_unknown))
        return {**texts, "paid": paid, "saved by the cache": numbers.format_usd(self.saved)}


def _applied_maps(use: CalibrationInUse) -> tuple[Block, ...]:
    lines = () if use.calibration is None else map_summary_lines(use.calibration)
    return (
        Notes(tuple(lines), "What each map does"),
        Notes(() if use.state == "calibrated" else (_CALIBRATE,)),
    )
