from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle  # noqa: TID251 - what Ray, Dask and multiprocessing do with a judge
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import InputError, SettingsError, StoreError, TemplateError, UnknownNameError
from judgekit.judge import Judge
from judgekit.models import Budget
from judgekit.models.cache import MemoryCache
from judgekit.models.pricing import ModelPrice
from judgekit.models.request import ModelReply
from judgekit.testing import FlawedModel, ScriptedModel
from tests.factories import (
    DATA,
    joint_reply,
    make_case,
    make_criterion,
    make_judge,
    make_output,
    make_rubric,
    priced,
    reply,
)
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.models.request import ModelRequest
    from judgekit.records import Rubric, Verdict

RUBRIC = make_rubric("accuracy", "style")


def always(text: str = reply(4), **fields: Any) -> ScriptedModel:
    return ScriptedModel(priced(text, 0.002, **fields))


def grade(judge: Judge, rubric: Rubric | None = None, text: str = "Yes.") -> Verdict:
    return judge.grade_sync(make_case(), make_output(text), rubric or RUBRIC)


def keys(rubric: Rubric, **settings: Any) -> list[str]:
    case = make_case(reference="Within 30 days.")
    requests = make_judge("x/y", **settings).requests(case, make_output(), rubric)
    return [request.key for request in requests]


def test_editing_one_criterion_changes_only_the_key_of_its_request() -> None:
    edited = make_rubric("accuracy", make_criterion("style", question="Is it kind?"))
    before, after = keys(RUBRIC), keys(edited)
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize("mode", ["per_criterion", "joint"])
@pytest.mark.parametrize(
    "change", [{"weight": 5}, {"required": True}, {"pass_value": 0.1}, {"description": "note"}]
)
def test_what_only_decides_the_verdict_changes_no_key(change: dict[str, Any], mode: str) -> None:
    changed = make_rubric(make_criterion(**change), "style", pass_threshold=0.9, name="other")
    assert keys(changed, mode=mode) == keys(RUBRIC, mode=mode)


@pytest.mark.parametrize(
    "settings",
    [{"temperature": 0.5}, {"temperature": None}, {"seed": 1}, {"max_tokens": 9},
     {"mode": "joint"}, {"template": "pointwise/no_reference"}, {"logprobs": True},
     {"parameters": {"top_p": 0.5}}, {"api_base": "http://127.0.0.1/v1"}],
)  # fmt: skip
def test_what_changes_the_question_changes_every_key(settings: dict[str, Any]) -> None:
    assert not set(keys(RUBRIC, **settings)) & set(keys(RUBRIC))


@pytest.mark.parametrize(
    "settings",
    [{"max_concurrency": 1}, {"timeout_s": 5}, {"max_retries": 0}, {"max_reasks": 0}, {"rpm": 5}],
)
def test_how_it_is_asked_changes_no_key(settings: dict[str, Any]) -> None:
    assert keys(RUBRIC, **settings) == keys(RUBRIC)


def test_each_repeat_has_a_key_of_its_own_and_the_first_is_shared() -> None:
    once, thrice = keys(RUBRIC), keys(RUBRIC, repeats=3)
    assert len(set(thrice)) == 6
    assert thrice[:2] == once


def test_an_own_parameter_overrides_a_setting_and_none_is_not_sent() -> None:
    judge = make_judge("x/y", seed=1, parameters={"seed": 2, "top_p": None})
    (request,) = judge.requests(make_case(), make_output(), make_rubric())
    assert request.parameters == {"temperature": 0.0, "seed": 2}


def test_the_second_grading_is_owned_and_keeps_its_price() -> None:
    model, cache = always(), MemoryCache()
    with make_judge(model, cache=cache) as judge:
        first, second = grade(judge).judgments[0], grade(judge).judgments[0]
    assert (first.cached, first.cost_usd, first.price_usd) == (False, 0.002, 0.002)
    assert (second.cached, second.cost_usd, second.price_usd) == (True, 0.0, 0.002)
    assert first.reply_key == second.reply_key is not None
    assert len(model.requests) == 2


def test_changing_weights_and_thresholds_asks_nothing() -> None:
    model, cache = always(), MemoryCache()
    with make_judge(model, cache=cache) as judge:
        before = grade(judge)
        heavier = make_rubric(make_criterion(weight=9, required=True), "style", pass_threshold=1)
        after = grade(judge, heavier)
    assert len(model.requests) == 2
    assert (before.passed, after.passed) == (True, False)
    assert all(judgment.cached for judgment in after.judgments)


def test_a_new_criterion_asks_only_for_itself() -> None:
    model, cache = always(), MemoryCache()
    with make_judge(model, cache=cache) as judge:
        grade(judge)
        grade(judge, make_rubric("accuracy", "style", "safety"))
    assert [r.subject.criterion for r in model.requests] == ["accuracy", "style", "safety"]


def test_a_frozen_miss_is_a_failure_and_nothing_is_asked() -> None:
    model = always()
    with make_judge(model, cache=MemoryCache(), frozen=True) as judge:
        verdict = grade(judge)
    assert [failure.kind for failure in verdict.failures] == ["frozen_miss", "frozen_miss"]
    assert "without --frozen" in verdict.failures[0].message
    assert (verdict.passed, model.requests) == (None, [])


def test_a_frozen_judge_serves_what_is_owned() -> None:
    cache = MemoryCache()
    bought = grade(make_judge(always(), cache=cache))
    with make_judge("scripted", cache=cache, frozen=True) as judge:
        verdict = grade(judge)
    assert verdict.value == bought.value
    assert all(judgment.cached for judgment in verdict.judgments)


def test_a_refusal_is_really_asked_again_although_replies_are_kept() -> None:
    model = ScriptedModel(["I'm sorry, but I can't help with evaluating this.", reply(4)])
    with make_judge(model, cache=MemoryCache()) as judge:
        verdict = grade(judge, make_rubric())
    assert len(model.requests) == 2
    assert verdict.judgments[0].n_calls == 2


def test_an_owned_answer_to_a_second_asking_is_owned_too() -> None:
    model, cache = ScriptedModel(["no idea", reply(4)]), MemoryCache()
    with make_judge(model, cache=cache) as judge:
        first, second = (grade(judge, make_rubric()).judgments[0] for _ in range(2))
    assert len(model.requests) == 2
    assert (first.n_calls, second.n_calls, second.cached) == (2, 2, True)
    assert first.reply_key == second.reply_key


def test_an_output_that_is_an_error_is_not_judged() -> None:
    model = always()
    judge, output = make_judge(model), make_output(None, error="timeout", variant="v1")
    verdict = judge.grade_sync(make_case(), output, RUBRIC)
    assert (verdict.error, verdict.passed, verdict.variant) == ("timeout", None, "v1")
    assert (verdict.judgments, verdict.failures, model.requests) == ((), (), [])
    assert judge.requests(make_case(), output, RUBRIC) == []


def test_an_output_is_never_altered() -> None:
    output = make_output("Yes. ", data={"a": [1]})
    before = output.model_dump_json()
    make_judge(always()).grade_sync(make_case(), output, RUBRIC)
    assert output.model_dump_json() == before


async def test_grade_sync_works_inside_a_running_loop() -> None:
    with make_judge(FlawedModel(1.0)) as judge:
        assert grade(judge).value == 1.0
        assert (await judge.grade(make_case(), make_output(), RUBRIC)).value == 1.0


@pytest.mark.parametrize("cache", [None, MemoryCache()])
def test_one_judge_works_in_several_event_loops(cache: MemoryCache | None) -> None:
    judge = make_judge(FlawedModel(1.0), cache=cache)
    for number in range(3):
        output = make_output(f"answer {number}")
        verdict = asyncio.run(judge.grade(make_case(), output, RUBRIC))
        assert (verdict.value, verdict.failures) == (1.0, ())


def test_one_judge_works_from_many_threads() -> None:
    model = FlawedModel(1.0)
    with make_judge(model, cache=MemoryCache()) as judge, ThreadPoolExecutor(8) as pool:
        verdicts = list(pool.map(lambda n: grade(judge, text=f"answer {n % 8}"), range(40)))
    assert {verdict.value for verdict in verdicts} == {1.0}
    assert len(model.requests) == 16


async def test_many_outputs_are_graded_at_once() -> None:
    judge = make_judge(FlawedModel(0.5), max_concurrency=3)
    outputs = [make_output(f"answer {n}") for n in range(20)]
    verdicts = await asyncio.gather(*(judge.grade(make_case(), o, RUBRIC) for o in outputs))
    assert {verdict.value for verdict in verdicts} == {0.5}


class Nested:
    """A model that asks its judge, in vain."""

    name = "nested"
    judge: Judge

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Ask the judge who is asking."""
        grade(self.judge)
        raise AssertionError(request)


def test_a_judge_that_is_asked_from_inside_itself_fails_and_does_not_hang() -> None:
    model = Nested()
    model.judge = make_judge(model)
    with pytest.raises(InputError, match="from inside the judge's own event loop"):
        grade(model.judge, make_rubric())


def test_an_error_of_the_template_is_raised_as_it_is() -> None:
    judge = make_judge(always(), template="pointwise/checklist")
    with pytest.raises(TemplateError, match="asks yes-or-no questions"):
        grade(judge)


def test_an_error_of_the_cache_is_raised_as_it_is() -> None:
    judge = make_judge(ScriptedModel(StoreError("disk full")))
    with pytest.raises(StoreError, match="disk full"):
        grade(judge)


def test_a_template_says_itself_whether_it_asks_one_or_all() -> None:
    model = ScriptedModel(joint_reply(accuracy=5, style=3))
    judge = make_judge(model, mode="per_criterion", template="pointwise/joint")
    assert [judgment.raw for judgment in grade(judge).judgments] == [5, 3]
    assert judge.id == f"scripted {judge.template.id}"


def test_own_templates_are_looked_up_first(tmp_path: Path) -> None:
    folder = tmp_path / "partials"
    folder.mkdir()
    (folder / "guard.j2").write_text("Be kind.", encoding="utf-8")
    one: Any = str(tmp_path)  # a text is a sequence, too: of letters
    for folders in ([str(tmp_path)], one, tmp_path):
        model = always()
        grade(make_judge(model, template_folders=folders))
        assert "Be kind." in model.requests[0].messages[0]["content"]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"mode": "all"}, "`mode` must be 'per_criterion' or 'joint', not 'all'"),
        ({"repeats": 0}, "`repeats` must be 1 or more, not 0"),
        ({"max_reasks": -1}, "`max_reasks` must be 0 or more, not -1"),
        ({"temperature": -0.1}, "`temperature` must be 0 or more, not -0.1"),
        ({"temperature": float("nan")}, "`temperature` must be 0 or more, not nan"),
        ({"frozen": True}, "frozen needs a cache"),
        ({"frozen": True, "refresh": True, "cache": MemoryCache()}, "choose one of the two"),
    ],
)
def test_a_setting_out_of_its_range_is_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        make_judge("x/y", **settings)


@pytest.mark.parametrize("model", [None, [ScriptedModel("4")], ScriptedModel, lambda _: "4"])
def test_what_is_no_model_is_refused_with_what_one_is(model: Any) -> None:
    with pytest.raises(SettingsError, match="which is no model") as refused:
        make_judge(model)
    assert "`name` and `async complete`" in str(refused.value.hint)


def test_a_model_that_returns_something_else_is_named_in_the_failure() -> None:
    class Careless:
        name = "acme/careless"

        async def complete(self, _request: object) -> Any:
            return "a text"

    failure = grade(make_judge(Careless())).failures[0]
    assert failure.message == "acme/careless returned a str in place of a ModelReply"


def test_rows_and_names_are_refused_by_a_judge_with_what_reads_them() -> None:
    judge, case, output = make_judge(ScriptedModel(reply(4))), make_case(), make_output()
    wrong: Any = "helpfulness"
    with pytest.raises(InputError, match="a str is no Rubric: 'helpfulness'") as refused:
        judge.grade_sync(case, output, wrong)
    assert "jk.load_rubric" in str(refused.value.hint)
    with pytest.raises(InputError, match="a str is no Output"):
        judge.compare_sync(case, output, wrong, make_rubric())


@pytest.mark.parametrize(
    "parameters",
    [
        {"api_key": "s3cr3t-key"},
        {"extra_headers": {"Authorization": "Bearer s3cr3t-key"}},
        {"extra_body": {"route": [{"x-api-key": "s3cr3t-key"}]}},
    ],
)
def test_a_key_among_the_parameters_is_refused_since_replies_are_stored_with_them(
    parameters: dict[str, Any],
) -> None:
    with pytest.raises(SettingsError, match="a key or a password in") as refused:
        make_judge("openai/m", parameters=parameters)
    assert "s3cr3t" not in f"{refused.value}{refused.value.hint}"


def test_parameters_may_speak_of_keys() -> None:
    schema = {"properties": {"password": {"type": "string"}}, "required": ["api_key"]}
    known = {"guided_json": schema, "prompt_cache_key": "suite-1", "stop": ['"api_key":"secret']}
    assert make_judge("openai/m", parameters=known).grader.parameters["stop"] == known["stop"]


def test_an_unknown_template_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean"):
        make_judge("x/y", template="pointwise/joints")


def test_what_is_owned_and_unreadable_is_asked_anew_where_that_is_wanted() -> None:
    cache = MemoryCache()
    assert len(grade(make_judge(always("Fine."), cache=cache)).failures) == 2
    mended = always(reply(5))
    assert len(grade(make_judge(mended, cache=cache)).failures) == 2
    assert mended.requests == []
    verdict = grade(make_judge(mended, cache=cache, refresh="unreadable"))
    assert (verdict.value, verdict.failures) == (1.0, ())
    assert [request.subject.attempt for request in mended.requests] == [0, 0]
    assert verdict.judgments[0].n_calls == 1
    assert grade(make_judge(always(reply(1)), cache=cache, refresh="unreadable")).value == 1.0


def test_what_is_still_unreadable_when_asked_anew_costs_no_more_than_at_first() -> None:
    cache = MemoryCache()
    grade(make_judge(always("Fine."), cache=cache))
    model = always("Good.")
    assert len(grade(make_judge(model, cache=cache, refresh="unreadable")).failures) == 2
    assert len(model.requests) == 6


def test_refresh_asks_anew_what_is_owned() -> None:
    cache = MemoryCache()
    grade(make_judge(always(reply(1)), cache=cache))
    verdict = grade(make_judge(always(reply(5)), cache=cache, refresh=True))
    assert (verdict.value, verdict.judgments[0].cached) == (1.0, False)
    assert grade(make_judge(always(reply(3)), cache=cache)).value == 1.0


class Closing(ScriptedModel):
    """Counts how often it was closed."""

    n_closed = 0

    async def aclose(self) -> None:
        """Count."""
        self.n_closed += 1


async def test_closing_a_judge_closes_the_model_inside() -> None:
    model = Closing(reply(4))
    async with make_judge(model) as judge:
        await judge.grade(make_case(), make_output(), RUBRIC)
    assert model.n_closed == 1


def test_closing_a_judge_that_graded_in_its_own_loop_closes_the_model_there() -> None:
    model = Closing(reply(4))
    with make_judge(model) as judge:
        grade(judge)
    judge.close()
    assert model.n_closed == 1


def test_a_cache_that_was_handed_in_stays_open_and_a_folder_is_closed(tmp_path: Path) -> None:
    cache = MemoryCache()
    with make_judge(always(), cache=cache) as judge:
        grade(judge)
    assert len(cache) == 2
    with make_judge(always(), cache=tmp_path / "cache") as judge:
        grade(judge)
    with make_judge("scripted", cache=str(tmp_path / "cache"), frozen=True) as judge:
        assert grade(judge).value == 0.75
    judge.close()


def test_a_judge_that_is_forgotten_closes_what_it_opened() -> None:
    model = Closing(reply(4))
    judge = make_judge(model)
    grade(judge)
    del judge
    gc.collect()
    assert model.n_closed == 1


AT_EXIT = """
from tests.factories import *
from judgekit.testing.fake_models import ScriptedModel
class Closing(ScriptedModel):
    async def aclose(self):
        print("closed")
judge = make_judge(Closing(reply(4)))
print(judge.grade_sync(make_case(), make_output(), make_rubric()).value)
"""


def test_a_judge_that_is_still_open_at_the_end_is_closed_in_peace() -> None:
    root = DATA.parents[1]
    ran = subprocess.run(
        [sys.executable, "-c", AT_EXIT], cwd=root, capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("0.75\nclosed\n", "")


def test_recorded_replies_are_a_judge(tmp_path: Path) -> None:
    rows = tmp_path / "replies.jsonl"
    row = {"case_id": "refund", "text": reply(5)}
    rows.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with Judge(f"recorded:{rows}") as judge:
        verdict = grade(judge)
    assert verdict.value == 1.0
    assert (
        judge.connection.cached_reply(judge.requests(make_case(), make_output(), RUBRIC)[0])
        is not None
    )


@pytest.mark.parametrize("n_cut", [1, 2])
def test_what_a_retry_obtained_is_not_paid_for_again(n_cut: int) -> None:
    cut = ModelReply(text='{"rationale": "It was', finish_reason="length")
    model, cache = ScriptedModel([*[cut] * n_cut, reply(4)]), MemoryCache()
    case, output, rubric = make_case(), make_output(), make_rubric("accuracy")
    first = Judge(model, cache=cache).grade_sync(case, output, rubric)
    frozen = Judge(model, cache=cache, frozen=True).grade_sync(case, output, rubric)
    assert [one.raw for one in frozen.judgments] == [one.raw for one in first.judgments] == [4]
    assert frozen.judgments[0].cached
    assert frozen.judgments[0].cost_usd == 0
    assert len(model.requests) == n_cut + 1


def test_a_rejected_reply_is_fetched_again_where_no_retry_succeeded() -> None:
    cut = ModelReply(text='{"rationale": "It was', finish_reason="length")
    model, cache = ScriptedModel([cut, cut, cut, reply(4)]), MemoryCache()
    case, output, rubric = make_case(), make_output(), make_rubric("accuracy")
    assert Judge(model, cache=cache).grade_sync(case, output, rubric).failures
    again = Judge(model, cache=cache).grade_sync(case, output, rubric)
    assert [one.raw for one in again.judgments] == [4]


def test_a_pickled_judge_is_made_anew_from_its_settings_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel-sentinel")
    with OpenAILikeServer(ok(reply(4))) as server:
        settings: dict[str, Any] = {"api_base": server.url, "cache": tmp_path, "temperature": 0.5}
        judge = Judge("openai/m", repeats=2, **settings)
        verdict = grade(judge)
        packed = pickle.dumps(judge)
        again = grade(pickle.loads(packed))  # noqa: S301 - packed here
    assert b"sentinel" not in packed
    assert server.n_requests == len(verdict.judgments) == 4
    assert {one.raw for one in again.judgments} == {4}
    assert all(one.cached for one in again.judgments)


def test_a_judge_with_an_open_cache_is_not_pickled_and_its_copy_shares_it() -> None:
    model = ScriptedModel(reply(4))
    judge = Judge(model, cache=MemoryCache())
    with pytest.raises(SettingsError, match="a cache that is open cannot be pickled"):
        pickle.dumps(judge)
    grade(judge)
    assert all(one.cached for one in grade(copy.copy(judge)).judgments)


def test_a_judge_with_a_budget_is_not_pickled_since_each_copy_would_spend_it() -> None:
    judge = Judge("openai/gpt-4.1-mini", cache=None, budget=Budget(1.0))
    with pytest.raises(SettingsError, match="each process would spend all of it"):
        pickle.dumps(judge)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"prices": {"openai/m": ModelPrice(0.1, 0.2)}}, "is no PriceTable"),
        ({"budget": 2.0}, "2.0 is no Budget"),
        ({"cache": True}, "True is no cache"),
    ],
)
def test_what_would_be_noticed_after_a_paid_call_is_refused_before(
    settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem):
        make_judge("openai/m", **settings)
