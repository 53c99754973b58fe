"""A few short random walks; `python -m tests.stateful.machine 200 30` takes many long ones."""

from __future__ import annotations

from tests.stateful.machine import walk


def test_random_walks_keep_the_laws() -> None:
    walk(n_walks=4, n_steps=8)
