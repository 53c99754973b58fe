"""Builds the document of a tuned rubric, and the line that plans a tuning."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import (
    Cell,
    Conclusion,
    Document,
    LabelledText,
    Lines,
    Table,
    Tone,
    failure_lines,
    mean_cell,
    not_empty,
    text_columns,
)
from judgekit.report.numbers import format_p_value

if TYPE_CHECKING:
    from judgekit.tuning import (
        HeldOutAgreement,
        HeldOutContrast,
        HeldOutResult,
        TunePlan,
        Tuning,
        TuningDecision,
    )

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


_TONES: dict[TuningDecision, Tone] = {
    "better": "better",
    "worse": "worse",
    "none_better": "neutral",
}
"""Decisions that are neither of these are open."""


def tuning_document(found: Tuning) -> Document:
    """A tuning: whether the new wording is better on held-out cases, and by how much."""
    training = len(found.training_cases)
    cases = numbers.format_count(len(found.held_out_cases), "held-out case")
    table = None
    if found.present_held_out is not None:
        table = _table(found.present_held_out, found.chosen_held_out)
    return Document(
        title=f"Tuning of {message.printable(found.rubric)}: {training:,} training cases, {cases}",
        conclusion=Conclusion(tuning_conclusion(found), _TONES.get(found.decision, "inconclusive")),
        blocks=not_empty([table, Lines(tuple(tuning_notes(found)))]),
        data=lambda: _data(found),
    )


def tuning_conclusion(found: Tuning) -> str:
    """The decision in one line."""
    return _DECISION_WORDS[found.decision].format(chosen=message.printable(found.chosen or ""))


def tuning_notes(found: Tuning) -> list[LabelledText]:
    """Everything beside the held-out figures."""
    lines = [] if found.contrast is None else _contrast(found.contrast)
    lines += [
        ("tried", _tried(found)),
        ("labels", f"{found.n_labels:,} used{_unused(found)}"),
        (
            "sampled",
            f"with seed {found.seed}; {found.level * 100:g} % intervals, clustered by case",
        ),
        ("judge", message.printable(found.judge)),
        ("calls", numbers.format_spending(found.spent)),
    ]
    return lines + failure_lines(found.failures, found.failure_messages)


def _data(found: Tuning) -> dict[str, object]:
    """The result under the keys of its JSON."""
    whole = asdict(replace(found, tuned=None))
    whole["tuned"] = None if found.tuned is None else found.tuned.to_json()
    return {"conclusion": tuning_conclusion(found), **whole}


def tuning_plan_line(plan: TunePlan) -> str:
    """What a tuning would ask and cost, in one line."""
    replies = numbers.format_count(plan.n_owned, "reply", "replies")
    cached = f", {replies} cached already" if plan.n_owned else ""
    price = f"{'about ' if plan.price_usd else ''}{numbers.format_usd(plan.price_usd)}"
    cases = f"{plan.n_training:,} training cases, {plan.n_held_out:,} held-out cases"
    calls = f"up to {numbers.format_count(plan.n_calls, 'call')} to {message.printable(plan.model)}{cached}"  # noqa: E501
    return f"{plan.n_candidates:,} candidates, {cases}: {calls}; {price}"


def _table(present: HeldOutResult, chosen: HeldOutResult | None) -> Table:
    sides = [present] if chosen is None else [present, chosen]
    rows = zip(*((side.overall, *side.criteria) for side in sides), strict=True)
    cells = [cells for row in rows for cells in _rows(row)]
    return Table(text_columns("on held-out cases", *(side.name for side in sides)), tuple(cells))


def _rows(row: tuple[HeldOutAgreement, ...]) -> list[tuple[str | Cell, ...]]:
    name = f"{row[0].name}: " if row[0].name else ""
    rows: list[tuple[str | Cell, ...]] = [
        (f"{name}distance from human labels", *(mean_cell(one.distance) for one in row))
    ]
    if not all(isnan(one.kappa.value) for one in row):
        rows.append((f"{name}kappa", *(mean_cell(one.kappa) for one in row)))
    if any(one.n_failed for one in row):
        failed = (f"{one.n_failed:,} of {one.n_items:,}" for one in row)
        rows.append((f"{name}failed", *failed))
    return rows


def _contrast(found: HeldOutContrast) -> list[LabelledText]:
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


def _tried(found: Tuning) -> str:
    ordered = sorted(found.tried, key=lambda one: (one.place is None, one.place or 0))
    names = [message.printable(one.name) for one in ordered]
    shown = ", ".join(names[:_MOST_TRIED])
    more = f", and {len(names) - _MOST_TRIED:,} more" if len(names) > _MOST_TRIED else ""
    best = ", best on training cases first" if any(one.place for one in ordered) else ""
    return f"{numbers.format_count(len(names), 'candidate')}{best}: {shown}{more}"


def _unused(found: Tuning) -> str:
    parts = [f", {found.n_unused:,} unused (no score, or no such output)"] if found.n_unused else []
    if found.n_examples:
        cases = numbers.format_count(found.n_examples, "case")
        parts.append(f", {cases} excluded: the rubric shows their outputs as examples")
    return "".join(parts)
