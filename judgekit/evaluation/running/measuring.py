"""What assertions and scorers find in an output, in a thread of their own where they take long."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.checks.assertions import evaluate_assertions
from judgekit.checks.scoring import score_output
from judgekit.checks.strategies import SIMILARITY
from judgekit.evaluation.running.quickness import are_quick, is_small
from judgekit.evaluation.running.vectors import all_of, comparisons, shares
from judgekit.records.check import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from judgekit.evaluation.preparing.case_plans import CasePlans
    from judgekit.evaluation.running.vectors import Bought, Comparison
    from judgekit.records.case import Case
    from judgekit.records.check import AssertionResult
    from judgekit.records.output import Output

_THREADS = 4
_NOT_YET = "not measured yet"
_QUICK_SCORERS = frozenset({"cost", "latency", "tokens"})


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in one output."""

    checks: tuple[AssertionResult, ...] = ()
    """What the suite's assertions found, then those of the case or of its plan."""

    scores: tuple[Score, ...] = ()
    """What the suite's scorers measured, then those of the plan."""


NOTHING = Found()
"""Where nothing is looked for, or there is no output."""


class Measuring:
    """Carries out the assertions and scorers of a suite and of its cases."""

    def __init__(self, plans: CasePlans) -> None:
        self._plans = plans
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="judgekit-checks")
        self._has_quick_suite = are_quick(plans.suite.assertions) and _are_quick_scorers(
            plans.suite_scorers
        )

    async def find(self, case: Case, output: Output, bought: Bought | None = None) -> Found:
        """Look at one output."""
        if output.error is not None:
            return NOTHING
        if self._is_quick(case, output):
            return self.found(case, output)
        compared = comparisons(self._plans, case, output)
        costs: Bought = {} if bought is None else bought
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

    def found(self, case: Case, output: Output) -> Found:
        """What assertions and scorers find; models of embeddings must have been asked."""
        plans = self._plans
        specs = [*plans.suite.assertions, *plans.own_checks(case)]
        checks = (
            evaluate_assertions(output, specs, case=case, registry=plans.assertions)
            if specs
            else ()
        )
        return Found(tuple(checks), self._scores(case, output))

    def not_yet(self, why: str, bought: Bought, *, at: datetime) -> tuple[Score, ...]:
        """What is kept of an answer that could not be measured, so that no payment is forgotten."""
        asked = all_of(bought)
        if asked is None:
            return ()
        name = next(iter(self._plans.scorer_names), SIMILARITY)
        tried = f"tried {at:%Y-%m-%d %H:%M:%S.%f} UTC"
        return (Score(name=name, error=f"{_NOT_YET}: {why}", message=tried, asked=asked),)

    def n_wanted(self, case: Case) -> tuple[int, int]:
        """How many checks and scores there are of an answer to a case."""
        plans = self._plans
        return (
            len(plans.suite.assertions) + len(plans.own_checks(case)),
            len(plans.suite_scorers) + len(plans.own_scorers(case)),
        )

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _is_quick(self, case: Case, output: Output) -> bool:
        own = self._plans.own_checks(case)
        return (
            self._has_quick_suite
            and is_small(output)
            and (not own or are_quick(own))
            and not self._plans.own_scorers(case)
        )

    def _scores(self, case: Case, output: Output) -> tuple[Score, ...]:
        plans = self._plans
        specs = [*plans.suite_scorers, *plans.own_scorers(case)]
        if not specs:
            return ()
        scores = score_output(output, specs, case=case, registry=plans.scorers).scores
        names = plans.scorer_names
        named = [
            score if score.name == name else score.model_copy(update={"name": name})
            for score, name in zip(scores, names, strict=False)
        ]
        return (*named, *scores[len(names) :])


def is_not_yet(score: Score) -> bool:
    """Whether a score only says that nothing could be measured, and what was paid all the same."""
    return score.error is not None and score.error.startswith(_NOT_YET)


def _with_costs(found: Found, compared: Sequence[Comparison], bought: Bought) -> Found:
    """What was found, with what it took to find it."""
    asked = shares(compared, bought)
    if not asked:
        return found
    checks, scores = list(found.checks), list(found.scores)
    for (kind, place), each in asked.items():
        if kind == "check":
            checks[place] = checks[place].model_copy(update={"asked": each})
        else:
            scores[place] = scores[place].model_copy(update={"asked": each})
    return Found(tuple(checks), tuple(scores))


def _are_quick_scorers(scorers: Iterable[Mapping[str, object]]) -> bool:
    return all(spec.get("type") in _QUICK_SCORERS for spec in scorers)
