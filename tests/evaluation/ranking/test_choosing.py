from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from judgekit.evaluation import Contest, RankRules, rank_matches
from judgekit.evaluation.ranking import AdaptiveSelector, RoundRobinSelector
from judgekit.evaluation.ranking_result import RankingProvenance
from judgekit.stats.logistic import expit
from tests.evaluation.pairs import side
from tests.evaluation.ranking.fields import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from judgekit.evaluation.pairing import Match
    from judgekit.evaluation.ranking_result import MatchResult
    from judgekit.records import PreferenceSlot


def contest(n_cases: int, *labels: str) -> Contest:
    cases = [f"c{k}" for k in range(n_cases)]
    return Contest([side(label, *cases) for label in labels])


def surely(order: str) -> Callable[[Match], MatchResult]:
    """The side that comes first in `order` wins in both places."""

    def decide(match: Match) -> MatchResult:
        first = order.index(match.a) < order.index(match.b)
        ab: PreferenceSlot = "first" if first else "second"
        ba: PreferenceSlot = "second" if first else "first"
        return judged(match.a, match.b, match.pair.case.id, ab, ba)

    return decide


def by_strength(
    rng: np.random.Generator, true: Mapping[str, float]
) -> Callable[[Match], MatchResult]:
    """A fair judge of sides that differ by so much."""

    def decide(match: Match) -> MatchResult:
        p = float(expit(np.array(true[match.a] - true[match.b])))
        ab, ba = rng.random() < p, rng.random() < 1 - p
        return judged(
            match.a,
            match.b,
            match.pair.case.id,
            "first" if ab else "second",
            "first" if ba else "second",
        )

    return decide


def play(
    chooser: RoundRobinSelector | AdaptiveSelector, decide: Callable[[Match], MatchResult]
) -> list[MatchResult]:
    met: list[MatchResult] = []
    while chosen := chooser.next_round(met):
        met += [decide(match) for match in chosen]
    return met


def test_everybody_meets_everybody_once_and_then_it_is_over() -> None:
    chooser = RoundRobinSelector(contest(4, "x", "y", "z"))
    assert len(play(chooser, surely("xyz"))) == 12
    assert (chooser.ended, chooser.next_round([])) == ("all", [])


def test_with_fewer_comparisons_the_sides_met_equally_often() -> None:
    chooser = RoundRobinSelector(contest(4, "x", "y", "z"), most=7)
    met = play(chooser, surely("xyz"))
    assert sorted(Counter((m.a, m.b) for m in met).values()) == [2, 2, 3]
    assert chooser.ended == "comparisons"


def test_adaptive_choice_ends_when_the_first_place_is_decided() -> None:
    there = contest(60, "w", "x", "y", "z")
    chooser = AdaptiveSelector(there, RankRules())
    met = play(chooser, surely("wxyz"))
    assert chooser.ended == "decided"
    assert len(met) < there.n_matches / 4
    asked = RankingProvenance(is_adaptive=True)
    assert rank_matches(met, questioned=asked).decision.order == ("w",)
    first = Counter("w" in (m.a, m.b) for m in met)
    assert first[True] > 3 * first[False]


def test_as_many_places_are_decided_as_are_asked_for() -> None:
    rules = RankRules(top=2)
    chooser = AdaptiveSelector(contest(60, "x", "y", "z"), rules)
    met = play(chooser, surely("zxy"))
    assert chooser.ended == "decided"
    found = rank_matches(met, rules=rules, questioned=RankingProvenance(is_adaptive=True))
    assert (found.decision.is_decided, found.decision.order) == (True, ("z", "x"))


def test_adaptive_choice_keeps_to_its_number_of_comparisons() -> None:
    chooser = AdaptiveSelector(contest(60, "x", "y", "z"), RankRules(), most=10)
    assert len(play(chooser, surely("xyz"))) == 10
    assert chooser.ended == "comparisons"
    few = AdaptiveSelector(contest(60, "x", "y", "z"), RankRules(), most=2)
    assert len(play(few, surely("xyz"))) == 2


def test_where_the_cases_of_the_pairs_that_matter_are_used_up_it_ends() -> None:
    chooser = AdaptiveSelector(contest(4, "x", "y", "z"), RankRules())
    met = play(chooser, surely("xyz"))
    assert len(met) < 12
    assert chooser.ended == "cases"
    every = AdaptiveSelector(contest(2, "x", "y"), RankRules())
    assert len(play(every, surely("xy"))) == 2
    assert every.ended == "all"


def test_without_any_answer_it_goes_on_until_the_cases_end() -> None:
    chooser = AdaptiveSelector(contest(3, "x", "y"), RankRules())
    assert len(play(chooser, lambda m: surely("xy")(m)._replace(winner=None))) == 3


def test_the_matches_do_not_hang_on_the_order_in_which_answers_are_told() -> None:
    def matches(*, turned: bool) -> list[tuple[str, str, str]]:
        chooser = AdaptiveSelector(contest(30, "x", "y", "z"), RankRules())
        met: list[MatchResult] = []
        found = []
        while chosen := chooser.next_round(met[::-1] if turned else met):
            met += [surely("xyz")(match) for match in chosen]
            found += [(match.a, match.b, match.pair.case.id) for match in chosen]
        return found

    assert matches(turned=True) == matches(turned=False)


@pytest.mark.no_cover
def test_looking_after_every_round_shows_no_difference_where_there_is_none() -> None:
    """Seeded: 40 contests of equal sides; the error over all pairs and looks is 5 % at most."""
    rng = np.random.default_rng(2)
    labels = ["x", "y", "z"]
    there = contest(20, *labels)
    n_wrong = 0
    for _ in range(40):
        met = play(
            AdaptiveSelector(there, RankRules()), by_strength(rng, dict.fromkeys(labels, 0.0))
        )
        found = rank_matches(met, labels, questioned=RankingProvenance(is_adaptive=True))
        n_wrong += any(pair.stronger for pair in found.pairs)
    assert n_wrong <= 40 * 0.05 + 3 * (40 * 0.05 * 0.95) ** 0.5
