from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import output
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench

SUITE = """\
name: sums
cases:
  - {id: a, input: one and one}
  - {id: b, input: two and two}
  - {id: c, input: three and three, status: draft}
rubric: rubric.yaml
judge: JUDGE
variants:
  - {id: old, outputs: outputs.jsonl}
  - {id: new, prompt: ask.j2, model: openai/m, api_base: "URL"}
"""
MINI = "openai/gpt-4.1-mini"


def lay_out(bench: Bench, url: str = "http://127.0.0.1:9", judge: str = MINI) -> None:
    """A suite with a recorded variant and a prompt."""
    bench.write("judgekit.yaml", SUITE.replace("URL", url).replace("JUDGE", judge))
    bench.write("ask.j2", "Answer: {{ input }}")


def said(seen: ServedRequest) -> ServedReply:
    """An answer to a prompt, or a verdict."""
    is_prompt = str(seen.body["messages"][-1]["content"]).startswith("Answer:")
    return ok("four" if is_prompt else reply(5))


def test_a_suite_with_something_to_answer_is_planned_as_a_run(bench: Bench) -> None:
    lay_out(bench)
    ran = bench.run("plan")
    assert ran.code == 0
    assert "sums: 2 cases by 2 variants: 4 answers" in ran.out
    assert "cases left out: 1 draft" in ran.out
    assert "judge pointwise/criterion" in ran.out
    assert "pass rate: " in ran.out


@pytest.mark.parametrize("named", [".", "judgekit.yaml", "--config=judgekit.yaml", "--config=."])
def test_a_suite_can_be_named(bench: Bench, named: str) -> None:
    lay_out(bench)
    found = bench.run("plan", named, "--json").json
    assert (found["suite"], found["n_answers"]) == ("sums", 4)
    assert [model["role"] for model in found["models"]] == ["answers", "judge"]


def test_the_calls_that_are_planned_are_the_calls_that_are_made(bench: Bench) -> None:
    with OpenAILikeServer(said) as server:
        lay_out(bench, server.url)
        options = ("--judge", "openai/m", "--api-base", server.url)
        found = bench.run("plan", "--json", *options).json
        assert server.n_requests == 0
        bench.run("run", "--no-progress", *options)
        assert server.n_requests == sum(m["likely"]["calls"] for m in found["models"]) == 10
        again = bench.run("plan", "--json", *options).json
    assert sum(model["likely"]["calls"] for model in again["models"]) == 0
    assert sum(model["n_owned"] for model in again["models"]) == 10
    assert again["earlier"]["n_answers"] == 4


def test_a_dry_run_is_the_same_plan(bench: Bench) -> None:
    lay_out(bench)
    planned, dry = bench.run("plan", "--json"), bench.run("run", "--dry-run", "--json")
    assert planned.json == dry.json
    assert dry.code == 0


def test_too_little_money_is_said_and_exits_with_5(bench: Bench) -> None:
    lay_out(bench)
    model = {"variant": "old", "max_cost": 1e-9}
    ran = bench.run("plan", "--variant", model["variant"], "--max-cost", model["max_cost"])
    assert ran.code == 5
    assert "likely does not suffice" in " ".join(ran.out.split())


def test_enough_money_is_said_too(bench: Bench) -> None:
    lay_out(bench)
    ran = bench.run("plan", "--variant", "old", "--max-cost", 5)
    assert ran.code == 0
    assert "--max-cost $5.00 also suffices for the upper bound" in " ".join(ran.out.split())


def test_what_belongs_to_a_grading_is_refused_for_a_suite(bench: Bench) -> None:
    lay_out(bench)
    ran = bench.run("plan", "judgekit.yaml", "--cases", "judgekit.yaml")
    assert ran.code == 2
    assert "--cases belongs to a grading" in ran.err


@pytest.mark.parametrize(
    ("option", "value"), [("--max-cost", "3"), ("--where", "difficulty=hard"), ("--benchmark", "b")]
)
def test_what_belongs_to_a_suite_is_refused_for_a_grading(
    bench: Bench, option: str, value: str
) -> None:
    ran = bench.run("plan", "outputs.jsonl", "--judge", MINI, option, value)
    assert ran.code == 2
    assert f"{option} belongs to a suite" in ran.err


def test_outputs_are_of_one_variant(bench: Bench) -> None:
    ran = bench.run("plan", "outputs.jsonl", "--variant", "a", "--variant", "b")
    assert ran.code == 2
    assert "one --variant" in ran.err


def test_a_path_that_is_not_there_is_said(bench: Bench) -> None:
    ran = bench.run("plan", "nowhere.yaml")
    assert ran.code == 2
    assert "'nowhere.yaml' does not exist" in ran.err


def test_a_suite_of_recorded_outputs_is_planned_as_a_grading(bench: Bench) -> None:
    lay_out(bench)
    suite = (bench.folder / "judgekit.yaml").read_text(encoding="utf-8").partition("  - {id: new")
    bench.write("judgekit.yaml", suite[0])
    bench.write("outputs.jsonl", output("a"), output("b"))
    assert bench.run("plan", "--json").json["n_outputs"] == 2
    assert bench.run("plan", "judgekit.yaml", "--json").json["n_answers"] == 2


def test_a_suite_that_only_rules_judge_is_planned_as_a_run(bench: Bench) -> None:
    suite = SUITE.replace("rubric: rubric.yaml\n", "assertions: [{type: contains, value: a}]\n")
    bench.write("judgekit.yaml", suite.partition("  - {id: new")[0].replace("JUDGE", "heuristic"))
    ran = bench.run("plan")
    assert "assertions decide, at no cost" in ran.out
    assert "$0 (no calls needed)" in ran.out


def test_a_rubric_on_the_command_line_means_a_grading_of_what_is_recorded(bench: Bench) -> None:
    lay_out(bench)
    bench.write("outputs.jsonl", output("a"), output("b"))
    assert bench.run("plan", "--rubric", "helpfulness", "--json").json["n_questions"] == 2 * 3


def test_outputs_in_a_document_are_planned_as_a_grading(bench: Bench) -> None:
    bench.write("outputs.json", json.dumps([{"case_id": "a", "input": "?", "text": "yes"}]))
    found = bench.run("plan", "outputs.json", "--rubric", "rubric.yaml", "--judge", MINI, "--json")
    assert found.json["n_questions"] == 2


def test_tests_of_a_skill_are_a_suite(bench: Bench) -> None:
    tests = {"tests": [{"name": "t", "input": "?", "expectedOutput": "!"}]}
    bench.write("skill/eval/tests.json", json.dumps(tests))
    ran = bench.run("plan", "skill/eval/tests.json")
    assert ran.code == 2
    assert "the suite has no variants" in ran.err


def test_a_plan_of_a_suite_imports_no_provider(bench: Bench) -> None:
    lay_out(bench)
    code = (
        "import sys; from judgekit.cli.main import main\n"
        "try: main(['plan', '--json'])\n"
        "except SystemExit: print('litellm' in sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=bench.folder, capture_output=True, text=True, check=True
    )
    assert ran.stderr.strip() == "False"
