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

    from judgekit.evaluation import RunSummary
    from judgekit.records import RunInfo
    from judgekit.store import RunStore

_KIND = "spending"


class Spending(Record):
    """What was paid in US dollars, as far as known, and what cached replies saved."""

    answers: float = 0.0
    judges: float = 0.0
    embeddings: float = 0.0
    replaced: float = 0.0
    """For answers and judgments that others took the place of since."""

    saved: float = 0.0
    is_known: bool = True
    """Whether everything that was paid has a known price."""

    models: tuple[str, ...] = ()

    @property
    def paid(self) -> float:
        """All that was paid."""
        return fsum((self.answers, self.judges, self.embeddings, self.replaced))

    def cells(self) -> tuple[str, ...]:
        """The amounts as texts; one of unknown price is never shown as $0."""
        parts = (self.answers, self.judges, self.embeddings, self.replaced)
        return (
            *(numbers.format_usd(amount) if amount else numbers.DASH for amount in parts),
            numbers.format_usd(self.paid, unknown=not self.is_known),
            numbers.format_usd(self.saved),
        )


def spending_of(summary: RunSummary) -> Spending:
    """What a run cost."""
    money = [variant.money for variant in summary.variants]
    return Spending(
        answers=fsum(one.targets_usd for one in money),
        judges=fsum(one.judges_usd for one in money),
        embeddings=fsum(one.checks_usd for one in money),
        replaced=summary.replaced_usd,
        saved=fsum(one.saved_usd for one in money),
        is_known=all(one.is_complete and not one.n_unreported for one in money),
        models=summary.models,
    )


def _read_spending(run: RunInfo, store: RunStore) -> Spending:
    return spending_of(Run(run, store).summary())


def total_spending(parts: Sequence[Spending]) -> Spending:
    """What some runs cost together."""
    amounts = ("answers", "judges", "embeddings", "replaced", "saved")
    return Spending(
        **{name: fsum(getattr(one, name) for one in parts) for name in amounts},
        is_known=all(one.is_known for one in parts),
    )


def cost_document(store: RunStore, runs: Sequence[RunInfo]) -> Document:
    """What some runs cost, by suite and by run."""
    suites: dict[str, list[Spending]] = defaultdict(list)
    every: list[tuple[RunInfo, Spending]] = []
    # Costs follow from all answers of a run: they are worked out once and stored with it.
    stored = {name: StoredRecords(store, name, _KIND, Spending) for name in {r.suite for r in runs}}
    for run in runs:
        spent = stored[run.suite].of(run, partial(_read_spending, run, store))
        suites[run.suite].append(spent)
        every.append((run, spent))
    whole = total_spending([spent for _, spent in every])
    amounts = ("answers", "judges", "embeddings", "replaced", "paid", "saved by the cache")
    columns = tuple(map(Column, amounts))
    by_suite = tuple(
        (name, f"{len(spent):,}", *total_spending(spent).cells()) for name, spent in suites.items()
    )
    by_run: tuple[tuple[str | Cell, ...], ...] = tuple(
        (
            Cell(run.id, link=page_path("runs", run.id)),
            ", ".join(spent.models) or numbers.DASH,
            *spent.cells(),
        )
        for run, spent in every
    )
    return Document(
        "Cost",
        _conclusion(whole, every),
        not_empty((
            Table((Column("suite", "text"), Column("runs"), *columns), by_suite, "By suite"),
            Table((Column("run", "id"), Column("models", "text"), *columns), by_run, "By run"),
        )),
        lambda: {run.id: spent.to_json() for run, spent in every},
    )  # fmt: skip


def _conclusion(whole: Spending, every: Sequence[tuple[RunInfo, Spending]]) -> Conclusion:
    if not every:
        return Conclusion("No run has ended yet.")
    n_unknown = sum(not spent.is_known for _, spent in every)
    paid = numbers.format_usd(whole.paid, unknown=bool(n_unknown))
    text = f"Paid {paid} in the last {format_count(len(every), 'run')}; "
    text += f"the cache saved {numbers.format_usd(whole.saved)}."
    if n_unknown:
        text += f" {format_count(n_unknown, 'run')} had calls of unknown price."
    return Conclusion(text)
