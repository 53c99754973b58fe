"""`-o` given several times: every file is written, each in its own form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.outputs import sort_outputs
from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from tests.cli.commanding import Run


@pytest.mark.usefixtures("owned")
def test_every_file_is_written(run: Run) -> None:
    ran = run("cache", "stats", "-o", "a.html", "-o", "a.md", "-o", "a.json")
    assert ran.code == 0
    assert Path("a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert Path("a.md").read_text(encoding="utf-8").startswith("# Reply cache")
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["n_entries"] == 4
    assert ran.err == "".join(f"wrote the report to a.{end}\n" for end in ("html", "md", "json"))


def test_a_suffix_that_is_both_is_a_data_file() -> None:
    found = sort_outputs((Path("a.json"), Path("a.html")), what="x", exports=(".json", ".csv"))
    assert found.exports == (Path("a.json"),)
    assert found.documents == (Path("a.html"),)


def test_what_cannot_be_written_is_refused(tmp_path: Path, owned: list[ModelRequest]) -> None:
    assert owned
    with pytest.raises(SettingsError, match=r"suffix is \.pdf") as error:
        sort_outputs((Path("a.pdf"),), what="a plan", exports=(".csv",))
    assert error.value.hint == "use .csv, .json, .md, .html"
    with pytest.raises(SettingsError, match="there is no folder"):
        sort_outputs((tmp_path / "none" / "a.md",), what="a plan")
