from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.bench import Bench

CASES = [f"c{k}" for k in range(8)]
ASK = (
    "--rubric",
    "rubric.yaml",
    "--template",
    "pairwise/mt_bench",
    "--judge",
    "recorded:said.jsonl",
)


def said(variants: str, cases: list[str], **fields: object) -> list[dict[str, object]]:
    """The first named variant wins in both orders."""
    return [
        {"case_id": case, "variant": variants, "order": order, **fields,
         "text": f"This one answers the question. [[{side}]]"}
        for case in cases
        for order, side in (("ab", "A"), ("ba", "B"))
    ]  # fmt: skip


@pytest.fixture
def recorded(bench: Bench) -> Bench:
    """Three files of eight outputs, and replies about each two of them."""
    for name in "xyz":
        rows = ({"case_id": c, "input": c, "text": f"{name} {c}"} for c in CASES)
        bench.write(f"{name}.jsonl", *rows)
    pairs = ("x vs y", "x vs z", "y vs z")
    bench.write("said.jsonl", *(row for pair in pairs for row in said(pair, CASES)))
    return bench


def test_recorded_replies_that_a_comparison_had_no_question_for_are_said(recorded: Bench) -> None:
    ran = recorded.run("compare", "x.jsonl", "y.jsonl", *ASK, "--no-progress")
    assert ran.code == 0
    assert "said.jsonl: 32 of 48 rows were not used: variants 'x vs z', 'y vs z'" in ran.err


def test_where_every_row_was_asked_for_nothing_is_said(recorded: Bench) -> None:
    recorded.write("said.jsonl", *said("x vs y", CASES))
    ran = recorded.run("compare", "x.jsonl", "y.jsonl", *ASK, "--no-progress")
    assert "not used" not in ran.err


def test_replies_left_over_by_stopping_early_are_no_remark(recorded: Bench) -> None:
    what = ("--until-decided", "--max-cases", "3", "--no-progress")
    ran = recorded.run("compare", "x.jsonl", "y.jsonl", *ASK, *what)
    assert ran.code == 4
    assert "not used" not in ran.err


def test_a_comparison_that_is_gone_on_with_asks_only_what_is_missing_and_says_no_more(
    recorded: Bench,
) -> None:
    rows = said("x vs y", CASES)
    recorded.write("said.jsonl", *rows[:-1])
    what = ("compare", "x.jsonl", "y.jsonl", *ASK, "--no-progress")
    assert recorded.run(*what).code == 3
    recorded.write("said.jsonl", *rows)
    ran = recorded.run(*what, "--resume")
    assert ran.code == 0
    assert "not used" not in ran.err


def test_a_ranking_says_it_for_each_judge_of_a_panel(recorded: Bench) -> None:
    recorded.write("more.jsonl", *said("x vs y", CASES), *said("x vs y", ["c0"], repeat=1))
    ran = recorded.run(
        "rank", "x.jsonl", "y.jsonl", *ASK, "--judge", "recorded:more.jsonl", "--no-progress"
    )
    assert ran.code == 0
    assert "said.jsonl: 32 of 48 rows were not used" in ran.err
    assert "more.jsonl: 2 of 18 rows were not used: repeat 1" in ran.err


def test_a_ranking_that_may_not_ask_all_says_nothing_of_the_rest(recorded: Bench) -> None:
    sides = ("x.jsonl", "y.jsonl", "z.jsonl")
    ran = recorded.run("rank", *sides, *ASK, "--max-comparisons", "6", "--no-progress")
    assert ran.code == 4
    assert "not used" not in ran.err
