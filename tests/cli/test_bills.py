"""What plans, cost limits and reports say of money, beside the bill of a provider."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.models.pricing import count_messages, count_tokens
from judgekit.testing import ServedReply
from judgekit.testing.server_replies import schema_reply
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

# In US dollars for a million tokens sent and received.
PRICES = {"m1": (1.0, 4.0), "m2": (3.0, 12.0)}
RATES = ("input_usd", "output_usd")
NO_JSON = "I had rather not give a score."
MANY = 50.0


@dataclass
class Provider:
    """Bills every reply, the schema of the request included, as providers do."""

    unreadable: Sequence[int] = ()
    """The numbers of the requests whose replies cannot be parsed."""

    bills: list[float] = field(default_factory=list)

    @property
    def usd(self) -> float:
        return sum(self.bills)

    def __call__(self, asked: ServedRequest) -> ServedReply:
        body = asked.body
        text = NO_JSON if asked.number in self.unreadable else f"Answer {asked.number}."
        n_sent = count_messages(body["messages"], body["model"]).n
        if form := body.get("response_format"):
            schema = json.dumps(form["json_schema"]["schema"], separators=(",", ":"))
            n_sent += count_tokens(schema, body["model"]).n
            text = text if text is NO_JSON else schema_reply(asked)
        n_received = count_tokens(text, body["model"]).n
        sent, received = PRICES[body["model"]]
        self.bills.append((n_sent * sent + n_received * received) / 1e6)
        usage = {"prompt_tokens": n_sent, "completion_tokens": n_received}
        return ServedReply(text, fields={"usage": usage})


def lay_out(bench: Bench, url: str, seed: int = 0, *, small: bool = False, **judge: object) -> None:
    """A suite drawn by the seed, or a small one, in which every model has a price."""
    drawn = random.Random(seed)
    ids = [f"c{n}" for n in range(1 if small else drawn.randint(1, 4))]
    names = [f"k{n}" for n in range(1 if small else drawn.randint(1, 4))]
    criteria = [{"name": n, "question": f"Is its {n} good?", "scale": "one_to_five"} for n in names]
    way = {"api_base": url, "max_concurrency": drawn.choice([1, 32])}
    judges = [
        {**way, "model": f"openai/{model}", "mode": drawn.choice(["per_criterion", "joint"])}
        | {"repeats": drawn.choice([1, 2]), "max_tokens": drawn.choice([None, 300])} | judge
        for model in list(PRICES)[: 1 if small else drawn.choice([1, 2])]
    ]  # fmt: skip
    cascade = {"combine": "cascade", "escalate_below": 0.9}
    panel = {"panel": drawn.choice([{"combine": "mean"}, cascade])} if len(judges) > 1 else {}
    prompt = {"id": "v2", "prompt": "ask.j2", "model": "openai/m2", "api_base": url}
    suite = {
        "name": "s", "dataset": "cases.jsonl", "rubric": "drawn.yaml", "judge": judges, **panel,
        "prices": {f"openai/{m}": dict(zip(RATES, usd, strict=True)) for m, usd in PRICES.items()},
        "variants": [{"id": "v1", "outputs": "drawn.jsonl"}, prompt][: 1 if small else 2],
    }  # fmt: skip
    bench.write("cases.jsonl", *({"id": case, "input": f"What is {case}?"} for case in ids))
    bench.write("drawn.jsonl", *({"case_id": case, "text": f"It is {case}."} for case in ids))
    bench.write("drawn.yaml", json.dumps({"name": "r", "criteria": criteria}))
    bench.write("ask.j2", "Answer: {{ input }}")
    bench.write("judgekit.yaml", json.dumps(suite))


def reported_usd(run: Ran) -> float:
    """What a run says that it cost, earlier sessions included."""
    parts = ("targets_usd", "judges_usd", "checks_usd")
    paid = sum(variant["money"][part] for variant in run.json["variants"] for part in parts)
    return float(paid + run.json["replaced_usd"])


def dry(bench: Bench, *options: object) -> dict[str, Any]:
    ran = bench.run("run", "--dry-run", "--json", *options)
    assert ran.out, ran.err
    found: dict[str, Any] = ran.json
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_run_costs_what_its_bill_says_and_at_most_what_was_planned(
    bench: Bench, seed: int
) -> None:
    provider = Provider()
    with OpenAILikeServer(provider) as server:
        lay_out(bench, server.url, seed)
        plan = dry(bench)
        run = bench.run("run", "--json")
        again = bench.run("run", "--json")
    assert reported_usd(run) == pytest.approx(provider.usd)
    assert len(provider.bills) <= sum(model["most"]["calls"] for model in plan["models"])
    assert provider.usd <= plan["most_usd"]
    assert reported_usd(again) == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_limit_that_suffices_for_the_upper_bound_stops_no_run(bench: Bench, seed: int) -> None:
    provider = Provider()
    with OpenAILikeServer(provider) as server:
        lay_out(bench, server.url, seed)
        plan = dry(bench)
        # Before the last call there has to be what it may cost, whatever the others did cost.
        limit = plan["most_usd"] + plan["reserved_usd"]
        assert dry(bench, "--max-cost", limit)["sufficiency"] == "at_most"
        assert bench.run("run", "--max-cost", limit).code != 5
    assert provider.usd <= limit


@pytest.mark.parametrize("seed", range(4))
def test_no_session_crosses_its_limit_and_all_together_cost_the_bill(
    bench: Bench, seed: int
) -> None:
    unreadable = random.Random(seed).sample(range(20), 6)
    provider = Provider(unreadable)
    with OpenAILikeServer(provider) as server:
        lay_out(bench, server.url, seed)
        limit = dry(bench)["reserved_usd"] * 1.03
        first = bench.run("run", "--json", "--max-cost", limit)
        assert provider.usd <= limit
        assert reported_usd(first) == pytest.approx(provider.usd)
        assert (first.code == 5) == (first.json["run"]["status"] == "stopped")
        last = bench.run("run", "--json", "--resume", "--max-cost", MANY)
    assert reported_usd(last) == pytest.approx(provider.usd)
    assert last.json["run"]["status"] == "complete"


def test_a_limit_that_is_less_than_what_is_set_aside_for_a_call_is_too_low(bench: Bench) -> None:
    provider = Provider()
    with OpenAILikeServer(provider) as server:
        lay_out(bench, server.url, small=True)
        plan = dry(bench)
        # As much as all calls cost at most, but a single call may cost more.
        limit = plan["most_usd"]
        ran = bench.run("run", "--dry-run", "--max-cost", limit)
        assert ran.code == 5
        assert "is set aside before a call): the run would stop" in " ".join(ran.out.split())
        assert bench.run("run", "--max-cost", limit).code == 5
    assert provider.bills == []


def test_a_repetition_that_the_limit_refused_is_made_when_the_run_is_resumed(bench: Bench) -> None:
    # The reply cannot be parsed, and less is left than its repetition may cost.
    provider = Provider(unreadable=[0])
    with OpenAILikeServer(provider) as server:
        lay_out(bench, server.url, small=True, max_tokens=300, repeats=1)
        limit = dry(bench)["reserved_usd"] * 1.01
        first = bench.run("run", "--json", "--max-cost", limit)
        assert (first.code, first.json["run"]["status"]) == (5, "stopped")
        assert "the cost limit allows no further call" in first.err
        assert len(provider.bills) == 1
        second = bench.run("run", "--json", "--resume", "--max-cost", MANY)
    assert second.json["run"]["status"] == "complete"
    assert second.code == 0
    for run, bill in ((first, provider.bills[0]), (second, provider.usd)):
        assert reported_usd(run) == pytest.approx(bill)


def test_what_is_retried_is_planned(bench: Bench) -> None:
    provider = Provider(unreadable=range(1000))
    with OpenAILikeServer(provider) as server:
        lay_out(bench, server.url, small=True)
        assert bench.run("run").code == 3
        n, provider.unreadable = len(provider.bills), ()
        plan = dry(bench, "--resume", "--retry-errors")
        assert bench.run("run", "--resume", "--retry-errors").code == 0
    (model,) = plan["models"]
    assert model["likely"]["calls"] == model["n_questions"] == len(provider.bills) - n
    assert sum(provider.bills[n:]) <= plan["most_usd"]


@pytest.mark.parametrize(
    "command",
    [
        ("plan",),
        ("audit", "--dry-run", "--probes", "stability"),
        ("calibrate", "labels.jsonl", "--dry-run"),
    ],
)
def test_prices_of_the_suite_hold_wherever_its_judge_is_asked(
    bench: Bench, command: tuple[str, ...]
) -> None:
    lay_out(bench, "http://127.0.0.1:9", seed=5)
    suite = json.loads((bench.folder / "judgekit.yaml").read_text())
    judge = {"model": "openai/gpt-4.1-mini"}
    recorded = suite["variants"][:1]
    bench.write("labels.jsonl", {"case_id": "c0", "criterion": "k0", "annotator": "a", "raw": 4})
    found = []
    for usd in (1.0, 1000.0):
        prices = {"openai/gpt-4.1-mini": {"input_usd": usd, "output_usd": usd}}
        changed = {"judge": judge, "panel": None, "variants": recorded, "prices": prices}
        whole = {**suite, **changed}
        bench.write("judgekit.yaml", json.dumps({k: v for k, v in whole.items() if v is not None}))
        outputs = ("--outputs", "drawn.jsonl") if command[0] == "calibrate" else ()
        ran = bench.run(*command, *outputs, "--json").json
        price = ran.get("price_usd", ran.get("calls", {}).get("price_usd"))
        found.append(price[0] if isinstance(price, list) else price)
    assert found[1] == pytest.approx(1000 * found[0])
    assert found[0] > 0


def test_a_comparison_counts_answers_that_were_replaced(bench: Bench) -> None:
    provider = Provider(unreadable=range(1000))
    with OpenAILikeServer(provider) as server:
        lay_out(bench, server.url, small=True, repeats=1)
        bench.write("other.jsonl", {"case_id": "c0", "text": "It may be c0."})
        what = ("compare", "drawn.jsonl", "other.jsonl", "--json")
        assert bench.run(*what).code == 3
        # The failures come from the cache now, and replace those that were paid for.
        again = bench.run(*what, "--resume").json
        assert again["spent"]["cost_usd"] + again["replaced_usd"] == pytest.approx(provider.usd)
        shown = bench.run("show", again["id"])
        assert "more for answers replaced since" in " ".join(shown.out.split())
        n = len(provider.bills)
        limit = ("--max-cost", provider.usd * 1.001)
        assert bench.run(*what, "--resume", "--refresh", *limit).code == 5
    assert len(provider.bills) == n
