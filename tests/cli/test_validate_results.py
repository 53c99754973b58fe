from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.commanding import runner

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


@pytest.fixture
def suite(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    """The example suite, with its outputs graded to every kind of file."""
    monkeypatch.chdir(tmp_path)
    run = runner(capsys)
    assert run("init", ".").code == 0
    return run


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_verdicts_and_answers_are_known_in_every_format(suite: Run, suffix: str) -> None:
    suite("grade", "-q", "-o", f"verdicts.{suffix}")
    suite("export", "-o", f"results.{suffix}")
    ran = suite("validate", f"verdicts.{suffix}", f"results.{suffix}", "--json")
    assert (ran.code, ran.json["findings"]) == (0, [])
    first, second = (one["kind"] for one in ran.json["files"])
    assert first == "verdicts"
    assert second in {"outputs", "answers of a run"}


def test_reports_and_plans_are_known(suite: Run) -> None:
    suite("plan", "-o", "plan.json")
    suite("audit", "-n", "2", "-o", "audit.json")
    suite("run", "-q")
    suite("plan", "judgekit.yaml", "-o", "suite_plan.json")
    suite("export", "--format", "validation", "-o", "validation.yaml")
    names = ("plan.json", "suite_plan.json", "audit.json", "validation.yaml")
    ran = suite("validate", *names, "--json")
    kinds = ["a plan", "a plan", "an audit report", "a validation report"]
    assert (ran.code, [one["kind"] for one in ran.json["files"]]) == (0, kinds)


def test_pages_are_known(suite: Run) -> None:
    suite("grade", "-q", "-o", "report.html", "-o", "report.md")
    suite("export", "-o", "junit.xml")
    ran = suite("validate", "report.html", "report.md", "junit.xml", "--json")
    kinds = ["a page", "a page", "results for a CI server"]
    assert (ran.code, [one["kind"] for one in ran.json["files"]]) == (0, kinds)


def test_a_map_that_cannot_be_loaded_is_an_error(suite: Run, tmp_path: Path) -> None:
    (tmp_path / "maps.json").write_text(json.dumps({"asked": 1, "maps": [], "label_set": "x"}))
    ran = suite("validate", "maps.json", "--json")
    assert (ran.code, ran.json["files"][0]["kind"]) == (2, "calibration maps")


def test_results_in_a_folder_are_not_checked(suite: Run) -> None:
    suite("grade", "-q", "-o", "verdicts.jsonl")
    ran = suite("validate", ".", "--json")
    assert ran.code == 0
    assert "verdicts.jsonl" not in [one["path"] for one in ran.json["files"]]
