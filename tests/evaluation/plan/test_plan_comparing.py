from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation import ComparisonPlan, OutputPair, plan_comparison
from judgekit.models.cache import MemoryCache
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric
from tests.judge.comparing import prefers

if TYPE_CHECKING:
    from judgekit.records import Output

RUBRIC = make_rubric("accuracy", "clarity")
PER_PAIR = 3 * 2
"""Two criteria and the whole, in both orders."""


def pair(case: str = "a", a: Output | None = None, b: Output | None = None) -> OutputPair:
    return OutputPair(make_case(id=case), a or make_output("Thirty days."), b or make_output("No."))


def planned(*pairs: OutputPair, **settings: object) -> ComparisonPlan:
    return plan_comparison(make_judge(ScriptedModel(prefers()), **settings), pairs, RUBRIC)


def test_every_pair_is_asked_about_in_both_orders_and_nobody_is_asked_now() -> None:
    model = ScriptedModel(prefers(), name="strict")
    judge = make_judge(model, repeats=2)
    plan = plan_comparison(judge, [pair("a"), pair("b")], RUBRIC)
    assert (plan.n_pairs, plan.n_questions, plan.n_calls) == (2, 4 * PER_PAIR, 4 * PER_PAIR)
    assert (plan.model, plan.template) == ("strict", judge.comparer.template.id)
    assert model.requests == []


def test_pairs_alike_and_pairs_with_an_error_cost_nothing() -> None:
    alike = pair("b", make_output("No."))
    failed = pair("c", make_output(None, error="timed out"))
    plan = planned(pair(), alike, failed)
    assert (plan.n_pairs, plan.n_identical, plan.n_skipped) == (3, 1, 1)
    assert plan.n_questions == PER_PAIR


def test_a_pair_turned_round_is_owned_already() -> None:
    cache, model = MemoryCache(), ScriptedModel(prefers())
    judge = make_judge(model, cache=cache)
    judge.compare_sync(make_case(id="a"), make_output("Thirty days."), make_output("No."), RUBRIC)
    turned = pair("a", make_output("No."), make_output("Thirty days."))
    plan = plan_comparison(judge, [turned, pair("b")], RUBRIC)
    assert (plan.n_questions, plan.n_owned) == (2 * PER_PAIR, PER_PAIR)
    anew = plan_comparison(judge, [turned], RUBRIC, refresh=True)
    assert (anew.n_owned, anew.n_calls) == (0, PER_PAIR)


def test_joint_mode_has_the_same_answers_in_fewer_calls() -> None:
    apart, joint = planned(pair()), planned(pair(), mode="joint")
    assert (apart.n_calls, joint.n_calls) == (6, 2)
    assert joint.output_tokens == apart.output_tokens
    assert joint.input_tokens < apart.input_tokens


def test_what_gives_a_side_away_is_planned_as_it_would_be_asked() -> None:
    named = pair("a", make_output("I am Zebra."), make_output("I am Yak."))
    judge = make_judge(ScriptedModel(prefers()))
    plan = plan_comparison(judge, [named], RUBRIC, names=["Zebra", "Yak"])
    assert (plan.n_identical, plan.n_questions) == (1, 0)
