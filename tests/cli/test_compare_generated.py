from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.store import RunStore
from judgekit.testing import ServedReply, ServedRequest
from tests.cli.bench import asked
from tests.cli.contests import (
    EIGHT,
    HOW,
    LONG,
    SHORT,
    SIDES,
    answers_and_judges,
    compare_templates,
    lay_out_templates,
)
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench

PRICE = {"input_usd": 1, "output_usd": 1}
PRICES = {"openai/t": PRICE, "openai/m": PRICE}


@pytest.fixture
def templates(bench: Bench) -> Bench:
    return lay_out_templates(bench)


def test_two_templates_answer_first_and_are_then_compared(templates: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        ran = compare_templates(templates, server)
        assert server.n_requests == 8 * (2 + 6)
        first_judged = next(n for n, r in enumerate(server.requests) if "shown" in asked(r))
        assert first_judged == 16, "every output is there before a judge is asked"
    assert ran.code == 0
    assert "prompts/long.j2 is better: 8 of 8 decided pairs, p 0.008" in ran.out
    assert "answered 16 of 16" in ran.err


def test_the_outputs_are_kept_as_a_run_and_nothing_is_made_or_asked_twice(templates: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        compare_templates(templates, server)
        again = compare_templates(templates, server)
        assert server.n_requests == 64
    assert (again.code, "48 from the cache" in again.out) == (0, True)
    store = RunStore(templates.folder / ".judgekit/judgekit.db", create=False)
    info = store.comparison()
    run = store.run(str(info.a.run_id))
    assert {r.output.text for r in store.results(run.id)} == {LONG, SHORT}
    assert (run.suite, run.rubric) == ("long against short", None)
    assert info.a.version is not None
    assert info.a.version.prompt_fingerprint
    assert info.a.version.model == "openai/t"
    store.close()


def test_calibrate_compares_outputs_that_exist_and_produces_none(templates: Bench) -> None:
    label = {"case_id": "c0", "annotator": "ada", "winner": "a"}
    templates.write("labels.jsonl", json.dumps(label))
    ran = templates.run("calibrate", "labels.jsonl", "--compare", *SIDES, "--judge", "openai/m")
    assert ran.code == 2
    assert "the outputs of these sides do not exist yet" in ran.err


def test_no_name_of_a_template_or_a_model_is_in_a_judges_prompt(templates: Bench) -> None:
    def signs(seen: ServedRequest) -> ServedReply:
        found = answers_and_judges(seen)
        text = json.loads(json.dumps(found.text))
        return (
            ServedReply(text=text)
            if "shown" in asked(seen)
            else ServedReply(text=f"{text}\nI am long.j2")
        )

    with OpenAILikeServer(signs) as server:
        compare_templates(templates, server, "-n", 1)
        judged = [asked(r) for r in server.requests if "shown" in asked(r)]
    assert len(judged) == 6
    assert not any("j2" in prompt or "openai/t" in prompt for prompt in judged)


def test_a_live_variant_and_a_recorded_one_of_the_suite_are_compared(templates: Bench) -> None:
    suite = {
        "name": "small",
        "dataset": "cases.jsonl",
        "rubric": "rubric.yaml",
        "judge": "openai/m",
        "variants": [
            {
                "id": "live",
                "command": [sys.executable, "-c", f"print({json.dumps({'text': LONG})!r})"],
            },
            {"id": "old", "outputs": "old.jsonl"},
        ],
    }
    templates.write("judgekit.yaml", json.dumps(suite))
    templates.write("old.jsonl", *({"case_id": c, "text": SHORT} for c in EIGHT))
    with OpenAILikeServer(answers_and_judges) as server:
        ran = templates.ask(server, "compare", "old", "live", "-n", 6)
        assert server.n_requests == 36
    assert ran.code == 0
    assert "live is better: 6 of 6 decided pairs" in ran.out
    assert "small: outputs to compare" in templates.run("show", "--json").out


def test_the_money_limits_outputs_and_judges_together_and_the_rest_is_resumed(
    templates: Bench,
) -> None:
    suite = {"name": "priced", "dataset": "cases.jsonl", "prices": PRICES}
    templates.write("judgekit.yaml", json.dumps(suite))
    with OpenAILikeServer(answers_and_judges) as server:
        first = compare_templates(templates, server, "--max-cost", "0.0001", "-j", 1, "--seed", 7)
        assert server.n_requests == 0
        later = compare_templates(templates, server, "--max-cost", "0.02", "-j", 1)
        n_later = server.n_requests
        assert 0 < n_later < 64
        rest = compare_templates(templates, server, "--max-cost", "9", "--resume", "latest")
        assert server.n_requests == 64
    assert (first.code, later.code, rest.code) == (5, 5, 0)
    # Nothing stored has the seed yet, which orders the cases and draws the sample.
    assert " --seed 7 " in first.err
    assert "Resume with: judgekit compare prompts/long.j2" in later.err
    assert "8 of 8 decided pairs" in rest.out


def test_only_as_many_cases_as_may_be_looked_at_are_answered_and_they_are_drawn(
    templates: Bench,
) -> None:
    """The first cases of a sorted dataset would be no fair part of it."""
    how = ("--until-decided", "--max-cases", 3)
    with OpenAILikeServer(answers_and_judges) as server:
        compare_templates(templates, server, *how, "--seed", 1)
        assert server.n_requests == 3 * (2 + 6)
        compare_templates(templates, server, *how, "--seed", 2)
    store = RunStore(templates.folder / ".judgekit/judgekit.db", create=False)
    drawn = [{pair.case.id for pair in store.compared(one.id)} for one in store.comparisons()]
    store.close()
    assert [len(cases) for cases in drawn] == [3, 3]
    assert drawn[0] != drawn[1]


def test_a_target_that_fails_is_told_and_not_judged(templates: Bench) -> None:
    templates.write("prompts/long.j2", "{{ nothing_of_the_kind }}")
    with OpenAILikeServer(answers_and_judges) as server:
        ran = compare_templates(templates, server)
    assert ran.code == 4
    assert "errors  8 pairs with an output that records an error; not judged" in ran.out


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
def test_an_interrupt_while_outputs_are_made_is_gone_on_with(templates: Bench) -> None:
    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return answers_and_judges(seen)

    with OpenAILikeServer(interrupts, latency_s=0.01) as server:
        ran = compare_templates(templates, server, "-j", 2)
        run_id = ran.err.rpartition("--resume ")[2].split()[0]
        again = compare_templates(templates, server, "-j", 2, "--resume", run_id)
    assert (ran.code, again.code) == (130, 0)
    assert "interrupted; outputs so far are stored" in ran.err
    assert len(templates.run("show", "--json").json["runs"]) == 1


def test_a_frozen_cache_that_misses_an_output_exits_with_6(templates: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        ran = compare_templates(templates, server, "--frozen")
        assert server.n_requests == 0
    assert ran.code == 6
    assert "not in the frozen cache" in ran.err


def test_two_templates_of_one_name_are_told_apart(templates: Bench) -> None:
    templates.write("v1/reply.j2", "Answer in a word: {{ input }}")
    templates.write("v2/reply.j2", "Answer at length: {{ input }}")
    with OpenAILikeServer(answers_and_judges) as server:
        ran = templates.ask(server, "compare", "v1/reply.j2", "v2/reply.j2", *HOW)
    assert "v2/reply.j2 is better" in ran.out


def test_a_template_is_compared_with_outputs_that_are_there(templates: Bench) -> None:
    templates.write("there.jsonl", *({"case_id": c, "text": SHORT} for c in EIGHT))
    with OpenAILikeServer(answers_and_judges) as server:
        ran = templates.ask(server, "compare", "there.jsonl", SIDES[0], *HOW)
        assert server.n_requests == 8 + 48
    assert "prompts/long.j2 is better" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*SIDES, "--cases", "cases.jsonl", "--rubric", "rubric.yaml"], "no model is named"),
        ([*SIDES, "-m", "openai/t", "--rubric", "rubric.yaml"], "there are no cases to answer"),
        ([*SIDES, "--cases", "cases.jsonl", "-m", "openai/t"], "no rubric is named"),
        (["prompts/none.j2", *SIDES[:1], *HOW], "no outputs file, template or variant"),
        ([*SIDES, *HOW, "--resume", "cmp-x"], "nothing to resume"),
        ([*SIDES, *HOW, "--analysis", "a.csv"], ".jsonl"),
    ],
)
def test_what_is_missing_is_said_before_an_output_is_paid_for(
    templates: Bench, arguments: list[str], words: str
) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        ran = templates.ask(server, "compare", *arguments)
        assert server.n_requests == 0
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert not (templates.folder / ".judgekit/judgekit.db").exists()
