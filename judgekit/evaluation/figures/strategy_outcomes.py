"""What an answer comes to under its case's strategy, from what was observed in the run (S4.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.checks.assertions import evaluate_assertions
from judgekit.checks.outcomes import combine
from judgekit.checks.strategies import SIMILARITY
from judgekit.evaluation.preparing.case_plans import JUDGE
from judgekit.records.check import AssertionResult, Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    from judgekit.checks.outcomes import StrategyOutcome
    from judgekit.checks.strategies import EvaluationPlan
    from judgekit.records.record import JsonObject
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.records.verdict import Verdict

_NEVER_ASKED = "it was not checked in this run"


def strategy_outcome(
    plan: EvaluationPlan, result: CaseResult, run: RunInfo, verdict: Verdict | None
) -> StrategyOutcome:
    """What an answer comes to under its plan."""
    # What the run observed is used as it is. In a run that was made before cases had plans, a
    # comparison with the case's reference, which is the same whenever it is made, is made now; what
    # was not observed stays open.
    return combine(
        plan,
        _checks(plan, result, run),
        _scores(plan, result, run),
        None if verdict is None else verdict.value,
        judged_passed=None if verdict is None else verdict.passed,
        judged_feedback=None if verdict is None else judges_feedback(result) or None,
    )


def suite_checks(result: CaseResult, run: RunInfo) -> tuple[AssertionResult, ...]:
    """What the suite's own assertions found, which hold for every case."""
    return result.checks[: _n_given(run, "assertions")]


def judges_feedback(result: CaseResult) -> str:
    """What the judges said of an answer."""
    said = [f"{one.criterion}: {one.rationale}" for one in result.judgments]
    said += [f"{one.criterion}: no judgment: {one.message}" for one in result.failures]
    return "\n".join(said)


def n_suite_scores(run: RunInfo) -> int:
    """How many of an answer's scores are those of the suite's own scorers."""
    given = run.config.get("scorers")
    rows = given if isinstance(given, list) else []
    return sum(not (isinstance(row, dict) and row.get("type") == JUDGE) for row in rows)


def _n_given(run: RunInfo, name: str) -> int:
    given = run.config.get(name)
    return len(given) if isinstance(given, list) else 0


def _observed(
    specs: Sequence[Mapping[str, JsonValue]], result: CaseResult, run: RunInfo
) -> list[AssertionResult] | None:
    """The results of a list of assertions, where the run observed exactly these."""
    found = list(result.checks[_n_given(run, "assertions") :])
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
            del pairs[place]
            return found
    if spec.get("type") == "equals":
        return evaluate_assertions(result.output, [spec], case=result.case)[0]
    name = str(spec.get("type"))
    return AssertionResult(passed=None, type=name, message=_NEVER_ASKED, error=_NEVER_ASKED)


def _scores(plan: EvaluationPlan, result: CaseResult, run: RunInfo) -> list[Score]:
    """The similarities that the plan wants: as scores, or as the assertions found them."""
    known = [*result.scores[n_suite_scores(run) :]]
    if known or not plan.scorers:
        return known
    own = _observed(result.case.assertions, result, run) or []
    return [
        Score(name=SIMILARITY, value=found.value, message=found.message)
        for found in own
        if found.type == "similar" and found.value is not None
    ]
