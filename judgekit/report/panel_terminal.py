"""What the judges of a panel look like in a terminal: each by itself, and how far they agree."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from judgekit.evaluation.comparing.figures import PanelFigures
    from judgekit.stats.bias import PositionBias

FLAG_WORDS = {
    "position_bias": "favours the output it sees {place}",
    "mostly_inconsistent": "contradicts itself on most pairs when the order is turned",
}
"""What is said of a judge with a flag."""


def short_names(judges: Iterable[str]) -> dict[str, str]:
    """What judges are called where there is little room."""
    known = list(dict.fromkeys(judges))
    models = [judge.rpartition(" ")[0] or judge for judge in known]
    return {
        judge: view.printable(model if models.count(model) == 1 else judge.partition("@")[0])
        for judge, model in zip(known, models, strict=True)
    }


def flag_words(flag: str, position: PositionBias | None) -> str:
    """What a flag says of a judge."""
    is_second = position is not None and position.value < 0
    return FLAG_WORDS[flag].format(place="second" if is_second else "first")


def points_over_half(position: PositionBias) -> str:
    """How much more often than half the first place is chosen."""
    value, low, high = _each(position)
    return f"{value} points more often than half [{low}, {high}]"


def panel_lines(panel: PanelFigures) -> list[str]:
    """How far the judges agree, and which of them are doubtful."""
    agreed = view.DASH if isnan(panel.agreed) else f"{panel.agreed * 100:.0f} %"
    alpha = panel.alpha
    beyond = "" if alpha is None or isnan(alpha.value) else f" ({view.number(alpha)} by alpha)"
    lines = [f"panel   each judge has a vote; two of them agree on {agreed} of winners{beyond}"]
    names = short_names(one.judge for one in panel.judges)
    for one in panel.judges:
        if one.flags:
            words = "; ".join(flag_words(flag, one.position) for flag in one.flags)
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
    names = short_names(one.judge for one in panel.judges)
    for one in panel.judges:
        whole = one.whole
        counts = (whole.wins, whole.ties, whole.losses) if wins else ()
        table.add_row(
            Text(names[one.judge]),
            *(f"{n:,}" for n in counts),
            view.rate(one.flip_rate),
            view.DASH if one.position is None else _points(one.position),
        )
    return table


_WINS = ("A wins", "ties", "B wins")


def _points(position: PositionBias) -> str:
    value, low, high = _each(position)
    return f"{value} [{low}, {high}]"


def _each(position: PositionBias) -> tuple[str, ...]:
    return tuple(_signed(x) for x in (position.value, position.low, position.high))


def _signed(share: float) -> str:
    return view.DASH if isnan(share) else f"{share * 100:+.0f}"
