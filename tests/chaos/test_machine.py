"""A few short random walks; `make chaos` takes hundreds of long ones, with processes killed."""

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
