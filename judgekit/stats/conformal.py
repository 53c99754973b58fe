"""Conformal half-widths and prediction sets: they contain the human score with a stated chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isinf, nan
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.stats.estimate import Result
from judgekit.stats.missing import floats, is_missing
from judgekit.stats.quantiles import SLACK, require

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalQuantile(Result):
    """The residual that covers a share of new items."""

    value: float
    """Half-width; infinite where there are too few residuals for the level."""

    n: int
    """Residuals."""

    alpha: float
    """Share of new items that may be missed."""

    coverage_low: float
    """With 95 % certainty the share covered is at least this; nan where the value is infinite."""

    reason: str | None = None
    """Why the value is infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalSet(Result):
    """The levels that contain the human level with a stated probability."""

    labels: tuple[float, ...]
    """Levels of the scale, in its order; none where the prediction lies far off it."""

    quantile: ConformalQuantile
    """What the set was made with."""


def conformal_quantile(residuals: Sequence[float | None], alpha: float = 0.1) -> ConformalQuantile:
    """The half-width that covers 1 - alpha of new items (Vovk et al. 2005; Lei et al. 2018).

    The k-th smallest residual, `k = ceil((n + 1) (1 - alpha))`. The residuals have to come from
    items the predictions were not fitted on, and new items from the same source. Given these
    residuals the share covered follows Beta(k, n + 1 - k).

    Args:
        residuals: `|human - prediction|` of calibration items; None and nan are left out.
        alpha: Share of new items that may be missed, in (0, 1).

    Returns:
        The half-width; 9 residuals at least are needed for 90 %, 19 for 95 %.
    """
    (alpha,) = require(alpha=alpha)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}; it lies between 0 and 1")
    known = sorted(float(r) for r in residuals if r is not None and not is_missing(r))
    if any(r < 0 for r in known):
        raise ValueError("a residual is negative; give absolute values")
    n = len(known)
    k = ceil((n + 1) * (1 - alpha) - SLACK)
    # With too few residuals no finite bound has the coverage.
    if k > n:
        needed = ceil(1 / alpha - 1 - SLACK)
        reason = f"{n} residuals; {needed} are needed for {1 - alpha:.0%}"
        return ConformalQuantile(value=inf, n=n, alpha=alpha, coverage_low=nan, reason=reason)
    from scipy.special import betaincinv  # noqa: PLC0415 - half a second, only where it is needed

    return ConformalQuantile(
        # Coverage given the residuals is Beta(k, n + 1 - k); its 5 % quantile is what can be
        # relied on.
        value=known[k - 1],
        n=n,
        alpha=alpha,
        coverage_low=float(betaincinv(k, n + 1 - k, 0.05)),
    )


def conformal_set(
    residuals: Sequence[float | None],
    alpha: float,
    prediction: float,
    scale: Sequence[float],
    *,
    spread: float = 1.0,
) -> ConformalSet:
    """The levels within the conformal half-width of a prediction.

    Args:
        residuals: As in `conformal_quantile`; where items differ in how sure the judge is, each
            divided by its spread.
        alpha: Share of new items that may be missed, in (0, 1).
        prediction: The predicted score.
        scale: Levels of the scale.
        spread: The new item's, above 0 (standard deviation of the judge's samples, plus a little).

    Returns:
        The levels; the whole scale where there are too few residuals.
    """
    prediction, spread = require(prediction=prediction, spread=spread)
    if not spread > 0:
        raise ValueError(f"spread is {spread}; it is more than 0")
    quantile = conformal_quantile(residuals, alpha)
    half = quantile.value * spread
    labels = tuple(y for y in scale if isinf(half) or abs(y - prediction) <= half + SLACK)
    return ConformalSet(labels=labels, quantile=quantile)


def conformal_by_group(
    residuals: Sequence[float | None],
    groups: Sequence[Hashable],
    alpha: float = 0.1,
    *,
    min_items: int = 20,
) -> dict[Hashable, ConformalQuantile]:
    """A separate half-width for each group (Mondrian conformal; Vovk et al. 2005).

    Args:
        residuals: As in `conformal_quantile`.
        groups: The group of each: criterion, language, predicted level.
        alpha: Share of new items of each group that may be missed.
        min_items: Groups with fewer residuals get the half-width of all together.

    Returns:
        A half-width a group, in order of appearance.
    """
    if len(groups) != len(residuals):
        raise ValueError(f"{len(residuals)} residuals, but {len(groups)} group names")
    members: dict[Hashable, list[float | None]] = {}
    for residual, name in zip(residuals, groups, strict=True):
        if not is_missing(residual):
            members.setdefault(name, []).append(residual)
    # A small group borrows the quantile of all: its own would be infinite or a matter of chance.
    pooled = conformal_quantile(residuals, alpha)
    return {
        name: conformal_quantile(own, alpha) if len(own) >= min_items else pooled
        for name, own in members.items()
    }


def ordinal_residual(probabilities: Sequence[float], place: int) -> float:
    """The probability of the levels from the mode outwards up to the human's level.

    Args:
        probabilities: A distribution over the levels, in their order.
        place: The place of the human's level, from 0.

    Returns:
        The mass, in (0, 1]: a residual for `conformal_quantile`.
    """
    if not 0 <= place < len(probabilities):
        raise ValueError(f"level {place} of {len(probabilities)}")
    return next(mass for low, high, mass in _outwards(probabilities) if low <= place <= high)


def conformal_ordinal_set(
    residuals: Sequence[float | None],
    alpha: float,
    probabilities: Sequence[float],
    scale: Sequence[float],
) -> ConformalSet:
    """The contiguous levels around the mode that contain the human level (Lu et al. 2022).

    Args:
        residuals: Of `ordinal_residual`, on calibration items.
        alpha: Share of new items that may be missed, in (0, 1).
        probabilities: The new item's distribution over the levels.
        scale: The levels, in the order of `probabilities`.
    """
    if len(scale) != len(probabilities):
        raise ValueError(f"{len(scale)} levels, but {len(probabilities)} probabilities")
    quantile = conformal_quantile(residuals, alpha)
    low, high = 0, -1
    for first, last, mass in _outwards(probabilities):
        if mass <= quantile.value + SLACK:
            low, high = first, last
    return ConformalSet(labels=tuple(scale[low : high + 1]), quantile=quantile)


def _outwards(probabilities: Sequence[float]) -> list[tuple[int, int, float]]:
    """Growing ranges of levels from the mode, the likelier neighbour first, with their mass."""
    p = floats(probabilities)
    if not (p >= 0).all() or not p.sum() > 0:
        raise NotEnoughDataError("a distribution needs a positive mass and no negative part")
    p = p / p.sum()
    # From the mode outwards, so that the set is always an interval of the scale.
    low = high = int(p.argmax())
    ranges = [(low, high, float(p[low]))]
    while high - low + 1 < len(p):
        left = p[low - 1] if low > 0 else -1.0
        right = p[high + 1] if high + 1 < len(p) else -1.0
        low, high = (low - 1, high) if left >= right else (low, high + 1)
        ranges.append((low, high, float(p[low : high + 1].sum())))
    return ranges
