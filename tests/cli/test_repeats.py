"""Outputs of one case that are repeats, such as the epochs of a log: each is judged on its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from tests.cli.source_designs import record, seen
from tests.evaluation.suites import lay_suite

if TYPE_CHECKING:
    from tests.cli.commanding import Run

Row = dict[str, Any]


def outputs(variant: str, wrong: str = "") -> list[Row]:
    return [
        {"case_id": case, "variant": variant, "repeat": n, "text": text}
        for case, n, text in (("a", 0, "2"), ("a", 1, wrong or "2"), ("b", 0, "4"), ("b", 1, "4"))
    ]


def said(**fields: object) -> str:
    return json.dumps({"evidence": [], "rationale": "It is so.", **fields})


def preferred(slot: str) -> str:
    quotes: dict[str, list[str]] = {"evidence_first": [], "evidence_second": []}
    return json.dumps({**quotes, "rationale": "It is right.", "preference": slot})


@pytest.fixture
def files(run: Run) -> tuple[object, ...]:
    """Two variants of two cases with two repeats each; one output is wrong, and labelled so."""
    del run  # changes to the folder
    cases = record("cases.jsonl", {"id": "a", "input": "1+1"}, {"id": "b", "input": "2+2"})
    record("v1.jsonl", *outputs("v1", wrong="3"))
    record("v2.jsonl", *outputs("v2"))
    record("judge.jsonl", *({"case_id": c, "text": said(score=1)} for c in "ab"))
    pairs = [("ab", "second"), ("ba", "first")]
    record("pairs.jsonl", *(
        {"case_id": "a", "order": order, "text": preferred(slot)} for order, slot in pairs
    ))  # fmt: skip
    record("labels.jsonl", *(
        {**{n: v for n, v in row.items() if n != "text"}, "annotator": "ada", "criterion": "right",
         "raw": int(row["text"] != "3")}
        for row in outputs("v1", wrong="3")
    ))  # fmt: skip
    criterion = {"name": "right", "question": "Is it?", "scale": {"min": 0, "max": 1}}
    Path("r.json").write_text(json.dumps({"name": "r", "criteria": [criterion]}))
    return "--cases", cases, "--rubric", "r.json"


GRADE = ("--judge", "recorded:judge.jsonl")
COMPARE = ("--judge", "recorded:pairs.jsonl")


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_verdicts_name_their_repeat_and_meet_its_label(
    run: Run, files: tuple[object, ...], suffix: str
) -> None:
    path = f"verdicts.{suffix}"
    assert run("grade", "v1.jsonl", *files, *GRADE, "-o", path, "-q").code == 0
    assert ('"repeat":1' if suffix == "jsonl" else ",1\n") in Path(path).read_text()
    found = seen(
        run("calibrate", "labels.jsonl", "--results", path, "--rubric", "r.json", "--json")
    )
    assert (found["joined"]["n_joined"], found["joined"]["n_judged"]) == (4, 4)


def test_a_verdict_of_a_single_output_names_no_repeat(run: Run, files: tuple[object, ...]) -> None:
    record("one.jsonl", *(row | {"repeat": 7} for row in outputs("v1")[::2]))
    run("grade", "one.jsonl", *files, *GRADE, "-o", "verdicts.jsonl", "-q")
    rows = [json.loads(line) for line in Path("verdicts.jsonl").read_text().splitlines()]
    assert [("repeat" in row, row["judgments"][0]["repeat"]) for row in rows] == [(False, 0)] * 2


def test_calibrate_judges_each_repeat_by_its_own_label(run: Run, files: tuple[object, ...]) -> None:
    command = ("calibrate", "labels.jsonl", "--outputs", "v1.jsonl", *files, *GRADE)
    agreement = seen(run(*command, "--json"))["criteria"]["right"]["agreement"]
    assert (agreement["exact"]["value"], agreement["exact"]["n_clusters"]) == (0.75, 2)
    bare = [{k: v for k, v in json.loads(line).items() if k != "repeat"}
            for line in Path("labels.jsonl").read_text().splitlines()]  # fmt: skip
    record("labels.jsonl", *bare[:1])
    refused = run(*command)
    assert refused.code == 2
    assert "it does not name its repeat; judged were 0, 1" in refused.err


def test_only_the_labelled_repeats_are_judged(run: Run, files: tuple[object, ...]) -> None:
    text = Path("labels.jsonl").read_text().splitlines(keepends=True)
    Path("labels.jsonl").write_text(text[1])
    model = ("--judge", "openai/m", "--api-base", "http://127.0.0.1:9/v1", "--dry-run", "--json")
    plan = seen(run("calibrate", "labels.jsonl", "--outputs", "v1.jsonl", *files, *model))
    assert plan["n_questions"] == 1


def test_equal_repeats_of_two_files_are_compared(run: Run, files: tuple[object, ...]) -> None:
    sides = ("v1.jsonl", "v2.jsonl")
    found = run("compare", *sides, *files, *COMPARE, "-o", "pairs-out.jsonl", "-q")
    assert found.code == 4
    rows = [json.loads(line) for line in Path("pairs-out.jsonl").read_text().splitlines()]
    winners = [(row["case_id"], row.get("repeat", 0), row["winner"]) for row in rows]
    assert winners == [("a", 0, "tie"), ("a", 1, "b"), ("b", 0, "tie"), ("b", 1, "tie")]
    record("pair-labels.jsonl", {
        "case_id": "a", "variant": "v1::v2", "repeat": 1, "annotator": "ada", "winner": "b",
    })  # fmt: skip
    for source in (("--results", "pairs-out.jsonl"), ("--compare", *sides, *files, *COMPARE)):
        joined = seen(run("calibrate", "pair-labels.jsonl", *source, "--json"))["joined"]
        assert joined["n_joined"] == 1
    assert "4 comparisons on 2 cases" in run("rank", *sides, *files, *COMPARE, "-q").out


def test_files_with_one_output_a_case_are_paired_whatever_their_repeats_are(
    run: Run, files: tuple[object, ...]
) -> None:
    for name, repeat in (("v1", 0), ("v2", 3)):
        record(f"{name}.jsonl", *(row | {"repeat": repeat} for row in outputs(name)[::2]))
    assert "2 pairs identical" in run("compare", "v1.jsonl", "v2.jsonl", *files, *COMPARE, "-q").out


def test_each_repeat_is_judged_again(run: Run, files: tuple[object, ...]) -> None:
    run("grade", "v1.jsonl", *files, *GRADE, "-o", "verdicts.jsonl", "-q")
    again = seen(run("rejudge", "verdicts.jsonl", "v1.jsonl", *files, *GRADE, "--json"))
    assert (again["n"], again["n_cases"]) == (4, 2)
    # A single output of the file keeps the number that its verdict has.
    record("one.jsonl", outputs("v1", wrong="3")[1])
    assert seen(run("rejudge", "verdicts.jsonl", "one.jsonl", *files, *GRADE, "--json"))["n"] == 1
    run("grade", "one.jsonl", *files, *GRADE, "-o", "single.jsonl", "-q")
    refused = run("rejudge", "single.jsonl", "v1.jsonl", *files, *GRADE)
    assert (refused.code, "no verdict in single.jsonl names its `repeat`" in refused.err) == (
        2,
        True,
    )


@pytest.mark.parametrize("command", [("audit", "v1.jsonl"), ("grade", "v1.jsonl"), ("tune",)])
def test_repeats_are_planned_by_every_command(
    run: Run, files: tuple[object, ...], command: tuple[str, ...]
) -> None:
    more: tuple[object, ...] = ("labels.jsonl", "--outputs", "v1.jsonl", "--few-shot", "1")
    more = more if command == ("tune",) else ()
    model = ("--judge", "openai/m", "--api-base", "http://127.0.0.1:9/v1", "--dry-run")
    found = run(*command, *more, *files, *model)
    assert "second output" not in found.err
    assert found.code in {0, 4}


def test_python_takes_repeats_from_files_and_from_memory(files: tuple[object, ...]) -> None:
    options: dict[str, Any] = {"rubric": "r.json", "cases": files[1], "progress": False}
    for data in ("v1.jsonl", outputs("v1", wrong="3")):
        found = jk.grade_sync(data, judge="recorded:judge.jsonl", cache=None, **options)
        assert [verdict.repeat for verdict in found] == [0, 1, 0, 1]
    summary = jk.summarize([*found], jk.load_rubric("r.json"))
    assert summary.variants[0].n_cases == 2
    sides = outputs("v1", wrong="3"), outputs("v2")
    compared = jk.compare_sync(*sides, judge="recorded:pairs.jsonl", cache=None, **options)
    assert [(one.case_id, one.repeat) for one in compared][1] == ("a", 1)
    with pytest.raises(jk.InputError, match="the case 'a' comes twice"):
        jk.grade_sync([*outputs("v1"), outputs("v1")[0]], judge="recorded:judge.jsonl", **options)


def test_outputs_of_a_suite_that_retries_what_failed_are_graded(run: Run) -> None:
    rows = [("c0", 0, "wrong"), ("c0", 1, "right"), ("c1", 0, "right")]
    lay_suite(Path(), 2, settings={"retry_failed": 1}, rubric=None)
    record("v1.jsonl", *({"case_id": c, "repeat": n, "text": text} for c, n, text in rows))
    ran = run("run", "--json", "-o", "results.jsonl").json["variants"][0]
    again = run("grade", "--json").json["variants"][0]
    assert (ran["n_passed"], again["n_passed"], again["n_failed"]) == (2, 2, 0)
    # The suite's file may have tries; of outputs with cases of their own each one counts.
    own = run("grade", "results.jsonl", "--json").json["variants"][0]
    assert (own["n_passed"], own["n_failed"]) == (2, 1)
