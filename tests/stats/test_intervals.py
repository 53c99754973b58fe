from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.stats.intervals import (
    RateMethod,
    clustered_proportion,
    difference_of_proportions,
    mean,
    pooled_proportion,
    proportion,
    rating_mean,
    value_mean,
    wilson,
)
from tests.stats.simulation import band, covers_at_its_level, covers_at_least


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_rate_lies_in_its_interval_and_mirrors(counts: tuple[int, int]) -> None:
    k, n = counts
    rate, mirrored = proportion(k, n), proportion(n - k, n)
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert rate.low < rate.high
    assert rate.low == pytest.approx(1 - mirrored.high)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_exact_interval_holds_the_jeffreys_interval(counts: tuple[int, int]) -> None:
    exact = proportion(*counts, method="clopper-pearson")
    jeffreys = proportion(*counts, method="jeffreys")
    assert exact.low <= jeffreys.low + 1e-12
    assert exact.high >= jeffreys.high - 1e-12


def test_the_bayesian_interval_by_hand() -> None:
    """All of n pass: the posterior Beta(n + 1, 1) has quantile q^(1/(n + 1))."""
    rate = proportion(9, 9, method="uniform")
    assert rate.low == pytest.approx(0.025 ** (1 / 10))
    assert rate.high == 1


def test_missing_outcomes_give_the_worst_and_the_best_rate() -> None:
    rate = proportion(7, 10, n_missing=2)
    assert (rate.value, rate.n, rate.n_missing) == (0.7, 10, 2)
    assert (rate.worst, rate.best) == pytest.approx((7 / 12, 9 / 12))
    assert rate.worst_low == proportion(7, 12).low
    assert rate.best_high == proportion(9, 12).high


def test_with_all_outcomes_missing_anything_is_possible() -> None:
    rate = proportion(0, 0, n_missing=3)
    assert math.isnan(rate.value)
    assert (rate.worst, rate.best) == (0, 1)


def test_an_unknown_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="no interval is called 'wald'"):
        proportion(1, 2, method="wald")  # type: ignore[arg-type] # what is tested


OUTCOMES = st.lists(st.integers(0, 1), min_size=1, max_size=40)


@given(OUTCOMES)
def test_one_outcome_a_case_is_the_wilson_interval(outcomes: list[int]) -> None:
    clustered = clustered_proportion(outcomes, range(len(outcomes)))
    plain = proportion(sum(outcomes), len(outcomes))
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high))
    assert clustered.n == plain.n


@given(OUTCOMES, st.integers(2, 4))
def test_repeats_that_agree_add_no_certainty(outcomes: list[int], times: int) -> None:
    once = clustered_proportion(outcomes, range(len(outcomes)))
    often = clustered_proportion(outcomes * times, [*range(len(outcomes))] * times)
    assert often.value == pytest.approx(once.value)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


@settings(max_examples=80)
@given(OUTCOMES, st.integers(1, 6))
def test_a_clustered_rate_lies_in_its_interval(outcomes: list[int], cases: int) -> None:
    rate = clustered_proportion(outcomes, [place % cases for place in range(len(outcomes))])
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    assert rate.low < rate.high


def test_a_clustered_rate_bounds_what_is_missing() -> None:
    rate = clustered_proportion([1, None, 0, 1], ["a", "a", "b", "c"])
    assert rate.value == pytest.approx(2 / 3)
    assert (rate.worst, rate.best) == pytest.approx((1.5 / 3, 2 / 3))
    assert (rate.n, rate.n_observations, rate.n_missing) == (3, 3, 1)
    assert rate.worst_low <= rate.low
    assert rate.best_high >= rate.high


def test_a_clustered_rate_needs_outcomes() -> None:
    with pytest.raises(NotEnoughDataError, match="no outcomes"):
        clustered_proportion([math.nan], ["a"])
    with pytest.raises(ValueError, match="outcome lies outside"):
        clustered_proportion([2], ["a"])


def test_a_rate_of_no_trials_is_undefined_with_a_reason() -> None:
    rate = proportion(0, 0)
    assert math.isnan(rate.value)
    assert rate.reason == "no trials"


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes of"):
        proportion(k, n)


@pytest.mark.parametrize("level", [0, 1, math.nan])
def test_impossible_levels_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match="confidence level"):
        proportion(1, 2, level=level)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=20))
def test_one_cluster_each_is_the_plain_mean(x: list[float]) -> None:
    plain, clustered = mean(x), mean(x, clusters=list(range(len(x))))
    assert plain.value == clustered.value
    assert plain.se == pytest.approx(clustered.se, nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.integers(2, 4))
def test_repeating_every_case_does_not_fake_certainty(x: list[float], times: int) -> None:
    once = mean(x, clusters=list(range(len(x))))
    repeated = mean(x * times, clusters=list(range(len(x))) * times)
    assert repeated.se == pytest.approx(once.se, nan_ok=True)


def test_a_mean_of_clusters_by_hand() -> None:
    """Clusters {1, 3} and {5, 7}: sums about 4 are -4 and 4, so SE^2 = 32/16 * 2 = 4."""
    estimate = mean([1, 3, 5, 7], clusters=["a", "a", "b", "b"])
    assert (estimate.value, estimate.se, estimate.df) == (4, 2, 1)
    assert (estimate.n, estimate.n_observations, estimate.n_clusters) == (2, 4, 2)
    assert estimate.design_effect == pytest.approx(4 / (20 / 12))
    assert estimate.note == "2 clusters only: the interval is rough"


def test_enough_clusters_need_no_note() -> None:
    assert mean(list(range(10)), clusters=list(range(10))).note is None


def test_a_constant_that_floats_cannot_hold_has_no_interval_either() -> None:
    assert math.isnan(mean([0.1] * 3).low)
    assert math.isnan(mean([0.1, 0.3, 0.1, 0.3], clusters=[1, 1, 2, 2]).low)


def test_a_constant_has_no_interval_and_says_why() -> None:
    estimate = mean([2.0, 2.0, 2.0])
    assert math.isnan(estimate.low)
    assert estimate.reason == "no variation"


def test_a_single_cluster_has_no_interval_and_says_why() -> None:
    estimate = mean([1.0, 2.0], clusters=["a", "a"])
    assert math.isnan(estimate.high)
    assert estimate.reason == "one cluster only"
    assert mean([1.0]).reason == "one observation only"


def test_missing_observations_are_counted_not_averaged() -> None:
    estimate = mean([1.0, math.nan, 3.0])
    assert (estimate.value, estimate.n, estimate.n_missing) == (2.0, 2, 1)


def test_nothing_to_average_is_an_error() -> None:
    with pytest.raises(NotEnoughDataError, match="no observations"):
        mean([math.nan])
    with pytest.raises(NotEnoughDataError, match="no ratings"):
        rating_mean([], [1, 5])


def test_clusters_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="cluster names"):
        mean([1.0], clusters=["a", "b"])


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
def test_a_rating_mean_never_claims_certainty(x: list[float]) -> None:
    estimate = rating_mean(x, [1, 2, 3, 4, 5])
    assert 1 <= estimate.low <= estimate.value <= estimate.high <= 5
    assert estimate.low < estimate.high


def test_a_rating_mean_by_hand() -> None:
    """Two 5s on 1-5: centre 13/3; s^2 = (2 (2/3)^2 + 2 + (4/3)^2) / 2; t(1) = 12.706."""
    estimate = rating_mean([5, 5], [1, 2, 3, 4, 5])
    assert estimate.se == pytest.approx(math.sqrt((8 / 9 + 2 + 16 / 9) / 6))
    assert (estimate.low, estimate.high, estimate.value) == (1, 5, 5)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(1, 3))
def test_repeated_ratings_count_once_a_case(x: list[int], times: int) -> None:
    once = rating_mean(x, range(1, 6))
    often = rating_mean(x * times, range(1, 6), clusters=[*range(len(x))] * times)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert (often.n, often.n_observations) == (len(x), len(x) * times)


def test_a_single_rating_says_nothing() -> None:
    estimate = rating_mean([0.4], [0, 1], continuous=True)
    assert (estimate.low, estimate.high) == (0, 1)


@pytest.mark.parametrize(
    ("x", "scale", "message"), [([6], [1, 5], "outside 1..5"), ([1], [1], "two different points")]
)
def test_a_rating_outside_its_scale_is_refused(
    x: list[float], scale: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        rating_mean(x, scale)


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30), st.integers(1, 30))
def test_a_difference_changes_its_sign_with_the_sides(k1: int, n1: int, k2: int, n2: int) -> None:
    k1, k2 = min(k1, n1), min(k2, n2)
    forth = difference_of_proportions(k1, n1, k2, n2)
    back = difference_of_proportions(k2, n2, k1, n1)
    assert forth.value == pytest.approx(-back.value)
    assert forth.low == pytest.approx(-back.high)


def test_a_difference_without_trials_is_undefined() -> None:
    assert difference_of_proportions(0, 0, 1, 2).reason == "one of the rates has no trials"


def test_the_score_test_goes_with_the_difference() -> None:
    """8 of 10 against 2 of 10: z = .6 / sqrt(.25 * .2) = 2.683."""
    assert difference_of_proportions(8, 10, 2, 10).p_value == pytest.approx(0.0072904, abs=1e-7)
    assert math.isnan(difference_of_proportions(3, 3, 4, 4).p_value)


@pytest.mark.parametrize(
    ("method", "slack"),
    [("wilson", 0.01), ("jeffreys", 0.01), ("uniform", 0.01), ("clopper-pearson", 0.03)],
)
def test_intervals_of_a_rate_cover_at_their_level(method: RateMethod, slack: float) -> None:
    """Exact coverage over all outcomes, averaged over rates."""
    n, rates = 25, [i / 40 for i in range(2, 39)]
    ends = [proportion(k, n, method=method) for k in range(n + 1)]
    covered = [
        sum(
            math.comb(n, k) * rate**k * (1 - rate) ** (n - k)
            for k, e in enumerate(ends)
            if e.low <= rate <= e.high
        )
        for rate in rates
    ]
    assert sum(covered) / len(covered) == pytest.approx(0.95, abs=slack)
    assert method != "clopper-pearson" or min(covered) >= 0.95


def test_the_t_interval_of_clusters_covers_at_its_level() -> None:
    rng, cases, repeats = np.random.default_rng(11), 12, 4
    names = np.repeat(np.arange(cases), repeats).tolist()
    found = []
    for _ in range(600):
        level = rng.normal(2, 1, cases)
        x = np.repeat(level, repeats) + rng.normal(0, 1, cases * repeats)
        found.append(mean(x.tolist(), clusters=names))
    assert covers_at_its_level(found, 2)


def test_repeats_taken_for_cases_would_not_cover() -> None:
    rng, found = np.random.default_rng(12), []
    for _ in range(300):
        x = np.repeat(rng.normal(0, 1, 12), 4) + rng.normal(0, 0.5, 48)
        found.append(mean(x.tolist()))
    assert not covers_at_least(found, 0)


@pytest.mark.parametrize("cases", [8, 30])
def test_the_clustered_rate_covers_at_its_level(cases: int) -> None:
    rng, names = np.random.default_rng(13), np.repeat(np.arange(cases), 3).tolist()
    found = []
    for _ in range(500):
        rates = rng.beta(2.8, 0.7, cases)
        passed = rng.random((cases, 3)) < rates[:, None]
        found.append(clustered_proportion(passed.astype(float).ravel().tolist(), names))
    assert covers_at_its_level(found, 0.8)


@pytest.mark.no_cover
@pytest.mark.parametrize("n", [10, 20, 50])
def test_the_mean_of_ratings_near_the_ceiling_covers_at_its_level(n: int) -> None:
    rng, shares = np.random.default_rng(14), [0.02, 0.02, 0.02, 0.04, 0.90]
    draws = rng.choice(np.arange(1, 6), (500, n), p=shares)
    found = [rating_mean(x, range(1, 6)) for x in draws.tolist()]
    assert covers_at_least(found, 4.78)


def test_the_mean_of_even_ratings_covers_at_its_level() -> None:
    draws = np.random.default_rng(15).integers(1, 6, (600, 25))
    assert covers_at_its_level([rating_mean(x, range(1, 6)) for x in draws.tolist()], 3)


def test_the_difference_of_rates_covers_at_its_level() -> None:
    rng = np.random.default_rng(16)
    pairs = zip(rng.binomial(70, 0.8, 800), rng.binomial(80, 0.6, 800), strict=True)
    found = [difference_of_proportions(int(k1), 70, int(k2), 80) for k1, k2 in pairs]
    assert covers_at_its_level(found, 0.2)
    assert band(800) < 0.025


def test_the_rate_over_all_outcomes_covers_at_its_level() -> None:
    """Cases of one to seven tries: the plain rate of all, by sums of cases."""
    rng, found = np.random.default_rng(12), []
    for _ in range(400):
        sizes = rng.integers(1, 8, 40)
        share = rng.beta(3, 1, 40)
        names = np.repeat(np.arange(40), sizes)
        passed = rng.random(len(names)) < share[names]
        found.append(pooled_proportion(passed.astype(float).tolist(), names.tolist()))
    assert covers_at_its_level(found, 0.75)
    assert found[0].n_clusters == 40


def test_a_pooled_rate_by_hand_and_at_the_ends() -> None:
    found = pooled_proportion([1, 1, 0, None], ["a", "a", "b", "b"])
    assert (found.value, found.n, found.n_clusters, found.n_missing) == (2 / 3, 3, 2, 1)
    assert found.worst_low <= found.low < found.high <= found.best_high
    alike = pooled_proportion([1, 1, 1], ["a", "a", "b"])
    assert (alike.low, alike.high) == wilson(1.0, 2)
    assert pooled_proportion([1, 0], ["a", "a"]).note == "1 cluster only: the interval is rough"
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        pooled_proportion([0.5], ["a"])
    with pytest.raises(NotEnoughDataError, match="no outcomes"):
        pooled_proportion([None], ["a"])


@pytest.mark.parametrize("n", [18, 22, 25])
def test_a_few_zeros_among_good_values_seldom_let_a_mean_pass(n: int) -> None:
    """The lower end is above the true mean in 5 to 7 % of samples with the t interval alone."""
    values, shares = np.array([1.0, 0.75, 0.0]), [0.85, 0.05, 0.1]
    true, rng = values @ shares, np.random.default_rng(5)
    lows = [value_mean(rng.choice(values, n, p=shares).tolist()).low for _ in range(500)]
    assert np.mean(np.array(lows) > true) < 0.035


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 3))
def test_a_mean_of_values_is_at_least_as_wide_as_that_of_ratings(
    x: list[float], times: int
) -> None:
    rows, cases = x * times, [*range(len(x))] * times
    found, mirrored = (value_mean(v, clusters=cases) for v in (rows, [1 - v for v in rows]))
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-9)
    if not set(x) <= {0.0, 1.0}:
        rated = rating_mean(rows, (0.0, 1.0), continuous=True, clusters=cases)
        assert found.low <= rated.low
        assert rated.high <= found.high
