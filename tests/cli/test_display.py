from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from judgekit.cli.progress import Progress, show_progress
from judgekit.models import LimitedModel
from judgekit.testing import ScriptedModel
from tests.factories import make_failure, make_judgment, make_request, reply

if TYPE_CHECKING:
    import pytest

BOUGHT = [make_judgment(cost_usd=0.25, reply_key="k1")]
OWNED = [make_judgment(cost_usd=0.0, cached=True, reply_key="k2")]


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_tally_counts_replies_cache_and_money() -> None:
    clock = Clock()
    tally = Progress(4, clock)
    tally.advance(BOUGHT)
    tally.advance(OWNED)
    clock.seconds += 2
    assert (tally.n_done, tally.n_cached) == (2, 1)
    assert (tally.rate, tally.left()) == (1.0, "2 s left")
    assert tally.words() == "1.0/s · 1 cached · $0.25"


def test_a_tally_counts_failures_and_says_when_a_price_is_unknown() -> None:
    clock = Clock()
    tally = Progress(1, clock)
    tally.advance([make_failure(n_calls=1), make_failure("clarity")])
    clock.seconds += 1
    assert tally.words() == "1.0/s · price unknown · 2 failed"


def test_criteria_answered_together_are_one_reply_in_a_tally() -> None:
    tally = Progress(1, Clock())
    both = [make_judgment(n, cached=True, reply_key="k") for n in ("accuracy", "clarity")]
    tally.advance(both)
    assert tally.n_cached == 1


def test_before_anything_is_done_nothing_is_divided_by_nothing() -> None:
    tally = Progress(3, Clock())
    assert (tally.rate, tally.share, tally.left(), tally.words()) == (0, 0, "", "$0")


def test_plain_lines_come_at_most_every_five_seconds_and_at_the_end() -> None:
    file, clock = io.StringIO(), Clock()
    with show_progress(Console(file=file), 4, shown=True, now=clock) as display:
        for pause_s in (1, 4, 1, 1):
            clock.seconds += pause_s
            display.advance(OWNED)
    assert file.getvalue().splitlines() == [
        "graded 2 of 4 · 2.5 s each · 2 cached · $0 · 5 s left",
        "graded 4 of 4 · 1.8 s each · 4 cached · $0",
    ]


async def test_the_calls_of_a_slow_judge_are_shown_one_by_one() -> None:
    file, clock = io.StringIO(), Clock()
    model = LimitedModel(ScriptedModel(reply()))
    models = [model]
    with show_progress(Console(file=file), 2, shown=True, now=clock, models=models) as display:
        for n in range(4):
            await model.complete(make_request(f"question {n}"))
            clock.seconds += 20
            display.show()  # as every half second
            if n % 2:
                display.advance([make_judgment(cost_usd=0.25, reply_key=k) for k in "ab"])
    assert file.getvalue().splitlines() == [
        "graded 0 of 2 · 2 of 2+ calls, 20.0 s/call · $0",
        "graded 1 of 2 · 3 of 4 calls, 20.0 s/call · $0.50 · 20 s left",
        "graded 1 of 2 · 4 of 4 calls, 20.0 s/call · $0.50 · 0 s left",
        "graded 2 of 2 · 4 of 4 calls, 20.0 s/call · $1.00",
    ]


def test_what_is_not_to_be_shown_is_not_shown() -> None:
    file = io.StringIO()
    with show_progress(Console(file=file, force_terminal=True), 1, shown=False) as display:
        display.advance(BOUGHT)
    assert file.getvalue() == ""


def test_a_terminal_gets_a_bar_that_is_gone_in_the_end() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100, color_system=None)
    with show_progress(console, 2, shown=True) as display:
        display.advance(OWNED)
        display.advance(OWNED)
    drawn = file.getvalue()
    assert "2/2" in drawn
    assert "2 cached · $0 · 0 s left" in drawn
    assert "graded" not in drawn


def test_a_terminal_of_a_ci_run_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    file = io.StringIO()
    with show_progress(Console(file=file, force_terminal=True), 1, shown=True) as display:
        display.advance(BOUGHT)
    assert file.getvalue().startswith("graded 1 of 1")
