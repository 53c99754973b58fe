"""The series of a suite: its alarm, its breaks, and the series of some of its cases."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.evaluation import CALIBRATION_KEY, criterion_trends, trend_of_suite, version_history
from judgekit.records import Output, Variant
from judgekit.scoring import calibration_in_use
from judgekit.store import RunStore
from tests.calibrations import ASKED, make_calibration
from tests.evaluation.test_findings import RUBRIC, ran, rates
from tests.factories import make_rubric
from tests.store.observing import START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BOTH = [Variant(id="v1"), Variant(id="v2")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    opened = RunStore(tmp_path / "runs.db")
    yield opened
    opened.close()


def test_the_first_eight_runs_are_normal_and_a_lasting_shortfall_after_them_alarms(
    store: RunStore,
) -> None:
    rates(store, *[9, 8] * 4, 5, 5, 5, 5)
    (trend,) = trend_of_suite(store, "support")
    assert trend.shortfall is not None
    # Target .85, at least the spread of drawing ten cases: sqrt(.792 * .208 / 10) = .128. Each run
    # of .5 adds .35 / .128 - .5 = 2.23, and more than 4 is reached by the second.
    assert trend.shortfall.path[:8] == (0.0,) * 8
    assert trend.shortfall.path[8] == pytest.approx(2.226, abs=1e-3)
    assert trend.shortfall.alarm_at == 9
    assert trend.since_break[9].run == "run-009"


def test_eight_runs_alone_raise_no_alarm(store: RunStore) -> None:
    rates(store, 10, 9, 8, 7, 6, 5, 4, 3)
    (trend,) = trend_of_suite(store, "support")
    assert trend.shortfall is None


def test_other_calibration_maps_break_the_series(store: RunStore) -> None:
    use = calibration_in_use(make_calibration(RUBRIC), RUBRIC, ASKED)
    for day, config in enumerate(({}, {}, {CALIBRATION_KEY: use.to_json()})):
        run = begun(
            store,
            answer(said=(said("good", 0.5),)),
            name=f"run-{day}",
            started_at=START + timedelta(days=day),
            rubric=RUBRIC,
            config=config,
        )
        store.end(run.id, status="complete", at=START)
    (trend,) = trend_of_suite(store, "support")
    changes = [point.change for point in trend.points]
    assert changes == [None, None, "the calibration of the judge's values changed"]
    (version,) = version_history(store, "support")
    assert version.changes == ()


def test_only_the_cases_that_count_are_followed(store: RunStore) -> None:
    ran(store, 0, {"a": True, "b": False})
    ran(store, 1, {"a": True, "b": True, "new": False})
    # A run without any of the cases is no part of their series.
    ran(store, 2, {"new": True})
    (trend,) = trend_of_suite(store, "support", cases={"a", "b"})
    assert [point.run for point in trend.points] == ["run-000", "run-001"]
    assert [point.figure.value for point in trend.points] == [0.5, 1.0]
    # The new case is not among them, so that nothing they are computed from has changed.
    assert [point.change for point in trend.points] == [None, None]
    (whole,) = trend_of_suite(store, "support")
    assert [point.change for point in whole.points] == [None, "cases: 1 added", "cases: 2 removed"]


def test_a_run_without_the_variant_is_not_one_of_some_cases(store: RunStore) -> None:
    rates(store, 10, 9)
    ran(store, 2, {"a": True}, config={"chosen": {"limit": 1}})
    observed = [answer(key("a", variant), said=(said("good"),)) for variant in ("v1", "v2")]
    later = START + timedelta(days=3)
    run = begun(store, *observed, variants=BOTH, name="both", started_at=later)
    store.end(run.id, status="complete", at=later)
    (alone,) = trend_of_suite(store, "support", variant="v2")
    first, second = trend_of_suite(store, "support")
    assert [len(one.points) for one in (alone, first, second)] == [1, 3, 1]
    assert [one.n_left_out for one in (alone, first, second)] == [0, 1, 0]


def test_a_criterion_that_no_output_could_be_judged_by_yet_has_a_series(store: RunStore) -> None:
    ran(store, 0, {"a": True})
    error = Output(error="it broke", error_kind="exit")
    rubric = make_rubric("good", "new")
    run = begun(
        store,
        answer(key("a"), said=(), output=error),
        name="broken",
        rubric=rubric,
        started_at=START + timedelta(days=1),
    )
    store.end(run.id, status="complete", at=START)
    good, new = criterion_trends(store, "support")
    assert [point.figure.value for point in good.points] == [1.0, None]
    assert (new.measure, [point.figure.value for point in new.points]) == ("new", [None, None])


def test_the_criteria_are_those_of_the_last_run_that_has_the_variant(store: RunStore) -> None:
    ran(store, 0, {"a": True})
    begun(
        store,
        answer(key("a", "v2"), said=(said("other"),)),
        name="other",
        rubric=make_rubric("other"),
        variants=BOTH[1:],
        started_at=START + timedelta(days=1),
    )
    store.end("other", status="complete", at=START)
    (only,) = criterion_trends(store, "support", variant="v1")
    assert only.measure == "good"


def test_runs_of_one_moment_are_in_the_order_of_their_ids(store: RunStore) -> None:
    for name in ("run-b", "run-c", "run-a"):
        run = begun(store, answer(key("a"), said=(said("good", 1.0),)), name=name, rubric=RUBRIC)
        store.end(run.id, status="complete", at=START)
    (trend,) = trend_of_suite(store, "support")
    assert [point.run for point in trend.points] == ["run-a", "run-b", "run-c"]
