"""What the observations of one answer come to: its verdict, its value and whether it passes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.checks.scorers.judge import judge
from judgekit.datasets.suite import scorer_name
from judgekit.errors import InputError, JudgekitError
from judgekit.evaluation.figures.strategy_outcomes import (
    n_suite_scores,
    strategy_outcome,
    suite_checks,
)
from judgekit.evaluation.preparing.case_plans import JUDGE, OVERALL, plan_of, weights_of
from judgekit.judge.confidence import with_repeat_confidence
from judgekit.records.check import Score
from judgekit.records.output import Output
from judgekit.records.rubric import Rubric
from judgekit.verdicts import checked_value, conclude, decide, decide_strategy
from judgekit.verdicts.calibrating import apply_calibration
from judgekit.verdicts.combining import weighted_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.checks.outcomes import StrategyOutcome
    from judgekit.checks.strategies import EvaluationPlan
    from judgekit.records.judgment import Judgment
    from judgekit.records.record import JsonObject
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.records.verdict import Verdict

_NO_OUTPUT = Output(text="")
"""The scorer of the judge looks at the verdict alone."""


@dataclass(frozen=True, slots=True)
class Concluded:
    """One answer of a run and what it comes to."""

    result: CaseResult
    """What was observed."""

    verdict: Verdict | None
    """What the rubric concludes; None where no rubric was asked."""

    value: float | None
    """That of its strategy where the case has one; else the rubric's, or without a rubric the
    weighted share of assertions that hold; None where that is not known."""

    passed: bool | None
    """Whether the rubric or the strategy passes it and every assertion holds; None where that is
    undecided."""

    outcome: StrategyOutcome | None = None
    """What its strategy comes to; None where the case has none, or there is no output."""

    scores: tuple[Score, ...] = ()
    """What the suite's scorers measured, and the judge's score where the suite wants it, in the
    suite's order."""

    overall: float | None = None
    """The weighted mean of the scores that have a value; None where none has."""


def conclude_result(result: CaseResult, run: RunInfo) -> Concluded:
    """What one answer of a run comes to."""
    plan = _plan(result, run)
    verdict = None if plan is not None and not plan.asks_judge else _verdict(result, run)
    if result.output.error is not None:
        return Concluded(result, verdict, None, None)
    scores, overall = _scores(result, run, verdict)
    if plan is None:
        value = checked_value(result.checks) if verdict is None else verdict.value
        passed = decide(verdict, result.checks)
        return Concluded(result, verdict, value, passed, None, scores, overall)
    outcome = strategy_outcome(plan, result, run, verdict)
    passed = decide_strategy(suite_checks(result, run), passed=outcome.passed)
    return Concluded(result, verdict, outcome.value, passed, outcome, scores, overall)


def all_scores(concluded: Concluded) -> dict[str, float | None]:
    """The scores of an answer by their names, with the overall one where there are several."""
    found = {score.name: score.value for score in concluded.scores}
    return {**found, OVERALL: concluded.overall} if len(found) > 1 else found


def _plan(result: CaseResult, run: RunInfo) -> EvaluationPlan | None:
    """The plan of a case; None also where it lacks what its strategy compares with."""
    profile = run.config.get("profile")
    try:
        return plan_of(result.case, profile if isinstance(profile, str) else None, run.rubric)
    except InputError:  # no run is begun with such a case, but other files hold them
        return None


def _verdict(result: CaseResult, run: RunInfo) -> Verdict | None:
    rubric = result.case.rubric if isinstance(result.case.rubric, Rubric) else run.rubric
    if rubric is None or not run.panel.judges:
        return None
    verdict = conclude(
        rubric,
        _with_confidence(result.judgments),
        result.failures,
        case_id=result.case.id,
        variant=result.variant,
        error=result.output.error,
        panel=run.panel,
    )
    use = run.calibration
    return verdict if use is None else apply_calibration(verdict, rubric, use, panel=run.panel)


def _scores(
    result: CaseResult, run: RunInfo, verdict: Verdict | None
) -> tuple[tuple[Score, ...], float | None]:
    """The scores of the suite's own scorers, the judge's out of the verdict, and their mean."""
    given = run.config.get("scorers")
    if not isinstance(given, list) or not given:
        return (), None
    specs = [spec for spec in given if isinstance(spec, dict)]
    measured = iter(result.scores[: n_suite_scores(run)])
    found: list[Score] = []
    for spec in specs:
        score = _judged(verdict, spec) if spec.get("type") == JUDGE else next(measured, None)
        if score is not None:
            found.append(score)
    weights = weights_of(specs)
    known = [(weights[one.name], one.value) for one in found if one.value is not None]
    return tuple(found), weighted_mean(known) if known else None


def _judged(verdict: Verdict | None, spec: JsonObject) -> Score:
    name = scorer_name(spec)
    try:
        return judge(_NO_OUTPUT, verdict=verdict).model_copy(update={"name": name})
    except JudgekitError as error:
        return Score(name=name, error=str(error))


def _with_confidence(judgments: Sequence[Judgment]) -> list[Judgment]:
    """Judgments with the agreement of repeats, judge by judge."""
    if not any(judgment.repeat for judgment in judgments):
        return list(judgments)
    by_judge: defaultdict[str, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        by_judge[judgment.judge].append(judgment)
    return [one for group in by_judge.values() for one in with_repeat_confidence(group)]
