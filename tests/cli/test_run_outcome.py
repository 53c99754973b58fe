"""How a run that decides nothing, misses its gate or leaves something out says so."""

from __future__ import annotations

import json
import sqlite3
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.evaluation.suites import lay_suite
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

DB = ".judgekit/judgekit.db"
BROKEN = {"id": "v1", "command": [sys.executable, "-c", "raise SystemExit(3)"]}
SILENT = {"id": "v1", "command": [sys.executable, "-c", 'print(\'{"text": "right"}\')']}


def test_a_suite_that_decides_nothing_is_inconclusive(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2, judge=None, assertions=None)
    ran = run("run", "-q")
    assert (ran.code, "the suite has neither `assertions` nor a `rubric`" in ran.err) == (4, True)
    assert run("run", "-q", "--json").code == 4


def test_a_rubric_without_a_judge_decides_nothing(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2, judge=None, assertions=None, rubric="rubric.yaml")
    assert run("run", "-q").code == 4


def test_scores_are_a_result(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2, judge=None, assertions=None, scorers=["latency"])
    assert run("run", "-q").code == 4  # recorded outputs say nothing of how long they took
    scorer = {"type": "similarity", "method": "lexical", "reference": "right"}
    lay_suite(tmp_path, n=2, judge=None, assertions=None, scorers=[scorer])
    assert run("run", "-q").code == 0


def test_a_judge_that_fails_everywhere_leaves_the_run_incomplete(run: Run, tmp_path: Path) -> None:
    with OpenAILikeServer("500") as server:
        judge = {"model": "openai/m", "api_base": server.url, "max_retries": 0}
        lay_suite(tmp_path, n=3, rubric="rubric.yaml", assertions=None, judge=judge)
        ran = run("run", "-q")
    assert ran.code == 3
    assert "nothing was decided: each of 6 judgments failed" in ran.err
    assert "--retry-errors" in ran.err


@pytest.mark.parametrize(("n", "told"), [(2, "each of 2 answers"), (1, "the only answer")])
def test_nothing_but_errors_of_the_variant_is_no_success(
    run: Run, tmp_path: Path, n: int, told: str
) -> None:
    lay_suite(tmp_path, n=n, variants=[BROKEN])
    ran = run("run", "-q")
    assert ran.code == 3
    assert f"nothing was decided: {told} is an error of its variant" in ran.err


def test_assertions_that_cannot_be_checked_are_no_success(run: Run, tmp_path: Path) -> None:
    check = {"type": "metric.latency_ms.max", "value": 5}
    lay_suite(tmp_path, n=2, judge=None, assertions=[check])
    ran = run("run", "-q")
    assert (ran.code, "no assertion could be checked" in ran.err) == (3, True)


def test_outputs_that_belong_to_no_case_are_told(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2)
    recorded = tmp_path / "v1.jsonl"
    more = "".join(f'{{"case_id": "old{n}", "text": "x"}}\n' for n in range(4))
    recorded.write_text(recorded.read_text(encoding="utf-8") + more, encoding="utf-8")
    ran = run("run", "--json")
    assert ran.json["unmatched_outputs"] == {"v1": ["old0", "old1", "old2", "old3"]}
    told = "v1: outputs for 4 ids that no case has are left out: old0, old1, old2, …"
    assert ran.err.splitlines() == [told]
    only = run("run", "--json", "--filter-case", "c1")  # the others are cases all the same
    assert len(only.json["unmatched_outputs"]["v1"]) == 4
    assert run("run", "--resume", "-q").err.splitlines()[0] == told


def test_recorded_replies_that_nobody_asked_for_are_told_when_the_run_is_whole(
    run: Run, tmp_path: Path
) -> None:
    lay_suite(tmp_path, n=2, judge={"model": "recorded:replies.jsonl"}, rubric="rubric.yaml")
    cases = ("c0", "c1", "c9")
    (tmp_path / "replies.jsonl").write_text(
        "".join(json.dumps({"case_id": case, "text": reply(4)}) + "\n" for case in cases)
    )
    ran = run("run", "-q")
    assert ran.code == 0
    assert ran.err.count("replies.jsonl: 1 of 3 rows was not used: case 'c9'\n") == 1
    assert "not used" not in run("run", "--resume", "-q").err


def test_no_cost_reported_is_not_nothing_spent(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2, variants=[SILENT])
    ran = run("run")
    assert "v1: its answers reported no cost" in ran.out
    money = run("show", "latest", "--json").json["variants"][0]["money"]
    assert (money["n_unreported"], money["is_complete"]) == (2, False)


def test_the_gate_decides_the_exit_code(run: Run, tmp_path: Path) -> None:
    gate: dict[str, Any] = {"gate": {"tier": "experimental", "max_drop": 0.1}}
    lay_suite(tmp_path, n=30, **gate)
    ran = run("run")
    assert ran.code == 0
    assert "v1: reaches experimental: value 1.00" in ran.out
    assert "pass rate: no earlier run to compare with, a drop of 0.1 allowed" in ran.out
    wrong = {f"c{n}": "wrong" for n in range(30)}
    lay_suite(tmp_path, n=30, texts=wrong, **gate)
    ran = run("run")
    assert (ran.code, "the gate of the suite failed" in ran.err) == (1, True)
    assert "v1: is below experimental: value 0.00" in ran.out
    assert "pass rate dropped too far: -1.00" in ran.out
    shown = run("show", "latest", "--json").json["gate"]
    assert (shown["held"], shown["drops"][0]["held"]) == ("failed", "failed")


def test_a_gate_that_the_cases_cannot_decide_is_inconclusive(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=3, gate={"tier": "production"})
    ran = run("run", "-q")
    assert (ran.code, "gate of the suite is inconclusive" in ran.err) == (4, True)
    assert "more cases are needed" in ran.out
    assert run("run", "-q", "--fail-under", "1").code == 4
    lay_suite(tmp_path, n=3, texts={"c0": "wrong"}, gate={"tier": "production"})
    assert run("run", "-q", "--fail-under", "1").code == 1


def test_a_rate_that_is_asked_for_is_reached(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=25, texts={f"c{k}": "wrong" for k in range(11)})
    # As floats, 0.56 times 25 is more than 14.
    ran = run("run", "-q", "--fail-under", "0.56")
    assert (ran.code, "without a verdict" in ran.err) == (0, False)
    ran = run("run", "-q", "--fail-under", "0.562")
    assert (ran.code, "v1: pass rate 56.0 %" in ran.err) == (1, True)


@pytest.mark.parametrize("command", [["show"], ["run"], ["export", "latest", "-o", "x.jsonl"]])
def test_a_store_of_a_newer_judgekit_is_refused(
    run: Run, tmp_path: Path, command: list[str]
) -> None:
    lay_suite(tmp_path, n=1)
    assert run("run", "-q").code == 0
    with sqlite3.connect(tmp_path / DB) as database:
        database.execute("UPDATE judgekit_schema SET version = 99, judgekit = '9.0'")
    database.close()
    ran = run(*command)
    assert ran.code == 2
    assert f"{DB} was written by judgekit 9.0 and has schema 99" in ran.err
    assert 'pip install -U "judgekit-llm>=9.0"' in ran.err


def test_what_was_paid_for_failures_is_not_forgotten_when_they_are_asked_again(
    run: Run, tmp_path: Path
) -> None:
    said = ["nothing to read"]
    with OpenAILikeServer(lambda _: ok(said[-1])) as server:
        judge = {"model": "openai/m", "api_base": server.url, "max_tokens": 100}
        prices = {"openai/m": {"input_usd": 1000, "output_usd": 1000}}
        lay_suite(tmp_path, n=1, rubric="rubric.yaml", assertions=None, judge=judge, prices=prices)
        assert run("run", "-q").code == 3
        before = run("show", "latest", "--json").json["variants"][0]["money"]["judges_usd"]
        said.append(reply(5))
        ran = run("run", "-q", "--resume", "--retry-errors", "--refresh")
        assert ran.code == 0
    assert before > 0
    shown = run("show", "latest", "--json").json
    assert shown["replaced_usd"] == pytest.approx(before)
    assert "more for answers and judgments replaced since" in ran.out
