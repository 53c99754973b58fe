"""The records of one pairwise comparison: the preferences in each order, and their result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, SupportsIndex, overload

from pydantic_core import core_schema

from judgekit.records.judgment import Evidence, FailureKind, JudgmentSource
from judgekit.records.output import Usage
from judgekit.records.record import Count, Finite, Fraction, JsonObject, Name, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import GetCoreSchemaHandler

PreferenceSlot = Literal["first", "second", "tie"]
"""A judge's choice: the output shown first, the one shown second, or a tie."""

PresentationOrder = Literal["ab", "ba"]
"""`ab` where output a was shown first, `ba` where output b was."""

Winner = Literal["a", "b", "tie"]
"""Which of two outputs is better."""

WINNER_POINTS: Final[Mapping[Winner, float]] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""Points of output a for each outcome: a tie is half a win for both."""

ReconciliationRule = Literal["consistent", "average"]
"""Who wins: with `consistent` the winner in both orders, else a tie; with `average` the output with
more than half of the points of both orders."""


class ScrubbedPassage(Record):
    """A passage by which an output named its maker; it was not shown to the judge."""

    side: Literal["a", "b"]
    text: Name
    start: Count
    """Its start in the output's unchanged text, in characters."""

    end: Count


class PairAnswer(Record):
    """A question about two outputs in one order, with its calls and cost.

    The fields that a `Judgment` has as well mean the same here.
    """

    order: PresentationOrder
    criterion: Name | None = None
    """Name of the criterion; None for the overall preference."""

    case_id: str | None = None
    variant_first: str | None = None
    """The variant that was shown first; the judge did not know."""

    variant_second: str | None = None
    repeat: Count = 0
    judge: str = ""
    cached: bool = False
    cost_usd: Finite | None = None
    price_usd: Finite | None = None
    usage: Usage | None = None
    n_calls: Count = 0
    reply_key: str | None = None


class Preference(PairAnswer):
    """One judge's choice between two outputs in one order; none is without a rationale."""

    choice: PreferenceSlot
    rationale: Name
    evidence_first: tuple[Evidence, ...] = ()
    """Quotes from the output shown first; positions refer to the text the judge saw."""

    evidence_second: tuple[Evidence, ...] = ()
    confidence: Fraction | None = None
    """Confidence from log-probabilities where available, else as stated."""

    stated_confidence: Fraction | None = None
    logprob_first: Fraction | None = None
    """Probability of choosing the first, a tie counting half, from log-probabilities."""

    raw_first: Finite | None = None
    """Score of the output shown first, from 1 to 10, where the judge gave one."""

    raw_second: Finite | None = None
    source: JudgmentSource = "llm"
    model: str | None = None
    duration_ms: Finite | None = None
    dropped_parameters: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """Advisory marks (`evidence_not_found`, `scores_disagree`, `no_rationale`, `smoke_model`);
    none of them alters a choice."""


class PreferenceFailure(PairAnswer):
    """A judge gave no usable preference in one order; counted, shown, never a tie."""

    kind: FailureKind
    message: str
    reason: str | None = None
    reply: str | None = None


class CriterionComparison(Record):
    """The result of the preferences on one criterion, both orders reconciled.

    The fields mean what those of a `Comparison` mean.
    """

    name: Name
    winner: Winner | None
    consistent: bool | None
    probability: Fraction | None
    probability_low: Fraction
    probability_high: Fraction
    raw_a: Finite | None = None
    raw_b: Finite | None = None
    n: Count = 0
    """Usable preferences, both orders."""

    n_failed: Count = 0

    def to_json(self) -> JsonObject:
        """The comparison as plain JSON types; unknown values are null."""
        return self.model_dump(mode="json")


class CriterionComparisons(tuple[CriterionComparison, ...]):
    """Comparisons by criterion, in the rubric's order; also found by name: `["accuracy"]`."""

    __slots__ = ()

    @overload
    def __getitem__(self, key: str | SupportsIndex) -> CriterionComparison: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[CriterionComparison, ...]: ...
    def __getitem__(
        self, key: str | SupportsIndex | slice
    ) -> CriterionComparison | tuple[CriterionComparison, ...]:
        """The comparison of that name or at that place."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for comparison in self:
            if comparison.name == key:
                return comparison
        raise KeyError(key)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Validated and serialized as a tuple of comparisons."""
        plain = handler.generate_schema(tuple[CriterionComparison, ...])
        return core_schema.no_info_after_validator_function(cls, plain)


class MemberComparison(Record):
    """The overall preference of one judge of a panel, both orders reconciled."""

    judge: Name
    winner: Winner | None
    consistent: bool | None
    probability: Fraction | None

    def to_json(self) -> JsonObject:
        """The preference as plain JSON types; unknown values are null."""
        return self.model_dump(mode="json")


class Comparison(Record):
    """Two outputs for one case compared blind, in both orders."""

    case_id: str | None = None
    variant_a: str | None = None
    variant_b: str | None = None
    rubric: str
    rubric_fingerprint: str
    winner: Winner | None
    """Which output is better overall; None where failures leave it open."""

    consistent: bool | None
    """Whether both orders agree; a tie that is not consistent is no true tie."""

    probability: Fraction | None
    """Share of preferences for output a over both orders, a tie counting half."""

    probability_low: Fraction
    """The probability if every failure had preferred b."""

    probability_high: Fraction
    """The probability if every failure had preferred a."""

    raw_a: Finite | None = None
    """Mean score of output a, from 1 to 10, where the judge gave scores."""

    raw_b: Finite | None = None
    raw_winner: Winner | None = None
    """The side with the higher mean score; None where there are no scores."""

    rule: ReconciliationRule = "consistent"
    criteria: CriterionComparisons = CriterionComparisons()
    """Per criterion, in the rubric's order; criteria that were not asked are left out."""

    judges: tuple[MemberComparison, ...] = ()
    """For a panel the vote of each judge; empty for a single judge."""

    agreement: Fraction | None = None
    """Share of pairs of judges that agree on the winner; None with fewer than two votes."""

    preferences: tuple[Preference, ...] = ()
    """The judge's preferences, in the order asked; for a panel judge by judge."""

    failures: tuple[PreferenceFailure, ...] = ()
    is_identical: bool = False
    """Whether both outputs are the same text, so that the judge was not called."""

    labels: tuple[str, str] = ("first", "second")
    """Names of the outputs shown first and second in the prompts."""

    scrubbed: tuple[ScrubbedPassage, ...] | None = ()
    """Passages that revealed the maker; None where scrubbing was switched off."""

    error: str | None = None
    """Why nothing was judged: an output is itself an error."""

    def to_json(self) -> JsonObject:
        """The comparison as plain JSON types; unknown values are null."""
        whole: JsonObject = self.model_dump(mode="json", exclude={"preferences", "failures"})
        whole["preferences"] = [preference.to_json() for preference in self.preferences]
        whole["failures"] = [failure.to_json() for failure in self.failures]
        return whole
