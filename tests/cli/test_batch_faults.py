"""Batches that fail in part: at another provider, on disk, for lack of money or of a batch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.batches import BatchFolder, submit_requests
from judgekit.models import PriceTable
from judgekit.models.cache import DiskCache, MemoryCache
from judgekit.models.request import ModelReply
from judgekit.testing import ServedReply
from tests.cli.batching import WHAT, N, good, submit
from tests.cli.cache_folders import CACHE, other_request
from tests.factories import reply
from tests.servers.batches import AnthropicBatchServer, BatchServer, GeminiBatchServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.bench import Bench


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-0123456789abcdef")
    with BatchServer() as serving:
        yield serving


def sizes(server: BatchServer) -> list[int]:
    """How many requests each batch at the provider has."""
    return [len(server.lines(one)) for one in server.batches.values()]


def write_suites(bench: Bench, server: BatchServer, *names: str) -> None:
    for name in names:
        bench.write(f"s/{name}.jsonl", *({"id": one, "input": one + name} for one in "abcd"))
        bench.write(
            f"s/{name}.yaml",
            f"name: {name}\ndataset: {name}.jsonl\nrubric: ../rubric.yaml\n"
            f"judge: {{model: openai/m, api_base: '{server.url}'}}\n"
            "prices: {openai/m: {input_usd: 1, output_usd: 1}}\n"
            "variants: [{id: v, outputs: ../outputs.jsonl}]\n",
        )


# What may cost how much


def test_suites_of_one_folder_share_one_limit_of_money(bench: Bench, server: BatchServer) -> None:
    write_suites(bench, server, "x", "y", "z")
    ran = bench.run("run", "s", "--batch", "--max-cost", "0.05")  # each may cost $0.042
    assert (ran.code, sizes(server)) == (5, [N])
    assert "and the limit is $0.0077" in ran.err


@pytest.mark.parametrize("status", [402, 500])  # refused, and with an unknown result
def test_a_submission_that_failed_does_not_cross_the_limit_of_a_smaller_one(
    bench: Bench, server: BatchServer, status: int
) -> None:
    write_suites(bench, server, "x")
    server.faults["POST batches"] = status
    refused = bench.run("batch", "submit", "s/x.yaml")
    assert (refused.code, "submit the same again later" in refused.err) == (3, True)
    server.faults.clear()
    assert bench.run("batch", "submit", "s/x.yaml", "-n", 1, "--max-cost", "0.02").code == 4
    assert sizes(server) == [2]
    assert bench.run("batch", "submit", "s/x.yaml").code == 4
    assert sizes(server) == [2, N - 2]


def test_what_was_asked_before_a_change_is_not_sent_with_what_is_asked_now(
    bench: Bench, server: BatchServer
) -> None:
    server.faults["POST batches"] = 429
    assert submit(bench, server).code == 3
    server.faults.clear()
    assert submit(bench, server, "--temperature", "0.7").code == 4
    bodies = [line["body"] for one in server.batches.values() for line in server.lines(one)]
    assert [body["temperature"] for body in bodies] == [0.7] * N
    assert "finished when the same is submitted again" in bench.run("batch", "status").out


@pytest.mark.parametrize("one_is_served", [True, False])
def test_replies_that_came_before_the_lock_are_not_paid_for_again(
    tmp_path: Any, server: BatchServer, *, one_is_served: bool
) -> None:
    served, rejected, open_one = (
        other_request(text, "openai/m").model_copy(update={"api_base": server.url})
        for text in ("served", "rejected", "open")
    )
    cache = MemoryCache()
    cache.put_rejected(rejected, ModelReply(text="{", finish_reason="length"))
    requests = {one.key: one for one in (rejected, open_one)}
    if one_is_served:
        cache.put(served, ModelReply(text="{}", finish_reason="stop"))
        requests[served.key] = served
    job = submit_requests(BatchFolder(tmp_path), requests, cache=cache, prices=PriceTable())
    assert [one.n_requests for one in asyncio.run(job).sent] == [1]
    assert [line["custom_id"] for line in server.lines(server.batches["batch-0"])] == [open_one.key]


@pytest.mark.parametrize(
    ("kind", "model", "sent", "cached", "received"),
    [
        (GeminiBatchServer, None, 0.15e-6, 0.03e-6, 1.25e-6),  # cached tokens: the price of calls
        (BatchServer, "openai/gpt-4.1-mini", 0.2e-6, 0.2e-6, 0.8e-6),  # no discount for cached ones
        (BatchServer, "openai/gpt-5-mini", 0.125e-6, 0.0125e-6, 1e-6),  # half of all
    ],
)
def test_cached_tokens_have_the_price_that_they_have_in_batches(
    bench: Bench,
    server: BatchServer,  # for the keys
    monkeypatch: pytest.MonkeyPatch,
    kind: type[BatchServer],
    model: str | None,
    sent: float,
    cached: float,
    received: float,
) -> None:
    del server
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    usage |= {"prompt_tokens_details": {"cached_tokens": 600}}  # type: ignore[dict-item]  # JSON
    gemini = {"promptTokenCount": 1000, "candidatesTokenCount": 100, "totalTokenCount": 1100}
    gemini |= {"cachedContentTokenCount": 600}
    shown = {"content": {"parts": [{"text": reply(5)}]}, "finishReason": "STOP"}
    with kind() as own:
        # By a variable: at an address of one's own prices of OpenAI's models are not known.
        monkeypatch.setenv("OPENAI_BASE_URL", own.url)
        monkeypatch.setenv("GEMINI_API_BASE", own.url)
        judge = ("--judge", model or own.model)
        assert bench.run("batch", "submit", *WHAT, *judge, "-n", 1).code == 4
        own.finish(
            lambda _: (
                ServedReply(body={"candidates": [shown], "usageMetadata": gemini})
                if model is None
                else ServedReply(reply(5), fields={"usage": usage})
            )
        )
        bench.run("batch", "collect")
    with DiskCache(CACHE) as cache:
        costs = [one.cost_usd for key in [*cache.keys()] if (one := cache.get(key)) is not None]
    assert costs == [pytest.approx(400 * sent + 600 * cached + 100 * received)] * 2


# What is not there, or cannot be read


def test_a_provider_that_is_down_keeps_nothing_of_another_from_being_collected(
    bench: Bench, server: BatchServer
) -> None:
    with AnthropicBatchServer() as other:
        for one in (other, server):
            submit(bench, one)
            one.finish(good)
        other.faults["GET batches/msgbatch"] = 529
        collected = bench.run("batch", "collect", "--json")
        assert (collected.code, "HTTP 529" in collected.err) == (3, True)
        assert [one["state"] for one in collected.json["batches"]] == ["submitted", "collected"]
        assert bench.run("batch", "status").code == 3
        other.faults.clear()
        assert bench.run("batch", "collect").code == 0


@pytest.mark.parametrize("damage", ["cut", "fewer", "edited", "empty"])
def test_requests_that_cannot_be_read_are_an_error_and_not_sent_again(
    bench: Bench, server: BatchServer, damage: str
) -> None:
    submit(bench, server)
    server.finish(good)
    path = next((CACHE / "batches").glob("*.jsonl"))
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    damaged = {"cut": text[:-100], "fewer": "".join(lines[1:]), "edited": "x\n" + text, "empty": ""}
    path.write_text(damaged[damage])
    collected = bench.run("batch", "collect")
    assert (collected.code, "cannot be read" in collected.err) == (2, True)
    submit(bench, server)
    assert sizes(server) == [N]
    path.write_text(text)
    assert bench.run("batch", "collect").code == 0


def test_a_record_that_names_another_provider_is_an_error_that_names_the_file(
    bench: Bench, server: BatchServer
) -> None:
    submit(bench, server)
    path = next((CACHE / "batches").glob("*.json"))
    path.write_text(path.read_text().replace("openai/", "elsewhere/"))
    ran = bench.run("batch", "status")
    assert (ran.code, f"the record of a batch cannot be read: {path}" in ran.err) == (2, True)


def test_a_batch_that_has_ended_meanwhile_is_not_cancelled_and_can_be_collected(
    bench: Bench, server: BatchServer
) -> None:
    name = submit(bench, server, "--json").json["batches"][0]["name"]
    server.finish(good)
    assert bench.run("batch", "cancel", name).code == 0
    assert server.calls["POST batches/batch/cancel"] == 0
    assert bench.run("batch", "collect").code == 0


def test_a_batch_that_was_deleted_at_the_provider_can_be_given_up(
    bench: Bench, server: BatchServer
) -> None:
    name = submit(bench, server, "--json").json["batches"][0]["name"]
    server.faults["GET batches/batch"] = 404
    lost = bench.run("batch", "collect")
    assert (lost.code, "`judgekit batch cancel NAME` gives it up" in lost.err) == (3, True)
    assert bench.run("batch", "cancel", name).code == 0
    server.faults.clear()
    assert submit(bench, server).code == 4
    assert sizes(server) == [N, N]
