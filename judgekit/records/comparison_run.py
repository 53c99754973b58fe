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
    model: str | None = None
    outputs: str | None = None


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

    prior: Annotated[float, Field(gt=0)] = 10.0
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
