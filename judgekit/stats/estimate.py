"""Estimate, the number with its interval that every statistic returns.

The base class of results, and the decision an interval allows. Intervals of means and rates are in
`intervals`.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, fields
from math import fsum, isinf, isnan, nan, sqrt
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np

_T = TypeVar("_T")

LabelsAre = Literal["random", "other"]
"""How labelled items were chosen."""

_OWN = frozenset({float, int, str, bool, type(None)})


class Result:
    """The base of every result: turns numpy's numbers into Python's.

    Results of numpy input then print, compare and serialise like results of Python input.
    """

    __slots__ = ()

    __dataclass_fields__: ClassVar[dict[str, Field[object]]]

    def __init_subclass__(cls) -> None:
        cls.__eq__ = Result._equals  # type: ignore[assignment] # which dataclasses keep

    def _equals(self, other: object) -> bool:
        # In lists nan equals itself, and from Python 3.13 on not where dataclasses compare fields.
        names, same_type = self.__dataclass_fields__, type(other) is type(self)
        mine, others = ([getattr(one, name, None) for name in names] for one in (self, other))
        return same_type and mine == others

    def __post_init__(self) -> None:
        """Turn numpy's numbers into Python's, in tuples too."""
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            own = python_value(value)
            if own is not value:
                object.__setattr__(self, name, own)


def python_value(value: object) -> object:
    """A value with numpy's numbers and texts replaced by Python's own."""
    kind = type(value)
    if kind in _OWN:
        return value if value == value else nan  # noqa: PLR0124 - one nan, so that results compare
    if kind is tuple and isinstance(value, tuple):
        if all(map(_OWN.__contains__, map(type, value))):
            return value
        converted = tuple(map(python_value, value))
        same = all(new is old for new, old in zip(converted, value, strict=True))
        return value if same else converted
    if kind.__module__ == "numpy" and kind.__name__ != "ndarray" and hasattr(value, "item"):
        return value.item()
    return value


_FEW_CLUSTERS = 10
Decision = Literal["better", "worse", "equivalent", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Result):
    """A number with its confidence interval, and what both rest on."""

    value: float
    """The estimate; nan where it is undefined, with a `reason`."""

    low: float
    """Lower end of the interval; nan where there is none."""

    high: float
    """Upper end of the interval; nan where there is none."""

    level: float = 0.95
    """Confidence level of the interval, in (0, 1)."""

    n: int
    """How many independent items it rests on: cases, not their repeats."""

    n_missing: int = 0
    """How many observations were left out."""

    method: str
    """How the interval was made."""

    se: float = nan
    """Standard error, where the method has one."""

    df: float = nan
    """Degrees of freedom, where the method has them."""

    n_clusters: int | None = None
    """How many clusters the observations fall into, where they were clustered."""

    n_observations: int | None = None
    """How many observations were used, where an item may have several."""

    design_effect: float = nan
    """Variance over that of as many independent observations, where they were clustered."""

    reason: str | None = None
    """Why the value or the interval is undefined."""

    note: str | None = None
    """A caveat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(Result):
    """A number without an interval: a probability, a size, a ratio."""

    value: float
    """The number; nan where it is undefined, with a `reason`."""

    method: str
    """How it was computed."""

    reason: str | None = None
    """Why the value is undefined."""

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Result):
    """The base of results that are no estimate but say how many items they rest on."""

    n: int
    """Items, pairs, votes or runs; cases of them where clusters were given."""

    n_missing: int = 0
    """How many were left out: they are missing, or lack a side."""


def carried(found: Estimate, **changes: object) -> dict[str, Any]:
    """The fields of an estimate, some of them changed, for a result that extends it."""
    return {field.name: getattr(found, field.name) for field in fields(Estimate)} | changes


def in_units(method: str, n: int, *, clustered: bool) -> dict[str, Any]:
    """The fields of an estimate that name its units: items, or the clusters that hold them."""
    if not clustered:
        return {"n": n, "method": method}
    return {"n": n, "n_clusters": n, "method": f"{method}, clustered"}


def undefined_estimate(reason: str, *, n: int, method: str, level: float = 0.95) -> Estimate:
    """An estimate the data do not identify."""
    return Estimate(value=nan, low=nan, high=nan, level=level, n=n, method=method, reason=reason)


def is_missing(value: object) -> bool:
    """Whether an observation is missing."""
    # Called for every rating of every coefficient, and nearly all are plain floats.
    if type(value) is float:
        return value != value  # noqa: PLR0124 - nan alone differs from itself
    # Numbers of numpy count as real numbers; arrays do not, and labels may be strings.
    if isinstance(value, Real):
        return bool(value != value)  # noqa: PLR0124 - as above
    return value is None or type(value).__name__ == "NAType"  # that of pandas, which equals nothing


def by_place(x: Sequence[_T] | np.ndarray) -> list[_T]:
    """Its items, or the rows of a table, in their order; None for what is masked."""
    # A pandas series is read by its index, and the items of a frame are its columns.
    rows = cast("Any", x).to_numpy() if hasattr(x, "columns") else x
    return list(rows.tolist() if hasattr(rows, "tolist") else rows)


def finite_floats(x: Sequence[float | None]) -> list[float]:
    """Its items as floats; nan for what is missing."""
    items: list[Any] = by_place(x)
    try:
        values = [nan if is_missing(item) else float(item) for item in items]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"an observation is no number: {error}") from error
    if any(map(isinf, values)):
        raise ValueError("an observation is infinite; give nan where it is missing")
    return values


def known_observations(
    x: Sequence[float | None], clusters: Sequence[Hashable] | None = None
) -> tuple[list[float], list[Hashable]]:
    """The known observations and their clusters; without clusters, each is its own."""
    if clusters is not None and len(clusters) != len(x):
        raise ValueError(f"{len(x)} observations, but {len(clusters)} cluster names")
    names: Sequence[Hashable] = range(len(x)) if clusters is None else clusters
    values = finite_floats(x)
    if not any(map(isnan, values)):
        return values, list(names)
    used = [(v, c) for v, c in zip(values, names, strict=True) if not isnan(v)]
    return [value for value, _ in used], [name for _, name in used]


def cluster_means(x: Sequence[float], clusters: Sequence[Hashable]) -> dict[Hashable, float]:
    """The mean of each cluster."""
    members: dict[Hashable, list[float]] = {}
    for value, name in zip(x, clusters, strict=True):
        members.setdefault(name, []).append(value)
    return {name: fsum(values) / len(values) for name, values in members.items()}


def standard_deviation(x: Sequence[float]) -> float:
    """The standard deviation of a sample, over n - 1."""
    if len(x) == 1:
        return nan
    centre = fsum(x) / len(x)
    return sqrt(fsum((value - centre) ** 2 for value in x) / (len(x) - 1))


def few_clusters(n: int) -> str | None:
    """The note for an interval that rests on fewer than ten clusters."""
    plural = "" if n == 1 else "s"
    return None if n >= _FEW_CLUSTERS else f"{n} cluster{plural} only: the interval is rough"


def jackknife_se(leave_one_out: Sequence[float] | np.ndarray) -> float:
    """`sqrt((n-1)/n sum (value_(-i) - mean)^2)` (Efron & Stein 1981)."""
    n = len(leave_one_out)
    # fsum: the differences of leave-one-out values are near the limit of doubles.
    centre = fsum(leave_one_out) / n
    return sqrt((n - 1) / n * fsum([(v - centre) ** 2 for v in leave_one_out]))


def decide(estimate: Estimate, margin: float) -> Decision:
    """The conclusion that the interval of a difference allows; more is better.

    `better` when the whole interval lies above 0, `worse` when it lies below, `equivalent` when it
    lies inside +-margin, else `inconclusive` (also without an interval).
    """
    if not margin >= 0:
        raise ValueError(f"margin is {margin}; it is 0 or more")
    # nan limits fail every comparison and end as inconclusive, as they should.
    if estimate.low > 0:
        return "better"
    if estimate.high < 0:
        return "worse"
    if -margin < estimate.low and estimate.high < margin:
        return "equivalent"
    return "inconclusive"
