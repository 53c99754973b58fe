"""Error rates of a pass/fail judge, the pass rate corrected for them, and labels to spend.

The correction is that of Rogan and Gladen.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, isnan, nan, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np

from judgekit.stats.agreement_coefficients import Interval
from judgekit.stats.estimate import Estimate, Result
from judgekit.stats.intervals import Rate, proportion
from judgekit.stats.quantiles import (
    check_choice,
    normal_quantile,
    require,
    require_whole,
    t_quantile,
)

CorrectionInterval = Literal["lee", "bootstrap"]
_MOST_DROPPED = 0.05
_WEAK = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRates(Result):
    """How often a pass/fail judge is right, by what is true."""

    sensitivity: Rate
    """Share of true passes it passes."""

    specificity: Rate
    """Share of true failures it fails."""

    youden: float
    """TPR + TNR - 1: 1 a perfect judge, 0 a coin."""

    balanced_accuracy: float
    """Mean of TPR and TNR."""

    ppv: float
    """Share of its passes that are true, at the share of passes among these labels."""

    npv: float
    """Share of its failures that are true, at that share."""

    @property
    def tpr(self) -> float:
        """True-positive rate."""
        return self.sensitivity.value

    @property
    def tnr(self) -> float:
        """True-negative rate."""
        return self.specificity.value

    @property
    def tpr_interval(self) -> tuple[float, float]:
        """Wilson's interval of the true-positive rate."""
        return self.sensitivity.low, self.sensitivity.high

    @property
    def tnr_interval(self) -> tuple[float, float]:
        """Wilson's interval of the true-negative rate."""
        return self.specificity.low, self.specificity.high


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate(Estimate):
    """A pass rate corrected for the judge's error rates."""

    raw: float
    """The rate before it was clipped to [0, 1]."""

    observed: float
    """The judge's own pass rate."""

    tpr: float
    """Its true-positive rate."""

    tnr: float
    """Its true-negative rate."""

    n_dropped: int = 0
    """Resamples that left no correction, where it was resampled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelAllocation(Result):
    """Where the next labels help most."""

    n_positive: int
    """Labels of true passes."""

    n_negative: int
    """Labels of true failures."""

    note: str | None = None


def judge_rates(
    true_pos: int, n_pos: int, true_neg: int, n_neg: int, *, level: float = 0.95
) -> JudgeRates:
    """How often a pass/fail judge is right on true passes and on true failures.

    Args:
        true_pos: True passes the judge passed.
        n_pos: True passes.
        true_neg: True failures the judge failed.
        n_neg: True failures.
        level: Confidence level in (0, 1).

    Returns:
        Both rates with Wilson's interval; nan for a class without labels.
    """
    true_pos, n_pos, true_neg, n_neg = require_whole(
        true_pos=true_pos, n_pos=n_pos, true_neg=true_neg, n_neg=n_neg
    )
    sensitivity = proportion(true_pos, n_pos, level=level)
    specificity = proportion(true_neg, n_neg, level=level)
    passed, failed = true_pos + n_neg - true_neg, true_neg + n_pos - true_pos
    return JudgeRates(
        sensitivity=sensitivity,
        specificity=specificity,
        youden=sensitivity.value + specificity.value - 1,
        balanced_accuracy=(sensitivity.value + specificity.value) / 2,
        ppv=true_pos / passed if passed else nan,
        npv=true_neg / failed if failed else nan,
    )


def corrected_pass_rate(
    n_pass: int,
    n: int,
    true_pos: int,
    n_pos: int,
    true_neg: int,
    n_neg: int,
    *,
    ci: CorrectionInterval = "lee",
    design_effect: float = 1.0,
    df: float = inf,
    min_labels: int = 10,
    n_resamples: int = 2000,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
) -> CorrectedRate:
    """A pass rate corrected for the judge's error rates (Rogan & Gladen 1978).

    `(p + TNR - 1) / (TPR + TNR - 1)`, clipped to [0, 1]. The interval covers the uncertainty of
    both samples: in closed form after Lee et al. 2025 (arXiv:2511.21140, after Lang & Reiczigel
    2014), or by resampling the labels and the judge's count. It holds where the labels come from
    elsewhere, as long as P(judge | truth) is the same there; a stronger system makes subtler
    errors. With labels of a random subset `ppi_mean` is more precise.

    Args:
        n_pass: Outputs the judge passed.
        n: Outputs it judged.
        true_pos: True passes it passed, among the labels.
        n_pos: Labelled true passes.
        true_neg: True failures it failed, among the labels.
        n_neg: Labelled true failures.
        ci: `lee` or `bootstrap`.
        design_effect: Variance over that of independent outputs, 1 or more, where cases have
            several: `lee` divides the counts by it (Rao & Scott 1992).
        df: Degrees of freedom of `lee`: cases - 1 where outputs are clustered.
        min_labels: Labels needed of each class; with fewer nothing is corrected.
        n_resamples: Resamples of the bootstrap.
        rng: Source of random numbers of the bootstrap.
        level: Confidence level in (0, 1).

    Returns:
        The rate with its interval; nan with a reason where the judge is no better than chance
        (TPR + TNR <= 1), a class has too few labels, or the counts allow no interval: `raw` is then
        what the formula gave. `n` counts the outputs judged.

    Raises:
        ValueError: When a count is out of its range, or the bootstrap has no `rng`.
    """
    check_choice("interval", ci, get_args(CorrectionInterval))
    _check_method(ci, rng, design_effect, df)
    counts = _Counts(
        *require_whole(
            n_pass=n_pass, n=n, true_pos=true_pos, n_pos=n_pos, true_neg=true_neg, n_neg=n_neg
        )
    )
    observed = proportion(n_pass, n, level=level).value
    rates = judge_rates(true_pos, n_pos, true_neg, n_neg)
    refusal = _refusal(counts, rates, min_labels)
    raw = nan if refusal else (observed + rates.tnr - 1) / rates.youden
    ends, n_dropped = Interval(nan, nan, refusal), 0
    if refusal is None and rng is not None and ci == "bootstrap":
        ends, n_dropped = _resampled_ends(counts, rng, n_resamples, level)
    elif refusal is None:
        ends = _lee_ends(counts, rates, level, design_effect, df)
    # Clipped for display, while `raw` keeps the result of the formula. Without an interval there is
    # no value either: a bare 0 % of a judge at chance would look like a finding.
    value = nan if ends.reason is not None else min(1.0, max(0.0, raw))
    return CorrectedRate(
        value=value,
        low=min(ends.low, value),
        high=max(ends.high, value),
        level=level,
        n=n,
        method=f"rogan-gladen, {ci}",
        reason=ends.reason,
        note=_note(rates.youden, raw),
        raw=raw,
        observed=observed,
        tpr=rates.tpr,
        tnr=rates.tnr,
        n_dropped=n_dropped,
    )


def _check_method(
    ci: CorrectionInterval, rng: np.random.Generator | None, design_effect: float, df: float
) -> None:
    (design_effect,) = require(design_effect=design_effect)
    if design_effect < 1 or not df > 0:
        raise ValueError(f"design_effect is {design_effect} and df {df}; give 1 or more, above 0")
    if ci == "bootstrap" and rng is None:
        raise ValueError("the bootstrap needs a generator: give rng")
    if ci == "bootstrap" and design_effect > 1:
        raise ValueError("the bootstrap resamples outputs: with a design effect give ci='lee'")


def allocate_labels(
    budget: int, pass_rate: float, tpr: float, tnr: float, *, at_least: int = 0
) -> LabelAllocation:
    """The best split of labels between true passes and true failures.

    Minimises the part of the corrected rate's variance that labels can reduce: they are shared as
    `rate sqrt(TPR (1-TPR)) : (1-rate) sqrt(TNR (1-TNR))` (Neyman 1934). Give rates of a pilot of
    10 labels a class or more, smoothed by adding one success and one failure.

    Args:
        budget: Labels available, 0 or more.
        pass_rate: The true pass rate, as far as it is known, in [0, 1].
        tpr: True-positive rate of the judge, in [0, 1].
        tnr: True-negative rate, in [0, 1].
        at_least: Labels each class gets in any case.

    Returns:
        The split; even where these rates leave no uncertainty in either class.

    Raises:
        ValueError: When an argument is out of its range, or the budget below twice `at_least`.
    """
    budget, at_least = require_whole(budget=budget, at_least=at_least)
    pass_rate, tpr, tnr = require(pass_rate=pass_rate, tpr=tpr, tnr=tnr)
    if not all(0 <= x <= 1 for x in (pass_rate, tpr, tnr)):
        raise ValueError("pass_rate, tpr and tnr lie in 0..1")
    if at_least < 0 or budget < 2 * at_least:
        raise ValueError(f"{budget} labels cannot give each class {at_least}")
    # Neyman allocation: labels in proportion to share times standard deviation.
    positive = pass_rate * sqrt(tpr * (1 - tpr))
    negative = (1 - pass_rate) * sqrt(tnr * (1 - tnr))
    spread = positive + negative
    share = positive / spread if spread else 0.5
    n_positive = min(budget - at_least, max(at_least, round(budget * share)))
    return LabelAllocation(
        n_positive=n_positive,
        n_negative=budget - n_positive,
        note=None if spread else "these rates leave no uncertainty: smooth them",
    )


class _Counts(NamedTuple):
    n_pass: int
    n: int
    true_pos: int
    n_pos: int
    true_neg: int
    n_neg: int


def _refusal(counts: _Counts, rates: JudgeRates, min_labels: int) -> str | None:
    """Why nothing can be corrected."""
    if counts.n == 0:
        return "the judge judged nothing"
    if min(counts.n_pos, counts.n_neg) < max(1, min_labels):
        return (
            f"{counts.n_pos} labels of true passes and {counts.n_neg} of true failures:"
            f" {max(1, min_labels)} of each are needed"
        )
    if rates.youden <= 1e-12:  # noqa: PLR2004 - rounding
        return (
            f"the judge is no better than chance (TPR {rates.tpr:.2f} + TNR {rates.tnr:.2f}"
            " is at most 1): its pass rate has no information on the true one"
        )
    return None


def _lee_ends(
    counts: _Counts, rates: JudgeRates, level: float, design_effect: float, df: float
) -> Interval:
    # Lee et al. (2025) after Lang & Reiczigel (2014): pseudo-counts keep the interval open at
    # rates of 0 and 1.
    z = normal_quantile(level) if isinf(df) else t_quantile(level, df)
    n, n_neg, n_pos = (x / design_effect for x in (counts.n, counts.n_neg, counts.n_pos))
    size, m_neg, m_pos = n + z * z, n_neg + 2, n_pos + 2
    p = (counts.n_pass / design_effect + z * z / 2) / size
    q_neg = (n_neg * rates.tnr + 1) / m_neg
    q_pos = (n_pos * rates.tpr + 1) / m_pos
    youden = q_neg + q_pos - 1
    if youden <= 0:
        return Interval(nan, nan, "too few labels to distinguish the judge from chance")
    rate = (p + q_neg - 1) / youden
    var_neg, var_pos = q_neg * (1 - q_neg) / m_neg, q_pos * (1 - q_pos) / m_pos
    shift = 2 * z * z * (rate * var_pos - (1 - rate) * var_neg)
    variance = p * (1 - p) / size + (1 - rate) ** 2 * var_neg + rate**2 * var_pos
    half = z * sqrt(variance) / youden
    return _clipped(rate + shift - half, rate + shift + half)


def _resampled_ends(
    counts: _Counts, rng: np.random.Generator, n_resamples: int, level: float
) -> tuple[Interval, int]:
    """The interval from resampling the labels and the judge's own count."""
    (n_resamples,) = require_whole(n_resamples=n_resamples)
    if n_resamples < 1:
        raise ValueError(f"{n_resamples} resamples; give 1 or more")
    missed, false_pos = counts.n_pos - counts.true_pos, counts.n_neg - counts.true_neg
    cells = np.array([counts.true_pos, missed, false_pos, counts.true_neg])
    # Labels are drawn together, so that the numbers of passes and failures vary too.
    m = counts.n_pos + counts.n_neg
    tables = rng.multinomial(m, cells / m, size=n_resamples)
    passed = rng.binomial(counts.n, counts.n_pass / counts.n, n_resamples) / counts.n
    positive, negative = tables[:, 0] + tables[:, 1], tables[:, 2] + tables[:, 3]
    with np.errstate(invalid="ignore", divide="ignore"):
        tnr = tables[:, 3] / negative
        youden = tables[:, 0] / positive + tnr - 1
        # A resample in which the judge is no better than chance has no corrected rate: dropped and
        # counted.
        rate = np.where(youden > 0, (passed + tnr - 1) / youden, nan)
    known = rate[~np.isnan(rate)]
    n_dropped = n_resamples - len(known)
    if n_dropped > _MOST_DROPPED * n_resamples:
        reason = f"{n_dropped} of {n_resamples} resamples leave the judge no better than chance"
        return Interval(nan, nan, reason), n_dropped
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return _clipped(float(low), float(high)), n_dropped


def _clipped(low: float, high: float) -> Interval:
    low, high = min(1.0, max(0.0, low)), min(1.0, max(0.0, high))
    # Both ends clipped to one bound refute the rates that were assumed; they prove nothing.
    if low < high:
        return Interval(low, high, None)
    reason = "the judge's pass rate cannot come from these TPR and TNR: they do not hold here"
    return Interval(nan, nan, reason)


def _note(youden: float, raw: float) -> str | None:
    notes = []
    if 0 < youden < _WEAK:
        notes.append(f"a weak judge (TPR + TNR - 1 = {youden:.2f}): the correction is mostly noise")
    if not 0 <= raw <= 1 and not isnan(raw):
        notes.append(f"clipped from {raw:.3f}")
    return "; ".join(notes) or None
