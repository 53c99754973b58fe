"""Decides the assertions that compare the outputs of all variants to a case (`variants.…`).

`runner` calls it once every answer is there; two outputs are compared as `judgekit compare` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import combinations, groupby
from math import fsum
from typing import TYPE_CHECKING, cast

from judgekit.assertions import PENDING_CHOICE, compares_variants
from judgekit.evaluation.judges import BEST_CRITERION, choice_rubric, judge_usage
from judgekit.evaluation.outcome import conclude_result, last_tries
from judgekit.evaluation.pairing import OutputPair, compare_in_order, pair_question
from judgekit.evaluation.worker import ObservationWriter, end_at_failures
from judgekit.judge import PairJudge, gather_in_order
from judgekit.records import VALUE_TOLERANCE, AssertionResult, EmbeddingUsage, Observation, Output

if TYPE_CHECKING:
    from judgekit.evaluation.session import OpenSuite, Session
    from judgekit.judge import Comparer, Judge, JudgeQuestion
    from judgekit.records import (
        Case,
        CaseResult,
        Comparison,
        ItemKey,
        JsonObject,
        PreferenceFailure,
        Rubric,
        RunInfo,
    )
    from judgekit.store import RunStore

_FEWEST = 2
# What is found of one variant: fields of the result of its assertion.
_Fields = dict[str, object]


def choice_questions(
    opened: OpenSuite, case: Case, outputs: Mapping[str, Output | None]
) -> Iterator[tuple[Judge, JudgeQuestion, tuple[str, ...]]]:
    """What judges are asked of the outputs of a case, with the variants whose output is unknown."""
    # Each placeholder is another text, or nobody would be asked about two of them.
    shown = {
        name: output or Output(text=f"output {place}", variant=name)
        for place, (name, output) in enumerate(outputs.items())
    }
    if any(output.error is not None for output in shown.values()):
        return
    names = _revealing_names(opened)
    for _, spec in opened.plans.variant_checks(case):
        if (rubric := choice_rubric(spec)) is None:
            continue
        for judge, (a, b) in (
            (judge, pair) for judge in _judges_of(opened, rubric) for pair in combinations(shown, 2)
        ):
            comparer = _comparer(opened, judge)
            pair = comparer.blind_pair(shown[a], shown[b], names)
            unread = tuple(name for name in (a, b) if outputs[name] is None)
            for question in comparer.questions(case, pair, rubric):
                yield judge, question, unread


def _judges_of(opened: OpenSuite, rubric: Rubric) -> list[Judge]:
    panel = opened.judges.panel
    return [one for one in opened.judges.judges if panel.rubric_of(one.id, rubric).criteria]


def _comparer(opened: OpenSuite, judge: Judge) -> Comparer:
    blind = opened.suite.compare
    return replace(
        judge.comparer,
        # There is one criterion: the overall preference would be the same question again.
        asks_overall=False,
        scrubs=blind.scrub,
        draws_labels=blind.draw_labels,
        seed=blind.seed,
        rule=blind.rule,
    )


def _revealing_names(opened: OpenSuite) -> tuple[str, ...]:
    """What would give a variant away in an output."""
    named = ((one.id, one.model, *one.model_by_node.values()) for one in opened.variants)
    return tuple(dict.fromkeys(str(name) for names in named for name in names if name))


class _ChoosingJudges(PairJudge):
    def __init__(self, comparers: Sequence[Comparer]) -> None:
        self._asked = comparers

    def _comparers(self) -> Sequence[Comparer]:
        return self._asked


class VariantChooser:
    """Compares the answers of a run, case by case, where an assertion wants it."""

    def __init__(self, opened: OpenSuite, store: RunStore, run: RunInfo, session: Session) -> None:
        self._opened, self._store, self._run, self._session = opened, store, run, session

    async def go(self, unfinished: Collection[ItemKey], *, in_flight: int) -> bool:
        """Decide every case whose answers are whole; whether all of them were taken up."""
        groups = self._groups(unfinished)

        async def work() -> bool:
            while not self._session.stop.is_set():
                if (group := next(groups, None)) is None:
                    return True
                await keeper.put_all(await self._chosen(group))
            return False

        async with ObservationWriter(self._store, self._run.id) as keeper:
            return all(await gather_in_order([work() for _ in range(in_flight)]))

    def _groups(self, unfinished: Collection[ItemKey]) -> Iterator[list[CaseResult]]:
        """The answers to each case, where the choice among them is open."""
        results = last_tries(self._store.results(self._run.id), self._run)
        for _, of_case in groupby(results, key=lambda one: one.place):
            by_repeat: defaultdict[int, list[CaseResult]] = defaultdict(list)
            for one in of_case:  # of several tries the last one is compared
                by_repeat[one.repeat if self._run.repeats > 1 else 0].append(one)
            for group in by_repeat.values():
                is_open = not all(one.is_done for one in group)
                if is_open and not any(one.key in unfinished for one in group):
                    yield group

    async def _chosen(self, group: Sequence[CaseResult]) -> list[Observation]:
        """What is to be stored of the answers to a case."""
        case, is_done = group[0].case, True
        checks = {one.variant: [*one.checks] for one in group}
        for place, spec in self._opened.plans.variant_checks(case):
            own = {name: found[place] for name, found in checks.items() if found}
            found, rubric = self._refused(group), choice_rubric(spec)
            if found is None and rubric is None:
                found = self._highest(group, spec)
            # Who was compared in an earlier session is not compared again.
            elif found is None and any(map(_is_pending, own.values())):
                found, is_known = await self._best(group, cast("Rubric", rubric))
                is_done = is_done and is_known
            for name, one in own.items():
                if found is not None:
                    checks[name][place] = one.model_copy(update=found[name])
        return [
            Observation(
                key=one.key,
                place=one.place,
                at=self._session.now(),
                checks=checks[one.variant],
                is_done=is_done,
            )
            for one in group
        ]

    def _refused(self, group: Sequence[CaseResult]) -> dict[str, _Fields] | None:
        """Why nothing can be compared; None where it can."""
        case, got = group[0].case, {one.variant for one in group if one.output.error is None}
        wanted = [one.id for one in self._opened.variants if case.is_answered_by(one.id)]
        lacking = [name for name in wanted if name not in got]
        if len(wanted) < _FEWEST:
            why = "only one variant answers the case, so that there is nothing to compare"
        elif lacking:
            why = f"not compared, because an output is missing: {', '.join(lacking)}"
        else:
            return None
        return {name: _undecided(why) for name in got}

    async def _best(
        self, group: Sequence[CaseResult], rubric: Rubric
    ) -> tuple[dict[str, _Fields], bool]:
        """What the judges prefer, and whether no judgment is missing that could decide."""
        opened = self._opened
        judge = _ChoosingJudges([_comparer(opened, one) for one in _judges_of(opened, rubric)])
        pairs = [
            OutputPair(a.case, a.output, b.output, a.repeat) for a, b in combinations(group, 2)
        ]
        ask = pair_question(judge, rubric, _revealing_names(opened))
        judged = compare_in_order(pairs, ask, stop=self._session.stop)
        async with aclosing(judged) as answers:
            compared = [one.comparison async for one in answers]
        failures = [failure for one in compared for failure in one.failures]
        end_at_failures(self._session, failures)
        parts = {
            one.variant: tuple(
                _part(found, one.variant)
                for found in compared
                if one.variant in {found.variant_a, found.variant_b}
            )
            for one in group
        }
        best = [
            name for name, own in parts.items()
            if len(own) == len(group) - 1 and all(part.passed for part in own)
        ]  # fmt: skip
        is_known = bool(best) or (
            len(compared) == len(pairs) and None not in map(_winner, compared)
        )
        found = _conclusions(parts, best, failures, is_known=is_known)
        # The calls are shared by the answers, and counted once.
        found[group[0].variant]["asked"] = _usage(compared)
        if not is_known:
            # Each try has its own record, so that none that was paid for is forgotten.
            tried = f"{PENDING_CHOICE} (tried {self._session.now():%Y-%m-%d %H:%M:%S.%f} UTC)"
            found[group[0].variant]["message"] = tried
        return found, is_known

    def _highest(self, group: Sequence[CaseResult], spec: JsonObject) -> dict[str, _Fields]:
        """Whose other assertions and criteria have the highest scores."""
        weights = cast("Mapping[str, float]", spec.get("weights") or {})
        totals: dict[str, float] = {}
        for one in group:
            scores = self._scores(one)
            unknown = [name for name, value in scores if value is None]
            if unknown or not scores:
                what = f"the score of {unknown[0]}" if unknown else "every other score"
                why = f"not compared, because {what} is missing: {one.variant}"
                return {each.variant: _undecided(why) for each in group}
            known = [(weights.get(name, 1.0), value or 0.0) for name, value in scores]
            total, weight = fsum(w * v for w, v in known), fsum(w for w, _ in known)
            is_sum = spec.get("method") == "sum"
            totals[one.variant] = total if is_sum or not weight else total / weight
        most, threshold = max(totals.values()), cast("float | None", spec.get("threshold"))
        first = [name for name, total in totals.items() if total >= most - VALUE_TOLERANCE]
        if threshold is not None and most < threshold - VALUE_TOLERANCE:
            why = f"the highest score, {most:.3g}, is below the threshold {threshold:g}"
            return {name: {"passed": False, "message": why, "error": None} for name in totals}
        if len(first) > 1:
            why = f"several variants have the highest score, {most:.3g}: {', '.join(first)}"
            return {name: _undecided(why) for name in totals}
        return {
            name: {
                "passed": name == first[0],
                "message": f"the score is {total:.3g}; the highest is {most:.3g}: {first[0]}",
                "error": None,
            }
            for name, total in totals.items()
        }

    def _scores(self, result: CaseResult) -> list[tuple[str, float | None]]:
        """The scores of an answer by the types of its assertions and the names of its criteria."""
        verdict = conclude_result(result, self._run).verdict
        of_checks = [
            (
                one.type,
                one.value if one.value is not None or one.passed is None else one.passed * 1.0,
            )
            for one in result.checks
            if not compares_variants(one.type)
        ]
        return [*of_checks, *((c.name, c.value) for c in (verdict.criteria if verdict else ()))]


def _is_pending(check: AssertionResult) -> bool:
    return check.error is not None and check.error.startswith(PENDING_CHOICE)


def _undecided(why: str) -> _Fields:
    return {"passed": None, "message": why, "error": why}


def _conclusions(
    parts: Mapping[str, tuple[AssertionResult, ...]],
    best: Sequence[str],
    failures: Sequence[PreferenceFailure],
    *,
    is_known: bool,
) -> dict[str, _Fields]:
    if best:
        words = dict.fromkeys(parts, f"{best[0]} is preferred to each of the others")
        words[best[0]] = "preferred to each of the others"
        return {
            name: {"passed": name == best[0], "message": words[name], "error": None, "parts": own}
            for name, own in parts.items()
        }
    why = "no output is preferred to each of the others"
    if not is_known:
        why = f"{PENDING_CHOICE}: {failures[0].message if failures else 'a judge was not asked'}"
    return {name: {**_undecided(why), "parts": own} for name, own in parts.items()}


def _winner(comparison: Comparison) -> str | None:
    """Which side is preferred, or a tie; None where judgments are missing."""
    return comparison.criteria[0].winner if comparison.criteria else None


def _part(comparison: Comparison, variant: str) -> AssertionResult:
    """How an output compares with one other."""
    sides = {"a": comparison.variant_a, "b": comparison.variant_b}
    other = next(name for name in sides.values() if name != variant)
    winner = _winner(comparison)
    if winner is None or winner == "tie":
        why = "the two orders disagree"
        if winner is None:
            why = f"no judgment: {comparison.failures[0].message}"
        elif comparison.is_identical or comparison.criteria[0].consistent:
            why = "the same text" if comparison.is_identical else "neither is preferred"
        why = f"against {other}: {why}"
        return AssertionResult(passed=None, message=why, type=BEST_CRITERION, error=why)
    reasons = (
        one.rationale for one in comparison.preferences
        if {"first": one.variant_first, "second": one.variant_second}.get(one.choice)
        == sides[winner]
    )  # fmt: skip
    won = sides[winner] == variant
    words = f"{'preferred to' if won else 'not preferred to'} {other}: {next(reasons, '')}"
    return AssertionResult(passed=won, message=words, type=BEST_CRITERION)


def _usage(compared: Sequence[Comparison]) -> EmbeddingUsage:
    used = judge_usage([one for each in compared for one in (*each.preferences, *each.failures)])
    return EmbeddingUsage(
        n_calls=used.n_replies - used.n_cached,
        n_owned=used.n_cached,
        input_tokens=used.input_tokens,
        cost_usd=None if used.cost_unknown else used.cost_usd,
        saved_usd=used.saved_usd,
    )
