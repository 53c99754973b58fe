"""What goes with the scores of stored runs: tokens, tool calls, model, variant, stratum.

It shows association, never cause: whatever was not varied on purpose may stand for something else
(S2.6, S2.9).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan, log1p
from statistics import fmean, pvariance
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgekit.errors import NotComparableError, NotEnoughDataError, SettingsError
from judgekit.evaluation.comparability import compare_measures
from judgekit.evaluation.outcome import Outcome, conclude_result, last_tries
from judgekit.evaluation.run_config import calibration_changes
from judgekit.stats.attribution import ShapleyR2, shapley_r2
from judgekit.stats.estimate import Estimate, cluster_means
from judgekit.stats.intervals import value_mean
from judgekit.stats.paired import (
    VALUE_STEP,
    amount_difference,
    bounded_difference,
    paired_difference,
)
from judgekit.stats.trend import Changepoint, changepoint

if TYPE_CHECKING:
    from judgekit.records import CaseResult, Output, RunInfo
    from judgekit.store import RunStore

_SEED = 0
_RESAMPLES = 500
_MOST_LEVELS = 12
_MOST_BINS = 6
_FEWEST_ANSWERS = 12
# A predictor that more answers lack is left out; else the answers that lack it are.
_MOST_UNKNOWN = 0.2

ADDED_CONTEXT = "added_context_tokens"
NUMBERS = (ADDED_CONTEXT, "input_tokens", "output_tokens", "tool_calls", "duration_ms")
NAMES = ("model", "variant", "stratum", "run")
"""The predictors: numbers of an answer, and names that it has."""

_SCORE = "score"
# What is no path, also where an answer lacks it.
_AMOUNTS = {*NUMBERS, "cost_usd"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedVariance:
    """How the variance of the scores divides among predictors.

    Attributes:
        names: The predictors that vary.
        shares: Their shares of the variance, in the order of `names`; None where none varies, or
            the score does not.
        left_out: Predictors that do not vary or are unknown, with the reason; the score too.
    """

    names: tuple[str, ...]
    shares: ShapleyR2 | None
    left_out: dict[str, str]
    n_answers: int
    n_cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeBin:
    """The answers of one range of sizes, both ends included."""

    low: float
    high: float
    n_answers: int
    value: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeCurve:
    """The score over a size, such as that of the context.

    Attributes:
        threshold: The value that is good enough.
        safe_limit: The largest size of the last bin up to which every interval stays at or above
            the threshold; None where not even the first does.
        cliff: Where the scores, sorted by size, most likely change their level; a case counts once
            unless its sizes vary more than those of cases.
        cliff_at: The size there; None without a likely change to lower scores.
        variant: The only variant that it is of; None for all of them together.
    """

    by: str
    threshold: float
    bins: tuple[SizeBin, ...]
    safe_limit: float | None
    cliff: Changepoint | None
    cliff_at: float | None
    n_unknown: int
    variant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SideDifference:
    """A variant less another one in one measure, over the cases that both have."""

    variant: str
    against: str
    measure: str
    estimate: Estimate


class AnswerRow(NamedTuple):
    """An answer with a value, and what may go with it."""

    run: str
    case_id: str
    value: float
    numbers: Mapping[str, float]
    names: Mapping[str, str]


def answer_rows(
    store: RunStore, runs: Sequence[RunInfo], *, by: str | None = None
) -> list[AnswerRow]:
    """The answers of runs that have a value; `by` adds the number at a path (`case.metadata.x`)."""
    rows = []
    latest = max(runs, key=lambda run: (run.started_at, run.id))
    for run in runs:
        measure = compare_measures(run, latest)
        if changes := measure.changes or calibration_changes(run, latest):
            raise NotComparableError(
                f"{run.id} and {latest.id} are not comparable: {'; '.join(changes)}",
                hint="explain each by itself, or judge both the same way: judgekit rejudge RUN",
            )
        for result in last_tries(store.results(run.id), run):
            answer = conclude_result(result, measure.a)
            if answer.value is not None:
                rows.append(_row(answer, run, by))
    if len(rows) < _FEWEST_ANSWERS:
        raise NotEnoughDataError(
            f"{len(rows)} answers have a value; explaining their variance takes {_FEWEST_ANSWERS}"
        )
    return rows


def _row(answer: Outcome, run: RunInfo, by: str | None) -> AnswerRow:
    result = answer.result
    numbers = _amounts(result.output)
    if by is not None and by not in _AMOUNTS and (found := _at(result, by)) is not None:
        numbers[by] = found
    names = {"variant": result.variant, "base": result.variant, "run": run.id}
    variant = next((v for v in run.variants if v.id == result.variant), None)
    if variant is not None:
        names["base"] = variant.base_id
        if variant.added_context_tokens is not None:
            numbers[ADDED_CONTEXT] = variant.added_context_tokens
        if variant.model_by_node:
            names["model"] = ", ".join(sorted(set(variant.model_by_node.values())))
    if result.case.stratum is not None:
        names["stratum"] = result.case.stratum
    return AnswerRow(run.id, result.case.id, answer.value or 0.0, numbers, names)


def _amounts(output: Output) -> dict[str, float]:
    usage = output.usage
    known: dict[str, float | None] = {"duration_ms": output.duration_ms}
    if usage is not None:
        known["cost_usd"] = usage.cost_usd
        # A system that reports its cost alone says nothing of tokens.
        if usage.input_tokens or usage.output_tokens:
            known |= {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    if output.trace:
        known["tool_calls"] = sum(event.type == "tool_call" for event in output.trace)
    return {name: value for name, value in known.items() if value is not None}


def _at(result: CaseResult, path: str) -> float | None:
    head, _, rest = path.partition(".")
    if head not in {"case", "output"} or not rest:
        raise SettingsError(
            f"{path!r} is no size of an answer",
            hint=f"give {', '.join(NUMBERS)}, or a path such as case.metadata.context_tokens",
        )
    found: object = (result.case if head == "case" else result.output).to_json()
    for name in rest.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return float(found) if isinstance(found, int | float) else None


def explain_variance(rows: Sequence[AnswerRow]) -> ExplainedVariance:
    """Divide the variance of the scores among what varies between the answers."""
    columns: list[list[float | None]] = []
    groups: list[list[int]] = []
    names: list[str] = []
    left_out: dict[str, str] = {}
    for name in (*NUMBERS, *NAMES):
        if name == ADDED_CONTEXT and all(name not in row.numbers for row in rows):
            continue  # few suites have it
        # One variant at several sizes: the size is a predictor of its own.
        column = "base" if name == "variant" else name
        made = _number_column(rows, name) if name in NUMBERS else _name_columns(rows, column)
        if isinstance(made, str):
            left_out[name] = made
            continue
        groups.append(list(range(len(columns), len(columns) + len(made))))
        columns += made
        names.append(name)
    shares = None
    # Equal scores leave nothing to explain, and yet the variants may differ in what they take.
    if len({row.value for row in rows}) == 1:
        left_out[_SCORE] = "the same for all answers"
    elif names:
        shares = shapley_r2(
            list(map(list, zip(*columns, strict=True))),
            [row.value for row in rows],
            groups,
            clusters=[row.case_id for row in rows],
            n_resamples=_RESAMPLES,
            rng=np.random.default_rng(_SEED),
        )
    n_cases = len({row.case_id for row in rows})
    return ExplainedVariance(
        names=tuple(names), shares=shares, left_out=left_out, n_answers=len(rows), n_cases=n_cases
    )


def _number_column(rows: Sequence[AnswerRow], name: str) -> list[list[float | None]] | str:
    known = [row.numbers.get(name) for row in rows]
    values = [value for value in known if value is not None]
    if (unknown := len(rows) - len(values)) > _MOST_UNKNOWN * len(rows):
        return f"unknown for {unknown} of {len(rows)} answers"
    if min(values) == max(values):
        return "the same for all answers"
    # Sizes differ by factors: twice as many tokens is one step, wherever it begins.
    return [[None if value is None else log1p(value) for value in known]]


def _name_columns(rows: Sequence[AnswerRow], name: str) -> list[list[float | None]] | str:
    known = [row.names.get(name) for row in rows]
    counts = Counter(value for value in known if value is not None)
    if (unknown := len(rows) - counts.total()) > _MOST_UNKNOWN * len(rows):
        return f"unknown for {unknown} of {len(rows)} answers"
    if len(counts) == 1:
        return "the same for all answers"
    # The most frequent is what the others are compared with; rare ones share a column.
    _, *others = (value for value, _ in counts.most_common(_MOST_LEVELS))
    return [
        [None if value is None else float(value == other) for value in known] for other in others
    ]


def size_curve(rows: Sequence[AnswerRow], by: str, threshold: float) -> SizeCurve:
    """The score over a size, its cliff and its safe limit."""
    known = sorted((row.numbers[by], row.case_id, row.value) for row in rows if by in row.numbers)
    if len(known) < _FEWEST_ANSWERS or known[0][0] == known[-1][0]:
        why = "all have the same" if len(known) >= _FEWEST_ANSWERS else f"{len(known)} have it"
        raise NotEnoughDataError(f"no curve over {by}: of {len(rows)} answers {why}")
    bins = tuple(_bins(known))
    safe = None
    for one in bins:
        low = one.value.low
        if isnan(low) or low < threshold:
            break
        safe = one.high
    cliff, cliff_at = _cliff(known)
    return SizeCurve(
        by=by,
        threshold=threshold,
        bins=bins,
        safe_limit=safe,
        cliff=cliff,
        cliff_at=cliff_at,
        n_unknown=len(rows) - len(known),
    )


def _cliff(known: Sequence[tuple[float, str, float]]) -> tuple[Changepoint | None, float | None]:
    """Where the scores most likely change from one size to the next, and where they fall."""
    keys = [(size, case) for size, case, _ in known]
    means = cluster_means([value for *_, value in known], keys)
    keys = list(dict.fromkeys(keys))
    cases = [case for _, case in keys]
    size_of = cluster_means([size for size, _ in keys], cases)
    points = [(size, means[size, case]) for size, case in keys]
    # Answers of a case that have nearly one size are neighbours, and no independent evidence.
    if pvariance(size_of.values()) >= fmean((size - size_of[case]) ** 2 for size, case in keys):
        value_of = cluster_means([value for _, value in points], cases)
        points = [(size, value_of[case]) for case, size in size_of.items()]
    sizes, values = zip(*sorted(points), strict=True)
    splits = [place for place, (low, high) in enumerate(pairwise(sizes), 1) if low < high]
    with suppress(NotEnoughDataError):
        cliff = changepoint(values, splits=splits, rng=np.random.default_rng(_SEED))
        # The usual level
        is_cliff = cliff.z < 0 and cliff.p_value < 0.05  # noqa: PLR2004
        return cliff, sizes[cliff.at] if is_cliff else None
    return None, None


def size_curves(
    rows: Sequence[AnswerRow], by: str | None, threshold: float
) -> tuple[SizeCurve, ...]:
    """The curve over a size; without one, of each variant over the tokens added to its context."""
    if by is not None:
        return (size_curve(rows, by, threshold),)
    curves = []
    sized = [row for row in rows if ADDED_CONTEXT in row.numbers]
    for base in dict.fromkeys(row.names["base"] for row in sized):
        own = [row for row in sized if row.names["base"] == base]
        with suppress(NotEnoughDataError):
            curves.append(replace(size_curve(own, ADDED_CONTEXT, threshold), variant=base))
    return tuple(curves)


def _bins(known: Sequence[tuple[float, str, float]]) -> Iterable[SizeBin]:
    """Each size for itself where there are few, else ranges of about equally many answers."""
    sizes = sorted({size for size, _, _ in known})
    edges = sizes
    if len(sizes) > _MOST_BINS:
        places = np.linspace(0, len(known) - 1, _MOST_BINS + 1)[1:]
        edges = sorted({known[round(place)][0] for place in places})
    start = 0
    for edge in edges:
        end = start
        while end < len(known) and known[end][0] <= edge:
            end += 1
        part = known[start:end]
        if part:
            _, cases, values = zip(*part, strict=True)
            found = value_mean(values, clusters=cases)
            yield SizeBin(low=part[0][0], high=part[-1][0], n_answers=len(part), value=found)
        start = end


_SIDE_MEASURES = ("value", "input_tokens", "output_tokens", "tool_calls", "duration_ms", "cost_usd")


def variants_side_by_side(rows: Sequence[AnswerRow]) -> list[SideDifference]:
    """Each variant less the first one, paired by case: quality, tokens, tool calls, time, cost."""
    # Of variants at several sizes of the context each is compared at the same size.
    by_variant: dict[str, list[AnswerRow]] = defaultdict(list)
    for row in rows:
        by_variant[row.names["variant"]].append(row)
    first, *others = by_variant
    found = (
        _side_difference(by_variant, _opposite(by_variant, first, other), other, measure)
        for other in others
        for measure in _SIDE_MEASURES
    )
    return [one for one in found if one is not None]


def _opposite(by_variant: Mapping[str, Sequence[AnswerRow]], first: str, other: str) -> str:
    """What a variant is compared with: itself at the first size, or another one at its own size."""
    (row, *_), (base, *_) = by_variant[other], by_variant[first]
    if row.names["base"] == base.names["base"]:
        return first
    size = row.numbers.get(ADDED_CONTEXT)
    same = (
        name
        for name, (one, *_) in by_variant.items()
        if one.names["base"] == base.names["base"] and one.numbers.get(ADDED_CONTEXT) == size
    )
    return next(same, first)


def _side_difference(
    by_variant: Mapping[str, Sequence[AnswerRow]], first: str, other: str, measure: str
) -> SideDifference | None:
    """The difference in one measure; None where fewer than two cases have it on both sides."""
    sides = [_case_means(by_variant[name], measure) for name in (first, other)]
    cases = sorted(sides[0].keys() & sides[1].keys())
    if len(cases) <= 1:
        return None
    a, b = ([side[case] for case in cases] for side in sides)
    # Scores as in the table of a run; amounts have no scale.
    estimate: Estimate = (
        bounded_difference(paired_difference(a, b, step=VALUE_STEP, ci="skewed"))
        if measure == "value"
        else amount_difference(a, b)
    )
    return SideDifference(variant=other, against=first, measure=measure, estimate=estimate)


def _case_means(rows: Iterable[AnswerRow], measure: str) -> dict[str, float]:
    known = [
        (row.case_id, row.value if measure == "value" else row.numbers[measure])
        for row in rows
        if measure == "value" or measure in row.numbers
    ]
    means = cluster_means([value for _, value in known], [case for case, _ in known])
    return {str(case): value for case, value in means.items()}
