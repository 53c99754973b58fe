"""Reads files of calibration maps, each fault told with file, line and field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.documents import read_document
from judgekit.datasets.faults import explain
from judgekit.datasets.texts import as_path, is_file, is_folder
from judgekit.errors import DatasetError, SettingsError
from judgekit.records.calibration_map import Calibration

if TYPE_CHECKING:
    from pathlib import Path

_AGAIN = "write it again: judgekit calibrate LABELS … --write-map"


def load_calibration(path: Path | str) -> Calibration:
    """The calibration in a file that `judgekit calibrate --write-map` wrote.

    Args:
        path: The file.

    Returns:
        Its maps.

    Raises:
        SettingsError: When it cannot be read, or is no such file.
    """
    place = as_path(path)
    try:
        document = read_document(place)
    except DatasetError as error:
        raise SettingsError(error.message, hint=error.hint) from error
    try:
        return Calibration.model_validate(document.value)
    except ValidationError as error:
        fault = explain(error, Calibration, document.value)[0]
        line = document.line_of(*fault.where)
        raise SettingsError(
            f"{place}:{line}: this is no file of calibration maps: {fault.message}", hint=_AGAIN
        ) from error


def find_calibrations(path: Path | str) -> list[tuple[Path, Calibration]]:
    """The calibrations of a file, or of all files in a folder."""
    place = as_path(path)
    if not (is_folder(place) or is_file(place)):
        raise SettingsError(
            f"there is no calibration {place}",
            hint="make it: judgekit calibrate LABELS --write-map",
        )
    files = sorted(place.glob("*.json")) if is_folder(place) else [place]
    if not files:
        raise SettingsError(
            f"the folder {place} holds no calibration maps",
            hint="make them: judgekit calibrate LABELS --write-map",
        )
    return [(file, load_calibration(file)) for file in files]
