from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from judgekit.records import meets_threshold
from judgekit.scoring import conclude
from tests.factories import make_criterion, make_failure, make_judgment, make_rubric

if TYPE_CHECKING:
    from judgekit.records import Criterion, Rubric

NAMES = ("accuracy", "style", "safety")
VALUES = st.floats(0, 1)
WEIGHTS = st.floats(0.01, 100)


@st.composite
def rubrics(draw: st.DrawFn) -> Rubric:
    """Three criteria, weighted, some required, the first with a weight above 0."""
    weights = draw(st.tuples(WEIGHTS, WEIGHTS | st.just(0.0), WEIGHTS))
    made = [
        make_criterion(
            name,
            weight=weight,
            required=draw(st.booleans()),
            pass_value=draw(st.none() | VALUES),
            scale="unit",
        )
        for name, weight in zip(NAMES, weights, strict=True)
    ]
    return make_rubric(*made, pass_threshold=draw(VALUES))


SAID = st.lists(st.tuples(st.sampled_from(NAMES), st.none() | VALUES), max_size=9)
"""Criterion and value of each answer; None is a failure."""


def told(said: list[tuple[str, float | None]]) -> tuple[list[Any], list[Any]]:
    judgments = [make_judgment(name, value) for name, value in said if value is not None]
    return judgments, [make_failure(name) for name, value in said if value is None]


@settings(max_examples=100)
@given(rubrics(), SAID)
def test_the_bounds_enclose_the_value(rubric: Rubric, said: Any) -> None:
    verdict = conclude(rubric, *told(said))
    assert 0 <= verdict.value_low <= verdict.value_high <= 1
    if verdict.value is not None:
        assert verdict.value_low <= verdict.value <= verdict.value_high


@given(rubrics(), st.tuples(VALUES, VALUES, VALUES))
def test_where_nothing_is_missing_the_bounds_are_the_value(rubric: Rubric, values: Any) -> None:
    verdict = conclude(rubric, *told(list(zip(NAMES, values, strict=True))))
    assert verdict.value_low == verdict.value == verdict.value_high
    assert verdict.passed is not None


@settings(max_examples=100)
@given(rubrics(), SAID, st.data())
def test_a_better_judgment_never_lowers_the_value_nor_the_verdict(
    rubric: Rubric, said: Any, data: st.DataObject
) -> None:
    places = [place for place, (_, value) in enumerate(said) if value is not None]
    assume(places)
    place = data.draw(st.sampled_from(places))
    name, value = said[place]
    better = [*said[:place], (name, data.draw(st.floats(value, 1))), *said[place + 1 :]]
    before, after = conclude(rubric, *told(said)), conclude(rubric, *told(better))
    assert after.value_low >= before.value_low - 1e-12
    assert after.value_high >= before.value_high - 1e-12
    assert not (before.passed is True and after.passed is not True)
    assert not (before.passed is not False and after.passed is False)


@settings(max_examples=100)
@given(rubrics(), SAID, st.floats(0.001, 1000))
def test_the_weights_only_count_relative_to_each_other(
    rubric: Rubric, said: Any, factor: float
) -> None:
    scaled = [c.model_copy(update={"weight": c.weight * factor}) for c in rubric.criteria]
    other = conclude(make_rubric(*scaled, pass_threshold=rubric.pass_threshold), *told(said))
    verdict = conclude(rubric, *told(said))
    assert other.value_low == pytest.approx(verdict.value_low, abs=1e-12)
    assert other.value_high == pytest.approx(verdict.value_high, abs=1e-12)
    assert (other.value is None) is (verdict.value is None)


@settings(max_examples=100)
@given(rubrics(), SAID, st.integers(1, 9))
def test_failing_on_the_worst_never_raises_the_lower_bound_nor_passes(
    rubric: Rubric, said: Any, n_lost: int
) -> None:
    worst = sorted((value for _, value in said if value is not None))[:n_lost]
    limit = worst[-1] if worst else -1.0
    lost = [(name, None if value is not None and value <= limit else value) for name, value in said]
    before, after = conclude(rubric, *told(said)), conclude(rubric, *told(lost))
    assert after.value_low <= before.value_low + 1e-12
    assert after.value_high >= before.value_high - 1e-12
    assert not (after.passed is True and before.passed is not True)
    assert not (after.passed is False and before.passed is not False)


@settings(max_examples=100)
@given(rubrics(), SAID, st.randoms(use_true_random=False))
def test_the_order_of_judgments_does_not_matter(rubric: Rubric, said: Any, draw: Any) -> None:
    mixed = draw.sample(said, len(said))
    one, other = conclude(rubric, *told(said)), conclude(rubric, *told(mixed))
    assert (one.passed, one.value, one.criteria) == (other.passed, other.value, other.criteria)


@settings(max_examples=100)
@given(rubrics(), SAID)
def test_a_required_criterion_below_its_threshold_fails_the_output(
    rubric: Rubric, said: Any
) -> None:
    verdict = conclude(rubric, *told([pair for pair in said if pair[1] is not None]))
    if any(c.required and c.passed is False for c in verdict.criteria):
        assert verdict.passed is False


def test_a_required_criterion_fails_an_output_that_is_good_on_the_whole() -> None:
    rubric = make_rubric(make_criterion(weight=9), make_criterion("safety", required=True))
    verdict = conclude(rubric, *told([("accuracy", 1.0), ("safety", 0.5)]))
    assert verdict.value == pytest.approx(0.95)
    assert verdict.required_value == 0.5
    assert verdict.passed is False


def test_a_criterion_may_have_a_threshold_of_its_own() -> None:
    rubric = make_rubric(make_criterion(pass_value=0.4, required=True), pass_threshold=0.3)
    assert conclude(rubric, [make_judgment(value=0.39)]).passed is False
    assert conclude(rubric, [make_judgment(value=0.4)]).passed is True


def test_0_7_reached_by_a_sum_of_floats_is_reached() -> None:
    criteria = [make_criterion(name, weight=0.1) for name in NAMES]
    verdict = conclude(make_rubric(*criteria), *told([(name, 0.7) for name in NAMES]))
    assert verdict.value is not None
    assert verdict.value < 0.7
    assert verdict.passed is True
    assert not meets_threshold(0.7 - 1e-6, 0.7)


def test_a_missing_weighted_criterion_leaves_the_value_open() -> None:
    verdict = conclude(make_rubric(*NAMES), *told([("accuracy", 1.0), ("style", 1.0)]))
    assert verdict.value is None
    assert (verdict.value_low, verdict.value_high) == pytest.approx((2 / 3, 1.0))
    assert verdict.passed is None


def test_a_missing_criterion_without_weight_leaves_only_its_own_verdict_open() -> None:
    rubric = make_rubric(make_criterion(), make_criterion("style", weight=0))
    verdict = conclude(rubric, *told([("accuracy", 1.0), ("style", None)]))
    assert (verdict.value, verdict.passed) == (1.0, True)
    assert (verdict.criteria[1].value, verdict.criteria[1].passed) == (None, None)
    assert verdict.criteria[1].n_failed == 1


def test_where_the_best_that_is_missing_cannot_save_it_the_output_fails() -> None:
    verdict = conclude(make_rubric(*NAMES), *told([("accuracy", 0.0), ("style", 0.0)]))
    assert (verdict.value, verdict.passed) == (None, False)


def test_a_failed_repeat_widens_the_bounds() -> None:
    said = [("accuracy", 1.0), ("accuracy", 1.0), ("accuracy", None)]
    verdict = conclude(make_rubric(pass_threshold=0.9), *told(said))
    assert (verdict.value, verdict.value_low, verdict.value_high) == (1.0, 2 / 3, 1.0)
    assert verdict.passed is None


def test_required_criteria_without_weight_count_alike_in_the_required_value() -> None:
    rubric = make_rubric(
        make_criterion(),
        make_criterion("style", weight=0, required=True),
        make_criterion("safety", weight=0, required=True),
    )
    verdict = conclude(rubric, *told([("accuracy", 1.0), ("style", 1.0), ("safety", 0.8)]))
    assert verdict.required_value == pytest.approx(0.9)


def test_an_output_that_is_an_error_does_not_pass_even_at_threshold_0() -> None:
    verdict = conclude(make_rubric(pass_threshold=0), (), error="timeout", case_id="c", variant="v")
    assert (verdict.passed, verdict.value, verdict.error) == (None, None, "timeout")
    assert (verdict.case_id, verdict.variant, verdict.judgments) == ("c", "v", ())


def test_a_verdict_keeps_what_it_was_drawn_from() -> None:
    rubric = make_rubric("accuracy", "style")
    judgments, failures = told([("accuracy", 0.5), ("style", None)])
    verdict = conclude(rubric, judgments, failures)
    assert (verdict.judgments, verdict.failures) == (tuple(judgments), tuple(failures))
    assert (verdict.rubric, verdict.rubric_fingerprint) == (rubric.name, rubric.fingerprint)
    assert [c.name for c in verdict.criteria] == ["accuracy", "style"]


def test_judgments_of_other_criteria_count_for_nothing() -> None:
    criterion: Criterion = make_criterion()
    verdict = conclude(make_rubric(criterion), *told([("accuracy", 1.0), ("tone", 0.0)]))
    assert verdict.value == 1.0
