"""Decides who wins when the same two outputs were shown in both orders; knows who was which."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Literal, cast, get_args

from judgekit.records.rubric import SAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.records.comparison import Slot, Winner

Rule = Literal["consistent", "average"]
"""`consistent`: who wins in both orders, else a tie; `average`: who has more than half of both."""

_SHARES = {"first": 1.0, "tie": 0.5, "second": 0.0}
_EVEN = 0.5
_VALUES: dict[str, Literal["A", "B", "tie"]] = {"first": "A", "second": "B", "tie": "tie"}
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

    @property
    def winner(self) -> Winner | None:
        """Who wins, as comparisons say it."""
        return None if self.value is None else _WINNERS[self.value]


def reconcile(
    ab: Slot | Vote | Sequence[Slot | Vote | None] | None,
    ba: Slot | Vote | Sequence[Slot | Vote | None] | None,
    rule: Rule = "consistent",
) -> Reconciled:
    """Who wins, from what was chosen when (A, B) and when (B, A) was shown.

    Each order first comes to a side of its own: the one with more than half of its choices, a tie
    counting half for each. Where both orders come to the same side, it wins. Where they do not,
    the case is a tie that is not consistent, which is something else than a tie both orders agree
    on. The probability is the mean of both orders, each the mean over its repeats; where it is
    known from log-probabilities, a repeat counts with it and not with 1, ½ or 0.

    Failures are counted as what they could have been: the bounds hold whatever they were, and
    where they could turn an order, nobody wins.

    Args:
        ab: What was chosen when A was shown first: one choice, or one for each repeat; None for a
            failure.
        ba: What was chosen when B was shown first.
        rule: Who wins where the orders differ: nobody, or who has more than half of both.

    Returns:
        The winner, whether both orders agree, and the probability with its bounds.

    Raises:
        ValueError: When a choice is none of first, second and tie, or the rule is unknown.

    References:
        Zheng et al. (2023), Judging LLM-as-a-Judge, section 3.4: a win counts in both orders only.
    """
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
    return Reconciled(value, consistent, probability, low, high)


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
