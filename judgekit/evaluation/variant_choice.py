"""Decides the assertions that compare the outputs of all variants to a case (`variants.…`).

`runner` calls it once every answer is there; two outputs are compared as `judgekit compare` does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import combinations, groupby, product
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, cast

from judgekit.assertions import PENDING_CHOICE, compares_variants
from judgekit.evaluation.case_checks import BEST_CRITERION, choice_rubric
from judgekit.evaluation.outcome import conclude_result
from judgekit.evaluation.pairing import OutputPair, compare_in_order, pair_question
from judgekit.evaluation.usage import judge_usage
from judgekit.evaluation.worker import ObservationWriter
from judgekit.judge import PairJudge, gather_in_order
from judgekit.records import (
    VALUE_TOLERANCE,
    AssertionResult,
    EmbeddingUsage,
    Observation,
    Output,
    meets_threshold,
)

if TYPE_CHECKING:
    from judgekit.evaluation.session import OpenSuite, Session
    from judgekit.judge import Comparer, Judge, JudgeQuestion
    from judgekit.records import Case, CaseResult, Comparison, ItemKey, JsonObject, Rubric, RunInfo
    from judgekit.store import RunStore

_FEWEST = 2
_NUMBER = re.compile(r"-\d+$")
# The result of an assertion for one variant, as fields of its record.
_Found = dict[str, object]


class _ChoosingJudges(PairJudge):
    def __init__(self, opened: OpenSuite, rubric: Rubric) -> None:
        panel, blind = opened.judges.panel, opened.suite.compare
        self.asked: list[tuple[Judge, Comparer]] = [
            (
                judge,
                replace(
                    judge.comparer,
                    # Of one criterion the overall preference is the same question again.
                    asks_overall=False,
                    scrubs=blind.scrub,
                    draws_labels=blind.draw_labels,
                    seed=blind.seed,
                    rule=blind.rule,
                ),
            )
            for judge in opened.judges.judges
            if panel.rubric_of(judge.id, rubric).criteria
        ]
        named = ((one.id, one.model, *one.model_by_node.values()) for one in opened.variants)
        # What would give a variant away in an output.
        self.names = {str(name) for names in named for name in names if name}

    def _comparers(self) -> Sequence[Comparer]:
        return [comparer for _, comparer in self.asked]


def choice_questions(
    opened: OpenSuite, case: Case, outputs: Mapping[str, Output | None]
) -> Iterator[tuple[Judge, JudgeQuestion, tuple[str, ...]]]:
    """The questions of judges about the outputs of a case, with the variants of unknown ones."""
    # Each placeholder is another text, or nobody would be asked about two of them.
    shown = {
        name: output or Output(text=f"output {place}", variant=name)
        for place, (name, output) in enumerate(outputs.items())
    }
    if any(output.error is not None for output in shown.values()):
        return
    for _, spec in opened.plans.variant_checks(case):
        if (rubric := choice_rubric(spec)) is None:
            continue
        judges = _ChoosingJudges(opened, rubric)
        for (judge, comparer), (a, b) in product(judges.asked, [*combinations(shown, 2)]):
            unread = tuple(name for name in (a, b) if outputs[name] is None)
            pair = comparer.blind_pair(shown[a], shown[b], judges.names)
            for question in comparer.questions(case, pair, rubric):
                yield judge, question, unread


class VariantChooser:
    """Compares the answers of a run, case by case, where an assertion wants it."""

    def __init__(
        self,
        opened: OpenSuite,
        store: RunStore,
        run: RunInfo,
        session: Session,
        stop_at: Callable[[str, str], None],
    ) -> None:
        self._opened, self._store, self._run, self._session = opened, store, run, session
        self._stop_at = stop_at

    async def go(self, unfinished: Collection[ItemKey], *, in_flight: int) -> bool:
        """Decide every case whose answers are whole; whether all of them were taken up."""
        groups = self._groups(unfinished)

        async def work() -> bool:
            while not self._session.stop.is_set():
                if (group := next(groups, None)) is None:
                    return True
                for done in [keeper.put(one) for one in await self._chosen(group)]:
                    await done
            return False

        async with ObservationWriter(self._store, self._run.id) as keeper:
            return all(await gather_in_order([work() for _ in range(in_flight)]))

    def _groups(self, unfinished: Collection[ItemKey]) -> Iterator[list[CaseResult]]:
        """The answers to each case, where the choice among them is open."""
        results = self._store.results(self._run.id)
        for _, of_case in groupby(results, key=lambda one: one.place):
            by_repeat: defaultdict[int, list[CaseResult]] = defaultdict(list)
            for one in of_case:
                by_repeat[one.repeat if self._run.repeats > 1 else 0].append(one)
            for group in by_repeat.values():
                is_open = not all(one.is_done for one in group)
                if is_open and not any(one.key in unfinished for one in group):
                    yield group

    async def _chosen(self, tries: Sequence[CaseResult]) -> list[Observation]:
        # Of several tries the last one is compared.
        last = {one.variant: one for one in tries}
        group = [*last.values()]
        is_done, checks = True, {one.variant: [*one.checks] for one in group}
        why_not = self._why_not(group)
        for place, spec in self._opened.plans.variant_checks(group[0].case):
            own = {name: listed[place] for name, listed in checks.items() if listed}
            if why_not is not None:
                found = dict.fromkeys(own, _found(None, why_not))
            elif (rubric := choice_rubric(spec)) is None:
                found = self._highest(group, spec)
            # Those that were compared in an earlier session are not compared again.
            elif any((one.error or "").startswith(PENDING_CHOICE) for one in own.values()):
                found, is_known = await self._best(group, rubric)
                is_done = is_done and is_known
            else:
                continue
            for name, one in own.items():
                checks[name][place] = one.model_copy(update=found[name])
        settled = partial(Observation, at=self._session.now(), is_done=is_done)
        return [
            settled(
                key=one.key,
                place=one.place,
                checks=checks[one.variant] if one is last[one.variant] else one.checks,
            )
            for one in tries
        ]

    def _why_not(self, group: Sequence[CaseResult]) -> str | None:
        case, got = group[0].case, {one.variant for one in group if one.output.error is None}
        wanted = [one.id for one in self._opened.variants if case.is_answered_by(one.id)]
        if len(wanted) < _FEWEST:
            return "only one variant answers the case, so that there is nothing to compare"
        lacking = ", ".join(name for name in wanted if name not in got)
        return f"not compared, because an output is missing: {lacking}" if lacking else None

    async def _best(
        self, group: Sequence[CaseResult], rubric: Rubric
    ) -> tuple[dict[str, _Found], bool]:
        """What the judges prefer, and whether no judgment is missing that could decide."""
        judges = _ChoosingJudges(self._opened, rubric)
        pairs = [
            OutputPair(a.case, a.output, b.output, a.repeat) for a, b in combinations(group, 2)
        ]
        ask = pair_question(judges, rubric, judges.names)
        judged = compare_in_order(pairs, ask, stop=self._session.stop)
        async with aclosing(judged) as answers:
            compared = [one.comparison async for one in answers]
        failures = [failure for one in compared for failure in one.failures]
        for failure in failures:
            self._stop_at(failure.kind, failure.message)
        self._session.n_missed += any(failure.kind == "frozen_miss" for failure in failures)
        names = [one.variant for one in group]
        parts = {name: tuple(_parts(compared, name)) for name in names}
        won = [name for name in names if all(part.passed for part in parts[name])]
        # With one that is preferred to each other, nothing that is missing can change that.
        has_all = len(compared) == len(pairs)
        is_known = has_all and (bool(won) or all(map(_winner, compared)))
        if is_known and won:
            words = f"{won[0]} is preferred to each of the others"
            found = {name: _found(name == won[0], words) for name in names}
        else:
            why = "no output is preferred to each of the others"
            if not is_known:
                why = f"{PENDING_CHOICE}: {failures[0].message if failures else 'not asked'}"
            found = {name: _found(None, why) for name in names}
        # The calls are shared by the answers, and counted once.
        found[names[0]]["asked"] = _usage(compared)
        if not is_known:
            # Each try has its own record, so that none that was paid for is forgotten.
            tried = f"{PENDING_CHOICE} (tried {self._session.now():%Y-%m-%d %H:%M:%S.%f} UTC)"
            found[names[0]]["message"] = tried
        return {name: {**one, "parts": parts[name]} for name, one in found.items()}, is_known

    def _highest(self, group: Sequence[CaseResult], spec: JsonObject) -> dict[str, _Found]:
        """Whose other assertions and criteria have the highest scores."""
        weights = cast("Mapping[str, float]", spec.get("weights") or {})
        totals: dict[str, float] = {}
        for one in group:
            # A second criterion of one name is `name-2`.
            known = [
                (weights.get(n, weights.get(_NUMBER.sub("", n), 1.0)), v)
                for n, v in self._scores(one)
            ]
            if not known or any(isnan(value) for _, value in known):
                why = f"not compared, because a score is missing: {one.variant}"
                return {each.variant: _found(None, why) for each in group}
            total, weight = fsum(w * v for w, v in known), fsum(w for w, _ in known)
            is_sum = spec.get("method") == "sum" or not weight
            totals[one.variant] = total if is_sum else total / weight
        most = max(totals.values())
        first = [name for name, total in totals.items() if total >= most - VALUE_TOLERANCE]
        words = f"the highest score is {most:.3g}: {', '.join(first)}"
        if not meets_threshold(most, cast("float", spec.get("threshold") or 0.0)):
            return {name: _found(False, f"{words}; it is below the threshold") for name in totals}
        if len(first) > 1:
            return dict.fromkeys(totals, _found(None, words))
        return {
            name: _found(name == first[0], f"{total:.3g}; {words}")
            for name, total in totals.items()
        }

    def _scores(self, result: CaseResult) -> Iterator[tuple[str, float]]:
        """The scores of an answer by types of assertions and names of criteria; nan is missing."""
        for check in result.checks:
            if not compares_variants(check.type):
                score = check.passed if None in {check.value, check.passed} else check.value
                yield check.type, nan if score is None else float(score)
        verdict = conclude_result(result, self._run).verdict
        for criterion in verdict.criteria if verdict else ():
            yield criterion.name, nan if criterion.value is None else criterion.value


def _found(passed: bool | None, why: str) -> _Found:  # noqa: FBT001 - the field of the record
    return {"passed": passed, "message": why, "error": why if passed is None else None}


def _winner(comparison: Comparison) -> str | None:
    """Which side is preferred, or a tie; None where judgments are missing."""
    return comparison.criteria[0].winner if comparison.criteria else None


def _parts(compared: Sequence[Comparison], variant: str) -> Iterator[AssertionResult]:
    for one in compared:
        sides = {"a": one.variant_a, "b": one.variant_b, "tie": None}
        if variant not in sides.values():
            continue
        other = next(name for name in sides.values() if name != variant)
        winner = _winner(one)
        preferred = None if winner is None else sides[winner]
        if preferred is None:
            why = "the two orders disagree"
            if winner is None:
                why = f"no judgment: {one.failures[0].message}"
            elif one.is_identical or one.criteria[0].consistent:
                why = "the same text" if one.is_identical else "neither is preferred"
            found = _found(None, f"against {other}: {why}")
        else:
            shown = {"first": 0, "second": 1, "tie": -1}
            reasons = [
                p.rationale for p in one.preferences
                if shown[p.choice] == (p.variant_first, p.variant_second).index(preferred)
            ]  # fmt: skip
            words = "preferred to" if preferred == variant else "not preferred to"
            found = _found(preferred == variant, f"{words} {other}: {' '.join(reasons[:1])}")
        yield AssertionResult.model_validate({**found, "type": BEST_CRITERION})


def _usage(compared: Sequence[Comparison]) -> EmbeddingUsage:
    used = judge_usage([one for each in compared for one in (*each.preferences, *each.failures)])
    return EmbeddingUsage(
        n_calls=used.n_replies - used.n_cached,
        n_owned=used.n_cached,
        input_tokens=used.input_tokens,
        cost_usd=None if used.cost_unknown else used.cost_usd,
        saved_usd=used.saved_usd,
    )
