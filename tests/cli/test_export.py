from __future__ import annotations

import csv
import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.records import CaseResult
from judgekit.store import RunStore
from tests.factories import make_output
from tests.store.observing import answer, begun, key, said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

BAD = (said(value=0), said("clarity", 0))


@pytest.fixture(autouse=True)
def _kept(run: Run, tmp_path: Path) -> None:
    assert run is not None
    with closing(RunStore(tmp_path / DEFAULT_STORE_FILE)) as store:
        begun(
            store,
            answer(key("a", "v1"), output=make_output("=HYPERLINK(1)")),
            answer(key("a", "v2"), said=BAD),
            answer(key("b", "v1"), place=1),
            variants=[{"id": "v1"}, {"id": "v2"}],
        )


def test_a_run_is_written_whole_and_read_back(run: Run, tmp_path: Path) -> None:
    ran = run("export", "run-1", "-o", "run.jsonl")
    lines = (tmp_path / "run.jsonl").read_text("utf-8").splitlines()
    results = [CaseResult.model_validate_json(line) for line in lines]
    assert [(r.case.id, r.variant) for r in results] == [("a", "v1"), ("a", "v2"), ("b", "v1")]
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "wrote 3 answers of run-1 to run.jsonl\n"


def test_a_spreadsheet_runs_no_formula_of_an_output(run: Run, tmp_path: Path) -> None:
    run("export", "-o", "run.csv")
    with (tmp_path / "run.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["variant"] for row in rows] == ["v1", "v1", "v2", "v2", "v1", "v1"]
    assert rows[0]["output_text"].startswith("'=")


def test_only_what_is_wished_is_written(run: Run, tmp_path: Path) -> None:
    ran = run("export", "-o", "run.jsonl", "--failed", "--variant", "v2", "--json")
    (line,) = (tmp_path / "run.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["variant"] == "v2"
    assert ran.json == {"run": "run-1", "n_answers": 1, "file": "run.jsonl"}
    assert run("export", "-o", "run.jsonl", "--filter-tag", "x", "--json").json["n_answers"] == 0


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(run: Run) -> None:
    ran = run("export", "no such run", "-o", "run.xlsx")
    assert ran.code == 2
    assert "cannot write run.xlsx" in ran.err


def test_a_variant_that_is_not_there_leaves_the_file_as_it_was(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text("before")
    ran = run("export", "-o", "run.jsonl", "--variant", "v3")
    assert ran.code == 2
    assert "no variant of this run is called 'v3'" in ran.err
    assert (tmp_path / "run.jsonl").read_text() == "before"
