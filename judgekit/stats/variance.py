"""Variance components over items, judges and samples, designs from them, and pass@k."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, fsum, isnan, nan, sqrt

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Figure, Result, finite_floats, is_missing
from judgekit.stats.quantiles import require, require_whole

_NAMES = ("item", "judge", "item_judge", "sample")


@dataclass(frozen=True, slots=True, kw_only=True)
class Components(Result):
    """The variance of a score, split into its sources; an estimate can be negative."""

    item: float
    """Between items."""

    judge: float
    """Between judges: leniency."""

    item_judge: float
    """Judges disagreeing over particular items; holds `sample` where that is nan."""

    sample: float
    """Between repeats of the same judge on the same item."""

    n_items: int
    """Items with a score."""

    n_judges: int
    """Judges with a score."""

    n_scores: int

    n_missing: int
    """Scores that are missing."""

    reason: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DStudy(Result):
    """The reliability of a design with given numbers of items, judges and samples."""

    g_coefficient: float
    """Reliability of an item's mean for ranking items, 0 to 1."""

    phi: float
    """Reliability of an item's mean for its level, 0 to 1."""

    se_mean: float
    """Standard error of the mean over all items."""

    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan(Result):
    """How many samples to take of each item."""

    value: float
    """The best number of samples an item, not rounded; nan where undefined."""

    n_samples: int | None
    """The best whole number, 1 or more; None where undefined."""

    reason: str | None = None


def components(data: Sequence[Sequence[Sequence[float | None]]]) -> Components:
    """Variance components of scores over items, judges and samples.

    Half the mean squared difference between two scores is, for the same item and judge, s; same
    item only, s + ij + j; same judge only, s + ij + i; neither, s + ij + i + j. Solving gives the
    components, for complete data exactly those of the two-way analysis of variance (Brennan 2001),
    and for ragged or missing data a method of moments (Koch 1967). For the noise of a comparison
    give the differences of two variants on the same items and judges.

    Args:
        data: `data[item][judge][sample]`; nan and None are missing, cells may differ in length.

    Returns:
        The raw estimates; nan with a reason where the design does not identify them.

    Raises:
        NotEnoughDataError: When fewer than two items or fewer than two scores are known.
    """
    rows = [
        (score, item, judge)
        for item, judges in enumerate(data)
        for judge, samples in enumerate(judges)
        for score in finite_floats(samples)
        if not isnan(score)
    ]
    items, judges = {item for _, item, _ in rows}, {judge for _, _, judge in rows}
    if len(items) < 2:  # noqa: PLR2004 - a variance needs two
        raise NotEnoughDataError("variance components need scores of two items at least")
    total = sum(len(samples) for per_judge in data for samples in per_judge)
    centre = fsum(score for score, _, _ in rows) / len(rows)
    centred = [(score - centre, item, judge) for score, item, judge in rows]
    sample, item_judge, judge, item = _solve(centred)
    reason = "one sample a cell: item_judge holds sample" if isnan(sample) else None
    if isnan(judge):
        reason = "one judge an item: what is the item's and what the judge's is unknown"
    parts = dict(zip(_NAMES, (item, judge, item_judge, sample), strict=True))
    negative = [name for name, part in parts.items() if part < 0]
    return Components(
        item=item,
        judge=judge,
        item_judge=item_judge,
        sample=sample,
        n_items=len(items),
        n_judges=len(judges),
        n_scores=len(rows),
        n_missing=total - len(rows),
        reason=reason,
        note=f"negative, read as 0: {', '.join(negative)}" if negative else None,
    )


def dstudy(
    components: Components | Mapping[str, float], n_items: int, n_judges: int, n_samples: int
) -> DStudy:
    """The reliability of a design by its numbers of items, judges and samples (Brennan 2001).

    With J judges and k samples: `g = i / (i + ij/J + s/(Jk))`, phi adds `j/J` below, and the
    mean's variance is `i/n + j/J + ij/(nJ) + s/(nJk)`.

    Args:
        components: As `components` gives them, or a mapping with `item`, `judge`, `item_judge`
            and `sample`; negative ones count as 0.
        n_items: Items, 1 or more.
        n_judges: Judges of each item, 1 or more.
        n_samples: Samples of each judge and item, 1 or more.

    Returns:
        The figures; nan with a reason where a component they need is unknown.
    """
    n_items, n_judges, n_samples = require_whole(
        n_items=n_items, n_judges=n_judges, n_samples=n_samples
    )
    if min(n_items, n_judges, n_samples) < 1:
        raise ValueError("a design has at least one item, one judge and one sample")
    known = (
        {name: getattr(components, name) for name in _NAMES}
        if isinstance(components, Components)
        else {name: components[name] for name in _NAMES}
    )
    # max returns a nan only where it is the first argument: an unknown component stays unknown.
    item, judge, item_judge, sample = (max(known[name], 0.0) for name in _NAMES)
    if isnan(sample) and n_samples == 1:
        # With one sample a cell item_judge holds both, here as in the data.
        sample = 0.0
    within = item_judge / n_judges + sample / (n_judges * n_samples)
    level = within + judge / n_judges
    reason = None if item + within > 0 else "nothing varies"
    if isnan(item + level) or isnan(item + within):
        reason = "a component is unknown"
    return DStudy(
        g_coefficient=item / (item + within) if item + within > 0 else nan,
        phi=item / (item + level) if item + level > 0 else nan,
        se_mean=sqrt(item / n_items + judge / n_judges + within / n_items),
        reason=reason,
    )


def optimal_samples(
    var_item: float, var_sample: float, cost_item: float, cost_sample: float
) -> SamplePlan:
    """How many samples of each item give the smallest error for a budget.

    `sqrt(var_sample / var_item * cost_item / cost_sample)` (Brennan 2001; Cochran 1977, 10.6).

    Args:
        var_item: Variance between items, with that of items by judges; 0 or more, nan where it is
            unknown.
        var_sample: Variance between samples of an item, 0 or more, nan where it is unknown.
        cost_item: What one more item costs, 0 or more.
        cost_sample: What one more sample costs, more than 0.

    Returns:
        The number, and the best whole one; undefined with a reason where items do not differ or a
        variance is unknown.
    """
    cost_item, cost_sample = require(cost_item=cost_item, cost_sample=cost_sample)
    if is_missing(var_item) or is_missing(var_sample):
        return SamplePlan(value=nan, n_samples=None, reason="a variance is unknown")
    var_item, var_sample = require(var_item=var_item, var_sample=var_sample)
    if min(var_item, var_sample, cost_item) < 0 or not cost_sample > 0:
        raise ValueError("variances and costs are 0 or more, the cost of a sample is more than 0")
    if var_item == 0:
        return SamplePlan(value=nan, n_samples=None, reason="items do not differ: ask one often")
    best = sqrt(var_sample / var_item * cost_item / cost_sample)
    # The cost is convex in the number: its best whole value is next to the best real one.
    below = max(1, int(best))
    whole = min(
        (below, below + 1),
        key=lambda k: (var_item + var_sample / k) * (cost_item + k * cost_sample),
    )
    return SamplePlan(value=best, n_samples=whole)


def pass_at_k(n: int, c: int, k: int) -> Figure:
    """Chance that at least one of k tries passes: `1 - C(n-c, k) / C(n, k)` (Chen et al. 2021).

    Args:
        n: Tries made, at least k.
        c: Tries that passed, 0 to n.
        k: Tries allowed, 1 or more.

    Returns:
        The unbiased estimate, in [0, 1].

    Raises:
        NotEnoughDataError: When fewer than k tries were made.
    """
    n, c, k = _tries(n, c, k)
    return Figure(value=(comb(n, k) - comb(n - c, k)) / comb(n, k), method="pass@k")


def pass_hat_k(n: int, c: int, k: int) -> Figure:
    """Chance that all of k tries pass: `C(c, k) / C(n, k)` (Yao et al. 2024, tau-bench).

    Args:
        n: Tries made, at least k.
        c: Tries that passed, 0 to n.
        k: Tries that all have to pass, 1 or more.

    Returns:
        The unbiased estimate, in [0, 1].

    Raises:
        NotEnoughDataError: When fewer than k tries were made.
    """
    n, c, k = _tries(n, c, k)
    return Figure(value=comb(c, k) / comb(n, k), method="pass^k")


def _tries(n: int, c: int, k: int) -> tuple[int, int, int]:
    n, c, k = require_whole(n=n, c=c, k=k)
    if not 0 <= c <= n or k < 1:
        raise ValueError(f"{c} of {n} tries passed, {k} allowed: no such counts")
    if n < k:
        raise NotEnoughDataError(f"{n} tries cannot show the result of {k}")
    return n, c, k


def _solve(rows: Sequence[tuple[float, int, int]]) -> tuple[float, float, float, float]:
    """Components sample, item_judge, judge and item from the four kinds of pairs."""
    cells = _pair_sums(rows, lambda item, judge: (item, judge))
    same_item = _pair_sums(rows, lambda item, _: item)
    same_judge = _pair_sums(rows, lambda _, judge: judge)
    every = _pair_sums(rows, lambda *_: 0)
    within = _half_mean(cells)
    between_judges = _half_mean(_less(same_item, cells))
    between_items = _half_mean(_less(same_judge, cells))
    neither = _half_mean(_less(_less(every, same_item), _less(same_judge, cells)))
    # No item was judged by two judges.
    if isnan(between_judges):
        return within, nan, nan, nan
    rest = between_judges + between_items - neither
    shared = rest if isnan(within) else rest - within
    parts = (shared, neither - between_items, neither - between_judges)
    # Differences of nearly equal sums: what rounding leaves would be reported as negative.
    rounding = 1e-12 * _half_mean(every)
    item_judge, judge, item = (0.0 if abs(part) <= rounding else part for part in parts)
    return within, item_judge, judge, item


def _pair_sums(
    rows: Sequence[tuple[float, int, int]], key: Callable[[int, int], Hashable]
) -> tuple[float, int]:
    """Sum of squared differences over unordered pairs with the same key, and their number."""
    # From sums of values and of squares: ragged designs have too many pairs to list.
    groups: dict[Hashable, list[float]] = defaultdict(list)
    for score, item, judge in rows:
        groups[key(item, judge)].append(score)
    squares = (len(g) * fsum(v * v for v in g) - fsum(g) ** 2 for g in groups.values())
    return fsum(squares), sum(comb(len(g), 2) for g in groups.values())


def _less(a: tuple[float, int], b: tuple[float, int]) -> tuple[float, int]:
    return a[0] - b[0], a[1] - b[1]


def _half_mean(pairs: tuple[float, int]) -> float:
    return pairs[0] / pairs[1] / 2 if pairs[1] else nan
