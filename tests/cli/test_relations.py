"""Relations both ways at the command line, and comparisons of scores that are stored."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import DEFAULT_STORE_FILE
from tests.evaluation.suites import lay_suite, rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

N = 12


def lay(folder: Path, *failing: int) -> None:
    """A suite of twelve cases of two skills; of these places `v1` fails, and `v2` never does."""
    variants = [{"id": name, "outputs": f"{name}.jsonl"} for name in ("v1", "v2")]
    lay_suite(folder, n=N, texts={f"c{k}": "wrong" for k in failing}, variants=variants)
    ids = [f"c{k}" for k in range(N)]
    cases = (
        {"id": c, "input": f"Question {c}?", "skill": "refunds" if k % 2 else "billing"}
        for k, c in enumerate(ids)
    )
    (folder / "cases.jsonl").write_text(rows(*cases), encoding="utf-8")
    answers = rows(*({"case_id": c, "text": "right"} for c in ids))
    (folder / "v2.jsonl").write_text(answers, encoding="utf-8")


def told_id(err: str) -> str:
    """The id in a line such as `stored as cmp-…: judgekit show cmp-…`."""
    (line,) = [line for line in err.splitlines() if line.startswith("stored as")]
    return line.split()[2].rstrip(":,")


@pytest.fixture
def two_runs(run: Run, tmp_path: Path) -> list[str]:
    """The ids of two runs, newest first: of the first eight cases fail, of the second seven."""
    for n in (8, 7):
        lay(tmp_path, *range(n))
        assert run("run", "-q").code == 0
    return [one["id"] for one in run("show", "--json").json["runs"]]


SIDES = ("latest::v1", "latest::v2", "--scores")


def test_a_comparison_of_scores_is_stored_and_shown_again(run: Run, two_runs: list[str]) -> None:
    ran = run("compare", *SIDES)
    assert ran.code == 0
    name = told_id(ran.err)
    shown = run("show", name)
    assert shown.code == 0
    assert "v2 is better: a difference of +0.583 over 12 cases" in shown.out
    assert f"v1, run {two_runs[0]}" in shown.out
    found = run("show", name, "--json").json
    assert (found["comparison"]["kind"], found["approvals"]) == ("scores", [])
    again = run("compare", *SIDES, "--json").json
    assert again["id"] != name
    same = {key: value for key, value in again.items() if key not in {"id", "a", "b"}}
    assert same == {key: value for key, value in found["summary"].items() if key in same}
    listed = run("show", "--comparisons", "--json").json
    assert [one["id"] for one in listed] == [again["id"], name]
    assert "stored scores" in run("show", "--comparisons").out
    assert name in run("show", two_runs[0]).out
    assert name not in run("show", two_runs[1]).out


@pytest.mark.usefixtures("two_runs")
def test_without_storing_a_comparison_of_scores_has_no_id(run: Run) -> None:
    ran = run("compare", *SIDES, "--no-store", "--json")
    assert ran.code == 0
    assert "id" not in ran.json
    assert run("show", "--comparisons", "--json").json == []
    blind = run("compare", "v1", "v2", "--no-store")
    assert (blind.code, "--no-store goes with --scores" in blind.err) == (2, True)


def test_a_comparison_whose_run_is_gone_says_which(run: Run, two_runs: list[str]) -> None:
    name = told_id(run("compare", *SIDES).err)
    with sqlite3.connect(DEFAULT_STORE_FILE) as database:
        database.execute("UPDATE runs SET id = 'other' WHERE id = ?", [two_runs[0]])
    database.close()
    shown = run("show", name)
    assert shown.code == 2
    assert f"{name} compares the run {two_runs[0]}, which is not in this store" in shown.err


@pytest.mark.parametrize("more", [("c1",), ("--rule", "average")])
def test_what_only_blind_comparisons_have_is_refused_for_scores(
    run: Run, two_runs: list[str], more: tuple[str, ...]
) -> None:
    name = told_id(run("compare", *SIDES).err)
    shown = run("show", name, *more)
    assert shown.code == 2
    assert f"{name} compares stored scores" in shown.err
    assert f"judgekit show {two_runs[0]} CASE" in shown.err
    resumed = run("export", name, "-o", "x.jsonl")
    assert (resumed.code, "it has no pairs" in resumed.err) == (2, True)


def test_an_approval_names_the_comparison_it_rests_on(run: Run, two_runs: list[str]) -> None:
    ran = run("approve", "v2", "--baseline", "v1", "--because", "it is right", "--json")
    name, of_run = ran.json["evidence"]
    assert of_run == two_runs[0]
    assert run("show", name, "--json").json["approvals"] == [ran.json["id"]]
    assert run("show", of_run, "--json").json["approvals"] == [ran.json["id"]]
    assert run("show", "--skill", "refunds", "--json").json["approvals"][0]["id"] == ran.json["id"]
    refused = run("approve", "v1", "--baseline", "v2", "--because", "no")
    assert refused.code == 1
    assert len(run("show", "--comparisons", "--json").json) == 1


def findings(run: Run, *options: str) -> set[str]:
    return {one["case_id"] or "" for one in run("findings", *options, "--json").json["findings"]}


def test_findings_are_found_from_a_case_a_criterion_and_a_run(
    run: Run, two_runs: list[str]
) -> None:
    later, first = two_runs
    assert findings(run) == {f"c{k}" for k in range(7)}
    assert findings(run, "--case", "c3") == {"c3"}
    assert findings(run, "--case", "c7") == set()
    assert findings(run, "--criterion", "nothing") == set()
    # What a run resolved is listed with it, whatever its status is now.
    assert findings(run, "--run", later) == findings(run, "--run", first)
    assert findings(run, "--run", later, "--resolved") == {"c7"}
    (only,) = run("findings", "--case", "c3", "--json").json["findings"]
    assert only["runs"] == [first, later]
    shown = run("show", later, "--json").json["findings"]
    assert (len(shown["continued"]), len(shown["resolved"])) == (7, 1)
    assert only["id"] in shown["continued"]
    assert "7 continued, 1 resolved; see `judgekit findings --run" in run("show", later).out
    other = run("findings", "--run", later, "--suite", "else")
    assert (other.code, "no suite is called 'else'" in other.err) == (2, True)


@pytest.mark.usefixtures("two_runs")
def test_a_case_leads_to_its_findings(run: Run) -> None:
    found = run("show", "--case", "c7", "--json").json["findings"]
    assert [(one["case_id"], one["status"]) for one in found] == [("c7", "resolved")]
    assert "findings of this case" in run("show", "--case", "c7").out
    assert run("show", "--case", "c7", "--variant", "v2", "--json").json["findings"] == []


def test_all_that_is_known_of_a_skill_in_every_form(
    run: Run, two_runs: list[str], tmp_path: Path
) -> None:
    ran = run("show", "--skill", "refunds", "-o", "known.html", "-o", "known.md", "-n", 2)
    assert ran.code == 0
    assert "6 cases, 2 runs, 3 open findings (3 major)." in ran.out
    assert "cases, 2 of 6" in ran.out
    assert "open findings, 2 of 3" in ran.out
    assert "runs, 2 of" not in ran.out
    for text in (ran.out, *((tmp_path / f"known.{end}").read_text() for end in ("html", "md"))):
        assert "c1" in text
        assert "judgekit findings show FINDING" in text
    found = run("show", "--skill", "refunds", "--json").json
    assert (found["n_cases"], found["by_status"]) == (6, {"active": 6})
    assert found["runs"] == two_runs
    assert [case["id"] for case in found["cases"]] == ["c1", "c11", "c3", "c5", "c7", "c9"]
    trend = next(one for one in found["trends"] if one["variant"] == "v1")
    assert [point["value"] for point in trend["series"]] == pytest.approx([2 / 6, 3 / 6])
    assert {one["case_id"] for one in found["findings"]} == {"c1", "c3", "c5"}


def test_a_suite_leads_to_all_that_is_known_of_it(run: Run, two_runs: list[str]) -> None:
    found = run("show", "--suite", "small", "--json").json
    assert (found["n_cases"], found["runs"]) == (N, two_runs)
    unknown = run("show", "--suite", "smal")
    assert (unknown.code, "did you mean small?" in unknown.err) == (2, True)


def test_what_is_shown_can_be_written(run: Run, two_runs: list[str], tmp_path: Path) -> None:
    name = told_id(run("compare", *SIDES).err)
    for arguments in ((), (two_runs[0],), (two_runs[0], "c1"), (name,), ("--comparisons",)):
        assert run("show", *arguments, "-o", "shown.json").code == 0
        written: Any = json.loads((tmp_path / "shown.json").read_text(encoding="utf-8"))
        assert written == run("show", *arguments, "--json").json
    run("show", two_runs[0], "c1", "--variant", "v2", "--failed", "-o", "none.md")
    assert "has no such answer to case c1" in (tmp_path / "none.md").read_text(encoding="utf-8")
    wrong = run("show", "-o", "shown.csv")
    assert (wrong.code, "cannot write what is shown to shown.csv" in wrong.err) == (2, True)
