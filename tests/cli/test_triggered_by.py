"""`--triggered-by`: what started a run is stored, shown and exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.commanding import Run

SUITE = """name: nightly
cases: [{id: a, input: "1+1", reference: "2"}]
assertions: [{type: contains, value: "2"}]
variants: [{id: v, outputs: outputs.jsonl}]
"""


@pytest.fixture
def suite(run: Run) -> Run:
    """The command line in a folder with a suite that needs no judge."""
    Path("suite.yaml").write_text(SUITE)
    Path("outputs.jsonl").write_text('{"case_id": "a", "text": "2"}\n')
    return run


def stored(run: Run) -> str | None:
    found: str | None = run("show", "latest", "--json").json["run"].get("triggered_by")
    return found


def test_it_is_shown_and_exported(suite: Run) -> None:
    assert suite("run", "suite.yaml", "--triggered-by", "release 1.4").code == 0
    assert "started by" in suite("show", "latest").out
    assert stored(suite) == "release 1.4"
    suite("export", "latest", "--format", "quality", "-o", "memory.json")
    objects = json.loads(Path("memory.json").read_text())
    (whole,) = (one for one in objects if one["type"] == "benchmark-run")
    assert whole["fields"]["triggeredBy"] == "release 1.4"


def test_a_grading_has_it_too_and_the_environment_may_set_it(
    suite: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite("grade", "-c", "suite.yaml", "--triggered-by", "a commit")
    assert stored(suite) == "a commit"
    monkeypatch.setenv("JUDGEKIT_TRIGGERED_BY", "the scheduler")
    suite("run", "suite.yaml")
    assert stored(suite) == "the scheduler"


def test_without_it_the_ci_job_is_recorded(suite: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    suite("run", "suite.yaml")
    assert stored(suite) is None
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_RUN_ID", "17")
    suite("run", "suite.yaml")
    assert stored(suite) == "GitHub Actions run 17"
