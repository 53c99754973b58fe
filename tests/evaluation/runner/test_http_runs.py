"""A run whose endpoint answers with everything that goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judgekit.evaluation import summarize_run
from tests.targets.loopback import Loopback, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.evaluation.suites import Bench

    MakeBench = Callable[..., Bench]

REPLIES: dict[str, Reply] = {
    "c0": Reply({"text": "right"}),
    "c1": Reply(b"", 404),
    "c2": Reply(b"", 429, Retry_After="600"),
    "c3": Reply(b"", 500),
    "c4": Reply(b"{"),
    "c5": Reply(b"x" * (11 << 20)),
    "c6": Reply({"error": "I give up"}),
}


def answered(case: dict[str, Any], _path: str) -> Reply:
    return REPLIES[case["id"]]


async def test_what_goes_wrong_at_an_endpoint_is_the_errors_of_its_cases(bench: MakeBench) -> None:
    with Loopback(answered) as server:
        small = bench(n=7, variants=[{"id": "v1", "http": server.url}])
        run = await small.sit()
    (figures,) = summarize_run(small.results(), run).variants
    assert (run.status, figures.n_passed, figures.n_errors) == ("complete", 1, 6)
    assert figures.errors == {"http_status": 3, "exception": 1, "too_large": 1, "unreadable": 1}
    assert (figures.pass_rate.worst, figures.pass_rate.best) == (1 / 7, 1.0)
    assert len(server.seen) == 7  # nothing is asked again by itself
