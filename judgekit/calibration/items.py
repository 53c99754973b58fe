"""Judge scores and human labels aligned item by item, and estimates that respect clusters.

`join` and `pairs` make the items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, ParamSpec, cast

import numpy as np

from judgekit.calibration.inputs import (
    CombinedScore,
    Groups,
    MatchedLabel,
    OutputKey,
    label_reasons,
    labels_by_place,
)
from judgekit.errors import NotEnoughDataError
from judgekit.records import CHOSEN_FIELD, Judgment, Rubric, Scale, meets_threshold
from judgekit.scoring import conclude
from judgekit.stats.agreement_coefficients import coefficient_interval
from judgekit.stats.alpha import AlphaLevel, krippendorff_alpha
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.intervals import Rate, mean, pooled_proportion, proportion
from judgekit.stats.votes import median, mode

if TYPE_CHECKING:
    from judgekit.records import Consensus, Criterion

_P = ParamSpec("_P")
_LEVEL_DIGITS = 9
LEVEL_SLACK = 1e-9
"""Distances between levels such as 0.1 and 0.3 are not exact."""
_TWO = 2

# Agreement is counted by levels up to a scale of 20 steps; on more levels nearly nobody agrees
# exactly, and a kappa would describe the rounding.
_WIDEST = 20

# A mean of labels such as 0.7 and 0.7 has to stay 0.7, or a threshold of 0.7 would fail it.
_DIGITS = 12

# A jackknife needs few blocks to be stable; more would only cost time.
_MOST_LEFT_OUT = 60

# On a scale with levels so many different scores, or combinations of them, hardly occur.
_MOST_KEPT = 4096

_NO_LEVELS_FOR_ALPHA = "the scale has no levels: see alpha at the interval level"
_ALL = "all annotators"
_HUMAN_LABEL = "a human label"
_UNIT = Scale(min=0, max=1)

NO_ORDER = "categories have no order: see kappa, and alpha at the nominal level"
"""Why a figure that needs an order is undefined."""

PREFERENCE_SCALE = Scale.model_validate({
    "levels": [
        {"value": 1, "name": "a"}, {"value": 0.5, "name": "tie"}, {"value": 0, "name": "b"},
    ]
})  # fmt: skip
"""The scale of a choice between two outputs: how far a is preferred."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """One output on one criterion, with the judge's scores and the human labels.

    Attributes:
        cluster: The unit of independence that it belongs to, normally its case.
        judge: The mean of the judge's usable answers; None if there is none.
        samples: The answers of each judge, about each turn of a conversation apart; None for
            unusable ones.
        ratings: Each annotator's score; `reasons` are theirs, `rationale` is the judge's.
        judge_passed: Whether the judge's verdict passes, if a rubric decides that by more than the
            score; `human_passed` likewise.
    """

    place: OutputKey
    criterion: str
    cluster: Hashable
    judge: float | None
    samples: tuple[tuple[float | None, ...], ...] = ()
    ratings: Mapping[str, float]
    confidence: float | None = None
    rationale: str | None = None
    reasons: Mapping[str, str]
    groups: Groups
    judge_passed: bool | None = None
    human_passed: bool | None = None

    @property
    def is_random(self) -> bool:
        """Whether it was not chosen because its label helps calibration most."""
        return self.groups.get(CHOSEN_FIELD) != ("informative",)


@dataclass(frozen=True, kw_only=True)
class AlignedItems:
    """All items of one criterion or of the whole output, labelled and unlabelled.

    Attributes:
        name: The criterion; empty for the whole output.
        criterion: Calibration maps are bound to its fingerprint.
        threshold: The value on [0, 1] from which a score passes; None if nothing passes
            (comparisons).
        items: Labelled items; the judge may have failed on them.
        is_nominal: Whether the scale has unordered categories, so that only equal scores agree.
    """

    name: str
    criterion: Criterion | None = None
    scale: Scale
    threshold: float | None
    items: tuple[JudgedItem, ...]
    unlabelled: tuple[JudgedItem, ...] = ()
    consensus: Consensus = "median"
    is_nominal: bool = False

    @cached_property
    def both(self) -> tuple[JudgedItem, ...]:
        """The items with both a judge's score and a label."""
        return tuple(item for item in self.items if item.judge is not None)

    @cached_property
    def judge(self) -> np.ndarray:
        """The judge's scores of `both`."""
        return np.array([item.judge for item in self.both], dtype=float)

    @cached_property
    def human(self) -> np.ndarray:
        """The annotators' mean for each of `both`; for categories the label."""
        # A mean keeps the disagreement of annotators, which a median would hide from biases and
        # correlations; categories have no mean.
        rating = self.label if self.is_nominal else mean_rating
        return np.array([rating(item) for item in self.both], dtype=float)

    @cached_property
    def levels(self) -> tuple[float, ...] | None:
        """The levels by which agreement is counted; None for a continuous scale."""
        return levels_of(self.scale)

    @cached_property
    def judge_level(self) -> np.ndarray:
        """The judge's score of each of `both` at the nearest level, halves up."""
        return for_each(partial(level_of, points=self.levels), self.judge)

    @cached_property
    def human_level(self) -> np.ndarray:
        """The label of each of `both` at the nearest level, halves up."""
        labels = np.array([self.label(item) for item in self.both], dtype=float)
        return for_each(partial(level_of, points=self.levels), labels)

    @cached_property
    def judge_pass(self) -> np.ndarray:
        """Whether the judge passes each of `both`: 1, 0, or nan if unknown."""
        return np.array([self.judge_passes(item) for item in self.both], dtype=float)

    @cached_property
    def human_pass(self) -> np.ndarray:
        """Whether the annotators pass each of `both`: 1, 0, or nan if unknown."""
        return np.array([self.human_passes(item) for item in self.both], dtype=float)

    @cached_property
    def clusters(self) -> list[Hashable] | None:
        """The cluster of each of `both`; None if every item is independent."""
        return clusters_of(self.both)

    @property
    def categories(self) -> dict[float, str]:
        """The names of the levels if they are categories; else empty."""
        levels = self.scale.levels if self.is_nominal else ()
        return {level.value: level.name for level in levels if level.name}

    @property
    def is_binary(self) -> bool:
        return self.levels is not None and len(self.levels) == _TWO

    def label(self, item: JudgedItem) -> float:
        """The annotators' combined label of an item, on the criterion's scale."""
        return self._combined(tuple(item.ratings.values()))

    @cached_property
    def _combined(self) -> Callable[[tuple[float, ...]], float]:
        # Of many items few have ratings that no other has.
        @lru_cache(maxsize=_MOST_KEPT)
        def combined(ratings: tuple[float, ...]) -> float:
            if self.is_nominal:
                return most_frequent(ratings)
            if self.consensus == "mean":
                return _mean_of(ratings)
            found = mode(ratings) if self.consensus == "majority" else median(ratings)
            # Two of four annotators make a median of one half, which a binary scale does not have.
            return level_of(found, self.levels) if self.is_binary else found

        return combined

    def votes(self, item: JudgedItem) -> dict[str, float]:
        """Each annotator's label, for statistics that ask whether two labels are equal."""
        # On two levels a label between them is the mean of several annotators: their majority.
        if not self.is_binary:
            return dict(item.ratings)
        return {name: level_of(raw, self.levels) for name, raw in item.ratings.items()}

    def judge_passes(self, item: JudgedItem) -> float:
        """Whether the judge passes an item: 1, 0, or nan if unknown."""
        if item.judge_passed is not None:
            return float(item.judge_passed)
        return nan if item.judge is None else self.passes(item.judge)

    def human_passes(self, item: JudgedItem) -> float:
        if item.human_passed is not None:
            return float(item.human_passed)
        return self.passes(self.label(item))

    def value(self, raw: float) -> float:
        """A score, or a mean of scores, on [0, 1]."""
        return (raw - self.scale.min) / (self.scale.max - self.scale.min)

    def where(self, is_wanted: Callable[[JudgedItem], bool]) -> AlignedItems:
        return replace(
            self,
            items=tuple(item for item in self.items if is_wanted(item)),
            unlabelled=tuple(item for item in self.unlabelled if is_wanted(item)),
        )

    def without_chosen(self) -> AlignedItems:
        """The items without the labels of those that were chosen because the judge may err."""
        # Rates of them would be those of hard items; maps may be fitted on them.
        chosen = self.where(lambda item: not item.is_random)
        if not chosen.items:
            return self
        others = tuple(item for item in self.items if item.is_random)
        return replace(self, items=others, unlabelled=(*self.unlabelled, *chosen.both))

    @cached_property
    def passes(self) -> Callable[[float], float]:
        """Whether a score passes: 1, 0, or nan without a threshold."""

        @lru_cache(maxsize=_MOST_KEPT)
        def passes(raw: float) -> float:
            if self.threshold is None:
                return nan
            return float(meets_threshold(self.value(raw), self.threshold))

        return passes


def for_each(function: Callable[[float], float], scores: np.ndarray) -> np.ndarray:
    """A function of each score, called once for all that are equal."""
    values, places = np.unique(scores, return_inverse=True)
    return np.array([*map(function, values.tolist())], dtype=float)[places].reshape(scores.shape)


def most_frequent(ratings: Sequence[float]) -> float:
    counts = Counter(ratings)
    # Ties go to the lowest value, so that the order of annotators or repeats does not matter.
    return min(counts, key=lambda rating: (-counts[rating], rating))


def mean_rating(item: JudgedItem) -> float:
    return _mean_of(tuple(item.ratings.values()))


@lru_cache(maxsize=_MOST_KEPT)
def _mean_of(ratings: tuple[float, ...]) -> float:
    return round(fsum(ratings) / len(ratings), _DIGITS)


def clusters_of(items: Iterable[JudgedItem]) -> list[Hashable] | None:
    return shared_clusters([item.cluster for item in items])


def shared_clusters(names: list[Hashable]) -> list[Hashable] | None:
    """The names of clusters; None if no two items share one."""
    # Where each item is a cluster of its own the plain formulas are exact, and faster.
    return names if len(set(names)) < len(names) else None


def annotators_of(items: Iterable[JudgedItem]) -> list[str]:
    """The annotators of any of the items, in order of appearance."""
    return list(dict.fromkeys(name for item in items for name in item.ratings))


def levels_of(scale: Scale) -> tuple[float, ...] | None:
    """The levels by which agreement on a scale is counted; None for a continuous scale."""
    if scale.points is not None:
        return scale.points
    span = scale.max - scale.min
    is_whole = float(scale.min).is_integer() and float(scale.max).is_integer()
    # 0 to 1 without levels is a continuous scale, and 0 to 100 has too many levels for a kappa.
    if not is_whole or not _TWO <= span <= _WIDEST:
        return None
    return tuple(scale.min + step for step in range(int(span) + 1))


def level_of(score: float, points: Sequence[float] | None) -> float:
    """The level nearest to a score or mean; a half goes up."""
    return round(score, _LEVEL_DIGITS) if points is None else _nearest(score, tuple(points))


@lru_cache(maxsize=_MOST_KEPT)
def _nearest(score: float, points: tuple[float, ...]) -> float:
    place = min(
        # A half goes up, as in manual rounding, and not to the even level.
        range(len(points)),
        key=lambda i: (round(abs(points[i] - score), _LEVEL_DIGITS), -i),
    )
    return points[place]


def level_step(levels: Sequence[float] | None) -> float:
    """The largest distance of neighbouring levels."""
    return max((high - low for low, high in pairwise(levels or ())), default=1.0)


def estimate_or_undefined(
    statistic: Callable[_P, Estimate], /, *arguments: _P.args, **options: _P.kwargs
) -> Estimate:
    """A statistic's estimate, or an undefined one with the reason."""
    try:
        return statistic(*arguments, **options)
    except NotEnoughDataError as error:
        level = cast("float", options.get("level", 0.95))
        return undefined_estimate(error.message, n=0, method="none", level=level)


def clustered_estimate(
    found: Estimate,
    statistic: Callable[[np.ndarray], float],
    clusters: Sequence[Hashable] | None,
    *,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:
    """An estimate of a statistic within bounds, with a jackknife interval over clusters."""
    # Above sixty clusters, groups of them are left out together (delete-a-group jackknife, Kott
    # 2001, Journal of Official Statistics 17(4), 521-526). They are assigned in the order of their
    # names, so that the order of rows is irrelevant.
    if clusters is None or isnan(found.value):
        return found
    codes = {name: code for code, name in enumerate(sorted(set(clusters), key=str))}
    if len(codes) == 1:
        reason = "all items are of one case"
        return replace(found, low=nan, high=nan, reason=reason, n_clusters=1)
    each = np.array([codes[name] for name in clusters])
    blocks = each % _MOST_LEFT_OUT
    left_out = [statistic(np.flatnonzero(blocks != block)) for block in np.unique(blocks)]
    # The jackknife works on Fisher's z, which needs a coefficient in (-1, 1).
    middle, half = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 2
    ends = coefficient_interval(
        (found.value - middle) / half,
        [(one - middle) / half for one in left_out],
        level=found.level,
        unit="case",
    )
    return replace(
        found,
        low=middle + half * ends.low,
        high=middle + half * ends.high,
        reason=ends.reason,
        n_clusters=len(codes),
        n_observations=len(each),
        method=f"{found.method.partition(',')[0]}, jackknife, clustered",
    )


def jackknife(
    statistic: Callable[..., Estimate],
    n: int,
    clusters: Sequence[Hashable] | None,
    *,
    level: float,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:
    """A statistic of the items at given places, for all `n`, with an interval over clusters."""
    return clustered_estimate(
        estimate_or_undefined(statistic, np.arange(n), level=level),
        lambda places: estimate_or_undefined(statistic, places, level=level).value,
        clusters,
        bounds=bounds,
    )


def clustered_rate(
    outcomes: Sequence[float] | np.ndarray, clusters: Sequence[Hashable] | None, *, level: float
) -> Rate:
    """The share `k / n` of all outcomes, whatever the sizes of their clusters."""
    numbers = np.asarray(outcomes, dtype=float).tolist()
    known = numbers if not any(map(isnan, numbers)) else [x for x in numbers if not isnan(x)]
    if clusters is None or not known:
        n_missing = len(numbers) - len(known)
        return proportion(int(sum(known)), len(known), n_missing=n_missing, level=level)
    return pooled_proportion(numbers, clusters, level=level)


def clustered_mean(
    x: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float
) -> Estimate:
    return estimate_or_undefined(mean, x, clusters=clusters, level=level)


def ordered_mean(aligned: AlignedItems, x: np.ndarray, *, level: float) -> Estimate:
    """A mean of numbers about each of `both`; undefined for categories."""
    if aligned.is_nominal:
        return undefined_estimate(NO_ORDER, n=len(x), method="t", level=level)
    return clustered_mean(x.tolist(), aligned.clusters, level=level)


def clustered_unit_mean(
    x: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float
) -> Estimate:
    return clip_to_unit(clustered_mean(x, clusters, level=level))


def clip_to_unit(found: Estimate) -> Estimate:
    """An estimate with the ends of its interval clipped to [0, 1]."""
    if isnan(found.low):
        return found
    # A debiased value can lie outside [0, 1] itself; it has to stay inside its interval.
    low, high = max(found.low, min(0.0, found.value)), min(found.high, max(1.0, found.value))
    return replace(found, low=low, high=high)


def measurement_level(aligned: AlignedItems) -> AlphaLevel:
    if aligned.levels is None:
        return "interval"
    return "nominal" if aligned.is_binary or aligned.is_nominal else "ordinal"


def scale_alpha(
    aligned: AlignedItems,
    rows: Sequence[Sequence[float | None]] | np.ndarray,
    measurement: AlphaLevel,
    clusters: Sequence[Hashable] | None,
    level: float,
) -> Estimate:
    if aligned.levels is None and measurement != "interval":
        return undefined_estimate(_NO_LEVELS_FOR_ALPHA, n=len(rows), method="alpha", level=level)
    if aligned.is_nominal and measurement != "nominal":
        return undefined_estimate(NO_ORDER, n=len(rows), method="alpha", level=level)

    def alpha(*, level: float) -> Estimate:
        return krippendorff_alpha(rows, measurement, clusters=clusters, confidence=level)

    return estimate_or_undefined(alpha, level=level)


# The words of tools that decide of a whole output; `yes` may be meant of a single criterion.
_DECISIONS = {"pass": 1.0, "passed": 1.0, "true": 1.0, "fail": 0.0, "failed": 0.0, "false": 0.0}

# The value of each criterion of one output, and what a rubric concludes from them
_Values = tuple[tuple[str, float], ...]
_Conclusion = Callable[[_Values], tuple[float | None, bool | None]]


def overall_items(
    rubric: Rubric,
    criteria: Sequence[AlignedItems],
    combined: Mapping[OutputKey, CombinedScore],
    labels: Sequence[MatchedLabel],
) -> AlignedItems:
    """The rubric's verdicts, with the human verdicts concluded from labels by the same rubric."""
    # An annotator who scored every weighted criterion of an output has a value for the whole, the
    # weighted mean. If no annotator scored all, their combined labels on each criterion make one.
    # A label that names no criterion is a value of the whole output, from 0 to 1.
    by_place: dict[OutputKey, dict[str, JudgedItem]] = {}
    for each in criteria:
        for item in (*each.items, *each.unlabelled):
            by_place.setdefault(item.place, {})[each.name] = item
    by_name = {each.name: each for each in criteria}
    own = labels_by_place(labels)
    # Scores repeat on a scale with levels, so that few verdicts have to be concluded.
    verdict = lru_cache(maxsize=_MOST_KEPT)(partial(_verdict, rubric))
    items = [
        _item(verdict, by_name, parts, combined.get(place), own.get(place, ()))
        for place, parts in sorted(by_place.items(), key=lambda one: one[0].rank)
    ]
    return AlignedItems(
        name="",
        scale=_UNIT,
        threshold=rubric.pass_threshold,
        items=tuple(item for item in items if item.ratings),
        unlabelled=tuple(i for i in items if not i.ratings and i.judge is not None),
        consensus=criteria[0].consensus,
    )


def _item(
    verdict: _Conclusion,
    criteria: Mapping[str, AlignedItems],
    parts: Mapping[str, JudgedItem],
    combined: CombinedScore | None,
    labels: Sequence[MatchedLabel],
) -> JudgedItem:
    any_part = next(iter(parts.values()))
    scores = {n: criteria[n].value(i.judge) for n, i in parts.items() if i.judge is not None}
    value, passed = verdict(tuple(scores.items()))
    if combined is not None:
        # A panel's rule or a calibration may differ from the mean of the answers.
        value, passed = combined.value, combined.passed
    ratings = {
        one.annotator: float(raw or 0) if (known := decision_score(raw)) is None else known
        for one in labels
        for raw in (one.placed.label.raw,)
    }
    human_passed = None
    labelled = {name: item for name, item in parts.items() if item.ratings}
    if not ratings:
        ratings, human_passed = _overall_ratings(verdict, criteria, labelled)
    confidences = [item.confidence for item in parts.values() if item.confidence is not None]
    reasons = label_reasons(labels) or {
        who: _joined({n: i.reasons[who] for n, i in labelled.items() if who in i.reasons}) or ""
        for who in dict.fromkeys(who for item in labelled.values() for who in item.reasons)
    }
    return JudgedItem(
        place=any_part.place,
        criterion="",
        cluster=any_part.cluster,
        judge=value,
        ratings=ratings,
        # The verdict is as certain as its least certain criterion; unknown if one is unknown.
        confidence=min(confidences) if len(confidences) == len(parts) else None,
        rationale=_joined({n: i.rationale for n, i in parts.items() if i.rationale}),
        reasons=reasons,
        groups=any_part.groups,
        judge_passed=passed,
        human_passed=human_passed,
    )


def decision_score(raw: object) -> float | None:
    """What a word says of an output as a whole, where it is a decision: 1 or 0."""
    return _DECISIONS.get(raw.casefold()) if isinstance(raw, str) else None


def _overall_ratings(
    verdict: _Conclusion, criteria: Mapping[str, AlignedItems], parts: Mapping[str, JudgedItem]
) -> tuple[dict[str, float], bool | None]:
    """Each annotator's value of the whole output, and whether the combined labels pass."""
    labels = {name: criteria[name].value(criteria[name].label(i)) for name, i in parts.items()}
    value, passed = verdict(tuple(labels.items()))
    ratings: dict[str, float] = {}
    for name in annotators_of(parts.values()):
        own = {c: criteria[c].value(i.ratings[name]) for c, i in parts.items() if name in i.ratings}
        whole, _ = verdict(tuple(own.items()))
        # None if the annotator left out a weighted criterion: a mean of the rest is another figure.
        if whole is not None:
            ratings[name] = whole
    if not ratings and value is not None:
        ratings = {_ALL: value}
    return ratings, passed if ratings else None


def _verdict(rubric: Rubric, values: _Values) -> tuple[float | None, bool | None]:
    judgments = [
        # The value is clipped, because labels of an inferred scale can lie outside of it.
        Judgment(criterion=name, raw=value, value=min(1.0, max(0.0, value)), rationale=_HUMAN_LABEL)
        for name, value in values
    ]
    verdict = conclude(rubric, judgments)
    return verdict.value, verdict.passed


def _joined(parts: Mapping[str, str]) -> str | None:
    return "; ".join(f"{name}: {text}" for name, text in parts.items()) or None
