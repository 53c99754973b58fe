"""What judges said, brought to one form: samples of scores, and choices between two outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.records.calibration_map import Judging
    from judgekit.records.case import Case
    from judgekit.records.comparison import Order, Winner
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric

Groups = dict[str, tuple[str, ...]]
"""What an item belongs to, by kind of group: `stratum`, `tag`, or an entry of the metadata."""


class Place(NamedTuple):
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
class Sample:
    """One answer of a judge about one criterion of one output."""

    place: Place
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
class Combined:
    """What the answers about one output come to, where a rubric or a panel has decided it."""

    value: float | None
    """The value on [0, 1]."""

    passed: bool | None
    """Whether it passes."""

    by_criterion: dict[str, float | None] = field(default_factory=dict)
    """The value of each criterion, several judges combined."""


@dataclass(slots=True)
class Grades:
    """Scores of outputs."""

    samples: list[Sample] = field(default_factory=list)
    """Every answer."""

    combined: dict[Place, Combined] = field(default_factory=dict)
    """What they come to."""

    rubric: Rubric | None = None
    """The rubric, where it is known."""

    groups: dict[Place, Groups] = field(default_factory=dict)
    """What the outputs belong to."""

    models: dict[str, None] = field(default_factory=dict)
    """The models that answered, in the providers' words."""

    asked: Judging | None = None
    """Who judged and how they were asked, where that is known."""

    n_errors: int = 0
    """Outputs that are errors of the system under test; nobody judged them."""

    origin: JsonObject = field(default_factory=dict)
    """Where they come from: a run, a file, and the settings of the judge where they are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One answer of a judge about two outputs, turned back to what a and b are."""

    order: Order
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
class Pair:
    """Everything a judge said of two outputs, on one criterion or on the whole."""

    place: Place
    """The case and both variants."""

    criterion: str | None
    """The criterion; None for the whole."""

    choices: tuple[Choice, ...]
    """Its answers; none where both outputs are the same, or only the outcome is known."""

    winner: Winner | None
    """What both orders come to; None where that is open."""

    probability: float | None = None
    """How far a is preferred, the mean of both orders."""

    confidence: float | None = None
    """How sure the judge is of the winner, where that is known of itself."""


@dataclass(slots=True)
class Pairs:
    """Comparisons of outputs."""

    pairs: list[Pair] = field(default_factory=list)
    """Each pair, once for each criterion."""

    groups: dict[Place, Groups] = field(default_factory=dict)
    """What they belong to."""

    models: dict[str, None] = field(default_factory=dict)
    """The models that answered."""

    n_errors: int = 0
    """Pairs with an output that is an error."""

    origin: JsonObject = field(default_factory=dict)
    """Where they come from."""


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
