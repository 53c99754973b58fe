"""Builds the document of a ranking of several variants: strengths, wins, notes, decision."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import exp, isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.comparison import failure_lines, panel_lines, panel_table, rule_lines
from judgekit.report.document import (
    Block,
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
)
from judgekit.report.numbers import format_p_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.evaluation import RankDecision, RankedSide, RankingSummary

# A wider matrix fits neither a terminal nor a page; every pair is in the JSON.
_MOST_IN_MATRIX = 10

_END_REASONS = {
    "decided": "the top places are decided",
    "comparisons": "the limit of comparisons is reached",
    "cost": "the budget is spent",
    "cases": "no cases are left for the pairs that matter",
    "interrupted": "interrupted",
}

_TIES = {
    "half": "half a win for each",
    "davidson": "a separate outcome, Davidson's nu",
    "rao-kupper": "a separate outcome, Rao and Kupper's theta",
}


def ranking_document(summary: RankingSummary) -> Document:
    """A ranking: who is first, strengths with intervals, and who won against whom."""
    rubric = message.printable(summary.questioned.rubric or "")
    counts = (
        f"{numbers.format_count(len(summary.sides), 'variant')}, "
        f"{numbers.format_count(summary.n_comparisons, 'comparison')} on "
        f"{numbers.format_count(summary.n_cases, 'case')}"
    )
    panel, is_small = summary.questioned.panel, len(summary.sides) <= _MOST_IN_MATRIX
    blocks: list[Block | None] = [
        _strengths(summary),
        _matrix(summary) if is_small else None,
        None if panel is None else panel_table(panel, wins=False),
        Lines(tuple(ranking_notes(summary))),
    ]
    tone: Tone = "better" if summary.decision.is_decided else "inconclusive"
    return Document(
        title=f"{rubric}: {counts}" if rubric else counts,
        conclusion=Conclusion(ranking_decision(summary.decision), tone),
        blocks=not_empty(blocks),
        data=lambda: asdict(summary),
    )


def ranking_decision(decision: RankDecision) -> str:
    """Who is in the first places, or why that is undecided."""
    if decision.is_decided:
        names = [message.printable(name) for name in decision.order]
        who = f"{names[0]} is first" if len(names) == 1 else f"the order is {', '.join(names)}"
        return f"{who}: {decision.reason} (alpha {decision.alpha:g})"
    more = ""
    if decision.n_to_decide is not None:
        cases = numbers.format_count(decision.n_to_decide, "case")
        more = f"; about {cases} are needed to separate them"
    return f"no decision: {message.printable(decision.reason)} (alpha {decision.alpha:g}){more}"


def ranking_notes(summary: RankingSummary) -> list[LabelledText]:
    """Everything beside the tables."""
    judging = summary.questioned
    lines = [("judge", message.printable(judge)) for judge in judging.judges]
    # A ranking of preferences from a file has no judge, and so nothing was spent.
    if judging.spent is not None:
        lines.append(("calls", numbers.format_spending(judging.spent)))
    lines += rule_lines(judging.rule)
    return [*lines, *_design_lines(summary), *_judge_lines(summary), *_missing_lines(summary)]


def _design_lines(summary: RankingSummary) -> list[LabelledText]:
    judging, lines = summary.questioned, []
    if judging.ended != "all":
        n_made = summary.n_comparisons + judging.n_errors
        made = f"after {n_made:,} of {judging.n_planned:,} comparisons"
        lines.append(("ended", f"{made}: {_END_REASONS[judging.ended]}"))
    if judging.is_adaptive:
        valid = "chosen adaptively: ranks and p-values are always-valid"
        lines.append(("pairs", f"{valid}, the intervals of the strengths are nominal"))
    # Strengths are only relative: without a link two groups share no scale.
    if len(summary.groups) > 1:
        groups = f"no decided comparison links these groups: {_joined(summary.groups)}"
        lines.append(("groups", f"{groups}; ranks hold within each"))
    # A side that never lost has an infinite maximum-likelihood strength.
    if summary.levels:
        levels = f"only one side has ever won between {_joined(summary.levels)}"
        shrunk = "each strength is shrunk by half a win and half a loss, and sign tests decide"
        lines.append(("one-way", f"{levels}: the distance has no upper bound; {shrunk}"))
    return lines


def _judge_lines(summary: RankingSummary) -> list[LabelledText]:
    lines = []
    if not isnan(summary.flip_rate.value):
        flips = numbers.format_rate(summary.flip_rate)
        lines.append(("flips", f"{flips} of comparisons change with the order"))
    first = summary.position
    if first is None:
        lines.append(("position", f"position bias not estimated: {summary.position_reason}"))
    elif isnan(first.low):
        lines.append(("position", "no choice depended on the position"))
    else:
        value, low, high = (_percent(x) for x in (first.value, first.low, first.high))
        wins = f"between equal outputs the one shown first wins {value} % [{low}, {high}]"
        lines.append(("position", f"{wins}; strengths are corrected for it"))
    if summary.tie_share > 0:
        parameter = "" if summary.tie_parameter is None else f" {summary.tie_parameter:.2f}"
        share = f"{summary.tie_share * 100:.0f} %"
        lines.append(("ties", f"{share} of choices, counted as {_TIES[summary.ties]}{parameter}"))
    panel = summary.questioned.panel
    return lines if panel is None else [*lines, *panel_lines(panel)]


def _missing_lines(summary: RankingSummary) -> list[LabelledText]:
    judging, lines = summary.questioned, []
    if summary.n_undecided:
        n = numbers.format_count(summary.n_undecided, "comparison")
        lines.append(("open", f"{n} undecided because of a failure; excluded"))
        for side in summary.sides[:_MOST_IN_MATRIX]:
            low, high = (f"{bound * 100:.0f}" for bound in side.bounds)
            name = message.printable(side.name, 40)
            lines.append(("bounds", f"{low} to {high} % wins of {name}, depending on these"))
    if summary.n_identical:
        n = numbers.format_count(summary.n_identical, "comparison")
        lines.append(("same", f"{n} of identical texts: counted as ties without a call"))
    if judging.n_errors:
        n = numbers.format_count(judging.n_errors, "comparison")
        lines.append(("errors", f"{n} with an output that records an error; not judged"))
    out = judging.left_out
    for n_cases, what, cases in (
        (out.n_only_a + out.n_only_b, "missing for some variants", (*out.only_a, *out.only_b)[:3]),
        (out.n_other_input, "with different inputs", out.other_input),
    ):
        if n_cases:
            some = ", ".join(message.printable(case, 40) for case in cases)
            n = numbers.format_count(n_cases, "case")
            lines.append(("left out", f"{n} {what}: {some}"))
    return lines + failure_lines(judging.failures, judging.failure_messages)


def _strengths(summary: RankingSummary) -> Table:
    level = round((1 - summary.decision.alpha) * 100, 1)
    pairs = {(pair.a, pair.b): pair for pair in summary.pairs}
    rows, ends = [], set()
    for number, side in enumerate(summary.sides):
        below = summary.sides[number + 1 : number + 2]
        pair = pairs.get((side.name, below[0].name)) if below else None
        p = None if pair is None else pair.p_adjusted
        shown = numbers.DASH if p is None else format_p_value(p)
        rows.append((f"{side.place}", side.name, *_cells(side), shown))
        if below and below[0].group != side.group:
            ends.add(number)
    heads = (f"strength, {level:g} %", "Elo", "wins", "rank", "p to next")
    columns = (Column("#"), Column("variant", "text", max_width=40), *map(Column, heads))
    notes = ("rank: the range of places that the comparisons allow",)
    return Table(columns, tuple(rows), notes=notes, rules_after=frozenset(ends))


def _cells(side: RankedSide) -> list[str | Cell]:
    if isnan(side.strength.value):
        return [numbers.DASH] * 4
    # The strength of a side that never lost, or never won, is only a bound.
    about = "≥ " if side.is_unbeaten else "≤ " if side.is_winless else ""
    places = f"{side.best}" if side.best == side.worst else f"{side.best}–{side.worst}"  # noqa: RUF001
    strength = mean_cell(side.strength)
    return [
        replace(strength, text=f"{about}{strength.text}", short=None),
        f"{side.elo:,.0f}",
        f"{side.win_share * 100:.0f} %",
        places,
    ]


def _matrix(summary: RankingSummary) -> Table:
    """Who won how often against whom."""
    shares = {}
    for pair in summary.pairs:
        if not isnan(pair.share):
            shares[pair.a, pair.b] = f"{pair.share * 100:.0f}"
            shares[pair.b, pair.a] = f"{(1 - pair.share) * 100:.0f}"
    rows = tuple(
        (
            f"{number}",
            side.name,
            *(shares.get((side.name, other.name), numbers.DASH) for other in summary.sides),
        )
        for number, side in enumerate(summary.sides, start=1)
    )
    # Names as heads would not fit: a column is named by the place of its variant.
    heads = [Column(f"{number}") for number in range(1, len(summary.sides) + 1)]
    columns = (Column("#"), Column("variant", "text", max_width=40), *heads)
    return Table(columns, rows, "Wins of the row against the column, %")


def _joined(groups: Iterable[Iterable[str]]) -> str:
    return " | ".join(", ".join(message.printable(name, 40) for name in one) for one in groups)


def _percent(log_odds: float) -> str:
    return numbers.DASH if isnan(log_odds) else f"{100 / (1 + exp(-log_odds)):.0f}"
