"""The records of one pairwise comparison: preferences in each order.

The comparison they are reconciled to.
"""

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
"""What a judge chooses: the output it saw first, the one it saw second, or neither."""

PresentationOrder = Literal["ab", "ba"]
"""`ab` where output a was shown first, `ba` where output b was."""

Winner = Literal["a", "b", "tie"]
"""Which of two outputs is better."""

WINNER_POINTS: Final[Mapping[Winner, float]] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""What output a gets for each outcome: a tie is half a win for both."""

ReconciliationRule = Literal["consistent", "average"]
"""`consistent`: who wins in both orders, else a tie; `average`: who has more than half of both."""


class ScrubbedPassage(Record):
    """A passage by which an output named its maker; it was not shown to the judge."""

    side: Literal["a", "b"]
    """Whose output it stood in."""

    text: Name
    """The passage."""

    start: Count
    """Where it began in the output's own text, in characters."""

    end: Count
    """Where it ended."""


class PairAnswer(Record):
    """What was asked about two outputs in one order, and what asking took."""

    order: PresentationOrder
    """Which output was shown first."""

    criterion: Name | None = None
    """Name of the criterion; None for the preference on the whole."""

    case_id: str | None = None
    """The case that was answered."""

    variant_first: str | None = None
    """The variant that was shown first; the judge did not know."""

    variant_second: str | None = None
    """The variant that was shown second."""

    repeat: Count = 0
    """Which time the judge was asked in this order, from 0."""

    judge: str = ""
    """Which judge: model and template, or the person's name."""

    cached: bool = False
    """Whether every reply was owned already, so that nothing was paid now."""

    cost_usd: Finite | None = None
    """What was paid now, in US dollars: 0 when cached, None when unknown."""

    price_usd: Finite | None = None
    """What the replies cost when they were bought, in US dollars; None when unknown."""

    usage: Usage | None = None
    """Tokens of the replies."""

    n_calls: Count = 0
    """Replies it took, unreadable ones included."""

    reply_key: str | None = None
    """The cache key of the last reply."""


class Preference(PairAnswer):
    """One judge's choice between two outputs in one order; none is without a rationale."""

    choice: PreferenceSlot
    """What it chose, by the place it saw it in."""

    rationale: Name
    """Why; never empty."""

    evidence_first: tuple[Evidence, ...] = ()
    """What it quotes from the output shown first; places count in the text the judge saw."""

    evidence_second: tuple[Evidence, ...] = ()
    """What it quotes from the output shown second."""

    confidence: Fraction | None = None
    """How sure it is: from log-probabilities where there are any, else what it stated."""

    stated_confidence: Fraction | None = None
    """What it said of its own confidence."""

    logprob_first: Fraction | None = None
    """The probability that it chooses the first, a tie counting half, from log-probabilities."""

    raw_first: Finite | None = None
    """The score it gave the output shown first, from 1 to 10, where it gave one."""

    raw_second: Finite | None = None
    """The score it gave the output shown second."""

    source: JudgmentSource = "llm"
    """Who judged."""

    model: str | None = None
    """The model that answered, in the provider's own words."""

    duration_ms: Finite | None = None
    """How long the judge took when the reply was bought, in milliseconds."""

    dropped_parameters: tuple[str, ...] = ()
    """Parameters the model refused, so that they were not sent."""

    flags: tuple[str, ...] = ()
    """Advisory marks (`evidence_not_found`, `scores_disagree`, `no_rationale`, `smoke_model`);
    none of them alters a choice."""


class PreferenceFailure(PairAnswer):
    """A judge gave no usable preference in one order; counted, shown, never a tie."""

    kind: FailureKind
    """Why."""

    message: str
    """What happened and what to do."""

    reason: str | None = None
    """For an unreadable reply, what was wrong with it."""

    reply: str | None = None
    """The last reply, as it came."""


class CriterionComparison(Record):
    """What the preferences on one criterion come to, both orders reconciled."""

    name: Name
    """Name of the criterion."""

    winner: Winner | None
    """Which output is better; None where a failed order leaves it open."""

    consistent: bool | None
    """Whether both orders say the same; a tie that is not consistent is no true tie."""

    probability: Fraction | None
    """How far output a is preferred: the mean of both orders, a tie counting half."""

    probability_low: Fraction
    """The probability if every failure had preferred b."""

    probability_high: Fraction
    """The probability if every failure had preferred a."""

    raw_a: Finite | None = None
    """Mean score of output a, from 1 to 10, over the orders and repeats that gave one."""

    raw_b: Finite | None = None
    """Mean score of output b."""

    n: Count = 0
    """Usable preferences, both orders."""

    n_failed: Count = 0
    """Failures, both orders."""

    def to_json(self) -> JsonObject:
        """The comparison as plain JSON types; what is not known is there, as null."""
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
        for found in self:
            if found.name == key:
                return found
        raise KeyError(key)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Validated and written as a tuple of comparisons is."""
        plain = handler.generate_schema(tuple[CriterionComparison, ...])
        return core_schema.no_info_after_validator_function(cls, plain)


class MemberComparison(Record):
    """What one judge of a panel makes of two outputs on the whole, both orders reconciled."""

    judge: Name
    """Model and template."""

    winner: Winner | None
    """Which output is better; None where a failed order leaves it open."""

    consistent: bool | None
    """Whether both orders say the same; a tie that is not consistent is no true tie."""

    probability: Fraction | None
    """How far output a is preferred: the mean of both orders, a tie counting half."""

    def to_json(self) -> JsonObject:
        """What the judge makes of them as plain JSON types; what is open is there, as null."""
        return self.model_dump(mode="json")


class Comparison(Record):
    """Two outputs for one case compared blind, in both orders."""

    case_id: str | None = None
    """The case that was answered."""

    variant_a: str | None = None
    """The variant output a is of."""

    variant_b: str | None = None
    """The variant output b is of."""

    rubric: str
    """Name of the rubric."""

    rubric_fingerprint: str
    """Fingerprint of the rubric the conclusion was drawn with."""

    winner: Winner | None
    """Which output is better on the whole; None where failures leave it open."""

    consistent: bool | None
    """Whether both orders say the same; a tie that is not consistent is no true tie."""

    probability: Fraction | None
    """How far output a is preferred: the mean of both orders, a tie counting half."""

    probability_low: Fraction
    """The probability if every failure had preferred b."""

    probability_high: Fraction
    """The probability if every failure had preferred a."""

    raw_a: Finite | None = None
    """Mean score of output a, from 1 to 10, where the judge gave scores."""

    raw_b: Finite | None = None
    """Mean score of output b."""

    raw_winner: Winner | None = None
    """The side with the higher mean score; None where there are no scores."""

    rule: ReconciliationRule = "consistent"
    """Who wins where the orders differ."""

    criteria: CriterionComparisons = CriterionComparisons()
    """Per criterion, in the rubric's order; without those that were not asked about."""

    judges: tuple[MemberComparison, ...] = ()
    """For a panel what each judge makes of them, which is one vote; empty for one judge."""

    agreement: Fraction | None = None
    """Share of the pairs of judges that name the same winner; None without two that name one."""

    preferences: tuple[Preference, ...] = ()
    """What the judge chose, in the order it was asked; of a panel judge by judge."""

    failures: tuple[PreferenceFailure, ...] = ()
    """What it failed to say."""

    is_identical: bool = False
    """Whether the judge would have seen the same text twice, so that it was not asked."""

    labels: tuple[str, str] = ("first", "second")
    """What the outputs shown first and second were called in the prompts."""

    scrubbed: tuple[ScrubbedPassage, ...] | None = ()
    """Where the outputs named their makers; None where scrubbing was switched off."""

    error: str | None = None
    """Why nothing was judged: an output is itself an error."""

    def to_json(self) -> JsonObject:
        """The comparison as plain JSON types; what it leaves open is there, as null.

        Returns:
            A dict of JSON types.
        """
        whole: JsonObject = self.model_dump(mode="json", exclude={"preferences", "failures"})
        whole["preferences"] = [preference.to_json() for preference in self.preferences]
        whole["failures"] = [failure.to_json() for failure in self.failures]
        return whole
