"""What a judge of two outputs says in each order, against the label and against itself."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from judgekit.evaluation.calibrating.aligned import clusters_of
from judgekit.evaluation.calibrating.clustering import estimated, rate, unit_average
from judgekit.stats.agreement import cohen_kappa

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from judgekit.evaluation.calibrating.aligned import Aligned, Item
    from judgekit.evaluation.calibrating.material import Pair, Place
    from judgekit.records.comparison import Order, Winner
    from judgekit.stats.estimate import Estimate
    from judgekit.stats.intervals import Rate

_SIDES: tuple[Winner, ...] = ("a", "tie", "b")
_OF_SHARE: dict[float, Winner] = {1.0: "a", 0.5: "tie", 0.0: "b"}
_SHARES = {"a": 1.0, "tie": 0.5, "b": 0.0}
_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOrders:
    """Verdicts of both orders, each turned back to which output it is.

    Where an accuracy counts unusable answers as wrong, the same without them stands beside it.
    """

    n: int
    """Labelled pairs."""

    n_answers: int
    """Answers, of both orders, usable or not."""

    n_unusable: int
    """Of them, those that were not usable."""

    accuracy_ab: Rate
    """Share of pairs right when a was shown first; an unusable answer is wrong."""

    accuracy_ba: Rate
    """The same when b was shown first."""

    accuracy_mean: float
    """Mean of both."""

    accuracy_both: Rate
    """Share right in both orders."""

    accuracy_usable: Rate
    """Share of usable answers, of both orders, that are right."""

    swap_accuracy: Rate
    """Share where more orders say what the label says than the other side (Tan et al. 2024,
    JudgeBench); an unusable answer says neither."""

    reconciled_accuracy: Rate
    """Share where both orders together say what the label says: a or b where both say so, else a
    tie, an unusable answer included."""

    kappa: Estimate
    """Cohen's kappa of that and the label."""

    kappa_orders: Estimate
    """Cohen's kappa of the two orders, where both are usable."""

    position_conflict: Rate
    """Share of pairs on which the orders differ; unusable differs from any verdict."""

    first_shown: Rate
    """Among usable answers that prefer one, the share that prefers the output shown first."""

    win_rate_a: Estimate
    """How often a wins, ties as half, both orders reconciled as above."""

    human_win_rate_a: Estimate
    """How often a wins by the labels."""


@dataclass(frozen=True, slots=True)
class _Told:
    """The label of a pair, and each order's verdict on it."""

    label: Winner
    ab: Winner | None
    ba: Winner | None


def pair_orders(
    aligned: Aligned, pairs: Mapping[Place, Pair], *, level: float
) -> PairOrders | None:
    """How the verdicts of both orders compare with the labels and with each other."""
    items = [item for item in aligned.items if pairs[item.place].choices]
    if not items:
        return None
    told = [_told(aligned, item, pairs[item.place]) for item in items]
    clusters = clusters_of(items)
    asked = {choice.order for item in items for choice in pairs[item.place].choices}
    both = len(asked) > 1

    def share(outcomes: Sequence[float], *, known: bool = True) -> Rate:
        return rate(outcomes if known else [], clusters if known else None, level=level)

    reconciled = [_reconciled(each) for each in told]
    labels = [each.label for each in told]
    ab = share([float(t.ab == t.label) for t in told], known="ab" in asked)
    ba = share([float(t.ba == t.label) for t in told], known="ba" in asked)
    usable = [float(v == t.label) for t in told for v in (t.ab, t.ba) if v is not None]
    return PairOrders(
        n=len(items),
        n_answers=sum(len(pairs[item.place].choices) for item in items),
        n_unusable=sum(c.winner is None for i in items for c in pairs[i.place].choices),
        accuracy_ab=ab,
        accuracy_ba=ba,
        accuracy_mean=(ab.value + ba.value) / 2 if both else nan,
        accuracy_both=share([float(t.ab == t.label == t.ba) for t in told], known=both),
        accuracy_usable=rate(usable, _twice(items, told), level=level),
        swap_accuracy=share([_swapped(t) for t in told], known=both),
        reconciled_accuracy=share(
            [float(v == t.label) for v, t in zip(reconciled, told, strict=True)], known=both
        ),
        kappa=_kappa(labels, reconciled if both else _single(told, asked), clusters, level),
        kappa_orders=_kappa([t.ab for t in told], [t.ba for t in told], clusters, level),
        position_conflict=share([float(t.ab != t.ba) for t in told], known=both),
        first_shown=_first_shown(items, told, level),
        win_rate_a=unit_average(
            [_SHARES[v] if v else nan for v in (reconciled if both else _single(told, asked))],
            clusters,
            level=level,
        ),
        human_win_rate_a=unit_average([_SHARES[label] for label in labels], clusters, level=level),
    )


def _told(aligned: Aligned, item: Item, pair: Pair) -> _Told:
    share = aligned.label(item)
    label: Winner = "tie"
    if share != _HALF:
        label = "a" if share > _HALF else "b"
    return _Told(label, _verdict(pair, "ab"), _verdict(pair, "ba"))


def _verdict(pair: Pair, order: Order) -> Winner | None:
    """The side with more than half of an order's usable answers; None without one."""
    shares = [_SHARES[c.winner] for c in pair.choices if c.order == order and c.winner]
    if not shares:
        return None
    mean = sum(shares) / len(shares)
    return _OF_SHARE[_HALF] if mean == _HALF else "a" if mean > _HALF else "b"


def _reconciled(told: _Told) -> Winner:
    return told.ab if told.ab is not None and told.ab == told.ba else "tie"


def _single(told: Sequence[_Told], asked: set[Order]) -> list[Winner | None]:
    return [t.ab if "ab" in asked else t.ba for t in told]


def _swapped(told: _Told) -> float:
    other = {"a": "b", "b": "a", "tie": None}[told.label]
    verdicts = [verdict for verdict in (told.ab, told.ba) if verdict is not None]
    points = sum((v == told.label) - (v == other) for v in verdicts)
    return float(points > 0)


def _kappa(
    a: Sequence[Winner | None],
    b: Sequence[Winner | None],
    clusters: Sequence[Hashable] | None,
    level: float,
) -> Estimate:
    return estimated(
        lambda: cohen_kappa(a, b, labels=_SIDES, clusters=clusters, level=level),
        level=level,
    )


def _first_shown(items: Sequence[Item], told: Sequence[_Told], level: float) -> Rate:
    outcomes, names = [], []
    for item, each in zip(items, told, strict=True):
        for verdict, first in ((each.ab, "a"), (each.ba, "b")):
            if verdict in ("a", "b"):
                outcomes.append(float(verdict == first))
                names.append(item.cluster)
    return rate(outcomes, names if len(set(names)) < len(names) else None, level=level)


def _twice(items: Sequence[Item], told: Sequence[_Told]) -> list[Hashable] | None:
    names = [
        item.cluster
        for item, each in zip(items, told, strict=True)
        for verdict in (each.ab, each.ba)
        if verdict is not None
    ]
    return names if len(set(names)) < len(names) else None
