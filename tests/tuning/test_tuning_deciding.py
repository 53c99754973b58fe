from __future__ import annotations

import random
from dataclasses import replace
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING

import pytest

from judgekit.calibration import AlignedItems, JudgedItem, OutputKey
from judgekit.errors import NotEnoughDataError
from judgekit.records import Scale
from judgekit.tuning.results import (
    decide_tuning,
    held_out_contrast,
    held_out_result,
    mean_loss_change,
    rank_candidates,
    squared_losses,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

FIVE = Scale(min=1, max=5, integer=True)


def part(
    judge: Sequence[float | None], people: Sequence[float], name: str = "accuracy",
    scale: Scale = FIVE, per_case: int = 1,
) -> AlignedItems:  # fmt: skip
    """Items of one criterion: what the judge and people gave."""
    items = [
        JudgedItem(
            place=OutputKey(f"c{k // per_case}", f"v{k % per_case}"),
            criterion=name,
            cluster=f"c{k // per_case}",
            judge=said,
            ratings={"Ada": given},
            reasons={},
            groups={},
        )
        for k, (said, given) in enumerate(zip(judge, people, strict=True))
    ]
    return AlignedItems(name=name, scale=scale, threshold=None, items=tuple(items))


def test_a_loss_is_the_squared_distance_on_the_unit_scale() -> None:
    found = squared_losses([part([5, 3, None], [1, 4, 2])])
    assert list(found.values())[:2] == [1.0, 1 / 16]
    assert isnan(list(found.values())[2])


def test_a_gain_counts_a_case_once_and_only_what_both_answered() -> None:
    people = [1.0, 1.0, 1.0, 1.0]
    present = part([5, 5, 3, None], people, per_case=2)
    other = part([1, 1, 3, 1], people, per_case=2)
    assert mean_loss_change([present], [other]) == (-1 + 0) / 2
    assert isnan(mean_loss_change([present], [part([None] * 4, people, per_case=2)]))


def test_the_nearest_comes_first_and_ties_go_to_the_simpler() -> None:
    people = [1.0, 2.0, 3.0]
    by_name = {
        "present": [part([1, 2, 4], people)],
        "same": [part([1, 3, 3], people)],
        "silent": [part([None, None, None], people)],
        "best": [part([1, 2, 3], people)],
        "bad": [part([5, 5, 5], people)],
    }
    assert rank_candidates("present", by_name) == ["best", "present", "same", "bad"]


def test_held_out_figures_by_hand() -> None:
    found = held_out_result("present", [part([5, 3, None, 2], [1, 4, 2, 2])], level=0.95)
    assert found.overall.distance.value == pytest.approx(sqrt((1 + 1 / 16 + 0) / 3))
    assert (found.overall.n_items, found.overall.n_failed) == (4, 1)
    assert found.criteria == ()
    assert 0 <= found.overall.distance.low < found.overall.distance.high <= 1


def test_several_criteria_are_told_together_and_apart() -> None:
    other = part([0.5, 0.1], [0.5, 0.3], "tone", Scale(min=0, max=1))
    found = held_out_result("x", [part([1, 2], [1, 2]), other], level=0.95)
    assert [one.name for one in found.criteria] == ["accuracy", "tone"]
    assert isnan(found.overall.kappa.value)
    assert found.overall.kappa.reason == "the criteria share no scale with levels"
    assert found.criteria[0].kappa.value == 1


def test_a_judge_that_said_nothing_has_no_figures() -> None:
    found = held_out_result("x", [part([None, None], [1, 2])], level=0.95).overall
    assert isnan(found.distance.value)
    assert found.distance.reason == "the judge gave no usable answer"


def people_of(n: int) -> list[float]:
    return [float(k % 5 + 1) for k in range(n)]


def off_by(people: Sequence[float], step: int) -> list[float | None]:
    return [p + step if p + step <= 5 else p - step for p in people]


def test_a_clear_gain_is_better_and_its_mirror_is_worse() -> None:
    people = people_of(30)
    wide, exact = part(off_by(people, 2), people), part([*people], people)
    up, down = (
        held_out_contrast([wide], [exact], level=0.95),
        held_out_contrast([exact], [wide], level=0.95),
    )
    assert (decide_tuning(up), decide_tuning(down)) == ("better", "worse")
    assert up.distance.value == -down.distance.value == pytest.approx(-1 / 4)
    assert up.low == up.high == up.distance.value
    assert up.kappa.value == pytest.approx(-down.kappa.value)


def test_the_same_answers_show_nothing() -> None:
    people = people_of(20)
    same = part([*people], people)
    found = held_out_contrast([same], [same], level=0.95)
    assert decide_tuning(found) == "not_shown"
    assert found.kappa.value == 0


def test_a_gain_that_failures_could_undo_is_open() -> None:
    people = people_of(40)
    near = [*people[:15], *[None] * 25]
    found = held_out_contrast([part(off_by(people, 1), people)], [part(near, people)], level=0.95)
    assert found.distance.high < 0 < found.high
    assert found.low < found.distance.value * 15 / 40
    assert decide_tuning(found) == "open"
    assert found.distance.n_missing == 25


def test_bounds_by_hand() -> None:
    people = [1.0, 3.0, 5.0, 5.0]
    found = held_out_contrast(
        [part([1, None, 5, 5], people)], [part([1, 3, None, 5], people)], level=0.9
    )
    assert found.low == -(1 / 4) / 4  # the present answer could be two off, the chosen one right
    assert found.high == 1 / 4  # and the other way about: four off


def test_nothing_answered_both_ways_is_an_error() -> None:
    one = part([None, 1], [1, 1])
    with pytest.raises(NotEnoughDataError, match="both variants"):
        held_out_contrast([one], [part([1, None], [1, 1])], level=0.95)


def test_kappa_without_spread_has_no_difference() -> None:
    flat = part([3.0] * 12, [3.0] * 12)
    assert isnan(held_out_contrast([flat], [flat], level=0.95).kappa.value)
    line = part([0.25] * 12, [0.5] * 12, scale=Scale(min=0, max=1))
    assert held_out_contrast([line], [line], level=0.95).kappa.reason is not None


def test_an_undefined_p_shows_nothing() -> None:
    people = people_of(20)
    found = held_out_contrast(
        [part(off_by(people, 1), people)], [part([*people], people)], level=0.95
    )
    assert (
        decide_tuning(replace(found, distance=replace(found.distance, p_value=nan))) == "not_shown"
    )


def test_a_judge_that_does_not_mind_the_wording_is_rarely_called_better() -> None:
    """200 tunings of five ways of asking that are alike; `better` needs one side of a 5 % test."""
    rng, unit = random.Random(6), Scale(min=0, max=1)
    n_better = 0
    for _ in range(200):
        people = [rng.random() for _ in range(50)]
        ways = [[min(1.0, max(0.0, p + rng.gauss(0, 0.3))) for p in people] for _ in range(5)]
        training = {
            str(w): [part(said[:30], people[:30], scale=unit)] for w, said in enumerate(ways)
        }
        chosen = int(rank_candidates("0", training)[0])
        if chosen:
            present, best = ([part(ways[w][30:], people[30:], scale=unit)] for w in (0, chosen))
            n_better += decide_tuning(held_out_contrast(present, best, level=0.95)) == "better"
    assert 0 < n_better <= 0.05 * 200
