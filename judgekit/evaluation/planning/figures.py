"""The figures of a suite's plan: what a run would ask, cost, take and be able to show."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from judgekit.datasets.streaming import Tally
    from judgekit.datasets.suite_settings import TargetKind
    from judgekit.evaluation.planning.counting import Length, Load
    from judgekit.evaluation.planning.power import Detectable
    from judgekit.records.run import Combination

Bound = Literal["concurrency", "rpm", "tpm"]
"""What decides how fast a model can be asked."""

TextSource = Literal["owned", "run", "others", "assumed"]
"""Where a length of answers is from: answers of the variant that are known, the latest run, known
answers of other variants, or nowhere."""

Sufficiency = Literal["at_most", "likely", "short"]
"""Whether money suffices: whatever may come, likely, or likely not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersPlan:
    """The answers of one variant."""

    variant: str
    """Name of the variant."""

    kind: TargetKind
    """Where its answers come from."""

    n_answers: int
    """Answers that are to be had, repeats included."""

    n_known: int
    """Of them, those that are recorded or owned already, so that judges' questions are exact."""

    n_errors: int
    """Of those known, errors, which are not judged."""

    text: Length | None
    """How long an answer is assumed to be where it is not known; None where all are known."""

    text_source: TextSource | None
    """Where that length is from."""

    latency_s: float | None
    """How long an answer typically takes that is not asked of a model here; None if unknown."""

    cost_usd: float | None
    """What its answers cost by the latest run, where no model here is asked for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan:
    """What one model would be asked in one role."""

    role: Literal["answers", "judge", "checks"]
    """Whether it is under test, judges, or gives the vectors that checks and scorers compare."""

    name: str
    """The variant, the judge's identity, or the model of embeddings."""

    model: str
    """The model."""

    n_questions: int
    """Questions, repeats included; equal ones count once."""

    n_owned: int
    """Of them, replies that are owned already."""

    likely: Load
    """What is likely asked."""

    most: Load
    """What may be asked at most: long replies, every escalation, every answer tried again."""

    saved_usd: float
    """What the owned replies cost when they were bought, as far as known."""

    counted_by: str
    """How the tokens were counted."""

    latency_s: float
    """How long a call typically takes, in seconds."""

    n_latencies: int
    """How many owned replies say so; 0 where it is assumed."""

    max_concurrency: int
    """Calls in flight at most."""

    seconds: float
    """How long the likely calls take at least, in seconds."""

    bound: Bound
    """What decides that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """The run that assumptions are taken from."""

    id: str
    """The run."""

    n_answers: int
    """Answers that were looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """What a run of a suite would ask and cost, worked out before anything is paid."""

    suite: str
    """Name of the suite."""

    cases: Tally
    """Cases chosen, and left out by reason."""

    n_counted: int
    """Cases that were worked through; where these are fewer, all counts are scaled up."""

    repeats: int
    """How often each variant answers each case."""

    n_answers: int
    """Answers in all: cases by variants by repeats."""

    n_done: int
    """Of them, those that the run that is gone on with has already."""

    n_retries: int
    """Answers that may come on top where those that do not pass are tried again."""

    answers: tuple[AnswersPlan, ...]
    """Per variant, in the suite's order."""

    models: tuple[ModelPlan, ...]
    """Per model under test and judge that is a model."""

    combine: Combination | None
    """How several judges come to one value; None for one judge or none."""

    people: tuple[int, int]
    """Questions for a person: at least, and at most."""

    judges_by_rule: bool
    """Whether assertions judge."""

    is_frozen: bool
    """Whether nothing may be asked."""

    max_cost_usd: float | None
    """The money that may be spent."""

    in_flight: int
    """Answers in work at a time."""

    seconds: float
    """How long it all takes, likely, in seconds, without what is not known."""

    detectable: tuple[Detectable, ...]
    """What differences between two variants this size can show."""

    earlier: EarlierRun | None
    """The run that assumptions are taken from; None where there is none."""

    @property
    def is_scaled(self) -> bool:
        """Whether only a sample of the cases was worked through."""
        return self.n_counted < self.cases.n_chosen

    @property
    def has_all_prices(self) -> bool:
        """Whether the price of every call is known."""
        return all(m.most.price_usd is not None for m in self.models)

    @property
    def likely_usd(self) -> float:
        """What it likely costs, as far as prices are known, in US dollars."""
        return fsum(model.likely.price_usd or 0.0 for model in self.models) + self.own_usd

    @property
    def most_usd(self) -> float:
        """What it costs at most, as far as prices are known, in US dollars."""
        return fsum(model.most.price_usd or 0.0 for model in self.models) + self.own_usd

    @property
    def own_usd(self) -> float:
        """What variants cost that spend money themselves, by the latest run, in US dollars."""
        return fsum(answers.cost_usd or 0.0 for answers in self.answers)

    @property
    def saved_usd(self) -> float:
        """What the owned replies cost when they were bought, as far as known, in US dollars."""
        return fsum(model.saved_usd for model in self.models)

    @property
    def sufficiency(self) -> Sufficiency | None:
        """Whether the money that may be spent suffices; None where there is no limit."""
        if self.max_cost_usd is None or self.is_frozen:
            return None
        if self.likely_usd > self.max_cost_usd:
            return "short"
        is_sure = self.has_all_prices and self.most_usd <= self.max_cost_usd
        return "at_most" if is_sure else "likely"
