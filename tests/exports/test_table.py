from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.errors import SettingsError
from judgekit.exports import RUN_FORMATS, run_format_for
from tests.exports.making import make_answer, make_run


@pytest.mark.parametrize(
    ("name", "suffix"), [(n, suffix) for n, form in RUN_FORMATS.items() for suffix in form.suffixes]
)
def test_every_form_is_written_to_each_of_its_files(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    RUN_FORMATS[name].check(path)
    assert RUN_FORMATS[name].write(path, make_run(), iter([make_answer()])) == 1
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    first = path.read_bytes()
    RUN_FORMATS[name].write(path, make_run(), iter([make_answer()]))
    assert path.read_bytes() == first


@pytest.mark.parametrize("name", RUN_FORMATS)
def test_every_form_refuses_other_files_before_anything_is_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=r"its suffix is \.exe"):
        RUN_FORMATS[name].check(tmp_path / "a.exe")
    assert RUN_FORMATS[name].summary


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.xml", "junit"), ("a.YAML", "validation"), ("x/history.json", "history"),
     ("grading.json", "grading"), ("a.jsonl", None), ("a.csv", None)],
)  # fmt: skip
def test_a_name_may_say_which_form_is_meant(name: str, form: str | None) -> None:
    assert run_format_for(Path(name)) == form
