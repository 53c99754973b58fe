"""Which sides are shown to be stronger than which, with one error over all pairs."""

from __future__ import annotations

from math import fsum, isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from judgekit.evaluation.ranking.strengths import (
    always_valid_evidence,
    fit_strengths,
    leaning,
    pair_evidence,
)
from judgekit.stats.estimate import cluster_means
from judgekit.stats.multiplicity import adjust
from judgekit.stats.quantiles import SLACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.evaluation.ranking.figures import RankRules, Ties
    from judgekit.evaluation.ranking.meetings import Meeting
    from judgekit.evaluation.ranking.strengths import PairEvidence, Strengths
    from judgekit.records.comparison import Winner

Pair = tuple[str, str]
"""Two sides, the first in the alphabet before the other."""

_ANY_LEVEL = 0.95
"""Where no interval is looked at."""


class Shown(NamedTuple):
    """What is shown of every two sides."""

    pairs: Mapping[Pair, PairEvidence]
    """How sure it is that they differ."""

    adjusted: Mapping[Pair, float]
    """The p after Holm."""

    below: Mapping[str, set[str]]
    """The sides that each is shown to be stronger than, if by way of sides between."""

    def better(self, a: str, b: str) -> bool:
        """Whether a is shown to be stronger than b; what goes round in a circle shows nothing."""
        return b in self.below[a] and a not in self.below[b]


def what_is_shown(
    known: Sequence[Meeting],
    fits: Iterable[Strengths],
    sides: Sequence[str],
    rules: RankRules,
    *,
    is_adaptive: bool,
) -> Shown:
    """Which sides are shown to be stronger."""
    # Sides have one order by strength: whoever is stronger than b is stronger than all that b is
    # stronger than, which needs no further test.
    found = list(fits)
    pairs: dict[Pair, PairEvidence] = {}
    if is_adaptive:
        pairs = always_valid_evidence(known, sides)
    else:
        for fit in found:
            own = [m for m in known if m.a in fit.names]
            pairs |= pair_evidence(own, fit, ties=rules.ties, level=1 - rules.alpha)
    p_values = adjust([one.p for one in pairs.values()], "holm").value
    adjusted = dict(zip(pairs, p_values, strict=True))
    below: dict[str, set[str]] = {side: set() for side in sides}
    for pair, p in adjusted.items():
        if p <= rules.alpha:
            up, down = pair if _first_leads(pair, pairs[pair], found, known) else pair[::-1]
            below[up].add(down)
    for via in sides:
        for side in sides:
            if via in below[side]:
                below[side] |= below[via] - {side}
    return Shown(pairs, adjusted, below)


def fit_of(name: str, fits: Iterable[Strengths]) -> Strengths | None:
    """The strengths that a side is among."""
    return next((fit for fit in fits if name in fit.names), None)


def keeps_lead(
    given: Sequence[Meeting], sides: Sequence[str], up: str, down: str, *, ties: Ties
) -> bool:
    """Whether a side stays above another if everything that is open had gone against it."""
    worst = [
        m if m.winner is not None else m._replace(winner=_against(m, up, down), is_identical=False)
        for m in given
    ]
    known = [m._replace(choices=(), is_identical=False) for m in worst if m.winner is not None]
    found = fit_strengths(known, sides, ties=ties, level=_ANY_LEVEL)
    return found.rating(up) > found.rating(down) + SLACK


def _against(meeting: Meeting, up: str, down: str) -> Winner | None:
    """Who wins an open meeting at the worst for a side; None where it says nothing of either."""
    if up in (meeting.a, meeting.b):
        return "b" if meeting.a == up else "a"
    if down in (meeting.a, meeting.b):
        return "a" if meeting.a == down else "b"
    return None


def share_of(meetings: Iterable[Meeting], pair: Pair) -> float:
    """The first side's share of wins, no winner being half a win."""
    own = [m for m in meetings if (m.a, m.b) == pair and not isnan(m.points)]
    cases = [m.case_id or place for place, m in enumerate(own)]
    means = cluster_means([m.points for m in own], cases)
    return fsum(means.values()) / len(means) if means else nan


def _first_leads(
    pair: Pair, evidence: PairEvidence, fits: Sequence[Strengths], known: Sequence[Meeting]
) -> bool:
    """Whether what shows a difference shows that the first side is the stronger one."""
    fit = fit_of(pair[0], fits)
    if evidence.evidence == "wald" and fit is not None:
        return fit.rating(pair[0]) > fit.rating(pair[1])
    wins, losses = leaning(known, pair)
    return wins > losses
