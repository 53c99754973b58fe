from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.errors import SettingsError, StoreError
from judgekit.records import CalibrationFigure
from judgekit.report import map_file_name, map_summary_lines, save_calibration
from tests.calibrations import make_calibration, make_map
from tests.factories import make_criterion, make_rubric

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_called_by_the_judge_and_the_rubric() -> None:
    assert (
        map_file_name(make_calibration(make_rubric(name="Support / v2")))
        == "openai-m-Support-v2.json"
    )


def test_maps_are_told_with_what_they_gain() -> None:
    kept = make_map(
        make_criterion("tone"), (0, 0), (1, 1), method="identity", reason="no map helps"
    )
    maps = (make_map(make_criterion("accuracy")), kept)
    made = make_calibration(maps=maps, without={"length": "nobody labelled it"})
    agreement = "60 labels, kappa 0.71 [0.60, 0.81]"
    assert map_summary_lines(made) == [
        "accuracy: isotonic map; 60 labels, kappa 0.71 [0.60, 0.81]",
        "  squared error 0.050 -> 0.050, better by 0.050 [0.040, 0.060]",
        "  pass rate 40% -> 30% (human 30%); correct decisions 80% -> 90%",
        f"tone: no map, the judge's own value is used (no map helps); {agreement}",
        "length: no map: nobody labelled it",
    ]


def test_a_gain_without_an_interval_is_told_without_one() -> None:
    alike = make_map(make_criterion(), improvement=CalibrationFigure(value=0.05, level=0.95))
    assert "better by 0.050" in map_summary_lines(make_calibration(make_rubric(), maps=(alike,)))[1]
    assert "[" not in map_summary_lines(make_calibration(make_rubric(), maps=(alike,)))[1]


def test_maps_are_written_as_json_only(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"\.json"):
        save_calibration(tmp_path / "m.yaml", make_calibration())


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot make the folder"):
        save_calibration(tmp_path / "maps" / "deep" / "m.json", make_calibration())
