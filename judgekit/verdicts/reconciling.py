"""Decides who wins when the same two outputs were shown in both orders; knows who was which."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Literal, TypeVar, cast, get_args

from judgekit.records.comparison import Rule
from judgekit.records.rubric import SAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records.comparison import Slot, Winner

T = TypeVar("T", bound=str)

_OUTPUTS: tuple[Winner, Winner, Winner] = ("a", "b", "tie")
_PLACES: tuple[Slot, Slot, Slot] = ("first", "second", "tie")

_SHARES = {"first": 1.0, "tie": 0.5, "second": 0.0}
_EVEN = 0.5
_VALUES: dict[str, Literal["A", "B", "tie"]] = {"first": "A", "second": "B", "tie": "tie"}
_SIDES: dict[Winner, Literal["A", "B", "tie"]] = {"a": "A", "b": "B", "tie": "tie"}
_WINNERS: dict[str, Winner] = {"A": "a", "B": "b", "tie": "tie"}
_AGREED = {("first", "second"), ("second", "first"), ("tie", "tie")}


@dataclass(frozen=True, slots=True)
class Vote:
    """One choice in one order."""

    choice: Slot | None
    """What was chosen; None for a failure."""

    share: float | None = None
    """How far the first was preferred, in [0, 1], where that is known better than by the choice."""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What two orders come to."""

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

    slots: tuple[Slot | None, Slot | None] = (None, None)
    """The place each order by itself comes to, A shown first and B shown first; None for open."""

    @property
    def winner(self) -> Winner | None:
        """Who wins, as comparisons say it."""
        return None if self.value is None else _WINNERS[self.value]


def reconcile(
    ab: Slot | Vote | Sequence[Slot | Vote | None] | None,
    ba: Slot | Vote | Sequence[Slot | Vote | None] | None,
    rule: Rule = "consistent",
) -> Reconciled:
    """Who wins, from what was chosen when (A, B) and when (B, A) was shown."""
    # Each order first comes to a side of its own: the one with more than half of its choices, a tie
    # counting half for each. Where both orders come to the same side, it wins. Where they do not,
    # the case is a tie that is not consistent, which is something else than a tie both orders agree
    # on. The probability is the mean of both orders, each the mean over its repeats; where it is
    # known from log-probabilities, a repeat counts with it and not with 1, ½ or 0.
    # By the rule `average` the side with more than half of that mean wins. A judge that favours a
    # place by any amount that is the same in both orders, in probability or in log-odds, still
    # prefers the better side on average; where the favour hangs on what stands in the place,
    # neither rule can take it out.
    # Failures are counted as what they could have been: the bounds hold whatever they were, and
    # where they could turn an order, nobody wins.
    if rule not in get_args(Rule):
        raise ValueError(f"the rule {rule!r} is none of {', '.join(get_args(Rule))}")
    first, second = _Tally.of(ab), _Tally.of(ba)
    low = _EVEN + (first.low - second.high) / 2
    high = _EVEN + (first.high - second.low) / 2
    probability = None
    if first.mean is not None and second.mean is not None:
        probability = _EVEN + (first.mean - second.mean) / 2
    is_open = first.slot is None or second.slot is None
    consistent = None if is_open else (first.slot, second.slot) in _AGREED
    if rule == "average":
        slot = None if probability is None else _slot(low, high)
    elif consistent is None:
        slot = None
    else:
        slot = first.slot if consistent else "tie"
    value = None if slot is None else _VALUES[slot]
    return Reconciled(value, consistent, probability, low, high, (first.slot, second.slot))


def vote(judges: Sequence[Reconciled]) -> Reconciled:
    """What the judges of a panel come to, each of whom has seen both orders and has one vote."""
    # The side that more than half of the judges name wins; without one the panel ties, be it that
    # the judges are divided, that they call a tie, or that they contradict themselves. Where votes
    # that failures leave open could turn that, nobody wins. The panel is consistent where most of
    # its judges come to the panel's winner in either order, too: a tie that is not is no true tie.
    n = len(judges)
    winner = _majority([judge.winner for judge in judges], _OUTPUTS)
    ab, ba = (_majority([judge.slots[k] for judge in judges], _PLACES) for k in (0, 1))
    consistent = None
    if winner is not None and ab is not None and ba is not None:
        by_order = reconcile(ab, ba)
        consistent = by_order.consistent is True and by_order.winner == winner
    known = [judge.probability for judge in judges if judge.probability is not None]
    return Reconciled(
        value=None if winner is None else _SIDES[winner],
        consistent=consistent,
        probability=fsum(known) / len(known) if known else None,
        low=fsum(judge.low for judge in judges) / n,
        high=fsum(judge.high for judge in judges) / n,
        slots=(ab, ba),
    )


def _majority(votes: Sequence[T | None], sides: tuple[T, T, T]) -> T | None:
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

    slot: Slot | None
    """The side it comes to; None where it is open."""

    mean: float | None
    """How far the first was preferred; None where nothing is usable."""

    low: float
    high: float

    @classmethod
    def of(cls, given: Slot | Vote | Sequence[Slot | Vote | None] | None) -> _Tally:
        if given is None or isinstance(given, str | Vote):
            votes = [_vote(given)]
        else:
            votes = [_vote(each) for each in given]
        usable = [vote for vote in votes if vote.choice is not None]
        if not usable:
            return cls(None, None, 0.0, 1.0)
        n, n_failed = len(votes), len(votes) - len(usable)
        chosen = fsum(_SHARES[str(vote.choice)] for vote in usable)
        shares = fsum(_share(vote) for vote in usable)
        return cls(
            slot=_slot(chosen / n, (chosen + n_failed) / n),
            mean=shares / len(usable),
            low=shares / n,
            high=(shares + n_failed) / n,
        )


def _vote(given: str | Vote | None) -> Vote:
    vote = given if isinstance(given, Vote) else Vote(cast("Slot | None", given))
    if vote.choice is not None and vote.choice not in _SHARES:
        raise ValueError(f"the choice {vote.choice!r} is none of first, second, tie")
    return vote


def _share(vote: Vote) -> float:
    return _SHARES[str(vote.choice)] if vote.share is None else vote.share


def _slot(low: float, high: float) -> Slot | None:
    """The side with more than half, where that is so whatever failures had been."""
    if low > _EVEN + SAME:
        return "first"
    if high < _EVEN - SAME:
        return "second"
    return "tie" if abs(low - high) <= SAME else None
