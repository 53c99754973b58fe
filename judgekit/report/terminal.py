"""What a grading looks like in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.planning.plan import GradePlan
from judgekit.report import run_view, view
from judgekit.report.hanging import Hanging

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from judgekit.evaluation.figures.summary import GradeSummary, VariantSummary
    from judgekit.evaluation.grading import Graded
    from judgekit.evaluation.planning.plan import AskingPlan, ComparisonPlan
    from judgekit.records.judgment import JudgeFailure, Judgment
    from judgekit.records.verdict import Verdict
    from judgekit.report.view import VariantRow

_MOST_SHOWN = 5
_RATIONALE_LENGTH = 220
_BOUNDLESS = 100_000
_IF_READABLE = ", if every reply is readable at first"


def print_summary(console: Console, summary: GradeSummary) -> None:
    """Print the table of variants and the lines below it."""
    title = f"{summary.rubric}: passes from {summary.pass_threshold:g}"
    print_variants(console, summary.variants, title)
    print_lines(console, _notes(summary))


def print_variants(console: Console, variants: Sequence[VariantRow], title: str) -> None:
    """Print a table with a row for each variant, and one of the criteria where they need it."""
    console.print()
    table, is_whole = _fitting_table(console, variants, title)
    console.print(table)
    if not is_whole:
        console.print(_criteria_table(variants))


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Print plain lines below a table."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    for line in lines:
        console.print(Hanging(Text(line, style="dim"), labelled=True))


def print_weakest(console: Console, graded: Sequence[Graded], most: int = _MOST_SHOWN) -> None:
    """Print the outputs that did not pass, worst first, with the judge's reasons."""
    # Outputs without any judgment are left out: the notes below the table say why there is none.
    wanting = [g for g in graded if g.verdict.passed is not True and g.verdict.judgments]
    if not wanting:
        return
    wanting.sort(key=lambda g: (g.verdict.value_high, g.index))
    console.print()
    shown = wanting[:most]
    more = f" ({len(shown)} of {len(wanting)}; all with -v)" if len(wanting) > most else ""
    console.print(f"[bold]Not passed[/bold][dim]{more}[/dim]", highlight=False)
    for item in shown:
        console.print(_verdict_lines(item.verdict))


def print_verdicts(console: Console, graded: Iterable[Graded]) -> None:
    """Print every verdict with every reason."""
    for item in graded:
        console.print(_verdict_lines(item.verdict))


def print_plan(console: Console, plan: GradePlan | ComparisonPlan) -> None:
    """Print what a grading or a comparison would ask and cost."""
    from rich.table import Table  # noqa: PLC0415 - a tenth of a second, only when printing

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, text in _plan_rows(plan):
        table.add_row(name, _literal(text))
    console.print(table, highlight=False)


def _plan_rows(plan: GradePlan | ComparisonPlan) -> list[tuple[str, str]]:
    likely, most = plan.output_tokens
    price = (
        "unknown (litellm's table has no price for this model)"
        if plan.price_usd is None
        else f"{view.usd(plan.price_usd[0])} likely, {view.usd(plan.price_usd[1])} at most"
    )
    return [
        _planned(plan),
        ("questions", f"{plan.n_questions:,}"),
        ("owned already", f"{plan.n_owned:,}{_saved(plan)}"),
        ("calls to make", f"{plan.n_calls:,}{_IF_READABLE if plan.n_calls else ''}"),
        ("tokens to send", f"{plan.input_tokens:,} ({plan.token_source})"),
        ("tokens to come", f"{likely:,} likely, {most:,} at most (estimate)"),
        ("price", "$0: nothing to ask" if plan.n_calls == 0 else price),
        ("judge", plan.model),
        ("template", plan.template),
    ]


def _planned(plan: GradePlan | ComparisonPlan) -> tuple[str, str]:
    """What is graded or compared, and how much of it needs no judge."""
    skipped = f", {plan.n_skipped:,} without an output" if plan.n_skipped else ""
    if isinstance(plan, GradePlan):
        return "outputs", f"{plan.n_outputs:,}{skipped}"
    same = f", {plan.n_identical:,} alike" if plan.n_identical else ""
    return "pairs", f"{plan.n_pairs:,} in both orders{skipped}{same}"


def _saved(plan: AskingPlan) -> str:
    return f" ({view.usd(plan.saved_usd)} when bought)" if plan.saved_usd else ""


def _fitting_table(
    console: Console, variants: Sequence[VariantRow], title: str
) -> tuple[Table, bool]:
    """The fullest table that fits the console, and whether it shows the criteria."""
    # A table that does not fit would lose its last columns without a word.
    from rich.measure import Measurement  # noqa: PLC0415 - a tenth of a second, only when printing

    boundless = console.options.update_width(_BOUNDLESS)
    for intervals, criteria in ((True, True), (False, True), (True, False)):
        table = _summary_table(variants, title, intervals=intervals, criteria=criteria)
        if Measurement.get(console, boundless, table).maximum <= console.width:
            return table, criteria
    return _summary_table(variants, title, intervals=False, criteria=False), False


def _summary_table(
    variants: Sequence[VariantRow], title: str, *, intervals: bool, criteria: bool
) -> Table:
    """A row for each variant."""
    table = _table(title)
    table.add_column("variant", overflow="fold", max_width=30)
    for name in ("passed", "rate, 95 %", "value, 95 %" if intervals else "value"):
        table.add_column(name, justify="right", no_wrap=True)
    names = _criteria(variants) if criteria else []
    for name in names:
        table.add_column(_literal(name, 40), justify="right", no_wrap=True)
    for variant in variants:
        table.add_row(
            _literal(variant.variant or view.DASH),
            view.passed(variant),
            view.rate(variant.pass_rate),
            view.number(variant.value) if intervals else view.plain(variant.value),
            *(view.plain_or_dash(variant.criteria.get(name)) for name in names),
        )
    return table


def _criteria_table(variants: Sequence[VariantRow]) -> Table:
    """A row for each criterion and variant, where they do not fit beside each other."""
    table = _table(None)
    table.add_column("criterion", overflow="fold")
    table.add_column("variant", overflow="fold", max_width=30)
    table.add_column("value, 95 %", justify="right", no_wrap=True)
    for name in _criteria(variants):
        for place, variant in enumerate(v for v in variants if name in v.criteria):
            table.add_row(
                _literal("" if place else name),
                _literal(variant.variant or view.DASH),
                view.number(variant.criteria[name]),
            )
    return table


def _criteria(variants: Sequence[VariantRow]) -> list[str]:
    return list(dict.fromkeys(name for v in variants for name in v.criteria))


def _table(title: str | None) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    return Table(
        title=None if title is None else _literal(title, style="bold"),
        title_justify="left",
        header_style="dim",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
    )


def _literal(text: str, limit: int | None = None, *, style: str = "") -> Text:
    """Foreign text as it stands: neither markup, emoji names nor control characters are run."""
    from rich.text import Text  # noqa: PLC0415

    return Text(view.printable(text, limit), style=style)


def _notes(summary: GradeSummary) -> list[str]:
    lines = [f"judge   {view.printable(judge)}" for judge in summary.judges]
    lines += run_view.trust_lines(summary.calibration, summary.uncalibrated)
    lines.append(f"asked   {view.spent(summary.spent)}")
    if summary.n_evidence:
        lines.append(
            f"quotes  {summary.n_evidence_found} of {summary.n_evidence} passages that the judge "
            "quoted stand in the outputs"
        )
    for flag, n in summary.flags.items():
        if flag != "evidence_not_found":  # the line above counts those
            lines.append(f"marked  {view.count(n, 'judgment')}: {view.FLAG_WORDS.get(flag, flag)}")
    for variant in summary.variants:
        name = view.printable(variant.variant) or "all"
        if variant.n_undecided or variant.n_errors:
            low, high = variant.pass_rate_bounds
            lines.append(
                f"bounds  {name}: {low * 100:.0f} to {high * 100:.0f} % if the "
                f"{_open(variant)} had failed or passed"
            )
        if variant.n_errors:
            lines.append(
                f"errors  {name}: "
                f"{view.count(variant.n_errors, 'output')} of the system under test failed; "
                "not judged"
            )
    for kind, n in summary.failures.items():
        lines.append(
            f"failed  {view.count(n, 'judgment')}: {view.FAILURE_WORDS[kind]} "
            "(left out of the means, not counted as 0)"
        )
        lines.append(f"        {view.one_line(summary.failure_messages[kind], 300)}")
    return lines


def _open(variant: VariantSummary) -> str:
    if not variant.n_errors:
        return view.count(variant.n_undecided, "undecided output")
    return f"{view.count(variant.n_undecided + variant.n_errors, 'output')} without a verdict"


def headline(passed: bool | None, case_id: str, variant: str | None, value: float | None) -> Text:  # noqa: FBT001 - what it is about
    """The first line about an answer: pass, fail or open, which, and its value."""
    from rich.text import Text  # noqa: PLC0415

    text = Text()
    word, style = {
        True: ("pass", "green"),
        False: ("fail", "red"),
        None: ("open", "yellow"),
    }[passed]
    text.append(f"{word}  ", style=f"bold {style}")
    text.append(view.printable(case_id), style="bold")
    if variant:
        text.append(f"  {view.printable(variant)}", style="cyan")
    text.append("" if value is None else f"  {value:.2f}")
    return text


def append_own(text: Text, verdict: Verdict | None) -> None:
    """Append the judge's own value, where calibrated values decide."""
    if verdict is not None and verdict.uncalibrated is not None:
        own = verdict.uncalibrated.value
        said = view.DASH if own is None else f"{own:.2f}"
        text.append(f" calibrated, judge's own {said}", style="dim")


def append_said(
    text: Text, judgments: Sequence[Judgment], failures: Sequence[JudgeFailure]
) -> None:
    """Append what judges said of an answer, a line or two for each criterion."""
    for judgment in judgments:
        _append_judgment(text, judgment)
    for failure in failures:
        text.append(f"\n  {view.printable(failure.criterion)}: ", style="dim")
        text.append(f"{failure.kind}  ", style="yellow")
        text.append(view.one_line(failure.message, _RATIONALE_LENGTH))


def _verdict_lines(verdict: Verdict) -> RenderableType:
    text = headline(verdict.passed, verdict.case_id or "?", verdict.variant, verdict.value)
    append_own(text, verdict)
    if verdict.error is not None:
        text.append(f"\n  no output: {view.printable(verdict.error, _RATIONALE_LENGTH)}")
    append_said(text, verdict.judgments, verdict.failures)
    return Hanging(text, margin=2)


def _append_judgment(text: Text, judgment: Judgment) -> None:
    text.append(f"\n  {view.printable(judgment.criterion)} ", style="dim")
    text.append(f"{view.score(judgment)}  ")
    text.append(view.printable(judgment.rationale, _RATIONALE_LENGTH))
    for piece in judgment.evidence[:1]:
        mark = "" if piece.found else " (not in the output)"
        text.append(f"\n    “{view.printable(piece.quote, 100)}”{mark}", style="dim italic")
