"""Options of a calibration and the one form judge answers are brought to: score samples.

Pairwise choices, each with the key of its output. See `sources` and `files` for where they come
from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Literal, NamedTuple

from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.datasets import LocatedLabel
    from judgekit.records import (
        CalibratedPanel,
        Case,
        JsonObject,
        PresentationOrder,
        Rubric,
        Winner,
    )
    from judgekit.stats.correction import LabelsAre

Consensus = Literal["median", "mean", "majority"]
"""How several annotators come to one label."""

Rightness = Literal["pass", "exact", "within_one"]
"""When a judge is right: it passes what people pass, gives their score, or one level off."""

Alignment = Literal["accuracy", "neg_rmse"]
"""What the alternative-annotator test goes by: equal labels, or squared errors."""

CLUSTER_BY_CASE, CLUSTER_BY_ITEM = "case", "item"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions:
    """Levels, limits and policies of a calibration.

    Raises:
        SettingsError: When one is out of its range.
    """

    level: float = 0.95
    """Confidence level of every interval, in (0, 1)."""

    consensus: Consensus = "median"
    """How several annotators come to the label a judge is held against; a half goes up. Biases
    and correlations are taken against their mean."""

    labels_are: LabelsAre | None = None
    """How the labelled items were chosen: `random` among those judged, or `other`; None assumes
    the first where the judge's scores do not speak against it, and says so."""

    right: Rightness = "pass"
    """When the judge counts as right; of comparisons it is the same winner."""

    max_error: float = 0.05
    """The share of errors that judgments taken over without review may have, in (0, 1)."""

    delta: float = 0.1
    """The chance that the review threshold does not keep `max_error`, in (0, 1)."""

    categories: bool = False
    """Whether the levels of every scale are categories, of which none is higher than another."""

    epsilon: float = 0.2
    """The advantage a judge gets in the alternative-annotator test for being cheaper: .2 against
    experts, .15 against skilled annotators, .1 against crowds."""

    alignment: Alignment | None = None
    """What that test goes by; None takes equal labels for two levels, squared errors else."""

    half_width: float = 0.05
    """The half-width of the corrected rate's interval that further labels are counted for."""

    n_suggested: int = 10
    """How many items to propose for labelling."""

    n_worst: int = 5
    """How many disagreements to show of each criterion."""

    cluster: str = CLUSTER_BY_CASE
    """What is independent: `case`, `item` (each output by itself), or an entry of the cases'
    metadata, such as a document several cases share."""

    by: tuple[str, ...] = ()
    """Entries of the metadata that segments and correlations within groups are formed by."""

    annotators: tuple[str, ...] = ()
    """Only these annotators; empty for all."""

    seed: int = 0
    """Seed of folds and simulations."""

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
"""What an item belongs to, by kind of group: `stratum`, `tag`, or an entry of the metadata."""


class OutputKey(NamedTuple):
    """What tells one judged output from every other."""

    case_id: str
    """The case."""

    variant: str | None = None
    """The variant; None where outputs name none. Of a comparison both, as `a::b`."""

    repeat: int = 0
    """Which of the variant's answers, from 0."""

    @property
    def rank(self) -> tuple[str, str, int]:
        """What places are sorted by, so that the order of rows changes no figure."""
        return self.case_id, self.variant or "", self.repeat

    def __str__(self) -> str:
        """The place in words: `refund`, `refund of v2`, `refund of v2, answer 1`."""
        which = "" if self.variant is None else f" of {self.variant}"
        return f"{self.case_id}{which}" + (f", answer {self.repeat}" if self.repeat else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSample:
    """One answer of a judge about one criterion of one output."""

    place: OutputKey
    """The output."""

    criterion: str | None
    """The criterion; None where it is not named, for there is only one."""

    raw: float | None
    """The score; None where nothing usable was said."""

    value: float | None = None
    """The score on [0, 1], where it is known."""

    confidence: float | None = None
    """How sure the judge is."""

    rationale: str | None = None
    """Why."""

    judge: str = ""
    """Which judge."""

    repeat: int = 0
    """Which time it was asked, from 0."""

    failure: str | None = None
    """What kind of failure it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedScore:
    """What the answers about one output come to, where a rubric or a panel has decided it."""

    value: float | None
    """The value on [0, 1]."""

    passed: bool | None
    """Whether it passes."""

    by_criterion: dict[str, float | None] = field(default_factory=dict)
    """The value of each criterion, several judges combined."""


@dataclass(slots=True)
class PointwiseData:
    """Scores of outputs."""

    samples: list[ScoreSample] = field(default_factory=list)
    """Every answer."""

    combined: dict[OutputKey, CombinedScore] = field(default_factory=dict)
    """What they come to."""

    rubric: Rubric | None = None
    """The rubric, where it is known."""

    groups: dict[OutputKey, Groups] = field(default_factory=dict)
    """What the outputs belong to."""

    models: dict[str, None] = field(default_factory=dict)
    """The models that answered, in the providers' words."""

    asked: CalibratedPanel | None = None
    """Who judged and how they were asked, where that is known."""

    n_errors: int = 0
    """Outputs that are errors of the system under test; nobody judged them."""

    origin: JsonObject = field(default_factory=dict)
    """Where they come from: a run, a file, and the settings of the judge where they are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedChoice:
    """One answer of a judge about two outputs, turned back to what a and b are."""

    order: PresentationOrder
    """Which was shown first."""

    winner: Winner | None
    """Which it prefers; None where nothing usable was said."""

    share: float | None = None
    """How far it prefers a, in [0, 1], where that is known better than by the winner."""

    rationale: str | None = None
    """Why."""

    judge: str = ""
    """Which judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairJudgment:
    """Everything a judge said of two outputs, on one criterion or on the whole."""

    place: OutputKey
    """The case and both variants."""

    criterion: str | None
    """The criterion; None for the whole."""

    choices: tuple[OrderedChoice, ...]
    """Its answers; none where both outputs are the same, or only the outcome is known."""

    winner: Winner | None
    """What both orders come to; None where that is open."""

    probability: float | None = None
    """How far a is preferred, the mean of both orders."""

    confidence: float | None = None
    """How sure the judge is of the winner, where that is known of itself."""


@dataclass(slots=True)
class PairwiseData:
    """Comparisons of outputs."""

    pairs: list[PairJudgment] = field(default_factory=list)
    """Each pair, once for each criterion."""

    groups: dict[OutputKey, Groups] = field(default_factory=dict)
    """What they belong to."""

    models: dict[str, None] = field(default_factory=dict)
    """The models that answered."""

    n_errors: int = 0
    """Pairs with an output that is an error."""

    origin: JsonObject = field(default_factory=dict)
    """Where they come from."""


_HALF = 0.5


def pair_key(case_id: str, variant_a: str | None, variant_b: str | None) -> OutputKey:
    """The key of two outputs of a case; without any variant that of the case alone."""
    both = (variant_a, variant_b)
    return OutputKey(case_id, "::".join(name or "" for name in both) if any(both) else None)


def majority_winner(points: Sequence[float]) -> Winner:
    """The output with more than half of the points of several answers, at least one."""
    # Points are multiples of a half, so that the mean is exact and may be compared with ==.
    mean = fsum(points) / len(points)
    return "tie" if mean == _HALF else "a" if mean > _HALF else "b"


def share_of_confidence(confidence: float | None, winner: Winner | None) -> float | None:
    """How far a is preferred by a judge that is so sure of the winner; a tie has no direction."""
    if confidence is None or winner in (None, "tie"):
        return None
    return confidence if winner == "a" else 1 - confidence


def groups_of(case: Case | None, metadata: Mapping[str, object] | None = None) -> Groups:
    """What an output belongs to."""
    found: Groups = {}
    if case is not None:
        found |= _texts(case.metadata)
        if case.stratum is not None:
            found["stratum"] = (case.stratum,)
        if case.tags:
            found["tag"] = case.tags
    return found | _texts(metadata or {})


def _texts(metadata: Mapping[str, object]) -> Groups:
    return {
        name: (str(value),)
        for name, value in metadata.items()
        if isinstance(value, str | int | float) and str(value).strip()
    }


@dataclass(frozen=True, slots=True)
class MatchedLabel:
    """A label and what it is of."""

    placed: LocatedLabel
    """The label."""

    place: OutputKey
    """The output, or the pair."""

    criterion: str
    """The criterion; `WHOLE` for the output as a whole."""

    annotator: str
    """Who said it."""
