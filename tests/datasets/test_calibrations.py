from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import find_calibrations, load_calibration
from judgekit.errors import SettingsError
from judgekit.report import save_calibration
from tests.calibrations import make_calibration

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "calibration" / "maps" / "m.json"
    save_calibration(path, make_calibration())
    assert load_calibration(path) == make_calibration()
    assert find_calibrations(path) == [(path, make_calibration())]


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    for name in ("b", "a"):
        save_calibration(tmp_path / f"{name}.json", make_calibration(label_set=name))
    found = [(path.name, one.label_set) for path, one in find_calibrations(tmp_path)]
    assert found == [("a.json", "a"), ("b.json", "b")]


def test_a_damaged_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    save_calibration(path, make_calibration())
    whole = json.loads(path.read_text(encoding="utf-8"))
    whole["n_labels"] = -3
    path.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    with pytest.raises(
        SettingsError, match=r"m\.json:\d+: this is no file of calibration maps"
    ) as e:
        load_calibration(path)
    assert "n_labels" in str(e.value)


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"m\.json"):
        load_calibration(path)


def test_what_is_not_there_says_how_it_is_made(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--write-map"):
        find_calibrations(tmp_path / "none.json")
    with pytest.raises(SettingsError, match="holds no calibration maps"):
        find_calibrations(tmp_path)
