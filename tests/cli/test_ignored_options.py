"""An option that a command cannot use is refused where it was typed, and never ignored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

WON = {"case_id": "1", "variant_a": "x", "variant_b": "y", "winner": "a"}
LOGGED = {"case_id": "a", "input": "Hello?", "text": "Good day."}


@pytest.fixture
def shop(run: Run, tmp_path: Path) -> Run:
    """A suite with recorded replies, labels and files of results."""
    run("init", ".")
    (tmp_path / "won.jsonl").write_text(json.dumps(WON), encoding="utf-8")
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(LOGGED)}\n", encoding="utf-8")
    return run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("rank won.jsonl --judge openai/m", "--judge is for sides that a judge compares"),
        ("rank won.jsonl --rubric none.yaml", "--rubric is for sides that a judge compares"),
        ("calibrate labels.jsonl --all", "--all chooses what is judged now"),
        ("calibrate labels.jsonl --refresh", "--refresh chooses what is judged now"),
        ("calibrate labels.jsonl --cases cases.jsonl", "--cases chooses what is judged now"),
        (
            "calibrate labels.jsonl --run latest --judge recorded:replies.jsonl",
            "--judge chooses what is judged now",
        ),
        (
            "calibrate labels.jsonl --results won.jsonl --judge openai/m",
            "--judge chooses what is judged now",
        ),
        ("report won.jsonl -o x.html --name a --name b", "--name is for stored runs"),
        ("approve --list --because x", "--because does not apply to --list"),
        (
            "rejudge latest --judge local --cases cases.jsonl",
            "--cases goes with a file of verdicts",
        ),
        ("trend --criterion correct --measure pass_rate", "omit --criterion"),
        ("run judgekit.yaml --config judgekit.yaml", "SUITE and --config name two suites"),
        ("run --workers 2", "--workers is for --engine ray"),
        ("watch log.jsonl --once --batch", "watch always stores its windows, each graded"),
        ("label --merge labels.jsonl labels.jsonl --export x.jsonl", "--export does not apply to"),
        (
            "label --merge labels.jsonl labels.jsonl --import labels.jsonl",
            "--import does not apply",
        ),
        ("label --export x.jsonl -o x.html", "--export and -o exclude each other"),
        ("label --page --export x.jsonl", "--export and --page exclude each other"),
        ("label --page --import labels.jsonl", "--import and --page exclude each other"),
        ("label --no-open", "--no-open goes with --page"),
        ("label latest --cases cases.jsonl", "--cases is for files of outputs"),
        ("findings --store other.db show f-1", "--store stands before show"),
        ("findings --json resolve f-1 --because x", "--json stands before resolve"),
    ],
)
def test_it_is_refused(shop: Run, arguments: str, words: str) -> None:
    ran = shop(*arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("show latest --history", "--history is for a CASE"),
        ("show --comparisons --skill refunds", "--skill does not apply to comparisons"),
        ("show --comparisons --configs", "--configs does not apply to comparisons"),
        ("show {comparison} --variant v1", "--variant does not apply to comparisons"),
        ("export {comparison} --failed -o x.json", "--failed is for the answers of a run"),
        ("export {comparison} --filter-tag x -o x.json", "--filter-tag is for the answers"),
        ("gate accept latest --because x --max-drop 0.1", "--max-drop is for deciding"),
        ("report latest -o x.html --rubric helpfulness", "--rubric is for files"),
        ("compare latest::v1 latest::v2 --cases cases.jsonl", "--cases is for files of outputs"),
        ("cache ls --rejected --contains x", "--contains does not apply to rejected replies"),
    ],
)
def test_it_is_refused_of_what_is_stored(shop: Run, arguments: str, words: str) -> None:
    shop("run", "-q")
    shop("compare", "v1", "v2", "-q")
    (comparison,) = shop("show", "--comparisons", "--json").json
    ran = shop(*arguments.format(comparison=comparison["id"]).split())
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_what_the_environment_sets_for_all_commands_is_no_error(
    shop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_WORKERS", "2")
    assert shop("run", "-q").code == 0
    monkeypatch.setenv("JUDGEKIT_JUDGE", "openai/m")
    monkeypatch.setenv("JUDGEKIT_CASES", "cases.jsonl")
    monkeypatch.setenv("JUDGEKIT_RUBRIC", "helpfulness")
    monkeypatch.setenv("JUDGEKIT_CONFIG", "judgekit.yaml")
    monkeypatch.setenv("JUDGEKIT_TEMPLATE", "pointwise/criterion")
    for arguments in (
        "compare v1 v2 --judge recorded:replies.jsonl --dry-run",
        "calibrate labels.jsonl",
        "report latest -o x.html",
        "label latest --export x.jsonl",
        "plan judgekit.yaml --judge recorded:replies.jsonl",
    ):
        ran = shop(*arguments.split())
        assert (ran.code, ran.err.partition("error:")[1]) == (0, "")


@pytest.mark.parametrize("command", ["run", "grade"])
def test_a_dry_run_writes_its_plan_and_names_the_file_that_it_does_not_write(
    shop: Run, tmp_path: Path, command: str
) -> None:
    ran = shop(command, "--dry-run", "-o", "answers.jsonl", "-o", "plan.html")
    assert (ran.code, "answers.jsonl is not written: a dry run has" in ran.err) == (0, True)
    assert "calls" in (tmp_path / "plan.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("by", ["option", "suite"])
def test_watch_grades_nothing_without_the_calibration_that_is_required(
    shop: Run, tmp_path: Path, by: str
) -> None:
    if by == "suite":
        with (tmp_path / "judgekit.yaml").open("a", encoding="utf-8") as suite:
            suite.write("\ngate: {require_calibration: true}\n")
    options = ("--require-calibration",) if by == "option" else ()
    ran = shop("watch", "log.jsonl", "--once", "--rate", 1, *options)
    assert (ran.code, ran.out) == (4, "")
    assert "no calls made: a valid calibration is required" in ran.err
    assert shop("show", "--json").json["runs"] == []
