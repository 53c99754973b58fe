"""Who wins where the two orders differ: by either rule, now or later, through every door."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from tests.cli.judging import CHOICES, TURNED, lay_out_sides, record_judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.bench import Bench

OUTCOMES = ["leans"] * 6 + ["first", "B"]
"""By the average A wins six of these and B one; in both orders only B wins."""


def lay_out(bench: Bench, outcomes: Sequence[str] = OUTCOMES) -> None:
    lay_out_sides(bench, len(outcomes))
    record_judge(bench, "judge", outcomes)


def compare(bench: Bench, *options: str, sides: tuple[str, str] = ("a.jsonl", "b.jsonl")) -> Any:
    return bench.run(
        "compare", *sides, "--rubric", "r.yaml", "--judge", "recorded:judge.jsonl", *options
    )


def counts(summary: Any) -> tuple[int, ...]:
    whole = summary["whole"]
    return tuple(whole[name] for name in ("wins", "ties", "inconsistent", "losses"))


def test_who_is_preferred_by_more_than_half_of_both_orders_wins(bench: Bench) -> None:
    lay_out(bench)
    usual, average = (compare(bench, "--json", *rule).json for rule in ((), ("--rule", "average")))
    assert (usual["rule"], counts(usual)) == ("consistent", (0, 0, 7, 1))
    assert (average["rule"], counts(average)) == ("average", (6, 0, 1, 1))
    assert average["flip_rate"]["value"] == usual["flip_rate"]["value"] == 7 / 8


def test_the_rule_is_told_where_it_is_not_the_usual_one(bench: Bench) -> None:
    lay_out(bench)
    words = "average: who is preferred by more than half of both orders wins"
    assert words in compare(bench, "--rule", "average").out
    assert "rule" not in compare(bench).out


def test_a_suite_names_the_rule_and_the_command_line_comes_first(bench: Bench) -> None:
    lay_out(bench)
    suite = {"name": "s", "dataset": "a.jsonl", "rubric": "r.yaml", "compare": {"rule": "average"}}
    bench.write("judgekit.yaml", json.dumps(suite))
    bench.write("cases.jsonl", *({"id": f"c{k}", "input": f"c{k}"} for k in range(8)))
    bench.write("judgekit.yaml", json.dumps(suite | {"dataset": "cases.jsonl"}))
    assert compare(bench, "--json").json["rule"] == "average"
    assert compare(bench, "--json", "--rule", "consistent").json["rule"] == "consistent"
    bench.write("judgekit.yaml", json.dumps(suite | {"compare": {"rule": "mean"}}))
    ran = compare(bench)
    assert (ran.code, "rule" in ran.err) == (2, True)


def test_what_is_kept_is_concluded_by_the_other_rule_without_asking(bench: Bench) -> None:
    lay_out(bench)
    made = compare(bench, "--json").json
    (bench.folder / "judge.jsonl").unlink()
    shown = bench.run("show", made["id"], "--rule", "average", "--json").json
    assert counts(shown["summary"]) == (6, 0, 1, 1)
    assert (shown["summary"]["rule"], shown["comparison"]["rule"]) == ("average", "average")
    assert "average: who" in bench.run("show", made["id"], "--rule", "average").out
    same = bench.run("show", made["id"], "--json").json
    assert (same["summary"]["rule"], counts(same["summary"])) == ("consistent", counts(made))
    case = bench.run("show", made["id"], "c0", "--rule", "average", "--json").json
    assert case["pairs"][0]["comparison"]["winner"] == "a"


def test_a_comparison_is_exported_by_either_rule(bench: Bench) -> None:
    lay_out(bench)
    made = compare(bench, "--json").json
    winners = []
    for rule in ((), ("--rule", "average")):
        assert bench.run("export", made["id"], "-o", "out.jsonl", *rule).code == 0
        lines = (bench.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        winners.append([row["winner"] for row in rows])
        assert {row["judgekit"]["rule"] for row in rows} == {rule[1] if rule else "consistent"}
    assert winners[0].count("tie") == 7
    assert winners[1].count("tie") == 1


def test_python_concludes_what_is_kept_by_either_rule(bench: Bench) -> None:
    lay_out(bench)
    compare(bench)
    store = jk.RunStore(bench.folder / ".judgekit/judgekit.db", create=False)
    wins = [jk.summarize_comparison(store, rule=rule).whole.wins for rule in (None, "average")]
    assert wins == [0, 6]
    with pytest.raises(jk.SettingsError, match="rule is 'mean'"):
        jk.summarize_comparison(store, rule="mean")  # type: ignore[arg-type]  # that is tested
    store.close()


def test_a_comparison_is_gone_on_with_by_the_rule_it_was_begun_by(bench: Bench) -> None:
    lay_out(bench)
    compare(bench)
    ran = compare(bench, "--resume", "--rule", "average")
    assert ran.code == 2
    assert "the judge or its settings" in ran.err


@pytest.mark.parametrize(
    "arguments", [["show"], ["show", "--comparisons"], ["show", "r1"], ["export", "-o", "x.csv"]]
)
def test_a_rule_is_for_comparisons(bench: Bench, arguments: list[str]) -> None:
    lay_out(bench)
    compare(bench)
    ran = bench.run(*arguments, "--rule", "average")
    assert (ran.code, "--rule is for comparisons" in ran.err) == (2, True)


RULES = ("consistent", "average")


@pytest.mark.parametrize("rule", RULES)
def test_swapping_the_sides_mirrors_the_result(bench: Bench, rule: str) -> None:
    draw = random.Random(5)
    outcomes = draw.choices([*CHOICES], k=40)
    lay_out(bench, outcomes)
    there = compare(bench, "--json", "--rule", rule).json
    record_judge(bench, "judge", [TURNED.get(outcome, outcome) for outcome in outcomes])
    sides = ("b.jsonl", "a.jsonl")
    back = compare(bench, "--json", "--rule", rule, sides=sides).json
    wins, ties, inconsistent, losses = counts(there)
    assert counts(back) == (losses, ties, inconsistent, wins)
    one, other = there["whole"], back["whole"]
    assert other["n_undecided"] == one["n_undecided"] == outcomes.count("open")
    for edge, opposite in (("value", "value"), ("low", "high"), ("high", "low")):
        assert other["rate"][edge] == pytest.approx(1 - one["rate"][opposite])
    assert back["decision"]["p"] == there["decision"]["p"]
    for same in ("flip_rate", "flags", "position"):
        assert back[same] == there[same]


def test_three_sides_are_ranked_by_the_rule(bench: Bench) -> None:
    lay_out_sides(bench, 8, "a", "b", "c")
    record_judge(bench, "judge", ["leans"] * 8)
    how = ("rank", "a.jsonl", "b.jsonl", "c.jsonl", "--rubric", "r.yaml", "--judge")
    wins = []
    for rule in RULES:
        ran = bench.run(*how, "recorded:judge.jsonl", "--rule", rule, "--json", "-o", "out.jsonl")
        assert ran.json["questioned"]["rule"] == rule
        wins.append(ran.json["pairs"][0]["wins"])
        given = bench.run("rank", "out.jsonl", "--json")
        assert given.json["questioned"]["rule"] == rule
        assert ("average: who" in bench.run("rank", "out.jsonl").out) == (rule == "average")
    assert wins == [0, 8]
    refused = bench.run("rank", "out.jsonl", "--rule", "average")
    assert (refused.code, "--rule is for sides that a judge compares" in refused.err) == (2, True)
