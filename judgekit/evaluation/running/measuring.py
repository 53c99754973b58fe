"""What assertions and scorers find in an output, in a thread of their own where they take long."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.checks.assertions import evaluate_assertions
from judgekit.checks.nearness import reference_text
from judgekit.checks.scoring import score_output
from judgekit.checks.similar import SIMILAR
from judgekit.checks.subjects import text_of
from judgekit.errors import JudgekitError
from judgekit.evaluation.running.quickness import are_quick, is_small

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from judgekit.evaluation.preparing.case_plans import CasePlans
    from judgekit.models.embeddings import Embeddings
    from judgekit.records.case import Case
    from judgekit.records.check import AssertionResult, Score
    from judgekit.records.output import Output

_THREADS = 4
_QUICK_SCORERS = frozenset({"cost", "latency", "tokens"})
_SIMILAR_ONES = frozenset({SIMILAR, f"not-{SIMILAR}"})
_MEMBERS = ("assert", "assertions")


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
    """Carries out the assertions and scorers of a suite and of its cases.

    Args:
        plans: What is to be carried out.
    """

    def __init__(self, plans: CasePlans) -> None:
        self._plans = plans
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="judgekit-checks")
        self._has_quick_suite = are_quick(plans.suite.assertions) and _are_quick_scorers(
            plans.suite_scorers
        )

    async def find(self, case: Case, output: Output) -> Found:
        """Look at one output.

        Args:
            case: What was to be answered.
            output: What was produced.

        Returns:
            What was found; nothing in an output that is an error.

        Raises:
            BudgetExceededError: When there is no money for a vector that is to be compared.
            FrozenCacheError: When a frozen cache lacks one.
            ModelError: When the model of embeddings cannot be asked now.
        """
        if output.error is not None:
            return NOTHING
        if self._is_quick(case, output):
            return self.found(case, output)
        async with AsyncExitStack() as stack:
            for each, texts in self._compared(case, output):
                await stack.enter_async_context(each.holding(texts))
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, self.found, case, output
            )

    def found(self, case: Case, output: Output) -> Found:
        """What assertions and scorers find; models of embeddings must have been asked.

        Args:
            case: What was to be answered.
            output: What was produced.

        Returns:
            What was found.
        """
        plans = self._plans
        specs = [*plans.suite.assertions, *plans.own_checks(case)]
        checks = (
            evaluate_assertions(output, specs, case=case, registry=plans.assertions)
            if specs
            else ()
        )
        return Found(tuple(checks), self._scores(case, output))

    def n_wanted(self, case: Case) -> tuple[int, int]:
        """How many checks and scores there are of an answer to a case.

        Args:
            case: The case.

        Returns:
            Results of assertions, and scores.
        """
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

    def _compared(self, case: Case, output: Output) -> Iterator[tuple[Embeddings, set[str]]]:
        """The texts whose vectors are needed, by the model that is asked for them."""
        plans = self._plans
        if not plans.embeddings:
            return
        wanted: dict[int, tuple[Embeddings, set[str]]] = {}
        scorers = [*plans.suite_scorers, *plans.own_scorers(case)]
        asked = [(s.get("embed"), s, s.get("reference")) for s in scorers]
        own = plans.means.embed
        similar = _similar_specs([*plans.suite.assertions, *plans.own_checks(case)])
        asked += [(own, spec, spec.get("value")) for spec in similar]
        for embed, spec, reference in asked:
            if embed is not None:
                _, texts = wanted.setdefault(id(embed), (embed, set()))  # type: ignore[arg-type]  # it is one
                texts |= _texts(output, case, spec, reference)
        yield from wanted.values()


def _are_quick_scorers(scorers: Iterable[Mapping[str, object]]) -> bool:
    return all(spec.get("type") in _QUICK_SCORERS for spec in scorers)


def _similar_specs(specs: Sequence[object]) -> Iterator[dict[str, object]]:
    """The assertions that compare by similarity, those of groups included."""
    for spec in specs:
        if isinstance(spec, dict):
            if spec.get("type") in _SIMILAR_ONES:
                yield spec
            for name in _MEMBERS:
                members = spec.get(name)
                yield from _similar_specs(members if isinstance(members, list) else ())


def _texts(output: Output, case: Case, spec: Mapping[str, object], reference: object) -> set[str]:
    """The two texts of a comparison; none where there is nothing to compare, which is told then."""
    path = spec.get("path")
    try:
        return {
            text_of(output, path if isinstance(path, str) else None),
            reference_text(reference if isinstance(reference, str) else None, case),
        }
    except JudgekitError:
        return set()
