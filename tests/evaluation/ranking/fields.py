"""Meetings of sides of known strength, as a judge with known faults would decide them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, cast

import numpy as np

from judgekit.evaluation.ranking_result import MatchResult
from judgekit.stats.logistic import expit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.records import PreferenceSlot, Winner

_WINNERS: dict[tuple[PreferenceSlot, PreferenceSlot], Winner] = {
    ("first", "second"): "a", ("second", "first"): "b", ("tie", "tie"): "tie",
}  # fmt: skip


def met(a: str, b: str, *winners: str | None) -> list[MatchResult]:
    """Two sides on cases c0, c1, …, of which only the winners are known."""
    known = [cast("Winner | None", winner) for winner in winners]
    return [MatchResult(f"c{k}", a, b, winner, False) for k, winner in enumerate(known)]


def judged(a: str, b: str, case: str, ab: PreferenceSlot, ba: PreferenceSlot) -> MatchResult:
    """Two sides on a case, with what was chosen when a was shown first and when b was."""
    winner = _WINNERS.get((ab, ba))
    return MatchResult(case, a, b, winner or "tie", winner is None, (("ab", ab), ("ba", ba)))


def season(
    rng: np.random.Generator,
    strengths: Mapping[str, float],
    n_cases: int,
    *,
    first: float = 0.0,
    tie_share: float = 0.0,
    case_sd: float = 0.0,
) -> list[MatchResult]:
    """Everybody against everybody by the Bradley-Terry law, in both orders.

    Args:
        rng: Source of random numbers.
        strengths: Log-strengths, in the order of the alphabet.
        n_cases: Cases.
        first: Log-odds by which the judge favours the first place.
        tie_share: Share of choices that are ties.
        case_sd: By how much the strengths differ from case to case.
    """
    names = sorted(strengths)
    found = []
    for case in range(n_cases):
        own = {name: strengths[name] + case_sd * rng.standard_normal() for name in names}
        for a, b in combinations(names, 2):
            ab = _choice(rng, own[a] - own[b] + first, tie_share)
            ba = _choice(rng, own[b] - own[a] + first, tie_share)
            found.append(judged(a, b, f"c{case:04}", ab, ba))
    return found


def _choice(rng: np.random.Generator, log_odds: float, tie_share: float) -> PreferenceSlot:
    if rng.random() < tie_share:
        return "tie"
    return "first" if rng.random() < float(expit(np.array(log_odds))) else "second"
