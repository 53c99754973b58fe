"""The records of pairwise comparisons: preferences and results, what is stored, and approvals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal, SupportsIndex, overload

from pydantic import AwareDatetime, Field, GetCoreSchemaHandler
from pydantic_core import core_schema

from judgekit.presentable import NotebookResult
from judgekit.records.case import Case
from judgekit.records.choices import DEFAULT_PRIOR, PreferenceSlot, ReconciliationRule
from judgekit.records.judgment import Evidence, FailureKind, JudgmentSource
from judgekit.records.output import Output, Usage, VariantVersion
from judgekit.records.record import Count, Finite, Fraction, JsonObject, Name, Record
from judgekit.records.rubric import Rubric

PresentationOrder = Literal["ab", "ba"]
"""`ab` where output a was shown first, `ba` where output b was."""

Winner = Literal["a", "b", "tie"]
"""Which of two outputs is better."""

WINNER_POINTS: Final[Mapping[Winner, float]] = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""Points of output a for each outcome: a tie is half a win for both."""


def preferred_output(choice: PreferenceSlot, order: str) -> Winner:
    """A choice of a slot, mapped back to the output shown in it."""
    # A slot is a place in the prompt: in order `ba` the output shown first is b.
    if choice == "tie":
        return "tie"
    return "a" if (choice == "first") == (order == "ab") else "b"


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


class Comparison(Record, NotebookResult):
    """Two outputs for one case compared blind, in both orders."""

    case_id: str | None = None
    variant_a: str | None = None
    variant_b: str | None = None
    repeat: Count = 0
    """Which of the outputs of both sides, from 0."""

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

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """Who wins: preferences in full have thousands of characters."""
        names = ("case_id", "variant_a", "variant_b", "winner", "consistent")
        yield from ((name, getattr(self, name)) for name in names)
        yield "criteria", {one.name: one.winner for one in self.criteria}
        if self.failures:
            yield "failures", [f"{one.criterion}: {one.kind}" for one in self.failures]

    def to_json(self) -> JsonObject:
        """The comparison as plain JSON types; unknown values are null."""
        apart = {"preferences", "failures"} | (set() if self.repeat else {"repeat"})
        whole: JsonObject = self.model_dump(mode="json", exclude=apart)
        whole["preferences"] = [preference.to_json() for preference in self.preferences]
        whole["failures"] = [failure.to_json() for failure in self.failures]
        return whole


ComparisonStatus = Literal["running", "complete", "incomplete", "interrupted", "stopped", "decided"]
"""`running`, also after a kill; `complete`: every pair was judged; `incomplete`: the judge failed
for some; `interrupted` by the user; `stopped` at the budget; `decided`: it stopped
early, as requested, because a difference was shown."""


class ComparedSide(Record):
    """One of the two sides; no judge sees this name."""

    label: Name
    variant: str | None = None
    run_id: str | None = None
    file: str | None = None
    version: VariantVersion | None = None


class PanelMember(Record):
    """One judge of a panel and its settings."""

    judge: Name
    parameters: JsonObject = Field(default_factory=dict)
    repeats: Annotated[int, Field(ge=1)] = 1


class ComparisonInfo(Record):
    """The settings of a comparison of two sides, and how it ended."""

    id: Name
    a: ComparedSide
    b: ComparedSide
    suite: str | None = None
    rubric: Rubric
    judge: Name
    """Model and template of the judge; for a panel its rule and those of all members."""

    parameters: JsonObject = Field(default_factory=dict)
    """Sampling parameters of every request; for a panel see `panel`."""

    repeats: Annotated[int, Field(ge=1)] = 1
    """How often each question is asked in each order; for a panel see `panel`."""

    panel: tuple[PanelMember, ...] = ()
    """The judges of a panel, in the order given; empty for a single judge."""

    rule: ReconciliationRule = "consistent"
    scrub: bool = True
    """Whether passages that reveal the maker were removed before the judge saw an output."""

    draw_labels: bool = False
    """Whether the slots had random labels besides `first` and `second`."""

    label_seed: int = 0
    names: tuple[str, ...] = ()
    """Further names that would reveal a side, besides those of the variants."""

    chosen: JsonObject = Field(default_factory=dict)
    """The selection of pairs: tags, limit, sample and its seed; `order_seed` is the seed of the
    order of the cases, where they were shuffled."""

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    until_decided: bool = False
    max_cases: Count | None = None
    """The most cases a sequential comparison looks at; None for all."""

    prior: Annotated[float, Field(gt=0)] = DEFAULT_PRIOR
    """N of the prior Beta(N, N) of a sequential comparison's test."""

    n_pairs: Count = 0
    left_out: JsonObject = Field(default_factory=dict)
    parts: dict[str, str] = Field(default_factory=dict)
    """Fingerprints of what must be unchanged for the comparison to be resumed."""

    started_at: AwareDatetime
    finished_at: AwareDatetime | None = None
    """When it last ended (UTC); None while it runs or after a kill."""

    status: ComparisonStatus = "running"
    reason: str | None = None
    triggered_by: str | None = None


class ScoreComparisonInfo(Record):
    """Which variants of stored runs were compared by their scores, and how.

    The figures follow from the answers of the runs; `compare_stored_scores` derives them.
    """

    id: Name
    a: ComparedSide
    b: ComparedSide
    """Both sides name a run and a variant of it."""

    suite: str | None = None
    """None where the runs are of two suites."""

    tags: tuple[str, ...] = ()
    """Only cases with one of these tags were compared; all where there is none."""

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    anytime: bool = False
    """Whether a confidence sequence decides."""

    started_at: AwareDatetime


class ComparedPair(Record):
    """One pair of outputs, with all preferences and failures."""

    place: Count
    """Its index among the pairs, from 0."""

    case: Case
    repeat: Count = 0
    """Number of the repeat of the sides' answers, from 0."""

    a: Output
    b: Output
    preferences: tuple[Preference, ...] = ()
    failures: tuple[PreferenceFailure, ...] = ()
    """Its failures that no later answer replaced."""

    is_done: bool = False

    def to_json(self) -> JsonObject:
        """The pair as plain JSON types; a case's input of null is written."""
        return {**super().to_json(), "case": self.case.to_json()}


class AnalysisPoint(Record):
    """A strength or a weakness, tied to a passage."""

    text: Name
    quote: str = ""
    found: bool = False


class AnalysisSuggestion(Record):
    """A change that would make the losing version better."""

    area: Name
    before: str
    after: Name
    reasoning: Name
    found: bool = False
    """Whether the losing output contains `before`, apart from white space."""


class ComparisonAnalysis(Record):
    """Why one output lost and what would improve it; asked after the verdict."""

    case_id: Name
    winner: Literal["a", "b"]
    strengths: tuple[AnalysisPoint, ...] = ()
    weaknesses: tuple[AnalysisPoint, ...] = ()
    suggestions: tuple[AnalysisSuggestion, ...] = ()
    judge: Name
    cached: bool = False
    cost_usd: Finite | None = None
    reply_key: str | None = None


class AnalysisFailure(Record):
    """The judge gave no usable analysis of a pair."""

    case_id: Name
    kind: str
    message: str
    cost_usd: Finite | None = None


class Approval(Record):
    """The decision that a version may be used, with its evidence (S0.11)."""

    id: Name
    at: AwareDatetime
    variant: Name
    baseline: Name
    version: VariantVersion
    """The approved version; the approval holds for no other."""

    by: Name
    because: Name
    suite: str | None = None
    kind: Literal["blind", "scores"]
    evidence: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Ids of the comparison and, where it compared scores, of the runs."""

    rubric: str
    rubric_fingerprint: str
    alpha: Annotated[float, Field(gt=0, lt=1)]
    p: Fraction
    shown: Name
    """The result in words, at the time of the approval."""

    gate: str | None = None
    """What the gate of its suite decided about this version; None where it has no gate."""
