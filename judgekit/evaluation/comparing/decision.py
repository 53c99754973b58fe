"""Decides which side of a comparison is better, and whether enough cases were looked at."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from judgekit.evaluation.comparing.figures import Decision, Evidence
from judgekit.stats.power import sample_size_sign
from judgekit.stats.quantiles import SLACK
from judgekit.stats.sequential import win_e_value

if TYPE_CHECKING:
    from judgekit.evaluation.comparing.figures import Choice, WinFigures
    from judgekit.records.comparison import Comparison

POSITION_BIAS, MOSTLY_INCONSISTENT = "position_bias", "mostly_inconsistent"
"""Flags of a judge that is doubtful: it favours a place; it contradicts itself more often than
not."""


class Looking:
    """Looks after every case whether the question is decided, without spoiling the error rate.

    A case counts once, with its first pair; ties, contradictions and failures change nothing. The
    e-value may be looked at as often as one likes: where there is no difference it reaches
    1 / alpha with a probability of at most alpha, ever.
    """

    def __init__(self, alpha: float, max_cases: int | None = None) -> None:
        self._alpha, self.max_cases = alpha, max_cases
        self._seen: set[str | None] = set()
        self._wins = self._losses = 0
        self._e_value = 1.0

    @property
    def is_decided(self) -> bool:
        """Whether a difference is shown."""
        return self._e_value >= 1 / self._alpha

    @property
    def is_over(self) -> bool:
        """Whether no further case is to be looked at."""
        return self.is_decided or len(self._seen) == self.max_cases

    def look(self, comparison: Comparison) -> None:
        """Look at one more comparison."""
        if comparison.case_id in self._seen:
            return
        self._seen.add(comparison.case_id)
        self._wins += comparison.winner == "a"
        self._losses += comparison.winner == "b"
        self._e_value = win_e_value(self._wins, self._losses).value

    def evidence(self) -> Evidence:
        """What was found."""
        n = len(self._seen)
        return Evidence(
            e_value=self._e_value,
            n_cases=n,
            stopped_at=n if self.is_decided else None,
            max_cases=self.max_cases,
        )


def decide_comparison(
    whole: WinFigures,
    leaning: tuple[int, int],
    *,
    alpha: float,
    flags: tuple[str, ...] = (),
    evidence: Evidence | None = None,
) -> Decision:
    """Which side is better."""
    # A side is better where more of the cases that lean to either side lean to it than chance
    # allows, and failures could not turn that. A judge whose flags say that it looks at places
    # rather than at outputs can still decide: what hangs on the place has been left out as a
    # contradiction.
    p = whole.p if evidence is None else min(1.0, 1 / max(evidence.e_value, 1.0))
    if not whole.wins + whole.losses:
        return Decision(winner=None, reason=_why_none(whole, flags), p=p, alpha=alpha)
    shown = p is not None and p <= alpha
    leader: Choice = "a" if leaning[0] > leaning[1] else "b"
    if shown and _keeps_lead(whole, leader):
        return Decision(winner=leader, reason=_why_better(whole, leaning), p=p, alpha=alpha)
    reason = _why_open(whole, leaning, flags, alpha)
    if shown:
        reason = "the undecided pairs could turn it" if whole.n_undecided else _NOT_ON_AVERAGE
    n_to_decide = _n_to_decide(whole, leaning, alpha)
    return Decision(winner=None, reason=reason, p=p, alpha=alpha, n_to_decide=n_to_decide)


_NOT_ON_AVERAGE = "more cases lean to one side, but on average over all cases it does not win more"
_EVEN = 0.5


def _keeps_lead(whole: WinFigures, leader: Choice) -> bool:
    """Whether the leader has more than half, even if the other side had won all that is open."""
    low, high = whole.bounds
    return low > _EVEN + SLACK if leader == "a" else high < _EVEN - SLACK


def _why_better(whole: WinFigures, leaning: tuple[int, int]) -> str:
    what = "decided pairs" if whole.n_pairs == whole.n_cases else "cases that lean to a side"
    return f"{max(leaning)} of {sum(leaning)} {what}"


def _why_none(whole: WinFigures, flags: tuple[str, ...]) -> str:
    if not whole.n_pairs - whole.n_undecided:
        return "no pair was judged in both orders"
    if whole.inconsistent and MOSTLY_INCONSISTENT in flags:
        return "the judge contradicts itself when the order is turned: no pair has a winner"
    more = f", and {whole.n_undecided:,} undecided" if whole.n_undecided else ""
    return f"no pair has a winner{more}"


def _why_open(
    whole: WinFigures, leaning: tuple[int, int], flags: tuple[str, ...], alpha: float
) -> str:
    for_a, for_b = leaning
    wins = f"{for_a} win{'s' if for_a != 1 else ''}"
    losses = f"{for_b} loss{'es' if for_b != 1 else ''}"
    if whole.n_pairs > whole.n_cases:
        wins, losses = f"{for_a} cases that lean to A", f"{for_b} to B"
    reason = f"{wins} and {losses} may be chance (alpha {alpha:g})"
    if MOSTLY_INCONSISTENT in flags:
        return f"{reason}; the judge contradicts itself on most pairs"
    return reason


def _n_to_decide(whole: WinFigures, leaning: tuple[int, int], alpha: float) -> int | None:
    """Cases for a sign test with 80 % power, with as many even ones as now."""
    # Half a win and half a loss are added, so that three wins of three do not promise that the
    # fourth is one too.
    for_a, for_b = leaning
    decided = for_a + for_b
    if for_a == for_b:
        return None
    share = (for_a + _EVEN) / (decided + 1)
    try:
        needed = sample_size_sign(share, alpha=alpha).value
    except ValueError:  # so near to a half that a million pairs would not do
        return None
    return max(whole.n_cases + 1, ceil(needed * whole.n_cases / decided))
