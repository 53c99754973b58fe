from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from judgekit.bias_audit.api import PROBES
from judgekit.models import BiasedModel, Biases
from judgekit.models.request import ModelRequest, Subject
from judgekit.testing import ServedReply, ServedRequest
from tests.cli.bench import asked, output
from tests.cli.interrupting import CtrlC
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran


def biased(**dials: float) -> Callable[[ServedRequest], ServedReply]:
    """A judge on loopback who finds everything middling, but for its biases."""
    model = BiasedModel(0.5, biases=Biases(**dials))

    def say(seen: ServedRequest) -> ServedReply:
        schema = seen.body["response_format"]["json_schema"]["schema"]
        request = ModelRequest(
            model="m",
            messages=tuple(seen.body["messages"]),
            reply_schema=schema,
            subject=Subject(criterion="right"),
        )
        return ok(model.reply(request).text or "")

    return say


def audit(bench: Bench, server: OpenAILikeServer, *options: object) -> Ran:
    what = ("audit", "outputs.jsonl", "--rubric", "rubric.yaml")
    return bench.ask(server, *what, *options)


def verdicts(ran: Ran) -> dict[str, str | None]:
    return {probe["name"]: probe["verdict"] for probe in ran.json["probes"]}


def test_a_judge_that_loves_length_is_found_out_end_to_end(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(f"c{k}", text=f"answer {k}") for k in range(20)))
    with OpenAILikeServer(biased(verbosity=1.0)) as server:
        ran = audit(bench, server, "--probes", "verbosity,authority", "-o", "audit.json")
        n = server.n_requests
        again = audit(bench, server, "--probes", "verbosity,authority", "--json")
        assert server.n_requests == n == 20 * (2 + 2 + 2 + 2 + 2)
    assert ran.code == 0
    assert "score with padding" in ran.out
    assert "Material: verbosity; no material bias in 1 probe." in ran.out
    assert "wrote the report to audit.json" in ran.err
    assert verdicts(again) == {"verbosity": "material", "authority": "none_seen"}
    assert again.json["spent"]["n_cached"] == n
    kept = json.loads((bench.folder / "audit.json").read_text())
    assert kept["probes"][0]["effects"] == again.json["probes"][0]["effects"]


def test_an_audit_can_be_written_as_a_page_or_as_markdown(bench: Bench) -> None:
    with OpenAILikeServer(biased()) as server:
        for name, begins in (("audit.html", "<!doctype html>"), ("audit.md", "# Audit of ")):
            ran = audit(bench, server, "--probes", "scale", "-o", name)
            assert f"wrote the report to {name}" in ran.err
            assert (bench.folder / name).read_text(encoding="utf-8").startswith(begins)


def test_a_material_bias_is_exit_1_only_when_that_is_asked_for(bench: Bench) -> None:
    with OpenAILikeServer(biased(verbosity=1.0)) as server:
        assert audit(bench, server, "--probes", "verbosity", "-q").code == 0
        failing = ("--fail-on", "material", "-q", "--probes")
        assert audit(bench, server, *failing, "verbosity").code == 1
        assert audit(bench, server, *failing, "authority").code == 0


def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(bench: Bench) -> None:
    with OpenAILikeServer() as server:
        ran = audit(bench, server, "--dry-run")
        as_json = audit(bench, server, "--dry-run", "--json").json
        assert server.n_requests == 0
    assert ran.code == 0
    assert "skipped: no case has two" in " ".join(ran.out.split())
    assert [one["name"] for one in as_json["probes"]] == [probe.name for probe in PROBES]
    assert as_json["n_calls"] == sum(one["n_calls"] for one in as_json["probes"]) > 50


def test_the_joint_mode_shows_the_order_of_criteria(bench: Bench) -> None:
    with OpenAILikeServer(biased(criterion_order=1.0)) as server:
        ran = audit(bench, server, "--mode", "joint", "--probes", "criterion_order", "--json")
        assert server.n_requests == 4 * 3
    assert verdicts(ran) == {"criterion_order": "material"}


def test_cases_are_drawn_and_all_outputs_of_a_case_stay_together(bench: Bench) -> None:
    bench.write(
        "outputs.jsonl",
        *(output(f"c{k}", text=f"{v} {k}", variant=v) for v in ("x", "y") for k in range(70)),
    )
    with OpenAILikeServer(biased()) as server:
        probes = ("--probes", "position", "--json")
        whole = audit(bench, server, *probes)
        three = audit(bench, server, *probes, "--sample", "3", "--seed", "5")
        first = audit(bench, server, *probes, "-n", "2")
    assert (whole.json["n_cases"], whole.json["n_outputs"]) == (60, 120)
    assert "60 of 70 cases drawn at random with seed 0" in whole.err
    assert (three.json["n_cases"], three.json["n_outputs"]) == (3, 6)
    assert three.json["seed"] == 5
    assert (first.json["n_cases"], first.err) == (2, "")


def test_settings_reach_the_probes(bench: Bench) -> None:
    with OpenAILikeServer(biased(self_preference=1.0)) as server:
        what = ("--probes", "self_preference,stability,injection", "--json", "--own-family", "GPT")
        more = ("--askings", "2", "--attacks-each", "1", "--margin", "0.9", "--share-margin", "0.8")
        ran = audit(bench, server, *what, *more, "--alpha", "0.2")
    found = {probe["name"]: probe for probe in ran.json["probes"]}
    assert found["stability"]["counts"]["askings"] == 2
    assert found["stability"]["effects"][0]["margin"] == 0.8
    assert found["injection"]["counts"]["attacks tried"] == "4 of 85"
    assert found["self_preference"]["effects"][0]["margin"] == 0.9
    assert found["self_preference"]["effects"][0]["estimate"]["value"] == 0.5
    assert ran.json["level"] == 0.8


def test_own_paraphrases_are_taken_in_place_of_the_shipped(bench: Bench) -> None:
    own = bench.write(
        "mine.j2",
        "{% block shared %}{{ output | fenced('output') }}{% endblock %}"
        "{% block question %}Mine: {{ criterion.question }}{% endblock %}",
    )
    with OpenAILikeServer(biased()) as server:
        ran = audit(bench, server, "--probes", "paraphrase", "--paraphrase", own, "--json")
        assert sum("Mine: " in asked(seen) for seen in server.requests) == 8
    assert ran.json["probes"][0]["counts"]["templates"].endswith("mine.j2")


def test_a_judge_that_fails_is_exit_3_and_told(bench: Bench) -> None:
    with OpenAILikeServer(lambda _: ServedReply(status=400)) as server:
        ran = audit(bench, server, "--probes", "scale", "--max-retries", "0")
    assert ran.code == 3
    assert "4 questions without a complete answer" in ran.out
    assert "failed   8 answers" in ran.out


def test_a_frozen_cache_that_misses_is_exit_6(bench: Bench) -> None:
    with OpenAILikeServer() as server:
        ran = audit(bench, server, "--probes", "scale", "--frozen")
        assert server.n_requests == 0
    assert ran.code == 6
    assert "Incomplete: the frozen cache lacks replies" in ran.out


def test_probes_that_the_money_does_not_reach_for_are_skipped_with_exit_5(bench: Bench) -> None:
    what = ("audit", "outputs.jsonl", "--rubric", "rubric.yaml", "--probes", "scale")
    named = ("--judge", "openai/gpt-4.1-mini", "--max-cost", "0.000001")
    ran = bench.run(*what, *named)
    assert ran.code == 5
    assert re.search(r"scale\n    it would cost about \$0\.\d+, and \$1e-06 of the", ran.out)
    assert "No probe could be run." in ran.out


def test_money_that_runs_out_on_the_way_is_exit_5(bench: Bench) -> None:
    """The limit holds whatever the plan said: what a call may cost at most is set aside first."""
    say, many = biased(), {"prompt_tokens": 400, "completion_tokens": 2000, "total_tokens": 2400}
    with OpenAILikeServer(lambda seen: replace(say(seen), fields={"usage": many})) as server:
        what = ("audit", "outputs.jsonl", "--rubric", "rubric.yaml", "--api-base", server.url)
        named = ("--judge", "openai/gpt-4.1-mini", "--max-cost", "0.03", "-j", "1")
        ran = bench.run(*what, *named, "--probes", "scale,identical,verbosity")
        assert 0 < server.n_requests < 40
    assert ran.code == 5
    assert "the cost limit allows no further call" in ran.out


def test_an_interrupt_tells_what_was_heard_with_exit_130(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def press(_: ServedRequest) -> ServedReply:
        ctrl_c.press_once()
        return ok(reply(3))

    with OpenAILikeServer(press) as server:
        ran = audit(bench, server, "--probes", "scale,verbosity", "-j", "1")
    assert ran.code == 130
    assert "cached replies are not requested again" in ran.err
    assert "Incomplete: it was interrupted" in ran.out


def test_a_second_interrupt_stops_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    ctrl_c = CtrlC(monkeypatch)

    def press(_: ServedRequest) -> ServedReply:
        ctrl_c.press_twice()
        return ServedReply(manner="hang")

    with OpenAILikeServer(press) as server:
        ran = audit(bench, server, "--probes", "scale", "-j", "1", "--no-cache")
    assert ran.code == 130
    assert "stopped at once" in ran.err
    assert "without a cache, it starts over" in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--probes", "verbosty"), "did you mean verbosity?"),
        (("-o", "audit.txt"), "its suffix is .txt"),
        (("--fail-on", "anything"), "--fail-on"),
        (("--askings", "1"), "--askings"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    bench: Bench, options: tuple[str, ...], words: str
) -> None:
    ran = bench.run("audit", "outputs.jsonl", "--rubric", "rubric.yaml", "--judge", "m", *options)
    assert ran.code == 2
    assert words in ran.err


def test_without_an_output_to_judge_there_is_nothing_to_audit_with(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a", text=None, error="it timed out"))
    ran = bench.run("audit", "outputs.jsonl", "--rubric", "rubric.yaml", "--judge", "openai/m")
    assert ran.code == 2
    assert "no output to audit the judge with" in ran.err


def test_every_probe_sees_its_own_bias_and_no_other() -> None:
    """The planted-bias self-test, whole: fourteen made-up judges, some 14,000 questions.

    In a process of its own, where no coverage is measured: that would take three times as long.
    """
    known = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-m", "judgekit", "audit", "--self-test", "--json"]
    ran = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    found = json.loads(ran.stdout)
    assert found["wrong"] == []
    assert set(found["verdicts"]) == {"fair", *(probe.name for probe in PROBES)}
    assert set(found["verdicts"]["fair"].values()) == {"none_seen"}
    assert set(found["sizes"]) == {probe.name for probe in PROBES}
    assert set(found["obeyed"].values()) == {"material"}
    assert set(found["resisted"]) == set(found["obeyed"])
    assert len(found["obeyed"]) == 17


def test_a_self_test_on_too_few_cases_sees_too_little_and_is_exit_1(bench: Bench) -> None:
    ran = bench.run("audit", "--self-test", "-n", "2")
    assert ran.code == 1
    assert "planted bias" in ran.out
    assert "scale misses its own bias" in ran.out
    assert "sees a bias in fair" not in ran.out


@pytest.mark.parametrize(
    "option", [("--probes", "scale"), ("--output", "x.json"), ("--dry-run",), ("--margin", "0.2")]
)
def test_what_a_self_test_has_no_use_for_is_refused_and_not_passed_over(
    bench: Bench, option: tuple[str, ...]
) -> None:
    ran = bench.run("audit", "--self-test", *option)
    assert ran.code == 2
    assert f"{option[0]} does not go with --self-test" in ran.err


def test_a_bias_that_no_probe_could_look_for_is_no_pass(bench: Bench) -> None:
    what = ("audit", "outputs.jsonl", "--rubric", "rubric.yaml", "--judge", "openai/m")
    for options, code in (((), 0), (("--fail-on", "material"), 4)):
        ran = bench.run(*what, "--probes", "position", *options)
        assert ran.code == code
        assert "no case has two different outputs" in ran.out
    assert "no probe could be run, so --fail-on is inconclusive" in ran.err
