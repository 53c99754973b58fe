from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.records import RunPanel
from judgekit.store import RunStore
from tests.evaluation.waiting import question
from tests.factories import make_case, make_output
from tests.store.observing import START, answer, begun, key, part, said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

BAD = (said(value=0, rationale="It is wrong."), said("clarity", 0))
HARD = make_case(id="a", tags=("hard",), agent="desk", skill="refunds", prompt_version="p7")


@pytest.fixture(autouse=True)
def _kept(run: Run, tmp_path: Path) -> None:
    """Two runs: `run-1` of two variants and two cases, `run-2` of another suite and one case."""
    assert run is not None
    with closing(RunStore(tmp_path / DEFAULT_STORE_FILE)) as store:
        begun(
            store,
            answer(key("a", "v1"), case=HARD, output=make_output("x" * 2000, run_id="ar-1")),
            answer(key("a", "v2"), case=HARD, said=BAD),
            answer(key("b", "v1"), place=1, case=make_case(id="b")),
            variants=[{"id": "v1"}, {"id": "v2", "prompt_version": "p8"}],
            n_cases=2,
        )
        store.end("run-1", status="complete", at=START)
        begun(
            store,
            answer(key("a", "v1"), case=HARD, said=BAD),
            name="run-2",
            suite="nightly",
            started_at=START + timedelta(days=1),
        )
        store.end("run-2", status="incomplete", at=START)


def test_without_arguments_the_runs_are_listed_newest_first(run: Run) -> None:
    ran = run("show")
    assert ran.code == 0
    assert ran.out.index("run-2") < ran.out.index("run-1")
    assert "support   2026-11-22 09:30   complete" in ran.out
    assert "passed" not in ran.out
    assert [each["id"] for each in run("show", "--json").json["runs"]] == ["run-2", "run-1"]


def test_figures_are_worked_out_when_asked_for(run: Run) -> None:
    assert "v1 0 % [" in run("show", "--figures").out
    first = run("show", "--figures", "--json").json["runs"][0]
    assert first["variants"][0]["n_failed"] == 1
    assert first["gate"] == run("show", first["run"]["id"], "--json").json["gate"]


def test_a_long_list_is_cut_and_says_so(run: Run) -> None:
    ran = run("show", "-n", 1)
    assert "run-1" not in ran.out
    assert "the first 1 are shown; more with -n" in ran.err


def test_a_run_shows_its_table_and_notes(run: Run) -> None:
    ran = run("show", "latest:support")
    assert "support: 2 cases; support passes from 0.7" in ran.out
    assert "run-1 (complete)" in ran.out
    assert run("show", "run-1", "--json").json["variants"][1]["n_failed"] == 1


def test_a_case_shows_everything_about_it(run: Run) -> None:
    ran = run("show", "run-1", "a")
    for line in ("Case a, #hard, agent desk, skill refunds, prompt p7", "Can I return it?",
                 "agent run ar-1", "fail: a, v2", "It is wrong.", "more characters: --full",
                 "verdict"):  # fmt: skip
        assert line in ran.out
    assert "run-2" not in ran.out


def test_texts_are_whole_with_full(run: Run) -> None:
    ran = run("show", "run-1", "a", "--full", "--variant", "v1")
    assert ran.out.count("x") >= 2000
    assert "v2" not in ran.out


def test_a_case_as_json_holds_results_and_verdicts(run: Run) -> None:
    shown = run("show", "run-1", "a", "--json", "--failed").json
    (only,) = shown["answers"]
    assert (only["variant"], only["passed"], only["value"]) == ("v2", False, 0)
    assert only["judgments"][0]["rationale"] == "It is wrong."
    assert only["verdict"]["criteria"][0]["name"] == "accuracy"
    assert shown["run"]["id"] == "run-1"


def test_what_was_replaced_is_shown_on_request(run: Run, tmp_path: Path) -> None:
    with closing(RunStore(tmp_path / DEFAULT_STORE_FILE)) as store:
        store.add("run-1", [part(key("a", "v1"), said=[said(value=0.25, rationale="Changed.")])])
        store.end("run-1", status="complete", at=START)
    assert "earlier" not in run("show", "run-1", "a").out
    ran = run("show", "run-1", "a", "--variant", "v1", "--history")
    assert "replaced 2026-11-22 09:31 UTC: Judgment" in ran.out
    answers = run("show", "run-1", "a", "--history", "--json").json["answers"]
    assert answers[0]["earlier"][0]["Judgment"]["value"] == 1


def test_a_case_that_waits_for_a_person_says_so(run: Run, tmp_path: Path) -> None:
    with closing(RunStore(tmp_path / DEFAULT_STORE_FILE)) as store:
        begun(store, answer(key("a"), said=()), name="run-3", panel=RunPanel(judges=("human",)))
        store.ask_person("run-3", [question(of=key("a"), run_id="run-3")])
    assert "1 question for human labelling: judgekit label run-3" in run("show", "run-3", "a").out


def test_a_case_without_such_an_answer_is_said_on_stderr(run: Run) -> None:
    ran = run("show", "run-1", "b", "--failed")
    assert (ran.code, ran.out) == (0, "")
    assert "run run-1 has no such answer to case b" in ran.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("nope",), "no run is called 'nope'"),
        (("run-1", "z"), "no case of this run is called 'z'\n  known: a, b"),
        (("run-1", "a", "--variant", "v9"), "no variant of this run is called 'v9'"),
        (("run-1", "--agent", "desk"), "--agent is for the listing without RUN"),
        (("run-1", "--prompt-version", "p"), "--prompt-version is for the listing"),
        (("run-1", "--figures"), "--figures is for the listing without RUN"),
        (("--failed",), "--failed needs a RUN"),
        (
            ("--criterion", "accuracy", "--agent", "desk"),
            "--agent does not apply to a list of judg",
        ),
        (("--case", "a", "--figures"), "--figures does not apply to a list of answers"),
        (("--store", "none.db"), "there is no database none.db"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_a_remedy(
    run: Run, arguments: tuple[str, ...], problem: str
) -> None:
    ran = run("show", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert problem in ran.err


def test_the_answers_of_a_run_are_listed_by_wish(run: Run) -> None:
    ran = run("show", "run-1", "--failed")
    assert "fail  a, v2" in ran.out
    assert "v1" not in ran.out
    listed = run("show", "run-1", "--filter-tag", "hard", "--json").json["answers"]
    assert [each["variant"] for each in listed] == ["v1", "v2"]


def test_a_long_list_of_answers_says_that_there_are_more(run: Run) -> None:
    ran = run("show", "run-1", "--variant", "v1", "-n", 1)
    assert ran.out.count("v1") == 1
    assert "the first 1 are shown; more with -n" in ran.err
    assert "more with" not in run("show", "run-1", "--variant", "v1", "-n", 2).err
    assert "run run-1 has no such answer" in run("show", "run-1", "--filter-tag", "x").err


def test_a_case_is_found_in_every_run(run: Run) -> None:
    rows = [
        line.split()[:3] for line in run("show", "--case", "a").out.splitlines() if "run-" in line
    ]
    assert rows == [["run-2", "a", "v1"], ["run-1", "a", "v1"], ["run-1", "a", "v2"]]
    failed = run("show", "--case", "a", "--variant", "v1", "--failed", "--json").json["answers"]
    assert [each["run_id"] for each in failed] == ["run-2"]
    assert run("show", "--case", "a", "--filter-tag", "easy").err == "no match in this store\n"


def test_an_agents_own_run_leads_to_its_output(run: Run) -> None:
    assert "ar-1" in run("show", "--agent-run", "ar-1").out
    (only,) = run("show", "--agent-run", "ar-1", "--json").json["answers"]
    assert (only["run_id"], only["case"]["id"]) == ("run-1", "a")


@pytest.mark.parametrize("wish", ["--agent=desk", "--skill=refunds", "--filter-tag=hard"])
def test_agents_skills_and_tags_lead_to_cases_and_their_runs(run: Run, wish: str) -> None:
    out = run("show", wish).out
    assert "desk" in out
    assert "run-2" in out
    (only,) = run("show", wish, "--json").json["cases"]
    assert (only["id"], only["runs"]) == ("a", ["run-2", "run-1"])


def test_a_prompt_version_leads_to_cases_and_to_runs_of_its_variants(run: Run) -> None:
    assert "refunds" in run("show", "--prompt-version", "p7").out
    out = run("show", "--prompt-version", "p8").out
    assert "runs with a variant of this prompt version" in out
    assert "run-1" in out
    shown = run("show", "--prompt-version", "p8", "--json").json
    assert ([r["id"] for r in shown["runs_with_variant"]], shown["cases"]) == (["run-1"], [])


def test_variants_and_rubrics_lead_to_runs(run: Run) -> None:
    assert "run-2" not in run("show", "--variant", "v2").out
    runs = run("show", "--rubric", "support", "--json").json["runs"]
    assert [each["id"] for each in runs] == ["run-2", "run-1"]
    both = run("show", "--rubric", "support", "--variant", "v2", "--json").json["runs"]
    assert [each["id"] for each in both] == ["run-1"]
    assert run("show", "--rubric", "none").err == "no match in this store\n"


def test_a_criterion_leads_to_rubrics_and_judgments(run: Run) -> None:
    out = run("show", "--criterion", "accuracy", "--rubric", "support").out
    assert "How good is its accuracy?" in out
    assert "It is wrong." in out
    shown = run("show", "--criterion", "accuracy", "--case", "a", "--variant", "v2", "--json").json
    assert [each["run"] for each in shown["judgments"]] == ["run-1"]
    assert shown["rubrics"][0]["name"] == "support"
    assert run("show", "--criterion", "charm").err == "no match in this store\n"
    assert run("show", "--skill", "refunds", "--filter-tag", "x").err == "no match in this store\n"
    assert run("show", "--agent-run", "none").err == "no match in this store\n"
