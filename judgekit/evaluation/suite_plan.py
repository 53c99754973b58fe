"""The plan of a suite run, and the statistics of an earlier run that it is based on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from math import fsum, inf, sqrt
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Literal

from judgekit.evaluation import cost_plan
from judgekit.evaluation.cost_plan import CallLoad, ComparisonPlan, Sufficiency, TextLength
from judgekit.evaluation.outcome import Outcome, ValueColumn, conclude_result
from judgekit.prompts import judged_text
from judgekit.stats.power import mde_paired, sample_size_mcnemar, sample_size_paired

if TYPE_CHECKING:
    from judgekit.datasets import SelectionCount, TargetKind
    from judgekit.evaluation.gate import StratumNeed
    from judgekit.records import Output, PanelCombination
    from judgekit.stats.estimate import Estimate
    from judgekit.store import RunStore

# What decides how fast a model can be asked.
PaceLimit = Literal["concurrency", "rpm", "tpm"]
# Where a length of answers is from: answers of the variant that are known, the latest run, known
# answers of other variants, or nowhere.
TextSource = Literal["owned", "run", "others", "assumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersPlan:
    """The answers of one variant.

    Attributes:
        n_known: Answers that are recorded or cached, so that judges' questions are exact.
        text: How long an answer is assumed to be where it is not known; None where all are known.
        latency_s: How long an answer typically takes that is not asked of a model here; None if
            unknown.
        cost_usd: What its answers cost by the latest run, where no model here is asked for them.
    """

    variant: str
    kind: TargetKind
    n_answers: int
    n_known: int
    n_errors: int
    text: TextLength | None
    text_source: TextSource | None
    latency_s: float | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan:
    """What one model would be asked in one role.

    Attributes:
        name: The variant, the judge's identity, or the model of embeddings.
        most: What may be asked at most: long replies, every escalation, every answer tried again.
        n_latencies: How many cached replies this rests on; 0 where it is assumed.
        seconds: How long the likely calls take at least, in seconds.
        joint: What `mode: joint` would likely ask instead; None where that saves no call.
    """

    role: Literal["answers", "judge", "checks"]
    name: str
    model: str
    n_questions: int
    # Further questions, each answered by the reply to an identical one
    n_shared: int
    n_owned: int
    likely: CallLoad
    most: CallLoad
    saved_usd: float
    counted_by: str
    latency_s: float
    n_latencies: int
    max_concurrency: int
    seconds: float
    bound: PaceLimit
    joint: CallLoad | None = None
    # What a limit of money sets aside before the dearest call
    reserved_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """The run that assumptions are taken from."""

    id: str
    n_answers: int


TARGET_POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableEffect:
    """The smallest difference between two variants that the cases can show."""

    measure: Literal["pass_rate", "value"]
    smallest: float | None
    n_cases: int
    # Cases that are needed to show a difference of 0.05
    n_for_sought: int
    # What it rests on: for the pass rate the share of cases that just one of two variants passes,
    # for the value the standard deviation of the cases' differences
    spread: float
    # Whether that was observed in an earlier run; else it is assumed
    is_observed: bool
    power: float = TARGET_POWER


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """What a run of a suite would ask and cost, worked out before anything is paid.

    Attributes:
        n_counted: Cases that were worked through; where these are fewer, all counts are scaled up.
        n_retries: Answers that may come on top where those that do not pass are tried again.
        needs: How many cases the gate needs to decide about all cases and about each stratum.
        seconds: How long it all takes, likely, in seconds, without what is not known.
    """

    suite: str
    cases: SelectionCount
    n_counted: int
    repeats: int
    n_answers: int
    n_done: int
    n_retries: int
    answers: tuple[AnswersPlan, ...]
    models: tuple[ModelPlan, ...]
    combine: PanelCombination | None
    # Questions for a reviewer: at least, and at most
    people: tuple[int, int]
    judges_by_rule: bool
    is_frozen: bool
    max_cost_usd: float | None
    in_flight: int
    seconds: float
    detectable: tuple[DetectableEffect, ...]
    earlier: EarlierRun | None
    needs: tuple[StratumNeed, ...] = ()

    @property
    def is_scaled(self) -> bool:
        """Whether only a sample of the cases was worked through."""
        return self.n_counted < self.cases.n_chosen

    @property
    def has_all_prices(self) -> bool:
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
        """What the cached replies cost when they were fetched, as far as known, in US dollars."""
        return fsum(model.saved_usd for model in self.models)

    @property
    def reserved_usd(self) -> float:
        """What a limit of money sets aside before the dearest call, in US dollars."""
        return max((one.reserved_usd for one in self.models if one.most.calls), default=0.0)

    @property
    def sufficiency(self) -> Sufficiency | None:
        """Whether the money that may be spent suffices; None where there is no limit."""
        if self.max_cost_usd is None or self.is_frozen:
            return None
        likely = self.likely_usd, sum(model.likely.calls for model in self.models)
        most_usd = self.most_usd if self.has_all_prices else inf
        most = most_usd, sum(model.most.calls for model in self.models)
        return cost_plan.limit_sufficiency(self.max_cost_usd, [likely, most], self.reserved_usd)


def with_answer_calls(plan: ComparisonPlan, answers: SuitePlan) -> ComparisonPlan:
    """The plan of a comparison together with that of its outputs, which come first."""
    models, (likely, most), price = answers.models, plan.output_tokens, None
    if plan.price_usd is not None and answers.has_all_prices:
        price = plan.price_usd[0] + answers.likely_usd, plan.price_usd[1] + answers.most_usd
    return replace(
        plan,
        n_questions=plan.n_questions + sum(one.n_questions for one in models),
        n_owned=plan.n_owned + sum(one.n_owned for one in models),
        n_shared=plan.n_shared + sum(one.n_shared for one in models),
        model=", ".join(dict.fromkeys([plan.model, *(one.model for one in models)])),
        input_tokens=plan.input_tokens + sum(one.likely.input_tokens for one in models),
        output_tokens=(
            likely + sum(one.likely.output_tokens for one in models),
            most + sum(one.most.output_tokens for one in models),
        ),
        price_usd=price,
        saved_usd=plan.saved_usd + answers.saved_usd,
        reserved_usd=max(plan.reserved_usd, answers.reserved_usd),
    )


# The share of cases that just one of two variants passes, where no earlier run says.
ASSUMED_DISCORDANT = 0.3
# The standard deviation of the cases' differences in value, where no earlier run says.
ASSUMED_SD = 0.25
# A difference that most would want to see.
TARGET_DIFFERENCE = 0.05


def detectable_effects(
    n_cases: int, *, discordant: float | None = None, sd: float | None = None
) -> tuple[DetectableEffect, ...]:
    """What differences between two variants on the same cases a size can show."""
    share = discordant or ASSUMED_DISCORDANT
    spread = sd or ASSUMED_SD
    by_value = mde_paired(n_cases, spread, power=TARGET_POWER).value
    return (
        DetectableEffect(
            measure="pass_rate",
            smallest=_smallest_change(n_cases, share),
            n_cases=n_cases,
            # At least as many cases differ as the rates do.
            n_for_sought=sample_size_mcnemar(
                max(share, TARGET_DIFFERENCE), TARGET_DIFFERENCE, power=TARGET_POWER
            ).value,
            spread=share,
            is_observed=bool(discordant),
        ),
        DetectableEffect(
            measure="value",
            smallest=by_value if by_value <= 1 else None,
            n_cases=n_cases,
            n_for_sought=sample_size_paired(TARGET_DIFFERENCE, spread, power=TARGET_POWER).value,
            spread=spread,
            is_observed=bool(sd),
        ),
    )


def _smallest_change(n_cases: int, share: float) -> float | None:
    """The smallest change of a pass rate, at most as great as the share of cases that differ."""
    change = mde_paired(n_cases, sqrt(share), power=TARGET_POWER).value
    if change > share:  # then more cases differ, all in one direction: share and change are one
        change = mde_paired(n_cases, 1.0, power=TARGET_POWER).value ** 2
    return change if change <= 1 else None


# So many answers of a run are examined.
_MOST_ANSWERS = 5_000
_CHARACTERS_PER_TOKEN = 4
_MOST_RUNS = 5
# The level of a gate's intervals.
_LEVEL = 0.95
# Of fewer cases a spread says nothing.
_FEWEST_CASES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRunStatistics:
    """What an earlier run says of its variants.

    Attributes:
        texts: How long the answers of each variant are, in tokens (a quarter of their characters).
        cost_usd: What an answer of each variant cost on average, where that is known.
        discordant: The share of cases on which two variants differ in passing, of the two that
            differ most.
        sd: The standard deviation of the cases' differences in value, of the two that differ most.
        values: The mean value of each variant by stratum, under None that of all its cases.
    """

    run: EarlierRun | None = None
    texts: Mapping[str, TextLength] = field(default_factory=dict)
    latency_s: Mapping[str, float] = field(default_factory=dict)
    cost_usd: Mapping[str, float] = field(default_factory=dict)
    discordant: float | None = None
    sd: float | None = None
    values: tuple[Mapping[str | None, Estimate], ...] = ()


@dataclass(slots=True)
class _VariantObservations:
    lengths: list[float] = field(default_factory=list)
    durations_s: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    passed: ValueColumn = field(default_factory=ValueColumn)
    value: ValueColumn = field(default_factory=ValueColumn)
    strata: dict[str | None, ValueColumn] = field(default_factory=dict)

    def take(self, concluded: Outcome) -> None:
        result, output = concluded.result, concluded.result.output
        if output.duration_ms is not None:
            self.durations_s.append(output.duration_ms / 1000)
        if output.usage is not None and output.usage.cost_usd is not None:
            self.costs.append(output.usage.cost_usd)
        # Errors have a duration and a cost, but their text says nothing about the length of
        # answers.
        if output.error is None:
            self.lengths.append(text_tokens(output))
        self.passed.add(result, concluded.passed)
        self.value.add(result, concluded.value)
        for name in {None, result.case.stratum}:
            self.strata.setdefault(name, ValueColumn()).add(result, concluded.value)


def text_tokens(output: Output) -> float:
    """How long an output is that a judge reads, in tokens."""
    # A tokenizer for each answer would take longer than the rest of the plan; four characters a
    # token is the usual ratio for English.
    return len(judged_text(output)) / _CHARACTERS_PER_TOKEN


def mean_length(lengths: list[float]) -> TextLength | None:
    return TextLength(fsum(lengths) / len(lengths), max(lengths)) if lengths else None


def earlier_run_statistics(
    store: RunStore, suite: str, *, most_answers: int = _MOST_ANSWERS
) -> EarlierRunStatistics | None:
    """What the latest run of a suite says of its variants."""
    # A run that was stopped at its start has no answers; a few earlier ones are tried.
    for run in store.runs(suite=suite, limit=_MOST_RUNS):
        by_variant: defaultdict[str, _VariantObservations] = defaultdict(_VariantObservations)
        n_answers = 0
        for result in islice(store.results(run.id), most_answers):
            by_variant[result.variant].take(conclude_result(result, run))
            n_answers += 1
        if n_answers:
            return _statistics_of(run.id, n_answers, by_variant)
    return None


def _statistics_of(
    run_id: str, n_answers: int, by_variant: dict[str, _VariantObservations]
) -> EarlierRunStatistics:
    known = {name: mean_length(one.lengths) for name, one in by_variant.items()}
    pairs = list(combinations(by_variant.values(), 2))
    passed = [_differences(a.passed, b.passed) for a, b in pairs]
    values = [_differences(a.value, b.value) for a, b in pairs]
    return EarlierRunStatistics(
        run=EarlierRun(id=run_id, n_answers=n_answers),
        texts={name: length for name, length in known.items() if length is not None},
        latency_s={n: median(one.durations_s) for n, one in by_variant.items() if one.durations_s},
        cost_usd={
            n: fsum(one.costs) / len(one.costs) for n, one in by_variant.items() if one.costs
        },
        # The widest of all pairs: a plan had better promise too little. Of pass and fail the mean
        # square of the differences is the share of cases that differ.
        discordant=max((fmean(d * d for d in one) for one in passed if one), default=0.0) or None,
        sd=max((stdev(one) for one in values if one), default=0.0) or None,
        values=tuple(
            {name: column.mean(_LEVEL) for name, column in one.strata.items()}
            for one in by_variant.values()
        ),
    )


def _differences(a: ValueColumn, b: ValueColumn) -> list[float]:
    before, after = a.case_means(), b.case_means()
    both = before.keys() & after.keys()
    return [after[place] - before[place] for place in both] if len(both) >= _FEWEST_CASES else []
