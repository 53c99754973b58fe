"""Gates and baselines: a decision is made between runs that were measured the same way."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.store import RunStore
from tests.evaluation.suites import lay_suite
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Ran, Run

GATE = {"max_drop": 0.1}
STRICT, LENIENT = "strict.jsonl", "lenient.jsonl"


def passing(folder: Path, n: int, n_passing: int, **suite: Any) -> Path:
    """A suite of n cases of which the first pass."""
    texts = {f"c{k}": "wrong" for k in range(n_passing, n)}
    return lay_suite(folder, n=n, texts=texts, **{"gate": GATE, **suite})


def judged(folder: Path, replies: str, score: int, *, n: int = 12, **suite: Any) -> Path:
    """A suite whose recorded judge gives every answer one score."""
    text = json.dumps({"rationale": "It is so.", "score": score})
    rows = [
        {"case_id": f"c{k}", "criterion": name, "text": text}
        for k in range(n)
        for name in ("good", "short")
    ]
    path = folder / replies
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    known = {"judge": {"model": f"recorded:{replies}"}, "rubric": "rubric.yaml", "gate": GATE}
    return lay_suite(folder, n=n, **{**known, **suite})


def run_ids(folder: Path) -> list[str]:
    """The stored runs, oldest first."""
    store = RunStore(folder / ".judgekit" / "judgekit.db")
    try:
        return [one.id for one in reversed(store.runs())]
    finally:
        store.close()


def gate_text(ran: Ran) -> str:
    """The gate of a result, without line breaks."""
    return " ".join(ran.out.split())


def test_a_slow_fall_is_seen_against_the_best_run(run: Run, tmp_path: Path) -> None:
    codes = []
    for n_passing in range(20, 4, -2):
        passing(tmp_path, 20, n_passing)
        ran = run("run", "-q")
        codes.append(ran.code)
    assert codes == [0, 0, 4, 4, 1, 1, 1, 1]
    assert "dropped too far: -0.70 [-0.94, -0.33] since the best run" in gate_text(ran)
    assert "v1: pass rate degrading over 8 comparable runs: 70 → 60 → 50 → 40 → 30 %" in (
        gate_text(ran)
    )


def test_a_run_that_failed_its_gate_is_no_baseline_until_it_is_accepted(
    run: Run, tmp_path: Path
) -> None:
    passing(tmp_path, 60, 60)
    assert run("run").code == 0
    passing(tmp_path, 60, 48)
    assert [run("run").code, run("run").code] == [1, 1]
    refused = run("gate", "accept", "latest")
    assert refused.code == 2
    assert "accepting a run needs a reason" in refused.err
    accepted = run("gate", "accept", "latest", "--because", "the cases are harder", "--by", "Ada")
    assert accepted.code == 0
    assert "is accepted as a baseline by Ada" in accepted.err
    because = ("--because", "the cases are harder", "--by", "Ada", "--json")
    decision = run("gate", "accept", "latest", *because).json
    assert (decision["outcome"], decision["by"]) == ("accepted", "Ada")
    assert run("run").code == 0  # neither is it compared with the better runs before
    found = run("gate", "--baseline", "accepted", "--json")
    assert (found.code, found.json["gate"]["held"]) == (0, "passed")


@pytest.mark.parametrize("option", ["--because", "--by"])
def test_a_reason_without_accept_is_refused(run: Run, tmp_path: Path, option: str) -> None:
    passing(tmp_path, 60, 60)
    assert run("run").code == 0
    refused = run("gate", "latest", option, "Ada")
    assert refused.code == 2
    assert "unexpected argument --because or --by" in refused.err


def test_a_run_that_did_not_finish_cannot_be_accepted(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 60, 0)
    assert run("run", "--fail-fast").code == 1
    (info,) = run("show", "--json").json["runs"]
    refused = run("gate", "accept", "latest", "--because", "the cases are harder")
    assert (refused.code, info["status"]) == (2, "stopped")
    assert f"{info['id']} is no baseline: it did not finish (stopped)" in refused.err


def test_an_answer_that_lacks_a_repeat_is_undecided(run: Run, tmp_path: Path) -> None:
    with OpenAILikeServer() as server:
        judge = {"model": "openai/m", "api_base": server.url}
        gate = {"min_coverage": 0.9}
        lay_suite(tmp_path, n=4, rubric="rubric.yaml", judge=judge, gate=gate)
        assert run("run").code == 0
        # A score of 4 of 5 passes; with a 1 for the other repeat it would not.
        ran = run("run", "--frozen", "--repeats", 2, "--json")
        (variant,) = ran.json["variants"]
        assert (ran.code, variant["n_passed"], variant["n_undecided"]) == (6, 0, 4)
        assert run("gate").code == 4
        assert run("run", "--repeats", 2, "--resume").code == 0
    assert server.n_requests == 16


def test_a_first_run_without_a_verdict_passes_no_gate_and_is_no_baseline(
    run: Run, tmp_path: Path
) -> None:
    gate = {"max_drop": 0.1}
    lay_suite(tmp_path, n=4, rubric="rubric.yaml", judge={"model": "openai/m"}, gate=gate)
    ran = run("run", "--frozen")
    assert ran.code == 6
    assert "Gate undecided" in ran.out
    decided = run("gate")
    assert decided.code == 4
    assert "pass rate undecided: no answer has a verdict" in decided.out
    refused = run("gate", "accept", "--because", "it is the first")
    assert refused.code == 2
    assert "is no baseline: no answer has a verdict" in refused.err


def test_a_partial_run_is_no_baseline(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 60, 60)
    first = run("run", "--json").json["run"]["id"]
    passing(tmp_path, 60, 20)
    assert run("run", "-n", "2").code == 0
    ran = run("run", "--json")
    assert ran.code == 1
    (drop,) = ran.json["gate"]["drops"]
    assert (drop["baseline"], drop["change"]["n"]) == (first, 60)


def test_the_same_selection_every_time_has_a_baseline(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 30, 30)
    run("run", "--filter-tag", "t0")
    passing(tmp_path, 30, 0)
    assert run("run", "--filter-tag", "t0").code == 1


def test_an_edited_threshold_scores_the_older_run_again(run: Run, tmp_path: Path) -> None:
    judged(tmp_path, STRICT, 4)
    assert run("run").code == 0
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text(
        rubric.read_text(encoding="utf-8").replace("pass_threshold: 0.7", "pass_threshold: 0.9"),
        encoding="utf-8",
    )
    ran = run("run")
    assert ran.code == 0  # 12 of 12 before, 0 of 12 now, and 0 of 12 by today's rubric
    assert "within the allowed drop: 0.00" in gate_text(ran)
    assert "the pass threshold was 0.7, is 0.9" in gate_text(ran)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"judge": {"model": f"recorded:{LENIENT}"}}, f"was recorded:{STRICT}, is recorded:"),
        (
            {"judge": {"model": "recorded:other/strict.jsonl"}},
            "the recorded replies were recorded:",
        ),
        (
            {"judge": {"model": f"recorded:{STRICT}", "temperature": 1}},
            "temperature was 0.0, is 1.0",
        ),
        ({"assertions": []}, "the suite's assertions were changed"),
        ({"settings": {"retry_failed": 1}}, "retry_failed was 0, is 1"),
        ({"rubric": "other.yaml"}, "removed criteria: short"),
        ({"rubric": "asked.yaml"}, "criterion 1 (good) edited: its question"),
    ],
)
def test_runs_that_were_measured_differently_are_not_compared(
    run: Run, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    for replies in (LENIENT, "other/strict.jsonl", STRICT):
        judged(tmp_path, replies, 5)
    whole = (tmp_path / "rubric.yaml").read_text(encoding="utf-8")
    (tmp_path / "other.yaml").write_text(whole.rsplit("  - {name: short", 1)[0], encoding="utf-8")
    (tmp_path / "asked.yaml").write_text(whole.replace("Is it good", "Is it very good"), "utf-8")
    assert run("run").code == 0
    judged(tmp_path, STRICT, 5, **change)
    ran = run("run")
    assert ran.code == 4
    assert words in gate_text(ran)
    assert "judgekit rejudge" in gate_text(ran)
    best = run("gate", "--baseline", "best")
    assert (best.code, words in gate_text(best)) == (4, True)
    first, second = run_ids(tmp_path)
    compared = run("compare", f"{first}::v1", f"{second}::v1", "--scores")
    assert (compared.code, compared.out) == (4, "")
    assert words in compared.err
    assert "better" not in compared.err
    # The next run is measured as this one was.
    assert run("run").code == 0
    assert run("gate", "--baseline", "best").code == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (r'"c(\d)', r'"x\1', "they have no case in common"),
        ("Question", "Ask", "every case was edited"),
    ],
)
def test_a_run_of_other_cases_is_not_compared_and_the_next_one_is(
    run: Run, tmp_path: Path, old: str, new: str, words: str
) -> None:
    passing(tmp_path, 20, 20)
    assert run("run").code == 0
    passing(tmp_path, 20, 10)
    for path in (tmp_path / "cases.jsonl", tmp_path / "v1.jsonl"):
        path.write_text(re.sub(old, new, path.read_text(encoding="utf-8")), encoding="utf-8")
    ran = run("run")
    assert (ran.code, words in gate_text(ran)) == (4, True)
    assert "gate accept" in gate_text(ran)
    # The best run, of the other cases, does not keep the next one from being decided.
    again = run("run")
    assert (again.code, "within the allowed drop: 0.00" in gate_text(again)) == (0, True)


def test_a_case_whose_transform_was_edited_is_left_out(run: Run, tmp_path: Path) -> None:
    gate = {"max_drop": 0.1, "rule": "point"}
    passing(tmp_path, 2, 2, gate=gate)
    outputs = [{"case_id": "c0", "text": '{"a": "right", "b": "wrong"}'},
               {"case_id": "c1", "text": "right"}]  # fmt: skip
    (tmp_path / "v1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in outputs))
    codes = []
    for name in ("a", "b"):
        steps = [{"parse_json": True}, {"path": [name]}]
        cases = [{"id": "c0", "input": "Q", "transform": steps}, {"id": "c1", "input": "Q"}]
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in cases))
        ran = run("run", "-q")
        codes.append(ran.code)
    assert codes == [0, 0]
    assert "1 case that was edited is left out; 1 unchanged case is compared" in gate_text(ran)


def test_cases_that_were_edited_are_left_out_and_counted(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 20, 20)
    run("run")
    passing(tmp_path, 24, 24)
    cases = tmp_path / "cases.jsonl"
    cases.write_text(cases.read_text(encoding="utf-8").replace("Question c3?", "Why?"), "utf-8")
    ran = run("run")
    assert "(19 cases)" in gate_text(ran)
    assert "1 case that was edited is left out; 19 unchanged cases are compared" in gate_text(ran)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--baseline", "nobody"), 2, "no run is called 'nobody'"),
        (("--baseline", "accepted"), 1, "no earlier run of this suite is accepted"),
        (("--tier", "production"), 1, "v1: is below production"),
        (("--max-drop", "0.9"), 0, "within the allowed drop"),
        (("--max-drop", "2"), 2, "0<=x<=1"),
    ],
)
def test_a_stored_run_is_gated_again_by_other_rules(
    run: Run, tmp_path: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    passing(tmp_path, 30, 30)
    run("run")
    passing(tmp_path, 30, 6)
    assert run("run").code == 1
    ran = run("gate", *options)
    assert ran.code == code
    assert words in gate_text(ran) + ran.err


def test_a_named_baseline_must_be_fit_to_be_one(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 30, 30)
    whole = run("run", "--json").json["run"]["id"]
    part = run("run", "-n", "3", "--json").json["run"]["id"]
    assert run("run", "--baseline", whole).code == 0
    ran = run("run", "--baseline", part)
    assert ran.code == 4
    assert "cannot be the baseline: it ran only some of the cases" in gate_text(ran)


def test_a_gate_on_the_command_line_is_stored_with_the_run(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 20, 20, gate=None)
    first = run("run")
    assert first.err.splitlines()[-1].startswith(
        "nothing was gated, so the exit code is 0 whatever passed; to fail on low quality:"
    )
    ran = run("run", "--max-drop", "0.1", "--alpha", "0.01")
    assert (ran.code, "nothing was gated" in ran.err) == (0, False)
    assert run("gate").code == 0
    alone = run("run", "--baseline", "best")
    assert alone.code == 2
    assert "give --max-drop POINTS as well" in alone.err


def test_a_grading_that_is_not_stored_has_no_baseline(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 4, 4, gate=None)
    ran = run("grade", "--no-store", "--max-drop", "0.1")
    assert ran.code == 2
    assert "--no-store leaves no earlier run to compare the pass rate with" in ran.err


def test_a_run_without_a_gate_is_refused_by_the_command(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 4, 4, gate=None)
    run("run")
    ran = run("gate")
    assert ran.code == 2
    assert "its suite sets none" in ran.err
    assert "give --max-drop POINTS or --tier TIER" in ran.err


def test_figures_are_computed_again_when_a_run_changes(run: Run, tmp_path: Path) -> None:
    passing(tmp_path, 30, 30)
    run("run")
    passing(tmp_path, 30, 15)
    assert run("run").code == 1
    with_figures = RunStore(tmp_path / ".judgekit" / "judgekit.db")
    try:
        newest, first = with_figures.runs()
        keys = _figure_keys(with_figures, newest.id)
        (key,) = (one for one in keys if one.startswith("figures "))
        assert with_figures.figures(newest.id, key) != with_figures.figures(first.id, key)
        results = list(with_figures.results(first.id))
        with_figures.end(first.id, status="running", at=first.started_at)
        assert with_figures.figures(first.id, key) is not None
        with_figures.forget(first.id, [results[0].key])
        assert with_figures.figures(first.id, key) is None
    finally:
        with_figures.close()


def _figure_keys(store: RunStore, run_id: str) -> list[str]:
    with store.reading() as connection:
        rows = connection.exec_driver_sql(
            "SELECT key FROM run_figures JOIN runs ON runs.no = run_no WHERE id = ?", (run_id,)
        )
        return [row.key for row in rows]


def test_scores_of_two_judges_approve_nothing(run: Run, tmp_path: Path) -> None:
    judged(tmp_path, STRICT, 3, variants=[{"id": "old", "outputs": "v1.jsonl"}])
    run("run")
    path = judged(tmp_path, LENIENT, 5, variants=[{"id": "new", "outputs": "v1.jsonl"}])
    run("run")
    options = ("--baseline", "old", "--scores", "--because", "x", "-c", path)
    ran = run("approve", "new", *options)
    assert (ran.code, ran.out) == (4, "")
    assert f"the model was recorded:{STRICT}, is recorded:{LENIENT}" in ran.err
    assert "better" not in ran.err


def two_versions(folder: Path, *scores: int, n: int = 30, **suite: Any) -> Path:
    """A suite of which `old` gets a 2 for every answer, and `new` these scores in turn."""
    variants = [{"id": "old", "outputs": "v1.jsonl"}, {"id": "new", "outputs": "new.jsonl"}]
    path = judged(folder, STRICT, 2, n=n, variants=variants, **suite)
    outputs = (folder / "v1.jsonl").read_text(encoding="utf-8")
    (folder / "new.jsonl").write_text(outputs, encoding="utf-8")
    texts = [json.dumps({"rationale": "It is so.", "score": score}) for score in scores]
    rows = [
        {"case_id": f"c{k}", "criterion": name, "variant": "new", "text": texts[k % len(texts)]}
        for k in range(n)
        for name in ("good", "short")
    ]
    with (folder / STRICT).open("a", encoding="utf-8") as replies:
        replies.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def approved(run: Run, path: Path) -> Ran:
    return run("approve", "new", "--baseline", "old", "--scores", "--because", "x", "-c", path)


@pytest.mark.parametrize(("tier", "code"), [("production", 1), ("experimental", 0)])
def test_a_version_that_fails_its_own_gate_is_not_approved(
    run: Run, tmp_path: Path, tier: str, code: int
) -> None:
    path = two_versions(tmp_path, 4, gate={"tier": tier})
    run("run", "--variant", "new")
    run("run", "--variant", "old")
    ran = approved(run, path)
    assert ran.code == code
    if code:
        assert "not approved: new fails the gate of its suite" in ran.err
        assert "better" not in ran.err
    else:
        assert "its gate: passed: new: reaches experimental: value 0.75" in gate_text(ran)


def test_a_run_of_some_cases_neither_approves_nor_passes_the_gate(run: Run, tmp_path: Path) -> None:
    path = two_versions(tmp_path, 5, 3, gate={"threshold": 0.8, "rule": "point"})
    run("run", "--filter-tag", "t0")
    some = approved(run, path)
    assert (some.code, "it ran only some of the cases" in some.err) == (4, True)
    assert run("run", "--variant", "old").code == run("run", "--variant", "new").code == 1
    # The even cases have the better scores.
    assert run("run", "--variant", "new", "--filter-tag", "t0").code == 0
    whole = approved(run, path)
    assert (whole.code, "new fails the gate of its suite" in whole.err) == (1, True)


def test_the_gate_of_another_suite_says_nothing_of_a_version(run: Run, tmp_path: Path) -> None:
    path = two_versions(tmp_path, 4, gate={"tier": "production", "rule": "point"})
    assert run("run", "--variant", "new").code == run("run", "--variant", "old").code == 1
    two_versions(tmp_path, 5, gate={"tier": "production"}, name="easy")
    assert run("run", "--variant", "new").code == 0
    two_versions(tmp_path, 4, gate={"tier": "production", "rule": "point"})
    ran = approved(run, path)
    assert (ran.code, "new fails the gate of its suite" in ran.err) == (1, True)


def test_each_required_criterion_has_to_reach_its_least(run: Run, tmp_path: Path) -> None:
    rubric = (
        "name: answers\ncriteria:\n"
        "  - {name: good, question: 'Is it good?', scale: one_to_five, required: true}\n"
        "  - {name: short, question: 'Is it short?', scale: one_to_five}\n"
    )
    gate = {"tier": "experimental", "rule": "point", "min_required": 0.9}
    judged(tmp_path, "judge.jsonl", 4, gate=gate)
    (tmp_path / "rubric.yaml").write_text(rubric, encoding="utf-8")
    ran = run("run")
    assert ran.code == 1
    assert "v1: reaches experimental: value 0.75" in gate_text(ran)
    assert "v1, required good: is below the threshold: value 0.75" in gate_text(ran)
    assert "required short" not in gate_text(ran)
    assert run("gate", "--min-required", "0.7").code == 0
    tiers = run("gate", "--json").json["gate"]["tiers"]
    assert [(one["criterion"], one["held"]) for one in tiers] == [
        (None, "passed"), ("good", "failed")
    ]  # fmt: skip
