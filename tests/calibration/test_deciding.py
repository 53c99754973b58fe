"""Whether a judge may stand in for a person: yes, no, or open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.calibration.agreement import scale_agreement
from judgekit.calibration.substitution import (
    StandIn,
    assess_stand_in,
    combine_stand_ins,
    human_ceiling,
)
from tests.calibration.items import OPTIONS, UNIT, YES_NO, aligned, item, several

if TYPE_CHECKING:
    from judgekit.calibration import AlignedItems, StandInAnswer


def answered(part: AlignedItems) -> StandIn:
    """Whether the judge may stand in for a person."""
    return assess_stand_in(
        part, scale_agreement(part, level=0.95), human_ceiling(part, level=0.95), OPTIONS
    )


def of_three(scores: list[tuple[float, float, float, float]]) -> AlignedItems:
    """Items with a judge and three people."""
    return aligned(*(item(j, *h, case=f"c{k}") for k, (j, *h) in enumerate(scores)))


def test_one_annotator_leaves_the_question_open() -> None:
    found = answered(several([(k % 5 + 1, k % 5 + 1) for k in range(40)]))
    assert found.answer == "open"
    assert "one annotator labelled; two more" in found.reason


def test_a_judge_as_near_as_people_may_stand_in() -> None:
    scores = [
        (k % 5 + 1, k % 5 + 1, k % 5 + 1, min(5, k % 5 + 1 + (k % 7 == 0))) for k in range(60)
    ]
    found = answered(of_three([(float(j), float(a), float(b), float(c)) for j, a, b, c in scores]))
    assert found.answer == "yes"
    assert found.test is not None
    assert found.test.passed


def test_a_judge_further_off_than_people_may_not() -> None:
    scores = [(min(5, k % 5 + 2), k % 5 + 1, k % 5 + 1, k % 5 + 1) for k in range(60)]
    found = answered(of_three([(float(j), float(a), float(b), float(c)) for j, a, b, c in scores]))
    assert found.answer == "no"
    assert "significantly worse than a human" in found.reason


def test_people_at_odds_leave_nothing_to_stand_in_for() -> None:
    scores = [
        (float(k % 5 + 1), float(k % 5 + 1), float((k // 5) % 5 + 1), float((k // 25) % 5 + 1))
        for k in range(125)
    ]
    found = answered(of_three(scores))
    assert found.answer == "open"
    assert "nothing to compare with" in found.reason


def test_slight_agreement_at_best_is_a_no_and_doubtful_agreement_is_open() -> None:
    none = several([(float(k % 5 + 1), float((k // 5) % 5 + 1)) for k in range(250)])
    assert answered(none).answer == "no"
    few = several([(float(k % 5 + 1), float((k // 5) % 5 + 1)) for k in range(30)])
    assert answered(few).answer == "open"
    assert "not distinguishable from chance" in answered(few).reason


def test_several_criteria_are_named_by_their_answers() -> None:
    answers: dict[str, StandInAnswer] = {"a": "yes", "b": "open", "c": "yes"}
    parts = [
        (name, StandIn(answer=answer, reason="r", test=None, why_no_test=None))
        for name, answer in answers.items()
    ]
    found = combine_stand_ins(parts)
    assert (found.answer, found.reason) == ("open", "yes on a, c; inconclusive on b")
    assert combine_stand_ins(parts[:1]) is parts[0][1]


def test_a_judge_that_gives_everything_the_same_score_is_no_stand_in() -> None:
    """Three people who pass nearly all: he who passes all of it agrees with them by chance."""
    people = [(1.0, 1.0, 1.0) if k % 10 else (0.0, 0.0, 0.0) for k in range(60)]
    found = answered(
        aligned(*(item(1, *h, case=f"c{k}") for k, h in enumerate(people)), scale=YES_NO)
    )
    assert found.test is not None
    assert found.test.passed, "by the test alone he would do"
    assert found.answer == "open"
    assert "gives all 60 the same score" in found.reason


def test_outputs_of_few_cases_are_no_proof() -> None:
    """As near as people on sixty outputs, or on six that were copied ten times."""
    scores = [
        (k % 5 + 1, k % 5 + 1, k % 5 + 1, min(5, k % 5 + 1 + (k % 7 == 0))) for k in range(60)
    ]
    alone = [item(j, *h, case=f"c{k}") for k, (j, *h) in enumerate(scores)]
    together_ = [item(j, *h, case=f"c{k // 20}") for k, (j, *h) in enumerate(scores)]
    tests = [answered(aligned(*items)).test for items in (alone, together_)]
    assert tests[0] is not None
    assert tests[1] is not None
    assert max(tests[1].p_values) > 1000 * max(tests[0].p_values) > 0
    assert tests[1].advantage.n == 3
    assert "3 cases: the test has little power" in (tests[1].note or "")


def test_where_a_scale_has_no_levels_concordance_is_named() -> None:
    draw = [((k * 37) % 101 / 100, (k * 61) % 89 / 89) for k in range(120)]
    found = answered(several(draw, scale=UNIT))
    assert "chance: concordance" in found.reason
