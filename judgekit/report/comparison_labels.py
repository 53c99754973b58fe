"""Adds to the document of a comparison what human labels of some cases make of its result."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING, cast

from judgekit.report import message, numbers
from judgekit.report.comparison import decision_conclusion
from judgekit.report.document import (
    Cell,
    Document,
    LabelledText,
    Lines,
    Table,
    count_lines,
    difference_cell,
    rate_cell,
    text_columns,
)

if TYPE_CHECKING:
    from judgekit.calibration import LabelledComparison


def with_human_labels(document: Document, found: LabelledComparison, a: str, b: str) -> Document:
    """The document of a comparison with the figures that are corrected by human labels."""

    def data() -> dict[str, object]:
        judged = cast("dict[str, object]", document.data())
        fields = asdict(found)
        # What decides is where readers of the JSON look for it; the judge's own is kept beside.
        return judged | {"decision": fields.pop("decision"), "human_labels": fields}

    return replace(
        document,
        conclusion=decision_conclusion(found.decision, a, b),
        blocks=(_figures_table(found), Lines(tuple(_lines(found, a, b))), *document.blocks),
        data=data,
    )


def _figures_table(found: LabelledComparison) -> Table:
    as_cell = difference_cell if found.is_scores else rate_cell
    rows: list[tuple[str | Cell, ...]] = []
    notes: list[str] = []
    overall = {} if found.whole is None else {"overall": found.whole}
    for name, figure in (*overall.items(), *found.criteria.items()):
        cells = map(as_cell, (figure.raw, figure.corrected, figure.labels_only))
        saved = numbers.format_decimal(figure.n_labels_saved, ",.0f")
        rows.append((name, f"{figure.n_labels:,}", *cells, saved))
        if isnan(figure.corrected.value):
            notes.append(f"{name}: not corrected: {figure.corrected.reason}")
        notes += figure.warnings
    measure = "B - A" if found.is_scores else "A's share of wins"
    level = f"{100 * (1 - found.decision.alpha):g} %"
    heads = ("", "labelled", f"judge alone, {level}", "corrected", "labels alone", "labels saved")
    title = f"{measure}, corrected by human labels: the overall figure decides"
    return Table(text_columns(*heads), tuple(rows), title, tuple(dict.fromkeys(notes)))


def _lines(found: LabelledComparison, a: str, b: str) -> list[LabelledText]:
    alone = decision_conclusion(found.judge_decision, a, b).text
    some = ", ".join(message.printable(name, 40) for name in found.not_judged)
    dots = ", …" if found.n_not_judged > len(found.not_judged) else ""
    what = f"of outputs that are not compared: {some}{dots}"
    return [
        ("judge alone", alone),
        *count_lines("left out", found.n_not_judged, "label", what),
        *(("note", note) for note in found.notes),
    ]
