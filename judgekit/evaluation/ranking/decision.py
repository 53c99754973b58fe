"""Decides whether the first places of a ranking are settled."""

from __future__ import annotations

from math import ceil, comb, sqrt
from typing import TYPE_CHECKING

from judgekit.evaluation.ranking.figures import RankDecision
from judgekit.evaluation.ranking.shown import keeps_lead
from judgekit.stats.power import sample_size_paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.ranking.figures import RankedSide, RankRules
    from judgekit.evaluation.ranking.meetings import Meeting
    from judgekit.evaluation.ranking.shown import Shown
    from judgekit.evaluation.ranking.strengths import Strengths

_SAME = 1e-9


def decide_ranking(
    ranked: Sequence[RankedSide],
    fit: Strengths | None,
    shown: Shown,
    rules: RankRules,
    given: Sequence[Meeting],
) -> RankDecision:
    """Whether each of the first places is shown to be better than all below it."""
    order = tuple(side.name for side in ranked[: rules.top])
    if fit is None:
        met = any(side.n_comparisons for side in ranked)
        reason = "some sides are linked by no decided comparison, not even by way of others"
        reason = reason if met else "no comparison is decided"
        return RankDecision(is_decided=False, order=order, reason=reason, alpha=rules.alpha)
    for place, side in enumerate(ranked[: rules.top]):
        rivals = [o.name for o in ranked[place + 1 :] if not shown.better(side.name, o.name)]
        if rivals:
            more = f" and {len(rivals) - 1} more" if rivals[1:] else ""
            return RankDecision(
                is_decided=False,
                order=order,
                reason=f"place {place + 1} is open between {side.name} and {rivals[0]}{more}",
                alpha=rules.alpha,
                n_to_decide=_n_to_decide(
                    fit, side.name, rivals[0], rules.alpha / comb(len(ranked), 2)
                ),
            )
    if turned := _turned(order, ranked, rules, given):
        up, down = turned
        reason = f"the undecided comparisons could turn it between {up} and {down}"
        return RankDecision(is_decided=False, order=order, reason=reason, alpha=rules.alpha)
    each = "" if rules.top == 1 else "each "
    below = "all others" if rules.top == 1 else "all below"
    reason = f"{each}shown to be better than {below}"
    return RankDecision(is_decided=True, order=order, reason=reason, alpha=rules.alpha)


def _turned(
    order: Sequence[str],
    ranked: Sequence[RankedSide],
    rules: RankRules,
    given: Sequence[Meeting],
) -> tuple[str, str] | None:
    """Two sides, one of them in the first places, that what failures left open could turn."""
    if all(meeting.winner is not None for meeting in given):
        return None
    sides = sorted(side.name for side in ranked)
    for place, up in enumerate(order, start=1):
        for down in ranked[place:]:
            if not keeps_lead(given, sides, up, down.name, ties=rules.ties):
                return up, down.name
    return None


def _n_to_decide(fit: Strengths, a: str, b: str, alpha: float) -> int | None:
    """Cases by the normal law, with an error that shrinks with the root of the cases."""
    # `alpha` is the share of the error that the smallest of all p-values has to keep to.
    found = fit.fitted.difference(fit.names.index(a), fit.names.index(b))
    if fit.is_separated or not found.se > 0 or abs(found.value) <= _SAME:
        return None
    needed = sample_size_paired(found.value, found.se * sqrt(found.n), alpha=alpha).value
    return max(found.n + 1, ceil(needed))
