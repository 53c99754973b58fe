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
    page.keyboard.type("Landis and Koch")

    found = page.get_by_role("link", name="kappa").first
    found.wait_for()
    assert "statistics/agreement.html" in (found.get_attribute("href") or "")
