from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from judgekit import resources
from judgekit.errors import UnknownNameError
from judgekit.records import Scale
from judgekit.resources import shipped_file, shipped_root, shipped_scale


def test_the_shipped_files_are_found() -> None:
    assert (shipped_root() / "prompts" / "rubrics").is_dir()
    assert shipped_file("prompts", "pointwise", "criterion.j2").is_file()


def test_an_incomplete_installation_says_how_to_mend_it(tmp_path: Path) -> None:
    package = tmp_path / "judgekit"
    package.mkdir()
    for name in ("__init__.py", "__init__.pyi", "errors.py", "resources.py"):
        source = (Path(resources.__file__).parent / name).read_text(encoding="utf-8")
        (package / name).write_text(source, encoding="utf-8")
    code = "from judgekit.resources import shipped_root; shipped_root()"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "are missing beside" in ran.stderr
    assert "install it again" in ran.stderr


@pytest.mark.parametrize("name", ["five_level", "one_to_five", "one_to_ten", "binary", "unit"])
def test_a_shipped_scale_is_a_scale(name: str) -> None:
    scale = Scale.model_validate(shipped_scale(name))
    assert (scale.value_of(scale.min), scale.value_of(scale.max)) == (0.0, 1.0)


@pytest.mark.parametrize("name", ["Five Level", "five-level", " five_level "])
def test_a_scale_is_found_however_its_name_is_spelt(name: str) -> None:
    assert shipped_scale(name) == shipped_scale("five_level")


def test_a_scale_handed_out_can_be_changed_without_harm() -> None:
    taken = shipped_scale("five_level")
    taken["levels"].clear()  # type: ignore[attr-defined]  # a list, as the file has it
    assert shipped_scale("five_level")["levels"]


def test_an_unknown_scale_lists_the_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean five_level"):
        shipped_scale("five_levels")
