"""Finds the calibration that holds for a judge and a rubric, before anything is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.calibrations import find_calibrations
from judgekit.evaluation.preparing.asked import HUMAN, asked_by, asked_by_jury
from judgekit.judge.heuristic import HEURISTIC
from judgekit.records.calibration_map import UNCALIBRATED, CalibrationInUse
from judgekit.verdicts.calibrating import hold

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.datasets.suite_settings import Gate
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.judge.judge import Judge
    from judgekit.records.calibration_map import Calibration, Judging
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo

CALIBRATED = "calibrated"
"""The key of a run's `config` under which its calibration is, maps and all."""

_ORDER = ("calibrated", "partial", "stale", "uncalibrated")


def check_calibration(calibration: Calibration, rubric: Rubric, judge: Judge) -> CalibrationInUse:
    """Whether a calibration holds for a rubric and a judge as they are now.

    Args:
        calibration: The maps, from `load_calibration` or `CalibrationReport.maps`.
        rubric: How outputs are judged.
        judge: Who judges.

    Returns:
        The state, in words that name what was changed; `apply_calibration` takes it.

    Example:
        >>> import judgekit as jk
        >>> def graded(judge: jk.Judge, case: jk.Case, output: jk.Output, rubric: jk.Rubric):
        ...     use = jk.check_calibration(jk.load_calibration("maps.json"), rubric, judge)
        ...     return jk.apply_calibration(judge.grade_sync(case, output, rubric), rubric, use)
    """
    return hold(calibration, rubric, asked_by(judge))


def calibration_in_use(
    path: Path | str | None, rubric: Rubric | None, asked: Judging | None
) -> CalibrationInUse:
    """Whether judgments will be calibrated, and by which maps."""
    if path is None:
        return UNCALIBRATED
    found = find_calibrations(path)
    if rubric is None or asked is None:
        words = "uncalibrated: nobody judges by a rubric, so that no map applies"
        return CalibrationInUse(state="uncalibrated", words=words)
    held = [hold(one, rubric, asked, path=str(file)) for file, one in found]
    return min(held, key=lambda use: (_ORDER.index(use.state), use.words.count(";")))


def calibration_of_suite(opened: OpenSuite) -> CalibrationInUse:
    """Whether the judgments of a suite will be calibrated, and by which maps."""
    suite = opened.suite
    path = None if suite.calibration is None else suite.resolve(suite.calibration)
    return calibration_in_use(path, opened.rubric, asked_by_jury(opened.jury))


def is_met(gate: Gate | None, run: RunInfo) -> bool:
    """Whether a run has the calibration that its gate asks for."""
    if gate is None or not gate.require_calibration:
        return True
    return not has_models(run) or calibration_of(run).state == "calibrated"


def has_models(run: RunInfo) -> bool:
    """Whether any of a run's judges is a model."""
    return bool(set(run.panel.judges) - {HUMAN, HEURISTIC})


def uncalibrated(run: RunInfo) -> RunInfo:
    """A run by the judges' own values."""
    if run.calibration is None or not run.calibration.applied:
        return run
    config = {key: value for key, value in run.config.items() if key != CALIBRATED}
    return run.model_copy(update={"config": config})


def by_one_measure(a: RunInfo, b: RunInfo) -> tuple[RunInfo, RunInfo]:
    """Two runs by values that can be compared."""
    return (a, b) if _applied(a) == _applied(b) else (uncalibrated(a), uncalibrated(b))


def _applied(run: RunInfo) -> tuple[str, ...] | None:
    use = run.calibration
    if use is None or use.calibration is None or not use.applied:
        return None
    return use.calibration.fingerprint, *use.applied


def calibration_of(run: RunInfo) -> CalibrationInUse:
    """The calibration a run was begun with."""
    return run.calibration or UNCALIBRATED
