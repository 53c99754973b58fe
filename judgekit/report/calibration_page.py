"""Renders a calibration to the terminal, and to an HTML, Markdown or JSON file with plots.

The content is made in `calibration`.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from html import escape
from math import isnan
from typing import TYPE_CHECKING

from judgekit.calibration import mean_rating
from judgekit.report import message
from judgekit.report.calibration import LabelledLines, calibration_view, shown_criteria
from judgekit.report.page import (
    PlotAxis,
    PlotSeries,
    check_page_path,
    draw_plot,
    html_page,
    markdown_text,
    write_page,
)

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, RenderableType

    from judgekit.calibration import (
        AlignedItems,
        CalibrationReport,
        CriterionCalibration,
        Reliability,
        Trust,
    )
    from judgekit.report.calibration import FigureTable
    from judgekit.report.page import PlotPoint

_LARGEST, _SMALLEST = 9.0, 2.0

check_calibration_path = partial(check_page_path, what="a calibration")
"""Refuse a place that a calibration cannot be written to, before anything is asked."""


def write_calibration(path: Path, report: CalibrationReport) -> None:
    """Write a calibration to a file, its format chosen by the suffix; whole or not at all."""
    check_calibration_path(path)
    write_page(
        path,
        figures=report.to_json,
        markdown=lambda: calibration_markdown(report),
        html=lambda: calibration_html(report),
    )


def calibration_markdown(report: CalibrationReport) -> str:
    """A calibration as Markdown."""
    seen = calibration_view(report, full=True)
    parts = [f"# Calibration: {markdown_text(seen.title)}", f"**{markdown_text(seen.conclusion)}**"]
    for block in seen.blocks:
        if block.title:
            parts.append(f"## {markdown_text(block.title)}")
        if isinstance(block, LabelledLines):
            parts.append("\n".join(f"- {_markdown_row(name, text)}" for name, text in block.rows))
        else:
            parts.append(_markdown_table(block))
            parts += [markdown_text(note) for note in block.notes]
    return "\n\n".join(parts) + "\n"


def calibration_html(report: CalibrationReport) -> str:
    """A calibration as a page of its own: no script, nothing is loaded.

    All foreign text escaped.
    """
    seen = calibration_view(report, full=True)
    body = [f"<h1>{escape(seen.title)}</h1>"]
    body.append(f'<p class="conclusion">{escape(seen.conclusion)}</p>')
    for place, block in enumerate(seen.blocks):
        body.append(f"<h2>{escape(block.title)}</h2>" if block.title else "")
        body.append(_html_lines(block) if isinstance(block, LabelledLines) else _html_table(block))
        if place == 1:
            body += _figures(report)
    return html_page(f"Calibration: {seen.title}", body)


def _markdown_row(name: str, text: str) -> str:
    return f"{markdown_text(name)}: {markdown_text(text)}" if name else markdown_text(text)


def _markdown_table(block: FigureTable) -> str:
    head = "| " + " | ".join(markdown_text(name) or " " for name in block.columns) + " |"
    rule = "| --- |" + " ---: |" * (len(block.columns) - 1)
    rows = ["| " + " | ".join(markdown_text(cell) for cell in row) + " |" for row in block.rows]
    return "\n".join([head, rule, *rows])


def _html_lines(block: LabelledLines) -> str:
    rows = [f"<tr><td>{escape(name)}</td><td>{escape(text)}</td></tr>" for name, text in block.rows]
    return f'<table class="lines">{"".join(rows)}</table>'


def _html_table(block: FigureTable) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in block.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in block.rows
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in block.notes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{notes}"


def _figures(report: CalibrationReport) -> list[str]:
    """The plots of each part that has its items at hand."""
    found = []
    for part in shown_criteria(report):
        plots = []
        aligned = report.aligned.get(part.name)
        if aligned is not None and report.kind == "pointwise":
            plots += [_scatter(aligned, part), _differences(aligned, part)]
        if part.trust is not None:
            plots += [_reliability(part.trust), _risk(part.trust)]
        if plots:
            found.append(f"<h2>{escape(part.name)}</h2>")
            found.append(f'<div class="plots">{"".join(plots)}</div>')
    return found


def _figure(picture: str, words: str) -> str:
    return f"<figure>{picture}<figcaption>{escape(words)}</figcaption></figure>"


def _dots(points: list[PlotPoint]) -> PlotSeries:
    """Points as dots, larger where several coincide."""
    counts = Counter(points)
    most = max(counts.values(), default=1)
    sizes = [_SMALLEST + (_LARGEST - _SMALLEST) * ((n - 1) / most) ** 0.5 for n in counts.values()]
    return PlotSeries(tuple(counts), sizes=tuple(sizes))


def _scatter(aligned: AlignedItems, part: CriterionCalibration) -> str:
    low, high = part.scale
    pairs = [(round(mean_rating(i), 2), round(i.judge or 0.0, 2)) for i in aligned.both]
    same = PlotSeries(((low, low), (high, high)), kind="rule", style=2)
    x, y = PlotAxis("people", low, high), PlotAxis("judge", low, high)
    words = "Each output by the mean of people's scores and the judge's; on the line both agree."
    return _figure(draw_plot(x, y, [same, _dots(pairs)], label=words), words)


def _differences(aligned: AlignedItems, part: CriterionCalibration) -> str:
    """Bland and Altman's plot: differences against the mean of both."""
    low, high = part.scale
    span = high - low
    pairs = []
    for item in aligned.both:
        human, judge = mean_rating(item), item.judge or 0.0
        pairs.append((round((human + judge) / 2, 2), round(judge - human, 2)))
    found = part.leniency
    levels = [found.bias.value, found.loa_low, found.loa_high]
    lines = [
        PlotSeries(((low, at), (high, at)), kind="line" if place == 0 else "rule", style=1)
        for place, at in enumerate(levels)
        if not isnan(at)
    ]
    zero = PlotSeries(((low, 0.0), (high, 0.0)), kind="rule", style=2)
    x, y = PlotAxis("mean of both", low, high), PlotAxis("judge - people", -span, span)
    words = (
        "Difference against the mean (Bland and Altman); the lines are the bias and the limits "
        f"within which {found.bias.level * 100:g} % of differences would lie if they were normal."
    )
    return _figure(draw_plot(x, y, [zero, *lines, _dots(pairs)], label=words), words)


def _reliability(found: Trust) -> str:
    marks = [
        PlotSeries(((0, 0), (1, 1)), kind="rule", style=2),
        *_bins(found.before, "as given", 0),
    ]
    if found.after is not None:
        marks += _bins(found.after, "recalibrated", 1)
    x, y = PlotAxis("confidence", 0, 1), PlotAxis("share right", 0, 1)
    words = "How often the judge is right at each confidence; on the line it says what it is worth."
    return _figure(draw_plot(x, y, marks, label=words), words)


def _bins(found: Reliability, name: str, style: int) -> list[PlotSeries]:
    points = tuple((row.confidence, row.rate.value) for row in found.bins)
    most = max((row.rate.n for row in found.bins), default=1)
    sizes = tuple(_SMALLEST + (_LARGEST - _SMALLEST) * row.rate.n / most for row in found.bins)
    whiskers = [
        PlotSeries(
            ((row.confidence, row.rate.low), (row.confidence, row.rate.high)), "line", style=style
        )
        for row in found.bins
    ]
    return [*whiskers, PlotSeries(points, name=name, style=style, sizes=sizes)]


def _risk(found: Trust) -> str:
    top = max(0.05, *(risk for _, risk in found.risk)) * 1.1
    marks = [PlotSeries(found.risk, kind="line")]
    limit = found.review.max_error
    marks.append(PlotSeries(((0, limit), (1, limit)), kind="rule", style=1))
    x, y = (
        PlotAxis("share taken over, most confident first", 0, 1),
        PlotAxis("error", 0, round(top, 2)),
    )
    words = "Errors among what is taken over without review; the dashed line is what is allowed."
    return _figure(draw_plot(x, y, marks, label=words), words)


_NAME_WIDTH = 26


def print_calibration(console: Console, report: CalibrationReport, *, full: bool = False) -> None:
    """Print a calibration: its tables, its notes, and one line that sums it up."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    seen = calibration_view(report, full=full)
    console.print()
    console.print(Text(message.printable(seen.title), style="bold"))
    for block in seen.blocks:
        console.print(
            _terminal_lines(block) if isinstance(block, LabelledLines) else _terminal_table(block)
        )
    console.print()
    console.print(Text(message.printable(seen.conclusion), style="bold"))


def _terminal_table(block: FigureTable) -> RenderableType:
    from rich import box  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.console import Group  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    table = RichTable(
        title=Text(f"\n{message.printable(block.title)}", style="bold"), title_justify="left",
        header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False,
    )  # fmt: skip
    for place, name in enumerate(block.columns):
        if place:
            table.add_column(name, justify="right", no_wrap=True)
        else:
            table.add_column(name, overflow="fold", max_width=_NAME_WIDTH)
    for row in block.rows:
        table.add_row(*(Text(message.printable(cell)) for cell in row))
    notes = [Text(f"  {message.printable(note)}", style="dim") for note in block.notes]
    return Group(table, *notes)


def _terminal_lines(block: LabelledLines) -> RenderableType:
    from rich.console import Group  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    grid = RichTable(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    grid.add_column(style="" if block.title else "dim", overflow="fold", max_width=_NAME_WIDTH)
    grid.add_column(overflow="fold", style="" if block.title else "dim")
    for name, text in block.rows:
        indent = "  " if block.title else ""
        grid.add_row(Text(f"{indent}{message.printable(name)}"), Text(message.printable(text)))
    if not block.title:
        return grid
    return Group(Text(f"\n{block.title}", style="bold"), grid)
