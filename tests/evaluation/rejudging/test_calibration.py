from __future__ import annotations

from judgekit.evaluation.rejudging.calibration import CALIBRATION, calibration_words
from tests.store.observing import JUDGE, make_run


def test_without_a_calibration_the_figures_are_uncalibrated() -> None:
    assert calibration_words(None, "new").startswith("uncalibrated")
    assert calibration_words(make_run(), "new").startswith("uncalibrated")


def test_no_other_judge_inherits_a_calibration() -> None:
    run = make_run(config={CALIBRATION: {"map": "m"}})
    assert calibration_words(run, "new") == (
        f"the calibration was for {JUDGE}; it does not cover the new judge"
    )
    assert calibration_words(run, JUDGE).endswith("this is the same judge")
