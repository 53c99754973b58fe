"""Writes trends and comparisons of a benchmark as objects of a quality memory (S0.6, S0.7)."""

from __future__ import annotations

import json
from collections import defaultdict
from math import isnan
from typing import TYPE_CHECKING

from judgekit.errors import NotComparableError, NotEnoughDataError, UnknownNameError
from judgekit.evaluation import (
    COMPARISON_ID_PREFIX,
    MEMORY_KEY,
    compare_side_scores,
    paired_sides,
    summarize_comparison,
    trend_of_suite,
)
from judgekit.formats import objects_of, quality_object
from judgekit.records import config_rows, time_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from judgekit.evaluation import ComparisonDecision, QualityTrend
    from judgekit.records import (
        Approval,
        ComparedSide,
        Comparison,
        ComparisonInfo,
        JsonObject,
        RunInfo,
    )
    from judgekit.store import RunStore

# Comparisons that ended without a result of all their pairs are resumed, not exported.
_CONCLUDED = frozenset({"complete", "incomplete", "decided"})
# A run and one of its variants.
_Side = tuple["RunInfo", str]


def benchmark_id_of(run: RunInfo) -> str:
    """The id of the benchmark that a run is of: the one it names, or its suite."""
    named = run.config.get("benchmark")
    return named if isinstance(named, str) else run.suite


def carried_objects(run: RunInfo) -> list[JsonObject]:
    """The objects of the quality memory that a run's cases are from, as they were read."""
    return config_rows(run, MEMORY_KEY)


def prompt_version(variant: str, run: RunInfo) -> str:
    """The `promptVersionRef` of an answer: the variant's version if no other has it."""
    versions = [each.prompt_version for each in run.variants]
    own = next((each.prompt_version for each in run.variants if each.id == variant), None)
    return own if own is not None and versions.count(own) == 1 else variant


def benchmark_run_id(run: RunInfo, variant: str) -> str:
    """The id of the `benchmark-run` of a variant in a run."""
    return f"{run.id}/{variant}"


def trend_objects(
    store: RunStore, run: RunInfo, benchmark_id: str, variants: Sequence[str]
) -> Iterator[JsonObject]:
    """The trend of each variant as an `eval-trend`."""
    own = dict(objects_of(carried_objects(run), "benchmark"))
    dimension = own.get(benchmark_id, {}).get("dimension")
    for trend in trend_of_suite(store, run.suite):
        if trend.variant in variants and trend.since_break:
            yield _trend(trend, benchmark_id, str(dimension or trend.measure))


def _trend(trend: QualityTrend, benchmark_id: str, dimension: str) -> JsonObject:
    points = trend.since_break
    listed = [
        {
            "date": time_text(point.at),
            "score": point.figure.value,
            "benchmarkRunId": f"{point.run}/{trend.variant}",
        }
        for point in points
    ]
    fields: JsonObject = {
        "benchmarkId": benchmark_id,
        "dimension": dimension,
        # A text by the format. Nothing is compared over a break, so it begins after the last one.
        "dataPoints": json.dumps(listed),
        "direction": trend.direction.direction,
        "lastComputedAt": time_text(points[-1].at),
        "reason": trend.direction.reason,
        "escalated": trend.escalation.value,
        "measure": trend.measure,
        "variant": trend.variant,
    }
    return quality_object("eval-trend", f"{benchmark_id}/{trend.variant}/trend", fields)


def comparison_objects(store: RunStore, run: RunInfo, benchmark_id: str) -> Iterator[JsonObject]:
    """The comparisons of a run's variants, each as a `prompt-comparison`.

    They are the blind ones that are stored, those of scores that an approval rests on, and the
    scores of both variants of a run with two.
    """
    approvals: defaultdict[str, list[Approval]] = defaultdict(list)
    for approval in store.approvals():
        for name in approval.evidence:
            approvals[name].append(approval)
    for info in store.comparisons():
        if info.status in _CONCLUDED and _is_about(info, run):
            yield blind_comparison_object(store, info, benchmark_id, approvals[info.id])
    for a, b, approved in _compared_scores(store, run, approvals[run.id]):
        yield from _score_comparison(store, (a, b), benchmark_id, approved)


def _is_about(info: ComparisonInfo, run: RunInfo) -> bool:
    """Whether a comparison is of a run, or of its suite and variants."""
    if run.id in {info.a.run_id, info.b.run_id}:
        return True
    sides = {info.a.variant, info.b.variant}
    return info.suite == run.suite and sides <= {variant.id for variant in run.variants}


def _compared_scores(
    store: RunStore, run: RunInfo, approvals: Sequence[Approval]
) -> list[tuple[_Side, _Side, list[Approval]]]:
    pairs: dict[str, tuple[_Side, _Side, list[Approval]]] = {}
    for approval in approvals:
        names = [name for name in approval.evidence if not name.startswith(COMPARISON_ID_PREFIX)]
        newer, older = store.run(names[0]), store.run(names[-1])
        a, b = (older, approval.baseline), (newer, approval.variant)
        pairs.setdefault(_pair_id(a, b), (a, b, []))[2].append(approval)
    if len(run.variants) == 2:  # noqa: PLR2004 - both sides of a comparison
        a, b = ((run, variant.id) for variant in run.variants)
        # An approval may have compared them the other way round.
        if _pair_id(b, a) not in pairs:
            pairs.setdefault(_pair_id(a, b), (a, b, []))
    return [*pairs.values()]


def _pair_id(a: _Side, b: _Side) -> str:
    return f"{benchmark_run_id(*a)}..{benchmark_run_id(*b)}"


def _score_comparison(
    store: RunStore, sides: tuple[_Side, _Side], benchmark_id: str, approvals: Sequence[Approval]
) -> Iterator[JsonObject]:
    (run_a, a), (run_b, b) = sides
    try:
        first, second, measure = paired_sides(store, *sides)
        alpha = approvals[0].alpha if approvals else 0.05
        found = compare_side_scores(first, second, (a, b), alpha=alpha, notes=measure.notes)
    except (NotComparableError, NotEnoughDataError):
        return  # then there are no two scores that could stand side by side
    shown = found.value or found.pass_rate
    if shown is None:
        return
    what = "mean overall scores" if found.value is not None else "pass rates"
    points = (first.values, second.values) if found.value else (first.passed, second.passed)
    cases = [case for case in points[0] if case in points[1]]
    versions = prompt_version(a, run_a), prompt_version(b, run_b)
    yield _comparison(
        _pair_id(*sides),
        benchmark_id,
        versions,
        (shown.a, shown.b),
        found.decision,
        cases=cases,
        at=max(run_a.finished_at or run_a.started_at, run_b.finished_at or run_b.started_at),
        notes=[f"{what} of the same cases", *found.notes, *_approved(approvals)],
        more={"benchmarkRunIds": [benchmark_run_id(*side) for side in sides], "kind": "scores"},
    )


def blind_comparison_object(
    store: RunStore,
    info: ComparisonInfo,
    benchmark_id: str | None = None,
    approvals: Sequence[Approval] = (),
) -> JsonObject:
    """A stored blind comparison as a `prompt-comparison`."""
    cases: dict[str, None] = {}

    def watch(comparison: Comparison) -> None:
        if comparison.error is None and comparison.case_id is not None:
            cases[comparison.case_id] = None

    summary = summarize_comparison(store, info, watch=watch)
    runs = [_run_of(store, side) for side in (info.a, info.b)]
    named = list(zip((info.a, info.b), runs, strict=True))
    versions = [
        side.variant or side.label if run is None else prompt_version(side.variant or "", run)
        for side, run in named
    ]
    share = summary.whole.rate.value
    if benchmark_id is None:
        own = next((benchmark_id_of(run) for run in runs if run is not None), None)
        benchmark_id = own or info.suite
    return _comparison(
        info.id,
        benchmark_id,
        (versions[0], versions[1]),
        (share, 1 - share),
        summary.decision,
        cases=[*cases],
        at=info.finished_at or info.started_at,
        notes=[
            "compared blind in both orders; the scores are shares of wins, no winner is half a win",
            *_approved(approvals),
        ],
        more={
            "benchmarkRunIds": [
                benchmark_run_id(run, side.variant)
                for side, run in named
                if run is not None and side.variant is not None
            ],
            "kind": "blind",
        },
    )


def _run_of(store: RunStore, side: ComparedSide) -> RunInfo | None:
    if side.run_id is None or side.variant is None:
        return None
    try:
        return store.run(side.run_id)
    except UnknownNameError:  # its run is in another store
        return None


def _approved(approvals: Sequence[Approval]) -> Iterator[str]:
    for one in approvals:
        yield f"{one.variant} approved by {one.by} ({one.id}): {one.because}"


def _comparison(
    name: str,
    benchmark_id: str | None,
    versions: tuple[str, str],
    scores: tuple[float, float],
    decision: ComparisonDecision,
    *,
    cases: Sequence[str],
    at: datetime,
    notes: Sequence[str],
    more: JsonObject,
) -> JsonObject:
    # Which side has the higher score is seen from the scores; a winner is one that is shown.
    winner = None if decision.winner is None else versions["ab".index(decision.winner)]
    fields: JsonObject = {
        "benchmarkId": benchmark_id,
        "promptVersionA": versions[0],
        "promptVersionB": versions[1],
        "scoreA": None if isnan(scores[0]) else scores[0],
        "scoreB": None if isnan(scores[1]) else scores[1],
        "winner": winner,
        "winnerSide": None if decision.winner is None else decision.winner.upper(),
        "sampleSize": len(cases),
        "comparedAt": time_text(at),
        "notes": "; ".join([decision.reason, *notes]),
        "testCaseIds": [*cases],
        "p": decision.p,
        **more,
    }
    return quality_object("prompt-comparison", name, fields)
