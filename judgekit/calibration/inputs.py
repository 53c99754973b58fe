"""Options of a calibration, and the common form of judge answers: score samples and choices.

`sources` and `files` read judge answers into this form.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isclose
from sys import intern
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from judgekit import datasets
from judgekit.errors import InputError, SettingsError
from judgekit.records import DEFAULT_CONSENSUS, Criterion, Scale

if TYPE_CHECKING:
    from judgekit.datasets import LocatedLabel
    from judgekit.records import (
        CalibratedPanel,
        Case,
        Consensus,
        JsonObject,
        Output,
        PresentationOrder,
        Record,
        Rubric,
        Winner,
    )
    from judgekit.stats.estimate import LabelsAre

Rightness = Literal["pass", "exact", "within_one"]
"""When a judge is right: same pass decision, same score, or at most one level apart."""

Alignment = Literal["accuracy", "neg_rmse"]
"""The score of the alternative-annotator test: equal labels, or squared errors."""

CLUSTER_BY_CASE, CLUSTER_BY_ITEM = "case", "item"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions:
    """Levels, limits and policies of a calibration.

    Attributes:
        level: Confidence level of every interval, in (0, 1).
        consensus: How several annotators combine to the label that the judge is compared with;
            halves go up. Biases and correlations use the annotators' mean.
        labels_are: How the labelled items were chosen: `random` among those judged, or `other`.
            None assumes `random` unless the judge's scores contradict it, and reports the
            assumption.
        right: When the judge counts as right; for comparisons always the same winner.
        max_error: The allowed share of errors among judgments accepted without review, in (0, 1).
        delta: The chance that the review threshold exceeds `max_error`, in (0, 1).
        categories: Whether the levels of every scale are unordered categories.
        epsilon: The allowance for the judge's lower cost in the alternative-annotator test: .2
            against experts, .15 against skilled annotators, .1 against crowds.
        alignment: The score of that test; None uses equal labels for two levels, else squared
            errors.
        half_width: The half-width of the corrected rate's interval that the label budget aims at.
        n_suggested: How many items to suggest for labelling.
        n_worst: How many disagreements to show for each criterion.
        cluster: The independent unit: `case`, `item` (each output), or a metadata key, such as a
            document that several cases share.
        by: Metadata keys that define segments and the groups of correlations.
        annotators: Only these annotators; empty for all.
        seed: Seed of folds and simulations.

    Raises:
        SettingsError: When one is out of its range.
    """

    level: float = 0.95
    consensus: Consensus = DEFAULT_CONSENSUS
    labels_are: LabelsAre | None = None
    right: Rightness = "pass"
    max_error: float = 0.05
    delta: float = 0.1
    categories: bool = False
    epsilon: float = 0.2
    alignment: Alignment | None = None
    half_width: float = 0.05
    n_suggested: int = 10
    n_worst: int = 5
    cluster: str = CLUSTER_BY_CASE
    by: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("level", "max_error", "delta", "half_width"):
            if not 0 < getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name):g}; it lies between 0 and 1")
        if not 0 <= self.epsilon < 1:
            raise SettingsError(f"epsilon is {self.epsilon:g}; it lies in [0, 1)")
        for name in ("n_suggested", "n_worst"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} is {getattr(self, name)}; it is 0 or more")


Groups = dict[str, tuple[str, ...]]
"""The groups of an item, by kind: `stratum`, `tag`, or a metadata key."""


class OutputKey(NamedTuple):
    """The key of one judged output: the case, the variant (for a comparison `a::b`), the answer."""

    case_id: str
    variant: str | None = None
    repeat: int = 0

    @property
    def rank(self) -> tuple[str, str, int]:
        """The sort key. Sorted items make every figure independent of the order of rows."""
        return self.case_id, self.variant or "", self.repeat

    def __str__(self) -> str:
        """The key in words: `refund`, `refund of v2`, `refund of v2, answer 1`."""
        which = "" if self.variant is None else f" of {self.variant}"
        return f"{self.case_id}{which}" + (f", answer {self.repeat}" if self.repeat else "")


# Made for every answer of a file, for which a frozen dataclass takes three times as long.
class ScoreSample(NamedTuple):
    """One answer of a judge about one criterion of one output.

    Attributes:
        criterion: None if the answer names none, because there is only one.
        raw: The score; None for an unusable answer.
    """

    place: OutputKey
    criterion: str | None
    raw: float | None
    value: float | None = None
    confidence: float | None = None
    rationale: str | None = None
    judge: str = ""
    repeat: int = 0
    turn: int | None = None
    failure: str | None = None

    @classmethod
    def of(cls, answer: Record, place: OutputKey) -> ScoreSample:
        """The sample of a judgment, a failure or a row, which name their fields alike."""
        found: dict[str, Any] = vars(answer)
        # Each answer was read with texts of its own, and all name the same few.
        criterion = found["criterion"] and intern(found["criterion"])
        # A failure has neither a score nor a rationale, and only a failure has a kind.
        raw, value, confidence, rationale, failure = map(
            found.get, ("raw", "value", "confidence", "rationale", "kind")
        )
        judge, repeat, turn = intern(found["judge"]), found["repeat"], found["turn"]
        return cls(
            place, criterion, raw, value, confidence, rationale, judge, repeat, turn, failure
        )


class CombinedScore(NamedTuple):
    """The verdict on one output and each criterion's value, concluded by a rubric or panel."""

    value: float | None
    passed: bool | None
    # Apart: the names are those of most outputs, and a dictionary of each would be large
    names: tuple[str, ...] = ()
    values: tuple[float | None, ...] = ()

    def value_of(self, criterion: str) -> float | None:
        return dict(zip(self.names, self.values, strict=True)).get(criterion)


@dataclass(slots=True, kw_only=True)
class _JudgeAnswers:
    """What scores and comparisons have in common.

    Attributes:
        models: The models that answered, as the providers name them.
        n_errors: Outputs, or pairs with an output, that record an error of the system under test;
            they were not judged.
        origin: The run or file, and the judge's settings if known.
    """

    groups: dict[OutputKey, Groups] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    n_errors: int = 0
    origin: JsonObject = field(default_factory=dict)

    def add_groups(self, place: OutputKey, groups: Groups) -> None:
        """Note the groups of an item, which most items do not have."""
        if groups:
            self.groups.setdefault(place, groups)


@dataclass(slots=True, kw_only=True)
class PointwiseData(_JudgeAnswers):
    """Scores of outputs, the verdicts concluded from them, and the judges' settings if known.

    Attributes:
        judged_by: The names of the rubrics by which verdicts were made, by fingerprint, if known.
        foreign: Outputs and criteria that are left out, because the rubric of the case asks
            something else by that name.
    """

    samples: list[ScoreSample] = field(default_factory=list)
    combined: dict[OutputKey, CombinedScore] = field(default_factory=dict)
    rubric: Rubric | None = None
    asked: CalibratedPanel | None = None
    judged_by: dict[str, str] = field(default_factory=dict)
    foreign: set[tuple[OutputKey, str]] = field(default_factory=set)

    @property
    def is_of_other_version(self) -> bool:
        """Whether outputs were judged by another version of the rubric, or another one."""
        if self.rubric is None or not self.judged_by:
            return False
        name, own = self.rubric.name, self.rubric.fingerprint
        # Rubrics of cases, under names of their own, may have judged some of the outputs.
        others = [by for one, by in self.judged_by.items() if one != own]
        return name in others or len(others) == len(self.judged_by)

    def forget_answers(self) -> None:
        """Leave only what is known of all of them, once they were joined with labels."""
        self.samples, self.combined = [], {}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedChoice:
    """One answer of a judge about two outputs, mapped back to a and b.

    Attributes:
        winner: The preferred output; None for an unusable answer.
        share: The preference for a in [0, 1], if known more precisely than by the winner.
    """

    order: PresentationOrder
    winner: Winner | None
    share: float | None = None
    rationale: str | None = None
    judge: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairJudgment:
    """All judgments of one pair of outputs, on one criterion or overall.

    Attributes:
        criterion: None for the whole output.
        choices: The answers; empty if the outputs are identical or only the result is known.
        winner: The result of both orders; None if undecided.
        probability: The preference for a, averaged over both orders.
        confidence: The judge's confidence in the winner, if stated for the pair.
    """

    place: OutputKey
    criterion: str | None
    choices: tuple[OrderedChoice, ...]
    winner: Winner | None
    probability: float | None = None
    confidence: float | None = None


@dataclass(slots=True, kw_only=True)
class PairwiseData(_JudgeAnswers):
    """Comparisons of outputs; each pair once for each criterion."""

    pairs: list[PairJudgment] = field(default_factory=list)


_HALF = 0.5
_TWO = 2
_DIGITS = 9


def output_key(case: Case, output: Output) -> OutputKey:
    """The key of a recorded output; one of several has its `repeat` in its row."""
    return OutputKey(case.id, output.variant, datasets.repeat_of(output))


def pair_key(
    case_id: str, variant_a: str | None, variant_b: str | None, repeat: int = 0
) -> OutputKey:
    """The key of two outputs of a case; without variants the key of the case alone."""
    both = (variant_a, variant_b)
    name = "::".join(each or "" for each in both) if any(both) else None
    return OutputKey(case_id, name, repeat)


def majority_winner(points: Sequence[float]) -> Winner:
    """The output with more than half of the points of one or more answers."""
    # Points are multiples of a half, so that the mean is exact and can be compared with ==.
    mean = fsum(points) / len(points)
    return "tie" if mean == _HALF else "a" if mean > _HALF else "b"


def share_of_confidence(confidence: float | None, winner: Winner | None) -> float | None:
    """The preference for a that corresponds to a confidence; None for a tie."""
    # Confidence in a tie has no direction: it would not tell how far either output is preferred.
    if confidence is None or winner in (None, "tie"):
        return None
    return confidence if winner == "a" else 1 - confidence


def groups_of(case: Case | None, metadata: Mapping[str, object] | None = None) -> Groups:
    groups: Groups = {}
    if case is None and not metadata:
        return groups
    if case is not None:
        groups |= _texts(case.metadata)
        # After the metadata, so that a key named `tag` or `stratum` does not replace the field.
        if case.stratum is not None:
            groups["stratum"] = (case.stratum,)
        if case.tags:
            groups["tag"] = case.tags
    return groups | _texts(metadata or {})


def _texts(metadata: Mapping[str, object]) -> Groups:
    # Lists and objects are not group names: nearly every output would be a group of its own.
    return {
        name: (str(value),)
        for name, value in metadata.items()
        if isinstance(value, str | int | float) and str(value).strip()
    }


def cluster_of(
    place: OutputKey, groups: Groups, criterion: str, options: CalibrationOptions
) -> Hashable:
    if options.cluster == CLUSTER_BY_ITEM:
        return (place, criterion)
    if options.cluster == CLUSTER_BY_CASE:
        return place.case_id
    return groups.get(options.cluster, (place.case_id,))


class MatchedLabel(NamedTuple):
    """A label with the output (or pair) and the criterion (or `WHOLE_OUTPUT`) it refers to."""

    placed: LocatedLabel
    place: OutputKey
    criterion: str
    annotator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinCounts:
    """How many labels and judgments matched; the names are examples of those that did not.

    Attributes:
        n_missing: Labels without a score.
        n_left_out: Labels of annotators that were not selected.
        n_judged: Judged outputs, including those on which the judge failed.
        n_answers: Answers of the judge, usable or not: one for each criterion, order and repeat.
        n_errors: Outputs that record an error of the system under test; they were not judged.
    """

    n_labels: int
    n_missing: int
    n_left_out: int
    n_joined: int
    n_not_judged: int
    not_judged: tuple[str, ...]
    n_judged: int
    n_not_labelled: int
    not_labelled: tuple[str, ...]
    n_answers: int
    n_judge_failures: int
    failures: dict[str, int] = field(default_factory=dict)
    n_errors: int = 0
    annotators: tuple[str, ...] = ()


_NONE: Mapping[str, str] = MappingProxyType({})


def label_reasons(labels: Iterable[MatchedLabel]) -> Mapping[str, str]:
    """Each annotator's reason, as far as they gave any."""
    reasons = ((label.annotator, label.placed.label.rationale) for label in labels)
    return {annotator: reason for annotator, reason in reasons if reason} or _NONE


def labels_by_place(labels: Iterable[MatchedLabel]) -> dict[OutputKey, list[MatchedLabel]]:
    by_place: dict[OutputKey, list[MatchedLabel]] = {}
    # Sorted, so that no figure depends on the order of rows.
    for label in sorted(labels, key=lambda each: each.annotator):
        by_place.setdefault(label.place, []).append(label)
    return by_place


def infer_criterion(
    name: str, samples: Iterable[ScoreSample], labels: Iterable[float]
) -> Criterion:
    known = [(float(each.raw), each.value) for each in samples if each.raw is not None]
    scores = [*(raw for raw, _ in known), *labels]
    ends = _ends([(raw, value) for raw, value in known if value is not None])
    if ends is None:
        if len(set(scores)) < _TWO:
            raise InputError(
                f"all scores of {name!r} are the same, and its scale is not known",
                hint="give the rubric",
            )
        ends = min(scores), max(scores)
    # Levels can only be assumed if every known score is a whole number.
    integer = all(float(score).is_integer() for score in (*scores, *ends))
    scale = Scale(min=ends[0], max=ends[1], integer=integer)
    return Criterion(name=name, question=f"How good is its {name}?", scale=scale)


def _ends(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The scores with the values 0 and 1, from scores with known values."""
    if not pairs:
        return None
    # The farthest two points, whose rounding error matters least for the ends.
    (low, low_value), (high, high_value) = min(pairs), max(pairs)
    if isclose(low_value, high_value) or isclose(low, high):
        return None
    step = (high - low) / (high_value - low_value)
    least = low - low_value * step
    return round(least, _DIGITS), round(least + step, _DIGITS)
