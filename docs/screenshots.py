"""Makes the pictures of pages in `docs/images/`: `python docs/screenshots.py`.

They show the suite that `judgekit init` makes, with its recorded replies. Chromium has to be
installed, and Playwright, which is among the requirements for development.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1080, "height": 680}


def judgekit(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "judgekit", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


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
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name) / "support"
        judgekit(folder.parent, "init", folder.name)
        judgekit(folder, "run", "-o", "run.html")
        judgekit(folder, "report", "latest::v1", "latest::v2", "-o", "sides.html")
        judgekit(folder, "label", "latest", "-o", "label.html")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        for image, show in SHOWN.items():
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            show(page, folder)
            page.screenshot(path=IMAGES / f"{image}.png")
        browser.close()


if __name__ == "__main__":
    main()
