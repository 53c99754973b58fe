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
    """Of the outputs of all variants to a case, a judge prefers this one to each of the others.

    Each two outputs are compared blind and in both orders, by what `value` asks for. Without an
    output that is preferred to each of the others, and where an output or a judgment is missing, it
    is undecided. `judge` is the `name` of the suite's judge that compares.
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
    """The scores of the other assertions and criteria are higher than those of all other variants.

    An assertion counts with its value, else with 1 or 0, a criterion with its value; `weights` are
    theirs by type or name, by default 1. The score must also reach `threshold`. Where two have the
    highest score, or a result is missing, it is undecided.
    """
    del output, method, weights, threshold
    raise UndecidedError(PENDING_CHOICE)
