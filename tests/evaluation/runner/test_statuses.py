from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from judgekit.evaluation import update_run_status
from judgekit.evaluation.run import run_status
from judgekit.records import Output, RunPanel
from judgekit.store import RunStore
from tests.evaluation.waiting import question, waiting_run
from tests.factories import make_failure
from tests.store.observing import JUDGE, START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


LATER = START + timedelta(hours=1)
CASCADE = RunPanel(judges=(JUDGE, "human"), combine="cascade", escalate_below=0.8)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RunStore]:
    """An empty store."""
    with closing(RunStore(tmp_path / "judgekit.db", patience_s=0.1)) as store:
        yield store


def human(criterion: str = "accuracy") -> object:
    """What a person says."""
    return said(criterion, 0.75, source="human", judge="Ada")


def test_a_run_waits_while_a_question_does(kept: RunStore) -> None:
    waiting_run(kept)
    assert run_status(kept, kept.run("run-1")) == "waiting"
    kept.answer_item(question(), human())  # type: ignore[arg-type]  # a judgment
    assert run_status(kept, kept.run("run-1")) == "complete"


def test_an_answer_that_is_not_done_is_incomplete(kept: RunStore) -> None:
    begun(kept, answer(is_done=False))
    assert run_status(kept, kept.run("run-1")) == "incomplete"


def test_a_judge_that_failed_leaves_a_run_incomplete(kept: RunStore) -> None:
    begun(kept, answer(said=(make_failure(judge=JUDGE), said("clarity"))))
    assert run_status(kept, kept.run("run-1")) == "incomplete"


def test_in_a_cascade_a_later_judge_makes_up_for_one_that_failed(kept: RunStore) -> None:
    failed = answer(said=(make_failure(judge=JUDGE),))
    begun(kept, failed, panel=CASCADE)
    assert run_status(kept, kept.run("run-1")) == "incomplete"
    kept.ask_person("run-1", [question()])
    kept.answer_item(question(), human())  # type: ignore[arg-type]  # a judgment
    assert run_status(kept, kept.run("run-1")) == "complete"


def test_in_a_cascade_an_earlier_judge_makes_up_for_nothing(kept: RunStore) -> None:
    both = RunPanel(judges=(JUDGE, "second"), combine="cascade", escalate_below=0.8)
    begun(kept, answer(said=(said(), make_failure(judge="second"))), panel=both)
    assert run_status(kept, kept.run("run-1")) == "incomplete"


def test_a_run_is_complete_when_people_have_answered(kept: RunStore) -> None:
    waiting_run(kept)
    kept.answer_item(question(), human())  # type: ignore[arg-type]  # a judgment
    settled = update_run_status(kept, "run-1", at=LATER)
    assert (settled.status, settled.finished_at) == ("complete", LATER)


def test_a_judgment_taken_back_makes_a_run_wait_again(kept: RunStore) -> None:
    waiting_run(kept)
    kept.answer_item(question(), human())  # type: ignore[arg-type]  # a judgment
    update_run_status(kept, "run-1", at=LATER)
    kept.withdraw_answer(question())
    assert update_run_status(kept, "run-1", at=LATER).status == "waiting"


def test_a_run_that_stands_as_it_is_is_left_alone(kept: RunStore) -> None:
    run = waiting_run(kept)
    assert update_run_status(kept, "run-1", at=LATER) == run


def test_a_run_that_was_interrupted_stays_interrupted(kept: RunStore) -> None:
    begun(kept, answer())
    kept.end("run-1", status="interrupted", at=START)
    assert update_run_status(kept, "run-1", at=LATER).status == "interrupted"


def test_an_answer_whose_model_failed_is_incomplete(kept: RunStore) -> None:
    error = Output(error="overloaded", error_kind="model")
    begun(kept, answer(said=(), output=error))
    assert run_status(kept, kept.run("run-1")) == "incomplete"


def test_of_several_tries_the_last_one_counts(kept: RunStore) -> None:
    failed = answer(said=(make_failure(judge=JUDGE),))
    begun(kept, failed, answer(key(repeat=1)), answer(key("b"), place=1))
    assert run_status(kept, kept.run("run-1")) == "complete"


def test_of_several_repeats_each_counts(kept: RunStore) -> None:
    failed = answer(said=(make_failure(judge=JUDGE),))
    begun(kept, failed, answer(key(repeat=1)), config={"settings": {"repeats": 2}})
    assert run_status(kept, kept.run("run-1")) == "incomplete"


def test_a_run_without_any_answer_lacks_none(kept: RunStore) -> None:
    begun(kept)
    assert run_status(kept, kept.run("run-1")) == "complete"
