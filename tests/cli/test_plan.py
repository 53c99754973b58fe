from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.testing import ServedReply
from tests.cli.bench import output
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench

GOOD = ok(reply(5))
WHAT = ("outputs.jsonl", "--rubric", "rubric.yaml")


def test_a_plan_says_what_would_be_asked_and_asks_nothing(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.ask(server, "plan", *WHAT)
        assert server.n_requests == 0
    assert ran.code == 0
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["questions", "8"] in rows
    assert "judge              openai/m" in ran.out
    assert "unknown (litellm's table has no price for this model)" in ran.out


def test_a_known_model_has_a_price_without_a_key_or_a_network(bench: Bench) -> None:
    ran = bench.run("plan", *WHAT, "--judge", "openai/gpt-4.1-mini", "--json")
    assert ran.code == 0
    low, high = ran.json["price_usd"]
    assert 0 < low < high < 1
    assert ran.json["input_tokens"] > 1000


def test_a_plan_knows_what_is_owned(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-n", 3)
        found = bench.ask(server, "plan", *WHAT, "--json").json
    assert (found["n_questions"], found["n_owned"], found["n_calls"]) == (8, 6, 2)


def test_a_plan_of_what_is_owned_costs_nothing(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server)
        ran = bench.ask(server, "plan", *WHAT)
    assert "$0 (no calls needed)" in ran.out


def test_a_plan_with_refresh_asks_for_what_is_owned_too(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server)
        found = bench.ask(server, "plan", *WHAT, "--refresh", "--json").json
    assert (found["n_owned"], found["n_calls"]) == (0, 8)


def test_a_dry_run_is_a_plan(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        planned = bench.ask(server, "plan", *WHAT, "--json")
        dry = bench.ask(server, "grade", *WHAT, "--json", "--dry-run")
    assert planned.json == dry.json


def test_recorded_replies_are_owned(bench: Bench) -> None:
    bench.write("replies.jsonl", *({"case_id": case, "text": reply(4)} for case in "abc"))
    found = bench.run("plan", *WHAT, "--judge", "recorded:replies.jsonl", "--json").json
    assert (found["n_owned"], found["n_calls"]) == (6, 2)


def test_a_plan_of_nothing_is_an_error(bench: Bench) -> None:
    ran = bench.run("plan", *WHAT, "--judge", "openai/m", "--filter-tag", "refunds")
    assert ran.code == 2
    assert "no case has the tag refunds" in ran.err


def test_a_plan_says_what_one_joint_call_for_all_criteria_would_take(bench: Bench) -> None:
    named = (*WHAT, "--judge", "openai/gpt-4.1-mini")
    plan = bench.run("plan", *named, "--json").json
    joint = bench.run("plan", *named, "--mode", "joint", "--json").json
    assert plan["joint"]["calls"] == joint["n_calls"] == plan["n_calls"] // 2
    assert plan["joint"]["input_tokens"] == joint["input_tokens"]
    assert plan["joint"]["price_usd"] == joint["price_usd"][0]
    assert joint["joint"] is None
    shown = " ".join(bench.run("plan", *named).out.split())
    assert "--mode joint 4 calls, about $" in shown
    assert "`judgekit audit --probes mode` measures whether the scores agree" in shown


@pytest.mark.parametrize(("n_tokens", "words"), [(40, "% less)"), (2000, "% more)")])
def test_a_joint_call_is_priced_by_the_replies_that_are_known(
    bench: Bench, n_tokens: int, words: str
) -> None:
    bench.write("many.jsonl", *(output(f"c{n}") for n in range(60)))
    used = {"prompt_tokens": 400, "completion_tokens": n_tokens, "total_tokens": 400 + n_tokens}
    judge = ("--rubric", "rubric.yaml", "--judge", "openai/gpt-4.1-mini", "--api-base")
    with OpenAILikeServer(ServedReply(reply(5), fields={"usage": used})) as server:
        assert bench.run("grade", "many.jsonl", *judge, server.url, "-n", 5).code == 0
        plan = bench.run("plan", "many.jsonl", *judge, server.url, "--json").json
        shown = " ".join(bench.run("plan", "many.jsonl", *judge, server.url).out.split())
    assert (plan["n_calls"], plan["joint"]["calls"]) == (110, 60)
    assert plan["output_tokens"][0] == 110 * n_tokens
    assert plan["joint"]["output_tokens"] == 60 * 2 * n_tokens
    assert words in shown
