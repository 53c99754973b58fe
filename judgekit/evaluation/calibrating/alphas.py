"""Krippendorff's alpha of a criterion, at the levels of measurement that its scale has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.calibrating.clustering import estimated
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.estimate import Estimate, undefined

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.stats.alpha import AlphaLevel

NO_ORDER = "categories have no order: see kappa, and alpha at the nominal level"
"""Why a figure that goes by more and less is undefined."""

_NO_LEVELS = "the scale has no levels: see alpha at the interval level"


def measurement_of(aligned: Aligned) -> AlphaLevel:
    """How far two scores on a criterion's scale are apart."""
    if aligned.levels is None:
        return "interval"
    return "nominal" if aligned.is_binary or aligned.is_nominal else "ordinal"


def alpha_of(
    aligned: Aligned,
    rows: Sequence[Sequence[float | None]],
    measurement: AlphaLevel,
    *,
    clusters: Sequence[Hashable] | None,
    level: float,
) -> Estimate:
    """Alpha of rows of scores on a criterion's scale."""
    if aligned.levels is None and measurement != "interval":
        return undefined(_NO_LEVELS, n=len(rows), method="alpha", level=level)
    if aligned.is_nominal and measurement != "nominal":
        return undefined(NO_ORDER, n=len(rows), method="alpha", level=level)
    return estimated(
        lambda: krippendorff_alpha(rows, measurement, clusters=clusters, confidence=level),
        level=level,
    )
