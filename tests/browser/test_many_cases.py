"""A page of 10,000 cases and 5 variants: what is in the document, and that all of it is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from benchmarks.pages import write_large_page
from tests.browser.conftest import file_url

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

N_CASES, N_VARIANTS = 10_000, 5

# Far more than fit the window, far fewer than there are.
MOST_ROWS = 100


@pytest.fixture(scope="module")
def large_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.html"
    write_large_page(path, N_CASES, N_VARIANTS, n_characters=80)
    return path


@pytest.fixture
def large(page: Page, large_page: Path) -> Page:
    page.goto(file_url(large_page))
    expect(page.locator("tr[data-row]").first).to_be_visible()
    return page


@pytest.mark.parametrize("width", [1200, 400])
def test_only_rows_in_view_are_in_the_document(large: Page, width: int) -> None:
    large.set_viewport_size({"width": width, "height": 900})
    rows = large.locator("tr[data-row]")
    assert 0 < rows.count() < MOST_ROWS
    expect(large.get_by_role("table", name="Cases")).to_have_attribute("aria-rowcount", "10001")
    large.locator(".grid").evaluate("box => { box.scrollTop = box.scrollHeight }")
    last = large.locator("tr[aria-rowindex='10001']")
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()
    assert rows.count() < MOST_ROWS


def test_a_filter_counts_all_cases(large: Page) -> None:
    large.keyboard.press("2")
    expect(large.get_by_role("status").first).to_have_text("2,000 of 10,000 cases")
    large.locator(".grid").evaluate("box => { box.scrollTop = box.scrollHeight }")
    expect(large.locator("tr[aria-rowindex='2001']")).to_be_attached()


def test_a_word_of_one_output_is_found_in_all_texts(large: Page) -> None:
    large.get_by_role("searchbox").fill("needle-7777")
    expect(large.get_by_role("status").first).to_have_text("1 of 10,000 cases", timeout=60_000)
    large.locator("tr[data-row] a").click()
    expect(large.get_by_role("dialog")).to_contain_text("needle-7777")


def test_keys_go_far_beyond_the_rows_in_the_document(large: Page) -> None:
    for _ in range(60):
        large.keyboard.press("j")
    active = large.locator("tr.active")
    expect(active).to_have_attribute("data-place", "59")
    expect(active.get_by_role("link")).to_be_focused()
    expect(active).to_be_in_viewport()
