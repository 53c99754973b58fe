from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import Pairing
from judgekit.store import RunStore
from tests.cli.bench import asked, output
from tests.cli.contests import EIGHT, LONG, SHORT, answers_and_judges
from tests.evaluation.pairs import side
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

FILES = ("new.jsonl", "old.jsonl")


@pytest.fixture
def sides(bench: Bench) -> Bench:
    bench.write("new.jsonl", *(output(c, text=LONG) for c in EIGHT))
    bench.write("old.jsonl", *(output(c, text=SHORT) for c in EIGHT))
    return bench


def compare(bench: Bench, server: OpenAILikeServer, *options: object) -> Ran:
    return bench.ask(server, "compare", *FILES, "--rubric", "rubric.yaml", *options)


def kept(bench: Bench) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = bench.run("show", "--comparisons", "--json").json
    return found


def test_every_comparison_is_kept_listed_and_shown_as_it_was_told(sides: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        told = compare(sides, server, "--json").json
        compare(sides, server, "-n", 3)
    newest, first = kept(sides)
    assert (first["id"], first["status"], first["n_pairs"]) == (told.pop("id"), "complete", 8)
    assert newest["chosen"] == {"limit": 3}
    shown = sides.run("show", first["id"], "--json").json
    assert shown["summary"] == told
    text = sides.run("show", first["id"])
    assert "new.jsonl is better: 8 of 8 decided pairs" in text.out
    assert "in both orders; labels drawn with seed 0; model names hidden" in text.out
    listed = sides.run("show", "--comparisons").out
    assert first["id"] in listed


def test_a_case_is_shown_with_both_outputs_and_every_reason(sides: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        compare(sides, server, "-n", 1, "--analysis", "analysis.json")
    (info,) = kept(sides)
    text = sides.run("show", info["id"], "c0").out
    assert LONG in text
    assert "right, AB: first" in text
    assert "tone: No way (not found in the output)" in text
    found = sides.run("show", info["id"], "c0", "--json").json["pairs"][0]
    assert found["comparison"]["winner"] == "a"
    assert found["analysis"]["suggestions"][0]["found"] is True
    ran = sides.run("show", info["id"], "c9")
    assert (ran.code, "known: c0" in ran.err) == (2, True)


def test_without_a_comparison_the_list_says_how_to_make_one(sides: Bench) -> None:
    with RunStore(sides.folder / "empty.db").reading():
        pass
    ran = sides.run("show", "--comparisons", "--store", "empty.db")
    assert (ran.code, ran.out) == (0, "")
    assert "judgekit compare A B" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
def test_a_broken_off_comparison_is_gone_on_with_even_without_a_cache(sides: Bench) -> None:
    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return answers_and_judges(seen)

    with OpenAILikeServer(interrupts, latency_s=0.01) as server:
        ran = compare(sides, server, "-j", 2, "--no-cache")
        n_asked = server.n_requests
        assert n_asked < 48
        name = kept(sides)[0]["id"]
        assert f"--resume {name}" in ran.err
        again = compare(sides, server, "-j", 2, "--no-cache", "--resume", name)
        assert server.n_requests == 48
    assert (ran.code, again.code) == (130, 0)
    assert "8 of 8 decided pairs" in again.out
    assert [info["status"] for info in kept(sides)] == ["complete"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
def test_a_resumed_comparison_keeps_the_order_it_drew(sides: Bench) -> None:
    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return answers_and_judges(seen)

    how = ("-j", 2, "--no-cache", "--until-decided", "--prior", 1)
    with OpenAILikeServer(interrupts, latency_s=0.01) as server:
        compare(sides, server, *how, "--seed", 5)
        ran = compare(sides, server, *how, "--resume", "-o", "made.jsonl")
        assert server.n_requests == 48, "nothing is asked twice"
    whole = Pairing(*(side(label, *EIGHT) for label in "ab"), seed=5, is_shuffled=True)
    made = (sides.folder / "made.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["case_id"] for line in made] == [p.case.id for p in whole.pairs()]
    assert kept(sides)[0]["chosen"] == {"order_seed": 5}
    assert ran.code == 0


def test_what_failed_is_asked_again_when_it_is_resumed(sides: Bench) -> None:
    def fails(seen: ServedRequest) -> ServedReply:
        return ok("no verdict") if "c3" in asked(seen) else answers_and_judges(seen)

    with OpenAILikeServer(fails) as server:
        ran = compare(sides, server)
    with OpenAILikeServer(answers_and_judges) as server:
        again = compare(sides, server, "--no-cache", "--resume")
        assert server.n_requests == 6
    assert (ran.code, again.code) == (3, 0)
    assert "retry what failed: judgekit compare new.jsonl" in ran.err


def test_a_comparison_of_other_outputs_cannot_be_gone_on_with(sides: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        compare(sides, server, "-n", 2)
        sides.write("old.jsonl", *(output(c, text=f"{SHORT} {c}") for c in EIGHT))
        ran = compare(sides, server, "--resume", "--no-scrub")
    assert ran.code == 2
    assert "the second side's outputs or cases; the judge or its settings" in ran.err


def test_until_decided_comes_out_the_same_when_it_is_shown_later(sides: Bench) -> None:
    many = [f"c{k}" for k in range(30)]
    sides.write("new.jsonl", *(output(c, text=LONG) for c in many))
    sides.write("old.jsonl", *(output(c, text=SHORT) for c in many))
    with OpenAILikeServer(answers_and_judges) as server:
        how = ("--until-decided", "-j", 16, "-o", "told.jsonl", "--json")
        told = compare(sides, server, *how).json
    (info,) = kept(sides)
    assert (info["status"], told.pop("id")) == ("decided", info["id"])
    assert sides.run("show", info["id"], "--json").json["summary"] == told
    whole = ("export", info["id"], "--format", "preferences", "-o")
    assert sides.run(*whole, "again.jsonl").code == 0
    again, then = (sides.folder / name for name in ("again.jsonl", "told.jsonl"))
    assert again.read_bytes() == then.read_bytes(), "what was in flight is kept, and not counted"
    assert len(then.read_text(encoding="utf-8").splitlines()) == told["evidence"]["n_cases"] < 30
    assert sides.run("rank", "again.jsonl").code == 0
    wrong = sides.run(*whole, "again.csv")
    assert (wrong.code, ".jsonl" in wrong.err) == (2, True)
    sides.run("export", info["id"], "-o", "skill_comparison.json")
    skill = json.loads((sides.folder / "skill_comparison.json").read_text(encoding="utf-8"))
    assert len(skill) == told["evidence"]["n_cases"]


def test_names_are_scrubbed_unless_that_is_switched_off_and_the_record_says_so(
    sides: Bench,
) -> None:
    sides.write("new.jsonl", *(output(c, text=f"As ChatGPT, I say: {LONG}") for c in EIGHT))
    with OpenAILikeServer(answers_and_judges) as server:
        ran = compare(sides, server, "-o", "there.jsonl")
        assert not any("ChatGPT" in asked(seen) for seen in server.requests)
        n_scrubbed = server.n_requests
        off = compare(sides, server, "--no-scrub", "--no-draw-labels", "-o", "off.jsonl")
        assert all("ChatGPT" in asked(seen) for seen in server.requests[n_scrubbed:])
    assert "8 passages that named the model hidden from the judge" in ran.out
    assert "model names were left in the outputs" in off.out
    there, left = (
        json.loads((sides.folder / name).read_text(encoding="utf-8").splitlines()[0])
        for name in ("there.jsonl", "off.jsonl")
    )
    assert [one["text"] for one in there["scrubbed"]] == ["ChatGPT"]
    assert (left["scrubbed"], left["labels"]) == (None, ["first", "second"])


def test_a_suite_says_how_outputs_are_shown(sides: Bench) -> None:
    suite = {
        "name": "small",
        "cases": [{"id": c, "input": c} for c in EIGHT],
        "rubric": "rubric.yaml",
        "compare": {"scrub": False, "draw_labels": True, "seed": 7},
        "variants": [{"id": "n", "outputs": "new.jsonl"}, {"id": "o", "outputs": "old.jsonl"}],
    }
    sides.write("judgekit.yaml", json.dumps(suite))
    with OpenAILikeServer(answers_and_judges) as server:
        sides.ask(server, "compare", "n", "o", "-n", 1)
        sides.ask(server, "compare", "n", "o", "-n", 1, "--scrub", "--label-seed", 9)
    newer, older = kept(sides)
    assert (older["scrub"], older["label_seed"], older["suite"]) == (False, 7, "small")
    assert (newer["scrub"], newer["label_seed"]) == (True, 9)


def test_comparison_json_is_blind_and_of_the_skill_format(sides: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        compare(sides, server, "-o", "comparison.json")
        compare(sides, server, "-n", 1, "-o", "one_comparison.json")
    several = json.loads((sides.folder / "comparison.json").read_text(encoding="utf-8"))
    one = json.loads((sides.folder / "one_comparison.json").read_text(encoding="utf-8"))
    assert one["eval_prompt"] == "c0"
    assert {item["winner"] for item in several} == {"A", "B"}, "which side is A is drawn"
    for item in several:
        other = "B" if item["winner"] == "A" else "A"
        assert item["scores"]["right"] == {item["winner"]: 8, other: 3}
        assert "shown first: One of them quotes the policy." in item["reasoning"]
        assert not {"new", "old"} & set(json.dumps(item).replace('"', " ").split())
    exported = sides.run("export", "latest", "--format", "comparison", "-o", "again.jsonl")
    assert exported.code == 0
    folder = sides.run("export", several[0]["judgekit"]["comparison"], "-o", "each", "--format",
                       "comparison")  # fmt: skip
    assert folder.code == 0
    assert len(list((sides.folder / "each").glob("c*.json"))) == 8


def test_analysis_json_names_the_versions_and_marks_what_stands_nowhere(sides: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        ran = compare(sides, server, "-n", 1, "--analysis", "analysis.json")
        assert server.n_requests == 7
        assert f"{SHORT}\n" in asked(server.requests[-1])
        compare(sides, server, "-n", 1, "--analysis", "again.json")
        assert server.n_requests == 7, "what was paid for is not asked twice"
    found = json.loads((sides.folder / "analysis.json").read_text(encoding="utf-8"))
    assert (found["winner_version"], found["loser_version"]) == ("new", "old")
    assert found["strengths"] == ["It names the period."]
    assert [one["verified"] for one in found["suggestions"]] == [True, False]
    assert set(found["suggestions"][0]) == {"area", "before", "after", "reasoning", "verified"}
    assert found["judgekit"]["strengths"][0]["found"] is True
    assert "wrote 1 analysis to analysis.json" in ran.err
    out = sides.run("export", kept(sides)[0]["id"], "-o", "x_analysis.json")
    assert out.code == 0


def test_an_analysis_that_cannot_be_read_is_a_failure_and_never_written(sides: Bench) -> None:
    def shrugs(seen: ServedRequest) -> ServedReply:
        return ok("No idea.") if '"strengths"' in asked(seen) else answers_and_judges(seen)

    with OpenAILikeServer(shrugs) as server:
        ran = compare(sides, server, "-n", 1, "--analysis", "analysis.json")
    assert ran.code == 3
    assert "1 analysis failed" in ran.err
    assert json.loads((sides.folder / "analysis.json").read_text(encoding="utf-8")) == []
    out = sides.run("export", kept(sides)[0]["id"], "-o", "x_analysis.json")
    assert (out.code, "has no analyses" in out.err) == (4, True)


def test_a_comparison_has_its_own_forms(sides: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        compare(sides, server, "-n", 1)
    name = kept(sides)[0]["id"]
    wrong = sides.run("export", name, "-o", "x.xml", "--format", "junit")
    assert (wrong.code, "use --format comparison or preferences or analysis" in wrong.err) == (
        2,
        True,
    )
    told = sides.run("export", name, "-o", "x.json", "--json").json
    assert told == {"comparison": name, "n": 1, "file": "x.json"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
def test_an_interrupt_while_analysing_keeps_what_was_said(sides: Bench) -> None:
    def interrupts(seen: ServedRequest) -> ServedReply:
        if '"strengths"' in asked(seen):
            os.kill(os.getpid(), signal.SIGINT)
        return answers_and_judges(seen)

    with OpenAILikeServer(interrupts, latency_s=0.01) as server:
        ran = compare(sides, server, "-n", 1, "--analysis", "analysis.json", "-q")
    assert ran.code == 130
    assert "analyses so far are stored" in ran.err
