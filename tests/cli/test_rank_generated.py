"""`judgekit rank` of variants and templates whose outputs are made first."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from judgekit.store import RunStore
from tests.cli.bench import asked
from tests.judge.comparing import prefers
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

CASES = [f"c{k}" for k in range(8)]
GRADES = ("fine", "fair", "poor")
TEMPLATES = tuple(f"prompts/{grade}.j2" for grade in GRADES)
ONE = "name: r\ncriteria: [{name: good, question: Is it good?, scale: binary}]\n"
PRICE = {"input_usd": 1, "output_usd": 1}
N_OUTPUTS, N_JUDGED = 8 * 3, 8 * 3 * 4


@pytest.fixture
def templates(bench: Bench) -> Bench:
    """Eight cases and three templates, each asking for an answer of another grade."""
    bench.write("r.yaml", ONE)
    bench.write("cases.jsonl", *({"id": c, "input": f"Question {c}?"} for c in CASES))
    for grade in GRADES:
        bench.write(f"prompts/{grade}.j2", f"Give a {grade} answer: {{{{ input }}}}")
    return bench


def answers_and_judges(seen: ServedRequest) -> ServedReply:
    """Answers as the template asks; as a judge it goes by the grade."""
    text = asked(seen)
    if (wanted := re.match(r"Give a (\w+) answer: Question (c\d+)", text)) is not None:
        return ok(f"a {wanted[1]} reply to {wanted[2]}")
    first, second = re.findall(r"a (fine|fair|poor) reply", text)[:2]
    return ok(prefers("first" if GRADES.index(first) < GRADES.index(second) else "second"))


def rank(bench: Bench, server: OpenAILikeServer, *options: object) -> Ran:
    how = ("--cases", "cases.jsonl", "-m", "openai/t", "--rubric", "r.yaml")
    return bench.ask(server, "rank", *TEMPLATES, *how, *options)


def test_templates_answer_first_and_are_then_ranked(templates: Bench) -> None:
    with OpenAILikeServer(answers_and_judges) as server:
        ran = rank(templates, server)
        assert server.n_requests == N_OUTPUTS + N_JUDGED
        first_judged = next(n for n, r in enumerate(server.requests) if "shown" in asked(r))
        assert first_judged == N_OUTPUTS, "every output is there before a judge is asked"
        judged = [asked(r) for r in server.requests if "shown" in asked(r)]
    assert ran.code == 0
    assert "prompts/fine.j2 is first: shown to be better than all others" in ran.out
    assert not any("j2" in prompt or "openai/t" in prompt for prompt in judged)
    store = RunStore(templates.folder / ".judgekit/judgekit.db", create=False)
    (run,) = store.runs()
    assert (run.suite, run.status) == ("fine against fair against poor", "complete")
    store.close()


def test_variants_of_the_suite_are_made_whatever_they_are(templates: Bench) -> None:
    program = "import json, sys; c = json.load(sys.stdin); "
    program += "print(json.dumps({'text': 'a fair reply to ' + c['id']}))"
    rows = [{"case_id": c, "text": f"a poor reply to {c}"} for c in CASES]
    templates.write("poor.jsonl", *rows)
    suite = {
        "name": "small",
        "dataset": "cases.jsonl",
        "rubric": "r.yaml",
        "judge": "openai/m",
        "variants": [
            {"id": "v1", "outputs": "poor.jsonl"},
            {"id": "v2", "command": [sys.executable, "-c", program]},
            {"id": "v3", "outputs": "fine.jsonl"},
        ],
    }
    templates.write("fine.jsonl", *({"case_id": c, "text": f"a fine reply to {c}"} for c in CASES))
    templates.write("judgekit.yaml", json.dumps(suite))
    with OpenAILikeServer(answers_and_judges) as server:
        ran = templates.ask(server, "rank", "v1", "v2", "v3", "--json", "--pairs", "adaptive",
                            "-o", "out.jsonl")  # fmt: skip
        assert server.n_requests <= N_JUDGED
    assert [side["name"] for side in ran.json["sides"]] == ["v3", "v2", "v1"]
    assert "small: outputs to compare" in templates.run("show", "--json").out
    assert (templates.folder / "out.jsonl").is_file()


def test_the_money_limits_outputs_and_judges_together_and_the_rest_is_resumed(
    templates: Bench,
) -> None:
    prices = {"openai/t": PRICE, "openai/m": PRICE}
    suite = {"name": "priced", "dataset": "cases.jsonl", "prices": prices}
    templates.write("judgekit.yaml", json.dumps(suite))
    with OpenAILikeServer(answers_and_judges) as server:
        first = rank(templates, server, "--max-cost", "0.0001", "-j", 1)
        assert server.n_requests == 0
        run_id = first.err.rpartition("--resume ")[2].split()[0]
        later = rank(templates, server, "--max-cost", "0.04", "-j", 1, "--resume", run_id)
        assert N_OUTPUTS < server.n_requests < N_OUTPUTS + N_JUDGED
        rest = rank(templates, server, "--max-cost", "9", "--resume", run_id)
        assert server.n_requests == N_OUTPUTS + N_JUDGED
    assert (first.code, later.code, rest.code) == (5, 5, 0)
    assert "Resume with: judgekit rank prompts/fine.j2 prompts/fair.j2" in first.err
    assert (
        f"the cost limit allows no further call; run the same command with --resume {run_id} again"
        in later.err
    )
    assert "prompts/fine.j2 is first" in rest.out


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to send")
def test_an_interrupt_while_outputs_are_made_is_gone_on_with(templates: Bench) -> None:
    def interrupts(seen: ServedRequest) -> ServedReply:
        if seen.number == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return answers_and_judges(seen)

    with OpenAILikeServer(interrupts, latency_s=0.01) as server:
        ran = rank(templates, server, "-j", 2)
        assert server.n_requests < N_OUTPUTS
        run_id = ran.err.rpartition("--resume ")[2].split()[0]
        again = rank(templates, server, "--resume", run_id)
        assert server.n_requests == N_OUTPUTS + N_JUDGED
    assert (ran.code, again.code) == (130, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*TEMPLATES, "--top", "3"], "the first 3 of 3 places cannot be decided"),
        ([*TEMPLATES, "--resume", "r9"], "no run is called 'r9'"),
        ([*TEMPLATES, "--template", "pointwise/criterion"], "is for a single output"),
        ([*TEMPLATES, "nothing"], "no outputs file, template or variant is called 'nothing'"),
        (
            ["a.jsonl", "b.jsonl", "--resume", "r9"],
            "--resume is for sides whose outputs are produced",
        ),
    ],
)
def test_what_cannot_work_is_an_error_before_anything_is_asked(
    templates: Bench, arguments: list[str], words: str
) -> None:
    for side in ("a", "b"):
        templates.write(f"{side}.jsonl", {"case_id": "c0", "input": "q", "text": side})
    how = ("--cases", "cases.jsonl", "-m", "openai/t", "--rubric", "r.yaml")
    with OpenAILikeServer(answers_and_judges) as server:
        ran = templates.ask(server, "rank", *arguments, *how)
        assert server.n_requests == 0
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_a_template_needs_a_model_and_a_judge_before_anything_is_made(templates: Bench) -> None:
    how = ("rank", *TEMPLATES, "--cases", "cases.jsonl")
    ran = templates.run(*how, "--rubric", "r.yaml", "--judge", "openai/m")
    assert (ran.code, "no model is named" in ran.err) == (2, True)
    ran = templates.run(*how, "-m", "openai/t", "--judge", "openai/m")
    assert (ran.code, "no rubric is named" in ran.err) == (2, True)
    ran = templates.run(*how, "-m", "openai/t", "--rubric", "r.yaml")
    assert (ran.code, "no judge is named" in ran.err) == (2, True)
