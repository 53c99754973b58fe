"""Combines assertion results, scores and the judge's verdict of a case into one outcome (S4.5).

The plan they were carried out under is made in `strategies`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum
from operator import itemgetter
from typing import TYPE_CHECKING

from judgekit.assertions.runner import weight_shares
from judgekit.records import meets_threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.assertions.strategies import EvaluationPlan, PlannedPart
    from judgekit.records import AssertionResult, EvaluationStrategy, Score


@dataclass(frozen=True, slots=True)
class PartOutcome:
    """What one strategy comes to."""

    strategy: EvaluationStrategy
    """The strategy."""

    weight: float
    """Its weight."""

    value: float | None
    """Its value on [0, 1]; None where it is not known."""

    passed: bool | None
    """Whether it passes; None where that is not known."""

    message: str
    """Why."""


@dataclass(frozen=True, slots=True)
class StrategyOutcome:
    """What the evaluation of one output comes to."""

    strategy: EvaluationStrategy | None
    """The strategy; None where only assertions were checked."""

    value: float | None
    """The value on [0, 1]; None where a part that counts is not known."""

    passed: bool | None
    """Whether the output passes; None where what is not known could decide it either way."""

    parts: tuple[PartOutcome, ...]
    """What each strategy that takes part comes to."""

    feedback: str
    """Why, in words."""

    matched_patterns: tuple[str, ...] = ()
    """The patterns of `regex_match` that were found."""

    schema_errors: tuple[str, ...] = ()
    """What violates the schema of `json_schema`."""


def combine_outcomes(
    plan: EvaluationPlan,
    checks: Sequence[AssertionResult],
    scores: Sequence[Score],
    judged_value: float | None,
    *,
    judged_passed: bool | None = None,
    judged_feedback: str | None = None,
) -> StrategyOutcome:
    """What was found under a plan comes to."""
    # What is missing is never counted as 0: the value is None, and it passes or fails only where it
    # would do so whatever the missing parts were.
    if len(checks) != len(plan.assertions):
        raise ValueError(f"{len(checks)} results for {len(plan.assertions)} assertions")
    judged = (judged_value, judged_passed, judged_feedback)
    parts = tuple(_outcome(part, checks, scores, judged) for part in plan.parts)
    guards = [checks[place] for place in plan.guards]
    # Guards have no weight beside a strategy: they can only fail the case.
    value = _mean_of_parts(parts) if parts else _assertion_share(guards)
    held = _all_passed([guard.passed for guard in guards if guard.weight > 0])
    passed = _all_passed([_passed(plan, parts), held]) if parts else held
    return StrategyOutcome(
        strategy=plan.strategy,
        value=value,
        passed=passed,
        parts=parts,
        feedback=_feedback(parts, guards),
        matched_patterns=_matched(plan, checks),
        schema_errors=_schema_errors(plan, checks),
    )


def _outcome(
    part: PlannedPart,
    checks: Sequence[AssertionResult],
    scores: Sequence[Score],
    judged: tuple[float | None, bool | None, str | None],
) -> PartOutcome:
    if part.strategy == "llm_judge":
        value, passed, said = judged
        if passed is None:
            passed = _reaches(value, part.threshold)
        message = said or ("the judge gave no verdict" if value is None else _valued(value, part))
        return PartOutcome(part.strategy, part.weight, value, passed, message)
    if part.scorers:
        return _scored_part(part, scores)
    found = [checks[place] for place in part.checks]
    passed = _all_passed([one.passed for one in found])
    value = None if passed is None else float(passed)
    graded = [one.value for one in found if one.value is not None]
    # Of several scripts the worst counts, as every one must pass.
    if graded and passed is not None and part.strategy == "custom":
        value = min(graded)
    message = "; ".join(one.message for one in found if one.passed is not True)
    message = message or "; ".join(one.message for one in found)
    return PartOutcome(part.strategy, part.weight, value, passed, message)


def _scored_part(part: PlannedPart, scores: Sequence[Score]) -> PartOutcome:
    """The least of its scores, where all are there."""
    found = [scores[place] for place in part.scorers if place < len(scores)]
    known = [score.value for score in found if score.value is not None]
    if len(known) < len(part.scorers):
        errors = [score.error for score in found if score.error is not None]
        message = "; ".join(errors) or "the similarity was not measured"
        return PartOutcome(part.strategy, part.weight, None, None, message)
    limits = part.thresholds or (part.threshold,) * len(known)
    held = [(value, replace(part, threshold=t)) for value, t in zip(known, limits, strict=True)]
    passed = _all_passed([_reaches(value, each.threshold) for value, each in held])
    missed = [
        pair for pair in held if part.thresholds and _reaches(pair[0], pair[1].threshold) is False
    ]
    said = "; ".join(_valued(*pair) for pair in missed or [min(held, key=itemgetter(0))])
    message = f"{said}{f' ({found[0].method})' if found[0].method else ''}"
    return PartOutcome(part.strategy, part.weight, min(known), passed, message)


def _passed(plan: EvaluationPlan, parts: Sequence[PartOutcome]) -> bool | None:
    """Of one part its own; of a hybrid evaluation the threshold's, where the bounds agree."""
    if plan.strategy != "hybrid":
        return parts[0].passed
    weighed = _weighed(parts)
    # What is missing is taken as 0 and as 1; only if both agree is the outcome known.
    known = fsum(share * part.value for part, share in weighed if part.value is not None)
    open_ = fsum(share for part, share in weighed if part.value is None)
    at_worst, at_best = _reaches(known, plan.threshold), _reaches(known + open_, plan.threshold)
    return at_worst if at_worst == at_best else None


def _mean_of_parts(parts: Sequence[PartOutcome]) -> float | None:
    # A mean without the missing parts would be the mean of something else.
    if any(part.value is None for part in parts):
        return None
    return min(1.0, fsum(share * (part.value or 0.0) for part, share in _weighed(parts)))


def _weighed(parts: Sequence[PartOutcome]) -> list[tuple[PartOutcome, float]]:
    return list(zip(parts, weight_shares([part.weight for part in parts]), strict=True))


def _assertion_share(guards: Sequence[AssertionResult]) -> float | None:
    """The share of the weight that passed, where only assertions are checked."""
    parts = weight_shares([guard.weight for guard in guards])
    if not any(parts) or any(guard.passed is None for guard in guards if guard.weight > 0):
        return None
    weighed = zip(guards, parts, strict=True)
    return min(1.0, fsum(share for guard, share in weighed if guard.passed))


def _all_passed(passed: Sequence[bool | None]) -> bool | None:
    if False in passed:
        return False
    return None if None in passed else True


def _reaches(value: float | None, threshold: float | None) -> bool | None:
    return None if value is None or threshold is None else meets_threshold(value, threshold)


def _valued(value: float, part: PlannedPart) -> str:
    what = "the judge gives" if part.strategy == "llm_judge" else "the similarity is"
    wanted = "" if part.threshold is None else f", {part.threshold:g} wanted"
    return f"{what} {value:.3g}{wanted}"


def _feedback(parts: Sequence[PartOutcome], guards: Sequence[AssertionResult]) -> str:
    said = [
        part.message if len(parts) == 1 else f"{part.strategy}: {part.message}" for part in parts
    ]
    said += [guard.message for guard in guards if guard.passed is not True]
    return "; ".join(said) or "; ".join(guard.message for guard in guards)


def _matched(plan: EvaluationPlan, checks: Sequence[AssertionResult]) -> tuple[str, ...]:
    places = _places(plan, "regex_match")
    return tuple(str(plan.assertions[p].get("value")) for p in places if checks[p].passed)


def _schema_errors(plan: EvaluationPlan, checks: Sequence[AssertionResult]) -> tuple[str, ...]:
    failed = [checks[p] for p in _places(plan, "json_schema") if checks[p].passed is not True]
    return tuple(one.message for one in failed)


def _places(plan: EvaluationPlan, strategy: EvaluationStrategy) -> list[int]:
    return [place for part in plan.parts if part.strategy == strategy for place in part.checks]
