from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.paired_comparisons import comparisons
from judgekit.stats.ranking import bradley_terry, davidson, length_controlled_win_rate, rao_kupper
from tests.stats.simulation import band, covers_at_its_level

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.stats.paired_comparisons import PairResult, Ranking

MODELS: list[Callable[..., Ranking]] = [bradley_terry, davidson, rao_kupper]
COUNT = st.integers(1, 8)
ROUND_ROBIN = st.lists(st.tuples(COUNT, COUNT, COUNT), min_size=3, max_size=3)


def row(i: int, j: int, wins_i: float, wins_j: float, ties: float = 0) -> PairResult:
    return {"i": i, "j": j, "wins_i": wins_i, "wins_j": wins_j, "ties": ties}


def tournament(counts: list[tuple[int, int, int]]) -> list[PairResult]:
    return [row(i, j, *c) for (i, j), c in zip(combinations(range(3), 2), counts, strict=True)]


def test_two_items_differ_by_their_log_odds() -> None:
    found = bradley_terry([row(0, 1, 6, 3)], 2)
    assert found.difference(0, 1).value == pytest.approx(math.log(2))
    assert found.difference(0, 1).se == pytest.approx(math.sqrt(1 / 6 + 1 / 3))
    assert found.elo[0] - found.elo[1] == pytest.approx(400 * math.log10(2))
    assert found.loglik == pytest.approx(6 * math.log(2 / 3) + 3 * math.log(1 / 3))


def test_two_items_with_ties_by_hand() -> None:
    """Davidson 1970: the difference is ln(8/2), nu = 5 / sqrt(16)."""
    found = davidson([row(0, 1, 8, 2, 5)], 2)
    assert found.difference(0, 1).value == pytest.approx(math.log(4))
    assert found.nu == pytest.approx(5 / 4)
    assert found.tie_interval[0] < found.nu < found.tie_interval[1]


def test_a_threshold_of_two_equals_by_hand() -> None:
    """P(tie) = (theta - 1) / (theta + 1): half of all gives 3."""
    found = rao_kupper([row(0, 1, 5, 5, 10)], 2)
    assert found.theta == pytest.approx(3)
    assert found.tie_interval[0] >= 1
    assert found.difference(0, 1).value == pytest.approx(0)


@settings(max_examples=25)
@given(ROUND_ROBIN, st.permutations([0, 1, 2]), st.sampled_from(MODELS))
def test_neither_order_nor_names_of_items_matter(
    counts: list[tuple[int, int, int]], names: list[int], model: Callable[..., Ranking]
) -> None:
    results = tournament(counts)
    once = model(results, 3)
    renamed = [row(names[r["j"]], names[r["i"]], r["wins_j"], r["wins_i"], r["ties"])
               for r in reversed(results)]  # fmt: skip
    again = model(renamed, 3)
    assert [again.ratings[names[k]] for k in range(3)] == pytest.approx(once.ratings, abs=1e-6)
    assert [again.se[names[k]] for k in range(3)] == pytest.approx(once.se, abs=1e-6)
    assert sum(once.ratings) == pytest.approx(0, abs=1e-9)


@settings(max_examples=25)
@given(ROUND_ROBIN)
def test_without_ties_all_models_are_one(counts: list[tuple[int, int, int]]) -> None:
    results = tournament([(a, b, 0) for a, b, _ in counts])
    plain = bradley_terry(results, 3)
    for model in (davidson, rao_kupper):
        found = model(results, 3)
        assert found.ratings == pytest.approx(plain.ratings, abs=1e-6)
        assert found.se == pytest.approx(plain.se, abs=1e-6)
    assert (davidson(results, 3).nu, rao_kupper(results, 3).theta) == (0, 1)


@settings(max_examples=20)
@given(ROUND_ROBIN)
def test_expected_wins_are_those_seen(counts: list[tuple[int, int, int]]) -> None:
    results = tournament(counts)
    found = bradley_terry(results, 3).ratings
    for k in range(3):
        won = sum(r["wins_i"] + r["ties"] / 2 if r["i"] == k else r["wins_j"] + r["ties"] / 2
                  for r in results if k in (r["i"], r["j"]))  # fmt: skip
        games = [(r, r["j"] if r["i"] == k else r["i"]) for r in results if k in (r["i"], r["j"])]
        expected = sum(
            (r["wins_i"] + r["wins_j"] + r["ties"]) / (1 + math.exp(found[other] - found[k]))
            for r, other in games
        )
        assert expected == pytest.approx(won, abs=1e-6)


def test_dropped_ties_leave_the_decisive() -> None:
    assert bradley_terry([row(0, 1, 6, 3, 9)], 2, ties="drop").ratings == pytest.approx(
        bradley_terry([row(0, 1, 6, 3)], 2).ratings
    )


@pytest.mark.parametrize("model", MODELS)
def test_an_item_that_won_everything_gets_a_prior_and_it_is_said(
    model: Callable[..., Ranking],
) -> None:
    found = model([row(0, 1, 10, 0), row(1, 2, 5, 5, 1), row(0, 2, 10, 0)], 3)
    assert math.isfinite(found.ratings[0])
    assert "half a win and half a loss against the mean were added" in (found.note or "")
    assert found.se[0] > 0.5
    clustered = model(
        [row(0, 1, 1, 0), row(1, 2, 1, 0), row(0, 2, 1, 0)], 3, clusters=["x", "y", "z"]
    )
    assert all(se > 0 for se in clustered.se)


@pytest.mark.parametrize("model", MODELS)
def test_groups_that_never_met_are_named(model: Callable[..., Ranking]) -> None:
    found = model([row(0, 1, 6, 3, 1), row(2, 3, 2, 5, 1)], 5)
    assert found.groups == ((0, 1), (2, 3))
    assert "items {0, 1} and {2, 3} never met" in (found.note or "")
    assert "never compared: 4" in (found.note or "")
    assert math.isnan(found.ratings[4])
    across = found.difference(0, 2)
    assert math.isnan(across.value)
    assert across.reason == "no chain of comparisons links items 0 and 2"
    assert found.difference(0, 1).low < found.difference(0, 1).high


def test_an_item_is_as_strong_as_itself() -> None:
    itself = bradley_terry([row(0, 1, 90, 10)], 2).difference(1, 1)
    assert (itself.value, itself.reason) == (0, "an item against itself")


@pytest.mark.parametrize("model", MODELS)
def test_the_first_slot_is_told_from_strength(model: Callable[..., Ranking]) -> None:
    """Each order gives the first slot 8 of 12 and both items are equal: ln(8/4)."""
    found = model([row(0, 1, 8, 4), row(1, 0, 8, 4)], 2, position=True)
    assert found.position is not None
    assert found.position.value == pytest.approx(math.log(2), abs=1e-6)
    assert found.difference(0, 1).value == pytest.approx(0, abs=1e-6)
    assert found.position.low < found.position.value < found.position.high


def test_a_covariate_takes_its_part() -> None:
    """The longer answer wins 8 of 12 whichever item wrote it."""
    results = [row(0, 1, 8, 4), row(0, 1, 4, 8)]
    found = bradley_terry(results, 2, covariates=[[1.0], [-1.0]])
    assert found.covariates[0].value == pytest.approx(math.log(2))
    assert found.difference(0, 1).value == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match="1 rows of covariates"):
        bradley_terry(results, 2, covariates=[[1.0]])
    with pytest.raises(ValueError, match="a covariate is missing"):
        bradley_terry(results, 2, covariates=[[1.0], [math.nan]])


def test_repeats_of_a_prompt_are_no_new_evidence() -> None:
    single = [row(0, 1, 1, 0), row(0, 1, 0, 1), row(0, 1, 1, 0), row(0, 1, 1, 0)]
    once = bradley_terry(single, 2, clusters=[*"wxyz"])
    twice = bradley_terry(single * 2, 2, clusters=[*"wxyz"] * 2)
    assert twice.n == 4
    assert twice.se == pytest.approx(once.se)
    assert twice.se[0] > 1.2 * bradley_terry(single * 2, 2).se[0]
    alone = bradley_terry(single, 2, clusters=["x"] * 4)
    assert math.isnan(alone.se[0])
    assert alone.difference(0, 1).reason == "no variation"


def test_unsound_results_are_refused() -> None:
    with pytest.raises(ValueError, match="two different items"):
        bradley_terry([row(0, 0, 1, 1)], 2)
    with pytest.raises(ValueError, match="negative or missing"):
        bradley_terry([row(0, 1, -1, 1)], 2)
    with pytest.raises(ValueError, match="1 results, but 2 cluster names"):
        bradley_terry([row(0, 1, 1, 1)], 2, clusters=["x", "y"])
    with pytest.raises(ValueError, match="known: half, drop"):
        bradley_terry([row(0, 1, 1, 1)], 2, ties="win")  # type: ignore[arg-type] # tested
    with pytest.raises(NotEnoughDataError, match="no comparison"):
        bradley_terry([row(0, 1, 0, 0)], 2)
    for model in (davidson, rao_kupper):
        with pytest.raises(NotEnoughDataError, match="every comparison is a tie"):
            model([row(0, 1, 0, 0, 5)], 2)


def drawn(rng: np.random.Generator, n: int, tie: float = 0) -> list[PairResult]:
    """Three items of strengths 1, 0, -1, each pair met n times; Davidson's ties."""
    results = []
    for i, j in combinations(range(3), 2):
        up = math.exp((j - i) / 2)
        p = np.array([up, 1 / up, tie]) / (up + 1 / up + tie)
        results.append(row(i, j, *rng.multinomial(n, p).tolist()))
    return results


@pytest.mark.no_cover
@pytest.mark.parametrize("model", [bradley_terry, davidson])
def test_strengths_cover_at_their_level(model: Callable[..., Ranking]) -> None:
    rng = np.random.default_rng(1)
    tie = 0.0 if model is bradley_terry else 0.8
    found = [model(drawn(rng, 40, tie), 3).difference(0, 2) for _ in range(300)]
    assert covers_at_its_level(found, 2)


@pytest.mark.no_cover
def test_rao_kuppers_strengths_cover_at_their_level() -> None:
    rng, theta, found = np.random.default_rng(2), 1.5, []
    for _ in range(300):
        win = [1 / (1 + theta * math.exp(-d)) for d in (0.7, -0.7)]
        counts = rng.multinomial(60, [*win, 1 - sum(win)]).tolist()
        found.append(rao_kupper([row(0, 1, *counts)], 2).difference(0, 1))
    assert covers_at_its_level(found, 0.7)


@pytest.mark.no_cover
def test_strengths_over_prompts_cover_at_their_level() -> None:
    """All three answers to a prompt are compared on shared tastes, so its rows hang together."""
    rng, found, truth = np.random.default_rng(3), [], math.log(3)
    for _ in range(250):
        share = rng.beta(3, 1, 30)
        wins = rng.binomial(4, share)
        results = [row(0, 1, int(w), 4 - int(w)) for w in wins]
        found.append(bradley_terry(results, 2, clusters=list(range(30))).difference(0, 1))
    assert covers_at_its_level(found, truth)


def test_length_is_held_equal() -> None:
    """A is always longer by one of two lengths; wins follow the length, not the answer."""
    rng = np.random.default_rng(7)
    longer = rng.normal(1, 1, 4000)
    won = (rng.random(4000) < 1 / (1 + np.exp(-2 * np.tanh(longer)))).astype(float)
    found = length_controlled_win_rate(won.tolist(), (5 + longer).tolist(), [5.0] * 4000)
    assert found.raw > 0.7
    assert found.low < 0.5 < found.high
    assert "length moves the rate by more than 10 points" in (found.note or "")


def test_the_length_controlled_rate_covers_at_its_level() -> None:
    rng, found = np.random.default_rng(8), []
    names = np.repeat(np.arange(60), 2).tolist()
    for _ in range(300):
        longer = np.repeat(rng.normal(size=60), 2)
        won = (rng.random(120) < 1 / (1 + np.exp(-0.5 - longer / 2))).astype(float)
        found.append(
            length_controlled_win_rate(
                won.tolist(), (9 + longer).tolist(), [9.0] * 120, clusters=names
            )
        )
    assert covers_at_its_level(found, 1 / (1 + math.exp(-0.5)))
    assert found[0].n == 60


def test_lengths_that_cannot_be_controlled_are_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="does not vary"):
        length_controlled_win_rate([1, 0], [5, 5], [5, 5])
    with pytest.raises(NotEnoughDataError, match="outcomes are separated"):
        length_controlled_win_rate([1, 1, 0, 0], [4, 3, 2, 1], [1, 1, 1, 1])
    with pytest.raises(ValueError, match="a score lies outside"):
        length_controlled_win_rate([2, 0], [5, 6], [5, 5])
    with pytest.raises(ValueError, match="have to be equally long"):
        length_controlled_win_rate([1], [5, 6], [5, 5])


def test_items_that_beat_each_other_by_way_of_others_are_one_level() -> None:
    circle = [row(0, 1, 3, 0), row(1, 2, 3, 0), row(2, 0, 3, 0)]
    assert comparisons(circle, 3).levels() == ((0, 1, 2),)
    below = [*circle, row(0, 3, 4, 0), row(3, 4, 0, 0, 2)]
    assert comparisons(below, 5).levels() == ((0, 1, 2), (3, 4))
    assert comparisons(below, 5).is_separated()


@pytest.mark.no_cover
def test_the_advantage_of_the_first_slot_and_the_weight_of_ties_cover() -> None:
    """Two equal items, each shown first: exp(.4) for the slot, nu = .8."""
    rng, slot, ties = np.random.default_rng(9), [], 0
    p = np.array([math.exp(0.2), math.exp(-0.2), 0.8])
    for _ in range(200):
        first, second = rng.multinomial(60, p / p.sum(), 2)
        found = davidson([row(0, 1, *first), row(1, 0, *second)], 2, position=True)
        assert found.position is not None
        slot.append(found.position)
        ties += found.tie_interval[0] <= 0.8 <= found.tie_interval[1]
    assert covers_at_its_level(slot, 0.4)
    assert abs(ties / 200 - 0.95) <= band(200)


def test_lengths_of_two_comparisons_leave_no_interval() -> None:
    """Two points and two coefficients: the curve meets both, whatever the noise."""
    for scores, length_b in (([0.6, 0.5], [1.0, 0.0]), ([0.3, 0.6], [-1.0, 2 / 3])):
        found = length_controlled_win_rate(scores, [0.0, 1.0], length_b)
        assert found.reason == "no variation"
        assert math.isnan(found.low)
    twice = length_controlled_win_rate(
        [0.3, 0.6], [1.0, 5 / 3], [1.0, 4 / 3]
    )  # a variance of -1e-17
    assert twice.reason == "no variation"


def test_comparisons_of_one_prompt_leave_the_controlled_rate_without_an_interval() -> None:
    won, longer = [1, 0, 1, 1, 0, 0, 1, 0], [9, 8, 3, 5, 6, 2, 4, 7]
    found = length_controlled_win_rate(won, longer, [5] * 8, clusters=["a"] * 8)
    assert (found.reason, math.isnan(found.low)) == ("one cluster only", True)


def test_an_item_is_a_whole_number() -> None:
    row: Any = {"i": 0.7, "j": 1, "wins_i": 3, "wins_j": 1, "ties": 0}
    with pytest.raises(ValueError, match="not of two different items"):
        bradley_terry([row], 2)
    whole: list[Any] = [{**row, "i": item} for item in (0.0, 0)]
    assert bradley_terry(whole[:1], 2) == bradley_terry(whole[1:], 2)
