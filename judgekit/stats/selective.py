"""Selective prediction: AUROC, error against coverage, thresholds with a guarantee."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isnan, log, nan, sqrt

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import Interval, chance_interval, fisher_ends
from judgekit.stats.estimate import Counted, Estimate, jackknife_se
from judgekit.stats.intervals import proportion
from judgekit.stats.missing import Values, clustered_pairs, count_units, members, outcomes
from judgekit.stats.quantiles import SLACK, binomial_cdf, check_level, normal_quantile, require
from judgekit.stats.resample import bootstrap

_GRID = tuple(round(0.99 - 0.01 * step, 2) for step in range(50))


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage(Counted):
    """Error among the most confident items, at every coverage."""

    coverage: tuple[float, ...]
    """1/n, 2/n, ..., 1."""

    risk: tuple[float, ...]
    """Mean error of that share; equal confidences share their mean error."""

    aurc: float
    """Mean of the risks."""

    eaurc: float
    """aurc less that of a perfect order: 0 is best."""

    risk_full: float
    """Error of all items."""

    aurc_low: float
    """Lower end of the interval of aurc; nan where it was not resampled, or does not vary."""

    aurc_high: float
    """Upper end of the interval of aurc."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstainThreshold(Counted):
    """The confidence above which the error rate is provably within its limit."""

    threshold: float
    """Accept from this confidence on; nan: accept nothing."""

    coverage: float
    """Share of items that is accepted."""

    risk: float
    """Share of errors among them; nan where none is."""

    risk_high: float
    """Upper bound of that at 1 - delta (Clopper & Pearson 1934); nan where none is."""

    p_value: float
    """p of the last level that was accepted; nan where none was."""

    n_accepted: int

    max_risk: float
    """The error that is allowed."""

    delta: float
    """The chance that it is exceeded nevertheless."""

    reason: str | None = None
    """Why nothing is accepted."""


def risk_coverage(
    confidence: Sequence[float | None],
    correct: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> RiskCoverage:
    """Error among the most confident items, at every coverage (El-Yaniv & Wiener 2010).

    Args:
        confidence: Any scores that rise with confidence; None and nan are missing.
        correct: 1 or 0, in the order of `confidence`.
        clusters: The case of each item; whole cases are resampled.
        n_resamples: Resamples for the interval of the area, 100 or more.
        rng: Source of random numbers; without, there is no interval.
        level: Confidence level in (0, 1) of the area's percentile interval.

    Returns:
        The curve, the area under it, and the area above that of a perfect order (Geifman, Uziel &
        El-Yaniv 2019).
    """
    check_level(level)
    p, wrong, codes, n_missing = _errors(confidence, correct, clusters)
    rows = np.column_stack([p, wrong])
    n = len(rows)
    accepted = np.arange(1, n + 1)
    risk = _risks(rows)
    ends = (nan, nan)
    if rng is not None:
        found = bootstrap(
            rows,
            lambda resample: float(_risks(resample).mean()),
            clusters=None if codes is None else codes.tolist(),
            n_resamples=n_resamples,
            level=level,
            rng=rng,
        )
        ends = found.low, found.high
    errors = int(wrong.sum())
    # A perfect order rejects all errors first: what an AURC can reach at this error rate.
    perfect = np.maximum(0, accepted - (n - errors)) / accepted
    return RiskCoverage(
        coverage=tuple((accepted / n).tolist()),
        risk=tuple(risk.tolist()),
        aurc=float(risk.mean()),
        eaurc=float(risk.mean() - perfect.mean()),
        risk_full=errors / n,
        aurc_low=ends[0],
        aurc_high=ends[1],
        n=count_units(codes, n),
        n_missing=n_missing,
    )


def abstain_threshold(
    confidence: Sequence[float | None],
    correct: Sequence[float | None],
    *,
    max_risk: float,
    delta: float = 0.1,
    grid: Sequence[float] = _GRID,
) -> AbstainThreshold:
    """The confidence from which on the error rate is provably at most `max_risk`.

    Levels are tested from high to low by the exact binomial test of "the error is above
    max_risk", until one is not rejected (fixed-sequence testing: Bauer 1991; Angelopoulos et al.
    2021, "Learn then Test"; Jung, Brahman & Choi 2025). Levels too small to be rejected with no
    error at all, `n < ln delta / ln(1 - max_risk)`, are passed over. So with probability 1 - delta
    the error is within its limit: 22 items without error are needed at 10 % and 10 %. The test
    takes items for independent: of repeats of a case give one.

    Args:
        confidence: Confidences of labelled items; None and nan are missing.
        correct: Whether the judge was right: 1 or 0, in the order of `confidence`.
        max_risk: The error that is allowed, in (0, 1).
        delta: The chance that it is exceeded nevertheless, in (0, 1).
        grid: Levels to test, fixed before the labels were seen.

    Returns:
        The threshold; nan with a reason where no level can be proved.
    """
    max_risk, delta = require(max_risk=max_risk, delta=delta)
    if not (0 < max_risk < 1 and 0 < delta < 1):
        raise ValueError(f"max_risk {max_risk} and delta {delta} lie between 0 and 1")
    if len(grid) == 0:
        raise ValueError("the grid holds no level")
    p, wrong, _, n_missing = _errors(confidence, correct, None)
    # Without any error, so many items are the fewest that can show the risk.
    needed = log(delta) / log(1 - max_risk)
    level, n_wrong, n_accepted, p_value = nan, 0, 0, nan
    reason = f"each level has fewer than the {needed:.0f} items needed"
    # Fixed-sequence testing: from the strictest level down, stopping at the first failure, so that
    # no alpha is split.
    for threshold in sorted(set(grid), reverse=True):
        accepted = p >= threshold - SLACK
        n, errors = int(accepted.sum()), int(wrong[accepted].sum())
        if n < needed - SLACK:
            continue
        p_of_level = binomial_cdf(errors, n, max_risk)
        if p_of_level > delta:
            reason = (
                f"from {threshold:g} on {errors} of {n} are wrong:"
                f" an error of at most {max_risk:g} is not proved"
            )
            break
        level, n_wrong, n_accepted, p_value = threshold, errors, n, p_of_level
    certainty = 1 - 2 * min(delta, 0.49)
    accepted_risk = proportion(n_wrong, n_accepted, method="clopper-pearson", level=certainty)
    return AbstainThreshold(
        threshold=level,
        coverage=n_accepted / len(p),
        risk=accepted_risk.value,
        risk_high=accepted_risk.high,
        p_value=p_value,
        n=len(p),
        n_accepted=n_accepted,
        n_missing=n_missing,
        max_risk=max_risk,
        delta=delta,
        reason=None if n_accepted else reason,
    )


def _risks(rows: np.ndarray) -> np.ndarray:
    """Mean error of the 1, 2, ... most confident rows of confidence and error."""
    order = np.argsort(-rows[:, 0], kind="stable")
    sure, error = rows[order].T
    first = np.flatnonzero(np.concatenate([[True], sure[1:] != sure[:-1]]))
    counts = np.diff(np.append(first, len(sure)))
    # Items with the same confidence share their errors: their order in the file must not matter.
    shared = np.add.reduceat(error, first) / counts
    return np.asarray(np.cumsum(np.repeat(shared, counts)) / np.arange(1, len(sure) + 1))


def _errors(
    confidence: Values, correct: Values, clusters: Sequence[Hashable] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """As `clustered_pairs`, of confidences and whether each is an error."""
    p, y, codes, n_missing = clustered_pairs(confidence, correct, clusters)
    if len(p) == 0:
        raise NotEnoughDataError("no item has both a confidence and an outcome")
    return p, 1 - outcomes(y), codes, n_missing


def auroc(
    confidence: Sequence[float | None],
    correct: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """The chance that a right item has more confidence than a wrong one, ties as half.

    The variance is that of DeLong, DeLong & Clarke-Pearson 1988, taken on Fisher's z of 2A - 1.
    With clusters it is that of a jackknife which leaves out whole cases, with t(G - 1): answers to
    one case are right or wrong together, and their pairs are no independent evidence. No interval
    at 0 and 1, nor where one case alone has what is right, or what is wrong.
    """
    check_level(level)
    p, y, codes, n_missing = clustered_pairs(confidence, correct, clusters)
    y = outcomes(y)
    right, wrong = p[y == 1], p[y == 0]
    units = count_units(codes, len(p))
    value = float(_share_below(right, wrong).mean()) if len(right) and len(wrong) else nan
    if codes is None:
        ends, se = _delong(right, wrong, value, level)
    else:
        ends, se = _without_cases(p, y, codes, level)
    reason = ends.reason
    if isnan(value):
        reason = f"{len(right)} right and {len(wrong)} wrong items: there is nothing to distinguish"
    elif not 0 < value < 1:
        reason = f"the chance is {value:g}: its spread cannot be seen in these data"
    return Estimate(
        value=value,
        low=ends.low,
        high=ends.high,
        level=level,
        n=units,
        n_missing=n_missing,
        method="delong, fisher z" if codes is None else "jackknife over cases, fisher z",
        se=se,
        n_clusters=None if codes is None else units,
        n_observations=len(p),
        reason=reason,
    )


def _delong(
    right: np.ndarray, wrong: np.ndarray, value: float, level: float
) -> tuple[Interval, float]:
    if isnan(value):
        return Interval(nan, nan, None), nan
    beaten, beaten_by = _share_below(right, wrong), 1 - _share_below(wrong, right)
    parts = [(beaten, len(right)), (beaten_by, len(wrong))]
    se = sqrt(sum(float(v.var(ddof=1)) / n if n > 1 else nan for v, n in parts))
    if not se > 0 or not 0 < value < 1:
        return Interval(nan, nan, "too few items for a variance"), se
    # DeLong (1988), on the Fisher z scale of 2 AUC - 1: limits stay inside [0, 1].
    half = normal_quantile(level) * 2 * se / (1 - (2 * value - 1) ** 2)
    low, high = fisher_ends(2 * value - 1, half)
    return Interval((low + 1) / 2, (high + 1) / 2, None), se


def _without_cases(
    p: np.ndarray, y: np.ndarray, codes: np.ndarray, level: float
) -> tuple[Interval, float]:
    """The jackknife over cases, from how many pairs each item wins and each case has of its own."""
    is_right = y == 1
    n_right, n_wrong = int(is_right.sum()), int((~is_right).sum())
    if not (n_right and n_wrong):
        return Interval(nan, nan, None), nan
    won = np.where(
        is_right,
        _share_below(p, p[~is_right]) * n_wrong,
        (1 - _share_below(p, p[is_right])) * n_right,
    )
    total, by_case = float(won[is_right].sum()), np.bincount(codes, won)
    within = np.zeros(len(by_case))
    rights, wrongs = np.bincount(codes, is_right), np.bincount(codes, ~is_right)
    items = members(codes)
    for case in np.flatnonzero((rights > 0) & (wrongs > 0)):
        own = items[case]
        right, wrong = p[own][is_right[own]], p[own][~is_right[own]]
        # Pairs inside a case are subtracted twice, with its right and its wrong items: added back
        # once.
        within[case] = _share_below(right, wrong).sum() * len(wrong)
    pairs = (n_right - rights) * (n_wrong - wrongs)
    left = np.where(pairs > 0, (total - by_case + within) / np.where(pairs > 0, pairs, 1), nan)
    ends = chance_interval(total / (n_right * n_wrong), left, level=level, unit="case")
    return ends, jackknife_se(left)


def _share_below(x: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each x the share of others below it, ties as half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, x, "left") + np.searchsorted(ordered, x, "right")
    return np.asarray(below / (2 * len(others)))
