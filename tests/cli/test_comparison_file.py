from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import SettingsError
from judgekit.report import check_comparison_file, comparison_writer
from tests.evaluation.pairs import concluded, said

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_a_sound_file_too(tmp_path: Path) -> None:
    for name in ("none.json", "none.jsonl"):
        with comparison_writer(tmp_path / name):
            pass
    assert json.loads((tmp_path / "none.json").read_text()) == []
    assert (tmp_path / "none.jsonl").read_text() == ""


def test_lines_and_lists_hold_the_same(tmp_path: Path) -> None:
    made = [concluded(f"c{k}", said("a", f"c{k}")) for k in range(3)]
    for name in ("some.json", "some.jsonl"):
        with comparison_writer(tmp_path / name) as write:
            for one in made:
                write(one)
    lines = (tmp_path / "some.jsonl").read_text().splitlines()
    listed = json.loads((tmp_path / "some.json").read_text())
    assert [json.loads(line) for line in lines] == listed == [one.to_json() for one in made]


def test_what_is_compared_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text("{}")
    for name in (str(source), f"{source}::v1"):
        with pytest.raises(SettingsError, match="would overwrite"):
            check_comparison_file(source, [name])
    check_comparison_file(tmp_path / "b.jsonl", [str(source), "latest::v1"])
    check_comparison_file(None, [str(source)])
