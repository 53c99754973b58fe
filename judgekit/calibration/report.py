"""CalibrationReport: every figure of every criterion, its JSON.

The comparison with a second judge. `pipeline` fills it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judgekit.calibration.confidence import judge_correctness
from judgekit.calibration.items import clustered_mean, clusters_of
from judgekit.calibration.maps import MapInputs, fit_maps
from judgekit.errors import InputError
from judgekit.stats.estimate import Estimate
from judgekit.stats.paired import paired_proportions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.calibration.agreement import (
        Confusion,
        Leniency,
        PassFail,
        ScaleAgreement,
        Steadiness,
    )
    from judgekit.calibration.breakdown import Disagreement, Grouping, LabelSuggestion, Segment
    from judgekit.calibration.confidence import Recalibration, Trust
    from judgekit.calibration.correction import CorrectedFigure, LabelBudget
    from judgekit.calibration.inputs import CalibrationOptions, OutputKey
    from judgekit.calibration.items import AlignedItems, JudgedItem
    from judgekit.calibration.join import JoinCounts
    from judgekit.calibration.pairs import PairOrders
    from judgekit.calibration.substitution import HumanCeiling, StandIn
    from judgekit.records import CalibratedPanel, Calibration, JsonObject, Rubric

_CORE = frozenset({"value", "low", "high", "level", "n", "n_missing", "method"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionCalibration:
    """Everything about one criterion, about the whole, or about all criteria together."""

    name: str
    """The criterion; `whole` for what the rubric concludes, `all criteria` for all together."""

    scale: tuple[float, float]
    """Worst and best score."""

    categories: dict[float, str]
    """Names of the levels, where these are categories; else empty."""

    threshold: float | None
    """The value on [0, 1] from which a score passes; None for comparisons and categories."""

    n_items: int
    """Labelled items."""

    n: int
    """Of them, those the judge scored; every figure rests on these unless it says otherwise."""

    n_cases: int
    """Independent clusters, as a rule cases, they fall into."""

    n_judge_missing: int
    """Labelled items on which the judge gave nothing usable; left out, not counted as 0."""

    n_unlabelled: int
    """Items the judge scored and nobody labelled."""

    agreement: ScaleAgreement
    """How far judge and people agree on the scale."""

    pass_fail: PassFail | None
    """How far on what passes; None for comparisons and categories."""

    people: HumanCeiling
    """How far people agree with one another, and how near the judge comes to that."""

    leniency: Leniency
    """Bias and use of the scale."""

    confusion: Confusion | None
    """Labels against scores; None for a scale without levels."""

    orders: PairOrders | None
    """For comparisons, both orders."""

    steadiness: Steadiness | None
    """The judge against itself; None where it was asked once."""

    groupings: tuple[Grouping, ...]
    """Correlations within cases, variants and further groups, and between them."""

    segments: tuple[Segment, ...]
    """Figures per variant, stratum, tag and further groups."""

    corrected_rate: CorrectedFigure | None
    """The pass rate (of comparisons None), corrected."""

    corrected_mean: CorrectedFigure
    """The mean value (of comparisons how often a wins), corrected."""

    budget: LabelBudget
    """How many labels the wanted interval of the corrected rate takes."""

    trust: Trust | None
    """What the judge's confidence is worth; None where it gave none."""

    why_no_trust: str | None
    """Why that is not known."""

    recalibration: Recalibration | None
    """How much nearer a map brings the scores; None where there are too few labels."""

    why_no_recalibration: str | None
    """Why there is no map."""

    stand_in: StandIn
    """Whether the judge may stand in for a person."""

    disagreements: tuple[Disagreement, ...]
    """Where judge and people part most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaMean:
    """Plain means over criteria; criteria that leave a figure undefined are not in its mean.

    They have no intervals, for criteria of one output are not independent; each criterion has its
    own, and those of all items together stand in `pooled`.
    """

    n_criteria: int
    """Criteria with labels."""

    exact: float
    """Mean of the exact agreements of judge and people."""

    kappa: float
    """Of Cohen's kappas, unweighted."""

    kappa_quadratic: float
    """Of Cohen's kappas, quadratic weights."""

    pearson: float
    """Of Pearson's correlations."""

    spearman: float
    """Of Spearman's correlations."""

    kendall: float
    """Of Kendall's tau-b."""

    bias: float
    """Of the biases, as shares of each scale."""

    people_alpha: float
    """Of Krippendorff's alphas among people, at the level of each scale."""

    people_fleiss_kappa: float
    """Of Fleiss' kappas among people."""


@dataclass(frozen=True, kw_only=True)
class CalibrationReport:
    """A judge held against people."""

    kind: Literal["pointwise", "pairwise"]
    """Whether single outputs or two at a time were judged."""

    judges: tuple[str, ...]
    """Who judged: model and template."""

    models: tuple[str, ...]
    """The models that answered, in the providers' words."""

    rubric: str | None
    """Name of the rubric, where it is known."""

    rubric_fingerprint: str | None
    """Its fingerprint."""

    origin: JsonObject
    """Where the judgments come from, for example the run."""

    joined: JoinCounts
    """How labels and judgments came together."""

    criteria: dict[str, CriterionCalibration]
    """Each criterion that has labels, in the rubric's order."""

    overall: CriterionCalibration
    """What the rubric concludes, or the preference on the whole; of one criterion the same."""

    pooled: CriterionCalibration
    """All criteria together, an item for each; of one criterion the same."""

    mean_of_criteria: CriteriaMean | None
    """Plain means of the criteria's figures; None of one criterion."""

    stand_in: StandIn
    """Whether the judge may stand in for a person, over all criteria."""

    suggestions: tuple[LabelSuggestion, ...]
    """The items that a label would help most with."""

    notes: tuple[str, ...]
    """What was assumed."""

    options: CalibrationOptions
    """What was asked for."""

    aligned: dict[str, AlignedItems]
    """Scores and labels, item by item, per criterion: what a calibration map is fitted on."""

    rubric_record: Rubric | None = None
    """The rubric itself, where it is known."""

    asked: CalibratedPanel | None = None
    """Who judged and how they were asked, where that is known."""

    def maps(self, *, fitted_at: datetime | None = None) -> Calibration:
        """The maps that bring the judge's values to people's, for `grade` and `run` to apply.

        Args:
            fitted_at: The time (UTC); None for now.

        Returns:
            A map for each criterion with enough labels; `save_calibration` writes them.

        Raises:
            InputError: When two outputs were compared, or rubric or judge are not known.
            NotEnoughDataError: When no criterion has enough labels.
        """
        parts = self.criteria.items()
        material = MapInputs(
            kind=self.kind,
            rubric=self.rubric_record,
            asked=self.asked,
            aligned=self.aligned,
            kappas={name: part.agreement.kappa_quadratic for name, part in parts},
            pooled=self.pooled.agreement.kappa_quadratic,
            options=self.options,
        )
        return fit_maps(material, fitted_at=fitted_at or datetime.now(UTC))

    def against(self, other: CalibrationReport) -> dict[str, JudgeContrast]:
        """Hold this judge and another against the same labels.

        Args:
            other: Another judge's report on these items.

        Returns:
            By criterion how much more often this judge is right, with McNemar's test; right is
            what this report's options say.

        Raises:
            InputError: When no labelled item was judged by both.
        """
        return compare_judges(self.aligned, other.aligned, self.options)

    @property
    def agreement(self) -> ScaleAgreement:
        """How far judge and people agree on the whole."""
        return self.overall.agreement

    @property
    def corrected(self) -> CorrectedFigure:
        """The pass rate, of comparisons how often a wins, corrected by the labels."""
        return self.overall.corrected_rate or self.overall.corrected_mean

    def to_json(self) -> JsonObject:
        """The report as plain JSON types; what is undefined is null and says why.

        Returns:
            A dict of JSON types, without the items themselves.
        """
        left_out = {"aligned", "rubric_record", "asked"}
        return {
            field.name: _plain(getattr(self, field.name))
            for field in fields(self)
            if field.name not in left_out
        }


def _plain(value: object) -> Any:
    if isinstance(value, Estimate):
        return _estimate(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and isnan(value) else value


def _estimate(value: Estimate) -> dict[str, object]:
    """An estimate without what it does not have."""
    found = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return {k: v for k, v in found.items() if k in _CORE or v is not None}


if TYPE_CHECKING:
    _Right = dict[tuple[OutputKey, str], tuple[JudgedItem, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContrast:
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


def compare_judges(
    these: Mapping[str, AlignedItems],
    others: Mapping[str, AlignedItems],
    options: CalibrationOptions,
) -> dict[str, JudgeContrast]:
    """Hold two judges against each other."""
    found = {}
    for name in (name for name in these if name in others):
        mine, theirs = _right(these[name], options), _right(others[name], options)
        shared = sorted(mine.keys() & theirs.keys(), key=lambda key: (key[0].rank, key[1]))
        if shared:
            items = [mine[key][0] for key in shared]
            right = [(mine[key][1], theirs[key][1]) for key in shared]
            found[name] = _judge_contrast(items, right, options.level)
    if not found:
        raise InputError("no labelled item was judged by both judges")
    return found


def _right(aligned: AlignedItems, options: CalibrationOptions) -> _Right:
    judged = zip(aligned.both, judge_correctness(aligned, options).tolist(), strict=True)
    found = {(item.place, item.criterion): (item, 0.0) for item in aligned.items}
    return found | {(item.place, item.criterion): (item, float(x == 1)) for item, x in judged}


def _judge_contrast(
    items: list[JudgedItem], right: list[tuple[float, float]], level: float
) -> JudgeContrast:
    kinds = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0))
    both, this, other, neither = (right.count(kind) for kind in kinds)
    gaps = np.array(right) @ [1.0, -1.0]
    return JudgeContrast(
        n=len(right),
        n_both=both,
        n_only_this=this,
        n_only_other=other,
        n_neither=neither,
        difference=clustered_mean(gaps.tolist(), clusters_of(items), level=level),
        p_exact=paired_proportions(both, this, other, neither).p_exact,
    )
