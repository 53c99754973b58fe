"""The documentation opened from disk: it asks no machine for anything, and its search answers."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

BUILD = Path(__file__).parents[2] / "docs" / "site" / "build.py"


def test_the_search_of_a_site_on_disk_finds_a_page(page: Page, tmp_path: Path) -> None:
    pytest.importorskip("zensical", reason="the site is built by zensical, of the group `dev`")
    site = tmp_path / "site"
    assert runpy.run_path(str(BUILD))["build"](site, staged=tmp_path / "staged") == 0

    page.goto((site / "index.html").as_uri())
    page.get_by_role("button", name="Search").first.click()
    field = page.get_by_role("combobox", name="Search").or_(page.get_by_placeholder("Search")).last
    field.wait_for()
    # Key by key: what a worker answers must not overwrite what is being typed.
    page.keyboard.type("Landis and Koch", delay=20)

    found = page.get_by_role("option", name="Cohen's kappa")
    found.wait_for()
    assert field.input_value() == "Landis and Koch"
    assert "statistics/agreement.html" in (found.get_attribute("href") or "")
