"""Decides the winner of two outputs that were shown in both orders, for a judge or a panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from judgekit.records import (
    VALUE_TOLERANCE,
    Comparison,
    CriterionComparison,
    CriterionComparisons,
    MemberComparison,
    Preference,
    PreferenceFailure,
    PreferenceSlot,
    PresentationOrder,
    ReconciliationRule,
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
    """The choice; None for a failure."""

    share: float | None = None
    """How far the first was preferred, in [0, 1], where that is known better than by the choice."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The result of two orders."""

    value: Literal["A", "B", "tie"] | None
    """Who wins; None where failures leave it open."""

    consistent: bool | None
    """Whether both orders agree; None where failures leave it open."""

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
        """Who wins, in the words of comparisons."""
        return None if self.value is None else _WINNERS[self.value]


def reconcile(
    ab: PreferenceSlot | Vote | Sequence[PreferenceSlot | Vote | None] | None,
    ba: PreferenceSlot | Vote | Sequence[PreferenceSlot | Vote | None] | None,
    rule: ReconciliationRule = "consistent",
) -> Reconciliation:
    """Who wins, from the choices when (A, B) and when (B, A) was shown."""
    # Each order decides for a side: the one with more than half of its choices, a tie counting half
    # for each. Where both orders decide for one side, it wins. Where they do not, the case is a tie
    # that is not consistent, unlike a tie on which both orders agree. The probability is the mean
    # of both orders, each the mean over its repeats; a repeat counts with its probability where
    # that is known from log-probabilities, else with 1, ½ or 0.
    # By the rule `average` the side with more than half of that mean wins. A judge that favours a
    # position by the same amount in both orders, in probability or in log-odds, still prefers the
    # better side on average; where the favour depends on the output in that position, neither rule
    # can remove it.
    # A failure could have been any choice: the bounds cover all of them, and where failures could
    # change the decision of an order, nobody wins.
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
    # The side that more than half of the judges name wins. Without one the panel ties, whether the
    # judges are divided, call a tie, or contradict themselves. Where votes that failures leave open
    # could change that, nobody wins. The panel is consistent where most of its judges also decide
    # for the panel's winner in either order: any other tie is no true tie.
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
    """The side that more than half name, else a tie; None where open votes could change that."""
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
    """One order: its side (None while open), its mean share for the first slot, and the bounds."""

    slot: PreferenceSlot | None
    mean: float | None
    low: float
    high: float

    @classmethod
    def of(
        cls, choices: PreferenceSlot | Vote | Sequence[PreferenceSlot | Vote | None] | None
    ) -> _Tally:
        if choices is None or isinstance(choices, str | Vote):
            votes = [_to_vote(choices)]
        else:
            votes = [_to_vote(each) for each in choices]
        usable = [vote for vote in votes if vote.choice is not None]
        if not usable:
            return cls(None, None, 0.0, 1.0)
        n, n_failed = len(votes), len(votes) - len(usable)
        chosen = fsum(_SHARES[str(vote.choice)] for vote in usable)
        shares = fsum(
            _SHARES[str(vote.choice)] if vote.share is None else vote.share for vote in usable
        )
        return cls(
            slot=_majority_slot(chosen / n, (chosen + n_failed) / n),
            mean=shares / len(usable),
            low=shares / n,
            high=(shares + n_failed) / n,
        )


def _to_vote(choice: PreferenceSlot | Vote | None) -> Vote:
    vote = choice if isinstance(choice, Vote) else Vote(choice)
    if vote.choice is not None and vote.choice not in _SHARES:
        raise ValueError(f"the choice {vote.choice!r} is none of first, second, tie")
    return vote


def _majority_slot(low: float, high: float) -> PreferenceSlot | None:
    """The side with more than half at both bounds; None where failures leave it open."""
    if low > _EVEN + VALUE_TOLERANCE:
        return "first"
    if high < _EVEN - VALUE_TOLERANCE:
        return "second"
    return "tie" if abs(low - high) <= VALUE_TOLERANCE else None


if TYPE_CHECKING:
    _PairJudgment = Preference | PreferenceFailure


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
    """The comparison of two outputs from the answers of judges in both orders."""
    # Each criterion, and the overall preference, is reconciled separately. The overall preference
    # is the judge's own; where the judge compared by criteria only, it is for each order and repeat
    # the side that its weighted criteria prefer. Of several judges each is reconciled separately
    # and has one vote (`vote_winner`), on each criterion it compared and overall.
    answers: list[_PairJudgment] = [*preferences, *failures]
    judges = list(dict.fromkeys(each.judge for each in answers))
    own = [[each for each in answers if each.judge == judge] for judge in judges]
    overall = [_overall_comparison(rubric, one, rule) for one in own]
    if is_identical:
        criteria = [_IDENTICAL.on(criterion.name) for criterion in rubric.criteria]
        whole = _IDENTICAL
    else:
        compared = {each.criterion for each in answers}
        criteria = []
        for name in [c.name for c in rubric.criteria if c.name in compared]:
            # A judge that did not compare by a criterion has no vote on it.
            parts = [[each for each in one if each.criterion == name] for one in own]
            results = [_PartialComparison.of(part, rule) for part in parts if part]
            criteria.append(_combine_judges(results).on(name))
        whole = _combine_judges(overall) if overall else _PartialComparison.of((), rule)
    result = whole.on("overall")
    winners = [one.result.winner for one in overall if one.result.winner is not None]
    pairs = list(combinations(winners, 2))
    return Comparison(
        case_id=case_id,
        variant_a=variants[0],
        variant_b=variants[1],
        rubric=rubric.name,
        rubric_fingerprint=rubric.fingerprint,
        **result.model_dump(exclude={"name", "n", "n_failed"}),
        raw_winner=_raw_winner(result),
        rule=rule,
        criteria=CriterionComparisons(criteria),
        judges=tuple(map(_member_comparison, judges, overall)) if len(judges) > 1 else (),
        agreement=sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
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

    result: Reconciliation
    raw_a: float | None = None
    raw_b: float | None = None
    n: int = 0
    n_failed: int = 0

    @classmethod
    def of(cls, answers: Sequence[_PairJudgment], rule: ReconciliationRule) -> _PartialComparison:
        """The reconciled answers of one judge."""
        usable = [each for each in answers if isinstance(each, Preference)]
        ab, ba = ([_to_order_vote(each) for each in answers if each.order == o] for o in _ORDERS)
        return cls(
            result=reconcile(ab, ba, rule),
            # Output a was shown first in the order ab, output b in the order ba.
            raw_a=_mean(p.raw_first if p.order == "ab" else p.raw_second for p in usable),
            raw_b=_mean(p.raw_first if p.order == "ba" else p.raw_second for p in usable),
            n=len(usable),
            n_failed=len(answers) - len(usable),
        )

    def on(self, name: str) -> CriterionComparison:
        """The record of this comparison."""
        return CriterionComparison(
            name=name,
            winner=self.result.winner,
            consistent=self.result.consistent,
            probability=self.result.probability,
            probability_low=self.result.low,
            probability_high=self.result.high,
            raw_a=self.raw_a,
            raw_b=self.raw_b,
            n=self.n,
            n_failed=self.n_failed,
        )


# The same text twice is a tie that needs no judge.
_IDENTICAL = _PartialComparison(
    Reconciliation("tie", consistent=True, probability=_EVEN, low=_EVEN, high=_EVEN)
)


def _combine_judges(parts: Sequence[_PartialComparison]) -> _PartialComparison:
    if len(parts) == 1:
        return parts[0]
    return _PartialComparison(
        result=vote_winner([part.result for part in parts]),
        raw_a=_mean(part.raw_a for part in parts),
        raw_b=_mean(part.raw_b for part in parts),
        n=sum(part.n for part in parts),
        n_failed=sum(part.n_failed for part in parts),
    )


def _overall_comparison(
    rubric: Rubric, answers: Sequence[_PairJudgment], rule: ReconciliationRule
) -> _PartialComparison:
    own = [each for each in answers if each.criterion is None]
    if own:
        return _PartialComparison.of(own, rule)
    # Compared by criteria only: each order and repeat has one vote, that of its weighted criteria.
    places = list(dict.fromkeys((each.order, each.repeat) for each in answers))
    votes: dict[PresentationOrder, list[Vote]] = {"ab": [], "ba": []}
    for order, repeat in places:
        there = [each for each in answers if (each.order, each.repeat) == (order, repeat)]
        votes[order].append(_weighted_vote(rubric, there))
    counting = [c for c in rubric.criteria if c.weight > 0] or rubric.criteria
    parts = []
    for criterion in counting:
        own = [each for each in answers if each.criterion == criterion.name]
        parts.append((criterion.weight or 1.0, _PartialComparison.of(own, rule)))
    return _PartialComparison(
        result=reconcile(votes["ab"], votes["ba"], rule),
        raw_a=_weighted_mean([(weight, part.raw_a) for weight, part in parts]),
        raw_b=_weighted_mean([(weight, part.raw_b) for weight, part in parts]),
    )


def _member_comparison(judge: str, part: _PartialComparison) -> MemberComparison:
    return MemberComparison(
        judge=judge,
        winner=part.result.winner,
        consistent=part.result.consistent,
        probability=part.result.probability,
    )


def _weighted_vote(rubric: Rubric, answers: Sequence[_PairJudgment]) -> Vote:
    """The side that the weighted criteria of one order prefer; a failure where one is missing."""
    shares: list[tuple[float, float, float]] = []
    for criterion in rubric.criteria:
        votes = [_to_order_vote(each) for each in answers if each.criterion == criterion.name]
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
    exact = fsum(weight * exact for weight, _, exact in shares) / total
    return Vote(_majority_slot(chosen, chosen), exact)


def _to_order_vote(answer: _PairJudgment) -> Vote:
    if isinstance(answer, Preference):
        return Vote(answer.choice, answer.logprob_first)
    return Vote(None)


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
