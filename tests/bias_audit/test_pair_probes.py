from __future__ import annotations

from judgekit.bias_audit.consistency import IDENTICAL_PROBE, POSITION_PROBE
from tests.bias_audit.hearing import by_name, chose, heard, many, material
from tests.factories import make_case, make_output


def two_variants() -> tuple[tuple[object, object], ...]:
    case = make_case(id="a")
    return (case, make_output("one", variant="v1")), (case, make_output("two", variant="v2"))


def test_position_needs_two_outputs_of_a_case() -> None:
    assert "no case has two different outputs" in str(
        POSITION_PROBE.plan(material("x", "y")).skipped
    )
    (trial,) = POSITION_PROBE.plan(material(items=two_variants())).trials
    assert (trial.case_id, trial.arms["both"].orders) == ("a", ("ab", "ba"))  # type: ignore[union-attr]


def test_which_output_is_better_cancels_out_and_the_place_stays() -> None:
    better = many(30, both=chose(ab="first", ba="second"))
    place = many(30, both=chose(ab="first", ba="first"))
    fair, leaning = (POSITION_PROBE.find(given, material()) for given in (better, place))
    assert fair.effects[0].estimate.value == 0.0
    assert fair.effects[0].verdict == "none_seen"
    assert leaning.effects[0].estimate.value == 0.5
    assert leaning.effects[0].verdict == "material"
    assert leaning.counts == {
        "pairs": 30, "contradict themselves": 30, "first both times": 30, "second both times": 0,
    }  # fmt: skip


def test_a_judge_who_prefers_the_second_place_leans_below_zero() -> None:
    found = POSITION_PROBE.find(many(30, both=chose(ab="second", ba="second")), material())
    assert found.effects[0].estimate.value == -0.5
    assert found.effects[0].verdict == "material"


def test_a_failed_order_leaves_the_pair_out() -> None:
    given = [*many(3, both=chose(ab="tie", ba="tie")), heard("x", both=chose(ab="first", ba=None))]
    found = POSITION_PROBE.find(given, material())
    assert found.effects[0].estimate.n == 3
    assert found.effects[0].estimate.n_missing == 1
    assert found.counts["pairs"] == 3


def test_an_output_is_shown_beside_itself_once() -> None:
    (trial,) = IDENTICAL_PROBE.plan(material("x")).trials
    ask = trial.arms["same"]
    assert (ask.a, ask.orders) == (ask.b, ("ab",))  # type: ignore[union-attr]


def test_ties_are_counted_and_the_rest_leans_to_a_place() -> None:
    given = [*many(30, same=chose(ab="tie")), *[heard(f"d{n}", same=chose(ab="first"))
                                               for n in range(30)]]  # fmt: skip
    found = IDENTICAL_PROBE.find(given, material())
    effects = by_name(found.effects)
    assert effects["same text twice, no tie"].estimate.value == 0.5
    assert effects["first of the two preferred"].estimate.value == 0.25
    assert {effect.verdict for effect in found.effects} == {"material"}
    assert found.counts == {"ties": 30}


def test_a_failure_is_neither_a_tie_nor_none() -> None:
    found = IDENTICAL_PROBE.find(
        [heard(same=chose(ab=None)), *many(3, same=chose(ab="tie"))], material()
    )
    assert found.effects[0].estimate.n_missing == 1
    assert found.counts == {"ties": 3}


def test_the_choice_on_the_whole_counts_where_criteria_were_chosen_on_too() -> None:
    whole = chose(ab="tie", ba="tie")
    part = tuple(one.model_copy(update={"criterion": "accuracy"}) for one in chose(ab="first"))
    assert heard(both=(*part, *whole)).preferred("both") == 0.5
    assert heard(both=part).first("both", "ab") == 1.0
    assert heard().preferred("both") is None
