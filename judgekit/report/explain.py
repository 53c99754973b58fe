"""Builds the document of what goes with the scores: shares of variance, curve, variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import numbers
from judgekit.report.document import (
    Axis,
    Cell,
    Column,
    Conclusion,
    Document,
    Notes,
    Plot,
    Section,
    Series,
    Table,
    difference_cell,
    mean_cell,
    not_empty,
    table_of,
)
from judgekit.stats.estimate import Estimate

if TYPE_CHECKING:
    from judgekit.evaluation import ExplainedVariance, SideDifference, SizeBin, SizeCurve

_WORDS = {
    "added_context_tokens": "added context tokens",
    "input_tokens": "input tokens", "output_tokens": "output tokens", "tool_calls": "tool calls",
    "duration_ms": "duration (ms)", "cost_usd": "cost (US dollars)",
}  # fmt: skip
_CAUTION = (
    "Association, not cause: a longer context or more tool calls may come from harder cases. Vary "
    "one thing at a time to know."
)


def explain_document(
    title: str,
    variance: ExplainedVariance,
    curves: Sequence[SizeCurve],
    sides: Sequence[SideDifference],
) -> Document:
    """What goes with the scores of some runs."""
    left_out = tuple(f"{_word(name)}: {why}" for name, why in variance.left_out.items())
    return Document(
        kind="Explanation",
        title=f"What goes with the scores of {title}",
        conclusion=Conclusion(_conclusion(variance, curves)),
        blocks=not_empty([
            _shares(variance),
            Notes(left_out, "left out"),
            *map(_curve, curves),
            _sides(sides),
            Notes((_CAUTION,)),
        ]),
        data=lambda: numbers.nan_to_null({
            "n_answers": variance.n_answers,
            "n_cases": variance.n_cases,
            "variance": _variance_json(variance),
            "left_out": variance.left_out,
            "curve": asdict(curves[0]) if len(curves) == 1 else None,
            "curves": [asdict(curve) for curve in curves],
            "variants": [asdict(one) for one in sides],
            "caution": _CAUTION,
        }),
    )  # fmt: skip


def _word(name: str) -> str:
    return _WORDS.get(name, name)


def _conclusion(variance: ExplainedVariance, curves: Sequence[SizeCurve]) -> str:
    answers = numbers.format_count(_n_complete(variance), "answer")
    text = f"nothing that is known varies between the {answers}"
    if "score" in variance.left_out:
        text = f"the score is the same for all {answers}"
    if (found := variance.shares) is not None:
        text = f"{found.r2:.0%} of the variance of {answers} goes with what is known"
        above = [
            (found.lmg[k], name)
            for k, name in enumerate(variance.names)
            if found.low[k] > found.noise_floor[k]
        ]
        if above:
            share, name = max(above)
            most = "most of it" if 2 * share > found.r2 else "more than by chance"
            text += f", {most} with {_word(name)} ({share:.0%})"
        else:
            text += ", none of it more than chance would give"
    return "; ".join([text, *map(_curve_words, curves)])


def _curve_words(curve: SizeCurve) -> str:
    what = _word(curve.by)
    score = "the score" if curve.variant is None else f"the score of {curve.variant}"
    limit = "at no size" if curve.safe_limit is None else f"up to {curve.safe_limit:,.0f} {what}"
    stays = f"stays above {curve.threshold:g} {limit}"
    if curve.cliff_at is None:
        return f"{score} {stays}"
    return f"{score} falls at about {curve.cliff_at:,.0f} {what}; it {stays}"


def _shares(variance: ExplainedVariance) -> Table | None:
    found = variance.shares
    if found is None:
        return None

    def share(k: int) -> Cell:
        low, high, n = found.low[k], found.high[k], _n_complete(variance)
        known = Estimate(value=found.lmg[k], low=low, high=high, n=n, method="Shapley shares")
        # Its interval has a column of its own.
        return Cell(f"{found.lmg[k]:.1%}", estimate=known, reference=found.noise_floor[k])

    columns: dict[str | Column, Callable[[int], str | Cell]] = {
        "goes with": lambda k: _word(variance.names[k]),
        "share of variance": share,
        "95 %": lambda k: f"{found.low[k]:.1%} to {found.high[k]:.1%}",
        "by chance": lambda k: f"{found.noise_floor[k]:.1%}",
        "alone": lambda k: f"{found.first[k]:.1%}",
        "beside all others": lambda k: f"{found.last[k]:z.1%}",
    }
    notes = [] if found.note is None else [found.note]
    if found.n_missing:
        incomplete = numbers.format_count(found.n_missing, "answer")
        notes.append(f"{incomplete} left out, of which something is unknown")
    return table_of(range(len(variance.names)), columns, notes=tuple(notes))


def _n_complete(variance: ExplainedVariance) -> int:
    """Answers of which everything is known; the others are left out."""
    return variance.n_answers - (0 if variance.shares is None else variance.shares.n_missing)


def _variance_json(variance: ExplainedVariance) -> dict[str, object] | None:
    found = variance.shares
    if found is None:
        return None
    parts = ("lmg", "low", "high", "noise_floor", "first", "last")
    shares = {
        name: {part: getattr(found, part)[k] for part in parts}
        for k, name in enumerate(variance.names)
    }
    figures = {"r2": found.r2, "adjusted_r2": found.adjusted_r2, "shares": shares}
    return {**figures, "n_missing": found.n_missing, "note": found.note}


def _curve(curve: SizeCurve) -> Section:
    what = _word(curve.by)
    notes = []
    if curve.n_unknown:
        notes.append(f"{numbers.format_count(curve.n_unknown, 'answer')} without {what} left out")
    columns: dict[str | Column, Callable[[SizeBin], str | Cell]] = {
        what: lambda one: (
            f"{one.low:,.0f}" if one.low == one.high else f"{one.low:,.0f} to {one.high:,.0f}"
        ),
        "score": lambda one: mean_cell(one.value),
        "answers": lambda one: str(one.n_answers),
        f"≥ {curve.threshold:g}": lambda one: "yes" if one.value.low >= curve.threshold else "no",
    }
    table = table_of(curve.bins, columns, notes=tuple(notes))
    title = f"over {what}" if curve.variant is None else f"{curve.variant} over {what}"
    return Section(title, (table, _plot(curve)))


# Sizes that differ this much are drawn by their ratios.
_MANY_TIMES = 20


def _plot(curve: SizeCurve) -> Plot:
    low, high = curve.bins[0].low, curve.bins[-1].high
    is_log = low > 0 and high / low >= _MANY_TIMES
    points = tuple(
        ((one.low * one.high) ** 0.5 if is_log else (one.low + one.high) / 2, one.value.value)
        for one in curve.bins
    )
    ends = tuple((one.value.low, one.value.high) for one in curve.bins)
    counts = tuple(numbers.format_count(one.n_answers, "answer") for one in curve.bins)
    good = ((low, curve.threshold), (high, curve.threshold))
    series = [
        Series(good, kind="rule", name="good enough", style=1),
        Series(points, kind="line"),
        Series(points, name="mean score", intervals=ends, labels=counts),
    ]
    if curve.cliff_at is not None:
        fall = ((curve.cliff_at, 0.0), (curve.cliff_at, 1.0))
        series.append(Series(fall, kind="rule", name="falls here", style=2))
    words = "Mean score with its 95 % interval in each range of sizes."
    # A single size has no width: an axis needs some.
    x = Axis(_word(curve.by), low, high if high > low else low + 1, is_log=is_log)
    return Plot(words, x, Axis("score", 0, 1), tuple(series))


def _sides(sides: Sequence[SideDifference]) -> Table:
    return table_of(
        sides,
        {
            Column("variant", "text"): lambda one: f"{one.variant} less {one.against}",
            Column("measure", "text"): lambda one: (
                "score" if one.measure == "value" else _word(one.measure)
            ),
            "difference, 95 %": lambda one: (
                difference_cell(one.estimate) if one.measure == "value" else _difference(one)
            ),
            "cases": lambda one: str(one.estimate.n),
        },
        "variants side by side",
    )


def _difference(one: SideDifference) -> str:
    text = numbers.format_difference(one.estimate, 6 if one.measure == "cost_usd" else 1)
    return f"{text} (the same for every case)" if isnan(one.estimate.low) else text
