from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_unasked_replies import said

if TYPE_CHECKING:
    from tests.cli.bench import Bench

OTHER = {
    "name": "polite",
    "criteria": [{"name": "kind", "question": "Is it kind?", "scale": "binary"}],
}
SUITE: dict[str, Any] = {
    "name": "small",
    "dataset": "cases.jsonl",
    "rubric": "rubric.yaml",
    "judge": {"model": "recorded:said.jsonl", "template": "pairwise/mt_bench"},
    "variants": [{"id": "v1", "outputs": "v1.jsonl"}, {"id": "v2", "outputs": "v2.jsonl"}],
}
OWN = "case c2 has its own rubric, polite, but a comparison has one for all cases: answers"


@pytest.fixture
def suite(bench: Bench) -> Bench:
    """Three cases, of which the second has a rubric of its own, in a file of its own."""
    bench.write("polite.yaml", json.dumps(OTHER))
    bench.write("said.jsonl", *said("v1 vs v2", ["c1", "c2", "c3"]))
    for name in ("v1", "v2"):
        rows = ({"case_id": f"c{k}", "text": f"{name} {k}"} for k in (1, 2, 3))
        bench.write(f"{name}.jsonl", *rows)
    bench.write("judgekit.yaml", json.dumps(SUITE))
    own(bench, "polite.yaml")
    return bench


def own(bench: Bench, rubric: object) -> None:
    """Give the second case a rubric."""
    cases: list[dict[str, object]] = [
        {"id": f"c{k}", "input": f"q{k}", "tags": [f"t{k}"]} for k in (1, 2, 3)
    ]
    cases[1]["rubric"] = rubric
    bench.write("cases.jsonl", *cases)


@pytest.mark.parametrize("rubric", ["polite.yaml", OTHER])
@pytest.mark.parametrize("command", ["compare", "rank"])
def test_cases_are_not_compared_by_another_rubric_than_their_own_in_silence(
    suite: Bench, command: str, rubric: object
) -> None:
    own(suite, rubric)
    ran = suite.run(command, "v1", "v2")
    assert (ran.code, ran.out) == (2, "")
    assert OWN in ran.err
    assert "--rubric FILE|NAME" in ran.err


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_a_rubric_that_is_named_holds_for_all_cases(suite: Bench, command: str) -> None:
    assert suite.run(command, "v1", "v2", "--rubric", "rubric.yaml").code == 4


def test_cases_that_are_not_chosen_do_not_matter(suite: Bench) -> None:
    assert suite.run("compare", "v1", "v2", "--filter-tag", "t3").code == 4


@pytest.mark.parametrize("same", ["rubric.yaml", "answers"])
def test_a_case_that_names_the_same_rubric_is_compared_by_it(suite: Bench, same: str) -> None:
    own(suite, same)
    assert suite.run("compare", "v1", "v2").code == 4


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_it_is_said_before_any_output_is_made(suite: Bench, command: str) -> None:
    live = {"id": "live", "command": ["no-such-program"]}
    suite.write("judgekit.yaml", json.dumps(SUITE | {"variants": [*SUITE["variants"], live]}))
    ran = suite.run(command, "v1", "live")
    assert (ran.code, ran.out) == (2, "")
    assert OWN in ran.err
    assert not (suite.folder / ".judgekit" / "judgekit.db").exists()


def test_stored_runs_of_different_rubrics_need_one_to_be_named(suite: Bench) -> None:
    own(suite, None)
    heuristic = SUITE | {"judge": "heuristic", "assertions": [{"type": "contains", "value": "v"}]}
    suite.write("judgekit.yaml", json.dumps(heuristic))
    suite.run("run", "--no-progress")
    first = suite.run("show", "--json").json
    old = first["runs"][0]["id"] if isinstance(first, dict) else first[0]["id"]
    suite.write("rubric.yaml", json.dumps(OTHER))
    suite.run("run", "--no-progress")
    names = f"{old}::v1", "latest::v2"
    for pair in (names, names[::-1]):
        ran = suite.run("compare", *pair, "--judge", "recorded:said.jsonl")
        assert ran.code == 2
        assert "the runs were judged by different rubrics" in ran.err


def expecting(name: str, description: str) -> dict[str, object]:
    expectation = {"criterion": name, "description": description, "required": True}
    return {"id": f"case-{name}", "prompt": "Write it", "expectations": [expectation]}


def tie(case: str, order: str) -> dict[str, object]:
    choice = {
        "evidence_first": [], "evidence_second": [], "rationale": "It is.", "score_first": 5,
        "score_second": 5, "preference": "tie", "confidence": 1, "assessable": True,
    }  # fmt: skip
    return {"case_id": case, "order": order, "text": json.dumps(choice)}


@pytest.mark.parametrize("sides", ["files", "runs"])
def test_without_a_named_rubric_every_case_is_compared_by_its_own(bench: Bench, sides: str) -> None:
    cases = [expecting("dated", "Begins with a date"), expecting("short", "Has two lines")]
    names = [str(case["id"]) for case in cases]
    bench.write("evals.json", json.dumps({"skill": "changelog", "cases": cases}))
    for variant in ("v0", "v1"):
        rows = [{"case_id": name, "text": f"{variant} {name}"} for name in names]
        bench.write(f"{variant}.jsonl", *rows)
    bench.write("ties.jsonl", *(tie(name, order) for name in names for order in ("ab", "ba")))
    grade = json.dumps({"evidence": [], "rationale": "Good.", "score": 4})
    bench.write("grades.jsonl", *({"case_id": name, "text": grade} for name in names))
    named, cases_of = ["v0.jsonl", "v1.jsonl"], ["--cases", "evals.json"]
    if sides == "runs":
        cases_of = []  # runs have their own
        graded = ("--judge", "recorded:grades.jsonl", "--json")
        runs = [bench.run("run", "evals.json", "--outputs", one, *graded).json for one in named]
        named = [str(run["run"]["id"]) for run in runs]
    judge = ("--judge", "recorded:ties.jsonl")
    ran = bench.run("compare", *named, *cases_of, *judge, "-o", "all.jsonl")
    assert ran.code == 4, ran.err
    found = [json.loads(line) for line in (bench.folder / "all.jsonl").read_text().splitlines()]
    asked = {one["case_id"]: [criterion["name"] for criterion in one["criteria"]] for one in found}
    assert asked == {"case-dated": ["dated"], "case-short": ["short"]}
    assert {one["rubric"] for one in found} == {"the cases' own rubrics"}
    assert bench.run("rank", "all.jsonl").code == 4


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"template": "none"}, "no template is called 'none'"),
        ({"judge": "strict"}, "is to be graded by the judge 'strict'"),
    ],
)
def test_a_fault_of_a_criterion_names_its_file_and_line(
    suite: Bench, fault: dict[str, str], words: str
) -> None:
    criterion = {"name": "odd", "question": "Is it odd?", "scale": "binary", **fault}
    rubric = {"name": "r", "criteria": [*OTHER["criteria"], criterion]}
    suite.write("rubric.yaml", json.dumps(rubric, indent=1))
    line = suite.folder.joinpath("rubric.yaml").read_text().split("odd")[0].count("\n")
    judge = {"model": "recorded:said.jsonl"}
    suite.write("judgekit.yaml", json.dumps({**SUITE, "judge": judge}))
    ran = suite.run("run")
    assert ran.code == 2
    assert f"rubric.yaml:{line}: criterion 'odd'" in ran.err
    assert words in ran.err
    suite.write("judgekit.yaml", json.dumps({**SUITE, "judge": judge, "rubric": "helpfulness"}))
    own(suite, rubric)
    ran = suite.run("run")
    assert "cases.jsonl: case 'c2': criterion 'odd'" in ran.err
