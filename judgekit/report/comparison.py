"""A comparison of two variants, by blind preferences or by stored scores.

As terminal tables and JSON; with the judges of a panel. Stored comparisons are listed in
`listings`.
"""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, cast

from judgekit.report import message, numbers, tables
from judgekit.report.numbers import format_p_value, nan_to_null

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console
    from rich.table import Table

    from judgekit.evaluation import (
        ComparisonDecision,
        ComparisonSummary,
        PanelFigures,
        ScoreComparison,
        ScoreDifference,
        WinFigures,
    )
    from judgekit.records import Comparison, PairAnswer
    from judgekit.stats.bias import PositionBias

_MOST_SHOWN = 220

_WINNERS = {"a": "A", "b": "B", "tie": "tie", None: "open"}

_RULE_WORDS = {
    "consistent": "who wins in both orders",
    "average": "who is preferred by more than half of both orders wins",
}
"""What each rule for two orders says."""


def print_comparison(console: Console, summary: ComparisonSummary) -> None:
    """Print the decision, the table of wins and the notes below."""
    console.print()
    console.print(_wins_table(summary))
    if summary.panel is not None:
        console.print(panel_table(summary.panel))
    tables.print_lines(console, comparison_notes(summary))
    console.print(
        comparison_decision(summary.decision, summary.a, summary.b), markup=False, style="bold"
    )


def comparison_decision(decision: ComparisonDecision, a: str, b: str) -> str:
    """Which side is better, or why that is open."""
    p = "" if decision.p is None else f", p {format_p_value(decision.p)}"
    if decision.winner is not None:
        better = a if decision.winner == "a" else b
        return f"{message.printable(better)} is better: {decision.reason}{p}"
    more = ""
    if decision.n_to_decide is not None:
        more = f"; about {numbers.format_count(decision.n_to_decide, 'case')} would decide it"
    return f"no decision: {decision.reason}{p}{more}"


def comparison_json(summary: ComparisonSummary) -> dict[str, object]:
    """A comparison's figures as JSON; what is undefined is null."""
    return cast("dict[str, object]", nan_to_null(asdict(summary)))


def comparison_lines(found: Comparison) -> str:
    """One comparison: the case, the winner, and what the judge said of the whole in each order."""
    contradicts = "  (the orders contradict each other)" if found.consistent is False else ""
    case = message.printable(found.case_id or "?")
    lines = [f"{_WINNERS[found.winner]:<5} {case}{contradicts}"]
    if found.error is not None:
        lines.append(f"      no output: {message.one_line(found.error, _MOST_SHOWN)}")
    names = _short_judge_names(one.judge for one in found.judges)
    if names:
        votes = [f"{names[one.judge]} {_WINNERS[one.winner]}" for one in found.judges]
        lines.append(f"      votes: {'; '.join(votes)}")
    for said in found.preferences:
        about = _about(said, names)
        why = message.printable(said.rationale, _MOST_SHOWN)
        lines.append(f"      {about}, {said.order.upper()}: {said.choice}  {why}")
    for failure in found.failures:
        about = _about(failure, names)
        why = message.one_line(failure.message, _MOST_SHOWN)
        lines.append(f"      {about}, {failure.order.upper()}: {failure.kind}  {why}")
    return "\n".join(lines)


def _about(said: PairAnswer, names: Mapping[str, str]) -> str:
    about = message.printable(said.criterion or "on the whole")
    return f"{names[said.judge]}, {about}" if names else about


def comparison_notes(summary: ComparisonSummary) -> list[str]:
    """Everything beside the table."""
    return [
        *(f"judge   {message.printable(judge)}" for judge in summary.judges),
        f"asked   {numbers.format_spending(summary.spent)}",
        *rule_lines(summary.rule),
        *_about_judge(summary),
        *_about_sides(summary),
        *_about_gaps(summary),
    ]


def rule_lines(rule: str | None) -> list[str]:
    """Which rule was applied, where it is not the usual one."""
    return [f"rule    {rule}: {_RULE_WORDS[rule]}"] if rule == "average" else []


def _about_judge(summary: ComparisonSummary) -> list[str]:
    lines = []
    if not isnan(summary.flip_rate.value):
        lines.append(
            f"flips   {numbers.format_rate(summary.flip_rate)} of pairs change with the order"
        )
    if summary.position is not None:
        lines.append(f"first   chosen {_first_position_lead(summary.position)}")
    who = "the judge" if summary.panel is None else "the panel"
    lines += [
        f"doubt   {who} {_judge_flag_words(flag, summary.position)}" for flag in summary.flags
    ]
    return lines if summary.panel is None else [*lines, *panel_lines(summary.panel)]


def _about_sides(summary: ComparisonSummary) -> list[str]:
    lines = []
    if summary.length_controlled is not None:
        found = summary.length_controlled
        rate = f"{found.value * 100:.0f} %" if isnan(found.low) else numbers.format_rate(found)
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
            f"looked  after each of {numbers.format_count(seen.n_cases, 'case')}: "
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
            f"{numbers.format_count(whole.n_undecided, 'undecided pair')}"
        )
    lines += _about_names(summary)
    if summary.n_identical:
        lines.append(
            f"same    {numbers.format_count(summary.n_identical, 'pair')} alike: ties, not asked"
        )
    if summary.n_errors:
        n_errors = numbers.format_count(summary.n_errors, "pair")
        lines.append(f"errors  {n_errors} with an output that is an error; not judged")
    out = summary.left_out
    for n, what, cases in (
        (out.n_only_a, "only A answers", out.only_a),
        (out.n_only_b, "only B answers", out.only_b),
        (out.n_other_input, "whose inputs differ", out.other_input),
    ):
        if n:
            some = ", ".join(message.printable(case, 40) for case in cases)
            dots = ", …" if n > len(cases) else ""
            lines.append(f"without {numbers.format_count(n, 'case')} {what}: {some}{dots}")
    for kind, n_failed in summary.failures.items():
        lines.append(
            f"failed  {numbers.format_count(n_failed, 'question')}: {message.FAILURE_WORDS[kind]}"
        )
        lines.append(f"        {message.one_line(summary.failure_messages[kind], 300)}")
    return lines


def _about_names(summary: ComparisonSummary) -> list[str]:
    if summary.n_scrubbed is None:
        return ["names   of makers were left in the outputs (--no-scrub)"]
    if not summary.n_scrubbed:
        return []
    n_scrubbed = numbers.format_count(summary.n_scrubbed, "passage")
    return [f"names   {n_scrubbed} by which an output named its maker not shown"]


def _wins_table(summary: ComparisonSummary) -> Table:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    a, b = (message.printable(name, 40) for name in (summary.a, summary.b))
    title = f"{message.printable(summary.rubric)}: A is {a}, B is {b}"
    table = Table(
        title=Text(title, style="bold"), title_justify="left", header_style="dim",
        box=box.SIMPLE_HEAD, padding=(0, 1),
    )  # fmt: skip
    table.add_column("", overflow="fold", max_width=40)
    for name in ("A wins", "ties", "flips", "B wins", "A's share, 95 %", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, figures in _wins_rows(summary).items():
        p = figures.p if figures.p_adjusted is None else figures.p_adjusted
        counts = (figures.wins, figures.ties, figures.inconsistent, figures.losses)
        table.add_row(
            Text(message.printable(name)),
            *(f"{n:,}" for n in counts),
            numbers.format_rate(figures.rate),
            numbers.DASH if p is None else format_p_value(p),
        )
    return table


def _wins_rows(summary: ComparisonSummary) -> Mapping[str, WinFigures]:
    return {
        "on the whole": summary.whole,
        **summary.criteria,
        **{f"stratum {name}": figures for name, figures in summary.strata.items()},
        **{f"tag {name}": figures for name, figures in summary.tags.items()},
    }


_TESTS = {
    "mcnemar": "McNemar's test (mid-p): they are pass or fail",
    "t": "the paired t test: there are 15 cases or more",
    "sign-flip": "all flips of signs: there are fewer than 15 cases, or all differ alike",
}


def print_score_comparison(console: Console, compared: ScoreComparison) -> None:
    """Print the differences and the decision."""
    console.print()
    console.print(_scores_table(compared))
    tables.print_lines(console, [*_test_lines(compared), *_missing_lines(compared)])
    line = comparison_decision(compared.decision, compared.a, compared.b)
    console.print(line, markup=False, style="bold")


def score_comparison_json(compared: ScoreComparison) -> object:
    """The figures as JSON; what is undefined is null."""
    return nan_to_null(asdict(compared))


def _test_lines(compared: ScoreComparison) -> list[str]:
    """What the decision rests on, and what other looks at the same cases say."""
    lines = []
    leading = compared.value or compared.pass_rate
    if leading is not None and leading.p is not None:
        measure = "values" if compared.value is not None else "pass rates"
        lines.append(f"decides the {measure}, by {_TESTS[leading.test]}")
        lines += _second_opinions(leading, compared.decision.alpha)
    changed = None if compared.pass_rate is None else compared.pass_rate.changed
    if changed is not None:
        only_a, only_b = (numbers.format_count(n, "case") for n in changed)
        lines.append(f"passes  {only_a} only with A, {only_b} only with B")
    return lines


def _second_opinions(found: ScoreDifference, alpha: float) -> list[str]:
    if found.p is None or found.test == "mcnemar":
        return []
    p = found.ranks.p_value
    agrees = (p <= alpha) == (found.p <= alpha)
    word = "agrees" if agrees else "disagrees: look at single cases before relying on it"
    return [
        f"beside  Wilcoxon's signed ranks p {format_p_value(p)}: {word}",
        f"        resampled cases {numbers.format_mean(found.resampled, 3)}",
        f"        B is higher on {numbers.format_rate(found.higher)} of cases, even ones half",
    ]


def _missing_lines(compared: ScoreComparison) -> list[str]:
    pairs = ((compared.n_only_a, "A"), (compared.n_only_b, "B"))
    lines = [
        f"without {numbers.format_count(n, 'case')} only {side} answers" for n, side in pairs if n
    ]
    if compared.n_unscored:
        n_unscored = numbers.format_count(compared.n_unscored, "case")
        sides = f"A for {compared.n_unscored_a:,}, B for {compared.n_unscored_b:,}"
        lines.append(f"without {n_unscored} that a side has no value for ({sides})")
    if compared.bounds is not None and compared.value is not None:
        low, high = compared.bounds
        lines.append(
            f"bounds  B less A is {low:+.3f} to {high:+.3f} whatever the missing values had been"
        )
    return lines


def _scores_table(compared: ScoreComparison) -> Table:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    a, b = (message.printable(name, 40) for name in (compared.a, compared.b))
    table = Table(
        title=Text(f"A is {a}, B is {b}", style="bold"), title_justify="left",
        header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1),
    )  # fmt: skip
    table.add_column("", overflow="fold", max_width=40)
    for name in ("cases", "A", "B", "B less A", "p", "effect", "can show"):
        table.add_column(name, justify="right", no_wrap=True)
    rows = {
        "value": compared.value,
        "pass rate": compared.pass_rate,
        **compared.criteria,
        **{f"stratum {name}": found for name, found in compared.strata.items()},
        **{f"tag {name}": found for name, found in compared.tags.items()},
    }
    for name, found in rows.items():
        if found is not None:
            table.add_row(Text(message.printable(name)), *_score_cells(found))
    return table


def _score_cells(found: ScoreDifference) -> list[str]:
    p = found.p if found.p_adjusted is None else found.p_adjusted
    return [
        f"{found.estimate.n:,}",
        f"{found.a:.3f}",
        f"{found.b:.3f}",
        numbers.format_mean(found.estimate, 3),
        numbers.DASH if p is None else format_p_value(p),
        numbers.DASH if found.effect_size is None else f"{found.effect_size:+.2f}",
        numbers.DASH if found.detectable is None else f"{found.detectable:.3f}",
    ]


_JUDGE_FLAG_WORDS = {
    "position_bias": "favours the output it sees {place}",
    "mostly_inconsistent": "contradicts itself on most pairs when the order is turned",
}
"""What is said of a judge with a flag."""


def _short_judge_names(judges: Iterable[str]) -> dict[str, str]:
    """What judges are called where there is little room."""
    known = list(dict.fromkeys(judges))
    models = [judge.rpartition(" ")[0] or judge for judge in known]
    return {
        judge: message.printable(model if models.count(model) == 1 else judge.partition("@")[0])
        for judge, model in zip(known, models, strict=True)
    }


def _judge_flag_words(flag: str, position: PositionBias | None) -> str:
    """What a flag says of a judge."""
    is_second = position is not None and position.value < 0
    return _JUDGE_FLAG_WORDS[flag].format(place="second" if is_second else "first")


def _first_position_lead(position: PositionBias) -> str:
    """How much more often than half the first place is chosen."""
    value, low, high = _signed_shares(position)
    return f"{value} points more often than half [{low}, {high}]"


def panel_lines(panel: PanelFigures) -> list[str]:
    """How far the judges agree, and which of them are doubtful."""
    agreed = numbers.DASH if isnan(panel.agreed) else f"{panel.agreed * 100:.0f} %"
    alpha = panel.alpha
    beyond = (
        "" if alpha is None or isnan(alpha.value) else f" ({numbers.format_mean(alpha)} by alpha)"
    )
    lines = [f"panel   each judge has a vote; two of them agree on {agreed} of winners{beyond}"]
    names = _short_judge_names(one.judge for one in panel.judges)
    for one in panel.judges:
        if one.flags:
            words = "; ".join(_judge_flag_words(flag, one.position) for flag in one.flags)
            lines.append(f"doubt   {names[one.judge]} {words}")
    return lines


def panel_table(panel: PanelFigures, *, wins: bool = True) -> Table:
    """A row for each judge."""
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(
        title=Text("each judge by itself", style="bold"), title_justify="left",
        header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1),
    )  # fmt: skip
    table.add_column("", overflow="fold", max_width=40)
    for name in (*(_WINS if wins else ()), "flips, 95 %", "first, over half"):
        table.add_column(name, justify="right", no_wrap=True)
    names = _short_judge_names(one.judge for one in panel.judges)
    for one in panel.judges:
        whole = one.whole
        counts = (whole.wins, whole.ties, whole.losses) if wins else ()
        table.add_row(
            Text(names[one.judge]),
            *(f"{n:,}" for n in counts),
            numbers.format_rate(one.flip_rate),
            numbers.DASH if one.position is None else _position_points(one.position),
        )
    return table


_WINS = ("A wins", "ties", "B wins")


def _position_points(position: PositionBias) -> str:
    value, low, high = _signed_shares(position)
    return f"{value} [{low}, {high}]"


def _signed_shares(position: PositionBias) -> tuple[str, ...]:
    return tuple(_signed(x) for x in (position.value, position.low, position.high))


def _signed(share: float) -> str:
    return numbers.DASH if isnan(share) else f"{share * 100:+.0f}"
