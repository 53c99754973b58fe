"""Builds the documents of a suite over time: the trend of its runs, and its versions.

A trend has a direction, a series of runs, and the breaks in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from math import isnan, nan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import (
    Axis,
    Cell,
    Column,
    Conclusion,
    Document,
    Lines,
    Notes,
    Plot,
    Section,
    Series,
    Table,
    not_empty,
    page_path,
    rate_cell,
    table_of,
)
from judgekit.stats.estimate import Estimate

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.evaluation import ImportedRun, QualityTrend, StoredFigure, VersionFigures
    from judgekit.report.document import Block, LabelledText, Tone
    from judgekit.stats.trend import Direction

_WORDS = {"score": "score", "pass_rate": "pass rate"}
_TONES: dict[str, Tone] = {"improving": "better", "degrading": "worse", "stable": "neutral"}
_REASONS = {
    "within-band": "the last runs differ by at most 5 %",
    "no-consistent-direction": "the last runs neither fall nor rise throughout",
    "insufficient-data": "fewer than three comparable runs",
}
# Beyond so many runs, intervals would cover the line of a plot.
_MOST_INTERVALS = 60
_MOST_PLOTS = 12
_LIKELY = 0.05
_SHORT_COMMIT = 8


def trend_document(
    suite: str, trends: Sequence[QualityTrend], criteria: Sequence[QualityTrend] = ()
) -> Document:
    """The trend of each variant of a suite; a page draws those of its criteria, too."""
    many = len(trends) > 1
    blocks: list[Block] = []
    for one in trends:
        own = not_empty((*_plots(one), _table(one), Lines(tuple(_statistics(one)))))
        blocks += [Section(one.variant, own)] if many else own
    plots = [plot for one in criteria[:_MOST_PLOTS] for plot in _plots(one, is_wide=False)]
    blocks += [Section("By criterion", tuple(plots))] if plots else []
    worst = max(
        trends, key=lambda one: (bool(one.escalation), one.direction.direction == "degrading")
    )
    tone: Tone = "fail" if worst.escalation else _TONES[worst.direction.direction]
    conclusion = Conclusion("; ".join(map(_sentence, trends)), tone)

    def data() -> dict[str, object]:
        every = [trend_json(one) for one in trends]
        # The first variant stands at the top, too.
        return {"suite": suite, **every[0], "trends": every}

    return Document(f"Trend of {suite}", conclusion, tuple(blocks), data, kind="Trend")


def _sentence(trend: QualityTrend) -> str:
    own = trend.since_break
    name = _WORDS.get(trend.measure, trend.measure)
    known = [point.figure.value for point in own if point.figure.value is not None]
    n = trend.direction.n
    text = f"{trend.variant}: {name} {trend.direction.direction}"
    if trend.direction.reason == "insufficient-data":
        text = f"{trend.variant}: {_REASONS['insufficient-data']}, so there is no direction"
    elif trend.direction.reason == "consistent":
        as_text = numbers.format_share if trend.measure == "pass_rate" else numbers.format_decimal
        text += f" over the last {n} runs, {as_text(known[-n])} → {as_text(known[-1])}"
    else:
        text += f": {_REASONS[trend.direction.reason]}"
    if trend.escalation:
        text += f"; degrading for {trend.escalation.n_degrading} runs in a row: escalated"
    if len(own) < len(trend.points):
        text += f" ({numbers.format_count(len(own), 'run')} since the last break)"
    return text


def _table(trend: QualityTrend) -> Table:
    name = _WORDS.get(trend.measure, trend.measure)
    table = table_of(
        trend.points,
        {
            Column("run", "id"): lambda one: Cell(one.run, link=page_path("runs", one.run)),
            name: lambda one: figure_cell(one.figure, is_rate=trend.measure == "pass_rate"),
            Column("direction", "text"): lambda one: direction_cell(one.direction),
            Column("cases", may_drop=True): lambda one: str(one.n_cases),
            Column("started", "text", may_drop=True): lambda one: f"{one.at:%Y-%m-%d %H:%M}",
        },
    )
    # A line is drawn where the measure changed.
    breaks = (place for place, point in enumerate(trend.points) if point.change is not None)
    return replace(table, rules_after=frozenset(place - 1 for place in breaks))


def direction_cell(found: Direction) -> Cell:
    """A direction; a dash where there are too few runs for one."""
    text = numbers.DASH if found.reason == "insufficient-data" else found.direction
    return Cell(text, tone=_TONES[found.direction])


def _statistics(trend: QualityTrend) -> Iterator[LabelledText]:
    """The breaks, and what tests say beside the rule, which alone escalates."""
    for point in trend.points:
        if point.change is not None:
            yield ("break", f"at {point.run}: {point.change}")
    own = trend.since_break
    test, shift, shortfall = trend.test, trend.shift, trend.shortfall
    runs = numbers.format_count(len(own), "comparable run")
    if test is not None and not isnan(test.p_value):
        slope = test.slope * (1 if trend.measure != "pass_rate" else 100)
        unit = " points" if trend.measure == "pass_rate" else ""
        yield (
            "test",
            (
                f"{slope:+.3g}{unit} a run over {runs} (Theil and Sen), "
                f"p {numbers.format_p_value(test.p_value)} (Mann and Kendall)"
            ),
        )
    if shift is not None and shift.p_value < _LIKELY:
        where = own[shift.at]
        fell = "fell" if shift.z < 0 else "rose"
        yield (
            "level",
            f"most likely {fell} at {where.run}, p {numbers.format_p_value(shift.p_value)}",
        )
    if shortfall is not None and shortfall.alarm_at is not None:
        yield (
            "CUSUM",
            f"below the level of the first eight runs since {own[shortfall.alarm_at].run}",
        )
    if trend.n_left_out:
        n = numbers.format_count(trend.n_left_out, "run")
        yield "left out", f"{n} of only some of the cases, or ended early"


def _plots(trend: QualityTrend, *, is_wide: bool = True) -> list[Plot]:
    ends = [
        end
        for point in trend.points
        for end in (point.figure.value, point.figure.low, point.figure.high)
        if end is not None
    ]
    if sum(point.figure.value is not None for point in trend.points) < 2:  # noqa: PLR2004 - a line has two ends
        return []
    low, high = min(ends), max(ends)
    margin = (high - low or 1) / 20
    y = Axis(_WORDS.get(trend.measure, trend.measure), low - margin, high + margin)
    n_degrading = trend.escalation.n_degrading if trend.escalation else 0
    first_escalated = len(trend.points) - n_degrading + 1
    breaks = [place for place, point in enumerate(trend.points, 1) if point.change]
    series = [
        Series(((at - 0.5, y.low), (at - 0.5, y.high)), "rule", "" if n else "measure changed", 2)
        for n, at in enumerate(breaks)
    ]
    # The line is interrupted at each break.
    parts = (range(*ends) for ends in pairwise([1, *breaks, len(trend.points) + 1]))
    series += [Series(_points(trend, part), kind="line") for part in parts if part]
    series.append(_dots(trend, range(1, first_escalated), "run"))
    if n_degrading:
        rest = range(first_escalated, len(trend.points) + 1)
        series.append(replace(_dots(trend, rest, "degrading, escalated"), style=1))
    words = "Each run with its 95 % interval."
    if not is_wide:
        words = f"{trend.variant}, {trend.measure}. {words}"
    if breaks:
        words += (
            " A dashed line is a break: the measure changed, and nothing is compared across it."
        )
    x = Axis("run", 0.5, len(trend.points) + 0.5, is_count=True)
    return [Plot(words, x, y, tuple(series), is_wide=is_wide)]


def _points(trend: QualityTrend, places: range) -> tuple[tuple[int, float], ...]:
    values = ((place, trend.points[place - 1].figure.value) for place in places)
    return tuple((place, value) for place, value in values if value is not None)


def _dots(trend: QualityTrend, places: range, name: str) -> Series:
    points = _points(trend, places)
    runs = [trend.points[place - 1] for place, _ in points]
    bounds: tuple[tuple[float, float], ...] = ()
    if len(trend.points) <= _MOST_INTERVALS:
        ends = ((run.figure.low, run.figure.high) for run in runs)
        bounds = tuple((nan if a is None else a, nan if b is None else b) for a, b in ends)
    labels = tuple(f"{run.run}, {run.at:%Y-%m-%d}" for run in runs)
    is_rate = trend.measure == "pass_rate"
    figures = (figure_text(run.figure, is_rate=is_rate) for run in runs)
    links = tuple(
        (f"{label}: {figure}", page_path("runs", run.run))
        for label, figure, run in zip(labels, figures, runs, strict=True)
    )
    return Series(points, name=name, intervals=bounds, labels=labels, links=links)


def figure_cell(figure: StoredFigure, *, is_rate: bool = False) -> Cell:
    """A stored figure with its interval, which a page draws."""
    if figure.value is None:
        return Cell(numbers.DASH)
    low, high = (nan if end is None else end for end in (figure.low, figure.high))
    known = Estimate(
        value=figure.value, low=low, high=high, n=figure.n, method="stored with its run"
    )
    # Written as on the page of its run.
    return rate_cell(known) if is_rate else Cell(numbers.format_mean(known), estimate=known)


def figure_text(figure: StoredFigure, *, is_rate: bool = False) -> str:
    """A stored figure with its interval."""
    return figure_cell(figure, is_rate=is_rate).text


def trend_json(trend: QualityTrend) -> dict[str, object]:
    """A trend as JSON, with its whole series."""
    series = [
        {
            "run": point.run,
            "at": point.at.isoformat(),
            **point.figure.model_dump(),
            "n_cases": point.n_cases,
            "direction": point.direction.direction,
            "break": point.change,
        }
        for point in trend.points
    ]
    tests = {
        name: None if found is None else asdict(found)
        for name, found in (
            ("test", trend.test), ("shift", trend.shift), ("shortfall", trend.shortfall)
        )
    }  # fmt: skip
    return {
        "variant": trend.variant,
        "measure": trend.measure,
        "direction": trend.direction.direction,
        "reason": trend.direction.reason,
        "escalated": bool(trend.escalation),
        "n_degrading": trend.escalation.n_degrading,
        "series": series,
        "n_left_out": trend.n_left_out,
        **tests,
    }


def history_document(
    suite: str, versions: Sequence[VersionFigures], imported: Sequence[ImportedRun] = ()
) -> Document:
    """The versions of a suite, oldest first, and the runs that came with its quality memory."""
    columns: dict[str | Column, Callable[[VersionFigures], str | Cell]] = {
        Column("version", "text", max_width=24): _version_text,
        "runs": lambda one: str(one.n_runs),
        "cases": lambda one: str(one.figures.n_cases),
        "score": lambda one: figure_cell(one.figures.score),
        "pass rate": lambda one: figure_cell(one.figures.pass_rate, is_rate=True),
    }
    # What is the same or unknown for all versions is no column.
    if len({one.path for one in versions}) > 1:
        column = Column("path", "text", max_width=28, may_drop=True)
        columns[column] = lambda one: message.without_folders(one.path or "")
    if any(one.revision for one in versions):
        column = Column("commit", "id", may_drop=True)
        columns[column] = lambda one: (one.revision or "")[:_SHORT_COMMIT]
    column = Column("last run", "id", may_drop=True)
    columns[column] = lambda one: Cell(one.last_run, link=page_path("runs", one.last_run))
    current = [one for one in versions if one.is_current]
    text = numbers.format_count(len(versions), "version")
    if current:
        best = ", ".join(f"{one.variant} version {one.number}" for one in current)
        text += f"; current: {best}"
    return Document(
        kind="History",
        title=f"History of {suite}",
        conclusion=Conclusion(text),
        blocks=not_empty(
            (table_of(versions, columns), Notes(_notes(versions)), *_imported(imported))
        ),
        data=lambda: {
            "suite": suite,
            "versions": [_version_json(one) for one in versions],
            "imported": [{"id": one.id, **one.fields} for one in imported],
        },
    )


def _notes(versions: Sequence[VersionFigures]) -> tuple[str, ...]:
    notes = ["* in the latest run"] if any(one.is_current for one in versions) else []
    if any(one.changes for one in versions):
        notes.append(
            "† measured differently than the latest run, so that figures are not comparable"
        )
    if len({one.path for one in versions}) == 1 and versions[0].path is not None:
        notes.append(f"path: {message.without_folders(versions[0].path)}")
    return tuple(notes)


def _imported(runs: Sequence[ImportedRun]) -> tuple[Block, ...]:
    if not runs:
        return ()
    columns = (
        Column("run", "id"),
        Column("benchmark", "id"),
        Column("ran at", "id"),
        Column("score"),
        Column("pass rate"),
        Column("started by", "text", max_width=20, may_move=True),
        Column("notes", "text", max_width=28, may_move=True),
    )
    names = ("benchmarkId", "ranAt", "overallScore", "passRate", "triggeredBy", "notes")
    rows = tuple((one.id, *(_text(one.fields.get(name)) for name in names)) for one in runs)
    note = "as the memory has them; without their answers they are part of no trend and no baseline"
    return (Section("Imported benchmark runs", (Table(columns, rows), Notes((note,)))),)


def _text(value: JsonValue) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


def _version_text(one: VersionFigures) -> str:
    marks = f"{' *' if one.is_current else ''}{' †' if one.changes else ''}"
    return f"{one.variant} {one.number}{marks}"


def _version_json(one: VersionFigures) -> dict[str, object]:
    return {
        "variant": one.variant,
        "version": one.number,
        "fingerprint": one.fingerprint,
        "path": one.path,
        "revision": one.revision,
        "n_runs": one.n_runs,
        "first_at": one.first_at.isoformat(),
        "last_run": one.last_run,
        "last_at": one.last_at.isoformat(),
        **one.figures.model_dump(),
        "not_comparable": list(one.changes),
        "is_current": one.is_current,
    }
