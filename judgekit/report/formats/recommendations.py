"""Derives from a run's figures what to do next; every sentence rests on a figure or a judgment."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report.run_view import TARGET_ERROR_WORDS
from judgekit.report.view import FAILURE_WORDS, count
from judgekit.verdicts import reaches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judgekit.evaluation.figures.run_figures import VariantFigures
    from judgekit.stats.estimate import Estimate

_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One criterion of one variant, and what its figure rests on."""

    name: str
    """Name of the criterion."""

    estimate: Estimate
    """Its mean value on [0, 1]."""

    weight: float | None
    """Its weight; None where only cases' own rubrics have it."""

    wanted: float
    """The value from which it is good enough."""

    n_asked: int
    """Judgments of models, which are asked for a passage of the output."""

    n_with_quote: int
    """Of these, those with a passage that was found in the output."""

    evidence: str
    """What judges said, in one text."""

    lowest: tuple[str, ...]
    """The lowest judgments, each with its case, value and reason."""


def recommendations(
    figures: VariantFigures, dimensions: Sequence[Dimension], threshold: float
) -> list[str]:
    """What to do next about a variant."""
    return [
        *_weak(dimensions),
        *_failing(figures, dimensions),
        *_errors(figures.errors),
        *_unjudged(figures),
        *_unproven(dimensions),
        *_unsure(figures.value, threshold),
    ]


def _weak(dimensions: Sequence[Dimension]) -> Iterator[str]:
    known = sorted(
        (d for d in dimensions if not isnan(d.estimate.value)), key=lambda d: d.estimate.value
    )
    below = [d for d in known if not reaches(d.estimate.value, d.wanted)]
    for dimension in below:
        value = dimension.estimate.value
        yield f"Raise {dimension.name}: {value:.2f}, {dimension.wanted:.2f} wanted{_why(dimension)}"
    if known and not below:
        first = known[0]
        value = first.estimate.value
        yield f"Nothing is below its mark; lowest is {first.name} with {value:.2f}{_why(first)}"


def _why(dimension: Dimension) -> str:
    return f". Lowest: {dimension.lowest[0]}" if dimension.lowest else ""


def _failing(figures: VariantFigures, dimensions: Sequence[Dimension]) -> Iterator[str]:
    for kind, rate in figures.assertions.items():
        if any(dimension.name.startswith(kind) for dimension in dimensions):
            continue  # the judge `heuristic` made a criterion of it
        if not isnan(rate.value) and rate.value < 1:
            yield f"Look at the assertion {kind}: it holds for {rate.value:.0%} of the answers"


def _errors(errors: Mapping[str, int]) -> Iterator[str]:
    for kind, n in errors.items():
        words = TARGET_ERROR_WORDS.get(kind, kind)
        yield f"Mend what was tested: {count(n, 'answer')} could not be had ({words})"


def _unjudged(figures: VariantFigures) -> Iterator[str]:
    for kind, n in figures.failures.items():
        words = FAILURE_WORDS.get(kind, kind)
        what = count(n, "judgment is missing", "judgments are missing")
        yield f"Have it judged in full: {what} ({words}); missing ones count neither way"


def _unproven(dimensions: Sequence[Dimension]) -> Iterator[str]:
    for dimension in dimensions:
        bare = dimension.n_asked - dimension.n_with_quote
        if bare > dimension.n_asked * _HALF:
            yield (
                f"Check {dimension.name} by hand: {bare} of {dimension.n_asked} judgments "
                "quote nothing that is found in the output"
            )


def _unsure(value: Estimate, threshold: float) -> Iterator[str]:
    if isnan(value.low) or isnan(value.high):
        return
    if value.low < threshold <= value.high:
        yield (
            f"Add cases: with {count(value.n, 'case')} the overall score may be from "
            f"{value.low:.2f} to {value.high:.2f}, on either side of {threshold:.2f}"
        )
