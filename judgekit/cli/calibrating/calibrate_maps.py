"""Where `judgekit calibrate --write-map` puts the maps, and what it says of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.cli import console as streams
from judgekit.cli.main import EXIT_INCOMPLETE
from judgekit.cli.starting.calibration_health import MAPS
from judgekit.report.calibration_maps import map_lines, map_name, save_calibration

_BY_NAME = (
    "the judgments do not tell the judge's parameters (temperature, …): these maps are bound to "
    "model and template only; what `judgekit grade -o` writes tells them, and so does --outputs"
)

if TYPE_CHECKING:
    from judgekit.evaluation.calibrating.report import CalibrationReport


def write_maps(report: CalibrationReport, wanted: str, *, asking: int = 0) -> None:
    """Fit the maps, write them, and say on stderr what they do and how they are used."""
    if asking not in {0, EXIT_INCOMPLETE}:
        streams.note("no maps were written: not everything was judged")
        return
    calibration = report.maps()
    path = Path(wanted) if wanted else MAPS / map_name(calibration)
    save_calibration(path, calibration)
    for line in map_lines(calibration):
        streams.note(line)
    if not calibration.asked.is_known:
        streams.note(_BY_NAME)
    streams.note(f"wrote the maps to {path}: judgekit grade … --calibration {path}")
