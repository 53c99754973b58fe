"""Makes the pictures of pages in `docs/images/`: `python -m tests.browser.screenshots`.

They show the suite that `judgekit init` makes, with its recorded replies.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, SWITCHES, judgekit

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def show_run(page: Page, folder: Path) -> None:
    page.goto((folder / "run.html").as_uri())


def show_case(page: Page, folder: Path) -> None:
    page.goto((folder / "run.html").as_uri() + "#case=sale-item-refund")
    page.wait_for_selector("mark")


def show_sides(page: Page, folder: Path) -> None:
    page.goto((folder / "sides.html").as_uri() + "#case=sale-item-refund")
    page.wait_for_selector("mark")
    page.keyboard.press("d")
    page.wait_for_selector("ins")


def show_label(page: Page, folder: Path) -> None:
    page.goto((folder / "label.html").as_uri())
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Start").click()
    page.keyboard.press("4")


SHOWN = {"run": show_run, "case": show_case, "sides": show_sides, "label": show_label}


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name) / "support"
        judgekit("init", folder.name, folder=folder.parent)
        judgekit("run", "-o", "run.html", folder=folder)
        judgekit("report", "latest::v1", "latest::v2", "-o", "sides.html", folder=folder)
        judgekit("label", "latest", "-o", "label.html", folder=folder)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*SWITCHES])
        for image, show in SHOWN.items():
            page = browser.new_page(viewport={"width": 1080, "height": 680}, color_scheme="light")
            show(page, folder)
            page.screenshot(path=IMAGES / f"{image}.png")
        browser.close()


if __name__ == "__main__":
    main()
