"""Says whether a calibration of the old judge holds for the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.preparing.asked import ASKED, asked_by, asked_in
from judgekit.evaluation.preparing.calibrated import CALIBRATED, calibration_in_use
from judgekit.verdicts.calibrating import hold

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from judgekit.evaluation.rejudging.files import Key
    from judgekit.judge.judge import Judge
    from judgekit.records.calibration_map import CalibrationInUse
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo
    from judgekit.records.verdict import Verdict

_OWN_VALUES = (
    "the old values were calibrated, and the judges' own are compared here; --calibration MAPS "
    "says whether the maps hold for the new judge"
)


def calibrated_again(old: RunInfo, judge: Judge, rubric: Rubric) -> JsonObject:
    """What a run that judges again notes of how it asks, and of the old run's maps."""
    asked = asked_by(judge)
    noted: JsonObject = {ASKED: asked.to_json()}
    use = old.calibration
    if use is not None and use.calibration is not None:
        noted[CALIBRATED] = hold(use.calibration, rubric, asked, path=use.path).to_json()
    return noted


def calibration_words(old: RunInfo | None, new: RunInfo | None) -> str:
    """Whether the figures of the new judge are calibrated."""
    # A calibration belongs to a model, a template, the way of asking and a criterion's words; no
    # other judge inherits it.
    sides = [None if run is None else run.calibration for run in (old, new)]
    return told(sides[0], sides[1])


def told(old: CalibrationInUse | None, new: CalibrationInUse | None) -> str:
    """Whether maps hold for the new judge, and whether they did for the old."""
    if new is None or (old is None and new.calibration is None):
        return "uncalibrated: neither judge was compared with people (judgekit calibrate)"
    if new.state == "calibrated":
        return f"the calibration holds for this judge too: {new.words}"
    before = "the maps may have held before" if old is None else f"the old judge was {old.words}"
    return f"{before}; for the new one that is {new.words}"


def calibration_of_files(
    path: Path | None, old: Mapping[Key, Verdict], rubric: Rubric, judge: Judge
) -> str:
    """Whether a calibration holds for the new judge, where the old verdicts are out of a file."""
    if path is None:
        if any(one.uncalibrated is not None for one in old.values()):
            return _OWN_VALUES
        return told(None, None)
    new = calibration_in_use(path, rubric, asked_by(judge))
    known = [one.asked for one in old.values() if one.asked is not None]
    prints = {one.rubric_fingerprint for one in old.values()}
    if new.calibration is None or not known or prints != {rubric.fingerprint}:
        return told(None, new)
    return told(hold(new.calibration, rubric, known[0]), new)


def calibration_of_runs(path: Path, old: RunInfo, rubric: Rubric, judge: Judge) -> str:
    """Whether a calibration that is named holds for the new judge of a run, and for the old."""
    new = calibration_in_use(path, rubric, asked_by(judge))
    asked = asked_in(old)
    if new.calibration is None or asked is None or old.rubric is None:
        return told(None, new)
    return told(hold(new.calibration, old.rubric, asked), new)
