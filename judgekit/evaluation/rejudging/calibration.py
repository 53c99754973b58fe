"""Says whether a calibration of the old judge holds for the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.records.run import RunInfo

CALIBRATION = "calibration"
"""The key of a run's `config` under which it says that its judge was calibrated."""


def calibration_words(old: RunInfo | None, new_judge: str) -> str:
    """Whether the figures of the new judge are calibrated.

    A calibration belongs to a model, a template and a rubric; no other judge inherits it.

    Args:
        old: The run that is judged again; None for judgments out of a file.
        new_judge: The new judge's id.

    Returns:
        One line.
    """
    if old is None or not old.config.get(CALIBRATION):
        return "uncalibrated: neither judge was compared with people (judgekit calibrate)"
    judges = ", ".join(old.panel.judges)
    if old.panel.judges == (new_judge,):
        return f"the calibration was for {judges}, and this is the same judge"
    return f"the calibration was for {judges}; it does not cover the new judge"
