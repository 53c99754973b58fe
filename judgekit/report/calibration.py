"""Builds the document of a calibration: agreement, correction, confidence, disagreements.

A comparison with human labels has its corrected figures from here too.

The plots are in `calibration_plots`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from math import ceil, isnan
from typing import TYPE_CHECKING, cast

from judgekit.records import free_name
from judgekit.report import message, numbers
from judgekit.report.calibration_plots import calibration_plots
from judgekit.report.comparison import decision_conclusion
from judgekit.report.document import (
    Block,
    CaseTable,
    Cell,
    Column,
    Conclusion,
    Details,
    Document,
    Entries,
    Entry,
    Lines,
    Section,
    Table,
    Tone,
    count_lines,
    difference_cell,
    label_once,
    mean_cell,
    not_empty,
    rate_cell,
    some_names,
    table_of,
    text_columns,
)
from judgekit.report.item_cases import KnownAnswers, calibration_cases
from judgekit.report.numbers import difference_unit, format_decimal, format_share
from judgekit.report.segments import fold_segments

if TYPE_CHECKING:
    from judgekit.calibration import (
        CalibrationReport,
        CorrectedFigure,
        CriterionCalibration,
        Disagreement,
        LabelBudget,
        LabelledComparison,
        Review,
        Segment,
        StandInAnswer,
        Trust,
    )
    from judgekit.stats.estimate import Estimate


def calibration_document(
    report: CalibrationReport, answers: KnownAnswers | None = None
) -> Document:
    """A calibration: whether the judge can be relied on, and every figure behind the answer."""
    # With `answers`, the outputs as far as they are known, a page has all labelled items.
    parts = _shown_criteria(report)
    own = [part for part in parts if part.name != free_name(_ALL_CRITERIA, report.criteria)]
    is_pairwise = report.kind == "pairwise"
    choices = _PREFERENCE_WORDS if is_pairwise else None
    # Categories do not pass, and none is near another one.
    by_label = "exact" if report.options.categories else report.options.right
    right = _RIGHT["pairwise" if is_pairwise else by_label]
    segments = _segment_blocks(parts, right)
    classes = _class_table(own or parts)
    is_short = len(classes.rows) <= _MOST_LEVELS
    alone = [*report.criteria.values()] or parts
    worst = [*_disagreements(alone, choices=choices), _next_label_lines(report)]
    details = [
        *segments[:-1],
        None if is_short else classes,
        _annotator_table(report.pooled),
        *_confusion_tables(report),
        _segment_budget_table(parts[-1]),
        _random_draw_lines(own or parts),
    ]
    blocks: list[Block | None] = [
        _overview_lines(report),
        _agreement_table(parts, is_weighted=not report.options.categories),
        *calibration_plots(report, parts),
        _annotator_agreement_table(parts),
        _order_table(parts) if is_pairwise else _pass_agreement_table(parts),
        classes if is_short else None,
        _rank_agreement_table(parts),
        _correction_table(parts),
        _confidence_lines(own or parts),
        _substitution_lines(own or parts),
        *segments[-1:],
        *(worst if answers is None else [calibration_cases(report, answers, not_empty(worst))]),
        Details("Annotators, levels, further segments and labels", not_empty(details)),
    ]
    what = report.rubric or ("comparisons" if is_pairwise else "scores")
    labels = numbers.format_count(report.joined.n_joined, "label")
    annotators = numbers.format_count(len(report.joined.annotators), "annotator")
    title = f"Calibration of {what}: {labels} of {annotators}"
    conclusion = replace(_conclusion(report), more=_agreement_text(own or parts))
    return Document(title, conclusion, not_empty(blocks), report.to_json, kind="Calibration")


_STAND_IN_TONES: dict[StandInAnswer, Tone] = {"yes": "pass", "no": "fail", "open": "inconclusive"}


def _conclusion(report: CalibrationReport) -> Conclusion:
    found = report.stand_in
    question, tone = "Can this judge replace a human annotator?", _STAND_IN_TONES[found.answer]
    if len(report.criteria) > 1:  # the reason names the answer of each
        return Conclusion(f"{question} {found.reason[:1].upper()}{found.reason[1:]}.", tone)
    answer = _SUBSTITUTION_WORDS[found.answer].capitalize()
    return Conclusion(f"{question} {answer}: {found.reason}.", tone)


def _agreement_text(parts: Sequence[CriterionCalibration]) -> str:
    """How far judge and humans agree on each criterion, and which way the judge errs."""
    sentences = []
    for part in parts[:_FEW]:
        found = part.agreement.kappa_quadratic
        if isnan(found.value):
            continue
        words = f"On “{part.name}”, judge and humans agree with a kappa of "
        words += f"{numbers.format_mean(found)} ({numbers.format_count(part.n, 'output')})"
        bias = part.leniency.bias
        # An interval that includes 0 shows neither.
        if bias.low > 0 or bias.high < 0:
            way = "high" if bias.value > 0 else "low"
            words += f"; the judge scores {abs(bias.value):.2f} too {way} on average"
        sentences.append(f"{words}.")
    return " ".join(sentences)


def _shown_criteria(report: CalibrationReport) -> list[CriterionCalibration]:
    """The criteria, and after several of them all together and the whole output."""
    parts = list(report.criteria.values())
    for extra in (report.pooled, report.overall):
        apart = replace(extra, name=free_name(extra.name, report.criteria))
        if extra not in parts and apart not in parts:
            parts.append(apart)
    return parts


_PREFERENCE_WORDS = {1.0: "a", 0.5: "tie", 0.0: "b"}
"""What a choice between two outputs is called, by how far it prefers a."""

_SUBSTITUTION_WORDS: dict[StandInAnswer, str] = {"yes": "yes", "no": "no", "open": "inconclusive"}
"""What an answer is called."""

_ALL_CRITERIA = "all criteria"

_RIGHT = {
    "pairwise": "right: the judge names the winner that humans name",
    "pass": "right: the judge passes what humans pass",
    "exact": "right: the judge gives the human score",
    "within_one": "right: the judge is within one level of the human score",
}

_MOST_ROWS = 24
_MOST_LEVELS = 12


def _agreement_table(parts: Sequence[CriterionCalibration], *, is_weighted: bool) -> Table:
    """How far judge and humans agree: kappa, or concordance where the scale has no levels."""
    rows = []
    for part in parts:
        found = part.agreement
        agreement = mean_cell(found.kappa_quadratic)
        if isnan(found.kappa_quadratic.value) and not isnan(found.ccc.value):
            agreement = Cell(f"{numbers.format_mean(found.ccc)} c", estimate=found.ccc)
        same = rate_cell(found.exact) if part.confusion is not None else numbers.DASH
        bias = difference_cell(part.leniency.bias)
        rows.append((part.name, f"{part.n:,}", agreement, same, bias))
    weights = ", weighted by distance" if is_weighted else ""
    notes = [f"kappa: agreement beyond chance{weights}; 1 is full, 0 is chance"]
    if any(isnan(part.agreement.kappa_quadratic.value) for part in parts):
        notes.append("c: concordance, where the scale has no levels")
    for part in parts:
        if part.n_judge_missing:
            items = numbers.format_count(part.n_judge_missing, "labelled item")
            notes.append(f"{part.name}: the judge gave no usable answer on {items}")
    columns = text_columns("", "n", _head("kappa", parts), "same score", "judge - human")
    has_bias = is_weighted or not all(isnan(part.leniency.bias.value) for part in parts)
    notes += [difference_unit({part.name: part.scale for part in parts})] if has_bias else []
    return Table(columns, tuple(rows), "Judge and humans", tuple(notes))


def _head(what: str, parts: Sequence[CriterionCalibration]) -> str:
    """The head of a column whose intervals have the level that was asked for."""
    return f"{what}, {parts[0].agreement.exact.level * 100:g} %"


def _annotator_agreement_table(parts: Sequence[CriterionCalibration]) -> Table:
    rows: list[tuple[str | Cell, ...]] = []
    for part in parts:
        found = part.people
        # On a scale without levels nobody agrees exactly.
        exact: tuple[str | Cell, ...] = (numbers.DASH,) * 3
        if part.confusion is not None:
            exact = format_share(found.human), format_share(found.judge), difference_cell(found.gap)
        if found.n_doubly:
            rows.append((part.name, f"{found.n_annotators:,}", mean_cell(found.alpha), *exact))
    return Table(
        (
            *text_columns("", "annotators", _head("alpha", parts)),
            *(Column(who, term=f"{who} agreement") for who in ("human", "judge")),
            Column("gap"),
        ),
        tuple(rows),
        "Humans with one another, and the judge with the same humans",
        ("alpha: agreement beyond chance; human, judge: how often each gives another's score",),
    )


def _pass_agreement_table(parts: Sequence[CriterionCalibration]) -> Table:
    rows = []
    for part in parts:
        if (found := part.pass_fail) is not None:
            rates = (found.tpr, found.tnr, found.judge_rate, found.human_rate)
            tpr, tnr, judge, human = (format_share(rate.value) for rate in rates)
            agreement = (rate_cell(found.accuracy), mean_cell(found.kappa))
            rows.append((part.name, *agreement, tpr, tnr, f"{judge} / {human}"))
    heads = ("", "agreement", _head("kappa", parts), "TPR", "TNR", "judge / human")
    note = (
        "TPR, TNR: of what humans pass or fail, the share that the judge passes or fails; "
        "judge / human: pass rates"
    )
    return Table(text_columns(*heads), tuple(rows), "Pass or fail", (note,))


def _class_table(parts: Sequence[CriterionCalibration]) -> Table:
    """Precision, recall and F1 of each level, and their means; empty for ordered scales."""
    rows: list[tuple[str | Cell, ...]] = []
    for part in parts:
        found = part.classification
        if found is None:
            continue
        for each in found.classes:
            rates = (rate_cell(each.precision), rate_cell(each.recall), mean_cell(each.f1))
            name = message.printable(f"{part.name}: {each.name}", 26)
            rows.append((name, f"{each.n_human:,}", f"{each.n_judge:,}", *rates))
        means = (rate_cell(found.macro_precision), rate_cell(found.macro_recall))
        counts = (f"{part.n:,}", f"{part.n:,}")
        rows.append((f"{part.name}: mean", *counts, *means, mean_cell(found.macro_f1)))
    heads = ("", "human", "judge", "precision", "recall", _head("F1", parts))
    note = (
        "precision: the share of the judge's choices of a level that humans made too; recall: the "
        "share of the human choices that the judge made too; F1: their harmonic mean; mean: the "
        "plain mean over the levels (macro); human, judge: items"
    )
    return Table(text_columns(*heads), tuple(rows), "Each level", (note,))


def _order_table(parts: Sequence[CriterionCalibration]) -> Table:
    rows: list[tuple[str | Cell, ...]] = []
    for part in parts:
        if (found := part.orders) is not None:
            both = (found.swap_accuracy, found.position_conflict)
            rates = map(rate_cell, (found.accuracy_ab, found.accuracy_ba, *both))
            rows.append((part.name, *rates, format_share(found.first_shown.value)))
    heads = ("", "right, A first", "B first", "both (swap)", "contradicts", "first")
    notes = ("an unusable answer counts as wrong here",)
    return Table(text_columns(*heads), tuple(rows), "Two orders", notes)


def _rank_agreement_table(parts: Sequence[CriterionCalibration]) -> Table:
    """Whether the judge ranks as humans do: all outputs, those of one case, and the variants."""
    rows: list[tuple[str | Cell, ...]] = []
    for part in parts:
        found = {grouping.kind: grouping for grouping in part.groupings}
        within = found["case"].within["spearman"] if "case" in found else None
        between = found["variant"].between["spearman"] if "variant" in found else None
        if within or between:
            cells = map(mean_cell, (part.agreement.spearman, within, between))
            rows.append((part.name, *cells))
    heads = ("", "all outputs", "within a case", "the variants")
    return Table(text_columns(*heads), tuple(rows), "Ranking (Spearman)")


def _correction_table(parts: Sequence[CriterionCalibration]) -> Table:
    """The judge's rate over all it judged, and the rate corrected by the labels."""
    figures = {part.name: part.corrected_rate or part.corrected_mean for part in parts}
    # Of categories there is no figure to correct.
    shown = {k: v for k, v in figures.items() if v.n_unlabelled and v.estimator != "none"}
    has_threshold = parts[0].threshold is not None
    title = "Pass rate over all judged outputs" if has_threshold else "How often A wins"
    return correction_table(shown, title)


def correction_table(
    figures: Mapping[str, CorrectedFigure],
    title: str,
    *,
    level: float | None = None,
    as_cell: Callable[[Estimate], Cell] = rate_cell,
) -> Table:
    """Figures of the judge alone, corrected by labels, and of the labels alone."""
    rows: list[tuple[str | Cell, ...]] = []
    notes: list[str] = []
    for name, found in figures.items():
        n_labels = () if level is None else (f"{found.n_labels:,}",)
        cells = map(as_cell, (found.raw, found.corrected, found.labels_only))
        rows.append((name, *n_labels, *cells, format_decimal(found.n_labels_saved, ",.0f")))
        if isnan(found.corrected.value):
            notes.append(f"{name}: not corrected: {found.corrected.reason}")
        notes += found.warnings
    notes.append("labels saved: further labels that the judge replaces")
    lead = ["", "judge alone"] if level is None else ["", "labelled", f"judge alone, {level:g} %"]
    columns = text_columns(*lead, "corrected", "labels alone", "labels saved")
    return Table(columns, tuple(rows), title, tuple(dict.fromkeys(notes)))


def with_human_labels(document: Document, found: LabelledComparison, a: str, b: str) -> Document:
    """The document of a comparison with the figures that are corrected by human labels."""

    def data() -> dict[str, object]:
        judged = cast("dict[str, object]", document.data())
        fields = asdict(found)
        # What decides is where readers of the JSON look for it; the judge's own is kept beside.
        return judged | {"decision": fields.pop("decision"), "human_labels": fields}

    name = free_name("overall", found.criteria)
    overall = {} if found.whole is None else {name: found.whole}
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
    # A page has one case table, below all sections.
    cases = [block for block in document.blocks if isinstance(block, CaseTable)]
    figures = tuple(block for block in document.blocks if block not in cases)
    alone = Section("The judge alone", figures, intro)
    return replace(
        document,
        conclusion=decision_conclusion(found.decision, a, b),
        blocks=not_empty((table, Lines(tuple(lines)), alone, *cases)),
        data=data,
    )


def _segment_blocks(parts: Sequence[CriterionCalibration], right: str) -> list[Block]:
    return [
        fold_segments(
            {f"{one.kind} {one.name}": one for one in part.segments},
            partial(_segment_table, part=part, right=right),
            size=lambda one: one.n,
            n_all=part.n,
            noun="labelled item",
            title="By segment" if len(parts) == 1 else f"By segment: {part.name}",
        )
        for part in parts
        if part.segments
    ]


def _segment_table(
    segments: Mapping[str, Segment], title: str, *, part: CriterionCalibration, right: str
) -> Table:
    return table_of(
        segments.items(),
        {
            "": lambda row: row[0],
            "n": lambda row: f"{row[1].n:,}",
            "right": lambda row: rate_cell(row[1].right),
            _head("kappa", [part]): lambda row: mean_cell(row[1].kappa),
            "judge - human": lambda row: difference_cell(row[1].bias),
        },
        title,
        (right, difference_unit({part.name: part.scale})),
    )


def _annotator_table(part: CriterionCalibration) -> Table:
    return table_of(
        part.people.annotators,
        {
            "": lambda each: each.name,
            "n": lambda each: f"{each.n:,}",
            "mean": lambda each: format_decimal(each.mean),
            _head("kappa", [part]): lambda each: mean_cell(each.kappa),
            "judge - human": lambda each: difference_cell(each.bias),
        },
        "Each annotator and the judge",
    )


def _confusion_tables(report: CalibrationReport) -> list[Block]:
    tables: list[Block] = []
    for part in report.criteria.values() or [report.overall]:
        found = part.confusion
        if found is None or len(found.levels) > _MOST_LEVELS:
            continue
        names = _PREFERENCE_WORDS if report.kind == "pairwise" else part.categories
        heads = [message.printable(names.get(level, f"{level:g}"), 20) for level in found.levels]
        rows: tuple[tuple[str | Cell, ...], ...] = tuple(
            (
                f"human {head}",
                # Darker, the more of its row a count is.
                *(Cell(f"{n:,}", shade=ceil(5 * n / sum(counts)) if n else 0) for n in counts),
                f"{silent:,}",
            )
            for head, counts, silent in zip(heads, found.counts, found.unusable, strict=True)
        )
        title = f"{part.name}: rows are human labels, columns the judge"
        columns = text_columns("", *heads, "none", is_foreign=True)
        tables.append(Table(columns, rows, title))
    return tables


_WORST, _FEW = 3, 4


def _overview_lines(report: CalibrationReport) -> Lines:
    joined = report.joined
    rows = [("judge", message.without_folders(judge)) for judge in report.judges]
    origin = ", ".join(f"{name} {value}" for name, value in report.origin.items())
    rows += [("from", message.without_folders(origin))] if origin else []
    labels = [f"{joined.n_joined:,} of {joined.n_labels:,} matched to judgments"]
    labels += [f"{joined.n_missing:,} without a score"] if joined.n_missing else []
    labels += [f"{joined.n_left_out:,} of other annotators"] if joined.n_left_out else []
    if joined.n_not_judged:
        labels.append(f"{joined.n_not_judged:,} of outputs that were not judged")
    rows.append(("labels", ", ".join(labels)))
    if joined.not_judged:
        names = some_names(joined.not_judged, joined.n_not_judged)
        rows.append(("", f"not judged: {names}"))
    kind = "pair" if report.kind == "pairwise" else "output"
    n_judged = numbers.format_count(joined.n_judged, kind)
    rows.append(("judged", f"{n_judged}, {joined.n_not_labelled:,} without a label"))
    words = ", ".join(f"{message.failure_words(k)} ({n:,})" for k, n in joined.failures.items())
    excluded = f"unusable, excluded (not counted as 0): {words}"
    rows += count_lines("failed", joined.n_judge_failures, "answer", excluded)
    rows += count_lines("errors", joined.n_errors, kind, "without an output; not judged")
    rows += [("assumed", note) for note in report.notes]
    return Lines(tuple(rows))


def _confidence_lines(parts: Sequence[CriterionCalibration]) -> Lines:
    """What confidence is worth, what needs no review, what more labels would bring."""
    rows: list[tuple[str, str]] = []
    silent = {part.why_no_trust for part in parts if part.trust is None}
    shared = silent.pop() if len(silent) == 1 and len(parts) > 1 else None
    for part in parts:
        rows += [(part.name, text) for text in _criterion_confidence_lines(part) if text != shared]
    if shared:
        names = [part.name for part in parts if part.trust is None]
        who = "everything" if len(names) == len(parts) else ", ".join(names)
        rows.append((who, shared))
    return Lines(label_once(rows), "Confidence, review and further labels", is_foreign=True)


def _criterion_confidence_lines(part: CriterionCalibration) -> list[str]:
    lines = [part.why_no_trust or ""] if part.trust is None else _trust_lines(part.trust)
    if (steady := part.steadiness) is not None:
        items = numbers.format_count(steady.n_items, "output")
        spread = "" if isnan(steady.within_sd) else f"; sd within an output {steady.within_sd:.2f}"
        same = numbers.format_rate(steady.all_equal)
        lines.append(f"repeats give the same score on {same} of {items}{spread}")
    mapped = part.recalibration
    if mapped is not None:
        lines.append(
            f"mean error {mapped.mae_before:.2f}; {mapped.mae_after:.2f} with a calibration map "
            f"({mapped.kind}, cross-fitted)"
        )
    points = f"{part.budget.half_width * 100:g} points"
    if part.corrected_rate is not None and part.budget.reason:
        lines.append(f"labels needed for ±{points}: unknown, as {part.budget.reason}")
    if part.budget.n_more:
        more = numbers.format_count(part.budget.n_more, "more label")
        needed, alone = part.budget.n_needed, part.budget.n_needed_alone
        total = f"{needed:,} in total"
        without = f", {alone:,} without the judge" if alone not in {None, needed} else ""
        what = "a pass rate" if part.threshold is not None else "a mean"
        shares = _budget_shares(part.budget)
        lines.append(f"{what} within ±{points} needs {more} ({total}{without}){shares}")
    return lines


def _trust_lines(found: Trust) -> list[str]:
    gap, auroc = found.before.ece, numbers.format_mean(found.before.auroc)
    after = "" if found.after is None else f", {found.after.ece.value:.2f} recalibrated"
    expected = f"{gap.expected:.2f} by chance (p {gap.p_value:.2g})"
    by_chance = f"a perfectly calibrated judge would show {expected}"
    confident = format_share(found.mean_confidence)
    return [
        f"{confident} confident on average, right {numbers.format_rate(found.accuracy)}",
        f"calibration error {gap.value:.2f}{after}; {by_chance}",
        f"confidence separates right from wrong: AUROC {auroc} (0.5 is chance)",
        _review(found.review),
    ]


def _budget_shares(budget: LabelBudget) -> str:
    """How further labels are shared among the strata, and whether so many outputs are left."""
    wanted = [f"{one.n_more:,} where {one.name}" for one in budget.strata if one.n_more]
    shares = f": {', '.join(wanted)}" if wanted else ""
    # Only a random subset is drawn from the judged outputs; other labels come from elsewhere.
    if budget.n_needed_alone is None or budget.n_unlabelled >= (budget.n_more or 0):
        return shares
    left = numbers.format_count(budget.n_unlabelled, "judged output is", "judged outputs are")
    only = f"only {left}" if budget.n_unlabelled else "no judged output is"
    return f"{shares}; {only} unlabelled, so judge more outputs first"


def _segment_budget_table(part: CriterionCalibration) -> Table:
    """The labels that each variant and stratum needs for an interval of its own."""
    rows = [
        (f"{one.kind} {one.name}", f"{budget.n_labels:,}", f"{budget.n_needed:,}", f"{more:,}")
        for one in part.segments
        if (budget := one.budget) is not None and (more := budget.n_more) is not None
    ]
    title = f"Labels for ±{part.budget.half_width * 100:g} points in each segment"
    return Table(text_columns("", "labels", "needed", "to add"), tuple(rows), title)


def _random_draw_lines(parts: Sequence[CriterionCalibration]) -> Lines:
    """The outputs drawn for the labels that are needed, as many as can be read."""
    rows = []
    for part in parts:
        for stratum in part.budget.strata:
            if items := stratum.next_items:
                n_more = len(items) - _MOST_ROWS
                names = some_names([str(place) for place in items[:_MOST_ROWS]])
                more = f" and {n_more:,} more" if n_more > 0 else ""
                rows.append((f"{part.name}, {stratum.name}", names + more))
    title = "Outputs to label next, drawn at random (all of them with --json)"
    return Lines(tuple(rows), title, is_foreign=True)


def _review(found: Review) -> str:
    limit = f"{found.max_error * 100:g} %"
    if isnan(found.threshold):
        return f"no safe confidence threshold: {found.reason}; review everything"
    return (
        f"accept automatically {found.coverage * 100:.0f} % at {limit} error or less: "
        f"from a confidence of {found.threshold:.2f} up, {found.error * 100:.1f} % are wrong, at most "  # noqa: E501
        f"{found.error_high * 100:.1f} % with {(1 - found.delta) * 100:g} % certainty"
    )


def _substitution_lines(parts: Sequence[CriterionCalibration]) -> Lines | None:
    if len(parts) < 2:  # noqa: PLR2004 - the conclusion says it of a single one
        return None
    rows = tuple(
        (part.name, f"{_SUBSTITUTION_WORDS[part.stand_in.answer]}: {part.stand_in.reason}")
        for part in parts
    )
    return Lines(rows, "Can it replace a human annotator?", is_foreign=True)


def _disagreements(
    parts: Sequence[CriterionCalibration], *, choices: Mapping[float, str] | None = None
) -> list[Block]:
    """Where judge and humans differ most, with the reasons of both; most of them folded."""
    most = _WORST if len(parts) < _FEW else 1
    shown, folded = [], []
    for part in parts:
        entries = [
            _disagreement(each, part.name, choices or part.categories)
            for each in part.disagreements
        ]
        shown += entries[:most]
        folded += entries[most:]
    more = Details("Further disagreements", not_empty([Entries(tuple(folded))]))
    return [Entries(tuple(shown), "Largest disagreements"), more]


def _disagreement(each: Disagreement, name: str, names: Mapping[float, str]) -> Entry:
    where = f"{each.case_id} {each.variant or ''}".strip()
    scores = (names.get(score) or f"{score:.3g}" for score in (each.judge, each.human))
    judge, human = (message.printable(score, 40) for score in scores)
    lines = [f"judge: {each.rationale}"] if each.rationale else []
    lines += [f"{who}: {reason}" for who, reason in each.reasons.items()]
    return Entry(f"{where}  {name}: judge {judge}, human {human}", tuple(lines))


def _next_label_lines(report: CalibrationReport) -> Lines:
    rows = []
    for each in report.suggestions:
        where = f"{each.case_id} {each.variant or ''}".strip()
        about = f"{each.criterion}: " if each.criterion else ""
        rows.append((message.printable(where, 40), f"{about}{each.why}"))
    title = "Labels that would help most (selected, so not a random sample)"
    return Lines(tuple(rows), title, is_foreign=True)
