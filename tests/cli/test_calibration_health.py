from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.cli.doctor import calibration_checks
from judgekit.report import save_calibration
from tests.calibrations import make_calibration
from tests.factories import make_rubric

if TYPE_CHECKING:
    from pathlib import Path


def test_maps_are_named_with_their_judge_and_labels(tmp_path: Path) -> None:
    save_calibration(tmp_path / "m.json", make_calibration(make_rubric(name="support")))
    (check,) = calibration_checks(tmp_path)
    assert check.grade == "ok"
    assert check.text.endswith("m.json: openai/m by support, 120 labels, 2026-11-22")


def test_damaged_maps_are_an_error_and_none_are_nothing(tmp_path: Path) -> None:
    assert list(calibration_checks(tmp_path)) == []
    (tmp_path / "m.json").write_text("{}", encoding="utf-8")
    (check,) = calibration_checks(tmp_path)
    assert check.grade == "error"
    assert "m.json" in check.text
