from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given, strategies as st

from judgekit.evaluation.suite_plan import ASSUMED_DISCORDANT, ASSUMED_SD, detectable_effects
from judgekit.stats.power import sample_size_mcnemar, sample_size_paired

_Z = 1.959964 + 0.841621


def test_without_an_earlier_run_the_spreads_are_assumed() -> None:
    rate, value = detectable_effects(100)
    assert (rate.measure, rate.spread, rate.is_observed) == ("pass_rate", ASSUMED_DISCORDANT, False)
    assert (value.measure, value.spread, value.is_observed) == ("value", ASSUMED_SD, False)
    assert rate.smallest == pytest.approx(_Z * sqrt(0.3) / 10, rel=1e-4)
    assert value.smallest == pytest.approx(_Z * 0.25 / 10, rel=1e-4)


def test_what_an_earlier_run_says_goes_first() -> None:
    rate, value = detectable_effects(100, discordant=0.1, sd=0.5)
    assert (rate.spread, rate.is_observed) == (0.1, True)
    assert (value.spread, value.is_observed) == (0.5, True)
    assert rate.n_for_sought == sample_size_mcnemar(0.1, 0.05).value
    assert value.n_for_sought == sample_size_paired(0.05, 0.5).value


def test_variants_that_never_differed_say_nothing_of_the_next_ones() -> None:
    assert detectable_effects(100, discordant=0.0, sd=0.0) == detectable_effects(100)


def test_rates_cannot_differ_by_more_than_the_cases_do() -> None:
    (rate, _) = detectable_effects(20)
    assert rate.smallest == pytest.approx(_Z**2 / 20, rel=1e-4)
    assert (rate.smallest or 0) > rate.spread


def test_a_few_cases_can_show_nothing() -> None:
    assert [found.smallest for found in detectable_effects(4, sd=0.9)] == [None, None]


def test_hardly_any_cases_that_differ_still_have_a_size_for_the_sought_difference() -> None:
    (rate, _) = detectable_effects(100, discordant=0.01)
    assert rate.n_for_sought == sample_size_mcnemar(0.05, 0.05).value


@given(st.integers(1, 10**6), st.floats(0.001, 1))
def test_more_cases_never_show_less(n: int, share: float) -> None:
    few, many = (detectable_effects(k, discordant=share)[0].smallest for k in (n, 2 * n))
    assert many is not None or few is None
    assert few is None or (many is not None and many <= few)
