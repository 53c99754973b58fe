"""The records of a stored comparison of two variants: its two sides, the compared pairs.

Analyses and approvals.
"""

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
somewhere; `interrupted` by the user; `stopped` at a limit of money; `decided`: it stopped at a
difference that was shown, as it was told to."""


class VariantVersion(Record):
    """What distinguishes one version of a variant from the next."""

    fingerprint: Name
    """Of all that decides what the variant answers: its prompt with everything it includes, its
    model and parameters, its program, or the outputs themselves where they are recorded."""

    prompt_fingerprint: str | None = None
    """Of the prompt with everything it includes; None where no prompt is named."""

    prompt: str | None = None
    """The prompt's file or name, as it was given."""

    model: str | None = None
    """The model the prompt is sent to."""

    outputs: str | None = None
    """The file of recorded outputs, as it was given."""


class ComparedSide(Record):
    """One of the two sides; no judge sees this name."""

    label: Name
    """What it was called on the command line."""

    variant: str | None = None
    """The variant it is of."""

    run_id: str | None = None
    """The stored run its outputs are of."""

    file: str | None = None
    """The file its outputs were read from."""

    version: VariantVersion | None = None
    """Which version of the variant it is."""


class PanelMember(Record):
    """One judge of a panel, and how it is asked."""

    judge: Name
    """Model and template."""

    parameters: JsonObject = Field(default_factory=dict)
    """Sampling parameters of its requests."""

    repeats: Annotated[int, Field(ge=1)] = 1
    """How often it is asked each question in each order."""


class ComparisonInfo(Record):
    """What a comparison of two sides set out to do, and how it ended."""

    id: Name
    """Name of the comparison; sorts by its start."""

    a: ComparedSide
    """The first side."""

    b: ComparedSide
    """The second."""

    suite: str | None = None
    """Name of the suite, where the sides are of one."""

    rubric: Rubric
    """How they are compared, as it was then."""

    judge: Name
    """Model and template of the judge; of a panel how it votes, and those of all."""

    parameters: JsonObject = Field(default_factory=dict)
    """Sampling parameters of every request; of a panel see `panel`."""

    repeats: Annotated[int, Field(ge=1)] = 1
    """How often each question is asked in each order; of a panel see `panel`."""

    panel: tuple[PanelMember, ...] = ()
    """The judges of a panel, in the order they are given; empty for one judge."""

    rule: ReconciliationRule = "consistent"
    """Who wins where the orders differ."""

    scrub: bool = True
    """Whether what names an output's maker was taken out before the judge saw it."""

    draw_labels: bool = False
    """Whether the two places had drawn labels beside `first` and `second`."""

    label_seed: int = 0
    """Seed of the labels."""

    names: tuple[str, ...] = ()
    """What would give a side away in an output, beside the variants' names."""

    chosen: JsonObject = Field(default_factory=dict)
    """What was chosen of the pairs: tags, limit, sample and its seed."""

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The error a decision was allowed."""

    until_decided: bool = False
    """Whether it was to stop as soon as a difference was shown."""

    max_cases: Count | None = None
    """How many cases could be looked at then; None for all."""

    n_pairs: Count = 0
    """How many pairs there were to compare."""

    left_out: JsonObject = Field(default_factory=dict)
    """What could not be paired."""

    parts: dict[str, str] = Field(default_factory=dict)
    """Fingerprints of what has to stay what it is for the comparison to be gone on with."""

    started_at: AwareDatetime
    """When it was first begun (UTC)."""

    finished_at: AwareDatetime | None = None
    """When it last ended (UTC); None while it runs or after a kill."""

    status: ComparisonStatus = "running"
    """How it ended."""

    reason: str | None = None
    """Why it is not complete, in words."""

    triggered_by: str | None = None
    """Who or what started it."""


class ComparedPair(Record):
    """One pair of outputs, as they were, with everything that was said of them."""

    place: Count
    """Its place among the pairs, from 0."""

    case: Case
    """The case, as it was then."""

    repeat: Count = 0
    """Which time the sides answered the case, from 0."""

    a: Output
    """The first side's output; never altered."""

    b: Output
    """The second's."""

    preferences: tuple[Preference, ...] = ()
    """What the judge chose, in either order."""

    failures: tuple[PreferenceFailure, ...] = ()
    """What it failed to answer, where no later answer replaced it."""

    is_done: bool = False
    """Whether everything that was to be asked has been."""

    def to_json(self) -> JsonObject:
        """The pair as plain JSON types; a case's input that is null is there.

        Returns:
            A dict of JSON types, without the optional fields that are None.
        """
        return {**super().to_json(), "case": self.case.to_json()}


class AnalysisPoint(Record):
    """A strength or a weakness, tied to a passage."""

    text: Name
    """What it is."""

    quote: str = ""
    """The passage it rests on."""

    found: bool = False
    """Whether its output contains the passage."""


class AnalysisSuggestion(Record):
    """A change that would make the losing version better."""

    area: Name
    """Which part is to be changed."""

    before: str
    """The present text."""

    after: Name
    """What should stand there."""

    reasoning: Name
    """Why."""

    found: bool = False
    """Whether the losing output contains `before`, word for word but for white space."""


class ComparisonAnalysis(Record):
    """Why one output lost against another, asked after the verdict, with what would improve it."""

    case_id: Name
    """The case."""

    winner: Literal["a", "b"]
    """The better side; there is no analysis of a tie."""

    strengths: tuple[AnalysisPoint, ...] = ()
    """What the winner did better, with passages of its output."""

    weaknesses: tuple[AnalysisPoint, ...] = ()
    """What the loser got wrong, with passages of its output."""

    suggestions: tuple[AnalysisSuggestion, ...] = ()
    """What to change in the loser."""

    judge: Name
    """Who was asked: model and template."""

    cached: bool = False
    """Whether the reply was owned already."""

    cost_usd: Finite | None = None
    """What was paid now, in US dollars; None when unknown."""

    reply_key: str | None = None
    """The cache key of the reply."""


class AnalysisFailure(Record):
    """The judge gave no usable analysis of a pair."""

    case_id: Name
    """The case."""

    kind: str
    """Why."""

    message: str
    """What happened and what to do."""

    cost_usd: Finite | None = None
    """What was paid nevertheless, in US dollars."""


class Approval(Record):
    """Somebody's decision that a version may be used, with the evidence for it (S0.11)."""

    id: Name
    """Name of the approval; sorts by its time."""

    at: AwareDatetime
    """When (UTC)."""

    variant: Name
    """What is approved."""

    baseline: Name
    """What it is better than."""

    version: VariantVersion
    """Which version of it; another one is not approved."""

    by: Name
    """Who approves."""

    because: Name
    """Why."""

    suite: str | None = None
    """The suite, where there is one."""

    kind: Literal["blind", "scores"]
    """What the evidence is: a blind comparison, or the scores of stored runs."""

    evidence: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Ids of the comparison, or of the runs."""

    rubric: str
    """Name of the rubric the evidence was judged by."""

    rubric_fingerprint: str
    """Its fingerprint."""

    alpha: Annotated[float, Field(gt=0, lt=1)]
    """The error that was allowed."""

    p: Fraction
    """The p the improvement was shown with."""

    shown: Name
    """What was shown, in words, on the day of the approval."""
