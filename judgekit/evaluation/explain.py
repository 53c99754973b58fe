"""What goes with the scores of stored runs: tokens, tool calls, model, variant, stratum.

It shows association, never cause: whatever was not varied on purpose may stand for something else
(S2.6, S2.9).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import isnan, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError, SettingsError
from judgekit.evaluation.outcome import conclude_result, last_tries
from judgekit.stats.attribution import shapley_r2
from judgekit.stats.estimate import Estimate, cluster_means
from judgekit.stats.intervals import rating_mean
from judgekit.stats.paired import paired_difference
from judgekit.stats.trend import changepoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.evaluation.outcome import Outcome
    from judgekit.records import CaseResult, RunInfo
    from judgekit.stats.attribution import ShapleyR2
    from judgekit.stats.trend import Changepoint
    from judgekit.store import RunStore

_SEED = 0
_RESAMPLES = 500
_MOST_LEVELS = 12
_MOST_BINS = 6
_FEWEST_ANSWERS = 12
# A predictor that more answers lack is left out; else the answers that lack it are.
_MOST_UNKNOWN = 0.2

NUMBERS = ("input_tokens", "output_tokens", "tool_calls", "duration_ms")
NAMES = ("model", "variant", "stratum", "run")
"""The predictors: numbers of an answer, and names that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedVariance:
    """How the variance of the scores divides among predictors.

    Attributes:
        names: The predictors that vary.
        shares: Their shares of the variance, in the order of `names`; None where none varies.
        left_out: Predictors that do not vary or are unknown, with the reason.
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
        cliff: Where the scores, sorted by size, most likely change their level.
        cliff_at: The size there; None without a likely change to lower scores.
    """

    by: str
    threshold: float
    bins: tuple[SizeBin, ...]
    safe_limit: float | None
    cliff: Changepoint | None
    cliff_at: float | None
    n_unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SideDifference:
    """A variant less the first one in one measure, over the cases that both have."""

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
    for run in runs:
        for result in last_tries(store.results(run.id), run):
            answer = conclude_result(result, run)
            if answer.value is not None:
                rows.append(_row(answer, run, by))
    if len(rows) < _FEWEST_ANSWERS:
        raise NotEnoughDataError(
            f"{len(rows)} answers have a value; explaining their variance takes {_FEWEST_ANSWERS}"
        )
    return rows


def _row(answer: Outcome, run: RunInfo, by: str | None) -> AnswerRow:
    result = answer.result
    output, usage = result.output, result.output.usage
    numbers: dict[str, float] = {}
    if usage is not None:
        numbers |= {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        numbers |= {} if usage.cost_usd is None else {"cost_usd": usage.cost_usd}
    if output.trace:
        numbers["tool_calls"] = sum(event.type == "tool_call" for event in output.trace)
    if output.duration_ms is not None:
        numbers["duration_ms"] = output.duration_ms
    if by is not None and by not in numbers and (found := _at(result, by)) is not None:
        numbers[by] = found
    names = {"variant": result.variant, "run": run.id}
    models = next((v.model_by_node for v in run.variants if v.id == result.variant), {})
    if models:
        names["model"] = ", ".join(sorted(set(models.values())))
    if result.case.stratum is not None:
        names["stratum"] = result.case.stratum
    return AnswerRow(run.id, result.case.id, answer.value or 0.0, numbers, names)


def _at(result: CaseResult, path: str) -> float | None:
    """The number at a path into the case or the output."""
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
        made = _number_column(rows, name) if name in NUMBERS else _name_columns(rows, name)
        if isinstance(made, str):
            left_out[name] = made
            continue
        groups.append(list(range(len(columns), len(columns) + len(made))))
        columns += made
        names.append(name)
    shares = None
    if names:
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
    """The score over a size, its cliff and its safe limit.

    Raises:
        NotEnoughDataError: When fewer than 12 answers have the size, or all have the same.
    """
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
    cliff: Changepoint | None = None
    with_values = [value for _, _, value in known]
    if min(with_values) < max(with_values):
        cliff = changepoint(with_values, rng=np.random.default_rng(_SEED))
    is_cliff = cliff is not None and cliff.z < 0 and cliff.p_value < 0.05  # noqa: PLR2004 - the usual level
    return SizeCurve(
        by=by,
        threshold=threshold,
        bins=bins,
        safe_limit=safe,
        cliff=cliff,
        cliff_at=known[cliff.at][0] if cliff is not None and is_cliff else None,
        n_unknown=len(rows) - len(known),
    )


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
            yield SizeBin(
                low=part[0][0],
                high=part[-1][0],
                n_answers=len(part),
                value=rating_mean(
                    [value for *_, value in part],
                    (0.0, 1.0),
                    continuous=True,
                    clusters=[case for _, case, _ in part],
                ),
            )
        start = end


_SIDE_MEASURES = ("value", "input_tokens", "output_tokens", "tool_calls", "duration_ms", "cost_usd")


def variants_side_by_side(rows: Sequence[AnswerRow]) -> list[SideDifference]:
    """Each variant less the first one, paired by case: quality, tokens, tool calls, time, cost."""
    by_variant: dict[str, list[AnswerRow]] = defaultdict(list)
    for row in rows:
        by_variant[row.names["variant"]].append(row)
    first, *others = by_variant
    found = []
    for other in others:
        for measure in _SIDE_MEASURES:
            sides = [_case_means(by_variant[name], measure) for name in (first, other)]
            cases = sorted(sides[0].keys() & sides[1].keys())
            if len(cases) > 1:
                a, b = ([side[case] for case in cases] for side in sides)
                estimate = paired_difference(a, b)
                found.append(
                    SideDifference(variant=other, against=first, measure=measure, estimate=estimate)
                )
    return found


def _case_means(rows: Iterable[AnswerRow], measure: str) -> dict[str, float]:
    known = [
        (row.case_id, row.value if measure == "value" else row.numbers[measure])
        for row in rows
        if measure == "value" or measure in row.numbers
    ]
    means = cluster_means([value for _, value in known], [case for case, _ in known])
    return {str(case): value for case, value in means.items()}
