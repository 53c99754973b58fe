"""The plots of a calibration: scores against labels, reliability, error against coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import numbers
from judgekit.report.document import Axis, Plot, Point, Section, Series

if TYPE_CHECKING:
    from judgekit.calibration import (
        AlignedItems,
        CalibrationReport,
        CriterionCalibration,
        Reliability,
        Trust,
    )

_LARGEST_DOT, _SMALLEST_DOT = 9.0, 2.0


def calibration_plots(
    report: CalibrationReport, parts: Sequence[CriterionCalibration]
) -> list[Section]:
    """The plots of each part that has its items at hand."""
    found = []
    for part in parts:
        plots: list[Plot] = []
        aligned = report.aligned.get(part.name)
        # Categories have no order, and so neither differences nor a diagonal.
        if aligned is not None and report.kind == "pointwise" and not aligned.is_nominal:
            plots += [_scatter_plot(aligned, part), _difference_plot(aligned, part)]
        if part.trust is not None:
            plots += [_reliability_plot(part.trust), _risk_plot(part.trust)]
        if plots:
            found.append(Section(part.name, tuple(plots)))
    return found


def _dots(counts: Counter[Point]) -> Series:
    most = max(counts.values(), default=1)
    sizes = tuple(_dot_size(((n - 1) / most) ** 0.5) for n in counts.values())
    labels = tuple(numbers.format_count(n, "output") for n in counts.values())
    return Series(tuple(counts), sizes=sizes, labels=labels)


def _dot_size(share: float) -> float:
    return _SMALLEST_DOT + (_LARGEST_DOT - _SMALLEST_DOT) * share


def _scatter_plot(aligned: AlignedItems, part: CriterionCalibration) -> Plot:
    low, high = part.scale
    counts: Counter[Point] = Counter()
    for (human, judge), n in _scored(aligned).items():
        counts[round(human, 2), round(judge, 2)] += n
    same = Series(((low, low), (high, high)), kind="rule", style=2)
    x, y = Axis("human", low, high), Axis("judge", low, high)
    words = (
        "Each output by the mean human score and the judge's score; on the dashed line both agree."
    )
    return Plot(words, x, y, (same, _dots(counts)))


def _scored(aligned: AlignedItems) -> Counter[tuple[float, float]]:
    """How often each mean human score met each score of the judge."""
    return Counter(zip(aligned.human.tolist(), aligned.judge.tolist(), strict=True))


def _difference_plot(aligned: AlignedItems, part: CriterionCalibration) -> Plot:
    """Bland and Altman's plot: differences against the mean of both."""
    low, high = part.scale
    span = high - low
    counts: Counter[Point] = Counter()
    for (human, judge), n in _scored(aligned).items():
        counts[round((human + judge) / 2, 2), round(judge - human, 2)] += n
    found = part.leniency
    levels = [found.bias.value, found.loa_low, found.loa_high]
    lines = [
        Series(((low, at), (high, at)), kind="line" if place == 0 else "rule", style=1)
        for place, at in enumerate(levels)
        if not isnan(at)
    ]
    zero = Series(((low, 0.0), (high, 0.0)), kind="rule", style=2)
    x, y = Axis("mean of both", low, high), Axis("judge - human", -span, span)
    words = (
        "Difference against the mean (Bland and Altman); the lines are the bias and the limits "
        f"within which {found.bias.level * 100:g} % of differences would lie if they were normal."
    )
    return Plot(words, x, y, (zero, *lines, _dots(counts)))


def _reliability_plot(found: Trust) -> Plot:
    calibrated = Series(((0, 0), (1, 1)), kind="rule", style=2)
    marks = [calibrated, _bins(found.before, "as given", 0)]
    if found.after is not None:
        marks.append(_bins(found.after, "recalibrated", 1))
    x, y = Axis("confidence", 0, 1), Axis("share right", 0, 1)
    words = (
        "How often the judge is right at each confidence; on the dashed line it is calibrated. "
        "Larger marks stand for more judgments."
    )
    return Plot(words, x, y, tuple(marks))


def _bins(found: Reliability, name: str, style: int) -> Series:
    points = tuple((row.confidence, row.rate.value) for row in found.bins)
    most = max((row.rate.n for row in found.bins), default=1)
    sizes = tuple(_dot_size(row.rate.n / most) for row in found.bins)
    ends = tuple((row.rate.low, row.rate.high) for row in found.bins)
    counts = tuple(numbers.format_count(row.rate.n, "judgment") for row in found.bins)
    return Series(points, name=name, style=style, sizes=sizes, intervals=ends, labels=counts)


def _risk_plot(found: Trust) -> Plot:
    top = max(0.05, *(risk for _, risk in found.risk)) * 1.1
    marks = [Series(found.risk, kind="line")]
    limit = found.review.max_error
    marks.append(Series(((0, limit), (1, limit)), kind="rule", style=1))
    x = Axis("share accepted without review, most confident first", 0, 1)
    words = "Error among what is accepted without review; the dashed line is the allowed error."
    return Plot(words, x, Axis("error", 0, round(top, 2)), tuple(marks))
