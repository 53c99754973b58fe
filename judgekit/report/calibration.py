"""The tables and lines of a calibration, rounded and ready to be rendered.

`calibration_page` renders them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.numbers import format_decimal, format_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.calibration import (
        CalibrationReport,
        CorrectedFigure,
        CriterionCalibration,
        Disagreement,
        Review,
        StandInAnswer,
        Steadiness,
    )
    from judgekit.stats.estimate import Estimate


@dataclass(frozen=True, slots=True)
class FigureTable:
    """Rows below named columns; the first column is text, the others are numbers."""

    title: str
    """What it shows."""

    columns: tuple[str, ...]
    """Heads of the columns."""

    rows: tuple[tuple[str, ...], ...]
    """Cells."""

    notes: tuple[str, ...] = ()
    """What stands below."""


@dataclass(frozen=True, slots=True)
class LabelledLines:
    """Plain lines, each with a word before it."""

    title: str
    """What they are about; empty for none."""

    rows: tuple[tuple[str, str], ...]
    """A word, and the rest of the line."""


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """Everything a person reads of a calibration, in order."""

    title: str
    """What was calibrated."""

    blocks: tuple[FigureTable | LabelledLines, ...]
    """Tables and lines."""

    conclusion: str
    """Whether the judge may stand in for a person, in one line."""


def calibration_view(report: CalibrationReport, *, full: bool = False) -> CalibrationView:
    """A calibration in words."""
    parts = shown_criteria(report)
    blocks: list[FigureTable | LabelledLines] = [
        _overview_lines(report),
        _agreement_table(parts),
        _annotator_agreement_table(parts),
    ]
    if report.kind == "pairwise":
        blocks += [_order_table(parts)]
    else:
        blocks += [_pass_agreement_table(parts)]
    blocks += [_rank_agreement_table(parts)]
    own = [part for part in parts if part.name != _ALL_CRITERIA or full]
    blocks += [_correction_table(parts), _confidence_lines(own), _substitution_lines(own)]
    blocks += _segment_tables(parts, _correctness_words(report), full=full)
    if full:
        blocks += [_annotator_table(report.pooled), *_confusion_tables(report)]
    choices = _PREFERENCE_WORDS if report.kind == "pairwise" else None
    blocks += [_disagreement_lines(parts, full=full, choices=choices), _next_label_lines(report)]
    kept = tuple(block for block in blocks if block.rows)
    return CalibrationView(_title(report), kept, _calibration_conclusion(report))


def _calibration_conclusion(report: CalibrationReport) -> str:
    """Whether the judge may stand in for a person, in one line."""
    found = report.stand_in
    asked = "May this judge stand in for a person?"
    if len(report.criteria) > 1:  # the reason names the answer of each
        return f"{asked} {found.reason[:1].upper()}{found.reason[1:]}"
    return f"{asked} {_SUBSTITUTION_WORDS[found.answer].capitalize()}: {found.reason}"


def shown_criteria(report: CalibrationReport) -> list[CriterionCalibration]:
    """The criteria, and after several of them what they come to together."""
    parts = list(report.criteria.values())
    for extra in (report.pooled, report.overall):
        if extra not in parts:
            parts.append(extra)
    return parts


def _title(report: CalibrationReport) -> str:
    joined = report.joined
    what = report.rubric or ("comparisons" if report.kind == "pairwise" else "scores")
    annotators = numbers.format_count(len(joined.annotators), "annotator")
    return f"{message.printable(what)}: {numbers.format_count(joined.n_joined, 'label')} of {annotators}"  # noqa: E501


_PREFERENCE_WORDS = {1.0: "a", 0.5: "tie", 0.0: "b"}
"""What a choice between two outputs is called, by how far it prefers a."""

_SUBSTITUTION_WORDS: dict[StandInAnswer, str] = {"yes": "yes", "no": "no", "open": "cannot be said"}
"""What an answer is called."""

_ALL_CRITERIA, _WHOLE_OUTPUT = "all criteria", "whole"
"""Names of what sums up."""

_RIGHT = {
    "pass": "right: it passes what people pass",
    "exact": "right: it gives people's score",
    "within_one": "right: it is one level from people's score at most",
}

_MOST_ROWS = 24

_MOST_LEVELS = 12


def _agreement_table(parts: Sequence[CriterionCalibration]) -> FigureTable:
    """How far judge and people agree: kappa, or concordance where the scale has no levels."""
    rows = []
    for part in parts:
        found = part.agreement
        kappa = found.kappa_quadratic
        text = numbers.format_mean(kappa) if not isnan(kappa.value) else _ccc(found.ccc)
        same = numbers.format_rate(found.exact) if part.confusion is not None else numbers.DASH
        rows.append(
            (part.name, f"{part.n:,}", text, same, numbers.format_difference(part.leniency.bias))
        )
    notes = []
    if any(row[2].endswith(" c") for row in rows):
        notes.append("c: concordance, where the scale has no levels")
    silent = sum(part.n_judge_missing for part in parts[:1])
    if silent:
        notes.append(
            f"the judge gave nothing usable on {numbers.format_count(silent, 'labelled item')}"
        )
    return FigureTable(
        "Judge and people",
        ("", "n", _head("kappa", parts), "same score", "judge - people"),
        tuple(rows),
        tuple(notes),
    )


def _head(what: str, parts: Sequence[CriterionCalibration]) -> str:
    """The head of a column whose intervals have the level that was asked for."""
    return f"{what}, {parts[0].agreement.exact.level * 100:g} %"


def _ccc(found: Estimate) -> str:
    text = numbers.format_mean(found)
    return text if text == numbers.DASH else f"{text} c"


def _annotator_agreement_table(parts: Sequence[CriterionCalibration]) -> FigureTable:
    """People with one another, and the judge with the same people."""
    rows = [
        (
            part.name,
            f"{part.people.n_annotators:,}",
            numbers.format_mean(part.people.alpha),
            *_exactly(part),
        )
        for part in parts
        if part.people.n_doubly
    ]
    return FigureTable(
        "People with one another, and the judge with the same people",
        ("", "people", _head("alpha", parts), "person", "judge", "gap"),
        tuple(rows),
        ("person, judge: how often each gives the score of another person",),
    )


def _exactly(part: CriterionCalibration) -> tuple[str, str, str]:
    """Exact agreement; on a scale without levels nobody agrees exactly."""
    if part.confusion is None:
        return numbers.DASH, numbers.DASH, numbers.DASH
    found = part.people
    return (
        format_share(found.human),
        format_share(found.judge),
        numbers.format_difference(found.gap),
    )


def _pass_agreement_table(parts: Sequence[CriterionCalibration]) -> FigureTable:
    """How far judge and people agree on what passes."""
    rows = []
    for part in parts:
        found = part.pass_fail
        if found is None:
            continue
        passes = f"{format_share(found.judge_rate.value)} / {format_share(found.human_rate.value)}"
        rows.append((
            part.name, numbers.format_rate(found.accuracy), numbers.format_mean(found.kappa),
            format_share(found.tpr.value), format_share(found.tnr.value), passes,
        ))  # fmt: skip
    return FigureTable(
        "Pass or fail",
        ("", "as people", _head("kappa", parts), "TPR", "TNR", "judge / people"),
        tuple(rows),
    )


def _order_table(parts: Sequence[CriterionCalibration]) -> FigureTable:
    """What a judge of two outputs says in each order."""
    rows = []
    for part in parts:
        found = part.orders
        if found is None:
            continue
        rows.append((
            part.name, numbers.format_rate(found.accuracy_ab), numbers.format_rate(found.accuracy_ba),  # noqa: E501
            numbers.format_rate(found.swap_accuracy), numbers.format_rate(found.position_conflict),
            format_share(found.first_shown.value),
        ))  # fmt: skip
    return FigureTable(
        "Two orders",
        ("", "right, A first", "B first", "both (swap)", "contradicts", "first"),
        tuple(rows),
        ("an answer that is not usable is counted as wrong here",) if rows else (),
    )


def _rank_agreement_table(parts: Sequence[CriterionCalibration]) -> FigureTable:
    """Whether the judge ranks as people do: all outputs, those of one case, and the variants."""
    rows = []
    for part in parts:
        found = {grouping.kind: grouping for grouping in part.groupings}
        if not {"case", "variant"} & found.keys():
            continue
        within = (
            numbers.format_mean(found["case"].within["spearman"])
            if "case" in found
            else numbers.DASH
        )
        between = numbers.DASH
        if "variant" in found:
            between = numbers.format_mean(found["variant"].between["spearman"])
        rows.append((part.name, numbers.format_mean(part.agreement.spearman), within, between))
    return FigureTable(
        "Ranking (Spearman)", ("", "all outputs", "within a case", "the variants"), tuple(rows)
    )


def _correction_table(parts: Sequence[CriterionCalibration]) -> FigureTable:
    """The judge's rate over all it judged, and what labels make of it."""
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    for part in parts:
        found = part.corrected_rate or part.corrected_mean
        if not found.n_unlabelled:
            continue
        saved = found.n_labels_saved
        rows.append((
            part.name, numbers.format_rate(found.raw), numbers.format_rate(found.corrected),
            numbers.format_rate(found.labels_only), numbers.DASH if isnan(saved) else f"{saved:,.0f}",  # noqa: E501
        ))  # fmt: skip
        notes += _correction_notes(part.name, found)
    return FigureTable(
        "Pass rate over all that was judged"
        if parts[0].threshold is not None
        else "How often A wins",
        ("", "judge alone", "corrected", "labels alone", "labels saved"),
        tuple(rows),
        tuple(dict.fromkeys(notes)),
    )


def _correction_notes(name: str, found: CorrectedFigure) -> Iterable[str]:
    if isnan(found.corrected.value):
        yield f"{name}: not corrected: {found.corrected.reason}"
    yield from found.warnings


def _correctness_words(report: CalibrationReport) -> str:
    """When the judge counts as right, in words."""
    if report.kind == "pairwise":
        return "right: it names the winner that people name"
    return _RIGHT[report.options.right]


def _segment_tables(
    parts: Sequence[CriterionCalibration], right: str, *, full: bool
) -> list[FigureTable | LabelledLines]:
    """The figures of groups."""
    tables: list[FigureTable | LabelledLines] = []
    for part in parts if full else parts[-1:]:
        rows = [
            (
                f"{segment.kind} {segment.name}",
                f"{segment.n:,}",
                numbers.format_rate(segment.right),
                numbers.format_mean(segment.kappa),
                numbers.format_difference(segment.bias),
            )
            for segment in part.segments
        ]
        shown = rows if full else rows[:_MOST_ROWS]
        n_more = len(rows) - len(shown)
        title = "By segment" if len(parts) == 1 else f"By segment: {part.name}"
        columns = ("", "n", "right", _head("kappa", parts), "judge - people")
        notes = (*((f"… and {n_more:,} more with -v",) if n_more else ()), right)
        tables.append(FigureTable(title, columns, tuple(shown), notes))
    return tables


def _annotator_table(part: CriterionCalibration) -> FigureTable:
    """Each annotator and the judge."""
    rows = tuple(
        (
            each.name,
            f"{each.n:,}",
            format_decimal(each.mean),
            numbers.format_mean(each.kappa),
            numbers.format_difference(each.bias),
        )
        for each in part.people.annotators
    )
    return FigureTable(
        "Each annotator and the judge",
        ("", "n", "mean", _head("kappa", [part]), "judge - person"),
        rows,
    )


def _confusion_tables(report: CalibrationReport) -> list[FigureTable | LabelledLines]:
    """People's labels against the judge's scores."""
    tables: list[FigureTable | LabelledLines] = []
    for part in report.criteria.values() or [report.overall]:
        found = part.confusion
        if found is None or len(found.levels) > _MOST_LEVELS:
            continue
        names = _PREFERENCE_WORDS if report.kind == "pairwise" else part.categories
        heads = [message.printable(names.get(level, f"{level:g}"), 20) for level in found.levels]
        rows = tuple(
            (f"people {head}", *(f"{n:,}" for n in counts), f"{silent:,}")
            for head, counts, silent in zip(heads, found.counts, found.unusable, strict=True)
        )
        title = f"{part.name}: rows people, columns judge"
        tables.append(FigureTable(title, ("", *heads, "none"), rows))
    return tables


_WHY = 160

_WORST, _FEW = 3, 4


def _overview_lines(report: CalibrationReport) -> LabelledLines:
    """Who judged, and how labels and judgments came together."""
    joined = report.joined
    rows = [("judge", message.printable(judge)) for judge in report.judges]
    rows += [("from", _origin(report))] if report.origin else []
    labels = [f"{joined.n_joined:,} of {joined.n_labels:,} joined"]
    labels += [f"{joined.n_missing:,} without a score"] if joined.n_missing else []
    labels += [f"{joined.n_left_out:,} of other annotators"] if joined.n_left_out else []
    if joined.n_not_judged:
        labels.append(f"{joined.n_not_judged:,} of outputs nobody judged")
    rows.append(("labels", ", ".join(labels)))
    if joined.not_judged:
        rows.append(("", _named("not judged", joined.not_judged, joined.n_not_judged)))
    kind = "pair" if report.kind == "pairwise" else "output"
    judged = (
        f"{numbers.format_count(joined.n_judged, kind)}, {joined.n_not_labelled:,} without a label"
    )
    rows.append(("judged", judged))
    if joined.n_judge_failures:
        words = [f"{message.FAILURE_WORDS.get(k, k)} ({n:,})" for k, n in joined.failures.items()]
        n = numbers.format_count(joined.n_judge_failures, "answer")
        rows.append(
            ("failed", f"{n} not usable, left out and not counted as 0: {', '.join(words)}")
        )
    if joined.n_errors:
        rows.append(
            (
                "errors",
                f"{numbers.format_count(joined.n_errors, kind)} without an output; not judged",
            )
        )
    rows += [("assumed", note) for note in report.notes]
    return LabelledLines("", tuple(rows))


def _origin(report: CalibrationReport) -> str:
    return ", ".join(f"{name} {message.printable(str(v))}" for name, v in report.origin.items())


def _named(what: str, some: Sequence[str], n: int) -> str:
    names = ", ".join(message.printable(name, 40) for name in some)
    return f"{what}: {names}{', …' if n > len(some) else ''}"


def _confidence_lines(parts: Sequence[CriterionCalibration]) -> LabelledLines:
    """What confidence is worth, what needs no review, what more labels would bring."""
    rows: list[tuple[str, str]] = []
    silent = {part.why_no_trust for part in parts if part.trust is None}
    shared = silent.pop() if len(silent) == 1 and len(parts) > 1 else None
    for part in parts:
        told = _criterion_confidence_lines(part)
        rows += [(part.name, text) for text in told if text != shared]
    if shared:
        names = [part.name for part in parts if part.trust is None]
        who = "everything" if len(names) == len(parts) else ", ".join(names)
        rows.append((who, shared))
    return LabelledLines("Confidence, review and further labels", tuple(_name_once(rows)))


def _criterion_confidence_lines(part: CriterionCalibration) -> list[str]:
    """What the judge's confidence is worth, what needs no review, what more labels would bring."""
    lines = []
    found = part.trust
    if found is None:
        lines.append(part.why_no_trust or "")
    else:
        before, gap = found.before, found.before.ece
        after = "" if found.after is None else f", {found.after.ece.value:.2f} recalibrated"
        lines.append(
            f"{format_share(found.mean_confidence)} sure on average, right "
            f"{numbers.format_rate(found.accuracy)}"
        )
        lines.append(
            f"calibration error {gap.value:.2f}{after}; a perfect confidence would show "
            f"{gap.expected:.2f} by chance (p {gap.p_value:.2g})"
        )
        lines.append(
            f"tells right from wrong: AUROC {numbers.format_mean(before.auroc)} (0.5 is chance)"
        )
        lines.append(_review(found.review))
    if part.steadiness is not None:
        lines.append(_repeat_lines(part.steadiness))
    mapped = part.recalibration
    if mapped is not None:
        lines.append(
            f"off by {mapped.mae_before:.2f} on average; {mapped.mae_after:.2f} after a map "
            f"({mapped.kind}, cross-fitted)"
        )
    if part.budget.n_more:
        points = f"{part.budget.half_width * 100:g} points"
        alone = f", {part.budget.n_needed_alone:,} without the judge"
        lines.append(
            f"a rate within {points} takes {numbers.format_count(part.budget.n_more, 'more label')} "  # noqa: E501
            f"({part.budget.n_needed:,} in all{alone})"
        )
    return lines


def _repeat_lines(found: Steadiness) -> str:
    same = (
        f"{numbers.format_rate(found.all_equal)} of {numbers.format_count(found.n_items, 'output')}"
    )
    spread = (
        "" if isnan(found.within_sd) else f"; its answers to one spread by {found.within_sd:.2f}"
    )
    return f"asked again, it gives the same score on {same}{spread}"


def _review(found: Review) -> str:
    limit = f"{found.max_error * 100:g} %"
    if isnan(found.threshold):
        return f"review everything: {found.reason}"
    return (
        f"auto-accept {found.coverage * 100:.0f} % at {limit} error or less: from a confidence of "
        f"{found.threshold:.2f} on {found.error * 100:.1f} % are wrong, at most "
        f"{found.error_high * 100:.1f} % with {(1 - found.delta) * 100:g} % certainty"
    )


def _name_once(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The name of a part before its first line only."""
    found: list[tuple[str, str]] = []
    last = ""
    for name, text in rows:
        found.append(("" if name == last else name, text))
        last = name
    return found


def _substitution_lines(parts: Sequence[CriterionCalibration]) -> LabelledLines:
    """Whether the judge may stand in for a person, part by part."""
    rows = tuple(
        (part.name, f"{_SUBSTITUTION_WORDS[part.stand_in.answer]}: {part.stand_in.reason}")
        for part in parts
    )
    return LabelledLines("May it stand in for a person?", rows if len(rows) > 1 else ())


def _disagreement_lines(
    parts: Sequence[CriterionCalibration],
    *,
    full: bool,
    choices: Mapping[float, str] | None = None,
) -> LabelledLines:
    """Where judge and people part most, with the reasons of both."""
    rows: list[tuple[str, str]] = []
    own = [part for part in parts if part.name not in (_ALL_CRITERIA, _WHOLE_OUTPUT)] or parts
    most = _WORST if len(own) < _FEW else 1
    for part in own:
        for each in part.disagreements if full else part.disagreements[:most]:
            rows += _disagreement_line(each, part.name, choices or part.categories, full=full)
    return LabelledLines("Where they part most", tuple(rows))


def _disagreement_line(
    each: Disagreement, name: str, names: Mapping[float, str], *, full: bool
) -> list[tuple[str, str]]:
    where = message.printable(each.case_id, 40)
    where += f" {message.printable(each.variant, 40)}" if each.variant else ""
    judge, people = (_score(score, names) for score in (each.judge, each.human))
    head = f"{name}: judge {judge}, people {people}"
    rows = [(where, head)]
    limit = None if full else _WHY
    if each.rationale:
        rows.append(("", f"judge: {message.printable(each.rationale, limit)}"))
    for who, reason in list(each.reasons.items())[: None if full else 1]:
        rows.append(("", f"{message.printable(who, 30)}: {message.printable(reason, limit)}"))
    return rows


def _score(score: float, names: Mapping[float, str]) -> str:
    return message.printable(names.get(score) or f"{score:.3g}", 40)


def _next_label_lines(report: CalibrationReport) -> LabelledLines:
    """The items that a label would help most with."""
    rows = []
    for each in report.suggestions:
        where = f"{each.case_id} {each.variant or ''}".strip()
        about = f"{each.criterion}: " if each.criterion else ""
        rows.append((message.printable(where, 40), message.printable(f"{about}{each.why}")))
    title = "Labels that would help most (chosen, so no random subset)"
    return LabelledLines(title, tuple(rows))
