"""Assertions that one variant of a case passes and the others fail; a run decides them.

`judgekit.evaluation.variant_choice` does, once the outputs of all variants are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from judgekit.assertions.registry import UndecidedError, assertion
from judgekit.records import AssertionResult, Name, Output, Weight

PENDING_CHOICE = "the outputs of the variants were not compared yet"
"""How the error of an assertion begins that a run has not decided yet; outside of runs none is."""
JUDGED_CHOICE = "variants.best"


@assertion(JUDGED_CHOICE)
def best_of_variants(output: Output, *, value: Name, judge: Name | None = None) -> AssertionResult:
    """Pass when a judge prefers the output to that of each other variant, in both orders.

    Args:
        value: What is asked for, such as `the shortest reply`.
        judge: The `name` of the suite's judge that compares; left out, all without a name do.
    """
    del output, value, judge
    raise UndecidedError(PENDING_CHOICE)


@assertion("variants.highest_score")
def highest_score_of_variants(
    output: Output,
    *,
    method: Literal["average", "sum"] = "average",
    weights: Mapping[str, Weight] | None = None,
    threshold: float | None = None,
) -> AssertionResult:
    """Pass when the other assertions and criteria score higher than for each other variant.

    Args:
        method: How the scores are combined.
        weights: The weight of each score, by the type of its assertion or the name of its
            criterion; 1 for those that are not named.
        threshold: What the score must reach, too.
    """
    del output, method, weights, threshold
    raise UndecidedError(PENDING_CHOICE)
