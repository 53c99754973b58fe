"""How far the judges of a panel agree on one output."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING

from judgekit.records.rubric import SAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.records.judgment import Judgment

_FEWEST = 2


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
        if len(means) >= _FEWEST:
            pairs = [abs(a - b) <= SAME for a, b in combinations(means, 2)]
            equal = sum(pairs) / len(pairs)
            found.append(PanelAgreement(name, len(means), equal, max(means) - min(means)))
    return tuple(found)
