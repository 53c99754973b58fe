"""Whether stated probabilities are those observed: the gap of both, by bins."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgekit.stats.arguments import whole
from judgekit.stats.conformal import (
    ConformalQuantile,
    ConformalSet,
    conformal_by_group,
    conformal_ordinal_set,
    conformal_quantile,
    conformal_set,
    ordinal_residual,
)
from judgekit.stats.discrimination import auroc
from judgekit.stats.estimate import few_clusters
from judgekit.stats.known import known_clusters
from judgekit.stats.rates import Rate, pooled_proportion, proportion
from judgekit.stats.result import Result
from judgekit.stats.scoring_rules import (
    BrierDecomposition,
    LogLoss,
    brier_decomposition,
    known_probabilities,
    log_loss,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

__all__ = [
    "BinKind",
    "BrierDecomposition",
    "CalibrationError",
    "ConformalQuantile",
    "ConformalSet",
    "LogLoss",
    "ReliabilityBin",
    "auroc",
    "brier_decomposition",
    "conformal_by_group",
    "conformal_ordinal_set",
    "conformal_quantile",
    "conformal_set",
    "ece",
    "log_loss",
    "ordinal_residual",
    "reliability_table",
]

BinKind = Literal["width", "mass"]

_FEW = 200
_CELLS = 500_000
"""Numbers simulated at once: 4 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError(Result):
    """The gap between stated and observed rates, binned."""

    value: float
    """Mean gap over bins, weighted by their items; biased upwards."""

    max_gap: float
    """The largest gap of a bin."""

    n: int
    """Items, or cases of them."""

    n_missing: int
    """Items that lack a side."""

    n_bins: int
    """Bins that hold an item."""

    expected: float
    """The value a perfectly calibrated judge would show here; nan where not simulated."""

    p_value: float
    """How often such a judge would show as much; nan where not simulated."""

    note: str | None = None
    """What to bear in mind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin(Result):
    """One row of a reliability diagram."""

    low: float
    """Lower border; for bins of equal mass the smallest confidence."""

    high: float
    """Upper border; for bins of equal mass the largest confidence."""

    confidence: float
    """Mean confidence."""

    rate: Rate
    """Share that was right, with Wilson's interval."""


def ece(
    confidence: Sequence[float | None],
    correct: Sequence[float | None],
    n_bins: int = 10,
    kind: BinKind = "width",
    *,
    clusters: Sequence[Hashable] | None = None,
    rng: np.random.Generator | None = None,
    n_simulations: int = 500,
) -> CalibrationError:
    """The gap between stated and observed rates: `sum n_b / n |rate_b - confidence_b|`.

    Small samples make it large by chance: a perfectly calibrated judge shows about .1 at 100
    items and ten bins. With `rng` its value under calibration is simulated (Broecker & Smith
    2007); below 200 items read `brier_decomposition` instead. Answers to one case are right or
    wrong together, which makes the gaps larger by chance: with `clusters` the signs of whole cases
    are drawn instead, each keeping its residuals (wild cluster bootstrap: Cameron, Gelbach &
    Miller 2008).

    Args:
        confidence: Stated probabilities in [0, 1]; None and nan are missing.
        correct: 1 or 0, in the order of `confidence`.
        n_bins: Bins, 1 or more.
        kind: `width` (equal widths, closed above) or `mass` (equal numbers; equal confidences
            that straddle a border are dealt in the order given).
        clusters: The case of each item; without, each is a case of its own.
        rng: Source of random numbers for the simulation; None leaves it out.
        n_simulations: Simulated samples, 1 or more.

    Returns:
        The error.

    Raises:
        ValueError: When lengths differ or a value is out of its range.
        NotEnoughDataError: When no item has both sides.
    """
    p, y, n_missing = known_probabilities(confidence, correct)
    n_bins, n_simulations = whole(n_bins=n_bins, n_simulations=n_simulations)
    codes = known_clusters(clusters, confidence, correct)
    n = len(p) if codes is None else int(codes.max()) + 1
    bins = _bins(p, n_bins, kind)
    gaps, shares = _gaps(p, y[None], bins)
    value = float((shares * gaps[0]).sum())
    expected = p_value = nan
    if rng is not None:
        simulated = np.concatenate(
            [gap @ shares for gap in _chance_gaps(p, y, bins, codes, rng, n_simulations)]
        )
        expected = float(simulated.mean())
        p_value = float((1 + (simulated >= value - 1e-12).sum()) / (1 + n_simulations))
    return CalibrationError(
        value=value,
        max_gap=float(gaps[0].max()),
        n=n,
        n_missing=n_missing,
        n_bins=len(shares),
        expected=expected,
        p_value=p_value,
        note=_note(n, is_clustered=codes is not None),
    )


def reliability_table(
    confidence: Sequence[float | None],
    correct: Sequence[float | None],
    n_bins: int = 10,
    kind: BinKind = "width",
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """The rows of a reliability diagram.

    Args:
        confidence: As in `ece`.
        correct: As in `ece`.
        n_bins: As in `ece`.
        kind: As in `ece`.
        clusters: The case of each item; the rates' intervals are then by sums of cases
            (`rates.pooled_proportion`).
        level: Confidence level of the rates' intervals.

    Returns:
        One row for each bin that holds an item, rising.

    Raises:
        ValueError: When lengths differ or a value is out of its range.
        NotEnoughDataError: When no item has both sides.
    """
    p, y, _ = known_probabilities(confidence, correct)
    codes = known_clusters(clusters, confidence, correct)
    (n_bins,) = whole(n_bins=n_bins)
    bins = _bins(p, n_bins, kind)
    rows = []
    for b in np.unique(bins):
        inside = bins == b
        ends = (b / n_bins, (b + 1) / n_bins)
        if kind == "mass":
            ends = (float(p[inside].min()), float(p[inside].max()))
        rate = (
            proportion(int(y[inside].sum()), int(inside.sum()), level=level)
            if codes is None
            else pooled_proportion(y[inside].tolist(), codes[inside].tolist(), level=level)
        )
        rows.append(
            ReliabilityBin(
                low=float(ends[0]),
                high=float(ends[1]),
                confidence=float(p[inside].mean()),
                rate=rate,
            )
        )
    return tuple(rows)


def _bins(p: np.ndarray, n_bins: int, kind: BinKind) -> np.ndarray:
    """The bin of each item, from 0."""
    if n_bins < 1 or kind not in ("width", "mass"):
        raise ValueError(f"{n_bins} bins of equal {kind}; one or more of width or mass")
    if kind == "width":
        inner = np.arange(1, n_bins) / n_bins
        return np.asarray(np.searchsorted(inner, p - 1e-12, side="left"))
    bins = np.empty(len(p), dtype=int)
    for b, places in enumerate(np.array_split(np.argsort(p, kind="stable"), n_bins)):
        bins[places] = b
    return bins


def _gaps(p: np.ndarray, y: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|rate - confidence| of each bin that holds an item, per row of outcomes; and its share."""
    _, group, counts = np.unique(bins, return_inverse=True, return_counts=True)
    member = np.zeros((len(p), len(counts)))
    member[np.arange(len(p)), group] = 1 / counts[group]
    return np.abs(y @ member - p @ member), counts / len(p)


def _chance_gaps(
    p: np.ndarray,
    y: np.ndarray,
    bins: np.ndarray,
    codes: np.ndarray | None,
    rng: np.random.Generator,
    n_simulations: int,
) -> Iterator[np.ndarray]:
    """The gaps of calibrated samples, some at a time: outcomes drawn by p, or cases' signs."""
    many = len(p) if codes is None else int(codes.max()) + 1
    _, group, counts = np.unique(bins, return_inverse=True, return_counts=True)
    pull = np.zeros((many, len(counts)))
    if codes is not None:
        np.add.at(pull, (codes, group), (y - p) / counts[group])
    most = max(1, _CELLS // many)
    for start in range(0, n_simulations, most):
        rows = min(most, n_simulations - start)
        if codes is None:
            yield _gaps(p, (rng.random((rows, many)) < p).astype(float), bins)[0]
        else:
            yield np.abs(rng.choice((-1.0, 1.0), (rows, many)) @ pull)


def _note(n: int, *, is_clustered: bool) -> str | None:
    few = few_clusters(n) if is_clustered else None
    unit = "cases" if is_clustered else "items"
    biased = f"{n} {unit}: biased upwards, read mcb instead" if n < _FEW else None
    return few or biased
