"""What a suite's latest stored run teaches: how long answers are and take, how variants differ."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations, islice
from math import fsum, sqrt
from statistics import median
from typing import TYPE_CHECKING

from judgekit.evaluation.figures.concluding import conclude_result
from judgekit.evaluation.planning.counting import Length
from judgekit.prompts.rendering import judged_text

if TYPE_CHECKING:
    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.output import Output
    from judgekit.store.runs import RunStore

MOST_ANSWERS = 5_000
"""So many answers of a run are looked at."""

_CHARACTERS_PER_TOKEN = 4
_MOST_RUNS = 5
_FEWEST_CASES = 5
"""Of fewer cases a spread says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    """What an earlier run says of its variants."""

    run_id: str
    """The run."""

    n_answers: int
    """Answers that were looked at."""

    texts: dict[str, Length]
    """How long the answers of each variant are, in tokens (a quarter of their characters)."""

    latency_s: dict[str, float]
    """How long an answer of each variant typically took, in seconds."""

    cost_usd: dict[str, float]
    """What an answer of each variant cost on average, where that is known."""

    discordant: float | None
    """The share of cases on which two variants differ in passing, of the two that differ most."""

    sd: float | None
    """The standard deviation of the cases' differences in value, of the two that differ most."""


@dataclass(slots=True)
class _Seen:
    """The answers of one variant."""

    lengths: list[float] = field(default_factory=list)
    durations_s: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    passed: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    value: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    def take(self, concluded: Concluded) -> None:
        result, output = concluded.result, concluded.result.output
        if output.duration_ms is not None:
            self.durations_s.append(output.duration_ms / 1000)
        if output.usage is not None and output.usage.cost_usd is not None:
            self.costs.append(output.usage.cost_usd)
        if output.error is None:
            self.lengths.append(text_tokens(output))
        if concluded.passed is not None:
            self.passed[result.place].append(float(concluded.passed))
        if concluded.value is not None:
            self.value[result.place].append(concluded.value)


def text_tokens(output: Output) -> float:
    """How long an output is that a judge reads, in tokens."""
    return len(judged_text(output)) / _CHARACTERS_PER_TOKEN


def mean_length(lengths: list[float]) -> Length | None:
    """How long texts are."""
    return Length(fsum(lengths) / len(lengths), max(lengths)) if lengths else None


def experience(
    store: RunStore, suite: str, *, most_answers: int = MOST_ANSWERS
) -> Experience | None:
    """What the latest run of a suite says of its variants."""
    for run in store.runs(suite=suite, limit=_MOST_RUNS):
        seen: defaultdict[str, _Seen] = defaultdict(_Seen)
        n_answers = 0
        for result in islice(store.results(run.id), most_answers):
            seen[result.variant].take(conclude_result(result, run))
            n_answers += 1
        if n_answers:
            return _summed_up(run.id, n_answers, seen)
    return None


def _summed_up(run_id: str, n_answers: int, seen: dict[str, _Seen]) -> Experience:
    known = {name: mean_length(one.lengths) for name, one in seen.items()}
    return Experience(
        run_id=run_id,
        n_answers=n_answers,
        texts={name: length for name, length in known.items() if length is not None},
        latency_s={n: median(one.durations_s) for n, one in seen.items() if one.durations_s},
        cost_usd={n: fsum(one.costs) / len(one.costs) for n, one in seen.items() if one.costs},
        discordant=_widest([_discordant(a, b) for a, b in combinations(seen.values(), 2)]),
        sd=_widest([_sd(a, b) for a, b in combinations(seen.values(), 2)]),
    )


def _widest(spreads: list[float | None]) -> float | None:
    """The greatest: a plan had better promise too little."""
    return max((spread for spread in spreads if spread), default=None)


def _discordant(a: _Seen, b: _Seen) -> float | None:
    """The mean square of the differences; of pass and fail, the share of cases that differ."""
    differences = _differences(a.passed, b.passed)
    return fsum(d * d for d in differences) / len(differences) if differences else None


def _sd(a: _Seen, b: _Seen) -> float | None:
    differences = _differences(a.value, b.value)
    if not differences:
        return None
    centre = fsum(differences) / len(differences)
    return sqrt(fsum((d - centre) ** 2 for d in differences) / (len(differences) - 1))


def _differences(a: dict[int, list[float]], b: dict[int, list[float]]) -> list[float]:
    """Case by case; nothing where there are too few to tell."""
    means = [{p: fsum(values) / len(values) for p, values in side.items()} for side in (a, b)]
    both = means[0].keys() & means[1].keys()
    return [means[1][p] - means[0][p] for p in both] if len(both) >= _FEWEST_CASES else []
