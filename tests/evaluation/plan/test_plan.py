from __future__ import annotations

import pytest

from judgekit.errors import TemplateError
from judgekit.evaluation import GradePlan, plan_grading
from judgekit.models import ModelPrice, PriceTable
from judgekit.models.cache import MemoryCache
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric, priced, reply

RUBRIC = make_rubric("accuracy", "clarity")
TWO = [
    (make_case(id="a"), make_output("Thirty days."), RUBRIC),
    (make_case(id="b"), make_output("No."), RUBRIC),
]


def test_a_plan_counts_questions_and_asks_nothing() -> None:
    model = ScriptedModel(reply())
    plan = plan_grading(make_judge(model, repeats=3), TWO)
    assert (plan.n_outputs, plan.n_questions, plan.n_owned, plan.n_calls) == (2, 12, 0, 12)
    assert model.requests == []


def test_a_plan_names_who_is_asked_and_how() -> None:
    judge = make_judge(ScriptedModel(reply(), name="strict"))
    plan = plan_grading(judge, TWO)
    assert plan.model == "strict"
    assert plan.template == judge.template.id


def test_an_output_that_is_an_error_is_counted_and_not_asked_about() -> None:
    failed = (make_case(id="c"), make_output(None, error="timed out"), RUBRIC)
    plan = plan_grading(make_judge(ScriptedModel(reply())), [*TWO, failed])
    assert (plan.n_outputs, plan.n_skipped, plan.n_questions) == (3, 1, 4)


@pytest.mark.parametrize("cache", [MemoryCache(), None])
def test_identical_questions_are_planned_as_they_are_paid_for(cache: MemoryCache | None) -> None:
    model = ScriptedModel(reply())
    judge = make_judge(model, cache=cache)
    plan = plan_grading(judge, [TWO[0], TWO[0]])
    assert (plan.n_outputs, plan.n_calls, plan.n_shared) == (
        (2, 4, 0) if cache is None else (2, 2, 2)
    )
    for grading in (TWO[0], TWO[0]):
        judge.grade_sync(*grading)
    assert len(model.requests) == plan.n_calls


def test_joint_mode_asks_once_an_output_for_more_tokens() -> None:
    apart = plan_grading(make_judge(ScriptedModel(reply())), TWO)
    joint = plan_grading(make_judge(ScriptedModel(reply()), mode="joint"), TWO)
    assert joint.n_questions == 2
    assert joint.output_tokens == apart.output_tokens
    assert joint.input_tokens < apart.input_tokens


def bought() -> tuple[MemoryCache, ScriptedModel]:
    """A cache that owns what was asked about the first output."""
    cache, model = MemoryCache(), ScriptedModel(priced(reply(), 0.002))
    make_judge(model, cache=cache).grade_sync(*TWO[0])
    return cache, model


def test_replies_that_are_owned_cost_nothing_and_say_what_they_saved() -> None:
    cache, model = bought()
    plan = plan_grading(make_judge(model, cache=cache), TWO)
    assert (plan.n_owned, plan.n_calls) == (2, 2)
    assert plan.saved_usd == pytest.approx(0.004)
    assert plan.output_tokens[0] == 2 * 180


def test_where_one_call_is_left_joint_calls_are_counted_for_all_outputs() -> None:
    cache, model = bought()
    plan = plan_grading(make_judge(model, cache=cache, repeats=2), TWO)
    joint = plan_grading(make_judge(ScriptedModel(reply()), mode="joint", repeats=2), TWO)
    assert plan.joint is not None
    assert plan.joint.calls == joint.n_calls < plan.n_calls
    assert plan.joint.input_tokens == joint.input_tokens


def test_joint_calls_are_counted_for_outputs_with_one_criterion_too() -> None:
    single = (*TWO[1][:2], make_rubric("accuracy"))
    plan = plan_grading(make_judge(ScriptedModel(reply())), [TWO[0], single])
    joint = plan_grading(make_judge(ScriptedModel(reply()), mode="joint"), [TWO[0], single])
    assert plan.joint is not None
    assert (plan.n_calls, plan.joint.calls, joint.n_calls) == (3, 2, 2)
    assert plan.joint.input_tokens == joint.input_tokens


def test_where_no_call_is_left_joint_calls_would_be_more() -> None:
    cache, model = bought()
    plan = plan_grading(make_judge(model, cache=cache), [TWO[0]] * 2)
    assert (plan.n_calls, plan.joint) == (0, None)


def test_with_refresh_nothing_counts_as_owned() -> None:
    cache, model = bought()
    plan = plan_grading(make_judge(model, cache=cache), TWO, refresh=True)
    assert (plan.n_owned, plan.n_calls, plan.saved_usd) == (0, 4, 0.0)


def test_a_plan_counts_no_hit_in_the_cache() -> None:
    cache, model = bought()
    before = cache.counts()
    plan_grading(make_judge(model, cache=cache), TWO)
    assert cache.counts() == before


def test_an_unknown_model_has_tokens_but_no_price() -> None:
    plan = plan_grading(make_judge(ScriptedModel(reply())), TWO)
    assert plan.price_usd is None
    assert plan.input_tokens > 500
    assert plan.token_source != "none"


def test_a_known_price_is_that_of_the_tokens() -> None:
    prices = PriceTable({"scripted": ModelPrice(input_usd=1e-6, output_usd=1e-5)})
    judge = make_judge(ScriptedModel(reply()), prices=prices)
    plan = plan_grading(judge, TWO)
    likely, most = plan.output_tokens
    assert plan.price_usd == pytest.approx(
        (plan.input_tokens * 1e-6 + likely * 1e-5, plan.input_tokens * 1e-6 + most * 1e-5)
    )


def test_a_limit_of_the_reply_bounds_what_may_come_back() -> None:
    def planned(max_tokens: int) -> GradePlan:
        judge = make_judge(ScriptedModel(reply()), max_tokens=max_tokens)
        return plan_grading(judge, TWO)

    assert planned(400).output_tokens == (4 * 180, 4 * 400)
    assert planned(50).output_tokens == (4 * 50, 4 * 50)


def test_nothing_to_grade_needs_nothing() -> None:
    plan = plan_grading(make_judge(ScriptedModel(reply())), [])
    assert (plan.n_calls, plan.input_tokens, plan.token_source) == (0, 0, "none")


def test_a_template_that_does_not_fit_is_an_error_before_anything_is_paid() -> None:
    judge = make_judge(ScriptedModel(reply()), template="pointwise/checklist")
    with pytest.raises(TemplateError, match="yes-or-no"):
        plan_grading(judge, TWO)
