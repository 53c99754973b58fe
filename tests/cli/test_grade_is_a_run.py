"""`judgekit grade` and `judgekit run` give one answer for one suite, and both store it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import output
from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

CHECKED = "assertions: [{type: contains, value: nope}]\nscorers: [latency]\n"
WORTH = {"a": 5, "b": 5, "c": 4, "d": 1}


def lay_out_suite(bench: Bench, more: str = "", judge: str = "recorded:replies.jsonl") -> None:
    bench.write("cases.jsonl", *({"id": case, "input": f"What is {case}?"} for case in WORTH))
    for variant in ("v1", "v2"):
        rows = [output(case, text=f"{variant} of {case}", duration_ms=5.0) for case in WORTH]
        bench.write(f"{variant}.jsonl", *rows)
    bench.write("replies.jsonl", *({"case_id": c, "text": reply(n)} for c, n in WORTH.items()))
    bench.write(
        "judgekit.yaml",
        "name: shop\ndataset: cases.jsonl\nrubric: rubric.yaml\n"
        f"judge: '{judge}'\n"
        "variants:\n  - {id: v1, outputs: v1.jsonl}\n  - {id: v2, outputs: v2.jsonl}\n" + more,
    )


def figures(ran: Ran) -> object:
    gate = ran.json["gate"]
    return ran.code, ran.json["variants"], ran.json["differences"], gate and gate["tiers"]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("", 0),
        (CHECKED, 0),
        (f"{CHECKED}gate: {{tier: experimental}}\n", 4),
        ("gate: {tier: production}\n", 4),
        ("gate: {require_calibration: true}\n", 4),
    ],
)
def test_a_suite_has_the_same_figures_gate_and_exit_code(
    bench: Bench, more: str, code: int
) -> None:
    lay_out_suite(bench, more)
    graded, ran = bench.run("grade", "--json"), bench.run("run", "--json")
    assert (graded.code, ran.code) == (code, code)
    if "require" in more:
        assert graded.err == ran.err
        return
    assert figures(graded) == figures(ran)


def test_a_failing_gate_fails_a_grading(bench: Bench) -> None:
    lay_out_suite(bench, f"{CHECKED}gate: {{tier: production}}\n")
    bench.write("replies.jsonl", *({"case_id": case, "text": reply(1)} for case in WORTH))
    ran = bench.run("grade", "-q")
    assert (ran.code, bench.run("run", "-q").code) == (1, 1)
    assert "the gate of the suite failed" in ran.err


def test_an_assertion_of_the_suite_counts(bench: Bench) -> None:
    lay_out_suite(bench, CHECKED)
    assert "0/4" in bench.run("grade", "-q").out
    assert "0/4" in bench.run("grade", "v1.jsonl", "-q").out


def test_a_grading_is_stored_and_shown(bench: Bench) -> None:
    lay_out_suite(bench)
    assert bench.run("grade", "-q").code == 0
    shown = bench.run("show", "latest", "--json")
    assert [variant["n_passed"] for variant in shown.json["variants"]] == [3, 3]


def test_nothing_is_stored_where_that_is_not_wanted(bench: Bench) -> None:
    lay_out_suite(bench)
    ran = bench.run("grade", "-q", "--no-store")
    assert (ran.code, "not stored" in ran.out) == (0, True)
    assert not (bench.folder / ".judgekit" / "judgekit.db").exists()


def test_where_the_store_cannot_be_made_it_is_graded_all_the_same(bench: Bench) -> None:
    lay_out_suite(bench)
    in_the_way: Path = bench.write("in_the_way", "a file")
    ran = bench.run("grade", "-q", "--store", in_the_way / "judgekit.db")
    assert (ran.code, "3/4" in ran.out) == (0, True)
    assert "warning: the run is not stored" in ran.err


def test_resuming_takes_up_the_stored_run(bench: Bench) -> None:
    lay_out_suite(bench)
    rows = [{"case_id": case, "text": reply(4)} for case in "abc"]
    bench.write("replies.jsonl", *rows)
    assert bench.run("grade", "-q").code == 3
    begun = bench.run("show", "latest", "--json").json["run"]["id"]
    bench.write("replies.jsonl", *rows, {"case_id": "d", "text": reply(4)})
    ran = bench.run("grade", "--json", "--resume", "--retry-errors")
    assert (ran.code, ran.json["run"]["id"]) == (0, begun)


def test_rows_with_their_own_input_are_the_cases(bench: Bench) -> None:
    bench.write("replies.jsonl", *({"case_id": c, "text": reply(4)} for c in WORTH))
    judge = ("--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl")
    assert bench.run("grade", "outputs.jsonl", *judge, "-q").code == 0
    assert "one and one" in bench.run("show", "latest", "a").out


def test_two_descriptions_of_one_case_are_refused(bench: Bench) -> None:
    bench.write("two.jsonl", output("a", variant="v1"), output("a", variant="v2", input="Other?"))
    ran = bench.run("grade", "two.jsonl", "--rubric", "rubric.yaml", "--judge", "openai/m")
    assert ran.code == 2
    assert "two rows describe this case differently" in ran.err


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "json"])
def test_a_grading_of_more_than_memory_holds_writes_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    lay_out_suite(bench, CHECKED)
    few = bench.run("grade", "--json", "-o", f"few.{suffix}")
    monkeypatch.setattr("judgekit.cli.run._MOST_IN_MEMORY", 0)
    monkeypatch.setattr("judgekit.records.spool._MOST_IN_MEMORY", 1)
    many = bench.run("grade", "--json", "-o", f"many.{suffix}")
    assert (many.code, figures(many)) == (few.code, figures(few))
    texts = [(bench.folder / f"{name}.{suffix}").read_text() for name in ("few", "many")]
    assert texts[0] == texts[1]
