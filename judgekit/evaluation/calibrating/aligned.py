"""A judge's scores and people's, item by item; what every figure of a calibration is made from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum, nan
from typing import TYPE_CHECKING

import numpy as np

from judgekit.evaluation.calibrating.scales import level_of, levels_of
from judgekit.stats.votes import median, mode
from judgekit.verdicts import reaches

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from judgekit.evaluation.calibrating.material import Groups, Place
    from judgekit.evaluation.calibrating.options import Consensus
    from judgekit.records.rubric import Criterion, Scale

_DIGITS = 12
_TWO_LEVELS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One output on one criterion: what the judge said of it, and what people said."""

    place: Place
    """The output."""

    criterion: str
    """The criterion."""

    cluster: Hashable
    """What it shares with others that are not independent of it, as a rule its case."""

    judge: float | None
    """The judge's score, the mean of its usable answers; None where there is none."""

    samples: tuple[float | None, ...] = ()
    """Its answers one by one; None for those that were not usable."""

    ratings: Mapping[str, float]
    """What each annotator said."""

    confidence: float | None = None
    """How sure the judge is."""

    rationale: str | None = None
    """Why the judge said so."""

    reasons: Mapping[str, str]
    """Why the annotators did."""

    groups: Groups
    """What it belongs to."""

    judge_passed: bool | None = None
    """Whether the judge's verdict passes, where a rubric decides that by more than the score."""

    human_passed: bool | None = None
    """Whether people's verdict passes, likewise."""


@dataclass(frozen=True, kw_only=True)
class Aligned:
    """Everything said about one criterion, or the whole: labelled items, and those without."""

    name: str
    """The criterion; empty for the whole."""

    criterion: Criterion | None = None
    """The criterion, where there is one; its fingerprint is what a map would be bound to."""

    scale: Scale
    """The scale of all scores in it."""

    threshold: float | None
    """The value on [0, 1] from which a score passes; None where nothing passes (comparisons)."""

    items: tuple[Item, ...]
    """Items that somebody labelled; the judge may have failed on them."""

    unlabelled: tuple[Item, ...] = ()
    """Items that the judge scored and nobody labelled."""

    consensus: Consensus = "median"
    """How several annotators come to one label."""

    is_nominal: bool = False
    """Whether the scale has categories without an order: then only equal is equal."""

    @cached_property
    def both(self) -> tuple[Item, ...]:
        """The items with both a judge's score and a label."""
        return tuple(item for item in self.items if item.judge is not None)

    @cached_property
    def judge(self) -> np.ndarray:
        """The judge's scores of `both`."""
        return np.array([item.judge for item in self.both], dtype=float)

    @cached_property
    def human(self) -> np.ndarray:
        """The mean of people's scores of `both`; of categories the label."""
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

    def label(self, item: Item) -> float:
        """What the annotators of an item come to, on the criterion's scale."""
        ratings = list(item.ratings.values())
        if self.is_nominal:
            counts = Counter(ratings)
            return min(counts, key=lambda rating: (-counts[rating], rating))
        if self.consensus == "mean":
            return mean_rating(item)
        found = mode(ratings) if self.consensus == "majority" else median(ratings)
        return level_of(found, self.levels) if self.is_binary else found

    def judge_passes(self, item: Item) -> float:
        """Whether the judge's score of an item passes."""
        if item.judge_passed is not None:
            return float(item.judge_passed)
        return nan if item.judge is None else self.passes(item.judge)

    def human_passes(self, item: Item) -> float:
        """Whether people's label of an item passes."""
        if item.human_passed is not None:
            return float(item.human_passed)
        return self.passes(self.label(item))

    def value(self, raw: float) -> float:
        """A score, also a mean of scores, on [0, 1]."""
        return (raw - self.scale.min) / (self.scale.max - self.scale.min)

    def where(self, wanted: Callable[[Item], bool]) -> Aligned:
        """The part of the items that is wanted."""
        return replace(
            self,
            items=tuple(item for item in self.items if wanted(item)),
            unlabelled=tuple(item for item in self.unlabelled if wanted(item)),
        )

    def _labels_of(self, items: Sequence[Item]) -> np.ndarray:
        labels = [self.label(item) for item in items]
        return np.array([level_of(x, self.levels) for x in labels], dtype=float)

    def passes(self, raw: float) -> float:
        """Whether a score passes."""
        if self.threshold is None:
            return nan
        return float(reaches(self.value(raw), self.threshold))


def mean_rating(item: Item) -> float:
    """The mean of what the annotators of an item said."""
    return round(fsum(item.ratings.values()) / len(item.ratings), _DIGITS)


def clusters_of(items: Sequence[Item]) -> list[Hashable] | None:
    """The cluster of each item."""
    names = [item.cluster for item in items]
    return names if len(set(names)) < len(names) else None


def annotators_of(items: Iterable[Item]) -> list[str]:
    """Everybody who labelled any of the items."""
    return list(dict.fromkeys(name for item in items for name in item.ratings))
