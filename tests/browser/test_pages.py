"""The pages of results as files: without a script, on a phone, in the dark, in print, by keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from judgekit.report.html import render_html
from tests.browser.conftest import file_url
from tests.browser.documents import result_documents

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from playwright.sync_api import Browser, Page


def test_every_page_opens_without_an_error(page: Page, result_pages: Mapping[str, Path]) -> None:
    # The fixture fails the test on any error, warning or request.
    for path in result_pages.values():
        page.goto(file_url(path))
        assert page.locator("h1").count() == 1
        assert page.locator(".conclusion").inner_text().strip()


def test_every_page_says_the_same_without_its_script(
    browser: Browser, page: Page, result_pages: Mapping[str, Path]
) -> None:
    plain = browser.new_context(java_script_enabled=False)
    without = plain.new_page()
    for name, path in result_pages.items():
        page.goto(file_url(path))
        without.goto(file_url(path))
        shown = page.locator("main").inner_text()
        said = without.locator("main").inner_text()
        # The case table alone is drawn anew: its static form has the ids and values.
        ids = page.locator("tr[data-row] th").all_inner_texts()
        if not ids:
            assert said == shown, name
        else:
            assert all(one in said for one in ids), name
    plain.close()


@pytest.mark.parametrize("width", [400, 320])
def test_no_page_scrolls_sideways_on_a_phone(
    page: Page, result_pages: Mapping[str, Path], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    wider = {}
    for name, path in result_pages.items():
        page.goto(file_url(path))
        too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if too_wide > 0:
            wider[name] = too_wide
    assert wider == {}


def test_a_row_with_a_long_text_is_a_card_on_a_phone(
    page: Page, result_pages: Mapping[str, Path]
) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(file_url(result_pages["findings"]))
    row = page.get_by_role("row").nth(1)
    cells = row.get_by_role("cell").all()
    tops = [box["y"] for cell in cells if (box := cell.bounding_box()) is not None]
    assert tops == sorted(set(tops))
    # Below each other, and still cells of a table for screen readers.
    assert len(tops) == len(cells) > 4


def test_a_page_is_dark_where_the_reader_wants_it(
    page: Page, result_pages: Mapping[str, Path]
) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(file_url(result_pages["compare"]))
    assert lightness(page, "backgroundColor") < 60
    assert lightness(page, "color") > 200


def test_print_is_light_and_shows_what_is_folded(
    page: Page, result_pages: Mapping[str, Path]
) -> None:
    page.goto(file_url(result_pages["calibrate"]))
    folded = page.locator("main > details table").first
    assert not folded.is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert lightness(page, "color") < 60
    assert folded.is_visible()
    assert not page.locator(".figures").first.is_visible()


def lightness(page: Page, name: str) -> float:
    """The mean of red, green and blue of a colour of the page."""
    colour = page.evaluate(f"getComputedStyle(document.body).{name}")
    parts = [int(part) for part in re.findall(r"\d+", colour)[:3]]
    return sum(parts) / 3


def test_a_term_is_explained_by_keys(page: Page, result_pages: Mapping[str, Path]) -> None:
    page.goto(file_url(result_pages["calibrate"]))
    term = page.locator(".term", has_text="kappa, 95 %").first
    term.focus()
    tip = page.get_by_role("tooltip")
    assert "agreement beyond chance" in tip.inner_text()
    assert term.get_attribute("aria-describedby") == tip.get_attribute("id")
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    assert term.get_attribute("aria-describedby") is None


def test_a_figure_says_what_it_rests_on_when_it_is_pointed_at(
    page: Page, result_pages: Mapping[str, Path]
) -> None:
    page.goto(file_url(result_pages["compare"]))
    figure = page.locator("td", has_text="55 %")
    figure.hover()
    tip = page.get_by_role("tooltip")
    assert re.match(r"95 % interval, n = \d+", tip.inner_text())
    # The browser's own tooltip would lie above it.
    assert figure.get_attribute("title") is None
    # The tip itself can be reached by the pointer.
    tip.hover()
    assert tip.is_visible()
    page.mouse.move(5, 5)
    tip.wait_for(state="hidden")


def test_a_tooltip_opens_on_a_tap_and_stays_on_the_screen(
    browser: Browser, result_pages: Mapping[str, Path]
) -> None:
    phone = browser.new_context(has_touch=True, viewport={"width": 400, "height": 800})
    page = phone.new_page()
    page.goto(file_url(result_pages["compare"]))
    page.locator(".term").last.tap()
    box = page.get_by_role("tooltip").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 400
    phone.close()


def test_figures_are_no_stops_of_the_tab_key(page: Page, result_pages: Mapping[str, Path]) -> None:
    page.goto(file_url(result_pages["calibrate"]))
    assert page.locator("td[tabindex], td [tabindex]").count() == 0
    assert page.locator("thead .term[tabindex]").count() > 0


# Ends when the box is scrolled. The policy of the page forbids Playwright to look by itself.
_SCROLLED = """() => new Promise((done) => {
  const look = () => (document.activeElement.scrollLeft > 0 ? done() : requestAnimationFrame(look));
  look();
})"""


def test_a_table_that_is_too_wide_is_scrolled_by_keys(
    page: Page, result_pages: Mapping[str, Path]
) -> None:
    page.set_viewport_size({"width": 320, "height": 800})
    page.goto(file_url(result_pages["rank"]))
    box = page.locator(".wide[tabindex]").first
    box.focus()
    page.keyboard.press("ArrowRight")
    page.evaluate(_SCROLLED)
    assert box.get_attribute("aria-label")
    page.set_viewport_size({"width": 1200, "height": 800})
    expect(page.locator(".wide[tabindex]")).to_have_count(0)


def test_the_same_result_makes_the_same_page(
    result_pages: Mapping[str, Path], tmp_path: Path
) -> None:
    for name, text in written_pages(tmp_path).items():
        assert result_pages[name].read_text(encoding="utf-8") == text, name


def test_no_page_names_a_folder_of_this_machine(
    result_pages: Mapping[str, Path], run_page: Path
) -> None:
    for path in (*result_pages.values(), run_page):
        text = path.read_text(encoding="utf-8")
        assert str(path.parent) not in text
        assert not re.search(r"(?<![\w/.])/(home|root|tmp|Users)/", text), path.name


def written_pages(folder: Path) -> dict[str, str]:
    """Each page anew."""
    return {name: render_html(one) for name, one in result_documents(folder).items()}
