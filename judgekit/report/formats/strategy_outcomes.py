"""What is told of an answer beside its conclusion: what judges said, and what only checks say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.figures.strategy_outcomes import judges_feedback

if TYPE_CHECKING:
    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.check import AssertionResult
    from judgekit.records.run import CaseResult


def feedback(answer: Concluded) -> str:
    """What the judges said of an answer."""
    return judges_feedback(answer.result)


def unsaid_checks(result: CaseResult) -> tuple[AssertionResult, ...]:
    """What assertions found that no judgment says already."""
    said = {one.rationale for one in result.judgments if one.source == "heuristic"}
    return tuple(check for check in result.checks if check.message not in said)
