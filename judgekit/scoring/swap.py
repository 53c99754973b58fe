"""Decides the winner of two outputs that were shown in both orders, for one judge.

For a panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING, Literal, TypeVar, cast, get_args

from judgekit.records import (
    VALUE_TOLERANCE,
    Comparison,
    CriterionComparison,
    CriterionComparisons,
    MemberComparison,
    Preference,
    ReconciliationRule,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.records import (
        PreferenceFailure,
        PreferenceSlot,
        PresentationOrder,
        Rubric,
        ScrubbedPassage,
        Winner,
    )

_T = TypeVar("_T", bound=str)
_OUTPUTS: tuple[Winner, Winner, Winner] = ("a", "b", "tie")
_PLACES: tuple[PreferenceSlot, PreferenceSlot, PreferenceSlot] = ("first", "second", "tie")
_SHARES = {"first": 1.0, "tie": 0.5, "second": 0.0}
_EVEN = 0.5
_VALUES: dict[str, Literal["A", "B", "tie"]] = {"first": "A", "second": "B", "tie": "tie"}
_SIDES: dict[Winner, Literal["A", "B", "tie"]] = {"a": "A", "b": "B", "tie": "tie"}
_WINNERS: dict[str, Winner] = {"A": "a", "B": "b", "tie": "tie"}
_AGREED = {("first", "second"), ("second", "first"), ("tie", "tie")}


@dataclass(frozen=True, slots=True)
class Vote:
    """One choice in one order."""

    choice: PreferenceSlot | None
    """What was chosen; None for a failure."""

    share: float | None = None
    """How far the first was preferred, in [0, 1], where that is known better than by the choice."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The result of two orders."""

    value: Literal["A", "B", "tie"] | None
    """Who wins; None where failures leave it open."""

    consistent: bool | None
    """Whether both orders say the same; None where failures leave it open."""

    probability: float | None
    """How far A is preferred, in [0, 1]: the mean of both orders; None without one."""

    low: float
    """The probability if every failure had preferred B."""

    high: float
    """The probability if every failure had preferred A."""

    slots: tuple[PreferenceSlot | None, PreferenceSlot | None] = (None, None)
    """The place each order decides for, A shown first and B shown first; None while open."""

    @property
    def winner(self) -> Winner | None:
        """Who wins, as comparisons say it."""
        return None if self.value is None else _WINNERS[self.value]


def reconcile(
    ab: PreferenceSlot | Vote | Sequence[PreferenceSlot | Vote | None] | None,
    ba: PreferenceSlot | Vote | Sequence[PreferenceSlot | Vote | None] | None,
    rule: ReconciliationRule = "consistent",
) -> Reconciliation:
    """Who wins, from what was chosen when (A, B) and when (B, A) was shown."""
    # Each order decides for a side: the one with more than half of its choices, a tie
    # counting half for each. Where both orders decide for one side, it wins. Where they do not,
    # the case is a tie that is not consistent, which is something else than a tie both orders agree
    # on. The probability is the mean of both orders, each the mean over its repeats; where it is
    # known from log-probabilities, a repeat counts with it and not with 1, ½ or 0.
    # By the rule `average` the side with more than half of that mean wins. A judge that favours a
    # place by any amount that is the same in both orders, in probability or in log-odds, still
    # prefers the better side on average; where the favour hangs on what stands in the place,
    # neither rule can take it out.
    # Failures are counted as what they could have been: the bounds hold whatever they were, and
    # where they could turn an order, nobody wins.
    if rule not in get_args(ReconciliationRule):
        raise ValueError(f"the rule {rule!r} is none of {', '.join(get_args(ReconciliationRule))}")
    first, second = _Tally.of(ab), _Tally.of(ba)
    low = _EVEN + (first.low - second.high) / 2
    high = _EVEN + (first.high - second.low) / 2
    probability = None
    if first.mean is not None and second.mean is not None:
        probability = _EVEN + (first.mean - second.mean) / 2
    is_open = first.slot is None or second.slot is None
    consistent = None if is_open else (first.slot, second.slot) in _AGREED
    if rule == "average":
        slot = None if probability is None else _majority_slot(low, high)
    elif consistent is None:
        slot = None
    else:
        slot = first.slot if consistent else "tie"
    value = None if slot is None else _VALUES[slot]
    return Reconciliation(value, consistent, probability, low, high, (first.slot, second.slot))


def vote_winner(judges: Sequence[Reconciliation]) -> Reconciliation:
    """The panel's result: each judge has seen both orders and has one vote."""
    # The side that more than half of the judges name wins; without one the panel ties, be it that
    # the judges are divided, that they call a tie, or that they contradict themselves. Where votes
    # that failures leave open could turn that, nobody wins. The panel is consistent where most of
    # its judges decide for the panel's winner in either order, too: another tie is no true tie.
    n = len(judges)
    winner = _majority_winner([judge.winner for judge in judges], _OUTPUTS)
    ab, ba = (_majority_winner([judge.slots[k] for judge in judges], _PLACES) for k in (0, 1))
    consistent = None
    if winner is not None and ab is not None and ba is not None:
        by_order = reconcile(ab, ba)
        consistent = by_order.consistent is True and by_order.winner == winner
    known = [judge.probability for judge in judges if judge.probability is not None]
    return Reconciliation(
        value=None if winner is None else _SIDES[winner],
        consistent=consistent,
        probability=fsum(known) / len(known) if known else None,
        low=fsum(judge.low for judge in judges) / n,
        high=fsum(judge.high for judge in judges) / n,
        slots=(ab, ba),
    )


def _majority_winner(votes: Sequence[_T | None], sides: tuple[_T, _T, _T]) -> _T | None:
    """The side that more than half name, else a tie; None where open votes could turn that."""
    one, other, tie = sides
    n_open, most = votes.count(None), 0
    for side in (one, other):
        n = votes.count(side)
        if 2 * n > len(votes):
            return side
        most = max(most, n)
    return None if 2 * (most + n_open) > len(votes) else tie


@dataclass(frozen=True, slots=True)
class _Tally:
    """One order: its choices, and what they could be if failures had been choices."""

    slot: PreferenceSlot | None
    """The side it decides for; None where it is open."""

    mean: float | None
    """How far the first was preferred; None where nothing is usable."""

    low: float
    high: float

    @classmethod
    def of(
        cls, given: PreferenceSlot | Vote | Sequence[PreferenceSlot | Vote | None] | None
    ) -> _Tally:
        if given is None or isinstance(given, str | Vote):
            votes = [_to_vote(given)]
        else:
            votes = [_to_vote(each) for each in given]
        usable = [vote for vote in votes if vote.choice is not None]
        if not usable:
            return cls(None, None, 0.0, 1.0)
        n, n_failed = len(votes), len(votes) - len(usable)
        chosen = fsum(_SHARES[str(vote.choice)] for vote in usable)
        shares = fsum(_share(vote) for vote in usable)
        return cls(
            slot=_majority_slot(chosen / n, (chosen + n_failed) / n),
            mean=shares / len(usable),
            low=shares / n,
            high=(shares + n_failed) / n,
        )


def _to_vote(given: str | Vote | None) -> Vote:
    vote = given if isinstance(given, Vote) else Vote(cast("PreferenceSlot | None", given))
    if vote.choice is not None and vote.choice not in _SHARES:
        raise ValueError(f"the choice {vote.choice!r} is none of first, second, tie")
    return vote


def _share(vote: Vote) -> float:
    return _SHARES[str(vote.choice)] if vote.share is None else vote.share


def _majority_slot(low: float, high: float) -> PreferenceSlot | None:
    """The side with more than half, where that is so whatever failures had been."""
    if low > _EVEN + VALUE_TOLERANCE:
        return "first"
    if high < _EVEN - VALUE_TOLERANCE:
        return "second"
    return "tie" if abs(low - high) <= VALUE_TOLERANCE else None


if TYPE_CHECKING:
    _PairJudgment = Preference | PreferenceFailure

_SLOT_SHARES = {"first": 1.0, "tie": 0.5, "second": 0.0}
_EVEN_SHARE = 0.5


def conclude_comparison(
    rubric: Rubric,
    preferences: Sequence[Preference],
    failures: Sequence[PreferenceFailure] = (),
    *,
    rule: ReconciliationRule = "consistent",
    case_id: str | None = None,
    variants: tuple[str | None, str | None] = (None, None),
    labels: tuple[str, str] = ("first", "second"),
    scrubbed: tuple[ScrubbedPassage, ...] | None = (),
    is_identical: bool = False,
    error: str | None = None,
) -> Comparison:
    """What judges conclude of two outputs that they saw in both orders."""
    # Each criterion, and the whole, is reconciled by itself. The whole is what the judge was asked
    # of the whole; where it was asked of criteria only, each order and repeat has on the whole the
    # side that its weighted criteria prefer. Of several judges each is reconciled by itself and has
    # one vote (`vote`), on each criterion it was asked about and on the whole.
    said: list[_PairJudgment] = [*preferences, *failures]
    judges = list(dict.fromkeys(each.judge for each in said))
    own = [[each for each in said if each.judge == judge] for judge in judges]
    wholes = [_overall_comparison(rubric, one, rule) for one in own]
    if is_identical:
        criteria = [_IDENTICAL.on(criterion.name) for criterion in rubric.criteria]
        whole = _IDENTICAL
    else:
        asked = {each.criterion for each in said}
        criteria = [
            _criterion_comparison(c.name, own, rule).on(c.name)
            for c in rubric.criteria
            if c.name in asked
        ]
        whole = _combine_judges(wholes) if wholes else _PartialComparison.of((), rule)
    found = whole.on("the whole")
    return Comparison(
        case_id=case_id,
        variant_a=variants[0],
        variant_b=variants[1],
        rubric=rubric.name,
        rubric_fingerprint=rubric.fingerprint,
        **found.model_dump(exclude={"name", "n", "n_failed"}),
        raw_winner=_raw_winner(found),
        rule=rule,
        criteria=CriterionComparisons(criteria),
        judges=_by_judge(judges, wholes),
        agreement=_agreement([one.found.winner for one in wholes]),
        preferences=tuple(preferences),
        failures=tuple(failures),
        is_identical=is_identical,
        labels=labels,
        scrubbed=scrubbed,
        error=error,
    )


_ORDERS: tuple[PresentationOrder, PresentationOrder] = ("ab", "ba")


@dataclass(frozen=True, slots=True)
class _PartialComparison:
    """The answers on one criterion, or overall, and their result."""

    found: Reconciliation
    raw_a: float | None = None
    raw_b: float | None = None
    n: int = 0
    n_failed: int = 0

    @classmethod
    def of(cls, said: Sequence[_PairJudgment], rule: ReconciliationRule) -> _PartialComparison:
        """The reconciled answers of one judge."""
        usable = [each for each in said if isinstance(each, Preference)]
        votes = {
            order: [_order_vote(each) for each in said if each.order == order] for order in _ORDERS
        }
        return cls(
            found=reconcile(votes["ab"], votes["ba"], rule),
            raw_a=_mean(_raw(each, "ab") for each in usable),
            raw_b=_mean(_raw(each, "ba") for each in usable),
            n=len(usable),
            n_failed=len(said) - len(usable),
        )

    def on(self, name: str) -> CriterionComparison:
        """The same as a record."""
        return CriterionComparison(
            name=name,
            winner=self.found.winner,
            consistent=self.found.consistent,
            probability=self.found.probability,
            probability_low=self.found.low,
            probability_high=self.found.high,
            raw_a=self.raw_a,
            raw_b=self.raw_b,
            n=self.n,
            n_failed=self.n_failed,
        )


_IDENTICAL = _PartialComparison(
    Reconciliation(
        "tie", consistent=True, probability=_EVEN_SHARE, low=_EVEN_SHARE, high=_EVEN_SHARE
    )
)
"""The same text twice."""


def _criterion_comparison(
    criterion: str, judges: Iterable[Sequence[_PairJudgment]], rule: ReconciliationRule
) -> _PartialComparison:
    """The judges' result on a criterion; one that was not asked about it has no vote."""
    own = [[each for each in said if each.criterion == criterion] for said in judges]
    return _combine_judges([_PartialComparison.of(said, rule) for said in own if said])


def _combine_judges(parts: Sequence[_PartialComparison]) -> _PartialComparison:
    """The result of several judges; of one, its own."""
    if len(parts) == 1:
        return parts[0]
    return _PartialComparison(
        found=vote_winner([part.found for part in parts]),
        raw_a=_mean(part.raw_a for part in parts),
        raw_b=_mean(part.raw_b for part in parts),
        n=sum(part.n for part in parts),
        n_failed=sum(part.n_failed for part in parts),
    )


def _overall_comparison(
    rubric: Rubric, said: Sequence[_PairJudgment], rule: ReconciliationRule
) -> _PartialComparison:
    """One judge's overall result."""
    own = [each for each in said if each.criterion is None]
    return _PartialComparison.of(own, rule) if own else _from_criteria(rubric, said, rule)


def _from_criteria(
    rubric: Rubric, said: Sequence[_PairJudgment], rule: ReconciliationRule
) -> _PartialComparison:
    """The whole, where only criteria were asked about: each order and repeat has one vote."""
    places = list(dict.fromkeys((each.order, each.repeat) for each in said))
    votes: dict[PresentationOrder, list[Vote]] = {"ab": [], "ba": []}
    for order, repeat in places:
        there = [each for each in said if (each.order, each.repeat) == (order, repeat)]
        votes[order].append(_weighted_vote(rubric, there))
    counting = [c for c in rubric.criteria if c.weight > 0] or rubric.criteria
    parts = [
        (c.weight or 1.0, _PartialComparison.of([s for s in said if s.criterion == c.name], rule))
        for c in counting
    ]
    return _PartialComparison(
        found=reconcile(votes["ab"], votes["ba"], rule),
        raw_a=_weighted_mean([(weight, part.raw_a) for weight, part in parts]),
        raw_b=_weighted_mean([(weight, part.raw_b) for weight, part in parts]),
    )


def _by_judge(
    judges: Sequence[str], wholes: Sequence[_PartialComparison]
) -> tuple[MemberComparison, ...]:
    if len(judges) == 1:
        return ()
    return tuple(
        MemberComparison(
            judge=judge,
            winner=part.found.winner,
            consistent=part.found.consistent,
            probability=part.found.probability,
        )
        for judge, part in zip(judges, wholes, strict=True)
    )


def _agreement(winners: Iterable[Winner | None]) -> float | None:
    """Share of the pairs of judges with the same winner."""
    pairs = list(combinations([each for each in winners if each is not None], 2))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def _weighted_vote(rubric: Rubric, said: Sequence[_PairJudgment]) -> Vote:
    """The side that the weighted criteria of one order prefer; a failure where one is missing."""
    shares: list[tuple[float, float, float]] = []
    for criterion in rubric.criteria:
        own = [each for each in said if each.criterion == criterion.name]
        votes = [_order_vote(each) for each in own]
        if criterion.weight <= 0 or not votes:
            continue
        choice = votes[0].choice
        if choice is None:
            return Vote(None)
        share = _SLOT_SHARES[choice]
        exact = share if votes[0].share is None else votes[0].share
        shares.append((criterion.weight, share, exact))
    total = fsum(weight for weight, _, _ in shares)
    if not total:
        return Vote(None)
    chosen = fsum(weight * share for weight, share, _ in shares) / total
    return Vote(_side(chosen), fsum(weight * exact for weight, _, exact in shares) / total)


def _side(share: float) -> PreferenceSlot:
    if abs(share - _EVEN_SHARE) <= VALUE_TOLERANCE:
        return "tie"
    return "first" if share > _EVEN_SHARE else "second"


def _order_vote(said: _PairJudgment) -> Vote:
    return Vote(said.choice, said.logprob_first) if isinstance(said, Preference) else Vote(None)


def _raw(said: Preference, order: PresentationOrder) -> float | None:
    """The score of output a (for `ab`) or of output b (for `ba`)."""
    return said.raw_first if said.order == order else said.raw_second


def _mean(raws: Iterable[float | None]) -> float | None:
    return _weighted_mean([(1.0, raw) for raw in raws])


def _weighted_mean(raws: Iterable[tuple[float, float | None]]) -> float | None:
    known = [(weight, raw) for weight, raw in raws if raw is not None]
    total = fsum(weight for weight, _ in known)
    return fsum(weight * raw for weight, raw in known) / total if known else None


def _raw_winner(whole: CriterionComparison) -> Winner | None:
    if whole.raw_a is None or whole.raw_b is None:
        return None
    if abs(whole.raw_a - whole.raw_b) <= VALUE_TOLERANCE:
        return "tie"
    return "a" if whole.raw_a > whole.raw_b else "b"
