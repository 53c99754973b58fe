from __future__ import annotations

from typing import Any

import pytest

from judgekit.evaluation import RequestCounter, estimate_judge_reply_tokens
from judgekit.evaluation.cost_plan import TextLength
from judgekit.evaluation.planner import ASSUMED_LOCAL_LATENCY_S, model_plan
from judgekit.models import ModelPrice, PriceTable, connect
from judgekit.models.cache import MemoryCache
from judgekit.models.request import Subject
from judgekit.records import Image
from judgekit.testing import ScriptedModel
from tests.evaluation.plans import bought
from tests.factories import make_request, make_rubric, reply

PRICES = PriceTable({"scripted": ModelPrice(input_usd=1e-6, output_usd=1e-5)})


def counting(
    cache: MemoryCache | None = None, name: str = "scripted", **fields: Any
) -> RequestCounter:
    """Nothing counted yet."""
    model = ScriptedModel(reply(), name=name)
    return RequestCounter(connect(model, cache=cache, prices=PRICES), **fields)


def test_a_load_costs_what_its_tokens_do() -> None:
    counted = counting()
    counted.take(make_request(), (100, 400))
    likely, most = counted.likely(), counted.most()
    assert (likely.calls, likely.output_tokens, most.output_tokens) == (1, 100, 400)
    assert likely.price_usd == pytest.approx(likely.input_tokens * 1e-6 + 100 * 1e-5)


def test_long_prompts_are_priced_one_by_one_and_not_as_one_long_call() -> None:
    table = PriceTable()
    model = "gemini/gemini-2.5-pro"
    long, short = (table.price(model, input_tokens=n) for n in (300_000, 3_000))
    assert long is not None
    assert short is not None
    assert long.input_usd > short.input_usd
    counted = RequestCounter(connect(ScriptedModel(reply(), name=model), prices=table))
    for n in range(300):
        counted.take(make_request(f"{n} " + "word " * 1000), (1, 1))
    likely = counted.likely()
    assert likely.input_tokens > 200_000
    assert likely.price_usd == pytest.approx(
        likely.input_tokens * short.input_usd + 300 * short.output_usd
    )


def test_a_single_long_prompt_has_the_price_of_long_prompts_in_the_upper_bound() -> None:
    model, table = "gemini/gemini-2.5-pro", PriceTable()
    counted = RequestCounter(connect(ScriptedModel(reply(), name=model), prices=table))
    for n_words in (210_000, *[10] * 30):
        counted.take(make_request("word " * n_words), (1, 1))
    long = table.price(model, input_tokens=210_000)
    assert long is not None
    most = counted.most()
    assert most.input_tokens / most.calls < 200_000
    assert most.price_usd == pytest.approx(
        most.input_tokens * long.input_usd + most.calls * long.output_usd
    )


def test_at_most_every_token_is_written_to_a_prompt_cache_and_received_as_reasoning() -> None:
    dear = ModelPrice(1e-6, 1e-5, cache_write_usd=2e-6, reasoning_usd=3e-5)
    way = connect(ScriptedModel(reply()), prices=PriceTable({"scripted": dear}))
    counted = RequestCounter(way)
    counted.take(make_request(), (100, 100))
    likely, most = counted.likely(), counted.most()
    assert likely.price_usd == pytest.approx(likely.input_tokens * 1e-6 + 100 * 1e-5)
    assert most.price_usd == pytest.approx(most.input_tokens * 2e-6 + 100 * 3e-5)


def test_the_schema_of_a_reply_is_sent_as_well() -> None:
    plain, with_schema = counting(), counting()
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    plain.take(make_request(), (1, 1))
    with_schema.take(make_request(reply_schema=schema), (1, 1))
    assert with_schema.likely().input_tokens - plain.likely().input_tokens > 10


def test_an_image_counts_as_more_in_the_upper_bound() -> None:
    image, counted = Image(url="data:image/png;base64,AAAA"), counting()
    counted.take(make_request(f"See {image.marker}.", images=(image,)), (1, 1))
    # Providers count 250 to 2,500 tokens for an image of usual size.
    assert counted.most().input_tokens - counted.likely().input_tokens == 1500


@pytest.mark.parametrize(
    ("model", "parameters", "most"),
    [
        ("openai/gpt-4.1-mini", {}, 700),
        ("openai/gpt-4.1-mini", {"max_tokens": 300}, 300),
        ("openai/gpt-4.1-mini", {"max_completion_tokens": 3000}, 3000),
        # Hidden reasoning counts as received.
        ("openai/o4-mini", {}, 8192),
        ("openai/o4-mini", {"max_completion_tokens": 3000}, 3000),
        ("anthropic/claude-sonnet-4-5", {}, 700),
        ("anthropic/claude-sonnet-4-5", {"reasoning_effort": "low"}, 8192),
    ],
)
def test_what_a_reply_has_at_most(model: str, parameters: dict[str, Any], most: int) -> None:
    asked = make_request(model=model, parameters=parameters, subject=Subject(criterion="accuracy"))
    assert estimate_judge_reply_tokens(asked, make_rubric())[1] == most


def test_a_placeholder_is_never_looked_up_and_never_seen_before() -> None:
    cache, request = MemoryCache(), make_request()
    bought(cache, [request])
    counted = counting(cache)
    for _ in range(2):
        assert counted.take(request, (10, 20), unread=("v1",)) is None
    assert (counted.n_questions, counted.n_owned, counted.n_calls) == (2, 0, 2)
    sent = counted.likely({"v1": TextLength(50, 90)}).input_tokens
    assert counted.most({"v1": TextLength(50, 90)}).input_tokens - sent == 2 * 40


def test_few_owned_replies_do_not_say_how_long_the_next_are() -> None:
    cache, requests = MemoryCache(), [make_request(f"question {n}") for n in range(30)]
    bought(cache, requests[:9])
    counted = counting(cache)
    for request in requests:
        counted.take(request, (180, 700))
    assert counted.reply_length is None
    assert counted.likely().output_tokens == 21 * 180


def test_many_owned_replies_do() -> None:
    cache, requests = MemoryCache(), [make_request(f"question {n}") for n in range(30)]
    bought(cache, requests[:10])
    counted = counting(cache)
    for request in requests:
        counted.take(request, (180, 700))
    assert counted.reply_length == TextLength(40, 40)
    assert (counted.likely().output_tokens, counted.most().output_tokens) == (20 * 40, 20 * 700)
    assert counted.most(reply=TextLength(40, 900)).output_tokens == 20 * 900


def test_a_length_given_afterwards_is_that_of_every_reply() -> None:
    counted = counting()
    counted.take(make_request(), (0, 0))
    reply_length = TextLength(30, 70)
    assert counted.likely(reply=reply_length).output_tokens == 30
    assert counted.most(reply=reply_length).output_tokens == 70


def test_tokens_told_from_characters_are_nearly_those_counted() -> None:
    exact, rough = counting(), counting(n_exact=20)
    for n in range(500):
        request = make_request(f"question {n}: " + "What is the answer to it? " * (n % 9))
        exact.take(request, (1, 1))
        rough.take(request, (1, 1))
    assert rough.likely().input_tokens == pytest.approx(exact.likely().input_tokens, rel=0.05)
    assert rough.likely().input_tokens != exact.likely().input_tokens


def test_one_more_try_counts_only_at_most_and_also_of_what_is_owned() -> None:
    cache, request = MemoryCache(), make_request()
    bought(cache, [request])
    counted = counting(cache)
    counted.take(request, (10, 20), n_again=2)
    assert (counted.likely().calls, counted.most().calls) == (0, 2)


def test_nothing_to_ask_costs_nothing_whatever_the_price() -> None:
    assert counting(name="nobody/knows").likely().price_usd == 0


def test_a_joint_question_is_answered_at_length() -> None:
    rubric = make_rubric("a", "b", "c")
    assert estimate_judge_reply_tokens(make_request(), rubric) == (3 * 180, 3 * 700)
    alone = make_request(subject=Subject(criterion="a"))
    assert estimate_judge_reply_tokens(alone, rubric) == (180, 700)


def test_a_model_on_this_machine_is_assumed_to_be_slow() -> None:
    counted = counting(name="local/small")
    counted.take(make_request(), (1, 1))
    found = model_plan(counted, role="judge", name="j", lengths={}, scale=1.0)
    assert (found.latency_s, found.n_latencies) == (ASSUMED_LOCAL_LATENCY_S, 0)
