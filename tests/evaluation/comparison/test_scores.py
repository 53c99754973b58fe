from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation import SideScores, compare_side_scores
from judgekit.records import CaseResult, RunInfo, RunPanel
from judgekit.stats.paired import PairedProportions
from tests.evaluation.suites import NOW
from tests.factories import make_case, make_judgment, make_output, make_rubric

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.evaluation import ScoreComparison

PANEL = RunPanel(judges=("j",))
RUN = RunInfo(id="r", suite="s", started_at=NOW, rubric=make_rubric(), panel=PANEL)
LABELS = ("new", "old")


def scored(
    *values: float | None, repeats: int = 1, tags: tuple[str, ...] = (), stratum: str | None = None
) -> SideScores:
    """A side whose cases c0, c1, … have these values; None is an answer nobody judged."""
    results = [
        CaseResult(
            run_id="r", place=k, variant="v", repeat=repeat, output=make_output(), is_done=True,
            case=make_case(id=f"c{k}", tags=["x"] if k % 2 else [], stratum=stratum),
            judgments=() if value is None else (make_judgment(value=value, judge="j"),),
        )
        for k, value in enumerate(values)
        for repeat in range(repeats)
    ]  # fmt: skip
    return SideScores(results, RUN, tags)


def beside(a: SideScores, b: SideScores) -> ScoreComparison:
    return compare_side_scores(a, b, LABELS)


def test_the_side_with_higher_values_on_the_same_cases_is_better() -> None:
    found = beside(scored(*[0.2, 0.3] * 10), scored(*[0.8, 0.7, 0.9, 0.6] * 5))
    assert found.value is not None
    assert found.value.estimate.value == pytest.approx(0.5)
    assert (found.decision.winner, found.value.estimate.n) == ("b", 20)
    assert found.value.effect_size is not None
    assert found.value.effect_size > 2
    assert found.criteria["accuracy"].p_adjusted == found.value.p


def test_a_small_gain_on_most_cases_and_a_large_loss_on_few_decide_nothing() -> None:
    a, b = scored(*[0.4] * 20), scored(*[0.45] * 18, *[0.25] * 2)
    found = beside(a, b)
    assert found.value is not None
    assert found.value.p is not None
    assert found.value.p < 0.05
    assert found.value.estimate.low <= 0 < found.value.estimate.high
    assert found.decision.winner is None
    assert found.decision.reason == (
        "a difference of +0.030 over 20 cases may be chance: their interval includes 0 (alpha 0.05)"
    )


def test_the_interval_of_few_cases_has_to_exclude_zero_too() -> None:
    gains = [0.02, 0.01, 0.03, 0.01, 0.02, 0.04]
    found = beside(scored(*[0.4] * 6), scored(*[0.4 + gain for gain in gains]))
    assert found.value is not None
    assert (found.value.test, found.value.p) == ("sign-flip", 0.03125)
    assert found.value.estimate.low <= 0 < found.value.estimate.high
    assert found.decision.winner is None


def long_tail(rng: np.random.Generator, n: int) -> np.ndarray:
    """Differences of log-normal size, as of costs: most are small, few are large."""
    return np.minimum(rng.lognormal(0, 1, n) * 0.05, 1.0)


def even(rng: np.random.Generator, n: int) -> np.ndarray:
    """Differences of two five-level scores."""
    return (rng.integers(0, 5, n) - rng.integers(0, 5, n)) / 4


@pytest.mark.no_cover
@pytest.mark.parametrize("shape", [long_tail, even])
@pytest.mark.parametrize("n", [15, 60])
def test_the_interval_of_a_difference_keeps_its_level(
    shape: Callable[[np.random.Generator, int], np.ndarray], n: int
) -> None:
    rng = np.random.default_rng(5)
    truth, n_runs = float(shape(rng, 1_000_000).mean()), 120
    n_covered = 0
    for _ in range(n_runs):
        values = shape(rng, n)
        # On a side of 0 and one of the differences; half of each keeps them in [0, 1].
        found = beside(sided(0.5 - values / 2), sided(0.5 + values / 2))
        assert found.value is not None
        n_covered += found.value.estimate.low <= truth <= found.value.estimate.high
    # 95 % less three standard errors of 120 runs; the t interval covers 84 to 92 % of long tails.
    assert n_covered >= n_runs * (0.95 - 3 * (0.95 * 0.05 / n_runs) ** 0.5)


def sided(values: np.ndarray) -> SideScores:
    """A side of values that no results need to be made for."""
    side = SideScores([], RUN)
    side.cases = {f"c{k}" for k in range(len(values))}
    side.n_answers.update(side.cases)
    side.contents = dict.fromkeys(side.cases, "")
    side.values = {f"c{k}": [float(value)] for k, value in enumerate(values)}
    return side


def test_a_confidence_sequence_decides_where_it_is_wanted() -> None:
    """At 12 cases a t test already decides; a sequence of so many looks asks for more."""
    few = scored(*[0.2, 0.4] * 6), scored(*[0.3, 0.5, 0.4, 0.6] * 3)
    many = scored(*[0.2, 0.4] * 60), scored(*[0.3, 0.5, 0.4, 0.6] * 30)
    assert beside(*few).decision.winner == "b"
    found, later = (compare_side_scores(*sides, LABELS, anytime=True) for sides in (few, many))
    assert found.anytime is not None
    assert found.anytime.low < 0 < found.anytime.high
    assert (found.decision.winner, found.decision.p) == (None, None)
    assert "may be chance, 95 % confidence sequence [" in found.decision.reason
    assert later.anytime is not None
    assert 0 < later.anytime.low < later.anytime.value == pytest.approx(0.15)
    assert later.decision.winner == "b"
    back = compare_side_scores(many[1], many[0], LABELS, anytime=True)
    assert back.decision.winner == "a"
    assert back.anytime is not None
    assert back.anytime.high == pytest.approx(-later.anytime.low)


def test_a_confidence_sequence_takes_the_cases_as_they_came_and_bounds_still_count() -> None:
    rising = [k / 100 for k in range(100)]
    drifting = compare_side_scores(scored(*[0.0] * 100), scored(*rising), LABELS, anytime=True)
    shuffled = sorted(rising, key=lambda x: x * 7919 % 1)
    mixed = compare_side_scores(scored(*[0.0] * 100), scored(*shuffled), LABELS, anytime=True)
    assert drifting.anytime is not None
    assert mixed.anytime is not None
    assert drifting.anytime.value == pytest.approx(mixed.anytime.value)
    assert drifting.anytime.high < 0.5 < mixed.anytime.high, "the first values bind"
    gaps = scored(*[None] * 200, *[0.4] * 100), scored(*[None] * 200, *[0.6] * 100)
    found = compare_side_scores(*gaps, LABELS, anytime=True)
    assert found.anytime is not None
    assert found.anytime.low > 0
    assert found.decision.winner is None
    assert "the cases without a value could turn it" in found.decision.reason


def test_passing_has_a_confidence_sequence_where_nothing_has_a_value() -> None:
    found = compare_side_scores(scored(None), scored(0.4), LABELS, anytime=True)
    assert found.anytime is None
    assert found.decision.reason == "no case has a score on both sides"


def test_passing_is_compared_by_mcnemar() -> None:
    found = beside(scored(*[1.0] * 8, *[0.0] * 4), scored(*[0.0] * 8, *[0.0] * 4))
    assert found.pass_rate is not None
    assert found.pass_rate.estimate.method == "bonett-price"
    assert found.pass_rate.estimate.value == pytest.approx(-8 / 12)
    assert found.pass_rate.p == pytest.approx(2**-8)
    assert found.decision.winner == "a"


def test_repeats_of_a_case_count_once() -> None:
    once = beside(scored(0.2, 0.4, 0.9, 0.1), scored(0.3, 0.6, 0.9, 0.4))
    thrice = beside(scored(0.2, 0.4, 0.9, 0.1, repeats=3), scored(0.3, 0.6, 0.9, 0.4, repeats=3))
    assert once.value is not None
    assert thrice.value is not None
    assert once.value.p == pytest.approx(thrice.value.p)
    assert thrice.value.estimate.n == 4


def test_what_may_be_chance_says_what_could_be_seen_and_how_many_cases_it_takes() -> None:
    found = beside(scored(0.2, 0.4, 0.9, 0.1), scored(0.3, 0.3, 0.9, 0.4))
    assert found.value is not None
    assert found.value.detectable is not None
    assert found.decision.winner is None
    assert "may be chance" in found.decision.reason
    assert (found.decision.n_to_decide or 0) > 4


def test_the_same_values_are_no_decision() -> None:
    found = beside(scored(0.2, 0.4), scored(0.2, 0.4))
    assert (found.decision.winner, found.decision.reason) == (None, "no case differs")
    assert found.value is not None
    assert (found.value.p, found.value.effect_size, found.value.detectable) == (None, None, None)


def test_only_cases_that_both_answered_count_and_the_others_are_said() -> None:
    found = beside(scored(0.2, 0.4, 0.6), scored(0.3, 0.5))
    assert (found.n_only_a, found.n_only_b) == (1, 0)
    with pytest.raises(NotEnoughDataError, match="no case is answered by both"):
        beside(scored(0.2, 0.4, tags=("x",)), scored(0.2))


def test_without_any_score_nothing_is_decided() -> None:
    found = beside(scored(None, None), scored(0.5, 0.5))
    assert (found.value, found.pass_rate, found.criteria) == (None, None, {})
    assert found.decision.reason == "no case has a score on both sides"


def test_differences_that_balance_have_no_number_of_cases_in_sight() -> None:
    found = beside(scored(0.2, 0.4), scored(0.4, 0.2))
    assert (found.decision.winner, found.decision.n_to_decide) == (None, None)


def test_which_test_decides_hangs_on_the_cases_and_the_others_stand_beside_it() -> None:
    few = beside(scored(0.2, 0.4, 0.9, 0.1), scored(0.3, 0.6, 0.9, 0.4)).value
    many = beside(scored(*[0.2, 0.4] * 10), scored(*[0.3, 0.7, 0.2, 0.5] * 5)).value
    assert few is not None
    assert many is not None
    assert (few.test, many.test) == ("sign-flip", "t")
    assert few.ranks.p_value == pytest.approx(0.25)  # by hand: 2 of the 8 flips of three ranks
    assert few.higher.value == pytest.approx(3.5 / 4)
    assert few.higher.net == pytest.approx(0.75)
    assert many.resampled.low < many.estimate.value < many.resampled.high
    assert few.changed is None


def test_passing_says_how_many_changed_and_both_of_mcnemars_p() -> None:
    found = beside(scored(*[1.0] * 8, *[0.0] * 4), scored(*[0.0] * 7, *[1.0] * 2, *[0.0] * 3))
    assert found.pass_rate is not None
    assert (found.pass_rate.test, found.pass_rate.changed) == ("mcnemar", (7, 1))
    assert isinstance(found.pass_rate.estimate, PairedProportions)
    assert found.pass_rate.estimate.p_exact == pytest.approx(2 * 9 / 256)


@settings(max_examples=20)
@example(values=[(0.0, 0.5), (0.0, 0.5), (0.0, 1.0), (1.0, 0.0), (1.0, 0.5), (1.0, 0.5)])
@given(values=st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=1,
                       max_size=8))  # fmt: skip
def test_sides_turned_round_are_mirrored_exactly(values: list[tuple[float, float]]) -> None:
    a, b = (scored(*side) for side in zip(*values, strict=True))
    there, back = compare_side_scores(a, b, ("x", "y")), compare_side_scores(b, a, ("y", "x"))
    assert there.value is not None
    assert back.value is not None
    assert there.value.p == pytest.approx(back.value.p)
    assert there.value.estimate.value == pytest.approx(-back.value.estimate.value)
    mirrored = -back.value.resampled.high, -back.value.resampled.low
    ours = there.value.resampled.low, there.value.resampled.high
    assert ours == pytest.approx(mirrored, nan_ok=True)
    assert there.value.higher.value == pytest.approx(1 - back.value.higher.value)
    winners = {"a": "b", "b": "a", None: None}
    assert there.decision.winner == winners[back.decision.winner]


def test_missing_values_have_bounds_and_may_keep_a_decision_open() -> None:
    clear = beside(scored(*[0.2] * 20, None), scored(*[0.9] * 21))
    assert clear.bounds == pytest.approx(((20 * 0.7 - 0.1) / 21, (20 * 0.7 + 0.9) / 21))
    assert (clear.n_unscored, clear.n_unscored_a, clear.n_unscored_b) == (1, 1, 0)
    assert clear.decision.winner == "b"
    shaky = beside(scored(*[0.5, 0.6] * 10, *[None] * 5), scored(*[0.6, 0.65] * 10, *[0.5] * 5))
    assert shaky.decision.winner is None
    assert "the cases without a value could turn it" in shaky.decision.reason
    assert beside(scored(0.2), scored(0.3)).bounds is None


def test_the_missing_repeats_of_a_case_have_bounds_as_well() -> None:
    """Of each case one of three repeats has a value, in the first run; 1 in place of the others."""
    few, all_three = scored(*[0.5, 0.6] * 10), scored(*[0.6, 0.7] * 10, repeats=3)
    few.n_answers.update(dict.fromkeys(few.cases, 2))
    found = beside(few, all_three)
    assert found.bounds == pytest.approx((0.65 - (0.55 + 2) / 3, 0.65 - 0.55 / 3))
    assert (found.value is not None, found.n_unscored) == (True, 0)
    assert found.decision.winner is None
    assert "could turn it" in found.decision.reason


def test_tags_and_strata_are_looked_at_apart() -> None:
    found = beside(
        scored(0.2, 0.4, 0.6, None, stratum="complex"),
        scored(0.3, 0.9, 0.5, 0.1, stratum="complex"),
    )
    assert list(found.tags) == ["x"]
    assert found.tags["x"].estimate.n == 1
    assert found.tags["x"].estimate.value == pytest.approx(0.5)
    assert found.strata["complex"].estimate.n == 3
    nobody = beside(scored(0.2, None), scored(0.3, None))
    assert nobody.tags == {}


def test_one_case_decides_nothing() -> None:
    found = beside(scored(0.2), scored(0.9))
    assert found.decision.reason == "a difference of +0.700 over 1 case may be chance (alpha 0.05)"
    assert found.value is not None
    assert found.value.resampled.reason is not None
