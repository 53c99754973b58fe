"""Which items to look at: where judge and people part most, and which labels would help next."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.evaluation.calibrating.aligned import mean_rating

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.evaluation.calibrating.aligned import Aligned, Item

_SAME = 1e-9
_UNSURE = 0.75
_NEAR = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An item on which judge and people part, with the reasons of both."""

    case_id: str
    """The case."""

    variant: str | None
    """The variant."""

    repeat: int
    """Which of the variant's answers."""

    criterion: str
    """The criterion; empty for the whole."""

    judge: float
    """The judge's score."""

    human: float
    """The mean of people's."""

    ratings: Mapping[str, float]
    """What each annotator said."""

    distance: float
    """How far apart they are, as a share of the scale; above 0 the judge is higher. Of two
    categories 1."""

    confidence: float | None
    """How sure the judge is."""

    rationale: str | None
    """Why the judge said so."""

    reasons: Mapping[str, str]
    """Why the annotators did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """An item that a label would help most with."""

    case_id: str
    """The case."""

    variant: str | None
    """The variant."""

    repeat: int
    """Which of the variant's answers."""

    criterion: str
    """The criterion; empty for the whole."""

    score: float
    """How much a label is expected to tell, from 0 to 1; for ordering."""

    why: str
    """The reason."""


def disagreements(aligned: Aligned, most: int) -> tuple[Disagreement, ...]:
    """The items on which judge and people are furthest apart; of equals those it is sure of first."""
    found = []
    for item in aligned.both:
        human = aligned.label(item) if aligned.is_nominal else mean_rating(item)
        distance = aligned.value(item.judge or 0.0) - aligned.value(human)
        if aligned.is_nominal and abs(distance) > _SAME:
            distance = 1.0  # another category is another category
        if abs(distance) > _SAME:
            found.append((abs(distance), item.confidence or 0.0, item, distance, human))
    found.sort(key=lambda row: (-row[0], -row[1], row[2].place.case_id))
    return tuple(
        Disagreement(
            case_id=item.place.case_id,
            variant=item.place.variant,
            repeat=item.place.repeat,
            criterion=item.criterion,
            judge=item.judge or 0.0,
            human=human,
            ratings=dict(item.ratings),
            distance=distance,
            confidence=item.confidence,
            rationale=item.rationale,
            reasons=dict(item.reasons),
        )
        for _, _, item, distance, human in found[:most]
    )


def suggestions(parts: Sequence[Aligned], most: int) -> tuple[Suggestion, ...]:
    """The items that a label would tell most about: where the judge is unsure or people are split."""
    # They are spread over the judge's scores, so that no part of the scale is without labels. They
    # are chosen, not drawn: labels of them alone are no random subset.
    found = [one for part in parts for one in _of_part(part)]
    by_level: defaultdict[tuple[str, float], list[tuple[Suggestion, float]]] = defaultdict(list)
    for suggestion, at in sorted(found, key=lambda pair: (-pair[0].score, pair[0].case_id)):
        by_level[suggestion.criterion, round(at, 1)].append((suggestion, at))
    ranked = [
        (rank, -suggestion.score, suggestion)
        for group in by_level.values()
        for rank, (suggestion, _) in enumerate(group)
    ]
    ranked.sort(key=lambda row: (row[0] // 2, row[1], row[2].case_id))
    return tuple(suggestion for _, _, suggestion in ranked[:most])


def _of_part(part: Aligned) -> Iterable[tuple[Suggestion, float]]:
    for item in part.unlabelled:
        at = part.value(item.judge or 0.0)
        score, why = _unsure(part, item, at)
        yield _suggestion(item, score, why), at
    span = part.scale.max - part.scale.min
    for item in part.items:
        spread = max(item.ratings.values()) - min(item.ratings.values())
        if len(item.ratings) == 2 and spread > span / 4:  # noqa: PLR2004 - two against each other
            at = part.value(mean_rating(item))
            why = "two annotators are split; a third would settle it"
            yield _suggestion(item, 0.5 + spread / span / 2, why), at


def _unsure(part: Aligned, item: Item, at: float) -> tuple[float, str]:
    """How unsure the judge is of an item, and in what words."""
    if item.confidence is not None:
        score = 1 - item.confidence
        if item.confidence < _UNSURE:
            return score, f"the judge is unsure ({item.confidence:.2f})"
        return score, f"not labelled; the judge is {item.confidence:.2f} sure"
    if part.threshold is not None and not part.is_binary:
        near = 1 - min(1.0, abs(at - part.threshold))
        if abs(at - part.threshold) < _NEAR:
            return near, f"its score is near what passes ({at:.2f}, passes from {part.threshold:g})"
        return near, "not labelled"
    return 0.5, "not labelled"


def _suggestion(item: Item, score: float, why: str) -> Suggestion:
    return Suggestion(
        case_id=item.place.case_id,
        variant=item.place.variant,
        repeat=item.place.repeat,
        criterion=item.criterion,
        score=score,
        why=why,
    )
