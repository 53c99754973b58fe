"""The scale of a criterion: the rubric's, or what scores and values reveal of it."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import isclose
from typing import TYPE_CHECKING

from judgekit.errors import InputError
from judgekit.records.rubric import Criterion, Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.evaluation.calibrating.material import Sample

_DIGITS = 9
_TWO = 2
_WIDEST = 20

CHOICE = Scale.model_validate({
    "levels": [
        {"value": 1, "name": "a"}, {"value": 0.5, "name": "tie"}, {"value": 0, "name": "b"},
    ]
})  # fmt: skip
"""The scale of a choice between two outputs: how far a is preferred."""


def inferred(name: str, samples: Iterable[Sample], labels: Iterable[float]) -> Criterion:
    """A criterion of which only scores are known."""
    known = [each for each in samples if each.raw is not None]
    raws = [float(each.raw) for each in known if each.raw is not None]
    scores = [*raws, *labels]
    ends = _ends(
        [(float(e.raw), e.value) for e in known if e.raw is not None and e.value is not None]
    )
    if ends is None:
        if len(set(scores)) < _TWO:
            raise InputError(
                f"all scores of {name!r} are the same, and its scale is not known",
                hint="give the rubric",
            )
        ends = min(scores), max(scores)
    integer = all(float(score).is_integer() for score in (*scores, *ends))
    scale = Scale(min=ends[0], max=ends[1], integer=integer)
    return Criterion(name=name, question=f"How good is its {name}?", scale=scale)


def levels_of(scale: Scale) -> tuple[float, ...] | None:
    """The levels by which agreement on a scale is counted."""
    if scale.points is not None:
        return scale.points
    span = scale.max - scale.min
    is_whole = float(scale.min).is_integer() and float(scale.max).is_integer()
    if not is_whole or not _TWO <= span <= _WIDEST:
        return None
    return tuple(scale.min + step for step in range(int(span) + 1))


def level_of(score: float, points: Sequence[float] | None) -> float:
    """The score of a scale that a mean is nearest to; a half goes up."""
    return round(score, _DIGITS) if points is None else _nearest(score, tuple(points))


@lru_cache(maxsize=4096)
def _nearest(score: float, points: tuple[float, ...]) -> float:
    place = min(range(len(points)), key=lambda i: (round(abs(points[i] - score), _DIGITS), -i))
    return points[place]


def step_of(levels: Sequence[float] | None) -> float:
    """How far apart two scores are that are one level apart."""
    if levels is None or len(levels) < _TWO:
        return 1.0
    return max(high - low for low, high in pairwise(levels))


def _ends(found: Sequence[tuple[float, float | None]]) -> tuple[float, float] | None:
    """Where the values 0 and 1 lie, from two scores of which the values are known."""
    pairs = [(raw, value) for raw, value in found if value is not None]
    if not pairs:
        return None
    (low, low_value), (high, high_value) = min(pairs), max(pairs)
    if isclose(low_value, high_value) or isclose(low, high):
        return None
    step = (high - low) / (high_value - low_value)
    least = low - low_value * step
    return round(least, _DIGITS), round(least + step, _DIGITS)
