from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import asked, output
from tests.cli.interrupting import CtrlC
from tests.judge.comparing import prefers
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

CASES = [f"c{k}" for k in range(8)]
GRADES = ("fine", "fair", "poor")
"""What the outputs of the three files say of themselves; the judge goes by it."""

FILES = tuple(f"{grade}.jsonl" for grade in GRADES)
RUBRIC = "name: answers\ncriteria:\n  - {name: right, question: 'Is it right?', scale: binary}\n"


@pytest.fixture
def field(bench: Bench) -> Bench:
    """Three files that answer the same cases, each in an order of its own."""
    bench.write("rubric.yaml", RUBRIC)
    for place, grade in enumerate(GRADES):
        turned = CASES[place:] + CASES[:place]
        bench.write(f"{grade}.jsonl", *(output(c, text=f"{grade} answer {c}") for c in turned))
    return bench


def seen_grades(seen: ServedRequest) -> tuple[list[str], str]:
    """The grades of the outputs in the order they are shown, and the case."""
    found = re.findall(r"(fine|fair|poor) answer (c\d+)", asked(seen))[:2]
    return [grade for grade, _ in found], found[0][1]


def knows(seen: ServedRequest) -> ServedReply:
    """A judge that goes by the grade, but takes fine and fair for each other in odd cases."""
    (first, second), case = seen_grades(seen)
    better = GRADES.index(first) < GRADES.index(second)
    if {first, second} == {"fine", "fair"} and case in ("c1", "c5"):
        better = not better
    return ok(prefers("first" if better else "second"))


def rank(bench: Bench, server: OpenAILikeServer, *options: object) -> Ran:
    return bench.ask(server, "rank", *FILES, "--rubric", "rubric.yaml", *options)


def test_three_files_are_put_in_order_with_what_may_be_chance(field: Bench) -> None:
    with OpenAILikeServer(knows) as server:
        ran = rank(field, server)
        assert server.n_requests == 8 * 3 * 4
    assert ran.code == 4
    assert "answers: 3 variants, 24 comparisons on 8 cases" in ran.out
    assert re.search(r"1 +fine\.jsonl .* 1–2", ran.out)
    assert "no decision: place 1 is open between fine.jsonl and fair.jsonl" in ran.out
    assert "compared 24 of 24" in ran.err


def test_the_sides_in_another_order_are_the_same_result_without_a_call(field: Bench) -> None:
    with OpenAILikeServer(knows) as server:
        there = rank(field, server, "--json").json
        what = ("rank", *FILES[::-1], "--rubric", "rubric.yaml", "--json")
        back = field.ask(server, *what).json
        assert server.n_requests == 96
    spent = back["questioned"].pop("spent")
    assert spent["n_cached"] == 96
    assert back == there | {"questioned": back["questioned"]}


def test_json_is_all_there_is_on_stdout(field: Bench) -> None:
    with OpenAILikeServer(knows) as server:
        ran = rank(field, server, "--json", "-v", "-n", 2)
    found = json.loads(ran.out, parse_constant=pytest.fail)
    assert ran.err == ""
    assert [side["name"] for side in found["sides"]][-1] == "poor.jsonl"
    assert found["n_cases"] == 2


def test_what_compare_kept_is_not_paid_again(field: Bench) -> None:
    with OpenAILikeServer(knows) as server:
        field.ask(server, "compare", "poor.jsonl", "fine.jsonl", "--rubric", "rubric.yaml")
        assert server.n_requests == 32
        rank(field, server)
        assert server.n_requests == 96


def test_adaptive_choice_ends_when_the_first_place_is_decided(field: Bench) -> None:
    many = [f"c{k}" for k in range(40)]
    for grade in GRADES:
        field.write(f"{grade}.jsonl", *(output(c, text=f"{grade} answer {c}") for c in many))
    with OpenAILikeServer(knows) as server:
        ran = rank(field, server, "--pairs", "adaptive", "-v")
        assert server.n_requests < 4 * 60
    assert ran.code == 0
    assert re.search(r"after \d+ of 120 comparisons: the top places are decided", ran.out)
    assert "always-valid" in ran.out.replace("\n", " ")
    assert "fine.jsonl is first: shown to be better than all others" in ran.out
    assert "A is fair.jsonl, B is fine.jsonl" in ran.out


def test_the_comparisons_are_written_and_ranked_again_without_a_judge(field: Bench) -> None:
    with OpenAILikeServer(knows) as server:
        made = rank(field, server, "-o", "made.jsonl", "--json")
        rank(field, server, "-o", "made.json", "-q")
    again = field.run("rank", "made.jsonl", "--json")
    assert again.code == 4
    for part in ("sides", "pairs", "decision", "position"):
        assert again.json[part] == made.json[part]
    assert field.run("rank", "made.json", "--json").json == again.json
    shown = field.run("rank", "made.jsonl")
    assert "Wins of the row against the column, %" in shown.out
    assert "asked" not in shown.out


def test_what_compare_writes_is_ranked_across_files(field: Bench) -> None:
    with OpenAILikeServer(knows) as server:
        for pair in (("fine", "fair"), ("poor", "fine"), ("fair", "poor")):
            sides = [f"{grade}.jsonl" for grade in pair]
            name = f"{'-'.join(pair)}.jsonl"
            field.ask(server, "compare", *sides, "--rubric", "rubric.yaml", "-o", name)
        made = rank(field, server, "--json").json
        assert server.n_requests == 96
    ran = field.run("rank", "fine-fair.jsonl", "poor-fine.jsonl", "fair-poor.jsonl", "--json")
    strengths = [side["strength"]["value"] for side in ran.json["sides"]]
    assert strengths == [side["strength"]["value"] for side in made["sides"]]
    assert [side["name"] for side in ran.json["sides"]] == list(GRADES)


def test_too_few_comparisons_are_said(field: Bench) -> None:
    with OpenAILikeServer(knows) as server:
        ran = rank(field, server, "--max-comparisons", 5)
        assert server.n_requests == 20
    assert ran.code == 4
    assert "after 5 of 24 comparisons: the limit of comparisons is reached" in ran.out


def test_a_judge_that_cannot_be_read_exits_with_3(field: Bench) -> None:
    def mostly(seen: ServedRequest) -> ServedReply:
        return ok("I would rather not say.") if "c3" in asked(seen) else knows(seen)

    with OpenAILikeServer(mostly) as server:
        ran = rank(field, server)
    assert ran.code == 3
    assert "3 comparisons undecided because of a failure" in ran.out
    assert "no verdict could be read" in ran.out


def test_a_frozen_cache_that_misses_exits_with_6(field: Bench) -> None:
    with OpenAILikeServer(knows) as server:
        ran = rank(field, server, "--frozen")
        assert server.n_requests == 0
    assert ran.code == 6
    assert "no decision: no comparison is decided" in ran.out


def test_where_the_money_ends_it_exits_with_5_and_can_go_on(field: Bench) -> None:
    suite = {"name": "s", "dataset": "cases.jsonl", "rubric": "rubric.yaml"}
    field.write("cases.jsonl", *({"id": c, "input": c} for c in CASES))
    field.write("judgekit.yaml", json.dumps(suite))
    what = ("rank", *FILES, "--rubric", "rubric.yaml", "--max-tokens", 50, "-j", 1)
    with OpenAILikeServer(knows) as server:
        model = ("--judge", "openai/gpt-4.1-mini", "--api-base", server.url)
        ran = field.run(*what, *model, "--max-cost", 0.02)
        assert 0 < server.n_requests < 96
    assert ran.code == 5
    assert "the cost limit allows no further call" in ran.out
    assert "run the same command again to continue" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
@pytest.mark.parametrize(("n_interrupts", "words"), [(1, "interrupted;"), (2, "stopped at once;")])
def test_an_interrupt_exits_with_130_and_the_rest_is_asked_later(
    field: Bench, n_interrupts: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == 20:
            ctrl_c.press() if n_interrupts == 1 else ctrl_c.press_twice()
        return knows(seen)

    with OpenAILikeServer(interrupts) as server:
        ran = rank(field, server, "-j", 4)
        assert server.n_requests < 96
        again = rank(field, server, "-j", 4)
    assert (ran.code, again.code) == (130, 4)
    assert words in ran.err
    assert "24 comparisons on 8 cases" in again.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["nowhere.jsonl"],
            "nowhere.jsonl is not a file of comparisons, and no other side is named",
        ),
        (["fine.jsonl"], "fine.jsonl is the only side"),
        (["fine.jsonl", "fine.jsonl"], "both sides are fine.jsonl"),
        ([*FILES, "nowhere.jsonl"], "no outputs file, template or variant is called"),
        ([*FILES, "--top", "3"], "the first 3 of 3 places cannot be decided"),
        ([*FILES, "--filter-tag", "none"], "no case is answered by two of the sides"),
        ([*FILES, "-o", "fine.jsonl"], "would overwrite fine.jsonl"),
        ([*FILES, "-o", "out.csv"], ".jsonl"),
        ([*FILES, "battles.jsonl"], "battles.jsonl holds comparisons, and other arguments do not"),
        ([*FILES, "--judge", "heuristic"], "the heuristic judge only counts assertions"),
        (["broken.jsonl", "fine.jsonl"], "broken.jsonl:1"),
    ],
)
def test_what_cannot_work_is_an_error_before_anything_is_asked(
    field: Bench, arguments: list[str], words: str
) -> None:
    field.write("battles.jsonl", {"variant_a": "x", "variant_b": "y", "winner": "a"})
    field.write("broken.jsonl", "{")
    judge = () if "--judge" in arguments else ("--judge", "openai/m")
    ran = field.run("rank", *arguments, "--rubric", "rubric.yaml", *judge)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--pairs", "adaptive"), "--pairs"),
        (("-n", "3"), "--limit"),
        (("-o", "x.jsonl"), "--output"),
        (("--judge", "openai/m"), "--judge"),
    ],
)
def test_what_chooses_comparisons_is_refused_for_files_of_comparisons(
    field: Bench, arguments: tuple[str, ...], option: str
) -> None:
    field.write("battles.jsonl", {"variant_a": "x", "variant_b": "y", "winner": "a"})
    ran = field.run("rank", "battles.jsonl", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert f"{option} is for sides that a judge compares" in ran.err
