"""Meetings of sides to their order: strengths, places with their doubt, and a decision."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import fsum, isnan, nan
from typing import TYPE_CHECKING

from judgekit.evaluation.ranking.decision import decide_ranking
from judgekit.evaluation.ranking.figures import (
    PairFigures,
    Questioned,
    RankedSide,
    RankingSummary,
    RankRules,
)
from judgekit.evaluation.ranking.meetings import in_order
from judgekit.evaluation.ranking.shown import fit_of, share_of, what_is_shown
from judgekit.evaluation.ranking.strengths import fit_strengths
from judgekit.stats.estimate import Estimate, undefined
from judgekit.stats.intervals import clustered_proportion, mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.evaluation.ranking.figures import Ties
    from judgekit.evaluation.ranking.meetings import Meeting
    from judgekit.evaluation.ranking.shown import Shown
    from judgekit.evaluation.ranking.strengths import Strengths

_SAME = 1e-9
"""Strengths nearer than this are the same: what is left of Newton's steps is no difference."""

_SEVERAL = "there are groups of sides that never met"


def rank_meetings(
    meetings: Iterable[Meeting],
    names: Iterable[str] = (),
    *,
    rules: RankRules | None = None,
    questioned: Questioned | None = None,
) -> RankingSummary:
    """Rank sides by how they fared against each other."""
    rules, asked = rules or RankRules(), questioned or Questioned()
    given = in_order(meetings)
    sides = sorted({*names, *(m.a for m in given), *(m.b for m in given)})
    rules.check(len(sides))
    known, level = [m for m in given if m.winner is not None], 1 - rules.alpha
    groups = _groups(sides, known)
    fits = [
        fit_strengths([m for m in known if m.a in group], group, ties=rules.ties, level=level)
        for group in groups
        if len(group) > 1
    ]
    shown = what_is_shown(known, fits, sides, rules, is_adaptive=asked.is_adaptive)
    ranked = [
        side
        for number, group in enumerate(groups)
        for side in _places(number, group, fits, given, shown)
    ]
    whole = fits[0] if len(groups) == 1 else None
    return RankingSummary(
        sides=tuple(ranked),
        pairs=_pairs([side.name for side in ranked], given, fits, shown),
        decision=decide_ranking(ranked, whole, shown, rules, given),
        groups=groups,
        levels=tuple(one for fit in fits if fit.is_separated for one in fit.levels),
        ties=rules.ties,
        tie_share=_tie_share(known),
        tie_parameter=None if whole is None else _tie_parameter(whole, rules.ties),
        position=None if whole is None else whole.position,
        position_reason=_SEVERAL if whole is None else whole.position_reason,
        flip_rate=_flip_rate(known, level),
        n_cases=len({m.case_id or place for place, m in enumerate(given)}),
        n_comparisons=len(given),
        n_undecided=len(given) - len(known),
        n_identical=sum(m.is_identical for m in given),
        questioned=asked,
    )


def _groups(sides: Sequence[str], known: Sequence[Meeting]) -> tuple[tuple[str, ...], ...]:
    """Sides that meetings link, the largest groups first."""
    group = {side: {side} for side in sides}
    for a, b in {(m.a, m.b) for m in known}:
        if group[a] is not group[b]:
            group[a] |= group[b]
            for side in group[b]:
                group[side] = group[a]
    found = {tuple(sorted(members)) for members in group.values()}
    return tuple(sorted(found, key=lambda members: (-len(members), members)))


def _places(
    number: int,
    group: Sequence[str],
    fits: Sequence[Strengths],
    given: Sequence[Meeting],
    shown: Shown,
) -> list[RankedSide]:
    """The sides of a group with their places, the strongest first."""
    fit = fit_of(group[0], fits)
    if fit is None:
        return [_lonely(number, group[0])]
    order = sorted(group, key=lambda name: (-round(fit.rating(name), 9), name))
    found = []
    for name in order:
        own = [m for m in given if name in (m.a, m.b)]
        known = [m for m in own if m.winner is not None]
        points = [m.points if m.a == name else 1 - m.points for m in known]
        n_open, won = len(own) - len(known), fsum(points)
        stronger = sum(shown.better(other, name) for other in group)
        weaker = sum(shown.better(name, other) for other in group)
        found.append(
            RankedSide(
                name=name,
                group=number,
                place=1 + sum(fit.rating(other) > fit.rating(name) + _SAME for other in group),
                best=1 + stronger,
                worst=len(group) - weaker,
                strength=fit.strength(name),
                elo=fit.fitted.elo[fit.names.index(name)],
                win_share=won / len(points),
                bounds=(won / len(own), (won + n_open) / len(own)),
                win_rate=_win_rate(name, known),
                n_comparisons=len(points),
                is_unbeaten=all(point == 1 for point in points),
                is_winless=not any(points),
            )
        )
    return found


def _lonely(number: int, name: str) -> RankedSide:
    reason = "no comparison of it is decided"
    return RankedSide(
        name=name, group=number, place=1, best=1, worst=1,
        strength=undefined(reason, n=0, method="none"), elo=nan, win_share=nan,
        bounds=(0.0, 1.0), win_rate=undefined(reason, n=0, method="none"), n_comparisons=0,
        is_unbeaten=False, is_winless=False,
    )  # fmt: skip


def _win_rate(name: str, own: Sequence[Meeting]) -> Estimate:
    """How far a side is preferred; a comparison that names no case is a case of its own."""
    shares = [m.preferred if m.a == name else 1 - m.preferred for m in own]
    cases = [m.case_id or f"comparison {place}" for place, m in enumerate(own)]
    found = mean(shares, clusters=cases if len(set(cases)) < len(cases) else None)
    if found.reason is not None:
        return replace(found, low=nan, high=nan, design_effect=nan, se=nan)
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


def _pairs(
    names: Sequence[str],
    given: Sequence[Meeting],
    fits: Sequence[Strengths],
    shown: Shown,
) -> tuple[PairFigures, ...]:
    """Every two sides, told from the one in the better place."""
    found = []
    for a, b in combinations(names, 2):
        pair = (a, b) if a < b else (b, a)
        own = [m for m in given if (m.a, m.b) == pair]
        wins, losses = (sum(m.winner == side for m in own) for side in ("a", "b"))
        if a > b:
            wins, losses = losses, wins
        inconsistent = sum(m.is_inconsistent and m.winner == "tie" for m in own)
        share, fit = share_of(own, pair), fit_of(a, fits)
        evidence, p = shown.pairs.get(pair), shown.adjusted.get(pair, nan)
        stronger = a if shown.better(a, b) else b if shown.better(b, a) else None
        found.append(
            PairFigures(
                a=a,
                b=b,
                n_cases=len({m.case_id or place for place, m in enumerate(own)}),
                wins=wins,
                ties=sum(m.winner == "tie" for m in own) - inconsistent,
                inconsistent=inconsistent,
                losses=losses,
                n_undecided=sum(m.winner is None for m in own),
                share=share if a < b else 1 - share,
                expected=fit.expected(a, b) if fit is not None and b in fit.names else nan,
                p=None if evidence is None or isnan(evidence.p) else evidence.p,
                p_adjusted=None if isnan(p) else p,
                evidence="wald" if evidence is None else evidence.evidence,
                stronger=stronger,
            )
        )
    return tuple(found)


def _tie_share(known: Sequence[Meeting]) -> float:
    shares = [
        fsum(tied for _, _, (_, _, tied) in m.shown()) / 2
        if m.has_both_orders
        else float(m.winner == "tie")
        for m in known
    ]
    return fsum(shares) / len(shares) if shares else nan


def _tie_parameter(fit: Strengths, ties: Ties) -> float | None:
    value = {"davidson": fit.fitted.nu, "rao-kupper": fit.fitted.theta}.get(ties, nan)
    return None if isnan(value) else value


def _flip_rate(known: Sequence[Meeting], level: float) -> Estimate:
    told = [m for m in known if not m.is_identical and m.has_both_orders]
    if not told:
        return undefined("no comparison was judged in both orders", n=0, method="wilson",
                         level=level)  # fmt: skip
    cases = [m.case_id or str(place) for place, m in enumerate(told)]
    return clustered_proportion([float(m.is_inconsistent) for m in told], cases, level=level)
