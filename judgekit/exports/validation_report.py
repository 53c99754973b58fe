"""Writes a run as a validation report (S2.8): dimensions with evidence, strata, recommendations.

A recommendation is derived from what the run measured and what its rubric says; no model is called.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import nsmallest
from math import isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from judgekit import evaluation, records, report, scoring
from judgekit.exports.tabular import RunFormat, write_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from judgekit.evaluation import GroupFigures, Outcome, VariantFigures
    from judgekit.records import Finding, JsonObject, RunInfo
    from judgekit.stats.estimate import Estimate

# Three pieces of evidence are enough for a reader to see what a dimension is about.
_SHOWN = 3
_LONGEST = 300
_HALF = 0.5

# Used where neither the gate names a tier or threshold nor the rubric has a threshold above 0.
_DEFAULT_TIER = "development"


def write_validation_report(
    path: Path,
    run: RunInfo,
    answers: Iterable[Outcome],
    findings: Mapping[str, Finding] = MappingProxyType({}),
) -> None:
    """Write the report, with what the findings of the suite, by id, say of each failure."""
    # Figures are on [0, 1], each with its interval; what is not known is null.
    observed: dict[str, _Observed] = {}
    tally = evaluation.RunTally(run)
    for answer in answers:
        tally.take(answer)
        name = answer.result.variant
        if name not in observed:
            observed[name] = _Observed(run, name, findings)
        observed[name].take(answer)
    summary = tally.summary()
    note = report.stratum_note(evaluation.small_strata(summary))
    variants = [one for one in summary.variants if one.n_answers]
    reports = [_report(run, one, observed[one.variant], note) for one in variants]
    # One variant is the usual case, and its report then needs no list around it.
    whole: JsonObject = reports[0] if len(reports) == 1 else {"reports": [*reports]}
    write_object(path, whole)


VALIDATION = RunFormat(
    "validation",
    "validation report: dimensions, evidence, strata, tier, recommendations (.yaml)",
    (".yaml", ".yml"),
    "a validation report",
    write_validation_report,
    own_suffixes=(".yaml", ".yml"),
    # Findings are those of all runs of the suite, which only the store has.
    store_writer=lambda path, run, answers, store: write_validation_report(
        path, run, answers, evaluation.SuiteFindings(store, run.suite).findings
    ),
)


@dataclass(slots=True)
class _Evidence:
    """The judgments of one criterion of one variant; memory does not grow with their number."""

    n: int = 0
    n_asked: int = 0  # judgments of models, which are asked for a passage of the output
    n_with_quote: int = 0  # those of them with a passage that was found in the output
    # The lowest values, with their order, the case and what the judge says of each.
    lowest: list[tuple[float, int, str, str]] = field(default_factory=list)
    # The criterion as the cases' own rubrics have it.
    criteria: dict[records.Criterion, None] = field(default_factory=dict)

    def take(self, judgment: records.Judgment, case: records.Case) -> None:
        self.n += 1
        criteria = case.rubric.criteria if isinstance(case.rubric, records.Rubric) else ()
        self.criteria |= {c: None for c in criteria if c.name == judgment.criterion}
        quotes = [piece.quote for piece in judgment.evidence if piece.found]
        self.n_asked += judgment.source == "llm"
        self.n_with_quote += judgment.source == "llm" and bool(quotes)
        if len(self.lowest) == _SHOWN and judgment.value >= self.lowest[-1][0]:
            return
        quoted = f' ("{_short(quotes[0])}")' if quotes else ""
        line = f"{_short(judgment.rationale)}{quoted}"
        self.lowest = nsmallest(_SHOWN, [*self.lowest, (judgment.value, self.n, case.id, line)])

    def sentence(self) -> str:
        if not self.n:
            return "no judgment"
        head = report.format_count(self.n, "judgment")
        if self.n_asked:
            head += f", {self.n_with_quote} of {self.n_asked} with a passage found in the output"
        lines = (f"{case}, {value:.2f}: {line}" for value, _, case, line in self.lowest)
        return f"{head}; lowest: " + "; ".join(lines)


class _Observed:
    """The judgments of a variant, and the cases that failed."""

    def __init__(self, run: RunInfo, variant: str, findings: Mapping[str, Finding]) -> None:
        self._run, self._variant, self._findings = run, variant, findings
        self.evidence: defaultdict[str, _Evidence] = defaultdict(_Evidence)
        self.failures: dict[str, records.Occurrence] = {}

    def take(self, answer: Outcome) -> None:
        result = answer.result
        for judgment in result.judgments:
            self.evidence[judgment.criterion].take(judgment, result.case)
        failure = evaluation.failure_of(answer, self._run)
        if failure is not None:
            self.failures.setdefault(result.case.id, failure)
        elif self._run.repeats == 1:
            # Of several tries only the last counts.
            self.failures.pop(result.case.id, None)

    def type_of(self, case_id: str) -> records.FindingType | None:
        """What went wrong with a case, as a user classified it or else as it was observed."""
        failure = self.failures.get(case_id)
        return None if failure is None else (self.finding(case_id) or failure).type

    def finding(self, case_id: str | None) -> Finding | None:
        """The finding of a case, under None that of the whole run."""
        return self._findings.get(evaluation.finding_id(self._run.suite, self._variant, case_id))

    def described(self, case_id: str, *, names_type: bool = True) -> str:
        """A case with its finding: `c3 (refusal in 2 runs)`."""
        if case_id not in self.failures:
            return case_id
        finding = self.finding(case_id)
        n_runs = 1 if finding is None else finding.n_runs
        runs = f" in {n_runs:,} runs" if n_runs > 1 else ""
        return f"{case_id} ({self.type_of(case_id)}{runs})" if names_type else f"{case_id}{runs}"

    def cases(self, case_ids: Sequence[str], *, names_types: bool = True) -> str:
        """The first of some cases with their findings, and how many more there are."""
        more = len(case_ids) - _SHOWN
        shown = (self.described(one, names_type=names_types) for one in case_ids[:_SHOWN])
        return ", ".join(shown) + (f" and {more} more" if more > 0 else "")

    def regression(self) -> str | None:
        """How far the pass rate fell in this run, where it fell critically."""
        found = self.finding(None)
        is_of_run = found is not None and found.last_run == self._run.id
        return found.description if found is not None and is_of_run else None


def _report(
    run: RunInfo, figures: VariantFigures, observed: _Observed, stratum_words: str
) -> JsonObject:
    threshold, basis = _threshold(run)
    overall = _number(figures.value.value)
    # An answer without a value, such as one that lost a check, could be worth nothing.
    low, high = evaluation.tier_bounds(figures.value, "point")
    if run.status not in records.FINISHED_STATUSES:  # it lacks answers, which decide nothing
        low, high = -1.0, 1.0
    decided = {records.meets_threshold(bound, threshold) for bound in (low, high)}
    dimensions = [
        _dimension(name, estimate, run, threshold, observed.evidence[name])
        for name, estimate in figures.criteria.items()
    ]
    words = records.words_text
    shown: JsonObject = {
        one.name: _dimension_object(one.estimate, one.weight, words(one.evidence.sentence()))
        for one in dimensions
    }
    tiers = (t for t, least in scoring.TIERS.items() if records.meets_threshold(low, least))
    # A run without a judge has assertions as dimensions.
    for kind, rate in {} if shown else figures.assertions.items():
        holds = f"holds for {rate.value:.0%} of the answers it was decided for"
        shown[kind] = _dimension_object(rate, None, holds if rate.n else "decided for no answer")
    return {
        "component": words(figures.variant),
        "suite": words(run.suite),
        "run": run.id,
        "status": run.status,
        "timestamp": run.started_at.isoformat(),
        "overall_score": overall,
        "interval": _interval(figures.value),
        "threshold": threshold,
        "threshold_of": basis,
        "passed": None if overall is None or len(decided) > 1 else decided.pop(),
        "tier": next(tiers, None),
        "pass_rate": _number(figures.pass_rate.value),
        "answers": {
            name: getattr(figures, f"n_{name}")
            for name in ("passed", "failed", "undecided", "errors")
        },
        "dimensions": {words(name): fields for name, fields in shown.items()},
        "strata": _groups(figures.strata, get_args(records.CaseStratum) if figures.strata else ()),
        "tags": _groups(figures.tags),
        "recommendations": [
            words(text)
            for text in (
                *_advice(figures, dimensions, observed, threshold),
                *([f"Add cases to the strata: {stratum_words}"] if stratum_words else []),
            )
        ],
    }


def _groups(groups: Mapping[str, GroupFigures], names: Iterable[str] = ()) -> JsonObject:
    # A stratum without a case is shown as one, so that its absence is seen.
    empty: JsonObject = {name: {"n_cases": 0} for name in names if name not in groups}
    return empty | {
        records.words_text(name): {
            "n_cases": one.n_cases,
            "score": _number(one.value.value),
            "interval": _interval(one.value),
            "pass_rate": _number(one.pass_rate.value),
            "pass_rate_interval": _interval(one.pass_rate),
        }
        for name, one in groups.items()
    }


def _dimension(
    name: str, estimate: Estimate, run: RunInfo, threshold: float, evidence: _Evidence
) -> _Dimension:
    # Cases may have rubrics of their own; only a setting that all of them share is reported.
    of_run = () if run.rubric is None else run.rubric.criteria
    known = [one for one in of_run if one.name == name] or [*evidence.criteria]
    settings = {(one.weight, one.pass_value) for one in known if one in of_run or not of_run}
    weight, pass_value = next(iter(settings)) if len(settings) == 1 else (None, None)
    wanted = threshold if pass_value is None else pass_value
    same = len({one.fingerprint for one in known}) == 1
    return _Dimension(name, estimate, weight, wanted, evidence, known[0] if same else None)


def _dimension_object(estimate: Estimate, weight: float | None, evidence: str) -> JsonObject:
    return {
        "score": _number(estimate.value),
        "interval": _interval(estimate),
        "weight": weight,
        "evidence": evidence,
    }


def _threshold(run: RunInfo) -> tuple[float, str]:
    gate = evaluation.gate_of_run(run)
    if (least := evaluation.required_value(gate)) is not None:
        return least, "threshold of the gate" if gate.tier is None else f"tier {gate.tier}"
    if run.rubric is not None and run.rubric.pass_threshold > 0:
        return run.rubric.pass_threshold, f"rubric {records.words_text(run.rubric.name)}"
    return scoring.TIERS[_DEFAULT_TIER], f"tier {_DEFAULT_TIER}"


def _number(value: float) -> float | None:
    return None if isnan(value) else round(value, 4)


def _interval(estimate: Estimate) -> JsonObject | None:
    low, high = _number(estimate.low), _number(estimate.high)
    if low is None or high is None:
        return None
    return {"low": low, "high": high, "level": estimate.level, "n": estimate.n}


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


@dataclass(frozen=True, slots=True)
class _Dimension:
    """One criterion of one variant, with the basis of its figures."""

    name: str
    estimate: Estimate
    weight: float | None  # None where only cases' own rubrics have it
    wanted: float  # the value from which it is good enough
    evidence: _Evidence
    criterion: records.Criterion | None  # None where cases ask different questions under this name

    @property
    def shortfall(self) -> float:
        """How far it is below its mark, times its weight: what it costs the overall score."""
        return (self.wanted - self.estimate.value) * (1.0 if self.weight is None else self.weight)


def _advice(
    figures: VariantFigures, dimensions: Sequence[_Dimension], observed: _Observed, threshold: float
) -> Iterator[str]:
    yield from _weak(dimensions, observed)
    yield from _findings_advice(figures, observed)
    names = [dimension.name for dimension in dimensions]
    for kind, rate in figures.assertions.items():
        # The judge `heuristic` made criteria of some.
        is_criterion = any(name.startswith(kind) for name in names)
        if not is_criterion and not isnan(rate.value) and rate.value < 1:
            yield f"Look at the assertion {kind}: it holds for {rate.value:.0%} of the answers"
    for kind, n in figures.failures.items():
        words = report.FAILURE_WORDS.get(kind, kind)
        what = report.format_count(n, "judgment is missing", "judgments are missing")
        yield f"Have it judged in full: {what} ({words}); missing ones count neither way"
    for one in dimensions:
        n_asked = one.evidence.n_asked
        bare = n_asked - one.evidence.n_with_quote
        if bare > n_asked * _HALF:
            yield (
                f"Check {one.name} by hand: {bare} of {n_asked} judgments "
                "quote nothing that is found in the output"
            )
    value = figures.value
    # A comparison with nan is False, so an unknown interval gives no advice.
    if value.low < threshold <= value.high:
        yield (
            f"Add cases: with {report.format_count(value.n, 'case')} the overall score may be from "
            f"{value.low:.2f} to {value.high:.2f}, on either side of {threshold:.2f}"
        )


def _weak(dimensions: Sequence[_Dimension], observed: _Observed) -> Iterator[str]:
    known = sorted(
        (d for d in dimensions if not isnan(d.estimate.value)), key=lambda d: -d.shortfall
    )
    below = [d for d in known if not records.meets_threshold(d.estimate.value, d.wanted)]
    for one in below:
        weight = "" if one.weight is None else f" (weight {one.weight:g})"
        score = f"{report.format_mean(one.estimate)}, {one.wanted:.2f} wanted{weight}"
        yield f"Raise {one.name}: {score}.{_aim(one)}{_why(one, observed)}"
    if known and not below:
        first = min(known, key=lambda d: d.estimate.value)
        lowest = f"lowest is {first.name} with {report.format_mean(first.estimate)}"
        yield f"Nothing is below its mark; {lowest}.{_aim(first)}{_why(first, observed)}"


def _aim(dimension: _Dimension) -> str:
    """What the rubric says that an output has to do for a better score."""
    criterion, value = dimension.criterion, dimension.estimate.value
    if criterion is None:
        return ""
    scale = criterion.scale
    # The lowest level that is good enough: one that is better than now and still fails is no aim.
    better = sorted(
        (level_value, level)
        for level in scale.levels
        if (level_value := scale.value_of(level.value)) > value
        and records.meets_threshold(level_value, dimension.wanted)
    )
    for level_value, level in better:
        if level.description is not None:
            name = f"{level.name} ({level_value:.2f})" if level.name else f"{level_value:.2f}"
            return f" The rubric asks for {name}: {_sentence(level.description)}"
    if criterion.scoring_guide is not None:
        return f" The scoring guide says: {_sentence(criterion.scoring_guide)}"
    return f" The question is: {_sentence(criterion.question)}"


def _sentence(text: str) -> str:
    short = _short(text)
    return short if short.endswith((".", "!", "?", "…")) else f"{short}."


def _why(dimension: _Dimension, observed: _Observed) -> str:
    lines = (
        f"{observed.described(case)}, {value:.2f}: {line}"
        for value, _, case, line in dimension.evidence.lowest
    )
    text = "; ".join(lines)
    return f" Lowest: {text}" if text else ""


# Of a wrong output the criteria say what to change, and a regression is one of the whole run.
_CHANGES: Mapping[records.FindingType, str] = MappingProxyType({
    "format-error": "show the required format in the prompt, or validate the output and retry",
    "timeout": "give these cases less to do, or the system more time",
    "refusal": "tell the system that it may answer such inputs, or check the content filter",
    "hallucination": "restrict the system to what its input and context say",
    "crash": "handle this error in the system under test",
})  # fmt: skip


def _findings_advice(figures: VariantFigures, observed: _Observed) -> Iterator[str]:
    failures = observed.failures
    if fell := observed.regression():
        yield f"Find the cause of the drop: {fell}"
    by_step: defaultdict[str, list[str]] = defaultdict(list)
    for case_id, one in failures.items():
        if one.step is not None:
            # The same step can be the third of one trace and the fifth of another.
            by_step[one.step.partition(": ")[2]].append(case_id)
    for kind, change in _CHANGES.items():
        if failed := [case_id for case_id in failures if observed.type_of(case_id) == kind]:
            cases = observed.cases(failed, names_types=False)
            first = _shown(failures[failed[0]], figures)
            affected = report.format_count(len(failed), "case")
            yield f"Fix {kind} in {affected} ({cases}): {change}. {first}"
    for step, cases_of_step in sorted(by_step.items(), key=lambda one: -len(one[1])):
        n, of_all = len(cases_of_step), report.format_count(len(failures), "case")
        first = f"the first failing step in {n} of {of_all} with a finding"
        yield f"Look at {step}: {first}, {observed.cases(cases_of_step)}"


def _shown(failure: records.Occurrence, figures: VariantFigures) -> str:
    """What was observed in the first case of a kind."""
    if failure.type == "timeout" and figures.latency_ms:
        times = figures.latency_ms
        p50, p90 = (report.format_milliseconds(times[name]) for name in ("p50", "p90"))
        return f"Answers took {p50}, one in ten {p90} or more"
    first = f'"{_short(failure.quotes[0])}"' if failure.quotes else _short(failure.description)
    return f"In {failure.case_id}: {first}"
