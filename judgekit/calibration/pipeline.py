"""`calibrate`: from judge answers and human labels to a CalibrationReport. Start reading here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from judgekit.calibration.agreement import (
    confusion_table,
    judge_leniency,
    judge_steadiness,
    pass_fail_agreement,
    scale_agreement,
)
from judgekit.calibration.breakdown import (
    build_groupings,
    build_segments,
    largest_disagreements,
    suggest_labels,
)
from judgekit.calibration.confidence import assess_trust, cross_fit_recalibration
from judgekit.calibration.correction import correct_figure, label_budget
from judgekit.calibration.files import read_judged_file, read_judged_rows
from judgekit.calibration.inputs import CalibrationOptions, PairwiseData, PointwiseData
from judgekit.calibration.join import WHOLE_OUTPUT, join_labels
from judgekit.calibration.pairs import join_pairs, pair_orders
from judgekit.calibration.report import CalibrationReport, CriteriaMean, CriterionCalibration
from judgekit.calibration.sources import JudgmentRecord, judged_from_records, judged_from_run
from judgekit.calibration.substitution import assess_stand_in, combine_stand_ins, human_ceiling
from judgekit.datasets import LocatedLabel, load_dataset, load_rubric, locate_labels, read_labels
from judgekit.errors import InputError
from judgekit.evaluation import Run, judging_of_names
from judgekit.formats import FileRow
from judgekit.records import Label

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import UnionType

    from pydantic import JsonValue

    from judgekit.calibration.inputs import OutputKey, PairJudgment
    from judgekit.calibration.items import AlignedItems
    from judgekit.calibration.join import CalibrationData
    from judgekit.records import Dataset, Rubric

    _Answer = JudgmentRecord | Mapping[str, JsonValue]
    Judged = Run | Path | str | _Answer | Iterable[_Answer] | PointwiseData | PairwiseData
    _Labelled = Label | Mapping[str, JsonValue]
    Labels = Path | str | _Labelled | Iterable[_Labelled] | list[LocatedLabel]

_WHOLE = "whole"


def calibrate(
    judgments: Judged,
    labels: Labels,
    *,
    rubric: Rubric | Path | str | None = None,
    cases: Dataset | Path | str | None = None,
    options: CalibrationOptions | None = None,
) -> CalibrationReport:
    """Compare a judge with human labels.

    Args:
        judgments: A run; verdicts, judgments with their `case_id`, or comparisons; mappings with
            `case_id` and `raw` or `winner`; or the path of a file of any of these.
        labels: A file of labels, or labels themselves: `case_id`, `annotator`, `raw` or `winner`,
            and where needed `variant` and `criterion`.
        rubric: The judge's rubric, or its file, for its scales and thresholds; a run has its own.
            Without it they are inferred, and the report's notes list the assumptions.
        cases: The cases, or their file, for strata, tags and metadata; a run has its own.
        options: Levels, limits and policies; None takes the defaults.

    Returns:
        The report; `report.to_json()` is all of it, `report.stand_in` its shortest answer.

    Raises:
        DatasetError: When a file or a label is invalid.
        InputError: When several labels are invalid, when no label matches a judged output, or when
            an argument has the wrong type.
        StoreError: When the run cannot be read.

    Example:
        >>> from judgekit.records.judgment import Judgment
        >>> judgments = [
        ...     Judgment(criterion="right", raw=r, value=r, rationale="so", case_id=f"c{i}")
        ...     for i, r in enumerate([1, 1, 0, 1])
        ... ]
        >>> labels = [
        ...     {"case_id": f"c{i}", "annotator": "Ada", "raw": r}
        ...     for i, r in enumerate([1, 0, 0, 1])
        ... ]
        >>> calibrate(judgments, labels).overall.agreement.exact.value
        0.75
    """
    limits = options or CalibrationOptions()
    placed = _located(labels)
    own = load_rubric(rubric) if isinstance(rubric, str | Path) else rubric
    known = load_dataset(cases) if isinstance(cases, str | Path) else cases
    data = _judge_answers(judgments, own, known)
    if isinstance(data, PairwiseData):
        joined = join_pairs(data, placed, limits)
        return _report(data, joined.material, limits, pairs=joined.pairs)
    if own is not None:
        data.rubric = own
    return _report(data, join_labels(data, placed, limits), limits, pairs={})


def _located(labels: Labels) -> list[LocatedLabel]:
    if isinstance(labels, str | Path):
        return read_labels(labels)
    if isinstance(labels, list) and labels and isinstance(labels[0], LocatedLabel):
        return labels
    located = locate_labels(_listed(labels, Label, "labels", "a file, or a list of labels"))
    if not located:
        raise InputError("there are no labels to compare the judge with")
    return located


def _judge_answers(
    judgments: Judged, rubric: Rubric | None, cases: Dataset | None
) -> PointwiseData | PairwiseData:
    by_id = {} if cases is None else {case.id: case for case in cases.cases}
    if isinstance(judgments, PointwiseData | PairwiseData):
        return judgments
    if isinstance(judgments, Run):
        return judged_from_run(judgments)
    if isinstance(judgments, str | Path):
        data = read_judged_file(Path(judgments), rubric=rubric, cases=by_id)
        data.origin["file"] = str(judgments)
        return data
    kinds = "a run, a file, or a list of verdicts, judgments or comparisons"
    answers = _listed(judgments, JudgmentRecord, "judgments", kinds)
    rows = [
        FileRow(n, dict(one)) for n, one in enumerate(answers, start=1) if isinstance(one, Mapping)
    ]
    if rows and len(rows) == len(answers):
        return read_judged_rows(rows, rubric=rubric, cases=by_id)
    records = [one for one in answers if not isinstance(one, Mapping)]
    if rows:
        raise InputError("records and mappings cannot be mixed", hint="give one kind of judgments")
    return judged_from_records(records, rubric=rubric, cases=by_id)


def _listed(argument: object, kind: type | UnionType, what: str, wanted: str) -> list[Any]:
    """An argument as a list; a single record and mappings are accepted too."""
    accepted = (Mapping, *(get_args(kind) or (kind,)))
    listed = [argument] if isinstance(argument, accepted) else argument
    wrong = argument
    if isinstance(listed, Iterable):
        listed = list(listed)
        others = [one for one in listed if not isinstance(one, accepted)]
        if not others:
            return listed
        wrong = others[0]
    raise InputError(f"{what}: {type(wrong).__name__} is not accepted", hint=f"give {wanted}")


def _report(
    data: PointwiseData | PairwiseData,
    material: CalibrationData,
    options: CalibrationOptions,
    *,
    pairs: Mapping[str, Mapping[OutputKey, PairJudgment]],
) -> CalibrationReport:
    criteria = {
        each.name: calibrate_criterion(each, options, pairs.get(each.name))
        for each in material.criteria
    }
    whole = material.whole
    overall = (
        None if whole is None else calibrate_criterion(whole, options, pairs.get(WHOLE_OUTPUT))
    )
    pooled = None if material.pooled is None else calibrate_criterion(material.pooled, options)
    # With a single criterion it stands for the whole and for all together.
    parts = [part for part in (overall, pooled, *criteria.values()) if part is not None]
    decided = list(criteria.items()) or [(parts[0].name, parts[0])]
    aligned = tuple(material.criteria or ([whole] if whole is not None else []))
    scores = data if isinstance(data, PointwiseData) else None
    # Comparisons have no map, so that their rubric and panel are not needed.
    rubric = None if scores is None else scores.rubric
    return CalibrationReport(
        kind="pairwise" if scores is None else "pointwise",
        judges=material.judges,
        models=tuple(data.models),
        rubric=None if rubric is None else rubric.name,
        rubric_fingerprint=None if rubric is None else rubric.fingerprint,
        origin=data.origin,
        joined=material.joined,
        criteria=criteria,
        overall=parts[0],
        pooled=pooled or parts[0],
        mean_of_criteria=mean_over_criteria(list(criteria.values())),
        stand_in=combine_stand_ins([(name, part.stand_in) for name, part in decided]),
        suggestions=suggest_labels(aligned, options.n_suggested),
        notes=material.notes,
        options=options,
        aligned={each.name: each for each in aligned},
        rubric_record=rubric,
        asked=None if scores is None else scores.asked or judging_of_names(material.judges),
    )


def calibrate_criterion(
    aligned: AlignedItems,
    options: CalibrationOptions,
    pairs: Mapping[OutputKey, PairJudgment] | None = None,
) -> CriterionCalibration:
    """The results of one criterion, of the whole output, or of all criteria together."""
    level = options.level
    agreement, humans = scale_agreement(aligned, level=level), human_ceiling(aligned, level=level)
    passes = aligned.threshold is not None
    what = "pass rate" if passes else "mean value"
    mapped = cross_fit_recalibration(aligned, options)
    trust = assess_trust(aligned, options)
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
        agreement=agreement,
        pass_fail=pass_fail_agreement(aligned, level=level),
        people=humans,
        leniency=judge_leniency(aligned, level=level),
        confusion=confusion_table(aligned),
        orders=None if pairs is None else pair_orders(aligned, pairs, level=level),
        steadiness=judge_steadiness(aligned, level=level),
        groupings=build_groupings(aligned, options),
        segments=build_segments(aligned, options, pairs),
        corrected_rate=correct_figure(aligned, what, options) if passes else None,
        corrected_mean=correct_figure(aligned, "mean value", options),
        budget=label_budget(aligned, what, options),
        trust=None if isinstance(trust, str) else trust,
        why_no_trust=trust if isinstance(trust, str) else None,
        recalibration=None if isinstance(mapped, str) else mapped,
        why_no_recalibration=mapped if isinstance(mapped, str) else None,
        stand_in=assess_stand_in(aligned, agreement, humans, options),
        disagreements=largest_disagreements(aligned, options.n_worst),
    )


def mean_over_criteria(parts: Sequence[CriterionCalibration]) -> CriteriaMean | None:
    """Means over criteria; None for a single one."""
    if len(parts) < 2:  # noqa: PLR2004 - one criterion is its own mean
        return None

    def mean(values: Iterable[float]) -> float:
        known = [value for value in values if not isnan(value)]
        return fsum(known) / len(known) if known else nan

    agreements = [part.agreement for part in parts]
    # Shares of each scale, because points on 1 to 5 and on 0 to 100 have no common mean.
    biases = [part.leniency.bias.value / (part.scale[1] - part.scale[0]) for part in parts]
    return CriteriaMean(
        n_criteria=len(parts),
        exact=mean(one.exact.value for one in agreements),
        kappa=mean(one.kappa.value for one in agreements),
        kappa_quadratic=mean(one.kappa_quadratic.value for one in agreements),
        pearson=mean(one.pearson.value for one in agreements),
        spearman=mean(one.spearman.value for one in agreements),
        kendall=mean(one.kendall.value for one in agreements),
        bias=mean(biases),
        people_alpha=mean(part.people.alpha.value for part in parts),
        people_fleiss_kappa=mean(part.people.fleiss_kappa.value for part in parts),
    )
