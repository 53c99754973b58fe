"""Estimates the strengths of sides from their matches, and tests which side is the stronger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparison_summary import PairTally, tally_pairs
from judgekit.stats.estimate import Estimate
from judgekit.stats.logistic import expit
from judgekit.stats.multiplicity import adjust
from judgekit.stats.paired_comparisons import PairResult, Ranking, comparisons
from judgekit.stats.quantiles import SLACK, sign_p_values, t_p_value
from judgekit.stats.ranking import bradley_terry, davidson, rao_kupper
from judgekit.stats.sequential import win_e_value

if TYPE_CHECKING:
    from judgekit.evaluation.ranking_result import EvidenceKind, MatchResult, RankRules
    from judgekit.records import Ties, Winner

_FITS = {"half": bradley_terry, "davidson": davidson, "rao-kupper": rao_kupper}
# Beta prior of the always-valid evidence: flat, as sides may differ by any amount.
_PRIOR = 1.0
# Log-odds of a place that only a likelihood without a maximum reaches: one in three million.
_NO_END = 15.0
_ONE_PLACE = "the judge's choice goes with the place so much that its pull has no end"
_UNKNOWN = "the order the outputs were shown in is not known"

# Two sides, the first in the alphabet before the other.
SidePair = tuple[str, str]


class PairEvidence(NamedTuple):
    """How sure it is that two sides differ."""

    p: float
    evidence: EvidenceKind
    # Whether the first is the stronger one, where they do
    first_leads: bool


@dataclass(frozen=True, slots=True)
class Strengths:
    """The strengths of sides that met, if by way of others."""

    names: tuple[str, ...]
    # Their strengths in that order; pulled in where they are separated
    fitted: Ranking
    # Sides that beat each other, if by way of others; one level where all strengths are finite
    levels: tuple[tuple[str, ...], ...]
    position: Estimate | None
    position_reason: str | None

    @property
    def is_separated(self) -> bool:
        """Whether some sides only ever won against the others."""
        return len(self.levels) > 1

    def rating(self, name: str) -> float:
        return self.fitted.ratings[self.names.index(name)]

    def strength(self, name: str) -> Estimate:
        """The log-strength of a side with its interval; open where sides are separated."""
        place, fitted = self.names.index(name), self.fitted
        low, high, se = (column[place] for column in (fitted.low, fitted.high, fitted.se))
        reason = None
        # What rounding leaves is no error: an interval of no width says too much. `not >` also
        # catches nan, which no comparison would.
        if not se > SLACK:
            reason = "no variation, or one case only"
            low = high = se = nan
        if self.is_separated:
            low = high = se = nan
            reason = "some sides only ever won against others: their distance has no end"
        return Estimate(
            value=fitted.ratings[place],
            low=low,
            high=high,
            level=fitted.level,
            n=fitted.n,
            method=fitted.method,
            se=se,
            df=fitted.df,
            reason=reason,
        )

    def expected(self, a: str, b: str) -> float:
        """The share of wins of a against b that the strengths stand for, a tie being half."""
        return float(expit(np.array(self.rating(a) - self.rating(b))))


def fit_strengths(
    meetings: Sequence[MatchResult], names: Sequence[str], *, ties: Ties, level: float
) -> Strengths:
    """The strengths of sides, from the meetings among them that are decided."""
    # Where both orders of every meeting are known, each order is an observation of its own and the
    # pull of the first place is estimated beside the strengths; otherwise the winners are taken.
    # Errors are sandwich ones, clustered by case.
    known = all(meeting.has_both_orders for meeting in meetings)
    rows, clusters = _rows(meetings, names, known=known)

    def fit(ties: Ties, *, position: bool) -> Ranking:
        return _FITS[ties](rows, len(names), clusters=clusters, position=position, level=level)

    reason = None if known else _UNKNOWN
    # Davidson and Rao-Kupper estimate a tie parameter, which has no finite value where every match
    # is a tie.
    if not any(row["wins_i"] or row["wins_j"] for row in rows) and ties != "half":
        # Only half wins still have strengths, all alike.
        found, reason = fit("half", position=False), "every choice is a tie"
    else:
        found = _with_position(fit, ties) if known else fit(ties, position=False)
        reason = _ONE_PLACE if known and found.position is None else reason
    # A side that won every match has no finite strength (Ford 1957); sides are split into levels,
    # and figures hold within one.
    found_levels = comparisons(rows, len(names), clusters).levels()
    levels = tuple(tuple(names[i] for i in one) for one in found_levels)
    return Strengths(tuple(names), found, levels, _position(found), reason)


def pair_evidence(
    meetings: Sequence[MatchResult],
    tallies: Mapping[SidePair, PairTally],
    strengths: Strengths,
    *,
    ties: Ties,
    level: float,
) -> dict[tuple[str, str], PairEvidence]:
    """How sure it is, for every two sides that met, if by way of others, that they differ."""
    # Within a level the strengths and their errors tell. Between two levels strengths have no
    # finite difference, and without variation no error: there the exact sign test of the cases that
    # both were compared on does.
    found: dict[tuple[str, str], PairEvidence] = {}
    for one in strengths.levels:
        if len(one) > 1:
            inside = [m for m in meetings if m.a in one and m.b in one]
            fits = strengths
            if strengths.is_separated or ties != "half":
                # Ties as half wins, by any model: the errors of a model of ties vanish where few
                # comparisons are decided, and two sides that only ever tied would differ by p 0.
                fits = fit_strengths(inside, one, ties="half", level=level)
            found |= _wald(fits)
    for pair in combinations(strengths.names, 2):
        if pair not in found:
            found[pair] = case_evidence(tallies.get(pair), is_adaptive=False)
    return found


def case_evidence(tally: PairTally | None, *, is_adaptive: bool) -> PairEvidence:
    """The same from the cases alone that both were compared on."""
    kind: EvidenceKind = "e-value" if is_adaptive else "sign"
    wins, losses = (0, 0) if tally is None else tally.leaning()
    if not wins + losses:
        return PairEvidence(nan, kind, first_leads=False)
    if is_adaptive:
        # Which pair is compared next may depend on everything seen before: the e-value of a pair
        # moves only with its own cases, and 1/e is a p at any time (Ramdas et al. 2023).
        p = win_e_value(wins, losses, prior_a=_PRIOR, prior_b=_PRIOR).p_value
    else:
        # The exact test, not mid-p: the level is promised for any number of cases.
        p = sign_p_values(wins, losses)[0]
    return PairEvidence(p, kind, first_leads=wins > losses)


def _with_position(fit: Callable[..., Ranking], ties: Ties) -> Ranking:
    """The fit with the pull of the first place, unless that has no end."""
    try:
        found = fit(ties, position=True)
    except NotEnoughDataError:
        return fit(ties, position=False)
    # A position effect that grows without bound would take the strengths with it, so the fit is
    # repeated without it.
    if found.position is None or abs(found.position.value) < _NO_END:
        return found
    return fit(ties, position=False)


def _position(found: Ranking) -> Estimate | None:
    """The pull of the place; without an interval where no choice hung on it."""
    if found.position is None or found.position.se > SLACK:
        return found.position
    return replace(
        found.position, low=nan, high=nan, se=nan, reason="no choice changed with the place"
    )


def _rows(
    meetings: Sequence[MatchResult], names: Sequence[str], *, known: bool
) -> tuple[list[PairResult], list[object]]:
    index = {name: place for place, name in enumerate(names)}
    rows: list[PairResult] = []
    clusters: list[object] = []
    n_met = Counter((meeting.case_id, meeting.a, meeting.b) for meeting in meetings)
    for place, meeting in enumerate(meetings):
        w = meeting.winner
        # Repeats share one weight: a case with most of them would be nearly the only cluster.
        n = n_met[meeting[:3]] if meeting.case_id else 1
        result = meeting.a, meeting.b, (float(w == "a"), float(w == "b"), float(w == "tie"))
        for first, second, counts in meeting.shown() if known else [result]:
            won, lost, tied = (count / n for count in counts)
            rows.append(
                {"i": index[first], "j": index[second], "wins_i": won, "wins_j": lost, "ties": tied}
            )
            # A meeting that names no case is a case of its own.
            clusters.append(meeting.case_id or place)
    return rows, clusters


def _wald(strengths: Strengths) -> dict[tuple[str, str], PairEvidence]:
    """By differences of strengths; without a pair whose difference has no error."""
    found = {}
    for (i, a), (j, b) in combinations(enumerate(strengths.names), 2):
        difference = strengths.fitted.difference(i, j)
        if not isnan(difference.se) and difference.se > SLACK:
            p = t_p_value(difference.value / difference.se, difference.df)
            found[a, b] = PairEvidence(p, "wald", first_leads=difference.value > 0)
    return found


# Where no interval is examined.
_ANY_LEVEL = 0.95


class SignificantOrder(NamedTuple):
    """What is shown of every two sides."""

    pairs: Mapping[SidePair, PairEvidence]
    adjusted: Mapping[SidePair, float]
    # The sides that each is shown to be stronger than, if by way of sides between
    below: Mapping[str, set[str]]

    def better(self, a: str, b: str) -> bool:
        """Whether a is shown to be stronger than b; what goes round in a circle shows nothing."""
        return b in self.below[a] and a not in self.below[b]


def significant_order(
    known: Sequence[MatchResult],
    fits: Iterable[Strengths],
    sides: Sequence[str],
    rules: RankRules,
    *,
    is_adaptive: bool,
) -> SignificantOrder:
    # Sides have one order by strength: whoever is stronger than b is stronger than all that b is
    # stronger than, which needs no further test.
    tallies = tally_pairs(known)
    pairs: dict[SidePair, PairEvidence] = {}
    if is_adaptive:
        for pair in combinations(sides, 2):
            pairs[pair] = case_evidence(tallies.get(pair), is_adaptive=True)
    else:
        for fit in fits:
            own = [m for m in known if m.a in fit.names]
            pairs |= pair_evidence(own, tallies, fit, ties=rules.ties, level=1 - rules.alpha)
    # All pairs count as tests, also those nobody looks at: the ranking as a whole keeps the error
    # rate.
    p_values = adjust([one.p for one in pairs.values()], "holm").value
    adjusted = dict(zip(pairs, p_values, strict=True))
    below: dict[str, set[str]] = {side: set() for side in sides}
    for pair, p in adjusted.items():
        if p <= rules.alpha:
            up, down = pair if pairs[pair].first_leads else pair[::-1]
            below[up].add(down)
    # Warshall's transitive closure; a number of sides is small.
    for via, side in product(sides, repeat=2):
        if via in below[side]:
            below[side] |= below[via] - {side}
    return SignificantOrder(pairs, adjusted, below)


def fit_of_side(name: str, fits: Iterable[Strengths]) -> Strengths | None:
    return next((fit for fit in fits if name in fit.names), None)


def keeps_lead(
    all_matches: Sequence[MatchResult], sides: Sequence[str], up: str, down: str, *, ties: Ties
) -> bool:
    """Whether a side stays above another if everything that is open had gone against it."""
    # The least favourable completion of the undecided matches: a decision that survives it does not
    # depend on them.
    worst = [
        m if m.winner is not None else m._replace(winner=_against(m, up, down), is_identical=False)
        for m in all_matches
    ]
    known = [m._replace(choices=(), is_identical=False) for m in worst if m.winner is not None]
    found = fit_strengths(known, sides, ties=ties, level=_ANY_LEVEL)
    return found.rating(up) > found.rating(down) + SLACK


def _against(meeting: MatchResult, up: str, down: str) -> Winner | None:
    """Who wins an open meeting at the worst for a side; None where it says nothing of either."""
    if up in (meeting.a, meeting.b):
        return "b" if meeting.a == up else "a"
    if down in (meeting.a, meeting.b):
        return "a" if meeting.a == down else "b"
    return None
