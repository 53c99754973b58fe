from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError
from judgekit.evaluation import Choice
from judgekit.models.cache import MemoryCache
from judgekit.records import Output
from judgekit.targets import PromptTarget
from tests.evaluation.plans import COMMAND, MINI, PROMPT, RECORDED, bought, opened, planned, suite

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.datasets import Suite
    from judgekit.models.request import ModelRequest

PANEL = [{"model": MINI}, {"model": "openai/gpt-4.1", "mode": "joint"}]


def asked_of_new(made: Suite) -> list[ModelRequest]:
    """What the variant `new` sends."""
    ready = opened(made)
    target = ready.targets["new"]
    assert isinstance(target, PromptTarget)
    return [target.request(case) for case in ready.cases]


def asked_of_judge(made: Suite, text: str) -> list[ModelRequest]:
    """What the first judge is asked of outputs with a text, case by case."""
    ready = opened(made)
    assert ready.rubric is not None
    judge = ready.judges.judges[0]
    return [
        request
        for case in ready.cases
        for request in judge.requests(case, Output(text=text), ready.rubric)
    ]


def test_a_plan_counts_cases_by_variants_by_repeats(tmp_path: Path) -> None:
    made = suite(tmp_path, PROMPT, COMMAND, settings={"repeats": 3})
    plan = planned(made)
    assert plan.n_answers == 4 * 2 * 3
    assert [(a.variant, a.kind, a.n_answers) for a in plan.answers] == [
        ("new", "prompt", 12),
        ("prog", "command", 12),
    ]
    target, judge = plan.models
    assert (target.role, target.name, target.n_questions, target.likely.calls) == (
        "answers", "new", 12, 12,
    )  # fmt: skip
    assert (judge.role, judge.n_questions, judge.likely.calls) == ("judge", 24 * 2, 24 * 2)


def test_recorded_outputs_are_planned_to_the_question(tmp_path: Path) -> None:
    plan = planned(suite(tmp_path, RECORDED))
    (judge,) = plan.models
    assert (plan.answers[0].n_known, plan.answers[0].text) == (4, None)
    assert (judge.n_questions, judge.n_owned, judge.likely.calls) == (8, 0, 8)
    assert judge.likely.input_tokens == judge.most.input_tokens > 1000
    assert 0 < plan.likely_usd < plan.most_usd < 0.1
    assert plan.has_all_prices


def test_outputs_that_are_not_recorded_are_errors_and_not_judged(tmp_path: Path) -> None:
    made = suite(tmp_path, RECORDED, settings={"repeats": 2})
    plan = planned(made)
    assert (plan.answers[0].n_answers, plan.answers[0].n_errors) == (8, 4)
    assert plan.models[0].n_questions == 8


def test_replies_that_are_owned_are_not_paid_again(tmp_path: Path) -> None:
    made, cache = suite(tmp_path, RECORDED), MemoryCache()
    bought(cache, asked_of_judge(made, "The answer is 0.")[:2])
    before = cache.counts()
    (judge,) = planned(made, cache=cache).models
    assert (judge.n_questions, judge.n_owned, judge.likely.calls) == (8, 2, 6)
    assert judge.saved_usd == pytest.approx(0.02)
    assert (judge.latency_s, judge.n_latencies) == (0.5, 2)
    assert cache.counts() == before


def test_refreshing_pays_for_what_is_owned(tmp_path: Path) -> None:
    made, cache = suite(tmp_path, RECORDED), MemoryCache()
    bought(cache, asked_of_judge(made, "The answer is 0.")[:2])
    (judge,) = planned(made, cache=cache, refresh=True).models
    assert (judge.n_owned, judge.likely.calls) == (0, 8)


def test_an_owned_answer_of_a_prompt_is_judged_as_it_is(tmp_path: Path) -> None:
    made, cache = suite(tmp_path, PROMPT), MemoryCache()
    bought(cache, asked_of_new(made), "Four.")
    bought(cache, asked_of_judge(made, "Four."))
    plan = planned(made, cache=cache)
    target, judge = plan.models
    assert (target.n_owned, target.likely.calls) == (4, 0)
    assert (judge.n_owned, judge.likely.calls) == (8, 0)
    assert plan.answers[0].n_known == 4
    assert plan.seconds == 0
    assert plan.likely_usd == plan.most_usd == 0


def test_an_owned_reply_that_was_filtered_is_not_judged(tmp_path: Path) -> None:
    rows = [{"case_id": "c0", "text": "no", "finish_reason": "content_filter"}]
    (tmp_path / "said.jsonl").write_text("".join(map(json.dumps, rows)), encoding="utf-8")
    plan = planned(suite(tmp_path, PROMPT | {"model": "recorded:said.jsonl"}))
    assert (plan.answers[0].n_known, plan.answers[0].n_errors) == (1, 1)
    assert plan.models[1].n_questions == 2 * 3


def test_a_prompt_that_does_not_fit_a_case_is_an_error_of_the_answer(tmp_path: Path) -> None:
    made = suite(tmp_path, PROMPT)
    (tmp_path / "ask.j2").write_text("{{ variables.name }}", encoding="utf-8")
    plan = planned(made)
    assert plan.answers[0].n_errors == 4
    assert [model.n_questions for model in plan.models] == [0, 0]


def test_answers_that_are_not_known_are_read_at_an_assumed_length(tmp_path: Path) -> None:
    plan = planned(suite(tmp_path, COMMAND))
    assert plan.answers[0].text_source == "assumed"
    (judge,) = plan.models
    assert judge.most.input_tokens - judge.likely.input_tokens == 8 * (1000 - 250)
    assert judge.most.calls == judge.likely.calls == 8


def test_answers_are_assumed_as_long_as_known_ones_of_the_same_variant(tmp_path: Path) -> None:
    made, cache = suite(tmp_path, PROMPT), MemoryCache()
    bought(cache, asked_of_new(made)[:1], "word " * 80)
    (answers,) = planned(made, cache=cache).answers
    assert answers.text is not None
    assert (answers.text_source, answers.text.likely, answers.text.most) == ("owned", 100, 400)


def test_answers_are_assumed_as_long_as_those_of_other_variants(tmp_path: Path) -> None:
    _, answers = planned(suite(tmp_path, RECORDED, COMMAND)).answers
    assert answers.text is not None
    assert (answers.text_source, answers.text.likely) == ("others", 4)
    assert answers.text.most == 1000


def test_a_limit_of_the_reply_bounds_an_answer(tmp_path: Path) -> None:
    limited = PROMPT | {"parameters": {"max_tokens": 100}}
    target, _ = planned(suite(tmp_path, limited)).models
    assert target.likely.output_tokens == target.most.output_tokens == 4 * 100


def test_the_same_prompt_of_two_variants_is_asked_once(tmp_path: Path) -> None:
    first, second, _ = planned(suite(tmp_path, PROMPT, PROMPT | {"id": "newer"})).models
    assert (first.n_questions, second.n_questions) == (4, 0)


def test_without_a_cache_the_same_question_is_asked_again(tmp_path: Path) -> None:
    made = suite(tmp_path, RECORDED, RECORDED | {"id": "older"})
    assert planned(made).models[0].n_questions == 8
    assert planned(made, cache=None).models[0].n_questions == 16


def test_a_cascade_asks_only_its_first_judge_for_sure(tmp_path: Path) -> None:
    rule = {"combine": "cascade", "escalate_below": 0.7}
    cheap, dear = planned(suite(tmp_path, RECORDED, judge=PANEL, panel=rule)).models
    assert (cheap.likely.calls, cheap.most.calls) == (8, 8)
    assert (dear.likely.calls, dear.most.calls) == (0, 4)
    assert dear.likely.price_usd == 0
    assert dear.most.price_usd is not None
    assert dear.most.price_usd > 0


def test_a_panel_asks_every_judge(tmp_path: Path) -> None:
    plan = planned(suite(tmp_path, RECORDED, judge=PANEL))
    assert plan.combine == "mean"
    assert [model.likely.calls for model in plan.models] == [8, 4]


@pytest.mark.parametrize(
    ("judges", "rule", "people"),
    [
        (["human"], None, (8, 8)),
        ([MINI, "human"], None, (8, 8)),
        ([MINI, "human"], {"combine": "cascade", "escalate_below": 0.5}, (0, 8)),
        ([MINI], None, (0, 0)),
    ],
)
def test_questions_for_a_person_are_counted(
    tmp_path: Path, judges: list[str], rule: dict[str, Any] | None, people: tuple[int, int]
) -> None:
    plan = planned(suite(tmp_path, RECORDED, judge=judges, panel=rule))
    assert plan.people == people


def test_assertions_judge_at_no_cost(tmp_path: Path) -> None:
    made = suite(
        tmp_path,
        COMMAND,
        rubric=None,
        judge="heuristic",
        assertions=[{"type": "contains", "value": "4"}],
    )
    plan = planned(made)
    assert plan.judges_by_rule
    assert (plan.models, plan.likely_usd, plan.people) == ((), 0, (0, 0))


def test_answers_that_are_tried_again_count_only_at_most(tmp_path: Path) -> None:
    target, judge = planned(suite(tmp_path, PROMPT, settings={"retry_failed": 2})).models
    assert (target.likely.calls, target.most.calls) == (4, 12)
    assert (judge.likely.calls, judge.most.calls) == (8, 24)


def test_own_prices_of_the_suite_come_first(tmp_path: Path) -> None:
    made = suite(tmp_path, RECORDED, prices={MINI: {"input_usd": 1000, "output_usd": 0}})
    plan = planned(made)
    assert plan.likely_usd == pytest.approx(plan.models[0].likely.input_tokens / 1000)


def test_an_unknown_price_is_not_zero(tmp_path: Path) -> None:
    plan = planned(suite(tmp_path, RECORDED, judge="nobody/knows"))
    assert plan.models[0].likely.price_usd is None
    assert not plan.has_all_prices


@pytest.mark.parametrize(
    ("limit", "said"),
    # Of 0.0031 dollars likely, 0.0098 at most; 0.0141 is set aside before each call.
    [(None, None), (100, "at_most"), (0.02, "likely"), (0.0125, "short"), (1e-6, "short")],
)
def test_a_plan_says_whether_the_money_suffices(
    tmp_path: Path, limit: float | None, said: str | None
) -> None:
    assert planned(suite(tmp_path, RECORDED), max_cost_usd=limit).sufficiency == said


def test_more_cases_than_are_worked_through_are_scaled_up(tmp_path: Path) -> None:
    made = suite(tmp_path, PROMPT, RECORDED, n_cases=40)
    whole, scaled = planned(made), planned(made, most_cases=10)
    assert scaled.is_scaled
    assert not whole.is_scaled
    assert (scaled.n_counted, scaled.n_answers) == (10, 80)
    for part, full in zip(scaled.models, whole.models, strict=True):
        assert part.n_questions == full.n_questions
        assert part.likely.input_tokens == pytest.approx(full.likely.input_tokens, rel=0.02)


def test_a_plan_says_which_cases_are_left_out(tmp_path: Path) -> None:
    cases = [
        {"id": "a", "input": "?", "tags": ["x"]},
        {"id": "b", "input": "?"},
        {"id": "c", "input": "?", "status": "draft"},
        {"id": "d", "input": "?", "status": "deprecated"},
    ]
    found = planned(suite(tmp_path, COMMAND, cases=cases), choice=Choice(tags=("x",))).cases
    assert (found.n_chosen, found.n_filtered, found.n_draft, found.n_deprecated) == (1, 1, 1, 1)


def test_a_plan_of_no_case_says_why(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="4 filtered"):
        planned(suite(tmp_path, COMMAND), choice=Choice(tags=("x",)))


def test_a_case_can_name_a_rubric_of_its_own(tmp_path: Path) -> None:
    cases = [{"id": "a", "input": "?", "rubric": "helpfulness"}, {"id": "b", "input": "?"}]
    plan = planned(suite(tmp_path, COMMAND, cases=cases))
    assert plan.models[0].n_questions == 3 + 2


def test_a_template_that_needs_a_trace_is_shown_one(tmp_path: Path) -> None:
    judge = {"model": MINI, "template": "pointwise/trajectory"}
    assert planned(suite(tmp_path, COMMAND, judge=judge)).models[0].n_questions > 0


def test_an_answer_in_sequence_waits_for_the_one_before(tmp_path: Path) -> None:
    plan = planned(suite(tmp_path, PROMPT, settings={"in_sequence": True}))
    assert plan.in_flight == 1
    assert plan.seconds == pytest.approx(4 * 3 + 4 * 3)


@pytest.mark.parametrize(
    ("judge", "bound", "seconds"),
    [({}, "concurrency", 3), ({"rpm": 4}, "rpm", 120), ({"tpm": 1}, "tpm", None)],
)
def test_a_model_is_asked_as_fast_as_its_limits_allow(
    tmp_path: Path, judge: dict[str, Any], bound: str, seconds: float | None
) -> None:
    made = suite(tmp_path, RECORDED, judge={"model": MINI} | judge)
    (model,) = planned(made).models
    assert model.bound == bound
    assert seconds is None or model.seconds == pytest.approx(seconds)


def test_in_flight_is_what_the_caller_wants(tmp_path: Path) -> None:
    assert planned(suite(tmp_path, COMMAND), in_flight=5).in_flight == 5
