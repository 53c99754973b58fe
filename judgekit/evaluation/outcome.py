"""Concludes the verdict, value and pass of one answer, and collects them in columns."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from judgekit import assertions, datasets  # loaded when used: most answers need neither
from judgekit.errors import InputError, JudgekitError, UnknownNameError
from judgekit.evaluation.run_config import judging_of_run
from judgekit.records import (
    HUMAN_JUDGE,
    JUDGE_SCORER,
    OVERALL_SCORE,
    AssertionResult,
    Case,
    JudgeFailure,
    Output,
    Record,
    Rubric,
    Score,
    Verdict,
    config_rows,
)
from judgekit.scoring import (
    all_passed,
    apply_calibration,
    assertion_share,
    conclude,
    portable_judge_name,
    weighted_mean,
    with_repeat_confidence,
)
from judgekit.stats.estimate import Estimate, carried, cluster_means, undefined_estimate
from judgekit.stats.intervals import Rate, clustered_proportion, proportion, value_mean

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.assertions import EvaluationPlan, StrategyOutcome
    from judgekit.records import CaseResult, JsonObject, Judgment, RunInfo
    from judgekit.store import AnswerProgress, StoredRuns

_AnswerT = TypeVar("_AnswerT", bound="CaseResult | AnswerProgress")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer of a run, with its verdict and value.

    Attributes:
        value: That of its strategy where the case has one; else the rubric's, or without a rubric
            the weighted share of assertions that hold; None where that is not known.
        passed: Whether the rubric or the strategy passes it and every assertion holds; None where
            that is undecided.
        outcome: The outcome of its strategy; None where the case has none, or there is no output.
        scores: What the suite's scorers measured, and the judge's score where the suite wants it,
            in the suite's order.
        overall: The weighted mean of the scores that have a value; None where none has.
    """

    result: CaseResult
    verdict: Verdict | None
    value: float | None
    passed: bool | None
    outcome: StrategyOutcome | None = None
    scores: tuple[Score, ...] = ()
    overall: float | None = None


class Graded(Record):
    """One graded output."""

    case: Case
    output: Output
    verdict: Verdict


def conclude_result(result: CaseResult, run: RunInfo) -> Outcome:
    plan = _plan(result, run)
    # Passes and values are derived each time and never stored: a changed rule or a corrected scorer
    # then applies to old runs too.
    verdict = None if plan is not None and not plan.asks_judge else _verdict(result, run)
    if result.output.error is not None:
        # An output that is an error has no quality: it is counted as an error, neither as a fail
        # nor as a value of 0.
        return Outcome(result, verdict, None, None)
    scores, overall = _suite_scores(result, run, verdict)
    if plan is None:
        value = assertion_share(result.checks) if verdict is None else verdict.value
        own = [check.passed for check in result.checks]
        passed = all_passed(own if verdict is None else [*own, verdict.passed])
        return Outcome(result, verdict, value, passed, None, scores, overall)
    # What the run observed is used as it is. In a run that was made before cases had plans, a
    # comparison with the case's reference, which is the same whenever it is made, is made now; what
    # was not observed stays open.
    outcome = assertions.combine_outcomes(
        plan,
        _checks(plan, result, run),
        _strategy_scores(plan, result, run),
        None if verdict is None else verdict.value,
        judged_passed=None if verdict is None else verdict.passed,
        judged_feedback=None if verdict is None else judge_feedback(result) or None,
    )
    # The suite's own assertions come first, and hold for every case.
    of_suite = result.checks[: len(config_rows(run, "assertions"))]
    passed = all_passed([outcome.passed, *(check.passed for check in of_suite)])
    return Outcome(result, verdict, outcome.value, passed, outcome, scores, overall)


def tries_of_answers(answers: Iterable[_AnswerT], run: RunInfo) -> Iterator[list[_AnswerT]]:
    """The tries of each answer, of which the last counts; every repeat is an answer of its own."""
    has_repeats = run.repeats > 1
    for _, tries in groupby(
        answers, key=lambda one: (one.place, one.key.variant, has_repeats and one.key.repeat)
    ):
        yield [*tries]


def last_tries(answers: Iterable[_AnswerT], run: RunInfo) -> Iterator[_AnswerT]:
    """The answers that count: of several tries the last, of repeats all."""
    return (tries[-1] for tries in tries_of_answers(answers, run))


def ordered_results(results: Iterable[CaseResult], run: RunInfo) -> list[CaseResult]:
    """Results as they arrived, in the order of their cases, variants, judges and criteria."""
    variants = {variant.id: number for number, variant in enumerate(run.variants)}
    criteria = {} if run.rubric is None else {c.name: k for k, c in enumerate(run.rubric.criteria)}
    judges = {judge: number for number, judge in enumerate(run.panel.judges)}

    def rank(answer: Judgment | JudgeFailure) -> tuple[int, int, int, int]:
        # Answers arrive as the models finish; the output must not depend on it.
        judge, criterion = judges.get(answer.judge, -1), criteria.get(answer.criterion, -1)
        return judge, answer.repeat, criterion, answer.turn or 0

    return [
        result.model_copy(
            update={
                "judgments": tuple(sorted(result.judgments, key=rank)),
                "failures": tuple(sorted(result.failures, key=rank)),
            }
        )
        for result in sorted(
            results, key=lambda one: (one.place, variants.get(one.variant, 0), one.repeat)
        )
    ]


def run_verdicts(run: RunInfo, results: Iterable[CaseResult]) -> Iterator[Verdict]:
    """What the rubric concludes for each answer of a run, with how its judges were called."""
    asked = judging_of_run(run)
    for result in results:
        if (verdict := conclude_result(result, run).verdict) is not None:
            yield verdict.model_copy(update={"asked": asked})


def scores_by_name(concluded: Outcome) -> dict[str, float | None]:
    """The scores of an answer by their names, with the overall one where there are several."""
    found = {score.name: score.value for score in concluded.scores}
    return {**found, OVERALL_SCORE: concluded.overall} if len(found) > 1 else found


def _plan(result: CaseResult, run: RunInfo) -> EvaluationPlan | None:
    """The plan of a case; None also where it lacks what its strategy compares with."""
    named = run.config.get("profile")
    profile = named if isinstance(named, str) else None
    if result.case.evaluation is None and profile is None:
        return None
    try:
        return assertions.plan_evaluation(result.case, profile, rubric=run.rubric)
    except InputError:  # no run is begun with such a case, but other files hold them
        return None


def rubric_of_result(result: CaseResult, run: RunInfo) -> Rubric | None:
    """The rubric that an answer was judged by."""
    # The case in the store carries the rubric it was judged by in full, so that a file that changed
    # since does not change old verdicts.
    return result.case.rubric if isinstance(result.case.rubric, Rubric) else run.rubric


def _verdict(result: CaseResult, run: RunInfo) -> Verdict | None:
    rubric = rubric_of_result(result, run)
    if rubric is None or not run.panel.judges:
        return None
    verdict = conclude(
        rubric,
        _with_confidence(_votes(result.judgments, run)),
        result.failures if result.is_done else (*result.failures, *_missing_repeats(result, run)),
        case_id=result.case.id,
        variant=result.variant,
        # Without repeats a second answer is a second try, of which the last counts.
        repeat=result.repeat if run.repeats > 1 else None,
        error=result.output.error,
        panel=run.panel,
    )
    use = run.calibration
    return verdict if use is None else apply_calibration(verdict, rubric, use, panel=run.panel)


def _missing_repeats(result: CaseResult, run: RunInfo) -> Iterator[JudgeFailure]:
    """The repeats that are not judged yet, as failures, of questions of which some are."""
    # They may decide otherwise, as failed ones may. A question without any judgment is undecided.
    panel = judging_of_run(run)
    n_repeats = {} if panel is None else {one.judge: one.repeats or 1 for one in panel.judges}
    answers: Iterable[Judgment | JudgeFailure] = (*result.judgments, *result.failures)
    n_known = Counter((one.judge, one.criterion, one.turn) for one in answers)
    for (judge, criterion, turn), n in n_known.items():
        missing = JudgeFailure(
            criterion=criterion, kind="cancelled", message="not judged yet", judge=judge, turn=turn
        )
        yield from [missing] * (n_repeats.get(portable_judge_name(judge), 1) - n)


def _votes(judgments: Sequence[Judgment], run: RunInfo) -> Sequence[Judgment]:
    """Without the judgments of reviewers, which are labels: automated verdicts stand."""
    # A share of human votes among automated ones would change the measure from answer to answer.
    if HUMAN_JUDGE in run.panel.judges:
        return judgments
    return [one for one in judgments if one.source != "human" or one.judge in run.panel.judges]


def _suite_scores(
    result: CaseResult, run: RunInfo, verdict: Verdict | None
) -> tuple[tuple[Score, ...], float | None]:
    """The scores of the suite's own scorers, the judge's out of the verdict, and their mean."""
    specs = config_rows(run, "scorers")
    if not specs:
        return (), None
    # Scores are stored in the order of the suite, without the judge's own: that one follows from
    # the verdict, so it is derived here.
    measured = iter(result.scores[: n_suite_scores(run)])
    found: list[Score] = []
    for spec in specs:
        score = _judged(verdict, spec) if spec.get("type") == JUDGE_SCORER else next(measured, None)
        if score is not None:
            found.append(score)
    weights = {datasets.scorer_name(spec): float(str(spec.get("weight", 1))) for spec in specs}
    known = [(weights[one.name], one.value) for one in found if one.value is not None]
    return tuple(found), weighted_mean(known) if known else None


def _judged(verdict: Verdict | None, spec: JsonObject) -> Score:
    name = datasets.scorer_name(spec)
    try:
        # The scorer of the judge looks at the verdict alone.
        score = assertions.judge_score(Output(text=""), verdict=verdict)
    except JudgekitError as error:
        # A judge that failed leaves a score without a value, which is missing in the mean.
        return Score(name=name, error=str(error))
    return score.model_copy(update={"name": name})


def _with_confidence(judgments: Sequence[Judgment]) -> list[Judgment]:
    # Agreement of one answer with itself says nothing, so a single answer keeps the confidence that
    # the judge stated.
    if not any(judgment.repeat for judgment in judgments):
        return list(judgments)
    by_judge: defaultdict[str, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        by_judge[judgment.judge].append(judgment)
    return [one for group in by_judge.values() for one in with_repeat_confidence(group)]


_NEVER_ASKED = "it was not checked in this run"


def judge_feedback(result: CaseResult) -> str:
    lines = [f"{one.criterion}: {one.rationale}" for one in result.judgments]
    lines += [f"{one.criterion}: no judgment: {one.message}" for one in result.failures]
    return "\n".join(lines)


def n_suite_scores(run: RunInfo) -> int:
    return sum(row.get("type") != JUDGE_SCORER for row in config_rows(run, "scorers"))


def _observed(
    specs: Sequence[Mapping[str, JsonValue]], result: CaseResult, run: RunInfo
) -> list[AssertionResult] | None:
    """The results of a list of assertions, where the run observed exactly these."""
    # Checks of the suite come first in the stored list and those of the case follow; only their
    # number in the run's config shows where one ends.
    found = list(result.checks[len(config_rows(run, "assertions")) :])
    types = [spec.get("type") for spec in specs]
    return found if [one.type for one in found] == types else None


def _checks(plan: EvaluationPlan, result: CaseResult, run: RunInfo) -> list[AssertionResult]:
    whole = _observed(plan.assertions, result, run)
    if whole is not None:
        return whole
    own = _observed(result.case.assertions, result, run) or []
    pairs = list(zip(result.case.assertions, own, strict=False))
    return [_check(spec, pairs, result) for spec in plan.assertions]


def _check(
    spec: JsonObject, pairs: list[tuple[JsonObject, AssertionResult]], result: CaseResult
) -> AssertionResult:
    for place, (known, found) in enumerate(pairs):
        if known == spec:
            # A case may have the same assertion twice; each stored result is used once.
            del pairs[place]
            return found
    if spec.get("type") == "equals":
        return assertions.evaluate_assertions(result.output, [spec], case=result.case)[0]
    name = str(spec.get("type"))
    return AssertionResult(passed=None, type=name, message=_NEVER_ASKED, error=_NEVER_ASKED)


def _strategy_scores(plan: EvaluationPlan, result: CaseResult, run: RunInfo) -> list[Score]:
    """The similarities that the plan wants: as scores, or as the assertions found them."""
    known = [*result.scores[n_suite_scores(run) :]]
    if known or not plan.scorers:
        return known
    own = _observed(result.case.assertions, result, run) or []
    return [
        Score(name=assertions.SIMILARITY, value=found.value, message=found.message)
        for found in own
        if found.type == "similar" and found.value is not None
    ]


# Answers looked through for the names of cases.
_NEAR = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeFilter:
    """Which answers are examined; several wishes must all be met."""

    variants: tuple[str, ...] = ()
    case_id: str | None = None
    tag: str | None = None
    # Only those that did not pass, or could not be had or judged
    failed: bool = False
    # Of several tries only the last, which counts
    last: bool = False

    @property
    def is_all(self) -> bool:
        return self == OutcomeFilter()


def select_outcomes(store: StoredRuns, run: RunInfo, wanted: OutcomeFilter) -> Iterator[Outcome]:
    known = [variant.id for variant in run.variants]
    for name in wanted.variants:
        if name not in known:
            raise UnknownNameError("variant of this run", name, known)
    one = wanted.variants[0] if len(wanted.variants) == 1 else None
    found = store.results(run.id, variant=one, case_id=wanted.case_id, tag=wanted.tag)
    is_there = wanted.case_id is None
    for result in last_tries(found, run) if wanted.last else found:
        is_there = True
        if wanted.variants and result.variant not in wanted.variants:
            continue
        concluded = conclude_result(result, run)
        if not wanted.failed or needs_attention(concluded):
            yield concluded
    if not is_there:
        _check_case(store, run, wanted.case_id or "")


def needs_attention(answer: Outcome) -> bool:
    """Whether an answer did not pass, or could not be had or judged."""
    result = answer.result
    if answer.passed is False or result.output.error is not None or result.failures:
        return True
    return answer.passed is None and bool(answer.verdict or answer.outcome or result.checks)


def _check_case(store: StoredRuns, run: RunInfo, case_id: str) -> None:
    """Refuse a case that the run does not have; one without an output yet is there."""
    # Names are collected only after nothing matched, and only from the first answers: a run may
    # have millions.
    known = {progress.key.case_id for progress in islice(store.progress(run.id), _NEAR)}
    if case_id not in known:
        raise UnknownNameError("case of this run", case_id, known)


@dataclass(slots=True)
class ValueColumn:
    """A number of each answer."""

    places: array[int] = field(default_factory=lambda: array("I"))
    # The numbers; nan is missing
    values: array[float] = field(default_factory=lambda: array("d"))
    repeats: array[int] = field(default_factory=lambda: array("H"))

    def add(self, result: CaseResult, value: float | None) -> None:
        self.places.append(result.place)
        # Missing values are kept as nan beside the known ones, for their number belongs to every
        # estimate.
        self.values.append(math.nan if value is None else value)
        self.repeats.append(result.repeat)

    def last(self) -> dict[int, int]:
        """The last repeat of each case, by its place."""
        found: dict[int, int] = {}
        for place, repeat in zip(self.places, self.repeats, strict=True):
            found[place] = max(repeat, found.get(place, 0))
        return found

    def only(self, last: Mapping[int, int]) -> ValueColumn:
        """The answers that are the last of their cases."""
        rows = zip(self.places, self.values, self.repeats, strict=True)
        column = ValueColumn()
        for place, value, repeat in rows:
            if last[place] == repeat:
                column.places.append(place)
                column.values.append(value)
                column.repeats.append(repeat)
        return column

    def mean(self, level: float) -> Estimate:
        """The mean over cases; each counts once, with the mean of its repeats."""
        if all(map(math.isnan, self.values)):
            return undefined_estimate(
                "nothing is known", n=0, method="t with one pseudo-rating", level=level
            )
        # Repeats of a case are not independent: each case counts once, or ten repeats would narrow
        # the interval as ten cases do.
        clusters = self.places if any(self.repeats) else None
        return value_mean(self.values, clusters=clusters, level=level)

    def bounded_mean(self, errors: ValueColumn, level: float) -> Estimate | Rate:
        """The mean; with what it would be if what is missing and all errors were 0, or were 1."""
        found, places = self.mean(level), [*self.places, *errors.places]
        if not found.n_missing and not errors.places:
            return found
        # Answer by answer: the known repeats of a case say nothing of its others.
        values = [*self.values, *[math.nan] * len(errors.places)]
        filled = ([e if math.isnan(v) else v for v in values] for e in (0.0, 1.0))
        worst, best = (fmean(cluster_means(one, places).values()) for one in filled)
        low, high = ((end - found.value) * (1 - best + worst) for end in (found.low, found.high))
        return Rate(
            **carried(found, worst=worst, best=best, worst_low=worst + low, best_high=best + high)
        )

    def rate(self, level: float) -> Rate:
        """The mean of outcomes over cases, as `mean`, with what it would be at worst and best."""
        known = [value for value in self.values if not math.isnan(value)]
        # A clustered interval needs at least one known value; without repeats the exact binomial
        # formulas hold.
        if any(self.repeats) and known:
            return clustered_proportion(self.values, self.places, level=level)
        n_missing = len(self.values) - len(known)
        return proportion(int(math.fsum(known)), len(known), n_missing=n_missing, level=level)

    def case_means(self) -> dict[int, float]:
        """The mean of the known numbers of each case that has one, by its place."""
        known = [(p, v) for p, v in zip(self.places, self.values, strict=True) if not math.isnan(v)]
        if not any(self.repeats):
            return dict(known)
        means = cluster_means([v for _, v in known], [p for p, _ in known])
        return {place: means[place] for place in dict.fromkeys(place for place, _ in known)}

    def n_varying(self) -> int:
        """How many cases have answers with different numbers."""
        if not any(self.repeats):
            return 0
        values_by_place: defaultdict[int, set[float]] = defaultdict(set)
        for place, value in zip(self.places, self.values, strict=True):
            if not math.isnan(value):
                values_by_place[place].add(value)
        return sum(len(values) > 1 for values in values_by_place.values())


@dataclass(slots=True)
class OutcomeGroup:
    """The answers of a tag, a stratum, or all of them."""

    passed: ValueColumn = field(default_factory=ValueColumn)
    value: ValueColumn = field(default_factory=ValueColumn)
    # A 1 for each that is an error
    errors: ValueColumn = field(default_factory=ValueColumn)
    criteria: dict[str, ValueColumn] = field(default_factory=dict)

    def take(self, concluded: Outcome) -> None:
        result = concluded.result
        self.passed.add(result, None if concluded.passed is None else float(concluded.passed))
        if result.output.error is not None:
            self.errors.add(result, 1.0)
            return
        self.value.add(result, concluded.value)
        for criterion in () if concluded.verdict is None else concluded.verdict.criteria:
            column = self.criteria.get(criterion.name)
            if column is None:
                column = self.criteria[criterion.name] = ValueColumn()
            column.add(result, criterion.value)

    def only(self, last: Mapping[int, int]) -> OutcomeGroup:
        """The answers that are the last of their cases."""
        return OutcomeGroup(
            self.passed.only(last),
            self.value.only(last),
            self.errors.only(last),
            last_repeats(self.criteria, last),
        )

    def parts(self, level: float) -> dict[str, object]:
        # nan never equals 1.0 or 0.0, so that undecided answers fall out of both counts.
        outcomes = Counter(self.passed.values)
        n_passed, n_failed = outcomes[1.0], outcomes[0.0]
        n, n_errors = len(self.passed.values), len(self.errors.values)
        return {
            "n_cases": len(set(self.passed.places)),
            "n_answers": n,
            "n_passed": n_passed,
            "n_failed": n_failed,
            "n_undecided": n - n_passed - n_failed - n_errors,
            "n_errors": n_errors,
            "pass_rate": self.passed.rate(level),
            "value": self.value.bounded_mean(self.errors, level),
            "criteria": {
                name: column.bounded_mean(self.errors, level)
                for name, column in self.criteria.items()
            },
        }


def last_repeats(
    columns: Mapping[str, ValueColumn], last: Mapping[int, int]
) -> dict[str, ValueColumn]:
    return {name: column.only(last) for name, column in columns.items()}
