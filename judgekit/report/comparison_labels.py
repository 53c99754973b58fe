"""Adds to the document of a comparison what human labels of some cases make of its result."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, cast

from judgekit.report.calibration import correction_table
from judgekit.report.comparison import decision_conclusion
from judgekit.report.document import (
    Document,
    Lines,
    Section,
    count_lines,
    difference_cell,
    not_empty,
    rate_cell,
    some_names,
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

    overall = {} if found.whole is None else {"overall": found.whole}
    measure = "B - A" if found.is_scores else "A's share of wins"
    table = correction_table(
        overall | dict(found.criteria),
        f"{measure}, corrected by human labels: the overall figure decides",
        level=100 * (1 - found.decision.alpha),
        as_cell=difference_cell if found.is_scores else rate_cell,
    )
    some = some_names(found.not_judged, found.n_not_judged)
    what = f"of outputs that are not compared: {some}"
    lines = count_lines("left out", found.n_not_judged, "label", what)
    lines += [("note", note) for note in found.notes]
    intro = decision_conclusion(found.judge_decision, a, b).text
    alone = Section("The judge alone", document.blocks, intro)
    return replace(
        document,
        conclusion=decision_conclusion(found.decision, a, b),
        blocks=not_empty((table, Lines(tuple(lines)), alone)),
        data=data,
    )
