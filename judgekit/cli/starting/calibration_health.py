"""Whether the calibration maps of a folder can be read, and what they rest on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.cli.starting.health import Check
from judgekit.datasets.calibrations import load_calibration
from judgekit.errors import SettingsError
from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Iterator

MAPS = Path("calibration", "maps")
"""Where maps are written when nothing says otherwise."""


def calibration_checks(folder: Path = MAPS) -> Iterator[Check]:
    """Whether each file of maps is sound; nothing where there is none."""
    # Whether they hold for a judge and a rubric is said by `plan`, `grade` and `run`.
    for path in sorted(folder.glob("*.json")):
        try:
            found = load_calibration(path)
        except SettingsError as error:
            yield Check("calibration", "error", error.message, error.hint)
            continue
        judges = ", ".join(judge.model for judge in found.asked.judges)
        labels = view.count(found.n_labels, "label")
        text = f"{path}: {view.printable(judges)} by {view.printable(found.rubric.name)}, {labels}"
        yield Check("calibration", "ok", f"{text}, {found.fitted_at:%Y-%m-%d}")
