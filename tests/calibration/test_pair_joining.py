"""Comparisons against labels: joining, both orders, and what one order can tell."""

from __future__ import annotations

from math import isnan
from typing import Any

import pytest

import judgekit as jk
from judgekit.calibration import OutputKey, PairwiseData
from judgekit.calibration.inputs import OrderedChoice, PairJudgment
from judgekit.calibration.pairs import confidence_of
from judgekit.errors import DatasetError, InputError
from judgekit.records import Preference, PreferenceFailure
from judgekit.scoring import conclude_comparison
from tests.evaluation.labelled import RUBRIC, TWO, comparisons, labels, winners

SIX = {"1": "a", "2": "b", "3": "tie", "4": "first", "5": "open", "6": "a"}
PEOPLE = {"1": "a", "2": "b", "3": "tie", "4": "a", "5": "b", "6": "b"}


def test_both_orders_are_held_against_the_label() -> None:
    """By hand: in order ab right are 1, 2, 3, 4; in order ba 1, 2, 3, and 5 (its first is b)."""
    report = jk.calibrate(comparisons(SIX), winners(PEOPLE))
    found = report.overall.orders
    assert report.kind == "pairwise"
    assert found is not None
    assert found.accuracy_ab.value == pytest.approx(4 / 6)
    assert found.accuracy_ba.value == pytest.approx(4 / 6)
    assert found.accuracy_mean == pytest.approx(4 / 6)
    assert found.accuracy_both.value == pytest.approx(3 / 6)
    assert found.accuracy_usable.value == pytest.approx(8 / 11)
    assert found.reconciled_accuracy.value == pytest.approx(3 / 6)
    assert found.swap_accuracy.value == pytest.approx(4 / 6)
    assert found.position_conflict.value == pytest.approx(2 / 6)
    assert found.n_unusable == 1
    assert found.win_rate_a.value == pytest.approx((2 + 3 * 0.5) / 6)
    assert found.human_win_rate_a.value == pytest.approx((2 + 0.5) / 6)


def test_the_first_place_is_counted_over_both_orders() -> None:
    """By hand: 1, 2 and 6 choose the first once in two, 4 twice, 5 once in one; 3 never."""
    report = jk.calibrate(comparisons(SIX), winners(PEOPLE))
    assert report.overall.orders is not None
    assert report.overall.orders.first_shown.value == pytest.approx(6 / 9)


def test_turning_sides_and_labels_mirrors_the_figures() -> None:
    turned = {"a": "b", "b": "a", "first": "second", "tie": "tie"}
    four = {key: outcome for key, outcome in SIX.items() if outcome != "open"}
    people = {key: PEOPLE[key] for key in four}
    found = jk.calibrate(comparisons(four), winners(people)).overall
    mirrored = jk.calibrate(
        comparisons({k: turned[v] for k, v in four.items()}),
        winners({k: turned[v] for k, v in people.items()}),
    ).overall
    assert found.orders is not None
    assert mirrored.orders is not None
    assert found.agreement.exact.value == mirrored.agreement.exact.value
    assert found.orders.win_rate_a.value == pytest.approx(1 - mirrored.orders.win_rate_a.value)


@pytest.mark.parametrize("winner", ["v1", "A", "a"])
def test_a_winner_is_a_side_or_the_name_of_a_variant(winner: str) -> None:
    report = jk.calibrate(comparisons({"1": "a", "2": "b"}), winners({"1": winner, "2": "v2"}))
    assert report.overall.agreement.exact.value == 1


@pytest.mark.parametrize("winner", ["draw", "tie", "Equal"])
def test_a_tie_has_several_names(winner: str) -> None:
    report = jk.calibrate(comparisons({"1": "tie", "2": "b"}), winners({"1": winner, "2": "b"}))
    assert report.overall.agreement.exact.value == 1


def test_a_score_of_a_half_is_a_tie() -> None:
    report = jk.calibrate(comparisons({"1": "tie", "2": "b"}), labels({"1": 0.5, "2": 0}))
    assert report.overall.agreement.exact.value == 1


@pytest.mark.parametrize("row", [{"winner": "v3"}, {"raw": 4}, {"raw": "good"}])
def test_what_names_no_winner_is_an_error(row: dict[str, Any]) -> None:
    with pytest.raises(DatasetError, match="it names no winner"):
        jk.calibrate(comparisons({"1": "a"}), [{"case_id": "1", "annotator": "Ada", **row}])


def test_a_comparison_has_no_criterion_of_that_name() -> None:
    people = [row | {"criterion": "tone"} for row in winners({"1": "a"})]
    with pytest.raises(InputError, match="the whole was judged; leave `criterion` out"):
        jk.calibrate(comparisons({"1": "a"}), people)


def test_one_order_only_still_decides_and_says_nothing_of_the_other() -> None:
    said = [
        conclude_comparison(
            RUBRIC,
            [Preference(order="ab", choice=choice, rationale="so", case_id=case, confidence=0.9)],
            case_id=case,
        )
        for case, choice in (("1", "first"), ("2", "second"), ("3", "tie"))
    ]
    report = jk.calibrate(said, winners({"1": "a", "2": "a", "3": "tie"}))
    found = report.overall
    assert found.orders is not None
    assert found.agreement.exact.value == pytest.approx(2 / 3)
    assert found.orders.accuracy_ab.value == pytest.approx(2 / 3)
    assert isnan(found.orders.accuracy_ba.value)
    assert isnan(found.orders.position_conflict.value)
    assert found.orders.win_rate_a.value == pytest.approx(0.5)
    assert found.trust is not None
    assert found.trust.n == 2


def test_nothing_usable_in_the_only_order_stays_open() -> None:
    silent = conclude_comparison(
        RUBRIC, [], [PreferenceFailure(order="ab", kind="refusal", message="no")], case_id="1"
    )
    report = jk.calibrate([silent, *comparisons({"2": "a"})], winners({"1": "a", "2": "a"}))
    assert report.overall.n_judge_missing == 1


def test_failures_in_the_only_order_leave_it_open() -> None:
    report = jk.calibrate(comparisons({"1": "open", "2": "a"}), winners({"1": "a", "2": "a"}))
    assert (report.overall.n_items, report.overall.n) == (2, 1)
    assert report.joined.n_judge_failures == 1


def test_criteria_and_the_whole_are_apart() -> None:
    said = [
        conclude_comparison(
            TWO,
            [
                Preference(order=order, choice=choice, rationale="so", criterion=name, case_id="1")
                for name in ("accuracy", "tone")
                for order, choice in (("ab", "first"), ("ba", "second"))
            ],
            case_id="1",
        )
    ]
    people = [*winners({"1": "a"}), *(row | {"criterion": "tone"} for row in winners({"1": "b"}))]
    report = jk.calibrate(said, people)
    assert list(report.criteria) == ["tone"]
    assert report.criteria["tone"].agreement.exact.value == 0
    assert report.overall.agreement.exact.value == 1


def test_an_error_of_the_system_is_no_pair() -> None:
    bad = conclude_comparison(RUBRIC, [], case_id="9", error="timeout")
    report = jk.calibrate([*comparisons({"1": "a"}), bad], winners({"1": "a"}))
    assert report.joined.n_errors == 1
    assert report.joined.n_judged == 1


@pytest.mark.parametrize(
    ("pair", "sure"),
    [
        ({"winner": "a", "confidence": 0.7}, 0.7),
        ({"winner": "tie", "probability": 0.5}, None),
        ({"winner": "b", "probability": 0.2}, 0.8),
        ({"winner": "a", "probability": 0.9}, 0.9),
        ({"winner": "a"}, None),
        (
            {
                "winner": "a",
                "probability": 1.0,
                "choices": (OrderedChoice(order="ab", winner="a"),),
            },
            None,
        ),
        ({"winner": "b", "choices": (OrderedChoice(order="ab", winner="b", share=0.1),)}, 0.9),
    ],
)
def test_confidence_is_how_far_the_winner_is_preferred(
    pair: dict[str, Any], sure: float | None
) -> None:
    known: dict[str, Any] = {"place": OutputKey("1"), "criterion": None, "choices": ()} | pair
    found = confidence_of(PairJudgment(**known))
    assert found is None if sure is None else found == pytest.approx(sure)


def test_token_probabilities_are_turned_with_the_order() -> None:
    said = conclude_comparison(
        RUBRIC,
        [
            Preference(order="ab", choice="first", rationale="so", logprob_first=0.9),
            Preference(order="ba", choice="second", rationale="so", logprob_first=0.3),
        ],
        case_id="1",
    )
    found = jk.calibrate([said], winners({"1": "a"})).overall
    assert found.trust is not None
    assert found.trust.mean_confidence == pytest.approx(0.8)


def test_pairs_of_several_variants_have_to_be_named() -> None:
    pairs = PairwiseData(
        pairs=[
            PairJudgment(place=OutputKey("1", "x::y"), criterion=None, choices=(), winner="a"),
            PairJudgment(place=OutputKey("1", "x::z"), criterion=None, choices=(), winner="b"),
        ]
    )
    with pytest.raises(DatasetError, match="does not name its variant"):
        jk.calibrate(pairs, winners({"1": "a"}))
    people = [row | {"variant": "x::z"} for row in winners({"1": "z"})]
    report = jk.calibrate(pairs, people)
    assert report.overall.agreement.exact.value == 1
    assert report.overall.orders is None


def test_pairs_of_one_case_are_clustered_in_one_order_too() -> None:
    rows = [
        {"case_id": f"c{k}", "variant_a": "x", "variant_b": f"y{n}", "order": "ab",
         "winner": "a" if k % 3 else "b"}
        for k in range(12) for n in range(4)
    ]  # fmt: skip
    people = [
        {"case_id": row["case_id"], "variant": f"x::{row['variant_b']}", "annotator": "Ada",
         "winner": "a"}
        for row in rows
    ]  # fmt: skip
    found = jk.calibrate(rows, people).overall.orders
    assert found is not None
    assert found.win_rate_a.n_clusters == 12
    assert found.win_rate_a.value == pytest.approx(2 / 3)
