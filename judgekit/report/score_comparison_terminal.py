"""What two runs beside each other look like in a terminal, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit.report import terminal, view
from judgekit.report.comparison_terminal import decision_line, plain_json, small_p

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from judgekit.evaluation.comparing.score_figures import ScoreComparison, ScoreDifference

_TESTS = {
    "mcnemar": "McNemar's test (mid-p): they are pass or fail",
    "t": "the paired t test: there are 15 cases or more",
    "sign-flip": "all flips of signs: there are fewer than 15 cases, or all differ alike",
}


def print_scores(console: Console, compared: ScoreComparison) -> None:
    """Print the differences and the decision."""
    console.print()
    console.print(_table(compared))
    terminal.print_lines(console, [*_tests(compared), *_gaps(compared)])
    line = decision_line(compared.decision, compared.a, compared.b)
    console.print(line, markup=False, style="bold")


def scores_json(compared: ScoreComparison) -> object:
    """The figures as JSON; what is undefined is null."""
    return plain_json(asdict(compared))


def _tests(compared: ScoreComparison) -> list[str]:
    """What the decision rests on, and what other looks at the same cases say."""
    lines = []
    leading = compared.value or compared.pass_rate
    if leading is not None and leading.p is not None:
        measure = "values" if compared.value is not None else "pass rates"
        lines.append(f"decides the {measure}, by {_TESTS[leading.test]}")
        lines += _second_opinions(leading, compared.decision.alpha)
    changed = None if compared.pass_rate is None else compared.pass_rate.changed
    if changed is not None:
        only_a, only_b = (view.count(n, "case") for n in changed)
        lines.append(f"passes  {only_a} only with A, {only_b} only with B")
    return lines


def _second_opinions(found: ScoreDifference, alpha: float) -> list[str]:
    if found.p is None or found.test == "mcnemar":
        return []
    p = found.ranks.p_value
    agrees = (p <= alpha) == (found.p <= alpha)
    word = "agrees" if agrees else "disagrees: look at single cases before relying on it"
    return [
        f"beside  Wilcoxon's signed ranks p {small_p(p)}: {word}",
        f"        resampled cases {view.number(found.resampled, 3)}",
        f"        B is higher on {view.rate(found.higher)} of cases, even ones half",
    ]


def _gaps(compared: ScoreComparison) -> list[str]:
    pairs = ((compared.n_only_a, "A"), (compared.n_only_b, "B"))
    lines = [f"without {view.count(n, 'case')} only {side} answers" for n, side in pairs if n]
    if compared.n_unscored:
        n_unscored = view.count(compared.n_unscored, "case")
        sides = f"A for {compared.n_unscored_a:,}, B for {compared.n_unscored_b:,}"
        lines.append(f"without {n_unscored} that a side has no value for ({sides})")
    if compared.bounds is not None and compared.value is not None:
        low, high = compared.bounds
        lines.append(
            f"bounds  B less A is {low:+.3f} to {high:+.3f} whatever the missing values had been"
        )
    return lines


def _table(compared: ScoreComparison) -> Table:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    a, b = (view.printable(name, 40) for name in (compared.a, compared.b))
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
            table.add_row(Text(view.printable(name)), *_cells(found))
    return table


def _cells(found: ScoreDifference) -> list[str]:
    p = found.p if found.p_adjusted is None else found.p_adjusted
    return [
        f"{found.estimate.n:,}",
        f"{found.a:.3f}",
        f"{found.b:.3f}",
        view.number(found.estimate, 3),
        view.DASH if p is None else small_p(p),
        view.DASH if found.effect_size is None else f"{found.effect_size:+.2f}",
        view.DASH if found.detectable is None else f"{found.detectable:.3f}",
    ]
