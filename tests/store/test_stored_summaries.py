"""The figures of a run are stored, and computed again after every change of the run."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import StoreError
from judgekit.evaluation import Run
from judgekit.records import AssertionResult, HumanItem, Observation, RunInfo, Variant
from judgekit.report import stored_run_document
from judgekit.store import RunStore
from tests.factories import make_case, make_failure, make_output, make_rubric
from tests.store.observing import JUDGE, START, answer, begun, key, part, said
from tests.store.test_comparisons import approval

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from judgekit.evaluation import RunSummary

LATER = START + timedelta(hours=1)
CHECK = AssertionResult(passed=True, message="so", type="text.is_json")
OTHER = HumanItem(run_id="run-1", key=key("b"), criterion="clarity", asked_at=START)


class Unread(RunStore):
    """A store whose answers cannot be read, so that only stored figures can be shown."""

    def results(self, *_: object, **__: object) -> Any:
        raise AssertionError("answers were read")


def observed() -> list[Observation]:
    """Two variants' answers to three cases, some of which lack a judgment."""
    failure = make_failure("clarity", judge=JUDGE)
    case = make_case(id="refund", tags=("hard", "Estimate"), stratum="simple")
    return [
        answer(case=case, checks=[CHECK]),
        answer(key(variant="v2"), case=case, said=(said(value=0.2), said("clarity", 0.1))),
        answer(key("b"), place=1, said=(said(value=0.5),)),
        answer(key("b", "v2"), place=1, said=(said(value=0.5), failure)),
        answer(key("c"), place=2, output=make_output(None, error="no", error_kind="exit"), said=()),
    ]


def stored(store: RunStore, **fields: Any) -> RunInfo:
    """A complete run, whose figures are stored."""
    run = begun(store, *observed(), variants=[Variant(id="v1"), Variant(id="v2")], **fields)
    store.ask_person(run.id, [OTHER])
    store.end(run.id, status="complete", at=LATER)
    ended = store.run(run.id)
    Run(ended, store).summary()
    return ended


def written(summary: RunSummary) -> str:
    """All of a summary as text, in which nan equals nan."""
    return str([getattr(summary, field.name) for field in fields(summary)])


def figures(run: RunInfo, store: RunStore) -> str:
    """The figures that are shown."""
    return written(Run(run, store).summary())


def computed(run: RunInfo, store: RunStore) -> str:
    """What follows from the answers as they are now."""
    return written(Run(run, store).summary(watch=lambda _: None))


def test_stored_figures_are_those_that_were_computed(store: RunStore, location: str) -> None:
    run = stored(store)
    unread = Unread(location)
    try:
        assert figures(run, unread) == computed(run, store)
    finally:
        unread.close()


def withdrawn(store: RunStore) -> None:
    store.answer_item(OTHER, said("clarity", 0.9, source="human", judge="Ada"))
    Run(store.run("run-1"), store).summary()
    store.withdraw_answer(OTHER)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda s: s.add("run-1", [answer(key("d"), place=3)]), id="a new answer"),
        pytest.param(
            lambda s: s.add("run-1", [part(output=make_output("Other."))]), id="a replaced output"
        ),
        pytest.param(
            lambda s: s.add("run-1", [part(said=[said(value=0.1)])]), id="a replaced judgment"
        ),
        pytest.param(
            lambda s: s.add("run-1", [part(checks=[CHECK.model_copy(update={"passed": False})])]),
            id="a replaced assertion",
        ),
        pytest.param(
            lambda s: s.answer_item(OTHER, said("clarity", 0.9, source="human", judge="Ada")),
            id="a label",
        ),
        pytest.param(lambda s: s.forget("run-1", [key("c")]), id="a forgotten error"),
    ],
)
def test_a_change_of_the_answers_makes_new_figures(
    store: RunStore, change: Callable[[RunStore], object]
) -> None:
    run = stored(store)
    before = figures(run, store)
    change(store)
    now = figures(store.run("run-1"), store)
    assert now != before
    assert now == computed(store.run("run-1"), store)


def test_a_label_that_is_withdrawn_makes_new_figures(store: RunStore) -> None:
    run = stored(store)
    before = figures(run, store)
    withdrawn(store)
    assert figures(run, store) == before == computed(run, store)


def test_another_rubric_makes_new_figures(store: RunStore) -> None:
    run = stored(store)
    edited = run.model_copy(update={"rubric": make_rubric("accuracy", pass_threshold=0.1)})
    assert figures(edited, store) == computed(edited, store)
    assert computed(edited, store) != computed(run, store)


def test_an_approval_is_shown_with_stored_figures(store: RunStore) -> None:
    run = stored(store)
    store.approve(approval(evidence=("run-1",)))
    document = stored_run_document(store, Run(run, store), has_page=False)
    found = document.data()
    assert isinstance(found, dict)
    assert found["approvals"] == ["apr-1"]


def test_a_change_during_the_computation_is_not_missed(store: RunStore, location: str) -> None:
    """Figures of earlier answers are never taken for those of the answers there are now."""
    run = stored(store)

    class Changing(RunStore):
        def results(self, *arguments: Any, **named: Any) -> Any:
            yield from super().results(*arguments, **named)
            store.answer_item(OTHER, said("clarity", 0.9, source="human", judge="Ada"))

    changing = Changing(location)
    try:
        store.add("run-1", [part(said=[said(value=0.1)])])
        late = figures(run, changing)
    finally:
        changing.close()
    assert figures(run, store) == computed(run, store) != late


def test_figures_of_a_run_that_goes_on_are_not_stored(store: RunStore) -> None:
    run = begun(store, *observed())
    Run(run, store).summary()
    assert store.figures_of_suite("support", "summary") == {}


def test_figures_can_be_shown_where_they_cannot_be_stored(tmp_path: Path) -> None:
    class Full(RunStore):
        def keep_figures(self, *_: object) -> None:
            raise StoreError("the disk is full")

    store = Full(tmp_path / "runs.db")
    try:
        run = stored(store)
        assert figures(run, store) == computed(run, store)
    finally:
        store.close()
