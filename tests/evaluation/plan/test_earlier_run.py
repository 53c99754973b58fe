from __future__ import annotations

import json
from datetime import UTC, datetime
from math import sqrt
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import Choice, evaluate_sync
from judgekit.evaluation.runner import new_run
from judgekit.evaluation.suite_plan import earlier_run_statistics
from judgekit.store import RunStore
from tests.evaluation.plans import COMMAND, RECORDED, opened, planned, suite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.datasets import Suite

CHECKS: dict[str, Any] = {
    "rubric": None,
    "judge": "heuristic",
    "assertions": [{"type": "contains", "value": "is"}, {"type": "contains", "value": "The"}],
}
WORSE = {"id": "worse", "outputs": "worse.jsonl"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with_runs = RunStore(tmp_path / "runs.db")
    yield with_runs
    with_runs.close()


def rows(folder: Path, n_bad: int) -> None:
    """Outputs of ten cases, the first of them without what is looked for."""
    found = [
        {
            "case_id": f"c{n}",
            "text": "It is 2." if n < n_bad else "The sum is 2",
            "duration_ms": 2000,
            "usage": {"cost_usd": 0.03},
        }
        for n in range(10)
    ]
    (folder / "worse.jsonl").write_text("\n".join(map(json.dumps, found)), encoding="utf-8")


def run(made: Suite, store: RunStore, *ids: str) -> None:
    """A run that is kept, of all cases or some."""
    choice = Choice(case_ids=ids)
    evaluate_sync(made, store=store, choice=choice, cache=None).close()


def test_without_a_run_there_is_no_experience(store: RunStore) -> None:
    assert earlier_run_statistics(store, "sums") is None


def test_a_run_tells_how_long_answers_are_and_take_and_what_they_cost(
    tmp_path: Path, store: RunStore
) -> None:
    rows(tmp_path, n_bad=0)
    run(suite(tmp_path, WORSE, n_cases=10, **CHECKS), store)
    found = earlier_run_statistics(store, "sums")
    assert found is not None
    assert found.run is not None
    assert found.run.n_answers == 10
    assert found.texts["worse"].likely == len("The sum is 2") / 4
    assert found.latency_s == {"worse": 2.0}
    assert found.cost_usd["worse"] == pytest.approx(0.03)
    assert (found.discordant, found.sd) == (None, None)


def test_a_run_tells_how_far_variants_differ(tmp_path: Path, store: RunStore) -> None:
    rows(tmp_path, n_bad=4)
    run(suite(tmp_path, RECORDED, WORSE, n_cases=10, **CHECKS), store)
    found = earlier_run_statistics(store, "sums")
    assert found is not None
    assert found.discordant == pytest.approx(0.4)
    # Four cases differ by -0.5, six by 0.
    assert found.sd == pytest.approx(sqrt((4 * 0.3**2 + 6 * 0.2**2) / 9))


def test_answers_that_are_errors_have_no_length_and_no_value(
    tmp_path: Path, store: RunStore
) -> None:
    rows(tmp_path, n_bad=0)
    run(suite(tmp_path, WORSE, n_cases=12, **CHECKS), store)
    found = earlier_run_statistics(store, "sums")
    assert found is not None
    assert found.run is not None
    assert found.run.n_answers == 12
    assert found.texts["worse"].likely == len("The sum is 2") / 4


def test_only_the_first_answers_of_a_long_run_are_looked_at(
    tmp_path: Path, store: RunStore
) -> None:
    rows(tmp_path, n_bad=0)
    run(suite(tmp_path, WORSE, n_cases=10, **CHECKS), store)
    found = earlier_run_statistics(store, "sums", most_answers=3)
    assert found is not None
    assert found.run is not None
    assert found.run.n_answers == 3


def test_a_run_that_has_only_begun_teaches_nothing(tmp_path: Path, store: RunStore) -> None:
    ready = opened(suite(tmp_path, COMMAND))
    store.begin(new_run(ready, now=datetime(2026, 1, 1, tzinfo=UTC)))
    assert earlier_run_statistics(store, "sums") is None


def test_a_few_cases_do_not_say_how_far_variants_differ(tmp_path: Path, store: RunStore) -> None:
    rows(tmp_path, n_bad=4)
    run(suite(tmp_path, RECORDED, WORSE, n_cases=10, **CHECKS), store, "c0", "c1", "c2", "c9")
    found = earlier_run_statistics(store, "sums")
    assert found is not None
    assert (found.discordant, found.sd) == (None, None)


def test_a_plan_takes_what_the_latest_run_says(tmp_path: Path, store: RunStore) -> None:
    rows(tmp_path, n_bad=4)
    run(suite(tmp_path, RECORDED, WORSE, n_cases=10, **CHECKS), store)
    now_a_program = COMMAND | {"id": "worse"}
    plan = planned(suite(tmp_path, RECORDED, now_a_program, n_cases=10), store=store)
    _, answers = plan.answers
    assert (answers.text_source, answers.latency_s) == ("run", 2.0)
    assert answers.cost_usd == plan.own_usd == pytest.approx(0.3)
    assert plan.likely_usd > 0.3
    assert [found.is_observed for found in plan.detectable] == [True, True]
    assert plan.earlier is not None
    assert plan.earlier.n_answers == 20


def test_a_run_that_is_gone_on_with_has_less_to_do(tmp_path: Path, store: RunStore) -> None:
    rows(tmp_path, n_bad=0)
    made = suite(tmp_path, WORSE, n_cases=10, **CHECKS)
    run(made, store, "c0", "c1", "c2")
    plan = planned(made, store=store, begun=store.run())
    assert (plan.n_answers, plan.n_done) == (10, 3)
    assert plan.answers[0].n_answers == 7
