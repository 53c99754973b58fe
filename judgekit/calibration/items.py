"""Judge scores and human labels aligned item by item, the scale they share.

Estimates over items that respect clusters. `join` makes the items.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from math import fsum, isclose, isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.errors import InputError, NotEnoughDataError
from judgekit.records import Criterion, Judgment, Scale
from judgekit.scoring import conclude, reaches
from judgekit.stats.agreement_coefficients import coefficient_interval
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.estimate import Estimate, undefined_estimate
from judgekit.stats.intervals import mean, pooled_proportion, proportion
from judgekit.stats.votes import median, mode

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from judgekit.calibration.inputs import (
        CombinedScore,
        Consensus,
        Groups,
        MatchedLabel,
        OutputKey,
        ScoreSample,
    )
    from judgekit.records import Rubric
    from judgekit.stats.alpha import AlphaLevel
    from judgekit.stats.intervals import Rate

# A mean of labels such as 0.7 and 0.7 has to stay 0.7, or a threshold of 0.7 would fail it.
_DIGITS = 12
_TWO_LEVELS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """One output on one criterion, with the judge's scores and the human labels.

    Attributes:
        cluster: The unit of independence that it belongs to, normally its case.
        judge: The mean of the judge's usable answers; None if there is none.
        samples: The judge's answers one by one; None for unusable ones.
        ratings: Each annotator's score.
        rationale: The judge's reason.
        reasons: The annotators' reasons.
        groups: The groups the output belongs to.
        judge_passed: Whether the judge's verdict passes, if a rubric decides that by more than the
            score.
        human_passed: Whether the human verdict passes, likewise.
    """

    place: OutputKey
    criterion: str
    cluster: Hashable
    judge: float | None
    samples: tuple[float | None, ...] = ()
    ratings: Mapping[str, float]
    confidence: float | None = None
    rationale: str | None = None
    reasons: Mapping[str, str]
    groups: Groups
    judge_passed: bool | None = None
    human_passed: bool | None = None


@dataclass(frozen=True, kw_only=True)
class AlignedItems:
    """All items of one criterion or of the whole output, labelled and unlabelled.

    Attributes:
        name: The criterion; empty for the whole output.
        criterion: The criterion; calibration maps are bound to its fingerprint.
        scale: The scale of all scores in it.
        threshold: The value on [0, 1] from which a score passes; None if nothing passes
            (comparisons).
        items: Labelled items; the judge may have failed on them.
        unlabelled: Items with a judge's score and without a label.
        consensus: How several annotators combine to one label.
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
        """The mean of people's scores of `both`; of categories the label."""
        # Biases and correlations go by the mean of annotators; categories have none.
        of = self.label if self.is_nominal else mean_rating
        return np.array([of(item) for item in self.both], dtype=float)

    @cached_property
    def levels(self) -> tuple[float, ...] | None:
        """The levels by which agreement is counted; None for a scale without."""
        return levels_of(self.scale)

    @cached_property
    def judge_level(self) -> np.ndarray:
        """The judge's scores of `both`, each as the nearest level, a half up."""
        return np.array([level_of(x, self.levels) for x in self.judge.tolist()], dtype=float)

    @cached_property
    def human_level(self) -> np.ndarray:
        """The label of `both`: what annotators come to, as the nearest level, a half up."""
        return self._labels_of(self.both)

    @cached_property
    def labels(self) -> np.ndarray:
        """The label of each of `items`, also those the judge failed on."""
        return self._labels_of(self.items)

    @cached_property
    def judge_pass(self) -> np.ndarray:
        """Whether the judge passes each of `both`: 1, 0, or nan where that is open."""
        return np.array([self.judge_passes(item) for item in self.both], dtype=float)

    @cached_property
    def human_pass(self) -> np.ndarray:
        """Whether people pass each of `both`: 1, 0, or nan where that is open."""
        return np.array([self.human_passes(item) for item in self.both], dtype=float)

    @cached_property
    def clusters(self) -> list[Hashable] | None:
        """The cluster of each of `both`; None where every item is one of its own."""
        return clusters_of(self.both)

    @property
    def categories(self) -> dict[float, str]:
        """What the levels are called, where they are categories; else empty."""
        levels = self.scale.levels if self.is_nominal else ()
        return {level.value: level.name for level in levels if level.name}

    @property
    def is_binary(self) -> bool:
        """Whether the scale has two scores only."""
        return self.levels is not None and len(self.levels) == _TWO_LEVELS

    def label(self, item: JudgedItem) -> float:
        """What the annotators of an item come to, on the criterion's scale."""
        ratings = list(item.ratings.values())
        if self.is_nominal:
            counts = Counter(ratings)
            # Ties between categories go to the lowest value, so that the order of annotators is no
            # matter.
            return min(counts, key=lambda rating: (-counts[rating], rating))
        if self.consensus == "mean":
            return mean_rating(item)
        found = mode(ratings) if self.consensus == "majority" else median(ratings)
        return level_of(found, self.levels) if self.is_binary else found

    def judge_passes(self, item: JudgedItem) -> float:
        """Whether the judge's score of an item passes."""
        if item.judge_passed is not None:
            return float(item.judge_passed)
        return nan if item.judge is None else self.passes(item.judge)

    def human_passes(self, item: JudgedItem) -> float:
        """Whether people's label of an item passes."""
        if item.human_passed is not None:
            return float(item.human_passed)
        return self.passes(self.label(item))

    def value(self, raw: float) -> float:
        """A score, also a mean of scores, on [0, 1]."""
        return (raw - self.scale.min) / (self.scale.max - self.scale.min)

    def where(self, wanted: Callable[[JudgedItem], bool]) -> AlignedItems:
        """The part of the items that is wanted."""
        return replace(
            self,
            items=tuple(item for item in self.items if wanted(item)),
            unlabelled=tuple(item for item in self.unlabelled if wanted(item)),
        )

    def _labels_of(self, items: Sequence[JudgedItem]) -> np.ndarray:
        labels = [self.label(item) for item in items]
        return np.array([level_of(x, self.levels) for x in labels], dtype=float)

    def passes(self, raw: float) -> float:
        """Whether a score passes."""
        if self.threshold is None:
            return nan
        return float(reaches(self.value(raw), self.threshold))


def mean_rating(item: JudgedItem) -> float:
    """The mean of what the annotators of an item said."""
    return round(fsum(item.ratings.values()) / len(item.ratings), _DIGITS)


def clusters_of(items: Sequence[JudgedItem]) -> list[Hashable] | None:
    """The cluster of each item."""
    names = [item.cluster for item in items]
    # Where each item is a cluster of its own the plain formulas are exact, and faster.
    return names if len(set(names)) < len(names) else None


def annotators_of(items: Iterable[JudgedItem]) -> list[str]:
    """Everybody who labelled any of the items."""
    return list(dict.fromkeys(name for item in items for name in item.ratings))


_LEVEL_DIGITS = 9
_TWO = 2
_WIDEST = 20

PREFERENCE_SCALE = Scale.model_validate({
    "levels": [
        {"value": 1, "name": "a"}, {"value": 0.5, "name": "tie"}, {"value": 0, "name": "b"},
    ]
})  # fmt: skip
"""The scale of a choice between two outputs: how far a is preferred."""


def infer_criterion(
    name: str, samples: Iterable[ScoreSample], labels: Iterable[float]
) -> Criterion:
    """A criterion of which only scores are known."""
    known = [each for each in samples if each.raw is not None]
    raws = [float(each.raw) for each in known if each.raw is not None]
    scores = [*raws, *labels]
    ends = _ends(
        [(float(e.raw), e.value) for e in known if e.raw is not None and e.value is not None]
    )
    if ends is None:
        if len(set(scores)) < _TWO:
            raise InputError(
                f"all scores of {name!r} are the same, and its scale is not known",
                hint="give the rubric",
            )
        ends = min(scores), max(scores)
    # Only of whole scores can it be assumed that the scale has levels.
    integer = all(float(score).is_integer() for score in (*scores, *ends))
    scale = Scale(min=ends[0], max=ends[1], integer=integer)
    return Criterion(name=name, question=f"How good is its {name}?", scale=scale)


def levels_of(scale: Scale) -> tuple[float, ...] | None:
    """The levels by which agreement on a scale is counted."""
    if scale.points is not None:
        return scale.points
    span = scale.max - scale.min
    is_whole = float(scale.min).is_integer() and float(scale.max).is_integer()
    # From 0 to 1 without levels is a continuous scale; 0 to 100 has too many levels for a kappa.
    if not is_whole or not _TWO <= span <= _WIDEST:
        return None
    return tuple(scale.min + step for step in range(int(span) + 1))


def level_of(score: float, points: Sequence[float] | None) -> float:
    """The score of a scale that a mean is nearest to; a half goes up."""
    return round(score, _LEVEL_DIGITS) if points is None else _nearest(score, tuple(points))


@lru_cache(maxsize=4096)
def _nearest(score: float, points: tuple[float, ...]) -> float:
    place = min(
        # A half goes up, as people round, and not to the even level.
        range(len(points)),
        key=lambda i: (round(abs(points[i] - score), _LEVEL_DIGITS), -i),
    )
    return points[place]


def level_step(levels: Sequence[float] | None) -> float:
    """How far apart two scores are that are one level apart."""
    if levels is None or len(levels) < _TWO:
        return 1.0
    return max(high - low for low, high in pairwise(levels))


def _ends(found: Sequence[tuple[float, float | None]]) -> tuple[float, float] | None:
    """Where the values 0 and 1 lie, from two scores of which the values are known."""
    pairs = [(raw, value) for raw, value in found if value is not None]
    if not pairs:
        return None
    # The farthest two points, whose rounding error matters least for the ends.
    (low, low_value), (high, high_value) = min(pairs), max(pairs)
    if isclose(low_value, high_value) or isclose(low, high):
        return None
    step = (high - low) / (high_value - low_value)
    least = low - low_value * step
    return round(least, _LEVEL_DIGITS), round(least + step, _LEVEL_DIGITS)


_MOST_LEFT_OUT = 60
_WORK = 1e8
"""Pairs of items a coefficient that compares all of them may look at, all in all."""


def estimate_or_undefined(make: Callable[[], Estimate], *, level: float = 0.95) -> Estimate:
    """An estimate, or one that is undefined and says why."""
    try:
        return make()
    except NotEnoughDataError as error:
        return undefined_estimate(error.message, n=0, method="none", level=level)


def clustered_estimate(
    found: Estimate,
    statistic: Callable[[np.ndarray], float],
    clusters: Sequence[Hashable] | None,
    *,
    is_quadratic: bool = False,
) -> Estimate:
    """An estimate with the interval of a jackknife over clusters."""
    # Above sixty clusters, groups of them are left out together (delete-a-group jackknife, Kott
    # 2001), dealt in the order of their names, so that the order of rows changes nothing.
    if clusters is None or isnan(found.value):
        return found
    codes = {name: code for code, name in enumerate(sorted(set(clusters), key=str))}
    if len(codes) == 1:
        reason = "all items are of one case"
        return replace(found, low=nan, high=nan, reason=reason, n_clusters=1)
    each = np.array([codes[name] for name in clusters])
    most = _MOST_LEFT_OUT
    if is_quadratic:
        # A statistic over all pairs costs the square of the items for each block that is left out.
        most = int(min(most, max(10, _WORK // max(1, len(each)) ** 2)))
    blocks = each % most
    left_out = [statistic(np.flatnonzero(blocks != block)) for block in np.unique(blocks)]
    ends = coefficient_interval(found.value, left_out, level=found.level, unit="case")
    return replace(
        found,
        low=ends.low,
        high=ends.high,
        reason=ends.reason,
        n_clusters=len(codes),
        n_observations=len(each),
        method=f"{found.method.partition(',')[0]}, jackknife, clustered",
    )


def clustered_rate(
    outcomes: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float
) -> Rate:
    """A share of outcomes, `k / n` of all of them whatever the sizes of their clusters."""
    known = [x for x in outcomes if not isnan(x)]
    if clusters is None or not known:
        n_missing = len(outcomes) - len(known)
        return proportion(int(sum(known)), len(known), n_missing=n_missing, level=level)
    return pooled_proportion(outcomes, clusters, level=level)


def clustered_mean(
    x: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float
) -> Estimate:
    """A mean."""
    return estimate_or_undefined(lambda: mean(x, clusters=clusters, level=level), level=level)


def clustered_unit_mean(
    x: Sequence[float], clusters: Sequence[Hashable] | None, *, level: float
) -> Estimate:
    """A mean of numbers that lie in [0, 1]."""
    return clip_to_unit(clustered_mean(x, clusters, level=level))


def clip_to_unit(found: Estimate) -> Estimate:
    """An estimate of what lies in [0, 1], the ends of its interval cut there."""
    if isnan(found.low):
        return found
    # The value stays inside its interval, even where it lies outside [0, 1] itself.
    low, high = max(found.low, min(0.0, found.value)), min(found.high, max(1.0, found.value))
    return replace(found, low=low, high=high)


NO_ORDER = "categories have no order: see kappa, and alpha at the nominal level"
"""Why a figure that goes by more and less is undefined."""

_NO_LEVELS_FOR_ALPHA = "the scale has no levels: see alpha at the interval level"


def measurement_level(aligned: AlignedItems) -> AlphaLevel:
    """How far two scores on a criterion's scale are apart."""
    if aligned.levels is None:
        return "interval"
    return "nominal" if aligned.is_binary or aligned.is_nominal else "ordinal"


def scale_alpha(
    aligned: AlignedItems,
    rows: Sequence[Sequence[float | None]],
    measurement: AlphaLevel,
    *,
    clusters: Sequence[Hashable] | None,
    level: float,
) -> Estimate:
    """Alpha of rows of scores on a criterion's scale."""
    if aligned.levels is None and measurement != "interval":
        return undefined_estimate(_NO_LEVELS_FOR_ALPHA, n=len(rows), method="alpha", level=level)
    if aligned.is_nominal and measurement != "nominal":
        return undefined_estimate(NO_ORDER, n=len(rows), method="alpha", level=level)
    return estimate_or_undefined(
        lambda: krippendorff_alpha(rows, measurement, clusters=clusters, confidence=level),
        level=level,
    )


_ALL = "all annotators"
_SAID = "a person's label"
_UNIT = Scale(min=0, max=1)


def overall_items(
    rubric: Rubric,
    criteria: Sequence[AlignedItems],
    combined: Mapping[OutputKey, CombinedScore],
    labels: Sequence[MatchedLabel],
) -> AlignedItems:
    """The verdicts of a rubric, against those that people's scores come to by the same rubric."""
    # An annotator who scored every weighted criterion of an output has a value for the whole, the
    # weighted mean; where nobody scored all, what annotators come to on each criterion makes one. A
    # label that names no criterion is of the whole, from 0 to 1.
    found: dict[OutputKey, dict[str, JudgedItem]] = {}
    for each in criteria:
        for item in (*each.items, *each.unlabelled):
            found.setdefault(item.place, {})[each.name] = item
    by_name = {each.name: each for each in criteria}
    said: dict[OutputKey, list[MatchedLabel]] = {}
    for one in labels:
        said.setdefault(one.place, []).append(one)
    items = [
        _item(rubric, by_name, parts, combined.get(place), said.get(place, ()))
        for place, parts in sorted(found.items(), key=lambda one: one[0].rank)
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
    rubric: Rubric,
    criteria: Mapping[str, AlignedItems],
    parts: Mapping[str, JudgedItem],
    combined: CombinedScore | None,
    labels: Sequence[MatchedLabel],
) -> JudgedItem:
    any_part = next(iter(parts.values()))
    judge = _verdict(rubric, _scores(criteria, parts))
    value, passed = judge if combined is None else (combined.value, combined.passed)
    ratings = {one.annotator: float(one.placed.label.raw or 0) for one in labels}
    human_passed = None
    labelled = {name: item for name, item in parts.items() if item.ratings}
    if not ratings:
        ratings, human_passed = _people(rubric, criteria, labelled)
    sure = [item.confidence for item in parts.values() if item.confidence is not None]
    return JudgedItem(
        place=any_part.place,
        criterion="",
        cluster=any_part.cluster,
        judge=value,
        ratings=ratings,
        # The whole is as sure as its least sure part; unknown where a part is.
        confidence=min(sure) if len(sure) == len(parts) else None,
        rationale=_joined({n: i.rationale for n, i in parts.items() if i.rationale}),
        reasons={
            one.annotator: one.placed.label.rationale
            for one in labels
            if one.placed.label.rationale
        }
        or _reasons(labelled),
        groups=any_part.groups,
        judge_passed=passed,
        human_passed=human_passed,
    )


def _scores(
    criteria: Mapping[str, AlignedItems], parts: Mapping[str, JudgedItem]
) -> dict[str, float]:
    return {
        name: criteria[name].value(item.judge)
        for name, item in parts.items()
        if item.judge is not None
    }


def _people(
    rubric: Rubric, criteria: Mapping[str, AlignedItems], parts: Mapping[str, JudgedItem]
) -> tuple[dict[str, float], bool | None]:
    """What each annotator's scores come to, and whether their labels pass."""
    labels = {name: criteria[name].value(criteria[name].label(i)) for name, i in parts.items()}
    value, passed = _verdict(rubric, labels)
    names = dict.fromkeys(name for item in parts.values() for name in item.ratings)
    ratings: dict[str, float] = {}
    for name in names:
        own = {
            c: criteria[c].value(item.ratings[name])
            for c, item in parts.items()
            if name in item.ratings
        }
        whole, _ = _verdict(rubric, own)
        if whole is not None:
            ratings[name] = whole
    if not ratings and value is not None:
        ratings = {_ALL: value}
    return ratings, passed if ratings else None


def _verdict(rubric: Rubric, values: Mapping[str, float]) -> tuple[float | None, bool | None]:
    judgments = [
        Judgment(criterion=name, raw=value, value=min(1.0, max(0.0, value)), rationale=_SAID)
        for name, value in values.items()
    ]
    verdict = conclude(rubric, judgments)
    return verdict.value, verdict.passed


def _joined(parts: Mapping[str, str]) -> str | None:
    return "; ".join(f"{name}: {text}" for name, text in parts.items()) or None


def _reasons(parts: Mapping[str, JudgedItem]) -> dict[str, str]:
    found: dict[str, dict[str, str]] = {}
    for name, item in parts.items():
        for annotator, reason in item.reasons.items():
            found.setdefault(annotator, {})[name] = reason
    return {annotator: _joined(reasons) or "" for annotator, reasons in found.items()}
