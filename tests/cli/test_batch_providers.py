"""Batches of Anthropic and Gemini from the command line; OpenAI's are in `test_batch`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.batches import BatchFolder
from judgekit.batches.providers import open_batches
from judgekit.models import BATCH_PROVIDERS, can_batch
from judgekit.models.cache import DiskCache
from judgekit.testing import ServedReply
from tests.cli.batching import WHAT, N, good, grade, judge, submit
from tests.cli.cache_folders import CACHE
from tests.factories import reply
from tests.servers.batches import AnthropicBatchServer, GeminiBatchServer
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.testing import ServedRequest
    from tests.cli.bench import Bench
    from tests.servers.batches import BatchServer

KEY = "sk-secret-0123456789abcdef"


@pytest.fixture(params=[AnthropicBatchServer, GeminiBatchServer])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with request.param() as serving:
        yield serving


anthropic_only = pytest.mark.parametrize("server", [AnthropicBatchServer], indirect=True)
gemini_only = pytest.mark.parametrize("server", [GeminiBatchServer], indirect=True)


def asks_about(seen: ServedRequest, answer: str) -> bool:
    return f"answer {answer}\\n" in json.dumps(seen.body)


def only(server: BatchServer) -> dict[str, Any]:
    (batch,) = server.batches.values()
    return batch


def kill(bench: Bench, server: BatchServer, step: str, *command: object) -> None:
    """Run a command that is killed at a step."""
    server.kill_at = step
    started = threading.Event()
    child: list[int] = []

    def client() -> int:
        started.wait()
        return child[0]

    server.client = client
    whole = [sys.executable, "-m", "judgekit", *map(str, command)]
    with subprocess.Popen(whole, cwd=bench.folder) as process:
        child.append(process.pid)
        started.set()
    assert process.returncode == -9


def kill_submission(bench: Bench, server: BatchServer, step: str) -> None:
    kill(bench, server, step, "batch", "submit", *WHAT, *judge(server))


def test_what_a_batch_answered_is_what_a_frozen_grading_reads(
    bench: Bench, server: BatchServer
) -> None:
    sent = submit(bench, server, "--json")
    assert (sent.code, sent.json["batches"][0]["n_requests"]) == (4, N)
    assert bench.run("batch", "collect").code == 4
    server.finish(good)
    assert "collected" in bench.run("batch", "collect").out
    graded = grade(bench, server, "--frozen", "--json")
    assert graded.code == 0
    assert graded.json["variants"][0]["pass_rate"]["value"] == 1.0
    assert submit(bench, server).code == 0
    assert len(server.batches) == 1


def test_a_batch_sends_the_bodies_of_calls(bench: Bench, server: BatchServer) -> None:
    submit(bench, server)
    in_batch = [line["body"] for line in server.lines(only(server))]
    with OpenAILikeServer() as live:
        url = live.url.removesuffix("/v1") + server.base
        options = ("--judge", server.model, "--api-base", url, "--cache-dir", "other")
        bench.run("grade", *WHAT, *options)
        called = [one.body for one in live.requests]
    for body in called:  # Gemini's batches garble what they answer to a schema
        for name in ("response_mime_type", "response_json_schema"):
            body.get("generationConfig", {}).pop(name, None)
    assert len(called) == N
    assert sorted(map(json.dumps, in_batch)) == sorted(map(json.dumps, called))


def test_a_reply_costs_half_of_a_call_and_comes_from_the_batch(
    bench: Bench, server: BatchServer
) -> None:
    prices = f"prices: {{{server.model}: {{input_usd: 1000000, output_usd: 2000000}}}}\n"
    suite = (
        f"name: s\ndataset: outputs.jsonl\n{prices}variants: [{{id: v, outputs: outputs.jsonl}}]\n"
    )
    bench.write("judgekit.yaml", suite)
    submit(bench, server, "-n", 1)
    server.finish(good)
    found = bench.run("batch", "collect", "--json").json["batches"][0]
    with DiskCache(CACHE) as cache:
        entries = [cache.entry(key) for key in [*cache.keys()]]
    used = [one.reply.usage for one in entries if one is not None and one.reply.usage is not None]
    assert len(used) == 2
    full = sum(one.input_tokens + 2 * one.output_tokens for one in used)
    assert found["cost_usd"] == pytest.approx(full / 2)
    assert {one.imported for one in entries if one} == {f"batch {found['batch_id']}"}


def test_refused_and_expired_requests_are_listed_and_go_into_the_next_batch(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)

    def script(seen: ServedRequest) -> ServedReply | str | None:
        if asks_about(seen, "a"):
            return ServedReply(status=500, body={"error": {"message": f"{KEY} broke"}})
        return None if asks_about(seen, "b") else reply(5)

    server.finish(script, status="expired")
    collected = bench.run("batch", "collect", "--json")
    found = collected.json["batches"][0]
    assert (collected.code, found["n_replies"], found["n_open"]) == (3, 4, 4)
    words = sorted({one["text"] for one in found["refused"].values()})
    assert len(words) == 2
    assert any("broke" in one for one in words)
    assert any("expired" in one for one in words)
    assert KEY not in collected.out + collected.err + folder_text()
    assert submit(bench, server, "--json").json["batches"][0]["n_requests"] == 4
    server.finish(good)
    assert bench.run("batch", "collect").code == 0
    assert grade(bench, server, "--frozen").code == 0
    assert set(server.n_answered.values()) == {1}


def folder_text() -> str:
    return "".join(path.read_text() for path in (CACHE / "batches").glob("*.json*"))


def test_a_refused_parameter_is_left_out_of_the_next_batch(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)
    message = "Unsupported parameter: 'temperature'"
    server.finish(lambda _: ServedReply(status=400, body={"error": {"message": message}}))
    assert bench.run("batch", "collect").code == 3
    assert "temperature" in json.dumps(server.lines(only(server))[0]["body"])
    submit(bench, server)
    lines = server.lines([*server.batches.values()][1])
    assert len(lines) == N
    assert "temperature" not in json.dumps([line["body"] for line in lines])


def test_a_cancelled_batch_keeps_what_was_answered(bench: Bench, server: BatchServer) -> None:
    name = submit(bench, server, "--json").json["batches"][0]["name"]
    assert bench.run("batch", "cancel", name[:12]).code == 0
    server.finish(lambda seen: reply(5) if asks_about(seen, "a") else None, status="cancelled")
    found = bench.run("batch", "collect", name, "--json").json["batches"][0]
    assert (found["state"], found["n_replies"], found["n_open"]) == ("collected", 2, 6)


def test_max_cost_is_checked_before_anything_is_sent(bench: Bench, server: BatchServer) -> None:
    refused = submit(bench, server, "--max-cost", "0.000001")
    assert (refused.code, server.calls.total()) == (5, 0)
    sent = submit(bench, server, "--max-cost", "100", "--json")
    assert sent.code == 4
    assert 0 < sent.json["batches"][0]["most_usd"] < 100


def test_a_plan_has_both_prices(bench: Bench, server: BatchServer) -> None:
    found = bench.run("plan", *WHAT, *judge(server), "--json").json
    assert found["batch_usd"] == [pytest.approx(usd / 2) for usd in found["price_usd"]]
    # Few models cost something else than half in batches, by litellm's table.
    found = bench.run("plan", *WHAT, "--judge", "openai/gpt-3.5-turbo-1106", "--json").json
    assert found["batch_usd"] == found["price_usd"]


@pytest.mark.parametrize("command", ["run", "grade"])
def test_a_run_in_batches_waits_and_is_completed_when_resumed(
    bench: Bench, server: BatchServer, command: str
) -> None:
    bench.write("cases.jsonl", *({"id": one, "input": one} for one in "abcd"))
    bench.write(
        "judgekit.yaml",
        "name: s\ndataset: cases.jsonl\nrubric: rubric.yaml\n"
        f"judge: {{model: {server.model}, api_base: '{server.url}'}}\n"
        "variants: [{id: v, outputs: outputs.jsonl}]\n",
    )
    what = [] if command == "run" else ["outputs.jsonl"]
    assert bench.run(command, *what, "--batch").code == 4
    server.finish(good)
    assert bench.run("batch", "collect").code == 0
    resumed = [] if command == "grade" else ["--resume"]
    assert bench.run(command, *what, *resumed, "--frozen").code == 0
    assert len(server.batches) == 1


@pytest.mark.parametrize(
    ("server", "step"),
    [
        (AnthropicBatchServer, "before GET batches"),  # the record is written
        (AnthropicBatchServer, "after GET batches"),
        (AnthropicBatchServer, "before POST batches"),  # sending, and nothing is made
        (AnthropicBatchServer, "after POST batches"),  # made, and not recorded
        (GeminiBatchServer, "before GET files"),
        (GeminiBatchServer, "before POST /upload/v1beta/files"),
        (GeminiBatchServer, "after POST /upload/v1beta/files"),  # uploaded, and not recorded
        (GeminiBatchServer, "before POST models/gemini-2.5-flash:batchGenerateContent"),
        (GeminiBatchServer, "after POST models/gemini-2.5-flash:batchGenerateContent"),
    ],
    indirect=["server"],
)
def test_a_kill_at_any_step_of_a_submission_pays_nothing_twice(
    bench: Bench, server: BatchServer, step: str
) -> None:
    kill_submission(bench, server, step)
    assert submit(bench, server).code == 4
    assert len(server.batches) == 1
    server.finish(good)
    submit(bench, server)
    assert bench.run("batch", "collect").code == 0
    assert len(server.batches) == 1
    assert server.n_answered.total() == N
    assert grade(bench, server, "--frozen").code == 0


@pytest.mark.parametrize(
    ("server", "step"),
    [
        (AnthropicBatchServer, "before GET batches/msgbatch"),
        (AnthropicBatchServer, "after GET batches/msgbatch/results"),
        (GeminiBatchServer, "after GET batches/x"),
        (GeminiBatchServer, "before GET files/x:download"),
    ],
    indirect=["server"],
)
def test_a_kill_at_any_step_of_a_collection_loses_nothing(
    bench: Bench, server: BatchServer, step: str
) -> None:
    submit(bench, server)
    server.finish(good)
    kill(bench, server, step, "batch", "collect")
    assert bench.run("batch", "collect").code == 0
    assert grade(bench, server, "--frozen").code == 0
    assert (len(server.batches), server.n_answered.total()) == (1, N)


def test_two_processes_that_collect_at_once_store_each_reply_once(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)
    server.finish(lambda _: ServedReply("{", finish_reason="length"))
    command = [sys.executable, "-m", "judgekit", "batch", "collect"]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    with DiskCache(CACHE) as cache:
        assert [len(cache.rejected(key)) for key in cache.rejected_keys()] == [1] * N


# What Anthropic's protocol leaves open: a batch has no name.


def foreign(server: AnthropicBatchServer, n_requests: int = N) -> dict[str, Any]:
    """A batch of somebody else in the same workspace."""
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}
    return server.add([{"custom_id": f"theirs-{n}", "params": body} for n in range(n_requests)])


@anthropic_only
def test_a_batch_that_may_be_ours_is_waited_for_and_taken_once_it_has_ended(
    bench: Bench, server: AnthropicBatchServer
) -> None:
    foreign(server)  # before: not a candidate
    kill_submission(bench, server, "after POST batches")
    foreign(server)
    foreign(server, N + 1)
    waits = submit(bench, server)
    assert waits.code == 4
    assert "may be msgbatch-2 or msgbatch-1 at the provider" in " ".join(waits.out.split())
    assert bench.run("batch", "status").code == 4
    server.finish(good)
    found = submit(bench, server, "--json")
    assert (found.code, found.json["batches"][0]["batch_id"]) == (4, "msgbatch-1")
    assert bench.run("batch", "collect").code == 0
    assert grade(bench, server, "--frozen").code == 0
    assert len(server.batches) == 4


@anthropic_only
def test_a_batch_of_another_record_is_no_candidate_and_an_uncounted_one_is(
    bench: Bench, server: AnthropicBatchServer
) -> None:
    kill_submission(bench, server, "after POST batches")
    only(server)["request_counts"] = {}
    assert submit(bench, server, "--temperature", "0.5").code == 4
    assert len(server.batches) == 2
    found = submit(bench, server, "--json").json["batches"]
    assert [one["candidates"] for one in found] == [["msgbatch-0"]]


@anthropic_only
def test_a_batch_of_somebody_else_is_told_from_ours_by_its_results(
    bench: Bench, server: AnthropicBatchServer
) -> None:
    kill_submission(bench, server, "before POST batches")
    foreign(server)
    assert submit(bench, server).code == 4
    assert len(server.batches) == 1
    server.finish(good)
    assert submit(bench, server, "--json").json["batches"][0]["batch_id"] == "msgbatch-1"


@anthropic_only
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_user_who_knows_the_batch_need_not_wait(
    bench: Bench, server: AnthropicBatchServer, *, is_ours: bool
) -> None:
    kill_submission(bench, server, "after POST batches" if is_ours else "before POST batches")
    if not is_ours:
        foreign(server)
    name = submit(bench, server, "--json").json["batches"][0]["name"]
    other = bench.run("batch", "status", name, "--sent-as", "msgbatch-7")
    assert (other.code, "msgbatch-7" in other.err) == (2, True)
    refused = bench.run("batch", "cancel", name)
    assert (refused.code, "may be msgbatch-0" in refused.err) == (2, True)
    choice = ("--sent-as", "msgbatch-0") if is_ours else ("--not-sent",)
    assert bench.run("batch", "status", name, *choice).code == 4
    assert submit(bench, server).code == 4
    server.finish(good)
    assert bench.run("batch", "collect").code == 0
    assert grade(bench, server, "--frozen").code == 0
    assert len(server.batches) == (1 if is_ours else 2)


@anthropic_only
def test_an_interrupted_submission_that_left_no_batch_can_be_cancelled(
    bench: Bench, server: AnthropicBatchServer
) -> None:
    kill_submission(bench, server, "before POST batches")
    (record,) = BatchFolder(CACHE).records()
    assert bench.run("batch", "cancel", record.name).code == 0
    assert submit(bench, server, "--json").json["batches"][0]["name"] != record.name


@anthropic_only
@pytest.mark.parametrize("options", [(), ("judgekit-1", "--not-sent")])
def test_what_is_known_of_a_submission_is_said_of_one_that_is_open(
    bench: Bench, server: AnthropicBatchServer, options: tuple[str, ...]
) -> None:
    refused = bench.run("batch", "status", *options, "--sent-as", "msgbatch-0")
    assert (refused.code, "--sent-as and --not-sent" in refused.err) == (2, True)
    name = submit(bench, server, "--json").json["batches"][0]["name"]
    assert bench.run("batch", "status", name, "--not-sent").code == 2
    assert submit(bench, server).code == 4
    assert len(server.batches) == 1


@anthropic_only
def test_a_refused_submission_is_not_looked_for_afterwards(
    bench: Bench, server: AnthropicBatchServer
) -> None:
    server.fault = "refuses"
    refused = submit(bench, server)
    assert (refused.code, "not today" in refused.err) == (3, True)
    foreign(server)  # might be mistaken for it
    assert submit(bench, server, "--json").json["batches"][0]["batch_id"] == "msgbatch-1"


@anthropic_only
def test_a_submission_that_failed_may_have_made_a_batch(
    bench: Bench, server: AnthropicBatchServer
) -> None:
    server.fault = "creates and fails"
    assert submit(bench, server).code == 3
    assert submit(bench, server, "--json").json["batches"][0]["candidates"] == ["msgbatch-0"]
    server.finish(good)
    assert submit(bench, server, "--json").json["batches"][0]["batch_id"] == "msgbatch-0"
    assert len(server.batches) == 1


@anthropic_only
def test_an_archived_batch_leaves_its_requests_open(
    bench: Bench, server: AnthropicBatchServer
) -> None:
    submit(bench, server)
    server.finish(good)
    only(server)["archived_at"] = "2096-11-02T07:06:40Z"
    lost = bench.run("batch", "collect")
    assert (lost.code, "no longer kept" in lost.out) == (3, True)
    assert submit(bench, server, "--json").json["batches"][0]["n_requests"] == N


@gemini_only
def test_an_expired_file_of_requests_is_uploaded_again(
    bench: Bench, server: GeminiBatchServer
) -> None:
    kill_submission(bench, server, "before POST models/gemini-2.5-flash:batchGenerateContent")
    server.files.clear()
    refused = submit(bench, server)
    assert (refused.code, "it may not exist" in refused.err) == (3, True)
    assert submit(bench, server).code == 4
    assert len(server.batches) == 1


@gemini_only
def test_an_expired_file_of_results_leaves_its_requests_open(
    bench: Bench, server: GeminiBatchServer
) -> None:
    submit(bench, server)
    server.finish(good)
    server.files.clear()
    lost = bench.run("batch", "collect")
    assert (lost.code, "no longer kept" in lost.out) == (3, True)
    assert submit(bench, server, "--json").json["batches"][0]["n_requests"] == N


@gemini_only
def test_a_batch_that_failed_says_why(bench: Bench, server: GeminiBatchServer) -> None:
    submit(bench, server)
    only(server)["metadata"]["state"] = "BATCH_STATE_FAILED"
    only(server)["error"] = {"code": 3, "message": "the file is no JSONL"}
    collected = bench.run("batch", "collect")
    assert (collected.code, "the file is no JSONL" in collected.out) == (3, True)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("claude-2", (), "litellm's table of models lacks it"),
        (None, ("--logprobs",), "with the parameter logprobs"),
    ],
)
@gemini_only
def test_what_only_litellm_can_send_is_refused_before_anything_is_written(
    bench: Bench, server: BatchServer, name: str | None, options: tuple[str, ...], words: str
) -> None:
    model = server.model if name is None else f"anthropic/{name}"
    refused = bench.run(
        "batch", "submit", *WHAT, "--judge", model, "--api-base", server.url, *options
    )
    assert (refused.code, server.calls.total()) == (2, 0)
    assert words in refused.err
    assert not list((CACHE / "batches").glob("*.json*"))


@pytest.mark.parametrize("provider", BATCH_PROVIDERS)
def test_every_provider_that_is_said_to_have_batches_can_be_opened(provider: str) -> None:
    assert can_batch(f"{provider}/m")
    assert open_batches(f"{provider}/m", api_base="http://127.0.0.1:1/v1").ended
