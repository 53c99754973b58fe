"""Builds the documents of a changed judge: another model, or another wording of the rubric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import (
    PASS_TONES,
    Block,
    Cell,
    Conclusion,
    Details,
    Document,
    Entries,
    Entry,
    LabelledText,
    Lines,
    Table,
    TextChange,
    Tone,
    count_lines,
    difference_cell,
    failure_lines,
    mean_cell,
    not_empty,
    rate_cell,
    sampling_line,
    table_of,
    text_columns,
)
from judgekit.report.item_cases import KnownAnswers, changed_verdicts, score_changes
from judgekit.report.numbers import format_decimal, format_p_value
from judgekit.report.plan import judge_plan_document
from judgekit.report.segments import segment_block

if TYPE_CHECKING:
    from judgekit.calibration import LabelledShare
    from judgekit.records import Criterion, Rubric
    from judgekit.rejudgment import CriterionShift, PairedVerdict, Rejudged, SegmentChange
    from judgekit.tuning import HeldOutContrast, HeldOutResult, TunePlan, Tuning, TuningDecision

_MOST_FLIPS = 10
_PASS_WORDS = {True: "pass", False: "fail", None: "undecided"}


def rejudgment_document(found: Rejudged, answers: KnownAnswers | None = None) -> Document:
    """What changes with another judge: decisions, scores, money, and the decisions that flip."""
    # With `answers`, the outputs as far as they are known, a page has all changed decisions.
    outputs = numbers.format_count(found.n, "output")
    cases = numbers.format_count(found.n_cases, "case")
    flips = tuple(map(_flip, found.flips))
    n = len(flips)
    old, new = (numbers.format_rate(x) for x in (found.old_pass_rate, found.new_pass_rate))
    figures = (
        ("churn", f"{numbers.format_rate(found.churn)} of verdicts change"),
        ("kappa", f"{mean_cell(found.kappa).text} between the verdicts, beyond chance"),
        ("passed", f"{old} before, {new} now"),
        ("value", f"{difference_cell(found.value).text} compared with before"),
    )
    part = f"{_MOST_FLIPS} of {n}" if n > _MOST_FLIPS else ""
    hint = "all with -v" if part else ""
    listed: tuple[Block, ...] = (
        Entries(flips[:_MOST_FLIPS], "Changed decisions", part, hint),
        Details("Further changed decisions", not_empty([Entries(flips[_MOST_FLIPS:])])),
    )
    if answers is not None and found.flips:
        listed = (changed_verdicts(found.flips, answers, not_empty(listed)),)
    return Document(
        kind="Another judge",
        title=f"{found.rubric}: {outputs} of {cases}",
        # A change is neither good nor bad: nothing here says which of the judges is right.
        conclusion=Conclusion(
            rejudgment_conclusion(found),
            "inconclusive" if found.n == found.n_undecided else "neutral",
        ),
        blocks=not_empty([
            Lines(figures),
            _shift_table(found.criteria),
            segment_block(
                found.strata,
                found.tags,
                _segment_table,
                size=lambda one: one.n_cases,
                n_cases=found.n_cases,
            ),
            *listed,
            Lines(tuple(rejudgment_notes(found))),
        ]),
        data=lambda: asdict(found),
    )  # fmt: skip


def rejudgment_conclusion(found: Rejudged) -> str:
    """What changes, in one line."""
    n = found.n - found.n_undecided
    if not n:
        return "no output has a verdict of both judges"
    up = sum(one.new.passed is True for one in found.flips)
    if not found.flips:
        return f"none of {n:,} decisions changes"
    verb = "changes" if len(found.flips) == 1 else "change"
    return (
        f"{len(found.flips):,} of {numbers.format_count(n, 'decision')} {verb}: "
        f"{up:,} now pass, {len(found.flips) - up:,} now fail"
    )


def rejudgment_notes(found: Rejudged) -> list[LabelledText]:
    old, new = (numbers.format_usd(x) for x in (found.old_price_usd, found.new_price_usd))
    lines = [
        *(("before", message.without_folders(judge)) for judge in found.old_judges),
        *(("now", message.without_folders(judge)) for judge in found.new_judges),
        ("price", f"{old} before, {new} now"),
        ("measured", found.measured),
        ("human labels", found.calibration),
    ]
    lines += [
        ("failed", f"{when}: {numbers.format_count(n, 'question')}: {message.failure_words(kind)}")
        for when, kinds in (("before", found.old_failures), ("now", found.new_failures))
        for kind, n in kinds.items()
    ]
    lines += [
        ("left out", f"{numbers.format_count(n, 'output')}: {why}")
        for why, n in found.left_out.items()
    ]
    lines += count_lines("undecided", found.n_undecided, "output", "by one of the judges")
    if found.run_id is not None:
        lines.append(("stored", f"as {found.run_id}"))
    return lines


def _shift_table(criteria: Mapping[str, CriterionShift]) -> Table:
    return table_of(
        criteria.items(),
        {
            "criterion": lambda row: row[0],
            "now - before": lambda row: difference_cell(row[1].shift),
            "p": lambda row: format_p_value(row[1].p_adjusted),
            "weighted kappa": lambda row: replace(mean_cell(row[1].kappa), short=None),
        },
    )


def _segment_table(segments: Mapping[str, SegmentChange], title: str) -> Table:
    rows: list[tuple[str | Cell, ...]] = [
        (
            name,
            f"{one.n_cases:,}",
            rate_cell(one.churn),
            # A narrow table leaves their intervals out: that of the change is beside them.
            *(
                replace(rate_cell(rate), short=numbers.format_share(rate.value))
                for rate in (one.old_pass_rate, one.new_pass_rate)
            ),
            difference_cell(one.value),
        )
        for name, one in segments.items()
    ]
    heads = ("cases", "changed", "before", "now", "now - before")
    note = "changed: verdicts; before, now: pass rates; now - before: the value"
    return Table(text_columns("", *heads), tuple(rows), title, (note,))


def _flip(one: PairedVerdict) -> Entry:
    values = " to ".join(format_decimal(side.value) for side in (one.old, one.new))
    headline = ", ".join(part for part in (one.case_id, one.variant, values) if part)
    badge = f"{_PASS_WORDS[one.old.passed]} to {_PASS_WORDS[one.new.passed]}"
    tone = PASS_TONES[one.new.passed]
    name = _most_moved(one)
    if name is None:
        return Entry(headline, badge=badge, tone=tone)
    lines = []
    for when, side in (("before", one.old), ("now", one.new)):
        answer = side.criteria[name]
        score = format_decimal(answer.raw, "g")
        score += f" (first of {answer.n:,})" if answer.n > 1 else ""
        lines.append(f"{name} {when} {score}: {answer.rationale or 'no reason'}")
    return Entry(headline, tuple(lines), badge, tone)


def _most_moved(one: PairedVerdict) -> str | None:
    names = [name for name in one.old.criteria if name in one.new.criteria]

    def moved(name: str) -> float:
        # Without a value of both judges a criterion explains nothing, and comes last.
        sides = one.old.criteria[name].value, one.new.criteria[name].value
        return -1.0 if sides[0] is None or sides[1] is None else abs(sides[0] - sides[1])

    return max(names, key=moved, default=None)


_MOST_TRIED = 4
_NONE = "no candidate is significantly better:"

_DECISION_WORDS: dict[TuningDecision, str] = {
    "better": "use '{chosen}': it is closer to human labels on held-out cases",
    "not_shown": f"{_NONE} '{{chosen}}' was best on training cases, but held-out cases are inconclusive",  # noqa: E501
    "worse": f"{_NONE} '{{chosen}}' was best on training cases, but worse on held-out cases",
    "open": f"{_NONE} '{{chosen}}' would be, if not for the judge's failures",
    "none_better": f"{_NONE} none beat the current rubric on training cases",
    "incomplete": "no decision: too few answers",
}

_DECISION_TONES: dict[TuningDecision, Tone] = {
    "better": "better",
    "worse": "worse",
    "none_better": "neutral",
}
"""Decisions that are neither of these are open."""


def tuning_document(
    found: Tuning, present: Rubric | None = None, answers: KnownAnswers | None = None
) -> Document:
    """A tuning: whether the new wording is better on held-out cases, and by how much."""
    # With the `present` rubric a page shows which of its words change, and with `answers` where
    # that changes scores.
    training = len(found.training_cases)
    cases = numbers.format_count(len(found.held_out_cases), "held-out case")
    text, tone = tuning_conclusion(found), _DECISION_TONES.get(found.decision, "inconclusive")
    table = None
    if found.present_held_out is not None:
        table = _held_out_table(found.present_held_out, found.chosen_held_out)

    has_cases = answers is not None and found.changed
    changed = score_changes(found.changed, answers or ()) if has_cases else None

    def data() -> dict[str, object]:
        tuned = None if found.tuned is None else found.tuned.to_json()
        figures = asdict(replace(found, tuned=None, changed=()))
        # Single items are for reading: the JSON has the figures that follow from them.
        del figures["changed"]
        return {"conclusion": text, **figures, "tuned": tuned}

    return Document(
        kind="Tuning",
        title=f"Tuning of {found.rubric}: {training:,} training cases, {cases}",
        conclusion=Conclusion(text, tone),
        blocks=not_empty([
            table,
            *_wording_changes(present, found.tuned),
            changed,
            Lines(tuple(tuning_notes(found))),
        ]),
        data=data,
    )  # fmt: skip


def _wording_changes(present: Rubric | None, tuned: Rubric | None) -> Iterator[TextChange]:
    """What each criterion asks before and after, where that changes."""
    if present is None or tuned is None:
        return
    # A candidate has the same criteria: only their words, levels and examples differ.
    for before in present.criteria:
        texts = [_wording(one) for one in (before, tuned.criterion(before.name))]
        if texts[0] != texts[1]:
            yield TextChange(f"Wording of {before.name}", *texts)


def _wording(criterion: Criterion) -> str:
    parts = [criterion.question, criterion.scoring_guide or ""]
    parts += [
        " ".join(filter(None, (f"{level.value:g}", level.name, level.description)))
        for level in criterion.scale.levels
    ]
    parts += [f"Example, score {one.raw:g}: {one.output}" for one in criterion.examples]
    return "\n".join(filter(None, parts))


def tuning_conclusion(found: Tuning) -> str:
    """The decision in one line."""
    return _DECISION_WORDS[found.decision].format(chosen=found.chosen or "")


def tuning_notes(found: Tuning) -> list[LabelledText]:
    """Everything beside the held-out figures."""
    lines = [] if found.contrast is None else _contrast_lines(found.contrast)
    ordered = sorted(found.tried, key=lambda one: (one.place is None, one.place or 0))
    names = [one.name for one in ordered]
    shown = ", ".join(names[:_MOST_TRIED])
    more = f", and {len(names) - _MOST_TRIED:,} more" if len(names) > _MOST_TRIED else ""
    best = ", best on training cases first" if any(one.place for one in ordered) else ""
    used = f"{found.n_labels:,} used"
    used += f", {found.n_unused:,} unused (no score, or no such output)" if found.n_unused else ""
    if found.n_examples:
        cases = numbers.format_count(found.n_examples, "case")
        used += f", {cases} excluded: the rubric shows their outputs as examples"
    lines += [
        ("tried", f"{numbers.format_count(len(names), 'candidate')}{best}: {shown}{more}"),
        ("labels", used),
        sampling_line(found.seed, found.level),
        ("judge", message.without_folders(found.judge)),
        ("calls", numbers.format_spending(found.spent)),
    ]
    return lines + failure_lines(found.failures, found.failure_messages)


def tuning_plan_line(plan: TunePlan) -> str:
    """What a tuning would ask and cost, in one line."""
    replies = numbers.format_count(plan.n_owned, "reply", "replies")
    cached = f", {replies} cached already" if plan.n_owned else ""
    likely = None if plan.price_usd is None else plan.price_usd[0]
    price = f"{'about ' if likely else ''}{numbers.format_usd(likely)}"
    candidates = numbers.format_count(plan.n_candidates, "candidate")
    training = numbers.format_count(plan.n_training, "training case")
    held_out = numbers.format_count(plan.n_held_out, "held-out case")
    model = message.printable(plan.model)
    calls = f"up to {numbers.format_count(plan.n_calls, 'call')} to {model}{cached}"
    return f"{candidates}, {training}, {held_out}: {calls}; {price}"


def tuning_plan_document(
    plan: TunePlan, share: LabelledShare, *, max_cost_usd: float | None = None
) -> Document:
    """What a tuning would ask at most, and cost."""
    cases = f"{plan.n_training:,} for training, {plan.n_held_out:,} held out"
    subject = [("candidates", f"{plan.n_candidates:,}"), ("cases", cases)]
    # Which examples are chosen, and which candidate, depends on answers of the judge.
    up_to = "Up to " if plan.n_calls else ""
    return judge_plan_document(
        plan, "Plan of a tuning", subject, share, max_cost_usd=max_cost_usd, up_to=up_to
    )


def _held_out_table(present: HeldOutResult, chosen: HeldOutResult | None) -> Table:
    sides = [present] if chosen is None else [present, chosen]
    rows: list[tuple[str | Cell, ...]] = []
    for row in zip(*((side.overall, *side.criteria) for side in sides), strict=True):
        name = f"{row[0].name}: " if row[0].name else ""
        rows.append((f"{name}distance from human labels", *(mean_cell(x.distance) for x in row)))
        if not all(isnan(one.kappa.value) for one in row):
            rows.append((f"{name}kappa", *(mean_cell(one.kappa) for one in row)))
        if any(one.n_failed for one in row):
            failed = (f"{one.n_failed:,} of {one.n_items:,}" for one in row)
            rows.append((f"{name}failed", *failed))
    names = (side.name for side in sides)
    return Table(text_columns("on held-out cases", *names, is_foreign=True), tuple(rows))


def _contrast_lines(found: HeldOutContrast) -> list[LabelledText]:
    distance = found.distance
    p = "undefined" if isnan(distance.p_value) else format_p_value(distance.p_value)
    shown = "{} [{}, {}]".format(*map(_signed, (distance.value, distance.low, distance.high)))
    lines = [
        ("change", f"{shown} in squared distance (below 0 is closer), p {p}, {distance.p_method}")
    ]
    if not isnan(found.kappa.value):
        lines.append(("", f"{numbers.format_difference(found.kappa)} in kappa"))
    if distance.n_missing:
        low, high = _signed(found.low), _signed(found.high)
        lines.append(("", f"from {low} to {high}, depending on the failed answers"))
    return lines


def _signed(x: float) -> str:
    return numbers.format_decimal(x, "+.3f")
