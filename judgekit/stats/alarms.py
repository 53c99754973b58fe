"""Evidence behind an alarm: certainty of a drop, baseline of a series, change point.

The rules that raise an alarm are in `trend`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isnan, sqrt
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Result, known_observations, standard_deviation

if TYPE_CHECKING:
    from collections.abc import Sequence

DropEvidence = Literal["strong", "weak", "none"]
_FEWEST_BASELINE_RUNS = 8
_FEWEST_AROUND_A_CHANGE = 2


class TestedDifference(Protocol):
    """A difference with an interval and a two-sided p, such as `PairedProportions`."""

    @property
    def value(self) -> float:
        """Current less previous."""

    @property
    def high(self) -> float:
        """Upper end of its interval."""

    @property
    def p_value(self) -> float:
        """Two-sided p."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline(Result):
    """What is normal for a series."""

    target: float
    """Mean of the baseline runs."""

    sd: float
    """Standard deviation of a run, at least that of drawing the cases."""

    n: int
    """Baseline runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changepoint(Result):
    """Where a series most likely changed its level."""

    at: int
    """Place of the first run after the change, from 0 in the series as given."""

    z: float
    """Largest two-sample statistic over all splits; negative for a fall."""

    p_value: float
    """Share of shuffled series that reach it."""

    n: int
    """Runs with a score."""

    n_resamples: int
    """Shuffles it rests on."""


def drop_evidence(difference: TestedDifference) -> DropEvidence:
    """How certain it is that a rate fell; `trend.pass_rate_drop` does not depend on it."""
    if isnan(difference.p_value):
        return "none"
    half = difference.p_value / 2
    one_sided = half if difference.value < 0 else 1 - half
    if one_sided < 0.01 and difference.high < 0:  # noqa: PLR2004 - the definition
        return "strong"
    return "weak" if one_sided < 0.05 else "none"  # noqa: PLR2004 - the definition


def baseline(scores: Sequence[float | None], *, n_cases: int | None = None) -> Baseline:
    """The target and spread for `trend.cusum` from runs known to be good."""
    known, _ = known_observations(scores)
    n = len(known)
    if n < _FEWEST_BASELINE_RUNS:
        raise NotEnoughDataError(f"{n} runs; a baseline needs {_FEWEST_BASELINE_RUNS}")
    target = fsum(known) / n
    sd = standard_deviation(known)
    if n_cases is not None:
        if n_cases < 1 or not all(0 <= score <= 1 for score in known):
            raise ValueError(f"{n_cases} cases a run: it is 1 or more, and scores are rates")
        # At least the noise of drawing the cases: runs that happen to agree would give limits so
        # narrow that the next run is an alarm. Laplace's rate keeps that above 0 at 0 and 1.
        rate = (target * n_cases + 1) / (n_cases + 2)
        sd = max(sd, sqrt(rate * (1 - rate) / n_cases))
    if sd <= 1e-12 * abs(target):
        raise NotEnoughDataError("the runs do not vary; give n_cases, or runs with fresh outputs")
    return Baseline(target=target, sd=sd, n=n)


def changepoint(
    scores: Sequence[float | None], *, rng: np.random.Generator, n_resamples: int = 2000
) -> Changepoint:
    """Where a series most likely changed its level: the split with the largest two-sample z.

    With the p-value of shuffling. A change point is reported; no rule acts on it.
    """
    known, places = known_observations(scores, range(len(scores)))
    y = np.asarray(known)
    if len(y) < 2 * _FEWEST_AROUND_A_CHANGE or np.ptp(y) <= 1e-12 * np.abs(y).max():
        raise NotEnoughDataError("a change needs four scores at least that are not all equal")
    statistics = _split_statistics(y[None, :])[0]
    best = int(np.argmax(np.abs(statistics)))
    shuffled = rng.permuted(np.tile(y, (n_resamples, 1)), axis=1)
    largest = np.abs(_split_statistics(shuffled)).max(axis=1)
    # A shuffle can repeat the series exactly; the last digits may not decide whether it counts.
    reached = int(np.sum(largest >= abs(statistics[best]) * (1 - 1e-9)))
    return Changepoint(
        at=int(str(places[best + _FEWEST_AROUND_A_CHANGE])),
        z=float(statistics[best]),
        # The observed order is one of the shuffles, so that p is never 0 (Phipson & Smyth 2010).
        p_value=(reached + 1) / (n_resamples + 1),
        n=len(y),
        n_resamples=n_resamples,
    )


def _split_statistics(series: np.ndarray) -> np.ndarray:
    """For each row and each split, mean after less mean before, in standard errors."""
    n = series.shape[1]
    before = np.arange(_FEWEST_AROUND_A_CHANGE, n - _FEWEST_AROUND_A_CHANGE + 1)
    sums = np.cumsum(series, axis=1)
    first = sums[:, before - 1] / before
    second = (sums[:, -1:] - sums[:, before - 1]) / (n - before)
    # One standard deviation for all splits: a split whose parts happen to be constant would win by
    # dividing by 0.
    spread = series.std(axis=1, ddof=1, keepdims=True)
    return np.asarray((second - first) / (spread * np.sqrt(1 / before + 1 / (n - before))))
