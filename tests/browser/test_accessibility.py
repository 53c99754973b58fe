"""Every page is checked by axe-core: WCAG 2.2 AA and the good practice that axe knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import SCRIPT_FOLDER, file_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from playwright.sync_api import Browser, Page

AXE = SCRIPT_FOLDER / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# A colour scheme changes nothing else: the same width is checked for all rules in the light one.
COLOUR_RULES = ["color-contrast", "link-in-text-block"]

IS_DARK = "matchMedia('(prefers-color-scheme: dark)').matches"

pytestmark = pytest.mark.skipif(
    not AXE.exists(), reason=f"no axe-core here: run `npm ci` in {SCRIPT_FOLDER.name}/"
)


@pytest.fixture(params=["1200-light", "1200-dark", "400-light", "400-dark"])
def checked(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page into which axe can be put, which its policy would refuse."""
    width, scheme = request.param.split("-")
    context = browser.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": int(width), "height": 900}
    )
    yield context.new_page()
    context.close()


def violations(page: Page) -> list[str]:
    """What axe finds, with the first places of each."""
    page.add_script_tag(path=AXE)
    rules = COLOUR_RULES if page.evaluate(IS_DARK) else TAGS
    found: dict[str, Any] = page.evaluate(
        "(rules) => axe.run(document, {runOnly: rules, resultTypes: ['violations']})", rules
    )
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


def test_no_page_has_a_violation(checked: Page, result_pages: Mapping[str, Path]) -> None:
    found = {}
    for name, path in result_pages.items():
        checked.goto(file_url(path))
        # What is folded has to be accessible, too.
        checked.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.open = true })"
        )
        if problems := violations(checked):
            found[name] = problems
    assert found == {}


def test_an_open_tooltip_has_no_violation(checked: Page, result_pages: Mapping[str, Path]) -> None:
    checked.goto(file_url(result_pages["calibrate"]))
    checked.locator(".term").first.focus()
    assert checked.get_by_role("tooltip").is_visible()
    assert violations(checked) == []


def test_axe_finds_what_is_wrong(checked: Page, result_pages: Mapping[str, Path]) -> None:
    """Without this a page that axe cannot read would pass."""
    checked.goto(file_url(result_pages["compare"]))
    checked.evaluate(
        """() => {
          document.documentElement.removeAttribute("lang");
          document.querySelector("h1").style.color = "rgb(128 128 128 / 20%)";
        }"""
    )
    found = {one.partition(":")[0] for one in violations(checked)}
    seen_in_light = set() if checked.evaluate(IS_DARK) else {"html-has-lang"}
    assert found == {"color-contrast"} | seen_in_light
