"""Provider batches from the command line: submitted, collected, interrupted, limited."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.batches import BatchFolder, submit_requests
from judgekit.models import PriceTable
from judgekit.models.cache import DiskCache, MemoryCache
from judgekit.testing import ServedReply
from tests.cli.batching import WHAT, N, good, grade, judge, submit
from tests.cli.bench import asked
from tests.cli.cache_folders import CACHE, other_request
from tests.factories import reply
from tests.servers.answers import refusing
from tests.servers.batches import BatchServer
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.testing import ServedRequest
    from tests.cli.bench import Bench


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with BatchServer() as serving:
        yield serving


def test_what_a_batch_answered_is_what_a_frozen_grading_reads(
    bench: Bench, server: BatchServer
) -> None:
    sent = submit(bench, server, "--json")
    assert (sent.code, sent.json["batches"][0]["n_requests"]) == (4, N)
    assert "failed" not in sent.err
    assert bench.run("batch", "status").code == 4
    assert bench.run("batch", "collect").code == 4
    server.finish(good)
    assert bench.run("batch", "collect").code == 0
    graded = grade(bench, server, "--frozen", "--json")
    assert graded.code == 0
    assert graded.json["variants"][0]["pass_rate"]["value"] == 1.0
    assert submit(bench, server).code == 0
    assert len(server.batches) == 1


def test_a_batch_sends_the_bodies_of_calls_and_stores_under_their_keys(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)
    server.finish(good)
    bench.run("batch", "collect")
    in_batch = [line["body"] for one in server.batches.values() for line in server.lines(one)]
    with OpenAILikeServer() as live:
        bench.grade(live, "--cache-dir", "other")
        called = [one.body for one in live.requests]
    assert sorted(map(json.dumps, in_batch)) == sorted(map(json.dumps, called))
    with DiskCache(CACHE) as cache:
        entries = [cache.entry(key) for key in [*cache.keys()]]
    sources = {one.imported for one in entries if one is not None}
    assert (len(entries), sources) == (N, {"batch batch-0"})


def test_a_reply_costs_half_of_a_call(bench: Bench, server: BatchServer) -> None:
    bench.write(
        "judgekit.yaml",
        "name: s\ndataset: outputs.jsonl\n"
        "prices: {openai/m: {input_usd: 1000000, output_usd: 2000000}}\n"
        "variants: [{id: v, outputs: outputs.jsonl}]\n",
    )
    submit(bench, server, "-n", 1)
    server.finish(good)
    found = bench.run("batch", "collect", "--json").json["batches"][0]
    with DiskCache(CACHE) as cache:
        replies = [cache.get(key) for key in [*cache.keys()]]
    used = [one.usage for one in replies if one is not None and one.usage is not None]
    full = sum(one.input_tokens + 2 * one.output_tokens for one in used)
    assert found["cost_usd"] == pytest.approx(full / 2)


def test_refused_and_expired_requests_are_listed_and_go_into_the_next_batch(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)

    def script(seen: ServedRequest) -> ServedReply | str | None:
        if "answer a\n" in asked(seen):
            return ServedReply(status=500, body={"error": {"message": "it broke"}})
        return None if "answer b\n" in asked(seen) else reply(5)

    server.finish(script, status="expired")
    collected = bench.run("batch", "collect", "--json")
    found = collected.json["batches"][0]
    assert (collected.code, found["n_replies"], found["n_open"]) == (3, 4, 4)
    assert {one["text"].split(":")[0] for one in found["refused"].values()} == {
        "it broke",
        "batch_expired",
    }
    assert "no reply to" in bench.run("batch", "status").out
    assert submit(bench, server, "--json").json["batches"][0]["n_requests"] == 4
    server.finish(good)
    assert bench.run("batch", "collect").code == 0
    assert grade(bench, server, "--frozen").code == 0
    assert set(server.n_answered.values()) == {1}


def test_an_unreadable_reply_is_asked_again_in_the_next_batch(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)
    server.finish(lambda seen: "no JSON" if "answer a\n" in asked(seen) else reply(5))
    bench.run("batch", "collect")
    assert submit(bench, server, "--json").json["batches"][0]["n_requests"] == 2
    retried = [asked_in(line) for line in server.lines(server.batches["batch-1"])]
    assert all("Note: an earlier reply" in text for text in retried)
    server.finish(good)
    bench.run("batch", "collect")
    assert grade(bench, server, "--frozen").code == 0


def asked_in(line: dict[str, Any]) -> str:
    text: str = line["body"]["messages"][-1]["content"]
    return text


def test_a_truncated_reply_is_asked_again_three_times_in_all(
    bench: Bench, server: BatchServer
) -> None:
    options = ("-n", 1, "--max-tokens", 100)
    limits = []
    for _ in range(4):
        if submit(bench, server, *options).code == 0:
            break
        limits.append(server.lines([*server.batches.values()][-1])[0]["body"]["max_tokens"])
        server.finish(lambda _: ServedReply("{", finish_reason="length"))
        bench.run("batch", "collect")
    assert limits == [100, 200, 400]


def test_a_refused_parameter_is_left_out_of_the_next_batch(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)
    rule = refusing("temperature")
    server.finish(rule)
    assert bench.run("batch", "collect").code == 3
    submit(bench, server)
    bodies = [line["body"] for line in server.lines(server.batches["batch-1"])]
    assert len(bodies) == N
    assert not any("temperature" in body for body in bodies)


def test_batches_are_split_by_requests_and_by_bytes(tmp_path: Any, server: BatchServer) -> None:
    requests = {}
    for n in range(7):
        one = other_request(f"{n}{'x' * 100}", "openai/m").model_copy(
            update={"api_base": server.url}
        )
        requests[one.key] = one
    for most_requests, most_bytes, sizes in ((3, 10**6, [3, 3, 1]), (100, 700, [2, 2, 2, 1])):
        folder = BatchFolder(tmp_path / str(most_bytes))
        job = submit_requests(
            folder,
            requests,
            cache=MemoryCache(),
            prices=PriceTable(),
            most_requests=most_requests,
            most_bytes=most_bytes,
        )
        assert [one.n_requests for one in asyncio.run(job).sent] == sizes
        assert sorted(folder.pending_keys()) == sorted(requests)


def test_a_cancelled_batch_keeps_what_was_answered(bench: Bench, server: BatchServer) -> None:
    name = submit(bench, server, "--json").json["batches"][0]["name"]
    assert bench.run("batch", "cancel", name[:12]).code == 0
    server.finish(
        lambda seen: reply(5) if "answer a\n" in asked(seen) else None, status="cancelled"
    )
    found = bench.run("batch", "collect", name, "--json").json["batches"][0]
    assert (found["status"], found["n_replies"], found["n_open"]) == ("cancelled", 2, 6)


def test_a_batch_that_the_provider_refuses_says_why(bench: Bench, server: BatchServer) -> None:
    submit(bench, server)
    errors = {"data": [{"code": "invalid", "message": "the model has no batches"}]}
    server.batches["batch-0"] |= {"status": "failed", "errors": errors}
    collected = bench.run("batch", "collect")
    assert collected.code == 3
    assert "the model has no batches" in collected.out


@pytest.mark.parametrize("limit", ["0.000001", "100"])
def test_max_cost_is_checked_against_the_price_of_batches(
    bench: Bench, server: BatchServer, limit: str
) -> None:
    price = "prices: {openai/m: {input_usd: 1, output_usd: 1}}\n"
    bench.write(
        "judgekit.yaml",
        f"name: s\ndataset: outputs.jsonl\n{price}variants: [{{id: v, outputs: outputs.jsonl}}]\n",
    )
    sent = submit(bench, server, "--max-cost", limit, "--json")
    if limit != "100":
        assert (sent.code, server.batches) == (5, {})
        return
    bodies = [line["body"] for line in server.lines(server.batches["batch-0"])]
    assert all(body["max_tokens"] == 8192 for body in bodies)
    assert 0.0328 < sent.json["batches"][0]["most_usd"] < 0.06  # half of 8 x 8,192 tokens and more
    server.finish(good)
    bench.run("batch", "collect")
    assert grade(bench, server, "--frozen").code == 0


def write_run(bench: Bench, server: BatchServer) -> None:
    bench.write("cases.jsonl", *({"id": one, "input": one} for one in "abcd"))
    bench.write(
        "judgekit.yaml",
        "name: s\ndataset: cases.jsonl\nrubric: rubric.yaml\n"
        f"judge: {{model: openai/m, api_base: '{server.url}'}}\n"
        "variants: [{id: v, outputs: outputs.jsonl}]\n",
    )


def test_a_run_in_batches_waits_and_is_completed_when_resumed(
    bench: Bench, server: BatchServer
) -> None:
    write_run(bench, server)
    waiting = bench.run("run", "--batch", "--json")
    assert (waiting.code, waiting.json["batches"][0]["n_requests"]) == (4, N)
    assert "judgekit run --batch --json --resume" in waiting.err
    again = bench.run("run", "--batch", "--resume")
    assert again.code == 4
    assert "8 requests wait in earlier batches" in again.err
    assert len(server.batches) == 1
    server.finish(good)
    bench.run("batch", "collect")
    done = bench.run("run", "--batch", "--resume", "--json")
    assert (done.code, done.json["run"]["status"]) == (0, "complete")


def test_a_variant_that_is_a_prompt_goes_first_and_its_judge_next(
    bench: Bench, server: BatchServer
) -> None:
    write_run(bench, server)
    text = (bench.folder / "judgekit.yaml").read_text().splitlines()[:-1]
    prompt = f"variants: [{{id: p, model: openai/m, api_base: '{server.url}', prompt: p.jinja}}]\n"
    bench.write("p.jinja", "Say {{ case.input }}.")
    bench.write("judgekit.yaml", "\n".join([*text, prompt]))
    assert bench.run("run", "--batch").code == 4
    assert len(server.lines(server.batches["batch-0"])) == 4
    # One that is cut short is the variant's output all the same, as in a call.
    server.finish(lambda _: ServedReply("It is said", finish_reason="length"))
    bench.run("batch", "collect")
    assert bench.run("run", "--batch", "--resume").code == 4
    assert len(server.lines(server.batches["batch-1"])) == N
    server.finish(good)
    bench.run("batch", "collect")
    assert bench.run("run", "--batch", "--resume").code == 0


def test_the_next_judge_of_a_cascade_gets_only_what_the_first_leaves_open(
    bench: Bench, server: BatchServer
) -> None:
    write_run(bench, server)
    text = (bench.folder / "judgekit.yaml").read_text()
    first = f"{{model: openai/m, api_base: '{server.url}'}}"
    both = f"[{first}, {first.replace('/m', '/n')}]\npanel: {{combine: cascade, escalate_below: 1}}"
    bench.write("judgekit.yaml", text.replace(first, both))
    assert bench.run("run", "--batch").code == 4
    server.finish(lambda seen: reply(5, confidence=0.5 if "answer a\n" in asked(seen) else 1.0))
    bench.run("batch", "collect")
    assert bench.run("run", "--batch", "--resume").code == 4
    sent = [
        [line["body"]["model"] for line in server.lines(one)] for one in server.batches.values()
    ]
    assert sent == [["m"] * N, ["n"] * 2]
    server.finish(good)
    bench.run("batch", "collect")
    assert bench.run("run", "--batch", "--resume").code == 0


@pytest.mark.parametrize(
    "step",
    [
        "before GET files",  # the record is written
        "before POST files",  # nothing is uploaded
        "after POST files",  # uploaded, and not recorded
        "before POST batches",  # recorded
        "after POST batches",  # made, and not recorded
        "before GET files/file/content",  # while it collects
    ],
)
def test_a_kill_at_any_step_loses_nothing_and_pays_nothing_twice(
    bench: Bench, server: BatchServer, step: str
) -> None:
    is_collecting = "content" in step
    command = ["batch", "submit", *WHAT, *judge(server)]
    if is_collecting:
        submit(bench, server)
        server.finish(good)
        command = ["batch", "collect"]
    server.kill_at = step
    started = threading.Event()
    child: list[int] = []

    def client() -> int:
        started.wait()
        return child[0]

    server.client = client
    with subprocess.Popen([sys.executable, "-m", "judgekit", *command]) as process:
        child.append(process.pid)
        started.set()
    assert process.returncode == -9
    assert is_collecting == ("earlier batches" in submit(bench, server).err)
    server.finish(good)
    bench.run("batch", "collect")
    assert len(server.batches) == 1
    assert sum(one.get("purpose") == "batch" for one in server.files.values()) == 1
    assert server.n_answered.total() == N
    assert grade(bench, server, "--frozen").code == 0


def test_a_second_collection_of_the_same_results_stores_nothing_twice(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)
    server.finish(lambda _: ServedReply("{", finish_reason="length"))
    folder = CACHE / "batches"
    before = {path: path.read_bytes() for path in folder.glob("judgekit-*")}
    bench.run("batch", "collect")
    assert not list(folder.glob("*.jsonl"))
    for path, content in before.items():  # as a kill before the last step leaves them
        path.write_bytes(content)
    assert bench.run("batch", "collect").code == 0
    with DiskCache(CACHE) as cache:
        assert [len(cache.rejected(key)) for key in cache.rejected_keys()] == [1] * N


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--no-cache",), "--no-cache and --batch contradict"),
        (("--refresh",), "--refresh and --batch contradict"),
        (("--judge", "mistral/m"), "mistral/m cannot be called in batches"),
    ],
)
def test_what_no_batch_can_do_is_refused(
    bench: Bench, server: BatchServer, options: tuple[str, ...], words: str
) -> None:
    refused = grade(bench, server, "--batch", *options)
    assert refused.code == 2
    assert words in refused.err


def test_a_damaged_record_is_an_error_and_not_passed_over(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)
    next((CACHE / "batches").glob("*.json")).write_text("{")
    refused = submit(bench, server)
    assert (refused.code, len(server.batches)) == (2, 1)
    assert "cannot be read" in refused.err
