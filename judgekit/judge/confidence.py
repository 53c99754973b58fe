"""How sure a judge is, from its own statement, token probabilities and repeats.

How far the judges of a panel agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING

from judgekit.records import VALUE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.records import Judgment

_ENOUGH_REPEATS = 2


def with_repeat_confidence(judgments: Sequence[Judgment]) -> tuple[Judgment, ...]:
    """The judgments, each with how well the repeats of its criterion agree."""
    # The agreement of repeats with values v_1 … v_n on [0, 1] is `1 - 2 * sd`, where `sd` is their
    # standard deviation about the mean: 1 when all are the same, 0 when half are worst and half
    # best, which is the furthest apart values in [0, 1] can be. With one judgment there is none.
    if len(judgments) < _ENOUGH_REPEATS:
        return tuple(judgments)
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


_FEWEST_JUDGES = 2


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """How far the judges of a panel agree on one criterion of one output."""

    criterion: str
    """Name of the criterion."""

    n_judges: int
    """Judges with a usable judgment, 2 or more."""

    equal: float
    """Share of the pairs of judges with the same value, each judge's a mean over its repeats."""

    spread: float
    """Distance between the highest and the lowest value, on [0, 1]."""


def panel_agreement(judgments: Iterable[Judgment]) -> tuple[PanelAgreement, ...]:
    """How far several judges agree on one output, criterion by criterion."""
    values: dict[str, dict[str, list[float]]] = {}
    for judgment in judgments:
        of_judges = values.setdefault(judgment.criterion, {})
        of_judges.setdefault(judgment.judge, []).append(judgment.value)
    found = []
    for name, of_judges in values.items():
        means = [fsum(given) / len(given) for given in of_judges.values()]
        if len(means) >= _FEWEST_JUDGES:
            pairs = [abs(a - b) <= VALUE_TOLERANCE for a, b in combinations(means, 2)]
            equal = sum(pairs) / len(pairs)
            found.append(PanelAgreement(name, len(means), equal, max(means) - min(means)))
    return tuple(found)
