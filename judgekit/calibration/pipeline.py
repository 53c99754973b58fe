"""`calibrate`: from judge answers and human labels to a CalibrationReport.

Start reading here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
    from judgekit.calibration.substitution import StandIn
    from judgekit.records import Dataset, Rubric
    from judgekit.stats.estimate import Estimate

if TYPE_CHECKING:
    Told = JudgmentRecord | Mapping[str, JsonValue]

if TYPE_CHECKING:
    Judged = Run | Path | str | Told | Iterable[Told] | PointwiseData | PairwiseData

if TYPE_CHECKING:
    Labelled = Label | Mapping[str, JsonValue]

if TYPE_CHECKING:
    Labels = Path | str | Labelled | Iterable[Labelled] | list[LocatedLabel]


def calibrate(
    judgments: Judged,
    labels: Labels,
    *,
    rubric: Rubric | Path | str | None = None,
    cases: Dataset | Path | str | None = None,
    options: CalibrationOptions | None = None,
) -> CalibrationReport:
    """Hold a judge against people.

    Args:
        judgments: A run; verdicts, judgments with their `case_id`, or comparisons; mappings with
            `case_id` and `raw` or `winner`; or the path of a file of any of these.
        labels: A file of labels, or labels themselves: `case_id`, `annotator`, `raw` or `winner`,
            and where needed `variant` and `criterion`.
        rubric: The rubric that was asked, or its file, for its scales and thresholds; a run knows
            its own. Without it they are inferred, which the report's notes say.
        cases: The cases, or their file, for strata, tags and metadata; a run knows its own.
        options: Levels, limits and policies; None takes the defaults.

    Returns:
        The report; `report.to_json()` is all of it, `report.stand_in` its shortest answer.

    Raises:
        DatasetError: When a file or a label is unsound.
        InputError: When several labels are, when no label is of anything that was judged, or when
            an argument is of no kind that is known.
        StoreError: When the run cannot be read.

    Example:
        >>> from judgekit.records.judgment import Judgment
        >>> said = [
        ...     Judgment(criterion="right", raw=r, value=r, rationale="so", case_id=f"c{i}")
        ...     for i, r in enumerate([1, 1, 0, 1])
        ... ]
        >>> people = [
        ...     {"case_id": f"c{i}", "annotator": "Ada", "raw": r}
        ...     for i, r in enumerate([1, 0, 0, 1])
        ... ]
        >>> calibrate(said, people).overall.agreement.exact.value
        0.75
    """
    wanted = options or CalibrationOptions()
    placed = _placed(labels)
    asked = load_rubric(rubric) if isinstance(rubric, str | Path) else rubric
    known = load_dataset(cases) if isinstance(cases, str | Path) else cases
    found = _found(judgments, asked, known)
    if isinstance(found, PairwiseData):
        return _of_pairs(found, placed, wanted)
    if asked is not None:
        found.rubric = asked
    return _of_scores(found, placed, wanted)


def _placed(labels: Labels) -> list[LocatedLabel]:
    if isinstance(labels, str | Path):
        return read_labels(labels)
    if isinstance(labels, list) and labels and isinstance(labels[0], LocatedLabel):
        return labels
    placed = locate_labels(_listed(labels, Label, "labels", "a file, or a list of labels"))
    if not placed:
        raise InputError("there are no labels to hold the judge against")
    return placed


def _found(
    judgments: Judged, rubric: Rubric | None, cases: Dataset | None
) -> PointwiseData | PairwiseData:
    by_id = {} if cases is None else {case.id: case for case in cases.cases}
    if isinstance(judgments, PointwiseData | PairwiseData):
        return judgments
    if isinstance(judgments, Run):
        return judged_from_run(judgments)
    if isinstance(judgments, str | Path):
        found = read_judged_file(Path(judgments), rubric=rubric, cases=by_id)
        found.origin["file"] = str(judgments)
        return found
    kinds = "a run, a file, or a list of verdicts, judgments or comparisons"
    given = _listed(judgments, JudgmentRecord, "judgments", kinds)
    rows = [
        FileRow(n, dict(one)) for n, one in enumerate(given, start=1) if isinstance(one, Mapping)
    ]
    if rows and len(rows) == len(given):
        return read_judged_rows(rows, rubric=rubric, cases=by_id)
    said = [one for one in given if not isinstance(one, Mapping)]
    if rows:
        raise InputError("records and mappings are not mixed", hint="give one kind of judgments")
    return judged_from_records(said, rubric=rubric, cases=by_id)


def _listed(given: object, kind: type | UnionType, what: str, wanted: str) -> list[Any]:
    """What was given as a list, one by itself too; mappings stand for records."""
    one_is_fine = (Mapping, *(get_args(kind) or (kind,)))
    listed = [given] if isinstance(given, one_is_fine) else given
    if isinstance(listed, Iterable):
        listed = list(listed)
        strange = [one for one in listed if not isinstance(one, one_is_fine)]
        if not strange:
            return listed
        given = strange[0]
    kind_given = type(given).__name__
    raise InputError(f"{what}: {kind_given} is nothing of the kind", hint=f"give {wanted}")


def _of_scores(
    grades: PointwiseData, placed: list[LocatedLabel], options: CalibrationOptions
) -> CalibrationReport:
    material = join_labels(grades, placed, options)
    rubric = grades.rubric
    parts = _Parts.of(material, options, {})
    return CalibrationReport(
        kind="pointwise",
        judges=material.judges,
        models=tuple(grades.models),
        rubric=None if rubric is None else rubric.name,
        rubric_fingerprint=None if rubric is None else rubric.fingerprint,
        origin=grades.origin,
        joined=material.joined,
        criteria=parts.criteria,
        overall=parts.overall,
        pooled=parts.pooled,
        mean_of_criteria=mean_over_criteria(list(parts.criteria.values())),
        stand_in=parts.stand_in,
        suggestions=suggest_labels(parts.aligned, options.n_suggested),
        notes=material.notes,
        options=options,
        aligned={each.name: each for each in parts.aligned},
        rubric_record=rubric,
        asked=grades.asked or judging_of_names(material.judges),
    )


def _of_pairs(
    pairs: PairwiseData, placed: list[LocatedLabel], options: CalibrationOptions
) -> CalibrationReport:
    found = join_pairs(pairs, placed, options)
    material = found.material
    parts = _Parts.of(material, options, found.pairs)
    return CalibrationReport(
        kind="pairwise",
        judges=material.judges,
        models=tuple(pairs.models),
        rubric=None,
        rubric_fingerprint=None,
        origin=pairs.origin,
        joined=material.joined,
        criteria=parts.criteria,
        overall=parts.overall,
        pooled=parts.pooled,
        mean_of_criteria=mean_over_criteria(list(parts.criteria.values())),
        stand_in=parts.stand_in,
        suggestions=suggest_labels(parts.aligned, options.n_suggested),
        notes=material.notes,
        options=options,
        aligned={each.name: each for each in parts.aligned},
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """The figures of every criterion, of the whole and of all together."""

    criteria: dict[str, CriterionCalibration]
    overall: CriterionCalibration
    pooled: CriterionCalibration
    stand_in: StandIn
    aligned: tuple[AlignedItems, ...]

    @classmethod
    def of(
        cls,
        material: CalibrationData,
        options: CalibrationOptions,
        pairs: Mapping[str, Mapping[OutputKey, PairJudgment]],
    ) -> _Parts:
        criteria = {
            each.name: calibrate_criterion(each, options, pairs.get(each.name))
            for each in material.criteria
        }
        whole = material.whole
        overall = (
            None if whole is None else calibrate_criterion(whole, options, pairs.get(WHOLE_OUTPUT))
        )
        pooled = None if material.pooled is None else calibrate_criterion(material.pooled, options)
        parts = [part for part in (overall, pooled, *criteria.values()) if part is not None]
        asked = list(criteria.items()) or [(parts[0].name, parts[0])]
        return cls(
            criteria=criteria,
            overall=parts[0],
            pooled=pooled or parts[0],
            stand_in=combine_stand_ins([(name, part.stand_in) for name, part in asked]),
            aligned=tuple(material.criteria or ([whole] if whole is not None else [])),
        )


_WHOLE = "whole"


def calibrate_criterion(
    aligned: AlignedItems,
    options: CalibrationOptions,
    pairs: Mapping[OutputKey, PairJudgment] | None = None,
) -> CriterionCalibration:
    """Everything about one criterion."""
    level = options.level
    found, people = scale_agreement(aligned, level=level), human_ceiling(aligned, level=level)
    passes = aligned.threshold is not None
    what = "pass rate" if passes else "mean value"
    mapped = cross_fit_recalibration(aligned, options)
    sure = assess_trust(aligned, options)
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
        pass_fail=pass_fail_agreement(aligned, level=level),
        people=people,
        leniency=judge_leniency(aligned, level=level),
        confusion=confusion_table(aligned),
        orders=None if pairs is None else pair_orders(aligned, pairs, level=level),
        steadiness=judge_steadiness(aligned, level=level),
        groupings=build_groupings(aligned, options),
        segments=build_segments(aligned, options, pairs),
        corrected_rate=correct_figure(aligned, what, options) if passes else None,
        corrected_mean=correct_figure(aligned, "mean value", options),
        budget=label_budget(aligned, what, options),
        trust=None if isinstance(sure, str) else sure,
        why_no_trust=sure if isinstance(sure, str) else None,
        recalibration=None if isinstance(mapped, str) else mapped,
        why_no_recalibration=mapped if isinstance(mapped, str) else None,
        stand_in=assess_stand_in(aligned, found, people, options),
        disagreements=largest_disagreements(aligned, options.n_worst),
    )


def mean_over_criteria(parts: Sequence[CriterionCalibration]) -> CriteriaMean | None:
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
