from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import output
from tests.cli.test_compare import better_wins
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench

TEN = [f"c{k}" for k in range(10)]
SUITE = {
    "name": "small",
    "dataset": "cases.jsonl",
    "rubric": "rubric.yaml",
    "judge": "heuristic",
    "variants": [{"id": "v1", "outputs": "v1.jsonl"}, {"id": "v2", "outputs": "v2.jsonl"}],
    "assertions": [{"type": "contains", "value": "better"}],
}

PLAIN = {name: value for name, value in SUITE.items() if name != "rubric"}
"""The same judged by its assertions alone."""


@pytest.fixture
def suite(bench: Bench) -> Bench:
    """A suite of ten cases and two recorded variants, of which the first is better."""
    bench.write("cases.jsonl", *({"id": c, "input": f"Question {c}?"} for c in TEN))
    bench.write("v1.jsonl", *({"case_id": c, "text": f"better {c}"} for c in TEN))
    bench.write("v2.jsonl", *({"case_id": c, "text": f"worse {c}"} for c in TEN))
    bench.write("judgekit.yaml", json.dumps(SUITE))
    return bench


def test_two_recorded_variants_of_the_suite_are_compared(suite: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        ran = suite.ask(server, "compare", "v1", "v2")
    assert ran.code == 0
    assert "v1 is better" in ran.out


def test_the_heuristic_judge_cannot_compare(suite: Bench) -> None:
    ran = suite.run("compare", "v1", "v2")
    assert (ran.code, ran.out) == (2, "")
    assert "the heuristic judge only counts assertions" in ran.err


def test_an_unknown_variant_is_named_with_those_there_are(suite: Bench) -> None:
    ran = suite.run("compare", "v1", "v3", "--judge", "openai/m")
    assert ran.code == 2
    assert "v3" in ran.err
    assert "known: v1, v2" in ran.err


def test_two_stored_runs_are_compared_blind(suite: Bench) -> None:
    assert suite.run("run", "--no-progress").code in (0, 1)
    with OpenAILikeServer(better_wins) as server:
        ran = suite.ask(server, "compare", "latest::v2", "latest::v1")
    assert ran.code == 0
    assert "latest::v1 is better: 10 of 10 decided pairs" in ran.out


def test_two_stored_runs_are_compared_by_their_scores_without_a_judge(suite: Bench) -> None:
    suite.write("judgekit.yaml", json.dumps(PLAIN))
    suite.run("run", "--no-progress")
    ran = suite.run("compare", "latest::v2", "latest::v1", "--scores")
    assert ran.code == 0
    assert "latest::v1 is better: a difference of +1.000 over 10 cases" in ran.out
    found = suite.run("compare", "latest::v2", "latest::v1", "--scores", "--json").json
    assert found["pass_rate"]["estimate"]["value"] == 1
    assert found["pass_rate"]["p"] < 0.01


def test_scores_that_do_not_differ_exit_with_4(suite: Bench) -> None:
    suite.write("v2.jsonl", *({"case_id": c, "text": f"better too {c}"} for c in TEN[:9]))
    suite.write("judgekit.yaml", json.dumps(PLAIN))
    suite.run("run", "--no-progress")
    ran = suite.run("compare", "latest::v1", "latest::v2", "--scores")
    assert ran.code == 4
    assert "no decision: no case differs" in ran.out
    assert "1 case with a missing value" in ran.out


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("latest", "latest::v1"), "has the variants v1, v2"),
        (("latest::v3", "latest::v1"), "no variant of this run is called 'v3'"),
        (("v1", "latest::v1"), "no outputs file, template or variant is called 'latest::v1'"),
        (("nothing", "latest::v1"), "nothing"),
    ],
)
def test_a_run_is_named_with_its_variant(suite: Bench, names: tuple[str, str], words: str) -> None:
    suite.run("run", "--no-progress")
    ran = suite.run("compare", *names, "--judge", "openai/m")
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_a_run_without_a_rubric_needs_one(suite: Bench) -> None:
    suite.write("judgekit.yaml", json.dumps(PLAIN))
    suite.run("run", "--no-progress")
    ran = suite.run("compare", "latest::v1", "latest::v2", "--judge", "openai/m")
    assert ran.code == 2
    assert "no rubric is named" in ran.err
    with OpenAILikeServer(better_wins) as server:
        what = ("compare", "latest::v1", "latest::v2", "--rubric", "rubric.yaml")
        assert suite.ask(server, *what).code == 0


def test_a_second_output_of_a_case_says_how_to_name_the_variant(bench: Bench) -> None:
    rows = [output("a", variant=v, text=v) for v in ("v1", "v2")]
    bench.write("both.jsonl", *rows)
    what = ("compare", "both.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
    ran = bench.run(*what, "--judge", "openai/m")
    assert ran.code == 2
    assert "FILE::VARIANT" in ran.err
