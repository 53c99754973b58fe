from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats as oracle

from judgekit.errors import NotEnoughDataError
from judgekit.stats.replacement import alt_test, ceiling_gap
from tests.stats.rated_items import ACCURACY, SHARES, rated
from tests.stats.simulation import covers_at_its_level

if TYPE_CHECKING:
    from collections.abc import Hashable

Labels = dict["Hashable", "float | None"]


def panel(table: np.ndarray) -> tuple[dict[Hashable, Labels], Labels]:
    """The first columns are humans, the last the judge."""
    humans: dict[Hashable, Labels] = {
        f"h{j}": {i: float(x) for i, x in enumerate(table[:, j])} for j in range(table.shape[1] - 1)
    }
    return humans, {i: float(x) for i, x in enumerate(table[:, -1])}


def test_a_judge_as_good_as_the_raters_passes_with_an_allowance() -> None:
    humans, judge = panel(rated(np.random.default_rng(1), 200, 4))
    found = alt_test(humans, judge, epsilon=0.2)
    assert found.passed
    assert found.winning_rate == 1
    assert found.raters == ("h0", "h1", "h2")
    assert found.advantage.low < found.advantage_probability < found.advantage.high
    assert dict(found.by_epsilon)[0.2] == found.winning_rate


def test_a_judge_who_guesses_does_not_pass() -> None:
    rng = np.random.default_rng(2)
    table = rated(rng, 200, 4)
    table[:, -1] = rng.choice(4, 200, p=SHARES) + 1
    found = alt_test(*panel(table), epsilon=0.1)
    assert not found.passed
    assert found.winning_rate == 0


def test_p_values_are_those_of_a_one_sided_t_test() -> None:
    """Three raters; against each, whose label more of the others share."""
    table = rated(np.random.default_rng(3), 40, 4)
    found = alt_test(*panel(table), epsilon=0.15)
    for j, p in enumerate(found.p_values):
        others = [k for k in range(3) if k != j]
        human = (table[:, [j]] == table[:, others]).mean(axis=1)
        judge = (table[:, [3]] == table[:, others]).mean(axis=1)
        ahead = (human >= judge).astype(float) - (judge >= human)
        assert p == pytest.approx(oracle.ttest_1samp(ahead, 0.15, alternative="less").pvalue)


def test_the_same_labels_as_a_rater_leave_no_doubt() -> None:
    table = rated(np.random.default_rng(4), 40, 3)
    table[:, 1:] = table[:, [0]]
    found = alt_test(*panel(table), epsilon=0.1)
    assert (found.p_values, found.advantage_probability) == ((0.0, 0.0), 1.0)
    assert math.isnan(found.advantage.low)
    assert alt_test(*panel(table), epsilon=0.0).p_values == (1.0, 1.0)


def test_a_rater_with_few_items_is_skipped_but_heard() -> None:
    table = rated(np.random.default_rng(5), 40, 4)
    humans, judge = panel(table)
    humans["h2"] = {i: x for i, x in humans["h2"].items() if int(str(i)) < 10}
    found = alt_test(humans, judge)
    assert found.skipped == ("h2",)
    few_raters = "2 raters: the winning rate has only 3 possible values"
    assert found.note == f"{few_raters}; 40 items: the test has little power"


def test_nearness_on_a_scale_is_by_distance() -> None:
    """On each item the judge is one off, the human two: it holds each time."""
    humans: dict[Hashable, Labels] = {
        "x": dict.fromkeys(range(40), 1),
        "y": dict.fromkeys(range(40), 3),
    }
    found = alt_test(humans, dict.fromkeys(range(40), 2), score="neg_rmse")
    assert found.advantage_probability == 1
    assert alt_test(humans, dict.fromkeys(range(40), 2)).advantage_probability == 1


def test_missing_labels_leave_their_item_out() -> None:
    table = rated(np.random.default_rng(6), 40, 4)
    humans, judge = panel(table)
    judge[0], humans["h0"][1] = None, math.nan
    del judge[2]
    found = alt_test(humans, judge)
    assert found.n == 38
    assert len(found.p_values) == 3


def test_too_few_raters_or_wrong_arguments_are_refused() -> None:
    humans, judge = panel(rated(np.random.default_rng(7), 20, 3))
    with pytest.raises(NotEnoughDataError, match="0 of 2 raters have 30 items"):
        alt_test(humans, judge)
    with pytest.raises(ValueError, match="known: accuracy, neg_rmse"):
        alt_test(humans, judge, score="kappa")  # type: ignore[arg-type] # the error is tested
    with pytest.raises(ValueError, match="epsilon 1"):
        alt_test(humans, judge, epsilon=1)


@pytest.mark.no_cover
def test_the_advantage_covers_at_its_level() -> None:
    rng = np.random.default_rng(8)
    truth = alt_test(*panel(rated(rng, 12_000, 4))).advantage_probability
    found = [alt_test(*panel(rated(rng, 40, 4))).advantage for _ in range(200)]
    assert covers_at_its_level(found, truth)


def test_a_gap_by_hand() -> None:
    """Humans 1, 1, 2: judge 1 agrees with 2 of 3; humans with one another in 2 of 6 pairs."""
    found = ceiling_gap([[1, 1, 2], [3, 3, None]], [1, 2])
    assert (found.judge, found.human) == pytest.approx((1 / 3, 2 / 3))
    assert found.value == pytest.approx((1 / 3 - 1) / 2)


@pytest.mark.parametrize(
    ("metric", "want"), [("within_one", 0), ("neg_absolute", 0.5), ("neg_squared", 1.5)]
)
def test_a_gap_may_count_distance(metric: str, want: float) -> None:
    """Humans 1, 3 and judge 2 (then 1 and 2): one off against two off, each item."""
    found = ceiling_gap([[1, 3], [2, 2]], [2, 2], metric)  # type: ignore[arg-type] # a str
    assert found.value == pytest.approx(want if metric != "within_one" else 0.5)


def test_items_without_two_humans_or_the_judge_are_counted_out() -> None:
    found = ceiling_gap([[1, 1], [1, None], [2, 2], [1, 2]], [1, 1, None, 1])
    assert (found.n, found.n_missing) == (2, 2)


def test_a_constant_gap_has_no_interval() -> None:
    found = ceiling_gap([[1, 1], [2, 2]], [1, 2])
    assert (found.value, found.reason) == (0, "no variation")
    assert math.isnan(found.low)


def test_a_gap_needs_matching_items() -> None:
    with pytest.raises(ValueError, match="1 rows of ratings, but 2 of the judge"):
        ceiling_gap([[1, 1]], [1, 1])
    with pytest.raises(ValueError, match="no metric is called"):
        ceiling_gap([[1, 1]], [1], "kappa")  # type: ignore[arg-type] # the error is tested
    with pytest.raises(NotEnoughDataError, match="no item has ratings of two humans"):
        ceiling_gap([[1, None]], [1])


@pytest.mark.no_cover
def test_the_gap_covers_at_its_level() -> None:
    """A judge who guesses agrees by chance only; the raters by what both know."""
    rng = np.random.default_rng(9)
    chance = float((SHARES**2).sum())
    found = []
    for _ in range(300):
        table = rated(rng, 40, 3)
        found.append(ceiling_gap(table.tolist(), (rng.choice(4, 40, p=SHARES) + 1).tolist()))
    assert covers_at_its_level(found, -(ACCURACY**2) * (1 - chance))


def test_words_have_no_distance() -> None:
    people = {name: {str(i): "good" for i in range(30)} for name in "abc"}
    with pytest.raises(ValueError, match="use the score `accuracy`"):
        alt_test(people, people["a"], score="neg_rmse")  # type: ignore[arg-type] # the error is tested
    assert alt_test(people, people["a"]).winning_rate == 1  # type: ignore[arg-type] # words are fine here


def test_one_item_of_a_rater_is_no_test() -> None:
    with pytest.raises(NotEnoughDataError, match="0 of 2 raters have 2 items"):
        alt_test({"a": {1: 1}, "b": {1: 1}}, {1: 1}, min_items=1)


def test_copies_of_items_in_their_cases_prove_nothing_more() -> None:
    table = rated(np.random.default_rng(9), 40, 4)
    once = alt_test(*panel(table), epsilon=0.15)
    copies: dict[Hashable, Hashable] = {i: i % 40 for i in range(200)}
    many = alt_test(*panel(np.tile(table, (5, 1))), epsilon=0.15, clusters=copies)
    assert many.p_values == pytest.approx(once.p_values)
    assert (many.advantage.low, many.advantage.high) == pytest.approx(
        (once.advantage.low, once.advantage.high)
    )
    assert (many.n, many.advantage.n, many.advantage.method) == (200, 40, "jackknife over cases")
    each = alt_test(*panel(table), epsilon=0.15, clusters={i: i for i in range(40)})
    assert each.p_values == pytest.approx(once.p_values)


def test_items_of_one_case_alone_prove_nothing() -> None:
    table = rated(np.random.default_rng(10), 40, 4)
    found = alt_test(*panel(table), clusters=dict.fromkeys(range(40), "one"))
    assert found.p_values == (1.0, 1.0, 1.0)
    assert math.isnan(found.advantage.low)
