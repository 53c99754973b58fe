"""The scorers: latency, cost and tokens against a budget, and what a judge concluded.

`similarity` is in `text_similarity`, beside the assertions that compare texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from judgekit.assertions.builtin.budgets import Quantity, measure_consumption
from judgekit.assertions.registry import UndecidedError, scorer
from judgekit.records import Finite, Fraction, Score, Verdict

if TYPE_CHECKING:
    from judgekit.records import Output

# An output that uses all of its budget scores 0.
BudgetLimit = Annotated[float, Field(gt=0, allow_inf_nan=False)]

_TOKEN_COUNTS: dict[str, Quantity] = {
    "input": "input_tokens",
    "output": "output_tokens",
    "total": "total_tokens",
}


@scorer("latency")
def latency(output: Output, *, max_ms: BudgetLimit = 60_000.0) -> Score:
    """Score how long making the output took.

    Args:
        output: The output.
        max_ms: The limit in milliseconds; at the limit and above the score is 0.

    Returns:
        `1 - raw / max_ms`, never below 0; `raw` is in milliseconds.

    Raises:
        UndecidedError: It was not measured, or not for every event.
    """
    return _budget_score("latency", output, "latency_ms", max_ms)


@scorer("cost")
def cost(output: Output, *, max_usd: BudgetLimit = 1.0) -> Score:
    """Score what making the output cost.

    Args:
        output: The output.
        max_usd: The limit in US dollars; at the limit and above the score is 0.

    Returns:
        `1 - raw / max_usd`, never below 0; `raw` is in US dollars.

    Raises:
        UndecidedError: It was not measured, or not for every event.
    """
    return _budget_score("cost", output, "cost_usd", max_usd)


@scorer("tokens")
def tokens(
    output: Output,
    *,
    max_tokens: BudgetLimit = 100_000.0,
    count: Literal["input", "output", "total"] = "total",
) -> Score:
    """Score the tokens that making the output took.

    Args:
        output: The output.
        max_tokens: The limit in tokens; at the limit and above the score is 0.
        count: Which tokens count: those sent, those received, or both.

    Returns:
        `1 - raw / max_tokens`, never below 0; `raw` is in tokens.

    Raises:
        UndecidedError: They were not measured, or not for every event.
    """
    return _budget_score("tokens", output, _TOKEN_COUNTS[count], max_tokens)


@scorer("judge")
def judge_score(
    output: Output,  # noqa: ARG001 - every scorer is handed the output
    *,
    verdict: Verdict | None = None,
    value: Fraction | None = None,
    raw: Finite | None = None,
    method: str | None = None,
) -> Score:
    """Score an output by a judge's verdict; no judge is called here.

    Args:
        output: The output.
        verdict: The verdict of the rubric.
        value: The judge's value on [0, 1], where there is no verdict.
        raw: The score on the judge's own scale.
        method: Which judge; None takes the judges and the rubric of the verdict.

    Returns:
        The value as a score.

    Raises:
        UndecidedError: No judge was called, or the verdict is open because judgments are missing.
    """
    # A suite with its own judge passes a value without a verdict.
    if verdict is None:
        if value is None:
            raise UndecidedError("no judge was called")
        return Score(name="judge", value=value, raw=raw, method=method)
    # A missing judgment is not a bad one, so there is no score rather than 0.
    if verdict.value is None:
        why = verdict.error or f"{len(verdict.failures)} judgments are missing"
        raise UndecidedError(f"the verdict is open: {why}")
    judges = ", ".join(dict.fromkeys(j.judge for j in verdict.judgments if j.judge))
    return Score(
        name="judge",
        value=verdict.value,
        raw=verdict.value if raw is None else raw,
        method=method or f"{judges or 'judge'}, rubric {verdict.rubric}",
        message=f"rubric {verdict.rubric}: {verdict.value:.3f}",
    )


def _budget_score(name: str, output: Output, quantity: Quantity, limit: float) -> Score:
    """The share of the budget that is left."""
    found = measure_consumption(output, quantity)
    # A sum over some of the events is a lower bound, and would make the score too good.
    if found.gap is not None:
        raise UndecidedError(f"at least {found.value:.15g} {found.unit}, but {found.gap}")
    return Score(
        name=name,
        value=min(max(1 - found.value / limit, 0.0), 1.0),
        raw=found.value,
        unit=found.unit,
        message=f"{found.value:.15g} of at most {limit:.15g} {found.unit}",
    )
