"""A ranking of several variants as terminal tables and JSON: strengths, pairwise wins.

Notes and the decision.
"""

from __future__ import annotations

from dataclasses import asdict
from math import exp, isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers, tables
from judgekit.report.comparison import panel_lines, panel_table, rule_lines
from judgekit.report.numbers import format_p_value, nan_to_null

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from judgekit.evaluation import PairFigures, RankDecision, RankedSide, RankingSummary

_MOST_IN_MATRIX = 10

_LEFT_OUT = "without"

_END_REASONS = {
    "decided": "the first places are decided",
    "comparisons": "no more comparisons were allowed",
    "cost": "the limit of money is reached",
    "cases": "the pairs that matter have no further cases",
    "interrupted": "interrupted",
}

_TIES = {
    "half": "half a win for each",
    "davidson": "an outcome of their own, Davidson's nu",
    "rao-kupper": "an outcome of their own, Rao and Kupper's theta",
}


def print_ranking(console: Console, summary: RankingSummary) -> None:
    """Print the table of strengths, who won against whom, the notes and the decision."""
    console.print()
    console.print(_strengths(summary))
    if len(summary.sides) <= _MOST_IN_MATRIX:
        console.print(_matrix(summary))
    if summary.questioned.panel is not None:
        console.print(panel_table(summary.questioned.panel, wins=False))
    tables.print_lines(console, ranking_notes(summary))
    console.print(ranking_decision(summary.decision), markup=False, style="bold")


def ranking_json(summary: RankingSummary) -> object:
    """A ranking's figures as JSON; what is undefined is null."""
    return nan_to_null(asdict(summary))


def ranking_decision(decision: RankDecision) -> str:
    """Who is in the first places, or why that is open."""
    if decision.is_decided:
        names = [message.printable(name) for name in decision.order]
        who = f"{names[0]} is first" if len(names) == 1 else f"the order is {', '.join(names)}"
        return f"{who}: {decision.reason} (alpha {decision.alpha:g})"
    more = ""
    if decision.n_to_decide is not None:
        more = f"; about {numbers.format_count(decision.n_to_decide, 'case')} would tell them apart"
    return f"no decision: {message.printable(decision.reason)} (alpha {decision.alpha:g}){more}"


def ranking_notes(summary: RankingSummary) -> list[str]:
    """Everything beside the tables."""
    asked = summary.questioned
    lines = [f"judge   {message.printable(judge)}" for judge in asked.judges]
    if asked.spent is not None:
        lines.append(f"asked   {numbers.format_spending(asked.spent)}")
    lines += rule_lines(asked.rule)
    return [*lines, *_about_design(summary), *_about_judge(summary), *_about_gaps(summary)]


def _about_design(summary: RankingSummary) -> list[str]:
    asked, lines = summary.questioned, []
    if asked.ended != "all":
        made = f"{summary.n_comparisons + asked.n_errors:,} of {asked.n_planned:,} comparisons"
        lines.append(f"ended   after {made}: {_END_REASONS[asked.ended]}")
    if asked.is_adaptive:
        lines.append(
            "pairs   chosen by what came out: places and p rest on evidence that is valid at any "
            "time, the intervals of the strengths are nominal"
        )
    if len(summary.groups) > 1:
        groups = " | ".join(_names(group) for group in summary.groups)
        lines.append(
            f"apart   no decided comparison links, even by way of others: {groups}; places hold "
            "within each"
        )
    if summary.levels:
        levels = " | ".join(_names(level) for level in summary.levels)
        lines.append(
            f"one-way only one side has ever won between {levels}: how far apart they are has no "
            "end; strengths are pulled in by half a win and half a loss each, and sign tests tell "
            "who is stronger"
        )
    return lines


def _about_judge(summary: RankingSummary) -> list[str]:
    lines = []
    if not isnan(summary.flip_rate.value):
        lines.append(
            f"flips   {numbers.format_rate(summary.flip_rate)} of comparisons change with the order"
        )
    if summary.position is not None:
        first = summary.position
        value, low, high = (_percent(x) for x in (first.value, first.low, first.high))
        lines.append(
            "first   no choice changed with the place"
            if isnan(first.low)
            else f"first   between equals the output shown first wins {value} % [{low}, {high}]; "
            "strengths are without that pull"
        )
    else:
        lines.append(f"first   its pull is not estimated: {summary.position_reason}")
    if summary.tie_share > 0:
        parameter = "" if summary.tie_parameter is None else f" {summary.tie_parameter:.2f}"
        share = f"{summary.tie_share * 100:.0f} %"
        lines.append(f"ties    {share} of choices, taken as {_TIES[summary.ties]}{parameter}")
    panel = summary.questioned.panel
    return lines if panel is None else [*lines, *panel_lines(panel)]


def _about_gaps(summary: RankingSummary) -> list[str]:
    asked, lines = summary.questioned, []
    if summary.n_undecided:
        n = numbers.format_count(summary.n_undecided, "comparison")
        lines.append(f"open    {n} that a failure leaves undecided; left out")
        lines += _bounds(summary.sides)
    if summary.n_identical:
        n = numbers.format_count(summary.n_identical, "comparison")
        lines.append(f"same    {n} of the same text: ties, not asked")
    if asked.n_errors:
        n = numbers.format_count(asked.n_errors, "comparison")
        lines.append(f"errors  {n} with an output that is an error; not judged")
    out = asked.left_out
    n_missing, n_other = out.n_only_a + out.n_only_b, out.n_other_input
    if n_missing:
        some = ", ".join(message.printable(case, 40) for case in (*out.only_a, *out.only_b)[:3])
        n = numbers.format_count(n_missing, "case")
        lines.append(f"{_LEFT_OUT} {n} that not all sides answer, for two of them: {some}")
    if n_other:
        some = ", ".join(message.printable(case, 40) for case in out.other_input)
        n = numbers.format_count(n_other, "case")
        lines.append(f"{_LEFT_OUT} {n} whose inputs differ between sides: {some}")
    for kind, n_failed in asked.failures.items():
        lines.append(
            f"failed  {numbers.format_count(n_failed, 'question')}: {message.FAILURE_WORDS[kind]}"
        )
        lines.append(f"        {message.one_line(asked.failure_messages[kind], 300)}")
    return lines


def _bounds(sides: Sequence[RankedSide]) -> list[str]:
    """The share of wins of each side, whatever is open had come to."""
    lines = []
    for side in sides[:_MOST_IN_MATRIX]:
        low, high = side.bounds
        name = message.printable(side.name, 40)
        lines.append(f"bounds  {low * 100:.0f} to {high * 100:.0f} % wins of {name} with these")
    return lines


def _strengths(summary: RankingSummary) -> Table:
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    rubric = message.printable(summary.questioned.rubric or "")
    counts = (
        f"{numbers.format_count(len(summary.sides), 'side')}, "
        f"{numbers.format_count(summary.n_comparisons, 'comparison')} on "
        f"{numbers.format_count(summary.n_cases, 'case')}"
    )
    level = round((1 - summary.decision.alpha) * 100, 1)
    table = _table(f"{rubric}: {counts}" if rubric else counts)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("side", overflow="fold", max_width=40)
    for name in (f"strength, {level:g} %", "Elo", "wins", "may be", "p to next"):
        table.add_column(name, justify="right", no_wrap=True)
    pairs = {(pair.a, pair.b): pair for pair in summary.pairs}
    for place, side in enumerate(summary.sides):
        below = summary.sides[place + 1 : place + 2]
        table.add_row(
            f"{side.place}",
            Text(message.printable(side.name)),
            *_cells(side),
            _p_to(pairs.get((side.name, below[0].name)) if below else None),
            end_section=bool(below) and below[0].group != side.group,
        )
    return table


def _cells(side: RankedSide) -> list[str]:
    if isnan(side.strength.value):
        return [numbers.DASH] * 4
    about = "≥ " if side.is_unbeaten else "≤ " if side.is_winless else ""
    places = f"{side.best}" if side.best == side.worst else f"{side.best}–{side.worst}"  # noqa: RUF001
    return [
        f"{about}{numbers.format_mean(side.strength)}",
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
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    shares = _shares(summary.pairs)
    table = _table("wins against, %")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("", overflow="fold", max_width=40)
    for number in range(1, len(summary.sides) + 1):
        table.add_column(f"{number}", justify="right", no_wrap=True)
    for number, side in enumerate(summary.sides, start=1):
        cells = [shares.get((side.name, other.name), numbers.DASH) for other in summary.sides]
        table.add_row(f"{number}", Text(message.printable(side.name)), *cells)
    return table


def _shares(pairs: tuple[PairFigures, ...]) -> Mapping[tuple[str, str], str]:
    found = {}
    for pair in pairs:
        if not isnan(pair.share):
            found[pair.a, pair.b] = f"{pair.share * 100:.0f}"
            found[pair.b, pair.a] = f"{(1 - pair.share) * 100:.0f}"
    return found


def _table(title: str) -> Table:
    from rich import box  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    return Table(
        title=Text(title, style="bold"), title_justify="left", header_style="dim",
        box=box.SIMPLE_HEAD, padding=(0, 1),
    )  # fmt: skip


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(message.printable(name, 40) for name in names)


def _percent(log_odds: float) -> str:
    return numbers.DASH if isnan(log_odds) else f"{100 / (1 + exp(-log_odds)):.0f}"
