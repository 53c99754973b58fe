"""Builds the document of a run: what passes, how variants differ, the gate, what limits it.

The lines come from `run`; single answers are in `answers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import (
    Cell,
    Column,
    Conclusion,
    Document,
    LabelledText,
    Lines,
    Table,
    Tone,
    mean_cell,
    not_empty,
    rate_cell,
)
from judgekit.report.run import gate_lines, run_json, run_notes
from judgekit.report.tables import format_pass_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.evaluation import GateResult, RunSummary
    from judgekit.report.tables import VariantRow

_LABEL_WIDTH = 8

_GATE_TONES: dict[str, Tone] = {
    "passed": "pass",
    "failed": "fail",
    "inconclusive": "inconclusive",
}


def run_document(
    summary: RunSummary,
    gate: GateResult | None = None,
    *,
    unmatched: Mapping[str, Sequence[str]] | None = None,
) -> Document:
    """A run: the pass rate of each variant, their differences, and the gate."""
    n = numbers.format_count(summary.run.n_cases or 0, "case")
    return Document(
        title=f"{message.printable(summary.run.suite)}: {n}",
        conclusion=_conclusion(summary, gate),
        blocks=not_empty([
            variant_table(summary.variants),
            Lines(_labelled([*run_notes(summary), *([] if gate is None else gate_lines(gate))])),
        ]),
        data=lambda: run_json(summary, gate, unmatched=unmatched),
    )  # fmt: skip


def variant_table(variants: Sequence[VariantRow]) -> Table:
    """A row for each variant; in a narrow terminal the criteria move below it."""
    names = list(dict.fromkeys(name for variant in variants for name in variant.criteria))
    rows = tuple(
        (
            variant.variant or numbers.DASH,
            format_pass_count(variant),
            rate_cell(variant.pass_rate),
            mean_cell(variant.value),
            *(_criterion_cell(variant, name) for name in names),
        )
        for variant in variants
    )
    columns = (
        Column("variant", "text", max_width=30),
        *map(Column, ("passed", "rate, 95 %", "value, 95 %")),
        *(Column(name, may_move=True) for name in names),
    )
    return Table(columns, rows)


def _criterion_cell(variant: VariantRow, name: str) -> str | Cell:
    found = variant.criteria.get(name)
    return numbers.DASH if found is None else mean_cell(found)


def _conclusion(summary: RunSummary, gate: GateResult | None) -> Conclusion:
    """The gate's answer where there is a gate, else how many answers pass."""
    parts = [
        f"{message.printable(one.variant) or 'all'} passed {format_pass_count(one)}"
        for one in summary.variants
    ]
    text = "; ".join(parts) or "No answers."
    if gate is not None:
        words = {"passed": "Gate passed", "failed": "Gate failed"}.get(gate.held, "Gate undecided")
        return Conclusion(f"{words}. {text}", _GATE_TONES.get(gate.held, "inconclusive"))
    # Without a gate nothing says what is good enough: a pass rate alone is no verdict.
    has_unknown = any(one.n_undecided for one in summary.variants)
    return Conclusion(text, "inconclusive" if has_unknown else "neutral")


def _labelled(lines: Iterable[str]) -> tuple[LabelledText, ...]:
    """The lines of `run`, which begin with a label of a fixed width, in two parts."""
    return tuple((line[:_LABEL_WIDTH].strip(), line[_LABEL_WIDTH:]) for line in lines)
