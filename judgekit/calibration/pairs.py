"""Comparisons: joins them with labels.

Measures the verdicts of both orders against the labels and against each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import fsum, nan
from typing import TYPE_CHECKING

from judgekit.calibration.inputs import majority_winner
from judgekit.calibration.items import (
    PREFERENCE_SCALE,
    AlignedItems,
    JudgedItem,
    clustered_rate,
    clustered_unit_mean,
    clusters_of,
    estimate_or_undefined,
)
from judgekit.calibration.join import (
    WHOLE_OUTPUT,
    CalibrationData,
    LabelMatcher,
    add_metadata,
    cluster_of,
    label_reasons,
)
from judgekit.records import WINNER_POINTS
from judgekit.stats.agreement import cohen_kappa

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from judgekit.calibration.inputs import (
        CalibrationOptions,
        MatchedLabel,
        OutputKey,
        PairJudgment,
        PairwiseData,
    )
    from judgekit.datasets import LocatedLabel
    from judgekit.errors import DatasetError
    from judgekit.records import PresentationOrder, Winner
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.intervals import Rate

_WORDS: dict[str, Winner] = {
    "a": "a",
    "b": "b",
    "tie": "tie",
    "draw": "tie",
    "equal": "tie",
    "both": "tie",
}

_HINT = "a label of two outputs has `winner`: a, b, tie, or the name of a variant"


@dataclass(frozen=True, slots=True)
class JoinedPairs:
    """What a calibration of comparisons is computed from.

    Attributes:
        material: The pairs as items; 1 is a, 0 is b.
        pairs: The judge's answers by criterion (`WHOLE_OUTPUT` for the whole output) and pair.
    """

    material: CalibrationData
    pairs: Mapping[str, Mapping[OutputKey, PairJudgment]]


def join_pairs(
    pairs: PairwiseData, labels: Sequence[LocatedLabel], options: CalibrationOptions
) -> JoinedPairs:
    """Match labels with choices between two outputs."""
    by_criterion: defaultdict[str, dict[OutputKey, PairJudgment]] = defaultdict(dict)
    for pair in sorted(pairs.pairs, key=lambda pair: pair.place.rank):
        by_criterion[pair.criterion or WHOLE_OUTPUT][pair.place] = pair
    places = sorted({pair.place for pair in pairs.pairs}, key=lambda place: place.rank)
    matching = LabelMatcher(places, list(by_criterion), options.annotators)
    matching.take(labels)
    problems: list[DatasetError] = []
    by_name: defaultdict[str, list[tuple[MatchedLabel, float]]] = defaultdict(list)
    for each in matching.matched:
        share = _share(each)
        if share is None:
            problems.append(each.placed.fault("it names no winner", _HINT))
        else:
            by_name[each.criterion].append((each, share))
    matching.check(problems)
    add_metadata(pairs.groups, matching.matched)
    aligned = {
        name: _aligned(name, found, by_name[name], pairs, options)
        for name, found in by_criterion.items()
    }
    whole = aligned.pop(WHOLE_OUTPUT, None)
    labelled = tuple(each for each in aligned.values() if each.items)
    # Comparisons keep no kind of failure for an order, so that all count as unusable.
    n_failed = Counter(
        "unusable" for pair in pairs.pairs for choice in pair.choices if choice.winner is None
    )
    n_answers = sum(len(pair.choices) for pair in pairs.pairs)
    judges = dict.fromkeys(c.judge for pair in pairs.pairs for c in pair.choices if c.judge)
    found_places = {each.place for each in matching.matched}
    material = CalibrationData(
        criteria=labelled,
        whole=whole if whole is not None and whole.items else None,
        pooled=None,
        joined=matching.joined(found_places, n_answers, dict(n_failed), pairs.n_errors),
        judges=tuple(judges),
        notes=tuple(matching.notes()),
    )
    return JoinedPairs(material, by_criterion)


def _share(matched: MatchedLabel) -> float | None:
    """How far a person prefers a: 1, 0.5 or 0; None where the label names neither."""
    label = matched.placed.label
    if label.winner is None:
        raw = label.raw
        return (
            float(raw) if isinstance(raw, float | int) and raw in WINNER_POINTS.values() else None
        )
    a, _, b = (matched.place.variant or "").partition("::")
    named = {name: side for name, side in ((a, 1.0), (b, 0.0)) if name}
    if label.winner in named:
        return named[label.winner]
    word = _WORDS.get(label.winner.casefold())
    return None if word is None else WINNER_POINTS[word]


def _aligned(
    name: str,
    found: Mapping[OutputKey, PairJudgment],
    shares: Sequence[tuple[MatchedLabel, float]],
    pairs: PairwiseData,
    options: CalibrationOptions,
) -> AlignedItems:
    by_place: defaultdict[OutputKey, list[tuple[MatchedLabel, float]]] = defaultdict(list)
    for each, share in shares:
        by_place[each.place].append((each, share))
    items = []
    for place, pair in found.items():
        groups = pairs.groups.get(place, {})
        # By annotator, so that the order of rows changes no figure.
        labels = sorted(by_place.get(place, ()), key=lambda one: one[0].annotator)
        item = JudgedItem(
            place=place,
            criterion=name,
            cluster=cluster_of(place, groups, name, options),
            judge=None if pair.winner is None else WINNER_POINTS[pair.winner],
            ratings={each.annotator: share for each, share in labels},
            confidence=confidence_of(pair),
            rationale=_rationale(pair),
            reasons=label_reasons([each for each, _ in labels]),
            groups=groups,
        )
        items.append(item)
    return AlignedItems(
        name=name,
        scale=PREFERENCE_SCALE,
        threshold=None,
        items=tuple(item for item in items if item.ratings),
        unlabelled=tuple(i for i in items if not i.ratings and i.judge is not None),
        consensus=options.consensus,
    )


def confidence_of(pair: PairJudgment) -> float | None:
    """How sure the judge is of the winner."""
    if pair.confidence is not None or pair.winner in (None, "tie"):
        return pair.confidence
    shares = [choice.share for choice in pair.choices if choice.share is not None]
    # A probability of both orders is trusted only where nothing finer is known.
    if not shares:
        sure = pair.probability
        if sure is None or pair.choices:
            return None  # a share of votes in two orders is no probability
        return sure if pair.winner == "a" else 1 - sure
    toward_a = fsum(shares) / len(shares)
    return toward_a if pair.winner == "a" else 1 - toward_a


def _rationale(pair: PairJudgment) -> str | None:
    said = [c for c in pair.choices if c.rationale]
    # The reason that is shown should be one for the winner.
    same = [c for c in said if c.winner == pair.winner]
    return next((c.rationale for c in (*same, *said)), None)


_SIDES: tuple[Winner, ...] = ("a", "tie", "b")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOrders:
    """Verdicts of both orders, mapped back to the outputs.

    The accuracies count unusable answers as wrong, except `accuracy_usable`.

    Attributes:
        n: Labelled pairs.
        n_answers: Answers in both orders, usable or not.
        n_unusable: Unusable answers.
        accuracy_ab: Share of pairs judged right with a shown first.
        accuracy_ba: Share of pairs judged right with b shown first.
        accuracy_mean: Mean of both.
        accuracy_both: Share judged right in both orders.
        accuracy_usable: Share of the usable answers, in both orders, that are right.
        swap_accuracy: Share of pairs on which more orders choose the label than the other side (Tan
            et al. 2024, JudgeBench); an unusable answer counts for neither.
        reconciled_accuracy: Share of pairs whose reconciled verdict equals the label. It is a or b
            if both orders agree, else a tie, also after an unusable answer.
        kappa: Cohen's kappa of the reconciled verdict and the label.
        kappa_orders: Cohen's kappa of the two orders, where both are usable.
        position_conflict: Share of pairs on which the orders differ; unusable differs from any
            verdict.
        first_shown: Share of preferences for the output shown first, among usable answers without a
            tie.
        win_rate_a: How often a wins after reconciliation, ties as half.
        human_win_rate_a: How often a wins by the labels.
    """

    n: int
    n_answers: int
    n_unusable: int
    accuracy_ab: Rate
    accuracy_ba: Rate
    accuracy_mean: float
    accuracy_both: Rate
    accuracy_usable: Rate
    swap_accuracy: Rate
    reconciled_accuracy: Rate
    kappa: Estimate
    kappa_orders: Estimate
    position_conflict: Rate
    first_shown: Rate
    win_rate_a: Estimate
    human_win_rate_a: Estimate


@dataclass(frozen=True, slots=True)
class _PairVerdicts:
    """The label of a pair, and each order's verdict on it."""

    label: Winner
    ab: Winner | None
    ba: Winner | None


def pair_orders(
    aligned: AlignedItems, pairs: Mapping[OutputKey, PairJudgment], *, level: float
) -> PairOrders | None:
    """How the verdicts of both orders compare with the labels and with each other."""
    items = [item for item in aligned.items if pairs[item.place].choices]
    if not items:
        return None
    verdicts = [_verdicts_of(aligned, item, pairs[item.place]) for item in items]
    clusters = clusters_of(items)
    asked = {choice.order for item in items for choice in pairs[item.place].choices}
    both = len(asked) > 1

    def share(outcomes: Sequence[float], *, known: bool = True) -> Rate:
        return clustered_rate(outcomes if known else [], clusters if known else None, level=level)

    reconciled = [_reconciled(each) for each in verdicts]
    labels = [each.label for each in verdicts]
    ab = share([float(t.ab == t.label) for t in verdicts], known="ab" in asked)
    ba = share([float(t.ba == t.label) for t in verdicts], known="ba" in asked)
    usable = [float(v == t.label) for t in verdicts for v in (t.ab, t.ba) if v is not None]
    return PairOrders(
        n=len(items),
        n_answers=sum(len(pairs[item.place].choices) for item in items),
        n_unusable=sum(c.winner is None for i in items for c in pairs[i.place].choices),
        accuracy_ab=ab,
        accuracy_ba=ba,
        accuracy_mean=(ab.value + ba.value) / 2 if both else nan,
        accuracy_both=share([float(t.ab == t.label == t.ba) for t in verdicts], known=both),
        accuracy_usable=clustered_rate(usable, _twice(items, verdicts), level=level),
        swap_accuracy=share([_swapped(t) for t in verdicts], known=both),
        reconciled_accuracy=share(
            [float(v == t.label) for v, t in zip(reconciled, verdicts, strict=True)], known=both
        ),
        kappa=_kappa(labels, reconciled if both else _single(verdicts, asked), clusters, level),
        kappa_orders=_kappa([t.ab for t in verdicts], [t.ba for t in verdicts], clusters, level),
        position_conflict=share([float(t.ab != t.ba) for t in verdicts], known=both),
        first_shown=_first_shown(items, verdicts, level),
        win_rate_a=clustered_unit_mean(
            [
                WINNER_POINTS[v] if v else nan
                for v in (reconciled if both else _single(verdicts, asked))
            ],
            clusters,
            level=level,
        ),
        human_win_rate_a=clustered_unit_mean(
            [WINNER_POINTS[label] for label in labels], clusters, level=level
        ),
    )


def _verdicts_of(aligned: AlignedItems, item: JudgedItem, pair: PairJudgment) -> _PairVerdicts:
    label = majority_winner([aligned.label(item)])
    return _PairVerdicts(label, _verdict(pair, "ab"), _verdict(pair, "ba"))


def _verdict(pair: PairJudgment, order: PresentationOrder) -> Winner | None:
    """The side with more than half of an order's usable answers; None without one."""
    points = [WINNER_POINTS[c.winner] for c in pair.choices if c.order == order and c.winner]
    return majority_winner(points) if points else None


def _reconciled(both: _PairVerdicts) -> Winner:
    # An unusable order is no agreement: the pair is a tie, as in the comparison itself.
    return both.ab if both.ab is not None and both.ab == both.ba else "tie"


def _single(
    verdicts: Sequence[_PairVerdicts], asked: set[PresentationOrder]
) -> list[Winner | None]:
    return [t.ab if "ab" in asked else t.ba for t in verdicts]


def _swapped(both: _PairVerdicts) -> float:
    other = {"a": "b", "b": "a", "tie": None}[both.label]
    usable = [verdict for verdict in (both.ab, both.ba) if verdict is not None]
    points = sum((v == both.label) - (v == other) for v in usable)
    return float(points > 0)


def _kappa(
    a: Sequence[Winner | None],
    b: Sequence[Winner | None],
    clusters: Sequence[Hashable] | None,
    level: float,
) -> Estimate:
    return estimate_or_undefined(
        lambda: cohen_kappa(a, b, labels=_SIDES, clusters=clusters, level=level), level=level
    )


def _first_shown(
    items: Sequence[JudgedItem], verdicts: Sequence[_PairVerdicts], level: float
) -> Rate:
    outcomes, names = [], []
    for item, each in zip(items, verdicts, strict=True):
        for verdict, first in ((each.ab, "a"), (each.ba, "b")):
            if verdict in ("a", "b"):
                outcomes.append(float(verdict == first))
                names.append(item.cluster)
    return clustered_rate(outcomes, names if len(set(names)) < len(names) else None, level=level)


def _twice(items: Sequence[JudgedItem], verdicts: Sequence[_PairVerdicts]) -> list[Hashable] | None:
    names = [
        item.cluster
        for item, each in zip(items, verdicts, strict=True)
        for verdict in (each.ab, each.ba)
        if verdict is not None
    ]
    return names if len(set(names)) < len(names) else None
