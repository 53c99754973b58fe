"""What a calibration is bound to: from a judge, a jury, and a run that was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import (
    JUDGING_KEY,
    Choice,
    ExecutionOptions,
    judging_of_judge,
    judging_of_names,
    judging_of_run,
    open_suite,
    without_human_judges,
)
from judgekit.evaluation.judges import judging_of_suite
from judgekit.evaluation.runner import new_run
from judgekit.records import CalibratedJudge, CalibratedPanel, RunPanel
from judgekit.testing import ScriptedModel
from tests.calibrations import AT
from tests.evaluation.suites import lay_suite
from tests.factories import make_judge, reply
from tests.store.observing import make_run

if TYPE_CHECKING:
    from pathlib import Path

MODEL = ScriptedModel(reply(4), name="openai/m")


def bound(**settings: Any) -> CalibratedJudge:
    (judge,) = judging_of_judge(make_judge(MODEL, **settings)).judges
    return judge


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0.3},
        {"repeats": 2},
        {"mode": "joint"},
        {"template": "pointwise/joint"},
        {"parameters": {"top_p": 0.5}},
        {"max_tokens": 50},
    ],
)
def test_what_moves_a_judge_is_bound(settings: dict[str, Any]) -> None:
    assert bound(**settings) != bound()


@pytest.mark.parametrize(
    "settings", [{"seed": 3}, {"logprobs": True}, {"timeout_s": 9}, {"rpm": 5}, {"max_retries": 1}]
)
def test_pace_seed_and_what_is_only_read_along_are_not_bound(settings: dict[str, Any]) -> None:
    assert bound(**settings) == bound()


def test_a_joint_judge_is_known_to_ask_all_at_once() -> None:
    assert (bound().asks_all, bound(mode="joint").asks_all) == (False, True)


def test_recorded_replies_go_by_their_file_wherever_it_lies() -> None:
    near, far = (
        judging_of_names([f"recorded:{folder}replies.jsonl t@1"]) for folder in ("", "/some where/")
    )
    assert (
        near
        == far
        == CalibratedPanel(judges=(CalibratedJudge(judge="recorded:replies.jsonl t@1"),))
    )


def test_names_alone_tell_nothing_of_several_judges() -> None:
    assert judging_of_names([]) is None
    assert judging_of_names([""]) is None
    assert judging_of_names(["a t@1", "b t@1"]) is None


def test_a_run_notes_how_its_judges_are_asked(tmp_path: Path) -> None:
    judge = {"model": "recorded:replies.jsonl", "repeats": 2, "temperature": 0.5}
    (tmp_path / "replies.jsonl").write_text("", encoding="utf-8")
    path = lay_suite(tmp_path, judge=[judge, "human"], rubric="rubric.yaml")
    opened = open_suite(path, Choice(), ExecutionOptions(cache=None))
    asked = judging_of_suite(opened.judges)
    run = new_run(opened, now=AT)
    assert asked is not None
    assert judging_of_run(run) == asked
    first, person = asked.judges
    assert (first.model, first.repeats) == ("recorded:replies.jsonl", 2)
    assert first.parameters == {"temperature": 0.5}
    assert person == CalibratedJudge(judge="human")
    machines = without_human_judges(asked)
    assert machines is not None
    assert machines.judges == (first,)


def test_a_run_of_before_tells_the_names_of_its_judges() -> None:
    panel = RunPanel(judges=("a t@1", "b t@1"), combine="weighted", weights={"a t@1": 3})
    found = judging_of_run(make_run(panel=panel))
    assert found is not None
    assert [judge.parameters for judge in found.judges] == [None, None]
    assert (found.combine, found.weights) == ("weighted", (3.0, 1.0))


def test_where_nobody_judges_nothing_is_bound() -> None:
    assert judging_of_run(make_run(panel=RunPanel())) is None
    assert without_human_judges(None) is None
    assert without_human_judges(CalibratedPanel(judges=(CalibratedJudge(judge="human"),))) is None
    assert JUDGING_KEY not in make_run().config
