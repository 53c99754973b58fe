"""Assertions that one variant of a case passes: judged in both orders, planned, resumed, frozen."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.bench import asked
from tests.judge.comparing import prefers
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench

BEST = {"type": "select-best", "value": "the shortest"}
GOOD = {"v1": "answer one", "v2": "answer two", "v3": "answer three"}


def ranks(*order: str, ties: bool = False) -> Callable[[ServedRequest], ServedReply]:
    """A judge that prefers the variants in this order, wherever they stand."""

    def say(seen: ServedRequest) -> ServedReply:
        text = asked(seen)
        places = {name: text.rindex(GOOD[name]) for name in order if GOOD[name] in text}
        best, other = sorted(places, key=order.index)
        is_first = places[best] < places[other]
        return ok(prefers("tie" if ties else "first" if is_first else "second"))

    return say


def served(server: OpenAILikeServer, model: str = "openai/m") -> dict[str, Any]:
    return {"model": model, "api_base": server.url, "max_retries": 0}


def lay(
    bench: Bench,
    outputs: Mapping[str, Sequence[str]],
    *,
    assertions: Sequence[Mapping[str, object]] = (BEST,),
    case: Mapping[str, object] | None = None,
    **suite: Any,
) -> None:
    """A suite of recorded variants; an empty text is a missing output."""
    n = max(map(len, outputs.values()))
    bench.write("cases.jsonl", *({"id": f"c{k}", "input": "?", **(case or {})} for k in range(n)))
    for name, texts in outputs.items():
        own = [{"case_id": f"c{k}", "text": text} for k, text in enumerate(texts) if text]
        bench.write(f"{name}.jsonl", *own)
    whole = {
        "name": "s",
        "dataset": "cases.jsonl",
        "assertions": list(assertions),
        "variants": [{"id": name, "outputs": f"{name}.jsonl"} for name in outputs],
        **suite,
    }
    bench.write("judgekit.yaml", json.dumps(whole))


def one_each(*names: str, n: int = 1) -> dict[str, list[str]]:
    return {name: [GOOD[name]] * n for name in names or GOOD}


def checks(bench: Bench) -> dict[str, tuple[bool | None, str]]:
    """The first check of each answer of the latest run, by variant and case."""
    bench.run("export", "latest", "-o", "results.jsonl")
    rows = map(json.loads, (bench.folder / "results.jsonl").read_text("utf-8").splitlines())
    found: dict[str, tuple[bool | None, str]] = {}
    for row in rows:
        own: dict[str, Any] = next(iter(row["checks"]), {"passed": None, "message": "an error"})
        found[f"{row['variant']} {row['case']['id']}"] = own["passed"], str(own["message"])
    return found


def test_the_output_that_is_preferred_to_each_other_passes(bench: Bench) -> None:
    with OpenAILikeServer(ranks("v2", "v1", "v3")) as server:
        lay(bench, one_each(n=2), judge=served(server))
        plan = bench.run("plan", "--json").json
        ran = bench.run("run", "-q", "--fail-under", "1")
        # Three pairs in both orders, about two cases.
        assert (plan["models"][0]["n_questions"], server.n_requests) == (12, 12)
        frozen = bench.run("run", "-q", "--frozen")
        assert server.n_requests == 12
    assert (ran.code, frozen.code) == (1, 0)
    found = checks(bench)
    assert found["v2 c0"] == (True, "v2 is preferred to each of the others")
    assert found["v1 c1"] == found["v3 c1"] == (False, "v2 is preferred to each of the others")
    assert "v2 passed 2/2" in frozen.out
    page = bench.run("show", "latest", "c0").out
    assert "not preferred to v2: One of them quotes the policy." in page


@pytest.mark.parametrize(
    ("judge", "outputs", "why"),
    [
        (ranks(*GOOD, ties=True), one_each("v1", "v2"), "no output is preferred to each of the"),
        (lambda _: ok(prefers("first")), one_each(), "no output is preferred to each of the"),
        (ranks(*GOOD), {"v1": ["same"], "v2": ["same"]}, "no output is preferred to each of the"),
        (ranks(*GOOD), one_each("v1"), "only one variant answers the case"),
        (ranks(*GOOD), {"v1": [GOOD["v1"]] * 2, "v2": ["", GOOD["v2"]]}, "is missing: v2"),
    ],
)  # fmt: skip
def test_without_a_winner_nobody_passes_or_fails(
    bench: Bench, judge: Any, outputs: dict[str, list[str]], why: str
) -> None:
    with OpenAILikeServer(judge) as server:
        lay(bench, outputs, judge=served(server))
        ran = bench.run("run", "-q", "--fail-under", "0.5")
    assert ran.code in {1, 3, 4}
    first = {name: found for name, found in checks(bench).items() if name.endswith("c0")}
    assert {passed for passed, _ in first.values()} == {None}
    assert any(why in message for _, message in first.values())


def test_a_missing_judgment_is_asked_again_when_the_run_is_resumed(bench: Bench) -> None:
    lay(bench, one_each())
    replies = [
        {"case_id": "c0", "variant": f"{a} vs {b}", "order": order, "text": prefers(choice)}
        for a, b in combinations(GOOD, 2)
        for order, choice in (("ab", "second"), ("ba", "first"))
    ]
    bench.write("replies.jsonl", *replies[:-1])
    open_run = bench.run("run", "-q", "--judge", "recorded:replies.jsonl")
    assert open_run.code == 3
    assert {one[0] for one in checks(bench).values()} == {None}
    bench.write("replies.jsonl", *replies)
    again = bench.run("run", "-q", "--judge", "recorded:replies.jsonl", "--resume")
    assert (again.code, [one[0] for one in checks(bench).values()]) == (0, [False, False, True])


def test_a_judgment_that_cannot_change_the_winner_may_be_missing(bench: Bench) -> None:
    def say(seen: ServedRequest) -> ServedReply:
        return ranks(*GOOD)(seen) if GOOD["v1"] in asked(seen) else ok("I pass.")

    with OpenAILikeServer(say) as server:
        lay(bench, one_each(), judge=served(server))
        assert bench.run("run", "-q").code == 0
    assert [one[0] for one in checks(bench).values()] == [True, False, False]


@pytest.mark.parametrize(("limit", "code", "n"), [("--frozen", 6, 0), ("--max-cost=0.0001", 5, 0)])
def test_what_may_not_be_asked_is_asked_when_the_run_is_resumed(
    bench: Bench, limit: str, code: int, n: int
) -> None:
    with OpenAILikeServer(ranks(*GOOD)) as server:
        lay(bench, one_each("v1", "v2"), judge=served(server, "openai/gpt-4.1-mini"))
        ran = bench.run("run", "-q", limit)
        assert (ran.code, server.n_requests) == (code, n)
        assert {one[0] for one in checks(bench).values()} == {None}
        more = ("--max-cost=1",) if "cost" in limit else ()
        bench.run("run", "-q", "--resume", *more)
        assert server.n_requests == 2
    assert [one[0] for one in checks(bench).values()] == [True, False]


def test_prompts_are_planned_before_they_are_answered(bench: Bench) -> None:
    lay(bench, one_each("v1", "v2"))
    prompts = [{"id": n, "prompt": f"{n}: {{{{input}}}}", "model": "openai/m"} for n in ("a", "b")]
    text = json.loads((bench.folder / "judgekit.yaml").read_text("utf-8")) | {"variants": prompts}
    bench.write("judgekit.yaml", json.dumps(text))
    ran = bench.run("plan", "--judge", "openai/gpt-4.1-mini", "--json")
    judge = ran.json["models"][-1]
    assert (judge["role"], judge["likely"]["calls"]) == ("judge", 2)
    # Both outputs, of 250 tokens each, are shown in both orders.
    assert judge["likely"]["input_tokens"] > 4 * 250
    assert judge["likely"]["price_usd"] > 0


@pytest.mark.parametrize(
    ("spec", "suite", "message"),
    [
        ({"type": "not-select-best", "value": "x"}, {}, "stands by itself"),
        ({"type": "all", "assertions": [BEST]}, {}, "stands by itself"),
        ({**BEST, "transform": [{"trim": True}]}, {}, "stands by itself"),
        ({"type": "select-best"}, {}, "needs `value`"),
        ({**BEST, "judge": "other"}, {}, "to be graded by the judge 'other'"),
        (BEST, {"judge": "heuristic"}, "the suite names no model that judges"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_call(
    bench: Bench, spec: dict[str, Any], suite: dict[str, Any], message: str
) -> None:
    lay(bench, one_each("v1", "v2"), assertions=[spec], **{"judge": "openai/m", **suite})
    ran = bench.run("run", "-q")
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_the_highest_score_needs_no_judge(bench: Bench) -> None:
    words = [{"type": "contains", "value": word} for word in ("answer", "o", "tw")]
    tried: list[tuple[dict[str, Any], list[bool]]] = [
        ({}, [False, True, False]),
        ({"weights": {"contains": 2}, "method": "sum", "threshold": 6}, [False, True, False]),
        ({"threshold": 6}, [False, False, False]),
    ]
    for settings, passed in tried:
        lay(bench, one_each(), assertions=[{"type": "max-score", **settings}, *words])
        assert bench.run("run", "-q").code == 0
        assert [one[0] for one in checks(bench).values()] == passed
    lay(bench, one_each(), assertions=[{"type": "max-score"}, words[0]])
    bench.run("run", "-q")
    assert {one[0] for one in checks(bench).values()} == {None}
    assert "the highest score is 1: v1, v2, v3" in str(checks(bench))


def test_outputs_that_are_graded_are_compared_too(bench: Bench) -> None:
    with OpenAILikeServer(ranks("v2", "v1")) as server:
        lay(bench, one_each("v1", "v2", n=2), judge=served(server))
        ran = bench.run("grade", "--json")
    assert [one["pass_rate"]["value"] for one in ran.json["variants"]] == [0.0, 1.0]


def test_of_several_tries_the_last_is_compared(bench: Bench) -> None:
    code = (
        "import json, pathlib; p = pathlib.Path('tried'); n = p.exists(); p.touch();"
        f"print(json.dumps({{'text': {GOOD['v1']!r} if n else 'bad'}}))"
    )
    variants = [{"id": "v1", "command": [sys.executable, "-c", code]},
                {"id": "v2", "outputs": "v2.jsonl"}]  # fmt: skip
    checks_first = [BEST, {"type": "contains", "value": "answer"}]
    with OpenAILikeServer(ranks(*GOOD)) as server:
        lay(bench, one_each("v2"), assertions=checks_first, judge=served(server),
            variants=variants, settings={"retry_failed": 1})  # fmt: skip
        ran = bench.run("run", "-q")
    assert (ran.code, "v1 passed 1/1; v2 passed 0/1" in ran.out) == (0, True), ran.out
    assert "not fully judged" not in ran.out
