"""A log of production, whose rows have inputs and outputs, is the dataset of a suite."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.evaluation.suites import lay_suite, rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

LOG: tuple[dict[str, Any], ...] = (
    {"id": "r1", "input": "One and one?", "output": "right", "latency": 3},
    {"id": "r2", "input": "Two and two?", "context": "Sums.", "response": "wrong"},
    {"id": "r3", "input": "Who?", "reference": "Ann", "text": "right"},
)


def lay_log(folder: Path, *log: dict[str, Any], **suite: Any) -> None:
    variants = [{"id": "live", "outputs": "./log.jsonl"}]
    lay_suite(folder, **({"dataset": "log.jsonl", "variants": variants} | suite))
    (folder / "log.jsonl").write_text(rows(*(log or LOG)), encoding="utf-8")


def test_a_log_runs_as_its_own_dataset(run: Run, tmp_path: Path) -> None:
    lay_log(tmp_path)
    ran = run("run", "--json")
    assert (ran.code, ran.json["run"]["dataset"], ran.json["run"]["n_cases"]) == (0, "log", 3)
    (live,) = ran.json["variants"]
    assert (live["variant"], live["pass_rate"]["value"]) == ("live", pytest.approx(2 / 3))
    shown = run("show", "latest", "r2", "--json").json
    (result,) = shown["answers"]
    assert result["case"]["input"] == "Two and two?"
    assert result["case"]["context"] == "Sums."
    assert run("validate").code == 0
    assert "3 cases by 1 variant" in run("plan").out
    graded = run("grade", "--json").json
    assert graded["variants"][0]["pass_rate"] == live["pass_rate"]


def test_a_row_may_leave_out_what_another_has_said(run: Run, tmp_path: Path) -> None:
    log = [
        {"id": "r1", "variant": "a", "input": "One and one?", "output": "right"},
        {"id": "r1", "variant": "b", "output": "wrong"},
    ]
    variants = [{"id": name, "outputs": "log.jsonl"} for name in ("a", "b")]
    lay_log(tmp_path, *log, variants=variants)
    found = run("run", "--json").json["variants"]
    assert [one["pass_rate"]["value"] for one in found] == [1, 0]


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({"id": "r1", "input": "Other?", "output": "x"}, "line 1"),
        ({"id": "r2", "output": "x"}, "this row has no input"),
        ({"input": "?", "output": "x"}, "`case_id` is missing"),
    ],
)
@pytest.mark.parametrize("command", ["run", "validate"])
def test_a_row_that_describes_no_case_is_refused_with_its_line(
    run: Run, tmp_path: Path, second: dict[str, Any], told: str, command: str
) -> None:
    lay_log(tmp_path, {"id": "r1", "input": "One?", "output": "right"}, second)
    refused = run(command)
    words = " ".join((refused.err + refused.out).split())
    assert refused.code == 2
    assert "log.jsonl:2" in words
    assert words.count(told) == 1


def test_a_log_that_is_named_as_cases_alone_says_how_to_grade_it(run: Run, tmp_path: Path) -> None:
    lay_log(tmp_path, variants=[{"id": "v1", "outputs": "v1.jsonl"}])
    refused = run("run")
    assert refused.code == 2
    assert "log.jsonl:1: this row is a recorded output, not a case" in refused.err
    assert "judgekit grade FILE" in refused.err


def test_mapped_columns_are_read_as_before(run: Run, tmp_path: Path) -> None:
    lay_log(tmp_path, columns={"input": "input"})
    assert run("run", "--json").json["run"]["n_cases"] == 3


def test_the_inputs_of_a_log_are_answered_by_another_variant(run: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("def answer(case):\n    return 'right'\n", encoding="utf-8")
    variants = [{"id": "live", "outputs": "log.jsonl"}, {"id": "next", "python": "agent:answer"}]
    lay_log(tmp_path, variants=variants)
    found = run("run", "--json").json
    assert {one["variant"]: one["n_answers"] for one in found["variants"]} == {"live": 3, "next": 3}
    assert json.dumps(found["differences"]) != "[]"
