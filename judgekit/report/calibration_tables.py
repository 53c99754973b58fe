"""The tables of a calibration: agreement, people, what passes, both orders, segments."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import view
from judgekit.report.calibration_blocks import CHOICES, Lines, Table, decimal, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.evaluation.calibrating.correcting import Corrected
    from judgekit.evaluation.calibrating.report import CalibrationReport, CriterionCalibration
    from judgekit.stats.estimate import Estimate

_RIGHT = {
    "pass": "right: it passes what people pass",
    "exact": "right: it gives people's score",
    "within_one": "right: it is one level from people's score at most",
}
_MOST_ROWS = 24
_MOST_LEVELS = 12


def agreement(parts: Sequence[CriterionCalibration]) -> Table:
    """How far judge and people agree: kappa, or concordance where the scale has no levels."""
    rows = []
    for part in parts:
        found = part.agreement
        kappa = found.kappa_quadratic
        text = view.number(kappa) if not isnan(kappa.value) else _ccc(found.ccc)
        same = view.rate(found.exact) if part.confusion is not None else view.DASH
        rows.append((part.name, f"{part.n:,}", text, same, view.signed(part.leniency.bias)))
    notes = []
    if any(row[2].endswith(" c") for row in rows):
        notes.append("c: concordance, where the scale has no levels")
    silent = sum(part.n_judge_missing for part in parts[:1])
    if silent:
        notes.append(f"the judge gave nothing usable on {view.count(silent, 'labelled item')}")
    return Table(
        "Judge and people",
        ("", "n", _head("kappa", parts), "same score", "judge - people"),
        tuple(rows),
        tuple(notes),
    )


def _head(what: str, parts: Sequence[CriterionCalibration]) -> str:
    """The head of a column whose intervals have the level that was asked for."""
    return f"{what}, {parts[0].agreement.exact.level * 100:g} %"


def _ccc(found: Estimate) -> str:
    text = view.number(found)
    return text if text == view.DASH else f"{text} c"


def people(parts: Sequence[CriterionCalibration]) -> Table:
    """People with one another, and the judge with the same people."""
    rows = [
        (
            part.name,
            f"{part.people.n_annotators:,}",
            view.number(part.people.alpha),
            *_exactly(part),
        )
        for part in parts
        if part.people.n_doubly
    ]
    return Table(
        "People with one another, and the judge with the same people",
        ("", "people", _head("alpha", parts), "person", "judge", "gap"),
        tuple(rows),
        ("person, judge: how often each gives the score of another person",),
    )


def _exactly(part: CriterionCalibration) -> tuple[str, str, str]:
    """Exact agreement; on a scale without levels nobody agrees exactly."""
    if part.confusion is None:
        return view.DASH, view.DASH, view.DASH
    found = part.people
    return percent(found.human), percent(found.judge), view.signed(found.gap)


def passing(parts: Sequence[CriterionCalibration]) -> Table:
    """How far judge and people agree on what passes."""
    rows = []
    for part in parts:
        found = part.pass_fail
        if found is None:
            continue
        passes = f"{percent(found.judge_rate.value)} / {percent(found.human_rate.value)}"
        rows.append((
            part.name, view.rate(found.accuracy), view.number(found.kappa),
            percent(found.tpr.value), percent(found.tnr.value), passes,
        ))  # fmt: skip
    return Table(
        "Pass or fail",
        ("", "as people", _head("kappa", parts), "TPR", "TNR", "judge / people"),
        tuple(rows),
    )


def orders(parts: Sequence[CriterionCalibration]) -> Table:
    """What a judge of two outputs says in each order."""
    rows = []
    for part in parts:
        found = part.orders
        if found is None:
            continue
        rows.append((
            part.name, view.rate(found.accuracy_ab), view.rate(found.accuracy_ba),
            view.rate(found.swap_accuracy), view.rate(found.position_conflict),
            percent(found.first_shown.value),
        ))  # fmt: skip
    return Table(
        "Two orders",
        ("", "right, A first", "B first", "both (swap)", "contradicts", "first"),
        tuple(rows),
        ("an answer that is not usable is counted as wrong here",) if rows else (),
    )


def ranking(parts: Sequence[CriterionCalibration]) -> Table:
    """Whether the judge ranks as people do: all outputs, those of one case, and the variants."""
    rows = []
    for part in parts:
        found = {grouping.kind: grouping for grouping in part.groupings}
        if not {"case", "variant"} & found.keys():
            continue
        within = view.number(found["case"].within["spearman"]) if "case" in found else view.DASH
        between = view.DASH
        if "variant" in found:
            between = view.number(found["variant"].between["spearman"])
        rows.append((part.name, view.number(part.agreement.spearman), within, between))
    return Table(
        "Ranking (Spearman)", ("", "all outputs", "within a case", "the variants"), tuple(rows)
    )


def corrected(parts: Sequence[CriterionCalibration]) -> Table:
    """The judge's rate over all it judged, and what labels make of it."""
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    for part in parts:
        found = part.corrected_rate or part.corrected_mean
        if not found.n_unlabelled:
            continue
        saved = found.n_labels_saved
        rows.append((
            part.name, view.rate(found.raw), view.rate(found.corrected),
            view.rate(found.labels_only), view.DASH if isnan(saved) else f"{saved:,.0f}",
        ))  # fmt: skip
        notes += _corrected_notes(part.name, found)
    return Table(
        "Pass rate over all that was judged"
        if parts[0].threshold is not None
        else "How often A wins",
        ("", "judge alone", "corrected", "labels alone", "labels saved"),
        tuple(rows),
        tuple(dict.fromkeys(notes)),
    )


def _corrected_notes(name: str, found: Corrected) -> Iterable[str]:
    if isnan(found.corrected.value):
        yield f"{name}: not corrected: {found.corrected.reason}"
    yield from found.warnings


def right_words(report: CalibrationReport) -> str:
    """When the judge counts as right, in words."""
    if report.kind == "pairwise":
        return "right: it names the winner that people name"
    return _RIGHT[report.options.right]


def segments(
    parts: Sequence[CriterionCalibration], right: str, *, full: bool
) -> list[Table | Lines]:
    """The figures of groups."""
    tables: list[Table | Lines] = []
    for part in parts if full else parts[-1:]:
        rows = [
            (
                f"{segment.kind} {segment.name}",
                f"{segment.n:,}",
                view.rate(segment.right),
                view.number(segment.kappa),
                view.signed(segment.bias),
            )
            for segment in part.segments
        ]
        shown = rows if full else rows[:_MOST_ROWS]
        n_more = len(rows) - len(shown)
        title = "By segment" if len(parts) == 1 else f"By segment: {part.name}"
        columns = ("", "n", "right", _head("kappa", parts), "judge - people")
        notes = (*((f"… and {n_more:,} more with -v",) if n_more else ()), right)
        tables.append(Table(title, columns, tuple(shown), notes))
    return tables


def annotators(part: CriterionCalibration) -> Table:
    """Each annotator and the judge."""
    rows = tuple(
        (
            each.name,
            f"{each.n:,}",
            decimal(each.mean),
            view.number(each.kappa),
            view.signed(each.bias),
        )
        for each in part.people.annotators
    )
    return Table(
        "Each annotator and the judge",
        ("", "n", "mean", _head("kappa", [part]), "judge - person"),
        rows,
    )


def confusions(report: CalibrationReport) -> list[Table | Lines]:
    """People's labels against the judge's scores."""
    tables: list[Table | Lines] = []
    for part in report.criteria.values() or [report.overall]:
        found = part.confusion
        if found is None or len(found.levels) > _MOST_LEVELS:
            continue
        names = CHOICES if report.kind == "pairwise" else part.categories
        heads = [view.printable(names.get(level, f"{level:g}"), 20) for level in found.levels]
        rows = tuple(
            (f"people {head}", *(f"{n:,}" for n in counts), f"{silent:,}")
            for head, counts, silent in zip(heads, found.counts, found.unusable, strict=True)
        )
        title = f"{part.name}: rows people, columns judge"
        tables.append(Table(title, ("", *heads, "none"), rows))
    return tables
