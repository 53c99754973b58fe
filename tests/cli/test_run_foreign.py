from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.evaluation.suites import rows
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.commanding import Ran, Run

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"

CALCULATOR: dict[str, Any] = {
    "version": "2.0",
    "profile": "deterministic",
    "settings": {"defaultTimeout": 5000, "failFast": False},
    "testCases": [
        {
            "id": "sum",
            "name": "A sum",
            "input": {"prompt": "Work out 3 + 4"},
            "expected": {"output": "7"},
            "evaluation": {"strategy": "exact_match"},
            "metadata": {"difficulty": "easy", "priority": "critical"},
        },
        {
            "id": "mixed",
            "name": "Several operations",
            "input": {"prompt": "Work out (6 * 5) / 2 - 1"},
            "expected": {"output": "14"},
            "evaluation": {"strategy": "exact_match"},
            "metadata": {"difficulty": "medium"},
        },
    ],
}
SLIDES: dict[str, Any] = {
    "version": "2.0",
    "profile": "creative",
    "settings": {"defaultTimeout": 60000},
    "testCases": [
        {
            "id": "deck",
            "name": "A deck on the year's sales",
            "description": "Whether a deck has a beginning, figures and an end",
            "input": {
                "prompt": "Make three slides on the sales",
                "context": {"data": {"sales": 1200, "growth": 4.5, "best": ["lamps", "chairs"]}},
            },
            "expected": {
                "rubric": {
                    "criteria": [
                        {
                            "name": "structure",
                            "description": "There are a title, contents and an end, in this order",
                            "weight": 0.6,
                            "scale": {"min": 1, "max": 5},
                        },
                        {
                            "name": "figures",
                            "description": "Every figure of the input is given as it is there",
                            "weight": 0.4,
                            "scale": {"min": 1, "max": 5},
                        },
                    ],
                    "passingThreshold": 0.7,
                    "overallFeedback": True,
                }
            },
            "evaluation": {"strategy": "llm_judge", "timeout": 90000},
            "metadata": {"difficulty": "medium", "priority": "high"},
        }
    ],
}
COMPLIANCE: dict[str, Any] = {
    "version": "2.0",
    "profile": "enterprise",
    "settings": {"defaultTimeout": 45000},
    "setup": {"environment": {"POLICY_VERSION": "2026.01"}},
    "testCases": [
        {
            "id": "names",
            "name": "Finds names in a contract",
            "input": {
                "prompt": "Which personal data does it hold?",
                "context": {"documentUrl": "fixtures/contract.txt"},
            },
            "expected": {
                "jsonSchema": {
                    "type": "object",
                    "required": ["found", "risk"],
                    "properties": {
                        "found": {"type": "array", "items": {"type": "string"}},
                        "risk": {"enum": ["low", "high"]},
                    },
                }
            },
            "evaluation": {"strategy": "json_schema"},
            "metadata": {"difficulty": "medium", "tags": ["compliance"]},
        }
    ],
}


def lay_skill(folder: Path, tests: dict[str, Any]) -> Path:
    """A skill's folder with its tests and a fixture."""
    fixtures = folder / "eval" / "fixtures"
    fixtures.mkdir(parents=True)
    (fixtures / "contract.txt").write_text("Signed by Ada.", encoding="utf-8")
    (folder / "eval" / "tests.json").write_text(json.dumps(tests), encoding="utf-8")
    return folder


def record(folder: Path, **texts: str) -> Path:
    """A file with an output for each case."""
    path = folder / "v1.jsonl"
    path.write_text(
        rows(*({"case_id": name.replace("__", "-"), "text": text} for name, text in texts.items())),
        encoding="utf-8",
    )
    return path


def as_file(folder: Path, name: str, run: Run, **options: str) -> Any:
    """The latest run in one of the formats it can leave in, read back."""
    path = folder / name
    given = [part for key, value in options.items() for part in (f"--{key}", value)]
    ran = run("export", "-o", path, *given)
    assert ran.code == 0, ran.err
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else text


def strategies(folder: Path, run: Run) -> list[tuple[str, str, str, float | None]]:
    found = as_file(folder, "rows.jsonl", run, format="strategies")
    return [(r["testCaseId"], r["strategy"], r["status"], r["score"]) for r in found]


def judged(ran: Ran) -> Any:
    assert ran.out, ran.err
    return ran.json["variants"][0]


def test_a_skill_with_one_right_output_each_is_run_and_exported(run: Run, tmp_path: Path) -> None:
    skill = lay_skill(tmp_path / "calc", CALCULATOR)
    outputs = record(tmp_path, sum="7", mixed="15")
    ran = run("run", skill, "--outputs", outputs, "--json")
    found = judged(ran)
    assert (ran.code, found["variant"], found["n_passed"], found["n_failed"]) == (0, "v1", 1, 1)
    assert found["strata"].keys() == {"simple", "medium"}
    assert strategies(tmp_path, run) == [
        ("sum", "exact_match", "passed", 1.0),
        ("mixed", "exact_match", "failed", 0.0),
    ]


def test_a_creative_skill_is_judged_by_the_rubric_of_its_cases(run: Run, tmp_path: Path) -> None:
    skill = lay_skill(tmp_path / "deck", SLIDES)
    outputs = record(tmp_path, deck="Title. 1200 sold. End.")
    with OpenAILikeServer(lambda _: ok(reply(5))) as server:
        ran = run("run", skill, "--outputs", outputs, "--judge", "openai/m", "--api-base",
                  server.url, "--json")  # fmt: skip
        assert server.n_requests == 3  # two criteria, and the overall feedback
    found = judged(ran)
    assert (ran.code, found["n_passed"], found["value"]["value"]) == (0, 1, 1.0)
    assert set(found["criteria"]) == {"structure", "figures", "feedback.overall"}
    (row,) = as_file(tmp_path, "rows.jsonl", run, format="strategies")
    assert (row["strategy"], row["status"], row["score"]) == ("llm_judge", "passed", 1.0)
    assert row["rubricScores"]["structure"]["score"] == 5
    assert "structure: " in row["feedback"]


def test_a_case_that_needs_a_judge_is_refused_before_anything_is_asked(
    run: Run, tmp_path: Path
) -> None:
    skill = lay_skill(tmp_path / "deck", SLIDES)
    ran = run("run", skill, "--outputs", record(tmp_path, deck="x"))
    assert ran.code == 2
    assert "the case 'deck' is to be graded by a judge, and the suite names none" in ran.err
    assert "--judge" in ran.err
    assert not (tmp_path / ".judgekit" / "judgekit.db").exists() or run("show").code == 0


def test_the_profiles_rubric_is_asked_where_nothing_else_says_how(run: Run, tmp_path: Path) -> None:
    suite = {
        "name": "tales",
        "profile": "creative",
        "cases": [{"id": "a", "input": "Tell a tale"}],
        "variants": [{"id": "v1", "outputs": "v1.jsonl"}],
        "judge": "openai/m",
    }
    (tmp_path / "judgekit.yaml").write_text(json.dumps(suite), encoding="utf-8")
    record(tmp_path, a="Once.")
    with OpenAILikeServer(lambda _: ok(reply(3))) as server:
        ran = run("run", "--api-base", server.url, "--json")
    found = judged(ran)
    assert set(found["criteria"]) == {"completeness", "coherence", "professionalism", "accuracy"}
    assert (found["n_failed"], found["value"]["value"]) == (1, 0.5)
    assert ran.json["run"]["config"]["profile"] == "creative"


def test_a_skill_of_an_expert_domain_is_checked_by_its_schema(run: Run, tmp_path: Path) -> None:
    skill = lay_skill(tmp_path / "law", COMPLIANCE)
    outputs = record(tmp_path, names='{"found": ["Ada"], "risk": "none"}')
    assert judged(run("run", skill, "--outputs", outputs, "--json"))["n_failed"] == 1
    (row,) = as_file(tmp_path, "rows.jsonl", run, format="strategies")
    assert (row["strategy"], row["status"]) == ("json_schema", "failed")
    assert "none" in row["schemaErrors"][0]
    outputs = record(tmp_path, names='{"found": ["Ada"], "risk": "low"}')
    assert judged(run("run", skill, "--outputs", outputs, "--json"))["n_passed"] == 1


def test_a_skill_in_a_zip_is_run_by_a_program(run: Run, tmp_path: Path) -> None:
    skill = lay_skill(tmp_path / "calc", CALCULATOR)
    with zipfile.ZipFile(tmp_path / "calc.zip", "w") as file:
        file.write(skill / "eval" / "tests.json", "eval/tests.json")
    (tmp_path / "agent.py").write_text(
        "import json, sys\n"
        "asked = json.load(sys.stdin)\n"
        "text = str(eval(asked['input'].removeprefix('Work out ').replace('/', '//')))\n"
        "print(json.dumps({'text': text}))\n",
        encoding="utf-8",
    )
    command = f"{sys.executable} agent.py"
    ran = run("run", "calc.zip", "--target-command", command, "--json")
    found = judged(ran)
    assert (ran.code, found["variant"], found["n_passed"]) == (0, "command", 2)


MIXED = {
    "sum-001": "42",
    "phone-001": "+49 30 1234",
    "invoice-001": '{"total": 30}',
    "summary-001": "Two amounts, 30 euros together.",
    "letter-001": "Dear Ada, 30 euros were due on Monday. Thank you.",
    "mixed-001": "42",
    "script-001": "1 2 3",
}


def lay_mixed(folder: Path) -> Path:
    """A skill that has a case for every strategy, with its scripts."""
    skill = folder / "mixed"
    shutil.copytree(FOREIGN / "skill", skill)
    scripts = skill / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "setup.py").write_text("", encoding="utf-8")
    (scripts / "teardown.sh").write_text("", encoding="utf-8")
    (scripts / "sorted.py").write_text(
        "def evaluate(output):\n"
        "    words = output['text'].split()\n"
        "    return {'passed': words == sorted(words), 'message': 'looked'}\n",
        encoding="utf-8",
    )
    return skill


def five_or_one(seen: ServedRequest) -> ServedReply:
    asked = json.dumps(seen.body["messages"])
    return ok(reply(1 if "has a greeting" in asked.lower() else 5))


def test_every_strategy_is_carried_out_in_one_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The skill's setup names `python`, which Debian does not have outside of an environment.
    here = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([here, os.environ["PATH"]]))
    skill = lay_mixed(tmp_path)
    outputs = tmp_path / "v1.jsonl"
    outputs.write_text(
        rows(*({"case_id": name, "text": text} for name, text in MIXED.items())), encoding="utf-8"
    )
    with OpenAILikeServer(five_or_one) as server:
        ran = run("run", skill, "--outputs", outputs, "--judge", "openai/m", "--api-base",
                  server.url, "--allow-scripts", "--json")  # fmt: skip
        assert server.n_requests == 3  # two criteria, and the overall feedback
    assert ran.code == 0, ran.err
    found = {row[0]: row[1:] for row in strategies(tmp_path, run)}
    assert {name: row[:2] for name, row in found.items()} == {
        "sum-001": ("exact_match", "passed"),
        "phone-001": ("regex_match", "passed"),
        "invoice-001": ("json_schema", "passed"),
        "summary-001": ("semantic_sim", "passed"),
        "letter-001": ("llm_judge", "passed"),
        "mixed-001": ("hybrid", "passed"),
        "script-001": ("custom", "passed"),
    }
    assert found["summary-001"][2] == pytest.approx(1.0)
    assert judged(ran)["n_passed"] == 7


def test_scripts_are_refused_before_anything_is_asked(run: Run, tmp_path: Path) -> None:
    skill = lay_mixed(tmp_path)
    tests = json.loads((skill / "eval" / "tests.json").read_text(encoding="utf-8"))
    del tests["setup"], tests["teardown"]
    (skill / "eval" / "tests.json").write_text(json.dumps(tests), encoding="utf-8")
    given = ("run", skill, "--outputs", record(tmp_path, **MIXED), "--filter-case", "script-001")
    ran = run(*given)
    assert ran.code == 2
    assert "the case 'script-001' runs the script 'scripts/sorted.py', and scripts are" in ran.err
    assert "--allow-scripts" in ran.err
    (skill / "scripts" / "sorted.py").unlink()
    ran = run(*given, "--allow-scripts")
    assert ran.code == 2
    assert "case 'script-001': there is no script 'scripts/sorted.py'" in ran.err


def test_a_workflow_dataset_is_run_and_its_rows_exported(run: Run, tmp_path: Path) -> None:
    outputs = tmp_path / "v1.jsonl"
    done = {"type": "agent:complete", "name": "main", "nodeId": "main", "durationMs": 300,
            "totalCostUsd": 0.01, "usage": {"inputTokens": 40, "outputTokens": 9}}  # fmt: skip
    answers = {"hello": "Hello Ada", "goodbye": "Goodbye"}
    outputs.write_text(
        rows(*({"case_id": name, "data": {"outputs": {"main": {"text": text}}}, "trace": [done]}
               for name, text in answers.items())),
        encoding="utf-8",
    )  # fmt: skip
    ran = run("run", FOREIGN / "workflow.json", "--outputs", outputs, "--json")
    found = judged(ran)
    assert (ran.code, found["n_cases"], found["n_failed"]) == (0, 2, 0), ran.out
    assert as_file(tmp_path, "run.xml", run).startswith("<?xml")
    first, _ = as_file(tmp_path, "all.jsonl", run)
    assert [check["passed"] for check in first["checks"]] == [True, True]


def test_evals_of_a_skill_are_judged_and_become_gradings(run: Run, tmp_path: Path) -> None:
    outputs = record(tmp_path, first__entry="2026-02-03: faster", empty__release="Nothing changed")
    with OpenAILikeServer(lambda _: ok(json.dumps({"rationale": "so", "score": 1}))) as server:
        ran = run("run", FOREIGN / "evals.json", "--outputs", outputs, "--judge", "openai/m",
                  "--api-base", server.url, "--json")  # fmt: skip
    assert (ran.code, judged(ran)["n_cases"]) == (0, 2), ran.err
    first, second = as_file(tmp_path, "gradings.jsonl", run, format="grading")
    assert (first["case_id"], second["case_id"]) == ("first-entry", "empty-release")
    assert {line["criterion"] for line in first["results"]} == {"dated", "short"}


def test_records_of_a_quality_memory_are_judged_and_exported(run: Run, tmp_path: Path) -> None:
    outputs = tmp_path / "v1.jsonl"
    outputs.write_text(rows({"case_id": "tc-quote", "data": {"price": 30}}), encoding="utf-8")
    with OpenAILikeServer(five_or_one_of_scale) as server:
        ran = run("run", FOREIGN / "quality.json", "--outputs", outputs, "--judge", "openai/m",
                  "--api-base", server.url, "--json")  # fmt: skip
    found = judged(ran)
    assert (ran.code, found["n_cases"], found["n_passed"]) == (0, 1, 1), ran.err
    kept = as_file(tmp_path, "objects.jsonl", run, format="quality")
    assert {one["type"] for one in kept} >= {"test-run", "eval-judgment"}


def five_or_one_of_scale(seen: ServedRequest) -> ServedReply:
    asked = json.dumps(seen.body["messages"])
    return ok(reply(5 if "price is that of the list" in asked.lower() else 1))


def test_a_config_of_promptfoo_is_run_with_its_similarities(run: Run, tmp_path: Path) -> None:
    for name in ("promptfooconfig.yaml", "tests.csv"):
        shutil.copy(FOREIGN / name, tmp_path)
    (tmp_path / "greeter.py").write_text(
        "def answer(case):\n    return 'Hello ' + str(case.input.get('name', ''))\n",
        encoding="utf-8",
    )
    with OpenAILikeServer(lambda _: ok(reply(1))) as server:
        ran = run("run", "promptfooconfig.yaml", "--target-python", "greeter:answer", "--judge",
                  "openai/m", "--api-base", server.url, "--json")  # fmt: skip
    found = judged(ran)
    assert ran.code == 0, ran.err
    assert (found["variant"], found["n_errors"]) == ("answer", 0)
    rows_ = as_file(tmp_path, "rows.jsonl", run, format="strategies")
    similar = {row["testCaseId"]: row for row in rows_ if row["strategy"] == "semantic_sim"}
    exact = [row for row in similar.values() if row["output"] == "Hello Ira"]
    assert [(row["status"], row["score"]) for row in exact] == [("passed", pytest.approx(1.0))]
    assert "semantic: wordllama" in exact[0]["feedback"]
