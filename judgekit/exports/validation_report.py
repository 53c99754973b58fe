"""Writes a run as a validation report (S2.8): dimensions with evidence, tier, recommendations."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import nsmallest
from math import isnan
from typing import TYPE_CHECKING

from judgekit.evaluation import RunTally, gate_of_run, required_value
from judgekit.exports.tabular import RunFormat, write_object
from judgekit.records import Rubric, meets_threshold, words_text
from judgekit.report import FAILURE_WORDS, TARGET_ERROR_WORDS, format_count
from judgekit.scoring import TIERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from judgekit.evaluation import Outcome, VariantFigures
    from judgekit.records import Case, JsonObject, Judgment, RunInfo
    from judgekit.stats.estimate import Estimate

# Three pieces of evidence are enough for a reader to see what a dimension is about.
_SHOWN = 3
_LONGEST = 300
_HALF = 0.5

# Used where neither the gate names a tier or threshold nor the rubric has a threshold above 0.
_DEFAULT_TIER = "development"


def _write_report(path: Path, run: RunInfo, answers: Iterable[Outcome]) -> None:
    # Figures are on [0, 1], each with its interval; what is not known is null.
    evidence: defaultdict[tuple[str, str], _Evidence] = defaultdict(_Evidence)
    tally = RunTally(run)
    for answer in answers:
        tally.take(answer)
        result = answer.result
        for judgment in result.judgments:
            evidence[result.variant, judgment.criterion].take(judgment, result.case)
    variants = tally.summary().variants
    reports = [_report(run, each, evidence) for each in variants if each.n_answers]
    # One variant is the usual case, and its report then needs no list around it.
    whole: JsonObject = reports[0] if len(reports) == 1 else {"reports": [*reports]}
    write_object(path, whole)


VALIDATION = RunFormat(
    "validation",
    "validation report: dimensions, evidence, tier, recommendations (.yaml)",
    (".yaml", ".yml"),
    "a validation report",
    _write_report,
    own_suffixes=(".yaml", ".yml"),
)


@dataclass(slots=True)
class _Evidence:
    """The judgments of one criterion of one variant; memory does not grow with their number."""

    n: int = 0
    n_asked: int = 0  # judgments of models, which are asked for a passage of the output
    n_with_quote: int = 0  # those of them with a passage that was found in the output
    # The lowest values, with their order and a line about each.
    lowest: list[tuple[float, int, str]] = field(default_factory=list)
    # Weights and pass values of the criterion in the cases' own rubrics.
    settings: set[tuple[float, float | None]] = field(default_factory=set)

    def take(self, judgment: Judgment, case: Case) -> None:
        self.n += 1
        criteria = case.rubric.criteria if isinstance(case.rubric, Rubric) else ()
        self.settings |= {
            (c.weight, c.pass_value) for c in criteria if c.name == judgment.criterion
        }
        quotes = [piece.quote for piece in judgment.evidence if piece.found]
        self.n_asked += judgment.source == "llm"
        self.n_with_quote += judgment.source == "llm" and bool(quotes)
        if len(self.lowest) == _SHOWN and judgment.value >= self.lowest[-1][0]:
            return
        quoted = f' ("{_short(quotes[0])}")' if quotes else ""
        line = f"{case.id}, {judgment.value:.2f}: {_short(judgment.rationale)}{quoted}"
        self.lowest = nsmallest(_SHOWN, [*self.lowest, (judgment.value, self.n, line)])

    def sentence(self) -> str:
        if not self.n:
            return "no judgment"
        head = format_count(self.n, "judgment")
        if self.n_asked:
            head += f", {self.n_with_quote} of {self.n_asked} with a passage found in the output"
        return f"{head}; lowest: " + "; ".join(line for _, _, line in self.lowest)


def _report(
    run: RunInfo, figures: VariantFigures, evidence: Mapping[tuple[str, str], _Evidence]
) -> JsonObject:
    threshold, basis = _threshold(run)
    value = figures.value.value
    overall = _number(value)
    dimensions = [
        _dimension(name, estimate, run, threshold, evidence[figures.variant, name])
        for name, estimate in figures.criteria.items()
    ]
    shown: JsonObject = {
        one.name: _dimension_object(one.estimate, one.weight, words_text(one.evidence.sentence()))
        for one in dimensions
    }
    # A run without a judge has assertions as dimensions.
    for kind, rate in {} if shown else figures.assertions.items():
        holds = f"holds for {rate.value:.0%} of the answers it was decided for"
        shown[kind] = _dimension_object(rate, None, holds if rate.n else "decided for no answer")
    return {
        "component": words_text(figures.variant),
        "suite": words_text(run.suite),
        "run": run.id,
        "status": run.status,
        "timestamp": run.started_at.isoformat(),
        "overall_score": overall,
        "interval": _interval(figures.value),
        "threshold": threshold,
        "threshold_of": basis,
        "passed": None if overall is None else meets_threshold(value, threshold),
        "tier": next((t for t, least in TIERS.items() if meets_threshold(value, least)), None),
        "pass_rate": _number(figures.pass_rate.value),
        "answers": {
            "passed": figures.n_passed,
            "failed": figures.n_failed,
            "undecided": figures.n_undecided,
            "errors": figures.n_errors,
        },
        "dimensions": {words_text(name): fields for name, fields in shown.items()},
        "recommendations": [words_text(r) for r in _advice(figures, dimensions, threshold)],
    }


def _dimension(
    name: str, estimate: Estimate, run: RunInfo, threshold: float, evidence: _Evidence
) -> _Dimension:
    # Cases may have rubrics of their own; only a setting that all of them share is reported.
    settings = evidence.settings
    if run.rubric is not None:
        settings = {(c.weight, c.pass_value) for c in run.rubric.criteria if c.name == name}
    weight, pass_value = next(iter(settings)) if len(settings) == 1 else (None, None)
    wanted = threshold if pass_value is None else pass_value
    return _Dimension(name, estimate, weight, wanted, evidence)


def _dimension_object(estimate: Estimate, weight: float | None, evidence: str) -> JsonObject:
    return {
        "score": _number(estimate.value),
        "interval": _interval(estimate),
        "weight": weight,
        "evidence": evidence,
    }


def _threshold(run: RunInfo) -> tuple[float, str]:
    gate = gate_of_run(run)
    if (least := required_value(gate)) is not None:
        return least, "threshold of the gate" if gate.tier is None else f"tier {gate.tier}"
    if run.rubric is not None and run.rubric.pass_threshold > 0:
        return run.rubric.pass_threshold, f"rubric {words_text(run.rubric.name)}"
    return TIERS[_DEFAULT_TIER], f"tier {_DEFAULT_TIER}"


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


def _advice(
    figures: VariantFigures, dimensions: Sequence[_Dimension], threshold: float
) -> Iterator[str]:
    yield from _weak(dimensions)
    names = [dimension.name for dimension in dimensions]
    for kind, rate in figures.assertions.items():
        # The judge `heuristic` made criteria of some.
        is_criterion = any(name.startswith(kind) for name in names)
        if not is_criterion and not isnan(rate.value) and rate.value < 1:
            yield f"Look at the assertion {kind}: it holds for {rate.value:.0%} of the answers"
    for kind, n in figures.errors.items():
        words, what = TARGET_ERROR_WORDS.get(kind, kind), format_count(n, "answer")
        yield f"Fix the system under test: {what} could not be had ({words})"
    for kind, n in figures.failures.items():
        words = FAILURE_WORDS.get(kind, kind)
        what = format_count(n, "judgment is missing", "judgments are missing")
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
            f"Add cases: with {format_count(value.n, 'case')} the overall score may be from "
            f"{value.low:.2f} to {value.high:.2f}, on either side of {threshold:.2f}"
        )


def _weak(dimensions: Sequence[_Dimension]) -> Iterator[str]:
    known = sorted(
        (d for d in dimensions if not isnan(d.estimate.value)), key=lambda d: d.estimate.value
    )
    below = [d for d in known if not meets_threshold(d.estimate.value, d.wanted)]
    for dimension in below:
        value = dimension.estimate.value
        yield f"Raise {dimension.name}: {value:.2f}, {dimension.wanted:.2f} wanted{_why(dimension)}"
    if known and not below:
        first = known[0]
        value = first.estimate.value
        yield f"Nothing is below its mark; lowest is {first.name} with {value:.2f}{_why(first)}"


def _why(dimension: _Dimension) -> str:
    lowest = dimension.evidence.lowest
    return f". Lowest: {lowest[0][2]}" if lowest else ""
