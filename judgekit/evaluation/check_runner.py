"""Runs the assertions and scorers of one output, and fetches the vectors that they compare."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Literal, TypeVar

from judgekit.assertions import (
    SIMILAR_ASSERTION,
    SIMILARITY,
    evaluate_assertions,
    full_name,
    reference_text,
    score_output,
    text_of,
)
from judgekit.errors import JudgekitError
from judgekit.models import Embeddings
from judgekit.records import AssertionResult, Case, EmbeddingUsage, JsonObject, Output, Score

if TYPE_CHECKING:
    from judgekit.evaluation.case_plans import CasePlans

_FoundT = TypeVar("_FoundT", "AssertionResult", "Score")

_THREADS = 4
_PENDING = "not measured yet"
_QUICK_SCORERS = frozenset({"cost", "latency", "tokens"})


@dataclass(frozen=True, slots=True)
class CheckResults:
    """What was found in one output."""

    # What the suite's assertions found, then those of the case or of its plan
    checks: tuple[AssertionResult, ...] = ()
    # What the suite's scorers measured, then those of the plan
    scores: tuple[Score, ...] = ()


class CheckRunner:
    """Carries out the assertions and scorers of a suite and of its cases."""

    def __init__(self, plans: CasePlans) -> None:
        self._plans = plans
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="judgekit-checks")
        self._has_quick_suite = are_inline_checks(plans.suite.assertions) and all(
            spec.get("type") in _QUICK_SCORERS for spec in plans.suite_scorers
        )

    async def find(
        self, case: Case, output: Output, fetched: FetchedVectors | None = None
    ) -> CheckResults:
        if output.error is not None:
            return CheckResults()
        # Handing these checks to a thread would take longer than carrying them out.
        if self._is_quick(case, output):
            return self.found(case, output)
        compared = vector_comparisons(self._plans, case, output)
        costs: FetchedVectors = {} if fetched is None else fetched
        async with AsyncExitStack() as stack:
            for each in {id(one.embed): one.embed for one in compared}.values():
                own = [one.texts for one in compared if one.embed is each]
                texts = frozenset().union(*own)
                costs[id(each)] = {}
                await stack.enter_async_context(each.holding(texts, costs[id(each)]))
            found = await asyncio.get_running_loop().run_in_executor(
                self._threads, self.found, case, output
            )
        return _with_costs(found, compared, costs)

    def found(self, case: Case, output: Output) -> CheckResults:
        """What assertions and scorers find; models of embeddings must have been asked."""
        plans = self._plans
        checks: Sequence[AssertionResult] = ()
        if specs := plans.every_check(case):
            checks = evaluate_assertions(output, specs, case=case, registry=plans.assertions)
        return CheckResults(tuple(checks), self._scores(case, output))

    def not_yet(self, why: str, fetched: FetchedVectors, *, at: datetime) -> tuple[Score, ...]:
        """What is kept of an answer that could not be measured, so that no payment is forgotten."""
        every = [usage for texts in fetched.values() for usage in texts.values()]
        if not every:
            return ()
        asked = reduce(add, every)
        name = next(iter(self._plans.scorer_names), SIMILARITY)
        tried = f"tried {at:%Y-%m-%d %H:%M:%S.%f} UTC"
        # Vectors were paid for although nothing was measured; the store is the only record of that
        # cost.
        return (Score(name=name, error=f"{_PENDING}: {why}", message=tried, asked=asked),)

    def n_wanted(self, case: Case) -> tuple[int, int]:
        return len(self._plans.every_check(case)), len(self._plans.every_scorer(case))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _is_quick(self, case: Case, output: Output) -> bool:
        own = self._plans.own_checks(case)
        return (
            self._has_quick_suite
            and is_small_output(output)
            and (not own or are_inline_checks(own))
            and not self._plans.own_scorers(case)
        )

    def _scores(self, case: Case, output: Output) -> tuple[Score, ...]:
        plans = self._plans
        specs = plans.every_scorer(case)
        if not specs:
            return ()
        scores = score_output(output, specs, case=case, registry=plans.scorers).scores
        names = plans.scorer_names
        named = [
            score if score.name == name else score.model_copy(update={"name": name})
            for score, name in zip(scores, names, strict=False)
        ]
        return (*named, *scores[len(names) :])


def is_pending_score(score: Score) -> bool:
    """Whether a score only says that nothing could be measured, and what was paid all the same."""
    return score.error is not None and score.error.startswith(_PENDING)


def _with_costs(
    found: CheckResults, compared: Sequence[VectorComparison], fetched: FetchedVectors
) -> CheckResults:
    """What was found, with what it took to find it; what several need, the first one has."""
    # A vector is fetched once and used by several checks; its cost is counted once, or sums would
    # exceed the bill.
    left = {model: dict(texts) for model, texts in fetched.items()}
    asked: dict[tuple[str, int], EmbeddingUsage] = {}
    for one in compared:
        own = left.get(id(one.embed), {})
        for usage in (own.pop(text) for text in sorted(one.texts) if text in own):
            key = (one.kind, one.index)
            asked[key] = asked[key] + usage if key in asked else usage
    if not asked:
        return found
    return CheckResults(
        tuple(_priced(one, asked.get(("check", k))) for k, one in enumerate(found.checks)),
        tuple(_priced(one, asked.get(("score", k))) for k, one in enumerate(found.scores)),
    )


def _priced(found: _FoundT, usage: EmbeddingUsage | None) -> _FoundT:
    return found if usage is None else found.model_copy(update={"asked": usage})


# Assertions that look through an output once; a thread would cost more than they do.
_INLINE_CHECKS = frozenset({
    "behavior.finish_reason", "behavior.no_errors", "behavior.node_executed",
    "behavior.node_invocations.max", "metric.latency_ms.max", "metric.tokens.input.max",
    "metric.tokens.output.max", "metric.tokens.total.max", "metric.total_cost_usd.max",
    "output.contains", "output.equals", "text.char_count", "text.contains", "text.contains_all",
    "text.contains_any", "text.equals", "text.starts_with", "text.word_count", "variants.best",
    "variants.highest_score",
})  # fmt: skip
_LONGEST_TEXT = 20_000
_MOST_EVENTS = 200


def are_inline_checks(assertions: Sequence[JsonObject]) -> bool:
    """Whether all of some assertions are over at once, for an output of an ordinary size."""
    return all(full_name(str(spec.get("type"))) in _INLINE_CHECKS for spec in assertions)


def is_small_output(output: Output) -> bool:
    length = 0 if output.text is None else len(output.text)
    return length <= _LONGEST_TEXT and len(output.trace) <= _MOST_EVENTS and output.data is None


# The usage of each embedded text, by the identity of the model that embedded it.
FetchedVectors = dict[int, dict[str, "EmbeddingUsage"]]
_SIMILAR_ONES = frozenset({SIMILAR_ASSERTION, f"not-{SIMILAR_ASSERTION}"})
_MEMBERS = ("assert", "assertions")


@dataclass(frozen=True, slots=True)
class VectorComparison:
    """Two texts that a check or a scorer compares."""

    kind: Literal["check", "score"]
    index: int
    embed: Embeddings
    # The text in the output; None where there is none, and the check reports that
    text: str | None
    reference: str | None

    @property
    def texts(self) -> frozenset[str]:
        """The texts whose vectors are needed; none where there is nothing to compare."""
        if self.text is None or self.reference is None:
            return frozenset()
        return frozenset({self.text, self.reference})


def vector_comparisons(plans: CasePlans, case: Case, output: Output) -> list[VectorComparison]:
    """What is compared by vectors in an answer, scorers first."""
    if not plans.embeddings:
        return []
    found: list[VectorComparison] = []

    def take(
        kind: Literal["check", "score"], place: int, embed: object, path: object, reference: object
    ) -> None:
        if isinstance(embed, Embeddings):
            text = other = None
            with suppress(JudgekitError):
                text = text_of(output, path if isinstance(path, str) else None)
            with suppress(JudgekitError):
                other = reference_text(reference if isinstance(reference, str) else None, case)
            found.append(VectorComparison(kind, place, embed, text, other))

    for place, spec in enumerate(plans.every_scorer(case)):
        take("score", place, spec.get("embed"), spec.get("path"), spec.get("reference"))
    for place, whole in enumerate(plans.every_check(case)):
        for check in _similar_specs([whole]):
            take("check", place, plans.means.embed, check.get("path"), check.get("value"))
    return found


def _similar_specs(specs: Sequence[object]) -> Iterator[dict[str, object]]:
    for spec in specs:
        if isinstance(spec, dict):
            if spec.get("type") in _SIMILAR_ONES:
                yield spec
            for name in _MEMBERS:
                members = spec.get(name)
                yield from _similar_specs(members if isinstance(members, list) else ())
