from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.bench import RUBRIC, asked, output, scores, values
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    import pytest

    from tests.cli.bench import Bench

GOOD = ok(reply(5))


def test_the_second_run_asks_nothing_and_finds_the_same(bench: Bench) -> None:
    with OpenAILikeServer(scores(a=2)) as server:
        first = bench.grade(server, "--json")
        again = bench.grade(server, "--json")
        assert server.n_requests == 8
    assert values(first) == values(again) == {"a": 0.25, "b": 1.0, "c": 1.0, "d": 1.0}
    spent = again.json["summary"]["spent"]
    assert (spent["n_replies"], spent["n_cached"], spent["cost_usd"]) == (8, 8, 0.0)


def test_the_second_run_needs_no_server(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server)
    ran = bench.grade(server)
    assert ran.code == 0
    assert "8 from the cache" in ran.out


def test_a_frozen_cache_that_holds_all_answers_without_asking(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server)
        assert bench.grade(server, "--frozen").code == 0
        assert server.n_requests == 8


def test_a_frozen_cache_that_misses_asks_nothing_and_exits_with_6(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-n", 3)
        ran = bench.grade(server, "--frozen")
        assert server.n_requests == 6
    assert ran.code == 6
    assert "3/3 +1?" in ran.out
    assert "outputs: 2 judgments: not in the frozen cache" in ran.out


def test_an_empty_frozen_cache_misses_everything(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--frozen", "--json")
        assert server.n_requests == 0
    assert ran.code == 6
    assert ran.json["summary"]["failures"] == {"frozen_miss": 8}
    assert set(values(ran).values()) == {None}


def test_frozen_may_be_said_by_the_environment(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_FROZEN", "1")
    with OpenAILikeServer(GOOD) as server:
        assert bench.grade(server).code == 6
        assert server.n_requests == 0


def test_refresh_asks_everything_anew_and_keeps_the_new_reply(bench: Bench) -> None:
    with OpenAILikeServer(lambda seen: ok(reply(5 if seen.number < 8 else 1))) as server:
        first = bench.grade(server, "--json")
        fresh = bench.grade(server, "--refresh", "--json")
        after = bench.grade(server, "--json")
        assert server.n_requests == 16
    assert set(values(first).values()) == {1.0}
    assert values(fresh) == values(after) == dict.fromkeys("abcd", 0.0)


def test_without_a_cache_nothing_is_kept_and_everything_asked_again(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "--no-cache")
        bench.grade(server, "--no-cache")
        assert server.n_requests == 16
    assert not (bench.folder / ".judgekit" / "cache").exists()


def test_the_cache_lies_where_it_is_told_to(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "--cache-dir", "here")
        monkeypatch.setenv("JUDGEKIT_CACHE_DIR", "here")
        bench.grade(server)
        assert server.n_requests == 8
    assert (bench.folder / "here").is_dir()
    assert not (bench.folder / ".judgekit" / "cache").exists()


def test_weights_and_thresholds_are_changed_without_asking(bench: Bench) -> None:
    with OpenAILikeServer(scores(a=2)) as server:
        before = bench.grade(server, "--json")
        bench.write("rubric.yaml", RUBRIC.replace("weight: 3", "weight: 1").replace("0.7", "0.2"))
        after = bench.grade(server, "--json")
        assert server.n_requests == 8
    assert before.json["verdicts"][0]["passed"] is False
    assert after.json["verdicts"][0]["passed"] is True


def test_an_edited_criterion_is_the_only_one_asked_about(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server)
        bench.write("rubric.yaml", RUBRIC.replace("Is it short?", "Is it brief?"))
        ran = bench.grade(server, "--json")
        assert server.n_requests == 12
        assert all("Is it brief?" in asked(seen) for seen in server.requests[8:])
    spent = ran.json["summary"]["spent"]
    assert (spent["n_replies"], spent["n_cached"]) == (8, 4)


def test_one_more_output_is_the_only_one_asked_about(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-n", 3)
        bench.grade(server)
        assert server.n_requests == 8
        assert all("answer d" in asked(seen) for seen in server.requests[6:])


def test_more_repeats_ask_only_for_what_is_missing(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server)
        bench.grade(server, "--repeats", 2)
        assert server.n_requests == 16


def test_equal_outputs_of_two_variants_are_asked_about_once(bench: Bench) -> None:
    rows = [output(case, variant=variant) for variant in ("v1", "v2") for case in "abcd"]
    bench.write("outputs.jsonl", *rows)
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--json")
        assert server.n_requests == 8
    spent = ran.json["summary"]["spent"]
    assert (spent["n_replies"], spent["n_cached"]) == (16, 8)


def test_what_the_judge_could_not_answer_is_asked_again(bench: Bench) -> None:
    with OpenAILikeServer(lambda seen: "500" if seen.number < 8 else GOOD) as server:
        first = bench.grade(server, "--max-retries", 0)
        again = bench.grade(server, "--max-retries", 0)
        assert server.n_requests == 16
    assert (first.code, again.code) == (3, 0)
