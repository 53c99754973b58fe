"""Writes files of calibration maps, and what a fitted map is told as."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError, StoreError
from judgekit.report import view
from judgekit.report.replacing import replace_text
from judgekit.verdicts.calibrating import measured_words

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records.calibration_map import Calibration, CalibrationMap

_LONGEST = 60


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write maps to a file that `grade`, `run` and `load_calibration` read.

    Args:
        path: Where to, ending in `.json`; its folder is made where there is none.
        calibration: The maps.

    Raises:
        SettingsError: When the ending is another.
        StoreError: When it cannot be written.
    """
    check_map_place(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path.parent}: {error.strerror}") from error
    text = json.dumps(calibration.to_json(), ensure_ascii=False, indent=2)
    replace_text(path, text + "\n")


def check_map_place(path: Path) -> None:
    """Refuse a file that maps cannot be written to, before anything is read.

    Args:
        path: Where to.

    Raises:
        SettingsError: When it does not end in `.json`.
    """
    if path.suffix.lower() != ".json":
        raise SettingsError(f"cannot write maps to {path.name}", hint="use a name ending in .json")


def map_name(calibration: Calibration) -> str:
    """What a file of maps is called where nobody names it: by the judges and the rubric.

    Args:
        calibration: The maps.

    Returns:
        For example `openai-gpt-4.1-mini-support.json`.
    """
    judges = "-".join(judge.model for judge in calibration.asked.judges)
    return f"{_plain(judges)}-{_plain(calibration.rubric.name)}.json"


def map_lines(calibration: Calibration) -> list[str]:
    """What the maps do, a line for each criterion.

    Args:
        calibration: The maps.

    Returns:
        For example `helpful: affine map, mean squared error 0.051 -> 0.032, better by 0.019`.
    """
    lines = [_line(one) for one in calibration.maps]
    return lines + [f"{view.printable(n)}: no map: {why}" for n, why in calibration.without.items()]


def _line(one: CalibrationMap) -> str:
    name = f"{view.printable(one.criterion.name)}: "
    rests = f"{view.count(one.n_labels, 'label')}, kappa {measured_words(one.kappa)}"
    if one.method == "identity":
        return f"{name}the judge's own value stands ({one.reason}); {rests}"
    before, after = one.error_before.value or 0.0, one.error_after.value or 0.0
    gain = one.improvement
    interval = f" [{gain.low:.3f}, {gain.high:.3f}]" if None not in (gain.low, gain.high) else ""
    better = f"better by {gain.value or 0.0:.3f}{interval}"
    return f"{name}{one.method} map, squared error {before:.3f} -> {after:.3f}, {better}; {rests}"


def _plain(text: str) -> str:
    """A text as a part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:_LONGEST] or "judge"
