"""The report on the labels of several annotators: how far they agree, and where they do not."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import (
    Cell,
    Column,
    Conclusion,
    Document,
    Entries,
    Entry,
    Notes,
    Table,
    mean_cell,
    not_empty,
    rate_cell,
)

if TYPE_CHECKING:
    from judgekit.calibration import AnnotatorAgreement, Conflict, LabelKey, MergedLabels
    from judgekit.records import Label

# Krippendorff (2018): below .667 no conclusions are drawn from labels, not even tentative ones.
_CLEAR = 2 / 3


def agreement_document(merged: MergedLabels) -> Document:
    """How far annotators agree, with every conflict and its comments."""
    return Document(
        "Agreement of annotators",
        _conclusion(merged),
        not_empty(
            [
                _agreement_table(merged),
                *map(_confusion_table, (one for one in merged.agreement if one.counts)),
                Entries(tuple(map(_conflict_entry, merged.conflicts)), "Conflicts"),
                Entries(tuple(map(_replaced_entry, merged.replaced)), "Replaced by a later answer"),
                Notes(tuple(_notes(merged)), "Further"),
            ]
        ),
        merged.to_json,
    )


def _conclusion(merged: MergedLabels) -> Conclusion:
    doubly = [one for one in merged.agreement if one.n_doubly]
    if not doubly:
        return Conclusion("No item was labelled by two annotators: agreement is unknown.")
    unclear = [one for one in doubly if one.alpha.value < _CLEAR]
    n = numbers.format_count(len(merged.conflicts), "conflict")
    if unclear:
        words = ", ".join(
            f"{message.printable(one.name)} (alpha {numbers.format_mean(one.alpha)})"
            for one in unclear
        )
        return Conclusion(f"Annotators do not agree well on {words}; {n}.", "inconclusive")
    if any(isnan(one.alpha.value) for one in doubly):
        return Conclusion(f"Agreement is not defined for every criterion; {n}.", "inconclusive")
    return Conclusion(f"Annotators agree on every criterion; {n}.", "pass")


def _agreement_table(merged: MergedLabels) -> Table:
    columns = ("items", "by two or more", "alpha", "kappa", "equal answers")
    rows = tuple(
        (
            message.printable(one.name),
            f"{one.n_items:,}",
            f"{one.n_doubly:,}",
            mean_cell(one.alpha),
            mean_cell(one.kappa),
            rate_cell(one.exact) if one.n_doubly else Cell(numbers.DASH),
        )
        for one in merged.agreement
    )
    note = (
        "alpha (Krippendorff) and kappa are corrected for chance: 1 is perfect agreement, 0 is "
        "chance. From alpha .8 labels are reliable; below .667 the criterion is unclear."
    )
    head = (Column("criterion", "text", max_width=26), *map(Column, columns))
    return Table(head, rows, "Agreement by criterion", (note,))


def _confusion_table(one: AnnotatorAgreement) -> Table:
    head = (Column("first \u2193 second \u2192", "text"), *map(Column, one.level_names))
    rows = tuple(
        (name, *map(str, counts)) for name, counts in zip(one.level_names, one.counts, strict=True)
    )
    first, second = one.annotators[:2]
    note = f"Rows: {message.printable(first)}; columns: {message.printable(second)}."
    return Table(head, rows, f"{message.printable(one.name)}: who answered what", (note,))


def _conflict_entry(one: Conflict) -> Entry:
    return Entry(_place(one.key), tuple(map(_line, one.labels)), badge=one.why, tone="inconclusive")


def _replaced_entry(label: Label) -> Entry:
    return Entry(_place(label), (_line(label),))


def _place(key: LabelKey | Label) -> str:
    variant = f" of {message.printable(key.variant)}" if key.variant else ""
    criterion = f", {message.printable(key.criterion)}" if key.criterion else ""
    return message.with_repeat(
        f"{message.printable(key.case_id)}{variant}{criterion}", key.repeat or 0
    )


def _line(label: Label) -> str:
    answer = label.winner if label.raw is None else label.raw
    shown = f"{answer:g}" if isinstance(answer, float) else message.printable(str(answer))
    why = f": {message.printable(label.rationale)}" if label.rationale else ""
    return f"{message.printable(label.annotator or 'unnamed')} {shown}{why}"


def _notes(merged: MergedLabels) -> list[str]:
    found = [
        f"{message.printable(name)} gave the same answer to {same} of {n} items that were shown "
        "again."
        for name, (same, n) in merged.self_agreement.items()
    ]
    if merged.n_missing:
        labels = numbers.format_count(merged.n_missing, "label")
        found.append(f"{labels} without a score: the annotator could not judge.")
    return found
