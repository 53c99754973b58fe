"""After the first Ctrl-C only the calls in flight are finished; the rest is asked on resuming."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import asked, output
from tests.cli.interrupting import CtrlC
from tests.factories import reply
from tests.judge.comparing import prefers
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")

SIDES = ("better.jsonl", "worse.jsonl")
CASES = [f"c{k}" for k in range(8)]
LAST = 7
"""The number of the request during whose answer Ctrl-C is pressed."""


@pytest.fixture
def sides(bench: Bench) -> Bench:
    """Eight cases that two files answer."""
    for name in SIDES:
        bench.write(name, *(output(c, text=f"{name.partition('.')[0]} {c}") for c in CASES))
    return bench


def better_wins(seen: ServedRequest) -> ServedReply:
    text = asked(seen)
    if "better" not in text or "worse" not in text:
        return ok(reply(5))
    return ok(prefers("first" if text.index("better c") < text.index("worse c") else "second"))


def interrupting(monkeypatch: pytest.MonkeyPatch) -> OpenAILikeServer:
    """A server that answers a request only after Ctrl-C was heard."""
    ctrl_c = CtrlC(monkeypatch)

    def answer(seen: ServedRequest) -> ServedReply:
        if seen.number == LAST:
            ctrl_c.press_and_wait()
        return better_wins(seen)

    return OpenAILikeServer(answer)


COMMANDS = {"compare": ("compare", *SIDES), "rank": ("rank", *SIDES), "grade": ("grade", SIDES[0])}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_call_is_begun_after_the_first_interrupt(
    sides: Bench, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    how = (*COMMANDS[command], "--rubric", "rubric.yaml", "-j", 1)
    with OpenAILikeServer(better_wins) as server:
        whole = sides.ask(server, *how, "--cache", "other")
        n_whole = server.n_requests
    with interrupting(monkeypatch) as server:
        ran = sides.ask(server, *how)
        n_asked = server.n_requests
        again = sides.ask(server, *how)
    assert (ran.code, n_asked) == (130, LAST + 1)
    assert "finishing the calls in progress" in ran.err
    assert "interrupted" in ran.err
    assert (again.code, server.n_requests) == (whole.code, n_whole)


def test_an_interrupted_answer_is_no_failure_of_the_judge(
    sides: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = ("grade", SIDES[0], "--rubric", "rubric.yaml", "-j", 1)
    with interrupting(monkeypatch) as server:
        sides.ask(server, *how)
        stored = sides.run("show", "--json").json["runs"][0]
        ran = sides.ask(server, *how, "--resume", "--json")
        assert server.n_requests == 2 * len(CASES)
    assert stored["status"] == "interrupted"
    assert (ran.code, [one["failures"] for one in ran.json["verdicts"]]) == (0, [[]] * len(CASES))


def test_an_interrupted_comparison_is_resumed_without_a_cache(
    sides: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = ("compare", *SIDES, "--rubric", "rubric.yaml", "-j", 1, "--no-cache")
    with interrupting(monkeypatch) as server:
        interrupted = sides.ask(server, *how)
        name = interrupted.err.rpartition("--resume ")[2].split()[0]
        ran = sides.ask(server, *how, "--resume", name, "--json")
        assert server.n_requests == 6 * len(CASES)
    assert ran.json["failures"] == {}
    assert ran.json["decision"]["winner"] == "a"
