"""Records comparisons in the store, summarizes them again, and analyses why outputs lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from judgekit import judge as judge_calls, prompts  # loaded when used: few comparisons are analysed
from judgekit.errors import BudgetExceededError, InputError, SettingsError, UnknownNameError
from judgekit.evaluation.comparability import Comparability, SideScores, paired_sides
from judgekit.evaluation.comparison_result import ComparisonSummary, StoppingRule
from judgekit.evaluation.comparison_summary import ComparisonTally
from judgekit.evaluation.pairing import (
    ORDER_SEED_KEY,
    ComparisonLoop,
    JudgedPair,
    LeftOut,
    OutputPair,
    Pairing,
    PairingSurvey,
)
from judgekit.evaluation.run_config import variant_version_in
from judgekit.evaluation.score_comparison import ScoreComparison, compare_side_scores
from judgekit.fingerprint import fingerprint, random_token
from judgekit.judge import (
    Judge,
    Panel,
    check_pair_rule,
    gather_in_order,
    prepare_pair,
    rubric_of_case,
)
from judgekit.prompts import SLOT_LABELS, draw_labels
from judgekit.records import (
    COMPARISON_ID_PREFIX,
    DEFAULT_PRIOR,
    AnalysisFailure,
    ComparedPair,
    ComparedSide,
    Comparison,
    ComparisonAnalysis,
    ComparisonInfo,
    ComparisonStatus,
    JsonObject,
    Preference,
    PreferenceFailure,
    ReconciliationRule,
    Rubric,
    RunInfo,
    ScoreComparisonInfo,
)

if TYPE_CHECKING:
    from judgekit.store import RunStore, StoredComparisons


def with_rule(info: ComparisonInfo, rule: ReconciliationRule | None) -> ComparisonInfo:
    """A comparison as another rule concludes it, from the same choices and without a call."""
    if rule is None:
        return info
    check_pair_rule(rule)
    return info.model_copy(update={"rule": rule})


def stored_pairs(
    store: StoredComparisons, info: ComparisonInfo
) -> Iterator[tuple[ComparedPair, Comparison]]:
    # Concluded from the stored choices by the code that judges pairs: a new rule needs no call.
    for pair in store.compared(info.id):
        if pair.is_done:
            blind = prepare_pair(pair.a, pair.b, info.names, scrubs=info.scrub)
            labels = draw_labels(pair.case.id, info.label_seed) if info.draw_labels else SLOT_LABELS
            choices = _in_question_order([*pair.preferences, *pair.failures], info)
            found = blind.conclude(pair.case, info.rubric, choices, rule=info.rule, labels=labels)
            yield pair, found.model_copy(update={"repeat": pair.repeat})


def counted_pairs(
    store: StoredComparisons, info: ComparisonInfo, stopping: StoppingRule | None = None
) -> Iterator[tuple[ComparedPair, Comparison]]:
    """The pairs that the figures of a stored comparison rest on."""
    # Where it stopped as soon as it was decided, what was in flight then is kept, but not counted.
    own = stopping_rule_of(info) if stopping is None else stopping
    for pair, found in stored_pairs(store, info):
        if own is not None and own.is_over:
            return
        yield pair, found
        if own is not None:
            own.look(found)


def stopping_rule_of(info: ComparisonInfo) -> StoppingRule | None:
    """Who looks after every case whether a comparison is decided."""
    # None where it asks all there is.
    if not info.until_decided:
        return None
    seed = info.chosen.get(ORDER_SEED_KEY)
    return StoppingRule(
        info.alpha,
        info.max_cases,
        prior=info.prior,
        order_seed=seed if isinstance(seed, int) else None,
    )


def summarize_comparison(
    store: StoredComparisons,
    comparison: ComparisonInfo | str = "latest",
    *,
    alpha: float | None = None,
    rule: ReconciliationRule | None = None,
    watch: Callable[[Comparison], None] | None = None,
) -> ComparisonSummary:
    """The result of a stored comparison: wins, intervals, the decision.

    Args:
        store: Where it is kept.
        comparison: The comparison, its id, the beginning of it, or `latest`.
        alpha: The error a decision may have, in (0, 1); None takes the comparison's own.
        rule: Who wins where the orders differ: `consistent` (nobody) or `average` (who is preferred
            by more than half of both); None takes the comparison's own.
        watch: Called with each pair's comparison, in order.

    Returns:
        The figures. A comparison that was to stop as soon as it is decided is decided by the
        same look after each case.

    Raises:
        UnknownNameError: When there is no such comparison.
        SettingsError: When there is no such rule.
    """
    stored = store.comparison(comparison) if isinstance(comparison, str) else comparison
    info = with_rule(stored, rule)
    error = info.alpha if alpha is None else alpha
    tally = ComparisonTally(info.rubric, (info.a.label, info.b.label), alpha=error)
    stopping = stopping_rule_of(info)
    for pair, found in counted_pairs(store, info, stopping):
        tally.add(JudgedPair(OutputPair(pair.case, pair.a, pair.b, pair.repeat), found))
        if watch is not None:
            watch(found)
    return _summary_of(tally, info, stopping, store)


if TYPE_CHECKING:
    PairOutcome = Preference | PreferenceFailure

# What each part is called that has to stay what it is.
_WORDS = {
    "a": "the first side's outputs or cases",
    "b": "the second side's outputs or cases",
    "rubric": "the rubric",
    "judge": "the judge or its settings",
    "chosen": "which pairs are chosen, or their order",
    "stopping": "when it stops",
}
_SHORT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTerms:
    """What was agreed on before the first look."""

    alpha: float = 0.05
    until_decided: bool = False
    max_cases: int | None = None
    prior: float = DEFAULT_PRIOR
    suite: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise SettingsError(f"alpha is {self.alpha}; it lies between 0 and 1")


def new_comparison(
    pairing: Pairing,
    survey: PairingSurvey,
    judge: Judge | Panel,
    rubric: Rubric,
    *,
    terms: ComparisonTerms,
    now: datetime,
) -> ComparisonInfo:
    judge_settings = _judge_settings(Panel.of(judge))
    stopping: JsonObject = {
        "alpha": terms.alpha,
        "until_decided": terms.until_decided,
        "max_cases": terms.max_cases,
    }
    if terms.prior != DEFAULT_PRIOR:  # others keep the fingerprint they had
        stopping["prior"] = terms.prior
    left_out = asdict(survey.left_out)
    parts = {
        "a": survey.digests[0],
        "b": survey.digests[1],
        "rubric": rubric.fingerprint,
        "judge": fingerprint([judge_settings, list(pairing.names)]),
        "chosen": fingerprint(pairing.chosen),
        "stopping": fingerprint(stopping),
    }
    fields = {
        **judge_settings,
        **stopping,
        "id": _new_id(now),
        "a": pairing.a.about or ComparedSide(label=pairing.a.label),
        "b": pairing.b.about or ComparedSide(label=pairing.b.label),
        "suite": terms.suite,
        "rubric": rubric,
        "names": pairing.names,
        "chosen": pairing.chosen,
        "n_pairs": survey.n_pairs,
        "left_out": {k: list(v) if isinstance(v, tuple) else v for k, v in left_out.items()},
        # Fingerprints by part, so that a refused resume can say what has changed.
        "parts": {name: value[:_SHORT] for name, value in parts.items()},
        "started_at": now,
    }
    return ComparisonInfo.model_validate(fields)


def _new_id(now: datetime) -> str:
    return f"{COMPARISON_ID_PREFIX}{now:%Y%m%dT%H%M%SZ}-{random_token()}"


def new_score_comparison(
    a: tuple[RunInfo, str],
    b: tuple[RunInfo, str],
    *,
    tags: tuple[str, ...] = (),
    alpha: float = 0.05,
    anytime: bool = False,
    now: datetime,
) -> ScoreComparisonInfo:
    """A comparison of the scores of two variants, each with its run."""
    sides = [
        ComparedSide(
            # The ids of two runs distinguish one variant of both.
            label=variant if a[1] != b[1] else run.id,
            variant=variant,
            run_id=run.id,
            version=variant_version_in(run, variant),
        )
        for run, variant in (a, b)
    ]
    return ScoreComparisonInfo(
        id=_new_id(now),
        a=sides[0],
        b=sides[1],
        suite=a[0].suite if a[0].suite == b[0].suite else None,
        tags=tags,
        alpha=alpha,
        anytime=anytime,
        started_at=now,
    )


@dataclass(frozen=True, slots=True)
class ComparedScores:
    """The scores of both sides, how they were made comparable, and the result."""

    a: SideScores
    b: SideScores
    measure: Comparability
    result: ScoreComparison


def compare_stored_scores(
    store: RunStore, info: ScoreComparisonInfo, names: tuple[str, str] | None = None
) -> ComparedScores:
    """The result of a comparison of scores, from the answers that its runs have now."""
    a, b, measure = paired_sides(
        store, _side_run(store, info, info.a), _side_run(store, info, info.b), tags=info.tags
    )
    labels = names or (info.a.label, info.b.label)
    result = compare_side_scores(
        a, b, labels, alpha=info.alpha, notes=measure.notes, anytime=info.anytime
    )
    return ComparedScores(a, b, measure, result)


def _side_run(
    store: RunStore, info: ScoreComparisonInfo, side: ComparedSide
) -> tuple[RunInfo, str]:
    name = side.run_id or ""
    try:
        run = store.run(name)
    except UnknownNameError:
        run = None
    # A run is also found by the beginning of its id, which another run may have.
    if run is None or run.id != name:
        raise InputError(
            f"{info.id} compares the run {name}, which is not in this store any more",
            hint="its figures follow from the answers of its runs: compare two stored runs again",
        )
    return run, side.variant or ""


def require_same_comparison(begun: ComparisonInfo, fresh: ComparisonInfo) -> ComparisonInfo:
    """The comparison that was begun, if it still is what would be done now."""
    changed = [w for name, w in _WORDS.items() if begun.parts.get(name) != fresh.parts.get(name)]
    if not changed:
        return begun
    raise SettingsError(
        f"the comparison {begun.id} cannot be resumed, because something has changed since: "
        + "; ".join(changed),
        hint="begin a new one (without --resume): cached replies cost nothing",
    )


class ComparisonRecorder:
    """A comparison in a store while it is made."""

    def __init__(
        self, store: StoredComparisons, info: ComparisonInfo, judge: Judge | Panel
    ) -> None:
        self.store, self.info = store, info
        self._panel = Panel.of(judge)
        self._known: dict[int, tuple[Preference, ...]] = {}
        self._waiting: list[ComparedPair] = []

    def flush(self) -> None:
        if self._waiting:
            pairs, self._waiting = self._waiting, []
            self.store.add_pairs(self.info.id, pairs)

    def look_back(self) -> float:
        """Read the answers of earlier sessions; failures are retried."""
        # What was paid before counts against the same budget.
        asked = self.store.analyses(self.info.id).values()
        paid = self.store.replaced_usd(self.info.id) + sum(one.cost_usd or 0.0 for one in asked)
        for pair in self.store.compared(self.info.id):
            self._known[pair.place] = pair.preferences
            choices: list[PairOutcome] = [*pair.preferences, *pair.failures]
            paid += sum(each.cost_usd or 0.0 for each in choices)
        return paid

    async def compare(self, place: int, pair: OutputPair) -> Comparison:
        """Ask the open questions about a pair; the answers are on disk when they are reported."""
        # Pairs that finish together are stored in one transaction; `flush` stores the choices about
        # a pair that was cancelled.
        info, comparer = self.info, self._panel.comparers[0]
        choices: list[PairOutcome] = list(self._known.pop(place, ()))
        n_known, is_done = len(choices), False
        try:
            answers = self._panel.observe(
                pair.case, pair.a, pair.b, info.rubric, names=info.names, said=tuple(choices)
            )
            async with aclosing(answers) as stream:
                async for found in stream:
                    choices += found
            is_done = True
        finally:
            new = choices[n_known:]
            self._waiting.append(
                ComparedPair(
                    place=place,
                    **pair._asdict(),
                    preferences=tuple(each for each in new if isinstance(each, Preference)),
                    failures=tuple(each for each in new if isinstance(each, PreferenceFailure)),
                    is_done=is_done,
                )
            )
        # Pairs that finish in the same turn of the loop share one transaction.
        await asyncio.sleep(0)
        self.flush()
        blind = comparer.blind_pair(pair.a, pair.b, info.names)
        ordered = _in_question_order(choices, info)
        return comparer.conclude(pair.case, blind, info.rubric, ordered)


class SideComparer(ComparisonLoop):
    """Compares two sides until all pairs are judged or something ends it, recording each answer."""

    def __init__(self, pairing: Pairing, recorder: ComparisonRecorder, *, n_slots: int) -> None:
        info = recorder.info
        self._pairing, self._info, self._store = pairing, info, recorder.store
        self._tally = ComparisonTally(info.rubric, (info.a.label, info.b.label), alpha=info.alpha)
        self._stopping = stopping_rule_of(info)
        # Enough pairs in flight to keep every slot busy; few where each may be the last one, since
        # what is in flight then was paid for nothing.
        in_flight = max(4, n_slots) if self._stopping is None else max(1, n_slots // 4)
        super().__init__(recorder.compare, in_flight=in_flight)

    @property
    def total(self) -> int:
        n_pairs, most = self._info.n_pairs, self._info.max_cases
        return n_pairs if most is None else min(n_pairs, most)

    @property
    def is_over(self) -> bool:
        """Whether the stopping rule wants no further case."""
        return self._stopping is not None and self._stopping.is_over

    async def ask(self) -> AsyncGenerator[Comparison, None]:
        """Ask about all pairs, in order, until a difference is shown where that is wanted."""
        # A comparison of two sides is a single round of all its pairs.
        rounds = iter([self._pairing.pairs()])
        async with aclosing(self.run(lambda: next(rounds, None))) as judged:
            async for one in judged:
                # What was in flight when the difference was shown is recorded but not counted:
                # counted, it would be a look that the rule did not plan for.
                if self.is_over:
                    continue
                self._tally.add(one)
                if self._stopping is not None:
                    self._stopping.look(one.comparison)
                    if self._stopping.is_over:
                        self.end("decided")
                yield one.comparison

    def summary(self) -> ComparisonSummary:
        return _summary_of(self._tally, self._info, self._stopping, self._store)

    def status(self, summary: ComparisonSummary) -> ComparisonStatus:
        """How it ended; a pair that the money did not suffice for can be resumed."""
        if summary.failures.get(BudgetExceededError.kind):
            return "stopped"
        if self.ended == "interrupted":
            return "interrupted"
        if summary.failures:
            return "incomplete"
        is_decided = self._stopping is not None and self._stopping.is_decided
        return "decided" if is_decided else "complete"


def _summary_of(
    tally: ComparisonTally,
    info: ComparisonInfo,
    stopping: StoppingRule | None,
    store: StoredComparisons,
) -> ComparisonSummary:
    left_out = LeftOut(**info.left_out)  # type: ignore[arg-type]  # written by `new_comparison`
    evidence = None if stopping is None else stopping.evidence()
    summary = tally.summary(left_out=left_out, evidence=evidence)
    return replace(summary, replaced_usd=store.replaced_usd(info.id))


def _in_question_order(choices: Iterable[PairOutcome], info: ComparisonInfo) -> list[PairOutcome]:
    places = {criterion.name: place for place, criterion in enumerate(info.rubric.criteria)}
    judges = {member.judge: place for place, member in enumerate(info.panel)}

    def place(one: PairOutcome) -> tuple[int, str, int, int]:
        judge = judges.get(one.judge, len(judges))
        return judge, one.order, one.repeat, places.get(cast("str", one.criterion), len(places))

    return sorted(choices, key=place)


def _judge_settings(panel: Panel) -> JsonObject:
    first = panel.comparers[0]
    found: JsonObject = {
        "judge": panel.id,
        "parameters": dict(first.parameters),
        "repeats": first.repeats,
        "rule": first.rule,
        "scrub": first.scrubs,
        "draw_labels": first.draws_labels,
        "label_seed": first.seed,
    }
    if len(panel.comparers) == 1:
        return found
    members = [
        {"judge": c.id, "parameters": dict(c.parameters), "repeats": c.repeats}
        for c in panel.comparers
    ]
    return {**found, "parameters": {}, "repeats": 1, "panel": cast("list[JsonValue]", members)}


_IN_FLIGHT = 8


def unanalysed_pairs(
    store: StoredComparisons, info: ComparisonInfo
) -> list[tuple[ComparedPair, Comparison]]:
    """The pairs of a comparison that have a winner and no analysis yet."""
    known = store.analyses(info.id)
    return [
        (pair, found)
        for pair, found in counted_pairs(store, info)
        if found.winner in {"a", "b"} and pair.place not in known
    ]


async def analyse_pairs(
    store: StoredComparisons,
    info: ComparisonInfo,
    judge: Judge,
    pairs: Sequence[tuple[ComparedPair, Comparison]],
    *,
    template_folders: Sequence[Path] = (),
    on_analysis: Callable[[ComparisonAnalysis | AnalysisFailure], None] = lambda _: None,
) -> list[AnalysisFailure]:
    """Analyse pairs, several at a time; each analysis is on disk before the next is reported."""
    analyst = judge_calls.Analyst(
        judge.comparer, prompts.AnalysisTemplate(folders=template_folders)
    )
    # The model limits calls itself; this only bounds the tasks that wait.
    slots = asyncio.Semaphore(max(_IN_FLIGHT, judge.connection.max_concurrency))
    failures: list[AnalysisFailure] = []

    async def one(pair: ComparedPair, found: Comparison) -> None:
        async with slots:
            rubric = rubric_of_case(pair.case, info.rubric)
            choices = await analyst.analyse(pair.case, (pair.a, pair.b), rubric, found)
        if isinstance(choices, ComparisonAnalysis):
            store.add_analysis(info.id, pair.place, choices)
        elif choices is not None:
            failures.append(choices)
        if choices is not None:
            on_analysis(choices)

    await gather_in_order([one(pair, found) for pair, found in pairs])
    return failures
