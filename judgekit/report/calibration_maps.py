"""Writes fitted calibration maps to a file, and summarizes what each map does.

`load_calibration` reads the files back.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from judgekit.atomic_write import make_folder, write_text_atomically
from judgekit.errors import SettingsError
from judgekit.formats import as_path
from judgekit.records import Calibration, CalibrationMap, mark_for
from judgekit.report import message, numbers
from judgekit.scoring import format_measurement

_LONGEST = 60


def save_calibration(path: Path | str, calibration: Calibration) -> None:
    """Write maps to a file that `grade`, `run` and `load_calibration` read.

    Args:
        path: The file, ending in `.json`; a missing folder is created.
        calibration: The maps.

    Raises:
        SettingsError: When the file has another ending.
        StoreError: When it cannot be written.
    """
    place = as_path(path)
    check_map_path(place)
    make_folder(place.parent)
    text = json.dumps(calibration.to_json(), ensure_ascii=False, indent=2)
    write_text_atomically(place, text + "\n")


def check_map_path(path: Path) -> None:
    """Reject a file that maps cannot be written to, before anything is read."""
    if path.suffix.lower() != ".json":
        raise SettingsError(f"cannot write maps to {path.name}", hint="use a name ending in .json")


def map_file_name(calibration: Calibration) -> str:
    """The default name of a file of maps, from the judges and the rubric."""
    judges = "-".join(judge.model for judge in calibration.asked.judges)
    return f"{_file_name_part(judges)}-{_file_name_part(calibration.rubric.name)}.json"


def map_summary_lines(calibration: Calibration) -> list[str]:
    """The effects of the maps, in some lines for each criterion."""
    threshold = calibration.rubric.pass_threshold
    lines = [line for one in calibration.maps for line in _lines(one, threshold)]
    if calibration.pass_marks:
        mark = mark_for(threshold, calibration.pass_marks)
        lines.append(f"overall: calibrated values pass from {mark:.2f} instead of {threshold:.2f}")
    return lines + [
        f"{message.printable(n)}: no map: {why}" for n, why in calibration.without.items()
    ]


def _lines(one: CalibrationMap, pass_threshold: float) -> list[str]:
    name = f"{message.printable(one.criterion.name)}: "
    rests = f"{numbers.format_count(one.n_labels, 'label')}, kappa {format_measurement(one.kappa)}"
    if one.method == "identity":
        return [f"{name}no map, the judge's own value is used ({one.reason}); {rests}"]
    before, after = one.error_before.value or 0.0, one.error_after.value or 0.0
    gain = one.improvement
    interval = f" [{gain.low:.3f}, {gain.high:.3f}]" if None not in (gain.low, gain.high) else ""
    better = f"better by {gain.value or 0.0:.3f}{interval}"
    lines = [f"{name}{one.method} map; {rests}"]
    lines.append(f"  squared error {before:.3f} -> {after:.3f}, {better}")
    lines.append(
        f"  pass rate {one.passed_before:.0%} -> {one.passed_after:.0%} "
        f"(human {one.passed_by_people:.0%}); "
        f"correct decisions {one.accuracy_before:.0%} -> {one.accuracy_after:.0%}"
    )
    own = one.criterion.pass_value
    threshold = pass_threshold if own is None else own
    mark = one.mark_of(threshold)
    if f"{mark:.2f}" != f"{threshold:.2f}":
        lines.append(f"  calibrated values pass from {mark:.2f} instead of {threshold:.2f}")
    return lines


def _file_name_part(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:_LONGEST] or "judge"
