"""What a calibration comes to: every figure of every criterion, frozen, and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from judgekit.evaluation.calibrating.against import Against, against
from judgekit.evaluation.calibrating.maps import MapMaterial, fit_maps
from judgekit.stats.estimate import Estimate

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.agreeing import Agreement, Confusion, PassFail
    from judgekit.evaluation.calibrating.aligned import Aligned
    from judgekit.evaluation.calibrating.choosing import Disagreement, Suggestion
    from judgekit.evaluation.calibrating.correcting import Corrected, LabelBudget
    from judgekit.evaluation.calibrating.deciding import StandIn
    from judgekit.evaluation.calibrating.grouping import Grouping, Segment
    from judgekit.evaluation.calibrating.labelling import Joined
    from judgekit.evaluation.calibrating.leniency import Leniency, Steadiness
    from judgekit.evaluation.calibrating.options import CalibrationOptions
    from judgekit.evaluation.calibrating.pair_orders import PairOrders
    from judgekit.evaluation.calibrating.people import Ceiling
    from judgekit.evaluation.calibrating.trusting import Recalibration, Trust
    from judgekit.records.calibration_map import Calibration, Judging
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

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

    agreement: Agreement
    """How far judge and people agree on the scale."""

    pass_fail: PassFail | None
    """How far on what passes; None for comparisons and categories."""

    people: Ceiling
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

    corrected_rate: Corrected | None
    """The pass rate (of comparisons None), corrected."""

    corrected_mean: Corrected
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

    joined: Joined
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

    suggestions: tuple[Suggestion, ...]
    """The items that a label would help most with."""

    notes: tuple[str, ...]
    """What was assumed."""

    options: CalibrationOptions
    """What was asked for."""

    aligned: dict[str, Aligned]
    """Scores and labels, item by item, per criterion: what a calibration map is fitted on."""

    rubric_record: Rubric | None = None
    """The rubric itself, where it is known."""

    asked: Judging | None = None
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
        material = MapMaterial(
            kind=self.kind,
            rubric=self.rubric_record,
            asked=self.asked,
            aligned=self.aligned,
            kappas={name: part.agreement.kappa_quadratic for name, part in parts},
            pooled=self.pooled.agreement.kappa_quadratic,
            options=self.options,
        )
        return fit_maps(material, fitted_at=fitted_at or datetime.now(UTC))

    def against(self, other: CalibrationReport) -> dict[str, Against]:
        """Hold this judge and another against the same labels.

        Args:
            other: Another judge's report on these items.

        Returns:
            By criterion how much more often this judge is right, with McNemar's test; right is
            what this report's options say.

        Raises:
            InputError: When no labelled item was judged by both.
        """
        return against(self.aligned, other.aligned, self.options)

    @property
    def agreement(self) -> Agreement:
        """How far judge and people agree on the whole."""
        return self.overall.agreement

    @property
    def corrected(self) -> Corrected:
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
