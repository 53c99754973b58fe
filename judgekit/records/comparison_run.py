"""The records of a stored comparison of two variants: sides, pairs, analyses and approvals."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from judgekit.records.case import Case
from judgekit.records.comparison import Preference, PreferenceFailure, ReconciliationRule
from judgekit.records.output import Output
from judgekit.records.record import Count, Finite, Fraction, JsonObject, Name, Record
from judgekit.records.rubric import Rubric

ComparisonStatus = Literal["running", "complete", "incomplete", "interrupted", "stopped", "decided"]
"""`running`, also after a kill; `complete`: every pair was judged; `incomplete`: the judge failed
for some; `interrupted` by the user; `stopped` at the budget; `decided`: it stopped
early, as requested, because a difference was shown."""


class VariantVersion(Record):
    """What distinguishes one version of a variant from the next."""

    fingerprint: Name
    """Fingerprint of everything that decides the variant's answers: its prompt with all includes,
    its model and parameters, its program, or the outputs themselves where they are recorded."""

    prompt_fingerprint: str | None = None
    """Fingerprint of the prompt with all includes; None where no prompt is named."""

    prompt: str | None = None
    """The prompt's file or name, as written."""

    model: str | None = None
    """The model the prompt is sent to."""

    outputs: str | None = None
    """The file of recorded outputs, as written."""


class ComparedSide(Record):
    """One of the two sides; no judge sees this name."""

    label: Name
    """Its name on the command line."""

    variant: str | None = None
    """Its variant."""

    run_id: str | None = None
    """The stored run that holds its outputs."""

    file: str | None = None
    """The file that holds its outputs."""

    version: VariantVersion | None = None
    """The version of the variant."""


class PanelMember(Record):
    """One judge of a panel and its settings."""

    judge: Name
    """Model and template."""

    parameters: JsonObject = Field(default_factory=dict)
    """Sampling parameters of its requests."""

    repeats: Annotated[int, Field(ge=1)] = 1
    """How often each question is asked in each order."""


class ComparisonInfo(Record):
    """The settings of a comparison of two sides, and how it ended."""

    id: Name
    """Name of the comparison; sorts by its start."""

    a: ComparedSide
    """The first side."""

    b: ComparedSide
    """The second."""

    suite: str | None = None
    """Name of the suite, where the sides belong to one."""

    rubric: Rubric
    """The rubric at that time."""

    judge: Name
    """Model and template of the judge; for a panel its rule and those of all members."""

    parameters: JsonObject = Field(default_factory=dict)
    """Sampling parameters of every request; for a panel see `panel`."""

    repeats: Annotated[int, Field(ge=1)] = 1
    """How often each question is asked in each order; for a panel see `panel`."""

    panel: tuple[PanelMember, ...] = ()
    """The judges of a panel, in the order given; empty for a single judge."""

    rule: ReconciliationRule = "consistent"
    """The rule for orders that disagree."""

    scrub: bool = True
    """Whether passages that reveal the maker were removed before the judge saw an output."""

    draw_labels: bool = False
    """Whether the slots had random labels besides `first` and `second`."""

    label_seed: int = 0
    """Seed of the labels."""

    names: tuple[str, ...] = ()
    """Further names that would reveal a side, besides those of the variants."""

    chosen: JsonObject = Field(default_factory=dict)
    """The selection of pairs: tags, limit, sample and its seed."""

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Significance level of the decision."""

    until_decided: bool = False
    """Whether it was to stop as soon as a difference is shown."""

    max_cases: Count | None = None
    """The most cases a sequential comparison looks at; None for all."""

    n_pairs: Count = 0
    """Number of pairs to compare."""

    left_out: JsonObject = Field(default_factory=dict)
    """Outputs that could not be paired."""

    parts: dict[str, str] = Field(default_factory=dict)
    """Fingerprints of what must be unchanged for the comparison to be resumed."""

    started_at: AwareDatetime
    """When it was first started (UTC)."""

    finished_at: AwareDatetime | None = None
    """When it last ended (UTC); None while it runs or after a kill."""

    status: ComparisonStatus = "running"
    """How it ended."""

    reason: str | None = None
    """Why it is not complete."""

    triggered_by: str | None = None
    """Who or what started it."""


class ComparedPair(Record):
    """One pair of outputs, with all preferences and failures."""

    place: Count
    """Its index among the pairs, from 0."""

    case: Case
    """The case at that time."""

    repeat: Count = 0
    """Number of the repeat of the sides' answers, from 0."""

    a: Output
    """The first side's output; never altered."""

    b: Output
    """The second's."""

    preferences: tuple[Preference, ...] = ()
    """The judge's preferences, both orders."""

    failures: tuple[PreferenceFailure, ...] = ()
    """Its failures that no later answer replaced."""

    is_done: bool = False
    """Whether every question has been asked."""

    def to_json(self) -> JsonObject:
        """The pair as plain JSON types; a case's input of null is written.

        Returns:
            A dict of JSON types, without the optional fields that are None.
        """
        return {**super().to_json(), "case": self.case.to_json()}


class AnalysisPoint(Record):
    """A strength or a weakness, tied to a passage."""

    text: Name
    """What it is."""

    quote: str = ""
    """The passage that supports it."""

    found: bool = False
    """Whether its output contains the passage."""


class AnalysisSuggestion(Record):
    """A change that would make the losing version better."""

    area: Name
    """The part to change."""

    before: str
    """The present text."""

    after: Name
    """The proposed text."""

    reasoning: Name
    """Why."""

    found: bool = False
    """Whether the losing output contains `before`, apart from white space."""


class ComparisonAnalysis(Record):
    """Why one output lost and what would improve it; asked after the verdict."""

    case_id: Name
    """The case."""

    winner: Literal["a", "b"]
    """The better side; there is no analysis of a tie."""

    strengths: tuple[AnalysisPoint, ...] = ()
    """What the winner did better, with quotes from its output."""

    weaknesses: tuple[AnalysisPoint, ...] = ()
    """What the loser got wrong, with quotes from its output."""

    suggestions: tuple[AnalysisSuggestion, ...] = ()
    """What to change in the loser."""

    judge: Name
    """The judge: model and template."""

    cached: bool = False
    """Whether the reply came from the cache."""

    cost_usd: Finite | None = None
    """Paid in this run, in US dollars; None when unknown."""

    reply_key: str | None = None
    """The cache key of the reply."""


class AnalysisFailure(Record):
    """The judge gave no usable analysis of a pair."""

    case_id: Name
    """The case."""

    kind: str
    """Why."""

    message: str
    """What happened and how to fix it."""

    cost_usd: Finite | None = None
    """Paid for it nevertheless, in US dollars."""


class Approval(Record):
    """The decision that a version may be used, with its evidence (S0.11)."""

    id: Name
    """Name of the approval; sorts by its time."""

    at: AwareDatetime
    """When (UTC)."""

    variant: Name
    """The approved variant."""

    baseline: Name
    """The variant it is better than."""

    version: VariantVersion
    """The approved version; the approval holds for no other."""

    by: Name
    """Who approves."""

    because: Name
    """Why."""

    suite: str | None = None
    """The suite, where there is one."""

    kind: Literal["blind", "scores"]
    """The kind of evidence: a blind comparison, or the scores of stored runs."""

    evidence: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Ids of the comparison, or of the runs."""

    rubric: str
    """Name of the rubric of the evidence."""

    rubric_fingerprint: str
    """Its fingerprint."""

    alpha: Annotated[float, Field(gt=0, lt=1)]
    """Significance level."""

    p: Fraction
    """The p-value of the improvement."""

    shown: Name
    """The result in words, at the time of the approval."""
