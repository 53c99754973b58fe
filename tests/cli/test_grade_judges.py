from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import asked, values
from tests.factories import reply
from tests.servers.answers import limited, ok
from tests.servers.nobody import unserved_port
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench

GOOD = ok(reply(5))
KEY = "sk-secret-0123456789abcdef"


def in_turn(*first: str | ServedReply) -> list[str | ServedReply]:
    """These answers, then good ones."""
    return [*first, *[GOOD] * 40]


def test_an_endpoint_that_asks_to_be_left_alone_is_asked_later(bench: Bench) -> None:
    with OpenAILikeServer(in_turn(limited("0.05"))) as server:
        ran = bench.grade(server)
        assert server.n_requests == 9
    assert ran.code == 0
    assert "4/4" in ran.out


def test_an_endpoint_that_never_stops_refusing_leaves_the_result_incomplete(bench: Bench) -> None:
    with OpenAILikeServer(limited("0.01")) as server:
        ran = bench.grade(server, "--max-retries", 1, "--json")
        assert server.n_requests == 16
    assert ran.code == 3
    assert ran.json["summary"]["failures"] == {"rate_limited": 8}


def test_an_error_of_the_server_is_tried_again(bench: Bench) -> None:
    with OpenAILikeServer(in_turn("500")) as server:
        ran = bench.grade(server, "-n", 1)
        assert server.n_requests == 3
    assert ran.code == 0


def test_an_error_that_stays_is_counted_and_never_a_score(bench: Bench) -> None:
    with OpenAILikeServer("500") as server:
        ran = bench.grade(server, "--max-retries", 0, "--json")
        assert server.n_requests == 8
    assert ran.code == 3
    assert set(values(ran).values()) == {None}
    (variant,) = ran.json["summary"]["variants"]
    assert (variant["n_undecided"], variant["n_failed"]) == (4, 0)
    assert variant["value"]["value"] is None


def test_a_refused_key_stops_at_once(bench: Bench) -> None:
    with OpenAILikeServer("401") as server:
        ran = bench.grade(server, "-j", 2)
        assert server.n_requests <= 2
    assert ran.code == 3
    assert "judgments: the provider refused the key" in ran.out


def test_a_model_that_is_not_there_stops_at_once(bench: Bench) -> None:
    with OpenAILikeServer("404") as server:
        ran = bench.grade(server, "-j", 1)
        assert server.n_requests == 1
    assert ran.code == 3
    assert "no such model or endpoint" in ran.out


def test_a_key_that_the_server_reflects_is_shown_nowhere(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAILikeServer("reflect_key") as server:
        ran = bench.grade(server, "-v", "-o", "verdicts.jsonl")
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert ran.code == 3
    assert KEY not in ran.out + ran.err
    assert KEY not in (bench.folder / "verdicts.jsonl").read_text(encoding="utf-8")


def test_an_endpoint_nobody_listens_at_is_no_score(bench: Bench) -> None:
    server = OpenAILikeServer(GOOD)
    with unserved_port() as server.port:
        ran = bench.grade(server, "--max-retries", 0, "--json")
    assert ran.code == 3
    assert ran.json["summary"]["failures"] == {"connection": 8}


def test_an_answer_that_does_not_come_is_given_up_in_time(bench: Bench) -> None:
    with OpenAILikeServer("hang") as server:
        ran = bench.grade(server, "--timeout", 0.2, "--max-retries", 0, "-n", 1)
    assert ran.code == 3
    assert "no answer in time" in ran.out


def test_an_unreadable_reply_is_asked_again_with_the_reason(bench: Bench) -> None:
    def rule(seen: ServedRequest) -> str | ServedReply:
        return GOOD if "could not be used" in asked(seen) else "malformed"

    with OpenAILikeServer(rule) as server:
        ran = bench.grade(server, "--json")
        assert server.n_requests == 16
    assert ran.code == 0
    assert ran.json["summary"]["spent"]["n_replies"] == 16
    assert set(values(ran).values()) == {1.0}


def test_what_was_recovered_is_not_asked_again(bench: Bench) -> None:
    def rule(seen: ServedRequest) -> str | ServedReply:
        return GOOD if "could not be used" in asked(seen) else "malformed"

    with OpenAILikeServer(rule) as server:
        bench.grade(server)
        assert bench.grade(server).code == 0
        assert server.n_requests == 16


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (ok("I would rather not put a number on it."), "unreadable"),
        ("malformed", "truncated"),
        ("null_content", "empty"),
        ("length", "truncated"),
        ("refusal", "refusal"),
    ],
)
def test_a_reply_that_stays_unusable_is_a_failure_and_never_a_zero(
    bench: Bench, fault: str | ServedReply, kind: str
) -> None:
    with OpenAILikeServer(fault) as server:
        ran = bench.grade(server, "--json", "-n", 1, "--max-retries", 0)
    assert ran.code == 3
    assert ran.json["summary"]["failures"] == {kind: 2}
    assert values(ran) == {"a": None}
    (verdict,) = ran.json["verdicts"]
    assert verdict["judgments"] == []
    assert verdict["passed"] is None


def test_a_score_off_the_scale_is_not_bent_onto_it(bench: Bench) -> None:
    with OpenAILikeServer(ok(reply(9))) as server:
        ran = bench.grade(server, "--json", "-n", 1)
        assert server.n_requests >= 4
    assert ran.code == 3
    assert ran.json["summary"]["failures"] == {"unreadable": 2}


def test_a_judge_that_cannot_tell_is_not_asked_again(bench: Bench) -> None:
    unsure = reply(None, rationale="The policy is not shown.")
    with OpenAILikeServer(ok(unsure)) as server:
        ran = bench.grade(server, "-n", 1)
        assert server.n_requests == 2
    assert ran.code == 3
    assert "the judge could not assess" in ran.out
    assert "The policy is not shown." in ran.out


def test_one_failing_criterion_leaves_the_others_and_bounds_the_value(bench: Bench) -> None:
    def rule(seen: ServedRequest) -> str | ServedReply:
        return "malformed" if "Is it short?" in asked(seen) else GOOD

    with OpenAILikeServer(rule) as server:
        ran = bench.grade(server, "--json", "-n", 1)
    assert ran.code == 3
    (verdict,) = ran.json["verdicts"]
    assert (verdict["value_low"], verdict["value"], verdict["value_high"]) == (0.75, None, 1.0)
    assert verdict["passed"] is True
    assert [judgment["criterion"] for judgment in verdict["judgments"]] == ["right"]


def test_no_more_calls_than_allowed_are_in_flight(bench: Bench) -> None:
    with OpenAILikeServer(GOOD, latency_s=0.02) as server:
        bench.grade(server, "-j", 3)
        assert server.most_in_flight <= 3
        assert server.n_requests == 8
