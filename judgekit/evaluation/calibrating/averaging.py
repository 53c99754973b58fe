"""The figures of several criteria, averaged: what papers give as one number for a rubric."""

from __future__ import annotations

from math import fsum, isnan, nan
from typing import TYPE_CHECKING

from judgekit.evaluation.calibrating.report import CriteriaMean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.calibrating.report import CriterionCalibration
    from judgekit.stats.estimate import Estimate


def averaged(parts: Sequence[CriterionCalibration]) -> CriteriaMean | None:
    """Means over criteria."""
    if len(parts) < 2:  # noqa: PLR2004 - one by itself is its own mean
        return None
    spans = [part.scale[1] - part.scale[0] for part in parts]
    biases = [p.leniency.bias.value / span for p, span in zip(parts, spans, strict=True)]
    return CriteriaMean(
        n_criteria=len(parts),
        exact=_mean([part.agreement.exact for part in parts]),
        kappa=_mean([part.agreement.kappa for part in parts]),
        kappa_quadratic=_mean([part.agreement.kappa_quadratic for part in parts]),
        pearson=_mean([part.agreement.pearson for part in parts]),
        spearman=_mean([part.agreement.spearman for part in parts]),
        kendall=_mean([part.agreement.kendall for part in parts]),
        bias=_plain(biases),
        people_alpha=_mean([part.people.alpha for part in parts]),
        people_fleiss_kappa=_mean([part.people.fleiss_kappa for part in parts]),
    )


def _mean(found: Sequence[Estimate]) -> float:
    return _plain([one.value for one in found])


def _plain(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return fsum(known) / len(known) if known else nan
