from __future__ import annotations

import random
from math import isnan, log
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import SettingsError
from judgekit.evaluation import RankRules, rank_matches
from judgekit.evaluation.ranking_result import MatchResult, RankingProvenance, canonical_match
from judgekit.evaluation.ranking_summary import with_segments
from judgekit.evaluation.strengths import keeps_lead
from tests.evaluation.ranking.fields import judged, met, season
from tests.factories import make_case
from tests.stats.simulation import covers_at_its_level

if TYPE_CHECKING:
    from judgekit.evaluation import RankedSide, RankingSummary


def by_name(found: RankingSummary) -> dict[str, RankedSide]:
    return {side.name: side for side in found.sides}


def placed(found: RankingSummary) -> list[tuple[str, int, int, int]]:
    return [(side.name, side.place, side.best, side.worst) for side in found.sides]


def test_two_sides_differ_by_the_log_of_their_odds() -> None:
    """By hand: of two items Bradley & Terry's maximum is at the log of wins over losses."""
    found = rank_matches(met("x", "y", *["a"] * 15, *["b"] * 5))
    strengths = {side.name: side.strength.value for side in found.sides}
    assert strengths["x"] - strengths["y"] == pytest.approx(log(15 / 5))
    assert sum(strengths.values()) == pytest.approx(0)
    assert by_name(found)["x"].elo == pytest.approx(1000 + 400 / log(10) * log(3) / 2)


def test_a_case_with_most_repeats_does_not_decide() -> None:
    """Each case has one weight: 20 repeats of one are not 20 pieces of evidence."""
    rng = np.random.default_rng(4)
    n_decided, n_runs = 0, 100
    for _ in range(n_runs):
        meetings: list[MatchResult] = []
        for case, repeats in enumerate((20, 1, 1, 1, 1, 1, 1, 1)):
            chance = rng.random()  # a case's own preference: on average, neither side is better
            for _ in range(repeats):
                meetings += met("x", "y", "a" if rng.random() < chance else "b")
                meetings[-1] = meetings[-1]._replace(case_id=f"c{case}")
        n_decided += rank_matches(meetings).decision.is_decided
    assert n_decided <= n_runs * (0.05 + 3 * (0.05 * 0.95 / n_runs) ** 0.5)


def test_strengths_are_those_of_choix_and_evalica() -> None:
    """`ranking.bradley_terry#1` of the golden statistics: choix 0.4.1 ilsr_pairwise, evalica."""
    games = {"ab": (7, 3), "ac": (9, 1), "bc": (6, 4), "ad": (8, 2), "bd": (7, 3), "cd": (5, 5)}
    meetings = [
        MatchResult(f"{pair}{k}", pair[0], pair[1], "a" if k < won else "b", False)
        for pair, (won, lost) in games.items()
        for k in range(won + lost)
    ]
    found = by_name(rank_matches(meetings))
    expected = {
        "a": 1.06244176109,
        "b": 0.0949283658241,
        "c": -0.578685063459,
        "d": -0.578685063459,
    }
    assert {name: side.strength.value for name, side in found.items()} == pytest.approx(expected)
    assert (found["c"].place, found["d"].place) == (3, 3)


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_sides_that_only_ever_tied_are_not_shown_to_differ(ties: Any) -> None:
    """Of 18 comparisons v2 won two and lost two: the errors of a model of ties vanish there."""
    won = {("v0", "v2"): "bb", ("v1", "v2"): "aa", ("v0", "v1"): ""}
    found = rank_matches(
        [
            MatchResult(f"c{(case + start) % 6}", *pair, cast("Any", outcome), False)
            for start, (pair, won_by) in enumerate(won.items())
            for case, outcome in enumerate([*won_by, *["tie"] * (6 - len(won_by))])
        ],
        rules=RankRules(ties=ties),
    )
    pairs = {(pair.a, pair.b): pair for pair in found.pairs}
    assert (pairs["v1", "v0"].ties, pairs["v1", "v0"].stronger) == (6, None)
    assert cast("float", pairs["v1", "v0"].p) > 0.05
    assert {(side.best, side.worst) for side in found.sides} == {(1, 3)}


def test_the_pull_of_the_first_place_is_taken_out_of_the_strengths() -> None:
    true = {"v1": 0.8, "v2": 0.0, "v3": -0.8}
    found = rank_matches(season(np.random.default_rng(3), true, 400, first=0.7))
    assert found.position is not None
    assert found.position.low < 0.7 < found.position.high
    assert {n: s.strength.value for n, s in by_name(found).items()} == pytest.approx(true, abs=0.1)
    assert found.decision.is_decided
    assert found.flip_rate.value > 0.2


def test_a_judge_that_always_takes_the_first_tells_nothing_and_that_is_said() -> None:
    found = rank_matches(
        [judged(a, b, f"c{k}", "first", "first") for k in range(9) for a, b in ("xy", "yz", "xz")]
    )
    assert [side.strength.value for side in found.sides] == pytest.approx([0, 0, 0])
    assert {side.place for side in found.sides} == {1}
    assert found.position is None
    assert "no end" in str(found.position_reason)
    assert found.flip_rate.value == 1
    assert not found.decision.is_decided
    modelled = rank_matches(
        [judged("x", "y", f"c{k}", "first", "first") for k in range(9)],
        rules=RankRules(ties="davidson"),
    )
    assert (modelled.position, modelled.tie_parameter) == (None, 0)


def test_where_no_choice_changes_with_the_place_its_pull_has_no_interval_of_no_width() -> None:
    found = rank_matches(
        [judged("x", "y", f"c{k}", "first", "second") for k in range(6)]
        + [judged("x", "y", f"d{k}", "second", "first") for k in range(3)]
    )
    assert found.position is not None
    assert found.position.value == pytest.approx(0, abs=1e-9)
    assert isnan(found.position.low)


def test_who_won_everything_has_no_finite_strength_and_the_sign_test_tells() -> None:
    meetings = [*met("x", "y", *["a"] * 12), *met("x", "z", *["a"] * 12)]
    meetings += met("y", "z", *"aaaaaaabbbbb")
    found = rank_matches(meetings)
    x = by_name(found)["x"]
    assert x.is_unbeaten
    assert isnan(x.strength.low)
    assert isnan(x.strength.high)
    assert found.levels == (("x",), ("y", "z"))
    assert [(p.a, p.b, p.evidence) for p in found.pairs] == [
        ("x", "y", "sign"), ("x", "z", "sign"), ("y", "z", "wald"),
    ]  # fmt: skip
    assert found.pairs[0].p == pytest.approx(2 * 0.5**12)
    assert found.decision.is_decided
    assert placed(found) == [("x", 1, 1, 1), ("y", 2, 2, 3), ("z", 3, 2, 3)]


@pytest.mark.parametrize(("n_open", "is_decided"), [(0, True), (10, True), (12, False)])
def test_what_failures_leave_open_could_turn_is_not_decided(
    n_open: int, *, is_decided: bool
) -> None:
    meetings = [*met("x", "y", *["a"] * 12), *met("y", "z", *["a"] * 12), *met("x", "z", "a")]
    left = [m._replace(case_id=f"o{k}") for k, m in enumerate(met("x", "y", *[None] * n_open))]
    found = rank_matches([*meetings, *left])
    assert found.decision.is_decided == is_decided
    x, y = by_name(found)["x"], by_name(found)["y"]
    assert x.bounds == pytest.approx((13 / (13 + n_open), 1))
    assert y.bounds == pytest.approx((12 / (24 + n_open), (12 + n_open) / (24 + n_open)))
    if not is_decided:
        assert found.decision.reason == "the undecided comparisons could turn it between x and y"


def test_what_lifts_the_other_against_a_third_side_can_turn_a_lead_too() -> None:
    known = [*met("x", "y", *"aaaaaabbbb"), *met("x", "z", *"ab" * 5), *met("y", "z", *"ab" * 5)]
    known += [*met("w", "z", *"ab"), *met("w", "z", None, None)]
    open_ones = met("y", "z", *[None] * 30)
    assert keeps_lead(known, "wxyz", "x", "y", ties="half")
    assert not keeps_lead([*known, *open_ones], "wxyz", "x", "y", ties="half")


def test_three_wins_of_three_decide_nothing() -> None:
    found = rank_matches([*met("x", "y", *"aaa"), *met("x", "z", *"aaa"), *met("y", "z", *"aaa")])
    assert not found.decision.is_decided
    assert found.decision.n_to_decide is None
    assert [side.worst for side in found.sides] == [3, 3, 3]


def test_sides_that_never_met_are_ranked_apart() -> None:
    found = rank_matches(
        [*met("x", "y", *"aaab"), *met("p", "q", *"aabb")], names=["x", "y", "p", "q", "lonely"]
    )
    assert found.groups == (("p", "q"), ("x", "y"), ("lonely",))
    lonely = by_name(found)["lonely"]
    assert isnan(lonely.strength.value)
    assert lonely.n_comparisons == 0
    across = next(p for p in found.pairs if {p.a, p.b} == {"x", "p"})
    assert (across.p, across.stronger) == (None, None)
    assert isnan(across.expected)
    assert found.decision.reason == (
        "some sides are linked by no decided comparison, not even by way of others"
    )
    assert found.position_reason == "there are groups of sides that never met"


def test_who_beats_the_better_one_beats_the_other_too() -> None:
    meetings = [*met("x", "y", *["a"] * 12), *met("y", "z", *["a"] * 12)]
    found = rank_matches(meetings)
    never = next(p for p in found.pairs if (p.a, p.b) == ("x", "z"))
    assert (never.n_cases, never.p, never.stronger) == (0, None, "x")
    assert isnan(never.share)
    assert found.decision.is_decided


def test_a_circle_shows_nothing() -> None:
    adaptive = RankingProvenance(is_adaptive=True)
    wins = ["a"] * 30
    meetings = [*met("x", "y", *wins), *met("y", "z", *wins), *met("x", "z", *["b"] * 30)]
    found = rank_matches(meetings, questioned=adaptive)
    assert all(pair.p_adjusted is not None and pair.p_adjusted < 0.01 for pair in found.pairs)
    assert all(pair.stronger is None for pair in found.pairs)


def test_where_pairs_were_chosen_by_what_came_out_only_evidence_valid_at_any_time_counts() -> None:
    meetings = [*met("x", "y", *"aaaaaaaa"), *met("x", "z", *"aaaaaaaa"), *met("y", "z", *"ab")]
    fixed = rank_matches(meetings)
    looked_at = rank_matches(meetings, questioned=RankingProvenance(is_adaptive=True))
    assert fixed.decision.is_decided
    assert not looked_at.decision.is_decided
    assert {pair.evidence for pair in looked_at.pairs} == {"e-value"}


def test_ties_only_leave_all_alike_by_any_rule() -> None:
    for ties in ("half", "davidson", "rao-kupper"):
        found = rank_matches(met("x", "y", *["tie"] * 5), rules=RankRules(ties=ties))
        assert [side.strength.value for side in found.sides] == pytest.approx([0, 0])
        assert {side.place for side in found.sides} == {1}
        assert found.pairs[0].p is None
        assert found.tie_share == 1
        seen = rank_matches(
            [judged("x", "y", f"c{k}", "tie", "tie") for k in range(5)], rules=RankRules(ties=ties)
        )
        assert seen.position_reason == (None if ties == "half" else "every choice is a tie")


def test_modelled_ties_give_their_parameter() -> None:
    """By hand, two items: Davidson's nu is ties over the root of the product of the wins."""
    meetings = met("x", "y", *["a"] * 8, *["b"] * 2, *["tie"] * 4)
    found = rank_matches(meetings, rules=RankRules(ties="davidson"))
    assert found.tie_parameter == pytest.approx(4 / (8 * 2) ** 0.5)
    x, y = (by_name(found)[name].strength.value for name in "xy")
    assert x - y == pytest.approx(log(8 / 2))
    assert rank_matches(meetings, rules=RankRules(ties="rao-kupper")).tie_parameter is not None
    assert rank_matches(meetings).tie_parameter is None


def test_what_is_undecided_is_left_out_and_counted() -> None:
    found = rank_matches(met("x", "y", "a", "b", None, "a"))
    assert (found.n_comparisons, found.n_undecided) == (4, 1)
    assert found.pairs[0].n_undecided == 1
    nothing = rank_matches(met("x", "y", None, None))
    assert nothing.decision.reason == "no comparison is decided"
    assert isnan(nothing.tie_share)


def test_one_case_only_has_no_interval() -> None:
    one = [m._replace(case_id="c") for m in met("x", "y", "a", "b", "a")]
    found = rank_matches(one)
    assert isnan(found.sides[0].strength.low)
    assert found.pairs[0].evidence == "sign"


def test_comparisons_without_a_case_are_cases_of_their_own() -> None:
    found = rank_matches([m._replace(case_id="") for m in met("x", "y", *"aabab")])
    assert (found.n_cases, found.pairs[0].n_cases) == (5, 5)


def test_more_places_are_decided_where_they_are_asked_for() -> None:
    true = {"v1": 2.0, "v2": 0.0, "v3": -2.0}
    meetings = season(np.random.default_rng(5), true, 60)
    found = rank_matches(meetings, rules=RankRules(top=2))
    assert (found.decision.is_decided, found.decision.order) == (True, ("v1", "v2"))
    assert found.decision.reason == "each shown to be better than all below"


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (RankRules(top=2), "the first 2 of 2 places"),
        (RankRules(alpha=1.0), "alpha is 1"),
        (RankRules(ties=cast("Any", "drop")), "no rule for ties is called 'drop'"),
    ],
)
def test_rules_that_do_not_fit_are_refused(rules: RankRules, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        rank_matches(met("x", "y", "a"), rules=rules)


CHOICE = st.sampled_from(["first", "second", "tie"])
MEETINGS = st.lists(
    st.builds(
        lambda pair, case, ab, ba: judged(pair[0], pair[1], f"c{case}", ab, ba),
        st.sampled_from([("x", "y"), ("x", "z"), ("y", "z")]),
        st.integers(0, 4),
        CHOICE,
        CHOICE,
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40)
@given(meetings=MEETINGS, seed=st.integers(0, 99))
def test_neither_the_order_of_rows_nor_which_side_is_called_a_changes_anything(
    meetings: list[MatchResult], seed: int
) -> None:
    shuffled = random.Random(seed).sample(meetings, len(meetings))
    turned = [_turned(m) if k % 2 else m for k, m in enumerate(shuffled)]
    assert repr(rank_matches(turned)) == repr(rank_matches(meetings))


def _turned(m: MatchResult) -> MatchResult:
    """The same told from the other side, and brought into its order again."""
    other: Any = {"a": "b", "b": "a"}
    turned = m._replace(
        a=m.b,
        b=m.a,
        winner=other.get(m.winner, m.winner),
        choices=tuple(("ba" if order == "ab" else "ab", choice) for order, choice in m.choices),
    )
    return canonical_match(turned)


@settings(max_examples=25)
@given(meetings=MEETINGS)
def test_other_names_are_the_same_ranking(meetings: list[MatchResult]) -> None:
    """The law: relabelling sides relabels the result."""
    names = {"x": "k", "y": "c", "z": "q"}
    other = [canonical_match(m._replace(a=names[m.a], b=names[m.b])) for m in meetings]
    there, back = by_name(rank_matches(meetings)), by_name(rank_matches(other))
    for name, side in there.items():
        same = back[names[name]]
        assert same.strength.value == pytest.approx(side.strength.value, abs=1e-7)
        assert (same.best, same.worst) == (side.best, side.worst)


@pytest.mark.no_cover
def test_intervals_cover_and_wrong_orders_are_as_rare_as_they_say() -> None:
    """Seeded: strengths that differ from case to case, so that rows of a case hang together."""
    rng = np.random.default_rng(11)
    even = dict.fromkeys(("v1", "v2", "v3"), 0.0)
    found = [rank_matches(season(rng, even, 20, first=0.4, case_sd=1.0)) for _ in range(150)]
    for name in even:
        assert covers_at_its_level([by_name(one)[name].strength for one in found], 0.0)
    n_wrong = sum(any(pair.stronger for pair in one.pairs) for one in found)
    assert n_wrong <= 150 * 0.05 + 3 * (150 * 0.05 * 0.95) ** 0.5


def test_strata_and_tags_have_their_own_wins_with_a_width() -> None:
    cases = {
        f"c{k}": make_case(id=f"c{k}", stratum=("simple", "complex")[k % 2], tags=("policy",) * k)
        for k in range(3)
    }
    matches = [*met("x", "y", "a", "b", "a", "b"), *met("x", "z", "a", "tie", None)]
    found = with_segments(rank_matches(matches), matches, cases)
    assert list(found.strata) == ["simple", "complex"]
    # c0 and c2: x beats y twice and z once; the comparison with z on c2 is open.
    simple = found.strata["simple"]
    assert (simple.n_cases, simple.win_rates["x"].value, simple.win_rates["y"].value) == (2, 1, 0)
    assert simple.win_rates["x"].low < 0.8
    # c1: x loses to y and ties with z; c3 is a case that nobody described.
    hard = found.strata["complex"]
    assert (hard.n_cases, hard.win_rates["x"].value, hard.win_rates["z"].value) == (1, 0.25, 0.5)
    assert found.tags["policy"].n_cases == 2
    assert list(hard.win_rates) == [side.name for side in found.sides]
    unknown = with_segments(rank_matches(matches), matches, {})
    assert (unknown.strata, unknown.tags) == ({}, {})
