"""Every source design's files from loading to what leaves: validated, planned, run, exported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.source_designs import (
    ARTIFACT,
    AUDIT,
    DECK,
    EVALS,
    FIRST,
    MEMORY,
    SUMS,
    WORKFLOW,
    converts_back,
    counts,
    read,
    record,
    seen,
    whole_way,
    write,
)
from tests.evaluation.suites import rows
from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


def test_a_workflow_dataset_goes_the_whole_way(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "greeter.json", WORKFLOW)
    outputs = record("v1.jsonl", ARTIFACT)
    found, files = whole_way(run, tmp_path, path, "--outputs", outputs)
    assert counts(found) == (1, 0)
    assert read(files["strategies.json"])[0]["strategy"] == "assertions"
    assert converts_back(run, path, "workflow")
    (case, *_) = [o for o in read(files["quality.json"]) if o["type"] == "test-case"]
    assert case["fields"]["assertions"] == WORKFLOW["cases"][0]["assertions"]  # type: ignore[index]


def test_what_a_run_leaves_is_an_outputs_file_for_the_next(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "greeter.json", WORKFLOW)
    assert run("run", path, "--outputs", record("v1.jsonl", ARTIFACT)).code == 0
    assert run("export", "-o", "results.jsonl").code == 0
    assert run("export", "-o", "results.json").code == 0
    for name in ("results.jsonl", "results.json"):
        assert run("validate", name).code == 0
        again = seen(run("run", path, "--outputs", name, "--json"))
        assert again["variants"][0]["variant"] == "v1"
        assert run("export", "-o", "again.jsonl").code == 0
        (one,), (other,) = (
            [json.loads(line)["output"] for line in (tmp_path / each).read_text().splitlines()]
            for each in ("again.jsonl", "results.jsonl")
        )
        assert one == other


def test_a_judge_is_asked_of_a_workflow_only_by_a_rubric(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "greeter.json", WORKFLOW)
    record("judge.jsonl", {"case_id": "hello", "text": reply(4)})
    given = ("run", path, "--outputs", record("v1.jsonl", ARTIFACT),
             "--judge", "recorded:judge.jsonl")  # fmt: skip
    ran = run(*given, "--json")
    assert counts(seen(ran)) == (1, 0)
    assert "every case of greeter.v3 is decided by its own checks" in ran.err
    found = seen(run(*given, "--rubric", "helpfulness", "--json"))
    assert set(found["variants"][0]["criteria"]) == {"correctness", "helpfulness", "clarity"}
    ran = run(*given, "--rubric", "helpfullness")
    assert (ran.code, "helpfulness" in ran.err) == (2, True)


def test_evals_of_a_skill_go_the_whole_way(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "evals.json", EVALS)
    record("judge.jsonl", {"case_id": "release", "criterion": "dated", "text": reply(4)},
           {"case_id": "release", "criterion": "short", "text": reply(2)})  # fmt: skip
    outputs = record("v1.jsonl", {"case_id": "release", "text": "2026-02-03: faster"})
    ran = run("run", path, "--outputs", outputs)
    assert (ran.code, "'release' is to be graded by a judge" in ran.err) == (2, True)
    given = (path, "--outputs", outputs, "--judge", "recorded:judge.jsonl")
    found, files = whole_way(run, tmp_path, *given)
    assert counts(found) == (1, 0)
    grading = read(files["grading.json"])
    assert [line["passed"] for line in grading["results"]] == [True, False]
    assert (grading["overall"], grading["overall_score"], grading["required_score"]) == (
        "pass", 3.0, 4.0,
    )  # fmt: skip
    assert read(files["history.json"])["versions"][0]["average_score"] == 3.0
    before = files["history.json"].read_bytes()
    assert run("export", "-o", files["history.json"], "--format", "history").code == 0
    assert files["history.json"].read_bytes() == before
    assert converts_back(run, path, "skill-evals")


@pytest.mark.parametrize(
    ("tests", "outputs", "passed"),
    [
        (SUMS, {"sum": "42", "half": "4.5"}, (2, 0)),
        (AUDIT, {"found": '{"names": ["Ada"]}'}, (1, 0)),
    ],
)
def test_tests_of_a_skill_go_the_whole_way(
    run: Run, tmp_path: Path, tests: Any, outputs: dict[str, str], passed: tuple[int, int]
) -> None:
    path = write(tmp_path / "skill" / "eval" / "tests.json", tests)
    answers = ({"case_id": name, "text": text} for name, text in outputs.items())
    given = ("--outputs", record("v1.jsonl", *answers))
    found, files = whole_way(run, tmp_path, tmp_path / "skill", *given)
    assert counts(found) == passed
    (strategy,) = {test["evaluation"]["strategy"] for test in tests["testCases"]}
    rows_ = read(files["strategies.json"])
    assert {(row["strategy"], row["status"]) for row in rows_} == {(strategy, "passed")}
    assert run("convert", path, "--to", "skill-tests", "-o", "same.json").code == 0
    assert read(tmp_path / "same.json") == tests
    ran = run("convert", path, "-o", "cases.jsonl")
    assert (ran.code, "not converted" in ran.err, "`profile` of the tests" in ran.err) == (
        0,
        True,
        True,
    )
    assert run("convert", path, "--to", "suite", "-o", tmp_path / "own").code == 0
    again = seen(run("run", tmp_path / "own" / "judgekit.yaml", *given, "--json"))
    assert counts(again) == passed


def test_tests_of_a_creative_skill_go_the_whole_way(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "deck" / "eval" / "tests.json", DECK)
    record("judge.jsonl", {"case_id": "own", "text": reply(4)},
           {"case_id": "theirs", "text": reply(2)})  # fmt: skip
    outputs = record("v1.jsonl", {"case_id": "own", "text": "1,200 lamps"},
                     {"case_id": "theirs", "text": "Hello"})  # fmt: skip
    given = (tmp_path / "deck", "--outputs", outputs, "--judge", "recorded:judge.jsonl")
    found, files = whole_way(run, tmp_path, *given)
    assert counts(found) == (1, 1)
    scores = {row["testCaseId"]: row["rubricScores"] for row in read(files["strategies.json"])}
    assert scores["own"]["figures"]["score"] == 4
    assert set(scores["theirs"]) == {"completeness", "coherence", "professionalism", "accuracy"}
    told = "creative (shipped) for 1 case without a rubric: the rubric of their profile"
    assert told in run("show", "latest").out
    assert f"rubric: {told}" in run("plan", *given).err


def test_tests_of_a_flexible_skill_name_how_similarity_was_measured(
    run: Run, tmp_path: Path
) -> None:
    tests = {"version": "2.0", "profile": "flexible", "settings": {}, "testCases": [
        {"id": "near", "name": "Near", "input": {"prompt": "Sum up"},
         "expected": {"output": "A certificate broke the checkout.", "semanticThreshold": 0.6},
         "evaluation": {"strategy": "semantic_sim"}},
        {"id": "far", "name": "Far", "input": {"prompt": "Sum up"},
         "expected": {"output": "The cat sat on the mat."},
         "evaluation": {"strategy": "semantic_sim"}},
    ]}  # fmt: skip
    write(tmp_path / "sums" / "eval" / "tests.json", tests)
    outputs = record("v1.jsonl", {"case_id": "near", "text": "A certificate stopped the checkout."},
                     {"case_id": "far", "text": "Dogs bark."})  # fmt: skip
    variant = {"id": "v1", "outputs": str(tmp_path / outputs)}
    lexical = {"type": "similarity", "method": "lexical"}
    whole = {"name": "sums", "dataset": "eval/tests.json", "variants": [variant]}
    suite = write(tmp_path / "sums" / "judgekit.json", {**whole, "scorers": [lexical]})
    found, files = whole_way(run, tmp_path, suite)
    assert counts(found) == (1, 1)
    told = "0.7 wanted (lexical: token sort ratio)"
    assert told in run("run", suite).out
    assert told in read(files["strategies.json"])[1]["feedback"]
    assert "similarity, 0.79, lexical: token sort ratio\n" in run("show", "latest", "near").out


def test_tests_of_version_1_go_the_whole_way(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "old" / "tests.json", FIRST)
    outputs = record("v1.jsonl", {"case_id": "tc-001", "text": "42"},
                     {"case_id": "tc-002", "text": "None."})  # fmt: skip
    found, files = whole_way(run, tmp_path, tmp_path / "old", "--outputs", outputs)
    assert counts(found) == (1, 1)
    assert [row["strategy"] for row in read(files["strategies.json"])] == [
        "exact_match", "regex_match",
    ]  # fmt: skip
    second, back = tmp_path / "second.json", tmp_path / "back.json"
    assert run("convert", path, "--to", "skill-tests", "-o", second).code == 0
    assert counts(seen(run("run", second, "--outputs", outputs, "--json"))) == (1, 1)
    assert run("convert", second, "--to", "skill-tests-v1", "-o", back).code == 0
    assert read(back) == FIRST


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_records_of_a_quality_memory_go_the_whole_way(
    run: Run, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"memory.{suffix}"
    path.write_text(json.dumps(MEMORY) if suffix == "json" else rows(*MEMORY), encoding="utf-8")
    record("judge.jsonl", {"case_id": "quote", "criterion": "Right", "text": reply(9)},
           {"case_id": "quote", "criterion": "Kind", "text": reply(3)},
           {"case_id": "hours", "text": reply(1)})  # fmt: skip
    # Their own runs are what is judged.
    given = (path, "--outputs", path, "--judge", "recorded:judge.jsonl")
    found, files = whole_way(run, tmp_path, *given)
    assert counts(found) == (1, 1)
    assert found["variants"][0]["variant"] == "quote@4"
    told = "reference_match (shipped) for 1 case without a rubric: it compares with their reference"
    assert told in run("show", "latest").out
    kept = {(one["type"], one["id"]): one["fields"] for one in read(files["quality.json"])}
    for kind, name in (("rubric", "r-9"), ("rubric-criterion", "c-1"), ("test-case", "quote")):
        given_ = next(one["fields"] for one in MEMORY if one["id"] == name)
        assert kept[kind, name].items() >= given_.items()
    scored = {f["criterionId"]: f["score"] for (t, _), f in kept.items() if t == "eval-judgment"}
    assert (scored["c-1"], scored["c-2"]) == (9, 3)
    assert run("validate", files["quality.json"]).code == 0


def test_one_version_of_a_memory_can_be_picked(run: Run, tmp_path: Path) -> None:
    second = {"testCaseId": "hours", "promptVersionRef": "quote@5", "actualOutput": "9 to 18"}
    more = [*MEMORY, {"type": "test-run", "id": "run-3", "fields": second}]
    path = write(tmp_path / "memory.json", more)
    record("judge.jsonl", {"text": reply(1), "case_id": "hours"})
    given = ("run", path, "--outputs", path, "--judge", "recorded:judge.jsonl", "--json",
             "--filter-case", "hours")  # fmt: skip
    found = seen(run(*given))
    assert [one["variant"] for one in found["variants"]] == ["quote@4", "quote@5"]
    found = seen(run(*given, "--variant", "quote@5"))
    assert [one["variant"] for one in found["variants"]] == ["quote@5"]


def test_a_table_is_held_against_its_references(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text("id,question,expected\nq,When?,9 to 18\n", encoding="utf-8")
    record("judge.jsonl", {"case_id": "q", "text": reply(1)})
    given = (path, "--outputs", record("v1.jsonl", {"case_id": "q", "text": "From 9 to 18"}),
             "--judge", "recorded:judge.jsonl")  # fmt: skip
    found, _ = whole_way(run, tmp_path, *given)
    assert counts(found) == (1, 0)
    assert found["run"]["config"]["rubrics_by_default"] == [
        {"rubric": "reference_match", "because": "reference", "n_cases": 1}
    ]


def test_nothing_that_says_what_is_good_is_an_error_with_the_ways_out(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(rows({"id": "a", "input": "Tell a tale"}), encoding="utf-8")
    record("v1.jsonl", {"case_id": "a", "text": "Once."})
    given = ("run", path, "--outputs", "v1.jsonl", "--judge", "recorded:v1.jsonl")
    ran = run(*given)
    assert ran.code == 2
    for way in ("--rubric FILE", "helpfulness", "`rubric:`", "`profile:`", "creative", "reference"):
        assert way in ran.err
    ran = run("run", path)
    assert ran.code == 2
    for way in ("--outputs FILE", "`case_id`", "--target-command", "`variants:`"):
        assert way in ran.err


def test_a_rubric_that_no_judge_is_asked_is_told(run: Run, tmp_path: Path) -> None:
    config = {
        "prompts": ["Greet {{name}}"],
        "tests": [{"vars": {"name": "Ada"}, "assert": [
            {"type": "icontains", "value": "{{name}}"},
            {"type": "llm-rubric", "value": "Is friendly"}]}],
    }  # fmt: skip
    path = write(tmp_path / "promptfooconfig.json", config)
    record("judge.jsonl", {"case_id": "test-1", "text": reply(1)})
    given = (path, "--outputs", record("v1.jsonl", {"case_id": "test-1", "text": "Hi Ada"}))
    ran = run("run", *given)
    assert (ran.code, "1/1" in ran.out) == (0, True)
    assert "1 case with a rubric not judged: no judge" in ran.out
    found, _ = whole_way(run, tmp_path, *given, "--judge", "recorded:judge.jsonl")
    assert counts(found) == (1, 0)
    assert "not asked" not in run("show", "latest").out


def test_a_folder_with_all_of_them_is_run_in_turn(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "all"
    write(data / "workflow.json", WORKFLOW)
    write(data / "evals.json", EVALS)
    write(data / "memory.json", MEMORY)
    write(data / "sums" / "eval" / "tests.json", SUMS)
    write(data / "deck" / "eval" / "tests.json", DECK)
    write(data / "old" / "tests.json", FIRST)
    write(data / "history.json", {"versions": [], "current_version": 0})
    texts = {"release": "2026-02-03", "quote": "30", "hours": "9 to 18", "sum": "41",
             "half": "4.5", "own": "x", "theirs": "y", "tc-001": "42", "tc-002": "7"}  # fmt: skip
    outputs = ({"case_id": name, "text": text} for name, text in texts.items())
    record("v1.jsonl", ARTIFACT, *outputs)
    names = ("release", "quote", "hours", "own", "theirs")
    record("judge.jsonl", *({"case_id": name, "text": reply(1)} for name in names))
    ran = run("run", data, "--outputs", "v1.jsonl", "--judge", "recorded:judge.jsonl", "-q")
    assert ran.err.count("dataset ") == 6
    assert "not started" not in ran.err, "that one's failFast ends its run alone"
    assert ran.code == 1
    shown = {one["suite"] for one in run("show", "--json").json["runs"]}
    assert shown == {"greeter.v3", "changelog", "memory", "sums", "deck", "old"}
