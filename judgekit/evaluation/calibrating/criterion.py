"""All figures of one criterion, from its aligned items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.calibrating.agreeing import agreement, confusion, pass_fail
from judgekit.evaluation.calibrating.choosing import disagreements
from judgekit.evaluation.calibrating.correcting import budget, corrected
from judgekit.evaluation.calibrating.deciding import stand_in
from judgekit.evaluation.calibrating.grouping import groupings, segments
from judgekit.evaluation.calibrating.leniency import leniency, steadiness
from judgekit.evaluation.calibrating.pair_orders import pair_orders
from judgekit.evaluation.calibrating.people import ceiling
from judgekit.evaluation.calibrating.report import CriterionCalibration
from judgekit.evaluation.calibrating.trusting import recalibration, trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.material import Pair, Place
    from judgekit.evaluation.calibrating.options import CalibrationOptions

_WHOLE = "whole"


def calibrated(
    aligned: Aligned,
    options: CalibrationOptions,
    pairs: Mapping[Place, Pair] | None = None,
) -> CriterionCalibration:
    """Everything about one criterion."""
    level = options.level
    found, people = agreement(aligned, level=level), ceiling(aligned, level=level)
    passes = aligned.threshold is not None
    what = "pass rate" if passes else "mean value"
    mapped = recalibration(aligned, options)
    sure = trust(aligned, options)
    return CriterionCalibration(
        name=aligned.name or _WHOLE,
        scale=(aligned.scale.min, aligned.scale.max),
        categories=aligned.categories,
        threshold=aligned.threshold,
        n_items=len(aligned.items),
        n=len(aligned.both),
        n_cases=len({item.cluster for item in aligned.both}),
        n_judge_missing=len(aligned.items) - len(aligned.both),
        n_unlabelled=len(aligned.unlabelled),
        agreement=found,
        pass_fail=pass_fail(aligned, level=level),
        people=people,
        leniency=leniency(aligned, level=level),
        confusion=confusion(aligned),
        orders=None if pairs is None else pair_orders(aligned, pairs, level=level),
        steadiness=steadiness(aligned, level=level),
        groupings=groupings(aligned, options),
        segments=segments(aligned, options, pairs),
        corrected_rate=corrected(aligned, what, options) if passes else None,
        corrected_mean=corrected(aligned, "mean value", options),
        budget=budget(aligned, what, options),
        trust=None if isinstance(sure, str) else sure,
        why_no_trust=sure if isinstance(sure, str) else None,
        recalibration=None if isinstance(mapped, str) else mapped,
        why_no_recalibration=mapped if isinstance(mapped, str) else None,
        stand_in=stand_in(aligned, found, people, options),
        disagreements=disagreements(aligned, options.n_worst),
    )
