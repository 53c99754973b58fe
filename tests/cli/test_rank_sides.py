from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_rank import CASES, GRADES, RUBRIC, knows
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench

VARIANTS = [{"id": grade, "outputs": f"{grade}.jsonl"} for grade in GRADES]
SUITE = {
    "name": "small",
    "dataset": "cases.jsonl",
    "rubric": "rubric.yaml",
    "judge": "heuristic",
    "variants": VARIANTS,
    "assertions": [{"type": "contains", "value": "answer"}],
}
RUNS = [f"latest::{grade}" for grade in GRADES]


@pytest.fixture
def suite(bench: Bench) -> Bench:
    """A suite of eight cases and three recorded variants."""
    bench.write("rubric.yaml", RUBRIC)
    bench.write("cases.jsonl", *({"id": c, "input": f"Question {c}?"} for c in CASES))
    for grade in GRADES:
        rows = ({"case_id": c, "text": f"{grade} answer {c}"} for c in CASES)
        bench.write(f"{grade}.jsonl", *rows)
    bench.write("judgekit.yaml", json.dumps(SUITE))
    return bench


def test_recorded_variants_and_stored_runs_are_ranked_alike(suite: Bench) -> None:
    suite.run("run", "--no-progress")
    with OpenAILikeServer(knows) as server:
        recorded = suite.ask(server, "rank", *GRADES, "--json").json
        stored = suite.ask(server, "rank", *RUNS, "--json").json
        assert server.n_requests == 96
    assert [side["name"] for side in recorded["sides"]] == list(GRADES)
    assert [side["name"] for side in stored["sides"]] == RUNS
    assert stored["questioned"]["spent"]["n_cached"] == 96
    for there, back in zip(recorded["sides"], stored["sides"], strict=True):
        assert there["strength"] == back["strength"]


def test_variants_of_one_file_are_named_apart(suite: Bench) -> None:
    rows = [
        {"case_id": c, "variant": g, "input": "q", "text": f"{g} answer {c}"}
        for c in CASES
        for g in GRADES
    ]
    suite.write("all.jsonl", *rows)
    names = [f"all.jsonl::{grade}" for grade in GRADES]
    with OpenAILikeServer(knows) as server:
        ran = suite.ask(server, "rank", *names, "--json")
    assert [side["name"] for side in ran.json["sides"]] == names


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([*RUNS, "latest::poorest"], "no variant of this run is called 'poorest'"),
        (["latest", *RUNS], "has the variants"),
        (["fine.jsonl", *RUNS], "stored runs and files cannot be ranked together"),
        (["fine", "told", *RUNS], "stored runs and variants of the suite cannot be ranked"),
        (["fine", "told", "told"], "told is named twice"),
        (RUNS, "the heuristic judge only counts assertions"),
    ],
)
def test_a_side_that_cannot_be_opened_is_named(suite: Bench, names: list[str], words: str) -> None:
    suite.run("run", "--no-progress")
    if "told" in names:
        told = {"id": "told", "python": "nowhere:answer"}
        suite.write("judgekit.yaml", json.dumps(SUITE | {"variants": [*VARIANTS, told]}))
    judge = () if "heuristic" in words else ("--judge", "openai/m")
    ran = suite.run("rank", *names, *judge)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_runs_of_different_rubrics_need_one_to_be_named(suite: Bench) -> None:
    suite.run("run", "--no-progress")
    first = suite.run("show", "--json").json
    suite.write("rubric.yaml", RUBRIC.replace("right", "sound"))
    suite.run("run", "--no-progress")
    old = first["runs"][0]["id"] if isinstance(first, dict) else first[0]["id"]
    names = [f"{old}::fine", "latest::fair"]
    ran = suite.run("rank", *names, "--judge", "openai/m")
    assert ran.code == 2
    assert "the runs were judged by different rubrics" in ran.err
    with OpenAILikeServer(knows) as server:
        assert suite.ask(server, "rank", *names, "--rubric", "rubric.yaml").code in (0, 4)


def test_a_run_without_a_rubric_needs_one(suite: Bench) -> None:
    plain = {name: value for name, value in SUITE.items() if name != "rubric"}
    suite.write("judgekit.yaml", json.dumps(plain))
    suite.run("run", "--no-progress")
    ran = suite.run("rank", *RUNS, "--judge", "openai/m")
    assert ran.code == 2
    assert "no rubric is named" in ran.err
