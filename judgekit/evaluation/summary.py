"""Summarizes a run while it is read from the store (single answers: `outcome`)."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, get_args

from judgekit import assertions  # loaded when used: only checks need it
from judgekit.evaluation.outcome import (
    Outcome,
    OutcomeGroup,
    ValueColumn,
    conclude_result,
    last_repeats,
    scores_by_name,
)
from judgekit.evaluation.run_config import calibration_of_run
from judgekit.evaluation.usage import JudgeTally, JudgeUsage
from judgekit.presentable import Presentable
from judgekit.records import CaseResult, CaseStratum, Output, RunInfo, config_part, config_rows
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired import (
    VALUE_STEP,
    bounded_difference,
    paired_difference,
    pass_rate_difference,
)
from judgekit.stats.power import mde_paired

if TYPE_CHECKING:
    from judgekit.records import CalibrationState, JudgeFailure, Judgment
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.intervals import Rate
    from judgekit.stats.paired import PairedDifference, PairedProportions


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """The figures of a group of answers of one variant: all, a tag's or a stratum's."""

    n_cases: int
    # Answers, repeats included; of several tries only the last
    n_answers: int
    n_passed: int
    n_failed: int
    # Answers whose missing judgments or erring assertions could decide either way
    n_undecided: int
    n_errors: int
    # Share of passed among decided answers, clustered by case; `worst` and `best` count what is
    # undecided, and errors, as failed and as passed
    pass_rate: Rate
    # Means over cases; rates where answers have no value: their bounds count these, and errors
    value: Estimate | Rate
    criteria: dict[str, Estimate | Rate]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """What was paid, as far as known, in US dollars."""

    targets_usd: float
    judges_usd: float
    checks_usd: float = 0.0
    saved_usd: float
    # What recorded answers cost when they were made, as far as their file says
    recorded_usd: float = 0.0
    is_complete: bool
    # Answers of a program, a function or an endpoint that did not say what they cost
    n_unreported: int = 0

    @property
    def total_usd(self) -> float:
        return self.targets_usd + self.judges_usd + self.checks_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantFigures(GroupFigures):
    """The figures of one variant.

    Attributes:
        scores: Mean of each scorer's score, clustered by case; `overall` is that of their weighted
            mean, where there are several.
        latency_ms: How long answers took: `p50`, `p90`, `p99` and `max`, in ms; empty where
            unknown.
        n_unfinished: Answers of which something was not asked, since the run was stopped or
            interrupted.
        n_flaky: Cases answered several times that neither always pass nor never; where a run tries
            again what failed, those that passed only then.
    """

    variant: str
    tags: dict[str, GroupFigures] = field(default_factory=dict)
    strata: dict[str, GroupFigures] = field(default_factory=dict)
    assertions: dict[str, Rate] = field(default_factory=dict)
    scores: dict[str, Estimate] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    money: RunCost
    input_tokens: int
    output_tokens: int
    judge_input_tokens: int
    judge_output_tokens: int
    latency_ms: dict[str, float]
    n_unfinished: int = 0
    n_flaky: int

    @property
    def n(self) -> int:
        """Answers, as `n_answers`."""
        return self.n_answers

    @property
    def pass_rate_bounds(self) -> tuple[float, float]:
        """The rate if all answers without a verdict, errors included, had failed; had passed."""
        return self.pass_rate.worst, self.pass_rate.best


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantDifference:
    """How two variants differ on the cases both answered: second less first."""

    first: str
    second: str
    measure: str
    estimate: Estimate
    p: float | None
    # The same after Holm, over all pairs of variants for this measure
    p_adjusted: float | None
    # The smallest difference this many cases can show with 80 % power at 5 %
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunSummary(Presentable):
    """The figures of a run.

    Attributes:
        replaced_usd: What was paid for answers and judgments that others took the place of since,
            beside what the variants cost.
        uncalibrated: The variants by the judges' own values, where calibration maps decide.
        models: The models that answered, in the providers' words.
        n_evidence_found: Of the passages that judges quoted, those that the outputs hold.
        evidence: Judgments of models by what they quote: `found`, at least one passage that the
            output holds; `not_found`, only others; `none`.
    """

    run: RunInfo
    variants: tuple[VariantFigures, ...]
    differences: tuple[VariantDifference, ...]
    n_waiting: int = 0
    replaced_usd: float = 0.0
    uncalibrated: tuple[VariantFigures, ...] = ()
    spent: JudgeUsage = field(default_factory=JudgeUsage)
    models: tuple[str, ...] = ()
    n_evidence: int = 0
    n_evidence_found: int = 0
    evidence: dict[str, int] = field(default_factory=dict)
    flags: dict[str, int] = field(default_factory=dict)
    failure_messages: dict[str, str] = field(default_factory=dict)

    @property
    def rubric(self) -> str:
        """Name of the rubric; empty where none was asked."""
        return "" if self.run.rubric is None else self.run.rubric.name

    @property
    def pass_threshold(self) -> float:
        """The value from which an answer passes; nan without a rubric."""
        return math.nan if self.run.rubric is None else self.run.rubric.pass_threshold

    @property
    def judges(self) -> tuple[str, ...]:
        """Who judged: model and template."""
        return self.run.panel.judges

    @property
    def calibration_state(self) -> CalibrationState:
        return calibration_of_run(self.run).state

    @property
    def calibration(self) -> str:
        return calibration_of_run(self.run).words

    @property
    def complete(self) -> bool:
        """Whether every criterion of every answer has a judgment."""
        return not self.failures

    @property
    def is_blank(self) -> bool:
        """Whether nothing at all was found out: no answer decided, no value and no score known."""
        return not any(
            variant.n_passed + variant.n_failed
            or any(e.n for e in (variant.value, *variant.criteria.values()))
            or any(e.n for e in variant.scores.values())
            for variant in self.variants
        )

    @property
    def failures(self) -> dict[str, int]:
        """Failures of judges by kind, over all variants."""
        total: Counter[str] = Counter()
        for variant in self.variants:
            total.update(variant.failures)
        return dict(total)


_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}


def summarize_run(
    results: Iterable[CaseResult], run: RunInfo, *, n_waiting: int = 0, level: float = 0.95
) -> RunSummary:
    tally = RunTally(run)
    for result in results:
        tally.take(conclude_result(result, run))
    return tally.summary(n_waiting=n_waiting, level=level)


class RunTally:
    """Sums up a run while its answers are read for something else as well.

    Where a run tries again what failed, the last answer to a case is the one that counts, and
    those before it only cost money: a case that passes at the second try has passed, and is
    flaky. Where a run repeats every answer, all of them count, and intervals take a case's
    repeats as one.
    """

    def __init__(self, run: RunInfo, uncalibrated: RunInfo | None = None) -> None:
        self.run = run
        # The same by the judges' own values, where calibration maps decide
        self._uncalibrated = None if uncalibrated is None else RunTally(uncalibrated)
        self._has_tries = bool(config_part(run, "settings").get("retry_failed"))
        self._judges = JudgeTally()
        self._n_evidence = self._n_evidence_found = 0
        self._evidence: Counter[str] = Counter()
        self._recorded = _of_kinds(run, "outputs")
        own = _of_kinds(run, "command", "python", "http")
        # Every variant of the run has a row, also one without an answer yet.
        self._tallies = {
            v.id: _VariantTally(is_recorded=v.id in self._recorded, spends_itself=v.base_id in own)
            for v in run.variants
        }

    def take(self, concluded: Outcome) -> None:
        result = concluded.result
        own = result.case.evaluation
        # A single case with tries makes repeats mean tries: no run may have both
        # (`OpenSuite.check_case`).
        self._has_tries = self._has_tries or (own is not None and own.retries > 0)
        self._tallies.setdefault(result.variant, _VariantTally()).take(concluded)
        # Criteria that share a reply share its cost; a reply never belongs to two answers.
        self._judges.take([*result.judgments, *result.failures])
        for check in result.checks:
            if (one := check.asked) is not None and assertions.compares_variants(check.type):
                usd, n = one.cost_usd, one.n_calls + one.n_owned
                money = JudgeUsage(n, one.n_owned, usd or 0.0, one.saved_usd, usd is None)
                self._judges.spent += replace(money, input_tokens=one.input_tokens)
        for judgment in result.judgments:
            n_found = sum(piece.found for piece in judgment.evidence)
            self._n_evidence += len(judgment.evidence)
            self._n_evidence_found += n_found
            if judgment.source == "llm":
                kind = "not_found" if judgment.evidence else "none"
                self._evidence["found" if n_found else kind] += 1
        if (own_values := self._uncalibrated) is not None:
            own_values.take(conclude_result(result, own_values.run))

    def is_free(self, variant: str, output: Output) -> bool:
        """Whether an answer cost nothing in the run: it was recorded, or its reply was cached."""
        return variant in self._recorded or output.metadata.get("cached") is True

    def summary(
        self, *, n_waiting: int = 0, replaced_usd: float = 0.0, level: float = 0.95
    ) -> RunSummary:
        tallies = self._tallies
        if self._has_tries:
            # Earlier tries were paid for, so that costs stay whole, and only figures of quality are
            # those of the last try.
            tallies = {name: tally.of_last_tries() for name, tally in tallies.items()}
        return RunSummary(
            run=self.run,
            variants=tuple(tally.figures(name, level) for name, tally in tallies.items()),
            differences=_differences(tallies, level),
            n_waiting=n_waiting,
            replaced_usd=replaced_usd,
            uncalibrated=()
            if self._uncalibrated is None
            else self._uncalibrated.summary(level=level).variants,
            spent=self._judges.spent,
            models=tuple(self._judges.models),
            n_evidence=self._n_evidence,
            n_evidence_found=self._n_evidence_found,
            evidence=dict(self._evidence.most_common()),
            flags=dict(self._judges.flags.most_common()),
            failure_messages=self._judges.messages,
        )


@dataclass(slots=True, kw_only=True)
class _VariantTally:
    is_recorded: bool = False
    spends_itself: bool = False
    whole: OutcomeGroup = field(default_factory=OutcomeGroup)
    tags: dict[str, OutcomeGroup] = field(default_factory=dict)
    strata: dict[str, OutcomeGroup] = field(default_factory=dict)
    assertions: dict[str, ValueColumn] = field(default_factory=dict)
    scores: dict[str, ValueColumn] = field(default_factory=dict)
    errors: dict[str, ValueColumn] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    latency_ms: array[float] = field(default_factory=lambda: array("d"))
    tokens: Counter[str] = field(default_factory=Counter)
    usd: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    has_all_prices: bool = True
    n_unreported: int = 0
    n_unfinished: int = 0
    n_flaky: int | None = None

    def take(self, concluded: Outcome) -> None:
        result = concluded.result
        self.n_unfinished += not result.is_done
        self.whole.take(concluded)
        for tag in result.case.tags:
            self.tags.setdefault(tag, OutcomeGroup()).take(concluded)
        if result.case.stratum is not None:
            self.strata.setdefault(result.case.stratum, OutcomeGroup()).take(concluded)
        for check in result.checks:
            passed = None if check.passed is None else float(check.passed)
            self.assertions.setdefault(check.type, ValueColumn()).add(result, passed)
        for name, score in scores_by_name(concluded).items():
            self.scores.setdefault(name, ValueColumn()).add(result, score)
        for failure in result.failures:
            self.failures[failure.kind] += 1
        self._take_output(result)
        self._take_judges(result)
        compared = {
            id(one.asked) for one in result.checks if assertions.compares_variants(one.type)
        }
        for asked in result.asked:
            self.usd["judges" if id(asked) in compared else "checks"] += asked.cost_usd or 0.0
            self.usd["saved"] += asked.saved_usd
            self.has_all_prices = self.has_all_prices and asked.cost_usd is not None

    def of_last_tries(self) -> _VariantTally:
        """The same where only the last answer to a case counts, but for what all of them cost."""
        last = self.whole.passed.last()
        return replace(
            self,
            whole=self.whole.only(last),
            tags={name: group.only(last) for name, group in self.tags.items()},
            strata={name: group.only(last) for name, group in self.strata.items()},
            assertions=last_repeats(self.assertions, last),
            scores=last_repeats(self.scores, last),
            errors={
                k: found for k, found in last_repeats(self.errors, last).items() if found.values
            },
            n_flaky=self.whole.passed.n_varying(),
        )

    def _take_output(self, result: CaseResult) -> None:
        output = result.output
        if output.error is not None:
            self.errors.setdefault(output.error_kind or "error", ValueColumn()).add(result, 1.0)
        if output.duration_ms is not None:
            self.latency_ms.append(output.duration_ms)
        # A command or an endpoint spends money that only it knows; what it does not report is
        # named, not counted as zero.
        is_unpriced = output.usage is None or output.usage.cost_usd is None
        self.n_unreported += self.spends_itself and is_unpriced
        if output.usage is not None:
            self.tokens["input"] += output.usage.input_tokens
            self.tokens["output"] += output.usage.output_tokens
            cost = output.usage.cost_usd or 0.0
            # Recorded outputs cost their price when they were made, not in this run.
            if self.is_recorded:
                self.usd["recorded"] += cost
            else:
                is_free = output.metadata.get("cached") is True
                self.usd["saved" if is_free else "targets"] += cost
                is_known = is_free or self.spends_itself or not is_unpriced
                self.has_all_prices = self.has_all_prices and is_known

    def _take_judges(self, result: CaseResult) -> None:
        judge_answers: list[Judgment | JudgeFailure] = [*result.judgments, *result.failures]
        for one in judge_answers:
            if one.cached:
                self.usd["saved"] += one.price_usd or 0.0
            # An answer without a call (a refused budget, an assertion) has no price to miss.
            elif one.n_calls:
                self.usd["judges"] += one.cost_usd or 0.0
                self.has_all_prices = self.has_all_prices and one.cost_usd is not None
            if one.usage is not None and not one.cached:
                self.tokens["judge_input"] += one.usage.input_tokens
                self.tokens["judge_output"] += one.usage.output_tokens

    def figures(self, name: str, level: float) -> VariantFigures:
        strata = [stratum for stratum in get_args(CaseStratum) if stratum in self.strata]
        errors = {kind: len(column.values) for kind, column in self.errors.items()}
        return VariantFigures(
            variant=name,
            **self.whole.parts(level),  # type: ignore[arg-type]  # the fields by their names
            tags={tag: _group(self.tags[tag], level) for tag in sorted(self.tags)},
            strata={stratum: _group(self.strata[stratum], level) for stratum in strata},
            assertions={kind: column.rate(level) for kind, column in self.assertions.items()},
            scores={kind: column.mean(level) for kind, column in self.scores.items()},
            errors=dict(sorted(errors.items(), key=lambda one: (-one[1], one[0]))),
            failures=dict(self.failures.most_common()),
            money=RunCost(
                targets_usd=self.usd["targets"],
                judges_usd=self.usd["judges"],
                checks_usd=self.usd["checks"],
                recorded_usd=self.usd["recorded"],
                saved_usd=self.usd["saved"],
                is_complete=self.has_all_prices and not self.n_unreported,
                n_unreported=self.n_unreported,
            ),
            input_tokens=self.tokens["input"],
            output_tokens=self.tokens["output"],
            judge_input_tokens=self.tokens["judge_input"],
            judge_output_tokens=self.tokens["judge_output"],
            latency_ms=_percentiles(self.latency_ms),
            n_unfinished=self.n_unfinished,
            n_flaky=self.whole.passed.n_varying() if self.n_flaky is None else self.n_flaky,
        )


def _of_kinds(run: RunInfo, *kinds: str) -> set[str]:
    rows = config_rows(run, "variants")
    return {str(v.get("id")) for v in rows if any(v.get(kind) is not None for kind in kinds)}


def _group(group: OutcomeGroup, level: float) -> GroupFigures:
    return GroupFigures(**group.parts(level))  # type: ignore[arg-type]  # the fields by their names


def _percentiles(values: array[float]) -> dict[str, float]:
    """The smallest value that so large a share of the values does not exceed."""
    # The nearest-rank percentile is an observed latency; interpolation would name one that never
    # happened.
    ordered = sorted(values)
    n = len(ordered)
    return {
        name: ordered[max(0, math.ceil(share * n) - 1)] for name, share in _PERCENTILES.items() if n
    }


def _differences(tallies: dict[str, _VariantTally], level: float) -> tuple[VariantDifference, ...]:
    found: list[VariantDifference] = []
    # Holm is applied within a measure: value and pass rate are two questions, and pairs of variants
    # are the tests of each.
    for measure in ("value", "pass_rate"):
        pairs = [
            _difference(measure, first, second, tallies, level)
            for first, second in combinations(tallies, 2)
        ]
        known = [pair for pair in pairs if pair is not None]
        adjusted = adjust([pair.p for pair in known], "holm").value if known else ()
        found += [
            replace(pair, p_adjusted=None if math.isnan(p) else p)
            for pair, p in zip(known, adjusted, strict=True)
        ]
    return tuple(found)


def _difference(
    measure: str, first: str, second: str, tallies: dict[str, _VariantTally], level: float
) -> VariantDifference | None:
    """Second less first, over the cases that both have; None where there is no such case."""
    groups = [tallies[name].whole for name in (first, second)]
    columns = [group.passed if measure == "pass_rate" else group.value for group in groups]
    sides = [column.case_means() for column in columns]
    # Only cases that both answered are compared: pairing takes the difficulty of the cases out of
    # the difference.
    places = sorted(sides[0].keys() & sides[1].keys())
    if not places:
        return None
    a, b = ([side[place] for place in places] for side in sides)
    step = 1.0 if measure == "pass_rate" else VALUE_STEP
    plain = bounded_difference(paired_difference(a, b, step=step, ci="skewed", level=level))
    estimate: PairedDifference | PairedProportions = plain
    # With repeats a case has a share of passes, for which the method for paired proportions is not
    # defined.
    if measure == "pass_rate" and all(value in (0.0, 1.0) for value in (*a, *b)):
        estimate = pass_rate_difference(a, b, level=level)
    return VariantDifference(
        first=first,
        second=second,
        measure=measure,
        estimate=estimate,
        p=None if math.isnan(estimate.p_value) else estimate.p_value,
        p_adjusted=None,
        # Without any spread every difference looks detectable, which is a statement about this
        # sample only.
        detectable=mde_paired(len(places), plain.sd).value if plain.sd > 0 else None,
    )
