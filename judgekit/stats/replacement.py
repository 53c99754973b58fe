"""Whether a judge may replace a human annotator: alternative-annotator test, human ceiling."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import Literal, NamedTuple, get_args

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.stats.agreement_coefficients import chance_interval
from judgekit.stats.estimate import Estimate, Result, by_place, carried, is_missing
from judgekit.stats.intervals import mean
from judgekit.stats.missing import floats
from judgekit.stats.multiplicity import adjust
from judgekit.stats.quantiles import SLACK, check_choice, require, require_whole, upper_t_p_value

AlignmentScore = Literal["accuracy", "neg_rmse"]
CeilingMetric = Literal["exact", "within_one", "neg_absolute", "neg_squared"]

# The values that Calderon et al. (2025) suggest, for unskilled to expert annotators.
_EPSILONS = (0.1, 0.15, 0.2)
_FEW_RATERS = 3
_FEW_ITEMS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AltTest(Result):
    """The result of the alternative-annotator test."""

    winning_rate: float
    """Share of the raters tested whom the judge may replace, 0 to 1 (omega)."""

    advantage_probability: float
    """Chance that the judge is as near to the other raters as a rater is, mean (rho)."""

    advantage: Estimate
    """The same with a jackknife interval over items, or over cases of them."""

    p_values: tuple[float, ...]
    """One-sided p of each rater tested."""

    rejected: tuple[bool, ...]
    """Whether the judge may replace each, after Benjamini & Yekutieli."""

    passed: bool
    """Whether the winning rate is a half or more."""

    raters: tuple[Hashable, ...]
    """The raters tested, in the order they were given."""

    skipped: tuple[Hashable, ...]
    """Raters with too few items to be tested; they still count among the others."""

    by_epsilon: tuple[tuple[float, float], ...]
    """Pairs of epsilon and the winning rate at it: epsilon is a choice, so several are shown."""

    epsilon: float
    """The advantage given to the judge for being cheaper."""

    n: int
    """Items of two raters and the judge."""

    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingGap(Estimate):
    """Agreement of the judge with humans, less that of humans with the same humans."""

    human: float
    """How well a human agrees with the others."""

    judge: float
    """How well the judge agrees with the same others."""


def alt_test(
    humans: Mapping[Hashable, Mapping[Hashable, float | None]],
    judge: Mapping[Hashable, float | None],
    *,
    score: AlignmentScore = "accuracy",
    epsilon: float = 0.2,
    q: float = 0.05,
    min_items: int = 30,
    clusters: Mapping[Hashable, Hashable] | None = None,
    level: float = 0.95,
) -> AltTest:
    """May the judge stand in for a human annotator (Calderon, Reichart & Dror 2025)?

    Each rater in turn is compared with the judge: whose label is nearer to the other raters' of
    the same item, ties counting for both. A one-sided t test shows whether the rater is ahead by
    less than epsilon; the judge passes when that is so for half of the raters or more, at a false
    discovery rate of q whatever the dependence (Benjamini & Yekutieli 2001). Humans who disagree
    with one another make passing easy: show alpha beside it. The authors take items as
    independent; with clusters the test uses sums of cases, as `intervals.mean` does.

    Args:
        humans: Labels of each rater by item; None and nan are missing.
        judge: Labels of the judge by item.
        score: `accuracy` (share of equal labels) or `neg_rmse` (numeric scales).
        epsilon: Advantage given to the judge: .2 for experts, .15 skilled raters, .1 crowds.
        q: False discovery rate, in (0, 1).
        min_items: Raters with fewer items, or fewer than two, are not tested.
        clusters: The case of each item; without, each is a case of its own.
        level: Confidence level of the advantage's interval.

    Raises:
        NotEnoughDataError: When fewer than two raters can be tested.
    """
    (epsilon, q), (min_items,) = require(epsilon=epsilon, q=q), require_whole(min_items=min_items)
    check_choice("score", score, get_args(AlignmentScore))
    if not (0 <= epsilon < 1 and 0 < q < 1):
        raise ValueError(f"epsilon {epsilon} lies in [0, 1), q {q} between 0 and 1")
    items = _shared_items(humans, judge, are_numbers=score == "neg_rmse")
    duels = [_duels(name, items, judge, score, clusters) for name in humans]
    least = max(min_items, 2)  # a t test needs two
    tested = [duel for duel in duels if len(duel.judge_wins) >= least]
    if len(tested) < 2:  # noqa: PLR2004 - a share of one rater says nothing
        raise NotEnoughDataError(
            f"{len(tested)} of {len(humans)} raters have {least} items that another rater and the "
            "judge also labelled; the test needs two"
        )
    # How far each rater is ahead of the judge.
    leads = [mean(duel.gaps, clusters=None if clusters is None else duel.units) for duel in tested]
    rejected = _rejected(leads, epsilon, q)
    advantage = _advantage(tested, level, unit="item" if clusters is None else "case")
    notes = []
    if len(tested) <= _FEW_RATERS:
        notes.append(
            f"{len(tested)} raters: the winning rate has only {len(tested) + 1} possible values"
        )
    if advantage.n < _FEW_ITEMS:
        units = "items" if clusters is None else "cases"
        notes.append(f"{advantage.n} {units}: the test has little power")
    return AltTest(
        winning_rate=sum(rejected) / len(tested),
        advantage_probability=advantage.value,
        advantage=advantage,
        p_values=tuple(_p_value(lead, epsilon) for lead in leads),
        rejected=rejected,
        passed=sum(rejected) * 2 >= len(tested),
        raters=tuple(duel.rater for duel in tested),
        skipped=tuple(duel.rater for duel in duels if len(duel.judge_wins) < least),
        by_epsilon=tuple((e, sum(_rejected(leads, e, q)) / len(tested)) for e in _EPSILONS),
        epsilon=epsilon,
        n=len(items),
        note="; ".join(notes) or None,
    )


def ceiling_gap(
    ratings: Sequence[Sequence[Hashable]],
    judge: Sequence[Hashable],
    metric: CeilingMetric = "exact",
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> CeilingGap:
    """The judge's agreement with humans, less humans' agreement with the same humans.

    On each item every human is left out in turn, and judge and human are compared with the same
    others; a majority would be less noisy than one annotator and make the judge look too good.

    Args:
        ratings: One row an item, one rating a human; None and nan are missing.
        judge: The judge's rating of each item.
        metric: `exact`, `within_one`, `neg_absolute` or `neg_squared` (difference).
        clusters: The case of each item.
        level: Confidence level in (0, 1).

    Returns:
        The mean gap over items with a t interval; `n` counts items (or cases) of two humans and
        the judge. Without variation of the gap there is no interval.

    Raises:
        NotEnoughDataError: When no item has two humans and the judge.
    """
    check_choice("metric", metric, get_args(CeilingMetric))
    if len(ratings) != len(judge):
        raise ValueError(f"{len(ratings)} rows of ratings, but {len(judge)} of the judge")
    rows = zip(by_place(ratings), by_place(judge), strict=True)
    sides = [_sides(row, label, metric) for row, label in rows]
    known = [side for side in sides if side is not None]
    if not known:
        raise NotEnoughDataError("no item has ratings of two humans and the judge")
    gaps = [nan if side is None else side[0] - side[1] for side in sides]
    found = mean(gaps, clusters=clusters, level=level)
    return CeilingGap(
        **carried(found, method=f"{metric}, {found.method}", design_effect=nan),
        human=float(np.mean([human for _, human in known])),
        judge=float(np.mean([of_judge for of_judge, _ in known])),
    )


class _Duels(NamedTuple):
    """One rater against the judge on the items of the rater."""

    rater: Hashable
    units: list[Hashable]
    judge_wins: np.ndarray
    gaps: list[float]
    """For each item 1 where only the rater is nearer to the others, -1 where only the judge is."""


def _shared_items(
    humans: Mapping[Hashable, Mapping[Hashable, float | None]],
    judge: Mapping[Hashable, float | None],
    *,
    are_numbers: bool,
) -> dict[Hashable, dict[Hashable, float]]:
    """The labels of each item that two humans and the judge labelled, by rater."""
    by_item: dict[Hashable, dict[Hashable, float]] = {}
    for name, labels in humans.items():
        for item, label in labels.items():
            if label is not None and not is_missing(label) and not is_missing(judge.get(item)):
                by_item.setdefault(item, {})[name] = label
    shared = {item: labels for item, labels in by_item.items() if len(labels) > 1}
    known = [label for item, labels in shared.items() for label in (*labels.values(), judge[item])]
    if are_numbers and any(isinstance(label, str) for label in known):
        raise ValueError("labels are no numbers; use the score `accuracy`")
    return shared


def _duels(
    rater: Hashable,
    items: Mapping[Hashable, Mapping[Hashable, float]],
    judge: Mapping[Hashable, float | None],
    score: AlignmentScore,
    clusters: Mapping[Hashable, Hashable] | None,
) -> _Duels:
    of_rater = [item for item, labels in items.items() if rater in labels]
    scores = []
    for item in of_rater:
        # Judge and rater are both compared with the others, never with each other.
        others = [label for name, label in items[item].items() if name != rater]
        scores.append([_score(x, others, score) for x in (judge[item], items[item][rater])])
    of_judge, of_human = np.array(scores).reshape(-1, 2).T
    judge_wins, human_wins = of_judge >= of_human - SLACK, of_human >= of_judge - SLACK
    units = of_rater if clusters is None else [clusters[item] for item in of_rater]
    gaps = (human_wins.astype(float) - judge_wins).tolist()
    return _Duels(rater, units, judge_wins.astype(float), gaps)


def _score(label: float | None, others: Sequence[float], score: AlignmentScore) -> float:
    if score == "accuracy":
        # Shares over the other raters, so that raters of items with few labels count alike.
        return sum(label == other for other in others) / len(others)
    differences = floats(others) - float(label or 0.0)
    return -float(np.sqrt(np.mean(differences**2)))


def _p_value(ahead: Estimate, epsilon: float) -> float:
    """One-sided p of a t test against a mean of epsilon or more."""
    gap = ahead.value - epsilon
    if isnan(ahead.se):
        return 1.0  # one case has no spread to test by
    # Without spread the t statistic is infinite: the sign of the gap decides.
    if ahead.se < SLACK:
        return 0.0 if gap < -SLACK else 1.0
    return upper_t_p_value(-gap / ahead.se, ahead.n - 1)


def _rejected(leads: Sequence[Estimate], epsilon: float, q: float) -> tuple[bool, ...]:
    """Whether each rater is ahead by less than epsilon."""
    # Benjamini-Yekutieli: the tests share items and judge, so they depend on one another.
    p_values = [_p_value(lead, epsilon) for lead in leads]
    return tuple(p <= q for p in adjust(p_values, "by").value)


def _advantage(tested: Sequence[_Duels], level: float, *, unit: str) -> Estimate:
    """The mean over raters, with a jackknife over items or cases on the scale from -1 to 1."""
    place = {unit: i for i, unit in enumerate(dict.fromkeys(u for d in tested for u in d.units))}
    value = float(np.mean([duel.judge_wins.mean() for duel in tested]))
    left_out = np.zeros(len(place))
    for duel in tested:
        wins, at = duel.judge_wins, [place[unit] for unit in duel.units]
        n_left = len(wins) - np.bincount(at, minlength=len(place))
        rest = wins.sum() - np.bincount(at, wins, minlength=len(place))
        left_out += np.where(n_left > 0, rest / np.maximum(n_left, 1), nan) / len(tested)
    ends = chance_interval(value, left_out, level=level, unit=unit)
    return Estimate(
        value=value, **ends._asdict(), level=level, n=len(place), method=f"jackknife over {unit}s"
    )


def _sides(
    row: Sequence[Hashable], judge: Hashable, metric: CeilingMetric
) -> tuple[float, float] | None:
    """How the judge, and a human, agree with the other humans of an item."""
    labels = [label for label in row if not is_missing(label)]
    if len(labels) < 2 or is_missing(judge):  # noqa: PLR2004 - somebody has to be the other
        return None
    n = len(labels)
    of_judge = sum(_near(judge, label, metric) for label in labels) / n
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    return of_judge, sum(_near(labels[i], labels[j], metric) for i, j in pairs) / len(pairs)


def _near(a: Hashable, b: Hashable, metric: CeilingMetric) -> float:
    if metric == "exact":
        return float(a == b)
    difference = abs(float(a) - float(b))  # type: ignore[arg-type] # a numeric metric was asked for
    if not isfinite(difference):
        raise ValueError("a rating is infinite; give None where it is missing")
    if metric == "within_one":
        return float(difference <= 1 + SLACK)
    return -difference if metric == "neg_absolute" else -difference * difference
