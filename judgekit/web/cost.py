"""The document of what runs cost: what was paid, for what, and what the cache saved."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from math import fsum
from typing import TYPE_CHECKING

from judgekit.evaluation import Run, StoredRecords
from judgekit.records import Record
from judgekit.report import (
    Cell,
    Column,
    Conclusion,
    Document,
    Table,
    format_count,
    not_empty,
    numbers,
    page_path,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import RunInfo
    from judgekit.store import RunStore

_KIND = "spending"
_PAID = ("answers", "judges", "embeddings", "replaced")


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

    def cells(self) -> tuple[str, ...]:
        """The amounts as texts; one of unknown price is never shown as $0."""
        parts = [getattr(self, name) for name in _PAID]
        return (
            *(numbers.format_usd(amount) if amount else numbers.DASH for amount in parts),
            numbers.format_usd(fsum(parts), unknown=bool(self.n_unknown)),
            numbers.format_usd(self.saved),
        )


def _spending_of(run: RunInfo, store: RunStore) -> RunSpending:
    summary = Run(run, store).summary()
    money = [variant.money for variant in summary.variants]
    return RunSpending(
        answers=fsum(one.targets_usd for one in money),
        judges=fsum(one.judges_usd for one in money),
        embeddings=fsum(one.checks_usd for one in money),
        replaced=summary.replaced_usd,
        saved=fsum(one.saved_usd for one in money),
        n_unknown=any(one.n_unreported or not one.is_complete for one in money),
    )


def _total(parts: Sequence[RunSpending]) -> RunSpending:
    fields = {name: fsum(getattr(one, name) for one in parts) for name in (*_PAID, "saved")}
    return RunSpending(**fields, n_unknown=sum(one.n_unknown for one in parts))


def cost_document(store: RunStore, runs: Sequence[RunInfo]) -> Document:
    """What some runs cost, by suite and by run."""
    suites: dict[str, list[RunSpending]] = defaultdict(list)
    by_run: list[tuple[str | Cell, ...]] = []
    # Costs follow from all answers of a run: they are worked out once and stored with it.
    stored = {
        name: StoredRecords(store, name, _KIND, RunSpending) for name in {r.suite for r in runs}
    }
    for run in runs:
        spent = stored[run.suite].of(run, partial(_spending_of, run, store))
        suites[run.suite].append(spent)
        by_run.append((Cell(run.id, link=page_path("runs", run.id)), *spent.cells()))
    by_suite = tuple((name, f"{len(own):,}", *_total(own).cells()) for name, own in suites.items())
    whole = _total([one for own in suites.values() for one in own])
    *_, paid, saved = whole.cells()
    text = f"Paid {paid} in the last {format_count(len(runs), 'run')}; the cache saved {saved}."
    if whole.n_unknown:
        text += f" {format_count(whole.n_unknown, 'run')} had calls of unknown price."
    columns = tuple(map(Column, (*_PAID, "paid", "saved by the cache")))
    return Document(
        "Cost",
        Conclusion(text if runs else "No run has ended yet."),
        not_empty((
            Table((Column("suite", "text"), Column("runs"), *columns), by_suite, "By suite"),
            Table((Column("run", "id"), *columns), tuple(by_run), "By run"),
        )),
        lambda: {name: _total(own).to_json() for name, own in suites.items()},
    )  # fmt: skip
