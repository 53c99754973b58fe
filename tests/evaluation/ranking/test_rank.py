from __future__ import annotations

import pytest

import judgekit as jk
from judgekit.evaluation import Contest, Ranker, RankRules
from judgekit.models import Budget, ModelPrice, PriceTable
from tests.evaluation.pairs import side
from tests.factories import make_case, make_judge, make_output, make_rubric
from tests.judge.comparing import by_order, fair_judge, prefers

CASES = [make_case(id=f"c{k}", input=f"Question {k}?") for k in range(12)]
WORTH = {"gold": 3.0, "silver": 2.0, "tin": 1.0}


def sides(**texts: str) -> dict[str, list[tuple[jk.Case, jk.Output]]]:
    """Sides that always say the same."""
    return {name: [(case, make_output(text)) for case in CASES] for name, text in texts.items()}


THREE = sides(v1="tin", v2="gold", v3="silver")


def test_sides_are_ranked_by_what_a_judge_says_of_every_two() -> None:
    with make_judge(fair_judge(WORTH)) as judge:
        found = jk.rank_sync(judge, THREE, make_rubric())
    assert [one.name for one in found.sides] == ["v2", "v3", "v1"]
    assert found.decision.is_decided
    assert (found.n_comparisons, found.n_cases) == (36, 12)
    assert found.questioned.n_planned == 36
    assert found.questioned.spent is not None
    assert found.questioned.spent.n_replies == 36 * 4


async def test_neither_the_order_of_sides_nor_of_cases_changes_anything() -> None:
    turned = {name: answers[::-1] for name, answers in reversed(THREE.items())}
    with make_judge(fair_judge(WORTH)) as judge:
        there = await jk.rank(judge, THREE, make_rubric(), pairs="adaptive", seed=3)
        back = await jk.rank(judge, turned, make_rubric(), pairs="adaptive", seed=3)
    assert back == there


def test_adaptive_choice_asks_less_and_says_so() -> None:
    with make_judge(fair_judge(WORTH)) as judge:
        found = jk.rank_sync(judge, THREE, make_rubric(), pairs="adaptive")
    assert found.decision.order == ("v2",)
    assert found.questioned.ended == "decided"
    assert found.questioned.is_adaptive
    assert found.n_comparisons < 36
    with make_judge(fair_judge(WORTH)) as judge:
        few = jk.rank_sync(judge, THREE, make_rubric(), max_comparisons=6)
    assert (few.n_comparisons, few.questioned.ended) == (6, "comparisons")


def test_a_failed_order_is_counted_and_decides_nothing() -> None:
    with make_judge(by_order(ab=prefers("first"), ba="I cannot say."), max_reasks=0) as judge:
        found = jk.rank_sync(judge, THREE, make_rubric())
    assert found.questioned.failures == {"unreadable": 72}
    assert found.n_undecided == 36
    assert found.decision.reason == "no comparison is decided"


def test_the_same_text_is_a_tie_without_a_call() -> None:
    with make_judge(fair_judge(WORTH)) as judge:
        found = jk.rank_sync(judge, sides(v1="gold", v2="gold", v3="tin"), make_rubric())
    assert found.n_identical == 12
    assert {one.name: one.place for one in found.sides} == {"v1": 1, "v2": 1, "v3": 3}


def test_an_output_that_is_an_error_is_counted_and_not_judged() -> None:
    given = sides(v1="tin", v2="gold", v3="silver")
    given["v1"][0] = CASES[0], make_output("", error="timed out")
    with make_judge(fair_judge(WORTH)) as judge:
        found = jk.rank_sync(judge, given, make_rubric())
    assert (found.n_comparisons, found.questioned.n_errors) == (34, 2)


def test_where_the_money_ends_nothing_further_is_asked() -> None:
    prices = PriceTable({"fair": ModelPrice(input_usd=0.0, output_usd=0.001)})
    budget = Budget(2.6, prices)
    judge = make_judge(fair_judge(WORTH), budget=budget, prices=prices, max_tokens=100)
    with judge:
        found = jk.rank_sync(judge, THREE, make_rubric())
    assert found.questioned.ended == "cost"
    assert 0 < found.n_comparisons < 36
    assert found.questioned.failures == {}
    assert budget.spent_usd <= 2.6


async def test_stopped_it_finishes_what_was_begun_and_keeps_it() -> None:
    cases = [f"c{k}" for k in range(9)]
    contest = Contest([side(label, *cases) for label in "xyz"])
    worth = {f"{label} {case}": float("xyz".index(label)) for label in "xyz" for case in cases}
    async with make_judge(fair_judge(worth)) as judge:
        ranker = Ranker(judge, contest, make_rubric(), RankRules(), in_flight=2)
        async for comparison in ranker.ask():
            assert comparison.variant_a in {"x", "y"}
            ranker.interrupt()
    found = ranker.summary()
    assert 1 <= found.n_comparisons <= 3
    assert found.questioned.ended == "interrupted"


def test_one_side_alone_is_refused() -> None:
    with (
        make_judge(fair_judge(WORTH)) as judge,
        pytest.raises(jk.SettingsError, match="name two different ones"),
    ):
        jk.rank_sync(judge, sides(v1="tin"), make_rubric())
