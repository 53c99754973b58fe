"""Decides what the preferences between two outputs come to, per criterion and on the whole."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from judgekit.records.comparison import (
    Comparison,
    CriterionComparison,
    CriterionComparisons,
    Preference,
)
from judgekit.records.rubric import SAME
from judgekit.verdicts.reconciling import Vote, reconcile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.records.comparison import Order, PreferenceFailure, Scrubbed, Slot, Winner
    from judgekit.records.rubric import Rubric
    from judgekit.verdicts.reconciling import Rule

    Said = Preference | PreferenceFailure

_SHARES = {"first": 1.0, "tie": 0.5, "second": 0.0}
_EVEN = 0.5


def conclude_comparison(
    rubric: Rubric,
    preferences: Sequence[Preference],
    failures: Sequence[PreferenceFailure] = (),
    *,
    rule: Rule = "consistent",
    case_id: str | None = None,
    variants: tuple[str | None, str | None] = (None, None),
    labels: tuple[str, str] = ("first", "second"),
    scrubbed: tuple[Scrubbed, ...] | None = (),
    is_identical: bool = False,
    error: str | None = None,
) -> Comparison:
    """What judges conclude of two outputs that they saw in both orders.

    Each criterion, and the whole, is reconciled by itself. The whole is what the judge was asked
    of the whole; where it was asked of criteria only, each order and repeat has on the whole the
    side that its weighted criteria prefer.

    Args:
        rubric: The rubric that was asked.
        preferences: Usable choices, of any criteria of the rubric and of the whole.
        failures: Answers that were not usable.
        rule: Who wins where the two orders differ.
        case_id: The case.
        variants: The variants of output a and output b.
        labels: What the outputs shown first and second were called.
        scrubbed: Where the outputs named their makers; None where nobody looked.
        is_identical: Whether the outputs are the same to the judge: a tie that needs no call.
        error: Why nothing was judged, for an output that is an error.

    Returns:
        The comparison.
    """
    said: list[Said] = [*preferences, *failures]
    if is_identical:
        criteria = [_even(criterion.name) for criterion in rubric.criteria]
        whole = _even("the whole")
    else:
        asked = {each.criterion for each in said}
        criteria = [
            _concluded(c.name, [each for each in said if each.criterion == c.name], rule)
            for c in rubric.criteria
            if c.name in asked
        ]
        own = [each for each in said if each.criterion is None]
        whole = _concluded("the whole", own, rule) if own else _of_criteria(rubric, said, rule)
    return Comparison(
        case_id=case_id,
        variant_a=variants[0],
        variant_b=variants[1],
        rubric=rubric.name,
        rubric_fingerprint=rubric.fingerprint,
        **whole.model_dump(exclude={"name", "n", "n_failed"}),
        raw_winner=_raw_winner(whole),
        criteria=CriterionComparisons(criteria),
        preferences=tuple(preferences),
        failures=tuple(failures),
        is_identical=is_identical,
        labels=labels,
        scrubbed=scrubbed,
        error=error,
    )


def _even(name: str) -> CriterionComparison:
    return CriterionComparison(
        name=name, winner="tie", consistent=True, probability=_EVEN, probability_low=_EVEN,
        probability_high=_EVEN,
    )  # fmt: skip


def _concluded(name: str, said: Sequence[Said], rule: Rule) -> CriterionComparison:
    """The reconciled preferences on one criterion, or on the whole."""
    usable = [each for each in said if isinstance(each, Preference)]
    votes = {order: [_vote(each) for each in said if each.order == order] for order in _ORDERS}
    found = reconcile(votes["ab"], votes["ba"], rule)
    return CriterionComparison(
        name=name,
        winner=found.winner,
        consistent=found.consistent,
        probability=found.probability,
        probability_low=found.low,
        probability_high=found.high,
        raw_a=_mean(_raw(each, "ab") for each in usable),
        raw_b=_mean(_raw(each, "ba") for each in usable),
        n=len(usable),
        n_failed=len(said) - len(usable),
    )


_ORDERS: tuple[Order, Order] = ("ab", "ba")


def _of_criteria(rubric: Rubric, said: Sequence[Said], rule: Rule) -> CriterionComparison:
    """The whole, where only criteria were asked about: each order and repeat has one vote."""
    places = list(dict.fromkeys((each.judge, each.order, each.repeat) for each in said))
    votes: dict[Order, list[Vote]] = {"ab": [], "ba": []}
    for judge, order, repeat in places:
        asked = (judge, order, repeat)
        there = [each for each in said if (each.judge, each.order, each.repeat) == asked]
        votes[order].append(_weighted_vote(rubric, there))
    found = reconcile(votes["ab"], votes["ba"], rule)
    parts = [_concluded(c.name, [s for s in said if s.criterion == c.name], rule)
             for c in rubric.criteria]  # fmt: skip
    return CriterionComparison(
        name="the whole",
        winner=found.winner,
        consistent=found.consistent,
        probability=found.probability,
        probability_low=found.low,
        probability_high=found.high,
        raw_a=_mean(part.raw_a for part in parts),
        raw_b=_mean(part.raw_b for part in parts),
    )


def _weighted_vote(rubric: Rubric, said: Sequence[Said]) -> Vote:
    """The side that the weighted criteria of one order prefer; a failure where one is missing."""
    shares: list[tuple[float, float, float]] = []
    for criterion in rubric.criteria:
        own = [each for each in said if each.criterion == criterion.name]
        votes = [_vote(each) for each in own]
        if criterion.weight <= 0 or not votes:
            continue
        choice = votes[0].choice
        if choice is None:
            return Vote(None)
        share = _SHARES[choice]
        exact = share if votes[0].share is None else votes[0].share
        shares.append((criterion.weight, share, exact))
    total = fsum(weight for weight, _, _ in shares)
    if not total:
        return Vote(None)
    chosen = fsum(weight * share for weight, share, _ in shares) / total
    return Vote(_side(chosen), fsum(weight * exact for weight, _, exact in shares) / total)


def _side(share: float) -> Slot:
    if abs(share - _EVEN) <= SAME:
        return "tie"
    return "first" if share > _EVEN else "second"


def _vote(said: Said) -> Vote:
    return Vote(said.choice, said.logprob_first) if isinstance(said, Preference) else Vote(None)


def _raw(said: Preference, order: Order) -> float | None:
    """The score of output a (for `ab`) or of output b (for `ba`)."""
    return said.raw_first if said.order == order else said.raw_second


def _mean(raws: Iterable[float | None]) -> float | None:
    known = [raw for raw in raws if raw is not None]
    return fsum(known) / len(known) if known else None


def _raw_winner(whole: CriterionComparison) -> Winner | None:
    if whole.raw_a is None or whole.raw_b is None:
        return None
    if abs(whole.raw_a - whole.raw_b) <= SAME:
        return "tie"
    return "a" if whole.raw_a > whole.raw_b else "b"
