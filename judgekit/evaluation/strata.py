"""How many cases there are of each stratum, and how many a gate needs to decide about it.

The figures of strata are in `summary`; a gate decides about all cases of a variant, in `gate`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan, sqrt
from typing import TYPE_CHECKING, get_args

from judgekit.evaluation.gate import gate_of_run, required_value, tier_bounds
from judgekit.records import CaseStratum, is_whole_run
from judgekit.scoring import check_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.datasets import Gate
    from judgekit.evaluation.summary import GroupFigures, RunSummary
    from judgekit.scoring import Tier
    from judgekit.stats.estimate import Estimate

FEWEST_CASES = 10
"""A stratum with fewer cases is too small where no tier says how many it needs: the interval of its
pass rate can be half as wide as the scale."""

ASSUMED_DISTANCE = 0.1
"""How far above the tier a value is assumed to be where no run has measured it."""

CLOSEST_DISTANCE = 0.05
"""A measured value nearer to the tier is assumed to be so far from it: to decide about nearer ones
takes thousands of cases."""

# The standard deviation of graded values, where no run has measured it.
_ASSUMED_SD = 0.25
# Of fewer cases a mean and a spread say nothing; those of all cases are taken.
_FEWEST_OBSERVED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumNeed:
    """The cases of a stratum, and how many a gate needs to decide about its value.

    Attributes:
        stratum: None for all cases.
        least: The value that the gate asks for; None where it asks for none, or decides by the
            measured value alone.
        tier: The tier that asks for it; None where a threshold does.
        n_needed: Cases with which the interval of the value ends on one side of `least`, with 80 %
            power; without it `FEWEST_CASES`. Of several variants that which needs most.
        value: The true value that this assumes; None without `least`.
        sd: The standard deviation of the cases' values that this assumes.
        is_observed: Whether both come from a run.
    """

    stratum: str | None
    n_cases: int
    n_needed: int
    least: float | None = None
    tier: Tier | None = None
    value: float | None = None
    sd: float | None = None
    is_observed: bool = False

    @property
    def n_missing(self) -> int:
        """Cases to add."""
        return max(0, self.n_needed - self.n_cases)


def stratum_needs(
    n_cases: Mapping[str | None, int],
    gate: Gate | None,
    values: Iterable[Mapping[str | None, Estimate]] = (),
    *,
    is_graded: bool = True,
) -> tuple[StratumNeed, ...]:
    """The needs of all cases, and of each stratum where any case has one.

    Args:
        n_cases: The cases of each stratum; under None those that have none.
        gate: The gate of the suite.
        values: The values that a run measured, for each variant; under None that of all cases.
        is_graded: Whether values lie between 0 and 1; else cases pass or fail.
    """
    least = None if gate is None or gate.rule == "point" else required_value(gate)
    measured = list(values)
    has_strata = any(name is not None for name in n_cases)
    needs = []
    for name in (None, *get_args(CaseStratum)) if has_strata else (None,):
        n = sum(n_cases.values()) if name is None else n_cases.get(name, 0)
        if gate is None or least is None:
            needs.append(StratumNeed(stratum=name, n_cases=n, n_needed=FEWEST_CASES))
            continue
        known = [found for one in measured if (found := _observed(one, name)) is not None]
        options = [_need(name, n, least, one, is_graded=is_graded) for one in known]
        options = options or [_need(name, n, least, None, is_graded=is_graded)]
        most = max(options, key=lambda one: one.n_needed)
        needs.append(replace(most, tier=gate.tier))
    return tuple(needs)


def small_strata(summary: RunSummary) -> tuple[StratumNeed, ...]:
    """The strata of a run that are empty, or too small for the gate to decide about them."""
    run = summary.run
    # A part of the cases says nothing about how many the suite has.
    is_whole = is_whole_run(run)
    n_shown = max((one.n_cases for one in summary.variants), default=0)
    if not is_whole or n_shown < (run.n_cases or 0):
        return ()
    groups = [one.strata for one in summary.variants]
    n_cases: dict[str | None, int] = {
        name: max(one[name].n_cases for one in groups if name in one)
        for name in dict.fromkeys(name for one in groups for name in one)
    }
    if not n_cases:
        return ()
    values = [
        {None: one.value, **{name: group.value for name, group in one.strata.items()}}
        for one in summary.variants
    ]
    return tuple(
        need
        for need in stratum_needs(n_cases, gate_of_run(run), values)
        if need.stratum is not None
        and need.n_missing
        and not (need.n_cases and _is_decided(need, groups))
    )


def _is_decided(need: StratumNeed, variants: Iterable[Mapping[str, GroupFigures]]) -> bool:
    """Whether the gate decides about a stratum of all variants, few as its cases are."""
    name, least = need.stratum, need.least
    if name is None or least is None:
        return False
    bounds = [tier_bounds(one[name], "interval") for one in variants if name in one]
    return all(check_value(low, high, least) != "inconclusive" for low, high in bounds)


def _observed(values: Mapping[str | None, Estimate], name: str | None) -> Estimate | None:
    for found in (values.get(name), values.get(None)):
        if found is not None and found.n >= _FEWEST_OBSERVED and not isnan(found.se):
            return found
    return None


def _need(
    name: str | None, n: int, least: float, observed: Estimate | None, *, is_graded: bool
) -> StratumNeed:
    # It imports numpy, a sixth of the time of grading from the cache.
    from judgekit.stats.power import sample_size_threshold  # noqa: PLC0415

    # Above a high threshold there is less room than that.
    value = min(least + ASSUMED_DISTANCE, (1 + least) / 2)
    # Values that are 0 or 1 have the standard deviation of a pass rate.
    sd = _ASSUMED_SD if is_graded else sqrt(value * (1 - value))
    if observed is not None:
        value, sd = observed.value, observed.se * sqrt(observed.n)
        if abs(value - least) < CLOSEST_DISTANCE:
            above = min(least + CLOSEST_DISTANCE, (1 + least) / 2)
            value = above if value >= least else least - CLOSEST_DISTANCE
    return StratumNeed(
        stratum=name,
        n_cases=n,
        least=least,
        n_needed=sample_size_threshold(value, least, sd).value,
        value=value,
        sd=sd,
        is_observed=observed is not None,
    )
