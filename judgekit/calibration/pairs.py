"""Comparisons of two outputs: joined with labels, and the verdicts of both orders measured."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, nan
from typing import TYPE_CHECKING, NamedTuple

from judgekit.calibration.inputs import cluster_of, label_reasons, labels_by_place, majority_winner
from judgekit.calibration.items import (
    PREFERENCE_SCALE,
    AlignedItems,
    JudgedItem,
    clustered_rate,
    clustered_unit_mean,
    estimate_or_undefined,
    shared_clusters,
)
from judgekit.calibration.join import WHOLE_OUTPUT, CalibrationData, LabelMatcher, add_metadata
from judgekit.records import WINNER_POINTS, Winner
from judgekit.stats.agreement import cohen_kappa

if TYPE_CHECKING:
    from judgekit.calibration.inputs import (
        CalibrationOptions,
        MatchedLabel,
        OutputKey,
        PairJudgment,
        PairwiseData,
    )
    from judgekit.datasets import LocatedLabel
    from judgekit.errors import DatasetError
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.intervals import Rate

_WORDS: dict[str, Winner] = {
    "a": "a", "b": "b", "tie": "tie", "draw": "tie", "equal": "tie", "both": "tie",
}  # fmt: skip

_HINT = "a label of two outputs has `winner`: a, b, tie, or the name of a variant"
_SIDES: tuple[Winner, ...] = ("a", "tie", "b")


def join_pairs(
    pairs: PairwiseData, labels: Iterable[LocatedLabel], options: CalibrationOptions
) -> CalibrationData:
    by_criterion: defaultdict[str, dict[OutputKey, PairJudgment]] = defaultdict(dict)
    for pair in sorted(pairs.pairs, key=lambda pair: pair.place.rank):
        by_criterion[pair.criterion or WHOLE_OUTPUT][pair.place] = pair
    places = sorted({pair.place for pair in pairs.pairs}, key=lambda place: place.rank)
    matching = LabelMatcher(places, list(by_criterion), options.annotators)
    matching.take(labels)
    matching.check(winner_problems(matching.matched))
    add_metadata(pairs.groups, matching.matched)
    by_name = matching.by_criterion()
    aligned = {
        name: _aligned(name, judgments, labels_by_place(by_name[name]), pairs, options)
        for name, judgments in by_criterion.items()
    }
    whole = aligned.pop(WHOLE_OUTPUT, None)
    labelled = tuple(each for each in aligned.values() if each.items)
    choices = [choice for pair in pairs.pairs for choice in pair.choices]
    # A comparison records no kind of failure for an order, so that all count as unusable.
    failures = Counter("unusable" for choice in choices if choice.winner is None)
    judges = dict.fromkeys(choice.judge for choice in choices if choice.judge)
    return CalibrationData(
        criteria=labelled,
        whole=whole if whole is not None and whole.items else None,
        pooled=None,
        joined=matching.joined(len(choices), dict(failures), pairs.n_errors),
        judges=tuple(judges),
        notes=tuple(matching.notes()),
        pairs=by_criterion,
    )


def winner_problems(labels: Iterable[MatchedLabel]) -> list[DatasetError]:
    shareless = [each.placed for each in labels if _share(each) is None]
    return [placed.fault("it names no winner", _HINT) for placed in shareless]


def _share(matched: MatchedLabel) -> float | None:
    """A label's preference for a: 1, 0.5 or 0; None if it names no winner."""
    label = matched.placed.label
    if label.winner is None:
        raw = label.raw
        return (
            float(raw) if isinstance(raw, float | int) and raw in WINNER_POINTS.values() else None
        )
    return winner_share(label.winner, matched.place.variant)


def winner_share(winner: str, pair: str | None) -> float | None:
    """The preference for a, of the pair `a::b`; None where the word names no winner of it."""
    a, _, b = (pair or "").partition("::")
    named = {name: side for name, side in ((a, 1.0), (b, 0.0)) if name}
    # A variant's own name comes first: a variant may be called `b` and stand in place a.
    if winner in named:
        return named[winner]
    word = _WORDS.get(winner.casefold())
    return None if word is None else WINNER_POINTS[word]


def _aligned(
    name: str,
    judgments: Mapping[OutputKey, PairJudgment],
    by_place: Mapping[OutputKey, Sequence[MatchedLabel]],
    pairs: PairwiseData,
    options: CalibrationOptions,
) -> AlignedItems:
    items = []
    for place, pair in judgments.items():
        groups = pairs.groups.get(place, {})
        labels = by_place.get(place, ())
        shares = ((each.annotator, _share(each)) for each in labels)
        # The reason of an order that chose the winner is shown first.
        reasoned = sorted(pair.choices, key=lambda choice: choice.winner != pair.winner)
        item = JudgedItem(
            place=place,
            criterion=name,
            cluster=cluster_of(place, groups, name, options),
            judge=None if pair.winner is None else WINNER_POINTS[pair.winner],
            ratings={who: share for who, share in shares if share is not None},
            confidence=confidence_of(pair),
            rationale=next((c.rationale for c in reasoned if c.rationale), None),
            reasons=label_reasons(labels),
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
    if pair.confidence is not None or pair.winner in (None, "tie"):
        return pair.confidence
    shares = [choice.share for choice in pair.choices if choice.share is not None]
    if not shares:
        # A share of votes in two orders is not a probability, so it is no confidence.
        if pair.probability is None or pair.choices:
            return None
        return pair.probability if pair.winner == "a" else 1 - pair.probability
    toward_a = fsum(shares) / len(shares)
    return toward_a if pair.winner == "a" else 1 - toward_a


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOrders:
    """Verdicts of both orders, mapped back to the outputs.

    The accuracies count unusable answers as wrong, except `accuracy_usable`.

    Attributes:
        accuracy_ab: Share of pairs judged right with a shown first; `accuracy_ba` with b first.
        swap_accuracy: Share of pairs on which more orders choose the label than the other side (Tan
            et al. 2024, JudgeBench); an unusable answer counts for neither.
        reconciled_accuracy: Share of pairs whose reconciled verdict, as in `kappa`, is the label.
            It is a or b if both orders agree, else a tie, also after an unusable answer.
        kappa_orders: Cohen's kappa of the two orders, where both are usable.
        position_conflict: Share of pairs on which the orders differ; unusable differs from any
            verdict.
        first_shown: Share of preferences for the output shown first, without ties.
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


class _PairVerdicts(NamedTuple):
    label: Winner
    ab: Winner | None
    ba: Winner | None


def pair_orders(
    aligned: AlignedItems, pairs: Mapping[OutputKey, PairJudgment], *, level: float
) -> PairOrders | None:
    items = [item for item in aligned.items if pairs[item.place].choices]
    if not items:
        return None
    verdicts = [
        _PairVerdicts(majority_winner([aligned.label(item)]), *_winners(pairs[item.place]))
        for item in items
    ]
    names = [item.cluster for item in items]
    clusters = shared_clusters(names)
    choices = [choice for item in items for choice in pairs[item.place].choices]
    orders = {choice.order for choice in choices}
    both = len(orders) > 1

    def share(outcomes: Sequence[float], *, known: bool = True) -> Rate:
        return clustered_rate(outcomes if known else [], clusters if known else None, level=level)

    # An unusable order is no agreement: the pair is a tie, as in the comparison itself. With one
    # order there is nothing to reconcile, and its verdict counts.
    reconciled = [t.ab if t.ab is not None and t.ab == t.ba else "tie" for t in verdicts]
    winners = reconciled if both else [t.ab if "ab" in orders else t.ba for t in verdicts]
    labels = [each.label for each in verdicts]
    ab = share([float(t.ab == t.label) for t in verdicts], known="ab" in orders)
    ba = share([float(t.ba == t.label) for t in verdicts], known="ba" in orders)
    usable, first_shown = _answer_rates(verdicts, names, level)
    return PairOrders(
        n=len(items),
        n_answers=len(choices),
        n_unusable=sum(choice.winner is None for choice in choices),
        accuracy_ab=ab,
        accuracy_ba=ba,
        accuracy_mean=(ab.value + ba.value) / 2 if both else nan,
        accuracy_both=share([float(t.ab == t.label == t.ba) for t in verdicts], known=both),
        accuracy_usable=usable,
        swap_accuracy=share([_swapped(t) for t in verdicts], known=both),
        reconciled_accuracy=share(
            [float(v == t.label) for v, t in zip(reconciled, verdicts, strict=True)], known=both
        ),
        kappa=_kappa(labels, winners, clusters, level),
        kappa_orders=_kappa([t.ab for t in verdicts], [t.ba for t in verdicts], clusters, level),
        position_conflict=share([float(t.ab != t.ba) for t in verdicts], known=both),
        first_shown=first_shown,
        win_rate_a=clustered_unit_mean(
            [WINNER_POINTS[v] if v else nan for v in winners], clusters, level=level
        ),
        human_win_rate_a=clustered_unit_mean(
            [WINNER_POINTS[label] for label in labels], clusters, level=level
        ),
    )


def _answer_rates(
    verdicts: Sequence[_PairVerdicts], names: Sequence[Hashable], level: float
) -> tuple[Rate, Rate]:
    """How often usable answers are right, and how often preferences are for the first place."""
    right: list[tuple[float, Hashable]] = []
    first: list[tuple[float, Hashable]] = []
    for each, name in zip(verdicts, names, strict=True):
        for verdict, shown_first in ((each.ab, "a"), (each.ba, "b")):
            if verdict is not None:
                right.append((float(verdict == each.label), name))
            # A tie prefers no place.
            if verdict not in (None, "tie"):
                first.append((float(verdict == shown_first), name))
    rates = [
        clustered_rate(
            [x for x, _ in rows], shared_clusters([name for _, name in rows]), level=level
        )
        for rows in (right, first)
    ]
    return rates[0], rates[1]


def _winners(pair: PairJudgment) -> Iterator[Winner | None]:
    """For each order, the output with more than half of its usable answers; None without any."""
    for order in ("ab", "ba"):
        points = [WINNER_POINTS[c.winner] for c in pair.choices if c.order == order and c.winner]
        yield majority_winner(points) if points else None


def _swapped(both: _PairVerdicts) -> float:
    # A tie against a decided label neither adds nor subtracts, as in JudgeBench.
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
    return estimate_or_undefined(cohen_kappa, a, b, labels=_SIDES, clusters=clusters, level=level)
