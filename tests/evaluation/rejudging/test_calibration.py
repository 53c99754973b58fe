from __future__ import annotations

from judgekit.evaluation.preparing.calibrated import CALIBRATED
from judgekit.evaluation.rejudging.calibration import calibrated_again, calibration_words
from judgekit.models.scripted import ScriptedModel
from judgekit.records.calibration_map import Judging
from judgekit.verdicts.calibrating import hold
from tests.calibrations import JUDGE, make_calibration
from tests.factories import make_judge, make_rubric, reply
from tests.store.observing import make_run

RUBRIC = make_rubric("accuracy")
NEW = make_judge(ScriptedModel(reply(4), name="openai/m"))
ASKED = Judging(judges=(JUDGE.model_copy(update={"judge": NEW.id}),))


def test_without_a_calibration_the_figures_are_uncalibrated() -> None:
    assert calibration_words(None, None).startswith("uncalibrated")
    assert calibration_words(make_run(), make_run()).startswith("uncalibrated")
    assert CALIBRATED not in calibrated_again(make_run(), NEW, RUBRIC)


def test_the_same_judge_keeps_the_calibration_and_no_other_inherits_it() -> None:
    use = hold(make_calibration(RUBRIC, asked=ASKED), RUBRIC, ASKED)
    old = make_run(config={CALIBRATED: use.to_json()})
    again = make_run(config=calibrated_again(old, NEW, RUBRIC))
    assert calibration_words(old, again).startswith("the calibration holds for this judge too")
    other = make_judge(ScriptedModel(reply(4), name="openai/n"))
    new = make_run(config=calibrated_again(old, other, RUBRIC))
    assert calibration_words(old, new) == (
        "the old judge was calibrated on 120 labels, kappa 0.71 [0.60, 0.81]; for the new one "
        "that is stale: the model was openai/m, is openai/n"
    )
    assert new.calibration is not None
    assert new.calibration.applied == ()
