from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.atomic_write import atomic_writer, check_output_path, write_text_atomically
from judgekit.errors import SettingsError, StoreError

if TYPE_CHECKING:
    from pathlib import Path


def fail_while_writing(path: Path) -> None:
    with atomic_writer(path) as file:
        file.write(b"half")
        raise StoreError("the database is damaged")


def test_an_older_file_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("older")
    with pytest.raises(StoreError, match="damaged"):
        fail_while_writing(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.xml"]
    assert path.read_text() == "older"


def test_a_text_replaces_what_was_there_and_half_a_character_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("older")
    write_text_atomically(path, "né\ud800")
    assert path.read_text(encoding="utf-8") == "né\ufffd"


def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.mkdir()
    with pytest.raises(StoreError, match=r"cannot write .*a\.xml: Is a directory"):
        write_text_atomically(path, "x")


def test_other_endings_and_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"cannot write a report to a\.txt: its suffix is \.txt"
    ):
        check_output_path(tmp_path / "a.txt", (".xml",), what="a report", may_be_folder=False)
    with pytest.raises(SettingsError, match="its suffix is missing"):
        check_output_path(tmp_path / "a", (".xml",), what="a report", may_be_folder=False)
    with pytest.raises(SettingsError, match="there is no folder"):
        check_output_path(tmp_path / "b" / "a.XML", (".xml",), what="a report", may_be_folder=False)
    with pytest.raises(SettingsError, match=r"use \.json, a folder"):
        check_output_path(tmp_path / "a.txt", (".json",), what="x", may_be_folder=True)


@pytest.mark.parametrize("name", ["a.json", "A.JSON", "folder"])
def test_a_place_that_can_be_written_is_accepted(tmp_path: Path, name: str) -> None:
    check_output_path(tmp_path / name, (".json",), what="x", may_be_folder=True)
