"""How a grading ends: stopped at the first failure, asked again, gone on with; and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.report.message import NOT_ASSESSED
from tests.cli.bench import output, scores, values
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench

GOOD = ok(reply(5))
UNKNOWN = ok(reply(None))


def test_fail_fast_stops_at_the_first_output_that_does_not_pass(bench: Bench) -> None:
    with OpenAILikeServer(scores(a=1)) as server:
        ran = bench.grade(server, "-x", "-j", 1)
        assert server.n_requests == 2
    assert ran.code == 1
    assert "stopped: an answer did not pass: outputs, case a; every answer so far" in ran.err
    assert "Resume with: the same command with --resume" in ran.err


def test_what_was_begun_when_it_stopped_is_not_asked_twice(bench: Bench) -> None:
    with OpenAILikeServer(scores(a=1)) as server:
        bench.grade(server, "--fail-fast", "-j", 1)
        whole = bench.grade(server, "--json")
        assert server.n_requests == 8
    assert (whole.code, len(values(whole))) == (0, 4)


def test_fail_fast_stops_at_an_output_that_is_an_error(bench: Bench) -> None:
    bench.write(
        "outputs.jsonl", output("a", text=None, error="timed out", variant="v1"), output("b")
    )
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "-x", "-q")
        assert server.n_requests == 0
    assert ran.code == 1
    assert "stopped: an answer did not pass: v1, case a" in ran.err


def test_fail_fast_where_all_pass_changes_nothing(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "-x", "-q")
    assert (ran.code, ran.err) == (0, "")


def test_fail_fast_at_the_last_output_has_nothing_left(bench: Bench) -> None:
    with OpenAILikeServer(scores(d=1)) as server:
        ran = bench.grade(server, "-x", "-q")
    assert (ran.code, ran.err) == (1, "stopped: an answer did not pass: outputs, case d\n")


def test_a_judge_that_failed_is_no_output_that_does_not_pass(bench: Bench) -> None:
    with OpenAILikeServer("malformed") as server:
        assert bench.grade(server, "-x", "--max-retries", 0).code == 3


def test_retrying_asks_anew_what_was_kept_and_nobody_can_read(bench: Bench) -> None:
    said = [ok("I like it.")]
    with OpenAILikeServer(lambda _: said[-1]) as server:
        ran = bench.grade(server, "-q")
        assert (ran.code, server.n_requests) == (3, 24)
        assert "retry what failed: the same command with --resume --retry-errors" in ran.err
        said.append(GOOD)
        assert bench.grade(server, "-q").code == 3
        assert server.n_requests == 24
        ran = bench.grade(server, "-q", "--retry-errors")
        assert (ran.code, ran.err, server.n_requests) == (0, "", 32)
        assert bench.grade(server, "-q", "--retry-errors").code == 0
        assert server.n_requests == 32


def test_a_frozen_cache_is_only_read_again(bench: Bench) -> None:
    with OpenAILikeServer(ok("I like it.")) as server:
        bench.grade(server, "-q")
        assert bench.grade(server, "-q", "--retry-errors", "--frozen").code == 3
        assert server.n_requests == 24


def test_a_run_that_retries_asks_anew_what_nobody_can_read(bench: Bench) -> None:
    said = [ok("I like it.")]
    with OpenAILikeServer(lambda _: said[-1]) as server:
        what = ("run", "cases.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml", "-q")
        bench.write("cases.jsonl", *({"id": case, "input": "one and one"} for case in "abcd"))
        assert bench.ask(server, *what).code == 3
        said.append(GOOD)
        ran = bench.ask(server, *what, "--resume", "--retry-errors")
        assert (ran.code, server.n_requests) == (0, 32)


def test_an_error_of_the_judge_says_how_to_ask_again(bench: Bench) -> None:
    with OpenAILikeServer("malformed") as server:
        ran = bench.grade(server, "-q", "--retry-errors", "--max-retries", 0)
        assert ran.code == 3
    assert "retry what failed: the same command with --resume --retry-errors" in ran.err


def test_what_cannot_be_assessed_is_not_to_be_asked_again(bench: Bench) -> None:
    with OpenAILikeServer(UNKNOWN) as server:
        ran = bench.grade(server, "-q")
        assert (ran.code, NOT_ASSESSED in ran.err, "cannot" in ran.out) == (3, True, True)
        assert "--retry-errors" not in ran.err
        what = ("run", "cases.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml", "-q")
        bench.write("cases.jsonl", *({"id": case, "input": "one and one"} for case in "abcd"))
        ran = bench.ask(server, *what)
    assert (ran.code, NOT_ASSESSED in ran.err, "--retry-errors" in ran.err) == (3, True, False)


def test_without_a_store_there_is_no_run_to_resume(bench: Bench) -> None:
    with OpenAILikeServer("malformed") as server:
        ran = bench.grade(server, "-q", "--no-store", "--max-retries", 0)
    assert (ran.code, "--resume" in ran.err) == (3, False)
    assert "retry what failed: the same command with --retry-errors" in ran.err


def test_resuming_what_was_never_begun_is_grading_with_the_cache(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-n", 2)
        ran = bench.grade(server, "--resume", "-q")
        assert server.n_requests == 8
    assert ran.code == 0
    assert "8 replies, 4 from the cache" in ran.out


@pytest.mark.parametrize("against", ["--no-cache", "--refresh"])
def test_there_is_nothing_to_resume_where_the_cache_is_not_read(bench: Bench, against: str) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--resume", against)
        assert server.n_requests == 0
    assert ran.code == 2
    assert f"--resume and {against} contradict each other" in ran.err


def test_outputs_that_are_all_errors_decide_nothing(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(case, text=None, error="timed out") for case in "ab"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "-q")
    assert ran.code == 3
    assert ran.err == "nothing was decided: each of 2 answers is an error of its variant\n"


def test_errors_are_within_the_bounds_of_the_rate(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a"), output("b", text=None, error="timed out"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "-q")
    assert (
        "outputs: the rate would be 50 to 100 %, depending on 1 answer without a verdict" in ran.out
    )


def test_a_rate_that_only_holds_without_the_errors_is_told(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a"), output("b", text=None, error="timed out"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "-q", "--fail-under", "0.9")
    assert ran.code == 0
    assert ran.err == (
        "outputs: 1 error excluded; counted as failures, the pass rate would be 50 %, "
        "below --fail-under 0.9\n"
    )
