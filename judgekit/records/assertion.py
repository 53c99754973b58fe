"""The records of deterministic checks: assertion results and scores.

`judgekit.assertions` computes them.
"""

from __future__ import annotations

from typing import Self

from pydantic import JsonValue, model_validator

from judgekit.records.record import Count, Finite, Fraction, Name, Record, Weight

JUDGE_SCORER = "judge"
"""The scorer that is worked out of the verdict, so that it is no observation."""

OVERALL_SCORE = "overall"
"""What the weighted mean of a suite's scores is called."""


class EmbeddingUsage(Record):
    """The calls of a check or a scorer, and their cost: for embeddings, or to compare outputs."""

    n_calls: Count = 0
    n_owned: Count = 0
    input_tokens: Count = 0
    cost_usd: Finite | None = None
    """Cost of the calls in US dollars: 0 without calls, None when unknown."""

    saved_usd: Finite = 0.0
    """What the cached replies cost when they were fetched, in US dollars, as far as known."""

    def __add__(self, other: EmbeddingUsage) -> EmbeddingUsage:
        """Both together."""
        costs = (self.cost_usd, other.cost_usd)
        return EmbeddingUsage(
            n_calls=self.n_calls + other.n_calls,
            n_owned=self.n_owned + other.n_owned,
            input_tokens=self.input_tokens + other.input_tokens,
            cost_usd=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
            saved_usd=self.saved_usd + other.saved_usd,
        )


class AssertionResult(Record):
    """The result of one assertion; one that could not be evaluated neither passes nor fails."""

    passed: bool | None = None
    """Whether it holds; None where it could not be evaluated (see `error`)."""

    actual: JsonValue = None
    message: Name
    """Why it passed or failed, worded so that a reader can act on it."""

    type: str = ""
    """The assertion's name, such as `output.contains`; filled in by the caller."""

    value: Fraction | None = None
    """The degree to which it holds, on [0, 1], where there is one (a group, a similarity)."""

    weight: Weight = 1.0
    error: str | None = None
    """Why it could not be evaluated; also when the assertion is negated."""

    parts: tuple[AssertionResult, ...] = ()
    asked: EmbeddingUsage | None = None
    """Its calls for embeddings, or to compare outputs; those shared by several are counted with the
    first."""

    @model_validator(mode="after")
    def _is_decided_or_an_error(self) -> Self:
        if (self.passed is None) != (self.error is not None):
            # A result that is neither would be counted by some readers and left out by others.
            raise ValueError("an assertion either holds or not, or has an error: one of the two")
        return self


class Score(Record):
    """One deterministic number about an output."""

    name: Name
    """Name of the scorer: `latency`, `cost`, `tokens`, `similarity`, `judge`, or a plug-in's."""

    value: Fraction | None = None
    """The score on [0, 1]; None where it could not be measured (see `error`)."""

    raw: Finite | None = None
    unit: str | None = None
    """The unit of `raw`: `ms`, `usd`, `tokens`, …."""

    method: str | None = None
    message: str = ""
    error: str | None = None
    asked: EmbeddingUsage | None = None
    """Its embedding calls; calls shared by several are counted with the first."""

    @model_validator(mode="after")
    def _has_a_value_or_an_error(self) -> Self:
        if (self.value is None) != (self.error is not None):
            # A score of 0 for what was not measured would look like a bad output.
            raise ValueError("a score has a value or an error: one of the two")
        return self


class ScoreBreakdown(Record):
    """Several scores of one output and their weighted mean."""

    overall: Fraction | None = None
    """Weighted mean of the scores that have a value; None where none has."""

    scores: tuple[Score, ...]
