"""What a comparison of two sides says of their strengths, whoever was called the first."""

from __future__ import annotations

from math import fsum, nan
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.records.comparison import Comparison, Order, Preference, Rule, Slot, Winner

_MIRRORED: dict[Winner, Winner] = {"a": "b", "b": "a", "tie": "tie"}
_TURNED: dict[Order, Order] = {"ab": "ba", "ba": "ab"}
_POINTS: dict[Winner, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
_OUTCOMES: dict[Slot, tuple[float, float, float]] = {
    "first": (1.0, 0.0, 0.0), "second": (0.0, 1.0, 0.0), "tie": (0.0, 0.0, 1.0),
}  # fmt: skip


class Meeting(NamedTuple):
    """Two sides that answered the same case, and which of them the judge preferred."""

    case_id: str
    """The case; comparisons without one are cases of their own."""

    a: str
    """A side; in the order of the alphabet the first of both."""

    b: str
    """The other."""

    winner: Winner | None
    """Who is better, both orders reconciled; None where that is open."""

    is_inconsistent: bool
    """Whether the judge's two orders contradict each other."""

    choices: tuple[tuple[Order, Slot | float], ...] = ()
    """What was chosen on the whole in each order, or where probabilities are averaged how far the
    first was preferred; empty where only the winner is known."""

    is_identical: bool = False
    """Whether both sides were the same text, so that nobody was asked."""

    share: float | None = None
    """How far a is preferred, in [0, 1], where that is known better than by the winner."""

    @property
    def preferred(self) -> float:
        """How far a is preferred: its share, else its points; nan where that is open."""
        return self.points if self.share is None else self.share

    @property
    def points(self) -> float:
        """What a gets: 1, ½ or 0; nan where it is open."""
        return nan if self.winner is None else _POINTS[self.winner]

    @property
    def has_both_orders(self) -> bool:
        """Whether the choices of both orders are known, so that their place can be told apart."""
        return self.is_identical or {order for order, _ in self.choices} == {"ab", "ba"}

    def shown(self) -> list[tuple[str, str, tuple[float, float, float]]]:
        """The choices with their places: who was shown first, who second, and how it came out."""
        if self.is_identical:
            return [(self.a, self.b, (0.0, 0.0, 1.0)), (self.b, self.a, (0.0, 0.0, 1.0))]
        found = []
        for order, (first, second) in (("ab", (self.a, self.b)), ("ba", (self.b, self.a))):
            own = [_outcome(choice) for said, choice in self.choices if said == order]
            won, lost, tied = (fsum(column) / len(own) for column in zip(*own, strict=True))
            found.append((first, second, (won, lost, tied)))
        return found


def meeting_of(found: Comparison, a: str, b: str, *, case_id: str | None = None) -> Meeting | None:
    """What a comparison says of two sides."""
    if found.error is not None:
        return None
    whole = [each for each in found.preferences if each.criterion is None]
    choices = [(each.order, _choice(each, found.rule)) for each in whole]
    return arranged(
        Meeting(
            case_id=found.case_id or case_id or "",
            a=a,
            b=b,
            winner=found.winner,
            is_inconsistent=found.winner is not None and found.consistent is False,
            choices=_sorted(choices),
            is_identical=found.is_identical,
        )
    )


def arranged(meeting: Meeting) -> Meeting:
    """The same meeting, told from the side that comes first in the alphabet."""
    if meeting.a <= meeting.b:
        return meeting
    return meeting._replace(
        a=meeting.b,
        b=meeting.a,
        winner=None if meeting.winner is None else _MIRRORED[meeting.winner],
        share=None if meeting.share is None else 1 - meeting.share,
        choices=_sorted((_TURNED[order], choice) for order, choice in meeting.choices),
    )


def in_order(meetings: Iterable[Meeting]) -> list[Meeting]:
    """Meetings in an order of their own, so that no figure hangs on the order they came in."""
    return sorted(meetings, key=lambda m: (m[:3], m.winner or "", str(m[4:])))


def _choice(said: Preference, rule: Rule) -> Slot | float:
    """What a preference counts as: a choice, or where they are averaged its probability."""
    is_known = rule == "average" and said.logprob_first is not None
    return cast("float", said.logprob_first) if is_known else said.choice


def _outcome(choice: Slot | float) -> tuple[float, float, float]:
    """The shares of first, second and neither that a choice stands for."""
    return (choice, 1 - choice, 0.0) if isinstance(choice, float) else _OUTCOMES[choice]


def _sorted(
    choices: Iterable[tuple[Order, Slot | float]],
) -> tuple[tuple[Order, Slot | float], ...]:
    return tuple(sorted(choices, key=str))
