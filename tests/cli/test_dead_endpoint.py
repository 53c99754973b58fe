"""An endpoint that never answers stops the command, with one line and code 3."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import asked, output
from tests.evaluation.suites import lay_suite
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.nobody import unserved_port
from tests.servers.openai_like import OpenAILikeServer
from tests.targets.loopback import Loopback, Reply

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran, Run

CASES = [f"c{k}" for k in range(60)]
FEW = ("-j", 4, "--max-retries", 0)
"""Four calls in flight and no retries, so that nothing waits."""

MOST = 10 + 4 + 1
"""Ten cases that were refused, those that were in flight then, and the probe."""

GRADE = ("grade", "a.jsonl", "--rubric", "rubric.yaml")
COMMANDS = {
    "grade": GRADE,
    "fail fast": (*GRADE, "-x"),
    "run": ("run", "cases.jsonl", "--outputs", "a.jsonl", "--rubric", "rubric.yaml"),
    "compare": ("compare", "a.jsonl", "b.jsonl", "--rubric", "rubric.yaml"),
    "rank": ("rank", "a.jsonl", "b.jsonl", "c.jsonl", "--rubric", "rubric.yaml"),
    "calibrate": ("calibrate", "labels.jsonl", "--outputs", *GRADE[1:]),
    "calibrate pairs": ("calibrate", "wins.jsonl", "--compare", "a.jsonl", "b.jsonl",
                        "--rubric", "rubric.yaml"),
    "audit": ("audit", *GRADE[1:], "--probes", "stability"),
    "tune": ("tune", "labels.jsonl", "--outputs", *GRADE[1:], "--anchors"),
    "rejudge": ("rejudge", "latest"),
    "rejudge verdicts": ("rejudge", "verdicts.jsonl", "a.jsonl", "--rubric", "rubric.yaml"),
}  # fmt: skip


@pytest.fixture
def laid(bench: Bench) -> Bench:
    """Three sides that answer sixty cases, and labels of them."""
    bench.write("cases.jsonl", *({"id": case, "input": f"{case}?"} for case in CASES))
    for side in "abc":
        rows = (output(case, text=f"{side} {case}", input=f"{case}?") for case in CASES)
        bench.write(f"{side}.jsonl", *rows)
    labels = ({"case_id": case, "criterion": "right", "annotator": "Ada", "raw": 1 + k % 5}
              for k, case in enumerate(CASES))  # fmt: skip
    bench.write("labels.jsonl", *labels)
    wins = ({"case_id": case, "annotator": "Ada", "winner": "a"} for case in CASES)
    bench.write("wins.jsonl", *wins)
    return bench


def ask(bench: Bench, url: str, *arguments: object) -> Ran:
    return bench.run(*arguments, "--judge", "openai/m", "--api-base", url, *FEW)


def stop_line(ran: Ran) -> str:
    """The one line that says why a command stopped."""
    (line,) = (line for line in ran.err.splitlines() if line.startswith("stopped: "))
    return line


@pytest.mark.no_cover
@pytest.mark.parametrize("name", COMMANDS)
def test_requests_that_are_always_refused_stop_every_command(laid: Bench, name: str) -> None:
    if name.startswith("rejudge"):
        with OpenAILikeServer(ok(reply(4))) as server:
            assert ask(laid, server.url, *GRADE, "-o", "verdicts.jsonl", "-q").code == 0
    with OpenAILikeServer("400") as server:
        ran = ask(laid, server.url, *COMMANDS[name])
        cases = {found for seen in server.requests for found in re.findall(r"c\d+\?", asked(seen))}
        assert len(cases) <= MOST
        assert (ran.code, f"127.0.0.1:{server.port}" in stop_line(ran)) == (3, True)
    assert "calls to openai/m succeeded, and no further call was made" in stop_line(ran)
    assert "HTTP 400): Invalid value for 'messages'; correct what the error names" in stop_line(ran)


@pytest.mark.parametrize("transport", ["direct", "litellm"])
def test_an_address_where_nobody_listens_stops_a_run_at_once(laid: Bench, transport: str) -> None:
    with unserved_port() as port:
        url = f"http://127.0.0.1:{port}/v1"
        ran = ask(laid, url, *GRADE, "--transport", transport)
    assert ran.code == 3
    assert f"openai at 127.0.0.1:{port} could not be reached" in stop_line(ran)
    assert "check that the server runs and that api_base is its address" in stop_line(ran)
    assert stop_line(ran).endswith("Resume with: the same command with --resume --retry-errors")


def test_what_an_endpoint_did_not_answer_is_asked_when_the_run_is_resumed(laid: Bench) -> None:
    answers: list[ServedReply | str] = ["500"]
    with OpenAILikeServer(lambda _: answers[-1]) as server:
        assert ask(laid, server.url, *GRADE).code == 3
        n_failed = server.n_requests
        answers.append(ok(reply(4)))
        ran = ask(laid, server.url, *GRADE, "--resume", "--retry-errors", "-q")
        assert (ran.code, server.n_requests - n_failed) == (0, 2 * len(CASES))
    assert n_failed <= MOST


def test_what_was_never_sent_needs_no_retrying_of_errors(laid: Bench) -> None:
    answers: list[ServedReply | str] = ["500"]
    with OpenAILikeServer(lambda _: answers[-1]) as server:
        assert ask(laid, server.url, *GRADE).code == 3
        n_failed = server.n_requests
        answers.append(ok(reply(4)))
        ran = ask(laid, server.url, *GRADE, "--resume", "-q")
        # Only the few calls that were made and failed are still missing.
        assert server.n_requests - n_failed == 2 * len(CASES) - n_failed
    assert ran.code == 3


def test_one_dead_judge_of_a_panel_stops_the_run(run: Run, tmp_path: Path) -> None:
    def answer(seen: ServedRequest) -> ServedReply | str:
        return "500" if seen.body["model"] == "dead" else ok(reply(4))

    with OpenAILikeServer(answer) as server:
        how = {"api_base": server.url, "max_retries": 0, "max_concurrency": 4}
        judges = [{"model": f"openai/{name}", **how} for name in ("alive", "dead")]
        lay_suite(tmp_path, n=60, judge=judges, rubric="rubric.yaml", assertions=None)
        ran = run("run", "-j", 4)
        dead = [seen for seen in server.requests if seen.body["model"] == "dead"]
    assert (ran.code, len(dead) <= MOST) == (3, True)
    assert "calls to openai/dead succeeded" in stop_line(ran)


def test_a_model_under_test_that_never_answers_stops_the_run(run: Run, tmp_path: Path) -> None:
    with OpenAILikeServer("400") as server:
        (tmp_path / "p.j2").write_text("{{ input }}", encoding="utf-8")
        variant = {"id": "v1", "prompt": "p.j2", "model": "openai/m", "api_base": server.url}
        lay_suite(tmp_path, n=60, variants=[variant])
        ran = run("run", "-j", 4)
        assert server.n_requests <= MOST
    assert (ran.code, "calls to openai/m succeeded" in stop_line(ran)) == (3, True)


def test_an_endpoint_under_test_that_never_answers_stops_the_run(run: Run, tmp_path: Path) -> None:
    replies = [Reply(b"", 502)]
    with Loopback(lambda *_: replies[-1]) as server:
        lay_suite(tmp_path, n=60, variants=[{"id": "v1", "http": server.url}])
        ran = run("run", "-j", 4)
        assert (ran.code, len(server.seen) <= MOST) == (3, True)
        assert "v1 answered none of 10 cases; the last error: http://127.0.0.1" in stop_line(ran)
        assert "answered HTTP 502; check that the endpoint runs" in stop_line(ran)
        replies.append(Reply({"text": "right"}))
        ran = run("run", "-j", 4, "--resume", "--retry-errors", "--json")
    assert (ran.code, ran.json["variants"][0]["n_passed"]) == (0, 60)


def test_an_endpoint_under_test_that_has_answered_may_fail_for_the_rest(
    run: Run, tmp_path: Path
) -> None:
    def answer(case: dict[str, object], _: str) -> Reply:
        return Reply({"text": "right"}) if case["id"] == "c0" else Reply(b"", 502)

    with Loopback(answer) as server:
        lay_suite(tmp_path, n=30, variants=[{"id": "v1", "http": server.url}])
        ran = run("run", "-j", 1)
        assert len(server.seen) == 30
    assert "stopped" not in ran.err


def test_a_missing_key_ends_a_run_before_any_output_is_paid_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    (tmp_path / "p.j2").write_text("{{ input }}", encoding="utf-8")
    with OpenAILikeServer() as server:
        variant = {"id": "v1", "prompt": "p.j2", "model": "openai/m", "api_base": server.url}
        judge = "anthropic/claude-sonnet-4-5"
        lay_suite(tmp_path, judge=judge, variants=[variant], rubric="rubric.yaml", assertions=None)
        ran = run("run")
        assert server.n_requests == 0
    assert ran.code == 2
    assert "error: no API key for anthropic was found" in ran.err
    assert "set the environment variable ANTHROPIC_API_KEY" in ran.err
    assert "no match in this store" in run("show").err


@pytest.mark.parametrize("command", ["run", "grade", "compare"])
def test_without_a_key_nothing_is_stored(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    judge = ("--judge", "anthropic/claude-sonnet-4-5")
    assert bench.run("init", "s").code == 0
    monkeypatch.chdir("s")
    sides = ("outputs/v1.jsonl", "outputs/v2.jsonl") if command == "compare" else ()
    assert bench.run(command, *sides, *judge).code == 2
    listed = bench.run("show", *(["--comparisons"] if sides else []), "--json")
    assert listed.json in ([], {"runs": []})


def test_a_frozen_judge_needs_no_key(laid: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with OpenAILikeServer(ok(reply(4))) as server:
        assert ask(laid, server.url, *GRADE, "-n", 1).code == 0
    ran = laid.run(*GRADE, "-n", 1, "--judge", "anthropic/claude-sonnet-4-5", "--frozen")
    assert (ran.code, "no API key" in ran.err) == (6, False)
