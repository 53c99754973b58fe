"""What a blind comparison looks like in a terminal, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, cast

from judgekit.report import terminal, view
from judgekit.report.panel_terminal import (
    flag_words,
    panel_lines,
    panel_table,
    points_over_half,
    short_names,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console
    from rich.table import Table

    from judgekit.evaluation.comparing.figures import ComparisonSummary, Decision, WinFigures
    from judgekit.records.comparison import Comparison, PairAnswer

_MOST_SHOWN = 220
_SMALLEST_P = 0.001
_WINNERS = {"a": "A", "b": "B", "tie": "tie", None: "open"}
RULE_WORDS = {
    "consistent": "who wins in both orders",
    "average": "who is preferred by more than half of both orders wins",
}
"""What each rule for two orders says."""


def print_comparison(console: Console, summary: ComparisonSummary) -> None:
    """Print the decision, the table of wins and the notes below."""
    console.print()
    console.print(_table(summary))
    if summary.panel is not None:
        console.print(panel_table(summary.panel))
    terminal.print_lines(console, notes(summary))
    console.print(decision_line(summary.decision, summary.a, summary.b), markup=False, style="bold")


def decision_line(decision: Decision, a: str, b: str) -> str:
    """Which side is better, or why that is open."""
    p = "" if decision.p is None else f", p {small_p(decision.p)}"
    if decision.winner is not None:
        better = a if decision.winner == "a" else b
        return f"{view.printable(better)} is better: {decision.reason}{p}"
    more = ""
    if decision.n_to_decide is not None:
        more = f"; about {view.count(decision.n_to_decide, 'case')} would decide it"
    return f"no decision: {decision.reason}{p}{more}"


def comparison_json(summary: ComparisonSummary) -> dict[str, object]:
    """A comparison's figures as JSON; what is undefined is null."""
    return cast("dict[str, object]", plain_json(asdict(summary)))


def plain_json(value: object) -> object:
    """A value with every nan as None, so that it is JSON."""
    if isinstance(value, dict):
        return {key: plain_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in value]
    return None if isinstance(value, float) and isnan(value) else value


def small_p(p: float) -> str:
    """A p-value: `0.021`, `< 0.001`."""
    return f"< {_SMALLEST_P:g}" if p < _SMALLEST_P else f"{p:.3f}"


def comparison_lines(found: Comparison) -> str:
    """One comparison: the case, the winner, and what the judge said of the whole in each order."""
    contradicts = "  (the orders contradict each other)" if found.consistent is False else ""
    case = view.printable(found.case_id or "?")
    lines = [f"{_WINNERS[found.winner]:<5} {case}{contradicts}"]
    if found.error is not None:
        lines.append(f"      no output: {view.one_line(found.error, _MOST_SHOWN)}")
    names = short_names(one.judge for one in found.judges)
    if names:
        votes = [f"{names[one.judge]} {_WINNERS[one.winner]}" for one in found.judges]
        lines.append(f"      votes: {'; '.join(votes)}")
    for said in found.preferences:
        about = _about(said, names)
        why = view.printable(said.rationale, _MOST_SHOWN)
        lines.append(f"      {about}, {said.order.upper()}: {said.choice}  {why}")
    for failure in found.failures:
        about = _about(failure, names)
        why = view.one_line(failure.message, _MOST_SHOWN)
        lines.append(f"      {about}, {failure.order.upper()}: {failure.kind}  {why}")
    return "\n".join(lines)


def _about(said: PairAnswer, names: Mapping[str, str]) -> str:
    about = view.printable(said.criterion or "on the whole")
    return f"{names[said.judge]}, {about}" if names else about


def notes(summary: ComparisonSummary) -> list[str]:
    """Everything beside the table."""
    return [
        *(f"judge   {view.printable(judge)}" for judge in summary.judges),
        f"asked   {view.spent(summary.spent)}",
        *rule_line(summary.rule),
        *_about_judge(summary),
        *_about_sides(summary),
        *_about_gaps(summary),
    ]


def rule_line(rule: str | None) -> list[str]:
    """Which rule was applied, where it is not the usual one."""
    return [f"rule    {rule}: {RULE_WORDS[rule]}"] if rule == "average" else []


def _about_judge(summary: ComparisonSummary) -> list[str]:
    lines = []
    if not isnan(summary.flip_rate.value):
        lines.append(f"flips   {view.rate(summary.flip_rate)} of pairs change with the order")
    if summary.position is not None:
        lines.append(f"first   chosen {points_over_half(summary.position)}")
    who = "the judge" if summary.panel is None else "the panel"
    lines += [f"doubt   {who} {flag_words(flag, summary.position)}" for flag in summary.flags]
    return lines if summary.panel is None else [*lines, *panel_lines(summary.panel)]


def _about_sides(summary: ComparisonSummary) -> list[str]:
    lines = []
    if summary.length_controlled is not None:
        found = summary.length_controlled
        rate = f"{found.value * 100:.0f} %" if isnan(found.low) else view.rate(found)
        lines.append(f"length  A would win {rate} if both outputs were equally long")
    if summary.raw_a is not None and summary.raw_b is not None:
        higher = {"a": "A is higher", "b": "B is higher", "tie": "equal", None: ""}
        lines.append(
            f"scores  A {summary.raw_a:.2f}, B {summary.raw_b:.2f} of 10 on average: "
            f"{higher[summary.raw_winner]} (no decision by itself)"
        )
    if summary.evidence is not None:
        seen = summary.evidence
        where = "not decided" if seen.stopped_at is None else f"stopped after {seen.stopped_at:,}"
        lines.append(
            f"looked  after each of {view.count(seen.n_cases, 'case')}: "
            f"e-value {seen.e_value:.3g}, {where}"
        )
    return lines


def _about_gaps(summary: ComparisonSummary) -> list[str]:
    lines = []
    whole = summary.whole
    if whole.n_undecided:
        low, high = whole.bounds
        lines.append(
            f"bounds  {low * 100:.0f} to {high * 100:.0f} % if B or A had won the "
            f"{view.count(whole.n_undecided, 'undecided pair')}"
        )
    lines += _about_names(summary)
    if summary.n_identical:
        lines.append(f"same    {view.count(summary.n_identical, 'pair')} alike: ties, not asked")
    if summary.n_errors:
        n_errors = view.count(summary.n_errors, "pair")
        lines.append(f"errors  {n_errors} with an output that is an error; not judged")
    out = summary.left_out
    for n, what, cases in (
        (out.n_only_a, "only A answers", out.only_a),
        (out.n_only_b, "only B answers", out.only_b),
        (out.n_other_input, "whose inputs differ", out.other_input),
    ):
        if n:
            some = ", ".join(view.printable(case, 40) for case in cases)
            dots = ", …" if n > len(cases) else ""
            lines.append(f"without {view.count(n, 'case')} {what}: {some}{dots}")
    for kind, n_failed in summary.failures.items():
        lines.append(f"failed  {view.count(n_failed, 'question')}: {view.FAILURE_WORDS[kind]}")
        lines.append(f"        {view.one_line(summary.failure_messages[kind], 300)}")
    return lines


def _about_names(summary: ComparisonSummary) -> list[str]:
    if summary.n_scrubbed is None:
        return ["names   of makers were left in the outputs (--no-scrub)"]
    if not summary.n_scrubbed:
        return []
    n_scrubbed = view.count(summary.n_scrubbed, "passage")
    return [f"names   {n_scrubbed} by which an output named its maker not shown"]


def _table(summary: ComparisonSummary) -> Table:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    a, b = (view.printable(name, 40) for name in (summary.a, summary.b))
    title = f"{view.printable(summary.rubric)}: A is {a}, B is {b}"
    table = Table(
        title=Text(title, style="bold"), title_justify="left", header_style="dim",
        box=box.SIMPLE_HEAD, padding=(0, 1),
    )  # fmt: skip
    table.add_column("", overflow="fold", max_width=40)
    for name in ("A wins", "ties", "flips", "B wins", "A's share, 95 %", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, figures in _rows(summary).items():
        p = figures.p if figures.p_adjusted is None else figures.p_adjusted
        counts = (figures.wins, figures.ties, figures.inconsistent, figures.losses)
        table.add_row(
            Text(view.printable(name)),
            *(f"{n:,}" for n in counts),
            view.rate(figures.rate),
            view.DASH if p is None else small_p(p),
        )
    return table


def _rows(summary: ComparisonSummary) -> Mapping[str, WinFigures]:
    return {
        "on the whole": summary.whole,
        **summary.criteria,
        **{f"stratum {name}": figures for name, figures in summary.strata.items()},
        **{f"tag {name}": figures for name, figures in summary.tags.items()},
    }
