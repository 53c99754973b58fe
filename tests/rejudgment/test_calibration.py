from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation import CALIBRATION_KEY
from judgekit.records import CalibratedPanel
from judgekit.rejudgment import describe_calibration, new_rejudgment
from judgekit.scoring import calibration_in_use
from judgekit.testing import ScriptedModel
from tests.calibrations import JUDGE, make_calibration
from tests.factories import make_judge, make_rubric, reply
from tests.store.observing import START, make_run

if TYPE_CHECKING:
    from judgekit.judge import Judge
    from judgekit.records import RunInfo

RUBRIC = make_rubric("accuracy")
NEW = make_judge(ScriptedModel(reply(4), name="openai/m"))
ASKED = CalibratedPanel(judges=(JUDGE.model_copy(update={"judge": NEW.id}),))


def rejudgment_of(old: RunInfo, judge: Judge) -> RunInfo:
    return new_rejudgment(old, judge, now=START)


def test_without_a_calibration_the_figures_are_uncalibrated() -> None:
    assert describe_calibration(None, None).startswith("uncalibrated")
    assert CALIBRATION_KEY not in rejudgment_of(make_run(rubric=RUBRIC), NEW).config


def test_the_same_judge_keeps_the_calibration_and_no_other_inherits_it() -> None:
    use = calibration_in_use(make_calibration(RUBRIC, asked=ASKED), RUBRIC, ASKED)
    old = make_run(rubric=RUBRIC, config={CALIBRATION_KEY: use.to_json()})
    again = describe_calibration(old.calibration, rejudgment_of(old, NEW).calibration)
    assert again.startswith("the calibration holds for this judge too")
    other = make_judge(ScriptedModel(reply(4), name="openai/n"))
    new = rejudgment_of(old, other)
    assert describe_calibration(old.calibration, new.calibration) == (
        "the old judge was calibrated on 120 labels, kappa 0.71 [0.60, 0.81]; for the new one "
        "that is stale: the model was openai/m, is openai/n"
    )
    assert new.calibration is not None
    assert new.calibration.applied == ()
