"""The result of tuning a rubric, and its plan, as terminal tables and JSON."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers, tables
from judgekit.report.numbers import format_p_value, nan_to_null

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from judgekit.tuning import (
        HeldOutAgreement,
        HeldOutContrast,
        HeldOutResult,
        TunePlan,
        Tuning,
        TuningDecision,
    )

_LONGEST_NOTE = 300

_MOST_TRIED = 4

_NONE = "no candidate is shown to be better:"

_DECISION_WORDS: dict[TuningDecision, str] = {
    "better": "use the new one: '{chosen}' comes nearer to people on cases it was not chosen by",
    "not_shown": f"{_NONE} '{{chosen}}' did best while choosing, and held-out cases leave it open",
    "worse": f"{_NONE} '{{chosen}}' did best while choosing, and worse on held-out cases",
    "open": f"{_NONE} '{{chosen}}' would be, but for what the judge failed on",
    "none_better": f"{_NONE} none did better than the present rubric while choosing",
    "incomplete": "nothing is decided: too little was answered",
}


def print_tuning(console: Console, found: Tuning) -> None:
    """Print the held-out figures, what lies beneath them, and the decision."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    console.print()
    held, chosen_by = len(found.held_out_cases), len(found.training_cases)
    title = f"{message.printable(found.rubric)}: {numbers.format_count(held, 'case')} held out, {chosen_by:,}"  # noqa: E501
    console.print(Text(f"{title} to choose by", style="bold"))
    if found.present_held_out is not None:
        console.print(_table(found.present_held_out, found.chosen_held_out))
    tables.print_lines(console, tuning_notes(found))
    console.print(Text(tuning_conclusion(found), style="bold"))


def tuning_conclusion(found: Tuning) -> str:
    """The decision in one line."""
    return _DECISION_WORDS[found.decision].format(chosen=message.printable(found.chosen or ""))


def tuning_notes(found: Tuning) -> list[str]:
    """Everything beside the held-out figures."""
    lines = [] if found.contrast is None else _contrast(found.contrast)
    lines += [
        f"tried    {_tried(found)}",
        f"labels   {found.n_labels:,} used{_unused(found)}",
        f"drawn    with seed {found.seed}; each interval {found.level * 100:g} %, by case",
        f"judge    {message.printable(found.judge)}",
        f"asked    {numbers.format_spending(found.spent)}",
    ]
    for kind, n in found.failures.items():
        words = message.FAILURE_WORDS.get(kind, kind)
        lines.append(f"failed   {numbers.format_count(n, 'question')}: {words}")
        lines.append(f"         {message.one_line(found.failure_messages[kind], _LONGEST_NOTE)}")
    return lines


def tuning_json(found: Tuning) -> dict[str, object]:
    """What came of it as JSON; what is undefined is null."""
    whole = asdict(replace(found, tuned=None))
    whole["tuned"] = None if found.tuned is None else found.tuned.to_json()
    plain = nan_to_null(whole)
    return {"conclusion": tuning_conclusion(found), **(plain if isinstance(plain, dict) else {})}


def tuning_plan_line(plan: TunePlan) -> str:
    """What a tuning would ask and cost, in one line."""
    owned = (
        f", {numbers.format_count(plan.n_owned, 'reply', 'replies')} owned already"
        if plan.n_owned
        else ""
    )
    price = (
        f"about {numbers.format_usd(plan.price_usd)}"
        if plan.price_usd
        else numbers.format_usd(plan.price_usd)
    )
    cases = f"{plan.n_training:,} cases to choose by, {plan.n_held_out:,} held out"
    calls = f"up to {numbers.format_count(plan.n_calls, 'call')} to {message.printable(plan.model)}{owned}"  # noqa: E501
    return f"{plan.n_candidates:,} ways of asking, {cases}: {calls}; {price}"


def _table(present: HeldOutResult, chosen: HeldOutResult | None) -> Table:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415

    table = Table(header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("on held-out cases", overflow="fold")
    sides = [present] if chosen is None else [present, chosen]
    for side in sides:
        table.add_column(message.printable(side.name), justify="right", overflow="fold")
    rows = zip(*((side.overall, *side.criteria) for side in sides), strict=True)
    for row in rows:
        for label, cells in _rows(row):
            table.add_row(label, *cells)
    return table


def _rows(row: tuple[HeldOutAgreement, ...]) -> list[tuple[str, list[str]]]:
    name = f"{message.printable(row[0].name)}: " if row[0].name else ""
    rows = [(f"{name}distance from people", [numbers.format_mean(one.distance) for one in row])]
    if not all(isnan(one.kappa.value) for one in row):
        rows.append((f"{name}kappa", [numbers.format_mean(one.kappa) for one in row]))
    if any(one.n_failed for one in row):
        rows.append((f"{name}failed", [f"{one.n_failed:,} of {one.n_items:,}" for one in row]))
    return rows


def _contrast(found: HeldOutContrast) -> list[str]:
    distance = found.distance
    p = "undefined" if isnan(distance.p_value) else format_p_value(distance.p_value)
    shown = f"{_signed(distance.value)} [{_signed(distance.low)}, {_signed(distance.high)}]"
    lines = [
        f"change   {shown} in squared distance (below 0 is nearer), p {p}, {distance.p_method}"
    ]
    if not isnan(found.kappa.value):
        lines.append(f"         {numbers.format_difference(found.kappa)} in kappa")
    if distance.n_missing:
        low, high = _signed(found.low), _signed(found.high)
        lines.append(f"         from {low} to {high}, had failed answers been right or wrong")
    return lines


def _signed(x: float) -> str:
    return numbers.DASH if isnan(x) else f"{x:+.3f}"


def _tried(found: Tuning) -> str:
    ordered = sorted(found.tried, key=lambda one: (one.place is None, one.place or 0))
    names = [message.printable(one.name) for one in ordered]
    shown = ", ".join(names[:_MOST_TRIED])
    more = f", and {len(names) - _MOST_TRIED:,} more" if len(names) > _MOST_TRIED else ""
    best = ", nearest while choosing first" if any(one.place for one in ordered) else ""
    return f"{numbers.format_count(len(names), 'way')} of asking{best}: {shown}{more}"


def _unused(found: Tuning) -> str:
    parts = [f", {found.n_unused:,} not (no score, or no such output)"] if found.n_unused else []
    if found.n_examples:
        cases = numbers.format_count(found.n_examples, "case")
        parts.append(f", {cases} left out: the rubric shows their outputs as examples")
    return "".join(parts)
