"""Tests of a skill that name no strategy are evaluated as the file's profile says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.source_designs import read, record, seen, write
from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

SCHEMA = {"jsonSchema": {"type": "object"}}
NEAR = "The cat sat on the mat."
MATTER: dict[str, dict[str, tuple[dict[str, Any], str, str]]] = {
    # profile: the test's id, what it expects, the output, the strategy
    "deterministic": {
        "out": ({"output": "4"}, "4", "exact_match"),
        "form": (SCHEMA, "{}", "json_schema"),
        "line": ({"patterns": ["^x"]}, "xy", "regex_match"),
    },
    "structured": {
        "form": (SCHEMA, "{}", "json_schema"),
        "line": ({"patterns": ["^x"]}, "xy", "regex_match"),
    },
    "flexible": {"near": ({"output": NEAR}, NEAR, "semantic_sim")},
    "creative": {"free": ({}, "A slide", "llm_judge")},
    "enterprise": {"both": ({**SCHEMA, "patterns": ["a"]}, '{"a": 1}', "hybrid")},
}


@pytest.mark.parametrize("profile", MATTER)
def test_the_profile_decides_where_a_test_names_no_strategy(
    run: Run, tmp_path: Path, profile: str
) -> None:
    matter = MATTER[profile]
    cases = [
        {"id": name, "name": name, "input": {"prompt": "?"}, "expected": expected}
        for name, (expected, _, _) in matter.items()
    ]
    # Other settings of an evaluation do not need a strategy either.
    cases[0]["evaluation"] = {"timeout": 9000}
    tests = {"version": "2.0", "profile": profile, "settings": {}, "testCases": cases}
    path = write(tmp_path / "skill" / "eval" / "tests.json", tests)
    assert run("validate", path).code == 0
    outputs = record("v1.jsonl", *(
        {"case_id": name, "text": text} for name, (_, text, _) in matter.items()
    ))  # fmt: skip
    record("judge.jsonl", *({"case_id": name, "text": reply(4)} for name in matter))
    given = ("--outputs", outputs, "--judge", "recorded:judge.jsonl", "--json")
    assert seen(run("run", tmp_path / "skill", *given))["variants"][0]["n_passed"] == len(matter)
    assert run("export", "--format", "strategies", "-o", "rows.json").code == 0
    found = {row["testCaseId"]: row["strategy"] for row in read(tmp_path / "rows.json")}
    assert found == {name: strategy for name, (_, _, strategy) in matter.items()}
    assert run("convert", path, "-o", "cases.jsonl").code == 0
    assert run("convert", "cases.jsonl", "--to", "skill-tests", "-o", "back.json").code == 0
    again = read(tmp_path / "back.json")["testCases"]
    assert all("strategy" not in case["evaluation"] for case in again)


def test_a_test_without_what_its_profile_compares_with_is_an_error(
    run: Run, tmp_path: Path
) -> None:
    case = {"id": "a", "name": "a", "input": {"prompt": "?"}}
    tests = {"version": "2.0", "profile": "deterministic", "settings": {}, "testCases": [case]}
    ran = run("validate", write(tmp_path / "tests.json", tests), "--json")
    assert ran.code == 2
    assert "the strategy exact_match needs a reference" in json.dumps(ran.json)
