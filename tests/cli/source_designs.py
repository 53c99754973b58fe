"""Files in the form of each source design, and the way from loading to what leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.evaluation.suites import rows

if TYPE_CHECKING:
    from tests.cli.commanding import Ran, Run

DONE = {"type": "agent:complete", "nodeId": "main", "durationMs": 700, "totalCostUsd": 0.002,
        "usage": {"inputTokens": 21, "outputTokens": 6}}  # fmt: skip
WORKFLOW = {
    "id": "greeter.v3",
    "workflowName": "greeter",
    "version": "3.1",
    "cases": [
        {
            "id": "hello",
            "name": "Greets by name",
            "input": {"prompt": "Greet Ada"},
            "assertions": [
                {"type": "behavior.no_errors"},
                {"type": "output.contains", "path": "outputs.main.text", "value": "Ada"},
                {"type": "metric.latency_ms.max", "value": 900},
            ],
        }
    ],
}
ARTIFACT = {
    "case_id": "hello",
    "runId": "r-1",
    "snapshot": {"outputs": {"main": {"text": "Hello Ada"}}, "state": {}, "nodeStatus": {}},
    "events": [DONE],
}
EVALS = {
    "version": "1.0",
    "skill": "skills/changelog",
    "cases": [
        {
            "id": "release",
            "prompt": "Write the entry for 1.4",
            "files": [],
            "expectations": [
                {"criterion": "dated", "description": "Begins with an ISO date", "required": True},
                {"criterion": "short", "description": "Has 12 lines at most", "required": False},
            ],
        }
    ],
}
SUMS = {
    "version": "2.0",
    "profile": "deterministic",
    "settings": {"defaultTimeout": 5000, "failFast": True},
    "testCases": [
        {"id": "sum", "name": "A sum", "input": {"prompt": "17 + 25"}, "expected": {"output": "42"},
         "evaluation": {"strategy": "exact_match"}, "metadata": {"difficulty": "easy"}},
        {"id": "half", "name": "A half", "input": {"prompt": "9 / 2"},
         "expected": {"output": "4.5"}, "evaluation": {"strategy": "exact_match"}},
    ],
}  # fmt: skip
DECK: dict[str, Any] = {
    "version": "2.0",
    "profile": "creative",
    "settings": {},
    "testCases": [
        {"id": "own", "name": "By its own rubric", "input": {"prompt": "Three slides on sales"},
         "expected": {"rubric": {"passingThreshold": 0.7, "criteria": [
             {"name": "figures", "description": "Every figure stands there", "weight": 1.0,
              "scale": {"min": 1, "max": 5}}]}},
         "evaluation": {"strategy": "llm_judge"}},
        {"id": "theirs", "name": "By the profile's", "input": {"prompt": "A slide of welcome"},
         "expected": {}, "evaluation": {"strategy": "llm_judge"}},
    ],
}  # fmt: skip
AUDIT = {
    "version": "2.0",
    "profile": "enterprise",
    "settings": {"defaultTimeout": 45000},
    "setup": {"environment": {"POLICY_VERSION": "2026.02"}},
    "testCases": [
        {"id": "found", "name": "Finds a name", "input": {"prompt": "Whose data is it?"},
         "expected": {"jsonSchema": {"type": "object", "required": ["names"]}},
         "evaluation": {"strategy": "json_schema"}, "metadata": {"tags": ["audit"]}},
    ],
}  # fmt: skip
FIRST = [
    {"name": "A sum", "input": "17 + 25", "expectedOutput": "42"},
    {"name": "A digit", "input": "Name one", "expectedPatterns": ["\\d"]},
]
MEMORY: list[dict[str, Any]] = [
    {"type": "rubric", "id": "r-9", "fields": {
        "name": "Quotes", "criteriaIds": ["c-1", "c-2"], "passingThreshold": 0.7, "version": 2,
        "isActive": True}},
    {"type": "rubric-criterion", "id": "c-1", "fields": {
        "rubricId": "r-9", "name": "Right", "description": "The price is the list's",
        "weight": 0.6, "scoringGuide": "10 if it is", "minScore": 0, "maxScore": 10}},
    {"type": "rubric-criterion", "id": "c-2", "fields": {
        "rubricId": "r-9", "name": "Kind", "description": "Thanks are given", "weight": 0.4,
        "minScore": 0, "maxScore": 10}},
    {"type": "test-case", "id": "quote", "fields": {
        "name": "Quotes a lamp", "agentId": "seller", "promptVersionRef": "quote@4",
        "inputs": {"product": "lamp"}, "expectedOutputs": {"price": 30}, "rubricId": "r-9",
        "tags": ["price"], "status": "active", "createdBy": "ada"}},
    {"type": "test-case", "id": "hours", "fields": {
        "name": "Opening hours", "inputs": "When?", "expectedOutputs": "9 to 18",
        "tags": [], "status": "active"}},
    {"type": "test-run", "id": "run-1", "fields": {
        "testCaseId": "quote", "agentRunId": "ar-1", "promptVersionRef": "quote@4",
        "actualOutput": {"price": 30}, "passed": True, "durationMs": 400}},
    {"type": "test-run", "id": "run-2", "fields": {
        "testCaseId": "hours", "promptVersionRef": "quote@4", "actualOutput": "From 9 to 18"}},
]  # fmt: skip

FORMATS = {
    "results": "jsonl",
    "junit": "xml",
    "grading": "json",
    "history": "json",
    "validation": "yaml",
    "strategies": "json",
    "quality": "json",
}


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def record(name: str, *outputs: dict[str, Any]) -> str:
    Path(name).write_text(rows(*outputs), encoding="utf-8")
    return name


def seen(ran: Ran, code: int = 0) -> Any:
    assert ran.code == code, ran.err
    return ran.json


def exported(run: Run, folder: Path) -> dict[str, Path]:
    """The latest run in every format, by the name of its file."""
    found = {}
    for form, suffix in FORMATS.items():
        path = folder / f"{form}.{suffix}"
        ran = run("export", "-o", path, "--format", form)
        assert ran.code == 0, (form, ran.err)
        found[path.name] = path
    return found


def whole_way(run: Run, folder: Path, *given: object) -> tuple[Any, dict[str, Path]]:
    """A dataset validated, planned and run, and the run shown and exported in every format."""
    assert run("validate", given[0]).code == 0
    assert seen(run("plan", *given, "--json"))["n_answers"] >= 1
    found = seen(run("run", *given, "--json"))
    assert run("show", "latest").code == 0
    return found, exported(run, folder)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def counts(found: Any) -> tuple[int, int]:
    (variant,) = found["variants"]
    return variant["n_passed"], variant["n_failed"]


def converts_back(run: Run, path: Path, form: str) -> bool:
    """Whether a file comes back from judgekit's own cases as it was."""
    between, back = path.with_suffix(".cases.json"), path.with_suffix(".back.json")
    assert run("convert", path, "-o", between).code == 0
    assert run("convert", between, "--to", form, "-o", back).code == 0
    return bool(read(back) == read(path))
