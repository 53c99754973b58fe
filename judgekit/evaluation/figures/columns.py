"""Columns of numbers in which the answers of a run are counted, a few bytes for each."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.stats.estimate import Estimate, cluster_means, undefined
from judgekit.stats.intervals import Rate, clustered_proportion, proportion, rating_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.run import CaseResult

_NONE = float("nan")


@dataclass(slots=True)
class Column:
    """A number of each answer."""

    places: array[int] = field(default_factory=lambda: array("I"))
    """The places of the answers' cases."""

    values: array[float] = field(default_factory=lambda: array("d"))
    """The numbers; nan is missing."""

    repeats: array[int] = field(default_factory=lambda: array("H"))
    """Which time the variant answered the case, from 0."""

    def add(self, result: CaseResult, value: float | None) -> None:
        """Add an answer."""
        self.places.append(result.place)
        self.values.append(_NONE if value is None else value)
        self.repeats.append(result.repeat)

    def last(self) -> dict[int, int]:
        """The last repeat of each case, by its place."""
        found: dict[int, int] = {}
        for place, repeat in zip(self.places, self.repeats, strict=True):
            found[place] = max(repeat, found.get(place, 0))
        return found

    def only(self, last: Mapping[int, int]) -> Column:
        """The answers that are the last of their cases."""
        rows = zip(self.places, self.values, self.repeats, strict=True)
        kept = Column()
        for place, value, repeat in rows:
            if last[place] == repeat:
                kept.places.append(place)
                kept.values.append(value)
                kept.repeats.append(repeat)
        return kept

    def mean(self, level: float) -> Estimate:
        """The mean over cases; each counts once, with the mean of its repeats."""
        known = [(p, v) for p, v in zip(self.places, self.values, strict=True) if not math.isnan(v)]
        if not known:
            return undefined(
                "nothing is known", n=0, method="t with one pseudo-rating", level=level
            )
        means = [v for _, v in known]
        if any(self.repeats):
            means = list(cluster_means(means, [p for p, _ in known]).values())
        missing = [_NONE] * (len(self.values) - len(known))
        return rating_mean([*means, *missing], (0.0, 1.0), continuous=True, level=level)

    def rate(self, level: float) -> Rate:
        """The mean of outcomes over cases, as `mean`, with what it would be at worst and best."""
        known = [value for value in self.values if not math.isnan(value)]
        if any(self.repeats) and known:
            return clustered_proportion(self.values, self.places, level=level)
        n_missing = len(self.values) - len(known)
        return proportion(int(math.fsum(known)), len(known), n_missing=n_missing, level=level)

    def case_means(self) -> dict[int, float]:
        """The mean of the known numbers of each case that has one, by its place."""
        known = [(p, v) for p, v in zip(self.places, self.values, strict=True) if not math.isnan(v)]
        if not any(self.repeats):
            return dict(known)
        means = cluster_means([v for _, v in known], [p for p, _ in known])
        return {place: means[place] for place in dict.fromkeys(place for place, _ in known)}

    def n_varying(self) -> int:
        """How many cases have answers with different numbers."""
        if not any(self.repeats):
            return 0
        seen: defaultdict[int, set[float]] = defaultdict(set)
        for place, value in zip(self.places, self.values, strict=True):
            if not math.isnan(value):
                seen[place].add(value)
        return sum(len(values) > 1 for values in seen.values())


@dataclass(slots=True)
class Group:
    """The answers of a tag, a stratum, or all of them."""

    passed: Column = field(default_factory=Column)
    """Whether each passes."""

    value: Column = field(default_factory=Column)
    """The value of each that is no error."""

    errors: Column = field(default_factory=Column)
    """A 1 for each that is an error."""

    criteria: dict[str, Column] = field(default_factory=dict)
    """The value of each criterion."""

    def take(self, concluded: Concluded) -> None:
        """Count an answer."""
        result = concluded.result
        self.passed.add(result, None if concluded.passed is None else float(concluded.passed))
        if result.output.error is not None:
            self.errors.add(result, 1.0)
            return
        self.value.add(result, concluded.value)
        for criterion in () if concluded.verdict is None else concluded.verdict.criteria:
            column = self.criteria.get(criterion.name)
            if column is None:
                column = self.criteria[criterion.name] = Column()
            column.add(result, criterion.value)

    def only(self, last: Mapping[int, int]) -> Group:
        """The answers that are the last of their cases."""
        return Group(
            self.passed.only(last),
            self.value.only(last),
            self.errors.only(last),
            only_of(self.criteria, last),
        )

    def parts(self, level: float) -> dict[str, object]:
        """What the answers come to."""
        outcomes = Counter(self.passed.values)
        n_passed, n_failed = outcomes[1.0], outcomes[0.0]
        n, n_errors = len(self.passed.values), len(self.errors.values)
        return {
            "n_cases": len(set(self.passed.places)),
            "n_answers": n,
            "n_passed": n_passed,
            "n_failed": n_failed,
            "n_undecided": n - n_passed - n_failed - n_errors,
            "n_errors": n_errors,
            "pass_rate": self.passed.rate(level),
            "value": self.value.mean(level),
            "criteria": {name: column.mean(level) for name, column in self.criteria.items()},
        }


def only_of(columns: Mapping[str, Column], last: Mapping[int, int]) -> dict[str, Column]:
    """Columns without the answers that are not the last of their cases."""
    return {name: column.only(last) for name, column in columns.items()}
