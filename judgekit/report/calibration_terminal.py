"""What a calibration looks like in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import view
from judgekit.report.calibration_blocks import Lines
from judgekit.report.calibration_view import calibration_view

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from judgekit.evaluation.calibrating.report import CalibrationReport
    from judgekit.report.calibration_blocks import Table

_NAME_WIDTH = 26


def print_calibration(console: Console, report: CalibrationReport, *, full: bool = False) -> None:
    """Print a calibration: its tables, its notes, and one line that sums it up."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    seen = calibration_view(report, full=full)
    console.print()
    console.print(Text(view.printable(seen.title), style="bold"))
    for block in seen.blocks:
        console.print(_lines(block) if isinstance(block, Lines) else _table(block))
    console.print()
    console.print(Text(view.printable(seen.conclusion), style="bold"))


def _table(block: Table) -> RenderableType:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.console import Group  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = RichTable(
        title=Text(f"\n{view.printable(block.title)}", style="bold"), title_justify="left",
        header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False,
    )  # fmt: skip
    for place, name in enumerate(block.columns):
        if place:
            table.add_column(name, justify="right", no_wrap=True)
        else:
            table.add_column(name, overflow="fold", max_width=_NAME_WIDTH)
    for row in block.rows:
        table.add_row(*(Text(view.printable(cell)) for cell in row))
    notes = [Text(f"  {view.printable(note)}", style="dim") for note in block.notes]
    return Group(table, *notes)


def _lines(block: Lines) -> RenderableType:
    from rich.console import Group  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    grid = RichTable(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    grid.add_column(style="" if block.title else "dim", overflow="fold", max_width=_NAME_WIDTH)
    grid.add_column(overflow="fold", style="" if block.title else "dim")
    for name, text in block.rows:
        indent = "  " if block.title else ""
        grid.add_row(Text(f"{indent}{view.printable(name)}"), Text(view.printable(text)))
    if not block.title:
        return grid
    return Group(Text(f"\n{block.title}", style="bold"), grid)
