"""A few short random walks, and one through the laws that a short one seldom comes to.

`python -m tests.stateful.machine 200 30` takes many long ones.
"""

from __future__ import annotations

from tests.stateful.machine import QualityMachine, walk


def test_random_walks_keep_the_laws() -> None:
    walk(n_walks=4, n_steps=8)


def test_a_walk_through_edits_that_decide() -> None:
    machine = QualityMachine()
    try:
        machine.begin(n_cases=7, worths=[3, 1])
        machine.run(options=())
        machine.edit_the_measure(("repeats", 2))
        machine.run(options=("--frozen",))
        machine.ask_the_gate(which=1, against=0, limit=0)
        machine.compare_blind()
        machine.approve(others=False)
        # Now the other side is edited, and what was compared is no evidence any more.
        machine.edit_the_data([5, 1, 1], by=1)
        machine.approve(others=False)
        machine.follow_trend_and_findings()
    finally:
        machine.teardown()
