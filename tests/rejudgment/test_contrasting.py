from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import NotEnoughDataError
from judgekit.rejudgment import compare_verdicts
from judgekit.rejudgment.comparison import CriterionAnswer, judged_side
from judgekit.scoring import conclude
from tests.factories import make_criterion, make_failure, make_judgment, make_rubric
from tests.rejudgment.twice import contrasted, side, twice

values = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def test_churn_is_the_share_of_verdicts_that_change() -> None:
    found = contrasted([(1.0, 1.0)] * 6 + [(1.0, 0.5)] * 3 + [(0.0, 1.0)])
    assert found.churn.value == pytest.approx(0.4)
    assert found.churn.low < 0.4 < found.churn.high
    assert (found.old_pass_rate.value, found.new_pass_rate.value) == (0.9, 0.7)
    assert (found.n, found.n_cases, found.n_undecided) == (10, 10, 0)


def test_flips_come_with_the_largest_shift_first() -> None:
    found = contrasted([(1.0, 0.5), (0.0, 1.0), (1.0, 1.0), (0.5, 0.75)])
    assert [(one.case_id, one.shift) for one in found.flips] == [
        ("c1", 1.0), ("c0", -0.5), ("c3", 0.25),
    ]  # fmt: skip


def test_kappa_is_that_of_the_verdicts_beyond_chance() -> None:
    """Worked by hand: po 0.8, pe 0.5, kappa 0.6."""
    found = contrasted([(1.0, 1.0)] * 4 + [(0.0, 0.0)] * 4 + [(1.0, 0.0), (0.0, 1.0)])
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(0.6)


def test_a_criterion_shift_has_its_interval_its_p_and_a_weighted_kappa() -> None:
    found = contrasted([(k % 5 / 4, min(4, k % 5 + 1) / 4) for k in range(20)])
    shift = found.criteria["accuracy"]
    assert shift.shift.value == pytest.approx(0.2)
    assert shift.shift.low > 0
    assert shift.p_adjusted == pytest.approx(shift.shift.p_value)
    assert shift.kappa is not None
    assert shift.kappa.weights == "quadratic"
    assert found.same_rubric


@settings(max_examples=25)
@given(st.lists(st.tuples(values, values), min_size=2, max_size=12))
def test_the_two_judges_turned_round_give_the_mirrored_figures(
    pairs: list[tuple[float, float]],
) -> None:
    """Churn and agreement do not depend on who judged first; shifts change their sign."""
    there = contrasted(pairs)
    back = contrasted([(new, old) for old, new in pairs])
    assert there.churn == back.churn
    assert len(there.flips) == len(back.flips)
    assert there.value is not None
    assert back.value is not None
    assert there.value.value == pytest.approx(-back.value.value)
    assert there.value.low == pytest.approx(-back.value.high)


def test_a_failure_is_in_no_figure_of_verdicts_and_is_counted_on_its_side() -> None:
    found = contrasted([(1.0, 1.0), (1.0, 0.0), (None, 1.0), (1.0, None), (1.0, None)])
    assert (found.n, found.n_undecided) == (5, 3)
    assert found.churn.value == 0.5
    assert (found.old_failures, found.new_failures) == ({"unreadable": 1}, {"unreadable": 2})
    assert found.value is not None
    assert found.value.n == 2


def test_where_nothing_is_decided_on_both_sides_figures_are_undefined() -> None:
    found = contrasted([(None, 1.0), (1.0, None)])
    assert isnan(found.churn.value)
    assert isnan(found.new_pass_rate.value)
    assert (found.kappa, found.value, dict(found.criteria)) == (None, None, {})
    assert found.flips == ()
    assert twice(None, 1.0).shift == 0.0


def test_without_an_output_there_is_nothing_to_contrast() -> None:
    with pytest.raises(NotEnoughDataError, match="no output was judged before"):
        contrasted([])


def test_a_case_counts_once_however_many_outputs_it_has() -> None:
    found = compare_verdicts(
        [twice(1.0, 0.0, "a"), twice(1.0, 0.0, "a", variant="v2"), twice(1.0, 1.0, "b")],
        make_rubric(),
        ((), ()),
        measured="",
        calibration="",
    )
    assert found.churn.value == 0.5
    assert (found.n, found.n_cases) == (3, 2)


def test_scores_between_levels_have_no_kappa() -> None:
    wide = make_rubric(make_criterion("accuracy", scale={"min": 0, "max": 1}))
    assert contrasted([(1.0, 0.5)] * 3, rubric=wide).criteria["accuracy"].kappa is None


def test_a_side_has_the_first_reason_of_each_criterion_and_what_its_replies_cost() -> None:
    rubric = make_rubric("accuracy", "clarity")
    verdict = conclude(
        rubric,
        [
            make_judgment("accuracy", 1.0, rationale="First.", price_usd=0.1),
            make_judgment("accuracy", 0.0, rationale="Again.", price_usd=0.2, repeat=1),
        ],
        [make_failure("clarity", message="no reply", price_usd=0.3)],
    )
    side = judged_side(verdict, passed=None, value=None)
    assert side.criteria["accuracy"].rationale == "First."
    assert side.criteria["accuracy"].value == 0.5
    assert side.criteria["clarity"].rationale == "no reply"
    assert side.price_usd == pytest.approx(0.6)
    assert side.failures == ("unreadable",)
    unheard = judged_side(conclude(rubric, []), passed=None, value=None)
    assert unheard.criteria["accuracy"].rationale is None


def test_a_price_that_is_not_known_makes_the_sum_unknown() -> None:
    known = contrasted([(1.0, 1.0)] * 2)
    assert (known.old_price_usd, known.new_price_usd) == (0.0, 0.0)
    rubric = make_rubric()
    side = judged_side(conclude(rubric, [make_judgment()]), passed=True, value=1.0)
    assert side.price_usd is None
    mixed = compare_verdicts(
        [twice(1.0, 1.0), replace(twice(1.0, 1.0, "d"), old=side)], rubric, ((), ()),
        measured="", calibration="",
    )  # fmt: skip
    assert (mixed.old_price_usd, mixed.new_price_usd) == (None, 0.0)


def test_several_answers_count_as_the_level_nearest_to_what_they_come_to() -> None:
    """A panel's first judge said 5, 5 and 1; all of it together 4, 5 and 1, as the new one says."""
    rubric = make_rubric()
    owns = {"a": (0.7, 5), "b": (1.0, 5), "c": (0.05, 1)}
    pairs = [
        replace(
            twice(1.0, value, case),
            old=side(1.0, criteria={"accuracy": CriterionAnswer(
                value=owns[case][0], raw=owns[case][1], rationale="x", own=owns[case][0], n=2)}),
        )
        for case, value in (("a", 0.75), ("b", 1.0), ("c", 0.0))
    ]  # fmt: skip
    found = compare_verdicts(pairs, rubric, ((), ()), measured="", calibration="")
    kappa = found.criteria["accuracy"].kappa
    assert kappa is not None
    assert kappa.value == 1


def test_criteria_of_a_cases_own_rubric_are_told_too() -> None:
    said = {"polite": CriterionAnswer(value=0.5, raw=3, rationale="x", own=0.5)}
    own = [twice(0.5, 0.5, f"c{n}") for n in range(3)]
    own = [replace(o, old=side(0.5, criteria=said), new=side(0.5, criteria=said)) for o in own]
    rubric = make_rubric()
    found = compare_verdicts(
        [*own, twice(1.0, 1.0, "d")], rubric, ((), ()), measured="", calibration=""
    )
    assert list(found.criteria) == ["accuracy", "polite"]
    assert found.criteria["polite"].kappa is None


def test_strata_and_tags_have_figures_of_their_own() -> None:
    pairs = [
        twice(1.0, 0.5, "c0", stratum="complex", tags=("policy",)),
        twice(1.0, 1.0, "c1", stratum="complex"),
        twice(0.0, 1.0, "c2", stratum="simple", tags=("policy", "edge")),
        twice(0.5, None, "c3", stratum="simple"),
    ]
    fields: dict[str, Any] = {"measured": "the same", "calibration": "uncalibrated"}
    found = compare_verdicts(pairs, make_rubric(), (("old",), ("new",)), **fields)
    assert list(found.strata) == ["simple", "complex"]
    hard = found.strata["complex"]
    assert (hard.n_cases, hard.churn.value, hard.churn.n) == (2, 0.5, 2)
    assert (hard.old_pass_rate.value, hard.new_pass_rate.value) == (1.0, 0.5)
    assert hard.value is not None
    assert hard.value.value == -0.25
    # A case that one judge left open counts as a case, and in no verdict.
    assert (found.strata["simple"].n_cases, found.strata["simple"].churn.n) == (2, 1)
    assert {name: one.n_cases for name, one in found.tags.items()} == {"edge": 1, "policy": 2}
    assert (contrasted([(1.0, 1.0)]).strata, contrasted([(1.0, 1.0)]).tags) == ({}, {})
