"""Builds the document of a ranking of several variants: strengths, wins, notes, decision."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import exp, isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.comparison import panel_lines, panel_table, rule_lines
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
    from collections.abc import Mapping, Sequence

    from judgekit.evaluation import PairFigures, RankDecision, RankedSide, RankingSummary

_MOST_IN_MATRIX = 10

_END_REASONS = {
    "decided": "the top places are decided",
    "comparisons": "the limit of comparisons is reached",
    "cost": "the cost limit is reached",
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
    """Who is in the first places, or why that is open."""
    if decision.is_decided:
        names = [message.printable(name) for name in decision.order]
        who = f"{names[0]} is first" if len(names) == 1 else f"the order is {', '.join(names)}"
        return f"{who}: {decision.reason} (alpha {decision.alpha:g})"
    more = ""
    if decision.n_to_decide is not None:
        more = f"; about {numbers.format_count(decision.n_to_decide, 'case')} are needed to separate them"  # noqa: E501
    return f"no decision: {message.printable(decision.reason)} (alpha {decision.alpha:g}){more}"


def ranking_notes(summary: RankingSummary) -> list[LabelledText]:
    """Everything beside the tables."""
    asked = summary.questioned
    lines = [("judge", f"{message.printable(judge)}") for judge in asked.judges]
    if asked.spent is not None:
        lines.append(("calls", f"{numbers.format_spending(asked.spent)}"))
    lines += rule_lines(asked.rule)
    return [*lines, *_about_design(summary), *_about_judge(summary), *_about_gaps(summary)]


def _about_design(summary: RankingSummary) -> list[LabelledText]:
    asked, lines = summary.questioned, []
    if asked.ended != "all":
        made = f"{summary.n_comparisons + asked.n_errors:,} of {asked.n_planned:,} comparisons"
        lines.append(("ended", f"after {made}: {_END_REASONS[asked.ended]}"))
    if asked.is_adaptive:
        lines.append(
            (
                "pairs",
                (
                    "chosen adaptively: ranks and p-values are always-valid, the intervals of the "
                    "strengths are nominal"
                ),
            )
        )
    if len(summary.groups) > 1:
        groups = " | ".join(_names(group) for group in summary.groups)
        lines.append(
            (
                "groups",
                f"no decided comparison links these groups: {groups}; ranks hold within each",
            )
        )
    if summary.levels:
        levels = " | ".join(_names(level) for level in summary.levels)
        lines.append(
            (
                "one-way",
                (
                    f"only one side has ever won between {levels}: the distance has no upper "
                    "bound; each strength is shrunk by half a win and half a loss, and sign tests decide"  # noqa: E501
                ),
            )
        )
    return lines


def _about_judge(summary: RankingSummary) -> list[LabelledText]:
    lines = []
    if not isnan(summary.flip_rate.value):
        lines.append(
            (
                "flips",
                f"{numbers.format_rate(summary.flip_rate)} of comparisons change with the order",
            )
        )
    if summary.position is not None:
        first = summary.position
        value, low, high = (_percent(x) for x in (first.value, first.low, first.high))
        lines.append(
            ("position", "no choice depended on the position")
            if isnan(first.low)
            else (
                "position",
                (
                    f"between equal outputs the one shown first wins {value} % [{low}, {high}]; "
                    "strengths are corrected for it"
                ),
            )
        )
    else:
        lines.append(("position", f"position bias not estimated: {summary.position_reason}"))
    if summary.tie_share > 0:
        parameter = "" if summary.tie_parameter is None else f" {summary.tie_parameter:.2f}"
        share = f"{summary.tie_share * 100:.0f} %"
        lines.append(("ties", f"{share} of choices, counted as {_TIES[summary.ties]}{parameter}"))
    panel = summary.questioned.panel
    return lines if panel is None else [*lines, *panel_lines(panel)]


def _about_gaps(summary: RankingSummary) -> list[LabelledText]:
    asked, lines = summary.questioned, []
    if summary.n_undecided:
        n = numbers.format_count(summary.n_undecided, "comparison")
        lines.append(("open", f"{n} undecided because of a failure; excluded"))
        lines += _bounds(summary.sides)
    if summary.n_identical:
        n = numbers.format_count(summary.n_identical, "comparison")
        lines.append(("same", f"{n} of identical texts: counted as ties without a call"))
    if asked.n_errors:
        n = numbers.format_count(asked.n_errors, "comparison")
        lines.append(("errors", f"{n} with an output that records an error; not judged"))
    out = asked.left_out
    n_missing, n_other = out.n_only_a + out.n_only_b, out.n_other_input
    if n_missing:
        some = ", ".join(message.printable(case, 40) for case in (*out.only_a, *out.only_b)[:3])
        n = numbers.format_count(n_missing, "case")
        lines.append(("left out", f"{n} missing for some variants: {some}"))
    if n_other:
        some = ", ".join(message.printable(case, 40) for case in out.other_input)
        n = numbers.format_count(n_other, "case")
        lines.append(("left out", f"{n} with different inputs: {some}"))
    for kind, n_failed in asked.failures.items():
        lines.append(
            (
                "failed",
                f"{numbers.format_count(n_failed, 'question')}: {message.FAILURE_WORDS[kind]}",
            )
        )
        lines.append(("", f"{message.one_line(asked.failure_messages[kind], 300)}"))
    return lines


def _bounds(sides: Sequence[RankedSide]) -> list[LabelledText]:
    """The share of wins of each side, whatever is open had come to."""
    lines = []
    for side in sides[:_MOST_IN_MATRIX]:
        low, high = side.bounds
        name = message.printable(side.name, 40)
        lines.append(
            ("bounds", f"{low * 100:.0f} to {high * 100:.0f} % wins of {name}, depending on these")
        )
    return lines


def _strengths(summary: RankingSummary) -> Table:
    level = round((1 - summary.decision.alpha) * 100, 1)
    pairs = {(pair.a, pair.b): pair for pair in summary.pairs}
    rows, ends = [], set()
    for number, side in enumerate(summary.sides):
        below = summary.sides[number + 1 : number + 2]
        p = _p_to(pairs.get((side.name, below[0].name)) if below else None)
        rows.append((f"{side.place}", side.name, *_cells(side), p))
        if below and below[0].group != side.group:
            ends.add(number)
    heads = (f"strength, {level:g} %", "Elo", "wins", "rank", "p to next")
    columns = (Column("#"), Column("variant", "text", max_width=40), *map(Column, heads))
    notes = ("rank: the places that the comparisons leave open for it",)
    return Table(columns, tuple(rows), notes=notes, rules_after=frozenset(ends))


def _cells(side: RankedSide) -> list[str | Cell]:
    if isnan(side.strength.value):
        return [numbers.DASH] * 4
    about = "≥ " if side.is_unbeaten else "≤ " if side.is_winless else ""
    places = f"{side.best}" if side.best == side.worst else f"{side.best}–{side.worst}"  # noqa: RUF001
    strength = mean_cell(side.strength)
    return [
        replace(strength, text=f"{about}{strength.text}", short=None),
        f"{side.elo:,.0f}",
        f"{side.win_share * 100:.0f} %",
        places,
    ]


def _p_to(pair: PairFigures | None) -> str:
    return (
        numbers.DASH if pair is None or pair.p_adjusted is None else format_p_value(pair.p_adjusted)
    )


def _matrix(summary: RankingSummary) -> Table:
    """Who won how much against whom."""
    shares = _shares(summary.pairs)
    rows = tuple(
        (
            f"{number}",
            side.name,
            *(shares.get((side.name, other.name), numbers.DASH) for other in summary.sides),
        )
        for number, side in enumerate(summary.sides, start=1)
    )
    heads = [Column(f"{number}") for number in range(1, len(summary.sides) + 1)]
    columns = (Column("#"), Column("variant", "text", max_width=40), *heads)
    return Table(columns, rows, "Wins of the row against the column, %")


def _shares(pairs: tuple[PairFigures, ...]) -> Mapping[tuple[str, str], str]:
    found = {}
    for pair in pairs:
        if not isnan(pair.share):
            found[pair.a, pair.b] = f"{pair.share * 100:.0f}"
            found[pair.b, pair.a] = f"{(1 - pair.share) * 100:.0f}"
    return found


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(message.printable(name, 40) for name in names)


def _percent(log_odds: float) -> str:
    return numbers.DASH if isnan(log_odds) else f"{100 / (1 + exp(-log_odds)):.0f}"
