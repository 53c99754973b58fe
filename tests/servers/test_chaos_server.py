from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import UnknownNameError
from judgekit.testing import SERVER_FAULTS, ChaosServer, ServedReply, ServedRequest
from tests.models.asking import SCHEMA
from tests.servers.answers import GOOD, ok, refusing

if TYPE_CHECKING:
    from pathlib import Path


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())  # noqa: S310
    with urllib.request.urlopen(request, timeout=5) as reply:  # noqa: S310
        answer: dict[str, Any] = json.load(reply)
        return answer


def text_of(answer: dict[str, Any]) -> str:
    text: str = answer["choices"][0]["message"]["content"]
    return text


@pytest.mark.parametrize("own_process", [False, True])
def test_requests_are_answered_in_turn_kept_and_counted(own_process: bool) -> None:  # noqa: FBT001
    with ChaosServer([ok("one")], reply=GOOD, own_process=own_process) as server:
        texts = [text_of(post(server.url, {"n": i})) for i in (1, 2)]
        server.restart()
        texts.append(text_of(post(server.url, {})))
        server.heal()
        texts.append(text_of(post(server.url, {})))
        assert [seen.body for seen in server.requests] == [{"n": 1}, {"n": 2}, {}, {}]
        assert (server.n_requests, server.n_connections, server.most_in_flight) == (4, 4, 1)
        assert server.n_good_replies == 2
    assert texts == ["one", GOOD, "one", GOOD]


def test_a_named_fault_answers_every_request() -> None:
    with ChaosServer("429ra_s") as server:
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError, match="429") as caught:
                post(server.url, {})
            assert caught.value.headers["retry-after"] == "2"
            caught.value.close()
        assert server.faults == {"429ra_s": 2}
        assert server.n_good_replies == 0


def test_a_good_reply_is_valid_for_the_schema_of_the_request() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}}
    with ChaosServer() as server:
        verdict = json.loads(text_of(post(server.url, {"response_format": wanted})))
        assert verdict.keys() == SCHEMA["properties"].keys()
        assert json.loads(text_of(post(server.url, {})))["score"] == 4


def test_a_forced_tool_is_called_and_log_probabilities_are_given() -> None:
    tool = {"type": "function", "function": {"name": "reply"}}
    with ChaosServer(ok("{}"), keep_requests=False) as server:
        choice = post(server.url, {"tool_choice": tool, "logprobs": True})["choices"][0]
        assert server.requests == []
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert choice["logprobs"]["content"][0]["token"] == "{}"


def test_shares_of_faults_are_drawn_alike_for_the_same_seed() -> None:
    drawn = []
    for _ in range(2):
        with ChaosServer({"null_content": 0.25, "refusal": 0.25}, seed=1) as server:
            drawn.append([post(server.url, {})["choices"][0]["message"] for _ in range(60)])
            assert sum(server.faults.values()) + server.n_good_replies == 60
            assert 5 < server.faults["refusal"] < 25
    assert drawn[0] == drawn[1]


def test_there_are_many_kinds_of_faults_and_each_makes_a_reply() -> None:
    seen = ServedRequest("/", {"authorization": "Bearer k"}, {}, 0)
    for fault in SERVER_FAULTS.values():
        reply = fault if isinstance(fault, ServedReply) else fault(seen)
        assert isinstance(reply.payload(seen), bytes)
    assert len(SERVER_FAULTS) - 1 >= 72


def test_a_misspelt_fault_is_refused_with_the_near_ones() -> None:
    for script in ("no_choises", ["ok", "no_choises"], {"no_choises": 0.5}):
        with pytest.raises(UnknownNameError, match="no fault is called 'no_choises'") as caught:
            ChaosServer(script)
        assert "no_choices" in str(caught.value.hint)


def test_a_refusing_server_names_what_it_refuses() -> None:
    rule = refusing("seed")
    assert rule(ServedRequest("/", {}, {"seed": 1}, 0)).status == 400
    assert rule(ServedRequest("/", {}, {}, 0)).status == 200


def test_a_script_without_a_main_guard_is_an_error_that_says_so(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from judgekit.testing import ChaosServer\n"
        "with ChaosServer(own_process=True) as server:\n"
        "    print(server.url)\n",
        encoding="utf-8",
    )
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 1
    assert 'in a script, start it below `if __name__ == "__main__":`' in ran.stderr
