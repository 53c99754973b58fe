"""A judge's confidence, from its own statement, token probabilities and repeats."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records import Judgment

_ENOUGH_REPEATS = 2


def with_repeat_confidence(judgments: Sequence[Judgment]) -> tuple[Judgment, ...]:
    """The judgments, each with how well the repeats of its criterion agree."""
    # The agreement of repeats with values v_1 … v_n on [0, 1] is `1 - 2 * sd`, where `sd` is their
    # standard deviation about the mean: 1 when all are the same, 0 when half are worst and half
    # best, which is the furthest apart values in [0, 1] can be. With one judgment there is none.
    if len(judgments) < _ENOUGH_REPEATS:
        return tuple(judgments)
    # Repeats of different criteria say nothing about each other.
    by_criterion: dict[str, list[float]] = {}
    for judgment in judgments:
        by_criterion.setdefault(judgment.criterion, []).append(judgment.value)
    if all(len(values) < _ENOUGH_REPEATS for values in by_criterion.values()):
        return tuple(judgments)
    return tuple(_with(judgment, by_criterion[judgment.criterion]) for judgment in judgments)


def reported_confidence(*known: float | None) -> float | None:
    """The first confidence there is."""
    for confidence in known:
        if confidence is not None:
            return confidence
    return None


def _with(judgment: Judgment, values: list[float]) -> Judgment:
    if len(values) < _ENOUGH_REPEATS:
        return judgment
    mean = fsum(values) / len(values)
    spread = (fsum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    agreement = max(0.0, 1.0 - 2.0 * spread)
    return judgment.model_copy(
        update={
            "repeat_confidence": agreement,
            "confidence": reported_confidence(
                agreement, judgment.logprob_confidence, judgment.stated_confidence
            ),
        }
    )
