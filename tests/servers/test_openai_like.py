from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.servers.answers import FAULTS, Answer, SeenRequest, ok, refusing, resolve, schedule
from tests.servers.openai_like import OpenAILikeServer


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())  # noqa: S310
    with urllib.request.urlopen(request, timeout=5) as reply:  # noqa: S310
        answer: dict[str, Any] = json.load(reply)
        return answer


@pytest.mark.parametrize("own_process", [False, True])
def test_requests_are_answered_in_turn_and_kept(own_process: bool) -> None:  # noqa: FBT001
    with OpenAILikeServer([ok("one")], own_process=own_process) as server:
        texts = [post(server.url, {"n": i})["choices"][0]["message"]["content"] for i in (1, 2)]
        server.restart()
        again = post(server.url, {})["choices"][0]["message"]["content"]
        assert [seen.body for seen in server.requests] == [{"n": 1}, {"n": 2}, {}]
        assert (server.n_requests, server.n_connections, server.most_in_flight) == (3, 3, 1)
    assert [*texts, again] == ["one", ok().text, "one"]


def test_a_named_fault_answers_every_request() -> None:
    with OpenAILikeServer("429ra_s") as server:
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError, match="429") as caught:
                post(server.url, {})
            assert caught.value.headers["retry-after"] == "2"
            caught.value.close()


def test_a_forced_tool_is_called_and_log_probabilities_are_given() -> None:
    tool = {"type": "function", "function": {"name": "reply"}}
    with OpenAILikeServer(ok("{}"), keep_requests=False) as server:
        choice = post(server.url, {"tool_choice": tool, "logprobs": True})["choices"][0]
        assert server.requests == []
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert choice["logprobs"]["content"][0]["token"] == "{}"


def test_a_schedule_draws_the_same_faults_for_the_same_seed() -> None:
    seen = [SeenRequest("/", {}, {}, number) for number in range(400)]
    first, second = (schedule({"500": 0.25, "429": 0.25}, seed=1) for _ in range(2))
    drawn = [first(one) for one in seen]
    assert drawn == [second(one) for one in seen]
    assert 70 < drawn.count("500") < 130
    assert 160 < drawn.count("ok") < 240


def test_every_fault_is_an_answer() -> None:
    seen = SeenRequest("/", {"authorization": "Bearer k"}, {}, 0)
    assert all(isinstance(resolve(name, seen), Answer) for name in FAULTS)
    assert len(FAULTS) >= 40


def test_a_refusing_server_names_what_it_refuses() -> None:
    rule = refusing("seed")
    assert rule(SeenRequest("/", {}, {"seed": 1}, 0)).status == 400
    assert rule(SeenRequest("/", {}, {}, 0)).status == 200
