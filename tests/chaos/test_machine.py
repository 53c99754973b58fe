"""A few short random walks, and one through every law; `make chaos` takes hundreds of long ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings

from tests.chaos.machine import SuiteMachine, walk

if TYPE_CHECKING:
    import pytest


def test_random_walks_keep_the_laws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    how = settings(
        max_examples=6,
        stateful_step_count=9,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    walk(SuiteMachine, how)


def test_a_walk_through_every_law(monkeypatch: pytest.MonkeyPatch) -> None:
    # Walks this short seldom come to it by chance, and what no walk can find is no law.
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    machine = SuiteMachine()
    try:
        machine.begin(is_old=False, n_cases=3)
        # At the last of six calls, of which two are in flight at a time, four have been answered.
        # One of the three cases has a value then, which a gate could take for that of all.
        machine.stop_a_run(after=6, softly=False)
        machine.ask_the_gate()
        machine.edit_the_rubric()
        machine.resume()
        machine.run()
        machine.ask_the_gate()
        machine.export_a_run()
        machine.export_and_import_the_cache()
        machine.damage_the_cache(seed=1, how="cut")
        machine.move_the_cache()
        machine.resume()
        machine.nothing_is_paid_for_twice()
        machine.every_verdict_is_what_a_reply_said()
        machine.every_run_is_there()
    finally:
        machine.teardown()
