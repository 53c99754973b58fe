"""What changes when another judge grades the same outputs, as terminal tables and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit.report import message, numbers, tables
from judgekit.report.numbers import format_p_value, nan_to_null

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from judgekit.rejudgment import CriterionShift, JudgedSide, PairedVerdict, Rejudged
    from judgekit.stats.agreement import Kappa
    from judgekit.stats.paired import PairedDifference

_MOST_FLIPS = 10

_RATIONALE = 150

_PASS_WORDS = {True: "pass", False: "fail", None: "open"}


def print_rejudgment(console: Console, found: Rejudged, *, every_flip: bool = False) -> None:
    """Print how the decisions, the scores and the money differ, and which decisions flip."""
    from rich.padding import Padding  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    shown = found.flips if every_flip else found.flips[:_MOST_FLIPS]
    if shown:
        console.print()
        more = f" ({len(shown)} of {len(found.flips)}; all with -v)"
        title = Text("Decisions that flip", style="bold")
        console.print(title.append(more if len(shown) < len(found.flips) else "", style="dim"))
        for one in shown:
            for by, line in _flip_lines(one):
                console.print(Padding(line, (0, 0, 0, by), expand=False))
    console.print()
    outputs, cases = (
        numbers.format_count(found.n, "output"),
        numbers.format_count(found.n_cases, "case"),
    )
    title = Text(f"{message.printable(found.rubric)}: {outputs} of {cases}", style="bold")
    console.print(title)
    tables.print_lines(console, _overall_figures(found))
    if found.criteria:
        console.print(_table(found.criteria))
    tables.print_lines(console, rejudgment_notes(found))
    console.print(Text(rejudgment_conclusion(found), style="bold"))


def rejudgment_json(found: Rejudged) -> object:
    """The figures as JSON; what is undefined is null."""
    return nan_to_null(asdict(found))


def rejudgment_conclusion(found: Rejudged) -> str:
    """What changes, in one line."""
    n = found.n - found.n_undecided
    if not n:
        return "nothing is decided by both judges"
    up = sum(one.new.passed is True for one in found.flips)
    if not found.flips:
        return f"no decision of {n:,} changes"
    return (
        f"{len(found.flips):,} of {numbers.format_count(n, 'decision')} change: "
        f"{up:,} now pass, {len(found.flips) - up:,} now fail"
    )


def _overall_figures(found: Rejudged) -> list[str]:
    """The figures of the whole."""
    return [
        f"churn    {numbers.format_rate(found.churn)} of verdicts change",
        f"kappa    {_kappa(found.kappa)} between the verdicts, beyond chance",
        (
            f"passed   {numbers.format_rate(found.old_pass_rate)} before, "
            f"{numbers.format_rate(found.new_pass_rate)} now"
        ),
        f"value    {_shift(found.value)} against before",
    ]


def rejudgment_notes(found: Rejudged) -> list[str]:
    """Everything beside the figures."""
    lines = [
        *(f"before   {message.printable(judge)}" for judge in found.old_judges),
        *(f"now      {message.printable(judge)}" for judge in found.new_judges),
        f"price    {numbers.format_usd(found.old_price_usd)} before, {numbers.format_usd(found.new_price_usd)} now",  # noqa: E501
        f"people   {message.printable(found.calibration)}",
    ]
    for name, kinds in (("before", found.old_failures), ("now", found.new_failures)):
        for kind, n in kinds.items():
            words = message.FAILURE_WORDS.get(kind, kind)
            lines.append(f"failed   {name}: {numbers.format_count(n, 'question')}: {words}")
    lines += [
        f"left out {numbers.format_count(n, 'output')}: {why}" for why, n in found.left_out.items()
    ]
    if found.n_undecided:
        undecided = numbers.format_count(found.n_undecided, "output")
        lines.append(f"without  {undecided} that a judge left undecided")
    if not found.same_rubric:
        lines.append("rubric   it is not the one that was used before; what differs is not the")
        lines.append("         judge's doing alone")
    if found.run_id is not None:
        lines.append(f"kept     as {found.run_id}")
    return lines


def _table(criteria: Mapping[str, CriterionShift]) -> Table:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("criterion", overflow="fold", max_width=24)
    for name in ("now less before", "p", "weighted kappa"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, found in criteria.items():
        changed = "" if found.same_question else " (asked otherwise)"
        table.add_row(
            Text(message.printable(name) + changed),
            _shift(found.shift),
            numbers.DASH if found.p_adjusted is None else format_p_value(found.p_adjusted),
            _kappa(found.kappa),
        )
    return table


def _flip_lines(one: PairedVerdict) -> list[tuple[int, Text]]:
    """A headline, and for the criterion that moved most what both judges said."""
    from rich.text import Text  # noqa: PLC0415

    variant = f"  {message.printable(one.variant)}" if one.variant else ""
    values = f"{_value(one.old)} to {_value(one.new)}"
    head = Text(f"{_PASS_WORDS[one.old.passed]} to {_PASS_WORDS[one.new.passed]}", style="bold")
    head.append(f"  {message.printable(one.case_id)}{variant}  {values}", style="")
    lines = [(0, head)]
    name = _most_moved(one)
    if name is None:
        return lines
    for when, side in (("before", one.old), ("now", one.new)):
        said = side.criteria[name]
        score = numbers.DASH if said.raw is None else f"{said.raw:g}"
        score += f" (first of {said.n:,})" if said.n > 1 else ""
        why = message.printable(said.rationale or "no reason", _RATIONALE)
        lines.append((2, Text(f"{message.printable(name)} {when} {score}: {why}", style="dim")))
    return lines


def _most_moved(one: PairedVerdict) -> str | None:
    names = [name for name in one.old.criteria if name in one.new.criteria]

    def moved(name: str) -> float:
        sides = one.old.criteria[name].value, one.new.criteria[name].value
        return -1.0 if sides[0] is None or sides[1] is None else abs(sides[0] - sides[1])

    return max(names, key=moved, default=None)


def _value(side: JudgedSide) -> str:
    return numbers.DASH if side.value is None else f"{side.value:.2f}"


def _shift(found: PairedDifference | None) -> str:
    return numbers.DASH if found is None else numbers.format_difference(found)


def _kappa(found: Kappa | None) -> str:
    return numbers.DASH if found is None else numbers.format_mean(found)
