"""The records about one output: judgments, failures of judges, human labels and the verdict.

`judgekit.scoring` computes verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from judgekit.presentable import NotebookResult
from judgekit.records.calibration import CalibratedPanel
from judgekit.records.output import Usage
from judgekit.records.record import Count, Finite, Fraction, JsonObject, Name, Record

Turn = Annotated[int, Field(ge=1)]

JudgmentSource = Literal["llm", "human", "heuristic"]

FailureKind = Literal[
    "auth", "not_found", "bad_request", "rate_limited", "quota", "overloaded", "timeout",
    "connection", "protocol", "content_filter", "context_window", "empty", "truncated",
    "refusal", "unreadable", "evidence_missing", "cannot_assess", "budget", "frozen_miss",
    "cancelled", "target_error", "internal",
]  # fmt: skip
"""Why there is no judgment; a closed list, so that failures can be counted by kind."""

FATAL_FAILURE_KINDS: frozenset[FailureKind] = frozenset({"auth", "not_found", "quota", "cancelled"})
"""The kinds after which every further call would fail in the same way.

`cancelled` is a call that was not made, because the endpoint is down or the time is over.
"""

HEURISTIC = "heuristic"
"""The judge that assertions are, in a suite and in its judgments."""

HUMAN_JUDGE = "human"
"""The judge that a reviewer is."""


class Evidence(Record):
    """A passage the judge quotes from the output."""

    quote: Name
    match: Literal["exact", "normalized"] | None = None
    """How it was found in the output: verbatim, or after normalizing white space and Unicode;
    None where it was not found."""

    start: Count | None = None
    """Its start in the output's text, in characters."""

    end: Count | None = None

    @property
    def found(self) -> bool:
        """Whether the output contains the passage."""
        return self.match is not None


class Judgment(Record):
    """One judge's score of one criterion of one output; no judgment is without a rationale."""

    criterion: Name
    raw: Finite
    """The score on the criterion's own scale."""

    value: Fraction
    """The score on [0, 1]."""

    rationale: Name
    evidence: tuple[Evidence, ...] = ()
    """Quotes from the output, each marked found or not."""

    confidence: Fraction | None = None
    """The first available of `repeat_confidence`, `logprob_confidence` and `stated_confidence`."""

    stated_confidence: Fraction | None = None
    logprob_confidence: Fraction | None = None
    """The probability of the given score among the scores of the scale, from log-probabilities."""

    expected_raw: Finite | None = None
    """The probability-weighted raw score, from log-probabilities."""

    logprob_mass: Fraction | None = None
    """Total probability of the scores of the scale; a low mass is a warning."""

    repeat_confidence: Fraction | None = None
    """Agreement of repeats: 1 minus the spread of their values, where there are repeats."""

    source: JudgmentSource = "llm"
    judge: str = ""
    """Model and template, or the annotator's name."""

    model: str | None = None
    """The model that answered, as the provider names it."""

    case_id: str | None = None
    variant: str | None = None
    repeat: Count = 0
    """Which of the answers to the same question, from 0."""

    turn: Turn | None = None
    """Which of the assistant's turns was judged, from 1; None where the output was as a whole."""

    cached: bool = False
    """Whether the reply came from the cache, so that nothing was paid in this run."""

    cost_usd: Finite | None = None
    """Paid in this run, retries included, in US dollars: 0 when cached, None when unknown."""

    price_usd: Finite | None = None
    """What the reply cost when it was fetched, in US dollars; None when unknown."""

    usage: Usage | None = None
    n_calls: Count = 1
    """Number of replies, unparseable ones included."""

    duration_ms: Finite | None = None
    """Duration of the call when the reply was fetched."""

    reply_key: str | None = None
    """The cache key of the reply the score was read from."""

    dropped_parameters: tuple[str, ...] = ()
    """Parameters that were not sent because the model rejects them."""

    flags: tuple[str, ...] = ()
    """Advisory marks (`evidence_not_found`, `degenerate_output`, `injection_suspected`,
    `no_rationale`, `smoke_model`); none of them alters a score."""

    judged_at: AwareDatetime | None = None
    """When it was stored in its run (UTC), even if the reply was cached; None if it is in none."""


class JudgeFailure(Record):
    """A judge gave no usable answer; counted, shown, left out of means, never 0.

    The fields that a `Judgment` has as well mean the same here.
    """

    criterion: Name
    kind: FailureKind
    message: str
    reason: str | None = None
    """For an unparseable reply, what was wrong with it."""

    case_id: str | None = None
    variant: str | None = None
    repeat: Count = 0
    turn: Turn | None = None
    judge: str = ""
    reply: str | None = None
    cached: bool = False
    cost_usd: Finite | None = None
    price_usd: Finite | None = None
    usage: Usage | None = None
    n_calls: Annotated[int, Field(ge=0)] = 0
    reply_key: str | None = None


class CriterionVerdict(Record):
    """The result of the judgments of one criterion."""

    name: Name
    value: Fraction | None
    """Mean value over repeats; None where no judgment is usable."""

    passed: bool | None
    """Whether it reaches its threshold; None where it has no value."""

    weight: float
    required: bool
    n: Count
    n_failed: Count

    def to_json(self) -> JsonObject:
        """The verdict as plain JSON types; unknown values are null."""
        return self.model_dump(mode="json")


class UncalibratedVerdict(Record):
    """The result of the uncalibrated values, where calibration maps decide."""

    value: Fraction | None = None
    """Weighted mean over the criteria; None where a weighted criterion has no judgment."""

    passed: bool | None = None
    """Whether the output would pass; None where missing judgments could decide it either way."""

    criteria: dict[Name, Fraction | None]


class Verdict(Record, NotebookResult):
    """What the rubric concludes for one output."""

    case_id: str | None
    variant: str | None
    repeat: Count | None = None
    """Which of the variant's outputs for the case, from 0; None where there is only one."""

    rubric: str
    rubric_fingerprint: str
    passed: bool | None
    """Whether the output passes; None where missing judgments could decide it either way."""

    value: Fraction | None
    """Weighted mean over the criteria; None where a weighted criterion has no judgment."""

    value_low: Fraction
    """The value if every missing judgment, failed repeats included, were the worst."""

    value_high: Fraction
    """The value if every missing judgment, failed repeats included, were the best."""

    required_value: Fraction | None
    """Weighted mean over the required criteria; None where there are none, or one is missing."""

    criteria: tuple[CriterionVerdict, ...]
    judgments: tuple[Judgment, ...]
    failures: tuple[JudgeFailure, ...] = ()
    error: str | None = None
    uncalibrated: UncalibratedVerdict | None = None
    """The result of the uncalibrated values, where calibration maps decide `passed` and `value`;
    None where the uncalibrated values decide."""

    asked: CalibratedPanel | None = None
    """The settings of the judges (model, template, parameters), to which calibration maps are
    bound; None when unknown."""

    def __repr_args__(self) -> Iterator[tuple[str | None, object]]:
        """Who passes and with what: judgments in full have thousands of characters."""
        yield from ((n, getattr(self, n)) for n in ("case_id", "variant", "passed", "value"))
        yield "criteria", {one.name: one.value for one in self.criteria}
        if self.failures:
            yield "failures", [f"{one.criterion}: {one.kind}" for one in self.failures]

    @property
    def decided_by(self) -> Literal["raw", "calibrated"]:
        """Whether the judge's raw values decide, or the calibrated ones."""
        return "raw" if self.uncalibrated is None else "calibrated"

    def to_json(self) -> JsonObject:
        """The verdict as plain JSON types; unknown values are null."""
        whole: JsonObject = self.model_dump(mode="json", exclude={"judgments", "failures"})
        whole["judgments"] = [judgment.to_json() for judgment in self.judgments]
        whole["failures"] = [failure.to_json() for failure in self.failures]
        for name in ("repeat", "uncalibrated", "asked"):
            if getattr(self, name) is None:
                del whole[name]
        return whole


class Label(Record):
    """A human judgment of one output, or of two."""

    case_id: Name
    """The case whose output was judged."""

    variant: Name | None = None
    """The variant; may be left out where there is only one."""

    criterion: Name | None = None
    """The criterion; may be left out where there is only one, or for an overall label."""

    repeat: Count | None = None
    """Which of the variant's answers, from 0; may be left out where there is one."""

    annotator: Name | None = None
    """The annotator; None when unknown."""

    raw: Finite | Name | None = None
    """The score on the criterion's own scale, or the name of one of its levels (`good`, `yes`,
    `pass`); None where the annotator gave none."""

    winner: Name | None = None
    """Of two outputs the better one: `a`, `b`, `tie`, or the name of its variant."""

    rationale: Name | None = None
    """The reason."""

    confidence: Fraction | None = None
    """How sure the annotator is, from 0 to 1."""

    metadata: JsonObject | None = None
    """Further fields of the item; groups can be formed by them."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.raw is not None and self.winner is not None:
            raise ValueError("a label has `raw` or `winner`, not both")
        return self

    @property
    def is_missing(self) -> bool:
        """Whether the annotator gave neither a score nor a winner."""
        return self.raw is None and self.winner is None

    @property
    def adjudicates(self) -> bool:
        """Whether a third annotator decides by it what two others see differently."""
        return (self.metadata or {}).get("adjudicates") is True
