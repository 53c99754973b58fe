"""Two judges held against the same labels: which of them is right more often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import InputError
from judgekit.evaluation.calibrating.aligned import clusters_of
from judgekit.evaluation.calibrating.clustering import average
from judgekit.evaluation.calibrating.trusting import rightness
from judgekit.stats.paired import paired_proportions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.evaluation.calibrating.aligned import Aligned, Item
    from judgekit.evaluation.calibrating.material import Place
    from judgekit.evaluation.calibrating.options import CalibrationOptions
    from judgekit.stats.estimate import Estimate

    _Right = dict[tuple[Place, str], tuple[Item, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """One judge against another, on the items that were labelled for both."""

    n: int
    """Items; an answer that is not usable is wrong."""

    n_both: int
    """Items on which both are right."""

    n_only_this: int
    """Items on which only this judge is."""

    n_only_other: int
    """Items on which only the other is."""

    n_neither: int
    """Items on which neither is."""

    difference: Estimate
    """How much more often this judge is right; above 0 it is the better one."""

    p_exact: float
    """McNemar's test, exact and two-sided; it takes items as independent, the interval does not."""


def against(
    these: Mapping[str, Aligned], others: Mapping[str, Aligned], options: CalibrationOptions
) -> dict[str, Against]:
    """Hold two judges against each other."""
    found = {}
    for name in (name for name in these if name in others):
        mine, theirs = _right(these[name], options), _right(others[name], options)
        shared = sorted(mine.keys() & theirs.keys(), key=lambda key: (key[0].rank, key[1]))
        if shared:
            items = [mine[key][0] for key in shared]
            right = [(mine[key][1], theirs[key][1]) for key in shared]
            found[name] = _against(items, right, options.level)
    if not found:
        raise InputError("no labelled item was judged by both judges")
    return found


def _right(aligned: Aligned, options: CalibrationOptions) -> _Right:
    judged = zip(aligned.both, rightness(aligned, options).tolist(), strict=True)
    found = {(item.place, item.criterion): (item, 0.0) for item in aligned.items}
    return found | {(item.place, item.criterion): (item, float(x == 1)) for item, x in judged}


def _against(items: list[Item], right: list[tuple[float, float]], level: float) -> Against:
    kinds = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
    both, this, other, neither = (right.count(kind) for kind in kinds)
    gaps = np.array(right) @ [1.0, -1.0]
    return Against(
        n=len(right),
        n_both=both,
        n_only_this=this,
        n_only_other=other,
        n_neither=neither,
        difference=average(gaps.tolist(), clusters_of(items), level=level),
        p_exact=paired_proportions(both, this, other, neither).p_exact,
    )
