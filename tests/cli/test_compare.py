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

TEN = [f"c{k}" for k in range(10)]
FILES = ("new.jsonl", "old.jsonl")
ALWAYS_FIRST = ok(prefers("first"))


@pytest.fixture
def sides(bench: Bench) -> Bench:
    """Ten cases that two files answer, `better …` and `worse …`; the second is turned round."""
    bench.write("new.jsonl", *(output(c, text=f"better {c}") for c in TEN))
    bench.write("old.jsonl", *(output(c, text=f"worse {c}") for c in reversed(TEN)))
    return bench


def better_wins(seen: ServedRequest) -> ServedReply:
    """A judge that prefers the text with `better` in it, wherever it stands."""
    first = re.search(r"(better|worse) c\d", asked(seen))
    assert first is not None
    return ok(prefers("first" if first[1] == "better" else "second"))


def compare(bench: Bench, server: OpenAILikeServer, *options: object) -> Ran:
    return bench.ask(server, "compare", *FILES, "--rubric", "rubric.yaml", *options)


def test_the_better_side_is_named_and_the_exit_code_is_0(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        ran = compare(sides, server)
        assert server.n_requests == 60
    assert ran.code == 0
    assert "answers: A is new.jsonl, B is old.jsonl" in ran.out
    assert "new.jsonl is better: 10 of 10 decided pairs, p 0.002" in ran.out
    assert "compared 10 of 10" in ran.err


def test_the_sides_turned_round_are_the_same_requests_and_the_mirrored_result(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        there = compare(sides, server, "--json").json
        what = ("compare", *reversed(FILES), "--rubric", "rubric.yaml", "--json")
        back = sides.ask(server, *what).json
        assert server.n_requests == 60
    assert (there["decision"]["winner"], back["decision"]["winner"]) == ("a", "b")
    assert there["whole"]["wins"] == back["whole"]["losses"] == 10
    assert back["spent"]["n_cached"] == 60


def test_a_judge_that_always_takes_the_first_decides_nothing(sides: Bench) -> None:
    with OpenAILikeServer(ALWAYS_FIRST) as server:
        ran = compare(sides, server)
    assert ran.code == 4
    assert "warning   the judge favours the output it sees first" in ran.out
    assert "no decision: the judge contradicts itself" in ran.out


def test_no_name_of_a_side_is_in_any_prompt(sides: Bench) -> None:
    rows = [output(c, text=f"better {c}: I am zebra-7", variant="zebra-7") for c in TEN]
    sides.write("new.jsonl", *rows, *(row | {"variant": "yak-8"} for row in rows))
    what = ("compare", "new.jsonl::zebra-7", "old.jsonl", "--rubric", "rubric.yaml")
    with OpenAILikeServer(better_wins) as server:
        assert sides.ask(server, *what).code == 0
        prompts = [asked(seen) for seen in server.requests]
    assert len(prompts) == 60
    assert not any(re.search(r"zebra|yak|jsonl", prompt) for prompt in prompts)


def test_repeated_nothing_is_asked_twice_and_frozen_asks_nothing(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        compare(sides, server, "-n", 4)
        ran = compare(sides, server)
        assert server.n_requests == 60
        frozen = compare(sides, server, "--frozen")
        assert server.n_requests == 60
    assert (ran.code, frozen.code) == (0, 0)
    assert "24 from the cache" in ran.out


def test_a_frozen_cache_that_misses_exits_with_6(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        ran = compare(sides, server, "--frozen")
        assert server.n_requests == 0
    assert ran.code == 6
    assert "not in the frozen cache" in ran.out


def test_a_judge_that_cannot_be_read_exits_with_3_and_shows_bounds(sides: Bench) -> None:
    def mostly(seen: ServedRequest) -> ServedReply:
        return ok("I would rather not say.") if "c3" in asked(seen) else better_wins(seen)

    with OpenAILikeServer(mostly) as server:
        ran = compare(sides, server)
    assert ran.code == 3
    assert "depending on the 1 undecided pair" in ran.out


def test_comparisons_are_written_one_a_line_in_the_order_of_the_cases(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        ran = compare(sides, server, "-o", "out.jsonl")
        compare(sides, server, "-o", "out.json", "-q")
    lines = (sides.folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["case_id"] for row in rows} == set(TEN)
    assert {(row["variant_a"], row["variant_b"], row["winner"]) for row in rows} == {
        ("new", "old", "a")
    }
    listed = json.loads((sides.folder / "out.json").read_text(encoding="utf-8"))
    assert [row["case_id"] for row in listed] == [row["case_id"] for row in rows]
    assert "wrote the comparisons to out.jsonl" in ran.err


def test_json_is_all_there_is_on_stdout(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        ran = compare(sides, server, "--json", "-v")
    found = json.loads(ran.out, parse_constant=pytest.fail)
    assert ran.err == ""
    assert found["criteria"]["right"]["p_adjusted"] >= found["criteria"]["right"]["p"]
    assert found["length_controlled"] is None


def test_verbose_shows_every_answer(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        ran = compare(sides, server, "-v", "-n", 1)
    assert "right, AB: first  One of them quotes the policy." in ran.out
    assert "overall, BA: second" in ran.out


def test_until_decided_stops_when_a_difference_is_shown(sides: Bench) -> None:
    many = [f"c{k}" for k in range(40)]
    sides.write("new.jsonl", *(output(c, text=f"better {c}") for c in many))
    sides.write("old.jsonl", *(output(c, text=f"worse {c}") for c in many))
    with OpenAILikeServer(better_wins) as server:
        ran = compare(sides, server, "--until-decided", "-j", 4, "--json")
        assert server.n_requests < 6 * 20
    assert ran.code == 0
    assert ran.json["evidence"]["stopped_at"] == ran.json["whole"]["n_pairs"] == 15


@pytest.mark.no_cover
def test_until_decided_on_a_sorted_file_does_not_decide_for_the_loser(sides: Bench) -> None:
    """30 wins of A, then 70 of B: in the order of the file, 15 straight wins would decide for A."""
    texts = ["better"] * 30 + ["worse"] * 70
    other = {"better": "worse", "worse": "better"}
    sides.write("new.jsonl", *(output(f"c{k}", text=f"{t} c{k}") for k, t in enumerate(texts)))
    sides.write(
        "old.jsonl", *(output(f"c{k}", text=f"{other[t]} c{k}") for k, t in enumerate(texts))
    )
    with OpenAILikeServer(better_wins) as server:
        compare(sides, server)
        n_asked = server.n_requests
        how = ("--until-decided", "--frozen", "--json")
        ran = [compare(sides, server, *how, "--seed", seed) for seed in (0, 0, 1, 2)]
        assert server.n_requests == n_asked, "no reply depends on the order or its seed"
    assert [one.json["decision"]["winner"] for one in ran] == ["b"] * 4
    same, again, *others = [one.json["evidence"] for one in ran]
    assert same == again
    assert [one["order_seed"] for one in (same, *others)] == [0, 1, 2]
    assert len({one["n_cases"] for one in (same, *others)}) > 1
    shown = sides.run("show", ran[-1].json["id"]).out
    assert "cases in random order (seed 2)" in shown


def test_a_wider_prior_decides_a_large_difference_with_fewer_cases(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        default = compare(sides, server, "--until-decided")
        wide = compare(sides, server, "--until-decided", "--prior", 1, "-j", 1, "--json")
    assert default.code == 4, "ten straight wins are fewer than 15"
    assert wide.code == 0
    # 2^n / (n + 1) reaches 20 at the eighth straight win.
    assert (wide.json["evidence"]["stopped_at"], wide.json["evidence"]["prior"]) == (8, 1)


def test_until_decided_ends_at_the_most_cases_without_a_decision(sides: Bench) -> None:
    with OpenAILikeServer(better_wins) as server:
        ran = compare(sides, server, "--until-decided", "--max-cases", 5, "-j", 1)
    assert ran.code == 4
    assert "tested after each of 5 cases" in ran.out
    assert "compared 5 of 5" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
@pytest.mark.parametrize(("n_interrupts", "words"), [(1, "interrupted;"), (2, "stopped at once;")])
def test_an_interrupt_exits_with_130_and_the_rest_is_asked_later(
    sides: Bench, n_interrupts: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == 20:
            ctrl_c.press() if n_interrupts == 1 else ctrl_c.press_twice()
        return better_wins(seen)

    with OpenAILikeServer(interrupts) as server:
        ran = compare(sides, server, "-j", 4)
        assert server.n_requests < 60
        again = compare(sides, server, "-j", 4)
        # A second one drops what is in flight.
        assert server.n_requests <= 60 + 4 * (n_interrupts - 1)
    assert (ran.code, again.code) == (130, 0)
    assert words in ran.err
    assert "10 of 10 decided pairs" in again.out


def test_files_that_do_not_say_what_was_asked_are_compared_and_that_is_said(bench: Bench) -> None:
    for name, word in zip(FILES, ("better", "worse"), strict=True):
        bench.write(name, *({"case_id": c, "text": f"{word} {c}"} for c in TEN[:2]))
    with OpenAILikeServer(better_wins) as server:
        ran = compare(bench, server)
    assert ran.code == 4, ran.err
    assert "new.jsonl has no inputs: the judge sees only the outputs" in ran.err
    assert "old.jsonl has no inputs" in ran.err


def test_what_only_one_file_answers_is_said(sides: Bench) -> None:
    sides.write("old.jsonl", *(output(c, text=f"worse {c}") for c in [*TEN[:9], "x"]))
    with OpenAILikeServer(better_wins) as server:
        ran = compare(sides, server)
    assert "left out  1 case only in A: c9" in ran.out
    assert "left out  1 case only in B: x" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["new.jsonl", "new.jsonl"], "both sides are new.jsonl"),
        (["new.jsonl", "nowhere.jsonl"], "no outputs file, template or variant is called"),
        ([*FILES, "--max-cases", "3"], "--max-cases goes with --until-decided"),
        ([*FILES, "--prior", "1"], "--prior goes with --until-decided"),
        ([*FILES, "--anytime"], "--anytime goes with --scores"),
        ([*FILES, "-o", "new.jsonl"], "would overwrite new.jsonl"),
        ([*FILES, "-o", "out.csv"], ".jsonl"),
        ([*FILES, "--filter-tag", "none"], "no case is answered by both sides"),
        ([*FILES, "--template", "pointwise/criterium"], "pointwise/criterion"),
        (
            [*FILES, "--template", "pointwise/criterion"],
            "is for a single output, but two are compared",
        ),
    ],
)
def test_what_cannot_work_is_an_error_before_anything_is_asked(
    sides: Bench, arguments: list[str], words: str
) -> None:
    with OpenAILikeServer(better_wins) as server:
        ran = sides.ask(server, "compare", *arguments, "--rubric", "rubric.yaml")
        assert server.n_requests == 0
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "there is no store"),
        (("-o", "x.json"), "no comparisons to write"),
        (("--until-decided",), "--until-decided does not apply to --scores, which calls no judge"),
        (("-n", "3"), "--limit does not apply to --scores"),
        (("--sample", "3"), "--sample does not apply to --scores"),
        (("--rubric", "rubric.yaml"), "--rubric does not apply to --scores"),
        (("--judge", "openai/m"), "--judge does not apply to --scores"),
        (("--resume",), "--resume does not apply to --scores"),
        (("--analysis", "analysis.json"), "--analysis does not apply to --scores"),
    ],
)
def test_what_stored_scores_have_no_use_for_is_refused(
    sides: Bench, arguments: tuple[str, ...], words: str
) -> None:
    ran = sides.run("compare", *FILES, "--scores", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
