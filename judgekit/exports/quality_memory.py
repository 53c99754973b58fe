"""Writes runs, trends and comparisons as objects of a quality memory (S0).

`judgekit.formats` writes cases and rubrics.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING

from judgekit import evaluation, formats, records
from judgekit.errors import NotComparableError, NotEnoughDataError, UnknownNameError
from judgekit.exports.tabular import RunFormat, write_json_list
from judgekit.formats import RubricIds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    from judgekit.evaluation import ComparisonDecision, Outcome
    from judgekit.records import (
        Approval,
        Case,
        CaseResult,
        ComparedSide,
        Comparison,
        ComparisonInfo,
        Finding,
        JsonObject,
        Rubric,
        RunInfo,
    )
    from judgekit.store import RunStore


def _run_object(answer: Outcome, run: RunInfo) -> JsonObject:
    # `totalScore` is on the scale of the rubric's `passingThreshold`: the overall value on [0, 1],
    # or, where that threshold is on the sum of weighted scores, that sum. Unknown values are null.
    result, output = answer.result, answer.result.output
    total, best = _total(answer, evaluation.rubric_of_result(answer.result, run))
    # The kind of judge is human where there is one, else a model, else rules.
    sources = {judgment.source for judgment in result.judgments}
    judged_by = next((source for source in ("human", "llm") if source in sources), None)
    fields: JsonObject = {
        "testCaseId": result.case.id,
        "promptVersionRef": prompt_version(result.variant, run),
        "actualOutput": output.text if output.text is not None else output.data,
        "passed": answer.passed,
        "totalScore": total,
        "maxPossibleScore": best,
        "variant": result.variant,
        "repeat": result.repeat,
    }
    optional: JsonObject = {
        "agentRunId": output.run_id,
        "ranAt": None if result.ran_at is None else records.time_text(result.ran_at),
        "durationMs": output.duration_ms,
        "judgeType": judged_by or ("heuristic" if sources or result.checks else None),
        "data": output.data if output.text is not None else None,
        "error": output.error,
        "failures": [failure.to_json() for failure in result.failures] or None,
        "checks": [check.to_json() for check in result.checks] or None,
    }
    return formats.quality_object("test-run", _run_object_id(result), fields, optional)


def _judgment_objects(answer: Outcome, rubric: Rubric, rubric_id: str) -> Iterator[JsonObject]:
    scales = {criterion.name: criterion.scale for criterion in rubric.criteria}
    ids, run_id = formats.criterion_ids(rubric, rubric_id), _run_object_id(answer.result)
    for place, judgment in enumerate(answer.result.judgments):
        at = judgment.judged_at
        if judgment.criterion not in scales:
            continue
        fields: JsonObject = {
            "score": judgment.raw,
            "maxScore": scales[judgment.criterion].max,
            "rationale": judgment.rationale,
            "judgedBy": judgment.judge,
            "judgedByType": judgment.source,
        }
        optional: JsonObject = {
            "judgedAt": None if at is None else records.time_text(at),
            "confidence": judgment.confidence,
            "evidence": [piece.quote for piece in judgment.evidence] or None,
            "repeat": judgment.repeat or None,
            "testRunId": run_id,
            "criterionId": ids[judgment.criterion],
        }
        yield formats.quality_object("eval-judgment", f"{run_id}/{place}", fields, optional)


def _run_object_id(result: CaseResult) -> str:
    return f"{result.run_id}/{result.case.id}/{result.variant}/{result.repeat}"


def _total(answer: Outcome, rubric: Rubric | None) -> tuple[float | None, float | None]:
    """The sum of weighted scores and the best it could be, on the threshold's scale."""
    if rubric is None or answer.verdict is None:
        return answer.value, 1.0
    threshold, weights = formats.rubric_marks(rubric)
    if threshold <= 1:
        return answer.verdict.value, 1.0
    scales = [criterion.scale for criterion in rubric.criteria]
    best = sum(w * scale.max for w, scale in zip(weights, scales, strict=True))
    values: Sequence[float | None] = [found.value for found in answer.verdict.criteria]
    total = 0.0
    for weight, scale, value in zip(weights, scales, values, strict=True):
        if value is None:
            return None, best
        total += weight * (scale.min + value * (scale.max - scale.min))
    return total, best


# The types of findings that the memory knows too.
_TYPES = frozenset({"wrong-output", "hallucination", "format-error", "timeout", "refusal"})


def _failure_object(
    run_id: str, failure: records.Occurrence, finding: Finding | None, affected: list[JsonValue]
) -> JsonObject:
    type_ = failure.type if finding is None else finding.type
    fields: JsonObject = {
        "testRunId": run_id,
        "failureType": type_ if type_ in _TYPES else "wrong-output",
        "description": failure.description,
        "affectedCriterionIds": affected,
        "severity": failure.severity if finding is None else finding.severity,
    }
    # The memory has no name for a crash or a regression.
    fields |= {} if type_ in _TYPES else {"findingType": type_}
    cause = failure.step if finding is None else finding.root_cause or finding.step
    known: JsonObject = {"rootCause": cause}
    if finding is not None:
        at, by = finding.resolved_at, finding.resolved_by
        known["resolvedAt"] = None if at is None else records.time_text(at)
        known["resolutionNotes"] = finding.resolution or (by and f"passed in {by}")
    fields |= {name: value for name, value in known.items() if value is not None}
    return formats.quality_object("eval-failure", f"{run_id}/failure", fields)


QUALITY = RunFormat(
    "quality",
    "quality records: test-case, rubric, test-run, eval-judgment, … (.jsonl, .json)",
    (".jsonl", ".json"),
    "quality records",
    lambda path, run, answers: write_json_list(path, QualityExport(run).objects(answers)),
    # Trends and comparisons are of several runs, which only the store has.
    store_writer=lambda path, run, answers, store: write_json_list(
        path, QualityExport(run, store).objects(answers)
    ),
)


def _known(value: float) -> float | None:
    return None if isnan(value) else value


def _benchmarks_of(case: Case) -> dict[str, JsonObject]:
    found = ((i.get("id"), i) for i in formats.objects_in(case.metadata.get("benchmarks")))
    return {
        name: {key: value for key, value in item.items() if key != "id"}
        for name, item in found
        if isinstance(name, str) and name and isinstance(item.get("name"), str)
    }


@dataclass
class QualityExport:
    """The objects of a run, one after the other, and what has been written already."""

    run: RunInfo
    store: RunStore | None = None
    case_ids: dict[str, None] = field(default_factory=dict)
    rubrics: RubricIds = field(default_factory=RubricIds)
    run_ids: dict[str, list[JsonValue]] = field(default_factory=dict)  # of each variant
    shared: dict[str, JsonObject] | None = None

    def objects(self, answers: Iterable[Outcome]) -> Iterator[JsonObject]:
        # What a memory holds beside the run's own objects goes out as it came in; its own replace
        # those of the same id.
        written: set[tuple[object, object]] = set()
        for item in self._own_objects(answers):
            written.add((item["type"], item["id"]))
            yield item
        for item in carried_objects(self.run):
            names = records.objects_of([item], str(item.get("type")))
            if not any((item.get("type"), key) in written for key, _ in names):
                yield item

    def _own_objects(self, answers: Iterable[Outcome]) -> Iterator[JsonObject]:
        # Test cases, rubrics and criteria come before the first answer that needs them; then each
        # `test-run` with its `eval-judgment`s, and an `eval-failure` where it fails; at the end the
        # `benchmark`, for each variant a `benchmark-run` and an `eval-trend`, and comparisons. Only
        # ids and numbers of the answers stay in memory.
        run, tally = self.run, evaluation.RunTally(self.run)
        for answer in answers:
            tally.take(answer)
            yield from self._answer(answer)
        figures = {each.variant: each for each in tally.summary().variants}
        last = [_known(figures[name].value.value) for name in self.run_ids][-1:]
        # The benchmark that was asked for, else one that all cases belong to, else the suite.
        benchmark_id = benchmark_id_of(run)
        if "benchmark" not in run.config:
            benchmark_id = next(iter(self.shared or {}), benchmark_id)
        yield self._benchmark(benchmark_id, last[0] if last else None)
        for name, run_ids in self.run_ids.items():
            fields: JsonObject = {
                "benchmarkId": benchmark_id,
                "testRunIds": run_ids,
                "overallScore": _known(figures[name].value.value),
                "passRate": _known(figures[name].pass_rate.value),
                "ranAt": records.time_text(run.started_at),
                "triggeredBy": run.triggered_by or "",
                "notes": run.notes or "",
                "promptVersionRef": prompt_version(name, run),
                "variant": name,
                "status": run.status,
            }
            yield formats.quality_object("benchmark-run", benchmark_run_id(run, name), fields)
        if self.store is not None:
            yield from self._regressions()
            yield from trend_objects(self.store, run, benchmark_id, [*self.run_ids])
            yield from comparison_objects(self.store, run, benchmark_id)

    def _failure(
        self, answer: Outcome, rubric: Rubric | None, rubric_id: str | None
    ) -> Iterator[JsonObject]:
        failure = evaluation.failure_of(answer, self.run)
        if failure is None or answer.passed:
            return
        ids = formats.criterion_ids(rubric, rubric_id) if rubric and rubric_id else {}
        finding = self._findings.get(
            evaluation.finding_id(self.run.suite, failure.variant, failure.case_id)
        )
        affected: list[JsonValue] = [ids[name] for name in failure.criteria]
        yield _failure_object(_run_object_id(answer.result), failure, finding, affected)

    def _regressions(self) -> Iterator[JsonObject]:
        """The critical falls of pass rates in this run."""
        for one in self._findings.values():
            if one.case_id is None and one.last_run == self.run.id and one.variant in self.run_ids:
                shared = one.model_dump(include={"variant", "type", "severity", "description"})
                failure = records.Occurrence(**shared)
                yield _failure_object(benchmark_run_id(self.run, one.variant), failure, one, [])

    @cached_property
    def _findings(self) -> Mapping[str, Finding]:
        store = self.store
        return {} if store is None else evaluation.SuiteFindings(store, self.run.suite).findings

    def _without_benchmarks(self, case: Case) -> Case:
        """The case as its memory has it, whose benchmarks are objects of their own."""
        if not carried_objects(self.run):
            return case
        metadata = {key: item for key, item in case.metadata.items() if key != "benchmarks"}
        return case.model_copy(update={"metadata": metadata})

    def _benchmark(self, benchmark_id: str, score: float | None) -> JsonObject:
        run = self.run
        latest: JsonObject = {"lastRunAt": records.time_text(run.started_at)}
        latest |= {} if score is None else {"lastScore": score}
        for key, fields in records.objects_of(carried_objects(run), "benchmark"):
            if key == benchmark_id:
                return formats.quality_object("benchmark", key, {**fields, **latest})
        least = evaluation.required_value(evaluation.gate_of_run(run))
        if least is None and run.rubric is not None:
            least = run.rubric.pass_threshold
        optional: JsonObject = {
            "description": run.config.get("description"),
            "passingThreshold": least,
            "dimension": None if run.rubric is None else run.rubric.name,
            "ownerId": run.config.get("owner"),
            "status": run.config.get("status", "active"),
        }
        own: JsonObject = {"name": run.suite, "testCaseIds": [*self.case_ids]}
        theirs = (self.shared or {}).get(benchmark_id, {})
        present = {name: item for name, item in optional.items() if item is not None}
        return formats.quality_object(
            "benchmark", benchmark_id, {**own, **present, **latest, **theirs}
        )

    def _answer(self, answer: Outcome) -> Iterator[JsonObject]:
        result = answer.result
        rubric, rubric_id = evaluation.rubric_of_result(answer.result, self.run), None
        if rubric is not None:
            rubric_id, is_new = self.rubrics.of(rubric, result.case)
            yield from formats.rubric_objects(rubric, rubric_id) if is_new else ()
        if result.case.id not in self.case_ids:
            self.case_ids[result.case.id] = None
            own = _benchmarks_of(result.case)
            # Only a benchmark that all cases belong to can be the benchmark of the run.
            before = own if self.shared is None else self.shared
            self.shared = {name: fields for name, fields in before.items() if name in own}
            yield formats.case_object(self._without_benchmarks(result.case), rubric_id)
        self.run_ids.setdefault(result.variant, []).append(_run_object_id(result))
        yield _run_object(answer, self.run)
        if rubric is not None and rubric_id is not None:
            yield from _judgment_objects(answer, rubric, rubric_id)
        yield from self._failure(answer, rubric, rubric_id)


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
    return records.config_rows(run, evaluation.MEMORY_KEY)


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
    own = dict(records.objects_of(carried_objects(run), "benchmark"))
    dimension = own.get(benchmark_id, {}).get("dimension")
    for trend in evaluation.trend_of_suite(store, run.suite):
        # Nothing is compared over a break, so it begins after the last one.
        points = trend.since_break
        if trend.variant not in variants or not points:
            continue
        listed = [
            {
                "date": records.time_text(point.at),
                "score": point.figure.value,
                "benchmarkRunId": f"{point.run}/{trend.variant}",
            }
            for point in points
        ]
        fields: JsonObject = {
            "benchmarkId": benchmark_id,
            "dimension": str(dimension or trend.measure),
            "dataPoints": json.dumps(listed),  # a text by the format
            "direction": trend.direction.direction,
            "lastComputedAt": records.time_text(points[-1].at),
            "reason": trend.direction.reason,
            "escalated": trend.escalation.value,
            "measure": trend.measure,
            "variant": trend.variant,
        }
        yield formats.quality_object("eval-trend", f"{benchmark_id}/{trend.variant}/trend", fields)


def comparison_objects(store: RunStore, run: RunInfo, benchmark_id: str) -> Iterator[JsonObject]:
    """The comparisons of a run's variants, each as a `prompt-comparison`."""
    # They are the blind ones that are stored, those of scores that an approval rests on, and the
    # scores of both variants of a run with two.
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
    if run.id in {info.a.run_id, info.b.run_id}:
        return True
    sides = {info.a.variant, info.b.variant}
    return info.suite == run.suite and sides <= {variant.id for variant in run.variants}


def _compared_scores(
    store: RunStore, run: RunInfo, approvals: Sequence[Approval]
) -> list[tuple[_Side, _Side, list[Approval]]]:
    pairs: dict[str, tuple[_Side, _Side, list[Approval]]] = {}
    for approval in approvals:
        names = [
            name for name in approval.evidence if not name.startswith(records.COMPARISON_ID_PREFIX)
        ]
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
        first, second, measure = evaluation.paired_sides(store, *sides)
        alpha = approvals[0].alpha if approvals else 0.05
        found = evaluation.compare_side_scores(
            first, second, (a, b), alpha=alpha, notes=measure.notes
        )
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

    summary = evaluation.summarize_comparison(store, info, watch=watch)
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
        "scoreA": _known(scores[0]),
        "scoreB": _known(scores[1]),
        "winner": winner,
        "winnerSide": None if decision.winner is None else decision.winner.upper(),
        "sampleSize": len(cases),
        "comparedAt": records.time_text(at),
        "notes": "; ".join([decision.reason, *notes]),
        "testCaseIds": [*cases],
        "p": decision.p,
        **more,
    }
    return formats.quality_object("prompt-comparison", name, fields)
