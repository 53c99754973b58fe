"""`judgekit view --edit`: it opens the editor, with or without runs, and refuses to export too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cli.test_view import open_page, viewing
from tests.web.test_editor import write_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


def test_the_editor_needs_no_stored_run(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "work")
    with viewing("--edit", folder, "--store", tmp_path / "new.db") as (_, stdout):
        shown = json.loads(stdout.readline())
        assert shown["url"].startswith(f"http://127.0.0.1:{shown['port']}/edit?token=")
        assert open_page(shown["url"]) == (303, "/edit")


def test_an_export_is_not_edited(run: Run, tmp_path: Path) -> None:
    ran = run("view", "--edit", tmp_path, "--export", tmp_path / "site")

    assert ran.code == 2
    assert "--export serves nothing that could be edited" in ran.err
