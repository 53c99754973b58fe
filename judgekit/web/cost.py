"""The document of what runs cost: what was paid, for what, and what the cache saved."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

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
    from collections.abc import Iterable, Sequence

    from judgekit.evaluation import RunSummary


@dataclass(frozen=True, slots=True)
class Spending:
    """What was paid in US dollars, as far as known, and what cached replies saved."""

    answers: float
    judges: float
    embeddings: float
    replaced: float
    """For answers and judgments that others took the place of since."""

    saved: float
    is_known: bool
    """Whether everything that was paid has a known price."""

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


def spending_of(summaries: Iterable[RunSummary]) -> Spending:
    """What some runs cost together."""
    known = list(summaries)
    money = [variant.money for one in known for variant in one.variants]
    return Spending(
        answers=fsum(one.targets_usd for one in money),
        judges=fsum(one.judges_usd for one in money),
        embeddings=fsum(one.checks_usd for one in money),
        replaced=fsum(one.replaced_usd for one in known),
        saved=fsum(one.saved_usd for one in money),
        is_known=all(one.is_complete and not one.n_unreported for one in money),
    )


def cost_document(summaries: Sequence[RunSummary]) -> Document:
    """What some runs cost, by suite and by run."""
    whole = spending_of(summaries)
    suites: dict[str, list[RunSummary]] = defaultdict(list)
    for one in summaries:
        suites[one.run.suite].append(one)
    amounts = ("answers", "judges", "embeddings", "replaced", "paid", "saved by the cache")
    columns = tuple(map(Column, amounts))
    by_suite = tuple(
        (name, f"{len(runs):,}", *spending_of(runs).cells()) for name, runs in suites.items()
    )
    by_run: tuple[tuple[str | Cell, ...], ...] = tuple(
        (
            Cell(one.run.id, link=page_path("runs", one.run.id)),
            ", ".join(one.models) or numbers.DASH,
            *spending_of((one,)).cells(),
        )
        for one in summaries
    )
    n_unknown = sum(not spending_of((one,)).is_known for one in summaries)
    paid = numbers.format_usd(whole.paid, unknown=bool(n_unknown))
    text = f"Paid {paid} in the last {format_count(len(summaries), 'run')}; "
    text += f"the cache saved {numbers.format_usd(whole.saved)}."
    if n_unknown:
        text += f" {format_count(n_unknown, 'run')} had calls of unknown price."
    return Document(
        "Cost",
        Conclusion(text if summaries else "No run has ended yet."),
        not_empty((
            Table((Column("suite", "text"), Column("runs"), *columns), by_suite, "By suite"),
            Table((Column("run", "id"), Column("models", "text"), *columns), by_run, "By run"),
        )),
        lambda: {name: spending_of(runs).paid for name, runs in suites.items()},
    )  # fmt: skip
