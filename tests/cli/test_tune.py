from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import load_rubric
from judgekit.testing import ServedReply, ServedRequest
from tests.cli.bench import Bench, asked, output
from tests.cli.interrupting import CtrlC
from tests.factories import reply
from tests.report.case_pages import cases_of_page
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.commanding import Ran

PRESENT = """\
name: answers
criteria:
  - {name: right, question: "Is it right?", scale: one_to_five}
"""
N = 30


@pytest.fixture
def school(bench: Bench) -> Bench:
    """Thirty labelled outputs, and two other wordings of the rubric."""
    bench.write("outputs.jsonl", *(output(f"c{k}", text=f"q{k % 5 + 1}q of {k}") for k in range(N)))
    rows = ({"case_id": f"c{k}", "annotator": "Ada", "raw": k % 5 + 1} for k in range(N))
    bench.write("labels.jsonl", *rows)
    bench.write("present.yaml", PRESENT)
    bench.write("strict.yaml", PRESENT.replace("Is it right?", "Is it exactly right?"))
    bench.write("nice.yaml", PRESENT.replace("Is it right?", "Is it nice?"))
    return bench


def judge(seen: ServedRequest) -> ServedReply:
    """Right where it is told to be strict, or shown four examples; else two off."""
    text = asked(seen)
    mark = re.search(r"<output (\w+)>\nq(\d)q", text)
    assert mark is not None
    quality = int(mark[2])
    knows = "exactly right" in text or "Example 4" in text
    return ok(reply(quality if knows else quality + (2 if quality < 4 else -2)))


def tune(bench: Bench, server: OpenAILikeServer, *options: object) -> Ran:
    what = ("tune", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "present.yaml")
    return bench.ask(server, *what, *options)


def test_a_better_wording_is_told_and_written(school: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        ran = tune(
            school, server, "--candidates", "strict.yaml", "--candidates", "nice.yaml",
            "-o", "tuned.yaml",
        )  # fmt: skip
        n = server.n_requests
    assert ran.code == 0
    assert "Tuning of answers: 18 training cases, 12 held-out cases" in ran.out
    assert "use 'strict': it is closer to human labels" in ran.out
    assert "3 candidates, 18 training cases, 12 held-out cases: up to 78 calls" in ran.err
    assert n == 78
    assert "judgekit grade OUTPUTS --rubric tuned.yaml --judge openai/m --api-base" in ran.err
    assert load_rubric("tuned.yaml").criteria[0].question == "Is it exactly right?"


def test_examples_are_used_as_the_command_says(school: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        ran = tune(school, server, "--few-shot", "0,4", "-o", "tuned.json")
        said = re.search(r"judgekit (grade OUTPUTS .*)", ran.err)
        assert said is not None
        assert "--template pointwise/few_shot" in said[1]
        graded = school.run(*said[1].replace("OUTPUTS", "outputs.jsonl").split(), "--json")
        plain = school.ask(server, "grade", "outputs.jsonl", "--rubric", "tuned.json")
    raws = {v["case_id"]: v["judgments"][0]["raw"] for v in graded.json["verdicts"]}
    assert raws == {f"c{k}": k % 5 + 1 for k in range(N)}
    assert plain.code == 2
    assert "the rubric has examples, and template pointwise/criterion does not" in plain.err


def test_a_judge_of_joint_calls_is_used_with_joint_calls(school: Bench) -> None:
    def joint(seen: ServedRequest) -> ServedReply:
        one = json.loads(judge(seen).text or "")
        return ok(json.dumps({"criteria": {"right": one}}))

    with OpenAILikeServer(joint) as server:
        how = ("--mode", "joint", "--candidates", "strict.yaml", "-o", "tuned.json")
        ran = tune(school, server, *how)
    assert "judgekit grade OUTPUTS --rubric tuned.json --mode joint --judge openai/m" in ran.err


def test_json_has_held_out_figures_the_split_and_the_rubric(school: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        found = tune(school, server, "--candidates", "strict.yaml", "--json").json
        again = tune(school, server, "--candidates", "strict.yaml", "--json").json
    assert (found["decision"], found["chosen"]) == ("better", "strict")
    assert found["contrast"]["distance"]["high"] < 0
    assert found["chosen_held_out"]["overall"]["distance"]["value"] == 0
    assert len(found["held_out_cases"]) == 12
    assert found["tuned"]["criteria"][0]["question"] == "Is it exactly right?"
    assert again["spent"]["n_cached"] == again["spent"]["n_replies"] == 60
    assert again["contrast"] == found["contrast"]


def test_nothing_better_is_exit_0_and_nothing_is_written(school: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        ran = tune(school, server, "--candidates", "nice.yaml", "-o", "tuned.yaml")
    assert ran.code == 0
    assert "no candidate is significantly better: none beat the current" in ran.out
    assert "tuned.yaml is not written" in ran.err
    assert not (school.folder / "tuned.yaml").exists()


def test_what_is_not_shown_is_written_where_that_is_asked_for(school: Bench) -> None:
    def often(seen: ServedRequest) -> ServedReply:
        is_lucky = "exactly right" in asked(seen) and re.search(r"q\dq of \d*[05]\n", asked(seen))
        return judge(seen) if is_lucky else ok(reply(3))

    with OpenAILikeServer(often) as server:
        what = ("--candidates", "strict.yaml", "-o", "tuned.yaml")
        ran = tune(school, server, *what)
        anyway = tune(school, server, *what, "--write-anyway", "-q")
    assert "'strict' was best on training cases, but held-out cases are inconclusive" in ran.out
    assert "--write-anyway writes it regardless" in ran.err
    assert anyway.err == ""
    noted = load_rubric("tuned.yaml").metadata["tuned"]
    assert isinstance(noted, dict)
    assert noted["decision"] == "not_shown"


def test_a_dry_run_asks_nothing(school: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        ran = tune(school, server, "--anchors", "--few-shot", "0,2", "--dry-run")
        told = tune(school, server, "--anchors", "--dry-run", "--json").json
        assert server.n_requests == 0
    assert "Up to 78 calls to openai/m" in ran.out
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "labels cover 30 of 30 outputs and 1 of 1 criterion" in lines
    assert {"candidates 3", "cases 18 for training, 12 held out"} <= {*lines}
    assert (told["n_calls"], told["n_owned"], told["n_candidates"]) == (60, 0, 2)


def test_failed_answers_are_told_with_exit_3(school: Bench) -> None:
    def lossy(seen: ServedRequest) -> ServedReply:
        return ok("no idea") if " of 7\n" in asked(seen) else judge(seen)

    with OpenAILikeServer(lossy) as server:
        ran = tune(school, server, "--candidates", "strict.yaml")
    assert ran.code == 3
    assert "2 questions: no verdict could be read" in ran.out


def test_the_limit_of_cost_ends_it_with_exit_5(school: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        ran = school.run(
            "tune", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "present.yaml",
            "--judge", "openai/gpt-4.1-mini", "--api-base", server.url, "--anchors",
            "--max-cost", "0.00001", "-o", "t.yaml",
        )  # fmt: skip
    assert ran.code == 5
    assert "no decision: too few answers" in ran.out
    assert "run the same command again to continue" in ran.err
    assert "the next call needs a higher --max-cost" in ran.err
    assert "t.yaml is not written" in ran.err


def test_each_time_with_money_goes_on_where_the_last_one_stopped(school: Bench) -> None:
    """One call may cost 0.0146 dollars at most, and costs less: so that some go through."""
    what = (
        "tune", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "present.yaml",
        "--judge", "openai/gpt-4.1-mini", "--candidates", "strict.yaml", "-j", 1, "--json",
    )  # fmt: skip
    with OpenAILikeServer(judge) as server:
        asked_ = (*what, "--api-base", server.url, "--max-cost")
        first = school.run(*asked_, 0.015)
        n = server.n_requests
        second = school.run(*asked_, 0.015)
        whole = school.run(*asked_, 5)
        n_all = server.n_requests
    assert (first.code, second.code, whole.code) == (5, 5, 0)
    assert 0 < n < 60
    assert second.json["spent"]["n_cached"] == n
    assert whole.json["decision"] == "better"
    assert n_all == 60, "nothing is asked twice"


def test_a_frozen_cache_that_misses_is_exit_6(school: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        assert tune(school, server, "--anchors", "--frozen").code == 6


def test_an_interrupt_keeps_what_was_answered_with_exit_130(
    school: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def press(seen: ServedRequest) -> ServedReply:
        ctrl_c.press_once()
        return judge(seen)

    with OpenAILikeServer(press) as server:
        ran = tune(school, server, "--candidates", "strict.yaml", "-j", "1")
    assert ran.code == 130
    assert "cached replies are not requested again" in ran.err


def test_a_second_interrupt_stops_at_once(school: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def press(_: ServedRequest) -> ServedReply:
        ctrl_c.press_twice()
        return ServedReply(manner="hang")

    with OpenAILikeServer(press) as server:
        ran = tune(school, server, "--anchors", "-j", "1", "--no-cache")
    assert ran.code == 130
    assert (
        "stopped at once; run the same command again to continue: without a cache, it starts over"
        in ran.err
    )


def test_too_few_labels_are_exit_4_with_how_many_are_missing(school: Bench) -> None:
    school.write("labels.jsonl", *({"case_id": f"c{k}", "raw": 3} for k in range(12)))
    with OpenAILikeServer(judge) as server:
        ran = tune(school, server, "--anchors")
    assert ran.code == 4
    assert "12 labelled cases are split into" in ran.err
    assert "label 13 more cases" in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "no candidate besides the present rubric"),
        (("--few-shot", "two"), "give whole numbers: --few-shot 0,2,4"),
        (("--write-anyway", "--anchors"), "--write-anyway needs a file"),
        (("--anchors", "-o", "tuned.txt"), "cannot write a rubric to tuned.txt"),
        (("--candidates", "gone.yaml"), "gone.yaml"),
    ],
)
def test_unsound_options_are_exit_2(school: Bench, options: tuple[str, ...], words: str) -> None:
    with OpenAILikeServer(judge) as server:
        ran = tune(school, server, *options)
        assert server.n_requests == 0
    assert ran.code == 2
    assert words in ran.err


def test_a_page_has_the_words_and_the_scores_that_change(school: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        tune(school, server, "--candidates", "strict.yaml", "-o", "tuned.html")
    text = (school.folder / "tuned.html").read_text(encoding="utf-8")
    assert "Wording of right" in text
    before, after = re.findall(
        r"<pre dir=\"auto\">(.*?)</pre>", text.split("<script")[0], re.DOTALL
    )
    assert before.startswith("Is it right?")
    assert after.startswith("Is it exactly right?")
    changed = cases_of_page(school.folder / "tuned.html")
    assert changed.counts == {"farther": 0, "closer": 12}
    assert len(changed.full) == 12
    assert all(row["answers"][0]["output"].startswith("q") for row in changed.full.values())
