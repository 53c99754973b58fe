"""Comparisons and labels to aligned pairs, on the scale of how far output a is preferred."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from judgekit.evaluation.calibrating.aligned import Aligned, Item
from judgekit.evaluation.calibrating.joining import Material, add_metadata, cluster_of
from judgekit.evaluation.calibrating.labelling import WHOLE, Matching
from judgekit.evaluation.calibrating.scales import CHOICE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.datasets.labels import PlacedLabel
    from judgekit.errors import DatasetError
    from judgekit.evaluation.calibrating.labelling import Told
    from judgekit.evaluation.calibrating.material import Pair, Pairs, Place
    from judgekit.evaluation.calibrating.options import CalibrationOptions

_SHARES = {"a": 1.0, "tie": 0.5, "b": 0.0}
_WORDS = {"a": "a", "b": "b", "tie": "tie", "draw": "tie", "equal": "tie", "both": "tie"}
_HINT = "a label of two outputs has `winner`: a, b, tie, or the name of a variant"


@dataclass(frozen=True, slots=True)
class JoinedPairs:
    """What a calibration of comparisons is made from."""

    material: Material
    """The pairs as items; 1 is a, 0 is b."""

    pairs: Mapping[str, Mapping[Place, Pair]]
    """What the judge said in each order, by criterion (`WHOLE` for the whole) and place."""


def join_pairs(
    pairs: Pairs, labels: Sequence[PlacedLabel], options: CalibrationOptions
) -> JoinedPairs:
    """Hold labels against choices between two outputs."""
    by_criterion: defaultdict[str, dict[Place, Pair]] = defaultdict(dict)
    for pair in sorted(pairs.pairs, key=lambda pair: pair.place.rank):
        by_criterion[pair.criterion or WHOLE][pair.place] = pair
    places = sorted({pair.place for pair in pairs.pairs}, key=lambda place: place.rank)
    matching = Matching(places, list(by_criterion), options.annotators)
    matching.take(labels)
    problems: list[DatasetError] = []
    told: defaultdict[str, list[tuple[Told, float]]] = defaultdict(list)
    for each in matching.told:
        share = _share(each)
        if share is None:
            problems.append(each.placed.fault("it names no winner", _HINT))
        else:
            told[each.criterion].append((each, share))
    matching.check(problems)
    add_metadata(pairs.groups, matching.told)
    aligned = {
        name: _aligned(name, found, told[name], pairs, options)
        for name, found in by_criterion.items()
    }
    whole = aligned.pop(WHOLE, None)
    labelled = tuple(each for each in aligned.values() if each.items)
    n_failed = Counter(
        "unusable" for pair in pairs.pairs for choice in pair.choices if choice.winner is None
    )
    n_answers = sum(len(pair.choices) for pair in pairs.pairs)
    judges = dict.fromkeys(c.judge for pair in pairs.pairs for c in pair.choices if c.judge)
    found_places = {each.place for each in matching.told}
    material = Material(
        criteria=labelled,
        whole=whole if whole is not None and whole.items else None,
        pooled=None,
        joined=matching.joined(found_places, n_answers, dict(n_failed), pairs.n_errors),
        judges=tuple(judges),
        notes=tuple(matching.notes()),
    )
    return JoinedPairs(material, by_criterion)


def _share(told: Told) -> float | None:
    """How far a person prefers a: 1, 0.5 or 0; None where the label names neither."""
    label = told.placed.label
    if label.winner is None:
        raw = label.raw
        return float(raw) if isinstance(raw, float | int) and raw in _SHARES.values() else None
    a, _, b = (told.place.variant or "").partition("::")
    named = {name: side for name, side in ((a, 1.0), (b, 0.0)) if name}
    if label.winner in named:
        return named[label.winner]
    word = _WORDS.get(label.winner.casefold())
    return None if word is None else _SHARES[word]


def _aligned(
    name: str,
    found: Mapping[Place, Pair],
    told: Sequence[tuple[Told, float]],
    pairs: Pairs,
    options: CalibrationOptions,
) -> Aligned:
    by_place: defaultdict[Place, list[tuple[Told, float]]] = defaultdict(list)
    for each, share in told:
        by_place[each.place].append((each, share))
    items = []
    for place, pair in found.items():
        groups = pairs.groups.get(place, {})
        labels = sorted(by_place.get(place, ()), key=lambda one: one[0].annotator)
        item = Item(
            place=place,
            criterion=name,
            cluster=cluster_of(place, groups, name, options),
            judge=None if pair.winner is None else _SHARES[pair.winner],
            ratings={each.annotator: share for each, share in labels},
            confidence=confidence_of(pair),
            rationale=_rationale(pair),
            reasons={
                each.annotator: each.placed.label.rationale
                for each, _ in labels
                if each.placed.label.rationale
            },
            groups=groups,
        )
        items.append(item)
    return Aligned(
        name=name,
        scale=CHOICE,
        threshold=None,
        items=tuple(item for item in items if item.ratings),
        unlabelled=tuple(i for i in items if not i.ratings and i.judge is not None),
        consensus=options.consensus,
    )


def confidence_of(pair: Pair) -> float | None:
    """How sure the judge is of the winner."""
    if pair.confidence is not None or pair.winner in (None, "tie"):
        return pair.confidence
    shares = [choice.share for choice in pair.choices if choice.share is not None]
    if not shares:
        sure = pair.probability
        if sure is None or pair.choices:
            return None  # a share of votes in two orders is no probability
        return sure if pair.winner == "a" else 1 - sure
    toward_a = fsum(shares) / len(shares)
    return toward_a if pair.winner == "a" else 1 - toward_a


def _rationale(pair: Pair) -> str | None:
    said = [c for c in pair.choices if c.rationale]
    same = [c for c in said if c.winner == pair.winner]
    return next((c.rationale for c in (*same, *said)), None)
