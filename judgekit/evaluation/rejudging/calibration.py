"""Says whether a calibration of the old judge holds for the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.preparing.asked import ASKED, asked_by
from judgekit.evaluation.preparing.calibrated import CALIBRATED
from judgekit.verdicts.calibrating import hold

if TYPE_CHECKING:
    from judgekit.judge.judge import Judge
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo


def calibrated_again(old: RunInfo, judge: Judge, rubric: Rubric) -> JsonObject:
    """What a run that judges again notes of how it asks, and of the old run's maps.

    Args:
        old: The run that is judged again.
        judge: Who judges now.
        rubric: By which rubric.

    Returns:
        Entries of the new run's `config`; maps that do not hold for the new judge are not applied.
    """
    asked = asked_by(judge)
    noted: JsonObject = {ASKED: asked.to_json()}
    use = old.calibration
    if use is not None and use.calibration is not None:
        noted[CALIBRATED] = hold(use.calibration, rubric, asked, path=use.path).to_json()
    return noted


def calibration_words(old: RunInfo | None, new: RunInfo | None) -> str:
    """Whether the figures of the new judge are calibrated.

    A calibration belongs to a model, a template, the way of asking and a criterion's words; no
    other judge inherits it.

    Args:
        old: The run that is judged again; None for judgments out of a file.
        new: The run that judges it again; None for judgments out of a file.

    Returns:
        One line.
    """
    if old is None or new is None or old.calibration is None or new.calibration is None:
        return "uncalibrated: neither judge was compared with people (judgekit calibrate)"
    if new.calibration.state == "calibrated":
        return f"the calibration holds for this judge too: {new.calibration.words}"
    return (
        f"the old judge was {old.calibration.words}; for the new one that is "
        f"{new.calibration.words}"
    )
