"""What differences between two variants a number of cases can show, before any is observed."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

from judgekit.stats.power import mde_paired, sample_size_mcnemar, sample_size_paired

ASSUMED_DISCORDANT = 0.3
"""The share of cases that just one of two variants passes, where no earlier run says."""

ASSUMED_SD = 0.25
"""The standard deviation of the cases' differences in value, where no earlier run says."""

SOUGHT = 0.05
"""A difference that most would want to see."""

POWER = 0.8
"""The chance to see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detectable:
    """The smallest difference between two variants that the cases can show."""

    measure: Literal["pass_rate", "value"]
    """Of what."""

    smallest: float | None
    """The difference; None where no difference could be shown."""

    n_cases: int
    """By so many cases."""

    n_for_sought: int
    """Cases that are needed to show a difference of 0.05."""

    spread: float
    """What it rests on: for the pass rate the share of cases that just one of two variants
    passes, for the value the standard deviation of the cases' differences."""

    is_observed: bool
    """Whether that was observed in an earlier run; else it is assumed."""

    power: float = POWER
    """The chance to see such a difference, at a two-sided error of 5 %."""


def detectable(
    n_cases: int, *, discordant: float | None = None, sd: float | None = None
) -> tuple[Detectable, ...]:
    """What differences between two variants on the same cases a size can show."""
    share = discordant or ASSUMED_DISCORDANT
    spread = sd or ASSUMED_SD
    by_value = mde_paired(n_cases, spread, power=POWER).value
    return (
        Detectable(
            measure="pass_rate",
            smallest=_smallest_change(n_cases, share),
            n_cases=n_cases,
            # At least as many cases differ as the rates do.
            n_for_sought=sample_size_mcnemar(max(share, SOUGHT), SOUGHT, power=POWER).value,
            spread=share,
            is_observed=bool(discordant),
        ),
        Detectable(
            measure="value",
            smallest=by_value if by_value <= 1 else None,
            n_cases=n_cases,
            n_for_sought=sample_size_paired(SOUGHT, spread, power=POWER).value,
            spread=spread,
            is_observed=bool(sd),
        ),
    )


def _smallest_change(n_cases: int, share: float) -> float | None:
    """The smallest change of a pass rate, at most as great as the share of cases that differ."""
    change = mde_paired(n_cases, sqrt(share), power=POWER).value
    if change > share:  # then more cases differ, all in one direction: share and change are one
        change = mde_paired(n_cases, 1.0, power=POWER).value ** 2
    return change if change <= 1 else None
