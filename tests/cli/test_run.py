from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import load_suite
from judgekit.store import RunStore
from tests.evaluation.suites import lay_suite, rows
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.records import RunInfo
    from tests.cli.commanding import Run

DB = ".judgekit/judgekit.db"


def kept(folder: Path) -> list[RunInfo]:
    store = RunStore(folder / DB)
    try:
        return store.runs()
    finally:
        store.close()


def write_agent(folder: Path, code: str) -> dict[str, Any]:
    (folder / "agent.py").write_text(code, encoding="utf-8")
    return {"id": "v2", "command": [sys.executable, "agent.py"]}


def judge(server: OpenAILikeServer, **settings: Any) -> dict[str, Any]:
    return {"model": "openai/m", "api_base": server.url, "max_retries": 0, "max_tokens": 100,
            **settings}  # fmt: skip


MODEL: dict[str, Any] = {"rubric": "rubric.yaml", "assertions": None}


def test_a_run_shows_what_failed_the_table_and_what_to_know(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=10, texts={"c3": "wrong"})
    ran = run("run")
    assert ran.code == 0
    assert "Not passed\n  fail  c3, v1, 0.00" in ran.out
    assert "contains fails: the text does not contain" in ran.out
    assert "small: 10 cases; an answer passes when every assertion holds" in ran.out
    assert "9/10" in ran.out
    assert "(complete)" in ran.out
    assert ran.out.count("does not contain") == 1
    assert "done 10 of 10" in ran.err


def test_the_suite_may_be_named_as_file_or_folder_or_option(run: Run, tmp_path: Path) -> None:
    path = lay_suite(tmp_path / "other", n=2)
    for arguments in (["run", path], ["run", path.parent], ["run", "-c", path]):
        assert run(*arguments, "-q").code == 0
    ran = run("run")
    assert (ran.code, "no suite is named" in ran.err) == (2, True)


def test_json_is_the_whole_summary(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=4, texts={"c0": "wrong"})
    ran = run("run", "--json")
    assert ran.json["run"]["status"] == "complete"
    assert ran.json["variants"][0]["pass_rate"]["value"] == 0.75
    assert ran.err == ""


def test_every_answer_is_shown_if_asked_for(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=3)
    ran = run("run", "-v", "--no-progress")
    assert [f"pass  c{k}" in ran.out for k in range(3)] == [True] * 3
    assert ran.err.startswith(
        "nothing was gated, so the exit code is 0 whatever passed; "
        "to fail on low quality: --fail-under RATE"
    )


def test_answers_are_written_to_a_file(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=3)
    ran = run("run", "-o", "answers.jsonl")
    lines = (tmp_path / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["case"]["id"] for line in lines] == ["c0", "c1", "c2"]
    assert "wrote 3 answers to answers.jsonl" in ran.err
    assert run("run", "-o", "answers.txt").code == 2


@pytest.mark.parametrize(("rate", "code"), [("0.5", 0), ("0.9", 1)])
def test_fail_under_decides_the_exit_code(run: Run, tmp_path: Path, rate: str, code: int) -> None:
    lay_suite(tmp_path, n=4, texts={"c0": "wrong"})
    ran = run("run", "--fail-under", rate)
    assert ran.code == code
    assert ("v1: pass rate 75 %" in ran.err) == (code == 1)


def test_fail_under_cannot_be_decided_by_nothing(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2, judge=None, assertions=None)
    ran = run("run", "--fail-under", "0.5")
    assert (ran.code, "nothing was decided" in ran.err) == (4, True)


def test_filters_sample_and_variants_choose(run: Run, tmp_path: Path) -> None:
    variants = [{"id": name, "outputs": "v1.jsonl"} for name in ("v1", "v2")]
    lay_suite(tmp_path, n=20, variants=variants)
    for options, n in (
        (["--filter-tag", "t0"], 10),
        (["--filter-case", "c3", "--filter-case", "c4"], 2),
        (["--filter-name", "^c1"], 11),
        (["-n", "5"], 5),
        (["--sample", "4", "--seed", "9"], 4),
    ):
        ran = run("run", "--json", "--variant", "v2", *options)
        assert [v["variant"] for v in ran.json["variants"]] == ["v2"]
        assert ran.json["variants"][0]["n_cases"] == n


def test_an_interrupted_choice_is_remembered_when_it_is_resumed(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=20)
    run("run", "--sample", "4", "--max-time", "0.000001", "-j", "1")
    ran = run("run", "--resume", "--json")
    assert (ran.code, ran.json["variants"][0]["n_cases"]) == (0, 4)
    ran = run("run", "--resume", "--limit", "3")
    assert ran.code == 2
    assert "the cases, their order or what is chosen of them" in ran.err


def test_the_resume_command_works_for_cases_that_were_chosen_by_a_field(
    run: Run, tmp_path: Path
) -> None:
    variants = [write_agent(tmp_path, 'print(\'{"text": "right"}\')')]
    lay_suite(tmp_path, n=9, variants=variants)
    cases = tmp_path / "cases.jsonl"
    read = map(json.loads, cases.read_text(encoding="utf-8").splitlines())
    chosen = [{**one, "metadata": {"kind": "easy"}} for one in read]
    cases.write_text(rows(*chosen), encoding="utf-8")
    ran = run("run", "--where", "kind=easy", "-n", "5", "--max-time", "0.000001", "-j", "1")
    command = shlex.split(ran.err.partition("Resume with: ")[2])
    resumed = run(*command[1:], "--json")
    assert (resumed.code, resumed.json["variants"][0]["n_cases"]) == (0, 5), resumed.err


def test_resuming_needs_a_run_and_retrying_needs_resuming(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path)
    assert "no run is stored here yet" in run("run", "--resume").err
    assert run("run").code == 0
    ran = run("run", "--retry-errors")
    assert (ran.code, "--retry-errors needs --resume" in ran.err) == (2, True)
    assert run("run", "--refresh", "--frozen").code == 2
    ran = run("run", "--resume", kept(tmp_path)[0].id)
    assert (ran.code, len(kept(tmp_path))) == (0, 1)


def test_fail_fast_stops_with_exit_code_1_and_says_how_to_go_on(run: Run, tmp_path: Path) -> None:
    variants = [write_agent(tmp_path, 'print(\'{"text": "wrong"}\')')]
    lay_suite(tmp_path, n=50, variants=variants)
    ran = run("run", "-x", "-j", "1")
    info = kept(tmp_path)[0]
    assert (ran.code, info.status) == (1, "stopped")
    assert "stopped: an answer did not pass: v2, case c0" in ran.err
    assert f"judgekit run -j 1 --resume {info.id}" in ran.err.replace("--max-concurrency", "-j")
    assert "v2: 1 of 50 cases answered; the figures cover only these" in ran.out


def test_the_resume_command_repeats_what_the_run_needs(run: Run, tmp_path: Path) -> None:
    variants = [{"id": "v2", "command": [sys.executable, "-c", 'print(\'{"text": "a"}\')']}]
    path = lay_suite(tmp_path / "a suite", n=9, variants=variants)
    ran = run("run", path, "--store", "own.db", "--no-cache", "--max-time", "0.000001", "-q", "-n",
              "7", "--temperature", "0.5", "-j", "1")  # fmt: skip
    assert ran.code == 5
    assert "stopped: the time it may take is used up; every answer so far is stored. " in ran.err
    command = ran.err.partition("Resume with: ")[2].strip()
    assert command.startswith(f"judgekit run '{path}' ")
    assert "--store own.db" in command
    assert "--no-cache" in command
    assert "--temperature 0.5" in command
    assert "--max-time" not in command
    assert "-n" not in command.replace("--no-cache", "").split()


def test_errors_of_a_program_are_shown_by_kind_and_bound_the_rate(run: Run, tmp_path: Path) -> None:
    code = "import json, sys\nif json.load(sys.stdin)['id'] == 'c1': sys.exit('boom')\n"
    variants = [write_agent(tmp_path, code + 'print(\'{"text": "right"}\')')]
    lay_suite(tmp_path, n=4, variants=variants)
    ran = run("run")
    assert ran.code == 0
    assert "v2: 1 answer: ended with an error code" in ran.out
    assert "v2: the rate would be 75 to 100 %, depending on 1 answer without a verdict" in ran.out
    assert "1 errors" in ran.err or "1 error" in ran.err
    code = code.replace("c1", "nobody")
    write_agent(tmp_path, code + 'print(\'{"text": "right"}\')')
    ran = run("run", "--resume", "--retry-errors", "--json")
    assert ran.json["variants"][0]["n_passed"] == 4


def test_a_judge_whose_key_is_refused_ends_the_run_with_code_3(run: Run, tmp_path: Path) -> None:
    with OpenAILikeServer("401") as server:
        lay_suite(tmp_path, n=300, judge=judge(server, max_concurrency=2), **MODEL)
        ran = run("run", "-j", "2")
        assert server.n_requests <= 4
    info = kept(tmp_path)[0]
    assert (ran.code, info.status) == (3, "stopped")
    assert "stopped: a model cannot be called" in ran.err
    assert "--retry-errors" in ran.err


def test_a_judges_failure_leaves_the_run_incomplete_and_can_be_asked_again(
    run: Run, tmp_path: Path
) -> None:
    with OpenAILikeServer(["500", "ok"]) as server:
        lay_suite(tmp_path, n=2, judge=judge(server, max_concurrency=1), **MODEL)
        ran = run("run")
        assert ran.code == 3
        assert "retry what failed: judgekit run --resume" in ran.err
        assert run("run", "--resume").code == 3
        assert server.n_requests == 4
        assert run("run", "--resume", "--retry-errors").code == 0
        assert server.n_requests == 5


def test_a_frozen_cache_that_lacks_replies_asks_nothing(run: Run, tmp_path: Path) -> None:
    with OpenAILikeServer(ok(reply(5))) as server:
        lay_suite(tmp_path, n=2, judge=judge(server), **MODEL)
        ran = run("run", "--frozen")
        assert (ran.code, server.n_requests) == (6, 0)
        assert "not in the frozen cache" in ran.err
        assert run("run", "--resume").code == 0


def test_the_limit_of_money_stops_the_run_with_code_5(run: Run, tmp_path: Path) -> None:
    prices = {"openai/m": {"input_usd": 100, "output_usd": 1000}}
    with OpenAILikeServer(ok(reply(5))) as server:
        lay_suite(tmp_path, n=10, judge=judge(server), prices=prices, **MODEL)
        ran = run("run", "--max-cost", "1")
        assert ran.code == 5
        assert "stopped: the cost limit allows no further call" in ran.err
        assert "of 10 cases started, " in ran.out
        assert "left of the limit of $1" in ran.err
        assert run("run", "--resume", "--max-cost", "50").code == 0
        assert server.n_requests == 20


def test_what_waits_for_people_is_code_4(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2, judge="human", **MODEL)
    ran = run("run")
    assert ran.code == 4
    assert "4 questions for human labelling: judgekit label" in ran.out


def test_programs_around_a_run_need_a_word(run: Run, tmp_path: Path) -> None:
    write = "import pathlib; pathlib.Path('{}').write_text('x')"
    settings = {"setup": [sys.executable, "-c", write.format("up")],
                "teardown": [sys.executable, "-c", "import sys; sys.exit('no')"]}  # fmt: skip
    lay_suite(tmp_path, n=1, settings=settings)
    ran = run("run")
    assert (ran.code, "--allow-scripts" in ran.err) == (2, True)
    assert kept(tmp_path) == []
    ran = run("run", "--allow-scripts")
    assert (ran.code, (tmp_path / "up").exists()) == (0, True)
    assert "the teardown of suite 'small' failed" in ran.err


def test_a_setup_that_fails_begins_no_run(run: Run, tmp_path: Path) -> None:
    settings = {"setup": [sys.executable, "-c", "raise SystemExit(3)"]}
    lay_suite(tmp_path, n=1, settings=settings)
    ran = run("run", "--allow-scripts")
    assert (ran.code, kept(tmp_path)) == (2, [])
    assert "so no call was made" in ran.err


def test_a_judge_can_be_given_on_the_command_line(run: Run, tmp_path: Path) -> None:
    with OpenAILikeServer(ok(reply(5))) as server:
        lay_suite(tmp_path, n=1, judge={"model": "openai/other", "api_base": server.url}, **MODEL)
        run("run", "--judge", "openai/m", "--api-base", server.url, "--max-tokens", "77", "-q")
        run("run", "--temperature", "0.3", "--judge-seed", "5", "-q")
        first, second = server.requests[0].body, server.requests[-1].body
    assert (first["model"], first["max_tokens"]) == ("m", 77)
    assert (second["model"], second["temperature"], second["seed"]) == ("other", 0.3, 5)
    suite = load_suite(tmp_path / "judgekit.yaml")
    assert suite.judge[0].model == "openai/other"


@pytest.mark.parametrize("command", [("run",), ("plan",), ("grade", "outputs.jsonl")])
def test_the_transport_can_be_chosen_on_the_command_line(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "outputs.jsonl").write_text('{"case_id": "c0", "text": "x"}\n')
    lay_suite(tmp_path, n=1, judge={"model": "bedrock/m"}, **MODEL)
    ran = run(*command, "--transport", "direct", "--api-base", "http://127.0.0.1:1/v1")
    assert (ran.code, "'bedrock/m' cannot be called directly" in ran.err) == (2, True), ran.err


def test_a_dry_run_asks_nothing_and_keeps_nothing(run: Run, tmp_path: Path) -> None:
    with OpenAILikeServer(ok(reply(5))) as server:
        lay_suite(tmp_path, n=2, judge=judge(server), **MODEL)
        ran = run("run", "--dry-run")
        assert (ran.code, server.n_requests, kept(tmp_path)) == (0, 0, [])


def test_an_answer_that_lost_a_check_is_not_taken_for_one_that_passes(run: Run) -> None:
    Path("promptfooconfig.yaml").write_text(
        "prompts: [x]\nproviders: [echo]\ntests:\n"
        "  - {assert: [{type: contains, value: a}, {type: javascript, value: output}]}\n"
        "  - {assert: [{type: contains, value: b}]}\n"
    )
    Path("o.jsonl").write_text(
        '{"case_id": "test-1", "text": "a"}\n{"case_id": "test-2", "text": "b"}\n'
    )
    command = ("run", "promptfooconfig.yaml", "--outputs", "o.jsonl", "-q")
    assert run(*command, "--fail-under", "0.5").code == 0
    ran = run(*command, "--fail-under", "0.6")
    assert (ran.code, "o has 1 answer without a verdict" in ran.err) == (4, True)
    # Every result says that it is open.
    assert run("gate", "latest", "--tier", "experimental").code == 4
    assert run("gate", "latest", "--tier", "experimental", "--gate-rule", "point").code == 4
    for name, words in {
        "r.xml": "`javascript` is not imported", "s.json": '"status": "undecided"',
        "grading.json": '"overall": null', "p.json": '"success": false',
        "r.jsonl": '"type":"not_imported"', "r.yaml": "passed: null",
    }.items():  # fmt: skip
        form = {"s.json": ["--format", "strategies"], "p.json": ["--format", "promptfoo"]}
        assert run("export", "latest", "-o", name, "-q", *form.get(name, [])).code == 0
        assert words in Path(name).read_text(), name
    assert "o is undecided" in run("show", "latest", "test-1").out
    assert run("report", "latest", "-o", "r.html").code == 0
    assert "1 answer without a verdict" in Path("r.html").read_text()
