"""`--dry-run` of `judgekit compare` and `judgekit rank`: the price, before anybody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import output
from tests.cli.contests import HOW, SIDES, answers_and_judges, compare_templates, lay_out_templates
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

JUDGE = ("--rubric", "rubric.yaml", "--judge", "openai/gpt-4.1-mini", "--dry-run")
FILES = ("new.jsonl", "old.jsonl", "raw.jsonl")
PER_PAIR = 3 * 2
"""Two criteria and the whole, in both orders."""


@pytest.fixture
def sides(bench: Bench) -> Bench:
    """Three files that answer four cases."""
    for name in FILES:
        bench.write(name, *(output(c, text=f"{name[:3]} {c}") for c in "abcd"))
    return bench


def compare(bench: Bench, *options: object) -> Ran:
    return bench.run("compare", *FILES[:2], *JUDGE, *options)


def test_a_comparison_says_what_it_would_cost_and_keeps_nothing(sides: Bench) -> None:
    ran = compare(sides)
    assert ran.code == 0
    assert "pairs              4 in both orders" in ran.out
    assert f"calls to make      {4 * PER_PAIR}" in ran.out
    assert " likely, $" in ran.out
    assert not (sides.folder / ".judgekit/judgekit.db").exists()


def test_pairs_alike_and_errors_are_told_apart(sides: Bench) -> None:
    rows = [output("a", text="new a"), output("b", text=None, error="timed out"), output("c")]
    sides.write("old.jsonl", *rows)
    assert "3 in both orders, 1 without an output, 1 identical" in compare(sides).out


def test_no_more_cases_are_priced_than_would_be_looked_at(sides: Bench) -> None:
    found = compare(sides, "--until-decided", "--max-cases", 2, "--json").json
    assert (found["n_pairs"], found["n_calls"]) == (2, 2 * PER_PAIR)
    assert found["price_usd"][0] < found["price_usd"][1]


def test_money_that_likely_does_not_suffice_is_exit_5(sides: Bench) -> None:
    assert compare(sides, "--max-cost", 0.000001).code == 5
    assert compare(sides, "--max-cost", 5).code == 0


def test_a_ranking_says_what_it_would_cost(sides: Bench) -> None:
    whole = sides.run("rank", *FILES, *JUDGE, "--json").json
    assert (whole["n_pairs"], whole["n_calls"]) == (12, 12 * PER_PAIR)
    part = sides.run("rank", *FILES, *JUDGE, "--max-comparisons", 5)
    assert "pairs              5 in both orders" in part.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", *FILES[:2], *JUDGE, "--scores"), "calls no judge"),
        (("compare", *FILES[:2], *JUDGE, "--resume", "cmp-1"), "omit --resume"),
        (("compare", "new.jsonl", "other.jsonl", *JUDGE), "no case is answered by both sides"),
        (("rank", "made.jsonl", "--dry-run"), "--dry-run is for sides that a judge compares"),
    ],
)
def test_where_nothing_is_asked_there_is_no_price(
    sides: Bench, arguments: tuple[str, ...], words: str
) -> None:
    sides.write("other.jsonl", output("x", input="?"))
    sides.write("made.jsonl", {"case_id": "1", "variant_a": "x", "variant_b": "y", "winner": "a"})
    ran = sides.run(*arguments)
    assert (ran.code, words in ran.err) == (2, True)


def test_outputs_that_do_not_exist_yet_are_part_of_the_estimate(bench: Bench) -> None:
    how = (*SIDES, *HOW, "--dry-run", "--judge", "openai/gpt-4.1-mini")
    ran = lay_out_templates(bench).run("compare", *how)
    assert (ran.code, f"calls to make      {8 * (2 + PER_PAIR)}" in ran.out) == (0, True)
    assert "the outputs do not exist yet; their length is assumed" in ran.err
    with OpenAILikeServer(answers_and_judges) as server:
        planned = compare_templates(bench, server, "--dry-run", "--json").json
        assert server.n_requests == 0
        compare_templates(bench, server)
        assert server.n_requests == planned["n_calls"]


def test_what_a_panel_would_be_asked_is_the_sum_over_its_judges(sides: Bench) -> None:
    how = ("compare", *FILES[:2], "--rubric", "rubric.yaml", "--dry-run", "--json")
    one, other = "openai/gpt-4.1-mini", "openai/gpt-4.1"
    alone = [sides.run(*how, "--judge", judge).json for judge in (one, other)]
    both = sides.run(*how, "--judge", one, "--judge", other).json
    assert both["n_pairs"] == alone[0]["n_pairs"]
    for name in ("n_questions", "n_calls", "input_tokens"):
        assert both[name] == sum(plan[name] for plan in alone), name
    assert both["price_usd"] == pytest.approx([
        sum(plan["price_usd"][k] for plan in alone) for k in (0, 1)
    ])  # fmt: skip
    assert both["model"] == f"{one}, {other}"
