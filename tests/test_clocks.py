"""The clock of the machine is set back or forward by hours while judgekit works."""

from __future__ import annotations

import itertools
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.models.error_mapping import retry_after_s
from judgekit.testing import ChaosServer
from tests.evaluation.suites import lay_suite
from tests.factories import make_rubric

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def run_at(folder: Path, now: datetime) -> str:
    """The id of a run that begins at a time of the clock."""
    session = jk.Session(now=lambda: now)
    with jk.evaluate_sync(
        folder / "judgekit.yaml", store=folder / "runs.db", cache=None, session=session
    ) as run:
        return run.id


def test_the_latest_run_is_the_latest_when_the_clock_was_set_back(tmp_path: Path) -> None:
    lay_suite(tmp_path, gate={"tier": "production", "max_drop": 0.1})
    ids = [run_at(tmp_path, now) for now in (NOON, NOON - 5 * HOUR, NOON - 7 * HOUR, NOON + HOUR)]
    with closing(jk.RunStore(tmp_path / "runs.db")) as store:
        assert [run.id for run in store.runs()] == ids[::-1]
        assert store.run("latest").id == ids[-1]
        times = [run.started_at for run in store.runs()]
    # As close to the clock as the order allows.
    assert times[::-1] == [NOON, NOON + _US, NOON + 2 * _US, NOON + HOUR]


_US = timedelta(microseconds=1)


@pytest.mark.parametrize("skew", [-9 * HOUR, timedelta(0), 9 * HOUR])
def test_a_wait_until_a_time_is_measured_on_the_clock_of_the_provider(
    skew: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", (NOON + skew).timestamp)
    until, now = (format_datetime(at, usegmt=True) for at in (NOON + timedelta(seconds=7), NOON))
    assert retry_after_s({"retry-after": until, "date": now}) == 7


def test_a_time_that_has_passed_on_our_own_clock_is_no_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time, "time", (NOON + HOUR).timestamp)
    assert retry_after_s({"retry-after": format_datetime(NOON, usegmt=True)}) == 0


def test_a_clock_that_jumps_by_hours_changes_no_limit_and_no_duration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jumps = itertools.cycle([5 * 3600.0, -7 * 3600.0, 0.0])
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    outputs = [{"case_id": f"c{n}", "input": "?", "text": f"Text {n}."} for n in range(8)]
    with ChaosServer(["429ra_zero", "500", "429ra_zero"]) as server:
        judge = jk.Judge("openai/any", api_base=server.url, cache=jk.MemoryCache(), rpm=6000)
        results = jk.grade_sync(outputs, rubric=make_rubric(), judge=judge)
        assert server.n_requests == 8 + 3
    assert not any(verdict.failures for verdict in results)
    durations = [one.duration_ms for verdict in results for one in verdict.judgments]
    assert all(0 <= (duration or 0) < 60_000 for duration in durations)
