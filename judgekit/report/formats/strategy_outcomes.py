"""What is told of an answer beside its conclusion: what judges said, and what only checks say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.figures.strategy_outcomes import judges_feedback

if TYPE_CHECKING:
    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.check import AssertionResult
    from judgekit.records.run import CaseResult


def feedback(answer: Concluded) -> str:
    """What the judges said of an answer.

    Args:
        answer: The answer.

    Returns:
        Every rationale with its criterion, and why a judgment is missing; empty for none.
    """
    return judges_feedback(answer.result)


def unsaid_checks(result: CaseResult) -> tuple[AssertionResult, ...]:
    """What assertions found that no judgment says already.

    Args:
        result: An answer.

    Returns:
        Its checks, without those that the judge `heuristic` made judgments of.
    """
    said = {one.rationale for one in result.judgments if one.source == "heuristic"}
    return tuple(check for check in result.checks if check.message not in said)
