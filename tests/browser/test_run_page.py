"""The page of a run, as a file and in the viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import file_url

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page


@pytest.fixture(params=["file", "viewer"])
def opened(request: pytest.FixtureRequest, page: Page) -> Page:
    """The run's page, from disk and from the viewer."""
    if request.param == "file":
        path: Path = request.getfixturevalue("run_page")
        page.goto(file_url(path))
    else:
        page.goto(request.getfixturevalue("viewer").replace("/?", "/runs/latest?"))
    return page


def test_a_case_opens_from_the_grid(opened: Page) -> None:
    opened.locator("tr[data-row]").first.click()
    assert "judgments" in opened.locator(".drawer").inner_text()
