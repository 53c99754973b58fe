from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparing.scores import Scored, compare_scored
from judgekit.records.run import CaseResult, Panel, RunInfo
from tests.evaluation.suites import NOW
from tests.factories import make_case, make_judgment, make_output, make_rubric

if TYPE_CHECKING:
    from judgekit.evaluation.comparing.scores import ScoreComparison

PANEL = Panel(judges=("j",))
RUN = RunInfo(id="r", suite="s", started_at=NOW, rubric=make_rubric(), panel=PANEL)
LABELS = ("new", "old")


def scored(*values: float | None, repeats: int = 1, tags: tuple[str, ...] = ()) -> Scored:
    """A side whose cases c0, c1, … have these values; None is an answer nobody judged."""
    results = [
        CaseResult(
            run_id="r", place=k, case=make_case(id=f"c{k}", tags=["x"] if k % 2 else []),
            variant="v", repeat=repeat, output=make_output(), is_done=True,
            judgments=() if value is None else (make_judgment(value=value, judge="j"),),
        )
        for k, value in enumerate(values)
        for repeat in range(repeats)
    ]  # fmt: skip
    return Scored(results, RUN, tags)


def beside(a: Scored, b: Scored) -> ScoreComparison:
    return compare_scored(a, b, LABELS)


def test_the_side_with_higher_values_on_the_same_cases_is_better() -> None:
    found = beside(scored(*[0.2, 0.3] * 10), scored(*[0.8, 0.7, 0.9, 0.6] * 5))
    assert found.value is not None
    assert found.value.estimate.value == pytest.approx(0.5)
    assert (found.decision.winner, found.value.estimate.n) == ("b", 20)
    assert found.value.effect_size is not None
    assert found.value.effect_size > 2
    assert found.criteria["accuracy"].p_adjusted == found.value.p


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
