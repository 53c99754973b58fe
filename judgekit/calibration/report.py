"""`calibrate`: from judge answers and human labels to a CalibrationReport. Start reading here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from math import fsum, isnan, nan
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, get_args

from judgekit.calibration.agreement import (
    Classification,
    Confusion,
    Leniency,
    PassFail,
    ScaleAgreement,
    Steadiness,
    classify,
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
from judgekit.calibration.confidence import assess_trust, cross_fit_recalibration, judge_correctness
from judgekit.calibration.correction import correct_figure, label_budget
from judgekit.calibration.files import read_judged_file, read_judged_rows
from judgekit.calibration.inputs import (
    CalibrationOptions,
    JoinCounts,
    OutputKey,
    PairwiseData,
    PointwiseData,
)
from judgekit.calibration.items import clustered_mean, clusters_of
from judgekit.calibration.join import WHOLE_OUTPUT, CalibrationData, join_labels
from judgekit.calibration.maps import fit_maps
from judgekit.calibration.pairs import PairOrders, join_pairs, pair_orders
from judgekit.calibration.sources import JudgmentRecord, judged_from_records, judged_from_run
from judgekit.calibration.substitution import assess_stand_in, combine_stand_ins, human_ceiling
from judgekit.datasets import LocatedLabel, load_dataset, load_rubric, locate_labels, read_labels
from judgekit.errors import InputError
from judgekit.evaluation import Run, judging_of_names
from judgekit.formats import FileRow
from judgekit.presentable import Presentable
from judgekit.records import CalibratedPanel, Calibration, Dataset, JsonObject, Label, Rubric
from judgekit.scoring import criterion_edits
from judgekit.stats.estimate import Estimate
from judgekit.stats.paired import paired_proportions

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.calibration.breakdown import Disagreement, Grouping, LabelSuggestion, Segment
    from judgekit.calibration.confidence import Recalibration, Trust
    from judgekit.calibration.correction import CorrectedFigure, LabelBudget
    from judgekit.calibration.inputs import PairJudgment
    from judgekit.calibration.items import AlignedItems, JudgedItem
    from judgekit.calibration.substitution import HumanCeiling, StandIn

    _Right = dict[tuple[OutputKey, str], tuple[JudgedItem, float]]
    _Answer = JudgmentRecord | Mapping[str, JsonValue]
    Judged = Run | Path | str | _Answer | Iterable[_Answer] | PointwiseData | PairwiseData
    _Labelled = Label | Mapping[str, JsonValue]
    Labels = Path | str | _Labelled | Iterable[_Labelled] | list[LocatedLabel]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionCalibration:
    """The results of one criterion, of the whole output, or of all criteria together.

    Attributes:
        name: The criterion; `whole` for the rubric's verdict, `all criteria` for all together.
        scale: Worst and best score.
        categories: Names of the levels if they are categories; else empty.
        threshold: The value on [0, 1] from which a score passes; None for comparisons and
            categories, which have no `pass_fail` and no `corrected_rate` either.
        n_items: Labelled items.
        n: Labelled items with a judge's score; every figure uses these unless it says otherwise.
        n_cases: Independent clusters among them, normally cases.
        n_judge_missing: Labelled items without a usable judge answer; excluded, not counted as 0.
        n_unlabelled: Items with a judge's score and without a label.
        confusion: None for a scale without levels.
        classification: Precision, recall and F1 of each level; None for an ordered scale with more
            than two levels.
        orders: For comparisons, the results of both orders.
        steadiness: None without repeats.
        corrected_mean: The corrected mean value; for comparisons the win rate of a.
        budget: Labels needed for the requested interval of the corrected rate.
        trust: What the judge's confidence is worth; None if it stated none.
        recalibration: The improvement by a calibration map; None with too few labels.
    """

    name: str
    scale: tuple[float, float]
    categories: dict[float, str]
    threshold: float | None
    n_items: int
    n: int
    n_cases: int
    n_judge_missing: int
    n_unlabelled: int
    agreement: ScaleAgreement
    pass_fail: PassFail | None
    people: HumanCeiling
    leniency: Leniency
    confusion: Confusion | None
    classification: Classification | None
    orders: PairOrders | None
    steadiness: Steadiness | None
    groupings: tuple[Grouping, ...]
    segments: tuple[Segment, ...]
    corrected_rate: CorrectedFigure | None
    corrected_mean: CorrectedFigure
    budget: LabelBudget
    trust: Trust | None
    why_no_trust: str | None
    recalibration: Recalibration | None
    why_no_recalibration: str | None
    stand_in: StandIn
    disagreements: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaMean:
    """Plain means over criteria, each without the criteria that leave it undefined.

    They have no intervals, because the criteria of one output are not independent. Each criterion
    has its own, and `pooled` has those of all items together. The biases are shares of each scale.
    """

    n_criteria: int
    exact: float
    kappa: float
    kappa_quadratic: float
    pearson: float
    spearman: float
    kendall: float
    bias: float
    people_alpha: float
    people_fleiss_kappa: float


@dataclass(frozen=True, kw_only=True, repr=False)
class CalibrationReport(Presentable):
    """The comparison of a judge with human labels.

    Attributes:
        kind: Whether single outputs or pairs were judged.
        judges: Model and template of each judge.
        models: The models that answered, as the providers name them.
        rubric: Name of the rubric, if known.
        origin: Where the judgments come from, for example the run.
        joined: How many labels and judgments matched.
        criteria: Each criterion that has labels, in the rubric's order.
        overall: The rubric's verdict, or the overall preference; with one criterion the same as
            that.
        pooled: All criteria together, one item for each; with one criterion the same as that.
        mean_of_criteria: Plain means over the criteria; None with one criterion.
        stand_in: Whether the judge can replace a human annotator, over all criteria.
        suggestions: The items whose labels would be most informative.
        notes: What was assumed.
        options: The options of the calibration.
        aligned: Scores and labels item by item, per criterion: what calibration maps are fitted on.
        rubric_record: The rubric itself, if known.
        asked: The judges and their settings, if known.
        is_of_other_version: Whether outputs were judged by another version of the rubric.
    """

    kind: Literal["pointwise", "pairwise"]
    judges: tuple[str, ...]
    models: tuple[str, ...]
    rubric: str | None
    rubric_fingerprint: str | None
    origin: JsonObject
    joined: JoinCounts
    criteria: dict[str, CriterionCalibration]
    overall: CriterionCalibration
    pooled: CriterionCalibration
    mean_of_criteria: CriteriaMean | None
    stand_in: StandIn
    suggestions: tuple[LabelSuggestion, ...]
    notes: tuple[str, ...]
    options: CalibrationOptions
    aligned: dict[str, AlignedItems]
    rubric_record: Rubric | None = None
    asked: CalibratedPanel | None = None
    is_of_other_version: bool = False

    def maps(self, *, fitted_at: datetime | None = None) -> Calibration:
        """Fit the maps from the judge's values to human values, for `grade` and `run` to apply.

        Args:
            fitted_at: The time (UTC); None for now.

        Returns:
            A map for each criterion with enough labels; `save_calibration` writes them.

        Raises:
            InputError: When pairs were judged, the rubric or the judge is unknown, or outputs were
                judged by another version of the rubric.
            NotEnoughDataError: When no criterion has enough labels.
        """
        # Without the rubric and the judge nobody could tell where a map is valid.
        if self.kind == "pairwise":
            raise InputError(
                "choices between two outputs have no map",
                hint="label single outputs with `raw`, and calibrate the judge's grades",
            )
        if self.rubric_record is None:
            raise InputError(
                "a map belongs to a rubric, and the rubric is unknown", hint="give --rubric"
            )
        if self.is_of_other_version:
            raise InputError(
                f"a map belongs to a rubric, and {_OTHER_VERSION.format(self.rubric)}",
                hint="name the rubric that they were made by, or grade the outputs again by this "
                "one: --outputs FILE --judge MODEL",
            )
        if self.asked is None:
            raise InputError(
                "a map belongs to a judge, and the judgments do not name theirs",
                hint="grade the outputs with it: --outputs FILE --judge MODEL",
            )
        return fit_maps(
            self.rubric_record,
            self.asked,
            {n: (self.aligned[n], p.agreement.kappa_quadratic) for n, p in self.criteria.items()},
            self.pooled.agreement.kappa_quadratic,
            self.options,
            fitted_at=fitted_at or datetime.now(UTC),
        )

    def against(self, other: CalibrationReport) -> dict[str, JudgeContrast]:
        """Compare this judge and another with the same labels.

        Args:
            other: Another judge's report on these items.

        Returns:
            By criterion how much more often this judge is right, with McNemar's test. This report's
            options define when a judge is right.

        Raises:
            InputError: When no labelled item was judged by both.
        """
        contrasts = {}
        for name in (name for name in self.aligned if name in other.aligned):
            mine = _right(self.aligned[name].without_chosen(), self.options)
            theirs = _right(other.aligned[name].without_chosen(), self.options)
            shared = sorted(mine.keys() & theirs.keys(), key=lambda key: (key[0].rank, key[1]))
            if not shared:
                continue
            right = [(mine[key][1], theirs[key][1]) for key in shared]
            kinds = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
            both, this, that, neither = (right.count(kind) for kind in kinds)
            clusters = clusters_of(mine[key][0] for key in shared)
            gaps = [ours - others for ours, others in right]
            contrasts[name] = JudgeContrast(
                n=len(right),
                n_both=both,
                n_only_this=this,
                n_only_other=that,
                n_neither=neither,
                difference=clustered_mean(gaps, clusters, level=self.options.level),
                p_exact=paired_proportions(both, this, that, neither).p_exact,
            )
        if not contrasts:
            raise InputError("no labelled item was judged by both judges")
        return contrasts

    @property
    def agreement(self) -> ScaleAgreement:
        """Overall agreement of judge and labels."""
        return self.overall.agreement

    @property
    def corrected(self) -> CorrectedFigure:
        """The pass rate, or the win rate of a, corrected by the labels."""
        return self.overall.corrected_rate or self.overall.corrected_mean

    def to_json(self) -> JsonObject:
        """The report as plain JSON types; an undefined figure is null, with its reason.

        Returns:
            A dict of JSON types, without the items themselves.
        """
        # These are the inputs of the calibration, not its results.
        excluded = {"aligned", "rubric_record", "asked", "is_of_other_version"}
        return {
            field.name: plain_data(getattr(self, field.name))
            for field in fields(self)
            if field.name not in excluded
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContrast:
    """Two judges compared on the items that were labelled for both.

    Attributes:
        n: Items; an unusable answer counts as wrong.
        difference: How much more often this judge is right; above 0 it is the better one.
        p_exact: McNemar's test, exact and two-sided; it assumes independent items, the interval
            does not.
    """

    n: int
    n_both: int
    n_only_this: int
    n_only_other: int
    n_neither: int
    difference: Estimate
    p_exact: float


def _right(aligned: AlignedItems, options: CalibrationOptions) -> _Right:
    judged = zip(aligned.both, judge_correctness(aligned, options).tolist(), strict=True)
    # A failure counts as wrong; otherwise a judge would gain by failing on hard items.
    failed = {(item.place, item.criterion): (item, 0.0) for item in aligned.items}
    return failed | {(item.place, item.criterion): (item, float(x == 1)) for item, x in judged}


_WHOLE = "whole"
_OTHER_VERSION = "the judgments were made by another version of {}, or by another rubric"
_OF_CHOSEN = "{:,} labelled outputs were chosen, not drawn: only maps and largest errors use them"


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
    if isinstance(labels, str | Path):
        placed = read_labels(labels)
    elif isinstance(labels, list) and labels and isinstance(labels[0], LocatedLabel):
        placed = labels
    else:
        placed = locate_labels(_listed(labels, Label, "labels", "a file, or a list of labels"))
    if not placed:
        raise InputError("there are no labels to compare the judge with")
    own = load_rubric(rubric) if isinstance(rubric, str | Path) else rubric
    known = load_dataset(cases) if isinstance(cases, str | Path) else cases
    data = _judge_answers(judgments, own, known)
    if isinstance(data, PointwiseData):
        data.rubric = own or data.rubric
    return _report(data, _joined(data, placed, limits), limits)


def calibrate_and_release(
    data: PointwiseData | PairwiseData, labels: list[LocatedLabel], options: CalibrationOptions
) -> CalibrationReport:
    """The same for a caller that needs neither any more; the list of labels is empty afterwards."""
    # They may be many, and take more memory than what is made of them.
    labels.reverse()
    joined = _joined(data, (labels.pop() for _ in range(len(labels))), options)
    if isinstance(data, PointwiseData):
        data.forget_answers()
    return _report(data, joined, options)


def _joined(
    data: PointwiseData | PairwiseData, labels: Iterable[LocatedLabel], options: CalibrationOptions
) -> CalibrationData:
    if isinstance(data, PairwiseData):
        return join_pairs(data, labels, options)
    return join_labels(data, labels, options)


def _judge_answers(
    judgments: Judged, rubric: Rubric | None, cases: Dataset | None
) -> PointwiseData | PairwiseData:
    by_id = {} if cases is None else {case.id: case for case in cases.cases}
    if isinstance(judgments, PointwiseData | PairwiseData):
        return judgments
    if isinstance(judgments, Run):
        old = judgments.info.rubric
        if rubric and old and not any(criterion_edits(old, rubric)):
            # With other weights or thresholds the scores are concluded again.
            again = judgments.info.model_copy(update={"rubric": rubric})
            judgments = Run(again, judgments.store)
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
    data: PointwiseData | PairwiseData, material: CalibrationData, options: CalibrationOptions
) -> CalibrationReport:
    whole, pairs = material.whole, material.pairs
    criteria = {
        each.name: calibrate_criterion(each, options, pairs.get(each.name))
        for each in material.criteria
    }
    overall = (
        None if whole is None else calibrate_criterion(whole, options, pairs.get(WHOLE_OUTPUT))
    )
    pooled = None if material.pooled is None else calibrate_criterion(material.pooled, options)
    # With a single criterion it stands for the whole and for all together.
    parts = [part for part in (overall, pooled, *criteria.values()) if part is not None]
    decided = list(criteria.items()) or [(parts[0].name, parts[0])]
    aligned = tuple(material.criteria or ([whole] if whole is not None else []))
    chosen = len({item.place for one in aligned for item in one.items if not item.is_random})
    of_chosen = () if not chosen else (_OF_CHOSEN.format(chosen),)
    scores = data if isinstance(data, PointwiseData) else None
    is_other = scores is not None and scores.is_of_other_version
    # Comparisons have no map, so that their rubric and panel are not needed.
    rubric = None if scores is None else scores.rubric
    of_other = (_OTHER_VERSION.format(rubric.name),) if is_other and rubric is not None else ()
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
        notes=(*material.notes, *of_chosen, *of_other),
        options=options,
        aligned={each.name: each for each in aligned},
        rubric_record=rubric,
        asked=None if scores is None else scores.asked or judging_of_names(material.judges),
        is_of_other_version=is_other,
    )


def calibrate_criterion(
    aligned: AlignedItems,
    options: CalibrationOptions,
    pairs: Mapping[OutputKey, PairJudgment] | None = None,
) -> CriterionCalibration:
    # Maps may be fitted on labels of chosen items; of rates, these would be those of hard items.
    mapped = cross_fit_recalibration(aligned, options)
    errors = largest_disagreements(aligned, options.n_worst)
    aligned, level = aligned.without_chosen(), options.level
    agreement, humans = scale_agreement(aligned, level=level), human_ceiling(aligned, level=level)
    passes = aligned.threshold is not None
    what = "pass rate" if passes else "mean value"
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
        classification=classify(aligned, level=level),
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
        disagreements=errors,
    )


def mean_over_criteria(parts: Sequence[CriterionCalibration]) -> CriteriaMean | None:
    if len(parts) < 2:  # noqa: PLR2004 - one criterion is its own mean
        return None

    def mean(values: Iterable[float]) -> float:
        known = [value for value in values if not isnan(value)]
        return fsum(known) / len(known) if known else nan

    agreements = [part.agreement for part in parts]
    # Shares of each scale, because points on 1 to 5 and on 0 to 100 have no common mean.
    biases = [part.leniency.bias.value / (part.scale[1] - part.scale[0]) for part in parts]
    figures = ("exact", "kappa", "kappa_quadratic", "pearson", "spearman", "kendall")
    return CriteriaMean(
        n_criteria=len(parts),
        **{name: mean(getattr(one, name).value for one in agreements) for name in figures},
        bias=mean(biases),
        people_alpha=mean(part.people.alpha.value for part in parts),
        people_fleiss_kappa=mean(part.people.fleiss_kappa.value for part in parts),
    )


# Written even if null, so that a reader of the JSON finds them in every estimate.
_CORE = frozenset({"value", "low", "high", "level", "n", "n_missing", "method"})


def plain_data(value: object) -> Any:
    """Results as plain JSON types; an undefined figure is null, with its reason."""
    if isinstance(value, Estimate):
        # Optional fields are written only if they have a value: most estimates have few of them.
        found = {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
        return {k: v for k, v in found.items() if k in _CORE or v is not None}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Label):
        value = value.to_json()
    elif hasattr(value, "_asdict"):
        # As the fields of a label row, into which a label only has to be added.
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(item) for item in value]
    # nan is no JSON.
    return None if isinstance(value, float) and isnan(value) else value
