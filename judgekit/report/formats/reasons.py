"""Says why an answer does not pass, in lines a person can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report.formats.strategy_outcomes import unsaid_checks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.evaluation.figures.concluding import Concluded


def reasons(answer: Concluded) -> list[str]:
    """Why an answer does not pass, or may not: assertions, then judges, else its strategy."""
    said = [*_checked(answer), *_judged(answer)]
    if not said and answer.passed is False and answer.outcome is not None:
        return [answer.outcome.feedback]
    return said


def _checked(answer: Concluded) -> Iterator[str]:
    for check in unsaid_checks(answer.result):
        if check.passed is not True:
            state = "failed" if check.passed is False else "could not be checked"
            yield f"{check.type or 'assertion'} {state}: {check.message}"


def _judged(answer: Concluded) -> Iterator[str]:
    if answer.passed is False and answer.verdict is not None:
        for criterion in answer.verdict.criteria:
            if criterion.passed is False:
                must = ", required" if criterion.required else ""
                yield f"{criterion.name} {criterion.value:.3f} is below its pass mark{must}"
                yield from _rationales(criterion.name, answer)
    yield from (f"{one.criterion}: {one.kind}: {one.message}" for one in answer.result.failures)


def _rationales(criterion: str, answer: Concluded) -> Iterator[str]:
    for judgment in answer.result.judgments:
        if judgment.criterion == criterion:
            yield f"  {judgment.judge or judgment.source}: {judgment.rationale}"
